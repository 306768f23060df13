"""lax's gathers and scatters as MindIR's primitives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.mindir.builder import Name, Value
from mindjax.mindir.lowering.program import Lowering, UnknownOperation, inverse, lowers
from mindjax.mindir.lowering.shapes import padded


def _plus(low: Lowering, a: Value, b: Value) -> Value:
    """Add two values, of which constants are computed at once."""
    if not isinstance(a, Name) and not isinstance(b, Name):
        return np.asarray(a + b)
    if not isinstance(b, Name) and not np.any(b) and np.ndim(b) == 0:
        return a
    return low.op("Add", a, b)


def _clipped(low: Lowering, index: Value, most: int) -> Value:
    if not isinstance(index, Name):
        return np.clip(index, 0, most)
    dtype = np.int64
    return low.op("Minimum", low.op("Maximum", index, np.array(0, dtype)), np.array(most, dtype))


def _starts(low: Lowering, values: Sequence[Value], sizes: Sequence[int], shape: Any) -> list[Any]:
    """Give the starts of a dynamic slice, moved so that it lies inside."""
    starts = []
    for value, size, whole in zip(values, sizes, shape, strict=True):
        if size == whole:
            starts.append(0)
        elif isinstance(value, Name):
            starts.append(_clipped(low, low.cast(value, np.int64), whole - size))
        else:
            starts.append(int(np.clip(int(value), 0, whole - size)))
    return starts


def _rows(low: Lowering, start: Value, size: int) -> Value:
    """Give the numbers start, start + 1, ... as a vector."""
    count = np.arange(size, dtype=np.int64)
    return _plus(low, start, count) if isinstance(start, Name) else count + start


@lowers("dynamic_slice")
def _dynamic_slice(low: Lowering, equation: Any, values: list[Value]) -> Value:
    x, *given = values
    shape = equation.invars[0].aval.shape
    sizes = equation.params["slice_sizes"]
    starts = _starts(low, given[: len(shape)], sizes, shape)
    fixed = [s if not isinstance(s, Name) else 0 for s in starts]
    ends = [
        f + n if not isinstance(s, Name) else whole
        for f, n, s, whole in zip(fixed, sizes, starts, shape, strict=True)
    ]
    x = low.slice(x, fixed, ends, shape)
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        if isinstance(start, Name):
            x = low.op("Gather", x, _rows(low, start, size), axis, batch_dims=0)
    return x


@lowers("dynamic_update_slice")
def _dynamic_update_slice(low: Lowering, equation: Any, values: list[Value]) -> Value:
    x, update, *given = values
    shape, sizes = (v.aval.shape for v in equation.invars[:2])
    starts = _starts(low, given[: len(shape)], sizes, shape)
    partial = [a for a, (n, whole) in enumerate(zip(sizes, shape, strict=True)) if n != whole]
    if not partial:
        return update
    if math.prod(sizes) == 0:
        return x
    if len(partial) == 1:
        axis = partial[0]
        order = [axis, *(a for a in range(len(shape)) if a != axis)]
        rows = low.reshape(_rows(low, starts[axis], sizes[axis]), (sizes[axis], 1), (sizes[axis],))
        updated = low.op(
            "TensorScatterUpdate", low.transpose(x, order), rows, low.transpose(update, order)
        )
        return low.transpose(updated, inverse(order))
    places: Value = np.zeros((1,) * len(shape), np.int64)
    for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        places = _with_axis(low, places, _rows(low, start, size), axis, size, shape)
    return _into_flat(low, "TensorScatterUpdate", x, places, sizes, update, shape)


def _with_axis(
    low: Lowering, places: Value, rows: Value, axis: int, size: int, shape: Sequence[int]
) -> Value:
    """Add what an axis contributes to places in the flat array."""
    line = [1] * len(shape)
    line[axis] = size
    step = math.prod(shape[axis + 1 :])
    rows = low.reshape(rows, line, (size,))
    if step != 1:
        step = np.array(step, np.int64)
        rows = low.op("Mul", rows, step) if isinstance(rows, Name) else rows * step
    return _plus(low, places, rows)


def _into_flat(
    low: Lowering,
    name: str,
    x: Value,
    places: Value,
    places_shape: Sequence[int],
    update: Value,
    shape: Sequence[int],
) -> Value:
    """Write or add values at places of the flat array."""
    count, total = math.prod(places_shape), math.prod(shape)
    flat = low.op(
        name,
        low.reshape(x, (total,), shape),
        low.reshape(places, (count, 1), places_shape),
        low.reshape(update, (count,), places_shape),
    )
    return low.reshape(flat, shape, (total,))


class _Numbers:
    """What a gather and a scatter have in common.

    Args:
        equation: either.
        window: axes of the result (or of the updates) that come out of a window.
        sizes: sizes of a window on all axes of the operand.
    """

    def __init__(self, equation: Any, window: Sequence[int], sizes: Sequence[int]) -> None:
        numbers = equation.params["dimension_numbers"]
        self.sizes = list(sizes)
        self.window = list(window)
        gathers = hasattr(numbers, "start_index_map")
        self.index_map = list(
            numbers.start_index_map if gathers else numbers.scatter_dims_to_operand_dims
        )
        self.batching = list(numbers.operand_batching_dims)
        self.index_batching = list(
            numbers.start_indices_batching_dims
            if gathers
            else numbers.scatter_indices_batching_dims
        )
        self.dropped = sorted(
            [
                *(numbers.collapsed_slice_dims if gathers else numbers.inserted_window_dims),
                *self.batching,
            ]
        )


def _places(
    low: Lowering,
    numbers: _Numbers,
    indices: Value,
    index_shape: Sequence[int],
    shape: Sequence[int],
    rank: int,
    clip: bool,
) -> tuple[Value, Value | None]:
    """Find the places in the flat operand of every element of a gather's result.

    Args:
        low: the graph.
        numbers: the gather or scatter.
        indices: starts of windows, Int64, the last axis over operand axes.
        index_shape: of ``indices``.
        shape: of the operand.
        rank: of the result.
        clip: whether windows are moved inside.

    Returns:
        Places that broadcast to the result, and what is true where they lie inside or None.
    """
    batch = [a for a in range(rank) if a not in numbers.window]
    kept = [a for a in range(len(shape)) if a not in numbers.dropped]
    places: Value = np.zeros((1,) * rank, np.int64)
    inside: Value | None = None
    aligned = [1] * rank
    for axis, size in zip(batch, index_shape[:-1], strict=True):
        aligned[axis] = size
    for column, axis in enumerate(numbers.index_map):
        start = [0] * len(index_shape)
        end = list(index_shape)
        start[-1], end[-1] = column, column + 1
        one = low.slice(indices, start, end, index_shape)
        one = low.reshape(one, aligned, [*index_shape[:-1], 1])
        most = shape[axis] - numbers.sizes[axis]
        if clip:
            one = _clipped(low, one, most)
        else:
            fits = _inside(low, one, most)
            inside = fits if inside is None else low.op("LogicalAnd", inside, fits)
            one = _clipped(low, one, most)
        places = _scaled(low, places, one, math.prod(shape[axis + 1 :]))
    for axis, out_axis in zip(kept, numbers.window, strict=True):
        line = [1] * rank
        line[out_axis] = numbers.sizes[axis]
        rows = np.arange(numbers.sizes[axis], dtype=np.int64).reshape(line)
        places = _scaled(low, places, rows, math.prod(shape[axis + 1 :]))
    for axis, index_axis in zip(numbers.batching, numbers.index_batching, strict=True):
        line = [1] * rank
        line[batch[index_axis]] = shape[axis]
        rows = np.arange(shape[axis], dtype=np.int64).reshape(line)
        places = _scaled(low, places, rows, math.prod(shape[axis + 1 :]))
    return places, inside


def _inside(low: Lowering, index: Value, most: int) -> Value:
    if not isinstance(index, Name):
        return np.logical_and(index >= 0, index <= most)
    return low.op(
        "LogicalAnd",
        low.op("GreaterEqual", index, np.array(0, np.int64)),
        low.op("LessEqual", index, np.array(most, np.int64)),
    )


def _scaled(low: Lowering, places: Value, rows: Value, step: int) -> Value:
    if step != 1:
        scale = np.array(step, np.int64)
        rows = low.op("Mul", rows, scale) if isinstance(rows, Name) else rows * scale
    return _plus(low, places, rows)


def _clips(equation: Any) -> bool:
    mode = str(equation.params["mode"])
    return "CLIP" in mode.upper() or "PROMISE" in mode.upper()


@lowers("gather")
def _gather(low: Lowering, equation: Any, values: list[Value]) -> Value:
    x, indices = values
    aval, index_type = (v.aval for v in equation.invars)
    out = equation.outvars[0].aval
    numbers = _Numbers(
        equation, equation.params["dimension_numbers"].offset_dims, equation.params["slice_sizes"]
    )
    indices = low.cast(indices, np.int64)
    simple = _taken(low, equation, numbers, x, indices, aval.shape, index_type.shape, out)
    if simple is not None:
        return simple
    clip = _clips(equation)
    places, inside = _places(low, numbers, indices, index_type.shape, aval.shape, out.ndim, clip)
    places = low.broadcast(places, out.shape, _spread_shape(numbers, index_type.shape, out.ndim))
    total = math.prod(aval.shape)
    flat = low.reshape(x, (total,), aval.shape)
    result = low.op("Gather", flat, places, 0, batch_dims=0)
    if inside is None:
        return result
    return _filled(low, equation, result, inside, numbers, index_type.shape, out)


def _spread_shape(numbers: _Numbers, index_shape: Sequence[int], rank: int) -> list[int]:
    """Give the shape that the sum of all axes' parts has, where any axis has a part."""
    batch = [a for a in range(rank) if a not in numbers.window]
    shape = [1] * rank
    for axis, size in zip(batch, index_shape[:-1], strict=True):
        shape[axis] = size if numbers.index_map or numbers.batching else 1
    kept = [a for a in range(len(numbers.sizes)) if a not in numbers.dropped]
    for axis, out_axis in zip(kept, numbers.window, strict=True):
        shape[out_axis] = numbers.sizes[axis]
    return shape


