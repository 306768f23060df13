"""Tensors from data, sizes and intervals: array, zeros, full, arange, linspace, eye."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32, float64, int32, int64
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    axis_in,
    boolean,
    broadcast_shape,
    cast_result,
    checked_dtype,
    holds_tensor,
    integer,
    is_array_like,
    is_number,
    leading_axes,
    scalar_dtype,
    to_tensor,
)
from mindjax.numpy.dtypes import nan
from mindjax.tensor import Tensor


def asarray(a: Any, dtype: Any = None) -> Tensor:
    """Bring an array-like to a Tensor (MindSpore: ``numpy.asarray``).

    Args:
        a: Tensor, int, float, bool, or nested list or tuple of these.
        dtype: dtype, its name or a Python type; by default that of a Tensor, otherwise Bool, Int32
            or Float32.

    Returns:
        Tensor; ``a`` itself if it is one of that dtype.

    Raises:
        TypeError: ``a`` is no array-like, or ``dtype`` no dtype.
        ValueError: a nested sequence is ragged.
    """
    kind = None if dtype is None else checked_dtype(dtype)
    if not is_array_like(a):
        raise located(
            TypeError,
            "input data must be `int`, `float`, `bool`, `Tensor`, `list`, `tuple`, but got "
            f"{type(a).__name__}.",
        )
    if isinstance(a, list | tuple) and not holds_tensor(a):
        try:
            np.asarray(a)
        except ValueError:
            raise located(
                ValueError, "Input array must have the same size across all dimensions."
            ) from None
    if kind is not None and not holds_tensor(a):
        # By way of Int32 or Float32, 64-bit numbers would lose digits.
        return Tensor(a, kind)
    return cast_result(to_tensor(a), kind)


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Make a Tensor of an array-like (MindSpore: ``numpy.array``).

    Args:
        obj: Tensor, int, float, bool, or nested list or tuple of these.
        dtype: as in `asarray`.
        copy: whether a Tensor is copied.
        ndmin: least number of axes; axes of size 1 are put in front.

    Returns:
        Tensor.

    Raises:
        TypeError: ``obj`` is no array-like, or ``dtype`` no dtype.
        ValueError: a nested sequence is ragged, or an empty Tensor would need more axes.
    """
    out = asarray(obj, dtype)
    if ndmin > len(out.shape):
        if 0 in out.shape:
            raise located(
                ValueError, "Empty tensor cannot be expanded beyond the current dimension."
            )
        out = leading_axes(out, ndmin)
    return out.copy() if copy and isinstance(obj, Tensor) else out


def asfarray(a: Any, dtype: Any = float32) -> Tensor:
    """Bring an array-like to a Tensor of floats (MindSpore: ``numpy.asfarray``).

    Args:
        a: array-like.
        dtype: Float16, Float32 or Float64; Float32 in place of other dtypes; None does not convert.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no array-like, or ``dtype`` no dtype.
    """
    if dtype is None:
        return asarray(a)
    kind = checked_dtype(dtype)
    return asarray(a, kind if kind.kind == "float" else float32)


def copy(a: Any) -> Tensor:
    """Copy an array-like to a new Tensor (MindSpore: ``numpy.copy``).

    Args:
        a: array-like.

    Returns:
        Tensor of the same values.

    Raises:
        TypeError: ``a`` is no array-like.
    """
    return asarray(a).copy()


def checked_shape(shape: Any) -> tuple[int, ...]:
    """Check a shape: an int, or a tuple, list or Tensor of ints.

    Raises:
        TypeError: it is none of these.
        ValueError: a size is negative.
    """
    if not isinstance(shape, int | tuple | list | Tensor):
        raise located(
            TypeError,
            f"only int, tuple, list and tensor are allowed for shape, but got {shape!r}.",
        )
    return checks.sizes("shape", shape, "numpy")


def ones(shape: Any, dtype: Any = float32) -> Tensor:
    """Make ones (MindSpore: ``numpy.ones``).

    Args:
        shape: int, or tuple, list or Tensor of ints.
        dtype: dtype, its name or a Python type.

    Returns:
        Tensor.

    Raises:
        TypeError: ``shape`` or ``dtype`` is none.
        ValueError: a size is negative.
    """
    return ops.ones(checked_shape(shape), checked_dtype(dtype))


