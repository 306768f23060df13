"""Running the graphs of a MindIR file on Tensors: each node is a call of a primitive.

What PYNATIVE knows decides branches and loops at once; in a graph they become XLA's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from mindjax import ops
from mindjax.core.handle import Handle
from mindjax.graph.conditional import conditional, is_undecided
from mindjax.graph.flow import WhileLoop
from mindjax.mindir.graph import FuncGraph, Graph, Node
from mindjax.mindir.message import MindIRError
from mindjax.mindir.primitives import UnknownPrimitive, call, check_known
from mindjax.mindir.values import MONAD
from mindjax.ops import Identity
from mindjax.tensor.tensor import Tensor

# Calls that may be open at once; a program's own functions are parts of one graph by then.
_DEEPEST = 60


class Closure(NamedTuple):
    """A graph with its first arguments."""

    graph: str
    arguments: tuple[Any, ...]


class Choice(NamedTuple):
    """One of two closures, by a condition."""

    condition: Any
    true: Any
    false: Any


class Again(NamedTuple):
    """The next turn of a loop: the arguments of its head."""

    graph: str
    arguments: tuple[Any, ...]


class Left(NamedTuple):
    """What a turn of a loop came to that may have left it in its middle.

    Attributes:
        graph: the loop.
        again: whether there is a next turn.
        arguments: those of the next turn, if there is one.
        result: what comes of the loop and all behind it, if there is none.
    """

    graph: str
    again: Any
    arguments: tuple[Any, ...]
    result: Any


class _Differs(UnknownPrimitive):
    """The branches of a condition give results of different structure."""


class Interpreter:
    """One run of a network.

    Args:
        network: the loaded file.
        parameters: its Parameters by name.
        constants: its constants by name, arrays as Tensors.
    """

    def __init__(
        self, network: FuncGraph, parameters: Mapping[str, Any], constants: Mapping[str, Any]
    ) -> None:
        self._network = network
        names = network.parameter_names
        self._known = {**constants, **{n: parameters[own] for n, own in names.items()}}
        self._open_loops: list[str] = []
        self._depth = 0
        # Of the loops that are traced and may be left in their middle: what a turn began with, and
        # a result of the right structure.
        self._exits: list[Left] = []

    def run(self, inputs: tuple[Any, ...]) -> Any:
        """Run the network on its inputs and give its outputs, a tuple if there are several."""
        return self._enter(self._network.main.name, inputs)

    def _enter(self, name: str, arguments: tuple[Any, ...]) -> Any:
        """Call a graph."""
        graph = self._network.graphs[name]
        if len(arguments) != len(graph.inputs):
            raise MindIRError(
                f"the graph '{name}' takes {len(graph.inputs)} inputs, but got {len(arguments)}"
            )
        if name in self._open_loops:
            return Again(name, arguments)
        if graph.loop:
            return self._loop(graph, arguments)
        return self._evaluate(graph, arguments)

    def _evaluate(self, graph: Graph, arguments: tuple[Any, ...]) -> Any:
        if self._depth >= _DEEPEST:
            raise MindIRError(f"its graphs call each other more than {_DEEPEST} deep")
        self._depth += 1
        try:
            environment = dict(zip(graph.inputs, arguments, strict=True))
            for node in graph.nodes:
                environment[node.output] = self._node(node, environment)
            outputs = [self._value(name, environment) for name in graph.outputs]
        finally:
            self._depth -= 1
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _value(self, name: str, environment: dict[str, Any]) -> Any:
        if name in environment:
            return environment[name]
        if name in self._known:
            return self._known[name]
        return Closure(name, ())

    def _node(self, node: Node, environment: dict[str, Any]) -> Any:
        values = [self._value(name, environment) for name in node.inputs]
        if node.operator is None:
            target = self._value(node.target, environment)
            return self._call(target, tuple(values))
        name = node.operator.name
        glue = _GLUE.get(name)
        if glue is not None:
            return glue(self, *values)
        if name == "Switch":
            return Choice(*values)
        if name == "Partial":
            return Closure(values[0].graph, (*values[0].arguments, *values[1:]))
        given = [v for v in values if v is not MONAD]
        for value in given:
            if isinstance(value, Again | Choice | Left):
                raise UnknownPrimitive(
                    f"the node '{node.output}' ({name}) uses the result of a call of its own graph"
                )
        try:
            return call(name, node.operator.attributes, node.operator.function, given)
        except UnknownPrimitive as error:
            raise UnknownPrimitive(f"For '{node.output}': {error}") from None

    def load(self, value: Any, *order: Any) -> Any:
        """Read a Parameter: its value now, if the network writes it later."""
        return Identity()(value) if self._network.writes else value

    def _call(self, target: Any, arguments: tuple[Any, ...]) -> Any:
        if isinstance(target, Closure):
            return self._enter(target.graph, (*target.arguments, *arguments))
        if isinstance(target, Choice):
            return self._choose(target, arguments)
        raise MindIRError(f"a node calls a {type(target).__name__}, which is no graph")

    def _choose(self, choice: Choice, arguments: tuple[Any, ...]) -> Any:
        condition = _condition(choice.condition)
        if not isinstance(condition, Handle):
            return self._call(choice.true if condition else choice.false, arguments)
        branches = (
            lambda: self._call(choice.true, arguments),
            lambda: self._call(choice.false, arguments),
        )
        try:
            return _conditional(condition, *branches)
        except _Differs as error:
            differs = error
        # One goes on with a loop, the other one leaves it.
        for left in reversed(self._exits):
            try:
                return _conditional(
                    condition, *(lambda b=b, left=left: _as_left(b(), left) for b in branches)
                )
            except _Differs:
                continue
        raise differs

    # -- loops --

    def _loop(self, graph: Graph, arguments: tuple[Any, ...]) -> Any:
        self._open_loops.append(graph.name)
        try:
            result: Any = Again(graph.name, arguments)
            while isinstance(result, Again) and result.graph == graph.name:
                arguments = result.arguments
                choice = self._head(graph, arguments)
                if choice is None:
                    result = self._evaluate(graph, arguments)
                    continue
                condition = _condition(choice.condition)
                if isinstance(condition, Handle):
                    result = self._traced_loop(graph, arguments)
                else:
                    result = self._call(choice.true if condition else choice.false, ())
            return result
        finally:
            self._open_loops.pop()

    def _head(self, graph: Graph, arguments: tuple[Any, ...]) -> Choice | None:
        """Evaluate a loop's head up to its choice, if it ends in one that is called."""
        last = graph.nodes[-1] if graph.nodes else None
        if last is None or last.operator is not None or last.inputs:
            return None
        environment = dict(zip(graph.inputs, arguments, strict=True))
        for node in graph.nodes[:-1]:
            environment[node.output] = self._node(node, environment)
        choice = environment.get(last.target)
        return choice if isinstance(choice, Choice) else None

    def _traced_loop(self, graph: Graph, arguments: tuple[Any, ...]) -> Any:
        """Run a loop whose condition is a Tensor of a graph that is being traced."""
        carried = [i for i, a in enumerate(arguments) if _is_carried(a)]

        def complete(values: Any) -> tuple[Any, ...]:
            full = list(arguments)
            for i, value in zip(carried, values, strict=True):
                full[i] = value
            return tuple(full)

        def head(values: Any) -> Choice:
            choice = self._head(graph, complete(values))
            assert choice is not None
            return choice

        def next_turn(arguments: tuple[Any, ...], values: Any) -> tuple[Any, ...]:
            return tuple(_of_kind(arguments[i], values[place]) for place, i in enumerate(carried))

        def body(values: Any) -> Any:
            result = self._call(head(values).true, ())
            if not isinstance(result, Again) or result.graph != graph.name:
                raise _Differs(
                    f"the loop '{graph.name}' is left in its middle (break or return) by a way "
                    "that MindJAX cannot run as one program"
                )
            return next_turn(result.arguments, values)

        start = tuple(_lifted(arguments[i]) for i in carried)
        try:
            last = WhileLoop()(lambda values: head(values).condition, body, start)
        except _Differs:
            pass
        else:
            return self._call(head(last).false, ())

        # `break` and `return`: the result is carried too, and whether the loop goes on.
        first = head(start)
        template, found = _structure(first.condition, lambda: self._call(first.false, ()))

        def leaving_body(carry: Any) -> Any:
            values, result = carry[: len(start)], carry[len(start) + 1 :]
            began = Left(graph.name, True, complete(values), _put(template, list(result)))
            self._exits.append(began)
            try:
                turn = _as_left(self._call(head(values).true, ()), began)
            finally:
                self._exits.pop()
            after: list[Any] = []
            if _take(turn.result, after) != template:
                raise _Differs(f"the ways out of the loop '{graph.name}' give different results")
            after = [_of_kind(v, b) for v, b in zip(after, result, strict=True)]
            return (*next_turn(turn.arguments, values), _lifted(turn.again), *after)

        def going(carry: Any) -> Any:
            return ops.logical_and(carry[len(start)], head(carry[: len(start)]).condition)

        carry = WhileLoop()(going, leaving_body, (*start, Tensor(True), *found))
        values, result = carry[: len(start)], list(carry[len(start) + 1 :])
        return _conditional(
            carry[len(start)],
            lambda: self._call(head(values).false, ()),
            lambda: _put(template, result),
        )


