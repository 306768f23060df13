"""Convolution layers with torch's arguments."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.mint.nn import functional
from mindjax.nn.cell import Cell
from mindjax.tensor.initializer import HeUniform, Uniform, initializer
from mindjax.tensor.parameter import Parameter


class _ConvNd(Cell):
    """Convolution of any rank; `Conv2d` describes the arguments."""

    _count: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        super().__init__()
        dtype = float32 if dtype is None else dtype
        owner, count = self.cls_name, self._count
        self.in_channels = checks.positive_int("in_channels", in_channels, owner)
        self.out_channels = checks.positive_int("out_channels", out_channels, owner)
        self.kernel_size = checks.positive_ints("kernel_size", kernel_size, count, owner)
        self.stride = checks.positive_ints("stride", stride, count, owner)
        self.dilation = checks.positive_ints("dilation", dilation, count, owner)
        self.groups = checks.positive_int("groups", groups, owner)
        checks.boolean("bias", bias, owner)
        if padding_mode != "zeros":
            raise located(
                NotImplementedError,
                f"For '{owner}', 'padding_mode' {padding_mode!r} is not supported: pad with "
                "mint.nn.functional.pad first.",
            )
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            self.padding = checks.one_of("padding", padding, ("valid", "same"), owner)
        else:
            pads = (padding,) * count if isinstance(padding, int) else tuple(padding)
            self.padding = tuple(checks.non_negative_int("padding", p, owner) for p in pads)
        if in_channels % groups or out_channels % groups:
            raise located(
                ValueError,
                f"For '{owner}', 'in_channels' and 'out_channels' must be divisible by 'groups', "
                f"but got {in_channels}, {out_channels} and {groups}.",
            )
        shape = self._weight_shape()
        self.weight = Parameter(
            initializer(HeUniform(negative_slope=math.sqrt(5)), shape, dtype), name="weight"
        )
        self.bias = None
        if bias:
            bound = Uniform(scale=1 / math.sqrt(math.prod(shape[1:])))
            self.bias = Parameter(initializer(bound, (out_channels,), dtype), name="bias")

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.out_channels, self.in_channels // self.groups, *self.kernel_size)

    def extend_repr(self) -> str:
        """Name every argument."""
        return (
            f"input_channels={self.in_channels}, output_channels={self.out_channels}, "
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, groups={self.groups}, bias={self.bias is not None}"
        )


class Conv1d(_ConvNd):
    """1-D convolution (MindSpore: ``mint.nn.Conv1d``); the arguments are those of `Conv2d`."""

    _count = 1

    def construct(self, input: Any) -> Any:
        """Convolve (N, C, W) or (C, W)."""
        options = (self.stride, self.padding, self.dilation, self.groups)
        return functional.conv1d(input, self.weight, self.bias, *options)


class Conv2d(_ConvNd):
    """2-D convolution (MindSpore: ``mint.nn.Conv2d``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int or (height, width).
        stride: int or (height, width).
        padding: int, (height, width), ``"valid"`` or ``"same"``.
        dilation: int or (height, width).
        groups: number of groups of channels.
        bias: whether there is a bias.
        padding_mode: only ``"zeros"``.
        dtype: of the Parameters; None for Float32.

    Raises:
        NotImplementedError: another ``padding_mode``.
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    _count = 2

    def construct(self, input: Any) -> Any:
        """Convolve (N, C, H, W) or (C, H, W)."""
        options = (self.stride, self.padding, self.dilation, self.groups)
        return functional.conv2d(input, self.weight, self.bias, *options)


class Conv3d(_ConvNd):
    """3-D convolution (MindSpore: ``mint.nn.Conv3d``); the arguments are those of `Conv2d`."""

    _count = 3

    def construct(self, input: Any) -> Any:
        """Convolve (N, C, D, H, W) or (C, D, H, W)."""
        options = (self.stride, self.padding, self.dilation, self.groups)
        return functional.conv3d(input, self.weight, self.bias, *options)


class ConvTranspose2d(_ConvNd):
    """Transposed 2-D convolution (MindSpore: ``mint.nn.ConvTranspose2d``).

    Args:
        in_channels: channels of the input.
        out_channels: channels of the output.
        kernel_size: int or (height, width).
        stride: int or (height, width).
        padding: int or (height, width), taken off both ends.
        output_padding: int or (height, width), added at the far ends.
        groups: number of groups of channels.
        bias: whether there is a bias.
        dilation: int or (height, width).
        padding_mode: only ``"zeros"``.
        dtype: of the Parameters; None for Float32.

    Raises:
        NotImplementedError: another ``padding_mode``.
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    _count = 2

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        dtype: Any = None,
    ) -> None:
        sizes = (kernel_size, stride, padding, dilation, groups)
        super().__init__(in_channels, out_channels, *sizes, bias, padding_mode, dtype)
        if isinstance(padding, str):
            raise located(
                ValueError, f"For '{self.cls_name}', the 'padding' must be ints, got {padding!r}."
            )
        self.output_padding = output_padding

    def _weight_shape(self) -> tuple[int, ...]:
        return (self.in_channels, self.out_channels // self.groups, *self.kernel_size)

    def construct(self, input: Any, output_size: Any = None) -> Any:
        """Convolve (N, C, H, W) backwards.

        Args:
            input: (N, C, H, W).
            output_size: height and width of the output, in place of ``output_padding``.

        Returns:
            Tensor (N, out, H', W').
        """
        extra = self.output_padding
        if output_size is not None:
            extra = self._extra(input.shape[2:], tuple(output_size)[-2:])
        options = (self.stride, self.padding, extra, self.groups, self.dilation)
        return functional.conv_transpose2d(input, self.weight, self.bias, *options)

    def _extra(self, sizes: Any, wanted: tuple[int, ...]) -> tuple[int, ...]:
        extra = []
        for i, n in enumerate(sizes):
            reach = self.dilation[i] * (self.kernel_size[i] - 1) + 1
            least = (n - 1) * self.stride[i] - 2 * int(self.padding[i]) + reach
            if not least <= wanted[i] < least + self.stride[i]:
                raise located(
                    ValueError,
                    f"For '{self.cls_name}', the 'output_size' {wanted} cannot come from an input "
                    f"of sizes {tuple(sizes)}.",
                )
            extra.append(wanted[i] - least)
        return tuple(extra)
