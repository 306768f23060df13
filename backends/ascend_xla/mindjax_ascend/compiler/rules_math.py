"""Rules of operators that compute: elementwise, products, convolutions, reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax_ascend.compiler import cann
from mindjax_ascend.compiler.graph import UnsupportedError, group, strides_of
from mindjax_ascend.compiler.program import Value
from mindjax_ascend.compiler.scalars import RENAMED, ScalarCode, check, operators

HALVES = (10, 13)
FLOAT32, FLOAT64 = 11, 12
POOLED = (FLOAT32, FLOAT64, 4, 8, 5)
ELEMENTWISE = [
    "abs",
    "cbrt",
    "ceil",
    "cosine",
    "count_leading_zeros",
    "exponential",
    "exponential_minus_one",
    "floor",
    "is_finite",
    "log",
    "log_plus_one",
    "logistic",
    "negate",
    "not",
    "popcnt",
    "round_nearest_afz",
    "round_nearest_even",
    "rsqrt",
    "sign",
    "sine",
    "sqrt",
    "tan",
    "tanh",
    "add",
    "atan2",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "power",
    "remainder",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "subtract",
    "and",
    "or",
    "xor",
    "select",
    "clamp",
    "convert",
]


def _name(op: Any) -> str:
    return op.operation.name.removeprefix("stablehlo.")


def _compared(op: Any) -> str:
    direction = str(op.attributes["comparison_direction"])
    typed = "compare_type" in op.attributes
    total = typed and "TOTALORDER" in str(op.attributes["compare_type"])
    name = next(n for n in ("EQ", "NE", "GE", "GT", "LE", "LT") if f" {n}>" in direction).lower()
    return f"{name}_total" if total else name


def scalar_name(op: Any) -> str | None:
    """Name the runtime's scalar operator for an operator of StableHLO, None if it is no such."""
    name = _name(op)
    if name == "compare":
        return _compared(op)
    return RENAMED.get(name, name) if name in ELEMENTWISE else None


def elementwise(low: Any, op: Any) -> None:
    """Add an elementwise operator; scalars among its operands are repeated."""
    name, target = scalar_name(op), low.make(op)
    operands = []
    for value in low.read(op):
        if value.dims != target.dims:
            wide = low.value(value.type, target.dims)
            low.broadcast(value, wide, [0] * len(target.dims))
            value = wide
        operands.append(value)
    low.scalar(name, operands, target)


def region_code(block: Any, low: Any) -> ScalarCode:
    """Turn a region of scalars into code over its arguments.

    Raises:
        UnsupportedError: something in it is no scalar operator.
    """
    code = ScalarCode(len(block.arguments))
    slots: dict[Any, int] = {a: i for i, a in enumerate(block.arguments)}
    *body, last = list(block.operations)
    results = list(last.operands)
    for op in body:
        operation = op.operation
        result = op.results[0]
        type = low.element_type(result.type)
        if _name(op) == "constant":
            data = np.array(op.attributes["value"]) if type not in HALVES else None
            if data is None:
                raise UnsupportedError("a constant of 16 bits in a scalar region")
            data = data.astype(np.uint8) if data.dtype == np.bool_ else data
            slots[result] = code.constant(type, int.from_bytes(data.tobytes(), "little"))
            continue
        name = scalar_name(op)
        for o in operation.operands:
            constant = low.splats.get(low.known.get(o)) if o not in slots else None
            if constant is not None:
                outer = low.known[o]
                slots[o] = code.constant(outer.type, int.from_bytes(constant, "little"))
        if name is None or any(o not in slots for o in operation.operands):
            raise UnsupportedError(f"{operation.name} in a scalar region")
        operand = low.element_type(operation.operands[-1 if name == "select" else 0].type)
        check(name, operand, type)
        target = code.register()
        code.add(name, operand, type, target, [slots[o] for o in operation.operands])
        slots[result] = target
    if len(body) == 1 and len(results) == 1 and results[0] == body[0].results[0]:
        op_number, type, to, _, operands = code.instructions[0]
        code.instructions[0] = (op_number, type, to, None, operands)
        code.registers -= 1
        return code
    for value in results:
        if value not in slots:
            raise UnsupportedError("a region that returns what it does not compute")
        type = low.element_type(value.type)
        code.add("copy", type, type, None, [slots[value]])
    return code


