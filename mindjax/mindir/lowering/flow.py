"""Conditions and loops of a jaxpr as MindIR's sub-graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindjax.mindir.builder import Graph, Name, Value
from mindjax.mindir.lowering.program import Lowering, lowers
from mindjax.mindir.lowering.shapes import concatenated

# A scan of this many equations, over all its turns, is written turn by turn.
_UNROLLED = 500

Body = Callable[[Lowering, list[Value]], list[Value]]


def _opened(closed: Any) -> tuple[Any, list[np.ndarray]]:
    return closed.jaxpr, [np.asarray(c) for c in closed.consts]


def _entered(low: Lowering, types: Sequence[Any]) -> list[Value]:
    """Give a sub-graph inputs of the given types."""
    return [low.graph.input(f"i{i}", t.shape, t.dtype.name) for i, t in enumerate(types)]


def _give(low: Lowering, values: Sequence[Value], types: Sequence[Any]) -> None:
    """Make values the result of a sub-graph: itself if there is one, else a tuple."""
    if len(values) == 1:
        low.graph.output(low.node(values[0]), types[0].shape, types[0].dtype.name)
    else:
        low.graph.output(low.graph.tuple(values))


def _taken(low: Lowering, result: Name, count: int) -> list[Value]:
    return [result] if count == 1 else [low.graph.item(result, i) for i in range(count)]


class _Branch(NamedTuple):
    """A graph that a condition may call, and which of the operands it takes."""

    name: str
    places: list[int]

    def partial(self, graph: Graph, operands: Sequence[Value]) -> Value:
        """Give the graph with its operands."""
        if not self.places:
            return Name(self.name)
        return graph.partial(self.name, *(operands[place] for place in self.places))


def _branch(
    low: Lowering, name: str, types: Sequence[Any], outs: Sequence[Any], body: Body
) -> _Branch:
    inner = low.inside(name)
    _give(inner, body(inner, _entered(inner, types)), outs)
    # The original cannot export a loaded graph again if it has inputs without a use, or is one
    # primitive of its inputs in their order.
    places = inner.graph.drop_unused_inputs()
    inner.graph.message.input = inner.graph.message.input[::-1]
    return _Branch(inner.graph.name, places[::-1])


def _truth(low: Lowering, value: Value, dtype: Any) -> Value:
    if dtype == np.bool_:
        return value
    return low.op("NotEqual", value, np.array(0, dtype))


@lowers("platform_index")
def _platform(low: Lowering, equation: Any, values: list[Value]) -> Value:
    # The lowering for any platform is what a portable file holds.
    platforms = list(equation.params["platforms"])
    return np.array(platforms.index(None) if None in platforms else len(platforms) - 1, np.int32)


@lowers("cond")
def _cond(low: Lowering, equation: Any, values: list[Value]) -> list[Value]:
    index, *operands = values
    branches = [_opened(b) for b in equation.params["branches"]]
    if not isinstance(index, Name):
        place = min(max(int(index), 0), len(branches) - 1)
        return low.run(branches[place][0], branches[place][1], operands)
    types = [v.aval for v in equation.invars[1:]]
    outs = [v.aval for v in equation.outvars]
    dtype = equation.invars[0].aval.dtype

    def body(place: int) -> Body:
        return lambda inner, inputs: inner.run(branches[place][0], branches[place][1], inputs)

    names = [_branch(low, "branch", types, outs, body(i)) for i in range(len(branches))]
    if len(names) == 1:
        return low.run(branches[0][0], branches[0][1], operands)

    def choice(inner: Lowering, which: Value, first: int, inputs: Sequence[Value]) -> list[Value]:
        if first == len(names) - 2:
            if len(names) == 2 or dtype == np.bool_:
                condition = _truth(inner, which, dtype)
            else:
                condition = inner.op("Greater", which, np.array(first, dtype))
            true = names[first + 1].partial(inner.graph, inputs)
        else:
            condition = inner.op("Greater", which, np.array(first, dtype))
            rest = _branch(
                inner,
                "choice",
                [equation.invars[0].aval, *types],
                outs,
                lambda low, inputs: choice(low, inputs[0], first + 1, inputs[1:]),
            )
            true = rest.partial(inner.graph, [which, *inputs])
        false = names[first].partial(inner.graph, inputs)
        chosen = inner.op("Switch", condition, true, false)
        return _taken(inner, inner.graph.call(chosen), len(outs))

    return choice(low, index, 0, operands)


def loop(
    low: Lowering,
    start: Sequence[Value],
    types: Sequence[Any],
    going: Any,
    turn: Body,
    wanted: Sequence[int],
) -> list[Value]:
    """Add a loop.

    Args:
        low: the graph.
        start: what is carried into the first turn.
        types: types of what is carried.
        going: ``going(lowering, values) -> condition``.
        turn: ``turn(lowering, values) -> values``.
        wanted: places of the results among what is carried.

    Returns:
        What the last turn gives at these places.
    """
    head, body = low.inside("while"), low.inside("body")
    following = turn(body, _entered(body, types))
    body.graph.output(body.graph.call(head.graph.name, *following))
    again = _Branch(body.graph.name, body.graph.drop_unused_inputs())
    kinds = [types[place] for place in wanted]
    after = _branch(low, "after", types, kinds, lambda _, values: [values[i] for i in wanted])
    values = _entered(head, types)
    condition = going(head, values)
    true, false = again.partial(head.graph, values), after.partial(head.graph, values)
    chosen = head.op("Switch", condition, true, false)
    head.graph.output(head.graph.call(chosen))
    head.graph.mark("is_while_header", True)
    result = low.graph.call(head.graph.name, *[low.node(v) for v in start])
    return _taken(low, result, len(wanted))


@lowers("while")
def _while(low: Lowering, equation: Any, values: list[Value]) -> list[Value]:
    given = equation.params
    tests, bodies = given["cond_nconsts"], given["body_nconsts"]
    shared = tests + bodies
    test, test_constants = _opened(given["cond_jaxpr"])
    body, body_constants = _opened(given["body_jaxpr"])
    types = [v.aval for v in equation.invars]

    def going(inner: Lowering, inputs: list[Value]) -> Value:
        return inner.run(test, test_constants, [*inputs[:tests], *inputs[shared:]])[0]

    def turn(inner: Lowering, inputs: list[Value]) -> list[Value]:
        after = inner.run(body, body_constants, inputs[tests:])
        return [*inputs[:shared], *after]

    return loop(low, values, types, going, turn, range(shared, len(types)))


@lowers("scan")
def _scan(low: Lowering, equation: Any, values: list[Value]) -> list[Value]:
    given = equation.params
    body, constants = _opened(given["jaxpr"])
    length, shared, carried = given["length"], given["num_consts"], given["num_carry"]
    if len(body.eqns) * length <= _UNROLLED:
        return _unrolled(low, equation, values, body, constants)
    start = shared + carried
    types = [v.aval for v in equation.invars]
    outs = [v.aval for v in equation.outvars[carried:]]
    counter = equation.invars[0].aval.update(shape=(), dtype=np.dtype(np.int32), weak_type=False)
    stacks = [low.broadcast(np.zeros((1,) * t.ndim, t.dtype), t.shape, (1,) * t.ndim) for t in outs]
    count = len(values)

    def going(inner: Lowering, inputs: list[Value]) -> Value:
        return inner.op("Less", inputs[0], np.array(length, np.int32))

    def turn(inner: Lowering, inputs: list[Value]) -> list[Value]:
        number, own, made = inputs[0], inputs[1 : 1 + count], inputs[1 + count :]
        place = number
        if given["reverse"]:
            place = inner.op("Sub", np.array(length - 1, np.int32), number)
        row = inner.reshape(place, (1,), ())
        sliced = [
            inner.reshape(
                inner.op("Gather", x, row, 0, batch_dims=0), t.shape[1:], (1, *t.shape[1:])
            )
            for x, t in zip(own[start:], types[start:], strict=True)
        ]
        after = inner.run(body, constants, [*own[:start], *sliced])
        where = inner.reshape(place, (1, 1), ())
        made = [
            inner.op(
                "TensorScatterUpdate", m, where, inner.reshape(y, (1, *t.shape[1:]), t.shape[1:])
            )
            for m, y, t in zip(made, after[carried:], outs, strict=True)
        ]
        following = inner.op("Add", number, np.array(1, np.int32))
        return [following, *own[:shared], *after[:carried], *own[start:], *made]

    first = [np.array(0, np.int32), *values, *stacks]
    kinds = [counter, *types, *outs]
    wanted = [*range(1 + shared, 1 + start), *range(1 + count, len(kinds))]
    return loop(low, first, kinds, going, turn, wanted)


def _unrolled(
    low: Lowering, equation: Any, values: list[Value], body: Any, constants: list[Any]
) -> list[Value]:
    given = equation.params
    length, shared, carried = given["length"], given["num_consts"], given["num_carry"]
    start = shared + carried
    carry = values[shared:start]
    types = [v.aval for v in equation.invars[start:]]
    outs = [v.aval for v in equation.outvars[carried:]]
    rows: list[list[Value]] = [[] for _ in outs]
    turns = range(length)
    for i in reversed(turns) if given["reverse"] else turns:
        sliced = []
        for x, t in zip(values[start:], types, strict=True):
            first, end = [i] + [0] * (t.ndim - 1), [i + 1, *t.shape[1:]]
            one = low.slice(x, first, end, t.shape)
            sliced.append(low.reshape(one, t.shape[1:], (1, *t.shape[1:])))
        after = low.run(body, constants, [*values[:shared], *carry, *sliced])
        carry = after[:carried]
        for kept, y, t in zip(rows, after[carried:], outs, strict=True):
            kept.append(low.reshape(y, (1, *t.shape[1:]), t.shape[1:]))
    if given["reverse"]:
        rows = [kept[::-1] for kept in rows]
    return [*carry, *(concatenated(low, kept, 0) for kept in rows)]
