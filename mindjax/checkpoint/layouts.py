"""Which part of a Parameter a rank holds, and which ranks hold what another one needs.

A device matrix numbers the ranks of a stage in row-major order, so each of its axes is a *span*:
two strides ``(low, high)``, and a rank's coordinate on it is ``rank % high // low``. Everything
here is arithmetic on spans; no data is touched.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

Span = tuple[int, int]
Part = tuple[slice, ...]


class LayoutError(ValueError):
    """A layout does not fit itself, another layout or a shape; the message says why."""


class Layout(NamedTuple):
    """How a Parameter is divided.

    Attributes:
        ranks: number of ranks of a stage.
        spans: for each dimension the axes that divide it, the outermost first; those that divide
            the optimizer's state stand last in the first dimension.
    """

    ranks: int
    spans: tuple[tuple[Span, ...], ...]

    def counts(self) -> tuple[int, ...]:
        """Give into how many parts each dimension is divided."""
        return tuple(math.prod(high // low for low, high in dim) for dim in self.spans)

    def part(self, rank: int, shape: tuple[int, ...]) -> Part:
        """Give the part of the whole that a rank holds.

        Args:
            rank: any rank; those above ``ranks`` begin again.
            shape: shape of the whole.

        Raises:
            LayoutError: the shape cannot be divided so.
        """
        counts = self.counts()
        if len(shape) != len(counts) or any(n % c for n, c in zip(shape, counts, strict=True)):
            raise LayoutError(f"the shape {shape} cannot be divided into {counts} parts")
        rank %= self.ranks
        found = []
        for size, count, dim in zip(shape, counts, self.spans, strict=True):
            index = 0
            for low, high in dim:
                index = index * (high // low) + rank % high // low
            step = size // count
            found.append(slice(index * step, (index + 1) * step))
        return tuple(found)

    def whole(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Give the shape of the whole from the shape of one part.

        Raises:
            LayoutError: the layout is for another number of dimensions.
        """
        counts = self.counts()
        if len(counts) != len(shape):
            raise LayoutError(
                "the tensor map dimensions must match the tensor shape dimensions, but there are "
                f"{len(counts)} and {len(shape)}"
            )
        return tuple(size * count for size, count in zip(shape, counts, strict=True))


class Placed(NamedTuple):
    """A Parameter's layout and the pipeline stages that hold it."""

    layout: Layout
    stages: tuple[int, ...]


Placements = dict[str, Placed]


def undivided(dims: int) -> Layout:
    """Give the layout of a Parameter that one rank holds whole."""
    return Layout(1, ((),) * dims)


def layout_of(layouts: Any) -> Layout:
    """Read a layout from a strategy file's record.

    Args:
        layouts: record with the attributes of `strategy.ParallelLayouts`.

    Raises:
        LayoutError: the record lacks a part, or its numbers do not fit each other.
    """
    try:
        matrix = [int(size) for size in layouts.dev_matrix[0].dim]
        maps = [[int(axis) for axis in one.dim] for one in layouts.tensor_map]
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        raise LayoutError(f"a layout lacks its device matrix or tensor map: {error}") from None
    # Several lists: one for each dimension, which several axes may divide.
    dims = [one for one in maps if one] if len(maps) > 1 else [[axis] for axis in maps[0]]
    if any(size < 1 for size in matrix):
        raise LayoutError(f"the device matrix {matrix} has sizes below 1")
    if any(not -1 <= axis < len(matrix) for dim in dims for axis in dim):
        raise LayoutError(f"the tensor map {dims} names an axis that {matrix} lacks")
    axes = _axes(matrix)
    spans = [tuple(axes[a] for a in dim if a != -1 and axes[a][1] > axes[a][0]) for dim in dims]
    used = [span for dim in spans for span in dim]
    if len(used) != len(set(used)):
        raise LayoutError(f"the tensor map {dims} uses an axis twice")
    step, size = int(layouts.opt_weight_shard_step), int(layouts.opt_weight_shard_size)
    ranks = math.prod(matrix)
    if size == -1:
        size = ranks // math.prod(high // low for low, high in used)
    if step and size and spans:
        spans[0] += _optimizer_spans(axes, used, size, step)
    return Layout(ranks, tuple(spans))


