"""Networks whose last dense layer has normalized inputs and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax import nn, ops
from mindjax.core.dtype import float32
from mindjax.nn.cell import Cell
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class CommonHeadLastFN(Cell):
    """A dense layer of normalized inputs and weights, times a factor that is learnt.

    Args:
        in_channels: size of the input.
        out_channels: size of the output.
        weight_init: Tensor or initializer of the weight (out, in).
        bias_init: the same of the bias.
        has_bias: whether there is a bias.

    MindSpore: ``boost.less_batch_normalization.CommonHeadLastFN``.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
    ) -> None:
        super().__init__()
        shape = [out_channels, in_channels]
        self.weight = Parameter(initializer(weight_init, shape), name="weight")
        self.multiplier = Parameter(Tensor(np.ones([1]), float32), name="multiplier")
        self.norm = ops.L2Normalize(axis=1)
        self.fc = ops.MatMul(transpose_b=True)
        self.has_bias = has_bias
        if has_bias:
            self.bias_add = ops.BiasAdd()
            self.bias = Parameter(initializer(bias_init, [out_channels]), name="bias")

    def construct(self, x: Any) -> Any:
        """Compute (N, in) -> (N, out)."""
        x = self.fc(self.norm(x), self.norm(self.weight))
        if self.has_bias:
            x = self.bias_add(x, self.bias)
        return self.multiplier * x


class LessBN(Cell):
    """A network with a normalized last layer (MindSpore: ``boost.LessBN``).

    The original's compiler also leaves out some batch normalizations of residual networks; here
    all are computed, and XLA fuses them with what is around them.

    Args:
        network: the network; it is changed.
        fn_flag: whether its last dense layers become `CommonHeadLastFN`.
    """

    def __init__(self, network: Cell, fn_flag: bool = False) -> None:
        super().__init__()
        self.network = network
        if "less_bn" not in network.get_flags():
            network.set_boost("less_bn")
            network.update_cell_prefix()
            if fn_flag:
                self._convert_to_less_bn_net(network)
            network.add_flags(defer_inline=True)

    def construct(self, *inputs: Any) -> Any:
        """Give the network's output."""
        return self.network(*inputs)

    @staticmethod
    def _convert_dense(subcell: Any) -> CommonHeadLastFN:
        made = CommonHeadLastFN(
            subcell.in_channels, subcell.out_channels, subcell.weight, subcell.bias, False
        )
        made.update_parameters_name(f"{subcell.param_prefix}.")
        return made

    def _convert_to_less_bn_net(self, network: Cell) -> None:
        """Replace the last dense layer of each Cell."""
        last = None
        for name, part in network.name_cells().items():
            if isinstance(part, nn.Dense):
                last = name, part
            elif part is not network:
                self._convert_to_less_bn_net(part)
        if last is not None:
            network.insert_child_to_cell(last[0], self._convert_dense(last[1]))
