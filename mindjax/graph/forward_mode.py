"""Derivatives along a direction, also of functions that hold rules of reverse mode alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from mindjax.core.jaxprs import every


def directional(
    function: Callable[..., tuple[Any, Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[Any, Any, Any]:
    """Evaluate a function and its derivative along a direction.

    Args:
        function: pure function of trees of real arrays that gives such a tree and anything else.
        primals: its arguments.
        tangents: the direction, in their structure.

    Returns:
        What the function gives, the derivative in the same structure, and the anything else.
    """
    if not has_own_backward(jax.make_jaxpr(function)(*primals)):
        return jax.jvp(function, tuple(primals), tuple(tangents), has_aux=True)
    # jax has no forward mode there: transpose the backward pass, which is linear.
    outs, pull_back, more = jax.vjp(function, *primals, has_aux=True)
    zeros = jax.tree.map(jnp.zeros_like, outs)
    _, transposed = jax.vjp(pull_back, zeros)
    (derivatives,) = transposed(tuple(tangents))
    return outs, derivatives, more


def has_own_backward(jaxpr: Any) -> bool:
    """Tell whether a function holds one with a backward pass of its own.

    Args:
        jaxpr: the function, closed or not.
    """
    return any("custom_vjp" in e.primitive.name for inner in every(jaxpr) for e in inner.eqns)
