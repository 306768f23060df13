"""Recurrent networks against float64 mathematics, their own derivative and their dropout."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindjax as ms
from mindjax import nn
from mindjax.ops.neural import recurrence as networks

RANDOM = np.random.default_rng(5)


def sigmoid(x: Any) -> Any:
    """Give 1 / (1 + exp(-x))."""
    return 1 / (1 + np.exp(-x))


def step(kind: str, x: Any, h: Any, c: Any, w: list[Any]) -> tuple[Any, Any]:
    """Take one step as the papers write it."""
    a, b = x @ w[0].T + w[2], h @ w[1].T + w[3]
    if kind.startswith("RNN"):
        return (np.tanh(a + b) if kind == "RNN_TANH" else np.maximum(a + b, 0)), c
    if kind == "GRU":
        a, b = np.split(a, 3, 1), np.split(b, 3, 1)
        reset, update = sigmoid(a[0] + b[0]), sigmoid(a[1] + b[1])
        new = np.tanh(a[2] + reset * b[2])
        return (1 - update) * new + update * h, c
    i, f, g, o = np.split(a + b, 4, 1)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


@pytest.mark.parametrize("kind", ["RNN_TANH", "RNN_RELU", "GRU", "LSTM"])
def test_two_directions_with_lengths(kind: str) -> None:
    extra = {"nonlinearity": kind[4:].lower()} if kind.startswith("RNN") else {}
    cell = getattr(nn, kind[:3] if extra else kind)(3, 4, bidirectional=True, **extra)
    x = RANDOM.standard_normal((6, 3, 3))
    lengths = [6, 2, 4]
    names = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
    values = {n: p.asnumpy().astype(np.float64) for n, p in cell.parameters_and_names()}
    want, last = np.zeros((6, 3, 8)), np.zeros((2, 3, 4))
    for d, suffix in enumerate(("", "_reverse")):
        w = [values[n + suffix] for n in names]
        for sample, length in enumerate(lengths):
            h = c = np.zeros((1, 4))
            for t in range(length) if d == 0 else reversed(range(length)):
                h, c = step(kind, x[t, sample][None], h, c, w)
                want[t, sample, 4 * d : 4 * d + 4] = h
            last[d, sample] = h
    out, state = cell(ms.Tensor(x, ms.float32), None, ms.Tensor(lengths))
    state = state[0] if kind == "LSTM" else state
    np.testing.assert_allclose(out.asnumpy(), want, 1e-5, 1e-6)
    np.testing.assert_allclose(state.asnumpy(), last, 1e-5, 1e-6)


@pytest.mark.parametrize("name", sorted(networks.KINDS))
def test_derivative_is_that_of_the_plain_loop(name: str) -> None:
    kind = networks.KINDS[name]
    with jax.enable_x64(True):
        keys = iter(jax.random.split(jax.random.key(1), 9))
        inputs = jax.random.normal(next(keys), (5, 2, 3 * kind.gates))
        state = tuple(jax.random.normal(next(keys), (2, 3)) for _ in range(kind.states))
        w = jax.random.normal(next(keys), (3 * kind.gates, 3))
        b = jax.random.normal(next(keys), (3 * kind.gates,))
        mask = (jnp.arange(5)[:, None] < jnp.asarray([3, 5])[None, :])[:, :, None]

        def loss(run: Any, *args: Any) -> Any:
            after, last = run(*args)
            return sum(jnp.sum(jnp.sin(a)) for a in (*after, *last))

        def ours(*args: Any) -> Any:
            return networks._run(name, True, *args, mask)

        def plain(*args: Any) -> Any:
            after, _, last = networks._scan(kind, True, *args, mask)
            return after, last

        args = (inputs, state, w, b)
        tangents = jax.tree.map(jnp.ones_like, args)

        def both(run: Any) -> Any:
            function = functools.partial(loss, run)
            backward = jax.grad(function, (0, 1, 2, 3))(*args)
            return backward, jax.jvp(function, args, tangents)

        got, want = jax.jit(lambda: (both(ours), both(plain)))()
        jax.tree.map(lambda g, p: np.testing.assert_allclose(g, p, 1e-9, 1e-12), got, want)


def test_dropout_between_layers(mode: int, seed: int) -> None:
    cell, x = nn.GRU(3, 4, 2, dropout=0.9), ms.Tensor(np.ones((5, 2, 3), np.float32))
    still = [cell(x)[0].asnumpy() for _ in range(2)]
    np.testing.assert_array_equal(*still)
    cell.set_train()
    one, two = (cell(x)[0].asnumpy() for _ in range(2))
    assert (one != two).any()
    single = nn.GRU(3, 4, dropout=0.9).set_train()
    np.testing.assert_array_equal(single(x)[0].asnumpy(), single(x)[0].asnumpy())


def test_half_precision_keeps_its_dtype() -> None:
    x = ms.Tensor(np.ones((5, 2, 3)), ms.float16)
    out, (h, c) = nn.LSTM(3, 4)(x)
    assert {str(t.dtype) for t in (out, h, c)} == {"Float16"}
    assert {str(p.dtype) for p in nn.LSTM(3, 4, dtype=ms.float16).get_parameters()} == {"Float16"}
