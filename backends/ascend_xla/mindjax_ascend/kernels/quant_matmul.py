"""WeightQuantBatchMatmul and QuantBatchMatmul: products with matrices of int8."""

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
        "aclnnWeightQuantBatchMatmulV2",
        "in:x in:weight in:antiquantScale optional:antiquantOffset optional:quantScale "
        "optional:quantOffset optional:bias int:antiquantGroupSize out:y",
    ),
    operator(
        "aclnnQuantMatmulV4",
        "in:x1 in:x2 in:scale optional:offset optional:pertokenScale optional:bias "
        "bool:transposeX1 bool:transposeX2 out:out",
    ),
)


def wanted(a: Array, b: Array, turned: bool) -> bool:
    """Tell whether the kernels take the two matrices."""
    fits = a.ndim == b.ndim == 2 and a.shape[1] == b.shape[1 if turned else 0]
    fits = fits and a.size > 0 and b.size > 0 and b.dtype == np.int8
    return fits and available("quant_matmul", "weight_quant_matmul", "quant_matmul")


def _widened(weight: Array, scale: Array, offset: Array, group: int, turned: bool) -> Array:
    rows = weight.T if turned else weight
    count = rows.shape[0]
    scales, offsets = (jnp.repeat(x, group, 0)[:count] for x in (scale, offset))
    return (rows.astype(scale.dtype) + offsets) * scales


def weight_reference(
    x: Array, weight: Array, scale: Array, offset: Array, group: int, turned: bool = False
) -> Array:
    """Multiply by ``(weight + offset) * scale``.

    Args:
        x: float (M, K).
        weight: int8 (K, N), or (N, K) with ``turned``.
        scale: float32 (groups, N).
        offset: float32 (groups, N).
        group: rows of the weights that share a scale.
        turned: whether the weights' axes are swapped.

    Returns:
        (M, N) float32, or float64 for it.
    """
    wide = np.promote_types(x.dtype, np.float32)
    weights = _widened(weight, scale.astype(wide), offset.astype(wide), group, turned)
    return jnp.matmul(x.astype(wide), weights)


def weight_quant_matmul(
    x: Array, weight: Array, scale: Array, offset: Array, group: int, turned: bool = False
) -> Array:
    """Multiply as `weight_reference` does, by the kernel where it takes the arrays.

    The gradients are those of the plain form: such products are for inference.
    """
    if not wanted(x, weight, turned) or not narrow_or_float32(x, scale, offset):
        return weight_reference(x, weight, scale, offset, group, turned)
    floats = [jnp.asarray(a, np.float32) for a in (x, scale, offset)]
    return _weight_product(group, turned)(floats[0], weight, *floats[1:])


def _weight_product(group: int, turned: bool) -> Any:
    plain = partial(weight_reference, group=group, turned=turned)

    def forward(x: Array, weight: Array, scale: Array, offset: Array) -> Any:
        outputs = [((x.shape[0], scale.shape[1]), np.float32)]
        arrays = (x, weight, scale, offset)
        (out,) = call(
            "quant_matmul",
            "weight_quant_matmul",
            outputs,
            *arrays,
            batched="sequential",
            group=group,
            turned=turned,
        )
        return out, arrays

    def backward(kept: Any, dout: Array) -> Any:
        return jax.vjp(plain, *kept)[1](dout)

    return with_gradient(forward, backward, plain)


def reference(x1: Array, x2: Array, turned: bool = False) -> Array:
    """Multiply int8 (M, K) by (K, N), or by (N, K) with ``turned``; gives int32."""
    return jnp.matmul(x1, x2.T if turned else x2, preferred_element_type=np.int32)


def quant_matmul(x1: Array, x2: Array, turned: bool = False) -> Array:
    """Multiply as `reference` does, by the kernel where it takes the arrays."""
    if not wanted(x1, x2, turned) or x1.dtype != np.int8:
        return reference(x1, x2, turned)
    outputs = [((x1.shape[0], x2.shape[0 if turned else 1]), np.int32)]
    (out,) = call(
        "quant_matmul", "quant_matmul", outputs, x1, x2, batched="sequential", turned=turned
    )
    return out
