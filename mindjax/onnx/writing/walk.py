"""Walking through a MindIR graph: its primitives by the table, its calls as If and Loop."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.mindir.graph import FuncGraph, Graph, Node
from mindjax.mindir.interpreter import Again, Choice, Closure
from mindjax.mindir.lowering import UnknownOperation
from mindjax.mindir.primitives import UnknownPrimitive, arguments, form_of
from mindjax.mindir.values import MONAD
from mindjax.onnx.writing import elementwise as elementwise
from mindjax.onnx.writing import layers as layers
from mindjax.onnx.writing import shapes as shapes
from mindjax.onnx.writing.emitter import Emitter, Ref
from mindjax.onnx.writing.rows import ROWS, Call


class Walk:
    """The nodes of ONNX for the graphs of one MindIR file.

    Args:
        network: the file.
        types: types of its nodes' results.
    """

    def __init__(self, network: FuncGraph, types: dict[str, Any]) -> None:
        self._network, self._types = network, types
        self._known: dict[str, Any] = dict(network.constants)
        for name, own in network.parameter_names.items():
            array = network.parameters[own]
            self._known[name] = Ref(own, array.shape, array.dtype)
        self._open_loops: list[str] = []

    def enter(self, emitter: Emitter, name: str, values: Sequence[Any]) -> Any:
        """Call a graph.

        Args:
            emitter: the ONNX graph that grows.
            name: of the MindIR graph.
            values: what it is called with.

        Returns:
            Its result: `Ref`, array, Python value or tuple of these.
        """
        graph = self._network.graphs[name]
        if name in self._open_loops:
            return Again(name, tuple(values))
        if graph.loop:
            return self._loop(emitter, graph, values)
        return self._evaluate(emitter, graph, values, len(graph.nodes))

    def _evaluate(self, emitter: Emitter, graph: Graph, values: Sequence[Any], count: int) -> Any:
        environment = self._environment(emitter, graph, values, count)
        outputs = [self._value(name, environment) for name in graph.outputs]
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _environment(
        self, emitter: Emitter, graph: Graph, values: Sequence[Any], count: int
    ) -> dict[str, Any]:
        environment = dict(zip(graph.inputs, values, strict=True))
        for node in graph.nodes[:count]:
            environment[node.output] = self._node(emitter, node, environment)
        return environment

    def _value(self, name: str, environment: dict[str, Any]) -> Any:
        if name in environment:
            return environment[name]
        return self._known[name] if name in self._known else Closure(name, ())

    def _node(self, emitter: Emitter, node: Node, environment: dict[str, Any]) -> Any:
        values = [self._value(name, environment) for name in node.inputs]
        if node.operator is None:
            return self._call(emitter, self._value(node.target, environment), values)
        name = node.operator.name
        if name in ("Load", "Depend", "Return", "return"):
            return values[0]
        if name in ("UpdateState", "Assign"):
            # What is written is no part of a result; `model` looks that none depends on it.
            return MONAD
        if name == "MakeTuple":
            return tuple(values)
        if name == "TupleGetItem":
            return _item(values[0], int(values[1]))
        if name == "Switch":
            return Choice(*values)
        if name == "Partial":
            return Closure(values[0].graph, (*values[0].arguments, *values[1:]))
        row = ROWS.get(name)
        if row is None:
            raise UnknownOperation(
                f"ONNX has no form for '{name}', which the network needs: compute it with other "
                "operations, or use 'MINDIR' or 'STABLEHLO'"
            )
        given = [v for v in values if v is not MONAD]
        out = self._types.get(node.output)
        call = Call(*_split(node, given), out)
        return _typed(row(emitter, call), out)

    # -- conditions --

    def _call(self, emitter: Emitter, target: Any, values: Sequence[Any]) -> Any:
        if isinstance(target, Closure):
            return self.enter(emitter, target.graph, (*target.arguments, *values))
        assert isinstance(target, Choice)
        if not isinstance(target.condition, Ref):
            chosen = target.true if bool(target.condition) else target.false
            return self._call(emitter, chosen, values)
        graphs, results = [], []
        for closure in (target.true, target.false):
            inner = emitter.inner()
            result = self._call(inner, closure, values)
            refs = [inner.op("Identity", v) for v in _flat(result, inner)]
            graphs.append((inner, refs))
            results.append((result, refs))
        (result, ones), (_, others) = results
        if [r.dtype for r in ones] != [r.dtype for r in others]:
            raise UnknownOperation("the two branches of a condition give different types")
        made = [
            emitter.onnx.helper.make_graph(
                needed(inner.nodes, refs), inner.name("branch"), [], outputs(inner, refs)
            )
            for inner, refs in graphs
        ]
        condition = emitter.op("Reshape", target.condition, np.zeros(0, np.int64))
        outs = emitter.op(
            "If", condition, count=len(ones), then_branch=made[0], else_branch=made[1]
        )
        outs = outs if isinstance(outs, list) else [outs]
        typed = [
            Ref(o.name, _wider(a.shape, b.shape), a.dtype)
            for o, a, b in zip(outs, ones, others, strict=True)
        ]
        return _rebuilt(result, iter(typed))

    # -- loops --

    def _head(self, emitter: Emitter, graph: Graph, values: Sequence[Any]) -> Choice:
        """Evaluate a loop's head up to its choice."""
        last = graph.nodes[-1]
        environment = self._environment(emitter, graph, values, len(graph.nodes) - 1)
        choice = environment.get(last.target)
        if last.operator is not None or not isinstance(choice, Choice):
            raise UnknownOperation("a loop without a condition at its head has no form in ONNX")
        return choice

    def _loop(self, emitter: Emitter, graph: Graph, values: Sequence[Any]) -> Any:
        self._open_loops.append(graph.name)
        try:
            start = self._head(emitter, graph, values)
            kept = self._kept(graph, start)
            carried = [i for i in range(len(values)) if i not in kept]
            first = [emitter.ref(values[i]) for i in carried]
            body = emitter.inner()
            entered = [Ref(body.name("carried"), v.shape, v.dtype) for v in first]
            inside = list(values)
            for i, ref in zip(carried, entered, strict=True):
                inside[i] = ref
            again = self._call(body, self._head(body, graph, inside).true, ())
            if not isinstance(again, Again) or again.graph != graph.name:
                raise UnknownOperation("a loop that is left in its middle has no form in ONNX")
            after = [body.op("Identity", again.arguments[i]) for i in carried]
            following = list(values)
            for i, ref in zip(carried, after, strict=True):
                following[i] = ref
            going = _scalar(body, self._head(body, graph, following).condition)
            turn = Ref(body.name("turn"), (), np.dtype(np.int64))
            was = Ref(body.name("going"), (), np.dtype(np.bool_))
            made = emitter.onnx.helper.make_graph(
                needed(body.nodes, [going, *after]),
                body.name("body"),
                outputs(body, [turn, was, *entered]),
                outputs(body, [going, *after]),
            )
            outs = emitter.op(
                "Loop", None, _scalar(emitter, start.condition), *first, count=len(first), body=made
            )
            outs = outs if isinstance(outs, list) else [outs]
            last = list(values)
            for i, out, kind in zip(carried, outs, first, strict=True):
                last[i] = Ref(out.name, kind.shape, kind.dtype)
            return self._call(emitter, self._head(emitter, graph, last).false, ())
        finally:
            self._open_loops.pop()

    def _kept(self, head: Graph, start: Choice) -> set[int]:
        """Find what a loop's body passes on as it is, which need not be carried."""
        body = self._network.graphs[start.true.graph]
        last, partial = body.nodes[-1], head.nodes
        if last.operator is not None or last.target != head.name:
            return set()
        given = next(
            (n.inputs[1:] for n in partial
             if n.operator is not None and n.operator.name == "Partial"
             and n.inputs[0] == body.name),
            (),
        )  # fmt: skip
        return {
            i
            for i, (passed, entered, own) in enumerate(
                zip(last.inputs, body.inputs, given, strict=False)
            )
            if passed == entered and own == head.inputs[i]
        }


