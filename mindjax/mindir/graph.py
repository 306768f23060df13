"""A MindIR file as graphs of nodes, checked before anything runs."""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from mindjax.core import cipher
from mindjax.mindir.message import Message, MindIRError, parse
from mindjax.mindir.values import MONAD, np_dtype, read_attribute, read_tensor

_REFERENCE = "REF::"


class Operator(NamedTuple):
    """What a node computes.

    Attributes:
        name: name of the primitive, such as ``MatMul``.
        attributes: its attributes.
        function: whether the attributes stand behind the inputs of the node.
    """

    name: str
    attributes: dict[str, Any]
    function: bool


class Node(NamedTuple):
    """One node: either an operator or a call.

    Attributes:
        output: name of its result.
        inputs: names of its inputs.
        operator: what it computes; None for a call.
        target: the name that is called, of a graph or of a value, if there is no operator.
        scope: the network's part that it stands for.
    """

    output: str
    inputs: tuple[str, ...]
    operator: Operator | None
    target: str
    scope: str


class Graph(NamedTuple):
    """One graph.

    Attributes:
        name: its name.
        inputs: names of its inputs.
        nodes: in an order in which every input stands before its use.
        outputs: names of its results.
        loop: whether it calls itself again.
    """

    name: str
    inputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    loop: bool


class InputType(NamedTuple):
    """Name, shape (-1 for a size that may change) and numpy dtype of an input of the network."""

    name: str
    shape: tuple[int, ...]
    dtype: str


class FuncGraph:
    """A loaded MindIR file (MindSpore: what ``load`` returns).

    Args:
        model: the file's message.
        folder: where its external data may lie; None if it may have none.
        opened: function that turns the bytes of an external file into plain ones.

    Attributes:
        model: the message.
        main: the network.
        graphs: all graphs by name, the network's among them.
        constants: values by name.
        parameters: arrays by the Parameter's name.
        parameter_names: name among the nodes -> the Parameter's name.
        inputs: types of the network's inputs.
        writes: whether the network may write its Parameters.
    """

    def __init__(self, model: Message, folder: str | None = None, opened: Any = None) -> None:
        self.model = model
        if model.has("mind_ir_version") and not 0 <= model.mind_ir_version <= 3:
            raise MindIRError(
                f"it has the version {model.mind_ir_version} of MindIR; MindJAX reads up to 3"
            )
        if model.has("little_endian") and not model.little_endian:
            raise MindIRError("its numbers are big-endian, which MindJAX cannot read")
        if not model.has("graph"):
            raise MindIRError("it holds no graph")
        if model.graph.has("map_parameter"):
            raise MindIRError("it holds map parameters, which MindJAX cannot read")
        self.name = model.graph.name
        self.operators = {p.name: _operator(p) for p in model.primitives}
        messages = {g.name: g for g in model.functions}
        messages[self.name] = model.graph
        if len(messages) != len(model.functions) + 1:
            raise MindIRError("two of its graphs have one name")
        self.constants: dict[str, Any] = {}
        for graph in messages.values():
            for node in graph.node:
                if node.op_type == "Constant":
                    self.constants[_output(node)] = _constant(node)
        self.parameters: dict[str, np.ndarray] = {}
        self.parameter_names: dict[str, str] = {}
        for tensor in model.graph.parameter:
            own = tensor.ref_key or tensor.name.partition(":")[2] or tensor.name
            if own in self.parameters:
                raise MindIRError(f"two of its parameters have the name '{own}'")
            self.parameters[own] = read_tensor(tensor, folder, opened)
            self.parameter_names[tensor.name] = own
        parsed = {name: self._nodes(g, messages) for name, g in messages.items()}
        loops = _loops(parsed, messages)
        self.graphs = {
            name: Graph(
                name,
                tuple(i.name for i in g.input),
                parsed[name],
                tuple(o.name for o in g.output),
                name in loops,
            )
            for name, g in messages.items()
        }
        self.main = self.graphs[self.name]
        for graph in self.graphs.values():
            self._check(graph)
        self.inputs = [_input_type(i) for i in model.graph.input]
        tokens = {name for name, value in self.constants.items() if value is MONAD}
        self.writes = any(
            _writes(self.graphs[name], _state(g) | set(self.parameter_names), tokens | _tokens(g))
            for name, g in messages.items()
        )

    def _nodes(self, graph: Message, graphs: dict[str, Message]) -> tuple[Node, ...]:
        nodes: dict[str, Node] = {}
        for message in graph.node:
            if message.op_type == "Constant":
                continue
            output = _output(message)
            if output in nodes:
                raise MindIRError(f"two nodes have the name '{output}'")
            target = message.op_type.removeprefix(_REFERENCE)
            operator = self.operators.get(target)
            if operator is None and not message.op_type.startswith(_REFERENCE):
                attributes = {
                    a.name: read_attribute(a) for a in message.attribute if a.name != "shape"
                }
                operator = Operator(message.op_type.removeprefix("::"), attributes, False)
            nodes[output] = Node(output, tuple(message.input), operator, target, message.domain)
        return _ordered(nodes)

    def _check(self, graph: Graph) -> None:
        """Raise unless every name that a graph uses is known in it."""
        known = {*graph.inputs, *self.constants, *self.graphs, *self.parameter_names}
        for node in graph.nodes:
            used = node.inputs if node.operator else (*node.inputs, node.target)
            for name in used:
                if name not in known:
                    raise MindIRError(
                        f"the node '{node.output}' uses '{name}', which nothing gives"
                    )
            known.add(node.output)
        if not graph.outputs:
            raise MindIRError(f"the graph '{graph.name}' has no output")
        for name in graph.outputs:
            if name not in known:
                raise MindIRError(f"the graph '{graph.name}' returns '{name}', which nothing gives")

    def __repr__(self) -> str:
        return f"<mindjax.mindir.FuncGraph {self.name}>"


