"""Sums, means, extremes and positions over axes, with and without NaN; running sums."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core.dtype import Number, bool_, float32, float64, int32, uint32
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    Axis,
    axes_in,
    axis_in,
    boolean,
    cast_result,
    is_number,
    need_tensors,
    to_tensor,
)
from mindjax.numpy.dtypes import nan
from mindjax.tensor import Tensor


def _reduced_shape(shape: tuple[int, ...], axes: tuple[int, ...], keepdims: Any) -> Any:
    if keepdims:
        return tuple(1 if i in axes else s for i, s in enumerate(shape))
    return tuple(s for i, s in enumerate(shape) if i not in axes)


def mean(a: Any, axis: Axis = None, keepdims: bool = False, dtype: Any = None) -> Tensor:
    """Average over axes (MindSpore: ``numpy.mean``).

    Args:
        a: array-like.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.
        dtype: MindSpore dtype of the result, by default that of ``a``, of which integers
            are cut; Float32 for truth values.

    Returns:
        Tensor without the axes, NaN over nothing.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    x = to_tensor(a)
    if x.dtype is bool_:
        # A mean cut to truth values would say nothing.
        x = ops.cast(x, float32)
    axes = axes_in(axis, len(x.shape))
    kind = x.dtype if dtype is None else dtype
    if 0 in x.shape and axes:
        return ops.fill(kind, _reduced_shape(x.shape, axes, keepdims), nan)
    return ops.cast(ops.mean(x, axes, bool(keepdims)), kind) if axes else ops.cast(x, kind)


def sum(
    a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False, initial: Any = None
) -> Tensor:
    """Sum over axes (MindSpore: ``numpy.sum``).

    Args:
        a: array-like.
        axis: axes to reduce, all by default.
        dtype: MindSpore dtype of the result; Int64 by default for Bool, UInt8 and signed integers.
        keepdims: whether reduced axes stay, with size 1.
        initial: number to add to the sum.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    if initial is not None and not is_number(initial):
        raise located(
            TypeError, f"sum(): argument 'initial' must be Number, not {type(initial).__name__}."
        )
    return to_tensor(a).sum(axis, dtype, keepdims, initial)


def _extreme(
    largest: bool, a: Tensor, axis: Any, keepdims: Any, initial: Any, where: Any
) -> Tensor:
    need_tensors(a)
    axes = axes_in(axis, len(a.shape))
    if initial is not None and not is_number(initial) and not isinstance(initial, Tensor):
        raise located(TypeError, f"initial must be scalar, but got {type(initial).__name__}.")
    if isinstance(initial, Tensor) and initial.shape:
        raise located(TypeError, f"initial must be scalar, but got shape {initial.shape}.")
    if 0 in a.shape:
        raise located(ValueError, f"zero-size tensors are not supported, but got {a.shape}.")
    start = None if initial is None else ops.cast(to_tensor(initial), a.dtype)
    mask = None if where is None or where is True else to_tensor(where)
    if mask is not None:
        if start is None:
            raise located(ValueError, "initial value must be provided for where masks.")
        more = len(mask.shape) - len(a.shape)
        a = ops.where(mask, a, start)
        # The axes are those of the Tensor; what a mask of more axes adds is reduced too.
        axes = (*range(more), *(i + more for i in axes)) if more > 0 else axes
    reduce, compare = (ops.amax, ops.maximum) if largest else (ops.amin, ops.minimum)
    out = reduce(a, axes, bool(keepdims)) if axes else a
    return out if start is None else compare(out, start)


def amax(
    a: Tensor, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Tensor:
    """Take the largest element over axes (MindSpore: ``numpy.amax``).

    Args:
        a: real Tensor, not empty.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.
        initial: least value of the result.
        where: Bool Tensor that says which elements count; it needs ``initial``.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis, ``a`` is empty, or ``where`` lacks ``initial``.
    """
    return _extreme(True, a, axis, keepdims, initial, where)


def amin(
    a: Tensor, axis: Axis = None, keepdims: bool = False, initial: Any = None, where: Any = True
) -> Tensor:
    """Take the smallest element over axes (MindSpore: ``numpy.amin``).

    Args:
        a: real Tensor, not empty.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.
        initial: greatest value of the result.
        where: Bool Tensor that says which elements count; it needs ``initial``.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis, ``a`` is empty, or ``where`` lacks ``initial``.
    """
    return _extreme(False, a, axis, keepdims, initial, where)


max, min = amax, amin


def ptp(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Take the largest less the smallest element over axes (MindSpore: ``numpy.ptp``).

    Args:
        x: real Tensor.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    need_tensors(x)
    return x.ptp(axis, keepdims)


def argmax(a: Any, axis: int | None = None) -> Tensor:
    """Find the position of the largest element (MindSpore: ``numpy.argmax``).

    Args:
        a: real array-like.
        axis: the axis; None means the flattened Tensor.

    Returns:
        Int64 Tensor without the axis.

    Raises:
        TypeError: ``a`` is no array-like.
        ValueError: there is no such axis.
    """
    return _countable(a).argmax(axis)


def argmin(a: Any, axis: int | None = None) -> Tensor:
    """Find the position of the smallest element (MindSpore: ``numpy.argmin``).

    Args:
        a: real array-like.
        axis: the axis; None means the flattened Tensor.

    Returns:
        Int32 Tensor without the axis.

    Raises:
        TypeError: ``a`` is no array-like.
        ValueError: there is no such axis.
    """
    return _countable(a).argmin(axis)


def _countable(a: Any) -> Tensor:
    x = to_tensor(a)
    return ops.cast(x, int32) if x.dtype is bool_ else x


def count_nonzero(x: Tensor, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Count the elements that are not zero (MindSpore: ``numpy.count_nonzero``).

    Args:
        x: Tensor.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Int32 Tensor without the axes.

    Raises:
        TypeError: ``x`` is no Tensor.
        ValueError: there is no such axis.
    """
    need_tensors(x)
    return ops.count_nonzero(x, () if axis is None else axis, keepdims)


