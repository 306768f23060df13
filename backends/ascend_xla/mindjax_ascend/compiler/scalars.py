"""Scalar programs: the code that a fused step, a reduction or a comparator applies to elements."""

from __future__ import annotations

import functools

from mindjax_ascend import library
from mindjax_ascend.compiler.graph import UnsupportedError

# Names of StableHLO that differ from the runtime's.
RENAMED = {
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "not": "bitwise_not",
}


@functools.cache
def operators() -> dict[str, int]:
    """Number the runtime's scalar operators by name."""
    names = library.library().ascend_map_ops().decode().rstrip(",").split(",")
    return {name: i for i, name in enumerate(names)}


@functools.cache
def supported(op: str, type: int, to: int) -> bool:
    """Tell whether the runtime has a scalar operator for an element type."""
    number = operators().get(op)
    return number is not None and bool(library.library().ascend_has_map(number, type, to))


def check(op: str, type: int, to: int) -> None:
    """Refuse a scalar operator that the runtime lacks.

    Raises:
        UnsupportedError: it does.
    """
    if not supported(op, type, to):
        raise UnsupportedError(f"{op} of element type {type}")


class ScalarCode:
    """Instructions over slots: inputs first, then registers, then outputs.

    Args:
        inputs: how many arrays come in.
    """

    def __init__(self, inputs: int) -> None:
        self.inputs = inputs
        self.registers = 0
        self.constants: list[tuple[int, int, int]] = []
        self.instructions: list[tuple[int, int, int, int | None, list[int]]] = []
        self._free: list[int] = []

    def register(self) -> int:
        """Take a register; -1 - n names the n-th until the code is finished."""
        if self._free:
            return self._free.pop()
        self.registers += 1
        return -self.registers

    def release(self, slot: int) -> None:
        """Give a register back once nothing later reads it; inputs stay."""
        if slot < 0 and all(slot != c[0] for c in self.constants):
            self._free.append(slot)

    def constant(self, type: int, bits: int) -> int:
        """Give the slot of a constant."""
        for slot, t, b in self.constants:
            if (t, b) == (type, bits):
                return slot
        self.registers += 1
        self.constants.append((-self.registers, type, bits))
        return -self.registers

    def add(self, op: str, type: int, to: int, target: int | None, operands: list[int]) -> None:
        """Add an instruction; without a target it writes the next output."""
        self.instructions.append((operators()[op], type, to, target, operands))

    def finish(self, outputs: int) -> list[int]:
        """Give the code as numbers; slots None are the outputs, in order."""
        made = 0

        def place(slot: int | None) -> int:
            nonlocal made
            if slot is None:
                made += 1
                return self.inputs + self.registers + made - 1
            return slot if slot >= 0 else self.inputs - 1 - slot

        flat: list[int] = []
        for op, type, to, target, operands in self.instructions:
            read = [place(s) for s in operands]
            read += [-1] * (3 - len(read))
            flat += [op, type, to, place(target), *read]
        constants = [n for slot, type, bits in self.constants for n in (place(slot), type, bits)]
        return [
            self.inputs,
            self.registers,
            outputs,
            len(self.constants),
            *constants,
            len(self.instructions),
            *flat,
        ]