def _scalar(emitter: Emitter, condition: Any) -> Any:
    """Give a condition, which may have one element in a row, as a scalar."""
    if not isinstance(condition, Ref):
        return emitter.constant(np.asarray(bool(condition)))
    return condition if condition.rank == 0 else emitter.op("Squeeze", condition, shape=())


def _item(values: Any, index: int) -> Any:
    value = values[index]
    if value is None:
        raise UnknownOperation(
            "the network needs a second result of an operation, which ONNX has no form for"
        )
    return value


def _split(node: Node, values: list[Any]) -> tuple[dict[str, Any], list[Any]]:
    """Tell a primitive's attributes from its inputs."""
    assert node.operator is not None
    name = node.operator.name
    try:
        form = form_of(name)
    except UnknownPrimitive:
        return dict(node.operator.attributes), values
    if name in ("Argmax", "Argmin", "Cast"):
        return dict(node.operator.attributes), values
    fields, inputs = arguments(name, node.operator.attributes, node.operator.function, values)
    own = dataclasses.fields(form.cls) if form.fields else ()  # type: ignore[arg-type]
    defaults = {f.name: f.default for f in own if f.default is not dataclasses.MISSING}
    return {**defaults, **fields}, inputs


def _typed(result: Any, out: Any) -> Any:
    """Give results the types that are known of them."""
    if isinstance(result, Ref) and isinstance(out, Ref):
        return Ref(result.name, out.shape, out.dtype)
    if isinstance(result, tuple) and isinstance(out, tuple) and len(result) == len(out):
        return tuple(map(_typed, result, out))
    return result


