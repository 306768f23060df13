"""Products of matrices, on processors where this is faster than what XLA calls."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax import lax
from jax.core import ShapedArray
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from mindjax.core.primitive import is_portable
from mindjax.ops.kernels.transposed import run_compiled

Array = jax.Array

_product = Primitive("packed_product")


def wanted(*arrays: Array) -> bool:
    """Tell whether the kernel multiplies such arrays here."""
    if is_portable() or any(a.dtype != np.float32 for a in arrays):
        return False
    return _handler() is not None


def product(
    left: Array, right: Array, left_turned: bool = False, right_turned: bool = False
) -> Array:
    """Multiply matrices by the kernel; see `plain`. Ask `wanted` first."""
    return _product.bind(left, right, left_turned=left_turned, right_turned=right_turned)


def plain(
    left: Array, right: Array, *, left_turned: bool = False, right_turned: bool = False
) -> Array:
    """Multiply matrices, or batches of as many.

    Args:
        left: (rows, depth), or (depth, rows) if ``left_turned``; with an axis of the batch before
            these or without.
        right: (depth, columns), or (columns, depth) if ``right_turned``; likewise.
        left_turned: whether the left matrices are transposed.
        right_turned: whether the right ones are.

    Returns:
        (rows, columns), after the axis of the batch.
    """
    batch = tuple(range(left.ndim - 2))
    contracted = (
        (left.ndim - (2 if left_turned else 1),),
        (left.ndim - (1 if right_turned else 2),),
    )
    return lax.dot_general(left, right, (contracted, (batch, batch)))


def _handler() -> str | None:
    from mindjax.ops.kernels.handlers import fitting_handler

    return fitting_handler("product")


def _abstract(left: Any, right: Any, *, left_turned: bool, right_turned: bool) -> ShapedArray:
    rows, columns = left.shape[-1 if left_turned else -2], right.shape[-2 if right_turned else -1]
    return ShapedArray((*left.shape[:-2], rows, columns), left.dtype)


def _call(left: Array, right: Array, *, left_turned: bool, right_turned: bool) -> Array:
    aval = _abstract(left, right, left_turned=left_turned, right_turned=right_turned)
    call = jax.ffi.ffi_call(_handler() or "", jax.ShapeDtypeStruct(aval.shape, aval.dtype))
    return call(left, right, left_turned=np.int64(left_turned), right_turned=np.int64(right_turned))


def _of_left(out: Array, _: Any, right: Array, *, left_turned: bool, right_turned: bool) -> Array:
    if left_turned:
        return product(right, out, right_turned, True)
    return product(out, right, False, not right_turned)


def _of_right(out: Array, left: Array, _: Any, *, left_turned: bool, right_turned: bool) -> Array:
    if right_turned:
        return product(out, left, True, left_turned)
    return product(left, out, not left_turned, False)


def _batched(arrays: Any, axes: Any, **turned: bool) -> Any:
    return jax.vmap(lambda left, right: plain(left, right, **turned), axes)(*arrays), 0


run_compiled(_product)
_product.def_abstract_eval(_abstract)
ad.defbilinear(_product, _of_left, _of_right)
batching.primitive_batchers[_product] = _batched
mlir.register_lowering(_product, mlir.lower_fun(_call, multiple_results=False), "cpu")
