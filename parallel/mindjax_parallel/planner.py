"""Which layers each stage of a pipeline gets, and which it computes again, under a memory limit.

An integer program, as the original's SAPP solves (pipeline balancing): a device has its stage's
state, and the inner values of as many micro-batches as its schedule keeps; those of a layer that is
computed again are its input only, at the price of one more forward pass.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from mindjax.core.errors import located

SCHEDULES = ("gpipe", "1f1b")
# After which the best plan found so far is taken, if the solver had the processor.
_SECONDS = 60.0
# The solver's word for it.
_OUT_OF_TIME = 1


class LayerCost(NamedTuple):
    """What a layer costs.

    Attributes:
        forward: seconds of a forward pass of a micro-batch.
        backward: seconds of a backward pass.
        state: bytes of Parameters, gradients and optimizer state.
        values: bytes that the backward pass of a micro-batch needs.
        input: bytes of the layer's input, which is all that is kept if it is computed again.
    """

    forward: float
    backward: float
    state: float
    values: float
    input: float


class StagePlan(NamedTuple):
    """A split of layers into stages.

    Attributes:
        first: the first layer of each stage.
        again: for each layer whether its inner values are computed again.
        stage_seconds: of a micro-batch, forward and backward, of each stage.
        stage_bytes: that a device of each stage needs.
        seconds: of a step.
        micro_batches: of a step.
    """

    first: tuple[int, ...]
    again: tuple[bool, ...]
    stage_seconds: tuple[float, ...]
    stage_bytes: tuple[float, ...]
    seconds: float
    micro_batches: int

    @property
    def bubble(self) -> float:
        """The share of the devices' time that they wait."""
        busy = self.micro_batches * sum(self.stage_seconds) / len(self.stage_seconds)
        return 1 - busy / self.seconds if self.seconds else 0.0


def in_flight(schedule: str, stage: int, stages: int, micro_batches: int) -> int:
    """Give of how many micro-batches a stage keeps values at a time.

    Args:
        schedule: ``"gpipe"`` or ``"1f1b"``.
        stage: number of the stage, from 0.
        stages: how many there are.
        micro_batches: of a step.
    """
    return micro_batches if schedule == "gpipe" else min(micro_batches, stages - stage)


def evaluate(
    layers: Sequence[LayerCost],
    first: Sequence[int],
    again: Sequence[bool],
    micro_batches: int,
    schedule: str = "1f1b",
) -> StagePlan:
    """Work out what a split costs.

    Args:
        layers: of the network, in order.
        first: the first layer of each stage.
        again: for each layer whether it is computed again.
        micro_batches: of a step.
        schedule: of the stages.
    """
    seconds, sizes = [], []
    for stage, (begin, end) in enumerate(zip(first, [*first[1:], len(layers)], strict=True)):
        own = range(begin, end)
        kept = in_flight(schedule, stage, len(first), micro_batches)
        seconds.append(sum(_seconds(layers[i], again[i]) for i in own))
        sizes.append(sum(layers[i].state + kept * _kept(layers[i], again[i]) for i in own))
    total = sum(seconds) + (micro_batches - 1) * max(seconds)
    return StagePlan(tuple(first), tuple(again), tuple(seconds), tuple(sizes), total, micro_batches)


def _seconds(layer: LayerCost, again: bool) -> float:
    return layer.forward + layer.backward + (layer.forward if again else 0.0)


def _kept(layer: LayerCost, again: bool) -> float:
    return layer.input if again else layer.values


def plan_stages(
    layers: Sequence[LayerCost],
    stages: int,
    memory: float,
    micro_batches: int,
    schedule: str = "1f1b",
) -> StagePlan:
    """Find the split, and what is computed again, that takes the least time within the memory.

    Args:
        layers: of the network, in order.
        stages: number of stages, each of at least one layer.
        memory: bytes that a device has.
        micro_batches: of a step.
        schedule: ``"gpipe"``, or ``"1f1b"``, which keeps values of fewer micro-batches.

    Returns:
        The plan.

    Raises:
        ValueError: an argument is out of range, or no plan fits.
        RuntimeError: the solver gives up.
    """
    _check(layers, stages, memory, micro_batches, schedule)
    program = _IntegerProgram(layers, stages, micro_batches, schedule)
    found = program.solve(memory)
    if found is None:
        least = program.least_memory()
        raise located(
            ValueError,
            f"For 'plan_stages', no split of {len(layers)} layers into {stages} stages fits into "
            f"{memory:.4g} bytes a device: {least:.4g} are needed with all computed again. Take "
            "more stages, or a smaller micro-batch.",
        )
    return evaluate(layers, *found, micro_batches, schedule)


def _check(
    layers: Sequence[LayerCost], stages: int, memory: float, micro_batches: int, schedule: str
) -> None:
    def wrong(what: str) -> ValueError:
        return located(ValueError, f"For 'plan_stages', {what}.")

    if schedule not in SCHEDULES:
        raise wrong(f"the 'schedule' must be one of {list(SCHEDULES)}, but got {schedule!r}")
    if not 1 <= stages <= len(layers):
        raise wrong(f"the 'stages' must be in [1, {len(layers)}], the layers, but got {stages}")
    if micro_batches < 1:
        raise wrong(f"the 'micro_batches' must be above 0, but got {micro_batches}")
    if not memory > 0:
        raise wrong(f"the 'memory' must be above 0, but got {memory}")
    for i, layer in enumerate(layers):
        if not all(math.isfinite(v) and v >= 0 for v in layer):
            raise wrong(f"layer {i} has a cost below 0: {layer}")


