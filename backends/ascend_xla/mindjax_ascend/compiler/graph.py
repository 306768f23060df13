"""A program between StableHLO and steps: nodes that fusion turns into steps."""

from __future__ import annotations

from dataclasses import dataclass, field

from mindjax_ascend.compiler.program import Value

SCALAR, BROADCAST, CONSTANT, ALIAS, STEP = range(5)


class UnsupportedError(Exception):
    """There are no steps for an operator: the delegate runs the program."""


@dataclass(eq=False)
class Node:
    """One operator.

    Args:
        kind: SCALAR is elementwise, BROADCAST repeats its input along axes, CONSTANT holds data,
            ALIAS is another view of its input's bytes, STEP is any other kernel.
        op: the kernel's or the scalar operator's name.
        inputs: the arrays it reads.
        outputs: the arrays it makes.
        ints: numbers of a step; strides in the input of a broadcast.
        data: bytes of a constant's one element or of all its elements.
        blocks: the blocks of nodes that a loop or branch runs.
        calls: of CANN's operators in place of the blocks.
    """

    kind: int
    op: str
    inputs: list[Value]
    outputs: list[Value]
    ints: list[int] = field(default_factory=list)
    data: bytes = b""
    splat: bool = False
    blocks: list[Block] = field(default_factory=list)
    source: str = ""
    calls: str = ""


@dataclass(eq=False)
class Block:
    """Nodes in order, with what comes in and goes out."""

    parameters: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)


def strides_of(dims: tuple[int, ...] | list[int]) -> list[int]:
    """Give the row-major strides of an array in elements."""
    strides = [1] * len(dims)
    for i in range(len(dims) - 1, 0, -1):
        strides[i - 1] = strides[i] * dims[i]
    return strides


def collapse(dims: list[int], *strides: list[int]) -> tuple[list[int], list[list[int]]]:
    """Merge neighbouring axes that are one run in every array, and drop axes of length one.

    Args:
        dims: lengths of the axes.
        strides: strides of each array along them.
    """
    kept: list[int] = []
    merged: list[list[int]] = [[] for _ in strides]
    for i, length in enumerate(dims):
        if length == 1:
            continue
        if kept and all(m[-1] == s[i] * length for m, s in zip(merged, strides, strict=True)):
            kept[-1] *= length
            for m, s in zip(merged, strides, strict=True):
                m[-1] = s[i]
            continue
        kept.append(length)
        for m, s in zip(merged, strides, strict=True):
            m.append(s[i])
    return kept, merged


def group(dims: tuple[int, ...], strides: list[int], axes: list[int]) -> tuple[int, int] | None:
    """Give the length and stride of several axes taken as one; None if no one stride does."""
    kept, (merged,) = collapse([dims[a] for a in axes], [strides[a] for a in axes])
    if not kept:
        return 1, 1
    return (kept[0], merged[0]) if len(kept) == 1 else None