def as_float32(low: Any, value: Value) -> Value:
    """Give an array of float32, converted where it is none."""
    if value.type == FLOAT32:
        return value
    wide = low.value(FLOAT32, value.dims)
    low.scalar("convert", [value], wide)
    return wide


def _arranged(low: Any, value: Value, parts: list[list[int]]) -> tuple[Value, list[tuple]]:
    """Give an array in which each of three groups of axes is one, and their lengths and strides."""
    strides = strides_of(value.dims)
    groups = [group(value.dims, strides, axes) for axes in parts]
    if all(g is not None for g in groups):
        return value, groups  # type: ignore[return-value]
    order = [a for axes in parts for a in axes]
    moved = low.value(value.type, tuple(value.dims[a] for a in order))
    low.copy(value, moved, [strides[a] for a in order])
    lengths = [int(np.prod([value.dims[a] for a in axes], dtype=np.int64)) for axes in parts]
    return moved, [
        (lengths[0], lengths[1] * lengths[2]),
        (lengths[1], lengths[2]),
        (lengths[2], 1),
    ]


def _dot(low: Any, op: Any) -> None:
    (lhs, rhs), target = low.read(op), low.make(op)
    if low.fuse or target.type not in HALVES or not lhs.type == rhs.type == target.type:
        _product(low, op, (lhs, rhs), target)
        return
    ints = _groups_of(op, lhs, rhs)
    if ints is None:
        _product(low, op, (lhs, rhs), target)
        return
    low.instead(
        [lhs, rhs], target, cann.product(ints), lambda: _product(low, op, (lhs, rhs), target)
    )


def _axes_of(op: Any, lhs: Value, rhs: Value) -> list[list[list[int]]]:
    """Give for either array the axes that count products, are free and are summed over."""
    from jaxlib.mlir.dialects import stablehlo

    numbers = stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])
    batch = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    summed = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    return [
        [batch[i], [a for a in range(len(v.dims)) if a not in [*batch[i], *summed[i]]], summed[i]]
        for i, v in enumerate((lhs, rhs))
    ]


def _groups_of(op: Any, lhs: Value, rhs: Value) -> list[int] | None:
    """Give a product's numbers for arrays as they lie; None where they are to be arranged."""
    pairs = zip((lhs, rhs), _axes_of(op, lhs, rhs), strict=True)
    found = [group(v.dims, strides_of(v.dims), axes) for v, lists in pairs for axes in lists]
    groups = [g for g in found if g is not None]
    if len(groups) < len(found):
        return None
    batch, rows, depth, of_batch, columns, of_depth = groups
    strides = [batch[1], rows[1], depth[1], of_batch[1], of_depth[1], columns[1]]
    return [batch[0], rows[0], columns[0], depth[0], *strides]


def _product(low: Any, op: Any, pair: tuple[Value, Value], target: Value) -> None:
    type = FLOAT32 if target.type in HALVES else target.type
    if type == 1:
        raise UnsupportedError("dot_general of truth values")
    result = target if type == target.type else low.value(type, target.dims)
    operands = []
    for value in pair:
        if value.type != type:
            wide = low.value(type, value.dims)
            low.scalar("convert", [value], wide)
            value = wide
        operands.append(value)
    first, (batch, columns, summed) = _axes_of(op, *pair)
    a, (a_batch, a_rows, a_sum) = _arranged(low, operands[0], first)
    b, (b_batch, b_sum, b_columns) = _arranged(low, operands[1], [batch, summed, columns])
    ints = [a_batch[0], a_rows[0], b_columns[0], a_sum[0]]
    ints += [a_batch[1], a_rows[1], a_sum[1], b_batch[1], b_sum[1], b_columns[1]]
    low.step("dot", [a, b], [result], ints)
    if result is not target:
        low.scalar("convert", [result], target)