class _IntegerProgram:
    """Variables: layer l in stage s; and computed again there; the slowest stage, the fullest one.

    Seconds and bytes are scaled to about 1, for the solver's tolerances.
    """

    def __init__(
        self, layers: Sequence[LayerCost], stages: int, micro_batches: int, schedule: str
    ) -> None:
        self._layers, self._stages, self._micro = layers, stages, micro_batches
        self._kept = [in_flight(schedule, s, stages, micro_batches) for s in range(stages)]
        self._count = len(layers) * stages
        self._time = max(sum(_seconds(x, True) for x in layers), 1e-300)
        self._bytes = max(sum(x.state + self._kept[0] * x.values for x in layers), 1.0)
        self._rows: list[tuple[dict[int, float], float, float]] = []
        for i in range(len(layers)):
            self._row({self._in(i, s): 1.0 for s in range(stages)}, 1, 1)
            for s in range(stages):
                self._row({self._in(i, s): -1.0, self._again(i, s): 1.0}, -1, 0)
                if i and s:
                    # What comes after a layer of this stage is not in an earlier one.
                    self._row(
                        {self._in(i, r): 1.0 for r in range(s)}
                        | {self._in(i - 1, r): -1.0 for r in range(s)},
                        -1,
                        0,
                    )
        for s in range(stages):
            self._row({self._in(i, s): 1.0 for i in range(len(layers))}, 1, math.inf)
            busy, full = {self._slowest: -1.0}, {self._fullest: -1.0}
            for i, layer in enumerate(layers):
                busy[self._in(i, s)] = _seconds(layer, False) / self._time
                busy[self._again(i, s)] = layer.forward / self._time
                kept = self._kept[s]
                full[self._in(i, s)] = (layer.state + kept * layer.values) / self._bytes
                full[self._again(i, s)] = kept * (layer.input - layer.values) / self._bytes
            self._row(busy, -math.inf, 0)
            self._row(full, -math.inf, 0)

    def _in(self, layer: int, stage: int) -> int:
        return layer * self._stages + stage

    def _again(self, layer: int, stage: int) -> int:
        return self._count + self._in(layer, stage)

    @property
    def _slowest(self) -> int:
        return 2 * self._count

    @property
    def _fullest(self) -> int:
        return 2 * self._count + 1

    def _row(self, weights: dict[int, float], low: float, high: float) -> None:
        self._rows.append((weights, low, high))

    def _solve(self, cost: np.ndarray[Any, Any], memory: float) -> Any:
        from scipy.optimize import Bounds, LinearConstraint, milp
        from scipy.sparse import lil_array

        size = 2 * self._count + 2
        matrix = lil_array((len(self._rows), size))
        for number, (weights, _, _) in enumerate(self._rows):
            for place, weight in weights.items():
                matrix[number, place] = weight
        high = np.ones(size)
        high[self._slowest] = np.inf
        high[self._fullest] = memory / self._bytes
        integrality = np.ones(size)
        integrality[2 * self._count :] = 0
        rows = LinearConstraint(
            matrix.tocsr(), [r[1] for r in self._rows], [r[2] for r in self._rows]
        )
        began, limit = time.process_time(), _SECONDS
        while True:
            found = milp(
                cost,
                integrality=integrality,
                bounds=Bounds(np.zeros(size), high),
                constraints=rows,
                options={"mip_rel_gap": 1e-9, "time_limit": limit},
            )
            # The solver goes by the clock, which counts what other programs take as well.
            if found.status != _OUT_OF_TIME or time.process_time() - began >= _SECONDS / 2:
                return found
            limit *= 4

    def solve(self, memory: float) -> tuple[list[int], list[bool]] | None:
        """Minimise the time of a step; None if nothing fits."""
        cost = np.zeros(2 * self._count + 2)
        for i, layer in enumerate(self._layers):
            for s in range(self._stages):
                cost[self._again(i, s)] = layer.forward / self._time
        cost[self._slowest] = self._micro - 1
        # Of plans of one time, one that leaves memory free.
        cost[self._fullest] = 1e-7
        found = self._solve(cost, memory)
        if found.status == 2:
            return None
        if found.x is None:
            raise located(RuntimeError, f"For 'plan_stages', the solver gives up: {found.message}")
        return self._read(found.x)

    def least_memory(self) -> float:
        """Give the bytes without which nothing fits."""
        cost = np.zeros(2 * self._count + 2)
        cost[self._fullest] = 1
        return float(self._solve(cost, math.inf).x[self._fullest] * self._bytes)

    def _read(self, x: np.ndarray[Any, Any]) -> tuple[list[int], list[bool]]:
        stages = x[: self._count].reshape(-1, self._stages).argmax(1)
        again = x[self._count : 2 * self._count].reshape(-1, self._stages).sum(1) > 0.5
        first = [int(np.argmax(stages == s)) for s in range(self._stages)]
        return first, [bool(a) for a in again]
