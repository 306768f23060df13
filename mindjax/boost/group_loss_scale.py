"""A loss scale for each group of layers."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32
from mindjax.nn.cell import Cell
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor


class _ScaledGradient(Cell):
    """The input itself, whose gradient is multiplied by a scale."""

    def construct(self, x: Any, scale: Any) -> Any:
        """Give ``x``."""
        return x + 0

    def bprop(self, x: Any, scale: Any, out: Any, dout: Any) -> Any:
        """Give the gradients."""
        return dout * ops.cast(scale, dout.dtype), ops.zeros_like(scale)


class GroupLossScaleManager(Cell):
    """Scale gradients differently between groups of layers, and move each group's scale by itself.

    A call stands between two layers: the gradient that flows through it is multiplied by the scale
    of the group behind it over that of the group before it.

    Args:
        init_loss_scale: first scale, a number or a list of one a group.
        loss_scale_groups: lists of Parameters, one a group.

    MindSpore: ``boost.GroupLossScaleManager``.
    """

    def __init__(self, init_loss_scale: Any, loss_scale_groups: list[Any]) -> None:
        super().__init__()
        self._loss_scale = init_loss_scale
        self.loss_scale_groups = loss_scale_groups
        self.loss_scale_number = 0
        self.layer_loss_scale: Any = None
        self.dynamic_loss_scale: Any = None

    def set_loss_scale_status(self, loss_scale_number: int, init_loss_scale: Any) -> None:
        """Make the groups' scales.

        Args:
            loss_scale_number: number of groups.
            init_loss_scale: first scale, a number or a list of one a group.
        """
        self.loss_scale_number = loss_scale_number
        self.layer_loss_scale = _ScaledGradient()
        one = Tensor(1, float32)
        scales = [
            Parameter(one, name=f"layer_loss_scale_{x}", requires_grad=False)
            for x in range(loss_scale_number + 2)
        ]
        self.dynamic_loss_scale = ParameterTuple(scales)
        for i in range(loss_scale_number):
            first = init_loss_scale[i] if isinstance(init_loss_scale, list) else init_loss_scale
            scales[i + 1].set_data(Tensor(first, float32))

    def update_loss_scale_status(self, layer: int, update_ratio: Any) -> Any:
        """Move a group's scale.

        Args:
            layer: index of the group.
            update_ratio: what its scale is multiplied by.

        Returns:
            The new scale.
        """
        scale = self.dynamic_loss_scale[layer + 1]
        fresh = scale * update_ratio
        ops.assign(scale, fresh)
        return fresh

    def construct(self, x: Any, layer1: int, layer2: int) -> Any:
        """Give ``x``, between the layers of two groups.

        Args:
            x: output of a layer.
            layer1: index of the group of the layer after it.
            layer2: index of the group of the layer before it.
        """
        scales = self.dynamic_loss_scale
        return self.layer_loss_scale(x, scales[layer1] / scales[layer2])

    def get_loss_scale(self) -> Any:
        """Give the first scale."""
        return self._loss_scale

    def get_update_cell(self) -> GroupLossScaleManager:
        """Give the manager itself."""
        return self
