"""LayerNorm with its gradient: rows to mean 0 and variance 1 (Ba 2016)."""

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
    operator(
        "aclnnLayerNorm",
        "in:input ints:normalizedShape optional:weight optional:bias double:eps out:out "
        "out:mean out:rstd",
    ),
    operator(
        "aclnnLayerNormBackward",
        "in:gradOut in:input ints:normalizedShape in:mean in:rstd optional:weight optional:bias "
        "bools:outputMask out:gradInput out:gradWeight out:gradBias",
    ),
)


def wanted(x: Array, gamma: Array, beta: Array) -> bool:
    """Tell whether the kernels take the arrays."""
    fits = (
        gamma.size > 0 < gamma.ndim <= x.ndim
        and x.shape[x.ndim - gamma.ndim :] == gamma.shape == beta.shape
    )
    fits = fits and narrow_or_float32(x, gamma, beta)
    return fits and available("normalization", "layer_norm", "layer_norm_grad")


def reference(
    x: Array, gamma: Array, beta: Array, epsilon: float = 1e-5
) -> tuple[Array, Array, Array]:
    """Normalize over the axes of ``gamma``, multiply by it and add ``beta``.

    Args:
        x: float (..., *gamma.shape).
        gamma: factors.
        beta: added.
        epsilon: added to the variance.

    Returns:
        The result, in the dtype of ``x``; mean and variance, float32, with 1 for these axes.
    """
    wide = x.astype(np.promote_types(x.dtype, np.float32))
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    mean = jnp.mean(wide, axes, keepdims=True)
    centred = wide - mean
    variance = jnp.mean(jnp.square(centred), axes, keepdims=True)
    normal = centred * jax.lax.rsqrt(variance + np.asarray(epsilon, wide.dtype))
    out = (normal * gamma.astype(wide.dtype) + beta.astype(wide.dtype)).astype(x.dtype)
    return out, mean, variance


def layer_norm(
    x: Array, gamma: Array, beta: Array, epsilon: float = 1e-5
) -> tuple[Array, Array, Array]:
    """Normalize as `reference` does, by the kernel where it takes the arrays."""
    if not wanted(x, gamma, beta):
        return reference(x, gamma, beta, epsilon)
    leading = x.shape[: x.ndim - gamma.ndim]
    flat = jnp.asarray(x, np.float32).reshape(int(np.prod(leading)), gamma.size)
    factors = [jnp.asarray(a, np.float32).reshape(-1) for a in (gamma, beta)]
    out, *moments = _normalize(epsilon)(flat, *factors)
    mean, variance = (m.reshape(*leading, *(1,) * gamma.ndim) for m in moments)
    return out.reshape(x.shape).astype(x.dtype), mean, variance


def _normalize(epsilon: float) -> Any:
    def forward(x: Array, gamma: Array, beta: Array) -> Any:
        row = (x.shape[:1], np.float32)
        outputs = [(x.shape, np.float32), row, row, row]
        y, mean, inverse, variance = call(
            "normalization", "layer_norm", outputs, x, gamma, beta, epsilon=float(epsilon)
        )
        return (y, mean, variance), (x, mean, inverse, gamma)

    def backward(kept: Any, dout: Any) -> tuple[Array, ...]:
        x, gamma = kept[0], kept[3]
        outputs = [(x.shape, np.float32), (gamma.shape, np.float32), (gamma.shape, np.float32)]
        dy, d_mean, d_variance = dout
        arrays = (dy, *kept, d_mean, d_variance)
        return tuple(call("normalization", "layer_norm_grad", outputs, *arrays))

    def plain(x: Array, gamma: Array, beta: Array) -> Any:
        out, mean, variance = reference(x, gamma, beta, epsilon)
        return out, mean[:, 0], variance[:, 0]

    return with_gradient(forward, backward, plain)
