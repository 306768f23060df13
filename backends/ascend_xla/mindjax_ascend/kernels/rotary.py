"""RotaryPositionEmbedding: pairs of the last axis turned by angles (Su 2021)."""

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
    operator("aclnnRotaryPositionEmbedding", "in:x in:cos in:sin int:mode out:out"),
    operator(
        "aclnnRotaryPositionEmbeddingGrad",
        "in:dy in:cos in:sin optional:x int:mode out:dx out:dcos out:dsin",
    ),
)


def wanted(x: Array, cos: Array, sin: Array) -> bool:
    """Tell whether the kernel takes the arrays."""
    fits = x.ndim == cos.ndim > 0 and cos.shape == sin.shape and cos.shape[-1:] == x.shape[-1:]
    fits = fits and x.shape[-1] % 2 == 0 and narrow_or_float32(x, cos, sin)
    fits = fits and all(c in (1, n) for c, n in zip(cos.shape, x.shape, strict=True))
    return fits and available("rotary", "rotary")


def _partners(x: Array, interleaved: bool) -> Array:
    if not interleaved:
        first, second = jnp.split(x, 2, -1)
        return jnp.concatenate([-second, first], -1)
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    return jnp.stack([-pairs[..., 1], pairs[..., 0]], -1).reshape(x.shape)


def reference(x: Array, cos: Array, sin: Array, interleaved: bool = False) -> Array:
    """Turn pairs by angles.

    Args:
        x: float, its last axis even.
        cos: cosines, the axes of ``x`` or 1 in the place of a leading one.
        sin: sines, like ``cos``.
        interleaved: whether pairs are neighbours; else element i goes with i + D / 2.
    """
    wide, c, s = (a.astype(np.promote_types(x.dtype, np.float32)) for a in (x, cos, sin))
    return (wide * c + _partners(wide, interleaved) * s).astype(x.dtype)


def rotary(x: Array, cos: Array, sin: Array, interleaved: bool = False) -> Array:
    """Turn as `reference` does, by the kernel where it takes the arrays."""
    if not wanted(x, cos, sin):
        return reference(x, cos, sin, interleaved)
    wide = [jnp.asarray(a, np.float32) for a in (x, cos, sin)]
    return _rotary(bool(interleaved))(*wide).astype(x.dtype)


def _turn(x: Array, cos: Array, sin: Array, interleaved: bool, back: bool) -> Array:
    (out,) = call(
        "rotary", "rotary", [(x.shape, x.dtype)], x, cos, sin, interleaved=interleaved, back=back
    )
    return out


def _rotary(interleaved: bool) -> Any:
    def forward(x: Array, cos: Array, sin: Array) -> Any:
        return _turn(x, cos, sin, interleaved, False), (x, cos, sin)

    def backward(kept: Any, dout: Array) -> tuple[Array, Array, Array]:
        x, cos, sin = kept
        axes = tuple(i for i in range(x.ndim) if cos.shape[i] != x.shape[i])
        d_cos = jnp.sum(dout * x, axes, keepdims=True)
        d_sin = jnp.sum(dout * _partners(x, interleaved), axes, keepdims=True)
        return _turn(dout, cos, sin, interleaved, True), d_cos, d_sin

    return with_gradient(forward, backward, partial(reference, interleaved=interleaved))