# Operators that do nothing to a Parameter among their inputs.
_READERS = {"Load", "UpdateState", "Partial", "Depend", "MakeTuple"}


def _state(graph: Message) -> set[str]:
    """Name the inputs of a graph that are Parameters."""
    return {i.name for i in graph.input if any(t.ref_key for t in i.tensor)}


def _tokens(graph: Message) -> set[str]:
    """Name the inputs of a graph that order side effects."""
    return {i.name for i in graph.input if "Monad" in i.denotation}


def _writes(graph: Graph, state: set[str], tokens: set[str]) -> bool:
    """Tell whether a node takes a Parameter and the order in which it does something to it."""
    updates = {
        n.output for n in graph.nodes if n.operator is not None and n.operator.name == "UpdateState"
    }
    return any(
        node.operator is not None
        and node.operator.name not in _READERS
        and any(name in state for name in node.inputs)
        and any(name in tokens or name in updates for name in node.inputs)
        for node in graph.nodes
    )


def _operator(message: Message) -> Operator:
    attributes = {a.name: read_attribute(a) for a in message.attribute}
    return Operator(message.op_type, attributes, message.prim_type == 2)


def _output(node: Message) -> str:
    if len(node.output) != 1:
        raise MindIRError(f"the node '{node.name}' has {len(node.output)} outputs, not one")
    return node.output[0]


def _constant(node: Message) -> Any:
    if not node.attribute:
        raise MindIRError(f"the constant '{node.name}' has no value")
    return read_attribute(node.attribute[0])


def _input_type(value: Message) -> InputType:
    own = value.name.partition(":")[2] or value.name
    if not value.tensor:
        return InputType(own, (), value.denotation or "none")
    tensor = value.tensor[0]
    return InputType(own, tuple(tensor.dims), np_dtype(tensor.data_type).name)


def _ordered(nodes: dict[str, Node]) -> tuple[Node, ...]:
    """Put nodes behind what they use; the file's order stays where it is possible."""
    done: dict[str, Node] = {}
    for first in nodes:
        stack = [(first, iter(_uses(nodes[first])))]
        open_names = {first}
        while stack:
            name, rest = stack[-1]
            if name in done:
                stack.pop()
                open_names.discard(name)
                continue
            following = next((u for u in rest if u in nodes and u not in done), None)
            if following is None:
                done[name] = nodes[name]
                stack.pop()
                open_names.discard(name)
            elif following in open_names:
                raise MindIRError(f"the node '{following}' needs its own result")
            else:
                stack.append((following, iter(_uses(nodes[following]))))
                open_names.add(following)
    return tuple(done.values())


def _uses(node: Node) -> tuple[str, ...]:
    return node.inputs if node.operator else (*node.inputs, node.target)


def _loops(parsed: dict[str, tuple[Node, ...]], graphs: dict[str, Message]) -> set[str]:
    """Find the graphs that loops call again: heads that the file marks, and other recursions."""
    edges = {
        name: {u for node in nodes for u in _uses(node) if u in graphs}
        for name, nodes in parsed.items()
    }
    heads = {
        name
        for name, g in graphs.items()
        if any(a.name == "is_while_header" and (a.i or a.ints == [1]) for a in g.attribute)
    }
    found = set(heads)
    for name in graphs:
        if name in heads:
            continue
        # Past the heads that are known: what still comes back to itself is a loop of its own.
        seen: set[str] = set()
        waiting = [name]
        while waiting:
            for other in edges[waiting.pop()] - seen - heads:
                seen.add(other)
                waiting.append(other)
        if name in seen:
            found.add(name)
    return found


def read_file(
    path: str, key: bytes | None = None, mode: str = "AES-GCM", function: Any = None
) -> FuncGraph:
    """Read a MindIR file, with the files beside it that hold its parameters.

    Args:
        path: the ``.mindir`` file.
        key: the key of an encrypted file.
        mode: how it is encrypted.
        function: ``f(path, key) -> bytes`` decrypts a file in its own way, in place of `mode`.

    Returns:
        The checked graphs.

    Raises:
        MindIRError: the file is damaged, or something else than MindIR.
        OSError: it cannot be read.
        ValueError: the key has a wrong length.
    """
    kept: dict[str, bytes] = {}

    def opened(name: str) -> bytes:
        if name not in kept:
            kept.clear()
            kept[name] = _plain(name, key, mode, function)
        return kept[name]

    content = opened(path)
    if not content:
        raise MindIRError("the file is empty")
    if cipher.is_encrypted(content):
        raise MindIRError("the file is encrypted: give its key as 'dec_key'")
    plain = opened if key is not None else None
    return FuncGraph(parse("Model", content), os.path.dirname(os.path.abspath(path)), plain)


def _plain(path: str, key: bytes | None, mode: str, function: Any) -> bytes:
    if function is not None:
        return bytes(function(path, key))
    with open(path, "rb") as file:
        content = file.read()
    if key is None:
        return content
    try:
        return cipher.decrypt(content, key, mode)
    except cipher.CipherError as error:
        raise MindIRError(f"decryption failed: {error}") from None
