"""RmsNorm and AddRmsNorm: rows by their root mean square (Zhang 2019)."""

from __future__ import annotations

from functools import partial
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
    operator("aclnnRmsNorm", "in:x in:gamma double:epsilon out:y out:rstd"),
    operator("aclnnRmsNormGrad", "in:dy in:x in:rstd in:gamma out:dx out:dgamma"),
    operator("aclnnAddRmsNorm", "in:x1 in:x2 in:gamma double:epsilon out:y out:rstd out:x"),
)


def wanted(x: Array, gamma: Array) -> bool:
    """Tell whether the kernels take the arrays."""
    fits = gamma.size > 0 < gamma.ndim <= x.ndim and x.shape[x.ndim - gamma.ndim :] == gamma.shape
    return fits and available("normalization", "rms_norm", "rms_norm_grad", "add_rms_norm")


def reference(x: Array, gamma: Array, epsilon: float = 1e-6) -> tuple[Array, Array]:
    """Divide by the root mean square over the axes of ``gamma``, and multiply by it.

    Args:
        x: float (..., *gamma.shape).
        gamma: factors.
        epsilon: added to the mean square.

    Returns:
        The result, in the dtype of ``x``, and the inverse roots, float32, with 1 for these axes.
    """
    wide = x.astype(np.promote_types(x.dtype, np.float32))
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    square = jnp.mean(jnp.square(wide), axes, keepdims=True)
    inverse = jax.lax.rsqrt(square + np.asarray(epsilon, wide.dtype))
    return (wide * inverse * gamma.astype(wide.dtype)).astype(x.dtype), inverse


def rms_norm(x: Array, gamma: Array, epsilon: float = 1e-6) -> tuple[Array, Array]:
    """Normalize as `reference` does, by the kernel where it takes the arrays."""
    if not wanted(x, gamma) or not narrow_or_float32(x, gamma):
        return reference(x, gamma, epsilon)
    wide, inverse = _normalize(epsilon)(*_flat(x, gamma))
    rank = x.ndim - gamma.ndim
    return (
        wide.reshape(x.shape).astype(x.dtype),
        inverse.reshape(*x.shape[:rank], *(1,) * gamma.ndim),
    )


def add_reference(x1: Array, x2: Array, gamma: Array, epsilon: float = 1e-6) -> Any:
    """Add, and normalize the sum as `reference` does; gives the sum in addition."""
    total = x1 + x2
    return (*reference(total, gamma, epsilon), total)


def add_rms_norm(x1: Array, x2: Array, gamma: Array, epsilon: float = 1e-6) -> Any:
    """Add and normalize as `add_reference` does, by the kernel where it takes the arrays."""
    if not wanted(x1, gamma) or x1.dtype != np.float32 or x1.shape != x2.shape:
        return add_reference(x1, x2, gamma, epsilon)
    (a, factors), (b, _) = _flat(x1, gamma), _flat(x2, gamma)
    wide, inverse, total = _add_normalize(epsilon)(a, b, factors)
    rank = x1.ndim - gamma.ndim
    inverse = inverse.reshape(*x1.shape[:rank], *(1,) * gamma.ndim)
    return wide.reshape(x1.shape), inverse, total.reshape(x1.shape)


def _flat(x: Array, gamma: Array) -> tuple[Array, Array]:
    rows = int(np.prod(x.shape[: x.ndim - gamma.ndim]))
    return (
        x.astype(np.float32).reshape(rows, gamma.size),
        gamma.astype(np.float32).reshape(-1),
    )


def _plain(epsilon: float, x: Array, gamma: Array) -> tuple[Array, Array]:
    out, inverse = reference(x, gamma, epsilon)
    return out, inverse[:, 0]


def _gradient(kept: Any, dout: Any) -> tuple[Array, Array]:
    """Pull gradients of the result and of the inverse roots back."""
    x, gamma, inverse = kept
    dy, d_inverse = dout
    outputs = [(x.shape, np.float32), (gamma.shape, np.float32)]
    arrays = (dy, x, inverse, gamma, d_inverse)
    dx, d_gamma = call("normalization", "rms_norm_grad", outputs, *arrays)
    return dx, d_gamma


def _normalize(epsilon: float) -> Any:
    def forward(x: Array, gamma: Array) -> Any:
        outputs = [(x.shape, np.float32), (x.shape[:1], np.float32)]
        out, inverse = call("normalization", "rms_norm", outputs, x, gamma, epsilon=float(epsilon))
        return (out, inverse), (x, gamma, inverse)

    return with_gradient(forward, _gradient, partial(_plain, epsilon))


def _add_normalize(epsilon: float) -> Any:
    def forward(x1: Array, x2: Array, gamma: Array) -> Any:
        outputs = [(x1.shape, np.float32), (x1.shape[:1], np.float32), (x1.shape, np.float32)]
        out, inverse, total = call(
            "normalization", "add_rms_norm", outputs, x1, x2, gamma, epsilon=float(epsilon)
        )
        return (out, inverse, total), (total, gamma, inverse)

    def backward(kept: Any, dout: Any) -> Any:
        dx, d_gamma = _gradient(kept, dout[:2])
        dx = dx + dout[2]
        return dx, dx, d_gamma

    def plain(x1: Array, x2: Array, gamma: Array) -> Any:
        total = x1 + x2
        return (*_plain(epsilon, total, gamma), total)

    return with_gradient(forward, backward, plain)