def _filled(
    low: Lowering,
    equation: Any,
    result: Value,
    inside: Value,
    numbers: _Numbers,
    index_shape: Sequence[int],
    out: Any,
) -> Value:
    fill = equation.params.get("fill_value")
    if fill is None:
        inexact = np.issubdtype(out.dtype, np.inexact) or out.dtype.name == "bfloat16"
        fill = np.nan if inexact else (True if out.dtype == np.bool_ else _extreme(out.dtype))
    batch = [a for a in range(out.ndim) if a not in numbers.window]
    aligned = [1] * out.ndim
    for axis, size in zip(batch, index_shape[:-1], strict=True):
        aligned[axis] = size
    if not isinstance(inside, Name) and np.all(inside):
        return result
    condition = low.broadcast(low.node(inside), out.shape, aligned)
    filler = low.broadcast(np.full((1,) * out.ndim, fill, out.dtype), out.shape, (1,) * out.ndim)
    return low.op("Select", condition, result, filler)


def _extreme(dtype: Any) -> int:
    info = np.iinfo(dtype)
    return int(info.min if info.min < 0 else info.max)


def _taken(
    low: Lowering,
    equation: Any,
    numbers: _Numbers,
    x: Value,
    indices: Value,
    shape: Sequence[int],
    index_shape: Sequence[int],
    out: Any,
) -> Value | None:
    """Take whole rows along one axis, the everyday gather; None for another."""
    if len(numbers.index_map) != 1 or numbers.batching or not shape:
        return None
    (axis,) = numbers.index_map
    whole = [1 if a == axis else n for a, n in enumerate(shape)]
    if numbers.dropped != [axis] or numbers.sizes != whole:
        return None
    batch = list(index_shape[:-1])
    inside = None
    flat = low.reshape(indices, batch, index_shape)
    if not _clips(equation):
        inside = _inside(low, flat, shape[axis] - 1)
    rows = _clipped(low, flat, shape[axis] - 1)
    taken = low.op("Gather", x, rows, axis, batch_dims=0)
    # The result has the operand's axes around those of the indices; jax says where they go.
    batch_axes = [a for a in range(out.ndim) if a not in numbers.window]
    order = [*numbers.window[:axis], *batch_axes, *numbers.window[axis:]]
    result = low.transpose(taken, inverse(order))
    if inside is None:
        return result
    return _filled(
        low,
        equation,
        result,
        low.reshape(inside, _aligned(batch_axes, batch, out.ndim), batch),
        numbers,
        index_shape,
        out,
    )


