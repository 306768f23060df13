"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.precision import OpLists
from mindjax.nn.cell import Cell
from mindjax.ops.conv import BiasAdd, Conv2D, Conv3D, bias_add, conv1d, transposed
from mindjax.ops.rearrange import pad
from mindjax.ops.shape import squeeze
from mindjax.tensor.initializer import HeUniform, Uniform, initializer
from mindjax.tensor.parameter import Parameter


class _Conv(Cell):
    """What the convolution layers share: checks, weights and their text.

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        sizes: kernel size, stride and dilation.
        pads: padding mode and padding.
        group: number of groups of channels.
        has_bias: whether there is a bias.
        inits: first weight and bias.
        data_format: order of axes.
        dtype: of the Parameters.
        count: number of spatial axes.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        sizes: tuple[Any, Any, Any],
        pads: tuple[str, Any],
        group: int,
        has_bias: bool,
        inits: tuple[Any, Any],
        data_format: str,
        dtype: Any,
        count: int,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.in_channels = checks.positive_int("in_channels", in_channels, owner)
        self.out_channels = checks.positive_int("out_channels", out_channels, owner)
        kernel_size, stride, dilation = sizes
        self.kernel_size = checks.positive_ints("kernel_size", kernel_size, count, owner)
        self.stride = checks.positive_ints("stride", stride, count, owner)
        self.dilation = checks.positive_ints("dilation", dilation, count, owner)
        self.pad_mode, padding = pads
        if isinstance(padding, int) and not isinstance(padding, bool):
            checks.non_negative_int("padding", padding, owner)
        elif isinstance(padding, tuple | list):
            padding = tuple(padding)
            for item in padding:
                checks.non_negative_int("padding item", item, owner)
        else:
            raise located(
                TypeError,
                f"For '{owner}', the type of 'padding' must be int or tuple(int), but got "
                f"{type(padding).__name__}.",
            )
        self.padding = padding
        self.group = checks.positive_int("group", group, owner)
        if in_channels % group or out_channels % group:
            raise located(
                ValueError,
                f"For '{owner}', the argument 'group' should be divisible by 'in_channels' and "
                f"'out_channels', but got group:{group}, in_channels:{in_channels}, "
                f"out_channels:{out_channels}.",
            )
        self.has_bias = checks.boolean("has_bias", has_bias, owner)
        self.data_format = data_format
        weight_init, self.bias_init = inits
        self.weight_init = (
            HeUniform(negative_slope=math.sqrt(5)) if weight_init is None else weight_init
        )
        shape = self._weight_shape()
        self.weight = Parameter(initializer(self.weight_init, shape, dtype), name="weight")
        self.bias = None
        if has_bias:
            if self.bias_init is None:
                fan_in = math.prod(shape) // shape[0]
                self.bias_init = Uniform(scale=1 / math.sqrt(fan_in))
            self.bias = Parameter(initializer(self.bias_init, (out_channels,), dtype), name="bias")

    def _weight_shape(self) -> tuple[int, ...]:
        inner = self.in_channels // self.group
        if self.data_format == "NHWC":
            return (self.out_channels, *self.kernel_size, inner)
        return (self.out_channels, inner, *self.kernel_size)

    def extend_repr(self) -> str:
        """Name every argument."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, "
            f"bias_init={self.bias_init}, format={self.data_format}"
        )


class Conv2d(_Conv):
    """2-D convolution (MindSpore: ``nn.Conv2d``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int or (height, width).
        stride: int or (height, width).
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: int or (top, bottom, left, right), with ``"pad"`` only.
        dilation: int or (height, width).
        group: number of groups of channels.
        has_bias: whether there is a bias.
        weight_init: Tensor, initializer, its name or a number; None for HeUniform(sqrt(5)).
        bias_init: the same; None for uniform in 1 / sqrt(fan in).
        data_format: ``"NCHW"`` or ``"NHWC"``.
        dtype: of the Parameters.

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
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCHW",
        dtype: Any = float32,
    ) -> None:
        sizes, pads = (kernel_size, stride, dilation), (pad_mode, padding)
        inits = (weight_init, bias_init)
        rest = (group, has_bias, inits, data_format, dtype, 2)
        super().__init__(in_channels, out_channels, sizes, pads, *rest)
        self.conv2d = Conv2D(
            out_channel=out_channels,
            kernel_size=self.kernel_size,
            pad_mode=pad_mode,
            pad=self.padding,
            stride=self.stride,
            dilation=self.dilation,
            group=group,
            data_format=data_format,
        )
        self.bias_add = BiasAdd(data_format)

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, H, W)."""
        out = self.conv2d(x, self.weight)
        return out if self.bias is None else self.bias_add(out, self.bias)


class Conv1d(_Conv):
    """1-D convolution (MindSpore: ``nn.Conv1d``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int.
        stride: int.
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: int, with ``"pad"`` only.
        dilation: int.
        group: number of groups of channels.
        has_bias: whether there is a bias.
        weight_init: as in `Conv2d`.
        bias_init: as in `Conv2d`.
        dtype: of the Parameters.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: int,
        stride: int = 1,
        pad_mode: str = "same",
        padding: int = 0,
        dilation: int = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = float32,
    ) -> None:
        owner = type(self).__name__
        given = {"kernel_size": kernel_size, "stride": stride, "dilation": dilation}
        for name, value in {**given, "padding": padding}.items():
            checks.of_type(name, value, int, owner)
        checks.one_of("pad_mode", pad_mode, ("valid", "same", "pad"), owner)
        if padding and pad_mode != "pad":
            raise located(
                ValueError,
                f"For '{owner}', the 'padding' must be zero when 'pad_mode' is not 'pad', but got "
                f"'padding': {padding} and 'pad_mode': {pad_mode}.",
            )
        sizes, pads = (kernel_size, stride, dilation), (pad_mode, padding)
        inits = (weight_init, bias_init)
        rest = (group, has_bias, inits, "NCHW", dtype, 1)
        super().__init__(in_channels, out_channels, sizes, pads, *rest)

    def _weight_shape(self) -> tuple[int, ...]:
        # MindSpore: the weight has an axis of height 1, and so it lies in checkpoints.
        return (self.out_channels, self.in_channels // self.group, 1, *self.kernel_size)

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, W)."""
        weight = squeeze(self.weight, 2)
        options = (self.stride, self.pad_mode, self.padding, self.dilation, self.group)
        if self.bias is not None and isinstance(current.mixed, OpLists):
            # MindSpore: two operators, of which the second has the wider dtype.
            return bias_add(conv1d(x, weight, None, *options), self.bias)
        return conv1d(x, weight, self.bias, *options)


