"""Optimizers and schedules against the original's recorded states, in both modes."""

import json
import pathlib

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn
from mindjax.core.caches import compilations
from tests.nn import optim_cases as cases

GOLDENS = pathlib.Path(__file__).resolve().parent.parent / "goldens" / "optim"
RECORDED = json.loads((GOLDENS / "recorded.json").read_text())
STATES = dict(np.load(GOLDENS / "states.npz"))


def parameters():
    return [ms.Parameter(ms.Tensor(v), name=n) for n, v in cases.values().items()]


def evaluate(expression):
    return eval(expression, {"ms": ms, "nn": nn, "np": np, "p": parameters()})


def tensors(gradients):
    return tuple(ms.Tensor(g) for g in gradients)


def train(optimizer, steps=cases.STEPS):
    for gradients in cases.gradients()[:steps]:
        optimizer(tensors(gradients))
    return {name: p.asnumpy() for name, p in optimizer.parameters_dict().items()}


# An optimizer is one program in either mode; `test_optimizers` shows that GRAPH is the same.
@pytest.mark.parametrize("name", cases.UPDATES)
def test_states_after_one_and_ten_steps_equal_the_originals(name):
    optimizer = evaluate(cases.UPDATES[name])
    assert list(optimizer.parameters_dict()) == RECORDED["orders"][name]
    for i, gradients in enumerate(cases.gradients()):
        assert optimizer(tensors(gradients)) == (True,) * 4
        if i in (0, cases.STEPS - 1):
            for key, parameter in optimizer.parameters_dict().items():
                got, want = parameter.asnumpy(), STATES[f"{name}/{i + 1}/{key}"]
                assert (got.dtype, got.shape) == (want.dtype, want.shape)
                np.testing.assert_allclose(got, want, 2e-6, 1e-6, err_msg=f"{key}, step {i + 1}")


def test_nesterov_momentum(mode):
    got = train(evaluate(cases.NESTEROV))
    for i, (name, p) in enumerate(cases.values().items()):
        p, v = p.astype(np.float64), 0.0
        for gradients in cases.gradients():
            v = 0.9 * v + gradients[i]
            p = p - 0.1 * (gradients[i] + 0.9 * v)
        np.testing.assert_allclose(got[name], p, 2e-6, 2e-6)


def test_centralized_momentum(mode):
    got = train(evaluate(cases.CENTRALIZED))
    for i, (name, p) in enumerate(cases.values().items()):
        p, v = p.astype(np.float64), 0.0
        for gradients in cases.gradients():
            g = gradients[i].astype(np.float64)
            if g.ndim > 1:
                g = g - g.mean(tuple(range(1, g.ndim)), keepdims=True)
            v = 0.9 * v + g
            p = p - 0.1 * v
        np.testing.assert_allclose(got[name], p, 2e-6, 2e-6)


def test_adagrad_with_frozen_sums(mode):
    got = train(evaluate(cases.FROZEN))
    for i, (name, p) in enumerate(cases.values().items()):
        total = sum(gradients[i].astype(np.float64) for gradients in cases.gradients())
        np.testing.assert_allclose(got[name], p - 0.1 * total / np.sqrt(0.5), 2e-6, 2e-6)
        np.testing.assert_array_equal(got[f"accum.{name}"], np.float32(0.5))


@pytest.mark.parametrize("expression", cases.LAMBS)
def test_lamb(expression, mode):
    got = train(evaluate(expression))
    for i, ((name, p), settings) in enumerate(
        zip(cases.values().items(), cases.LAMBS[expression], strict=True)
    ):
        rate, beta1, beta2, eps, decay = settings
        p, m, v = p.astype(np.float64), 0.0, 0.0
        for t, gradients in enumerate(cases.gradients(), 1):
            g = gradients[i].astype(np.float64)
            m = beta1 * m + (1 - beta1) * g
            v = beta2 * v + (1 - beta2) * g**2
            u = m / (1 - beta1**t) / (np.sqrt(v / (1 - beta2**t)) + eps) + decay * p
            p = p - rate * np.linalg.norm(p) / np.linalg.norm(u) * u
        np.testing.assert_allclose(got[name], p, 5e-5, 5e-6)


@pytest.mark.parametrize("name", cases.SCHEDULES)
def test_rates_of_schedules_equal_the_originals(name):
    schedule = evaluate(cases.SCHEDULES[name])
    got = [schedule(ms.Tensor([i], ms.int32)) for i in range(13)]
    assert {(g.shape, g.dtype) for g in got} == {((1,), ms.float32)}
    np.testing.assert_allclose([g.item() for g in got], RECORDED["schedules"][name], 1e-6)


@pytest.mark.parametrize("name", cases.LISTS)
def test_lists_of_rates_equal_the_originals(name):
    assert evaluate(cases.LISTS[name]) == RECORDED["lists"][name]


