"""Optimizers of `mint.optim` against their formulas in float64, in both modes.

The original's CPU has no kernel for AdamW, and its Adam and SGD leave the Parameters as they are.
"""

import numpy as np
import pytest

import mindjax as ms
from mindjax.core.caches import compilations
from mindjax.mint import optim
from tests.nn import optim_cases as cases


def parameters():
    return [ms.Parameter(ms.Tensor(v), name=n) for n, v in cases.values().items()]


def evaluate(expression):
    return eval(expression, {"ms": ms, "optim": optim, "np": np, "p": parameters()})


def train(optimizer, steps=cases.STEPS):
    for gradients in cases.gradients()[:steps]:
        assert optimizer(tuple(ms.Tensor(g) for g in gradients)) is True
    return {name: p.asnumpy() for name, p in optimizer.parameters_dict().items()}


def adam(p, steps, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, decay=0.0, decoupled=False, ams=False):
    m = v = largest = 0.0
    for t, g in enumerate(steps, 1):
        if decoupled:
            p = p * (1 - lr * decay)
        else:
            g = g + decay * p
        m = betas[0] * m + (1 - betas[0]) * g
        v = betas[1] * v + (1 - betas[1]) * g**2
        largest = np.maximum(largest, v) if ams else v
        root = np.sqrt(largest / (1 - betas[1] ** t)) + eps
        p = p - lr * m / (1 - betas[0] ** t) / root
    return p


def sgd(p, steps, lr, momentum=0.0, dampening=0.0, decay=0.0, nesterov=False):
    v = None
    for g in steps:
        g = g + decay * p
        v = g if v is None else momentum * v + (1 - dampening) * g
        p = p - lr * ((g + momentum * v if nesterov else v) if momentum else g)
    return p


UPDATES = {
    "optim.AdamW(p)": lambda i, p, g: adam(p, g, decay=0.01, decoupled=True),
    "optim.AdamW(p, 0.1, (0.8, 0.9), 1e-3, 0.1)": lambda i, p, g: adam(
        p, g, 0.1, (0.8, 0.9), 1e-3, 0.1, True
    ),
    "optim.AdamW(p, 0.1, (0.8, 0.9), amsgrad=True)": lambda i, p, g: adam(
        p, g, 0.1, (0.8, 0.9), decay=0.01, decoupled=True, ams=True
    ),
    "optim.FusedAdamW(p, 0.1, maximize=True)": lambda i, p, g: adam(
        p, [-x for x in g], 0.1, decay=0.01, decoupled=True
    ),
    "optim.Adam(p, 0.1, weight_decay=0.1)": lambda i, p, g: adam(p, g, 0.1, decay=0.1),
    "optim.Adam(p, 0.1, (0.8, 0.9), amsgrad=True)": lambda i, p, g: adam(
        p, g, 0.1, (0.8, 0.9), ams=True
    ),
    "optim.Adam([{'params': p[:1], 'lr': 0.5}, {'params': p[1:], 'betas': (0.5, 0.6)}], 0.1)": (
        lambda i, p, g: adam(p, g, 0.5 if i == 0 else 0.1, (0.5, 0.6) if i else (0.9, 0.999))
    ),
    "optim.SGD(p, 0.1)": lambda i, p, g: sgd(p, g, 0.1),
    "optim.SGD(p, ms.Tensor(0.1), 0.9, 0.3, 0.1)": lambda i, p, g: sgd(p, g, 0.1, 0.9, 0.3, 0.1),
    "optim.SGD(p, 0.1, 0.9, nesterov=True)": lambda i, p, g: sgd(p, g, 0.1, 0.9, nesterov=True),
    "optim.SGD(p, 0.1, 0.9, maximize=True)": lambda i, p, g: sgd(p, [-x for x in g], 0.1, 0.9),
}


@pytest.mark.parametrize("expression", UPDATES)
def test_ten_steps(expression, mode):
    got = train(evaluate(expression))
    for i, (name, p) in enumerate(cases.values().items()):
        steps = [gradients[i].astype(np.float64) for gradients in cases.gradients()]
        want = UPDATES[expression](i, p.astype(np.float64), steps)
        np.testing.assert_allclose(got[name], want, 1e-5, 5e-6)