# What the interpreter itself makes of a node.
_CHOICES = ("Switch", "Partial")
_GLUE: dict[str, Callable[..., Any]] = {
    "Load": Interpreter.load,
    "UpdateState": lambda run, *values: MONAD,
    "Depend": lambda run, value, *order: value,
    "Return": lambda run, value: value,
    "return": lambda run, value: value,
}


def check_primitives(network: FuncGraph) -> None:
    """Refuse a network with a node that cannot be run.

    Raises:
        UnknownPrimitive: MindJAX has not the primitive of a node.
    """
    for graph in network.graphs.values():
        for node in graph.nodes:
            name = None if node.operator is None else node.operator.name
            if name is None or name in _GLUE or name in _CHOICES:
                continue
            try:
                check_known(name)
            except UnknownPrimitive as error:
                raise UnknownPrimitive(f"For '{node.output}': {error}") from None


def _is_carried(value: Any) -> bool:
    """Tell whether a loop changes an argument; Parameters are state, and stay what they are."""
    if isinstance(value, Handle):
        return not value.is_parameter
    if isinstance(value, tuple | list):
        return bool(value) and all(map(_is_carried, value))
    return isinstance(value, bool | int | float | np.generic)


def _lifted(value: Any) -> Any:
    if isinstance(value, tuple | list):
        return tuple(map(_lifted, value))
    return value if isinstance(value, Handle) else Tensor(value)


