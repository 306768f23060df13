"""Programs over several devices: where inputs, state and operators lie; XLA does the slicing."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.core import eval_jaxpr
from jax.sharding import Mesh

from mindjax import log
from mindjax.core import host_memory, simulation, world
from mindjax.core.errors import located
from mindjax.core.handle import wrap
from mindjax.core.parallel_context import ParallelMode, get_auto_parallel_context
from mindjax.core.partition import Again
from mindjax.core.state import outside_value
from mindjax.graph.signature import Signature, rebuild
from mindjax_parallel import strategy
from mindjax_parallel.constraint import constrained
from mindjax_parallel.layout import Layout, placed
from mindjax_parallel.mesh import (
    Axes,
    Placement,
    along_first,
    device_count,
    placement_of,
    replicated,
    stages_mesh,
    whole_mesh,
)
from mindjax_parallel.optimizer_shard import Shares
from mindjax_parallel.partial_sums import summed_together
from mindjax_parallel.pipeline import run_micro_batches
from mindjax_parallel.pipeline_program import PipelineProgram, inlined
from mindjax_parallel.rewrite import rewritten, summed_in_float32
from mindjax_parallel.rules import dimensions
from mindjax_parallel.search import Search
from mindjax_parallel.settings import Settings, settings_of_context
from mindjax_parallel.sharded_module import fitting, propagated
from mindjax_parallel.spread_operators import SPREAD, staged
from mindjax_parallel.strategy_file import NO_FILES, Strategies
from mindjax_parallel.strategy_metadata import metadata
from mindjax_parallel.watched import watched
from mindjax_parallel.within_stage import gather_in_parts


def for_mode(mode: str) -> MeshPartitioner | None:
    """Give the partitioner of a parallel mode, None where one device runs every program."""
    world.join()
    stages = get_auto_parallel_context("pipeline_stages")
    if stages > 1 and mode == ParallelMode.DATA_PARALLEL:
        raise located(
            RuntimeError,
            f"The 'pipeline_stages' {stages} needs the 'parallel_mode' 'semi_auto_parallel' or "
            "'auto_parallel', but got 'data_parallel'.",
        )
    if mode == ParallelMode.DATA_PARALLEL and jax.process_count() > 1:
        # Every process runs a program of its own, and adds gradients up with the others'.
        return None
    if device_count() == 1 and mode == ParallelMode.DATA_PARALLEL:
        return None
    return partitioner_of(settings_of_context(mode))


def partitioner_of(settings: Settings) -> MeshPartitioner:
    """Give the partitioner of some settings over all devices, made once.

    Raises:
        NotImplementedError: a setting does not go with a pipeline.
        RuntimeError: the devices do not divide into the stages.
    """
    if settings.pipeline is None:
        mesh = whole_mesh()
        return _partitioner(settings, mesh, mesh)
    for given, name, way_out in (
        (settings.searches, "the search for strategies", "give the strategies"),
        (settings.files != NO_FILES, "strategy files", "keep strategies in the program"),
    ):
        if given:
            raise located(
                NotImplementedError,
                f"'pipeline_stages' {settings.pipeline.stages} with {name} is not supported: "
                f"{way_out}.",
            )
    return _partitioner(settings, *stages_mesh(settings.pipeline.stages))


@functools.lru_cache(maxsize=64)
def _partitioner(settings: Settings, mesh: Mesh, stage: Mesh) -> MeshPartitioner:
    return MeshPartitioner(settings, mesh, stage)


_SUM = "mindjax_sum"


class MeshPartitioner:
    """Spreads programs over a mesh of devices.

    Args:
        settings: what it goes by.
        mesh: the devices.
        stage: those of one stage, which operators are cut over: all, without a pipeline.
    """

    def __init__(self, settings: Settings, mesh: Mesh, stage: Mesh) -> None:
        self.settings, self.mesh, self.stage = settings, mesh, stage
        self.pipeline = settings.pipeline
        self.key: Hashable = (settings, mesh)
        self._shares = Shares(stage, settings.shard_size, settings.threshold * 1024)
        self._strategies = Strategies(settings.files, mesh)
        # In a simulation the program that was lowered last, and where its inputs lie at rest.
        self.simulated: tuple[Callable[..., Any], list[Placement]] | None = None
        # The numbers in operators' names count those without strategies too.
        files = settings.files
        self.sees_all = bool(files.save or files.operators_save or files.operators_load)

    # -- several processes --

    def enter(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Join the Tensors that each process calls a program with to arrays over all of them.

        Args:
            args: positional arguments; each process gives its part of a Tensor that is cut.
            kwargs: keyword arguments.

        Returns:
            The same in one process.
        """
        if jax.process_count() == 1:
            return args, kwargs
        signature = Signature(args, kwargs)
        count = len(signature.handles)
        joined: list[Any] = []
        for i, handle in enumerate(signature.handles):
            array = outside_value(handle)
            if isinstance(array, jax.Array) and not array.is_fully_addressable:
                joined.append(handle)
                continue
            placement = self._of_argument(i, tuple(array.shape), count, jax.process_count())
            sharding = placement.sharding(self.mesh)
            local = np.asarray(array)
            joined.append(wrap(jax.make_array_from_process_local_data(sharding, local)))
        return rebuild(args, kwargs, joined)

    def leave(self, arrays: Sequence[Any]) -> list[Any]:
        """Give this process's part of a program's results.

        Args:
            arrays: over all processes' devices.

        Returns:
            The same in one process; else what lies on the first of this process's devices.
        """
        if jax.process_count() == 1:
            return list(arrays)
        return [a if a.is_fully_addressable else a.addressable_data(0) for a in arrays]

    # -- operators --

    def constrain(self, record: Any, arrays: list[Any]) -> list[Any]:
        """Lay an operator's traced inputs out as its strategy says.

        Args:
            record: an operator; one without a strategy stays as it is.
            arrays: its inputs; sequences stand for several.

        Raises:
            RuntimeError: the strategy does not fit them.
        """
        given = self._strategies.of_operator(record)
        if given is None or self.settings.mode == ParallelMode.DATA_PARALLEL:
            return arrays
        flat, tree = jax.tree.flatten(arrays)
        wanted = self._of_inputs(record, given[0], flat)
        return jax.tree.unflatten(tree, self._laid(flat, wanted))

    def spread(self, record: Any, arrays: list[Any]) -> Any:
        """Give the operator that computes in its place over several devices, mostly itself.

        Args:
            record: an operator with a strategy.
            arrays: its inputs.

        Raises:
            RuntimeError: it cannot compute as its attributes say.
        """
        make = SPREAD.get(record.name)
        parts = self.pipeline is not None and record.name == "Gather"
        if (make is None and not parts) or self.settings.mode == ParallelMode.DATA_PARALLEL:
            return record
        given = self._strategies.of_operator(record)
        if given is None:
            return record
        placements = self._of_inputs(record, given[0], jax.tree.leaves(arrays))
        if make is None:
            return gather_in_parts(record, arrays, placements, self.mesh)
        made = make(record, arrays, placements, self.mesh, self.settings.mode)
        return made if self.pipeline is None else staged(made)

    def _of_inputs(self, record: Any, given: Any, flat: Sequence[Any]) -> list[Placement]:
        shapes = [tuple(np.shape(a)) for a in flat]
        if _holds_layouts(given):
            return strategy.layouts(record, _dictionaries(given), shapes, self.stage)
        return strategy.placements(record, given, shapes, self.stage)

    def _laid(self, arrays: Sequence[Any], wanted: Sequence[Placement]) -> list[Any]:
        return [
            self.lay_out(a, p) if np.ndim(a) else a for a, p in zip(arrays, wanted, strict=True)
        ]

    def constrain_outputs(self, record: Any, inputs: list[Any], outputs: Any) -> Any:
        """Lay an operator's outputs out as its out-strategy says.

        Args:
            record: an operator with a strategy.
            inputs: its inputs.
            outputs: what it gave.

        Raises:
            RuntimeError: the strategy does not fit them.
        """
        within, given = record.__dict__.get("_strategy", (None, None))
        if within is None or self.settings.mode == ParallelMode.DATA_PARALLEL:
            return outputs
        if not given:
            return self._sums_named(record, within, inputs, outputs)
        flat, tree = jax.tree.flatten(outputs)
        shapes = [tuple(a.shape) for a in flat]
        if _holds_layouts(given):
            wanted = strategy.layouts(record, _dictionaries(given), shapes, self.stage)
        else:
            sources = jax.tree.leaves(inputs)
            wanted = strategy.output_placements(
                record,
                given,
                shapes,
                [tuple(np.shape(a)) for a in sources],
                self._of_inputs(record, within, sources),
                self.stage,
            )
        return jax.tree.unflatten(tree, self._laid(flat, wanted))

    def _sums_named(self, record: Any, within: Any, inputs: list[Any], outputs: Any) -> Any:
        """Name what devices add up, for a backward pass that shall not do it again."""
        sources = jax.tree.leaves(inputs)
        known = dimensions(record, [tuple(np.shape(a)) for a in sources])
        if not known.outputs:
            return outputs
        kept = {label for labels in known.outputs for label in labels}
        placements = self._of_inputs(record, within, sources)
        cut = {
            label
            for labels, placement in zip(known.inputs, placements, strict=False)
            for label, axes in zip(labels, placement.dimensions, strict=False)
            if axes
        }
        if cut <= kept:
            return outputs
        return jax.tree.map(lambda a: checkpoint_name(a, _SUM), outputs)

    def lay_out(self, array: Any, placement: Placement) -> Any:
        """Lay a traced array out."""
        if self.pipeline is not None:
            return constrained(array, self.mesh, placement)
        return jax.lax.with_sharding_constraint(array, placement.sharding(self.mesh))

    # -- programs --

    def run_micro_batches(self, network: Any, inputs: Sequence[Any], micro_size: int) -> Any:
        """Run a network on micro batches, as a pipeline.

        Args:
            network: a Cell.
            inputs: Tensors, cut along the first axis.
            micro_size: number of micro batches.

        Returns:
            The sum of its outputs.
        """
        assert self.pipeline is not None
        return run_micro_batches(self.pipeline, network, inputs, micro_size)

    def gathered(self, function: Callable[..., Any], weights: Sequence[Any]) -> Callable[..., Any]:
        """Mark where Parameters that are shared out are gathered for a forward pass.

        Args:
            function: of the arrays of inputs, then of Parameters, that will be differentiated.
            weights: the Parameters.
        """
        level = 0 if self.pipeline is not None else self.settings.optimizer
        return self._shares.gathered(function, weights, level) if level else function

    def again(self, function: Callable[..., Any], how: Again) -> Callable[..., Any]:
        """Let the backward pass compute a function again.

        Args:
            function: of the lists of arrays that it reads around it, and of its inputs.
            how: what it keeps.
        """
        if how.offload:
            return host_memory.offloaded(function)
        policy = jax.checkpoint_policies.save_only_these_names(_SUM) if how.keeps_sums else None
        level = 0 if self.pipeline is not None else self.settings.optimizer
        return self._shares.again(function, level, policy)

    def lower(
        self,
        function: Callable[..., Any],
        arrays: Sequence[Any],
        state: Sequence[Any],
        arguments: range,
        donated: tuple[int, ...],
        ties: dict[int, int],
        cells: Sequence[Any],
    ) -> Any:
        """Lower a program with a placement for every input and for the state among its outputs.

        Args:
            function: on flat arrays.
            arrays: inputs, or what has their shapes and dtypes.
            state: Handles whose arrays the first inputs are.
            arguments: which inputs are the caller's arguments.
            donated: inputs that are donated.
            ties: output -> input of the same state.
            cells: Cells that the program calls, and what else it takes as constant.

        Returns:
            jax's lowered program.

        Raises:
            RuntimeError: a placement does not fit.
        """
        if self.settings.wide:
            function = self._widened(function, arrays)
        known = self._known(arrays, state, arguments)
        count = len(jax.eval_shape(function, *arrays))
        if None in known and self.settings.searches and self.mesh.size > 1:
            known = self._searched(function, arrays, state, arguments, known)
        if self.pipeline is not None and self.stage.size == 1:
            known = [
                k or replicated(self.mesh, np.ndim(a)) for k, a in zip(known, arrays, strict=True)
            ]
        if None in known:
            found = self._propagated(function, arrays, known, ties)
            known = [k or f for k, f in zip(known, found, strict=True)]
        placements = [k for k in known if k is not None]
        first = [placements[i].dimensions[0] for i in arguments if np.ndim(arrays[i])]
        rows = next((axes for axes in first if axes), ())
        if self.pipeline is not None:
            closed = inlined(function, arrays)
            if closed is not None:
                name = getattr(function, "__name__", "program")
                if host_memory.waiting(state):
                    raise located(
                        NotImplementedError,
                        "State in the host's memory does not go with 'pipeline_stages': leave "
                        "offload out.",
                    )
                rest = placements
                if self.settings.optimizer:
                    rest = self._shares.at_rest(arrays, state, placements)
                program = PipelineProgram(
                    closed, state, ties, self.mesh, placements, rest, rows, name, self.settings.wide
                )
                self._keep_metadata(cells, state, arrays, rest, program.owners())
                return watched(program.lower(), name, self._how())
        shared = bool(self.settings.optimizer)
        if rows and not shared and not any(p.cut for p in placements[: len(state)]):
            function = self._together(function, arrays, placements, len(state), rows)
        if shared:
            function, placements = self._shares.share(function, arrays, state, placements)
        if simulation.active():
            self.simulated = function, placements
        self._strategies.note(state, [tuple(np.shape(a)) for a in arrays], placements)
        self._keep_metadata(cells, state, arrays, placements, {})
        waiting = host_memory.waiting(state)
        kinds = [host_memory.kind() if i in waiting else None for i in range(len(placements))]
        shardings = [p.sharding(self.mesh, k) for p, k in zip(placements, kinds, strict=True)]
        if waiting:
            there = [placements[i].sharding(self.mesh, "device") for i in waiting]
            function = host_memory.fetching(function, waiting, there)
        outputs = [shardings[ties[i]] if i in ties else None for i in range(count)]
        jitted = jax.jit(
            function,
            donate_argnums=donated,
            keep_unused=True,
            in_shardings=tuple(shardings),
            out_shardings=outputs,
        )
        lowered = jitted.lower(*(jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arrays))
        return watched(lowered, getattr(function, "__name__", "program"), self._how())

    def _keep_metadata(
        self,
        cells: Sequence[Any],
        state: Sequence[Any],
        arrays: Sequence[Any],
        placements: Sequence[Placement],
        owners: dict[int, tuple[int, ...]],
    ) -> None:
        """Keep how state lies for `parallel.strategy`, where operators or state are cut."""
        if self.settings.mode == ParallelMode.DATA_PARALLEL or self.mesh.size == 1:
            return
        shapes = [tuple(np.shape(a)) for a in arrays]
        stages = self.mesh.size // self.stage.size
        metadata.note(cells, state, shapes, placements, self.stage, owners, stages)

    def _how(self) -> str:
        """Say how programs are spread."""
        settings = self.settings
        words = f"{self.mesh.size} devices in the mode '{settings.mode}'"
        if settings.optimizer:
            words += f" with optimizer parallelism of level {settings.optimizer}"
        if settings.pipeline is not None:
            words += f" in {settings.pipeline.stages} stages by '{settings.pipeline.schedule}'"
        return words

    def _widened(self, function: Callable[..., Any], arrays: Sequence[Any]) -> Callable[..., Any]:
        """Give a program that adds up 16-bit numbers in Float32."""
        structs = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arrays]
        closed = rewritten(jax.make_jaxpr(function)(*structs), summed_in_float32)

        @functools.wraps(function)
        def wide(*given: Any) -> list[Any]:
            return eval_jaxpr(closed.jaxpr, closed.consts, *given)

        return wide

    def _together(
        self,
        function: Callable[..., Any],
        arrays: Sequence[Any],
        placements: Sequence[Placement],
        state: int,
        rows: Axes,
    ) -> Callable[..., Any]:
        """Give a program that adds a Parameter's gradients of two places up over devices once."""
        structs = [jax.ShapeDtypeStruct(np.shape(a), a.dtype) for a in arrays]
        closed = jax.make_jaxpr(function)(*structs)
        wide = self.settings.wide
        found = summed_together(closed, placements, state, self.mesh, rows, wide)
        if found is None:
            return function

        @functools.wraps(function)
        def together(*given: Any) -> list[Any]:
            return eval_jaxpr(found.jaxpr, found.consts, *given)

        return together

    def _searched(
        self,
        function: Callable[..., Any],
        arrays: Sequence[Any],
        state: Sequence[Any],
        arguments: range,
        known: Sequence[Placement | None],
    ) -> list[Placement | None]:
        """Search for the placements of state and, unless they are given, of the arguments."""
        open_ = self.settings.dataset == "data_parallel" and jax.process_count() == 1
        fixed = [None if open_ and i in arguments else k for i, k in enumerate(known)]
        names = [getattr(h, "name", None) for h in state]
        search = Search(function, arrays, names, arguments, fixed, self.mesh)
        plan = search.best()
        log.info(
            f"{len(search.tried)} plans compared: {search.seconds(plan):.3g} s a run, Parameters "
            f"cut {search.parts(plan)} times: {plan.cuts}"
        )
        return [f or p for f, p in zip(fixed, plan.placements, strict=True)]

    def _known(
        self, arrays: Sequence[Any], state: Sequence[Any], arguments: range
    ) -> list[Placement | None]:
        """Give the placements that are settled before the program is looked at."""
        known: list[Placement | None] = []
        for i, array in enumerate(arrays):
            shape = tuple(np.shape(array))
            if i in arguments:
                known.append(self._of_argument(i - arguments.start, shape, len(arguments)))
            elif i < len(state):
                known.append(self._of_state(state[i], array))
            else:
                known.append(replicated(self.mesh, len(shape)))
        return known

    def _of_argument(
        self, number: int, shape: tuple[int, ...], count: int, processes: int = 1
    ) -> Placement:
        """Place an argument; in several processes ``shape`` may be that of one's part."""
        given = self.settings.dataset
        if given == "full_batch" or not shape:
            return replicated(self.mesh, len(shape))
        if given == "data_parallel":
            return along_first(self.stage, (shape[0] * processes, *shape[1:]))
        if len(given) < count:
            raise located(
                RuntimeError,
                f"For 'dataset_strategy', the strategy {given} has {len(given)} elements, but the "
                f"network has {count} inputs.",
            )
        entry = given[number]
        if isinstance(entry, Layout):
            return placed(entry.to_dict(), self.stage, len(shape), "dataset_strategy")
        if processes > 1 and len(entry) == len(shape):
            shape = tuple(s * p for s, p in zip(shape, entry, strict=True))
        owner = _Named("dataset_strategy")
        return strategy.placements(owner, (entry,), [shape], self.stage)[0]

    def _of_state(self, handle: Any, array: Any) -> Placement | None:
        shape = tuple(np.shape(array))
        if not shape or self.settings.mode == ParallelMode.DATA_PARALLEL:
            return replicated(self.mesh, len(shape))
        already = self._shares.at_use(handle) or placement_of(array, self.mesh)
        if already is not None:
            return already
        loaded = self._strategies.loaded(handle, shape)
        if loaded is not None:
            return loaded
        plan = handle.__dict__.get("_plan")
        if plan is None:
            return None
        if isinstance(plan, Layout):
            return placed(plan.to_dict(), self.stage, len(shape), handle.name)
        return strategy.plan_placement(handle.name, plan, shape, self.stage)

    def _propagated(
        self,
        function: Callable[..., Any],
        arrays: Sequence[Any],
        known: Sequence[Placement | None],
        ties: dict[int, int],
    ) -> list[Placement]:
        """Let XLA propagate what is known through the program, and read what the inputs got."""
        structs = [
            jax.ShapeDtypeStruct(
                np.shape(a), a.dtype, sharding=None if p is None else p.sharding(self.mesh)
            )
            for a, p in zip(arrays, known, strict=True)
        ]
        lowered = jax.jit(function, keep_unused=True).lower(*structs)
        inputs, outputs = propagated(lowered)
        written = {source: output for output, source in ties.items()}
        found: list[Placement] = []
        for i, array in enumerate(arrays):
            spec = inputs[i]
            if not any(spec) and i in written:
                spec = outputs[written[i]]
            found.append(fitting(spec, np.shape(array), self.mesh))
        return found

    def move(self, arrays: Sequence[Any], shardings: Sequence[Any]) -> list[Any]:
        """Put arrays where a program wants them; those that lie there stay.

        Args:
            arrays: numpy or jax arrays.
            shardings: of as many first inputs.
        """
        moved: list[Any] = []
        for array, sharding in zip(arrays, shardings, strict=False):
            if getattr(array, "sharding", None) == sharding:
                moved.append(array)
            else:
                moved.append(_put(array, sharding))
        return moved


def _put(array: Any, sharding: Any) -> Any:
    """Put an array on a sharding's devices, which may be other processes' too."""
    if sharding.is_fully_addressable:
        return jax.device_put(array, sharding)
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        with world.transport.waiting("a value that goes to other processes' devices"):
            return jax.jit(lambda x: x, out_shardings=sharding)(array).block_until_ready()
    # Every process holds the whole array, and gives its devices their parts.
    host = np.asarray(array)
    return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])


class _Named:
    """Stands for what has a strategy and is no operator: only named in errors."""

    def __init__(self, name: str) -> None:
        self.name = name


def _holds_layouts(given: Any) -> bool:
    flat = [v for e in given for v in (e if isinstance(e, tuple) else (e,))]
    return any(isinstance(v, Layout) for v in flat)


def _dictionaries(given: Any) -> list[Any]:
    return [[v.to_dict() for v in e] if isinstance(e, tuple) else e.to_dict() for e in given]
