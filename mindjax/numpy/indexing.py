"""Choosing elements: where, select, choose, take, piecewise, and flat indices."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    axis_in,
    broadcast_shape,
    need_tensors,
    promoted,
    to_tensor,
)
from mindjax.numpy.array_manipulation import atleast_1d
from mindjax.tensor import Tensor


def where(condition: Any, x: Any = None, y: Any = None) -> Tensor:
    """Take ``x`` where the condition holds, ``y`` elsewhere (MindSpore: ``numpy.where``).

    Args:
        condition: array-like; what is not zero holds.
        x: array-like that broadcasts to the others.
        y: array-like that broadcasts to the others.

    Returns:
        Tensor of the broadcast shape and the joint dtype of ``x`` and ``y``.

    Raises:
        TypeError: an argument is missing or no array-like.
        ValueError: the shapes do not broadcast to each other.
    """
    holds, first, second = to_tensor(condition), *promoted((to_tensor(x), to_tensor(y)))
    broadcast_shape(holds.shape, first.shape, second.shape)
    return ops.where(holds, first, second)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Tensor:
    """Take from the first choice whose condition holds (MindSpore: ``numpy.select``).

    Args:
        condlist: array-like; its first axis counts the conditions.
        choicelist: array-like; its first axis counts the choices.
        default: number or Tensor to take where no condition holds.

    Returns:
        Tensor of the choices' dtype.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: an argument has no axis, or the numbers or shapes do not fit.
    """
    conditions, choices = to_tensor(condlist), to_tensor(choicelist)
    if not conditions.shape or not choices.shape:
        raise located(ValueError, "input cannot be scalars.")
    if conditions.shape[0] != choices.shape[0]:
        raise located(
            ValueError,
            "list of cases must be same length as list of conditions, but got "
            f"{choices.shape[0]} and {conditions.shape[0]}.",
        )
    shape = broadcast_shape(conditions.shape[1:], choices.shape[1:])
    out = ops.broadcast_to(ops.cast(to_tensor(default), choices.dtype), shape)
    for i in reversed(range(choices.shape[0])):
        out = ops.where(conditions[i], choices[i], out)
    return out


def choose(a: Any, choices: Any, mode: str = "clip") -> Tensor:
    """Take each element from the choice that an index names (MindSpore: ``numpy.choose``).

    Args:
        a: array-like of Int indices.
        choices: tuple or list of array-likes, or a Tensor whose first axis counts them.
        mode: ``"clip"`` or ``"wrap"`` indices that are out of range.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an argument is no array-like.
        NotImplementedError: ``mode`` is ``"raise"``.
        ValueError: ``a`` holds no integers or has no axis, or the shapes do not broadcast.
    """
    index = to_tensor(a)
    if index.dtype.kind != "int":
        raise located(ValueError, f"`a` should be an int array, but got {index.dtype}.")
    _refuse_raise(mode)
    if isinstance(choices, tuple | list):
        choices = promoted([to_tensor(choice) for choice in choices])
    return index.choose(choices, mode)


def take(a: Tensor, indices: Tensor, axis: int | None = None, mode: str = "clip") -> Tensor:
    """Take elements along an axis (MindSpore: ``numpy.take``).

    Args:
        a: Tensor.
        indices: integer Tensor.
        axis: the axis; None takes from the flattened Tensor.
        mode: ``"clip"`` or ``"wrap"`` indices that are out of range.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is no Tensor.
        NotImplementedError: ``mode`` is ``"raise"``.
        ValueError: there is no such axis, or ``mode`` is unknown.
    """
    need_tensors(a, indices)
    _refuse_raise(mode)
    return a.take(indices, axis, mode)


def _refuse_raise(mode: str) -> None:
    if mode == "raise":
        raise located(
            NotImplementedError,
            '"raise" mode is not implemented: a compiled program cannot look at indices, use '
            '"clip" or "wrap".',
        )


def take_along_axis(arr: Tensor, indices: Tensor, axis: int | None) -> Tensor:
    """Take one element for each index, along an axis (MindSpore: ``numpy.take_along_axis``).

    Args:
        arr: Tensor.
        indices: integer Tensor of as many axes, which broadcasts along the others.
        axis: the axis; None takes from the flattened Tensor.

    Returns:
        Tensor of the broadcast shape of the indices.

    Raises:
        TypeError: an argument is no Tensor.
        ValueError: there is no such axis, or the numbers of axes differ.
    """
    need_tensors(arr, indices)
    if axis is None:
        arr, axis = ops.reshape(arr, (-1,)), 0
    if len(arr.shape) != len(indices.shape):
        raise located(
            ValueError,
            "`indices` and `arr` must have the same number of dimensions, but got "
            f"{indices.shape} and {arr.shape}.",
        )
    place = axis_in(axis, len(arr.shape))

    def with_size(shape: tuple[int, ...], size: int) -> tuple[int, ...]:
        return (*shape[:place], size, *shape[place + 1 :])

    shape = broadcast_shape(with_size(arr.shape, 1), with_size(indices.shape, 1))
    return ops.gather_elements(
        ops.broadcast_to(arr, with_size(shape, arr.shape[place])),
        place,
        ops.broadcast_to(indices, with_size(shape, indices.shape[place])),
    )


def piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tensor:
    """Compute by the first case whose condition holds (MindSpore: ``numpy.piecewise``).

    Args:
        x: array-like.
        condlist: array-like; its first axis counts the conditions.
        funclist: numbers or array-likes, or functions of ``x``; one more is the default, else 0.
        args: further arguments of the functions.
        kw: further named arguments of the functions.

    Returns:
        Tensor of the choices' dtype.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: the numbers of conditions and choices do not fit.
    """
    value = to_tensor(x)
    cases = funclist
    if isinstance(funclist, tuple | list) and callable(funclist[0]):
        cases = [function(value, *args, **kw) for function in funclist]
    conditions, choices = _cases(condlist), _cases(cases)
    default: Any = 0
    count = len(conditions)
    if len(choices) == count + 1:
        default, choices = choices[-1], choices[:-1]
    elif len(choices) != count:
        raise located(
            ValueError,
            f"the number of choices should be either equal to conditions or {count + 1}, but got "
            f"{len(choices)}.",
        )
    return select(conditions, choices, default)


def _cases(values: Any) -> Tensor:
    return atleast_1d(to_tensor(values))


def unravel_index(indices: Any, shape: Any, order: str = "C") -> Any:
    """Turn flat indices into one index an axis (MindSpore: ``numpy.unravel_index``).

    Args:
        indices: array-like of integers; those out of range are clipped.
        shape: int, or tuple of sizes.
        order: ``"C"``: the last axis runs fastest; ``"F"``: the first.

    Returns:
        Tuple of Tensors, one an axis; for one size and a 0-d index a Tensor.

    Raises:
        TypeError: ``indices`` is no array-like.
        ValueError: ``order`` is unknown.
    """
    index = to_tensor(indices)
    if order not in ("C", "F"):
        raise located(ValueError, f'invalid order. Expected "C" or "F", but got {order!r}.')
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    total = math.prod(sizes)
    rest = ops.floor_mod(ops.clip(index, -total, total - 1), total)
    found = []
    for size in reversed(sizes) if order == "C" else sizes:
        found.append(ops.floor_mod(rest, size))
        rest = ops.floor_div(rest, size)
    found = found[::-1] if order == "C" else found
    return ops.reshape(found[0], (1,)) if len(found) == 1 and not index.shape else tuple(found)


def ravel_multi_index(multi_index: Any, dims: Any, mode: str = "clip", order: str = "C") -> Tensor:
    """Turn one index an axis into flat indices (MindSpore: ``numpy.ravel_multi_index``).

    Args:
        multi_index: array-like of integers; its first axis counts the axes.
        dims: int, or sizes of the axes.
        mode: ``"clip"`` or ``"wrap"`` indices that are out of range.
        order: ``"C"``: the last axis runs fastest; ``"F"``: the first.

    Returns:
        Float32 Tensor, as the original gives.

    Raises:
        TypeError: an argument holds no integers.
        NotImplementedError: ``mode`` is ``"raise"``.
        ValueError: ``mode`` or ``order`` is unknown, or the numbers of axes differ.
    """
    sizes = to_tensor((dims,) if isinstance(dims, int) else dims)
    if len(sizes.shape) > 1 or sizes.dtype.kind not in ("int", "uint"):
        raise located(TypeError, f"only 1-D integer arrays are accepted, but got {dims}.")
    index = to_tensor(multi_index)
    if index.shape[0] != sizes.size:
        raise located(
            ValueError, f"parameter multi_index must be a sequence of length {sizes.size}."
        )
    if index.dtype.kind == "float":
        raise located(TypeError, f"only int indices permitted, but got {index.dtype}.")
    _refuse_raise(mode)
    if mode not in ("clip", "wrap"):
        raise located(ValueError, f"invalid mode. Expected 'wrap' or 'clip', but got {mode!r}.")
    if order not in ("C", "F"):
        raise located(ValueError, f"invalid order. Expected 'C' or 'F', but got {order!r}.")
    places = range(sizes.size) if order == "C" else reversed(range(sizes.size))
    out: Any = 0
    for i in places:
        size = sizes[i]
        one = index[i]
        if mode == "wrap":
            one = ops.floor_mod(one, size)
        else:
            one = ops.maximum(ops.minimum(one, ops.sub(size, 1)), 0)
        out = ops.add(ops.mul(out, size), one)
    return ops.cast(out, float32)


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Tensor, *args: Any, **kwargs: Any
) -> Tensor:
    """Apply a function to each vector along an axis (MindSpore: ``numpy.apply_along_axis``).

    Args:
        func1d: function of a 1-d Tensor that returns a Tensor.
        axis: the axis.
        arr: Tensor.
        args: further arguments of the function.
        kwargs: further named arguments of the function.

    Returns:
        Tensor; the axes of the results stand in place of ``axis``.

    Raises:
        TypeError: ``axis`` is no integer.
        ValueError: there is no such axis.
    """
    need_tensors(arr)
    ndim = len(arr.shape)
    place = axis_in(axis, ndim)
    lines = ops.moveaxis(arr, place, -1)
    outer = lines.shape[:-1]
    rows = ops.reshape(lines, (math.prod(outer), lines.shape[-1]))
    results = [func1d(rows[i], *args, **kwargs) for i in range(rows.shape[0])]
    out = ops.stack(results)
    out = ops.reshape(out, outer + out.shape[1:])
    inner = tuple(range(ndim - 1, len(out.shape)))
    return ops.moveaxis(out, inner, tuple(place + i for i in range(len(inner)))) if inner else out


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Tensor:
    """Apply a reduction to one axis after the other (MindSpore: ``numpy.apply_over_axes``).

    Args:
        func: function of a Tensor and ``axis``.
        a: array-like.
        axes: axis or axes.

    Returns:
        Tensor of as many axes.

    Raises:
        TypeError: ``a`` is no array-like.
        ValueError: the function returns a Tensor with another number of axes.
    """
    if not callable(func):
        raise located(
            TypeError,
            f"For 'apply_over_axes', the 'func' must be callable, but got {type(func).__name__}.",
        )
    value = to_tensor(a)
    out = value
    for axis in (axes,) if isinstance(axes, int) else axes:
        out = func(out, axis=axis)
        if len(out.shape) != len(value.shape):
            out = ops.expand_dims(out, axis)
        if len(out.shape) != len(value.shape):
            raise located(ValueError, "function is not returning a tensor of the correct shape.")
    return out


def argwhere(a: Any) -> Tensor:
    """Find the indices of the elements that are not zero (MindSpore: ``numpy.argwhere``).

    Args:
        a: array-like.

    Returns:
        Int64 Tensor, one row for each.

    Raises:
        TypeError: ``a`` is no array-like.
    """
    return ops.argwhere(to_tensor(a))
