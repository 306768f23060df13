"""Which operators of CANN's library do what a step does, written as `hal/call.h` reads them.

Names and arguments are those of CANN's public documentation and headers; docs/ascend.md says which
were compared with what. A step without a text here runs on the host.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mindjax_ascend.compiler.graph import strides_of
from mindjax_ascend.compiler.program import Step, Value
from mindjax_ascend.compiler.scalars import operators

PRED, INT8, INT32, INT64, UINT8, FLOAT16, FLOAT32, BFLOAT16 = 1, 2, 4, 5, 6, 10, 11, 13
FLOATS = frozenset({FLOAT16, FLOAT32, BFLOAT16})
NUMBERS = FLOATS | {INT32, INT64}
MOVED = NUMBERS | {PRED, INT8, UINT8}
# aclDataType by PJRT_Buffer_Type.
DATA_TYPES = {1: 12, 2: 2, 3: 6, 4: 3, 5: 9, 6: 4, 7: 7, 8: 8, 9: 10, 10: 1, 11: 0, 12: 11, 13: 27}

# Elementwise operators of one kind of arguments: tensors in, one tensor out.
_PLAIN: dict[str, tuple[str, frozenset[int]]] = {
    "multiply": ("aclnnMul", NUMBERS),
    "divide": ("aclnnDiv", FLOATS),
    "maximum": ("aclnnMaximum", NUMBERS),
    "minimum": ("aclnnMinimum", NUMBERS),
    "power": ("aclnnPowTensorTensor", FLOATS),
    "remainder": ("aclnnFmodTensor", FLOATS),
    "atan2": ("aclnnAtan2", FLOATS),
    "exponential": ("aclnnExp", FLOATS),
    "exponential_minus_one": ("aclnnExpm1", FLOATS),
    "log": ("aclnnLog", FLOATS),
    "log_plus_one": ("aclnnLog1p", FLOATS),
    "negate": ("aclnnNeg", NUMBERS),
    "sign": ("aclnnSign", FLOATS),
    "tanh": ("aclnnTanh", FLOATS),
    "tan": ("aclnnTan", FLOATS),
    "sine": ("aclnnSin", FLOATS),
    "cosine": ("aclnnCos", FLOATS),
    "floor": ("aclnnFloor", FLOATS),
    "ceil": ("aclnnCeil", FLOATS),
    "round_nearest_even": ("aclnnRound", FLOATS),
    "sqrt": ("aclnnSqrt", FLOATS),
    "rsqrt": ("aclnnRsqrt", FLOATS),
    "abs": ("aclnnAbs", NUMBERS),
    "is_finite": ("aclnnIsFinite", FLOATS),
    "eq": ("aclnnEqTensor", NUMBERS),
    "ne": ("aclnnNeTensor", NUMBERS),
    "ge": ("aclnnGeTensor", NUMBERS),
    "gt": ("aclnnGtTensor", NUMBERS),
    "le": ("aclnnLeTensor", NUMBERS),
    "lt": ("aclnnLtTensor", NUMBERS),
}
_LOGICAL = {
    "bitwise_and": "aclnnLogicalAnd",
    "bitwise_or": "aclnnLogicalOr",
    "bitwise_not": "aclnnLogicalNot",
    "bitwise_xor": "aclnnNeTensor",
}
_SCALED = {"add": "aclnnAdd", "subtract": "aclnnSub"}
_REDUCED = {"maximum": "aclnnAmax", "minimum": "aclnnAmin"}
_NCHW, _NCL, _NCDHW = 0, 47, 30


def view(
    number: int,
    dims: Sequence[int],
    strides: Sequence[int] | None = None,
    offset: int = 0,
    form: int | None = None,
    kind: str = "t",
) -> str:
    """Write an array seen with other lengths and strides; a stride 0 becomes a length 1."""
    text = f"{kind}{number}:{','.join(map(str, dims))}"
    if strides is not None:
        steps = [1 if d == 1 else s for d, s in zip(dims, strides, strict=True)]
        if steps != [
            1 if d == 1 else s for d, s in zip(dims, strides_of(tuple(dims)), strict=True)
        ]:
            text += f"/{','.join(map(str, steps))}"
    if offset:
        text += f"+{offset}"
    return text if form is None else f"{text}@{form}"


def elementwise(op: str, inputs: list[Value], modes: list[list[int] | None], output: Value) -> str:
    """Write the call for one elementwise operator.

    Args:
        op: the runtime's name of it.
        inputs: its arrays.
        modes: None where an array lies as the output does, else its strides along the axes.
        output: the result.
    """
    if not output.elements:
        return ""
    arrays = []
    for i, mode in enumerate(modes):
        if mode is None:
            arrays.append(f"t{i}:{','.join(map(str, output.dims))}")
            continue
        if any(s < 0 for s in mode):
            return ""
        dims = [d if s else 1 for d, s in zip(output.dims, mode, strict=True)]
        arrays.append(view(i, dims, mode))
    arrays.append(f"t{len(inputs)}")
    type = inputs[-1].type
    if op in _PLAIN and type in _PLAIN[op][1]:
        return " ".join([_PLAIN[op][0], *arrays])
    if op in _SCALED and type in NUMBERS:
        one = f"s1={type if type in (INT32, INT64) else FLOAT32}"
        return " ".join([_SCALED[op], *arrays[:2], one, arrays[2]])
    if op in _LOGICAL and type == PRED:
        return " ".join([_LOGICAL[op], *arrays])
    if op == "select" and inputs[0].type == PRED and type in NUMBERS | {PRED}:
        return " ".join(["aclnnSWhere", *arrays])
    if op == "convert" and {type, output.type} <= MOVED:
        return f"aclnnCast {arrays[0]} i{DATA_TYPES[output.type]} {arrays[1]}"
    return ""


def of_step(step: Step, splat: Callable[[Value], bytes | None]) -> str:
    """Write the calls that do what a step does; nothing where there are none.

    Args:
        step: of any kernel but elementwise ones and custom calls.
        splat: gives the bytes of the one number that a constant holds everywhere.
    """
    if any(not v.elements for v in step.outputs):
        return ""
    write = _WRITERS.get(step.op)
    return "" if write is None else write(step, splat)


def _copy(step: Step, _: Callable[[Value], bytes | None]) -> str:
    rank, *rest = step.ints
    dims, at, to = rest[:rank], rest[rank], rest[rank + 1 : 2 * rank + 1]
    start, read = rest[2 * rank + 1], rest[2 * rank + 2 :]
    if step.inputs[0].type not in MOVED or any(s < 0 for s in [*to, *read]):
        return ""
    seen = [d if s else 1 for d, s in zip(dims, read, strict=True)]
    target = view(1, dims, to, at, kind="x")
    return f"aclnnInplaceCopy {target} {view(0, seen, read, start)}"


def _move(step: Step, _: Callable[[Value], bytes | None]) -> str:
    (source,), (target,) = step.inputs, step.outputs
    if source.type not in MOVED or source.type != target.type:
        return ""
    return f"aclnnInplaceCopy {view(1, [target.elements])} {view(0, [target.elements])}"


def _fill(step: Step, _: Callable[[Value], bytes | None]) -> str:
    if step.inputs[0].type not in MOVED:
        return ""
    return f"aclnnInplaceCopy {view(1, [step.outputs[0].elements])} t0:1"


def _iota(step: Step, _: Callable[[Value], bytes | None]) -> str:
    target = step.outputs[0]
    if len(target.dims) != 1 or target.type not in (INT32, INT64, FLOAT32):
        return ""
    return f"aclnnArange s0={target.type} s{target.elements}={target.type} s1={target.type} t0"


def _reduce(step: Step, splat: Callable[[Value], bytes | None]) -> str:
    if len(step.outputs) != 1:
        return ""
    array, target = step.inputs[0], step.outputs[0]
    inputs, registers, outputs, constants, instructions, *rest = step.ints
    if (inputs, registers, outputs, constants, instructions) != (2, 0, 1, 0, 1):
        return ""
    op = next((n for n, i in operators().items() if i == rest[0]), "")
    counted = rest[7:]
    kept = counted[1 : 1 + counted[0]]
    count = counted[2 * counted[0] + 1]
    lengths = counted[2 * counted[0] + 2 :][:count]
    strides = counted[counted[0] + 1 :][: counted[0]] + counted[2 * counted[0] + 2 + count :]
    dims = [*kept, *lengths]
    start = splat(step.inputs[1])
    if not array.elements or start is None or start != _NEUTRAL.get((op, array.type)):
        return ""
    axes = "I" + ",".join(str(len(kept) + i) for i in range(count))
    source, result = view(0, dims, strides), view(2, kept)
    if not count:
        return f"aclnnInplaceCopy {result} {source}"
    if op == "add" and array.type in NUMBERS:
        return f"aclnnReduceSum {source} {axes} i0 i{DATA_TYPES[target.type]} {result}"
    if op in _REDUCED and array.type in FLOATS | {INT32, INT64}:
        return f"{_REDUCED[op]} {source} {axes} i0 {result}"
    if array.type == PRED and op in ("bitwise_or", "bitwise_and"):
        name = "aclnnAny" if op == "bitwise_or" else "aclnnAll"
        return f"{name} {source} {axes} i0 {result}"
    return ""


def _number(value: int, size: int) -> bytes:
    return value.to_bytes(size, "little", signed=value < 0)


# With what a reduction begins where it is only the operator's own. Infinities by their bits.
_NEUTRAL = {
    ("add", FLOAT32): _number(0, 4),
    ("add", INT32): _number(0, 4),
    ("add", INT64): _number(0, 8),
    ("maximum", FLOAT32): _number(0xFF800000, 4),
    ("maximum", INT32): _number(-(1 << 31), 4),
    ("maximum", INT64): _number(-(1 << 63), 8),
    ("minimum", FLOAT32): _number(0x7F800000, 4),
    ("minimum", INT32): _number((1 << 31) - 1, 4),
    ("minimum", INT64): _number((1 << 63) - 1, 8),
    ("bitwise_or", PRED): b"\0",
    ("bitwise_and", PRED): b"\1",
}


def product(ints: list[int], numbers: tuple[int, int, int] = (0, 1, 2)) -> str:
    """Write the call for products of matrices, from a step's numbers.

    Args:
        ints: batch, rows, columns, depth; strides of the batch, rows and depth in the first array;
            of the batch, depth and columns in the second.
        numbers: of the arrays.
    """
    batch, m, n, k, *strides = ints
    if not k or any(s < 0 for s in strides):
        return ""
    first, second, result = numbers
    if batch == 1:
        a = view(first, [m, k], strides[1:3])
        b = view(second, [k, n], strides[4:])
        return f"aclnnMatmul {a} {b} {view(result, [m, n])} i0"
    a = view(first, [batch, m, k], strides[:3])
    b = view(second, [batch, k, n], strides[3:])
    return f"aclnnBatchMatMul {a} {b} {view(result, [batch, m, n])} i0"


def _dot(step: Step, _: Callable[[Value], bytes | None]) -> str:
    return product(step.ints) if step.inputs[0].type == FLOAT32 else ""


def convolution(ints: list[int], type: int) -> str:
    """Write the call for a convolution, from a step's numbers; arrays are seen channels first."""
    batch, groups, inner, outer, rank, *rest = ints

    def take() -> list[int]:
        nonlocal rest
        taken, rest = rest[:rank], rest[rank:]
        return taken

    space, places, taps, step, low, spread, dilation, turned = (take() for _ in range(8))
    of_batch, of_feature = rest[:2]
    of_space = rest[2 : 2 + rank]
    kernel_out, kernel_in = rest[2 + rank : 4 + rank]
    of_taps = rest[4 + rank : 4 + 2 * rank]
    out_batch, out_feature = rest[4 + 2 * rank : 6 + 2 * rank]
    of_places = rest[6 + 2 * rank : 6 + 3 * rank]
    group_in, group_kernel, group_out = rest[6 + 3 * rank :]
    form = {1: _NCL, 2: _NCHW, 3: _NCDHW}.get(rank)
    # Padding is the same at both ends, and no more than that is left over.
    even = all(
        (n + 2 * p - (k - 1) * d - 1) // s + 1 == o
        for n, p, k, d, s, o in zip(space, low, taps, dilation, step, places, strict=True)
    )
    grouped = groups == 1 or (
        group_in == inner * of_feature
        and group_kernel == outer * kernel_out
        and group_out == outer * out_feature
    )
    plain = all(s == 1 for s in spread) and not any(turned) and all(p >= 0 for p in low)
    if form is None or type not in FLOATS or not (even and grouped and plain):
        return ""
    image = view(0, [batch, groups * inner, *space], [of_batch, of_feature, *of_space], 0, form)
    kernel = view(1, [groups * outer, inner, *taps], [kernel_out, kernel_in, *of_taps], 0, form)
    result = view(
        2, [batch, groups * outer, *places], [out_batch, out_feature, *of_places], 0, form
    )
    lists = [f"I{','.join(map(str, x))}" for x in (step, low, dilation)]
    none = f"I{','.join('0' * rank)}"
    return " ".join(
        ["aclnnConvolution", image, kernel, "n", *lists, "i0", none, f"i{groups}", result, "i0"]
    )


