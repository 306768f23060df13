"""Cells that combine the gradients of several processes."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.core.parallel_context import get_auto_parallel_context
from mindjax.core.world import GlobalComm, find
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor


class DistributedGradReducer(Cell):
    """Sum gradients over a group of processes (MindSpore: ``nn.DistributedGradReducer``).

    Args:
        parameters: the Parameters of the gradients; those with ``layerwise_parallel`` are left as
            they are.
        mean: whether the sum is divided by ``degree``; None for the ``gradients_mean`` of
            `set_auto_parallel_context`.
        degree: divisor; None for the size of the group.
        fusion_type: how transfers are put together, a tuning of the device.
        group: name of the group.

    Raises:
        ValueError: ``degree`` is no int above 0.
        RuntimeError: communication is not initialised.
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str = GlobalComm.WORLD_COMM_GROUP,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.mean = get_auto_parallel_context("gradients_mean") if mean is None else mean
        if degree is None:
            degree = find(group, "DistributedGradReducer").size
        elif not isinstance(degree, int) or degree <= 0:
            raise located(
                ValueError,
                "For 'DistributedGradReducer', parameter 'degree' in DistributedGradReducer should "
                f"large than 0 and be int, degree: {degree}.",
            )
        self.degree = Tensor(1.0 / degree, float32)
        self.fusion_type = fusion_type
        self.chosen = tuple(not getattr(p, "layerwise_parallel", False) for p in parameters)
        self.allreduce = ops.AllReduce("sum", group)

    def construct(self, grads: Any) -> Any:
        """Give the sums, added up in Float32, in the dtypes of the gradients."""
        if isinstance(grads, Tensor):
            return self._reduced(grads)
        return tuple(
            self._reduced(g) if chosen else g for g, chosen in zip(grads, self.chosen, strict=True)
        )

    def _reduced(self, grad: Tensor) -> Tensor:
        total = self.allreduce(ops.cast(grad, float32))
        return ops.cast(total * self.degree if self.mean else total, grad.dtype)


class PipelineGradReducer(Cell):
    """Divide gradients by a scale after pipeline training (MindSpore: ``nn.PipelineGradReducer``).

    In one process the gradients come from all micro batches already.

    Args:
        parameters: the Parameters of the gradients.
        scale_sense: the scale.
        opt_shard: whether optimizers share their state out; None for the context's setting. The
            gradients are the same.
    """

    def __init__(
        self, parameters: ParameterTuple, scale_sense: float = 1.0, opt_shard: bool | None = None
    ) -> None:
        super().__init__(auto_prefix=False)
        self.accu_grads = parameters.clone(prefix="accu_grads", init="zeros")
        self.scale_sense = Parameter(Tensor(scale_sense, float32), name="scale_sense")
        self.opt_shard = opt_shard

    def construct(self, grads: Any) -> Any:
        """Give the gradients over the scale."""
        return tuple(g * ops.cast(ops.Reciprocal()(self.scale_sense), g.dtype) for g in grads)
