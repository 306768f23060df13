"""`checkpointed_while` against loops written out, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from mindjax.graph.checkpointed import checkpointed_while

W = np.array([[0.3, 0.9], [-0.2, 1.1]])
X = np.array([0.2, 0.3])


@pytest.fixture(autouse=True)
def wide() -> Iterator[None]:
    with jax.enable_x64(True):
        yield


def turn(i: Any, x: Any, w: Any) -> Any:
    return jnp.sin(w @ x) + 1.3 * x * jnp.cos(jnp.asarray(i, x.dtype))


def looped(x: Any, w: Any, n: Any, slots: int | None = 4) -> Any:
    unchanged = jnp.asarray(w)
    last = checkpointed_while(
        lambda c: c[0] < n,
        lambda c: [c[0] + 1, turn(c[0], c[1], c[2]), c[2]],
        [jnp.int32(0), x, unchanged],
        slots,
    )
    return jnp.sum(last[1] ** 2)


def known(x: Any, w: Any, n: Any) -> Any:
    """The same in a fixed number of turns, of which `n` count."""

    def step(x: Any, i: Any) -> Any:
        return jnp.where(i < n, turn(i, x, w), x), None

    return jnp.sum(lax.scan(step, x, jnp.arange(37))[0] ** 2)


def same(got: Any, want: Any) -> None:
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-14), got, want)


def test_gradients_by_turns() -> None:
    function = jax.jit(jax.value_and_grad(looped, (0, 1)))
    want = jax.jit(jax.value_and_grad(known, (0, 1)))
    # 4 slots: turns that fit, that just fit, and that are run again several times.
    for n in (0, 1, 2, 4, 5, 16, 37):
        same(function(X, W, n), want(X, W, n))


def test_gradients_with_many_slots() -> None:
    got = jax.jit(jax.grad(lambda x, w: looped(x, w, 9, None), (0, 1)))(X, W)
    same(got, jax.jit(jax.grad(known, (0, 1)))(X, W, 9))


def test_second_order() -> None:
    got = jax.jit(jax.jacrev(jax.jacrev(looped, (0, 1)), (0, 1)))(X, W, 7)
    same(got, jax.jit(jax.hessian(known, (0, 1)))(X, W, 7))


def test_vmap_with_a_number_of_turns_each() -> None:
    xs, turns = jnp.stack([X, 2 * X, -X]), jnp.array([3, 0, 6])
    each = jax.jit(jax.vmap(jax.grad(looped, (0, 1)), (0, None, 0)))(xs, W, turns)
    want = jax.jit(jax.grad(known, (0, 1)))
    for k in range(3):
        same([g[k] for g in each], list(want(xs[k], W, turns[k])))
    total = jax.jit(jax.grad(lambda w: jax.vmap(looped, (0, None, 0))(xs, w, turns).sum()))(W)
    same(total, each[1].sum(0))


def test_a_condition_on_the_carry() -> None:
    def root(a: Any) -> Any:
        """Square root by Newton's rule."""
        (x,) = checkpointed_while(
            lambda c: jnp.abs(c[0] * c[0] - a) > 1e-13, lambda c: [0.5 * (c[0] + a / c[0])], [a]
        )
        return x

    same(jax.jit(jax.value_and_grad(root))(2.0), (2**0.5, 0.5 / 2**0.5))


def test_without_a_gradient_it_is_a_while_loop() -> None:
    def plain(x: Any) -> Any:
        return lax.while_loop(lambda c: c[0].sum() < 9, lambda c: [c[0] * 2], [x])[0]

    def ours(x: Any) -> Any:
        return checkpointed_while(lambda c: c[0].sum() < 9, lambda c: [c[0] * 2], [x])[0]

    def instructions(function: Any) -> list[str]:
        text = jax.jit(function).lower(X).compile().as_text()
        return [
            line.split(" = ")[1].split("metadata")[0] for line in text.splitlines() if " = " in line
        ]

    assert instructions(ours) == instructions(plain)


def test_effects_happen_once() -> None:
    seen: list[float] = []

    def run(x: Any) -> Any:
        def body(carry: Any) -> Any:
            jax.debug.callback(lambda v: seen.append(float(v)), carry[0], ordered=True)
            lax.cond(
                carry[0] > 3,
                lambda: jax.debug.callback(lambda: seen.append(-1.0), ordered=True),
                lambda: None,
            )
            return [carry[0] * 2]

        return checkpointed_while(lambda c: c[0] < 8, body, [x], 2)[0]

    assert jax.jit(jax.grad(run))(1.0) == 8
    jax.effects_barrier()
    assert seen == [1, 2, 4, -1]


def test_errors() -> None:
    with pytest.raises(TypeError, match="no Bool scalar"):
        checkpointed_while(lambda c: c[0], lambda c: c, [X])
    with pytest.raises(TypeError, match="A turn of a while loop maps"):
        checkpointed_while(lambda c: c[0].sum() < 1, lambda c: [c[0].sum()], [X])
