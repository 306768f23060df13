"""Neighbours: differences, gradients, integrals, convolution and correlation."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import bool_, float32, float64, int32
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    Axis,
    axes_in,
    axis_in,
    integer,
    is_number,
    is_single,
    need_tensors,
    promote,
    promoted,
    to_tensor,
)
from mindjax.tensor import Tensor


def _neighbours(x: Tensor, axis: int) -> Tensor:
    """Subtract each element from the next."""
    size = x.shape[axis] - 1
    return ops.sub(ops.narrow(x, axis, 1, size), ops.narrow(x, axis, 0, size))


def diff(a: Tensor, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tensor:
    """Subtract each element from the next, several times (MindSpore: ``numpy.diff``).

    Args:
        a: Tensor.
        n: how often.
        axis: the axis.
        prepend: number or Tensor of one element a vector, put in front first.
        append: number or Tensor of one element a vector, put behind first.

    Returns:
        Tensor, ``n`` shorter along the axis.

    Raises:
        TypeError: an argument has another type.
        ValueError: there is no such axis, ``n`` is negative, or nothing would be left.
    """
    need_tensors(a)
    place = axis_in(axis, len(a.shape))
    if integer("n", n, "diff") < 0:
        raise located(ValueError, f"Input n must not be negative, but got {n}.")
    if n == 0:
        return a
    shape = (*a.shape[:place], 1, *a.shape[place + 1 :])
    parts = [a]
    for extra, where in ((prepend, 0), (append, 2)):
        if extra is None:
            continue
        if not is_number(extra) and not isinstance(extra, Tensor):
            raise located(
                TypeError,
                f"prepend and append must be scalar or Tensor, but got {type(extra).__name__}.",
            )
        parts.insert(where, ops.broadcast_to(to_tensor(extra), shape))
    x = ops.cat(promoted(parts), place) if len(parts) > 1 else a
    if n >= x.shape[place]:
        raise located(
            ValueError,
            f"n is bigger then the specified dimension: {n} differences of {x.shape[place]}.",
        )
    kind = x.dtype
    x = ops.cast(x, int32) if kind is bool_ else x
    for _ in range(n):
        x = _neighbours(x, place)
    return ops.cast(x, kind)


def ediff1d(ary: Tensor, to_end: Any = None, to_begin: Any = None) -> Tensor:
    """Subtract each element of the flattened Tensor from the next (MindSpore: ``numpy.ediff1d``).

    Args:
        ary: Tensor.
        to_end: array-like to put behind.
        to_begin: array-like to put in front.

    Returns:
        1-d Tensor of the dtype of ``ary``.

    Raises:
        TypeError: an argument has another type.
        ValueError: there are less than two elements.
    """
    need_tensors(ary)
    parts = [to_begin, diff(ops.reshape(ary, (-1,))), to_end]
    flat = [ops.reshape(to_tensor(p), (-1,)) for p in parts if p is not None]
    return ops.cat([ops.cast(p, ary.dtype) for p in flat], 0)


def trapz(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tensor:
    """Integrate along an axis by trapezes (MindSpore: ``numpy.trapz``).

    Args:
        y: array-like of values; integers are computed in Float32.
        x: array-like of the places of the values, or None.
        dx: distance of the values, if no places are given.
        axis: the axis.

    Returns:
        Tensor without the axis.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: there is no such axis.
    """
    value = to_tensor(y)
    place = axis_in(axis, len(value.shape))
    step = to_tensor(dx) if x is None else diff(to_tensor(x))
    if len(step.shape) == 1:
        step = ops.reshape(step, (-1, *(1,) * (len(value.shape) - place - 1)))
    value = value if is_single(value.dtype) else ops.cast(value, float32)
    size = value.shape[place] - 1
    both = ops.add(ops.narrow(value, place, 0, size), ops.narrow(value, place, 1, size))
    return ops.sum(ops.div(ops.mul(both, ops.cast(step, value.dtype)), 2.0), place)


def gradient(f: Any, *varargs: Any, axis: Axis = None, edge_order: int = 1) -> Any:
    """Differentiate by the neighbours on both sides (MindSpore: ``numpy.gradient``).

    Args:
        f: array-like of values; other dtypes than Float64 are computed in Float32.
        varargs: distance of the values, one number for all axes or one an axis.
        axis: axes to differentiate along, all by default.
        edge_order: 1: at the edges the difference to the one neighbour.

    Returns:
        Tensor; for several axes a list.

    Raises:
        TypeError: the number of distances does not fit.
        NotImplementedError: ``edge_order`` is not 1, or a distance is no number.
        ValueError: there is no such axis, or it is shorter than 2.
    """
    if edge_order != 1:
        raise located(
            NotImplementedError, f"edge_order != 1 not implemented, but got {edge_order}."
        )
    value = to_tensor(f)
    value = value if value.dtype is float64 else ops.cast(value, float32)
    axes = tuple(sorted(axes_in(axis, len(value.shape))))
    steps = varargs * len(axes) if len(varargs) == 1 else varargs or (1,) * len(axes)
    if len(steps) != len(axes):
        raise located(TypeError, f"Invalid number of arguments: {len(varargs)} distances.")
    found = []
    for place, step in zip(axes, steps, strict=True):
        if value.shape[place] < 2:
            raise located(
                ValueError,
                "Shape of array too small to calculate a numerical gradient, at least 2 elements "
                f"are required, but got {value.shape}.",
            )
        if not is_number(step) and not (isinstance(step, Tensor) and not step.shape):
            raise located(NotImplementedError, "Non-constant spacing not implemented.")
        found.append(ops.div(_slopes(value, place), step))
    return found[0] if len(found) == 1 else found


def _slopes(x: Tensor, axis: int) -> Tensor:
    steps = _neighbours(x, axis)
    size = steps.shape[axis]
    edges = ops.narrow(steps, axis, 0, 1), ops.narrow(steps, axis, size - 1, 1)
    before, after = ops.narrow(steps, axis, 0, size - 1), ops.narrow(steps, axis, 1, size - 1)
    return ops.cat([edges[0], ops.mul(ops.add(before, after), 0.5), edges[1]], axis)


def _slide(a: Tensor, v: Tensor, mode: str, before: int) -> Tensor:
    """Sum the products of ``v`` with each stretch of ``a``.

    Args:
        a: 1-d, of at least the length of ``v``.
        v: 1-d.
        mode: ``"full"``, ``"same"`` or ``"valid"``.
        before: how many zeros ``"same"`` puts in front.
    """
    if mode not in ("same", "full", "valid"):
        raise located(
            ValueError, f"mode must be one of ['full', 'same', 'valid'], but got {mode!r}."
        )
    more = v.size - 1
    front, back = {"valid": (0, 0), "full": (more, more), "same": (before, more - before)}[mode]
    zeros = [ops.zeros((n,), a.dtype) for n in (front, back)]
    line = ops.cat([zeros[0], a, zeros[1]], 0) if more and mode != "valid" else a
    line, kernel = ops.reshape(line, (1, 1, -1)), ops.reshape(v, (1, 1, -1))
    return ops.reshape(ops.conv1d(line, kernel), (-1,))


def _vectors(owner: str, a: Any, v: Any) -> tuple[Tensor, Tensor]:
    x, y = (ops.reshape(t, (1,)) if not t.shape else t for t in (to_tensor(a), to_tensor(v)))
    if not x.size or not y.size:
        raise located(ValueError, f"For '{owner}', inputs cannot be empty.")
    if len(x.shape) != 1 or len(y.shape) != 1:
        raise located(
            ValueError, f"For '{owner}', a and v must be 1-D tensor, but got {x.shape}, {y.shape}."
        )
    return x, y


def convolve(a: Any, v: Any, mode: str = "full") -> Tensor:
    """Convolve two vectors (MindSpore: ``numpy.convolve``).

    Args:
        a: 1-d array-like; computed in Float32.
        v: 1-d array-like.
        mode: ``"full"`` for every overlap, ``"same"`` for as many as the longer one has elements,
            ``"valid"`` for whole overlaps.

    Returns:
        1-d Tensor of the joint dtype.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: an argument is empty or not 1-d, or ``mode`` is unknown.
    """
    x, y = _vectors("convolve", a, v)
    kind = promote(x.dtype, y.dtype)
    x, y = (y, x) if x.size < y.size else (x, y)
    x, y = ops.cast(x, float32), ops.cast(ops.flip(y, (0,)), float32)
    return ops.cast(_slide(x, y, mode, y.size // 2), kind)


def correlate(a: Any, v: Any, mode: str = "valid") -> Tensor:
    """Correlate two vectors (MindSpore: ``numpy.correlate``).

    Args:
        a: 1-d array-like.
        v: 1-d array-like.
        mode: ``"full"`` for every overlap, ``"same"`` for as many as the longer one has elements,
            ``"valid"`` for whole overlaps.

    Returns:
        1-d Tensor; Float32 for integers and Bool, Float64 for Int64.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: an argument is empty or not 1-d, or ``mode`` is unknown.
    """
    x, y = _vectors("correlate", a, v)
    kind = promote(x.dtype, y.dtype)
    if kind.kind not in ("float", "complex"):
        kind = float64 if kind.bits == 64 else float32
    x, y = ops.cast(x, kind), ops.cast(y, kind)
    if x.size >= y.size:
        return _slide(x, y, mode, y.size // 2)
    # The shorter one slides: what comes out runs the other way.
    return ops.flip(_slide(y, x, mode, (x.size - 1) - x.size // 2), (0,))
