"""A network on micro batches, as one operation that a pipelined program can take apart.

`PipelineCell` calls it while a program is traced. It stands in the trace as one equation with the
network's own trace inside; where the program is lowered it becomes a pipeline over the stages.
Where it is differentiated the equation gives the gradients too: schedules mix both passes.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax
from jax.core import eval_jaxpr
from jax.custom_derivatives import SymbolicZero
from jax.extend.core import Primitive
from jax.interpreters import mlir

from mindjax.core.errors import located
from mindjax.core.handle import Handle, current, unwrap, wrap
from mindjax.core.state import purify
from mindjax_parallel.schedule import forward_only, schedule
from mindjax_parallel.stage_cut import Cut, cut


class Pipeline(NamedTuple):
    """Settings of a pipeline.

    Attributes:
        stages: number of stages.
        schedule: one of `schedule.NAMES`.
        broadcast: whether every stage gets the result; in one program all devices have it.
    """

    stages: int
    schedule: str = "1f1b"
    broadcast: bool = False


class Plan:
    """A network on micro batches, traced.

    Args:
        pipeline: the settings.
        trace: the network's jaxpr on one micro batch: its constants are what it reads, its inputs a
            micro batch; its results are outputs, then written state.
        outputs: number of outputs.
        micros: number of micro batches.
        parameters: places of the constants that are Parameters.
        follows: for each written state the constant that held it before, None if it was not read.
        names: of the constants, for messages.
    """

    def __init__(
        self,
        pipeline: Pipeline,
        trace: Any,
        outputs: int,
        micros: int,
        parameters: Sequence[int],
        follows: Sequence[int | None],
        names: dict[int, str],
    ) -> None:
        self.pipeline, self.trace, self.outputs = pipeline, trace, outputs
        self.micros, self.follows, self.names = micros, list(follows), names
        self.parameters = sorted(parameters)

    @functools.cached_property
    def cut(self) -> Cut:
        """The network, cut into positions."""
        variables = {self.trace.constvars[i] for i in self.parameters}
        settings = self.pipeline
        return cut(self.trace, variables, self.outputs, settings.stages, settings.schedule)

    def schedule(self, trains: bool) -> Any:
        """Give the table of steps."""
        layout = self.cut.layout
        turns = layout.positions // layout.stages
        if not trains:
            return forward_only(layout.stages, self.micros, turns, layout.folded)
        name = self.pipeline.schedule
        return schedule(
            "1f1b" if turns == 1 and name == "interleaved" else name,
            layout.stages,
            self.micros,
            turns,
        )

    def split(self, arrays: Sequence[Any]) -> list[Any]:
        """Cut a batch into micro batches, which become the first dimension."""
        return [a.reshape(self.micros, a.shape[0] // self.micros, *a.shape[1:]) for a in arrays]

    def sequential(self, arrays: Sequence[Any], wanted: Sequence[int]) -> list[Any]:
        """Run the micro batches one after the other, on one device.

        Args:
            arrays: what the network reads, then the batch.
            wanted: places among what it reads of the gradients to give.

        Returns:
            The sums of the outputs, the written state, the gradients of the sums.
        """
        count = len(self.trace.constvars)
        reads, batch = list(arrays[:count]), self.split(arrays[count:])
        before = [None if f is None else reads[f] for f in self.follows]
        differentiated = [reads[w] for w in wanted]

        def micro(weights: Any, state: Any, inputs: Any) -> Any:
            values = list(reads)
            for place, value in zip(self.follows, state, strict=True):
                if place is not None:
                    values[place] = value
            for place, weight in zip(wanted, weights, strict=True):
                values[place] = weight
            results = eval_jaxpr(self.trace, values, *inputs)
            return results[: self.outputs], results[self.outputs :]

        def step(carry: Any, inputs: Any) -> Any:
            totals, state, gradients = carry
            if wanted:
                outputs, pull_back, state = jax.vjp(
                    lambda w: micro(w, state, inputs), differentiated, has_aux=True
                )
                (more,) = pull_back([jnp.ones_like(o) for o in outputs])
                gradients = [a + b for a, b in zip(gradients, more, strict=True)]
            else:
                outputs, state = micro((), state, inputs)
            totals = [a + b for a, b in zip(totals, outputs, strict=True)]
            return (totals, state, gradients), None

        structs = [v.aval for v in self.trace.outvars]
        zeros = [jnp.zeros(s.shape, s.dtype) for s in structs]
        state = [z if b is None else b for z, b in zip(zeros[self.outputs :], before, strict=True)]
        start = zeros[: self.outputs], state, [jnp.zeros_like(w) for w in differentiated]
        (totals, state, gradients), _ = lax.scan(step, start, batch)
        return [*totals, *state, *gradients]


pipeline_p = Primitive("mindjax_pipeline")
pipeline_p.multiple_results = True


@pipeline_p.def_impl
def _run(*arrays: Any, plan: Plan, wanted: tuple[int, ...]) -> list[Any]:
    return plan.sequential(arrays, wanted)


@pipeline_p.def_abstract_eval
def _shapes(*avals: Any, plan: Plan, wanted: tuple[int, ...]) -> list[Any]:
    return [*(v.aval for v in plan.trace.outvars), *(avals[w] for w in wanted)]


def _lower(ctx: Any, *values: Any, plan: Plan, wanted: tuple[int, ...]) -> Any:
    run = mlir.lower_fun(lambda *a: plan.sequential(a, wanted), multiple_results=True)
    return run(ctx, *values)


mlir.register_lowering(pipeline_p, _lower)


def run_micro_batches(
    pipeline: Pipeline, network: Any, inputs: Sequence[Any], micro_size: int
) -> Any:
    """Run a network on micro batches while a program is traced.

    Args:
        pipeline: the settings.
        network: a Cell.
        inputs: Tensors, which are cut along the first axis.
        micro_size: number of micro batches.

    Returns:
        The sum of the outputs.

    Raises:
        RuntimeError: there are fewer micro batches than stages, or the stages are not in order.
    """
    if micro_size < pipeline.stages:
        raise located(
            RuntimeError,
            f"For 'PipelineCell', the 'micro_size' {micro_size} must be greater than or equal to "
            f"the number of pipeline stages {pipeline.stages}.",
        )
    arrays = [jnp.asarray(x) for x in unwrap(list(inputs))]
    rows = [jax.ShapeDtypeStruct((a.shape[0] // micro_size, *a.shape[1:]), a.dtype) for a in arrays]
    kept: dict[str, Any] = {}

    def body(*given: Any) -> Any:
        out = network(*wrap(list(given)))
        kept["single"] = isinstance(out, Handle)
        return [unwrap(out)] if kept["single"] else []

    pure = purify(body, rows)
    if not kept["single"]:
        raise located(
            TypeError, "For 'PipelineCell', the output of the network must be one Tensor."
        )
    frame = current.frame
    assert frame is not None
    places = {id(r): i for i, r in enumerate(pure.reads)}
    read = [(places.get(id(frame.read(p))), p.name) for p in network.get_parameters()]
    named = {place: name for place, name in read if place is not None}
    follows = [places.get(id(frame.read(h))) for h in pure.written]
    follows += [None] * pure.traced_attributes
    plan = Plan(pipeline, pure.jaxpr, 1, micro_size, list(named), follows, named)
    # Errors of the stages are the user's: they come while the program is traced.
    plan.schedule(trains=True)
    results = _call(plan, pure.reads, arrays)
    pure.write_back(results[1:])
    return wrap(results[0])


def _call(plan: Plan, reads: Sequence[Any], batch: Sequence[Any]) -> list[Any]:
    @jax.custom_vjp
    def call(reads: Any, batch: Any) -> Any:
        return pipeline_p.bind(*reads, *batch, plan=plan, wanted=())

    def forward(reads: Any, batch: Any) -> Any:
        if any(b.perturbed for b in batch):
            raise located(
                NotImplementedError,
                "For 'PipelineCell', a gradient by the inputs of a pipelined network is not "
                "supported: differentiate by its Parameters.",
            )
        wanted = tuple(i for i, r in enumerate(reads) if r.perturbed)
        foreign = [i for i in wanted if i not in plan.names]
        if foreign:
            raise located(
                NotImplementedError,
                "For 'PipelineCell', a gradient by a Tensor that is no Parameter of the pipelined "
                "network is not supported: make it a Parameter.",
            )
        if wanted and plan.trace.outvars[0].aval.size != 1:
            raise located(
                NotImplementedError,
                "For 'PipelineCell', the gradient of an output of the shape "
                f"{plan.trace.outvars[0].aval.shape} is not supported: let the network give its "
                "loss.",
            )
        values = [r.value for r in reads], [b.value for b in batch]
        results = pipeline_p.bind(*values[0], *values[1], plan=plan, wanted=wanted)
        count = len(plan.trace.outvars)
        return results[:count], (results[count:], values)

    def backward(kept: Any, cotangents: Any) -> Any:
        gradients, (reads, batch) = kept
        seed = cotangents[0]
        following = iter(gradients)
        found: list[Any] = []
        for i in range(len(reads)):
            if i not in perturbed:
                found.append(None)
                continue
            gradient = next(following)
            scale = 0 if isinstance(seed, SymbolicZero) else jnp.reshape(seed, ())
            found.append(gradient * jnp.asarray(scale, gradient.dtype))
        return found, [None] * len(batch)

    perturbed: set[int] = set()

    def noting(reads: Any, batch: Any) -> Any:
        perturbed.update(i for i, r in enumerate(reads) if r.perturbed)
        return forward(reads, batch)

    call.defvjp(noting, backward, symbolic_zeros=True)
    return call(list(reads), list(batch))


def program_equation(jaxpr: Any) -> Any:
    """Find the pipeline of a traced program, None where there is none.

    Raises:
        NotImplementedError: there are several.
    """
    found = [e for e in jaxpr.eqns if e.primitive is pipeline_p]
    if len(found) > 1:
        raise located(
            NotImplementedError,
            f"A program with {len(found)} pipelines is not supported: call PipelineCell once.",
        )
    return found[0] if found else None