def _without_nan(x: Tensor, instead: float) -> Tensor:
    if x.dtype.kind not in ("float", "complex"):
        return x
    return ops.where(ops.isnan(x), ops.full_like(x, instead), x)


def nansum(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sum over axes; NaN counts as 0 (MindSpore: ``numpy.nansum``).

    Args:
        a: array-like.
        axis: axes to reduce, all by default.
        dtype: MindSpore dtype of the result, by default that of ``a``.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    x = to_tensor(a)
    axes = axes_in(axis, len(x.shape))
    total = ops.sum(_without_nan(x, 0), axes, bool(keepdims), dtype=x.dtype) if axes else x
    return ops.cast(total, x.dtype if dtype is None else dtype)


def _count(x: Tensor, axes: tuple[int, ...], keepdims: Any) -> Tensor:
    """Count what is not NaN, in Float32 (Float64 for Float64)."""
    number = ops.cast(ops.logical_not(ops.isnan(x)), float64 if x.dtype is float64 else float32)
    return ops.sum(number, axes, bool(keepdims)) if axes else number


def nanmean(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Average over axes, NaN left out (MindSpore: ``numpy.nanmean``).

    Args:
        a: array-like.
        axis: axes to reduce, all by default.
        dtype: MindSpore dtype of the sum, Float32 by default.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes, NaN where nothing is left.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    x = _countable(a)
    axes = axes_in(axis, len(x.shape))
    total = nansum(x, axes, float32 if dtype is None else dtype, keepdims)
    return ops.tensor_div(total, _count(x, axes, keepdims))


def _nan_variance(a: Any, axis: Any, dtype: Any, ddof: int, keepdims: Any) -> tuple[Tensor, Number]:
    x = _countable(a)
    axes = axes_in(axis, len(x.shape))
    middle = nanmean(x, axes, keepdims=True)
    spread = _without_nan(ops.square(ops.sub(x, middle)), 0)
    total = ops.sum(spread, axes, bool(keepdims)) if axes else spread
    variance = ops.div(total, ops.sub(_count(x, axes, keepdims), ddof))
    return variance, float32 if dtype is None else dtype


def nanvar(
    a: Any, axis: Axis = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False
) -> Tensor:
    """Take the variance over axes, NaN left out (MindSpore: ``numpy.nanvar``).

    Args:
        a: array-like.
        axis: axes to reduce, all by default.
        dtype: MindSpore dtype of the result, Float32 by default.
        ddof: what is taken from the number of elements before dividing by it.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    return ops.cast(*_nan_variance(a, axis, dtype, ddof, keepdims))


def nanstd(
    a: Any, axis: Axis = None, dtype: Any = None, ddof: int = 0, keepdims: bool = False
) -> Tensor:
    """Take the standard deviation over axes, NaN left out (MindSpore: ``numpy.nanstd``).

    Args:
        a: array-like.
        axis: axes to reduce, all by default.
        dtype: MindSpore dtype of the result, Float32 by default.
        ddof: what is taken from the number of elements before dividing by it.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    variance, kind = _nan_variance(a, axis, dtype, ddof, keepdims)
    return ops.cast(ops.sqrt(variance), kind)


def nanmax(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Take the largest element over axes, NaN left out (MindSpore: ``numpy.nanmax``).

    Args:
        a: real array-like.
        axis: axes to reduce, all by default.
        dtype: MindSpore dtype of the result, by default that of ``a``.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes; where nothing is left, the lowest Int64 as a float.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis, or ``a`` is empty.
    """
    return _nan_extreme(True, a, axis, dtype, keepdims)


def nanmin(a: Any, axis: Axis = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Take the smallest element over axes, NaN left out (MindSpore: ``numpy.nanmin``).

    Args:
        a: real array-like.
        axis: axes to reduce, all by default.
        dtype: MindSpore dtype of the result, by default that of ``a``.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes; where nothing is left, the highest Int64 as a float.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis, or ``a`` is empty.
    """
    return _nan_extreme(False, a, axis, dtype, keepdims)


def _nan_extreme(largest: bool, a: Any, axis: Any, dtype: Any, keepdims: Any) -> Tensor:
    if not isinstance(keepdims, int):
        raise located(TypeError, f"integer argument expected, got {keepdims!r}.")
    x = to_tensor(a)
    axes = axes_in(axis, len(x.shape))
    x = _without_nan(x, float(-sys.maxsize - 1 if largest else sys.maxsize))
    reduce = ops.amax if largest else ops.amin
    return cast_result(reduce(x, axes, bool(keepdims)) if axes else x, dtype)


def std(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Take the standard deviation over axes (MindSpore: ``numpy.std``).

    Args:
        x: array-like; integers are computed in Float32.
        axis: axes to reduce, all by default.
        ddof: what is taken from the number of elements before dividing by it.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    return to_tensor(x).std(axis, ddof, keepdims)


def var(x: Any, axis: Axis = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Take the variance over axes (MindSpore: ``numpy.var``).

    Args:
        x: array-like; integers are computed in Float32.
        axis: axes to reduce, all by default.
        ddof: what is taken from the number of elements before dividing by it.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Tensor without the axes.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis.
    """
    return to_tensor(x).var(axis, ddof, keepdims)


def average(x: Tensor, axis: Axis = None, weights: Any = None, returned: bool = False) -> Any:
    """Average over axes with weights (MindSpore: ``numpy.average``).

    Args:
        x: Tensor.
        axis: axes to reduce, all by default.
        weights: Tensor of the shape of ``x``, or 1-d along one axis; None weighs all alike.
        returned: whether to give the sum of the weights too.

    Returns:
        Tensor without the axes, and with ``returned`` the sums of the weights.

    Raises:
        TypeError: an argument has another type, or 1-d weights lack an axis.
        ValueError: there is no such axis.
    """
    need_tensors(x)
    axes = axes_in(axis, len(x.shape))
    if weights is None:
        out = mean(x, axes)
        count = int(np.prod([x.shape[i] for i in axes], dtype=np.int64))
        total = ops.full_like(out, count)
    else:
        need_tensors(weights)
        if x.shape != weights.shape:
            if len(weights.shape) != 1:
                raise located(
                    TypeError, "Weights should be None, 1-D or the same shape as input x."
                )
            if not isinstance(axis, int):
                raise located(
                    TypeError, "Axis must be specified when shapes of x and weights differ."
                )
            shape = tuple(-1 if i == axes[0] else 1 for i in range(len(x.shape)))
            weights = ops.reshape(weights, shape)
        kind = ops.mul(x, weights)
        total = ops.sum(weights, axes, dtype=weights.dtype)
        out = ops.tensor_div(ops.sum(kind, axes, dtype=kind.dtype), total)
    if not boolean("returned", returned, "average"):
        return out
    return out, ops.broadcast_to(total, out.shape)


def cumsum(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Add up along an axis (MindSpore: ``numpy.cumsum``).

    Args:
        a: Tensor.
        axis: the axis; None means the flattened Tensor.
        dtype: MindSpore dtype of the result; Int32 by default for narrower integers and Bool.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no Tensor.
        ValueError: there is no such axis.
    """
    need_tensors(a)
    return a.cumsum(axis, dtype)


def nancumsum(a: Tensor, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Add up along an axis; NaN counts as 0 (MindSpore: ``numpy.nancumsum``).

    Args:
        a: Tensor.
        axis: the axis; None means the flattened Tensor.
        dtype: MindSpore dtype of the result; Int32 by default for narrower integers and Bool.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no Tensor.
        ValueError: there is no such axis.
    """
    need_tensors(a)
    return _without_nan(a, 0).cumsum(axis, dtype)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None) -> Tensor:
    """Multiply up along an axis (MindSpore: ``numpy.cumprod``).

    Args:
        a: array-like.
        axis: the axis; None means the flattened Tensor.
        dtype: MindSpore dtype of the result; Int32 or UInt32 by default for narrower integers.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no array-like, or ``axis`` no integer.
        ValueError: there is no such axis.
    """
    x = to_tensor(a, wide=True)
    if axis is not None and not isinstance(axis, int):
        raise located(TypeError, f"integer axis is expected, but got {axis!r}.")
    if axis is None:
        x, axis = ops.reshape(x, (-1,)), 0
    kind: Any = x.dtype
    if kind.bits < 32 and kind.kind != "float":
        kind = uint32 if kind.kind == "uint" else int32
    place = axis_in(axis, len(x.shape))
    return ops.cast(ops.cumprod(ops.cast(x, kind), place), kind if dtype is None else dtype)
