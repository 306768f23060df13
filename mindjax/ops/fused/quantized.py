"""Products and roundings of int8, as language models use them for inference."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Type, bfloat16, float16, int8, to_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive, set_fields

Array = jax.Array


def rounded(x: Array) -> Array:
    """Round to the nearest int8, halves to even, and stay in its range."""
    return jnp.clip(jnp.round(x), -128, 127).astype(np.int8)


def matrices(x: Array, transposed: bool) -> Array:
    """Swap the last two axes if asked."""
    return jnp.swapaxes(x, -1, -2) if transposed else x


class QuantV2(BoundPrimitive):
    """Rounding to int8, ``round(x * scale + offset)`` (MindSpore: ``ops.QuantV2``).

    Call: ``QuantV2()(x, scale, offset, sqrt_mode, rounding_mode, dst_type)``; with ``sqrt_mode``
    the scale counts twice; ``rounding_mode`` is ``"ROUND"`` and ``dst_type`` int8.
    """

    arrays: ClassVar[int] = 3
    statics: ClassVar[tuple[str, ...]] = ("sqrt_mode", "rounding_mode", "dst_type")
    sqrt_mode: bool = field(default=False, kw_only=True)
    rounding_mode: str = field(default="ROUND", kw_only=True)
    dst_type: Type = field(default=int8, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the static values."""
        if "sqrt_mode" in statics:
            checks.boolean("sqrt_mode", statics["sqrt_mode"], "QuantV2")
        if "rounding_mode" in statics:
            checks.one_of("rounding_mode", statics["rounding_mode"], ("ROUND",), "QuantV2")
        if statics.get("dst_type", int8) is not int8:
            raise located(
                ValueError,
                f"For 'QuantV2', the 'dst_type' must be int8, but got {statics['dst_type']}.",
            )
        return statics

    def compute(self, x: Array, scale: Array, offset: Array) -> Array:
        """Round."""
        checks.floating("x", x.dtype, "QuantV2")
        for name, y in (("scale", scale), ("offset", offset)):
            if y.size not in (1, x.shape[-1] if x.ndim else 1):
                raise located(
                    ValueError,
                    f"For 'QuantV2', the size of '{name}' must be that of the last axis of 'x' "
                    f"{x.shape}, but got {y.shape}.",
                )
        wide = [y.astype(np.float32) for y in (x, scale.reshape(-1), offset.reshape(-1))]
        product = wide[0] * wide[1]
        if self.sqrt_mode:
            product = product * wide[1]
        return rounded(product + wide[2]).reshape(x.shape)


class DynamicQuantExt(Primitive):
    """Rounding to int8 by the greatest magnitude of each row (``ops.DynamicQuantExt``).

    Call: ``DynamicQuantExt()(x, smooth_scales)``; gives int8 and the rows' scales, float32.
    """

    def __call__(self, x: Any, smooth_scales: Any = None) -> Any:
        """Round; the smoothing factors of the last axis are multiplied in first."""
        return Primitive.__call__(self, x, smooth_scales)

    def compute(self, x: Array, smooth: Array | None) -> tuple[Array, Array]:
        """Round rows."""
        checks.floating("x", x.dtype, "DynamicQuantExt")
        if not x.ndim:
            raise located(
                ValueError, "For 'DynamicQuantExt', 'x' must have at least one axis, but got ()."
            )
        wide = x.astype(np.float32)
        if smooth is not None:
            if smooth.shape != x.shape[-1:]:
                raise located(
                    ValueError,
                    f"For 'DynamicQuantExt', the shape of 'smooth_scales' must be {x.shape[-1:]}, "
                    f"but got {smooth.shape}.",
                )
            wide = wide * smooth.astype(np.float32)
        scale = jnp.max(jnp.abs(wide), -1, keepdims=True) / np.float32(127)
        safe = jnp.where(scale == 0, np.float32(1), scale)
        return rounded(wide / safe), scale[..., 0]


def _unpacked_scale(scale: Array) -> Array:
    """Read scales; int64 and uint64 hold the bits of a float32."""
    if scale.dtype in (np.int64, np.uint64):
        bits = (scale & np.asarray(0xFFFFFFFF, scale.dtype)).astype(np.uint32)
        return jax.lax.bitcast_convert_type(bits, np.float32)
    return scale.astype(np.float32)


