"""The PYNATIVE gradient tape: dispatched ops, walked backwards by dispatching their vjps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.engine import settings
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current, wrap
from mindjax.core.primitive import Primitive, computation

Position = tuple["Node", int]
_new = object.__new__


class Node:
    """One op on the tape.

    Args:
        record: the primitive that ran; None for a leaf and for a custom backward.
        inputs: flat arrays that it got.
        tree: structure of the inputs.
        parents: tape position of each flat input, None where it is not differentiated.
        outputs: number of outputs, -1 for one bare array.
        custom: ``custom(cotangents) -> gradients``, in place of the record's vjp.
        places: which filling of the deferred engine's record holds the op, the op there, and the
            place of its first output.

    Attributes:
        number: where it stands on the tape.
        leaf: whether it is a leaf of no outer gradient.
    """

    __slots__ = (
        "custom", "inputs", "leaf", "number", "outputs", "parents", "places", "record", "residuals",
        "tape", "tree",
    )  # fmt: skip

    def __init__(
        self,
        tape: Tape,
        record: Primitive | None,
        inputs: Sequence[Any],
        tree: Any,
        parents: Sequence[Position | None],
        outputs: int = -1,
        custom: Callable[[list[Any]], Sequence[Any]] | None = None,
        residuals: Any = None,
        places: Any = None,
    ) -> None:
        self.tape: Tape | None = tape
        self.record, self.inputs, self.tree = record, inputs, tree
        self.parents, self.outputs, self.custom = parents, outputs, custom
        self.residuals, self.places = residuals, places
        self.number = -1
        self.leaf: bool | None = None

    def release(self) -> None:
        """Drop everything that the node holds; what still points at it is no longer on a tape."""
        self.tape = self.record = self.custom = self.residuals = None
        self.inputs = self.parents = ()


def _as_it_is(cotangents: list[Any]) -> list[Any]:
    return cotangents


class Tape:
    """The ops of this thread's active gradient computations; nested ones share it.

    Attributes:
        depth: how many gradient computations are active.
        nodes: every node in program order.
        parameters: tape position of Parameters and of captured Tensors written under the tape.
    """

    # `core/pullback.py` fills it in.
    record_backward: ClassVar[Callable[..., Any]]

    def __init__(self) -> None:
        self.depth = 0
        self.nodes: list[Node] = []
        self.parameters: dict[Handle, Position | None] = {}

    def __enter__(self) -> Tape:
        self.depth += 1
        current.tape = self
        return self

    def __exit__(self, *exc: object) -> None:
        self.depth -= 1
        if self.depth == 0:
            current.tape = None
            for node in self.nodes:
                # As `release` does.
                node.tape = node.record = node.custom = node.residuals = None
                node.inputs = node.parents = ()
            self.nodes, self.parameters = [], {}

    def position(self, handle: Handle) -> Position | None:
        """Give a handle's place on this tape, None if it is not differentiated."""
        if handle.is_parameter:
            return self.parameters.get(handle)
        if handle._view is not None:
            handle._view.refresh(handle)
        node = handle._node
        return node if node is not None and node[0].tape is self else None

    def rebind(self, handle: Handle, position: Position | None) -> None:
        """Note that a handle was written with the value at ``position``."""
        if handle.is_parameter:
            if position is not None or handle in self.parameters:
                self.parameters[handle] = position
        else:
            handle._node = position

    def leaf(self, value: Any, outer: Position | None) -> Position:
        """Add a leaf: a value to be differentiated by, linked to its place in an outer gradient."""
        node = self.add(Node(self, None, [value], None, [outer], custom=_as_it_is))
        node.leaf = outer is None
        return node, 0

    def leaves(self, values: Sequence[Any], outers: Sequence[Position | None]) -> list[Position]:
        """Add several leaves, as `leaf` does."""
        nodes = self.nodes
        found: list[Position] = []
        for value, outer in zip(values, outers, strict=True):
            node = _new(Node)
            node.tape, node.inputs, node.parents, node.custom = self, [value], [outer], _as_it_is
            node.record = node.tree = node.residuals = node.places = None
            node.outputs, node.number, node.leaf = -1, len(nodes), outer is None
            nodes.append(node)
            found.append((node, 0))
        return found

    def add(self, node: Node) -> Node:
        """Append a node."""
        node.number = len(self.nodes)
        self.nodes.append(node)
        return node

    def backward(
        self, seeds: Iterable[tuple[Position, Any]], leaves: Sequence[Position]
    ) -> list[Any]:
        """Propagate cotangents to leaves.

        Args:
            seeds: pairs of a tape position and its cotangent Tensor.
            leaves: positions whose gradients are asked for.

        Returns:
            One gradient Tensor a leaf, None where nothing reached it.
        """
        if settings.deferred and current.tape is None:
            seeds = list(seeds)
            given = self.record_backward(self.nodes, seeds, leaves)
            if given is not None:
                return given
        pending: dict[Node, list[Any]] = {}
        wanted = {node for node, _ in leaves}
        for (node, index), cotangent in seeds:
            _accumulate(pending, node, index, cotangent)
        found: dict[Node, Any] = {}
        needed = self._ancestors(pending)
        for node in needed:
            cotangents = pending.pop(node, None)
            if cotangents is None:
                continue
            if node in wanted:
                found[node] = cotangents[0]
                continue
            for parent, gradient in zip(node.parents, _pull_back(node, cotangents), strict=True):
                if parent is not None and gradient is not None:
                    _accumulate(pending, parent[0], parent[1], gradient)
        return [found.get(node) for node, _ in leaves]

    def _ancestors(self, pending: dict[Node, list[Any]]) -> list[Node]:
        """List the nodes from the latest seed down; nodes stand in program order."""
        nodes = list(self.nodes)
        while nodes and nodes[-1] not in pending:
            nodes.pop()
        nodes.reverse()
        return nodes


