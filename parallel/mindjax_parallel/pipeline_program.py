"""A traced training step with a pipeline in it, as one program of all stages.

State of one stage alone lies on its devices, in packs, before and after the step and in it. What
follows the pipeline, as an optimizer's update, is worked out by the stage that holds its state;
what stages need of one another there, as for the norm of all gradients, is sent.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import eval_jaxpr
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from mindjax import log
from mindjax.core.errors import located
from mindjax.core.handle import unwrap
from mindjax_parallel.cones import Cones, evaluate, is_literal
from mindjax_parallel.constraint import constrained, manual
from mindjax_parallel.divergence import waiting
from mindjax_parallel.mesh import Placement
from mindjax_parallel.packs import AXIS, Member, Pack, Packing
from mindjax_parallel.pipeline import Plan, pipeline_p
from mindjax_parallel.pipeline_steps import Steps

Stages = tuple[int, ...]


def inlined(function: Callable[..., Any], arrays: Sequence[Any]) -> Any:
    """Trace a program so that its pipeline stands among its own equations."""

    def holds(jaxpr: Any) -> bool:
        return any(e.primitive is pipeline_p or within(e) is not None for e in jaxpr.eqns)

    def within(equation: Any) -> Any:
        for value in equation.params.values():
            if hasattr(value, "jaxpr") and hasattr(value, "consts") and holds(value.jaxpr):
                return value
        return None

    def run(jaxpr: Any, consts: Sequence[Any], *given: Any) -> list[Any]:
        values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *given], strict=True))

        def read(atom: Any) -> Any:
            return atom.val if is_literal(atom) else values[atom]

        for equation in jaxpr.eqns:
            inner = within(equation)
            inputs = [read(v) for v in equation.invars]
            if inner is not None:
                results = run(inner.jaxpr, inner.consts, *inputs)
            else:
                alone = jaxpr.replace(
                    constvars=[],
                    invars=[v for v in equation.invars if not is_literal(v)],
                    outvars=equation.outvars,
                    eqns=[equation],
                    effects=equation.effects,
                    debug_info=jaxpr.debug_info._replace(arg_names=None, result_paths=None),
                )
                results = eval_jaxpr(
                    alone, [], *(read(v) for v in equation.invars if not is_literal(v))
                )
            values.update(zip(equation.outvars, results, strict=True))
        return [read(v) for v in jaxpr.outvars]

    structs = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arrays]
    closed = jax.make_jaxpr(function)(*structs)
    if not holds(closed.jaxpr):
        return None
    if any(e.primitive is pipeline_p for e in closed.jaxpr.eqns):
        return closed
    return jax.make_jaxpr(lambda *a: run(closed.jaxpr, closed.consts, *a))(*structs)


class Split:
    """Which stages work out what of a program.

    Args:
        jaxpr: the program.
        equation: its pipeline.
        state: how many of the first inputs are state.
        ties: output -> input of the same state.
    """

    def __init__(self, jaxpr: Any, equation: Any, state: int, ties: dict[int, int]) -> None:
        self.jaxpr, self.equation = jaxpr, equation
        self.plan: Plan = equation.params["plan"]
        self.wanted: tuple[int, ...] = equation.params["wanted"]
        self.cones = Cones(jaxpr)
        self.results = {v: i for i, v in enumerate(equation.outvars)}
        self._states = set(jaxpr.invars[:state])
        self.stages: dict[Any, Stages] = {}
        self._of_pipeline()
        while self._follow():
            pass
        self._settle(ties)

    def _of_pipeline(self) -> None:
        """Find the stages of the network's Parameters, their gradients, and written state."""
        plan, cut = self.plan, self.plan.cut
        reads = plan.trace.constvars
        users: dict[int, set[int]] = {p: set() for p in plan.parameters}
        for place, position in enumerate(cut.positions):
            used = set(position.inputs)
            for p in plan.parameters:
                if reads[p] in used:
                    users[p].add(cut.layout.stage(place))
        for place, stages in users.items():
            atom = self.equation.invars[place]
            if stages and not is_literal(atom) and atom in self._states:
                self.stages[atom] = tuple(sorted(stages))
        writers = {w: p for p, at in enumerate(cut.positions) for w in at.writes}
        for number, place in writers.items():
            variable = self.equation.outvars[plan.outputs + number]
            self.stages[variable] = (cut.layout.stage(place),)
        first = len(plan.trace.outvars)
        for i, place in enumerate(self.wanted):
            owner = self.stages.get(self.equation.invars[place])
            if owner is not None:
                self.stages[self.equation.outvars[first + i]] = owner

    def _follow(self) -> bool:
        """Give equations the stages of their inputs, and state those of what it meets."""
        reach: dict[Any, frozenset[Any]] = {
            v: frozenset((v,)) for v in self._states - set(self.stages) if v.aval.ndim
        }
        met: dict[Any, set[Stages]] = {}
        for equation in self.jaxpr.eqns:
            if equation is self.equation:
                continue
            inputs = [v for v in equation.invars if not is_literal(v)]
            owners = {self.stages[v] for v in inputs if v in self.stages}
            sources = frozenset().union(*(reach.get(v, frozenset()) for v in inputs))
            if owners:
                for source in sources:
                    met.setdefault(source, set()).update(owners)
            elif sources:
                reach.update(dict.fromkeys(equation.outvars, sources))
            if len(owners) == 1:
                self.stages.update(dict.fromkeys(equation.outvars, next(iter(owners))))
        found = {v: next(iter(owners)) for v, owners in met.items() if len(owners) == 1}
        self.stages.update(found)
        return bool(found)

    def _settle(self, ties: dict[int, int]) -> None:
        """Leave state whole that is written by other stages than those that hold it."""
        places = {
            self.jaxpr.outvars[o]: self.jaxpr.invars[i]
            for o, i in ties.items()
            if not is_literal(self.jaxpr.outvars[o])
        }
        for output, source in places.items():
            owner, holder = self.stages.get(output), self.stages.get(source)
            if holder is None and owner is not None and source.aval.ndim:
                self.stages[source] = owner

    def packed(self, state: int) -> list[int]:
        """Give the inputs that stages hold alone."""
        return [
            i for i, v in enumerate(self.jaxpr.invars[:state]) if v in self.stages and v.aval.ndim
        ]


