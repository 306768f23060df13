"""Putting the parts of Parameters that several ranks hold together for another rank."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from mindjax.checkpoint.ckpt import Int4
from mindjax.checkpoint.layouts import (
    Layout,
    LayoutError,
    Part,
    Placements,
    needed_ranks,
    undivided,
)

# For each name the value that each rank's file holds.
Held = dict[str, dict[int, Any]]


def assemble(
    held: Mapping[int, np.ndarray],
    source: Layout,
    target: Layout,
    rank: int,
    incomplete: bool = False,
) -> np.ndarray:
    """Build what a rank of ``target`` holds from what ranks of ``source`` hold.

    Args:
        held: ranks of ``source`` and their parts, all of one shape.
        source: how the parts divide the whole.
        target: how the result does.
        rank: the rank of ``target``.
        incomplete: whether a rank's part may be taken from any other that holds the same.

    Returns:
        A new array.

    Raises:
        LayoutError: a needed part is missing, or shapes and layouts do not fit.
    """
    first = next(iter(held.values()))
    shape = source.whole(first.shape)
    wanted = target.part(rank, shape)
    ranks = needed_ranks(source, target, rank)
    if incomplete:
        ranks += sorted(set(held) - set(ranks))
    result = np.empty(tuple(one.stop - one.start for one in wanted), first.dtype)
    taken: set[tuple[tuple[int, int], ...]] = set()
    left = result.size
    missing = -1
    for one in ranks:
        part = source.part(one, shape)
        key = tuple((side.start, side.stop) for side in part)
        common = _common(part, wanted)
        if common is None or key in taken:
            continue
        if one not in held:
            missing = one
            continue
        if held[one].shape != first.shape or held[one].dtype != first.dtype:
            raise LayoutError(f"the parts of the ranks differ: {first.shape}, {held[one].shape}")
        taken.add(key)
        result[_within(common, wanted)] = held[one][_within(common, part)]
        left -= math.prod(side.stop - side.start for side in common)
    if left:
        raise LayoutError(f"The checkpoint of rank {missing} is missing")
    return result.view(Int4) if isinstance(first, Int4) else result


def _common(part: Part, wanted: Part) -> Part | None:
    found = tuple(
        slice(max(a.start, b.start), min(a.stop, b.stop)) for a, b in zip(part, wanted, strict=True)
    )
    return found if all(side.start < side.stop for side in found) else None


def _within(part: Part, outer: Part) -> Part:
    return tuple(
        slice(a.start - b.start, a.stop - b.start) for a, b in zip(part, outer, strict=True)
    )


def redistribute(
    rank: int,
    held: Held,
    source: Placements | None,
    target: Placements | None,
    incomplete: bool = False,
) -> dict[str, Any]:
    """Build everything that a rank's file will hold.

    Args:
        rank: rank within its pipeline stage.
        held: for each name what the ranks of a stage hold.
        source: how the parts divide the Parameters; None if the values are whole.
        target: how the results do; None for whole ones.
        incomplete: whether ranks leave out what others hold too.

    Returns:
        Names and values: first the Parameters with a layout, then the others as they are.

    Raises:
        LayoutError: a needed part is missing, shapes and layouts do not fit, or no name has a
            layout.
    """
    found: dict[str, Any] = {}
    ranks = 0
    for name, parts in held.items():
        if (source is not None and name not in source) or (
            target is not None and name not in target
        ):
            continue
        first = next(iter(parts.values()))
        if isinstance(first, str):
            continue
        ours = source[name].layout if source is not None else undivided(first.ndim)
        theirs = target[name].layout if target is not None else undivided(first.ndim)
        try:
            found[name] = assemble(parts, ours, theirs, rank, incomplete)
        except LayoutError as error:
            raise LayoutError(f"For param '{name}', {error}") from None
        ranks = ours.ranks
    if not found:
        raise LayoutError(
            "None of the parameters in checkpoint file are in either src strategy or dst strategy. "
            "Please check correctness of strategy files"
        )
    for name, parts in held.items():
        if name not in found:
            own = rank % ranks
            found[name] = parts[own if own in parts else min(parts)]
    return found
