"""Programs of recorded ops: cached by structure, compiled when a structure is met again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from mindjax.core import allocator, jax_private
from mindjax.core.caches import Cache, count_compilation

# A place is the number of an op, shifted by this, and the number of its output.
BITS = 10

# Numbers that were the same in two runs become constants of the program, up to this many elements.
_CONSTANT = 16
# Programs of one structure are compiled anew this often for numbers that changed after all.
_MOST_ANEW = 2

# What was met once: its hash, and the bytes of its numbers. A program is worth much more.
_seen: Cache[tuple[bytes, ...]] = Cache("deferred structures met once", 16384)
_programs: Cache[dict[frozenset[int], Program]] = Cache("deferred programs", 512)


def uses(ops: Sequence[Any], kept: set[int]) -> tuple[list[bool], dict[int, list[int]]]:
    """Find which ops are needed, and which values each one is the last to use.

    Args:
        ops: as in `deferred.Recording`.
        kept: places whose values are asked for.
    """
    needed = [False] * len(ops)
    for place in kept:
        needed[place >> BITS] = True
    last: dict[int, list[int]] = {}
    seen: set[int] = set()

    def note(references: Any, number: int) -> None:
        for reference in references:
            if reference is None:
                continue
            if type(reference) is tuple:
                note(reference, number)
            elif reference >= 0:
                needed[reference >> BITS] = True
                if reference not in seen:
                    seen.add(reference)
                    last.setdefault(number, []).append(reference)

    for number in range(len(ops) - 1, -1, -1):
        if needed[number]:
            note(ops[number][1:], number)
    return needed, last


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
        ops: as in `deferred.Recording`.
        count: number of arrays from outside.
        live: places of the outputs.
        constants: bytes of the numbers that are constants of the program, by leaf.
        leaves: arrays from outside; those of the constants are kept.
    """

    def __init__(
        self,
        ops: Sequence[Any],
        count: int,
        live: tuple[int, ...],
        constants: dict[int, bytes],
        leaves: Sequence[Any],
    ) -> None:
        self.ops, self.live, self.anew = tuple(ops), live, 0
        self.needed, _ = uses(ops, set(live))
        self._use(count, constants, leaves)

    def _use(self, count: int, constants: dict[int, bytes], leaves: Sequence[Any]) -> None:
        self.constants = constants
        self.inputs = [i for i in range(count) if i not in constants]
        values = {i: leaves[i] for i in constants}
        program = _function(self.ops, self.needed, self.live, self.inputs, values)
        allocator.prepare()
        self.call = jax.jit(program, keep_unused=False)

    def run(self, leaves: Sequence[Any]) -> list[Any]:
        """Compute the outputs.

        Args:
            leaves: arrays from outside.
        """
        changed = [i for i, b in self.constants.items() if leaves[i].tobytes() != b]
        if changed:
            self.anew += 1
            left = {} if self.anew >= _MOST_ANEW else dict(self.constants)
            for i in changed:
                left.pop(i, None)
            self._use(len(leaves), left, leaves)
        return self.call(*[leaves[i] for i in self.inputs])


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
        values: dict[int, Any] = {}

        def resolve(reference: Any) -> Any:
            if reference is None:
                return None
            if type(reference) is tuple:
                return tuple(resolve(r) for r in reference)
            return values[reference] if reference >= 0 else outside[~reference]

        for number, op in enumerate(ops):
            if not needed[number]:
                continue
            out = op[0].call(*[resolve(r) for r in op[1:]])
            if isinstance(out, tuple | list):
                for i, value in enumerate(out):
                    values[number << BITS | i] = value
            else:
                values[number << BITS] = out
        return [values[place] for place in live]

    return ms_deferred


def run(
    ops: list[Any], leaves: Sequence[Any], avals: Sequence[Any], live: Sequence[int]
) -> list[Any] | None:
    """Run a record as one program.

    Args:
        ops: as in `deferred.Recording`.
        leaves: arrays from outside.
        avals: of the leaves.
        live: places whose values are asked for.

    Returns:
        Their values; None if the structure is met for the first time.
    """
    key = tuple(ops), tuple(avals)
    outputs = frozenset(live)
    variants = _programs.get(key)
    program = None if variants is None else _fitting(variants, outputs)
    if program is None:
        met = hash((key, outputs))
        numbers = tuple(
            a.tobytes() if type(a) is np.ndarray and a.size <= _CONSTANT else b"" for a in leaves
        )
        before = _seen.get(met)
        if before is None or len(before) != len(numbers):
            _seen.put(met, numbers)
            return None
        constants = {
            i: n for i, (n, b) in enumerate(zip(numbers, before, strict=True)) if n and n == b
        }
        program = Program(ops, len(leaves), tuple(live), constants, leaves)
        if variants is None:
            variants = _programs.put(key, {})
        variants[outputs] = program
    old = jax_private.swap_x64(True)
    try:
        values = program.run(leaves)
    finally:
        jax_private.set_x64(old)
    if program.live == tuple(live):
        return values
    by_place = dict(zip(program.live, values, strict=True))
    return [by_place[place] for place in live]


def _fitting(variants: dict[frozenset[int], Program], outputs: frozenset[int]) -> Program | None:
    """Find the program of these outputs, or one that gives a few more."""
    found = variants.get(outputs)
    if found is not None:
        return found
    for more, program in variants.items():
        if outputs < more and len(more) <= len(outputs) + 4:
            return program
    return None


def calls_back(jaxpr: Any) -> bool:
    """Tell whether a program calls Python while it runs."""
    for equation in jaxpr.eqns:
        if "callback" in equation.primitive.name:
            return True
        for value in equation.params.values():
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns") and calls_back(inner):
                return True
    return False
