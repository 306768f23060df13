"""Layers around other layers: with normalization and activation, over time steps."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.nn.activation import LeakyReLU, get_activation
from mindjax.nn.cell import Cell
from mindjax.nn.conv import Conv2d
from mindjax.nn.dense import Dense
from mindjax.nn.normalization import BatchNorm1d, BatchNorm2d
from mindjax.ops.sequence import stack, unstack
from mindjax.ops.shape import reshape, transpose
from mindjax.tensor.tensor import Tensor


class _Combined(Cell):
    """What the layers share: a normalization and an activation at the end."""

    def _finish(
        self, norm: Cell | None, activation: Any, alpha: float, after_fake: bool, has_bn: bool
    ) -> None:
        owner = self.cls_name
        self.has_bn = checks.boolean("has_bn", has_bn, owner)
        self.has_act = activation is not None
        # A mark for quantization-aware training, which this release of the original has no more.
        self.after_fake = checks.boolean("after_fake", after_fake, owner)
        if norm is not None:
            self.batchnorm = norm
        if isinstance(activation, str) and activation == "leakyrelu":
            self.activation = LeakyReLU(alpha)
            return
        known = isinstance(activation, str)
        self.activation = get_activation(activation) if known else activation
        if activation is not None and not isinstance(self.activation, Cell | Primitive):
            raise located(
                TypeError,
                f"For '{owner}', the 'activation' must be str or Cell or Primitive, but got "
                f"{type(activation).__name__}.",
            )

    def _ended(self, x: Any) -> Any:
        if self.has_bn:
            x = self.batchnorm(x)
        return x if self.activation is None else self.activation(x)


class Conv2dBnAct(_Combined):
    """A convolution, batch normalization and an activation (MindSpore: ``nn.Conv2dBnAct``).

    Args:
        in_channels: as in `Conv2d`, as are the following.
        out_channels: channels of the output.
        kernel_size: int or (height, width).
        stride: int or (height, width).
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: int or (top, bottom, left, right).
        dilation: int or (height, width).
        group: number of groups of channels.
        has_bias: whether there is a bias.
        weight_init: first weight.
        bias_init: first bias.
        has_bn: whether there is a `BatchNorm2d`.
        momentum: of the normalization.
        eps: of the normalization.
        activation: name, Cell or Primitive, or None; ``"leakyrelu"`` takes ``alpha``.
        alpha: slope of the leaky ReLU below 0.
        after_fake: kept for the original's signature.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        pad_mode: str = "same",
        padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bn: bool = False,
        momentum: float = 0.997,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        window = (kernel_size, stride, pad_mode, padding, dilation, group, has_bias)
        self.conv = Conv2d(in_channels, out_channels, *window, weight_init, bias_init)
        norm = BatchNorm2d(out_channels, eps, momentum) if has_bn else None
        self._finish(norm, activation, alpha, after_fake, has_bn)

    def construct(self, x: Any) -> Any:
        """Run on (N, C, H, W)."""
        return self._ended(self.conv(x))


class DenseBnAct(_Combined):
    """A dense layer, batch normalization and an activation (MindSpore: ``nn.DenseBnAct``).

    Args:
        in_channels: as in `Dense`, as are the following.
        out_channels: size of the last axis of the output.
        weight_init: first weight.
        bias_init: first bias.
        has_bias: whether there is a bias.
        has_bn: whether there is a `BatchNorm1d`.
        momentum: of the normalization.
        eps: of the normalization.
        activation: name, Cell or Primitive, or None; ``"leakyrelu"`` takes ``alpha``.
        alpha: slope of the leaky ReLU below 0.
        after_fake: kept for the original's signature.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        weight_init: Any = "normal",
        bias_init: Any = "zeros",
        has_bias: bool = True,
        has_bn: bool = False,
        momentum: float = 0.9,
        eps: float = 1e-5,
        activation: Any = None,
        alpha: float = 0.2,
        after_fake: bool = True,
    ) -> None:
        super().__init__()
        self.dense = Dense(in_channels, out_channels, weight_init, bias_init, has_bias)
        norm = BatchNorm1d(out_channels, eps, momentum) if has_bn else None
        self._finish(norm, activation, alpha, after_fake, has_bn)

    def construct(self, x: Any) -> Any:
        """Run on (N, in)."""
        return self._ended(self.dense(x))


class TimeDistributed(Cell):
    """A layer on every step of an axis (MindSpore: ``nn.TimeDistributed``).

    Args:
        layer: Cell or Primitive.
        time_axis: the axis, an int.
        reshape_with_axis: axis that the steps are merged with for one call; None for a call a step.

    Raises:
        TypeError: an argument is of a wrong type.
    """

    def __init__(self, layer: Any, time_axis: int, reshape_with_axis: int | None = None) -> None:
        super().__init__()
        if not isinstance(layer, Cell | Primitive):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the 'layer' must be Cell or Primitive instance, but got "
                f"type: {type(layer).__name__}.",
            )
        self.time_axis = checks.of_type("time_axis", time_axis, int, self.cls_name)
        if reshape_with_axis is not None:
            checks.of_type("reshape_with_axis", reshape_with_axis, int, self.cls_name)
        self.layer, self.reshape_with_axis = layer, reshape_with_axis

    def construct(self, inputs: Any) -> Any:
        """Run on a Tensor of at least 3 dimensions.

        Raises:
            TypeError: input or output is not a Tensor.
            ValueError: a shape does not fit.
        """
        self._tensor(inputs)
        rank = len(inputs.shape)
        if rank < 3:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the inputs shape must be at least 3D, but got {rank}.",
            )
        time = self.time_axis % rank
        if self.reshape_with_axis is not None:
            return self._merged(inputs, time, self.reshape_with_axis % rank)
        outputs = []
        for step in unstack(inputs, time):
            out = self.layer(step)
            self._tensor(out)
            if time > len(out.shape):
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the value of 'time_axis' must be in range of "
                    f"[{-len(out.shape) - 1}, {len(out.shape)}], but got {time}.",
                )
            outputs.append(out)
        return stack(outputs, time)

    def _merged(self, inputs: Any, time: int, other: int) -> Any:
        """Put the time axis beside another one and run on both as one."""
        rank = len(inputs.shape)
        beside = other + 1 if time > other else other - 1
        place = rank - 2 if other == rank - 1 else beside
        low, high = sorted((place, time))
        order = list(range(rank))
        order = [*order[:low], order[high], *order[low:high], *order[high + 1 :]]
        inputs = transpose(inputs, tuple(order))
        first = min(place, other)
        shape = tuple(inputs.shape)
        joined = reshape(inputs, (*shape[:first], -1, *shape[first + 2 :]))
        out = self.layer(joined)
        self._tensor(out)
        got = tuple(out.shape)
        if first >= len(got) or joined.shape[first] != got[first]:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'reshape_with_axis' is invalid in the input and "
                f"output: the layer must keep axis {first}, but got input shape {joined.shape} and "
                f"output shape {got}; leave out 'reshape_with_axis'.",
            )
        return reshape(out, (*got[:first], *shape[first : first + 2], *got[first + 1 :]))

    def _tensor(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise located(
                TypeError,
                f"For '{self.cls_name}', the inputs and outputs must be a Tensor, but got "
                f"{type(value).__name__}.",
            )
