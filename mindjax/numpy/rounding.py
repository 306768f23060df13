"""Rounding, element by element."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    apply,
    cast_result,
    integer,
    is_single,
    need_tensors,
    to_tensor,
)
from mindjax.tensor import Tensor


def _ceil(x: Tensor) -> Tensor:
    return ops.ceil(ops.cast(x, float32))


def floor(x: Any, dtype: Any = None) -> Tensor:
    """Round down (MindSpore: ``numpy.floor``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.floor, x, dtype=dtype)


def ceil(x: Any, dtype: Any = None) -> Tensor:
    """Round up (MindSpore: ``numpy.ceil``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Float32 Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(_ceil, x, dtype=dtype)


def trunc(x: Any, dtype: Any = None) -> Tensor:
    """Round towards zero (MindSpore: ``numpy.trunc``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape; integers and Float64 become Float32.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(fix, x, dtype=dtype)


def fix(x: Tensor) -> Tensor:
    """Round towards zero (MindSpore: ``numpy.fix``).

    Args:
        x: Tensor of any shape.

    Returns:
        Tensor of the same shape; integers and Float64 become Float32.

    Raises:
        TypeError: ``x`` is no Tensor.
    """
    need_tensors(x)
    return ops.trunc(x if is_single(x.dtype) else ops.cast(x, float32))


def rint(x: Any, dtype: Any = None) -> Tensor:
    """Round to the nearest number, halves to the even one (MindSpore: ``numpy.rint``).

    Args:
        x: array-like of floats.
        dtype: MindSpore dtype of the result; by default that of ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like of floats.
    """
    value = to_tensor(x, wide=True)
    if value.dtype.kind != "float":
        raise located(TypeError, f"For 'rint', 'x' must hold floats, but got {value.dtype}.")
    return cast_result(ops.round(value), dtype)


def around(a: Any, decimals: int = 0) -> Tensor:
    """Round to a number of decimals, halves to the even one (MindSpore: ``numpy.around``).

    Args:
        a: array-like.
        decimals: digits to keep behind the point, not negative.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``decimals`` is no integer.
        ValueError: ``decimals`` is negative.
    """
    value = to_tensor(a, wide=True)
    if integer("decimals", decimals, "around") < 0:
        raise located(ValueError, f"For 'around', 'decimals' < 0 is not supported: {decimals}.")
    if decimals == 0:
        return ops.round(value)
    scale = 10**decimals
    return ops.tensor_div(ops.round(ops.mul(value, scale)), scale)


round = around
