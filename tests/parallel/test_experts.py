"""Mixtures of experts, and products cut along both dimensions, on one device and on eight."""

import math

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, ops
from mindjax_parallel.experts import MixtureOfExperts
from mindjax_parallel.moe import MoE
from tests.parallel import products
from tests.parallel.launching import on_eight_devices
from tests.parallel.mixtures import CASES, WIDTH

QUICK = [name for name, case in CASES.items() if case.quick]


def results(names):
    """Run cases in a process with eight virtual devices."""
    return {r["case"]: r for r in on_eight_devices("tests.parallel.mixtures", *names)}


@pytest.fixture(scope="module")
def every():
    return results([*CASES, *products.CASES])


def check(name, result):
    """Compare each step, the bytes of a device's experts, and what goes between devices."""
    case = CASES[name]
    np.testing.assert_allclose(result["losses"], result["expected"], rtol=1e-5)
    assert result["losses"][-1] < result["losses"][0]
    assert result["moved"] < 1e-5
    # The same step from the same state gives the same bits.
    assert result["twice"][0] == result["twice"][1]
    assert result["held"] == result["whole"] / (case.ep * case.mp)
    count, size = result["count"], result["bytes"]
    if case.mode == "auto_parallel":
        assert count["all-to-all"] >= 4
        return
    if case.ep == 1:
        assert set(count) == {"all-reduce"}
    elif case.capacity is not None:
        # There and back, in each pass; no expert's matrix moves.
        assert set(count) == {"all-to-all", "all-reduce"}
        groups, tokens = 8 // case.dp, 16
        places = 8 * groups * math.ceil(tokens * case.k * case.capacity / 8)
        assert count["all-to-all"] == 4
        assert size["all-to-all"] == 4 * places * WIDTH * 4
    else:
        # Tokens, choices and weights are gathered, in the backward pass gradients of the sums.
        assert "all-to-all" not in count
        tokens = 128 // case.dp * case.ep
        assert size["all-gather"] <= 2 * tokens * WIDTH * 4 + 2 * tokens * case.k * 4
    # Sums: gradients of what every device holds, and of experts over their copies.
    assert size["all-reduce"] <= result["parameters"] + 64


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in CASES if n not in QUICK])
def test_as_one_device_all(name, every):
    check(name, every[name])


def check_products(result):
    """Compare losses; parts of matrices stay where they are, activations move."""
    np.testing.assert_allclose(result["losses"], result["expected"], rtol=1e-5)
    assert result["losses"][-1] < result["losses"][0]
    assert result["held"] == result["whole"] / result["parts"]
    assert set(result["count"]) <= {"all-gather", "reduce-scatter", "all-reduce", "all-to-all"}
    assert max(result["largest"].values()) <= products.ROWS * products.HIDDEN * 4
    assert max(result["largest"].values()) < result["parameter"]


def test_quick():
    """One process for all: a second one would start as long as they run."""
    found = results([*QUICK, *products.QUICK])
    for name in QUICK:
        check(name, found[name])
    for name in products.QUICK:
        check_products(found[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in products.CASES if n not in products.QUICK])
def test_products_all(name, every):
    check_products(every[name])


def reference(x, router, up, down, gate, k, factor, groups, normalized):
    """Send one token after another to its experts, in float64."""
    tokens, count = x.shape[0], router.shape[1]
    y, loss = np.zeros_like(x), 0.0
    for rows in np.split(np.arange(tokens), groups):
        scores = x[rows] @ router
        shares = np.exp(scores - scores.max(1, keepdims=True))
        shares /= shares.sum(1, keepdims=True)
        chosen = np.argsort(-shares, 1, kind="stable")[:, :k]
        places = math.inf if factor is None else max(1, math.ceil(len(rows) * k * factor / count))
        taken = np.zeros(count, int)
        for rank in range(k):
            for i, row in enumerate(rows):
                expert = chosen[i, rank]
                taken[expert] += 1
                if taken[expert] > places:
                    continue
                share = shares[i, expert]
                if normalized:
                    share /= shares[i, chosen[i]].sum()
                hidden = np.maximum(x[row] @ (up if gate is None else gate)[expert], 0)
                if gate is not None:
                    z = x[row] @ gate[expert]
                    hidden = z / (1 + np.exp(-z)) * (x[row] @ up[expert])
                y[row] += share * (hidden @ down[expert])
        often = np.bincount(chosen.reshape(-1), minlength=count) / chosen.size
        loss += count * (often * shares.mean(0)).sum() / groups
    return y, loss


ROUTES = {
    "top 1": (1, 1.0, 2, "relu", False),
    "top 2": (2, 0.75, 3, "relu", True),
    "top 3, a third matrix": (3, 1.25, 1, "swiglu", True),
    "all tokens": (2, None, 2, "relu", True),
    "all tokens, a third matrix": (1, None, 1, "swiglu", False),
}


def each(name):
    """Make a case's parameter."""
    quick = name in ("top 2", "all tokens, a third matrix")
    return pytest.param(name, marks=() if quick else pytest.mark.slow)


@pytest.mark.parametrize("name", [each(name) for name in ROUTES])
def test_mathematics(name):
    k, factor, groups, activation, normalized = ROUTES[name]
    rng = np.random.RandomState(0)
    shapes = [(12, 6), (6, 4), (4, 6, 8), (4, 8, 6), (4, 6, 8)]
    arrays = [rng.randn(*s) for s in shapes[: 4 + (activation == "swiglu")]]
    expected, loss = reference(
        *arrays, *([None] if len(arrays) == 4 else []), k, factor, groups, normalized
    )
    operator = MixtureOfExperts(k, factor, groups, activation, normalized)
    direction = [rng.randn(*a.shape) for a in arrays]

    def run(*given):
        return operator(*given, *([None] if len(given) == 4 else []))

    y, balance = run(*map(Tensor, arrays))
    np.testing.assert_allclose(y.asnumpy(), expected, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(balance.asnumpy(), loss, rtol=1e-12)

    def total(*given):
        y, balance = run(*given)
        return ops.sum(y * y) + balance

    # Gradients flow through the weights of the routes too: against a difference quotient.
    gradients = ms.grad(total, tuple(range(len(arrays))))(*map(Tensor, arrays))
    slope = sum(float((g.asnumpy() * d).sum()) for g, d in zip(gradients, direction, strict=True))
    step = 1e-7
    moved = [
        [Tensor(a + s * step * d) for a, d in zip(arrays, direction, strict=True)] for s in (1, -1)
    ]
    quotient = (float(total(*moved[0]).asnumpy()) - float(total(*moved[1]).asnumpy())) / (2 * step)
    assert abs(slope - quotient) < 1e-5 * max(1.0, abs(quotient))


def test_a_layer_trains_alone():
    """Both modes give the same, whatever the shape of the tokens."""
    ms.set_seed(1)
    layer = MoE(6, 8, 4, 2, groups=2)
    x = Tensor(np.random.RandomState(0).randn(2, 3, 6).astype(np.float32))
    y, loss = layer(x)
    assert y.shape == x.shape
    assert loss.shape == ()
    again, _ = ms.jit(layer)(x)
    np.testing.assert_allclose(again.asnumpy(), y.asnumpy(), rtol=1e-5, atol=1e-6)
    assert sorted(p.name for p in layer.trainable_params()) == ["down", "router", "up"]
