"""Schedules of pipelines: every operation once and in a possible order, idle time, activations."""

import collections

import pytest

from mindjax_parallel.schedule import BACKWARD, FORWARD, WEIGHTS, before, forward_only, schedule

TABLE = [
    (name, stages, micros, passes)
    for stages in (1, 2, 4, 5)
    for micros in (1, 4, 8, 11)
    for name, passes in (
        ("gpipe", 1), ("1f1b", 1), ("interleaved", 2), ("interleaved", 3), ("zero_bubble_v", 2),
    )
]  # fmt: skip


@pytest.mark.parametrize("case", TABLE, ids=str)
def test_table(case):
    """Each operation stands once, on its position's stage, after what it needs."""
    name, _, micros, _ = case
    made = schedule(*case)
    done = set()
    count = collections.Counter()
    for row in made.steps:
        for stage, operation in enumerate(row):
            if operation is None:
                continue
            assert made.layout.stage(operation.position) == stage
            assert all(o in done for o in before(operation, made.layout.positions))
            count[operation] += 1
        done.update(o for o in row if o)
    kinds = (FORWARD, BACKWARD, WEIGHTS) if name == "zero_bubble_v" else (FORWARD, BACKWARD)
    assert set(count.values()) == {1}
    assert len(count) == len(kinds) * micros * made.layout.positions


@pytest.mark.parametrize("stages", [2, 4, 8])
@pytest.mark.parametrize("groups", [1, 2, 4])
def test_idle(stages, groups):
    """Bubbles are those of the papers; the V's is the least, with the memory of 1F1B."""
    micros = stages * groups
    classic = (stages - 1) / (micros + stages - 1)
    gpipe, plain = schedule("gpipe", stages, micros), schedule("1f1b", stages, micros)
    assert gpipe.bubble() == pytest.approx(classic)
    assert plain.bubble() == pytest.approx(classic)
    assert [gpipe.in_flight(s) for s in range(stages)] == [micros] * stages
    assert [plain.in_flight(s) for s in range(stages)] == [
        min(stages - s, micros) for s in range(stages)
    ]
    for passes in (2, 3):
        dealt = schedule("interleaved", stages, micros, passes)
        expected = (stages - 1) / (passes * micros + stages - 1)
        assert dealt.bubble() == pytest.approx(expected)
    folded = schedule("zero_bubble_v", stages, micros, 2)
    assert folded.bubble() < classic / 2
    assert max(folded.in_flight(s) for s in range(stages)) <= 2 * stages


def test_positions():
    """Positions are dealt out, or go through the stages and back."""
    assert [schedule("interleaved", 3, 3, 2).layout.stage(p) for p in range(6)] == [0, 1, 2] * 2
    assert [schedule("zero_bubble_v", 3, 3, 2).layout.held(s) for s in range(3)] == [
        [0, 5], [1, 4], [2, 3],
    ]  # fmt: skip
    assert len(forward_only(4, 8).steps) == 11


def test_report():
    assert schedule("1f1b", 4, 8).report() == (
        "1f1b: 4 stages x 1, 8 micro batches, 22 steps, 27.3% idle, at most 4 activations a stage"
    )
