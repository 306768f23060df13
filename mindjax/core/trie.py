"""Sequences of recorded ops as a trie: what was recorded once is followed, not worked out again."""

from __future__ import annotations

from typing import Any

# A place is the number of an op, shifted by this, and the number of its output.
BITS = 10
MASK = (1 << BITS) - 1
# What stands for an array from outside is negative: the complement of its number among the leaves
# and, above these bits, of the number of its shape and dtype.
LEAF_BITS = 20
LEAVES = (1 << LEAF_BITS) - 1

# Steps that the trie holds before it begins anew.
_MOST_STEPS = 1 << 15


def leaf_place(reference: int) -> int:
    """Give the number among the leaves that a negative reference names."""
    return ~reference & LEAVES


class Structure:
    """A sequence of ops as a key of caches, which is hashed once.

    Args:
        ops: as in `recording.Recording`.
    """

    __slots__ = ("_hash", "ops")

    def __init__(self, ops: tuple[Any, ...]) -> None:
        self.ops, self._hash = ops, hash(ops)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Structure) and self.ops == other.ops)


class Step:
    """A sequence of ops, one object for each; what is recorded next leads to another.

    Args:
        before: the sequence without its last op.
        op: the last op, None for the empty sequence.
        made: shape and dtype of what it gives, or a tuple of these.

    Attributes:
        number: number of ops.
        place: of the last op's first output.
        next: the sequences of one op more, by that op.
    """

    __slots__ = ("_structure", "before", "made", "next", "number", "op", "place")

    def __init__(self, before: Step | None, op: Any, made: Any) -> None:
        self.before, self.op, self.made = before, op, made
        self.number = 0 if before is None else before.number + 1
        self.place = (self.number - 1) << BITS
        self.next: dict[Any, Step] = {}
        self._structure: Structure | None = None

    def grow(self, op: tuple[Any, ...], made: Any) -> Step:
        """Give the sequence with one op more."""
        found = self.next.get(op)
        if found is None:
            _Size.steps += 1
            if _Size.steps > _MOST_STEPS:
                _Size.steps = 0
                ROOT.next.clear()
            found = self.next[op] = Step(self, op, made)
        return found

    def structure(self) -> Structure:
        """Give the ops, as a key."""
        if self._structure is None:
            ops = []
            step = self
            while step.before is not None:
                ops.append(step.op)
                step = step.before
            self._structure = Structure(tuple(ops[::-1]))
        return self._structure


class _Size:
    steps = 0


ROOT = Step(None, None, None)