class PipelineProgram:
    """A training step, or a network alone, over the stages.

    Args:
        closed: the program, traced.
        state: Handles of its first inputs.
        ties: output -> input of the same state.
        mesh: the devices.
        placements: how the devices of a stage cut each input for the operators.
        rest: how they cut it between uses.
        rows: axes that cut a batch.
        name: of the program.
        wide: whether 16-bit numbers are added up over devices in Float32.

    Attributes:
        pack: the packed state.
        gradients: where the gradients lie that micro batches add up.
    """

    def __init__(
        self,
        closed: Any,
        state: Sequence[Any],
        ties: dict[int, int],
        mesh: Mesh,
        placements: Sequence[Placement],
        rest: Sequence[Placement],
        rows: Sequence[str],
        name: str,
        wide: bool = False,
    ) -> None:
        jaxpr = closed.jaxpr
        self._closed, self._mesh = closed, mesh
        self._rows = tuple(rows) if math.prod(mesh.shape[a] for a in rows) > 1 else ()
        (equation,) = [e for e in jaxpr.eqns if e.primitive is pipeline_p]
        self._split = Split(jaxpr, equation, len(state), ties)
        self._packed = self._split.packed(len(state))
        members = [self._member(i, rest[i]) for i in self._packed]
        count = self._split.plan.pipeline.stages
        self._packing = Packing(members, count, mesh)
        self._number = {jaxpr.invars[i]: n for n, i in enumerate(self._packed)}
        self._others = [i for i in range(len(jaxpr.invars)) if i not in set(self._packed)]
        outputs = {o: self._packed.index(i) for o, i in ties.items() if i in set(self._packed)}
        self._written = {number: output for output, number in outputs.items()}
        self._given = [o for o in range(len(jaxpr.outvars)) if o not in outputs]
        self.pack = Pack(self._packing, [state[i] for i in self._packed])
        plan = self._split.plan
        chosen = [self._gradient_member(w) for w in self._split.wanted]
        self.gradients = Packing(chosen, count, mesh)
        invars = self._split.equation.invars
        cuts = {
            r: placements[self._packed[self._number[v]]]
            for r, v in zip(plan.trace.constvars, invars, strict=False)
            if not is_literal(v) and v in self._number
        }
        flat = mesh.size == count
        self.steps = Steps(
            plan, self._split.wanted, self.gradients, flat, self._lay, cuts, mesh, wide, self._rows
        )
        self._placements = placements
        self.name = name

    def _member(self, place: int, placement: Placement) -> Member:
        variable = self._closed.jaxpr.invars[place]
        shape, dtype = tuple(variable.aval.shape), variable.aval.dtype
        return Member(shape, dtype, self._split.stages[variable], placement)

    def owners(self) -> dict[int, Stages]:
        """Give the stages that hold packed state, by the number of the input."""
        return {i: m.stages for i, m in zip(self._packed, self._packing.members, strict=True)}

    def _gradient_member(self, read: int) -> Member:
        variable = self._split.equation.invars[read]
        if variable in self._number:
            member = self._packing.members[self._number[variable]]
        else:
            aval = variable.aval
            stages = tuple(range(self._split.plan.pipeline.stages))
            member = Member(tuple(aval.shape), aval.dtype, stages, Placement(((),) * aval.ndim))
        # What devices share out is smaller than its parts would be: it is added up at once.
        shared = {a for axes in member.placement.dimensions for a in axes} & set(self._rows)
        return member if shared else member._replace(summed=self._rows)

    # -- in the trace --

    def body(self, buffers: Sequence[Any], others: Sequence[Any]) -> tuple[list[Any], list[Any]]:
        """Run the program as one stage.

        Args:
            buffers: of the pack: this stage's rows.
            others: inputs that are not packed.

        Returns:
            The rows of the pack, outputs that are not packed.
        """
        jaxpr = self._closed.jaxpr
        rows = [b[0] for b in buffers]
        known = dict(zip(jaxpr.constvars, self._closed.consts, strict=True))
        known.update(zip([jaxpr.invars[i] for i in self._others], others, strict=True))
        self._pipeline(rows, known)
        stage_values = self._stage_values(rows)
        crossing = _Crossing(self._split, known, stage_values)
        outputs = crossing.values([jaxpr.outvars[o] for o in self._given])
        fresh = self._updated(rows, crossing)
        return [r[None] for r in fresh], outputs

    def _pipeline(self, rows: list[Any], known: dict[Any, Any]) -> None:
        split, plan = self._split, self._split.plan
        invars, reads = split.equation.invars, plan.trace.constvars
        plain = [v for v in invars if not is_literal(v) and v not in self._number]
        inputs, before = split.cones.part(plain, known.__contains__)
        found = dict(zip(plain, evaluate(before, [known[v] for v in inputs]), strict=True))

        def value(atom: Any) -> Any:
            return jnp.asarray(atom.val) if is_literal(atom) else found[atom]

        numbers = {
            r: self._number[v]
            for r, v in zip(reads, invars, strict=False)
            if not is_literal(v) and v in self._number
        }
        whole = {r: value(v) for r, v in zip(reads, invars, strict=False) if r not in numbers}
        batch = plan.split([value(v) for v in invars[len(reads) :]])
        batch = [self._cut(b) for b in batch]
        outputs, writes, self._totals = self.steps.run(
            lambda v, stage: self._used(rows, numbers[v], stage), batch, whole
        )
        self._writes = {split.equation.outvars[plan.outputs + n]: v for n, v in writes.items()}
        outvars = split.equation.outvars
        known.update(zip(outvars[: plan.outputs], outputs, strict=True))
        for variable, written in self._writes.items():
            if variable not in split.stages:
                known[variable] = written
        # What several stages have a part of.
        first = len(plan.trace.outvars)
        for i in range(len(split.wanted)):
            member = self.gradients.members[i]
            if len(member.stages) > 1:
                known[outvars[first + i]] = lax.psum(self._share(i, member), AXIS)

    def _used(self, rows: list[Any], number: int, stage: int) -> Any:
        """Give a member as the operators of a stage want it: its parts are gathered."""
        value = self._packing.take(rows, number, stage)
        wanted = self._placements[self._packed[number]]
        if wanted == self._packing.members[number].placement:
            return value
        return constrained(value, self._mesh, wanted)

    def _cut(self, batch: Any) -> Any:
        """Let the devices of a stage share each micro batch."""
        parts = math.prod(self._mesh.shape[a] for a in self._rows)
        if parts == 1 or batch.ndim < 2 or batch.shape[1] % parts:
            return batch
        spec = PartitionSpec(None, self._rows)
        return lax.with_sharding_constraint(batch, NamedSharding(manual(self._mesh, [AXIS]), spec))

    def _lay(self, value: Any) -> Placement:
        """Let the devices of a stage share what a stage sends as they share the batch."""
        parts = math.prod(self._mesh.shape[a] for a in self._rows)
        if not value.shape:
            return Placement(())
        first = self._rows if value.shape[0] % parts == 0 else ()
        return Placement((first, *((),) * (len(value.shape) - 1)))

    def _share(self, number: int, member: Member) -> Any:
        """Give what this stage has of a gradient, zeros if it has none."""
        branches = []
        for stage in range(self._packing.stages):
            if stage in member.stages:
                branches.append(lambda s=stage: self.gradients.take(self._totals, number, s))
            else:
                branches.append(lambda: jnp.zeros(member.shape, member.dtype))
        return lax.switch(lax.axis_index(AXIS), branches)

    def _stage_values(self, rows: list[Any]) -> Callable[[Any, int], Any]:
        split = self._split
        first = len(split.plan.trace.outvars)

        def find(variable: Any, stage: int) -> Any:
            if variable in self._number:
                return self._packing.take(rows, self._number[variable], stage)
            if variable in self._writes:
                return self._writes[variable]
            return self.gradients.take(self._totals, split.results[variable] - first, stage)

        return find

    def _updated(self, rows: list[Any], crossing: _Crossing) -> list[Any]:
        """Give the rows with the state that this stage's part of the program gives."""
        jaxpr = self._closed.jaxpr
        targets = {n: jaxpr.outvars[o] for n, o in self._written.items()}
        crossing.prepare(list(targets.values()))
        for number, target in targets.items():
            if self._split.stages.get(target) not in (None, self._packing.members[number].stages):
                crossing.everywhere(target)

        def of(stage: int) -> Callable[[], list[Any]]:
            def update() -> list[Any]:
                own = [n for n in targets if stage in self._packing.members[n].stages]
                values = crossing.on_stage([targets[n] for n in own], stage)
                fresh = list(rows)
                for number, value in zip(own, values, strict=True):
                    self._packing.put(fresh, number, stage, value)
                return fresh

            return update

        return lax.switch(lax.axis_index(AXIS), [of(s) for s in range(self._packing.stages)])

    # -- the program --

    def lower(self) -> Lowered:
        """Lower the program."""
        packed = self._packing.shardings()
        jaxpr = self._closed.jaxpr
        others = [self._placements[i].sharding(self._mesh) for i in self._others]
        whole = NamedSharding(self._mesh, PartitionSpec())
        stage = PartitionSpec(AXIS)

        def program(buffers: list[Any], others: list[Any]) -> Any:
            return jax.shard_map(
                lambda b, o: self.body(b, o),
                mesh=self._mesh,
                in_specs=([stage] * len(buffers), [PartitionSpec()] * len(others)),
                out_specs=([stage] * len(buffers), [PartitionSpec()] * len(self._given)),
                axis_names={AXIS},
                check_vma=False,
            )(buffers, others)

        program.__name__ = program.__qualname__ = self.name
        jitted = jax.jit(
            program,
            donate_argnums=(0,) if self._written else (),
            keep_unused=True,
            in_shardings=(packed, others),
            out_shardings=(packed, [whole] * len(self._given)),
        )
        structs = [
            jax.ShapeDtypeStruct(jaxpr.invars[i].aval.shape, jaxpr.invars[i].aval.dtype)
            for i in self._others
        ]
        return Lowered(self, jitted.lower(self._packing.structs(), structs))

    def report(self) -> str:
        """Describe the schedule, and the bytes of state on each device, in one line."""
        stages = [self._packing.stage_bytes(s) for s in range(self._packing.stages)]
        return (
            f"{self.steps.schedule.report()}; {self._packing.device_bytes()} bytes of state a "
            f"device, of stages that need {', '.join(map(str, stages))}"
        )

    def check(self, text: str) -> None:
        """Refuse a compiled program that would hang.

        Raises:
            NotImplementedError: a strategy makes devices of one stage send parts to one another.
        """
        if self._mesh.size == self._packing.stages:
            return
        cause = waiting(text)
        if cause is not None:
            raise located(
                NotImplementedError,
                "For 'PipelineCell', the strategies let the devices of one stage exchange parts of "
                f"a tensor by a permutation, at '{cause[-120:]}', which other stages cannot wait "
                "for: give its neighbours the same strategy.",
            )