class Backward(Primitive, register=False):
    """Gradients of a record with respect to some of its inputs; forward values are made again.

    Fields: the record; which flat inputs are differentiated; which outputs have cotangents (empty
    for one bare array); the structure of the inputs.
    """

    record: Primitive
    mask: tuple[bool, ...]
    present: tuple[bool, ...]
    tree: Any

    def compute(self, *arrays: Any) -> Any:
        """Map inputs and cotangents to the gradients of the masked inputs."""
        count = len(self.mask)
        inputs, cotangents = list(arrays[:count]), list(arrays[count:])
        chosen = [i for i, m in enumerate(self.mask) if m]
        dtypes = [inputs[i].dtype for i in chosen]
        function = computation(self.record)

        def forward(*values: Any) -> Any:
            full = list(inputs)
            for i, value in zip(chosen, values, strict=True):
                full[i] = value
            return function(*jax.tree.unflatten(self.tree, full))

        # An integer input is differentiated as a real number: the original gives it an integer
        # gradient.
        primals = [
            inputs[i] if jnp.issubdtype(t, jnp.inexact) else inputs[i].astype(jnp.float64)
            for i, t in zip(chosen, dtypes, strict=True)
        ]
        try:
            outputs, vjp = jax.vjp(forward, *primals)
        except TypeError:
            # The op takes no real number there, as with indices: the gradient is 0.
            if all(jnp.issubdtype(t, jnp.inexact) for t in dtypes):
                raise
            return self._of_real_inputs(arrays, dtypes)
        if not self.present:
            gradients = vjp(_like(cotangents[0], outputs))
        else:
            given = iter(cotangents)
            full = [
                _like(next(given), o) if p else _zeros(o)
                for p, o in zip(self.present, outputs, strict=True)
            ]
            gradients = vjp(type(outputs)(full))
        return tuple(g.astype(t) for g, t in zip(gradients, dtypes, strict=True))

    def _of_real_inputs(self, arrays: tuple[Any, ...], dtypes: list[Any]) -> tuple[Any, ...]:
        """Give gradients by the real inputs alone, and 0 for the integers."""
        reals = iter(jnp.issubdtype(t, jnp.inexact) for t in dtypes)
        mask = tuple(m and next(reals) for m in self.mask)
        some = Backward(self.record, mask, self.present, self.tree)
        gradients = iter(some.compute(*arrays) if any(mask) else ())
        chosen = [i for i, m in enumerate(self.mask) if m]
        return tuple(next(gradients) if mask[i] else jnp.zeros_like(arrays[i]) for i in chosen)


def _zeros(output: Any) -> Any:
    if jnp.issubdtype(output.dtype, jnp.inexact):
        return jnp.zeros(output.shape, output.dtype)
    return np.zeros(output.shape, jax.dtypes.float0)