def _axes(matrix: list[int]) -> list[Span]:
    """List the axes' spans from the right, as tensor maps count them."""
    found, low = [], 1
    for size in reversed(matrix):
        found.append((low, low * size))
        low *= size
    return found


def _optimizer_spans(axes: list[Span], used: list[Span], size: int, step: int) -> tuple[Span, ...]:
    """Take the axes, or the inner part of one, over which the optimizer's state is divided."""
    free = [span for span in axes if span not in used and span[1] > span[0]]
    if not free:
        raise LayoutError(f"no axis is left to divide the optimizer's state by {size}")
    if len(free) == 1 and free[0][0] != step:
        raise LayoutError(
            f"The optimizer sharding step {step} is not equal to the model parallel sharding size "
            f"{free[0][0]}"
        )
    found: list[Span] = []
    for low, high in free:
        if size == 1:
            break
        count = min(high // low, size)
        if high // low % count or size % count:
            raise LayoutError(f"an axis of {high // low} ranks cannot be divided by {size}")
        found.insert(0, (low, low * count))
        size //= count
    if size != 1:
        raise LayoutError(f"too few ranks are left to divide the optimizer's state by {size} more")
    return tuple(found)


def placements(strategy: Mapping[str, Any], rank: int | None = None) -> Placements:
    """Collect the layouts of a strategy file by Parameter.

    In a merged file each name begins with its stage, as in ``"1-weight"``.

    Args:
        strategy: names and records.
        rank: the rank that asks, which matters if several stages hold a Parameter.

    Raises:
        LayoutError: a record is wrong.
    """
    found: Placements = {}
    for key, record in strategy.items():
        stage, name = 0, key
        head, dash, rest = key.partition("-")
        if dash and head.isdecimal():
            stage, name = int(head), rest
        try:
            layout = layout_of(record)
        except LayoutError as error:
            raise LayoutError(f"for the parameter '{key}', {error}") from None
        before = found.get(name)
        if before is None:
            found[name] = Placed(layout, (stage,))
            continue
        stages = (*before.stages, stage)
        if rank is None:
            takes = stage <= min(stages)
        else:
            takes = (rank // layout.ranks == 0) == (stage == 0)
        found[name] = Placed(layout if takes else before.layout, stages)
    return found


def needed_ranks(source: Layout, target: Layout, rank: int) -> list[int]:
    """Find which ranks of ``source`` hold what a rank of ``target`` needs.

    As the original's gathering does, a dimension whose axes differ is taken whole along them, and
    of equal parts the ones nearest to the rank itself.

    Raises:
        LayoutError: neither number of ranks divides the other, or the dimensions differ.
    """
    if max(source.ranks, target.ranks) % min(source.ranks, target.ranks):
        raise LayoutError(f"Cannot transform device_num from {source.ranks} to {target.ranks}")
    if len(source.spans) != len(target.spans):
        raise LayoutError("the two layouts have different numbers of dimensions")
    cuts = {cut for dims in (source.spans, target.spans) for dim in dims for s in dim for cut in s}
    found = {rank % source.ranks}
    for ours, theirs in zip(source.spans, target.spans, strict=True):
        for low, high in _beyond_common(_refined(ours, cuts), _refined(theirs, cuts)):
            count = high // low
            found = {
                one + (index - one // low % count) * low for one in found for index in range(count)
            }
    return sorted(one % source.ranks for one in found)


def _refined(spans: Iterable[Span], cuts: set[int]) -> list[Span]:
    """Cut spans where other spans begin or end, if those strides divide each other."""
    found: list[Span] = []
    for low, high in spans:
        inner = sorted(cut for cut in cuts if low <= cut <= high)
        pairs = list(itertools.pairwise(inner))
        whole = any(outer % inside for inside, outer in pairs)
        found += [(low, high)] if whole else pairs[::-1]
    return found


def _beyond_common(ours: list[Span], theirs: list[Span]) -> list[Span]:
    same = 0
    while same < min(len(ours), len(theirs)) and ours[same] == theirs[same]:
        same += 1
    return ours[same:]
