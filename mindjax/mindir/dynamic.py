"""Networks whose inputs have sizes that may change: traced at several, told apart by comparison.

Where the traces' files differ in one number, it is a sum of multiples of the open sizes; the file
then computes it from the shapes of the inputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from mindjax.mindir.lowering import UnknownOperation
from mindjax.mindir.message import Message, serialize
from mindjax.mindir.schema import INT64, TUPLE
from mindjax.mindir.values import make_attribute
from mindjax.tensor import Tensor

# Constants of more elements than this are not computed in advance: they may depend on a size.
FOLDED = 64
SIZES = (67, 79, 97, 107, 127)
OTHERS = (71, 83, 101, 109, 131)
# A third size tells a square from a multiple.
_THIRDS = (73, 89, 103, 113, 137)


class Open(NamedTuple):
    """An open size: the input and the axis that it is first found at."""

    place: int
    axis: int


def is_open(value: Any) -> bool:
    """Tell whether an input, or a Tensor in it, only declares its shape."""
    if isinstance(value, tuple | list):
        return any(map(is_open, value))
    return isinstance(value, Tensor) and "_declared_shape" in value.__dict__


def open_model(inputs: Sequence[Any], make: Callable[[tuple[Any, ...]], Message]) -> Message:
    """Make the file of a network with open sizes.

    Args:
        inputs: Tensors, of which some only declare a shape with None for open sizes.
        make: makes the file for inputs of fixed sizes.

    Returns:
        The file, in which -1 stands for each open size.

    Raises:
        UnknownOperation: something in the network depends on a size in a way that MindIR has no
            form for.
    """
    places = [
        Open(i, axis)
        for i, x in enumerate(inputs)
        if is_open(x)
        for axis, size in enumerate(_declared(x))
        if size is None
    ]
    # Sizes are independent of each other, or, if the network does not run so, one for each axis.
    own = list(range(len(places)))
    axes = sorted({p.axis for p in places})
    shared = [axes.index(p.axis) for p in places]
    for attempt, groups in enumerate([own, shared]):
        count = max(groups) + 1
        if count > len(SIZES):
            continue
        first = list(SIZES[:count])
        try:
            base = make(_sized(inputs, places, groups, first))
        except (TypeError, ValueError, RuntimeError):
            if attempt or own == shared:
                raise
            continue
        changed = [
            make(_sized(inputs, places, groups, [*first[:j], OTHERS[j], *first[j + 1 :]]))
            for j in range(count)
        ]
        together = make(_sized(inputs, places, groups, _THIRDS[:count]))
        names = [places[groups.index(j)] for j in range(count)]
        return _Merge(base, changed, together, names).model
    raise UnknownOperation(f"more than {len(SIZES)} open sizes are not supported")


def _declared(value: Any) -> Sequence[Any]:
    if not isinstance(value, Tensor):
        raise UnknownOperation("an open size inside a tuple of inputs is not supported")
    return value.__dict__["_declared_shape"]


def _sized(
    inputs: Sequence[Any], places: Sequence[Open], groups: Sequence[int], sizes: Sequence[int]
) -> tuple[Any, ...]:
    """Give inputs with the open sizes filled in."""
    filled = list(inputs)
    known = {p: sizes[g] for p, g in zip(places, groups, strict=True)}
    for i, x in enumerate(inputs):
        if is_open(x):
            shape: list[Any] = [known.get(Open(i, a), n) for a, n in enumerate(_declared(x))]
            filled[i] = Tensor(np.zeros(shape, x.dtype.np))
    return tuple(filled)


class _Merge:
    """The file that says what all traces say.

    Args:
        base: the file at the first sizes.
        changed: the file with one size changed, for each size.
        together: the file with all sizes changed.
        names: where each size is found.
    """

    def __init__(
        self, base: Message, changed: list[Message], together: Message, names: list[Open]
    ) -> None:
        self.model, self._names = base, names
        self._all = [base, *changed, together]
        self._front: list[Message] = []
        self._numbers: dict[int, str] = {}
        self._count = itertools.count(1)
        if len({len(serialize(_skeleton(m))) for m in self._all}) != 1 or any(
            serialize(_skeleton(m)) != serialize(_skeleton(base)) for m in self._all
        ):
            raise UnknownOperation("the network's operations depend on an open size")
        for place, graph in enumerate(_graphs(base)):
            self._merge_graph(graph, [_graphs(m)[place] for m in self._all], place == 0)
        base.graph.node = [*self._front, *base.graph.node]

    def _merge_graph(self, graph: Message, versions: list[Message], main: bool) -> None:
        for field in ("input", "output"):
            for values in zip(*(getattr(v, field) for v in versions), strict=True):
                self._merge_types(values[0].tensor, [v.tensor for v in values])
        nodes: list[Message] = []
        for row in zip(*(v.node for v in versions), strict=True):
            node = row[0]
            if node.op_type != "Constant":
                if node.attribute:
                    self._merge_types(
                        node.attribute[0].tensors, [n.attribute[0].tensors for n in row]
                    )
                nodes.append(node)
                continue
            contents = {serialize(n.attribute[0]) for n in row}
            if len(contents) == 1:
                nodes.append(node)
                continue
            attributes = [n.attribute[0] for n in row]
            users = [n for n in graph.node if node.name in n.input]
            nodes += self._constant(node, attributes, users, main)
        graph.node = nodes

    def _merge_types(self, tensors: Any, versions: Sequence[Any]) -> None:
        for i, tensor in enumerate(tensors):
            dims = [v[i].dims for v in versions]
            if len({len(d) for d in dims}) == 1:
                tensor.dims = [
                    sizes[0] if len(set(sizes)) == 1 else -1 for sizes in zip(*dims, strict=True)
                ]

    def _constant(
        self, node: Message, attributes: list[Message], users: list[Message], main: bool
    ) -> list[Message]:
        """Give the nodes that take the place of a constant that depends on a size."""
        kind = attributes[0].type
        if kind == TUPLE and all(a.type == INT64 for a in attributes[0].values):
            rows = list(zip(*([v.ints[0] for v in a.values] for a in attributes), strict=True))
            differing = [i for i, row in enumerate(rows) if len(set(row)) > 1]
            reshapes = all(
                _operator(u) == "Reshape" and list(u.input).index(node.name) == 1 for u in users
            )
            if reshapes and len(differing) == 1 and -1 not in [r[0] for r in rows]:
                numbers = [-1 if i in differing else row[0] for i, row in enumerate(rows)]
                node.attribute = [make_attribute(tuple(numbers), "value")]
                return [node]
            made: list[Message] = []
            names = [self._number(row, made, main) for row in rows]
            return [*made, self._node("MakeTuple", names, node.name)]
        if kind == INT64:
            made = []
            name = self._number([a.i for a in attributes], made, main)
            return [*made, self._node("Depend", [name, name], node.name)]
        raise UnknownOperation("the values of an array depend on an open size")

    def _number(self, row: Sequence[int], made: list[Message], main: bool) -> str:
        """Give the name of a number that is a sum of multiples of sizes."""
        base, *changed, together = row
        if len(set(row)) == 1:
            return self._fixed(base, made)
        sizes, others, thirds = (s[: len(changed)] for s in (SIZES, OTHERS, _THIRDS))
        steps = [
            (c - base, other - size) for c, size, other in zip(changed, sizes, others, strict=True)
        ]
        if any(a % b for a, b in steps):
            raise UnknownOperation(f"a number ({base}) is no multiple of the open sizes")
        factors = [a // b for a, b in steps]
        rest = base - sum(f * s for f, s in zip(factors, sizes, strict=True))
        if rest + sum(f * o for f, o in zip(factors, thirds, strict=True)) != together:
            raise UnknownOperation(f"a number ({base}) is a product of open sizes")
        if not main:
            raise UnknownOperation("a loop or condition depends on an open size")
        total = ""
        for place, factor in enumerate(factors):
            if not factor:
                continue
            term = self._size(place)
            if factor != 1:
                term = self._add("ScalarMul", [term, self._fixed(factor, made)], made)
            total = self._add("ScalarAdd", [total, term], made) if total else term
        return self._add("ScalarAdd", [total, self._fixed(rest, made)], made) if rest else total

    def _size(self, place: int) -> str:
        """Give the name of an open size, read from the shape of its input."""
        if place not in self._numbers:
            where = self._names[place]
            source = self.model.graph.input[where.place].name
            shape = self._add("Shape", [source], self._front)
            axis = self._fixed(where.axis, self._front)
            self._numbers[place] = self._add("TupleGetItem", [shape, axis], self._front)
        return self._numbers[place]

    def _fixed(self, value: int, made: list[Message]) -> str:
        name = f"size_{next(self._count)}"
        node = Message("Node", name=name, output=[name], op_type="Constant")
        node.attribute = [make_attribute(int(value), "value")]
        made.append(node)
        return name

    def _add(self, op: str, inputs: list[str], made: list[Message]) -> str:
        name = f"{self.model.graph.name}:size_{next(self._count)}"
        made.append(self._node(op, inputs, name))
        return name

    def _node(self, op: str, inputs: list[str], name: str) -> Message:
        kind = 1 if op in ("MakeTuple", "TupleGetItem", "Depend") else 2
        known = [p for p in self.model.primitives if p.op_type == op and not p.attribute]
        if not known:
            entry = Message(
                "Primitive", name=f"{op}:size", op_type=op,
                prim_type=1 if self.model.mind_ir_version == 1 else kind,
            )  # fmt: skip
            self.model.primitives = [*self.model.primitives, entry]
            known = [entry]
        return Message(
            "Node", name=name, output=[name], input=inputs, op_type=f"REF::{known[0].name}"
        )


def _graphs(model: Message) -> list[Message]:
    return [model.graph, *model.functions]


def _operator(node: Message) -> str:
    return node.op_type.removeprefix("REF::").partition(":")[0]


def _skeleton(model: Message) -> Message:
    """Give what does not depend on sizes unless the network does something else for another."""
    kept = Message("Model", primitives=model.primitives)
    for graph in _graphs(model):
        bare = Message("Graph", name=graph.name)
        bare.node = [
            Message("Node", name=n.name, op_type=n.op_type, input=list(n.input)) for n in graph.node
        ]
        kept.functions = [*kept.functions, bare]
    return kept
