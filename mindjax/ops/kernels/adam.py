"""Adam in one pass over a variable and its moments."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.primitive import is_portable
from mindjax.ops.kernels.handlers import handler

Array = jax.Array

SMALLEST = 1 << 12
"""Elements of a variable from which on the kernel is called."""


def wanted(*arrays: Array) -> bool:
    """Tell whether the kernel takes a variable, its moments and gradient."""
    if is_portable():
        return False
    same = all(a.dtype == np.float32 and a.shape == arrays[0].shape for a in arrays)
    return same and arrays[0].size >= SMALLEST and handler("adam") is not None


@jax.custom_jvp
def step(
    variable: Array, mean: Array, square: Array, gradient: Array, numbers: Array
) -> tuple[Array, Array, Array]:
    """Take a step of Adam; see `plain`. Derivatives are those of the plain form."""
    shape = jax.ShapeDtypeStruct(variable.shape, variable.dtype)
    call = jax.ffi.ffi_call(
        handler("adam") or "",
        (shape, shape, shape),
        input_output_aliases={0: 0, 1: 1, 2: 2},
        vmap_method="sequential",
    )
    variable, mean, square = call(variable, mean, square, gradient, numbers)
    return variable, mean, square


@step.defjvp
def _step_jvp(primals: Any, tangents: Any) -> Any:
    return jax.jvp(plain, primals, tangents)


def plain(
    variable: Array, mean: Array, square: Array, gradient: Array, numbers: Array
) -> tuple[Array, Array, Array]:
    """Take a step of Adam.

    m += (g - m) share_m; v += (g^2 - v) share_v; p = p keep - rate m / (sqrt(v) scale + eps).

    Args:
        variable: Float32, any shape.
        mean: first moment, of the same shape.
        square: second moment.
        gradient: gradient.
        numbers: share_m, share_v, rate, eps, keep and scale, Float32 (6,).

    Returns:
        The new variable and moments.
    """
    share_m, share_v, rate, epsilon, keep, scale = (numbers[i] for i in range(6))
    mean = mean + (gradient - mean) * share_m
    square = square + (gradient * gradient - square) * share_v
    return variable * keep - rate * mean / (jnp.sqrt(square) * scale + epsilon), mean, square


def numbers_of(*values: Any) -> Array:
    """Put the six numbers of a step into one array."""
    return jnp.stack([jnp.asarray(v, np.float32).reshape(()) for v in values])