def test_a_written_learning_rate_takes_effect_without_a_compilation(mode):
    optimizer = evaluate("nn.Momentum(p, 0.5, 0.0)")
    gradients = tensors(cases.gradients()[0])
    optimizer(gradients)
    optimizer(gradients)
    before, count = optimizer.parameters[0].asnumpy(), compilations()
    optimizer.learning_rate.set_data(ms.Tensor(0.25, ms.float32))
    optimizer(gradients)
    moved = before - optimizer.parameters[0].asnumpy()
    np.testing.assert_allclose(moved, 0.25 * gradients[0].asnumpy(), 1e-5, 1e-6)
    assert compilations() == count


def test_the_last_rate_of_a_list_stays(mode):
    optimizer = evaluate("nn.SGD(p[1:2], [0.1, 0.2])")
    gradient = np.ones(5, np.float32)
    for _ in range(4):
        optimizer(tensors([gradient]))
    np.testing.assert_allclose(
        optimizer.parameters[0].asnumpy(), cases.values()["bias"] - 0.7, 1e-6, 1e-6
    )


@pytest.mark.parametrize(
    "expression",
    ["nn.SGD(p, 0.2)", "nn.SGD([{'params': p[:1], 'lr': 0.1}, {'params': p[1:]}], 0.2)"],
)
def test_get_lr_parameter(expression):
    optimizer = evaluate(expression)
    first, second = optimizer.parameters[:2]
    rates = optimizer.get_lr_parameter([first, second])
    grouped = optimizer.is_group
    assert [float(r) for r in rates] == [np.float32(0.1 if grouped else 0.2), np.float32(0.2)]
    assert optimizer.get_lr_parameter(second) is rates[1]


def test_dynamic_rates_of_groups():
    rate = nn.WarmUpLR(0.5, 4)
    groups = "nn.SGD([{'params': p[:1], 'lr': 0.1}, {'params': p[1:]}], rate)"
    p = parameters()
    optimizer = eval(groups, {"nn": nn, "p": p, "rate": rate})
    assert optimizer.get_lr_parameter(p[1]) is rate
    np.testing.assert_allclose([float(r) for r in optimizer.get_lr()], [0.1, 0, 0, 0])
    optimizer(tensors(cases.gradients()[0]))
    np.testing.assert_allclose([float(r) for r in optimizer.get_lr()], [0.1, 0.125, 0.125, 0.125])


@pytest.mark.parametrize(
    "unbound",
    [
        "nn.Momentum(learning_rate=0.1, momentum=0.9, weight_decay=0.1)",
        "nn.SGD()",
        "nn.Adam()",
        "nn.AdamWeightDecay(weight_decay=0.1)",
        "nn.RMSProp()",
        "nn.Adagrad()",
    ],
)
def test_an_optimizer_without_parameters_is_bound_later(unbound, mode):
    optimizer = evaluate(unbound)
    assert not optimizer.is_bound
    with pytest.raises(RuntimeError, match=r"no parameters are bound.*test_optim\.py"):
        optimizer(tensors(cases.gradients()[0]))
    assert optimizer.bind(parameters()) is optimizer
    assert optimizer.is_bound
    bound = evaluate(unbound.replace("(", "(p, ", 1))
    got, want = train(optimizer, 2), train(bound, 2)
    assert got.keys() == want.keys()
    for name, value in want.items():
        np.testing.assert_array_equal(got[name], value)
    with pytest.raises(RuntimeError, match="already has its parameters"):
        optimizer.bind(parameters())


def test_groups_may_be_bound_later():
    p = parameters()
    optimizer = nn.Momentum(learning_rate=0.1, momentum=0.9)
    optimizer.bind([{"params": p[:1], "lr": 0.5}, {"params": p[1:]}])
    got = train(optimizer, 1)
    for key in ("weight", "bias", "learning_rate_group_0", "learning_rate"):
        np.testing.assert_allclose(got[key], STATES[f"group_rate/1/{key}"], 2e-6, 1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float64"])
@pytest.mark.parametrize(
    "expression",
    ["nn.Momentum(p, 0.5, 0.5)", "nn.SGD(p, 0.5)", "nn.Adam(p, 0.1)", "nn.AdamWeightDecay(p, 0.1)"],
)
def test_state_keeps_the_parameters_dtype(expression, dtype):
    dtype = getattr(ms, dtype)
    p = [ms.Parameter(ms.Tensor([1.0, -2.0], dtype), name="w")]
    optimizer = eval(expression, {"nn": nn, "p": p})
    before = p[0].astype(ms.float32).asnumpy()
    optimizer((ms.Tensor([0.5, -0.5], dtype),))
    state = [v for n, v in optimizer.parameters_dict().items() if n.endswith(".w")]
    assert {v.dtype for v in [*p, *state]} == {dtype}
    assert (np.abs(p[0].astype(ms.float32).asnumpy()) < np.abs(before)).all()


ERRORS = cases.OPTIMIZER_ERRORS | cases.SCHEDULE_ERRORS


@pytest.mark.parametrize("expression", ERRORS.values(), ids=list(ERRORS))
def test_bad_input_raises_the_originals_class_and_names_the_line(expression):
    kind, _ = RECORDED["errors"][expression]
    with pytest.raises(Exception) as caught:
        evaluate(compile(expression, "user_script.py", "eval"))
    text = str(caught.value)
    assert type(caught.value).__name__ == kind
    assert "user_script.py:1]" in text and "\n" not in text
