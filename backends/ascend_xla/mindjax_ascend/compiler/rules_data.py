"""Rules of operators that move data: slices, gathers, transposes, joins."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax_ascend.compiler.graph import UnsupportedError, collapse, strides_of
from mindjax_ascend.compiler.program import Value
from mindjax_ascend.compiler.scalars import RENAMED, check, operators


def _ints(attribute: Any) -> list[int]:
    return [int(x) for x in attribute]


def _copy(
    low: Any,
    source: Value,
    target: Value,
    box: tuple[list[int], int, list[int], int, list[int]],
) -> None:
    """Add a copy of a box: lengths, offset and strides in the target, then in the source."""
    dims, to_offset, to, from_offset, read = box
    short, (a, b) = collapse(dims, to, read)
    low.step("copy", [source], [target], [len(short), *short, to_offset, *a, from_offset, *b])


def _transpose(low: Any, op: Any) -> None:
    (source,), target = low.read(op), low.make(op)
    strides = strides_of(source.dims)
    order = _ints(op.attributes["permutation"])
    box = (list(target.dims), 0, strides_of(target.dims), 0, [strides[a] for a in order])
    _copy(low, source, target, box)


def _slice(low: Any, op: Any) -> None:
    (source,), target = low.read(op), low.make(op)
    strides = strides_of(source.dims)
    starts, steps = _ints(op.attributes["start_indices"]), _ints(op.attributes["strides"])
    offset = sum(s * i for s, i in zip(strides, starts, strict=True))
    read = [s * i for s, i in zip(strides, steps, strict=True)]
    _copy(low, source, target, (list(target.dims), 0, strides_of(target.dims), offset, read))


def _reverse(low: Any, op: Any) -> None:
    (source,), target = low.read(op), low.make(op)
    read, offset = strides_of(source.dims), 0
    for axis in _ints(op.attributes["dimensions"]):
        offset += max(0, source.dims[axis] - 1) * read[axis]
        read[axis] = -read[axis]
    _copy(low, source, target, (list(target.dims), 0, strides_of(target.dims), offset, read))


def _concatenate(low: Any, op: Any) -> None:
    sources, target = low.read(op), low.make(op)
    axis, strides, at = op.attributes["dimension"].value, strides_of(target.dims), 0
    for source in sources:
        if source.elements:
            box = (list(source.dims), at * strides[axis], strides, 0, strides_of(source.dims))
            _copy(low, source, target, box)
        at += source.dims[axis]
    if not target.elements:
        low.step("move", [sources[0]], [target], [])


def _pad(low: Any, op: Any) -> None:
    (source, filling), target = low.read(op), low.make(op)
    before = _ints(op.attributes["edge_padding_low"])
    between = _ints(op.attributes["interior_padding"])
    low.step("fill", [filling], [target], [])
    to, read = strides_of(target.dims), strides_of(source.dims)
    dims, to_offset, from_offset = [], 0, 0
    for axis, length in enumerate(source.dims):
        apart = between[axis] + 1
        first = max(0, -(before[axis] // apart)) if before[axis] < 0 else 0
        last = min(length, (target.dims[axis] - 1 - before[axis]) // apart + 1)
        dims.append(max(0, last - first))
        to_offset += (before[axis] + first * apart) * to[axis]
        from_offset += first * read[axis]
        to[axis] *= apart
    if all(dims):
        _copy(low, source, target, (dims, to_offset, to, from_offset, read))


def _broadcast(low: Any, op: Any) -> None:
    (source,), target = low.read(op), low.make(op)
    strides, read = strides_of(source.dims), [0] * len(target.dims)
    for axis, to in enumerate(_ints(op.attributes["broadcast_dimensions"])):
        if source.dims[axis] == target.dims[to]:
            read[to] = strides[axis]
    if source.dims == target.dims:
        low.alias(source, target)
    else:
        low.broadcast(source, target, read)


def _alias(low: Any, op: Any) -> None:
    (source,), target = low.read(op), low.make(op)
    low.alias(source, target)


def _iota(low: Any, op: Any) -> None:
    target = low.make(op)
    axis = op.attributes["iota_dimension"].value
    if target.type in (10, 13):
        counted = low.value(11, target.dims)
        low.step("iota", [], [counted], [axis])
        low.scalar("convert", [counted], target)
        return
    low.step("iota", [], [target], [axis])


def _starts(op: Any, values: list[Value]) -> list[Value]:
    if any(v.type == 9 for v in values):
        raise UnsupportedError(f"{op.name} with indices of 64 bits without sign")
    return values


def _dynamic_slice(low: Any, op: Any) -> None:
    source, *starts = low.read(op)
    low.step("dynamic_slice", [source, *_starts(op, starts)], [low.make(op)], [])


def _dynamic_update_slice(low: Any, op: Any) -> None:
    whole, part, *starts = low.read(op)
    inputs = [whole, part, *_starts(op, starts)]
    low.step("dynamic_update_slice", inputs, [low.make(op)], [])


def _batch_of_indices(indices: Value, vector: int) -> tuple[list[int], list[int], int]:
    """Give the axes that count places, their strides, and the stride between components."""
    strides = strides_of(indices.dims)
    axes = [a for a in range(len(indices.dims)) if a != vector]
    component = strides[vector] if vector < len(indices.dims) else 0
    return axes, [strides[a] for a in axes], component


def _gather(low: Any, op: Any) -> None:
    from jaxlib.mlir.dialects import stablehlo

    (operand, indices), target = low.read(op), low.make(op)
    numbers = stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    sizes = _ints(op.attributes["slice_sizes"])
    axes, index_strides, component = _batch_of_indices(indices, numbers.index_vector_dim)
    offset_dims = list(numbers.offset_dims)
    out, inner = strides_of(target.dims), strides_of(operand.dims)
    batch_out = [out[d] for d in range(len(target.dims)) if d not in offset_dims]
    batching = dict(
        zip(numbers.start_indices_batching_dims, numbers.operand_batching_dims, strict=True)
    )
    batch_in = [inner[batching[a]] if a in batching else 0 for a in axes]
    dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    window = [a for a in range(len(operand.dims)) if a not in dropped]
    mapped = list(numbers.start_index_map)
    if not low.fuse and len(mapped) == 1 and indices.type in (4, 5):
        # CANN's operator wants indices within bounds; the runtime's kernel puts them there itself.
        for name, bound in (
            ("maximum", 0),
            ("minimum", operand.dims[mapped[0]] - sizes[mapped[0]]),
        ):
            limit, within = low.value(indices.type, ()), low.value(indices.type, indices.dims)
            data = bound.to_bytes(4 if indices.type == 4 else 8, "little")
            low.constant(limit, data, True)
            wide = low.value(indices.type, indices.dims)
            low.broadcast(limit, wide, [0] * len(indices.dims))
            low.scalar(name, [indices, wide], within)
            indices = within
    low.step(
        "gather",
        [operand, indices],
        [target],
        [
            0,
            len(axes),
            *(indices.dims[a] for a in axes),
            *index_strides,
            *batch_out,
            *batch_in,
            len(window),
            *(sizes[a] for a in window),
            *(inner[a] for a in window),
            *(out[d] for d in offset_dims),
            len(mapped),
            *(operand.dims[a] - sizes[a] for a in mapped),
            *(inner[a] for a in mapped),
            component,
        ],
    )


def scatter_operator(low: Any, op: Any, type: int) -> int:
    """Number the scalar operator of a scatter's region, copy where it replaces."""
    block = op.regions[0].blocks[0]
    body = list(block.operations)
    first, second = block.arguments
    if len(body) == 1 and list(body[0].operands) == [second]:
        return operators()["copy"]
    if len(body) == 2 and set(body[0].operands) == {first, second}:
        name = body[0].operation.name.removeprefix("stablehlo.")
        name = RENAMED.get(name, name)
        if name in ("add", "multiply", "maximum", "minimum", "bitwise_and", "bitwise_or"):
            check(name, type, type)
            return operators()[name]
    raise UnsupportedError(f"{op.name} with this function of updates")