def _aligned(axes: Sequence[int], sizes: Sequence[int], rank: int) -> list[int]:
    aligned = [1] * rank
    for axis, size in zip(axes, sizes, strict=True):
        aligned[axis] = size
    return aligned


_SCATTERS = {
    "scatter": "TensorScatterUpdate", "scatter-add": "TensorScatterAdd",
    "scatter_add": "TensorScatterAdd", "scatter-max": "TensorScatterMax",
    "scatter_max": "TensorScatterMax", "scatter-min": "TensorScatterMin",
    "scatter_min": "TensorScatterMin", "scatter-mul": "TensorScatterMul",
    "scatter_mul": "TensorScatterMul",
}  # fmt: skip


@lowers(*_SCATTERS)
def _scatter(low: Lowering, equation: Any, values: list[Value]) -> Value:
    x, indices, update = values
    aval, index_type, update_type = (v.aval for v in equation.invars)
    given = equation.params["dimension_numbers"]
    window = given.update_window_dims
    dropped = {*given.inserted_window_dims, *given.operand_batching_dims}
    following = iter(update_type.shape[a] for a in window)
    sizes = [1 if a in dropped else next(following) for a in range(aval.ndim)]
    numbers = _Numbers(equation, window, sizes)
    name = _SCATTERS[equation.primitive.name]
    if math.prod(update_type.shape) == 0:
        return x
    if aval.dtype == np.bool_:
        raise UnknownOperation("MindIR scatters numbers only, but the network scatters booleans")
    indices = low.cast(indices, np.int64)
    clip = _clips(equation)
    places, inside = _places(
        low, numbers, indices, index_type.shape, aval.shape, update_type.ndim, clip
    )
    shape = _spread_shape(numbers, index_type.shape, update_type.ndim)
    total = math.prod(aval.shape)
    if inside is None or (not isinstance(inside, Name) and np.all(inside)):
        places = low.broadcast(places, update_type.shape, shape)
        return _into_flat(low, name, x, places, update_type.shape, update, aval.shape)
    # What lies outside goes to an element behind the end, which is cut off again.
    batch = [a for a in range(update_type.ndim) if a not in numbers.window]
    aligned = _aligned(batch, index_type.shape[:-1], update_type.ndim)
    condition = low.broadcast(low.node(inside), update_type.shape, aligned)
    places = low.broadcast(low.node(places), update_type.shape, shape)
    ones = (1,) * update_type.ndim
    last = low.broadcast(np.full(ones, total, np.int64), update_type.shape, ones)
    places = low.op("Select", condition, places, last)
    flat, _ = padded(low, low.reshape(x, (total,), aval.shape), [(0, 1, 0)], (total,), aval.dtype)
    written = _into_flat(low, name, flat, places, update_type.shape, update, (total + 1,))
    return low.reshape(low.slice(written, [0], [total], [total + 1]), aval.shape, (total,))
