"""Attention that samples feature maps at learned places (Zhu 2021)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.errors import located
from mindjax.core.primitive import Primitive

Array = jax.Array


class MultiScaleDeformableAttn(Primitive):
    """Weighted samples of feature maps; call: as `multi_scale_deformable_attn_function`."""

    def compute(
        self, value: Array, shape: Array, offset: Array, locations: Array, weight: Array
    ) -> Array:
        """Sample between the four nearest places; those outside a map count as 0."""
        name = "multi_scale_deformable_attn_function"
        for label, x in (("value", value), ("locations", locations), ("weight", weight)):
            if not jnp.issubdtype(x.dtype, jnp.floating):
                raise located(
                    RuntimeError, f"For '{name}', the '{label}' must be float, but got {x.dtype}."
                )
        for label, x in (("shape", shape), ("offset", offset)):
            if x.dtype not in (np.int32, np.int64):
                raise located(
                    RuntimeError,
                    f"For '{name}', the '{label}' must be int32 or int64, but got {x.dtype}.",
                )
        b, keys, heads, size = value.shape if value.ndim == 4 else (0, 0, 0, 0)
        if size % 8 or not size:
            raise located(
                RuntimeError,
                f"For '{name}', the last axis of 'value' must be a multiple of 8, but got "
                f"{value.shape}.",
            )
        levels = shape.shape[0]
        fits = shape.shape == (levels, 2) and offset.shape == (levels,) and locations.ndim == 6
        queries, points = locations.shape[1], locations.shape[-2]
        wanted = (b, queries, heads, levels, points)
        if not fits or locations.shape != (*wanted, 2) or weight.shape != wanted:
            raise located(
                RuntimeError,
                f"For '{name}', with 'value' {value.shape}, 'shape' must be (levels, 2), 'offset' "
                f"(levels,), 'locations' (B, queries, heads, levels, points, 2) and 'weight' the "
                f"same without the last axis, but got {shape.shape}, {offset.shape}, "
                f"{locations.shape} and {weight.shape}.",
            )
        wide = np.promote_types(value.dtype, np.float32)
        height, width = (shape[:, i].astype(np.int32).reshape(1, 1, 1, levels, 1) for i in (0, 1))
        start = offset.astype(np.int32).reshape(1, 1, 1, levels, 1)
        place = locations.astype(wide)
        x = place[..., 0] * width.astype(wide) - np.asarray(0.5, wide)
        y = place[..., 1] * height.astype(wide) - np.asarray(0.5, wide)
        left, top = jnp.floor(x), jnp.floor(y)
        batch = jnp.arange(b).reshape(b, 1, 1, 1, 1)
        head = jnp.arange(heads).reshape(1, 1, heads, 1, 1)
        total = jnp.zeros((b, queries, heads, size), wide)
        for down in (0, 1):
            for across in (0, 1):
                column = left.astype(np.int32) + np.int32(across)
                row = top.astype(np.int32) + np.int32(down)
                inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
                where = jnp.clip(start + row * width + column, 0, keys - 1)
                share_x = x - left if across else 1 - (x - left)
                share_y = y - top if down else 1 - (y - top)
                share = share_x * share_y * weight.astype(wide)
                share = jnp.where(inside, share, jnp.zeros((), wide))
                rows = value[batch, where, head].astype(wide)
                total = total + jnp.sum(rows * share[..., None], (3, 4))
        return total.reshape(b, queries, heads * size).astype(value.dtype)


def multi_scale_deformable_attn_function(
    value: Any, shape: Any, offset: Any, locations: Any, weight: Any
) -> Any:
    """Sum samples of feature maps (``ops.multi_scale_deformable_attn_function``).

    Args:
        value: float (B, keys, heads, D), the maps' places in a row, D a multiple of 8.
        shape: int (levels, 2), height and width of each map.
        offset: int (levels,), where each map starts.
        locations: float (B, queries, heads, levels, points, 2), x and y, 0 to 1.
        weight: float (B, queries, heads, levels, points).

    Returns:
        Tensor (B, queries, heads * D).

    Raises:
        RuntimeError: dtypes or shapes do not fit.
    """
    return MultiScaleDeformableAttn()(value, shape, offset, locations, weight)
