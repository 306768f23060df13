"""Building the messages of a MindIR file: nodes, constants, sub-graphs and primitives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.mindir.message import Message
from mindjax.mindir.primitives import ENUMERATIONS, RENAMED
from mindjax.mindir.schema import TENSORS
from mindjax.mindir.values import MONAD, make_attribute, tensor_type

# Primitives whose attributes stand beside the name in every dialect.
CLASSIC = {
    "Conv2D", "Conv3D", "MaxPool", "MaxPool3D", "AvgPool3D", "MaxPoolGrad", "PadV3", "Pad",
    "Load", "UpdateState", "Depend", "MakeTuple", "TupleGetItem", "Partial", "Switch", "Stack",
    "TopK", "Sort", "Cast1", "TensorScatterUpdate", "TensorScatterAdd", "LSTM", "Tril", "LRN",
    "TruncateDiv", "TruncateMod", "LeftShift", "RightShift", "BitwiseShift", "Lgamma",
    "Digamma", "UnsortedSegmentSum",
}  # fmt: skip
_NUMBERS = {field: {n: i for i, n in names.items()} for field, names in ENUMERATIONS.items()}

Value = Any
"""A node's name, or the array or Python value of a constant."""


class Name(str):
    """The name of a node, of an input or of a parameter."""


class Model:
    """The parts that the graphs of one file share.

    Args:
        dialect: 3, or 1 for MindSpore Lite.
        folded: results of constants alone up to this many elements are computed, and stored.
    """

    def __init__(self, dialect: int = 3, folded: int = 1 << 14) -> None:
        self.dialect, self.folded = dialect, folded
        self.primitives: dict[Any, Message] = {}
        self.functions: list[Message] = []
        self.count = 0

    def number(self) -> int:
        """Count the names that have to differ in the whole file."""
        self.count += 1
        return self.count

    def primitive(self, name: str, kind: int, attributes: dict[str, Any]) -> str:
        """Give the table's entry of a primitive with its attributes."""
        key = (name, kind, repr(sorted(attributes.items())))
        found = self.primitives.get(key)
        if found is None:
            found = Message(
                "Primitive",
                name=f"{name}:{self.number()}",
                op_type=name,
                attribute=[make_attribute(v, k) for k, v in attributes.items()],
                prim_type=kind,
            )
            self.primitives[key] = found
        return found.name

    def message(self, main: Graph, producer: str) -> Message:
        """Put the file's message together."""
        return Message(
            "Model",
            ir_version="1.1",
            producer_name="MindJAX",
            producer_version=producer,
            model_version=producer,
            graph=main.message,
            functions=self.functions,
            little_endian=True,
            primitives=list(self.primitives.values()),
            mind_ir_version=self.dialect,
        )


