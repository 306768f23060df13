"""Padding: constants, edges, reflections, ramps, statistics or a function's values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core.dtype import int32
from mindjax.core.errors import located
from mindjax.numpy.arguments import constant, to_tensor
from mindjax.numpy.array_creation import full, linspace
from mindjax.numpy.indexing import apply_along_axis
from mindjax.tensor import Tensor

_BY_INDEX = ("edge", "wrap", "reflect", "symmetric")
_STATISTICS: dict[str, Callable[..., Tensor]] = {
    "maximum": lambda x, axis: ops.amax(x, axis, True),
    "minimum": lambda x, axis: ops.amin(x, axis, True),
    "mean": lambda x, axis: ops.mean(x, axis, True),
}


def _pairs(values: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Bring a number, a pair, or a pair an axis to a pair an axis."""
    if not isinstance(values, int | float | list | tuple | Tensor):
        raise located(
            TypeError,
            "pad_width, stat_length, constant_values or end_values should only be int, list, tuple "
            f"or tensor, but got {values!r}.",
        )
    given = values.asnumpy() if isinstance(values, Tensor) else np.asarray(values)
    try:
        wide = np.broadcast_to(given, (ndim, 2)).tolist()
    except ValueError:
        raise located(
            ValueError, f"input values must be able to broadcast to {(ndim, 2)}: {values}."
        ) from None
    return [(a, b) for a, b in wide]


def pad(
    arr: Any,
    pad_width: Any,
    mode: Any = "constant",
    stat_length: Any = None,
    constant_values: Any = 0,
    end_values: Any = 0,
    reflect_type: str = "even",
    **kwargs: Any,
) -> Tensor:
    """Put elements before and behind each axis (MindSpore: ``numpy.pad``).

    Args:
        arr: array-like; a 0-d one comes back as it is.
        pad_width: how many, a number, a pair, or a pair an axis.
        mode: ``"constant"``, ``"edge"``, ``"wrap"``, ``"reflect"``, ``"symmetric"``,
            ``"linear_ramp"``, ``"maximum"``, ``"minimum"``, ``"mean"``, ``"empty"`` (zeros), or a
            function of a padded vector, its pair, the axis and ``kwargs`` that returns a vector.
        stat_length: how many elements at the ends the statistics are taken of; all by default.
        constant_values: what ``"constant"`` puts there.
        end_values: where ``"linear_ramp"`` ends.
        reflect_type: ``"even"``, or ``"odd"`` for twice the edge less the reflected elements.
        kwargs: named arguments for the function.

    Returns:
        Tensor of the same dtype.

    Raises:
        TypeError: an argument has another type.
        NotImplementedError: ``mode`` is ``"median"``.
        ValueError: ``mode`` is unknown, or numbers of pairs do not fit.
    """
    x = to_tensor(arr)
    ndim = len(x.shape)
    if not ndim:
        return x
    widths = _pairs(pad_width, ndim)
    if callable(mode):
        x = _constant(x, widths, [(0, 0)] * ndim)
        for axis, pair in enumerate(widths):
            x = apply_along_axis(mode, axis, x, pair, axis, kwargs)
        return x
    if mode in ("constant", "empty"):
        values = _pairs(constant_values, ndim) if mode == "constant" else [(0, 0)] * ndim
        return _constant(x, widths, values)
    if mode == "median":
        raise located(NotImplementedError, "median mode is not supported yet.")
    if mode in _STATISTICS:
        return _statistic(x, widths, stat_length, _STATISTICS[mode])
    if mode == "linear_ramp":
        return _ramp(x, widths, _pairs(end_values, ndim))
    if mode not in _BY_INDEX:
        raise located(ValueError, f"Input mode not supported: {mode!r}.")
    for axis, pair in enumerate(widths):
        if mode in ("reflect", "symmetric") and reflect_type == "odd":
            x = _odd(x, pair, axis, 1 if mode == "reflect" else 0)
        elif any(pair):
            places = np.pad(np.arange(x.shape[axis]), pair, mode)
            x = ops.gather(x, constant(places, int32), axis)
    return x


def _sized(x: Tensor, axis: int, size: int) -> tuple[int, ...]:
    return (*x.shape[:axis], size, *x.shape[axis + 1 :])


def _joined(x: Tensor, axis: int, before: list[Tensor], after: list[Tensor]) -> Tensor:
    parts = [*before, x, *after]
    return ops.cat([ops.cast(p, x.dtype) for p in parts], axis) if len(parts) > 1 else x


def _constant(x: Tensor, widths: Any, values: Any) -> Tensor:
    for axis, (pair, value) in enumerate(zip(widths, values, strict=True)):
        before, after = (
            [full(_sized(x, axis, n), v, x.dtype)] if n > 0 else []
            for n, v in zip(pair, value, strict=True)
        )
        x = _joined(x, axis, before, after)
    return x


def _statistic(x: Tensor, widths: Any, lengths: Any, reduce: Callable[..., Tensor]) -> Tensor:
    wanted = [(s, s) for s in x.shape] if lengths is None else _pairs(lengths, len(x.shape))
    for axis, (pair, length) in enumerate(zip(widths, wanted, strict=True)):
        size = x.shape[axis]
        first, last = (min(n, size) for n in length)
        ends = ops.narrow(x, axis, 0, first), ops.narrow(x, axis, size - last, last)
        before, after = (
            [ops.broadcast_to(reduce(end, axis), _sized(x, axis, n))] if n > 0 else []
            for end, n in zip(ends, pair, strict=True)
        )
        x = _joined(x, axis, before, after)
    return x


def _ramp(x: Tensor, widths: Any, values: Any) -> Tensor:
    for axis, (pair, value) in enumerate(zip(widths, values, strict=True)):
        size = x.shape[axis]
        first, last = (ops.squeeze(ops.narrow(x, axis, i, 1), axis) for i in (0, size - 1))
        before, after = [], []
        if pair[0] > 0:
            before = [linspace(value[0], first, pair[0], endpoint=False, dtype=x.dtype, axis=axis)]
        if pair[1] > 0:
            line = linspace(last, value[1], pair[1] + 1, dtype=x.dtype, axis=axis)
            after = [ops.narrow(line, axis, 1, pair[1])]
        x = _joined(x, axis, before, after)
    return x


def _odd(x: Tensor, pair: tuple[int, int], axis: int, skip: int) -> Tensor:
    """Reflect by points: stretches of the first length, one after the other.

    Args:
        x: what to reflect.
        pair: how many before and behind.
        axis: the axis.
        skip: 1 if the edge itself is not repeated.
    """
    length = x.shape[axis] - skip
    if not length:
        return ops.gather(x, constant(np.zeros(sum(pair) + 1), int32), axis)
    for front, wanted in ((True, pair[0]), (False, pair[1])):
        while wanted > 0:
            count = min(length, wanted)
            size = x.shape[axis]
            edge = ops.narrow(x, axis, 0 if front else size - 1, 1)
            start = skip if front else size - skip - count
            piece = ops.flip(ops.narrow(x, axis, start, count), (axis,))
            piece = ops.sub(ops.mul(edge, 2), piece)
            x = ops.cat([piece, x] if front else [x, piece], axis)
            wanted -= count
    return x
