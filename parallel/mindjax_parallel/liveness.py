"""How many bytes the values of a program take on a device, if it runs in the order of its text.

Shardings are those that Shardy propagates. A value lives from the operation that gives it to the
last that takes it; one that is gathered, from the first that takes it. Elementwise operations
with one user are part of it, as in a fused loop; constants, broadcasts and reshapes take nothing.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from jax.sharding import Mesh

from mindjax.core.jax_private import passmanager
from mindjax_parallel.sharded_module import cuts, shardings_in, valued

_PASSES = "builtin.module(inline,symbol-dce,sdy-propagation-pipeline)"
_NOTHING = {"constant", "iota", "create_token", "after_all", "partition_id", "replica_id"}
# Where a value is laid out anew, the placement is in another attribute.
_LAID = {"sharding_constraint", "reshard"}
_SAME = {"reshape", "optimization_barrier", "broadcast_in_dim", *_LAID}
_BIG = {
    *("dot_general", "dot", "convolution", "gather", "scatter", "reduce", "reduce_window", "sort"),
    *("while", "case", "if", "custom_call", "all_reduce", "all_gather", "all_to_all", "fft"),
    *("collective_permute", "reduce_scatter", "select_and_scatter", "rng_bit_generator"),
    *("dynamic_update_slice", "manual_computation", "cholesky", "triangular_solve"),
}


class Held(NamedTuple):
    """A value that is there when most bytes are.

    Attributes:
        shape: of the whole.
        bytes: on a device.
        operation: that gave it.
    """

    shape: tuple[int, ...]
    bytes: float
    operation: str


class _Value:
    """A value of the text: its bytes on a device, and the values that it is made of."""

    def __init__(self, shape: tuple[int, ...], size: float, operation: str) -> None:
        self.shape, self.size, self.operation = shape, size, operation
        # When it is made and last needed, in operations.
        self.first = self.last = -1
        # The values that must be there for it to be there; itself, if it takes memory.
        self.roots: set[_Value] = set()


class _Walk:
    """A walk over the operations of a block, and of the blocks inside."""

    def __init__(self, mesh: Mesh) -> None:
        self._mesh = mesh
        self.values: dict[Any, _Value] = {}
        self.made: list[_Value] = []
        self.time = 0

    def _value(self, kind: Any, dims: Any, operation: str) -> _Value:
        known = valued(kind, dims)
        parts = math.prod(self._mesh.shape[a] for axes in known.dims for a in axes)
        return _Value(known.shape, known.bytes / parts, operation)

    def argument(self, argument: Any, dims: Any) -> None:
        """Take an input, whose bytes are counted elsewhere."""
        self.values[argument] = self._value(argument.type, dims, "input")

    def block(self, block: Any) -> None:
        """Walk over a block."""
        for operation in block.operations:
            self.operation(operation.operation)

    def operation(self, operation: Any) -> None:
        """Note what an operation takes and gives."""
        self.time += 1
        name = operation.name.rpartition(".")[2]
        inputs = [self.values[o] for o in operation.operands if o in self.values]
        attributes = operation.attributes
        said = shardings_in(str(attributes["sdy.sharding"])) if "sdy.sharding" in attributes else []
        if name in _LAID:
            said = shardings_in(str(attributes["sharding"])) or said
        for region in operation.regions:
            for inner in region.blocks:
                dims = [v.shape for v in inputs]
                for i, argument in enumerate(inner.arguments):
                    self._inner_argument(argument, inputs, i, len(dims))
                if name in ("while", "case", "if"):
                    self.block(inner)
        roots = {r for v in inputs for r in v.roots}
        for root in roots:
            root.last = self.time
            if root.first < 0:
                root.first = self.time
        for i, result in enumerate(operation.results):
            value = self._value(result.type, said[i] if i < len(said) else (), name)
            self.values[result] = value
            if name in _NOTHING:
                continue
            source = inputs[i if len(inputs) > 1 else 0] if inputs else value
            if name == "while" and _is_kept(operation, i):
                value.roots = set(inputs[i].roots)
            elif name in _SAME and (name not in _LAID or value.size == source.size):
                value.roots = set(source.roots)
            elif name in _LAID:
                # What is gathered is gathered where it is needed; what is scattered, at once.
                self._make(value, late=value.size > source.size)
            elif name not in _BIG and _fuses(result) and _few(roots, value):
                value.roots = roots
            else:
                self._make(value)

    def _make(self, value: _Value, late: bool = False) -> None:
        """Let a value take memory; ``late`` from its first use on."""
        value.first = -1 if late else self.time
        value.last = self.time
        value.roots = {value}
        self.made.append(value)

    def _inner_argument(self, argument: Any, inputs: list[_Value], i: int, count: int) -> None:
        value = self._value(argument.type, (), "input")
        if i < count and inputs[i].shape == value.shape:
            value.roots = set(inputs[i].roots)
        self.values[argument] = value

    def end(self, block: Any, tied: set[int]) -> None:
        """Let results live to the end; those that replace an input take its place."""
        returned = list(block.operations)[-1].operation
        for i, operand in enumerate(returned.operands):
            value = self.values.get(operand)
            if value is None:
                continue
            for root in value.roots:
                root.last = self.time + 1
                if i in tied and root is value:
                    root.size = 0

    def peak(self) -> tuple[float, list[Held]]:
        """Give the most bytes at a time, and what takes them."""
        change: dict[int, float] = {}
        for value in self.made:
            if value.first < 0:
                continue
            change[value.first] = change.get(value.first, 0) + value.size
            change[value.last + 1] = change.get(value.last + 1, 0) - value.size
        now = most = 0.0
        at = 0
        for time in sorted(change):
            now += change[time]
            if now > most:
                most, at = now, time
        held = [v for v in self.made if 0 <= v.first <= at <= v.last and v.size]
        held.sort(key=lambda v: -v.size)
        return most, [Held(v.shape, v.size, v.operation) for v in held]


def _is_kept(loop: Any, i: int) -> bool:
    """Tell whether a loop hands one of its values on as it is."""
    body = loop.regions[1].blocks[0]
    return bool(list(body.operations)[-1].operation.operands[i] == body.arguments[i])


def _fuses(result: Any) -> bool:
    """Tell whether a value has one user, which computes it in its own loop."""
    users = [use.owner.name.rpartition(".")[2] for use in result.uses]
    return len(users) == 1 and (users[0] == "reduce" or users[0] not in {*_BIG, "return"})


def _few(roots: set[_Value], value: _Value) -> bool:
    """Tell whether it is no waste to keep what a value is made of in its place."""
    return sum(r.size >= value.size for r in roots) < 3


def peak(lowered: Any, mesh: Mesh, tied: set[int]) -> tuple[float, list[Held]]:
    """Give the most bytes that a program's values take on a device, besides its inputs.

    Args:
        lowered: a `jax.stages.Lowered`; it stays as it is.
        mesh: the devices.
        tied: outputs that replace an input.

    Returns:
        The bytes, and the values that are there then, the largest first.
    """
    module = lowered.compiler_ir()
    with module.context:
        copy = module.operation.clone()
        passmanager.PassManager.parse(_PASSES).run(copy)
        region = copy.regions[0].blocks[0].operations
        main = next(
            o
            for o in region
            if "sym_name" in o.attributes and o.attributes["sym_name"].value == "main"
        )
        block = main.regions[0].blocks[0]
        arguments = list(block.arguments)
        said = "arg_attrs" in main.attributes
        dims = cuts(main.attributes["arg_attrs"] if said else None, len(arguments))
        walk = _Walk(mesh)
        for argument, axes in zip(arguments, dims, strict=True):
            walk.argument(argument, axes)
        walk.block(block)
        walk.end(block, tied)
        return walk.peak()
