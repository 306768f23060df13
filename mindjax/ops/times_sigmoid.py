"""x * sigmoid(x), with a derivative that computes the sigmoid again on CPUs.

XLA's CPU backend writes a quotient that is used twice to memory: that takes longer than to compute
it twice, each time in one loop with what it is used for.
"""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from mindjax.ops.contraction import cpu_forms

Array = jax.Array

SMALLEST = 1 << 14
"""Elements of an array from which on the sigmoid is computed again."""


def times_sigmoid(x: Array) -> Array:
    """Give x * sigmoid(x) in the form for the platform.

    Args:
        x: floats of any shape.
    """
    return again(x) if x.size >= SMALLEST and cpu_forms() else plain(x)


def plain(x: Array) -> Array:
    """Give x * sigmoid(x), with jax's own derivative."""
    return x * lax.logistic(x)


@jax.custom_jvp
def again(x: Array) -> Array:
    """Give x * sigmoid(x), with the derivative for CPUs."""
    return plain(x)


@again.defjvp
def _jvp(primals: Any, tangents: Any) -> Any:
    (x,), (dx,) = primals, tangents
    share = lax.logistic(lax.optimization_barrier(x))
    return again(x), dx * (share * (1 + x * (1 - share)))
