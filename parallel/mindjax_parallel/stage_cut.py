"""A network, traced on one micro batch, cut into the positions that a micro batch passes.

Cells with a `pipeline_stage` name their equations. What has no name runs where its inputs are. What
needs no Parameter (masks, positions, random keys) and what needs Parameters alone (casts,
transposes) runs wherever it is used, at each place again.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindjax.core.errors import located
from mindjax_parallel.cones import Cones, is_literal
from mindjax_parallel.schedule import Layout

_STAGE = re.compile(r"pipeline_stage_(\d+)(?:_segment_(\d+))?")

FREE, DATA, PARAMETER = -3, -2, -1
"""Values that run where they are used: of constants; of the batch; of Parameters."""


class Position(NamedTuple):
    """What runs at one position.

    Attributes:
        jaxpr: maps ``inputs`` to boundary, outputs and writes, in this order.
        inputs: variables of the network's jaxpr.
        received: those of them that come from the position before.
        sent: variables that go on to the next position.
        outputs: places among the network's outputs.
        writes: places among the written state.
    """

    jaxpr: Any
    inputs: list[Any]
    received: list[Any]
    sent: list[Any]
    outputs: list[int]
    writes: list[int]


class Cut(NamedTuple):
    """A network cut into positions.

    Attributes:
        layout: where the positions are.
        positions: in order.
        free: places of written state that no stage owns, as that of random numbers.
    """

    layout: Layout
    positions: list[Position]
    free: list[int]


def cut(
    jaxpr: Any,
    parameters: set[Any],
    outputs: int,
    stages: int,
    schedule: str,
) -> Cut:
    """Cut a network.

    Args:
        jaxpr: maps constants (what the network reads) and inputs (a micro batch) to outputs, then
            written state.
        parameters: the constants that are Parameters.
        outputs: number of outputs; what follows is written state.
        stages: number of stages.
        schedule: name of the schedule, which says how positions lie on stages.

    Raises:
        RuntimeError: a stage is missing or out of range, or a value would have to go back.
    """
    places = _Places(stages, schedule)
    kinds: dict[Any, int] = dict.fromkeys(jaxpr.constvars, FREE)
    kinds.update(dict.fromkeys(parameters, PARAMETER))
    kinds.update(dict.fromkeys(jaxpr.invars, DATA))
    for equation in jaxpr.eqns:
        kind = _kind(equation, kinds, places)
        kinds.update(dict.fromkeys(equation.outvars, kind))

    def position(atom: Any) -> int:
        return FREE if is_literal(atom) else kinds[atom]

    results = [position(o) for o in jaxpr.outvars]
    found = max([*kinds.values(), *results, 0])
    layout = Layout(stages, places.turns(found) * stages, places.folded)
    _check_all(kinds, layout)
    # What an output needs of no stage is given by the first.
    own = [max(r, 0) if i < outputs or r == PARAMETER else r for i, r in enumerate(results)]
    free = [i - outputs for i, r in enumerate(own) if r < 0]
    return Cut(layout, _positions(jaxpr, kinds, own, outputs, layout), free)


class _Places:
    """Which position a stage's next one is."""

    def __init__(self, stages: int, schedule: str) -> None:
        self.stages, self.folded = stages, schedule == "zero_bubble_v"
        self.most = {"zero_bubble_v": 2, "interleaved": 64, "gpipe": 64}.get(schedule, 1)
        self.layout = Layout(stages, stages * self.most, self.folded)

    def turns(self, last: int) -> int:
        """Give how often a micro batch goes through the stages."""
        return 2 if self.folded else last // self.stages + 1

    def following(self, label: tuple[int, int | None], after: int) -> int:
        """Give the first position of a stage that is not before another position."""
        stage, segment = label
        if stage >= self.stages:
            raise located(
                RuntimeError,
                f"The 'pipeline_stage' {stage} of a Cell must be smaller than the number of "
                f"pipeline stages {self.stages}.",
            )
        for place in range(max(after, 0), self.layout.positions):
            if self.layout.stage(place) == stage and segment in (None, place // self.stages):
                return place
        ends = f"stage {self.layout.stage(after)}" if after >= 0 else "the start"
        where = f"stage {stage}" + ("" if segment is None else f", segment {segment}")
        raise located(
            RuntimeError,
            f"A value of {ends} is used in {where}, which a micro batch has passed: set the "
            "'pipeline_stage' of Cells in the order in which they run.",
        )


def label_of(equation: Any) -> tuple[int, int | None] | None:
    """Give stage and segment of the innermost Cell that an equation comes from, None for none."""
    found = _STAGE.findall(str(equation.source_info.name_stack))
    if not found:
        return None
    stage, segment = found[-1]
    return int(stage), int(segment) if segment else None


def _kind(equation: Any, kinds: dict[Any, int], places: _Places) -> int:
    given = [kinds[v] for v in equation.invars if not is_literal(v)]
    last = max(given, default=FREE)
    if last < 0 and not (PARAMETER in given and DATA in given):
        return last
    label = label_of(equation)
    return max(last, 0) if label is None else places.following(label, last)


def _check_all(kinds: dict[Any, int], layout: Layout) -> None:
    missing = set(range(layout.positions)) - set(kinds.values())
    stages = sorted({layout.stage(p) for p in missing})
    if stages:
        turns = layout.positions // layout.stages
        times = "" if turns == 1 else f" at each of the {turns} times that a batch comes by"
        raise located(
            RuntimeError,
            f"Nothing runs in pipeline stage {', '.join(map(str, stages))} of {layout.stages}"
            f"{times}: set the 'pipeline_stage' of Cells, or the 'stage_config' of PipelineCell"
            + (", and 'segment_config' too." if layout.folded else "."),
        )


def _positions(
    jaxpr: Any, kinds: dict[Any, int], own: Sequence[int], outputs: int, layout: Layout
) -> list[Position]:
    cones = Cones(jaxpr)
    crossing: list[dict[Any, None]] = [{} for _ in range(layout.positions + 1)]
    found: list[Position] = []
    for place in range(layout.positions - 1, -1, -1):
        sent = list(crossing[place + 1])
        results = [o for o, at in enumerate(own[:outputs]) if at == place]
        writes = [o for o, at in enumerate(own[outputs:]) if at == place]
        atoms = [jaxpr.outvars[i] for i in [*results, *(outputs + w for w in writes)]]
        here = [v for v in sent if kinds[v] == place]
        passing = [v for v in sent if kinds[v] != place]
        inputs, _ = cones.part([*here, *atoms], lambda v, place=place: 0 <= kinds[v] < place)
        inputs = list(dict.fromkeys([*inputs, *passing]))
        received = [v for v in inputs if 0 <= kinds[v] < place]
        given = set(received)
        inputs, part = cones.part([*sent, *atoms], given.__contains__)
        crossing[place].update(dict.fromkeys(received))
        found.append(Position(part, inputs, received, sent, results, writes))
    return found[::-1]
