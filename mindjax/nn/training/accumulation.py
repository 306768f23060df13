"""Cells that run a network on the parts of a batch."""

from __future__ import annotations

from typing import Any

from mindjax.autodiff import value_and_grad
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.parallel_context import get_auto_parallel_context
from mindjax.core.partition import partitioner
from mindjax.nn.cell import Cell
from mindjax.nn.optim.gradients import fitting
from mindjax.nn.wrap.cell_wrapper import TrainOneStepCell


def _check(owner: str, network: Any, name: str, parts: Any) -> None:
    if not isinstance(network, Cell):
        raise located(
            TypeError,
            f"For '{owner}', the argument 'network' must cell type, but got the type : "
            f"{type(network)}.",
        )
    if not isinstance(parts, int) or isinstance(parts, bool):
        raise located(
            TypeError,
            f"For '{owner}', the argument '{name}' must be integer, but got the type : "
            f"{type(parts)}.",
        )
    if parts <= 0:
        raise located(
            ValueError,
            f"For '{owner}', the argument '{name}' must be large than 0, but got {parts}.",
        )


def micro_batch(inputs: tuple[Any, ...], parts: int, index: int) -> tuple[Any, ...]:
    """Take one part of each input, cut along the first axis.

    Args:
        inputs: Tensors of the same batch.
        parts: number of parts.
        index: of the part.

    Raises:
        ValueError: a batch does not divide into the parts.
    """
    taken = []
    for x in inputs:
        if x.shape[0] % parts:
            raise located(
                ValueError,
                "For micro batch initialization, the 0th dimension shape of "
                f"input({x.shape[0]}) must be divided by micro size({parts})",
            )
        rows = x.shape[0] // parts
        taken.append(x[rows * index : rows * (index + 1)])
    return tuple(taken)


class _InParts(Cell):
    """A network that is run on each part of its batch; gives the sum of the outputs."""

    network: Cell

    def _sum(self, inputs: tuple[Any, ...], parts: int) -> Any:
        total = None
        for i in range(parts):
            out = self.network(*micro_batch(inputs, parts, i))
            total = out if total is None else total + out
        return total


class GradAccumulationCell(_InParts):
    """Run a network on micro batches (MindSpore: ``nn.GradAccumulationCell``).

    `amp.build_train_network` and `Model` train it one micro batch after another and divide the
    summed gradients by ``micro_size``; the loss that they give is the micro batches' sum.

    Args:
        network: gives the loss.
        micro_size: number of micro batches.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``micro_size`` is below 1.
    """

    def __init__(self, network: Cell, micro_size: int) -> None:
        super().__init__(auto_prefix=False)
        _check("GradAccumulationCell", network, "micro_size", micro_size)
        self.network = network
        self.micro_size = micro_size

    def construct(self, *inputs: Any) -> Any:
        """Give the sum of the micro batches' losses."""
        return self._sum(inputs, self.micro_size)


class PipelineCell(_InParts):
    """Run a network on micro batches, in stages (MindSpore: ``nn.PipelineCell``).

    With ``pipeline_stages`` above 1, in semi-auto or auto parallel mode, the stages' devices run
    them at the same time; without it one device runs all stages.

    Args:
        network: gives the loss.
        micro_size: number of micro batches.
        stage_config: stage of each Cell by name; noted on the Cells as ``pipeline_stage``.
        segment_config: segment of each Cell by name; noted as ``pipeline_segment``.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``micro_size`` is below 1.
        KeyError: there is no Cell of a name.
    """

    def __init__(
        self,
        network: Cell,
        micro_size: int,
        stage_config: dict[str, int] | None = None,
        segment_config: dict[str, int] | None = None,
    ) -> None:
        super().__init__(auto_prefix=False)
        _check("PipelineCell", network, "micro_size", micro_size)
        self.network = network
        self.micro_size = micro_size
        for name, attribute, config in (
            ("stage_config", "pipeline_stage", stage_config),
            ("segment_config", "pipeline_segment", segment_config),
        ):
            if config is not None and not isinstance(config, dict):
                raise located(
                    TypeError,
                    f"For 'PipelineCell', the argument '{name}' must be a dict of numbers by the "
                    f"names of Cells, but got {type(config).__name__}.",
                )
            left = dict(config or {})
            for cell_name, cell in network.cells_and_names():
                if cell_name and cell_name in left:
                    setattr(cell, attribute, left.pop(cell_name))
            if str(network) in left:
                setattr(network, attribute, left.pop(str(network)))
            if left:
                raise located(
                    KeyError,
                    f"For 'PipelineCell', the argument '{name}' : {left} is not found in 'network' "
                    f": {type(network).__name__}",
                )

    def construct(self, *inputs: Any) -> Any:
        """Give the sum of the micro batches' losses.

        Raises:
            RuntimeError: there are stages, but no parallel mode that has them.
        """
        spread = partitioner()
        if spread is not None and spread.pipeline is not None and current.frame is not None:
            micro_batch(inputs, self.micro_size, 0)
            return spread.run_micro_batches(self.network, inputs, self.micro_size)
        stages = get_auto_parallel_context("pipeline_stages")
        if stages > 1 and (spread is None or spread.pipeline is None):
            raise located(
                RuntimeError,
                f"For 'PipelineCell', 'pipeline_stages' {stages} needs the 'parallel_mode' "
                "'semi_auto_parallel' or 'auto_parallel'.",
            )
        return self._sum(inputs, self.micro_size)

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None) -> Any:
        """Refuse: the network within is sharded, not its batches.

        Args:
            in_strategy: cuts of the inputs.
            out_strategy: cuts of the outputs.
            parameter_plan: cuts of the Parameters.

        Raises:
            ValueError: always.
        """
        raise located(
            ValueError,
            "For 'PipelineCell', no 'shard' on 'PipelineCell' is allowed: shard its network.",
        )


