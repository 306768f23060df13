"""Primitives that move, gather, sort and reduce elements, as nodes of ONNX."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.mindir.lowering import UnknownOperation
from mindjax.onnx.writing.emitter import Emitter, Ref
from mindjax.onnx.writing.rows import ROWS, Call, row

_LAST = np.iinfo(np.int64).min


def _axes(values: Any) -> list[int]:
    return [int(v) for v in (values if isinstance(values, tuple | list) else (values,))]


# -- shapes --


@row("Reshape")
def _reshape(e: Emitter, call: Call) -> Ref:
    x, shape = call.inputs[:2]
    empty = not isinstance(shape, Ref) and any(not isinstance(n, Ref) and n == 0 for n in shape)
    return e.op("Reshape", x, e.vector(shape), allowzero=1 if empty else None)


@row("Transpose")
def _transpose(e: Emitter, call: Call) -> Ref:
    return e.op("Transpose", call.inputs[0], perm=_axes(call.inputs[1]))


@row("ExpandDims")
def _expand_dims(e: Emitter, call: Call) -> Ref:
    return e.op("Unsqueeze", call.inputs[0], np.array(_axes(call.inputs[1]), np.int64))


@row("BroadcastTo")
def _broadcast(e: Emitter, call: Call) -> Ref:
    # -1 stands for the size that is there, which 1 broadcasts to.
    shape = [1 if not isinstance(n, Ref) and n == -1 else n for n in call.fields["shape"]]
    return e.op("Expand", call.inputs[0], e.vector(tuple(shape)))


@row("Tile")
def _tile(e: Emitter, call: Call) -> Ref:
    x, counts = call.inputs[:2]
    counts = tuple(counts)
    more = len(counts) - e.ref(x).rank
    if more > 0:
        x = e.op("Unsqueeze", x, np.arange(more))
    return e.op("Tile", x, e.vector((1,) * max(-more, 0) + counts))


@row("StridedSlice")
def _strided_slice(e: Emitter, call: Call) -> Ref:
    x, begin, end, steps = call.inputs[:4]
    if any(call.fields.get(f) for f in call.fields if f.endswith("_mask")):
        raise UnknownOperation("'StridedSlice' with masks has no form in ONNX")
    axes = np.arange(len(steps))
    parts = [e.vector(tuple(part)) for part in (begin, end, steps)]
    return e.op("Slice", x, parts[0], parts[1], axes, parts[2])


@row("ReverseV2")
def _reverse(e: Emitter, call: Call) -> Ref:
    axes = _axes(call.fields["axis"])
    ones = np.full(len(axes), -1)
    return e.op("Slice", call.inputs[0], ones, np.full(len(axes), _LAST), np.array(axes), ones)


@row("PadV3")
def _pad(e: Emitter, call: Call) -> Ref:
    x, flat = call.inputs[:2]
    fill = call.inputs[2] if len(call.inputs) > 2 else None
    mode = call.fields.get("mode", "constant")
    names = {"constant": "constant", "reflect": "reflect", "edge": "edge"}
    if mode not in names or any(isinstance(n, Ref) for n in flat):
        raise UnknownOperation(f"'PadV3' in the mode '{mode}' has no form in ONNX")
    rank = e.ref(x).rank
    sides = [(0, 0)] * rank
    # MindIR counts pairs from the last axis.
    for i in range(len(flat) // 2):
        sides[rank - 1 - i] = (int(flat[2 * i]), int(flat[2 * i + 1]))
    pads = np.array([a for a, _ in sides] + [b for _, b in sides], np.int64)
    if fill is not None and not isinstance(fill, Ref):
        fill = np.asarray(fill).astype(call.out.dtype)
    if call.out.dtype == np.bool_:
        fill = None if fill is None else e.cast(fill, np.int32)
        return e.cast(e.op("Pad", e.cast(x, np.int32), pads, fill), np.bool_)
    return e.op("Pad", x, pads, fill, mode=names[mode])


@row("Concat")
def _concat(e: Emitter, call: Call) -> Ref:
    return e.op("Concat", *call.inputs[0], axis=int(call.fields["axis"]))


@row("Stack")
def _stack(e: Emitter, call: Call) -> Ref:
    axis = int(call.fields["axis"])
    if axis < 0:
        axis += len(call.out.shape)
    rows = [e.op("Unsqueeze", v, np.array([axis])) for v in call.inputs[0]]
    return e.op("Concat", *rows, axis=axis)


@row("Shape")
def _shape(e: Emitter, call: Call) -> tuple[Any, ...]:
    x = e.ref(call.inputs[0])
    if all(n is not None for n in x.shape):
        return x.shape
    sizes = e.op("Shape", x, dtype=np.int64, shape=(x.rank,))
    return tuple(
        e.op("Gather", sizes, np.array(i), axis=0, dtype=np.int64, shape=()) if n is None else n
        for i, n in enumerate(x.shape)
    )


def _scalars(kind: str, function: Any) -> Any:
    def write(e: Emitter, call: Call) -> Any:
        a, b = call.inputs
        if not isinstance(a, Ref) and not isinstance(b, Ref):
            return function(a, b)
        a, b = (v if isinstance(v, Ref) else np.array(v, np.int64) for v in (a, b))
        return e.op(kind, a, b, dtype=np.int64, shape=())

    return write


ROWS["ScalarAdd"] = _scalars("Add", lambda a, b: a + b)
ROWS["ScalarMul"] = _scalars("Mul", lambda a, b: a * b)


# -- reductions --

_REDUCTIONS = {"ReduceSum": "ReduceSum", "ReduceMean": "ReduceMean", "ReduceMax": "ReduceMax",
               "ReduceMin": "ReduceMin", "ReduceProd": "ReduceProd", "ReduceAll": "ReduceMin",
               "ReduceAny": "ReduceMax"}  # fmt: skip


def _reduction(kind: str) -> Any:
    def write(e: Emitter, call: Call) -> Any:
        x = e.ref(call.inputs[0])
        # To the original, no axis at all is every axis.
        axes = _axes(call.inputs[1]) or list(range(x.rank))
        keep = bool(call.fields.get("keep_dims"))
        if x.dtype == np.bool_:
            return e.cast(e.reduce(kind, e.cast(x, np.int32), axes, keep), np.bool_)
        return e.reduce(kind, x, axes, keep)

    return write


for _ours, _theirs in _REDUCTIONS.items():
    ROWS[_ours] = _reduction(_theirs)


def _extreme_place(kind: str) -> Any:
    def write(e: Emitter, call: Call) -> Any:
        x = call.inputs[0]
        axis = call.fields.get("axis", call.inputs[1] if len(call.inputs) > 1 else -1)
        found = e.op(kind, x, axis=int(axis), keepdims=0, dtype=np.int64)
        return e.cast(found, call.out.dtype)

    return write


ROWS["Argmax"], ROWS["Argmin"] = _extreme_place("ArgMax"), _extreme_place("ArgMin")


@row("CumSum")
def _cumulative_sum(e: Emitter, call: Call) -> Ref:
    x, axis = call.inputs[:2]
    flags: dict[str, Any] = {k: int(bool(call.fields.get(k))) for k in ("exclusive", "reverse")}
    return e.op("CumSum", x, np.array(int(axis)), **flags)


def _scanned(kind: str, axis_of: Any) -> Any:
    """Give the row of a running reduction: ONNX's Scan over the axis."""

    def write(e: Emitter, call: Call) -> Any:
        x = e.ref(call.inputs[0])
        axis = int(axis_of(call)) % x.rank
        if call.fields.get("exclusive"):
            raise UnknownOperation("an exclusive running product has no form in ONNX")
        backwards = int(bool(call.fields.get("reverse")))
        if kind == "Mul":
            sizes = [x.size(i) for i in range(x.rank) if i != axis]
            start: Any = np.ones(sizes, x.dtype)
        else:
            # In the first turn the row meets itself.
            start = e.op("Gather", x, np.array(-1 if backwards else 0), axis=axis)
        body = e.inner()
        code = e.type_code(x.dtype)
        carried, row_ = (Ref(body.name(n), (), x.dtype) for n in ("carried", "row"))
        after = body.op(kind, carried, row_)
        again = body.op("Identity", after)
        shape = [n for i, n in enumerate(x.shape) if i != axis]
        make = e.onnx.helper.make_tensor_value_info
        graph = e.onnx.helper.make_graph(
            body.nodes,
            body.name("body"),
            [make(v.name, code, shape) for v in (carried, row_)],
            [make(v.name, code, shape) for v in (after, again)],
        )
        results = e.op(
            "Scan", start, x, count=2, body=graph, num_scan_inputs=1, scan_input_axes=[axis],
            scan_output_axes=[axis], scan_input_directions=[backwards],
            scan_output_directions=[backwards],
        )  # fmt: skip
        return results[1]

    return write


