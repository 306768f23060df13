"""Shape and order of axes and elements: reshape, transpose, moveaxis, tile, roll, flip."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    Axis,
    axes_in,
    axis_in,
    integer,
    leading_axes,
    need_tensors,
    to_tensor,
)
from mindjax.tensor import Tensor


def expand_dims(a: Tensor, axis: int | tuple[int, ...] | list[int]) -> Tensor:
    """Insert axes of size 1 (MindSpore: ``numpy.expand_dims``).

    Args:
        a: Tensor.
        axis: places of the new axes in the result.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no Tensor, or ``axis`` no integers.
        ValueError: a place is out of range or given twice.
    """
    need_tensors(a)
    if not isinstance(axis, int | tuple | list):
        raise located(TypeError, f"axis must be tuple, list or int, but got {type(axis).__name__}.")
    if isinstance(axis, int):
        return ops.expand_dims(a, axis)
    for place in sorted(axes_in(axis, len(a.shape) + len(axis))):
        a = ops.expand_dims(a, place)
    return a


def squeeze(a: Tensor, axis: Axis = None) -> Tensor:
    """Drop axes of size 1 (MindSpore: ``numpy.squeeze``).

    Args:
        a: Tensor.
        axis: axes to drop, None for all of size 1; axes of other sizes stay.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no Tensor.
        ValueError: there is no such axis.
    """
    need_tensors(a)
    return a.squeeze(axis)


def transpose(a: Tensor, axes: Any = None) -> Tensor:
    """Put the axes in another order (MindSpore: ``numpy.transpose``).

    Args:
        a: Tensor.
        axes: the order; None reverses it.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no Tensor.
        ValueError: ``axes`` is no order of the axes.
    """
    need_tensors(a)
    return a.transpose(axes)


def rollaxis(x: Tensor, axis: int, start: int = 0) -> Tensor:
    """Move an axis in front of another (MindSpore: ``numpy.rollaxis``).

    Args:
        x: Tensor.
        axis: the axis.
        start: axis before which it shall stand, from ``-x.ndim`` to ``x.ndim``.

    Returns:
        Tensor.

    Raises:
        TypeError: ``x`` is no Tensor, or an axis no integer.
        ValueError: an axis is out of range.
    """
    need_tensors(x)
    integer("axis", axis, "rollaxis")
    integer("start", start, "rollaxis")
    ndim = len(x.shape)
    place = axis_in(axis, ndim)
    if not -ndim <= start <= ndim:
        raise located(
            ValueError,
            f"For rollaxis, start {start} is out of bounds. Ranging from {-ndim} to {ndim} is "
            "allowed.",
        )
    before = start + ndim if start < 0 else start
    rest = [a for a in range(ndim) if a != place]
    rest.insert(before - 1 if place < before else before, place)
    return ops.transpose(x, tuple(rest))


def swapaxes(x: Tensor, axis1: int, axis2: int) -> Tensor:
    """Exchange two axes (MindSpore: ``numpy.swapaxes``).

    Args:
        x: Tensor.
        axis1: an axis.
        axis2: the other.

    Returns:
        Tensor.

    Raises:
        TypeError: ``x`` is no Tensor, or an axis no integer.
        ValueError: an axis is out of range.
    """
    need_tensors(x)
    return x.swapaxes(axis1, axis2)


def moveaxis(a: Tensor, source: Any, destination: Any) -> Tensor:
    """Move axes to other places (MindSpore: ``numpy.moveaxis``).

    Args:
        a: Tensor.
        source: axis or axes.
        destination: where each goes.

    Returns:
        Tensor.

    Raises:
        TypeError: an axis is no integer.
        ValueError: an axis is out of range or given twice, or the numbers of axes differ.
    """
    need_tensors(a)
    from_, to = axes_in(source, len(a.shape)), axes_in(destination, len(a.shape))
    if len(from_) != len(to):
        raise located(
            ValueError,
            "`source` and `destination` arguments must have the same number of elements, but got "
            f"{source} and {destination}.",
        )
    return ops.moveaxis(a, from_, to)


def reshape(x: Tensor, new_shape: Any) -> Tensor:
    """Give the same elements another shape (MindSpore: ``numpy.reshape``).

    Args:
        x: Tensor.
        new_shape: int, or tuple or list of ints; one may be -1 and is then inferred.

    Returns:
        Tensor.

    Raises:
        TypeError: ``x`` is no Tensor, or a size no integer.
        ValueError: the sizes do not fit the number of elements.
    """
    need_tensors(x)
    return x.reshape(new_shape)


def ravel(x: Tensor) -> Tensor:
    """Give all elements in one axis (MindSpore: ``numpy.ravel``).

    Args:
        x: Tensor.

    Returns:
        1-d Tensor.

    Raises:
        TypeError: ``x`` is no Tensor.
    """
    need_tensors(x)
    return x.ravel()


def atleast_1d(*arys: Tensor) -> Any:
    """Give Tensors at least one axis (MindSpore: ``numpy.atleast_1d``).

    Args:
        arys: Tensors.

    Returns:
        Tensor, or list of Tensors.

    Raises:
        TypeError: an argument is no Tensor.
    """
    need_tensors(*arys)
    return _one_or_list([leading_axes(x, 1) for x in arys])


def atleast_2d(*arys: Tensor) -> Any:
    """Give Tensors at least two axes; new ones stand in front (MindSpore: ``numpy.atleast_2d``).

    Args:
        arys: Tensors.

    Returns:
        Tensor, or list of Tensors.

    Raises:
        TypeError: an argument is no Tensor.
    """
    need_tensors(*arys)
    return _one_or_list([leading_axes(x, 2) for x in arys])


def atleast_3d(*arys: Tensor) -> Any:
    """Give Tensors at least three axes; a vector lies along the middle (``numpy.atleast_3d``).

    Args:
        arys: Tensors.

    Returns:
        Tensor, or list of Tensors.

    Raises:
        TypeError: an argument is no Tensor.
    """
    need_tensors(*arys)
    return _one_or_list([ops.atleast_3d(x) for x in arys])


def _one_or_list(tensors: list[Tensor]) -> Any:
    return tensors[0] if len(tensors) == 1 else tensors


def roll(a: Tensor, shift: Any, axis: Any = None) -> Tensor:
    """Shift elements along axes; what falls out comes in at the other end (``numpy.roll``).

    Args:
        a: Tensor.
        shift: int, or one for each axis.
        axis: axis or axes; None shifts the flattened Tensor.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``a`` is no Tensor, or a shift no integer.
        ValueError: there is no such axis, or the numbers of shifts and axes do not fit.
    """
    need_tensors(a)
    if not isinstance(shift, int | tuple | list) or not isinstance(axis, int | tuple | list | None):
        raise located(TypeError, "input shift and axis must be tuple or list or int.")
    shifts = list(shift) if isinstance(shift, tuple | list) else [shift]
    if axis is None:
        return ops.reshape(ops.roll(ops.reshape(a, (-1,)), (sum(shifts),), (0,)), a.shape)
    axes = list(axis) if isinstance(axis, tuple | list) else [axis]
    if len(shifts) != len(axes) and 1 not in (len(shifts), len(axes)):
        raise located(ValueError, "shape mismatch: objects cannot be broadcast to a single shape.")
    count = max(len(shifts), len(axes))
    axes, shifts = (v * (count // len(v)) for v in (axes, shifts))
    places = tuple(axis_in(place, len(a.shape)) for place in axes)
    return ops.roll(a, tuple(shifts), places)


def tile(a: Tensor, reps: Any) -> Tensor:
    """Repeat a Tensor along each axis (MindSpore: ``numpy.tile``).

    Args:
        a: Tensor.
        reps: int, or repetitions of each axis, aligned at the last.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no Tensor, or a repetition no integer.
        ValueError: a repetition is negative.
    """
    need_tensors(a)
    return ops.tile(a, (reps,) if isinstance(reps, int) else reps)


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element in place (MindSpore: ``numpy.repeat``).

    Args:
        a: array-like.
        repeats: repetitions, one number or one for each element along the axis.
        axis: the axis; None repeats the flattened Tensor.

    Returns:
        Tensor.

    Raises:
        TypeError: ``repeats`` holds no integers.
        ValueError: a repetition is negative, their number does not fit, or there is no such axis.
    """
    return ops.repeat_interleave(to_tensor(a), repeats, axis)