class MicroBatchInterleaved(_InParts):
    """Run a network on parts of a batch, whose transfers and computations overlap on devices.

    Args:
        network: the network; its output is a Tensor.
        interleave_num: number of parts.

    Raises:
        TypeError: ``interleave_num`` is no int.
        ValueError: it is below 1.

    MindSpore: ``nn.MicroBatchInterleaved``.
    """

    def __init__(self, network: Cell, interleave_num: int = 2) -> None:
        super().__init__(auto_prefix=False)
        _check("MicroBatchInterleaved", network, "interleave_num", interleave_num)
        self.network = network
        self.interleave_num = interleave_num

    def construct(self, *inputs: Any) -> Any:
        """Give the sum of the parts' outputs."""
        return self._sum(inputs, self.interleave_num)


def accumulates(network: Cell) -> bool:
    """Tell whether a network gives the sum of its micro batches' losses.

    Args:
        network: the network; it is, or holds, a `GradAccumulationCell`, or there are pipeline
            stages.
    """
    if get_auto_parallel_context("pipeline_stages") > 1:
        return True
    names = {"GradAccumulationCell", "GradAccumulation"}
    for _, cell in network.cells_and_names():
        stages = getattr(cell, "get_pipeline_stages", lambda: 1)
        if cell.cls_name in names or stages() > 1:
            return True
    return False


class TrainGradAccuStepCell(TrainOneStepCell):
    """A training step over micro batches (MindSpore: ``_TrainGradAccuStepCell``).

    Args:
        network: a `GradAccumulationCell`, or a network that holds one.
        optimizer: takes the gradients.
        sens: scale of the gradients; None for 1 / number of micro batches.
    """

    def __init__(self, network: Cell, optimizer: Any, sens: Any = None) -> None:
        super().__init__(network, optimizer, sens)
        if sens is None:
            sizes = (getattr(c, "micro_size", None) for _, c in network.cells_and_names())
            self.sens = 1 / next((s for s in sizes if s is not None), 1)

    def construct(self, *inputs: Any) -> Any:
        """Train on a batch and give the loss, summed over the micro batches."""
        loss, gradients = self._accumulated(inputs)
        gradients = self.grad_reducer(tuple(g * self.sens for g in gradients))
        self.optimizer(gradients)
        return loss

    def _accumulated(self, inputs: tuple[Any, ...]) -> tuple[Any, Any]:
        network = self.network
        if not isinstance(network, GradAccumulationCell):
            loss, gradients = value_and_grad(network, None, self.weights)(*inputs)
            return loss, fitting(None, gradients)
        # One micro batch after another: the values of one are kept at a time.
        step = value_and_grad(network.network, None, self.weights)
        loss, totals = None, ()
        for i in range(network.micro_size):
            part, gradients = step(*micro_batch(inputs, network.micro_size, i))
            gradients = fitting(None, gradients)
            loss = part if loss is None else loss + part
            totals = (
                tuple(t + g for t, g in zip(totals, gradients, strict=True))
                if totals
                else tuple(gradients)
            )
        return loss, totals