def _convolution(step: Step, _: Callable[[Value], bytes | None]) -> str:
    return convolution(step.ints, step.inputs[0].type)


def _gather(step: Step, _: Callable[[Value], bytes | None]) -> str:
    """Rows along one axis; the compiler has put the indices into bounds."""
    operand, indices = step.inputs
    batches, *rest = step.ints[1:]

    def take(count: int) -> list[int]:
        nonlocal rest
        taken, rest = rest[:count], rest[count:]
        return taken

    lengths, index_strides, batch_out, batch_in = (take(batches) for _ in range(4))
    (windows,) = take(1)
    sizes, inner, out = (take(windows) for _ in range(3))
    (mapped,) = take(1)
    if mapped != 1 or any(batch_in) or indices.type not in (INT32, INT64):
        return ""
    limit, along = take(2)
    if operand.type not in MOVED or not operand.elements or not indices.elements:
        return ""
    rows, count = limit + 1, indices.elements
    whole = 1
    for size, of_operand, of_result in zip(sizes, inner, out, strict=True):
        if size == 1:
            continue
        whole *= size
        wanted = of_operand if of_operand < along else of_operand // rows * count
        if of_result != wanted:
            return ""
    dense = strides_of(tuple(lengths))
    spread = [s * along for s in dense]
    if whole * rows != operand.elements or any(
        n != 1 and (b != w or i != d)
        for n, b, w, i, d in zip(lengths, batch_out, spread, index_strides, dense, strict=True)
    ):
        return ""
    above = operand.elements // (rows * along)
    source, result = view(0, [above, rows, along]), view(2, [above, count, along])
    return f"aclnnIndexSelect {source} i1 {view(1, [count])} {result}"


_WRITERS: dict[str, Callable[[Step, Callable[[Value], bytes | None]], str]] = {
    "copy": _copy,
    "move": _move,
    "fill": _fill,
    "iota": _iota,
    "reduce": _reduce,
    "dot": _dot,
    "convolution": _convolution,
    "gather": _gather,
}
