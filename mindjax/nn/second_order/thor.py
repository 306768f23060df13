"""THOR: momentum on gradients that the inverse Fisher matrix of each layer has turned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.nn.normalization import LayerNorm
from mindjax.nn.optim.gradients import decayed
from mindjax.nn.optim.optimizer import Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.nn.second_order.convert import ConvertNetUtils
from mindjax.nn.second_order.layers import (
    Conv2dThor,
    DenseThor,
    EmbeddingLookupThor,
    EmbeddingThor,
)
from mindjax.ops.update import ApplyMomentum
from mindjax.ops.updates.curvature import InverseBlocks, Preconditioned
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor

_BLOCK = 128
_TABLES = (EmbeddingThor, EmbeddingLookupThor)


def thor(
    net: Any,
    learning_rate: Any,
    damping: Any,
    momentum: float,
    weight_decay: float = 0.0,
    loss_scale: float = 1.0,
    batch_size: int = 32,
    use_nesterov: bool = False,
    decay_filter: Callable[[Any], bool] = lambda parameter: True,
    split_indices: Any = None,
    enable_clip_grad: bool = False,
    frequency: int = 100,
) -> Any:
    """Make THOR's optimizer of a network (MindSpore: ``nn.thor``; Chen et al. 2021).

    The network's Dense, Conv2d and embedding layers become those that keep statistics. A step
    takes (G + √damping)⁻¹ g (A + √damping)⁻¹ of each layer's gradient, in blocks of 128 along the
    diagonals, and then momentum. The inverses are made anew while ``thor`` is set, which
    `ConvertModelUtils` does every ``frequency`` steps; the kept ones are taken otherwise.

    Args:
        net: the network, which is changed.
        learning_rate: one rate a step, a Tensor.
        damping: one damping a step, a Tensor; past its end the last one stays.
        momentum: share of the sum that stays, a float from 0 up.
        weight_decay: number from 0 up, times each weight added to its turned gradient.
        loss_scale: gradients are divided by it.
        batch_size: samples of a batch.
        use_nesterov: whether to look one step ahead.
        decay_filter: tells of a Parameter whether it decays.
        split_indices: device tuning only: how several devices would bundle their messages.
        enable_clip_grad: whether the norm of each turned gradient is at most one.
        frequency: steps from one making of the inverses to the next, from 2 up.

    Returns:
        The optimizer.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """
    ConvertNetUtils().convert_to_thor_net(net)
    rest = weight_decay, loss_scale, batch_size, use_nesterov, decay_filter
    return ThorGpu(
        net, learning_rate, damping, momentum, *rest, split_indices, enable_clip_grad, frequency
    )


class ThorGpu(Optimizer):
    """THOR's optimizer, named as the original's for other devices than Ascend; see `thor`."""

    def __init__(
        self,
        net: Any,
        learning_rate: Any,
        damping: Any,
        momentum: float,
        weight_decay: float = 0.0,
        loss_scale: float = 1.0,
        batch_size: int = 32,
        use_nesterov: bool = False,
        decay_filter: Callable[[Any], bool] = lambda parameter: True,
        split_indices: Any = None,
        enable_clip_grad: bool = False,
        frequency: int = 100,
    ) -> None:
        trained = [p for p in net.get_parameters() if p.requires_grad]
        super().__init__(learning_rate, trained, weight_decay, loss_scale)
        owner = self.cls_name
        checks.of_type("momentum", momentum, float, owner)
        checks.of_type("frequency", frequency, int, owner)
        checks.of_type("learning rate", learning_rate, Tensor, owner)
        checks.of_type("damping", damping, Tensor, owner)
        for name, value, low in (("momentum", momentum, 0.0), ("frequency", frequency, 2)):
            if value < low:
                raise located(
                    ValueError,
                    f"For 'thor', the argument '{name}' must be at least {low}, but got {value}.",
                )
        checks.positive_int("batch_size", batch_size, owner)
        self.momentum = Parameter(Tensor(momentum, float32), name="momentum")
        self.use_nesterov = checks.boolean("use_nesterov", use_nesterov, owner)
        self.enable_clip_grad = checks.boolean("enable_clip_grad", enable_clip_grad, owner)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")
        self.opt = ApplyMomentum(use_nesterov=use_nesterov)
        self.damping, self.frequency = damping, frequency
        self.batch_size = float(batch_size)
        self._gradient_scale = (batch_size / self.loss_scale) ** 2
        self.decay_flags = tuple(bool(decay_filter(p)) for p in self.parameters)
        self._decay = float(weight_decay)
        self.thor = True
        self._layers = self._find_layers(net)
        self._gather_statistics()
        self.cov_step = Parameter(initializer(0, [1], int32), name="cov_step", requires_grad=False)
        self._make_inverses()

    def get_frequency(self) -> int:
        """Give the steps from one making of the inverses to the next."""
        return self.frequency

    # -- layers --

    def _find_layers(self, net: Any) -> tuple[Any, ...]:
        """Give for each Parameter the layer that turns its gradient, a LayerNorm, or None."""
        owners: dict[int, Any] = {}
        for _, cell in net.cells_and_names():
            if isinstance(cell, DenseThor | Conv2dThor):
                owners[id(cell.weight)] = _Layer(cell)
            elif isinstance(cell, _TABLES):
                owners[id(cell.embedding_table)] = _Layer(cell)
            elif isinstance(cell, LayerNorm):
                owners[id(cell.gamma)] = owners[id(cell.beta)] = _NORM
        return tuple(owners.get(id(p)) for p in self.parameters)

    def _gather_statistics(self) -> None:
        layers = [layer for layer in self._layers if isinstance(layer, _Layer)]
        self.matrix_a_cov = ParameterTuple([layer.a for layer in layers])
        self.matrix_g_cov = ParameterTuple([layer.g for layer in layers])
        for name in ("a_normalizer", "g_normalizer"):
            counts = [getattr(layer.cell, name) for layer in layers if layer.is_conv]
            setattr(self, name, ParameterTuple(counts))

    def _make_inverses(self) -> None:
        a_shapes, g_shapes = [], []
        for layer in self._layers:
            if not isinstance(layer, _Layer):
                continue
            a, g = layer.a.shape, layer.g.shape
            if not layer.is_table:
                side = min(g[0], _BLOCK)
                g = (-(-g[0] // _BLOCK), side, side)
                side = min(a[0], _BLOCK)
                a = (g[0], -(-a[0] // _BLOCK), side, side)
            a_shapes.append(a)
            g_shapes.append(g)
        self.matrix_a, self.matrix_g = (
            ParameterTuple(
                [
                    Parameter(
                        Tensor(np.zeros(shape, np.float32)),
                        name=f"matrix_{kind}_inv_{i}",
                        requires_grad=False,
                    )
                    for i, shape in enumerate(shapes)
                ]
            )
            for kind, shapes in (("a", a_shapes), ("g", g_shapes))
        )

    # -- steps --

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, sums and inverses.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        self._check_gradients(gradients)
        gradients = self.scale_grad(gradients)
        last = self.damping.shape[0] - 1
        damping = ops.gather(self.damping, ops.minimum(self.cov_step, last), 0)
        root = ops.cast(ops.sqrt(ops.reshape(damping, ())), float32)
        turned, place = [], 0
        for gradient, layer in zip(gradients, self._layers, strict=True):
            if isinstance(layer, _Layer):
                if self.thor:
                    self._invert(layer, place, root)
                gradient = self._turned(layer, gradient, self.matrix_a[place], self.matrix_g[place])
                place += 1
            elif layer == _NORM:
                gradient = gradient / (ops.square(gradient) / self.batch_size + root)
            turned.append(gradient)
        ops.assign_add(self.cov_step, self.global_step_increase_tensor)
        if self._decay > 0:
            pairs = zip(turned, self.parameters, self.decay_flags, strict=True)
            turned = [decayed(g, p, self._decay) if flag else g for g, p, flag in pairs]
        if self.enable_clip_grad:
            turned = [g / ops.maximum(ops.sqrt(ops.square(g).sum()), 1.0) for g in turned]
        rate = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        for gradient, parameter, moment in zip(turned, self.parameters, self.moments, strict=True):
            self.opt(parameter, moment, rate, gradient, self.momentum)
        return (True,) * self.param_length

    def _invert(self, layer: _Layer, place: int, root: Any) -> None:
        a, g = layer.a, layer.g * self._gradient_scale
        if layer.is_table:
            ops.assign(self.matrix_a[place], 1.0 / (a / self.batch_size + root))
            g = g + root * ops.eye(g.shape[0], g.shape[0], float32)
            inverse = InverseBlocks(g.shape[0])(g)
            ops.assign(self.matrix_g[place], ops.reshape(inverse, g.shape))
            return
        root_a = root_g = root
        share: Any = 1.0
        if layer.is_conv:
            share = ops.rsqrt(layer.cell.a_normalizer)
            root_a, root_g = root * share, root * ops.rsqrt(layer.cell.g_normalizer)
        inverse_a = (
            InverseBlocks(_BLOCK)(a + root_a * ops.eye(a.shape[0], a.shape[0], float32)) * share
        )
        inverse_g = (
            InverseBlocks(_BLOCK)(g + root_g * ops.eye(g.shape[0], g.shape[0], float32)) * share
        )
        shape = self.matrix_a[place].shape
        ops.assign(self.matrix_a[place], ops.broadcast_to(inverse_a, shape))
        ops.assign(self.matrix_g[place], inverse_g)

    def _turned(self, layer: _Layer, gradient: Any, a: Any, g: Any) -> Any:
        if layer.is_table:
            return ops.matmul(ops.expand_dims(a, 1) * gradient, g)
        matrix = ops.reshape(gradient, (gradient.shape[0], -1))
        return ops.reshape(Preconditioned()(g, matrix, a), gradient.shape)


_NORM = "norm"


class _Layer:
    """A layer with statistics, as the optimizer sees it."""

    def __init__(self, cell: Any) -> None:
        self.cell = cell
        self.is_conv = isinstance(cell, Conv2dThor)
        self.is_table = isinstance(cell, _TABLES)
        self.a = cell.matrix_a_cov if self.is_conv else cell.matrix_a
        self.g = cell.matrix_g_cov if self.is_conv else cell.matrix_g
