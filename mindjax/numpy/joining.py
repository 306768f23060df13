"""Joining and cutting Tensors: concatenate, stack, split and their relatives."""

from __future__ import annotations

import itertools
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.numpy.arguments import axis_in, leading_axes, need_tensors, promoted
from mindjax.tensor import Tensor

# An axis from here on means the flattened Tensors, as the original has it.
_MOST_AXES = 32


def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    """Join Tensors along an axis (MindSpore: ``numpy.concatenate``).

    Args:
        arrays: tuple or list of Tensors; a Tensor is taken apart along its first axis.
        axis: the axis; None joins the flattened Tensors.

    Returns:
        Tensor of the joint dtype.

    Raises:
        TypeError: ``arrays`` is None.
        ValueError: there is no such axis, or the shapes do not fit.
    """
    if arrays is None:
        raise located(TypeError, "expect Union[Tensor, tuple(Tensor), list(Tensor)], but got None.")
    if axis is not None:
        axis = checks.integer("axis", axis, "concatenate")
    flat = axis is None or axis >= _MOST_AXES
    if isinstance(arrays, Tensor):
        if flat:
            return ops.reshape(arrays, (-1,))
        axis_in(axis, len(arrays.shape))
        arrays = ops.unstack(arrays, 0)
    parts = list(checks.of_type("arrays", arrays, (tuple, list), "concatenate"))
    need_tensors(*parts)
    if not parts:
        raise located(IndexError, "Need at least one tensor to concatenate.")
    if flat:
        return ops.cat(promoted([ops.reshape(x, (-1,)) for x in parts]), 0)
    place = axis_in(axis, len(parts[0].shape))
    return parts[0] if len(parts) == 1 else ops.cat(promoted(parts), place)


def append(arr: Tensor, values: Tensor, axis: int | None = None) -> Tensor:
    """Put one Tensor behind another (MindSpore: ``numpy.append``).

    Args:
        arr: Tensor.
        values: Tensor to put behind it.
        axis: the axis; None joins the flattened Tensors.

    Returns:
        Tensor of the joint dtype.

    Raises:
        TypeError: an argument is no Tensor.
        ValueError: there is no such axis, or the shapes do not fit.
    """
    need_tensors(arr, values)
    if axis is None:
        return concatenate((arr, values), None)
    axis_in(axis, len(arr.shape))
    if len(arr.shape) != len(values.shape):
        raise located(ValueError, "all tensors must have same number of dimensions.")
    return concatenate((arr, values), axis)


def _parts(tup: Any) -> list[Tensor]:
    if not isinstance(tup, list | tuple):
        raise located(
            TypeError,
            f"Tensor or, list or tuple of tensors are required, but got {type(tup).__name__}.",
        )
    if not tup:
        raise located(ValueError, "Need at least one tensor to concatenate.")
    need_tensors(*tup)
    return list(tup)


def column_stack(tup: Any) -> Tensor:
    """Join Tensors along the second axis, vectors as columns (MindSpore: ``numpy.column_stack``).

    Args:
        tup: tuple or list of Tensors of one dtype; a Tensor comes back as it is.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tup`` is none of these.
        ValueError: it is empty, or the shapes do not fit.
    """
    if isinstance(tup, Tensor):
        return tup
    return ops.cat([ops.reshape(x, (-1, 1)) if len(x.shape) < 2 else x for x in _parts(tup)], 1)


def vstack(tup: Any) -> Tensor:
    """Join Tensors along the first axis, vectors as rows (MindSpore: ``numpy.vstack``).

    Args:
        tup: tuple or list of Tensors of one dtype; a Tensor comes back as it is.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tup`` is none of these.
        ValueError: it is empty, or the shapes do not fit.
    """
    if isinstance(tup, Tensor):
        return tup
    return ops.cat([leading_axes(x, 2) for x in _parts(tup)], 0)


def hstack(tup: Any) -> Tensor:
    """Join Tensors along the second axis, vectors along their own (MindSpore: ``numpy.hstack``).

    Args:
        tup: tuple or list of Tensors of one dtype; a Tensor comes back as it is.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tup`` is none of these.
        ValueError: it is empty, or the shapes do not fit.
    """
    if isinstance(tup, Tensor):
        return tup
    parts = [leading_axes(x, 1) for x in _parts(tup)]
    return ops.cat(parts, 0 if len(parts[0].shape) == 1 else 1)