def _convolution(low: Any, op: Any) -> None:
    from jaxlib.mlir.dialects import stablehlo

    (lhs, rhs), target = low.read(op), low.make(op)
    if target.type not in (FLOAT32, *HALVES):
        raise UnsupportedError(f"convolution of element type {target.type}")
    numbers = stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    space = list(numbers.input_spatial_dimensions)
    taps = list(numbers.kernel_spatial_dimensions)
    places = list(numbers.output_spatial_dimensions)
    rank = len(space)
    if rank > 8:
        raise UnsupportedError("convolution over more than 8 axes")

    def numbers_of(name: str, default: int) -> list[int]:
        if name not in op.attributes:
            return [default] * rank
        return [int(x) for x in np.array(op.attributes[name]).reshape(-1)]

    padding = (
        [int(p) for p in np.array(op.attributes["padding"]).reshape(rank, 2)[:, 0]]
        if "padding" in op.attributes
        else [0] * rank
    )
    groups = op.attributes["feature_group_count"].value
    batches = op.attributes["batch_group_count"].value
    a, k, c = strides_of(lhs.dims), strides_of(rhs.dims), strides_of(target.dims)
    features_in = rhs.dims[numbers.kernel_input_feature_dimension]
    features_out = rhs.dims[numbers.kernel_output_feature_dimension]
    parts = groups * batches
    batch = lhs.dims[numbers.input_batch_dimension] // batches
    of_kernel = k[numbers.kernel_output_feature_dimension]
    of_result = c[numbers.output_feature_dimension]
    lhs_group = (
        batch * a[numbers.input_batch_dimension]
        if batches > 1
        else features_in * a[numbers.input_feature_dimension]
    )
    ints = [
        batch,
        parts,
        features_in,
        features_out // parts,
        rank,
        *(lhs.dims[d] for d in space),
        *(target.dims[d] for d in places),
        *(rhs.dims[d] for d in taps),
        *numbers_of("window_strides", 1),
        *padding,
        *numbers_of("lhs_dilation", 1),
        *numbers_of("rhs_dilation", 1),
        *numbers_of("window_reversal", 0),
        a[numbers.input_batch_dimension],
        a[numbers.input_feature_dimension],
        *(a[d] for d in space),
        of_kernel,
        k[numbers.kernel_input_feature_dimension],
        *(k[d] for d in taps),
        c[numbers.output_batch_dimension],
        of_result,
        *(c[d] for d in places),
        lhs_group,
        features_out // parts * of_kernel,
        features_out // parts * of_result,
    ]

    def write() -> None:
        pair = [as_float32(low, lhs), as_float32(low, rhs)]
        result = target if target.type == FLOAT32 else low.value(FLOAT32, target.dims)
        low.step("convolution", pair, [result], ints)
        if result is not target:
            low.scalar("convert", [result], target)

    if low.fuse or target.type == FLOAT32 or not lhs.type == rhs.type == target.type:
        write()
    else:
        low.instead([lhs, rhs], target, cann.convolution(ints, target.type), write)


def _reduce(low: Any, op: Any) -> None:
    values, targets = low.read(op), low.make_all(op)
    half = len(values) // 2
    arrays = values[:half]
    code = region_code(op.regions[0].blocks[0], low)
    dims, strides = arrays[0].dims, strides_of(arrays[0].dims)
    axes = [int(a) for a in op.attributes["dimensions"]]
    kept = [a for a in range(len(dims)) if a not in axes]
    axes = [a for a in sorted(axes) if dims[a] != 1]
    shape = [len(kept), *(dims[a] for a in kept), *(strides[a] for a in kept)]
    shape += [len(axes), *(dims[a] for a in axes), *(strides[a] for a in axes)]
    if len(targets) == 1 and targets[0].type in HALVES and len(code.instructions) == 1:
        # Sums of 16-bit numbers are kept in 32 bits.
        number, _, _, to, operands = code.instructions[0]
        code.instructions[0] = (number, FLOAT32, FLOAT32, to, operands)
        wide = low.value(FLOAT32, targets[0].dims)
        inputs = [as_float32(low, v) for v in values]
        low.step("reduce", inputs, [wide], [*code.finish(1), *shape])
        low.scalar("convert", [wide], targets[0])
        return
    low.step("reduce", values, targets, [*code.finish(len(targets)), *shape])


