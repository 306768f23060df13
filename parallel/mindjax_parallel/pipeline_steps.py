"""A schedule as one program of all stages: each step is a choice among all operations.

The stages run the same program, on a mesh axis that is theirs: a loop over the steps of the
schedule, in each of which a stage looks up what it has to do. What it sends goes to the stages next
to it at the end of a step.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax
from jax.sharding import Mesh

from mindjax_parallel.cones import Cones, evaluate
from mindjax_parallel.constraint import constrained
from mindjax_parallel.mesh import Axes, Placement
from mindjax_parallel.packs import AXIS, Packing
from mindjax_parallel.partial_sums import PartialSums
from mindjax_parallel.passes import Passes
from mindjax_parallel.pipeline import Plan
from mindjax_parallel.rewrite import both, rewritten, summed_in_float32, taken_whole
from mindjax_parallel.schedule import BACKWARD, FORWARD, WEIGHTS
from mindjax_parallel.sharded_module import cuts_of
from mindjax_parallel.slots import Slots
from mindjax_parallel.timetable import timetable


class State(NamedTuple):
    """What a stage carries from step to step.

    Attributes:
        given: what other positions sent.
        kept: what forward passes keep.
        left: what backward passes keep.
        gradients: rows of the gradients' packing.
        writes: state that positions write.
        outputs: sums of the outputs.
    """

    given: list[Any]
    kept: list[Any]
    left: list[Any]
    gradients: list[Any]
    writes: list[Any]
    outputs: list[Any]


class Steps:
    """The loop over a schedule's steps.

    Args:
        plan: the network.
        wanted: constants of its jaxpr by which it is differentiated.
        gradients: where their gradients lie; its members are in the order of ``wanted``.
        flat: whether values that stages hand on are packed: no axis but the stages' cuts them.
        lay: gives the placement of a value that goes from stage to stage.
        cuts: those of the Parameters, by variable.
        mesh: the devices.
        wide: whether 16-bit numbers are added up over devices in Float32.
        rows: mesh axes that cut the rows of a batch.
    """

    def __init__(
        self,
        plan: Plan,
        wanted: Sequence[int],
        gradients: Packing,
        flat: bool,
        lay: Callable[[Any], Placement],
        cuts: dict[Any, Placement],
        mesh: Mesh,
        wide: bool,
        rows: Axes,
    ) -> None:
        self.plan, self._placement, self._mesh = plan, lay, mesh
        self._summed, self.packing, self._wide = gradients, gradients.in_parts(), wide
        jaxpr, self.cut = plan.trace, plan.cut
        reads = jaxpr.constvars
        free = {plan.follows[i] for i in self.cut.free}
        written = {reads[f] for f in plan.follows if f is not None and f not in free}
        self.chosen = {reads[w]: number for number, w in enumerate(wanted)}
        weights = {reads[p] for p in plan.parameters}
        lasting = {*reads, *jaxpr.invars} - written
        self.trains, self._rows = bool(wanted), rows
        self.schedule = plan.schedule(self.trains)
        rule = both(summed_in_float32, taken_whole(mesh)) if wide else taken_whole(mesh)

        def rewrite(closed: Any) -> Any:
            return closed if flat else rewritten(closed, rule)

        self.passes = [
            Passes(p, weights, set(self.chosen), lasting, self.schedule.splits, rewrite)
            for p in self.cut.positions
        ]
        boundaries = [[]] + [[v.aval for v in p.sent] for p in self.cut.positions[:-1]]
        self.boundary = Slots(boundaries, flat, mesh=mesh)
        layouts = None if flat else self._layouts(cuts)
        kept = [p.kept if self.trains else [] for p in self.passes]
        self.kept = Slots(kept, flat, layouts and [k for k, _ in layouts], mesh)
        left = [p.left for p in self.passes]
        self.left = Slots(left, flat, layouts and [one for _, one in layouts], mesh)
        self.table = timetable(self.schedule, self.trains)
        self.writers = {w: p for p, at in enumerate(self.cut.positions) for w in at.writes}
        self.written = list(self.writers)

    def held_bytes(self) -> float:
        """Give the bytes on a device of what micro batches keep and send."""
        rows = zip((self.boundary, self.kept, self.left), self.table.slots, strict=True)
        return sum((n + 1) * slots.device_bytes(self._placement) for slots, n in rows)

    def _lay(self, value: Any) -> Any:
        return constrained(value, self._mesh, self._placement(value))

    def _layouts(self, cuts: dict[Any, Placement]) -> list[Any]:
        """Let XLA say, for each position, how it cuts what passes keep."""
        if not self.trains:
            return [([], [])] * len(self.passes)
        batch = set(self.plan.trace.invars)
        found = []
        for at, passes in zip(self.cut.positions, self.passes, strict=True):
            moving = {*batch, *at.received}
            whole = [Placement(((),) * v.aval.ndim) for v in at.inputs]
            known = [
                cuts.get(v) or (self._placement(v.aval) if v in moving else w)
                for v, w in zip(at.inputs, whole, strict=True)
            ]
            given = [v.aval for v in at.inputs], known

            def forward(
                values: list[Any],
                inputs: Any = at.inputs,
                passes: Any = passes,
                sent: int = len(at.sent),
            ) -> list[Any]:
                look = dict(zip(inputs, values, strict=True)).__getitem__
                results, kept = passes.forward(look)
                # Masks lie as what they hide does, which may be in no more than the results.
                return [*kept, *map(self._lay, results[:sent]), *results[sent:]]

            def backward(
                values: list[Any],
                kept: list[Any],
                sent: list[Any],
                inputs: Any = at.inputs,
                passes: Any = passes,
            ) -> list[Any]:
                look = dict(zip(inputs, values, strict=True)).__getitem__
                return passes.backward(look, kept, sent)[2]

            kept = cuts_of(forward, self._mesh, given)[: len(passes.kept)]
            back = [v.aval for v in at.sent], [self._placement(v.aval) for v in at.sent]
            if self._rows and passes.gradients:
                self._part(at, passes, given, kept, back)
            left: list[Placement] = []
            if passes.left:
                left = cuts_of(backward, self._mesh, given, (passes.kept, kept), back)
            found.append((kept, left))
        return found

    def _part(self, at: Any, passes: Passes, given: Any, kept: Any, back: Any) -> None:
        """Let a position's gradients come in parts, one of each device's rows."""

        summed = [self.packing.members[self.chosen[v]].summed for v in passes.gradients]

        def parted(closed: Any, outputs: list[int]) -> Any:
            outputs = [o for o, axes in zip(outputs, summed, strict=True) if axes]
            sums = PartialSums(closed, outputs, self._mesh, self._rows)

            def operands(values: list[Any], kept: list[Any], sent: list[Any]) -> list[Any]:
                look = dict(zip(at.inputs, values, strict=True)).__getitem__
                return sums.operands(passes.backward_inputs(look, kept, sent))

            return sums.parted(cuts_of(operands, self._mesh, given, (passes.kept, kept), back))

        passes.part_sums(parted)

    def run(
        self,
        look: Callable[[Any, int], Any],
        batch: Sequence[Any],
        reads: dict[Any, Any],
    ) -> tuple[list[Any], dict[int, Any], list[Any]]:
        """Run the schedule, as one stage of it.

        Args:
            look: gives the value of a Parameter for a stage.
            batch: micro batches.
            reads: other constants, by variable.

        Returns:
            The sums of the outputs, alike on all stages; written state by its number, valid on the
            stages that write it; rows of gradients.
        """
        plan, table = self.plan, self.table
        stage = lax.axis_index(AXIS)
        free, ends = self._free(batch, reads)
        outvars = plan.trace.outvars
        given, kept, left = table.slots
        # The last row of the buffers is the one that nobody reads.
        start = State(
            self.boundary.rows(given + 1),
            self.kept.rows(kept + 1),
            self.left.rows(left + 1),
            self.packing.zeros() if self.trains else [],
            self._before(look, stage, reads),
            [jnp.zeros(v.aval.shape, v.aval.dtype) for v in outvars[: plan.outputs]],
        )
        branches = self._branches(look, batch, reads, free)

        def step(state: State, row: Any) -> tuple[State, None]:
            here = {name: column[stage] for name, column in row.items()}
            sent, kept, left, rest = lax.switch(here["operation"], branches, state, here)
            state = State(
                state.given,
                _store(state.kept, here["kept"], kept),
                _store(state.left, here["left"], left),
                *rest,
            )
            return state._replace(given=self._send(state.given, sent, here)), None

        columns = {
            name: jnp.asarray(getattr(table, name)) for name in table._fields if name != "slots"
        }
        state, _ = lax.scan(step, start, columns)
        outputs = [lax.psum(o, AXIS) for o in state.outputs]
        writes = dict(zip(self.written, state.writes, strict=True))
        writes.update(ends)
        gradients = self._summed.summed(state.gradients, self._wide) if self.trains else []
        return outputs, writes, gradients

    def _free(
        self, batch: Sequence[Any], reads: dict[Any, Any]
    ) -> tuple[dict[Any, Any], dict[int, Any]]:
        """Work out, for every micro batch, the state that no stage owns.

        Returns:
            Its values before each micro batch, by variable, and after the last, by number.
        """
        plan, numbers = self.plan, self.cut.free
        if not numbers:
            return {}, {}
        jaxpr = plan.trace
        targets = [jaxpr.outvars[plan.outputs + n] for n in numbers]
        inputs, part = Cones(jaxpr).part(targets)
        sources = [
            None if plan.follows[n] is None else jaxpr.constvars[plan.follows[n]] for n in numbers
        ]
        first = [
            jnp.zeros(t.aval.shape, t.aval.dtype) if s is None else reads[s]
            for t, s in zip(targets, sources, strict=True)
        ]

        def micro(state: list[Any], rows: Any) -> Any:
            known = {**reads, **dict(zip(jaxpr.invars, rows, strict=True))}
            known.update((s, v) for s, v in zip(sources, state, strict=True) if s is not None)
            return evaluate(part, [known[v] for v in inputs]), state

        last, before = lax.scan(micro, first, list(batch))
        values = {s: v for s, v in zip(sources, before, strict=True) if s is not None}
        return values, dict(zip(numbers, last, strict=True))

    def _before(self, look: Any, stage: Any, reads: dict[Any, Any]) -> list[Any]:
        """Give the state that positions write, as it is before the first micro batch."""
        plan, layout = self.plan, self.cut.layout
        outvars = plan.trace.outvars

        def of(own: int) -> Callable[[], list[Any]]:
            def values() -> list[Any]:
                found = []
                for write in self.written:
                    aval = outvars[plan.outputs + write].aval
                    source = plan.follows[write]
                    if source is None or layout.stage(self.writers[write]) != own:
                        found.append(jnp.zeros(aval.shape, aval.dtype))
                    else:
                        found.append(self._constant(source, own, look, reads))
                return found

            return values

        if not self.written:
            return []
        return lax.switch(stage, [of(s) for s in range(layout.stages)])

    def _constant(self, place: int, stage: int, look: Any, reads: dict[Any, Any]) -> Any:
        variable = self.plan.trace.constvars[place]
        return reads[variable] if variable in reads else look(variable, stage)

    def _branches(
        self, look: Any, batch: Sequence[Any], reads: dict[Any, Any], free: dict[Any, Any]
    ) -> list[Any]:
        """Give a function an operation, in the order of the timetable."""
        jaxpr, layout = self.plan.trace, self.cut.layout
        inputs = dict(zip(jaxpr.invars, batch, strict=True))
        held = {
            jaxpr.constvars[f]: i
            for i, w in enumerate(self.written)
            if (f := self.plan.follows[w]) is not None
        }

        def lookup(position: int, state: State, micro: Any, got: dict[Any, Any]) -> Any:
            def find(variable: Any) -> Any:
                if variable in got:
                    return got[variable]
                if variable in inputs or variable in free:
                    rows = inputs[variable] if variable in inputs else free[variable]
                    return lax.dynamic_index_in_dim(rows, micro, 0, keepdims=False)
                if variable in held:
                    return state.writes[held[variable]]
                if variable in reads:
                    return reads[variable]
                return look(variable, layout.stage(position))

            return find

        def idle(state: State, here: Any) -> Any:
            del here
            return self.boundary.empty(), self.kept.empty(), self.left.empty(), tuple(state[3:])

        def forward(position: int) -> Any:
            def run(state: State, here: Any) -> Any:
                at, passes = self.cut.positions[position], self.passes[position]
                row = [b[here["given"]] for b in state.given]
                received = map(self._lay, self.boundary.take(position, row))
                got = dict(zip(at.received, received, strict=True))
                find = lookup(position, state, here["micro"], got)
                results, kept = passes.forward(find)
                count = len(at.sent)
                sent = self._row(position + 1, results[:count])
                outputs, writes = list(state.outputs), list(state.writes)
                for number, value in zip(at.outputs, results[count:], strict=False):
                    outputs[number] = outputs[number] + value
                for number, value in zip(
                    at.writes, results[count + len(at.outputs) :], strict=True
                ):
                    writes[self.written.index(number)] = value
                row = self.kept.put(position, kept) if self.trains else self.kept.empty()
                return sent, row, self.left.empty(), (state.gradients, writes, outputs)

            return run

        def backward(position: int) -> Any:
            def run(state: State, here: Any) -> Any:
                at, passes = self.cut.positions[position], self.passes[position]
                kept = self.kept.take(position, [b[here["kept"]] for b in state.kept])
                cotangents: list[Any] = []
                if position + 1 < layout.positions:
                    row = [b[here["given"]] for b in state.given]
                    cotangents = [self._lay(v) for v in self.boundary.take(position + 1, row)]
                else:
                    cotangents = [None] * len(at.sent)
                find = lookup(position, state, here["micro"], {})
                received, gradients, left = passes.backward(find, kept, cotangents)
                totals = self._added(position, state.gradients, gradients)
                kept_row = [b[here["kept"]] for b in state.kept]
                row = self.left.put(position, left)
                return self._row(position, received), kept_row, row, (totals, *state[4:])

            return run

        def weights(position: int) -> Any:
            def run(state: State, here: Any) -> Any:
                passes = self.passes[position]
                kept_row = [b[here["kept"]] for b in state.kept]
                left_row = [b[here["left"]] for b in state.left]
                find = lookup(position, state, here["micro"], {})
                gradients = passes.weight_gradients(
                    find, self.kept.take(position, kept_row), self.left.take(position, left_row)
                )
                totals = self._added(position, state.gradients, gradients)
                return self.boundary.empty(), kept_row, left_row, (totals, *state[4:])

            return run

        count = FORWARD if not self.trains else WEIGHTS if self.schedule.splits else BACKWARD
        makers = [forward, backward, weights][:count]
        return [idle, *(make(p) for make in makers for p in range(layout.positions))]

    def _row(self, boundary: int, values: Sequence[Any]) -> list[Any]:
        """Lay out what crosses a boundary, nothing at the ends."""
        if not 0 < boundary < self.cut.layout.positions:
            return self.boundary.empty()
        return self.boundary.put(boundary, [None if v is None else self._lay(v) for v in values])

    def _added(self, position: int, rows: Sequence[Any], gradients: Sequence[Any]) -> list[Any]:
        """Add gradients to the rows of a position's stage."""
        totals = list(rows)
        stage = self.cut.layout.stage(position)
        for variable, gradient in zip(self.passes[position].gradients, gradients, strict=False):
            self.packing.put(totals, self.chosen[variable], stage, gradient, add=True)
        return totals

    def _send(self, given: list[Any], sent: Sequence[Any], here: Any) -> list[Any]:
        """Send to the stages next to this one, and take what they send."""
        stages = self.cut.layout.stages
        for name, shift in (("from_before", 1), ("from_after", -1), ("from_itself", 0)):
            if (getattr(self.table, name) < 0).all():
                continue
            pairs = [(s, (s + shift) % stages) for s in range(stages)]
            got = [lax.ppermute(x, AXIS, pairs) for x in sent] if shift else sent
            given = _store(given, here[name], got)
        return given


def _store(buffers: Sequence[Any], slot: Any, row: Sequence[Any]) -> list[Any]:
    """Write a row to a slot of buffers; -1 stands for the last, which nobody reads."""
    return [
        lax.dynamic_update_index_in_dim(b, r, jnp.where(slot < 0, b.shape[0] - 1, slot), 0)
        for b, r in zip(buffers, row, strict=True)
    ]
