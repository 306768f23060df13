"""Gradients of several steps, added up before they are used."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import int32
from mindjax.graph.branch import run_if
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor

gradient_accumulation_op = ops.MultitypeFuncGraph("gradient_accumulation_op")
"""Adds a gradient over the number of steps to a Parameter, and gives the sum."""

gradient_clear_op = ops.MultitypeFuncGraph("gradient_clear_op")
"""Writes zeros to a Parameter, and gives them."""


@gradient_accumulation_op.register("Int64", "Tensor", "Tensor")
def _accumulated(steps: Any, total: Any, grad: Any) -> Any:
    return ops.assign_add(total, ops.cast(grad / steps, total.dtype))


@gradient_clear_op.register("Tensor")
def _cleared(total: Any) -> Any:
    return ops.assign(total, ops.zeros_like(total))


class GradientAccumulation(Cell):
    """Update with the mean gradient of several steps (MindSpore: ``boost.GradientAccumulation``).

    Args:
        max_accumulation_step: number of steps.
        optimizer: takes the mean gradients.
    """

    def __init__(self, max_accumulation_step: int, optimizer: Any) -> None:
        super().__init__()
        self._max_accumulation_step = max_accumulation_step
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.hyper_map = ops.HyperMap()
        self._grad_accumulation = self.weights.clone(prefix="grad_accumulation", init="zeros")
        self._accumulation_step = Parameter(Tensor(0, int32), name="accumulation_step")

    def construct(self, loss: Any, grads: Any) -> Any:
        """Add the gradients up, update if it is time, and give the loss."""
        for total, grad in zip(self._grad_accumulation, grads, strict=True):
            ops.assign(total, total + grad / self._max_accumulation_step)
        ops.assign(self._accumulation_step, self._accumulation_step + 1)
        run_if(self._accumulation_step >= self._max_accumulation_step, self._update)
        return loss

    def _update(self) -> None:
        self.optimizer(tuple(total + 0 for total in self._grad_accumulation))
        ops.assign(self._accumulation_step, Tensor(0, int32))
        for total in self._grad_accumulation:
            ops.assign(total, ops.zeros_like(total))
