"""SwiGlu: one half of the last axis gated by the other (Shazeer 2020)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax_ascend.kernels.foreign import (
    available,
    call,
    narrow_or_float32,
    operator,
    with_gradient,
)

Array = jax.Array

ACLNN = (
    operator("aclnnSwiGlu", "in:x int:dim out:out"),
    operator("aclnnSwiGluGrad", "in:yGrad in:x int:dim out:out"),
)


def wanted(x: Array) -> bool:
    """Tell whether the kernels take the array."""
    fits = x.ndim > 0 and x.shape[-1] % 2 == 0 and narrow_or_float32(x)
    return fits and available("swiglu", "swiglu", "swiglu_grad")


def reference(x: Array) -> Array:
    """Give ``a * sigmoid(a) * b`` of the halves of the last axis, which is even."""
    a, b = jnp.split(x.astype(np.promote_types(x.dtype, np.float32)), 2, -1)
    return (jax.nn.silu(a) * b).astype(x.dtype)


def swiglu(x: Array) -> Array:
    """Give `reference`, by the kernel where it takes the array."""
    if not wanted(x):
        return reference(x)
    return _swiglu(jnp.asarray(x, np.float32)).astype(x.dtype)


def _forward(x: Array) -> tuple[Array, Any]:
    outputs = [((*x.shape[:-1], x.shape[-1] // 2), np.float32)]
    (y,) = call("swiglu", "swiglu", outputs, x)
    return y, (x,)


def _backward(kept: Any, dout: Array) -> tuple[Array]:
    (x,) = kept
    (dx,) = call("swiglu", "swiglu_grad", [(x.shape, np.float32)], dout, x)
    return (dx,)


_swiglu = with_gradient(_forward, _backward, reference)
