"""Programs of recorded ops: cached by structure, compiled when a structure is met again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from mindjax.core import allocator, jax_private, solver_order, world
from mindjax.core.caches import Cache, count_compilation
from mindjax.core.handle import upload
from mindjax.core.jaxprs import every
from mindjax.core.layouts import layout_of
from mindjax.core.resident import RESIDENT
from mindjax.core.trie import BITS, MASK, Structure, leaf_place

ArrayImpl = jax_private.ArrayImpl

# Integers that were the same in two runs become constants of the program, up to so many elements.
# Real numbers do not: XLA divides by a constant by multiplying, and (1 - 3 / 3) ** 0.5 may be NaN.
_CONSTANT = 16
_EXACT = "iub"
# Programs of one structure are compiled anew this often for numbers that changed after all.
_MOST_ANEW = 2
# Programs of one structure that differ in what is read and in what is given away.
_MOST_VARIANTS = 8
# So often a program may leave memory unused that it could have had.
_MOST_KEPT = 3
# A program is also taken for this many outputs fewer than it gives.
_MORE = 4

# What was met once: its hash, and the bytes of its numbers. A program is worth much more.
_seen: Cache[tuple[bytes, ...]] = Cache("deferred structures met once", 16384)
_programs: Cache[_Variants] = Cache("deferred programs", 512)


def uses(ops: Sequence[Any], kept: set[int]) -> tuple[list[bool], dict[int, list[int]]]:
    """Find which ops are needed, and of which ops each one is the last to use a result.

    Args:
        ops: as in `recording.Recording`.
        kept: places whose values are asked for.
    """
    needed = [False] * len(ops)
    for place in kept:
        needed[place >> BITS] = True
    last: dict[int, list[int]] = {}
    seen: set[int] = set()
    for number in range(len(ops) - 1, -1, -1):
        if not needed[number]:
            continue
        for reference in flat(ops[number]):
            used = reference >> BITS
            if used >= 0:
                needed[used] = True
                if used not in seen:
                    seen.add(used)
                    last.setdefault(number, []).append(used)
    return needed, last


def value_of(reference: Any, results: list[Any], leaves: Any) -> Any:
    """Give what a reference stands for.

    Args:
        reference: as in `recording.Recording`.
        results: what each op gave.
        leaves: arrays from outside, by their numbers.
    """
    if type(reference) is tuple:
        return tuple([value_of(r, results, leaves) for r in reference])
    if reference is None:
        return None
    if reference < 0:
        return leaves[leaf_place(reference)]
    out = results[reference >> BITS]
    return out[reference & MASK] if isinstance(out, tuple | list) else out


def flat(op: Any) -> list[int]:
    """List the references of an op, those inside sequences too."""
    found: list[int] = []
    for reference in op:
        if type(reference) is int:
            found.append(reference)
        elif type(reference) is tuple:
            found += flat(reference)
    return found


class Program:
    """A record as one compiled program.

    Args:
        ops: as in `recording.Recording`.
        count: number of arrays from outside.
        live: places of the outputs.
        constants: bytes of the numbers that are constants of the program, by leaf.
        leaves: arrays from outside; those of the constants are kept.
        donated: leaves whose memory the results may take.
    """

    def __init__(
        self,
        ops: Sequence[Any],
        count: int,
        live: tuple[int, ...],
        constants: dict[int, bytes],
        leaves: Sequence[Any],
        donated: frozenset[int] = frozenset(),
    ) -> None:
        self.donated, self.given = donated, sorted(donated)
        self.ops, self.live, self.anew = tuple(ops), live, 0
        self.kept = 0
        self.outputs = frozenset(live)
        self.needed, _ = uses(ops, set(live))
        self._use(count, constants, leaves)

    def _use(self, count: int, constants: dict[int, bytes], leaves: Sequence[Any]) -> None:
        self.constants = constants
        self.numbers: dict[int, tuple[bytes, Any]] = {}
        used = {leaf_place(r) for op in self.ops for r in flat(op) if r < 0}
        self.inputs = [i for i in range(count) if i in used and i not in constants]
        values = {i: leaves[i] for i in constants}
        program = _function(self.ops, self.needed, self.live, self.inputs, values)
        world.join()
        allocator.prepare()
        given = [k for k, i in enumerate(self.inputs) if i in self.donated]
        self.call = jax.jit(solver_order.ordered(program), donate_argnums=given)
        # What calls the executable without a look at the arrays, if there is such a call, and where
        # they must lie for it; their shapes are the structure's.
        self.direct: Any = None
        self.layout = -1

    def run(self, leaves: Sequence[Any], layout: int) -> list[Any]:
        """Compute the outputs.

        Args:
            leaves: arrays from outside.
            layout: how those of them that lie on a device do.
        """
        if self.constants:
            changed = [i for i, b in self.constants.items() if leaves[i].tobytes() != b]
            if changed:
                self.anew += 1
                left = {} if self.anew >= _MOST_ANEW else dict(self.constants)
                for i in changed:
                    left.pop(i, None)
                self._use(len(leaves), left, leaves)
        arrays = [leaves[i] for i in self.inputs]
        if np.ndarray in map(type, arrays):
            arrays = [self._given(i, a) for i, a in zip(self.inputs, arrays, strict=True)]
            if not all(type(a) is ArrayImpl and layout_of(a) == layout for a in arrays):
                return self.call(*arrays)
        if layout != self.layout:
            return self.call(*arrays) if self.layout >= 0 else self._first(arrays, layout)
        if self.direct is None or jax_private.nans_debugged():
            return self.call(*arrays)
        return self.direct(arrays)

    def _first(self, arrays: list[Any], layout: int) -> list[Any]:
        """Run, and find a call of the executable that looks at no array."""
        lowered = self.call.lower(*arrays)
        values = self.call(*arrays)
        # Jax knows what it has just compiled.
        self.direct, self.layout = jax_private.unchecked_call(lowered.compile()), layout
        return values

    def _given(self, number: int, leaf: Any) -> Any:
        """Put a number that comes again on the device once; the others go with the call."""
        if type(leaf) is not np.ndarray:
            return leaf
        kept = RESIDENT.get(id(leaf))
        if kept is not None:
            return kept[1]
        value = leaf.tobytes()
        before, array = self.numbers.get(number, (b"", None))
        if before != value:
            self.numbers[number] = value, None
            return leaf
        if array is None:
            array = upload(leaf)
            self.numbers[number] = value, array
        return array


def _function(
    ops: Sequence[Any],
    needed: Sequence[bool],
    live: Sequence[int],
    inputs: Sequence[int],
    constants: dict[int, Any],
) -> Any:
    def ms_deferred(*arrays: Any) -> list[Any]:
        count_compilation("deferred")
        outside = dict(constants)
        outside.update(zip(inputs, arrays, strict=True))
        results: list[Any] = [None] * len(ops)
        for number, op in enumerate(ops):
            if needed[number]:
                results[number] = op[0].call(*[value_of(r, results, outside) for r in op[1:]])
        return [value_of(place, results, outside) for place in live]

    return ms_deferred


def run(
    structure: Structure,
    leaves: Sequence[Any],
    live: tuple[int, ...],
    dead: Sequence[int] = (),
    layout: int = -1,
) -> list[Any] | None:
    """Run a record as one program.

    Args:
        structure: its ops.
        leaves: arrays from outside.
        live: places whose values are asked for.
        dead: leaves that nobody else holds.
        layout: how the leaves on a device lie, -1 if none does.

    Returns:
        Their values; None if the structure is met for the first time.
    """
    variants = _programs.get(structure)
    program = None
    if variants is not None:
        last = variants.last
        if last is not None and last.live == live and last.given == dead:
            program = last
        else:
            program = variants.last = _fitting(variants, frozenset(live), frozenset(dead))
    if program is None:
        program = _met_again(structure, variants, leaves, live, dead)
        if program is None:
            return None
    elif len(program.donated) != len(dead):
        program.kept += 1
        if program.kept == _MOST_KEPT and variants is not None and len(variants) < _MOST_VARIANTS:
            given = frozenset(dead)
            program = Program(
                structure.ops, len(leaves), program.live, program.constants, leaves, given
            )
            variants.append(program)
    old = jax_private.swap_x64(True)
    try:
        values = program.run(leaves, layout)
    finally:
        jax_private.set_x64(old)
    if program.live == live:
        return values
    by_place = dict(zip(program.live, values, strict=True))
    return [by_place[place] for place in live]


def _met_again(
    structure: Structure,
    variants: _Variants | None,
    leaves: Sequence[Any],
    live: Sequence[int],
    dead: Sequence[int],
) -> Program | None:
    """Make the program of a structure that was met before with these outputs."""
    met = hash((structure, frozenset(live)))
    numbers = tuple(
        a.tobytes()
        if type(a) is np.ndarray and a.size <= _CONSTANT and a.dtype.kind in _EXACT
        else b""
        for a in leaves
    )
    before = _seen.get(met)
    if before is None or len(before) != len(numbers):
        _seen.put(met, numbers)
        return None
    constants = {i: n for i, (n, b) in enumerate(zip(numbers, before, strict=True)) if n and n == b}
    if variants is None:
        variants = _programs.put(structure, _Variants())
    given = frozenset(dead) if len(variants) < _MOST_VARIANTS else frozenset()
    program = Program(structure.ops, len(leaves), tuple(live), constants, leaves, given)
    del variants[_MOST_VARIANTS:]
    variants.append(program)
    return program


class _Variants(list["Program"]):
    """The programs of one structure, which differ in what is read and in what is given away."""

    # That ran last.
    last: Program | None = None


def _fitting(
    variants: list[Program], outputs: frozenset[int], dead: frozenset[int]
) -> Program | None:
    """Find a program of these outputs, or of a few more, that gives away nothing that lives."""
    best = None
    for program in variants:
        more = len(program.outputs) - len(outputs)
        if 0 <= more <= _MORE and program.donated <= dead and outputs <= program.outputs:
            if more == 0 and program.donated == dead:
                return program
            if best is None or len(program.outputs) < len(best.outputs):
                best = program
    return best


def calls_back(jaxpr: Any) -> bool:
    """Tell whether a program calls Python while it runs: it may raise, so nothing is donated."""
    return any("callback" in e.primitive.name for inner in every(jaxpr) for e in inner.eqns)
