"""A Cell whose gradients are averaged over processes while they are computed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from mindjax import ops
from mindjax.core import checks, world
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.parallel_context import get_auto_parallel_context
from mindjax.core.tape import Node, Tape
from mindjax.nn.cell import Cell
from mindjax.nn.training.spreading import broadcast_from
from mindjax.ops.collective.operators import AllReduce
from mindjax.tensor.tensor import Tensor

_MEGABYTE = 1 << 20


class DistributedDataParallel(Cell):
    """Average a Cell's gradients over processes (``parallel.distributed.DistributedDataParallel``).

    Every backward pass through it adds to what earlier ones gave, until `zero_grad`. Parameters
    that a pass does not use count as having the gradient 0. In PYNATIVE_MODE only, as in the
    original.

    Args:
        module: the Cell.
        init_sync: whether the Parameters of rank 0 are brought to the others now.
        process_group: name of the group; None is the world.
        bucket_cap_mb: size in MiB of what is transferred at once; None is 25.
        find_unused_parameters: kept for the original's signature: they are always found.
        average_in_collective: True divides the sum by the number of ranks, False what is summed.
        static_graph: kept for the original's signature: no order is learned.
        reducer_mode: ``"CppReducer"`` or ``"PythonReducer"``: one way of reduction here.

    Raises:
        TypeError: ``module`` is no Cell.
        ValueError: ``bucket_cap_mb`` is not above 0.
        RuntimeError: nobody has joined the world, or there is no such group.
    """

    def __init__(
        self,
        module: Any,
        init_sync: bool = True,
        process_group: str | None = None,
        bucket_cap_mb: int | None = None,
        find_unused_parameters: bool = False,
        average_in_collective: bool = False,
        static_graph: bool = False,
        reducer_mode: str = "CppReducer",
    ) -> None:
        super().__init__(auto_prefix=False)
        checks.of_type("module", module, Cell, "DistributedDataParallel")
        members = world.find(process_group, "DistributedDataParallel")
        cap = 25 if bucket_cap_mb is None else bucket_cap_mb
        if cap <= 0:
            raise located(
                ValueError,
                "For 'DistributedDataParallel', the 'bucket_cap_mb' must be greater than 0, but "
                f"got {bucket_cap_mb}.",
            )
        self.module = module
        self.init_sync, self.process_group = init_sync, members.name
        self.bucket_cap_mb, self.bucket_bytes_cap = bucket_cap_mb, int(cap * _MEGABYTE)
        self.average_in_collective, self.static_graph = average_in_collective, static_graph
        self.find_unused_parameters, self.reducer_mode = find_unused_parameters, reducer_mode
        self.sync_enabled = True
        self._size = members.size
        self._sum = AllReduce("sum", members.name)
        # In one order on all ranks, for the same network.
        self._trained = tuple(p for p in module.get_parameters() if p.requires_grad)
        self._kept: dict[int, Any] = {}
        if init_sync:
            self.broadcast_coalesced()

    def construct(self, *inputs: Any, **inputs_dict: Any) -> Any:
        """Run the module; gradients that are computed through it are averaged.

        Args:
            *inputs: the module's inputs.
            **inputs_dict: the module's inputs by name.

        Returns:
            What the module gives.

        Raises:
            NotImplementedError: in a graph.
        """
        if current.frame is not None:
            raise located(
                NotImplementedError,
                "For 'DistributedDataParallel', a graph is not supported: use PYNATIVE_MODE, or "
                "nn.TrainOneStepCell with the parallel_mode 'data_parallel'.",
            )
        tape = current.tape
        if tape is None:
            return self.module(*inputs, **inputs_dict)
        with self._between(tape):
            return self.module(*inputs, **inputs_dict)

    @contextlib.contextmanager
    def _between(self, tape: Tape) -> Iterator[None]:
        """Let the Parameters' gradients go through one node, which has all of them at once."""
        places = [i for i, p in enumerate(self._trained) if tape.position(p) is not None]
        parameters = [self._trained[i] for i in places]
        before = [tape.position(p) for p in parameters]

        def average(cotangents: list[Any]) -> Sequence[Any]:
            return self._averaged(places, cotangents)

        node = tape.add(Node(tape, None, [], None, before, len(parameters), custom=average))
        for i, parameter in enumerate(parameters):
            tape.rebind(parameter, (node, i))
        try:
            yield
        finally:
            for i, parameter in enumerate(parameters):
                if tape.position(parameter) == (node, i):
                    tape.rebind(parameter, before[i])

    def _averaged(self, places: Sequence[int], cotangents: Sequence[Any]) -> list[Any]:
        """Add gradients to those that are kept, and average them if ranks are to agree."""
        totals: list[Any] = []
        for place, cotangent in zip(places, cotangents, strict=True):
            fresh = ops.zeros_like(self._trained[place]) if cotangent is None else cotangent
            kept = self._kept.get(place)
            totals.append(fresh if kept is None else kept + fresh)
        if self.sync_enabled:
            for bucket in self._buckets(totals):
                for i, mean in zip(bucket, self._mean([totals[i] for i in bucket]), strict=True):
                    totals[i] = mean
        for place, total in zip(places, totals, strict=True):
            self._kept[place] = total
        return totals

    def _buckets(self, tensors: Sequence[Any]) -> list[list[int]]:
        """Share Tensors out to transfers of one dtype and of limited size."""
        done: list[list[int]] = []
        filling: dict[Any, tuple[list[int], int]] = {}
        for i, tensor in enumerate(tensors):
            bucket, used = filling.get(tensor.dtype, ([], 0))
            if not bucket or used + tensor.nbytes > self.bucket_bytes_cap:
                bucket, used = [], 0
                done.append(bucket)
            bucket.append(i)
            filling[tensor.dtype] = bucket, used + tensor.nbytes
        return done

    def _mean(self, tensors: Sequence[Any]) -> list[Tensor]:
        """Give the means over the ranks, by one transfer."""
        flat = ops.concat([ops.reshape(t, (-1,)) for t in tensors])
        if get_auto_parallel_context("force_fp32_communication"):
            flat = ops.cast(flat, float32)
        if self.average_in_collective:
            flat = self._sum(flat) / self._size
        else:
            flat = self._sum(flat / self._size)
        means, first = [], 0
        for tensor in tensors:
            piece = ops.reshape(flat[first : first + tensor.size], tensor.shape)
            means.append(ops.cast(piece, tensor.dtype))
            first += tensor.size
        return means

    def zero_grad(self) -> None:
        """Forget the gradients so far."""
        self._kept.clear()

    @contextlib.contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within it gradients are added up on each rank alone; the next pass after it averages."""
        self.sync_enabled = False
        try:
            yield
        finally:
            self.sync_enabled = True

    def broadcast_coalesced(self) -> None:
        """Bring the Parameters of the group's first rank to the others."""
        broadcast_from(0, self.module.get_parameters(), self.process_group)

    def final_grad_reduce(self) -> None:
        """Do nothing: a backward pass leaves no gradient behind that is not averaged."""

    def allocate_buffers_for_parameters(
        self, input_params: Sequence[Any], group: str, gradient_scaling_factor: float
    ) -> list[list[Any]]:
        """Share Parameters out to the transfers that their gradients are averaged in.

        Args:
            input_params: the Parameters.
            group: name of the group, which the transfers do not depend on.
            gradient_scaling_factor: factor of the gradients, which they do not depend on.

        Returns:
            A list of Parameters for each transfer.
        """
        every = list(input_params)
        return [[every[i] for i in bucket] for bucket in self._buckets(every)]