def zeros(shape: Any, dtype: Any = float32) -> Tensor:
    """Make zeros (MindSpore: ``numpy.zeros``).

    Args:
        shape: int, or tuple, list or Tensor of ints.
        dtype: dtype, its name or a Python type.

    Returns:
        Tensor.

    Raises:
        TypeError: ``shape`` or ``dtype`` is none.
        ValueError: a size is negative.
    """
    return ops.zeros(checked_shape(shape), checked_dtype(dtype))


def empty(shape: Any, dtype: Any = float32) -> Tensor:
    """Make a Tensor of a shape; its values are zeros (MindSpore: ``numpy.empty``).

    Args:
        shape: int, or tuple, list or Tensor of ints.
        dtype: dtype, its name or a Python type.

    Returns:
        Tensor.

    Raises:
        TypeError: ``shape`` or ``dtype`` is none.
        ValueError: a size is negative.
    """
    return zeros(shape, dtype)


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Tensor:
    """Fill a shape with a value (MindSpore: ``numpy.full``).

    Args:
        shape: int, or tuple, list or Tensor of ints.
        fill_value: array-like that broadcasts to ``shape``.
        dtype: dtype, its name or a Python type; by default that of ``fill_value``.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is none of these.
        ValueError: a size is negative, or ``fill_value`` does not broadcast.
    """
    sizes = checked_shape(shape)
    if not is_array_like(fill_value):
        raise located(
            TypeError,
            "fill value should be int, float, bool, list, tuple, Tensor, but got "
            f"{type(fill_value).__name__}.",
        )
    kind = None if dtype is None else checked_dtype(dtype)
    if is_number(fill_value):
        return ops.fill(kind or scalar_dtype(fill_value), sizes, fill_value)
    return broadcast_to(cast_result(to_tensor(fill_value), kind), sizes)


def broadcast_to(array: Tensor, shape: Any) -> Tensor:
    """Broadcast to a shape (MindSpore: ``numpy.broadcast_to``).

    Args:
        array: Tensor.
        shape: tuple or list of ints.

    Returns:
        Tensor of the shape.

    Raises:
        ValueError: ``array`` does not broadcast to it.
    """
    sizes = checked_shape(shape)
    if len(array.shape) > len(sizes) or any(
        s not in (1, t) for s, t in zip(reversed(array.shape), reversed(sizes), strict=False)
    ):
        raise located(ValueError, f"cannot broadcast {array.shape} with {sizes}.")
    return ops.broadcast_to(array, sizes)


def broadcast_arrays(*args: Tensor) -> list[Tensor]:
    """Broadcast Tensors to each other (MindSpore: ``numpy.broadcast_arrays``).

    Args:
        args: Tensors.

    Returns:
        List of Tensors of one shape.

    Raises:
        ValueError: the shapes do not broadcast to each other.
    """
    shape = broadcast_shape(*(x.shape for x in args))
    return [ops.broadcast_to(x, shape) for x in args]


def _like(prototype: Any, dtype: Any, shape: Any) -> tuple[Any, Any]:
    """Give shape and dtype, where not given those of a prototype."""
    if not is_array_like(prototype):
        raise located(
            TypeError,
            "prototype should be int, float, bool, list, tuple, Tensor, but got "
            f"{type(prototype).__name__}.",
        )
    model = asarray(prototype)
    own_shape = shape is None or (isinstance(shape, list | tuple) and not shape)
    return model.shape if own_shape else shape, model.dtype if dtype is None else dtype