class _Crossing:
    """Values that follow the pipeline, and what stages send one another for them."""

    def __init__(
        self, split: Split, known: dict[Any, Any], stage_values: Callable[[Any, int], Any]
    ) -> None:
        self._split, self._known, self._of_stage = split, known, stage_values
        self._place = split.jaxpr.eqns.index(split.equation)

    def _is_base(self, variable: Any) -> bool:
        """Tell whether a value is there before anything that follows is worked out."""
        return variable in self._known or (
            variable in self._split.stages
            and self._split.cones.maker.get(variable) in (None, self._place)
        )

    def values(self, atoms: Sequence[Any]) -> list[Any]:
        """Give values that all stages need."""
        self.prepare(atoms)
        for atom in atoms:
            self.everywhere(atom)
        return [a.val if is_literal(a) else self._known[a] for a in atoms]

    def prepare(self, atoms: Sequence[Any]) -> None:
        """Send what the stages need of one another for some values."""
        split = self._split
        needed = sorted(split.cones.reach(atoms))
        for i in needed:
            equation = split.jaxpr.eqns[i]
            if i == self._place:
                continue
            owner = split.stages.get(equation.outvars[0])
            inputs = [v for v in equation.invars if not is_literal(v)]
            if owner is None:
                for v in inputs:
                    self.everywhere(v)
                values = [self._known[v] for v in inputs]
                alone = split.jaxpr.replace(
                    constvars=[],
                    invars=inputs,
                    outvars=equation.outvars,
                    eqns=[equation],
                    effects=equation.effects,
                    debug_info=split.jaxpr.debug_info._replace(arg_names=None, result_paths=None),
                )
                if not all(v in self._known for v in equation.outvars):
                    self._known.update(
                        zip(equation.outvars, eval_jaxpr(alone, [], *values), strict=True)
                    )
            else:
                for v in inputs:
                    if split.stages.get(v, owner) != owner:
                        self.everywhere(v)

    def everywhere(self, atom: Any) -> None:
        """Send a value of some stages to all."""
        if is_literal(atom) or atom in self._known:
            return
        owner = min(self._split.stages[atom])
        self.prepare([atom])
        zero = jnp.zeros(atom.aval.shape, atom.aval.dtype)
        own = lax.switch(
            jnp.where(lax.axis_index(AXIS) == owner, 0, 1),
            [lambda: self.on_stage([atom], owner)[0], lambda: zero],
        )
        if atom.aval.dtype == np.bool_:
            self._known[atom] = lax.psum(own.astype(np.int32), AXIS) != 0
        else:
            self._known[atom] = lax.psum(own, AXIS)

    def on_stage(self, atoms: Sequence[Any], stage: int) -> list[Any]:
        """Work values out on one stage."""
        inputs, part = self._split.cones.part(atoms, self._is_base)
        given = [self._known[v] if v in self._known else self._of_stage(v, stage) for v in inputs]
        return evaluate(part, given)