def _flat(value: Any, emitter: Emitter) -> list[Ref]:
    if isinstance(value, tuple) and not isinstance(value, Ref):
        if isinstance(value, Again | Closure | Choice):
            raise UnknownOperation("a loop that is left in its middle has no form in ONNX")
        return [r for v in value for r in _flat(v, emitter)]
    if value is None:
        raise UnknownOperation("a branch gives None, which ONNX cannot hold")
    return [emitter.ref(np.asarray(value) if not isinstance(value, Ref) else value)]


def _rebuilt(value: Any, refs: Any) -> Any:
    if isinstance(value, tuple) and not isinstance(value, Ref):
        return tuple(_rebuilt(v, refs) for v in value)
    return next(refs)


def _wider(one: Sequence[int | None], other: Sequence[int | None]) -> tuple[int | None, ...]:
    return tuple(a if a == b else None for a, b in zip(one, other, strict=True))


def outputs(emitter: Emitter, refs: Sequence[Ref]) -> list[Any]:
    """Describe values as inputs or outputs of a graph."""
    make = emitter.onnx.helper.make_tensor_value_info
    return [make(r.name, emitter.type_code(r.dtype), list(r.shape)) for r in refs]


def used_names(nodes: Sequence[Any]) -> set[str]:
    """Name all values that nodes use, those of the graphs inside them too."""
    found: set[str] = set()
    for node in nodes:
        found.update(node.input)
        for attribute in node.attribute:
            if attribute.HasField("g"):
                found |= used_names(attribute.g.node)
                found.update(o.name for o in attribute.g.output)
    return found


def needed(nodes: Sequence[Any], results: Sequence[Ref]) -> list[Any]:
    """Leave out the nodes that no result needs."""
    wanted = {r.name for r in results}
    kept = []
    for node in reversed(nodes):
        if wanted.isdisjoint(node.output):
            continue
        kept.append(node)
        wanted |= used_names([node])
    return kept[::-1]