def empty_like(prototype: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Make a Tensor like another; its values are zeros (MindSpore: ``numpy.empty_like``).

    Args:
        prototype: array-like.
        dtype: dtype; by default that of ``prototype``.
        shape: shape; by default that of ``prototype``.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is none of these.
    """
    return empty(*_like(prototype, dtype, shape))


def ones_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Make ones like another Tensor (MindSpore: ``numpy.ones_like``).

    Args:
        a: array-like.
        dtype: dtype; by default that of ``a``.
        shape: shape; by default that of ``a``.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is none of these.
    """
    return ones(*_like(a, dtype, shape))


def zeros_like(a: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Make zeros like another Tensor (MindSpore: ``numpy.zeros_like``).

    Args:
        a: array-like.
        dtype: dtype; by default that of ``a``.
        shape: shape; by default that of ``a``.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is none of these.
    """
    return zeros(*_like(a, dtype, shape))


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Tensor:
    """Fill the shape of another Tensor (MindSpore: ``numpy.full_like``).

    Args:
        a: array-like.
        fill_value: array-like that broadcasts to the shape.
        dtype: dtype; by default that of ``a``.
        shape: shape; by default that of ``a``.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is none of these.
        ValueError: ``fill_value`` does not broadcast.
    """
    sizes, kind = _like(a, dtype, shape)
    return full(sizes, fill_value, kind)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Give evenly spaced numbers (MindSpore: ``numpy.arange``).

    Args:
        start: first number; the end if it is the only argument, or ``stop`` is None.
        stop: end, which does not belong to them.
        step: distance, 1 by default.
        dtype: dtype; by default Int32, Float32 if an argument is a float.

    Returns:
        1-d Tensor.

    Raises:
        TypeError: ``dtype`` is no dtype.
        ValueError: there would be no number.
    """
    start, stop, step = (checks.python_value(v) for v in (start, stop, step))
    for name, value in (("start", start), ("stop", stop), ("step", step)):
        if value is not None or name == "start":
            checks.of_type(name, value, (int, float, bool), "arange")
    kind = scalar_dtype(start, stop, step) if dtype is None else checked_dtype(dtype)
    low, high = (0, start) if stop is None else (start, stop)
    step = 1 if step is None else step
    count = math.ceil((high - low) / step)
    if count <= 0:
        raise located(ValueError, "zero shape Tensor is not currently supported.")
    whole = isinstance(low, int) and isinstance(step, int)
    # Whole numbers are exact; others are made in the original's Float32.
    wide = int64 if whole else (float64 if kind is float64 else float32)
    places = ops.arange(count, dtype=wide)
    places = ops.mul(places, step) if step != 1 else places
    return ops.cast(ops.add(places, low) if low else places, kind)


def _interval(
    start: Any, stop: Any, num: Any, endpoint: Any, dtype: Any, axis: Any
) -> tuple[Tensor, Tensor, Any, int]:
    """Check the ends of an interval and broadcast them; floats, with the axis counted."""
    for name, value in (("start", start), ("stop", stop)):
        if not is_array_like(value):
            raise located(
                TypeError,
                f"{name} should be int, float, bool, list, tuple, Tensor, but got "
                f"{type(value).__name__}.",
            )
    integer("num", num, "linspace")
    boolean("endpoint", endpoint, "linspace")
    kind = float32 if dtype is None else checked_dtype(dtype)
    ends = [to_tensor(v) for v in (start, stop)]
    wide = float64 if float64 in (ends[0].dtype, ends[1].dtype) else float32
    low, high = broadcast_arrays(*(ops.cast(x, wide) for x in ends))
    return low, high, kind, axis_in(axis, len(low.shape) + 1)


def _evenly(low: Tensor, high: Tensor, num: int, endpoint: bool, axis: int) -> tuple[Tensor, Any]:
    """Space numbers evenly along a new axis; give the distance too."""
    if num <= 0:
        raise located(ValueError, f"cannot support Tensor with num={num}.")
    if num == 1:
        return ops.expand_dims(low, axis), nan if endpoint else ops.sub(high, low)
    step = ops.div(ops.sub(high, low), num - 1 if endpoint else num)
    shape = [1] * (len(low.shape) + 1)
    shape[axis] = num
    places = ops.reshape(ops.arange(num, dtype=low.dtype), tuple(shape))
    first, distance = ops.expand_dims(low, axis), ops.expand_dims(step, axis)
    out = ops.add(first, ops.mul(places, distance))
    if endpoint:
        # The end itself, not what rounding makes of it.
        out = ops.where(ops.eq(places, num - 1), ops.expand_dims(high, axis), out)
    return out, step


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    """Space numbers evenly over intervals (MindSpore: ``numpy.linspace``).

    Args:
        start: array-like of first numbers.
        stop: array-like of ends, which broadcasts to ``start``.
        num: how many numbers, positive.
        endpoint: whether the ends belong to them.
        retstep: whether the distances are returned too.
        dtype: dtype, Float32 by default.
        axis: place of the new axis.

    Returns:
        Tensor, and with ``retstep`` the distances.

    Raises:
        TypeError: an argument has another type.
        ValueError: ``num`` is not positive, or there is no such axis.
    """
    low, high, kind, place = _interval(start, stop, num, endpoint, dtype, axis)
    boolean("retstep", retstep, "linspace")
    out, step = _evenly(low, high, num, endpoint, place)
    return (ops.cast(out, kind), step) if retstep else ops.cast(out, kind)


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Raise a base to evenly spaced powers (MindSpore: ``numpy.logspace``).

    Args:
        start: array-like of first powers.
        stop: array-like of last powers, which broadcasts to ``start``.
        num: how many numbers, positive.
        endpoint: whether the last powers belong to them.
        base: the base, a number.
        dtype: dtype, Float32 by default.
        axis: place of the new axis.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument has another type.
        ValueError: ``num`` is not positive, or there is no such axis.
    """
    low, high, kind, place = _interval(start, stop, num, endpoint, dtype, axis)
    if not is_number(base):
        raise located(TypeError, f"base should be a number, but got {base!r}.")
    return ops.cast(ops.pow(base, _evenly(low, high, num, endpoint, place)[0]), kind)


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: Any = None,
    axis: int = 0,
) -> Tensor:
    """Space numbers by a constant factor (MindSpore: ``numpy.geomspace``).

    Args:
        start: array-like of first numbers.
        stop: array-like of last numbers, which broadcasts to ``start``.
        num: how many numbers, positive.
        endpoint: whether the last numbers belong to them.
        dtype: dtype, Float32 by default.
        axis: place of the new axis.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument has another type.
        ValueError: ``num`` is not positive, or there is no such axis.
    """
    low, high, kind, place = _interval(start, stop, num, endpoint, dtype, axis)
    count = num - 1 if endpoint else num
    factor = ops.pow(ops.div(high, low), 1.0 / max(count, 1))
    powers, _ = _evenly(ops.zeros_like(factor), ops.full_like(factor, count), num, endpoint, place)
    out = ops.mul(ops.pow(ops.expand_dims(factor, place), powers), ops.expand_dims(low, place))
    return ops.cast(out, kind)


def rows_less_columns(rows: int, columns: int) -> Tensor:
    """Give for each place of a matrix its row less its column, Int32."""
    down = ops.reshape(ops.arange(rows, dtype=int32), (rows, 1))
    return ops.sub(down, ops.reshape(ops.arange(columns, dtype=int32), (1, columns)))


def eye(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """Make a matrix with ones on a diagonal (MindSpore: ``numpy.eye``).

    Args:
        N: number of rows.
        M: number of columns, ``N`` by default.
        k: which diagonal, positive above the main one.
        dtype: dtype, its name or a Python type.

    Returns:
        Tensor of shape (N, M).

    Raises:
        TypeError: a size is no integer, or ``dtype`` no dtype.
        ValueError: a size is negative.
    """
    kind = checked_dtype(dtype)
    columns = N if M is None else M
    if not all(isinstance(v, int) for v in (N, columns, k)):
        raise located(TypeError, "Input tensor dimensions should be integers.")
    rows, columns = checked_shape((N, columns))
    if not rows or not columns:
        return zeros((rows, columns), kind)
    return ops.cast(ops.eq(rows_less_columns(rows, columns), -k), kind)


def identity(n: int, dtype: Any = float32) -> Tensor:
    """Make a unit matrix (MindSpore: ``numpy.identity``).

    Args:
        n: number of rows and columns.
        dtype: dtype, its name or a Python type.

    Returns:
        Tensor of shape (n, n).

    Raises:
        TypeError: ``n`` is no integer, or ``dtype`` no dtype.
        ValueError: ``n`` is negative.
    """
    return eye(n, dtype=dtype)