def single_operator(block: Any, names: tuple[str, ...]) -> str:
    """Name the one scalar operator of a region.

    Raises:
        UnsupportedError: it is none of these, or there are more.
    """
    body = list(block.operations)
    if len(body) == 2 and set(body[0].operands) == set(block.arguments):
        name = scalar_name(body[0])
        if name in names:
            return str(name)
    raise UnsupportedError("a window or a collective operation with this function")


def _window(op: Any, name: str, rank: int) -> list[int]:
    if name not in op.attributes:
        return [1] * rank
    return [int(x) for x in np.array(op.attributes[name]).reshape(-1)]


def _low_padding(op: Any, rank: int) -> list[int]:
    if "padding" not in op.attributes:
        return [0] * rank
    return [int(x) for x in np.array(op.attributes["padding"]).reshape(rank, 2)[:, 0]]


def _reduce_window(low: Any, op: Any) -> None:
    values, targets = low.read(op), low.make_all(op)
    if len(targets) != 1:
        raise UnsupportedError("reduce_window of several arrays")
    target, rank = targets[0], len(targets[0].dims)
    block = op.regions[0].blocks[0]
    name = single_operator(block, ("add", "multiply", "maximum", "minimum"))
    if any(d != 1 for d in _window(op, "base_dilations", rank)):
        raise UnsupportedError("reduce_window with base dilation")
    result = target
    if target.type in HALVES:
        values = [as_float32(low, v) for v in values]
        result = low.value(FLOAT32, target.dims)
    elif target.type not in POOLED:
        raise UnsupportedError(f"reduce_window of element type {target.type}")
    ints = [
        operators()[name],
        rank,
        *values[0].dims,
        *target.dims,
        *_window(op, "window_dimensions", rank),
        *_window(op, "window_strides", rank),
        *_window(op, "window_dilations", rank),
        *_low_padding(op, rank),
    ]
    low.step("reduce_window", values, [result], ints)
    if result is not target:
        low.scalar("convert", [result], target)


def _select_and_scatter(low: Any, op: Any) -> None:
    values, target = low.read(op), low.make(op)
    if target.type not in (FLOAT32, FLOAT64):
        raise UnsupportedError(f"select_and_scatter of element type {target.type}")
    select, scatter = (r.blocks[0] for r in op.regions)
    body = list(select.operations)
    if len(body) != 2 or list(body[0].operands) != list(select.arguments):
        raise UnsupportedError("select_and_scatter with this choice")
    choice = scalar_name(body[0])
    if choice not in ("ge", "gt", "le", "lt"):
        raise UnsupportedError(f"select_and_scatter that chooses by {choice}")
    single_operator(scatter, ("add",))
    rank, operand = len(target.dims), values[0]
    ints = [
        operators()[choice],
        rank,
        *operand.dims,
        *values[1].dims,
        *_window(op, "window_dimensions", rank),
        *_window(op, "window_strides", rank),
        *[1] * rank,
        *_low_padding(op, rank),
    ]
    low.step("select_and_scatter", values, [target], ints)


def _sort(low: Any, op: Any) -> None:
    values, targets = low.read(op), low.make_all(op)
    code = region_code(op.regions[0].blocks[0], low)
    axis, dims = op.attributes["dimension"].value, values[0].dims
    outer, inner = (int(np.prod(d, dtype=np.int64)) for d in (dims[:axis], dims[axis + 1 :]))
    low.step("sort", values, targets, [*code.finish(1), outer, dims[axis], inner])


RULES = {
    "dot_general": _dot,
    "convolution": _convolution,
    "reduce": _reduce,
    "reduce_window": _reduce_window,
    "select_and_scatter": _select_and_scatter,
    "sort": _sort,
}
