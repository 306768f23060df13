"""Forms for CPUs against the plain ones, in every derivative."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mindjax.ops import times_sigmoid
from mindjax.ops.contraction import barred, plain, times_weight

SHAPES = [((6, 5), 3), ((6, 5), 9), ((2, 3, 5), 4), ((2, 3, 5), 8)]


def operands(shape: tuple[int, ...], out: int, out_first: bool) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    sizes = (out, shape[-1]) if out_first else (shape[-1], out)
    return jnp.asarray(rng.normal(size=shape)), jnp.asarray(rng.normal(size=sizes))


@pytest.mark.parametrize("out_first", [True, False])
@pytest.mark.parametrize(("shape", "out"), SHAPES)
def test_derivatives(shape: tuple[int, ...], out: int, out_first: bool) -> None:
    with jax.enable_x64(True):
        x, w = operands(shape, out, out_first)

        def derivatives(product: Any) -> Any:
            def loss(x: Any, w: Any) -> Any:
                return jnp.sin(product(x, w, out_first)).sum()

            second = jax.jvp(jax.grad(loss, (0, 1)), (x, w), (jnp.cos(x), jnp.cos(w)))
            return (
                product(x, w, out_first),
                jax.grad(loss, 1)(x, w),
                second,
                jax.grad(lambda w: (jax.grad(loss, (0, 1))(x, w)[1] ** 2).sum())(w),
                jax.vmap(jax.grad(loss, 1), (None, 0))(x, jnp.stack([w, 2 * w])),
            )

        got, want = jax.jit(lambda: derivatives(barred))(), jax.jit(lambda: derivatives(plain))()
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-12), got, want
        )


@pytest.mark.parametrize(("inner", "out"), [(256, 128), (128, 256)])
def test_the_gradient_contracts_a_last_axis(inner: int, out: int) -> None:
    """What the form is for: no product in the program has a left operand contracted first."""

    def dots(product: Any) -> list[str]:
        shapes = [jax.ShapeDtypeStruct(s, jnp.float32) for s in ((512, inner), (out, inner))]
        gradient = jax.jit(jax.grad(lambda x, w: (product(x, w, True) ** 2).sum(), 1))
        lines = gradient.lower(*shapes).compile().as_text().splitlines()
        return [line for line in lines if " dot(" in line and "lhs_contracting_dims={0}" in line]

    assert len(dots(plain)) == 1
    assert not dots(times_weight)


def test_silu_of_which_the_derivative_computes_the_sigmoid_again() -> None:
    with jax.enable_x64(True):
        x = jnp.linspace(-30, 30, 61)

        def derivatives(form: Any) -> Any:
            second = jax.vmap(jax.grad(jax.grad(form)))(x)
            return form(x), jax.jvp(form, (x,), (x,)), second, jax.hessian(form)(x[3])

        got, want = derivatives(times_sigmoid.again), derivatives(times_sigmoid.plain)
        jax.tree.map(
            lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14), got, want
        )