ROWS["CumProd"] = _scanned("Mul", lambda call: call.inputs[1])


def _with_places(write: Any) -> Any:
    """Give both results of a running extreme, of which only the values have a form."""

    def both(e: Emitter, call: Call) -> Any:
        return (write(e, call._replace(out=call.out[0])), None)

    return both


ROWS["Cummax"] = _with_places(_scanned("Max", lambda call: call.fields["axis"]))
ROWS["Cummin"] = _with_places(_scanned("Min", lambda call: call.fields["axis"]))


# -- sorting and indexing --


@row("TopK")
def _top_k(e: Emitter, call: Call) -> Any:
    x, count = call.inputs[:2]
    values, places = e.op("TopK", x, e.vector((count,)), count=2, axis=-1)
    return values, e.cast(places._replace(dtype=np.dtype(np.int64)), call.out[1].dtype)


@row("Sort")
def _sort(e: Emitter, call: Call) -> Any:
    x = e.ref(call.inputs[0])
    axis = int(call.fields.get("axis", -1)) % x.rank
    size = x.shape[axis]
    if size is None:
        count = e.op("Slice", e.op("Shape", x), np.array([axis]), np.array([axis + 1]))
    else:
        count = np.array([size])
    largest = int(bool(call.fields.get("descending")))
    values, places = e.op("TopK", x, count, count=2, axis=axis, largest=largest)
    return values, e.cast(places._replace(dtype=np.dtype(np.int64)), call.out[1].dtype)


@row("GatherD")
def _gather_elements(e: Emitter, call: Call) -> Ref:
    x, axis, indices = call.inputs
    return e.op("GatherElements", x, indices, axis=int(axis))


@row("Gather")
def _gather(e: Emitter, call: Call) -> Ref:
    x, indices, axis = call.inputs[:3]
    if call.fields.get("batch_dims"):
        raise UnknownOperation("'Gather' with batch dimensions has no form in ONNX")
    return e.op("Gather", x, indices, axis=int(axis))


def _scatter(reduction: str, since: int) -> Any:
    def write(e: Emitter, call: Call) -> Ref:
        x, indices, updates = call.inputs
        if e.opset < since:
            raise UnknownOperation(
                f"ONNX scatters with '{reduction}' from opset {since} on: give opset={since}"
            )
        return e.op(
            "ScatterND", x, e.cast(indices, np.int64), updates,
            reduction=None if reduction == "none" else reduction,
        )  # fmt: skip

    return write


for _name, _kind, _since in (
    ("Update", "none", 11), ("Add", "add", 16), ("Mul", "mul", 16), ("Max", "max", 18),
    ("Min", "min", 18),
):  # fmt: skip
    ROWS[f"TensorScatter{_name}"] = _scatter(_kind, _since)
