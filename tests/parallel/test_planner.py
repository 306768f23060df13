"""Plans of stages cost what the best of all splits costs."""

import itertools
import math

import numpy as np
import pytest
import scipy.optimize

from mindjax_parallel.planner import LayerCost, evaluate, in_flight, plan_stages


def layers(seed, count, alike=False):
    """Give layers of random costs."""
    random = np.random.RandomState(seed)
    found = []
    for i in range(count):
        forward = random.uniform(0.5, 2.0)
        values = random.uniform(2, 10)
        one = LayerCost(forward, 2 * forward, random.uniform(1, 5), values, values / 5)
        found.append(found[0] if alike and i else one)
    return found


def best_of_all(given, stages, memory, micro_batches, schedule):
    """Try every split and every choice of what is computed again."""
    best = math.inf
    for cuts in itertools.combinations(range(1, len(given)), stages - 1):
        for again in itertools.product((False, True), repeat=len(given)):
            plan = evaluate(given, (0, *cuts), again, micro_batches, schedule)
            if max(plan.stage_bytes) <= memory:
                best = min(best, plan.seconds)
    return best


CASES = [
    (seed, count, stages, memory, micro, schedule)
    for seed, (count, stages, memory, micro, schedule) in enumerate(
        [
            (4, 1, 100, 4, "1f1b"),
            (4, 1, 30, 1, "gpipe"),
            (5, 2, 60, 4, "1f1b"),
            (5, 2, 25, 4, "1f1b"),
            (6, 3, 60, 8, "1f1b"),
            (6, 3, 30, 8, "1f1b"),
            (6, 3, 22, 2, "1f1b"),
            (6, 2, 80, 4, "gpipe"),
            (6, 3, 40, 4, "gpipe"),
            (7, 4, 35, 8, "1f1b"),
            (7, 7, 60, 3, "1f1b"),
            (4, 4, 30, 8, "gpipe"),
        ]
    )
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_plan_takes_less(case):
    seed, count, stages, memory, micro, schedule = case
    given = layers(seed, count)
    expected = best_of_all(given, stages, memory, micro, schedule)
    if expected == math.inf:
        with pytest.raises(ValueError, match="no split of"):
            plan_stages(given, stages, memory, micro, schedule)
        return
    plan = plan_stages(given, stages, memory, micro, schedule)
    assert plan.seconds == pytest.approx(expected, rel=1e-6)
    assert max(plan.stage_bytes) <= memory * (1 + 1e-6)
    assert plan.first[0] == 0 and list(plan.first) == sorted(set(plan.first))


def test_like_layers_are_split_evenly():
    given = layers(3, 32, alike=True)
    plan = plan_stages(given, 8, 1e6, 16)
    assert np.diff([*plan.first, 32]).tolist() == [4] * 8
    assert not any(plan.again)
    assert plan.bubble == pytest.approx(7 / 23)


def test_early_stages_compute_again():
    """They keep values of more micro-batches."""
    one = LayerCost(1.0, 2.0, 1.0, 10.0, 1.0)
    plan = plan_stages([one] * 8, 4, 60.0, 8)
    counts = [sum(plan.again[b:e]) for b, e in zip(plan.first, [*plan.first[1:], 8], strict=True)]
    assert counts[0] > counts[-1] == 0


IN_FLIGHT = [("gpipe", 0, 8), ("gpipe", 3, 8), ("1f1b", 0, 4), ("1f1b", 3, 1)]


@pytest.mark.parametrize(("schedule", "stage", "count"), IN_FLIGHT)
def test_micro_batches_in_flight(schedule, stage, count):
    assert in_flight(schedule, stage, 4, 8) == count


ONE = LayerCost(1.0, 2.0, 1.0, 10.0, 1.0)
WRONG = {
    "no stage": (([ONE], 0, 1e3, 1), "must be in \\[1, 1\\]"),
    "more stages than layers": (([ONE], 2, 1e3, 1), "must be in \\[1, 1\\]"),
    "no memory": (([ONE], 1, 0, 1), "'memory' must be above 0"),
    "no micro-batch": (([ONE], 1, 1e3, 0), "'micro_batches' must be above 0"),
    "an unknown schedule": (([ONE], 1, 1e3, 1, "x"), "must be one of \\['gpipe', '1f1b'\\]"),
    "a cost below 0": (([ONE._replace(values=-1)], 1, 1e3, 1), "layer 0 has a cost below 0"),
    "a cost that is no number": (([ONE._replace(state=math.nan)], 1, 1e3, 1), "layer 0"),
    "too little memory": (([ONE] * 4, 2, 5.9, 4), "6 are needed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    arguments, text = WRONG[name]
    with pytest.raises(ValueError, match=text) as caught:
        plan_stages(*arguments)
    assert "\n" not in str(caught.value)


def test_a_solver_that_had_no_processor(monkeypatch):
    """Where other programs had the processor, the solver gets more time by the clock."""
    solve, limits = scipy.optimize.milp, []

    def interrupted(*args, options, **kwargs):
        limits.append(options["time_limit"])
        # With hardly any time it ends without a plan.
        if len(limits) < 3:
            return scipy.optimize.OptimizeResult(status=1, x=None, message="Time limit reached.")
        return solve(*args, options=options, **kwargs)

    monkeypatch.setattr(scipy.optimize, "milp", interrupted)
    plan = plan_stages(layers(0, 4), 2, 100, 4)
    assert limits == [60, 240, 960]
    assert plan.seconds == pytest.approx(best_of_all(layers(0, 4), 2, 100, 4, "1f1b"))
