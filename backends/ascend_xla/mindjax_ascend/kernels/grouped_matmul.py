"""GroupedMatmul: groups of rows, each by a matrix of its own."""

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
        "aclnnGroupedMatmulV4",
        "list:x list:weight list:bias list:scale list:offset list:antiquantScale "
        "list:antiquantOffset list:perTokenScale optional:groupList list:activationInput "
        "list:activationQuantScale list:activationQuantOffset int:splitItem int:groupType "
        "int:groupListType int:actType list:out list:activationFeatureOut "
        "list:dynQuantScaleOut",
    ),
)


def wanted(x: Array, weight: Array) -> bool:
    """Tell whether the kernels take the arrays."""
    fits = x.ndim == 2 and weight.ndim == 3 and x.shape[1] == weight.shape[1]
    fits = fits and x.size > 0 and weight.size > 0 and narrow_or_float32(x, weight)
    return fits and available("grouped_matmul", "grouped_matmul", "grouped_matmul_grad")


def reference(x: Array, weight: Array, ends: Array) -> Array:
    """Multiply each row by the matrix of its group, in float32 for narrow floats.

    Args:
        x: float (M, K), the rows of a group stand together.
        weight: (E, K, N).
        ends: int32 (E,), where each group ends; rows of none give 0.

    Returns:
        (M, N), float32, or float64 for it.
    """
    wide = np.promote_types(x.dtype, np.float32)
    sizes = jnp.diff(ends, prepend=jnp.zeros((1,), ends.dtype))
    return jax.lax.ragged_dot(x, weight, sizes, preferred_element_type=wide)


def grouped_matmul(x: Array, weight: Array, ends: Array) -> Array:
    """Multiply as `reference` does, by the kernel where it takes the arrays."""
    if not wanted(x, weight):
        return reference(x, weight, ends)
    wide = (jnp.asarray(x, np.float32), jnp.asarray(weight, np.float32))
    return _product(*wide, ends.astype(np.int32))


def _call(x: Array, weight: Array, ends: Array, turned: bool) -> Array:
    outputs = [((x.shape[0], weight.shape[1 if turned else 2]), np.float32)]
    (out,) = call(
        "grouped_matmul",
        "grouped_matmul",
        outputs,
        x,
        weight,
        ends,
        batched="sequential",
        turned=turned,
    )
    return out


def _forward(x: Array, weight: Array, ends: Array) -> Any:
    return _call(x, weight, ends, False), (x, weight, ends)


def _backward(kept: Any, dout: Array) -> Any:
    x, weight, ends = kept
    (d_weight,) = call(
        "grouped_matmul",
        "grouped_matmul_grad",
        [(weight.shape, np.float32)],
        x,
        dout,
        ends,
        batched="sequential",
    )
    return _call(dout, weight, ends, True), d_weight, np.zeros(ends.shape, jax.dtypes.float0)


_product = with_gradient(_forward, _backward, reference)
