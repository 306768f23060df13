"""mint's reductions, sorts and running sums: `dim`, `keepdim` and Int64 positions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, int64
from mindjax.ops import arithmetic, comparison, extremes, linalg, reduction, sorting, statistics
from mindjax.ops.cast import cast
from mindjax.ops.extremes import Argmin
from mindjax.ops.softmax import softmax as _softmax

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Axis = int | tuple[int, ...] | list[int] | None


def mean(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Average over axes (MindSpore: ``mint.mean``).

    Args:
        input: numeric Tensor of any shape.
        dim: axes to average over, all by default.
        keepdim: whether reduced axes stay, with size 1.
        dtype: element type to convert to first.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return reduction.mean_ext(input, dim, keepdim, dtype)


def nansum(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Sum over axes, NaN counting as 0 (MindSpore: ``mint.nansum``).

    Args:
        input: real Tensor of any shape.
        dim: axes to sum over, all by default.
        keepdim: whether reduced axes stay, with size 1.
        dtype: element type of the result.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return reduction.nansum(input, dim, keepdim, dtype=dtype)


def prod(input: Tensor, dim: Axis = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """Multiply over axes (MindSpore: ``mint.prod``).

    Args:
        input: Tensor of any shape.
        dim: axes to multiply over, all by default.
        keepdim: whether reduced axes stay, with size 1.
        dtype: element type of the result; Int64 by default for Bool, UInt8 and signed integers.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return reduction.prod_ext(input, dim, keepdim, dtype)


