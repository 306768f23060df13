"""Cells that combine the gradients of several processes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.core.parallel_context import get_auto_parallel_context
from mindjax.core.world import GlobalComm, find
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor

# Elements of one transfer: 32 MiB of Float32.
_BUCKET = 1 << 23


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
        self.single = any(
            get_auto_parallel_context(name)
            for name in ("gradient_fp32_sync", "force_fp32_communication")
        )

    def construct(self, grads: Any) -> Any:
        """Give the sums in the dtypes of the gradients.

        They are added up in Float32; with ``gradient_fp32_sync`` and ``force_fp32_communication``
        off, in their own dtypes.
        """
        if isinstance(grads, Tensor):
            return self._reduced((grads,))[0]
        results = list(grads)
        for bucket in self._buckets(results):
            places = bucket[0]
            for place, total in zip(places, self._reduced(bucket[1]), strict=True):
                results[place] = total
        return tuple(results)

    def _buckets(self, grads: Sequence[Tensor]) -> list[tuple[list[int], list[Tensor]]]:
        """Put gradients together that are one transfer: small ones cost as much as large ones."""
        buckets: dict[Any, list[tuple[list[int], list[Tensor]]]] = {}
        sizes: dict[Any, int] = {}
        for place, (grad, chosen) in enumerate(zip(grads, self.chosen, strict=True)):
            if not chosen:
                continue
            kind = float32 if self.single else grad.dtype
            if kind not in buckets or sizes[kind] + grad.size > _BUCKET:
                buckets.setdefault(kind, []).append(([], []))
                sizes[kind] = 0
            places, members = buckets[kind][-1]
            places.append(place)
            members.append(grad)
            sizes[kind] += grad.size
        return [bucket for kind in buckets.values() for bucket in kind]

    def _reduced(self, grads: Sequence[Tensor]) -> list[Tensor]:
        """Give the sums of some gradients, by one transfer."""
        kind = float32 if self.single else grads[0].dtype
        if len(grads) == 1:
            return [self._scaled(self.allreduce(ops.cast(grads[0], kind)), grads[0])]
        flat = ops.concat([ops.reshape(ops.cast(g, kind), (-1,)) for g in grads])
        total, results, first = self.allreduce(flat), [], 0
        for grad in grads:
            piece = ops.reshape(total[first : first + grad.size], grad.shape)
            results.append(self._scaled(piece, grad))
            first += grad.size
        return results

    def _scaled(self, total: Tensor, grad: Tensor) -> Tensor:
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
