"""How the Parameters of compiled programs lie on the ranks, for a program to ask.

What a strategy file says of a program is kept here as a `Layout` a Parameter, for each rank, from
`enable_save_strategy_online` on.
"""

from __future__ import annotations

import collections
import math
import string
import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

from jax.sharding import Mesh

from mindjax.checkpoint.strategy import ParallelLayouts
from mindjax.core import world
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax_parallel.layout import Layout
from mindjax_parallel.mesh import Placement
from mindjax_parallel.strategy_file import record_of

_OF_OPTIMIZERS = ("adam_m.", "adam_v.", "moments.", "accu_grads.")


class Kept(NamedTuple):
    """A Parameter of a program.

    Attributes:
        name: its name then.
        record: how one stage's ranks hold it.
        stages: that hold it.
        entry: dtype and shape, as they are shown.
    """

    name: str
    record: ParallelLayouts
    stages: tuple[int, ...]
    entry: tuple[str, list[int]]


class Noted(NamedTuple):
    """A program.

    Attributes:
        cells: those that it calls, and all within them.
        size: number of devices of a stage.
        stages: number of stages.
        kept: its Parameters.
    """

    cells: weakref.WeakSet[Cell]
    size: int
    stages: int
    kept: list[Kept]


class Metadata:
    """What is kept of compiled programs, the newest last.

    Attributes:
        enabled: whether programs are kept.
    """

    def __init__(self) -> None:
        self.enabled = False
        self._programs: collections.deque[Noted] = collections.deque(maxlen=64)

    def note(
        self,
        cells: Sequence[Any],
        state: Sequence[Any],
        shapes: Sequence[tuple[int, ...]],
        placed: Sequence[Placement],
        mesh: Mesh,
        owners: dict[int, tuple[int, ...]],
        stages: int,
    ) -> None:
        """Keep how the Parameters of a program lie.

        Args:
            cells: Cells that it calls, among other things.
            state: Handles of its state.
            shapes: of their arrays.
            placed: how they lie at rest.
            mesh: the devices of a stage.
            owners: the stages that hold a Handle, by its number; all hold the others.
            stages: their number.
        """
        if not self.enabled:
            return
        every = tuple(range(stages))
        kept = [
            Kept(
                handle.name,
                record_of(placement, mesh),
                owners.get(i, every),
                (repr(handle.dtype), list(shape)),
            )
            for i, (handle, shape, placement) in enumerate(zip(state, shapes, placed, strict=False))
            if getattr(handle, "is_parameter", False) and isinstance(handle.name, str)
        ]
        if kept:
            # Parameters first, what optimizers keep of each after it.
            kept.sort(key=lambda one: _order(one.name))
            called = (c for c in cells if isinstance(c, Cell))
            within = weakref.WeakSet(c for one in called for _, c in one.cells_and_names())
            self._programs.append(Noted(within, mesh.size, stages, kept))

    def clear(self) -> None:
        """Forget all programs."""
        self._programs.clear()

    def of(self, network: Any, ranks: Sequence[int] | None) -> dict[int, dict[str, list[Any]]]:
        """Give the layouts of the newest program that calls a network, or a Cell around it.

        Args:
            network: a Cell.
            ranks: those to tell of; None for all.

        Returns:
            By rank and name; empty without such a program.

        Raises:
            AttributeError: ``network`` is no Cell.
            KeyError: there is no such rank.
        """
        if not isinstance(network, Cell):
            raise located(
                AttributeError,
                f"The 'network' must be a Cell, but got {type(network).__name__}: it has no "
                "compile_phase.",
            )
        for cells, size, stages, kept in reversed(self._programs):
            if network in cells:
                chosen = range(size * stages) if ranks is None else ranks
                return {rank: _of_rank(rank, size, stages, kept) for rank in chosen}
        return {}


metadata = Metadata()


def _order(name: str) -> tuple[str, int]:
    for number, prefix in enumerate(_OF_OPTIMIZERS, 1):
        if name.startswith(prefix):
            return name.removeprefix(prefix), number
    return name, 0


def _of_rank(rank: int, size: int, stages: int, kept: Sequence[Kept]) -> dict[str, list[Any]]:
    if not 0 <= rank < size * stages:
        raise located(KeyError, f"There is no rank {rank}: there are {size * stages}.")
    stage = rank // size
    ranks = list(range(stage * size, (stage + 1) * size))
    return {
        one.name: [layout_from(one.record, ranks), one.entry[0], list(one.entry[1])]
        for one in kept
        if stage in one.stages
    }


def layout_from(record: ParallelLayouts, ranks: list[int]) -> Layout:
    """Give the layout that a strategy file's record stands for.

    Args:
        record: of a Parameter.
        ranks: that hold it, in the order of the arrangement.
    """
    matrix = record.dev_matrix[0].dim
    names = tuple(string.ascii_lowercase[: len(matrix)])
    maps = [dims.dim for dims in record.tensor_map if dims.dim]
    if len(record.tensor_map) == 1:
        maps = [(place,) for place in maps[0]] if maps else []

    def named(places: Sequence[int]) -> Any:
        found = tuple(names[len(names) - 1 - p] for p in places if p != -1)
        return found if len(found) > 1 else found[0] if found else "None"

    assert math.prod(matrix) == len(ranks)
    return Layout(tuple(matrix), names, list(ranks))(*map(named, maps))


def enable_save_strategy_online() -> None:
    """Keep how Parameters lie, of programs compiled from now on.

    Programs of a semi-automatic or automatic parallel mode are kept, the newest 64.

    MindSpore: ``mindspore.parallel.strategy.enable_save_strategy_online``.
    """
    metadata.enabled = True


def clear_strategy_metadata() -> None:
    """Forget how Parameters of programs lie; those that follow are kept as before.

    MindSpore: ``mindspore.parallel.strategy.clear_strategy_metadata``.
    """
    metadata.clear()


def get_strategy_metadata(
    network: Any, rank_id: int | None = None
) -> dict[int, dict[str, list[Any]]] | None:
    """Give how the Parameters of a network's newest program lie on every rank.

    Args:
        network: a Cell that was compiled, or one within it.
        rank_id: the rank to tell of; None for all.

    Returns:
        By rank and name of a Parameter a list of its `Layout`, dtype and whole shape; None where
        nothing was kept.

    Raises:
        AttributeError: ``network`` is no Cell.
        KeyError: there is no such rank.

    MindSpore: ``mindspore.parallel.strategy.get_strategy_metadata``.
    """
    return metadata.of(network, None if rank_id is None else [rank_id]) or None


def get_current_strategy_metadata(network: Any) -> dict[int, dict[str, list[Any]]] | None:
    """Give how the Parameters of a network's newest program lie on this rank.

    Args:
        network: a Cell that was compiled, or one within it.

    Returns:
        The same as `get_strategy_metadata`, with this rank's under the key 0; None where nothing
        was kept.

    Raises:
        AttributeError: ``network`` is no Cell.

    MindSpore: ``mindspore.parallel.strategy.get_current_strategy_metadata``.
    """
    rank = world.transport.rank
    found = metadata.of(network, [rank])
    return {0: found[rank]} if found else None
