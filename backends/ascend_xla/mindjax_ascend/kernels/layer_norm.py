"""LayerNorm with its gradient: rows to mean 0 and variance 1 (Ba 2016)."""

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
    fits = 0 < gamma.ndim <= x.ndim and x.shape[x.ndim - gamma.ndim :] == gamma.shape == beta.shape
    fits = fits and narrow_or_float32(x, gamma, beta)
    return fits and available("normalization", "layer_norm", "layer_norm_grad")


def reference(x: Array, gamma: Array, beta: Array, epsilon: float = 1e-5) -> Array:
    """Normalize over the axes of ``gamma``, multiply by it and add ``beta``.

    Args:
        x: float (..., *gamma.shape).
        gamma: factors.
        beta: added.
        epsilon: added to the variance.
    """
    wide = x.astype(np.promote_types(x.dtype, np.float32))
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    centred = wide - jnp.mean(wide, axes, keepdims=True)
    variance = jnp.mean(jnp.square(centred), axes, keepdims=True)
    normal = centred * jax.lax.rsqrt(variance + np.asarray(epsilon, wide.dtype))
    return (normal * gamma.astype(wide.dtype) + beta.astype(wide.dtype)).astype(x.dtype)


def layer_norm(x: Array, gamma: Array, beta: Array, epsilon: float = 1e-5) -> Array:
    """Normalize as `reference` does, by the kernel where it takes the arrays."""
    if not wanted(x, gamma, beta):
        return reference(x, gamma, beta, epsilon)
    rows = int(np.prod(x.shape[: x.ndim - gamma.ndim]))
    flat = jnp.asarray(x, np.float32).reshape(rows, gamma.size)
    factors = [jnp.asarray(a, np.float32).reshape(-1) for a in (gamma, beta)]
    return _normalize(epsilon)(flat, *factors).reshape(x.shape).astype(x.dtype)


def _normalize(epsilon: float) -> Any:
    def forward(x: Array, gamma: Array, beta: Array) -> Any:
        row = (x.shape[:1], np.float32)
        outputs = [(x.shape, np.float32), row, row]
        y, mean, inverse = call(
            "normalization", "layer_norm", outputs, x, gamma, beta, epsilon=float(epsilon)
        )
        return y, (x, mean, inverse, gamma)

    def backward(kept: Any, dout: Array) -> tuple[Array, ...]:
        x, gamma = kept[0], kept[3]
        outputs = [(x.shape, np.float32), (gamma.shape, np.float32), (gamma.shape, np.float32)]
        return tuple(call("normalization", "layer_norm_grad", outputs, dout, *kept))

    return with_gradient(forward, backward, partial(reference, epsilon=epsilon))