class Graph:
    """One graph that is being built.

    Args:
        model: the file.
        name: of the graph.
    """

    def __init__(self, model: Model, name: str) -> None:
        self.model = model
        self.message = Message("Graph", name=name)
        self._constants: dict[Any, Name] = {}
        self._nodes: dict[str, Message] = {}

    @property
    def name(self) -> str:
        """The graph's name."""
        return self.message.name

    def input(self, name: str, shape: Sequence[int], dtype: str) -> Name:
        """Add an input.

        Args:
            name: of the input, unique in the graph.
            shape: sizes; -1 for one that may change.
            dtype: numpy name.

        Returns:
            Its name among the nodes.
        """
        full = Name(f"{self.name}:{name}")
        value = Message("Value", name=full, tensor=[tensor_type(shape, dtype)])
        self.message.input = [*self.message.input, value]
        return full

    def drop_unused_inputs(self) -> list[int]:
        """Take out the inputs that no node uses; gives the places of the others."""
        used = {name for node in self.message.node for name in node.input}
        used |= {result.name for result in self.message.output}
        kept = [place for place, value in enumerate(self.message.input) if value.name in used]
        self.message.input = [self.message.input[place] for place in kept]
        return kept

    def constant(self, value: Any) -> Name:
        """Give the node of a constant, made once a graph.

        Args:
            value: Python value, array, or `MONAD`.
        """
        if isinstance(value, np.ndarray | np.generic):
            value = np.asarray(value)
            key: Any = ("array", value.shape, value.dtype.name, value.tobytes())
        else:
            key = (type(value), repr(value))
        found = self._constants.get(key)
        if found is None:
            found = Name(f"Const_{self.model.number()}")
            self._constants[key] = found
            self._add(found, "Constant", [], [make_attribute(value, "value")])
        return found

    def _add(self, name: str, op: str, inputs: Sequence[str], attributes: Any = ()) -> None:
        node = Message("Node", input=list(inputs), output=[name], name=name, op_type=op)
        if attributes:
            node.attribute = list(attributes)
        else:
            node.domain = f"Default/{op.removeprefix('REF::').partition(':')[0]}-op{name[-1]}"
        self.message.node.append(node)
        self._nodes[name] = node

    def _reference(self, value: Value) -> str:
        return value if isinstance(value, Name) else self.constant(value)

    def op(self, name: str, *inputs: Value, **attributes: Any) -> Name:
        """Add an operator.

        Args:
            name: of the primitive.
            *inputs: names, arrays and Python values.
            **attributes: all attributes in the order of the primitive's constructor; those of
                `CLASSIC` primitives in any order.

        Returns:
            Name of the result.
        """
        if self.model.dialect == 1 or name in CLASSIC:
            renamed = RENAMED.get(name, {})
            beside = {renamed.get(k, k): v for k, v in attributes.items()}
            if name not in CLASSIC:
                beside |= attributes
            reference, behind = self.model.primitive(name, 1, beside), []
        else:
            effect = {"side_effect_mem": True} if name == "Assign" else {}
            reference = self.model.primitive(name, 2, effect)
            behind = [_NUMBERS.get(k, {}).get(v, v) if isinstance(v, str) else v
                      for k, v in attributes.items()]  # fmt: skip
        return self._node(reference, [*inputs, *behind])

    def _node(self, reference: str, inputs: Sequence[Value]) -> Name:
        names = [self._reference(v) for v in inputs]
        output = Name(f"{self.name}:n{self.model.number()}")
        self._add(output, f"REF::{reference}", names)
        return output

    def call(self, target: str, *inputs: Value) -> Name:
        """Add a call of a graph, or of a node that gives one."""
        return self._node(target, inputs)

    def partial(self, graph: str, *inputs: Value) -> Name:
        """Add a graph with its first arguments."""
        return self.op("Partial", Name(graph), *inputs, side_effect_propagate=1)

    def item(self, value: Name, index: int) -> Name:
        """Take an element of a tuple."""
        return self.op("TupleGetItem", value, index)

    def tuple(self, values: Sequence[Value]) -> Name:
        """Make a tuple."""
        return self.op("MakeTuple", *values)

    def output(self, value: Value, shape: Sequence[int] | None = None, dtype: str = "") -> None:
        """Say what the graph gives; once a graph."""
        result = Message("Value", name=self._reference(value))
        if shape is not None:
            result.tensor = [tensor_type(shape, dtype)]
        self.message.output = [result]

    def note_type(self, name: Name, shape: Sequence[int], dtype: str) -> None:
        """Note the type of a node's result, which the original needs where it cannot infer it."""
        node = self._nodes.get(name)
        if node is not None and not node.has("attribute"):
            kind = Message("Attribute", name="shape", type=TENSORS)
            kind.tensors = [tensor_type(shape, dtype)]
            node.attribute = [kind]

    def mark(self, name: str, value: Any) -> None:
        """Add an attribute to the graph."""
        self.message.attribute = [*self.message.attribute, make_attribute(value, name)]

    def monad(self) -> Name:
        """Give the token that the first effect of the graph takes."""
        return self.constant(MONAD)