STATES = {
    "optim.AdamW(p[1:3])": [
        "exp_avg.bias",
        "exp_avg.gamma",
        "exp_avg_sq.bias",
        "exp_avg_sq.gamma",
        "state_step",
    ],
    "optim.Adam(p[:1])": ["exp_avg.weight", "exp_avg_sq.weight", "state_step"],
    "optim.SGD(p[:1], 0.1)": ["momentum_buf.weight", "step_t"],
}


@pytest.mark.parametrize("expression", STATES)
def test_names_and_order_of_the_state(expression):
    names = list(evaluate(expression).parameters_dict())
    assert [n for n in names if n not in cases.SHAPES] == STATES[expression]


def test_what_a_group_says_may_change(mode):
    optimizer = evaluate("optim.SGD(p[1:2], 0.5)")
    group, gradient = optimizer.param_groups[0], ms.Tensor(np.ones(5, np.float32))
    optimizer((gradient,))
    optimizer((gradient,))
    count = compilations()
    group["lr"].set_data(ms.Tensor(0.25))
    optimizer((gradient,))
    assert compilations() == count
    group["maximize"] = True
    optimizer((gradient,))
    want = cases.values()["bias"] - 1.0 - 0.25 + 0.25
    np.testing.assert_allclose(optimizer.parameters[0].asnumpy(), want, 1e-6, 1e-6)


@pytest.mark.parametrize("name", ["SGD", "Adam", "AdamW", "FusedAdamW"])
def test_a_group_that_is_added_later_is_trained_as_one_from_the_start(name):
    more = {"params": [], "lr": 0.5} | ({} if name == "SGD" else {"amsgrad": False})
    found = []
    for later in (True, False):
        p = parameters()
        group = more | {"params": p[2:]}
        if later:
            optimizer = getattr(optim, name)(p[:2], 0.1)
            optimizer.add_param_group(group)
        else:
            optimizer = getattr(optim, name)([{"params": p[:2]}, group], 0.1)
        found.append(train(optimizer, 3))
    assert sorted(found[0]) == sorted(found[1])
    for key, value in found[0].items():
        np.testing.assert_array_equal(value, found[1][key])


def test_repr():
    assert repr(evaluate("optim.SGD(p, 0.5)")) == (
        "SGD (\nParameter Group 0\n    dampening: 0\n    lr: 0.5\n    maximize: False\n"
        "    momentum: 0\n    nesterov: False\n    weight_decay: 0\n)"
    )


# What the original raises.
ERRORS = {
    "optim.AdamW(p, -0.1)": ValueError,
    "optim.AdamW(p, 1)": TypeError,
    "optim.AdamW(p, 0.1, [0.9, 0.9])": TypeError,
    "optim.AdamW(p, 0.1, (1.0, 0.9))": ValueError,
    "optim.AdamW(p, 0.1, eps=-1.0)": ValueError,
    "optim.AdamW(p, 0.1, weight_decay=-1.0)": ValueError,
    "optim.AdamW(None)": ValueError,
    "optim.AdamW([])": ValueError,
    "optim.AdamW([1])": TypeError,
    "optim.AdamW(p[0])": TypeError,
    "optim.Adam([{'params': p}, {'params': p}])": ValueError,
    "optim.Adam(p, amsgrad=1)": TypeError,
    "optim.Adam([{'params': set(p)}])": TypeError,
    "optim.Adam([{'params': p}, 3])": TypeError,
    "optim.SGD(p, 'a')": TypeError,
    "optim.SGD(p, 0.1, nesterov=True)": ValueError,
    "optim.SGD(p, 0.1, -1)": ValueError,
    "optim.SGD(p, 0.1)((p[0],))": RuntimeError,
    "optim.SGD(p, 0.1)(p[0])": TypeError,
    "optim.SGD(p, 0.1).add_param_group({'params': p})": ValueError,
    "optim.FusedAdamW([{'params': p[:1], 'amsgrad': True}, {'params': p[1:]}])": ValueError,
}


@pytest.mark.parametrize("expression", ERRORS)
def test_bad_input(expression):
    with pytest.raises(ERRORS[expression]) as caught:
        evaluate(compile(expression, "user_script.py", "eval"))
    assert "user_script.py:1]" in str(caught.value)