def _of_kind(value: Any, before: Any) -> Any:
    """Bring a loop's next value to the dtype of the one before: Python numbers became Tensors."""
    if isinstance(before, tuple | list):
        return tuple(_of_kind(v, b) for v, b in zip(value, before, strict=True))
    value = _lifted(value)
    return value if value.dtype == before.dtype else value.astype(before.dtype)


def _condition(value: Any) -> Any:
    """Give a condition as a bool, or as the Tensor that it is while a graph is traced."""
    if is_undecided(value):
        return value
    return bool(value)


class _Slot(NamedTuple):
    """The place of a Tensor in the result of a branch."""

    place: int


def _take(value: Any, tensors: list[Any]) -> Any:
    """Take the Tensors out of a branch's result and give a template of the rest."""
    if isinstance(value, Handle | bool | int | float | np.generic):
        tensors.append(_lifted(value))
        return _Slot(len(tensors) - 1)
    if isinstance(value, Again):
        return Again(value.graph, tuple(_take(v, tensors) for v in value.arguments))
    if isinstance(value, Left):
        return Left(
            value.graph,
            _take(value.again, tensors),
            tuple(_take(v, tensors) for v in value.arguments),
            _take(value.result, tensors),
        )
    if isinstance(value, Closure | Choice):
        raise UnknownPrimitive("a branch gives a function, which MindJAX cannot run as one program")
    if isinstance(value, tuple | list):
        return tuple(_take(v, tensors) for v in value)
    return value


def _put(value: Any, tensors: list[Any]) -> Any:
    if isinstance(value, _Slot):
        return tensors[value.place]
    if isinstance(value, Again):
        return Again(value.graph, tuple(_put(v, tensors) for v in value.arguments))
    if isinstance(value, Left):
        return Left(value.graph, *(_put(part, tensors) for part in value[1:]))
    if isinstance(value, tuple):
        return tuple(_put(v, tensors) for v in value)
    return value


class _Known(Exception):
    """Ends a trace that was made for the structure of its result alone."""


def _structure(condition: Any, function: Callable[[], Any]) -> tuple[Any, list[Any]]:
    """Find the structure of a function's result without a run of it, what it writes included.

    Args:
        condition: an undecided condition.
        function: function of no arguments.

    Returns:
        The result's template, and zeros in the place of its Tensors.
    """
    found: list[Any] = []

    def trace() -> list[Any]:
        tensors: list[Any] = []
        template = _take(function(), tensors)
        found.extend((template, [(tuple(t.shape), t.dtype) for t in tensors]))
        raise _Known

    with contextlib.suppress(_Known):
        conditional(condition, trace, trace)
    template, types = found
    return template, [ops.zeros(shape, dtype) for shape, dtype in types]


def _as_left(value: Any, began: Left) -> Left:
    """Say of a turn's result whether it is the next turn or the loop's result."""
    if isinstance(value, Left) and value.graph == began.graph:
        return value
    if isinstance(value, Again) and value.graph == began.graph:
        return Left(began.graph, True, value.arguments, began.result)
    return Left(began.graph, False, began.arguments, value)


def _conditional(condition: Any, true: Callable[[], Any], false: Callable[[], Any]) -> Any:
    """Choose between two functions of no arguments by an undecided condition."""
    templates: list[Any] = []

    def branch(function: Callable[[], Any]) -> Callable[[], list[Any]]:
        def run() -> list[Any]:
            tensors: list[Any] = []
            templates.append(_take(function(), tensors))
            if templates[0] != templates[-1]:
                raise _Differs(
                    "the two branches of a condition give results of different structure, which "
                    "MindJAX cannot run as one program"
                )
            return tensors

        return run

    tensors = conditional(condition, branch(true), branch(false))
    return _put(templates[0], tensors)
