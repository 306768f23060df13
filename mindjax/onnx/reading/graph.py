"""An ONNX file as graphs of nodes, checked before anything runs."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindjax.onnx.package import package
from mindjax.onnx.reading.errors import OnnxError, UnknownOperator
from mindjax.onnx.reading.tensors import Storage, checked_shape, np_dtype, read_tensor, text

OPSETS = (7, 28)
"""First and last version of ONNX's operators that are read."""
# Graphs in graphs; protobuf itself stops at a hundred messages.
_DEEPEST = 24
# Nodes that the functions of a file may become.
_MOST_NODES = 1 << 20
_DOMAINS = ("", "ai.onnx")


class Node(NamedTuple):
    """One node.

    Attributes:
        kind: name of its operator.
        inputs: names; empty for one that is left out.
        outputs: names; empty for one that is not used.
        attributes: by name: numbers, strings, arrays, `Graph`, or lists of these.
        name: what errors call it.
    """

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    name: str


class InputType(NamedTuple):
    """Name, shape (None for a size that may change, or for all) and dtype (None for no array)."""

    name: str
    shape: tuple[int | None, ...] | None
    dtype: np.dtype[Any] | None


class Graph(NamedTuple):
    """One graph.

    Attributes:
        name: its name.
        inputs: names of its inputs.
        nodes: in an order in which every input stands before its use.
        outputs: names of its results.
        constants: arrays by name.
        captured: names that it takes from the graphs around it.
        number: tells it from the other graphs of the file.
    """

    name: str
    inputs: tuple[str, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[str, ...]
    constants: dict[str, np.ndarray]
    captured: frozenset[str]
    number: int


class Network(NamedTuple):
    """A loaded file.

    Attributes:
        main: the network.
        inputs: types of its inputs.
        outputs: types of its results.
        opset: version of ONNX's operators.
        producer: what wrote the file.
        version: of the file's format.
        metadata: what users noted in the file.
    """

    main: Graph
    inputs: tuple[InputType, ...]
    outputs: tuple[InputType, ...]
    opset: int
    producer: str
    version: int
    metadata: dict[str, str]


def read_file(path: str) -> Network:
    """Read an ONNX file, with the files beside it that hold its tensors.

    Args:
        path: the file.

    Returns:
        The checked graphs.

    Raises:
        OnnxError: the file is damaged, or something else than ONNX.
        UnknownOperator: it needs what MindJAX does not have.
        OSError: it cannot be read.
        ImportError: the package onnx is not installed.
    """
    onnx = package()
    size = os.path.getsize(path)
    if size == 0:
        raise OnnxError("the file is empty")
    if size >= 1 << 31:
        raise OnnxError(f"it has {size} bytes, but no protobuf has more than 2 GiB")
    with open(path, "rb") as file:
        content = file.read()
    return read_model(content, os.path.dirname(os.path.abspath(path)), onnx)


def read_model(content: bytes, folder: str | None, onnx: Any) -> Network:
    """Read the bytes of a model (see `read_file`).

    Args:
        content: the bytes.
        folder: where its tensors' files may lie; None if it may have none.
        onnx: the package.
    """
    from google.protobuf.message import DecodeError

    try:
        model = onnx.ModelProto.FromString(content)
    except (DecodeError, UnicodeDecodeError, ValueError, RecursionError) as error:
        raise OnnxError(f"it is no ONNX file: {str(error)[:200]}") from None
    try:
        return _network(model, folder, onnx)
    except UnicodeDecodeError:
        raise OnnxError("one of its texts is no UTF-8") from None


def _network(model: Any, folder: str | None, onnx: Any) -> Network:
    if not model.HasField("graph"):
        raise OnnxError("it holds no graph")
    versions = {text(o.domain): o.version for o in model.opset_import if o.domain in _DOMAINS}
    if not versions:
        raise OnnxError("it does not say which version of ONNX's operators it uses")
    opset = max(versions.values())
    if not OPSETS[0] <= opset <= OPSETS[1]:
        raise UnknownOperator(
            f"it uses ONNX's operators of opset {opset}; MindJAX has {OPSETS[0]} to {OPSETS[1]}"
        )
    if len(model.functions):
        model = _inlined(model, onnx)
    parser = _Parser(Storage(folder))
    main = parser.graph(model.graph, 0)
    if main.captured:
        raise OnnxError(f"the value '{min(main.captured)[:80]}' is used, but nothing gives it")
    given = [v for v in model.graph.input if v.name not in main.constants]
    main = main._replace(inputs=tuple(v.name for v in given))
    return Network(
        main,
        tuple(map(_input_type, given)),
        tuple(map(_input_type, model.graph.output)),
        opset,
        f"{text(model.producer_name)} {text(model.producer_version)}".strip(),
        model.ir_version,
        {text(p.key): text(p.value) for p in model.metadata_props},
    )


def _input_type(value: Any) -> InputType:
    kind = value.type
    while kind.HasField("optional_type"):
        kind = kind.optional_type.elem_type
    if not kind.HasField("tensor_type"):
        return InputType(text(value.name), None, None)
    tensor = kind.tensor_type
    dtype = np_dtype(tensor.elem_type) if tensor.elem_type else None
    if not tensor.HasField("shape"):
        return InputType(text(value.name), None, dtype)
    sizes = [d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim]
    known = [n for n in sizes if n is not None and n > 0]
    checked_shape(known, text(value.name))
    # Exporters write 0 and -1 for sizes that may change.
    return InputType(text(value.name), tuple(n if n and n > 0 else None for n in sizes), dtype)


class _Parser:
    """Makes graphs of messages.

    Args:
        storage: the files beside the model.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._numbers = itertools.count()

    def graph(self, message: Any, depth: int) -> Graph:
        """Read a graph, with those inside it."""
        if depth > _DEEPEST:
            raise OnnxError(f"its graphs stand in each other more than {_DEEPEST} deep")
        if len(message.sparse_initializer):
            raise UnknownOperator("MindJAX has no sparse tensors of ONNX")
        constants: dict[str, np.ndarray] = {}
        for tensor in message.initializer:
            name = text(tensor.name)
            if name in constants:
                raise OnnxError(f"two of its tensors have the name '{name[:80]}'")
            constants[name] = read_tensor(tensor, self._storage)
        inputs = tuple(text(v.name) for v in message.input)
        if len(set(inputs)) != len(inputs):
            raise OnnxError("two inputs of a graph have one name")
        known = {*inputs, *constants}
        nodes: list[Node] = []
        for i, node in enumerate(message.node):
            kind = text(node.op_type)
            if text(node.domain) not in _DOMAINS:
                raise UnknownOperator(
                    f"MindJAX has no operators of the domain '{node.domain[:80]}', such as "
                    f"'{kind[:80]}'"
                )
            attributes = {text(a.name): self._attribute(a, depth) for a in node.attribute}
            outputs = tuple(map(text, node.output))
            for name in outputs:
                if name in known:
                    raise OnnxError(f"the value '{name[:80]}' is given twice")
                if name:
                    known.add(name)
            label = text(node.name)[:80] or next((o[:80] for o in outputs if o), f"node {i}")
            if kind == "Constant" and len(outputs) == 1 and outputs[0]:
                constants[outputs[0]] = _constant(attributes, label)
                continue
            nodes.append(Node(kind, tuple(map(text, node.input)), outputs, attributes, label))
        ordered, captured = _ordered(nodes, {*inputs, *constants})
        results = tuple(text(v.name) for v in message.output)
        captured |= {r for r in results if r not in known and r}
        number = next(self._numbers)
        return Graph(
            text(message.name), inputs, ordered, results, constants, frozenset(captured), number
        )

    def _attribute(self, message: Any, depth: int) -> Any:
        kind = message.type
        if kind == 1:
            return message.f
        if kind == 2:
            return message.i
        if kind == 3:
            return _text(message.s)
        if kind == 4:
            return read_tensor(message.t, self._storage)
        if kind == 5:
            return self.graph(message.g, depth + 1)
        if kind in (6, 7):
            return list(message.floats if kind == 6 else message.ints)
        if kind == 8:
            return [_text(s) for s in message.strings]
        if kind == 9:
            return [read_tensor(t, self._storage) for t in message.tensors]
        if kind == 10:
            return [self.graph(g, depth + 1) for g in message.graphs]
        # Optional and sequence types say what the values say too.
        if kind in (13, 14):
            return None
        raise UnknownOperator(
            f"the attribute '{text(message.name)[:80]}' has the type {kind}, unknown to MindJAX"
        )


def _text(content: bytes) -> str:
    return content.decode("utf-8", "surrogateescape")


def _constant(attributes: dict[str, Any], name: str) -> np.ndarray:
    """Give the value of a node that is a constant."""
    kinds: dict[str, Any] = {"value_float": np.float32, "value_floats": np.float32,
                             "value_int": np.int64, "value_ints": np.int64}  # fmt: skip
    for key, value in attributes.items():
        if key == "value" and isinstance(value, np.ndarray):
            return value
        if key in kinds:
            try:
                return np.asarray(value, kinds[key])
            except (TypeError, ValueError, OverflowError):
                break
        if key in ("value_string", "value_strings", "sparse_value"):
            raise UnknownOperator(f"the constant '{name}' is no array of numbers")
    raise OnnxError(f"the constant '{name}' has no value")


def graphs_of(node: Node) -> Iterator[Graph]:
    """List the graphs inside a node."""
    for value in node.attributes.values():
        for one in value if isinstance(value, list) else (value,):
            if isinstance(one, Graph):
                yield one


def _uses(node: Node) -> list[str]:
    names = [n for n in node.inputs if n]
    for graph in graphs_of(node):
        names += sorted(graph.captured)
    return names


def _ordered(nodes: Sequence[Node], known: set[str]) -> tuple[tuple[Node, ...], set[str]]:
    """Put nodes behind what they use, and name what none of them gives."""
    makers = {name: i for i, node in enumerate(nodes) for name in node.outputs if name}
    uses = [_uses(node) for node in nodes]
    captured = {n for names in uses for n in names if n not in makers and n not in known}
    done: dict[int, None] = {}
    for first in range(len(nodes)):
        if first in done:
            continue
        stack = [(first, iter(uses[first]))]
        open_nodes = {first}
        while stack:
            place, rest = stack[-1]
            following = next(
                (makers[u] for u in rest if u in makers and makers[u] not in done), None
            )
            if following is None:
                done[place] = None
                stack.pop()
                open_nodes.discard(place)
            elif following in open_nodes:
                raise OnnxError(f"the node '{nodes[following].name}' needs its own result")
            else:
                stack.append((following, iter(uses[following])))
                open_nodes.add(following)
    return tuple(nodes[i] for i in done), captured


# -- functions of the file's own --


def _inlined(model: Any, onnx: Any) -> Any:
    """Put the bodies of the file's functions in the place of their calls."""
    functions: dict[tuple[str, str], Any] = {}
    for function in model.functions:
        functions[text(function.domain), text(function.name)] = function
    sizes: dict[tuple[str, str], int] = {}

    def size(key: tuple[str, str], above: tuple[tuple[str, str], ...]) -> int:
        if key in above:
            raise OnnxError(f"its function '{key[1][:80]}' calls itself")
        if len(above) > _DEEPEST:
            raise OnnxError(f"its functions call each other more than {_DEEPEST} deep")
        if key not in sizes:
            sizes[key] = total(functions[key].node, (*above, key))
        return sizes[key]

    def total(nodes: Any, above: tuple[tuple[str, str], ...]) -> int:
        count = 0
        for node in nodes:
            key = (text(node.domain), text(node.op_type))
            count += size(key, above) if key in functions else 1
            for attribute in node.attribute:
                if attribute.HasField("g"):
                    count += total(attribute.g.node, above)
            if count > _MOST_NODES:
                raise OnnxError("its functions become too many nodes")
        return count

    total(model.graph.node, ())
    for key in functions:
        size(key, ())
    try:
        return onnx.inliner.inline_local_functions(model)
    except (RuntimeError, ValueError, TypeError) as error:
        raise OnnxError(f"its functions cannot be read: {str(error)[:200]}") from None