class Conv3d(_Conv):
    """3-D convolution (MindSpore: ``nn.Conv3d``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int or (depth, height, width).
        stride: int or (depth, height, width).
        pad_mode: ``"same"``, ``"valid"`` or ``"pad"``.
        padding: int or (head, tail, top, bottom, left, right), with ``"pad"`` only.
        dilation: int or (depth, height, width).
        group: number of groups of channels.
        has_bias: whether there is a bias.
        weight_init: as in `Conv2d`.
        bias_init: as in `Conv2d`.
        data_format: only ``"NCDHW"``.
        dtype: of the Parameters.

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
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCDHW",
        dtype: Any = float32,
    ) -> None:
        sizes, pads = (kernel_size, stride, dilation), (pad_mode, padding)
        inits = (weight_init, bias_init)
        rest = (group, has_bias, inits, data_format, dtype, 3)
        super().__init__(in_channels, out_channels, sizes, pads, *rest)
        self.conv3d = Conv3D(
            out_channel=out_channels,
            kernel_size=self.kernel_size,
            pad_mode=pad_mode,
            pad=self.padding,
            stride=self.stride,
            dilation=self.dilation,
            group=group,
            data_format=data_format,
        )
        self.bias_add = BiasAdd()

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, D, H, W)."""
        out = self.conv3d(x, self.weight)
        return out if self.bias is None else self.bias_add(out, self.bias)


class Conv2dTranspose(_Conv):
    """Transposed 2-D convolution (MindSpore: ``nn.Conv2dTranspose``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int or (height, width).
        stride: int or (height, width).
        pad_mode: ``"same"`` (output is input times stride), ``"valid"`` or ``"pad"``.
        padding: int or (top, bottom, left, right), taken off, with ``"pad"`` only.
        output_padding: int or (height, width), zeros at the far ends, with ``"pad"`` only.
        dilation: int or (height, width).
        group: number of groups of channels.
        has_bias: whether there is a bias.
        weight_init: as in `Conv2d`.
        bias_init: as in `Conv2d`.
        dtype: of the Parameters.

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
        output_padding: Any = 0,
        dilation: Any = 1,
        group: int = 1,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        dtype: Any = float32,
    ) -> None:
        owner = type(self).__name__
        checks.one_of("pad_mode", pad_mode, ("valid", "same", "pad"), owner)
        sizes, pads = (kernel_size, stride, dilation), (pad_mode, padding)
        inits = (weight_init, bias_init)
        rest = (group, has_bias, inits, "NCHW", dtype, 2)
        super().__init__(in_channels, out_channels, sizes, pads, *rest)
        checks.of_type("output_padding", output_padding, (int, tuple), owner)
        self.output_padding = output_padding
        extra = (output_padding,) * 2 if isinstance(output_padding, int) else output_padding
        edges = (padding,) * 4 if isinstance(padding, int) else tuple(padding)
        if len(edges) != 4 or len(extra) != 2:
            raise located(
                ValueError,
                f"For '{owner}', the 'padding' must have 4 and 'output_padding' 2 elements, but "
                f"got {padding} and {output_padding}.",
            )
        if pad_mode != "pad" and (any(edges) or any(extra)):
            raise located(
                ValueError,
                "For 'Conv2DTranspose', the 'pad' and 'output_padding' must be zero when "
                f"'pad_mode' is not \"pad\", but got 'pad' is {padding}, 'output_padding' is "
                f"{output_padding} and 'pad_mode' is {pad_mode} ('{owner}').",
            )
        for e, s, d in zip(extra, self.stride, self.dilation, strict=True):
            checks.int_in_range("output_padding", e, 0, max(s, d), owner)
        self._extra = (0, extra[1], 0, extra[0])
        self._pads, self._stretch = (edges, (0, 0)) if pad_mode == "pad" else self._automatic()

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.in_channels, self.out_channels // self.group, *self.kernel_size)

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, H, W) backwards."""
        options = (self.stride, self.dilation, self.group)
        out = transposed(x, self.weight, self._pads, self._stretch, *options)
        if self.bias is not None:
            out = bias_add(out, self.bias)
        # MindSpore: the output padding is zeros, put on after the bias.
        return pad(out, self._extra) if any(self._extra) else out

    def _automatic(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Give what makes the output input times stride, or lets every element through."""
        pads, extra = [], []
        for k, s, d in zip(self.kernel_size, self.stride, self.dilation, strict=True):
            # full output: (n - 1) s + reach; "same" wants n s, "valid" at least n s.
            more = d * (k - 1) + 1 - s
            cut = max(more, 0) if self.pad_mode == "same" else 0
            pads += [cut // 2, cut - cut // 2]
            extra.append(max(-more, 0))
        return tuple(pads), tuple(extra)
