"""lax's operations on shapes, and matrix products, as MindIR's primitives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.mindir.builder import Name, Value
from mindjax.mindir.lowering.program import Lowering, lowers


@lowers("reshape", "squeeze", "expand_dims")
def _reshape(low: Lowering, equation: Any, values: list[Value]) -> Value:
    x = values[0]
    dimensions = equation.params.get("dimensions")
    if equation.primitive.name == "reshape" and dimensions is not None:
        x = low.transpose(x, dimensions)
    return low.reshape(x, equation.outvars[0].aval.shape, equation.invars[0].aval.shape)


@lowers("transpose")
def _transpose(low: Lowering, equation: Any, values: list[Value]) -> Value:
    return low.transpose(values[0], equation.params["permutation"])


@lowers("broadcast_in_dim")
def _broadcast(low: Lowering, equation: Any, values: list[Value]) -> Value:
    shape = equation.params["shape"]
    before = equation.invars[0].aval.shape
    aligned = [1] * len(shape)
    for place, size in zip(equation.params["broadcast_dimensions"], before, strict=True):
        aligned[place] = size
    return low.broadcast(low.reshape(values[0], aligned, before), shape, aligned)


@lowers("concatenate")
def _concatenate(low: Lowering, equation: Any, values: list[Value]) -> Value:
    kept = [v for v, x in zip(values, equation.invars, strict=True) if 0 not in x.aval.shape]
    return concatenated(low, kept or values[:1], int(equation.params["dimension"]))


def concatenated(low: Lowering, values: Sequence[Value], axis: int) -> Value:
    """Put values one behind the other along an axis."""
    if len(values) == 1:
        return values[0]
    return low.op("Concat", low.graph.tuple(values), axis=axis)


@lowers("stack")
def _stack(low: Lowering, equation: Any, values: list[Value]) -> Value:
    axis = int(equation.params["axis"])
    shape = equation.invars[0].aval.shape
    wide = (*shape[:axis], 1, *shape[axis:])
    return concatenated(low, [low.reshape(v, wide, shape) for v in values], axis)


@lowers("unstack")
def _unstack(low: Lowering, equation: Any, values: list[Value]) -> list[Value]:
    axis, shape = int(equation.params["axis"]), equation.invars[0].aval.shape
    results = []
    for i in range(shape[axis]):
        first, end = [0] * len(shape), list(shape)
        first[axis], end[axis] = i, i + 1
        row = low.slice(values[0], first, end, shape)
        results.append(low.reshape(row, (*shape[:axis], *shape[axis + 1 :]), end))
    return results


@lowers("tile")
def _tile(low: Lowering, equation: Any, values: list[Value]) -> Value:
    return low.op("Tile", values[0], tuple(int(r) for r in equation.params["reps"]))


@lowers("slice")
def _slice(low: Lowering, equation: Any, values: list[Value]) -> Value:
    given = equation.params
    shape = equation.invars[0].aval.shape
    return low.slice(
        values[0], given["start_indices"], given["limit_indices"], shape, given["strides"]
    )


@lowers("split")
def _split(low: Lowering, equation: Any, values: list[Value]) -> list[Value]:
    axis, shape = equation.params["axis"], equation.invars[0].aval.shape
    results, start = [], 0
    for size in equation.params["sizes"]:
        first, end = [0] * len(shape), list(shape)
        first[axis], end[axis] = start, start + size
        results.append(low.slice(values[0], first, end, shape))
        start += size
    return results


@lowers("rev")
def _rev(low: Lowering, equation: Any, values: list[Value]) -> Value:
    axes = tuple(int(d) for d in equation.params["dimensions"])
    return low.op("ReverseV2", values[0], axis=axes) if axes else values[0]


@lowers("iota")
def _iota(low: Lowering, equation: Any, values: list[Value]) -> Value:
    given = equation.params
    shape, axis = given["shape"], given["dimension"]
    line = [1] * len(shape)
    line[axis] = shape[axis]
    numbers = np.arange(shape[axis]).astype(given["dtype"]).reshape(line)
    return low.broadcast(numbers, shape, line)


@lowers("pad")
def _pad(low: Lowering, equation: Any, values: list[Value]) -> Value:
    x, fill = values
    shape = equation.invars[0].aval.shape
    dtype = equation.invars[0].aval.dtype
    return padded(low, x, equation.params["padding_config"], shape, dtype, fill)[0]


def padded(
    low: Lowering,
    x: Value,
    config: Sequence[tuple[int, int, int]],
    shape: Sequence[int],
    dtype: Any,
    fill: Value = 0,
) -> tuple[Value, tuple[int, ...]]:
    """Pad a value as lax does.

    Args:
        low: the graph.
        x: value.
        config: elements before, behind and between those of each axis; negative ones cut.
        shape: of ``x``.
        dtype: of ``x``.
        fill: scalar that fills.

    Returns:
        The padded value and its shape.
    """
    if not isinstance(fill, Name):
        fill = np.asarray(fill, dtype)
    shape = [int(s) for s in shape]
    for axis, (_, _, between) in enumerate(config):
        if between and shape[axis] > 1:
            x, shape = _spread(low, x, axis, int(between), shape, fill)
    sides = [(max(int(low_), 0), max(int(high), 0)) for low_, high, _ in config]
    if any(a or b for a, b in sides):
        # The original counts from the last axis.
        flat = tuple(n for side in reversed(sides) for n in side)
        x = low.op("PadV3", low.node(x), flat, fill, mode="constant", paddings_contiguous=True)
        shape = [s + a + b for s, (a, b) in zip(shape, sides, strict=True)]
    start = [max(-int(low_), 0) for low_, _, _ in config]
    end = [s - max(-int(high), 0) for s, (_, high, _) in zip(shape, config, strict=True)]
    x = low.slice(x, start, end, shape)
    return x, tuple(e - s for s, e in zip(start, end, strict=True))


def _spread(
    low: Lowering, x: Value, axis: int, between: int, shape: list[int], fill: Value
) -> tuple[Value, list[int]]:
    """Put ``between`` elements after each but the last along one axis."""
    size = shape[axis]
    apart = [*shape[: axis + 1], 1, *shape[axis + 1 :]]
    config = [(0, 0, 0)] * len(apart)
    config[axis + 1] = (0, between, 0)
    dtype = np.float32 if isinstance(fill, Name) else fill.dtype
    x, _ = padded(low, low.reshape(x, apart, shape), config, apart, dtype, fill)
    apart[axis + 1] = between + 1
    joined = [*shape]
    joined[axis] = size * (between + 1)
    x = low.reshape(x, joined, apart)
    end = [*joined]
    end[axis] -= between
    return low.slice(x, [0] * len(joined), end, joined), end


@lowers("dot_general")
def _dot_general(low: Lowering, equation: Any, values: list[Value]) -> Value:
    (left_sum, right_sum), (left_batch, right_batch) = equation.params["dimension_numbers"]
    left, right = (v.aval for v in equation.invars)
    out = equation.outvars[0].aval
    left_free = [i for i in range(left.ndim) if i not in (*left_sum, *left_batch)]
    right_free = [i for i in range(right.ndim) if i not in (*right_sum, *right_batch)]

    def size(shape: Sequence[int], axes: Sequence[int]) -> int:
        return math.prod(shape[a] for a in axes)

    batch = (size(left.shape, left_batch),) if left_batch else ()
    rows, columns = size(left.shape, left_free), size(right.shape, right_free)
    inner = size(left.shape, left_sum)
    transposed = {"transpose_a": False, "transpose_b": False}

    def prepared(value: Value, aval: Any, order: Sequence[int], shape: Sequence[int]) -> Value:
        value = low.transpose(value, order)
        return low.reshape(value, shape, [aval.shape[a] for a in order])

    a = prepared(values[0], left, [*left_batch, *left_free, *left_sum], (*batch, rows, inner))
    if list(right_sum) > right_free and not right_batch:
        # A weight (out, in) stays as it is.
        b = prepared(values[1], right, [*right_free, *right_sum], (columns, inner))
        transposed["transpose_b"] = True
    else:
        order = [*right_batch, *right_sum, *right_free]
        b = prepared(values[1], right, order, (*batch, inner, columns))
    wide = out.dtype
    a, b = (
        low.cast(v, wide) if t.dtype != wide else v
        for v, t in zip((a, b), (left, right), strict=True)
    )
    if np.issubdtype(wide, np.integer) or wide == np.bool_:
        # The original's CPU multiplies matrices of real numbers only.
        a, b = low.cast(a, np.float64), low.cast(b, np.float64)
    product = low.op("BatchMatMul" if batch else "MatMul", a, b, **transposed)
    if np.issubdtype(wide, np.integer) or wide == np.bool_:
        product = low.cast(product, wide)
    return low.reshape(product, out.shape, (*batch, rows, columns))