class QuantBatchMatmul(Primitive):
    """Product of int8 matrices, scaled (MindSpore: ``ops.QuantBatchMatmul``).

    Call: ``(x1, x2, scale, offset, bias, pertokenScaleOptional)``.
    """

    transpose_x1: bool = False
    transpose_x2: bool = False
    dtype: Type = float16

    def __post_init__(self) -> None:
        checks.boolean("transpose_x1", self.transpose_x1, self.name)
        checks.boolean("transpose_x2", self.transpose_x2, self.name)
        if self.dtype not in (float16, bfloat16, int8):
            raise located(
                TypeError,
                f"For '{self.name}', the 'dtype' must be float16, bfloat16 or int8, but got "
                f"{self.dtype}.",
            )

    def __call__(
        self,
        x1: Any,
        x2: Any,
        scale: Any,
        offset: Any = None,
        bias: Any = None,
        pertokenScaleOptional: Any = None,
    ) -> Any:
        """Multiply."""
        return Primitive.__call__(self, x1, x2, scale, offset, bias, pertokenScaleOptional)

    def compute(
        self,
        x1: Array,
        x2: Array,
        scale: Array,
        offset: Array | None,
        bias: Array | None,
        rows: Array | None,
    ) -> Array:
        """Multiply in int32, scale in float32."""
        if x1.dtype != np.int8 or x2.dtype != np.int8:
            raise located(
                TypeError,
                f"For '{self.name}', 'x1' and 'x2' must be int8, but got {x1.dtype} and "
                f"{x2.dtype}.",
            )
        a, b = matrices(x1, self.transpose_x1), matrices(x2, self.transpose_x2)
        if a.ndim < 2 or b.ndim < 2 or a.shape[-1] != b.shape[-2]:
            raise located(
                ValueError,
                f"For '{self.name}', 'x1' and 'x2' must be matrices that fit, but got {x1.shape} "
                f"and {x2.shape}.",
            )
        product = jnp.matmul(a, b, preferred_element_type=np.int32)
        wide = product.astype(np.float32)
        if bias is not None and bias.dtype == np.int32:
            wide = (product + bias).astype(np.float32)
        wide = wide * _unpacked_scale(scale)
        if rows is not None:
            wide = wide * rows.astype(np.float32)[..., None]
        if bias is not None and bias.dtype != np.int32:
            wide = wide + bias.astype(np.float32)
        if offset is not None:
            wide = wide + offset.astype(np.float32)
        return rounded(wide) if self.dtype is int8 else wide.astype(to_np(self.dtype))


def quant_batch_matmul(
    x1: Any,
    x2: Any,
    scale: Any,
    offset: Any = None,
    bias: Any = None,
    pertokenScaleOptional: Any = None,
    transpose_x1: bool = False,
    transpose_x2: bool = False,
    dtype: Type = float16,
) -> Any:
    """Multiply int8 matrices and scale (MindSpore: ``ops.quant_batch_matmul``).

    Args:
        x1: int8 (..., M, K).
        x2: int8 (..., K, N).
        scale: one number or (N,), float, or int64 that holds the bits of float32.
        offset: added at the end, one number or (N,).
        bias: (N,); int32 is added before scaling, floats after.
        pertokenScaleOptional: (M,), factor of each row.
        transpose_x1: whether the last axes of ``x1`` are swapped.
        transpose_x2: whether the last axes of ``x2`` are swapped.
        dtype: of the result: float16, bfloat16 or int8.

    Returns:
        Tensor (..., M, N).

    Raises:
        TypeError: a dtype is wrong.
        ValueError: the shapes do not fit.
    """
    operator = QuantBatchMatmul(transpose_x1, transpose_x2, dtype)
    return operator(x1, x2, scale, offset, bias, pertokenScaleOptional)