def _scatter(low: Any, op: Any) -> None:
    from jaxlib.mlir.dialects import stablehlo

    values = low.read(op)
    if len(values) != 3:
        raise UnsupportedError("scatter of several arrays")
    (operand, indices, updates), target = values, low.make(op)
    numbers = stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
    axes, index_strides, component = _batch_of_indices(indices, numbers.index_vector_dim)
    window_dims = list(numbers.update_window_dims)
    read, inner = strides_of(updates.dims), strides_of(operand.dims)
    batch_read = [read[d] for d in range(len(updates.dims)) if d not in window_dims]
    batching = dict(
        zip(numbers.scatter_indices_batching_dims, numbers.input_batching_dims, strict=True)
    )
    batch_in = [inner[batching[a]] if a in batching else 0 for a in axes]
    dropped = {*numbers.inserted_window_dims, *numbers.input_batching_dims}
    window = [a for a in range(len(operand.dims)) if a not in dropped]
    lengths = dict(zip(window, (updates.dims[d] for d in window_dims), strict=True))
    mapped = list(numbers.scattered_dims_to_operand_dims)
    low.step(
        "scatter",
        [operand, indices, updates],
        [target],
        [
            scatter_operator(low, op, target.type),
            len(axes),
            *(indices.dims[a] for a in axes),
            *index_strides,
            *batch_read,
            *batch_in,
            len(window),
            *(lengths[a] for a in window),
            *(inner[a] for a in window),
            *(read[d] for d in window_dims),
            len(mapped),
            *(operand.dims[a] - lengths.get(a, 1) for a in mapped),
            *(inner[a] for a in mapped),
            component,
        ],
    )


def _constant(low: Any, op: Any) -> None:
    attribute, target = op.attributes["value"], low.make(op)
    if attribute.is_splat and target.type in (10, 13):
        import ml_dtypes

        kind = np.float16 if target.type == 10 else ml_dtypes.bfloat16
        value = np.asarray(attribute.get_splat_value().value).astype(kind)
        low.constant(target, value.tobytes(), True)
        return
    try:
        array = np.array(attribute)
    except (TypeError, ValueError) as error:
        raise UnsupportedError(f"a constant of element type {target.type}: {error}") from None
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    if attribute.is_splat or target.elements == 1:
        low.constant(target, array.reshape(-1)[:1].tobytes(), True)
    else:
        low.constant(target, np.ascontiguousarray(array).tobytes(), False)


RULES = {
    "transpose": _transpose,
    "slice": _slice,
    "reverse": _reverse,
    "concatenate": _concatenate,
    "pad": _pad,
    "broadcast_in_dim": _broadcast,
    "reshape": _alias,
    "bitcast_convert": _alias,
    "iota": _iota,
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": _scatter,
    "constant": _constant,
}