class Lowered:
    """A lowered program of stages."""

    def __init__(self, program: PipelineProgram, lowered: Any) -> None:
        self._program, self._lowered = program, lowered

    def compile(self) -> Compiled:
        """Compile it."""
        return Compiled(self._program, self._lowered.compile())

    @property
    def stages(self) -> Any:
        """What jax lowered, before it is a program of packed state."""
        return self._lowered

    @property
    def pack(self) -> Pack:
        """The packed state."""
        return self._program.pack

    @property
    def gradients(self) -> Packing:
        """Where the gradients lie that micro batches add up."""
        return self._program.gradients

    @property
    def held_bytes(self) -> float:
        """Bytes on a device of what micro batches keep and send."""
        return self._program.steps.held_bytes()

    def as_text(self, *args: Any, **kwargs: Any) -> str:
        """Give its StableHLO."""
        return self._lowered.as_text(*args, **kwargs)


class Compiled:
    """A compiled program of stages, which takes and writes its packed state itself.

    Attributes:
        pack: the packed state.
        steps: the pipeline.
    """

    def __init__(self, program: PipelineProgram, compiled: Any) -> None:
        self._program, self._compiled = program, compiled
        program.check(compiled.as_text())
        log.info(program.report())
        self.pack, self.steps = program.pack, program.steps
        self._places = compiled.input_shardings[0][1]

    def run(self, inputs: Sequence[Any], move: Callable[..., list[Any]]) -> list[Any]:
        """Run the program.

        Args:
            inputs: Handles of state, or arrays.
            move: puts arrays where they are wanted.

        Returns:
            The outputs; None for state that was packed, whose Handles have their values.
        """
        program = self._program
        arrays = unwrap([inputs[i] for i in program._others])
        buffers = self.pack.gather()
        arrays = move(list(arrays), self._places)
        rows, outputs = self._compiled(buffers, arrays)
        self.pack.settle(rows, list(program._written))
        found = dict(zip(program._given, outputs, strict=True))
        count = len(program._closed.jaxpr.outvars)
        return [found.get(i) for i in range(count)]

    def as_text(self) -> str:
        """Give the optimised HLO."""
        return self._compiled.as_text()

    def cost_analysis(self) -> Any:
        """Give what XLA says that one run costs."""
        return self._compiled.cost_analysis()

    def memory_analysis(self) -> Any:
        """Give the bytes that one run needs on a device."""
        return self._compiled.memory_analysis()
