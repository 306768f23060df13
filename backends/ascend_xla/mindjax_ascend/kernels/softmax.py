"""Softmax of the last axis with its gradient."""

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
    operator("aclnnSoftmax", "in:self int:dim out:out"),
    operator("aclnnSoftmaxBackward", "in:gradOutput in:output int:dim out:gradInput"),
)


def wanted(x: Array) -> bool:
    """Tell whether the kernels take the array."""
    fits = x.ndim > 0 and x.shape[-1] > 0 and narrow_or_float32(x)
    return fits and available("softmax", "softmax", "softmax_grad")


def reference(x: Array) -> Array:
    """Give the shares of the exponentials along the last axis, in float32 for narrow floats."""
    wide = x.astype(np.promote_types(x.dtype, np.float32))
    return jax.nn.softmax(wide, -1).astype(x.dtype)


def softmax(x: Array) -> Array:
    """Give `reference`, by the kernel where it takes the array."""
    if not wanted(x):
        return reference(x)
    return _softmax(jnp.asarray(x, np.float32)).astype(x.dtype)


def _forward(x: Array) -> tuple[Array, Any]:
    (y,) = call("softmax", "softmax", [(x.shape, np.float32)], x)
    return y, (y,)


def _backward(kept: Any, dout: Array) -> tuple[Array]:
    (y,) = kept
    (dx,) = call("softmax", "softmax_grad", [(y.shape, np.float32)], dout, y)
    return (dx,)


_softmax = with_gradient(_forward, _backward, reference)