class WeightQuantBatchMatmul(Primitive):
    """Product of floats and an int8 matrix of weights (``ops.WeightQuantBatchMatmul``).

    Call: ``(x, weight, antiquant_scale, antiquant_offset, quant_scale, quant_offset, bias)``.
    """

    transpose_x: bool = False
    transpose_weight: bool = False
    antiquant_group_size: int = 0

    def __post_init__(self) -> None:
        checks.boolean("transpose_x", self.transpose_x, self.name)
        checks.boolean("transpose_weight", self.transpose_weight, self.name)
        size = checks.non_negative_int("antiquant_group_size", self.antiquant_group_size, self.name)
        set_fields(self, antiquant_group_size=size)

    def __call__(
        self,
        x: Any,
        weight: Any,
        antiquant_scale: Any,
        antiquant_offset: Any = None,
        quant_scale: Any = None,
        quant_offset: Any = None,
        bias: Any = None,
    ) -> Any:
        """Multiply."""
        return Primitive.__call__(
            self, x, weight, antiquant_scale, antiquant_offset, quant_scale, quant_offset, bias
        )

    def compute(
        self,
        x: Array,
        weight: Array,
        scale: Array,
        offset: Array | None,
        quant_scale: Array | None,
        quant_offset: Array | None,
        bias: Array | None,
    ) -> Array:
        """Multiply by ``(weight + offset) * scale``."""
        checks.floating("x", x.dtype, self.name)
        if weight.dtype != np.int8:
            raise located(
                TypeError, f"For '{self.name}', the 'weight' must be int8, but got {weight.dtype}."
            )
        w = matrices(weight, self.transpose_weight).astype(np.float32)
        k, n = w.shape[-2:]

        def laid(y: Array) -> Array:
            y = y.astype(np.float32)
            if y.size in (1, n):
                return y.reshape(-1)
            groups = self.antiquant_group_size
            y = matrices(y, self.transpose_weight)
            if not groups or y.shape != (-(-k // groups), n):
                raise located(
                    ValueError,
                    f"For '{self.name}', a scale must hold 1 or {n} numbers, or rows of them for "
                    f"'antiquant_group_size' {groups}, but got {y.shape}.",
                )
            return jnp.repeat(y, groups, 0)[:k]

        if offset is not None:
            w = w + laid(offset)
        w = (w * laid(scale)).astype(x.dtype)
        a = matrices(x, self.transpose_x)
        if a.ndim < 2 or a.shape[-1] != k:
            raise located(
                ValueError,
                f"For '{self.name}', 'x' and 'weight' must be matrices that fit, but got {x.shape} "
                f"and {weight.shape}.",
            )
        wide = jnp.matmul(a, w, preferred_element_type=np.float32)
        if bias is not None:
            wide = wide + bias.astype(np.float32)
        if quant_scale is None:
            return wide.astype(x.dtype)
        wide = wide * _unpacked_scale(quant_scale)
        if quant_offset is not None:
            wide = wide + quant_offset.astype(np.float32)
        return rounded(wide)


def weight_quant_batch_matmul(
    x: Any,
    weight: Any,
    antiquant_scale: Any,
    antiquant_offset: Any = None,
    quant_scale: Any = None,
    quant_offset: Any = None,
    bias: Any = None,
    transpose_x: bool = False,
    transpose_weight: bool = False,
    antiquant_group_size: int = 0,
) -> Any:
    """Multiply by int8 weights (MindSpore: ``ops.weight_quant_batch_matmul``).

    Args:
        x: float (M, K).
        weight: int8 (K, N), read as ``(weight + antiquant_offset) * antiquant_scale``.
        antiquant_scale: one number, (N,), or (K / group, N).
        antiquant_offset: the same shape.
        quant_scale: factor of a result of int8, one number or (N,).
        quant_offset: added to it.
        bias: (N,).
        transpose_x: whether the axes of ``x`` are swapped.
        transpose_weight: whether those of the weights and their scales are.
        antiquant_group_size: rows that share a scale; 0 all.

    Returns:
        Tensor (M, N) of the dtype of ``x``; int8 if ``quant_scale`` is given.

    Raises:
        TypeError: a dtype is wrong.
        ValueError: the shapes do not fit.
    """
    operator = WeightQuantBatchMatmul(transpose_x, transpose_weight, antiquant_group_size)
    return operator(x, weight, antiquant_scale, antiquant_offset, quant_scale, quant_offset, bias)
