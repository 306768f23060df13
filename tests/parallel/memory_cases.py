"""The trainings of `memory.py`: where values wait, and what is computed again."""

import dataclasses
from typing import Any


@dataclasses.dataclass(frozen=True)
class Case:
    """A training.

    Attributes:
        device: argument of each Parameter.
        cut: whether operators have strategies, on eight devices.
        level: of optimizer parallelism.
        offload: whether blocks offload what the backward pass needs.
        again: arguments of their `recompute`; None for none.
        without: whether the platform has no memory of the host.
        quick: whether the ordinary suite runs the case.
    """

    device: str | None = None
    cut: bool = False
    level: str | None = None
    offload: bool = False
    again: Any = None
    without: bool = False
    quick: bool = False


CASES = {
    "plain": Case(quick=True),
    "on the host": Case("CPU", quick=True),
    "offload": Case(offload=True, quick=True),
    "again": Case(again={}),
    "cut": Case(cut=True),
    "cut, on the host": Case("CPU", True, "level2"),
    "cut, offload": Case(cut=True, offload=True),
    "cut, again": Case(cut=True, again={}),
    "cut, again but for sums": Case(cut=True, again={"mp_comm_recompute": False}, quick=True),
    "shared, again": Case(cut=True, level="level2", again={}),
    "shared, again with gathers": Case(
        cut=True, level="level2", again={"parallel_optimizer_comm_recompute": True}
    ),
    "level 3, again": Case(cut=True, level="level3", again={}),
    # The last one: it changes the process.
    "no memory of the host": Case("CPU", offload=True, without=True, quick=True),
}
