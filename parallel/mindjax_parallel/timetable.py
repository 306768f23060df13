"""A schedule as arrays: for each step and stage the operation, and where its values lie.

What a stage gets or keeps has a slot from the step in which it comes to the one in which it is used
last. Slots are shared out beforehand, so that a stage has only as many as its schedule needs.
"""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np

from mindjax_parallel.schedule import BACKWARD, FORWARD, WEIGHTS, Layout, Schedule


class Timetable(NamedTuple):
    """Arrays of steps x stages; a slot of ``-1`` stands for the one that nobody reads.

    Attributes:
        operation: 0 for none, else 1 + (kind - 1) * positions + position.
        micro: micro batch.
        given: slot of what the operation got from another position.
        kept: slot of what the forward pass keeps.
        left: slot of what the backward pass keeps.
        from_before: slot for what the stage before sends at the end of the step.
        from_after: slot for what the stage after sends.
        from_itself: slot for what the stage itself hands on.
        slots: numbers of slots: of what is given, kept, left.
    """

    operation: np.ndarray[Any, Any]
    micro: np.ndarray[Any, Any]
    given: np.ndarray[Any, Any]
    kept: np.ndarray[Any, Any]
    left: np.ndarray[Any, Any]
    from_before: np.ndarray[Any, Any]
    from_after: np.ndarray[Any, Any]
    from_itself: np.ndarray[Any, Any]
    slots: tuple[int, int, int]


class _Room:
    """Slots of one stage."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._taken: dict[Any, int] = {}
        self.count = 0

    def take(self, key: Any) -> int:
        """Give a free slot, a new one if there is none."""
        if not self._free:
            heapq.heappush(self._free, self.count)
            self.count += 1
        self._taken[key] = heapq.heappop(self._free)
        return self._taken[key]

    def use(self, key: Any, last: bool) -> int:
        """Give the slot of what was put there."""
        slot = self._taken[key]
        if last:
            del self._taken[key]
            heapq.heappush(self._free, slot)
        return slot


def timetable(schedule: Schedule, trains: bool) -> Timetable:
    """Make the arrays of a schedule.

    Args:
        schedule: the table.
        trains: whether forward passes keep what backward passes need.
    """
    layout = schedule.layout
    shape = len(schedule.steps), layout.stages
    names = Timetable._fields[:-1]
    arrays = {name: np.full(shape, -1, np.int32) for name in names}
    arrays["operation"][:] = arrays["micro"][:] = 0
    rooms = {name: [_Room() for _ in range(layout.stages)] for name in ("given", "kept", "left")}
    for step, row in enumerate(schedule.steps):
        for stage, operation in enumerate(row):
            if operation is None:
                continue
            kind, micro, position = operation
            arrays["operation"][step, stage] = 1 + (kind - 1) * layout.positions + position
            arrays["micro"][step, stage] = micro
            for name, key, use in _uses(schedule, operation, trains):
                room = rooms[name][stage]
                slot = room.take(key) if use == "take" else room.use(key, use == "last")
                arrays[name][step, stage] = slot
        for operation in row:
            target = None if operation is None else _target(operation, layout)
            if target is None:
                continue
            to, channel, key = target
            arrays[channel][step, to] = rooms["given"][to].take(key)
    slots = tuple(max(r.count for r in rooms[name]) for name in ("given", "kept", "left"))
    return Timetable(**arrays, slots=slots)  # type: ignore[arg-type]


def _uses(schedule: Schedule, operation: Any, trains: bool) -> list[tuple[str, Any, str]]:
    kind, micro, position = operation
    key = micro, position
    found: list[tuple[str, Any, str]] = []
    if (kind == FORWARD and position) or (
        kind == BACKWARD and position + 1 < schedule.layout.positions
    ):
        found.append(("given", operation, "last"))
    if kind == FORWARD and trains:
        found.append(("kept", key, "take"))
    if kind == BACKWARD:
        found.append(("kept", key, "more" if schedule.splits else "last"))
        if schedule.splits:
            found.append(("left", key, "take"))
    if kind == WEIGHTS:
        found += [("kept", key, "last"), ("left", key, "last")]
    return found


def _target(operation: Any, layout: Layout) -> tuple[int, str, Any] | None:
    """Give the stage that gets an operation's result, from where, and for which operation."""
    kind, _, position = operation
    following = position + 1 if kind == FORWARD else position - 1
    if kind == WEIGHTS or not 0 <= following < layout.positions:
        return None
    stage, to = layout.stage(position), layout.stage(following)
    away = (to - stage) % layout.stages
    channel = {0: "from_itself", 1: "from_before"}.get(away, "from_after")
    return to, channel, operation._replace(position=following)
