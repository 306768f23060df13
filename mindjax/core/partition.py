"""How compiled programs are spread over several devices: what the parallel package fills in."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from mindjax.core import world
from mindjax.core.handle import current
from mindjax.core.parallel_context import (
    Generation,
    ParallelMode,
    get_auto_parallel_context,
)


class Again(NamedTuple):
    """How the backward pass gets at what a function's inner values were.

    Attributes:
        offload: results of products wait on the host; the rest is computed again.
        keeps_sums: what devices have added up is kept.
    """

    offload: bool = False
    keeps_sums: bool = False


class Partitioner(Protocol):
    """What spreads a program over devices.

    Attributes:
        key: two programs may be shared only where it is equal.
        sees_all: whether it looks at operators without strategies too.
        pipeline: settings of the pipeline over stages, None for no stages.
    """

    key: Hashable
    sees_all: bool
    pipeline: Any

    def run_micro_batches(self, network: Any, inputs: Sequence[Any], micro_size: int) -> Any:
        """Run a network on micro batches, as a pipeline, and give the sum of its outputs."""
        ...

    def enter(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Join the Tensors that each process calls a program with to arrays over all of them."""
        ...

    def leave(self, arrays: Sequence[Any]) -> list[Any]:
        """Give this process's part of a program's results."""
        ...

    def constrain(self, record: Any, arrays: list[Any]) -> list[Any]:
        """Lay an operator's traced inputs out as its strategy says."""
        ...

    def spread(self, record: Any, arrays: list[Any]) -> Any:
        """Give the operator that computes in its place over several devices, mostly itself."""
        ...

    def constrain_outputs(self, record: Any, inputs: list[Any], outputs: Any) -> Any:
        """Lay its outputs out as its out-strategy says."""
        ...

    def gathered(
        self, function: Callable[..., Any], weights: Sequence[Any]
    ) -> Callable[[list[Any], list[Any]], Any]:
        """Mark where Parameters that are shared out are gathered for a forward pass.

        Args:
            function: of the arrays of inputs, then of Parameters, that will be differentiated.
            weights: the Parameters.

        Returns:
            The function to differentiate in its place.
        """
        ...

    def again(self, function: Callable[..., Any], how: Again) -> Callable[..., Any]:
        """Let the backward pass compute a function of lists of reads and of inputs again."""
        ...

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
        """
        ...

    def move(self, arrays: Sequence[Any], shardings: Sequence[Any]) -> list[Any]:
        """Put arrays where a program wants them; those that lie there stay."""
        ...


class _Chosen:
    """What the context's settings choose, kept until they or the world change."""

    by_context: Partitioner | None = None
    settings = world = -1


def partitioner() -> Partitioner | None:
    """Give what spreads programs over devices now, None where one device runs them."""
    if current.partitioner is not None:
        return current.partitioner
    settings, joined = Generation.count, world.generation()
    if settings != _Chosen.settings or joined != _Chosen.world:
        _Chosen.by_context = _of_context()
        _Chosen.settings, _Chosen.world = settings, world.generation()
    return _Chosen.by_context


def spreading(record: Any) -> Partitioner | None:
    """Give what lays an operator's traced inputs out, None if nothing does.

    Args:
        record: the operator.
    """
    if "_strategy" in record.__dict__:
        return partitioner()
    chosen = current.partitioner or _Chosen.by_context
    return chosen if chosen is not None and chosen.sees_all else None


def _of_context() -> Partitioner | None:
    mode = get_auto_parallel_context("parallel_mode")
    if mode == ParallelMode.STAND_ALONE:
        return None
    # Programs of one device never load the package.
    return importlib.import_module("mindjax_parallel.partition").for_mode(mode)


@contextlib.contextmanager
def using(chosen: Partitioner | None) -> Iterator[None]:
    """Let a partitioner spread what is compiled within.

    Args:
        chosen: the partitioner; None changes nothing.
    """
    before = current.partitioner
    if chosen is not None:
        current.partitioner = chosen
    try:
        yield
    finally:
        current.partitioner = before