def flip(m: Tensor, axis: Axis = None) -> Tensor:
    """Reverse the order of elements along axes (MindSpore: ``numpy.flip``).

    Args:
        m: Tensor.
        axis: the axes, all by default.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``m`` is no Tensor, or an axis no integer.
        ValueError: an axis is out of range or given twice.
    """
    need_tensors(m)
    return ops.flip(m, axes_in(axis, len(m.shape)))


def flipud(m: Tensor) -> Tensor:
    """Reverse the first axis (MindSpore: ``numpy.flipud``).

    Args:
        m: Tensor of at least one axis.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``m`` is no Tensor.
        ValueError: it has no axis.
    """
    return flip(m, 0)


def fliplr(m: Tensor) -> Tensor:
    """Reverse the second axis (MindSpore: ``numpy.fliplr``).

    Args:
        m: Tensor of at least two axes.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``m`` is no Tensor.
        ValueError: it has less than two axes.
    """
    return flip(m, 1)


def rot90(a: Tensor, k: int = 1, axes: Any = (0, 1)) -> Tensor:
    """Turn by quarters in the plane of two axes (MindSpore: ``numpy.rot90``).

    Args:
        a: Tensor of at least two axes.
        k: number of quarters, from the first axis towards the second.
        axes: the two axes.

    Returns:
        Tensor.

    Raises:
        TypeError: ``a`` is no Tensor, ``k`` no integer, or ``axes`` no tuple or list.
        ValueError: there are not two different axes in range.
    """
    need_tensors(a)
    integer("k", k, "rot90")
    if not isinstance(axes, tuple | list):
        raise located(TypeError, f"tuple(ints) or list(ints) expected, but got {axes!r}.")
    if len(axes) != 2:
        raise located(ValueError, f"len(axes) must be 2, but got {axes}.")
    first, second = (axis_in(axis, len(a.shape)) for axis in axes)
    if first == second:
        raise located(ValueError, f"Axes must be different, but got {axes}.")
    return ops.rot90(a, k, (first, second))


def size(a: Any, axis: int | None = None) -> int:
    """Give the number of elements, or the size of an axis (MindSpore: ``numpy.size``).

    Args:
        a: array-like.
        axis: the axis; None counts all elements.

    Returns:
        Python int.

    Raises:
        TypeError: ``a`` is no array-like, or ``axis`` no integer.
        ValueError: there is no such axis.
    """
    x = to_tensor(a)
    return x.size if axis is None else x.shape[axis_in(integer("axis", axis, "size"), len(x.shape))]


def array_str(a: Tensor) -> str:
    """Write the elements of a Tensor as text (MindSpore: ``numpy.array_str``).

    Args:
        a: Tensor.

    Returns:
        Python str.

    Raises:
        TypeError: ``a`` is no Tensor.
    """
    if not isinstance(a, Tensor):
        raise located(TypeError, f"Expect input to be tensor, but got {type(a).__name__}.")
    return str(a)