def dstack(tup: Any) -> Tensor:
    """Join Tensors along the third axis (MindSpore: ``numpy.dstack``).

    Args:
        tup: tuple or list of Tensors of one dtype; a Tensor comes back as it is.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tup`` is none of these.
        ValueError: it is empty, or the shapes do not fit.
    """
    if isinstance(tup, Tensor):
        return tup
    parts = [leading_axes(x, 2) for x in _parts(tup)]
    return ops.cat([ops.expand_dims(x, 2) if len(x.shape) == 2 else x for x in parts], 2)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Join Tensors along a new axis (MindSpore: ``numpy.stack``).

    Args:
        arrays: tuple or list of Tensors of one shape; a Tensor is taken apart along its first axis.
        axis: place of the new axis, taken modulo the number of axes, as the original does.

    Returns:
        Tensor of the joint dtype.

    Raises:
        ValueError: ``arrays`` is none of these, or the shapes differ.
    """
    if isinstance(arrays, Tensor):
        return ops.moveaxis(arrays, 0, axis % len(arrays.shape))
    if not isinstance(arrays, list | tuple):
        raise located(
            ValueError,
            f"input arrays must be Tensor, tuple, or list, but got {type(arrays).__name__}.",
        )
    need_tensors(*arrays)
    if not arrays:
        raise located(IndexError, "Need at least one tensor to stack.")
    return ops.stack(promoted(arrays), axis % (len(arrays[0].shape) + 1))


def split(x: Tensor, indices_or_sections: Any, axis: int = 0) -> Any:
    """Cut a Tensor along an axis (MindSpore: ``numpy.split``).

    Args:
        x: Tensor.
        indices_or_sections: number of equal parts, or indices at which to cut.
        axis: the axis.

    Returns:
        Tuple of Tensors; for indices a list.

    Raises:
        TypeError: ``x`` is no Tensor, or ``indices_or_sections`` no integers.
        ValueError: there is no such axis, the parts are unequal or one is empty.
    """
    return _split(x, indices_or_sections, axis, equal=True)


def array_split(x: Tensor, indices_or_sections: Any, axis: int = 0) -> Any:
    """Cut a Tensor along an axis; the first parts may be longer by 1 (``numpy.array_split``).

    Args:
        x: Tensor.
        indices_or_sections: number of parts, or indices at which to cut.
        axis: the axis.

    Returns:
        Tuple of Tensors; for indices a list.

    Raises:
        TypeError: ``x`` is no Tensor, or ``indices_or_sections`` no integers.
        ValueError: there is no such axis, or a part is empty.
    """
    return _split(x, indices_or_sections, axis, equal=False)


def _split(x: Tensor, wanted: Any, axis: int, equal: bool) -> Any:
    need_tensors(x)
    place = axis_in(axis, len(x.shape))
    length = x.shape[place]
    if isinstance(wanted, int):
        if wanted < 1:
            name = "split" if equal else "array_split"
            raise located(
                ValueError, f"For '{name}', the number of parts must be positive, but got {wanted}."
            )
        if wanted > length:
            raise located(ValueError, f"empty tensor encountered: {length} in {wanted} parts.")
        return ops.Split(place, wanted)(x) if equal else ops.tensor_split(x, wanted, place)
    if not isinstance(wanted, list | tuple) or not all(isinstance(i, int) for i in wanted):
        raise located(
            TypeError,
            "Argument `indices_or_sections` in `mindspore.numpy.split` should be integer, "
            f"tuple(int) or list(int), but got {wanted!r}.",
        )
    ends = [0, *(i + length if i < 0 else i for i in wanted), length]
    if any(b <= a for a, b in itertools.pairwise(ends)) or max(ends) > length:
        raise located(ValueError, f"empty sub-tensor encountered: cut at {wanted} of {length}.")
    return list(ops.split(x, [b - a for a, b in itertools.pairwise(ends)], place))


def vsplit(x: Tensor, indices_or_sections: Any) -> Any:
    """Cut along the first axis (MindSpore: ``numpy.vsplit``).

    Args:
        x: Tensor.
        indices_or_sections: number of equal parts, or indices at which to cut.

    Returns:
        Tuple of Tensors; for indices a list.

    Raises:
        TypeError: ``x`` is no Tensor, or ``indices_or_sections`` no integers.
        ValueError: the axis is missing, the parts are unequal or one is empty.
    """
    return split(x, indices_or_sections, 0)


def hsplit(x: Tensor, indices_or_sections: Any) -> Any:
    """Cut along the second axis (MindSpore: ``numpy.hsplit``).

    Args:
        x: Tensor.
        indices_or_sections: number of equal parts, or indices at which to cut.

    Returns:
        Tuple of Tensors; for indices a list.

    Raises:
        TypeError: ``x`` is no Tensor, or ``indices_or_sections`` no integers.
        ValueError: the axis is missing, the parts are unequal or one is empty.
    """
    return split(x, indices_or_sections, 1)


def dsplit(x: Tensor, indices_or_sections: Any) -> Any:
    """Cut along the third axis (MindSpore: ``numpy.dsplit``).

    Args:
        x: Tensor.
        indices_or_sections: number of equal parts, or indices at which to cut.

    Returns:
        Tuple of Tensors; for indices a list.

    Raises:
        TypeError: ``x`` is no Tensor, or ``indices_or_sections`` no integers.
        ValueError: the axis is missing, the parts are unequal or one is empty.
    """
    return split(x, indices_or_sections, 2)
