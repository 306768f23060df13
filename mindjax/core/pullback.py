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
from mindjax.core.trie import BITS

_MOST_OUTPUTS = 1 << BITS

_VALUES = (Pending, jax_private.ArrayImpl, np.ndarray)

_quick: Cache[Any] = Cache("deferred backward passes by record", 1024)
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
        nodes: of the tape, in program order.
        seeds: pairs of a position and its cotangent Tensor.
        leaves: positions whose gradients are asked for.

    Returns:
        One gradient Tensor a leaf, None where nothing reached it; None if the pass must be walked
        node by node: it calls Python on its way, or keeps what only the walk can use.
    """
    if current.frame is not None or current.mixed is not None or not jax_private.untraced():
        return None
    recording = current.recording
    if recording is None or recording.at_once or recording.pressed or len(leaves) >= _MOST_OUTPUTS:
        return None
    with recording.lock:
        quick = _structure(recording, nodes, seeds, leaves)
        known = None if quick is None else _quick.get(quick)
        if known is not None:
            head, kinds, order = known
            out = recording.append(kinds, [*head, *[c._value.place for _, c in seeds]])
            return _by_leaf(out, order)
    numbers: dict[Node, int] = {}
    key: list[Any] = []
    kept: list[Node] = []
    inputs: dict[Any, None] = {}
    cotangents: list[Any] = []
    filling = recording.filling
    with recording.lock:
        for (node, index), cotangent in seeds:
            key += numbers.setdefault(node, len(numbers)), index
            cotangents.append(recording.refer(cotangent.peek(), []))
        wanted = {node for node, _ in leaves}
        for node in reversed(nodes):
            number = numbers.get(node)
            # What a leaf of an inner gradient gets leads nowhere.
            if number is None or node.leaf or node in wanted:
                continue
            record = node.record
            if node.custom is not None or node.residuals is not None or record is None:
                return None
            found = record._executable or executable(record)
            if not found.defers:
                return None
            noted = node.places
            if noted is None or noted[0] != filling:
                places = _places(recording, node)
                if places is None:
                    return None
            else:
                places = [p for p in noted[1][1:] if p is not None]
            key += found, node.tree, number, node.outputs
            for place, parent in zip(places, node.parents, strict=True):
                inputs[place] = None
                key.append(place)
                if parent is None:
                    key.append(-1)
                else:
                    key += numbers.setdefault(parent[0], len(numbers)), parent[1]
            kept.append(node)
        reached = [numbers.get(node, -1) for node, _ in leaves]
        key += reached
        made = _pass(key, kept, numbers, inputs, seeds, reached)
        if made is None or filling != recording.filling:
            return None
        by_number = dict(zip(reached, leaves, strict=True))
        values = [v for n in made.found for v in by_number[n][0].inputs]
        kinds = tuple([deferred.kind_of(v) for v in values])
        if not all(type(c) is int for c in cotangents) or any(kind.weak for kind in kinds):
            return None
        out = recording.append(kinds, [made, *inputs, *cotangents])
        order = [made.found.index(n) if n in made.found else -1 for n in reached]
        if quick is not None:
            _quick.put(quick, ((made, *inputs), kinds, order))
    return _by_leaf(out, order)


def _by_leaf(out: Any, order: list[int]) -> list[Any]:
    """Give the Tensor of each leaf's gradient, None for -1."""
    tensors: list[Any] = [*wrap(out), None]
    return [tensors[i] for i in order]


def _structure(
    recording: Any, nodes: Sequence[Node], seeds: Sequence[Any], leaves: Sequence[Position]
) -> Any:
    """Give what determines a pass whose every node was recorded in this filling, else None.

    The ops tell what the nodes ran and on what; the nodes' parents tell what is differentiated.
    """
    filling = recording.filling
    keys: list[int] = []
    for node in nodes:
        noted = node.places
        if noted is None:
            if not node.leaf:
                return None
            keys.append(-2)
        elif noted[0] != filling:
            return None
        else:
            keys.append(noted[2])
            for parent in node.parents:
                keys.append(-1 if parent is None else parent[0].number << BITS | parent[1])
    for (node, index), cotangent in seeds:
        value = cotangent._value if cotangent._view is None else None
        if (
            type(value) is not Pending
            or value.recording is not recording
            or value.value is not None
        ):
            return None
        keys += node.number, index, value.place
    keys += [node.number for node, _ in leaves]
    return recording.step, tuple(keys)


def _places(recording: Any, node: Node) -> Any:
    """Find what stands for a node's inputs in a record that does not know them yet."""
    if any(type(v) not in _VALUES for v in node.inputs):
        return None
    places = [recording.refer(v, []) for v in node.inputs]
    return places if all(type(p) is int for p in places) else None


def _pass(
    key: list[Any],
    kept: list[Node],
    numbers: dict[Node, int],
    inputs: dict[Any, None],
    seeds: Sequence[tuple[Position, Any]],
    reached: list[int],
) -> Pass | None:
    """Look up, or make, the pass of a structure."""
    if len(kept) < 2:
        return None
    named = tuple(key)
    made = _passes.get(named)
    if made is None:
        # Ops that are met for the first time are walked, which makes their programs.
        _passes.put(named, _MET)
        return None
    if made is not _MET:
        return made
    order = {place: i for i, place in enumerate(inputs)}
    steps, rest = [], iter(key[2 * len(seeds) :])
    for node in kept:
        for _ in range(4):
            next(rest)
        places = []
        for parent in node.parents:
            places.append(order[next(rest)])
            if next(rest) != -1 or parent is not None:
                next(rest)
        parents = [None if p is None else (numbers[p[0]], p[1]) for p in node.parents]
        step = _Step(numbers[node], node.outputs, node.record, node.tree, places, parents)
        steps.append(step)
    places_of_seeds = [(numbers[node], index) for (node, index), _ in seeds]
    found = list(dict.fromkeys(r for r in reached if r >= 0))
    return _passes.put(named, Pass(steps, places_of_seeds, len(inputs), found))


_MET: Any = object()

Tape.record_backward = staticmethod(whole)
