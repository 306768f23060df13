"""Schedulers of `experimental.optim` against the original's recorded rates."""

import json
import pathlib

import numpy as np
import pytest

import mindjax as ms
from mindjax.core.caches import compilations
from mindjax.experimental import optim as xo
from tests.nn import scheduler_cases as cases

GOLDENS = pathlib.Path(__file__).resolve().parent.parent / "goldens" / "optim"
RECORDED = json.loads((GOLDENS / "schedulers.json").read_text())


def evaluate(expression):
    p = [ms.Parameter(ms.Tensor(np.ones(2, np.float32)), name=n) for n in "ab"]
    o = xo.SGD([{"params": p[:1]}, {"params": p[1:], "lr": 0.5}], 0.1)
    names = {"ms": ms, "np": np, "xo": xo, "S": xo.lr_scheduler, "o": o}
    return eval(expression, names), o


def rates(optimizer):
    return [float(group["lr"]) for group in optimizer.param_groups]


def follow(expression, steps):
    schedule, optimizer = evaluate(expression)
    found = [rates(optimizer)]
    for arguments in steps:
        schedule.step(*arguments)
        found.append(rates(optimizer))
        assert [float(rate) for rate in schedule.get_last_lr()] == rates(optimizer)
    return found


@pytest.mark.parametrize("name", cases.SCHEDULERS)
def test_rates_of_steps_equal_the_originals(name):
    found = follow(cases.SCHEDULERS[name], [()] * cases.STEPS)
    np.testing.assert_allclose(found, RECORDED["steps"][name], 2e-6, 1e-7)


@pytest.mark.parametrize("name", cases.CLOSED)
def test_rates_of_named_epochs_equal_the_originals(name):
    found = follow(cases.SCHEDULERS[name], [(e,) for e in cases.EPOCHS])
    np.testing.assert_allclose(found, RECORDED["epochs"][name], 2e-6, 1e-7)


@pytest.mark.parametrize("name", cases.PLATEAUS)
def test_rates_on_plateaus_equal_the_originals(name):
    found = follow(cases.PLATEAUS[name], [(v,) for v in cases.WATCHED])
    np.testing.assert_allclose(found, RECORDED["plateaus"][name], 1e-6)


INSIDE = ["step_gamma", "multi_step", "lambda", "linear", "cosine", "restarts_longer", "cyclic"]


@pytest.mark.parametrize("name", INSIDE)
def test_a_schedule_inside_a_compiled_step(name):
    schedule, optimizer = evaluate(cases.SCHEDULERS[name])
    gradients = tuple(ms.Tensor(np.ones(2, np.float32)) for _ in "ab")

    @ms.jit
    def step(gradients):
        optimizer(gradients)
        schedule.step()
        return gradients[0]

    found, want, compiled = [], 1.0, 0
    for i in range(6):
        want -= rates(optimizer)[1]
        step(gradients)
        found.append(rates(optimizer))
        compiled = compilations() if i == 0 else compiled
    assert compilations() == compiled
    np.testing.assert_allclose(found, RECORDED["steps"][name][1:7], 2e-6, 1e-7)
    np.testing.assert_allclose(optimizer.parameters[1].asnumpy(), [want, want], 1e-5)


def test_a_plateau_inside_a_compiled_step():
    schedule, optimizer = evaluate(cases.PLATEAUS["cooldown"])
    step = ms.jit(lambda value: schedule.step(value))
    found = [rates(optimizer)]
    for value in cases.WATCHED:
        step(ms.Tensor(value, ms.float32))
        found.append(rates(optimizer))
    np.testing.assert_allclose(found, RECORDED["plateaus"]["cooldown"], 1e-6)


def test_a_users_scheduler():
    class Halving(xo.lr_scheduler.LRScheduler):
        def get_lr(self):
            return [rate * 0.5**self.last_epoch for rate in self.base_lrs]

    optimizer = evaluate("1")[1]
    schedule = Halving(optimizer)
    schedule.step()
    np.testing.assert_allclose(rates(optimizer), [0.05, 0.25], 1e-6)


def test_longer_restarts_from_a_named_epoch():
    schedule, optimizer = evaluate(cases.SCHEDULERS["restarts_longer"])
    schedule.step(3.5)
    # The second way begins at 2 and takes 4 steps.
    height = (1 + np.cos(np.pi * 1.5 / 4)) / 2
    np.testing.assert_allclose(rates(optimizer)[1], 0.01 + 0.49 * height, 1e-6)
    schedule.step()
    height = (1 + np.cos(np.pi * 2.5 / 4)) / 2
    np.testing.assert_allclose(rates(optimizer)[1], 0.01 + 0.49 * height, 1e-6)


@pytest.mark.parametrize("expression", [e for e, v in RECORDED["errors"].items() if v])
def test_bad_input_raises_the_originals_class_and_names_the_line(expression):
    kind, _ = RECORDED["errors"][expression]
    with pytest.raises(Exception) as caught:
        evaluate(compile(expression, "user_script.py", "eval"))
    text = str(caught.value)
    assert type(caught.value).__name__ == kind
    assert "\n" not in text