def _like(cotangent: Any, output: Any) -> Any:
    if not jnp.issubdtype(output.dtype, jnp.inexact):
        return _zeros(output)
    return cotangent.astype(output.dtype)


def _accumulate(pending: dict[Node, list[Any]], node: Node, index: int, cotangent: Any) -> None:
    slots = pending.get(node)
    if slots is None:
        slots = pending[node] = [None] * max(1, node.outputs)
    before = slots[index]
    slots[index] = cotangent if before is None else _sum(before, cotangent)


class Sum(Primitive, register=False):
    """Sum of two cotangents of one dtype."""

    def compute(self, x: Any, y: Any) -> Any:
        """Add."""
        return x + y.astype(x.dtype)


_sum = Sum()


def _pull_back(node: Node, cotangents: list[Any]) -> Sequence[Any]:
    """Give the gradients of a node's flat inputs, None for those not differentiated."""
    if node.custom is not None:
        return node.custom(cotangents)
    record = node.record
    assert record is not None, "a released node was reached"
    if node.residuals is not None and current.tape is None:
        return _pull_back_residuals(node, cotangents)
    mask = tuple([p is not None for p in node.parents])
    present = tuple([c is not None for c in cotangents]) if node.outputs >= 0 else ()
    inputs = []
    for value, parent in zip(node.inputs, node.parents, strict=True):
        if isinstance(value, _Packed):
            value = value.unpack()
        if parent is None:
            inputs.append(value)
        else:
            handle = wrap(value)
            handle._node = parent
            inputs.append(handle)
    given = [c for c in cotangents if c is not None]
    gradients = iter(backward_record(record, mask, present, node.tree)(*inputs, *given))
    return [next(gradients) if m else None for m in mask]


def backward_record(
    record: Primitive, mask: tuple[bool, ...], present: tuple[bool, ...], tree: Any
) -> Backward:
    """Give a record's backward, kept on it: making a key costs more than the call.

    Args:
        record: the primitive.
        mask: which flat inputs are differentiated.
        present: which outputs have cotangents, empty for one bare array.
        tree: structure of the inputs.
    """
    kept = record.__dict__.setdefault("_backwards", {})
    found = kept.get((mask, present, tree))
    if found is None:
        found = kept[mask, present, tree] = Backward(record, mask, present, tree)
    return found


def _pull_back_residuals(node: Node, cotangents: list[Any]) -> Sequence[Any]:
    from mindjax.core.executable import run_backward

    arrays = [None if c is None else c.array for c in cotangents]
    gradients = run_backward(node.residuals, arrays)
    return [None if p is None else wrap(g) for p, g in zip(node.parents, gradients, strict=True)]


class _Packed:
    """What a hook keeps in place of an op's input."""

    __slots__ = ("_kept", "_unpack")

    def __init__(self, kept: Any, unpack: Callable[[Any], Any]) -> None:
        self._kept, self._unpack = kept, unpack

    def unpack(self) -> Any:
        """Give the input's array again."""
        tape, current.tape = current.tape, None
        try:
            value = self._unpack(self._kept)
        finally:
            current.tape = tape
        if not isinstance(value, Handle):
            raise located(
                TypeError,
                "For 'saved_tensors_hooks', the 'unpack_hook' must return a Tensor, but got "
                f"{type(value).__name__}.",
            )
        return value.peek()


def pack(
    arrays: Sequence[Any], pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]
) -> list[Any]:
    """Let a hook say what is kept in place of an op's inputs; Python numbers stay as they are.

    Args:
        arrays: inputs of the op.
        pack_hook: gets a Tensor of each and gives what is kept.
        unpack_hook: gets that and gives a Tensor.

    Returns:
        What the node keeps.
    """
    tape, current.tape = current.tape, None
    hooks, current.saved_hooks = current.saved_hooks, None
    try:
        return [
            a if isinstance(a, np.ndarray) else _Packed(pack_hook(wrap(a)), unpack_hook)
            for a in arrays
        ]
    finally:
        current.tape, current.saved_hooks = tape, hooks


def active_tape() -> Tape:
    """Give this thread's tape, a new one if none is active."""
    return current.tape if current.tape is not None else Tape()
