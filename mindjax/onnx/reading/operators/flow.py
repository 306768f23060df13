"""ONNX's conditions, loops, sequences and random numbers, on Tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core.dtype import from_np
from mindjax.core.handle import Handle
from mindjax.graph.conditional import conditional, is_undecided
from mindjax.graph.flow import WhileLoop
from mindjax.onnx.reading.errors import OnnxError, Undecided, UnknownOperator
from mindjax.onnx.reading.graph import Node
from mindjax.onnx.reading.operators.shapes import axis_of, ints
from mindjax.onnx.reading.run import Environment, Run, known, tensor
from mindjax.onnx.reading.table import special
from mindjax.onnx.reading.tensors import np_dtype
from mindjax.tensor.tensor import Tensor

# Turns of a loop that a graph holds one by one.
_UNROLLED = 64
# A loop that collects rows is held so, if their number is known.
_MOST_TURNS = 4096


def _truth(value: Any) -> Any:
    """Give a condition as a bool, or as the Tensor that it is while a graph is traced."""
    if isinstance(value, Handle) and is_undecided(value):
        return value
    return bool(np.reshape(known(value), -1)[0])


@special("If")
def _if(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    condition = _truth(values[0])
    then, other = node.attributes["then_branch"], node.attributes["else_branch"]
    if isinstance(condition, bool):
        return tuple(run.graph(then if condition else other, [], environment))

    def branch(graph: Any) -> Any:
        return lambda: [tensor(v) for v in run.graph(graph, [], environment)]

    try:
        return tuple(conditional(condition.reshape(()), branch(then), branch(other)))
    except OnnxError as error:
        raise Undecided(f"one of its branches does not fit: {error}") from error
    except TypeError as error:
        raise Undecided("the shapes of its result depend on a condition") from error


@special("Loop")
def _loop(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    body = node.attributes["body"]
    values = values + [None] * (2 - len(values))
    most = None if values[0] is None else values[0]
    carried = values[2:]
    count = len(carried)
    rows: list[list[Any]] = [[] for _ in range(len(body.outputs) - 1 - count)]
    undecided = isinstance(most, Handle) and is_undecided(most)
    limit = None if most is None or undecided else int(np.reshape(known(most), -1)[0])
    going: Any = True if values[1] is None else _truth(values[1])
    turn = 0
    while not undecided and going is True and (limit is None or turn < limit):
        results = run.graph(body, [np.array(turn, np.int64), np.array(True), *carried], environment)
        going, carried = _truth(results[0]), results[1 : 1 + count]
        for kept, row in zip(rows, results[1 + count :], strict=True):
            kept.append(row)
        turn += 1
        if turn > _UNROLLED and any(isinstance(v, Handle) and is_undecided(v) for v in carried):
            if not rows:
                break
            if turn > _MOST_TURNS:
                raise Undecided(f"a loop that collects rows has more than {_MOST_TURNS} turns")
    if going is False or (limit is not None and turn >= limit):
        return tuple(carried + [_stacked(kept) for kept in rows])
    if rows:
        raise Undecided("a loop collects a number of rows that depends on values")
    return tuple(_traced_loop(run, body, (turn, most, going), carried, environment))


def _traced_loop(
    run: Run, body: Any, state: tuple[int, Any, Any], carried: list[Any], environment: Environment
) -> list[Any]:
    """Run the rest of a loop whose turns are not known while a graph is traced."""
    turn, most, going = state
    if any(v is None or isinstance(v, list) for v in carried):
        raise Undecided("the length of a sequence depends on values")
    most = np.array(np.iinfo(np.int64).max) if most is None else most
    limit = tensor(most).reshape(())
    start = (
        Tensor(np.array(turn, np.int64)),
        tensor(np.array(going) if isinstance(going, bool) else going).reshape(()),
        *(tensor(v) for v in carried),
    )

    def goes_on(now: Any) -> Any:
        return ops.logical_and(now[1], now[0] < limit)

    def step(now: Any) -> Any:
        results = run.graph(body, [now[0], now[1], *now[2:]], environment)
        after = [tensor(v) for v in results]
        for before, value in zip(now[2:], after[1:], strict=True):
            if tuple(before.shape) != tuple(value.shape):
                raise Undecided("a loop changes the shape of what it carries")
        return (now[0] + 1, after[0].reshape(()), *after[1:])

    return list(WhileLoop()(goes_on, step, start)[2:])


def _stacked(rows: list[Any]) -> Any:
    if all(isinstance(r, np.ndarray) for r in rows):
        return np.stack(rows) if rows else np.zeros((0,), np.float32)
    return ops.stack([tensor(r) for r in rows], 0)


def _row(value: Any, place: int, axis: int) -> Any:
    if isinstance(value, np.ndarray):
        return np.take(value, place, axis)
    return ops.gather(value, Tensor(np.array(place, np.int64)), axis)


@special("Scan")
def _scan(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    given, body = node.attributes, node.attributes["body"]
    if run.opset < 9:
        raise UnknownOperator("'Scan' before opset 9 has no form in MindJAX")
    count = given["num_scan_inputs"]
    carried, sequences = values[: len(values) - count], values[len(values) - count :]
    outs = len(body.outputs) - len(carried)
    axes = [axis_of(a, v.ndim) for a, v in
            zip(given.get("scan_input_axes") or [0] * count, sequences, strict=True)]  # fmt: skip
    directions = given.get("scan_input_directions") or [0] * count
    steps = {v.shape[a] for a, v in zip(axes, sequences, strict=True)}
    if len(steps) != 1:
        raise OnnxError("its sequences differ in length")
    length = steps.pop()
    rows: list[list[Any]] = [[] for _ in range(outs)]
    for turn in range(length):
        now = [
            _row(v, length - 1 - turn if backwards else turn, axis)
            for v, axis, backwards in zip(sequences, axes, directions, strict=True)
        ]
        results = run.graph(body, [*carried, *now], environment)
        carried = results[: len(carried)]
        for kept, row in zip(rows, results[len(carried) :], strict=True):
            kept.append(row)
    collected = []
    out_axes = given.get("scan_output_axes") or [0] * outs
    out_directions = given.get("scan_output_directions") or [0] * outs
    for kept, axis, backwards in zip(rows, out_axes, out_directions, strict=True):
        stacked = tensor(_stacked(kept[::-1] if backwards else kept))
        place = axis_of(axis, stacked.ndim)
        order = [*range(1, place + 1), 0, *range(place + 1, stacked.ndim)]
        collected.append(ops.transpose(stacked, tuple(order)) if place else stacked)
    return tuple(carried + collected)


# -- sequences and optional values --


@special("SequenceConstruct")
def _sequence(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    return (list(values),)


@special("SequenceEmpty")
def _sequence_empty(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    return ([],)


def _place(values: list[Any], count: int, default: int) -> int:
    if len(values) < 1 or values[0] is None:
        return default
    place = ints(known(values[0]))[0]
    if not -count <= place <= count:
        raise OnnxError(f"the sequence of {count} has no place {place}")
    return place + count if place < 0 else place


@special("SequenceAt")
def _sequence_at(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    return values[0][_place(values[1:], len(values[0]), 0)]


@special("SequenceInsert")
def _sequence_insert(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    changed = list(values[0])
    changed.insert(_place(values[2:], len(changed), len(changed)), values[1])
    return (changed,)


@special("SequenceErase")
def _sequence_erase(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    changed = list(values[0])
    del changed[_place(values[1:], len(changed), len(changed) - 1)]
    return (changed,)


@special("SequenceLength")
def _sequence_length(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    return np.array(len(values[0]), np.int64)


@special("SequenceMap")
def _sequence_map(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    body = node.attributes["body"]
    results = [
        run.graph(body, [v[i] if isinstance(v, list) else v for v in values], environment)
        for i in range(len(values[0]))
    ]
    return tuple([r[i] for r in results] for i in range(len(body.outputs)))


@special("ConcatFromSequence")
def _concat_sequence(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    tensors = [tensor(v) for v in values[0]]
    axis = node.attributes["axis"]
    if node.attributes.get("new_axis"):
        return ops.stack(tensors, axis)
    return ops.concat(tensors, axis)


@special("SplitToSequence")
def _split_sequence(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    x, axis = tensor(values[0]), node.attributes.get("axis", 0)
    axis = axis_of(axis, x.ndim)
    size = x.shape[axis]
    keep = len(values) > 1 or node.attributes.get("keepdims", 1)
    given = np.array(1) if len(values) < 2 else known(values[1])
    if given.ndim == 0:
        step = int(given)
        parts = [min(step, size - i) for i in range(0, size, step)]
    else:
        parts = ints(given)
    pieces = list(ops.split(x, parts, axis))
    return ([p if keep else p.reshape([s for i, s in enumerate(p.shape) if i != axis])
             for p in pieces],)  # fmt: skip


@special("Optional")
def _optional(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    return (values[0] if values else None,)


@special("OptionalGetElement")
def _optional_element(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    if not values:
        raise OnnxError("the optional value is not there")
    return (values[0],)


@special("OptionalHasElement")
def _optional_has(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    return np.array(bool(values))


@special("Identity")
def _identity(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    return (values[0] if values else None,)


# -- random numbers --


def _random(run: Run, node: Node, shape: tuple[int, ...], dtype: Any) -> Any:
    given = node.attributes
    if "Normal" in node.kind:
        mean, scale = given.get("mean", 0.0), given.get("scale", 1.0)
        out = ops.standard_normal(shape) * scale + mean
    else:
        low, high = given.get("low", 0.0), given.get("high", 1.0)
        out = ops.rand(*shape) * (high - low) + low
    return ops.cast(out, from_np(dtype))


@special("RandomNormal", "RandomUniform")
def _random_of_shape(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    dtype = np_dtype(node.attributes.get("dtype", 1))
    return _random(run, node, tuple(node.attributes["shape"]), dtype)


@special("RandomNormalLike", "RandomUniformLike")
def _random_like(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    x = values[0]
    own = x.dtype if isinstance(x, np.ndarray) else x.dtype.np
    given = node.attributes.get("dtype")
    return _random(run, node, tuple(x.shape), np_dtype(given) if given else own)


@special("Bernoulli")
def _bernoulli(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    x = tensor(values[0])
    given = node.attributes.get("dtype")
    drawn = ops.rand(*x.shape) < ops.cast(x, from_np(np.dtype(np.float32)))
    return ops.cast(drawn, from_np(np_dtype(given)) if given else x.dtype)


@special("Dropout", static=(1, 2))
def _dropout(run: Run, node: Node, values: list[Any], environment: Environment) -> Any:
    given = [known(v) for v in values[1:]] + [None] * (3 - len(values))
    x, training = tensor(values[0]), given[1] is not None and bool(given[1])
    ratio = 0.5 if given[0] is None else float(np.reshape(given[0], -1)[0])
    if not training or ratio == 0:
        return values[0], np.ones(tuple(x.shape), bool)
    kept = ops.rand(*x.shape) >= ratio
    return x * ops.cast(kept, x.dtype) * (1 / (1 - ratio) if ratio < 1 else 0.0), kept