def any(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Tell whether any element is not zero (MindSpore: ``mint.any``).

    Args:
        input: Tensor of any shape and dtype.
        dim: axes to reduce, all by default.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Bool Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return reduction.any(input, dim, keepdim)


def all(input: Tensor, dim: Axis = None, keepdim: bool = False) -> Tensor:
    """Tell whether all elements are not zero (MindSpore: ``mint.all``).

    Args:
        input: Tensor of any shape and dtype.
        dim: axes to reduce, all by default.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Bool Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return reduction.all(input, dim, keepdim)


def equal(input: Tensor, other: Tensor) -> Tensor:
    """Tell whether two Tensors have one shape and equal elements (MindSpore: ``mint.equal``).

    Args:
        input: Tensor of any shape.
        other: Tensor of a dtype that mixes with the first one's.

    Returns:
        Bool Tensor of shape ().

    Raises:
        TypeError: the dtypes do not mix.
    """
    if input.shape != other.shape:
        from mindjax.tensor import Tensor

        return Tensor(False)
    return reduction.all(comparison.equal(input, other))


def max(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Take the largest element of a Tensor, along an axis, or of two Tensors (``mint.max``).

    Args:
        input: real Tensor of any shape.
        dim: axis; a Tensor in this place, or ``other``, is compared element by element.
        keepdim: whether the axis stays, with size 1.
        other: Tensor that broadcasts to ``input``.

    Returns:
        0-d Tensor; with an axis values and Int64 positions; with another Tensor the larger
        elements.

    Raises:
        ValueError: there is no such axis.
    """
    if other is not None or hasattr(dim, "dtype"):
        return arithmetic.maximum(input, dim if other is None else other)
    return reduction.amax(input) if dim is None else extremes.max(input, dim, keepdim)


def min(input: Tensor, dim: Any = None, keepdim: bool = False, *, other: Any = None) -> Any:
    """Take the smallest element of a Tensor, along an axis, or of two Tensors (``mint.min``).

    Args:
        input: real Tensor of any shape.
        dim: axis; a Tensor in this place, or ``other``, is compared element by element.
        keepdim: whether the axis stays, with size 1.
        other: Tensor that broadcasts to ``input``.

    Returns:
        0-d Tensor; with an axis values and Int64 positions; with another Tensor the smaller
        elements.

    Raises:
        ValueError: there is no such axis.
    """
    if other is not None or hasattr(dim, "dtype"):
        return arithmetic.minimum(input, dim if other is None else other)
    return reduction.amin(input) if dim is None else extremes.min(input, dim, keepdim)


def amax(input: Tensor, dim: Axis = (), keepdim: bool = False) -> Tensor:
    """Take the largest element over axes (MindSpore: ``mint.amax``).

    Args:
        input: real Tensor of any shape.
        dim: axes to reduce; ``()`` means all.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes; equal elements share the gradient.

    Raises:
        ValueError: there is no such axis, or it is empty.
    """
    return reduction.amax(input, dim, keepdim)


def amin(input: Tensor, dim: Axis = (), keepdim: bool = False) -> Tensor:
    """Take the smallest element over axes (MindSpore: ``mint.amin``).

    Args:
        input: real Tensor of any shape.
        dim: axes to reduce; ``()`` means all.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes; equal elements share the gradient.

    Raises:
        ValueError: there is no such axis, or it is empty.
    """
    return reduction.amin(input, dim, keepdim)


def argmin(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Find the position of the smallest element (MindSpore: ``mint.argmin``).

    Args:
        input: real Tensor of any shape.
        dim: axis; None means the flat Tensor.
        keepdim: whether the axis stays, with size 1.

    Returns:
        Int64 Tensor without the axis.

    Raises:
        ValueError: there is no such axis, or it is empty.
    """
    axis = None if dim is None else checks.integer("dim", dim, "argmin")
    keep = bool(keepdim) and axis is not None
    return Argmin(axis, int64, keep_dims=keep)(input)


def var(input: Tensor, dim: Axis = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """Take the variance over axes (MindSpore: ``mint.var``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        dim: axes to reduce, all by default.
        correction: what is taken from the number of elements before dividing by it.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return statistics.var(input, dim, correction, keepdim)


def std(input: Tensor, dim: Axis = None, *, correction: int = 1, keepdim: bool = False) -> Tensor:
    """Take the standard deviation over axes (MindSpore: ``mint.std``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        dim: axes to reduce, all by default.
        correction: what is taken from the number of elements before dividing by it.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return statistics.std(input, dim, correction, keepdim)


def var_mean(
    input: Tensor, dim: Axis = None, *, correction: int = 1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Take the variance and the mean over axes (MindSpore: ``mint.var_mean``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        dim: axes to reduce, all by default.
        correction: what is taken from the number of elements before dividing by it.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Two Tensors without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return statistics.var_mean(input, dim, correction, keepdim)


def std_mean(
    input: Tensor, dim: Axis = None, *, correction: int = 1, keepdim: bool = False
) -> tuple[Tensor, Tensor]:
    """Take the standard deviation and the mean over axes (MindSpore: ``mint.std_mean``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        dim: axes to reduce, all by default.
        correction: what is taken from the number of elements before dividing by it.
        keepdim: whether reduced axes stay, with size 1.

    Returns:
        Two Tensors without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return statistics.std_mean(input, dim, correction, keepdim)


def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """Take the lower median (MindSpore: ``mint.median``).

    Args:
        input: real Tensor of any shape.
        dim: axis; None means all elements.
        keepdim: whether the axis stays, with size 1.

    Returns:
        0-d Tensor; with an axis medians and Int64 positions.

    Raises:
        ValueError: there is no such axis.
    """
    if dim is None:
        return statistics.Median(True)(input)[0]
    return statistics.median(input, dim, keepdim)


def cumsum(input: Tensor, dim: int, dtype: Number | None = None) -> Tensor:
    """Add up along an axis (MindSpore: ``mint.cumsum``).

    Args:
        input: Tensor of any shape.
        dim: the axis.
        dtype: element type of the result; Int64 by default for Bool, UInt8 and signed integers.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: there is no such axis.
    """
    return sorting.cumsum(sorting.accumulated(input, dtype, np.dtype(np.int64)), dim)


def cumprod(input: Tensor, dim: int, dtype: Number | None = None) -> Tensor:
    """Multiply up along an axis (MindSpore: ``mint.cumprod``).

    Args:
        input: Tensor of any shape.
        dim: the axis.
        dtype: element type of the result; Int64 by default for Bool, UInt8 and signed integers.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: there is no such axis.
    """
    return sorting.cumprod(sorting.accumulated(input, dtype, np.dtype(np.int64)), dim)


def cummax(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Give the largest element so far along an axis, and its position (MindSpore: ``mint.cummax``).

    Args:
        input: real Tensor of any shape.
        dim: the axis.

    Returns:
        Values of the input's shape, and Int64 positions, of equal elements the latest.

    Raises:
        ValueError: there is no such axis.
    """
    return sorting.cummax(input, dim)


def cummin(input: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    """Give the smallest element so far along an axis, and its position (``mint.cummin``).

    Args:
        input: real Tensor of any shape.
        dim: the axis.

    Returns:
        Values of the input's shape, and Int64 positions, of equal elements the latest.

    Raises:
        ValueError: there is no such axis.
    """
    values, index = sorting.cummin(input, dim)
    return values, cast(index, int64)


def norm(
    input: Tensor,
    p: Any = "fro",
    dim: Axis = None,
    keepdim: bool = False,
    *,
    dtype: Number | None = None,
) -> Tensor:
    """Take the p-norm over axes (MindSpore: ``mint.norm``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.
        p: order; ``"fro"`` is 2, ``"nuc"`` the nuclear norm of matrices.
        dim: axes to reduce, all by default.
        keepdim: whether reduced axes stay, with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: ``p`` is none of these, or there is no such axis.
    """
    if p == "nuc":
        return linalg.norm(input, "nuc", dim, keepdim, dtype=dtype)
    x = input if dtype is None else cast(input, as_dtype(dtype))
    return linalg.vector_norm(x, 2 if p == "fro" else p, dim, keepdim)


def count_nonzero(input: Tensor, dim: Axis = None) -> Tensor:
    """Count the elements that are not zero (MindSpore: ``mint.count_nonzero``).

    Args:
        input: Tensor of any shape.
        dim: axes to reduce, all by default.

    Returns:
        Int64 Tensor without the axes.

    Raises:
        ValueError: there is no such axis.
    """
    return reduction.CountNonZero(checks.axis_or_axes("dim", dim, "count_nonzero"))(input)


def sort(
    input: Tensor, *, dim: int = -1, descending: bool = False, stable: bool = False
) -> tuple[Tensor, Tensor]:
    """Sort along an axis (MindSpore: ``mint.sort``).

    Args:
        input: real Tensor of any shape.
        dim: the axis.
        descending: whether the largest come first.
        stable: whether equal elements must keep their order; they always do.

    Returns:
        Sorted Tensor, and the Int64 positions that its elements had.

    Raises:
        ValueError: there is no such axis.
    """
    values, index = sorting.sort(input, dim, descending)
    return values, cast(index, int64)


def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """Give the positions that sort along an axis (MindSpore: ``mint.argsort``).

    Args:
        input: real Tensor of any shape.
        dim: the axis.
        descending: whether the largest come first.
        stable: whether equal elements must keep their order; they always do.

    Returns:
        Int64 Tensor of the same shape.

    Raises:
        ValueError: there is no such axis.
    """
    return cast(sorting.argsort(input, dim, descending), int64)


def topk(
    input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Find the k largest or smallest elements along an axis (MindSpore: ``mint.topk``).

    Args:
        input: real Tensor of any shape.
        k: how many, at most the size of the axis.
        dim: the axis.
        largest: whether the largest are wanted, or the smallest.
        sorted: whether they come in order; they always do.

    Returns:
        The elements, and their Int64 positions.

    Raises:
        ValueError: there is no such axis, or ``k`` does not fit it.
    """
    values, index = sorting.topk(input, k, dim, largest, sorted)
    return values, cast(index, int64)


def softmax(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """Make exponentials that sum to 1 along an axis (MindSpore: ``mint.softmax``).

    Args:
        input: any shape but (), float.
        dim: the axis.
        dtype: dtype that ``input`` is cast to first.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: there is no such axis.
    """
    return _softmax(input, dim, dtype=dtype)
