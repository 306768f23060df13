"""Convolution layers."""

from __future__ import annotations

import math
from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.conv import BiasAdd, Conv2D, Conv3D, bias_add, conv1d, transposed
from mindjax.ops.shape import squeeze
from mindjax.tensor.initializer import HeUniform, Uniform, initializer
from mindjax.tensor.parameter import Parameter


class _Conv(Cell):
    """What the convolution layers share: checks, weights and their text."""

    def _prepare(
        self,
        in_channels: int,
        out_channels: int,
        sizes: tuple[Any, Any, Any],
        pad_mode: str,
        padding: Any,
        group: int,
        has_bias: bool,
        count: int,
    ) -> None:
        owner = self.cls_name
        self.in_channels = checks.positive_int("in_channels", in_channels, owner)
        self.out_channels = checks.positive_int("out_channels", out_channels, owner)
        kernel_size, stride, dilation = sizes
        self.kernel_size = checks.positive_ints("kernel_size", kernel_size, count, owner)
        self.stride = checks.positive_ints("stride", stride, count, owner)
        self.dilation = checks.positive_ints("dilation", dilation, count, owner)
        self.pad_mode = pad_mode
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
                "The argument 'group' should be divisible by 'in_channels' and 'out_channels', "
                f"but got group:{group}, in_channels:{in_channels}, out_channels:{out_channels}.",
            )
        self.has_bias = checks.boolean("has_bias", has_bias, owner)

    def _make_weights(
        self, shape: tuple[int, ...], fan_in: int, weight_init: Any, bias_init: Any, dtype: Any
    ) -> None:
        self.weight_init = HeUniform(math.sqrt(5)) if weight_init is None else weight_init
        self.weight = Parameter(initializer(self.weight_init, shape, dtype), name="weight")
        self.bias_init = bias_init
        self.bias = None
        if self.has_bias:
            if bias_init is None:
                self.bias_init = Uniform(1 / math.sqrt(fan_in))
            bias = initializer(self.bias_init, (self.out_channels,), dtype)
            self.bias = Parameter(bias, name="bias")

    def extend_repr(self) -> str:
        """Name every argument."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}, "
            f"padding={self.padding}, dilation={self.dilation}, group={self.group}, "
            f"has_bias={self.has_bias}, weight_init={self.weight_init}, "
            f"bias_init={self.bias_init}, format={getattr(self, 'data_format', 'NCHW')}"
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
        super().__init__()
        sizes = (kernel_size, stride, dilation)
        self._prepare(in_channels, out_channels, sizes, pad_mode, padding, group, has_bias, 2)
        self.data_format = data_format
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
        inner = in_channels // group
        shape = (out_channels, inner, *self.kernel_size)
        if data_format == "NHWC":
            shape = (out_channels, *self.kernel_size, inner)
        fan_in = inner * math.prod(self.kernel_size)
        self._make_weights(shape, fan_in, weight_init, bias_init, dtype)

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
        super().__init__()
        given = {"kernel_size": kernel_size, "stride": stride, "dilation": dilation}
        for name, value in {**given, "padding": padding}.items():
            checks.of_type(name, value, int, self.cls_name)
        sizes = (kernel_size, stride, dilation)
        self._prepare(in_channels, out_channels, sizes, pad_mode, padding, group, has_bias, 1)
        checks.one_of("pad_mode", pad_mode, ("valid", "same", "pad"), self.cls_name)
        if padding and pad_mode != "pad":
            raise located(
                ValueError,
                f"For '{self.cls_name}', the 'padding' must be zero when 'pad_mode' is not 'pad', "
                f"but got 'padding': {padding} and 'pad_mode': {pad_mode}.",
            )
        # MindSpore: the weight has an axis of height 1, and so it lies in checkpoints.
        shape = (out_channels, in_channels // group, 1, kernel_size)
        fan_in = in_channels // group * kernel_size
        self._make_weights(shape, fan_in, weight_init, bias_init, dtype)

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, W)."""
        weight = squeeze(self.weight, 2)
        options = (self.stride, self.pad_mode, self.padding, self.dilation, self.group)
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
        super().__init__()
        sizes = (kernel_size, stride, dilation)
        self._prepare(in_channels, out_channels, sizes, pad_mode, padding, group, has_bias, 3)
        self.data_format = data_format
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
        shape = (out_channels, in_channels // group, *self.kernel_size)
        self._make_weights(shape, math.prod(shape[1:]), weight_init, bias_init, dtype)

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
        output_padding: int or (height, width), added at the far ends, with ``"pad"`` only.
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
        super().__init__()
        owner = self.cls_name
        sizes = (kernel_size, stride, dilation)
        self._prepare(in_channels, out_channels, sizes, pad_mode, padding, group, has_bias, 2)
        checks.one_of("pad_mode", pad_mode, ("valid", "same", "pad"), owner)
        self.output_padding = output_padding
        extra = (output_padding,) * 2 if isinstance(output_padding, int) else tuple(output_padding)
        pads = (padding,) * 4 if isinstance(padding, int) else tuple(padding)
        if pad_mode != "pad" and (any(pads) or any(extra)):
            raise located(
                ValueError,
                f"For '{owner}', the 'padding' and 'output_padding' must be zero when 'pad_mode' "
                f"is not \"pad\", but got 'padding' is {padding}, 'output_padding' is "
                f"{output_padding} and 'pad_mode' is {pad_mode}.",
            )
        if len(pads) != 4 or len(extra) != 2:
            raise located(
                ValueError,
                f"For '{owner}', the 'padding' must have 4 and 'output_padding' 2 elements, but "
                f"got {padding} and {output_padding}.",
            )
        self._pads, self._extra = pads, extra
        shape = (in_channels, out_channels // group, *self.kernel_size)
        fan_in = math.prod(shape[1:])
        self._make_weights(shape, fan_in, weight_init, bias_init, dtype)

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, H, W) backwards."""
        pads, extra = self._pads, self._extra
        if self.pad_mode != "pad":
            pads, extra = self._automatic()
        out = transposed(x, self.weight, pads, extra, self.stride, self.dilation, self.group)
        return out if self.bias is None else bias_add(out, self.bias)

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
