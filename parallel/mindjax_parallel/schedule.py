"""Schedules of pipeline training: which stage does what at each step, and how long it waits.

A network is cut into positions 0, 1, ... in the order in which a micro batch passes them. Stages
hold one position each, or several: ``interleaved`` deals positions out to the stages again and
again, ``zero_bubble_v`` goes through the stages and back. A schedule is a table of steps: in each a
stage runs one position forward (F), or backward (B), for one micro batch, or works out the
gradients of its Parameters (W), or waits.

Sources: Huang et al., "GPipe" (2019); Narayanan et al., "Efficient large-scale language model
training on GPU clusters" (2021) for 1F1B and interleaving; Qi et al., "Pipeline parallelism with
controllable memory" (2024) for the schedule in the form of a V.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import NamedTuple

IDLE, FORWARD, BACKWARD, WEIGHTS = range(4)


class Operation(NamedTuple):
    """What a stage does in one step."""

    kind: int
    micro: int
    position: int


class Layout(NamedTuple):
    """Which stage holds which positions.

    Attributes:
        stages: number of stages.
        positions: their number, a multiple of ``stages``.
        folded: whether every second pass goes back through the stages.
    """

    stages: int
    positions: int
    folded: bool = False

    def stage(self, position: int) -> int:
        """Give the stage that holds a position."""
        turn, place = divmod(position, self.stages)
        return self.stages - 1 - place if self.folded and turn % 2 else place

    def held(self, stage: int) -> list[int]:
        """Give the positions that a stage holds, in order."""
        return [p for p in range(self.positions) if self.stage(p) == stage]


class Schedule(NamedTuple):
    """A table of steps.

    Attributes:
        name: of the schedule.
        layout: where the positions are.
        micros: number of micro batches.
        steps: for each step what each stage does, None where it waits.
    """

    name: str
    layout: Layout
    micros: int
    steps: tuple[tuple[Operation | None, ...], ...]

    def of_stage(self, stage: int) -> Iterator[Operation]:
        """Give what a stage does, in order."""
        return (row[stage] for row in self.steps if row[stage] is not None)  # type: ignore[misc]

    @property
    def splits(self) -> bool:
        """Whether the gradients of Parameters are worked out apart from those of activations."""
        return self.name == "zero_bubble_v"

    def bubble(self, forward: float = 1, backward: float = 1, weights: float = 1) -> float:
        """Give the fraction of the time in which the stages wait, from the first step to the last.

        Args:
            forward: time of F, of all positions of a stage together; any unit.
            backward: time of B, the gradients of activations.
            weights: time of W; where a schedule does not split B and W, it follows B at once.
        """
        times = {FORWARD: forward, BACKWARD: backward, WEIGHTS: weights}
        if not self.splits:
            times[BACKWARD] += weights
        ends: dict[Operation, float] = {}
        free, busy = [0.0] * self.layout.stages, 0.0
        share = self.layout.positions // self.layout.stages
        for row in self.steps:
            for stage, operation in enumerate(row):
                if operation is None:
                    continue
                start = max(free[stage], *(ends[o] for o in self._before(operation)), 0.0)
                free[stage] = ends[operation] = start + times[operation.kind] / share
                busy += times[operation.kind] / share
        return 1 - busy / (self.layout.stages * max(free))

    def _before(self, operation: Operation) -> list[Operation]:
        return before(operation, self.layout.positions)

    def in_flight(self, stage: int) -> int:
        """Give the most pairs of position and micro batch that a stage holds activations of."""
        last = WEIGHTS if self.splits else BACKWARD
        held = most = 0
        for operation in self.of_stage(stage):
            held += operation.kind == FORWARD
            most = max(most, held)
            held -= operation.kind == last
        return most

    def report(self) -> str:
        """Describe the schedule in one line: steps, time that is waited, activations held."""
        held = max(self.in_flight(s) for s in range(self.layout.stages))
        share = self.layout.positions // self.layout.stages
        return (
            f"{self.name}: {self.layout.stages} stages x {share}, {self.micros} micro batches, "
            f"{len(self.steps)} steps, {self.bubble():.1%} idle, at most {held} activations a stage"
        )


def before(operation: Operation, count: int) -> list[Operation]:
    """Give what must be done before an operation.

    Args:
        operation: the operation.
        count: number of positions.
    """
    kind, micro, position = operation
    if kind == FORWARD:
        return [Operation(FORWARD, micro, position - 1)] if position else []
    if kind == WEIGHTS:
        return [Operation(BACKWARD, micro, position)]
    found = [Operation(FORWARD, micro, position)]
    if position + 1 < count:
        found.append(Operation(BACKWARD, micro, position + 1))
    return found


NAMES = ("gpipe", "1f1b", "interleaved", "zero_bubble_v")


@functools.lru_cache(maxsize=64)
def schedule(name: str, stages: int, micros: int, passes: int = 1) -> Schedule:
    """Make a schedule of training.

    Args:
        name: one of `NAMES`; ``"1f1b"`` with several passes is ``"interleaved"``.
        stages: number of stages.
        micros: number of micro batches.
        passes: how many positions a stage holds; two for ``"zero_bubble_v"``.

    Returns:
        The table. Each stage takes what is ready: a backward pass before a forward pass, and
        gradients of Parameters when nothing else is; a limit on the activations that it holds
        keeps it from running ahead.
    """
    layout = Layout(stages, stages * passes, name == "zero_bubble_v")
    if name == "interleaved":
        steps = _in_order([_alternating(layout, micros, s) for s in range(stages)], layout)
        if steps is not None:
            return Schedule(name, layout, micros, steps)
    limits = [_limit(name, layout, micros, s) for s in range(stages)]
    while True:
        steps = _steps(name, layout, micros, limits)
        if steps is not None:
            return Schedule(name, layout, micros, steps)
        limits = [limit + 1 for limit in limits]


def forward_only(stages: int, micros: int, passes: int = 1, folded: bool = False) -> Schedule:
    """Make the schedule of a network that is not trained: forward passes one after the other."""
    layout = Layout(stages, stages * passes, folded)
    steps = _steps("forward", layout, micros, [micros * layout.positions] * stages)
    assert steps is not None
    return Schedule("forward", layout, micros, steps)


def _limit(name: str, layout: Layout, micros: int, stage: int) -> int:
    """Give how many activations a stage may hold: as many as it needs to keep the others busy."""
    stages, passes = layout.stages, layout.positions // layout.stages
    if name == "gpipe":
        return micros * passes
    if name == "zero_bubble_v":
        return 2 * stages
    if passes == 1:
        return stages - stage
    return 2 * (stages - stage - 1) + (passes - 1) * stages + 1


def _alternating(layout: Layout, micros: int, stage: int) -> list[Operation]:
    """Give the order of an interleaved schedule: forward passes, then one of each in turn."""
    kinds = [
        sorted(
            (Operation(kind, m, p) for m in range(micros) for p in layout.held(stage)),
            key=lambda o: _order("interleaved", o, layout),
        )
        for kind in (FORWARD, BACKWARD)
    ]
    forwards, backwards = kinds
    first = min(_limit("interleaved", layout, micros, stage) - 1, len(forwards))
    pairs = zip(forwards[first:], backwards, strict=False)
    middle = [o for pair in pairs for o in pair]
    return [*forwards[:first], *middle, *backwards[len(forwards) - first :]]


def _in_order(
    orders: list[list[Operation]], layout: Layout
) -> tuple[tuple[Operation | None, ...], ...] | None:
    """Let each stage go through its operations in order; None where they wait for each other."""
    places, done = [0] * len(orders), set[Operation]()
    rows: list[tuple[Operation | None, ...]] = []
    while any(p < len(o) for p, o in zip(places, orders, strict=True)):
        row: list[Operation | None] = []
        for stage, order in enumerate(orders):
            following = order[places[stage]] if places[stage] < len(order) else None
            if following and not all(o in done for o in before(following, layout.positions)):
                following = None
            places[stage] += following is not None
            row.append(following)
        if not any(row):
            return None
        done.update(o for o in row if o is not None)
        rows.append(tuple(row))
    return tuple(rows)


def _steps(
    name: str, layout: Layout, micros: int, limits: list[int]
) -> tuple[tuple[Operation | None, ...], ...] | None:
    """Fill the table step by step; None where the limits let nothing go on."""
    kinds = {"forward": (FORWARD,), "zero_bubble_v": (FORWARD, BACKWARD, WEIGHTS)}.get(
        name, (FORWARD, BACKWARD)
    )
    waiting = [
        {
            kind: sorted(
                (Operation(kind, m, p) for m in range(micros) for p in layout.held(stage)),
                key=lambda o: _order(name, o, layout),
            )
            for kind in kinds
        }
        for stage in range(layout.stages)
    ]
    done: set[Operation] = set()
    held = [0] * layout.stages
    rows: list[tuple[Operation | None, ...]] = []
    while any(any(queue.values()) for queue in waiting):
        row: list[Operation | None] = []
        for stage, queues in enumerate(waiting):
            chosen = _choose(name, queues, done, held[stage] < limits[stage], layout)
            if chosen is not None:
                queues[chosen.kind].remove(chosen)
                held[stage] += (chosen.kind == FORWARD) - (chosen.kind == kinds[-1])
            row.append(chosen)
        if not any(row):
            return None
        done.update(o for o in row if o is not None)
        rows.append(tuple(row))
    return tuple(rows)


def _order(name: str, operation: Operation, layout: Layout) -> tuple[int, ...]:
    """Give an operation's place in its stage's order among those of its kind."""
    kind, micro, position = operation
    turn = position // layout.stages
    if name == "zero_bubble_v":
        return micro, position if kind == FORWARD else -position
    if kind != FORWARD:
        turn = layout.positions // layout.stages - 1 - turn
    if name == "gpipe":
        return turn, micro
    # Narayanan et al.: as many micro batches as there are stages, then the next pass of them.
    return micro // layout.stages, turn, micro


def _choose(
    name: str,
    queues: dict[int, list[Operation]],
    done: set[Operation],
    room: bool,
    layout: Layout,
) -> Operation | None:
    """Choose what a stage does in a step."""

    def ready(kind: int) -> Operation | None:
        # Positions of one kind go in their order, but for the V, where the later is worth more.
        queue = queues.get(kind, [])
        for operation in queue if name == "zero_bubble_v" else queue[:1]:
            if all(o in done for o in before(operation, layout.positions)):
                return operation
        return None

    def forward() -> Operation | None:
        return ready(FORWARD) if room else None

    if name == "gpipe" or not queues.get(BACKWARD):
        first = forward()
        if name == "gpipe" and queues[FORWARD]:
            return first
        return first or ready(BACKWARD) or ready(WEIGHTS)
    return ready(BACKWARD) or forward() or ready(WEIGHTS)
