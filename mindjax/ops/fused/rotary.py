"""Rotary position embedding."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive

Array = jax.Array


def rotated(x: Array, interleaved: bool) -> Array:
    """Turn each pair of the last axis by 90 degrees.

    Args:
        x: array whose last axis is even.
        interleaved: whether pairs are neighbours; else element i goes with i + D / 2.
    """
    if not interleaved:
        first, second = jnp.split(x, 2, -1)
        return jnp.concatenate([-second, first], -1)
    pairs = x.reshape(*x.shape[:-1], -1, 2)
    return jnp.stack([-pairs[..., 1], pairs[..., 0]], -1).reshape(x.shape)


def turned(x: Array, cos: Array, sin: Array, interleaved: bool) -> Array:
    """Turn pairs by angles, in float32 for 16-bit floats."""
    wide = x if x.dtype == np.float64 else x.astype(np.float32)
    c, s = cos.astype(wide.dtype), sin.astype(wide.dtype)
    return (wide * c + rotated(wide, interleaved) * s).astype(x.dtype)


class RotaryPositionEmbedding(BoundPrimitive):
    """Pairs of the last axis turned by angles; call: ``(x, cos, sin, mode)``."""

    arrays: ClassVar[int] = 3
    statics: ClassVar[tuple[str, ...]] = ("mode",)
    mode: int = field(default=0, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the mode."""
        if "mode" in statics:
            mode = checks.integer("mode", statics["mode"], self.name)
            checks.int_in_range("mode", mode, 0, 2, self.name)
        return statics

    def compute(self, x: Array, cos: Array, sin: Array) -> Array:
        """Turn."""
        checks.floating("x", x.dtype, self.name)
        fits = x.ndim == cos.ndim == 4 and cos.shape == sin.shape
        if not fits or any(c not in (1, n) for c, n in zip(cos.shape, x.shape, strict=True)):
            raise located(
                ValueError,
                f"For '{self.name}', 'x', 'cos' and 'sin' must have 4 axes and the latter "
                f"broadcast to 'x', but got {x.shape}, {cos.shape} and {sin.shape}.",
            )
        if x.shape[-1] % 2 or cos.shape[-1] != x.shape[-1]:
            raise located(
                ValueError,
                f"For '{self.name}', the last axis of 'x' must be even and that of 'cos' the same, "
                f"but got {x.shape} and {cos.shape}.",
            )
        return turned(x, cos, sin, self.mode == 1)


def rotary_position_embedding(x: Any, cos: Any, sin: Any, mode: int = 0) -> Any:
    """Turn pairs of the last axis by angles (Su 2021; ``ops.rotary_position_embedding``).

    Args:
        x: (B, N, S, D), (B, S, N, D) or (S, B, N, D), float, D even.
        cos: cosines, which broadcast to ``x``.
        sin: sines, like ``cos``.
        mode: 0 pairs element i with i + D / 2, 1 neighbours.

    Returns:
        Tensor like ``x``.

    Raises:
        TypeError: ``x`` is not float, or ``mode`` no int.
        ValueError: the shapes do not fit, or there is no such mode.
    """
    return RotaryPositionEmbedding()(x, cos, sin, mode)


class ApplyRotaryPosEmb(Primitive):
    """Queries and keys turned by the angles of their positions (``ops.ApplyRotaryPosEmb``).

    Args:
        cos_format: 0 and 1: ``cos`` has a row for each position; 2 and 3: for each token. Odd
            formats pair neighbours, even ones element i with i + D / 2.
    """

    cos_format: int = 0

    def __post_init__(self) -> None:
        checks.int_in_range("cos_format", self.cos_format, 0, 4, self.name)

    def compute(
        self, query: Array, key: Array, cos: Array, sin: Array, position_ids: Array
    ) -> tuple[Array, Array]:
        """Turn (..., N * D); gives both."""
        size = cos.shape[-1]
        tokens = query.size // query.shape[-1] if query.ndim else 0
        if self.cos_format < 2:
            if position_ids.size != tokens:
                raise located(
                    ValueError,
                    f"For '{self.name}', the 'position_ids' must be one for each of {tokens} "
                    f"tokens in 'cos_format' {self.cos_format}, but got {position_ids.shape}.",
                )
            where = position_ids.reshape(-1).astype(np.int32)
            cos, sin = (jnp.take(x.reshape(-1, size), where, 0, mode="clip") for x in (cos, sin))
        rows = [x.reshape(-1, 1, size) for x in (cos, sin)]
        if rows[0].shape != rows[1].shape or rows[0].shape[0] != tokens:
            raise located(
                ValueError,
                f"For '{self.name}', 'cos' and 'sin' must have a row for each of {tokens} tokens, "
                f"but got {cos.shape} and {sin.shape}.",
            )
        out = []
        for name, x in (("query", query), ("key", key)):
            checks.floating(name, x.dtype, self.name)
            if x.shape[-1] % size or x.size // x.shape[-1] != tokens or size % 2:
                raise located(
                    ValueError,
                    f"For '{self.name}', the last axis of '{name}' must be divided by the size "
                    f"{size} of 'cos', which is even, but got {x.shape}.",
                )
            heads = x.reshape(tokens, -1, size)
            out.append(turned(heads, rows[0], rows[1], self.cos_format % 2 == 1).reshape(x.shape))
        return out[0], out[1]


def apply_rotary_pos_emb_(
    query: Any, key: Any, cos: Any, sin: Any, position_ids: Any, cos_format: int = 0
) -> Any:
    """Turn queries and keys by the angles of their positions (``ops.apply_rotary_pos_emb_``).

    Args:
        query: (..., N * D), float.
        key: (..., N2 * D).
        cos: (positions, D) or, in the formats 2 and 3, (tokens, D).
        sin: like ``cos``.
        position_ids: position of each token; not read in the formats 2 and 3.
        cos_format: see `ApplyRotaryPosEmb`.

    Returns:
        The turned queries and keys.

    Raises:
        TypeError: a dtype or type is wrong.
        ValueError: the shapes do not fit.
    """
    return ApplyRotaryPosEmb(cos_format)(query, key, cos, sin, position_ids)
