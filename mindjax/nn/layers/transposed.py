"""Transposed convolutions of sequences and volumes."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.conv import _Conv
from mindjax.ops.conv import BiasAdd, bias_add, transposed
from mindjax.ops.shape import expand_dims, squeeze
from mindjax.ops.vision.convolution import Conv3DTranspose
from mindjax.tensor.tensor import Tensor


class Conv1dTranspose(_Conv):
    """Transposed 1-D convolution (MindSpore: ``nn.Conv1dTranspose``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int.
        stride: int.
        pad_mode: ``"same"`` (output is input times stride), ``"valid"`` or ``"pad"``.
        padding: int, taken off both ends, with ``"pad"`` only.
        dilation: int.
        group: number of groups of channels.
        has_bias: whether there is a bias.
        weight_init: as in `Conv2d`; a Tensor is (in, out / group, width).
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
        for name, value in given.items():
            checks.positive_int(name, value, owner)
        checks.non_negative_int("padding", padding, owner)
        checks.one_of("pad_mode", pad_mode, ("valid", "same", "pad"), owner)
        if padding and pad_mode != "pad":
            raise located(
                ValueError,
                f"For '{owner}', the 'padding' must be zero when 'pad_mode' is not 'pad', but got "
                f"'padding': {padding} and 'pad_mode': {pad_mode}.",
            )
        if isinstance(weight_init, Tensor):
            if len(weight_init.shape) != 3:
                raise located(
                    ValueError,
                    f"For '{owner}', the 'weight_init_shape' must be equal to 3, but got "
                    f"{len(weight_init.shape)}.",
                )
            weight_init = expand_dims(weight_init, 2)
        sizes, pads = (kernel_size, stride, dilation), (pad_mode, padding)
        rest = (group, has_bias, (weight_init, bias_init), "NCHW", dtype, 1)
        super().__init__(in_channels, out_channels, sizes, pads, *rest)
        more = dilation * (kernel_size - 1) + 1 - stride
        cut = max(more, 0) if pad_mode == "same" else 0
        self._pads = (padding, padding) if pad_mode == "pad" else (cut // 2, cut - cut // 2)
        self._stretch = (0 if pad_mode == "pad" else max(-more, 0),)

    def _weight_shape(self) -> tuple[int, ...]:
        # MindSpore: the weight has an axis of height 1, and so it lies in checkpoints.
        return (self.in_channels, self.out_channels // self.group, 1, *self.kernel_size)

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, W) backwards."""
        if len(x.shape) != 3:
            raise located(
                ValueError,
                f"For '{self.cls_name}', the dimension of input must be 3d, but got "
                f"{len(x.shape)}.",
            )
        options = (self.stride, self.dilation, self.group)
        out = transposed(x, squeeze(self.weight, 2), self._pads, self._stretch, *options)
        return out if self.bias is None else bias_add(out, self.bias)


class Conv3dTranspose(_Conv):
    """Transposed 3-D convolution (MindSpore: ``nn.Conv3dTranspose``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int or (depth, height, width).
        stride: int or (depth, height, width).
        pad_mode: ``"same"`` (output is input times stride), ``"valid"`` or ``"pad"``.
        padding: int or (head, tail, top, bottom, left, right), taken off, with ``"pad"`` only.
        dilation: int or (depth, height, width).
        group: number of groups of channels.
        output_padding: int or (depth, height, width), added at the far ends, with ``"pad"`` only.
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
        output_padding: Any = 0,
        has_bias: bool = False,
        weight_init: Any = None,
        bias_init: Any = None,
        data_format: str = "NCDHW",
        dtype: Any = float32,
    ) -> None:
        owner = type(self).__name__
        checks.of_type("padding", padding, (int, tuple), owner)
        if isinstance(padding, tuple) and len(padding) != 6:
            raise located(
                ValueError,
                f"For '{owner}', the 'padding size' must be equal to 6, but got {len(padding)}.",
            )
        checks.of_type("output_padding", output_padding, (int, tuple), owner)
        sizes, pads = (kernel_size, stride, dilation), (pad_mode, padding)
        rest = (group, has_bias, (weight_init, bias_init), data_format, dtype, 3)
        super().__init__(in_channels, out_channels, sizes, pads, *rest)
        extra = (output_padding,) * 3 if isinstance(output_padding, int) else output_padding
        self.output_padding = extra
        self.conv3d_transpose = Conv3DTranspose(
            in_channel=in_channels,
            out_channel=out_channels,
            kernel_size=self.kernel_size,
            mode=1,
            pad_mode=pad_mode,
            pad=padding,
            stride=self.stride,
            dilation=self.dilation,
            group=group,
            output_padding=extra,
            data_format=data_format,
        )
        self.bias_add = BiasAdd()

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.in_channels, self.out_channels // self.group, *self.kernel_size)

    def construct(self, x: Any) -> Any:
        """Convolve (N, C, D, H, W) backwards."""
        out = self.conv3d_transpose(x, self.weight)
        return out if self.bias is None else self.bias_add(out, self.bias)
