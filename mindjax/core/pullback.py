"""The backward pass of a tape as one recorded op of the deferred engine.

What a node's gradient is, is worked out once for each structure of nodes; after that a backward
pass costs the look-up of its structure instead of several ops a node.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.core import deferred, jax_private
from mindjax.core.caches import Cache
from mindjax.core.executable import executable
from mindjax.core.handle import current, wrap
from mindjax.core.pending import Pending
from mindjax.core.primitive import Primitive
from mindjax.core.tape import Node, Position, Sum, Tape, backward_record

_MOST_OUTPUTS = 1 << deferred.BITS
_MOST_KINDS = 256

_VALUES = (Pending, jax_private.ArrayImpl, np.ndarray)

_passes: Cache[Any] = Cache("deferred backward passes", 1024)


class _Step:
    """The gradient of one node.

    Args:
        node: number of the node, to be looked up among the cotangents.
        outputs: number of its outputs.
        record: what it ran.
        tree: structure of its inputs.
        inputs: numbers of its inputs among those of the pass.
        parents: place of each input's own node and output, None without.
    """

    __slots__ = ("inputs", "node", "outputs", "parents", "record", "tree")

    def __init__(
        self, node: int, outputs: int, record: Any, tree: Any, inputs: Any, parents: Any
    ) -> None:
        self.node, self.outputs, self.record, self.tree = node, outputs, record, tree
        self.inputs, self.parents = inputs, parents


class Pass:
    """A backward pass, in the form of an executable.

    Args:
        steps: in the order of the pass.
        seeds: place of each output that has a cotangent; those come after the inputs.
        count: number of inputs.
        found: numbers of the leaves that the pass reaches.
    """

    def __init__(
        self, steps: list[_Step], seeds: list[tuple[int, int]], count: int, found: list[int]
    ) -> None:
        self.steps, self.seeds, self.count, self.found = steps, seeds, count, found
        self.record: Primitive = _BackwardPass()
        self.avals: dict[Any, Any] = {}
        self.defers = True
        self._sum = executable(Sum())

    def renew(self) -> None:
        """Make the programs anew."""
        for step in self.steps:
            executable(step.record).renew()

    def call(self, *arrays: Any) -> tuple[Any, ...]:
        """Give the gradients of the leaves that are reached, from the inputs and cotangents."""
        pending: dict[int, list[Any]] = {}
        sizes = {step.node: max(1, step.outputs) for step in self.steps}

        def accumulate(node: int, index: int, cotangent: Any) -> None:
            slots = pending.setdefault(node, [None] * sizes.get(node, 1))
            before = slots[index]
            slots[index] = cotangent if before is None else self._sum.call(before, cotangent)

        for (node, index), cotangent in zip(self.seeds, arrays[self.count :], strict=True):
            accumulate(node, index, cotangent)
        for step in self.steps:
            cotangents = pending.pop(step.node)
            mask = tuple(p is not None for p in step.parents)
            present = tuple(c is not None for c in cotangents) if step.outputs >= 0 else ()
            record = backward_record(step.record, mask, present, step.tree)
            given = [c for c in cotangents if c is not None]
            gradients = executable(record).call(*(arrays[i] for i in step.inputs), *given)
            parents = (p for p in step.parents if p is not None)
            for parent, gradient in zip(parents, gradients, strict=True):
                accumulate(parent[0], parent[1], gradient)
        return tuple(pending[node][0] for node in self.found)


class _BackwardPass(Primitive, register=False):
    """Stands for a backward pass in error messages."""

    def compute(self, *arrays: Any) -> Any:
        """Not run: a pass is made of its nodes' own programs."""
        raise NotImplementedError


def whole(
    nodes: Sequence[Node], seeds: Sequence[tuple[Position, Any]], leaves: Sequence[Position]
) -> list[Any] | None:
    """Record a backward pass as one op.

    Args:
        nodes: of the tape, the latest first.
        seeds: pairs of a position and its cotangent Tensor.
        leaves: positions whose gradients are asked for.

    Returns:
        One gradient Tensor a leaf, None where nothing reached it; None if the pass must be walked
        node by node: it calls Python on its way, or keeps what only the walk can use.
    """
    if current.frame is not None or current.mixed is not None or not jax_private.untraced():
        return None
    numbers: dict[Node, int] = {}
    arrays: list[Any] = []
    places: dict[int, int] = {}
    key: list[Any] = []
    kept: list[Node] = []
    for (node, index), _ in seeds:
        key += numbers.setdefault(node, len(numbers)), index
    wanted = {node for node, _ in leaves}
    for node in nodes:
        number = numbers.get(node)
        if number is None or node in wanted:
            continue
        record = node.record
        if node.custom is not None or node.residuals is not None or record is None:
            return None
        found = record.__dict__.get("_executable") or executable(record)
        if not found.defers:
            return None
        key += found, node.tree, number, node.outputs
        for value, parent in zip(node.inputs, node.parents, strict=True):
            place = places.get(id(value))
            if place is None:
                place = places[id(value)] = len(arrays)
                arrays.append(value)
            key.append(place)
            if parent is None:
                key.append(-1)
            else:
                key += numbers.setdefault(parent[0], len(numbers)), parent[1]
        kept.append(node)
    reached = [numbers.get(node, -1) for node, _ in leaves]
    key += reached
    if len(kept) < 2 or len(leaves) >= _MOST_OUTPUTS:
        return None
    if any(type(a) not in _VALUES for a in arrays):
        return None
    count = len(arrays)
    named = tuple(key)
    made = _passes.get(named)
    if made is None:
        # Ops that are met for the first time are walked, which makes their programs.
        _passes.put(named, 1)
        return None
    if made == 1:
        steps = [
            _Step(
                numbers[n],
                n.outputs,
                n.record,
                n.tree,
                [places[id(v)] for v in n.inputs],
                [None if p is None else (numbers[p[0]], p[1]) for p in n.parents],
            )
            for n in kept
        ]
        places_of_seeds = [(numbers[node], index) for (node, index), _ in seeds]
        found_leaves = list(dict.fromkeys(r for r in reached if r >= 0))
        made = _passes.put(named, Pass(steps, places_of_seeds, count, found_leaves))
    return _record(made, arrays, seeds, reached, leaves)


def _record(
    made: Pass, arrays: list[Any], seeds: Sequence[Any], reached: list[int], leaves: Sequence[Any]
) -> list[Any] | None:
    inputs = [*arrays, *(c.peek() for _, c in seeds)]
    out = deferred.defer(made, inputs)
    if out is deferred.NOT_DEFERRED:
        # A gradient is of its leaf's shape and dtype.
        by_number = dict(
            zip(reached, (deferred.kind_of(n.inputs[0]) for n, _ in leaves), strict=True)
        )
        kinds = tuple(by_number[number] for number in made.found)
        if any(kind.weak for kind in kinds):
            return None
        if len(made.avals) > _MOST_KINDS:
            made.avals.clear()
        made.avals[tuple(deferred.kind_of(a) for a in inputs)] = kinds
        out = deferred.defer(made, inputs)
        if out is deferred.NOT_DEFERRED:
            return None
    by_leaf = dict(zip(made.found, wrap(out), strict=True))
    return [by_leaf.get(number) for number in reached]


Tape.record_backward = staticmethod(whole)
