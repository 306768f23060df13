"""Convolutions, their transposes and the addition of a bias."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import set_fields

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Pads = str | tuple[tuple[int, int], ...]

PAD_MODES = ("valid", "same", "pad")
# Layouts of (input, weight, output).
_LAYOUTS = {
    "NCW": ("NCH", "OIH", "NCH"),
    "NCHW": ("NCHW", "OIHW", "NCHW"),
    "NHWC": ("NHWC", "OHWI", "NHWC"),
    "NCDHW": ("NCDHW", "OIDHW", "NCDHW"),
}


def _plain_ints(name: str, value: Any, count: int, owner: str) -> tuple[int, ...]:
    """Bring a stride or dilation to one int an axis; MindIR writes leading ones for N and C."""
    if isinstance(value, tuple) and len(value) == count + 2 and value[:2] == (1, 1):
        value = value[2:]
    if isinstance(value, tuple) and len(value) not in (1, count):
        raise located(
            ValueError,
            f"For '{owner}' attr '{name}' must be an positive int number or a tuple of {count} "
            f"positive int numbers, but got {value}",
        )
    if isinstance(value, tuple) and len(value) == 1:
        value = value * count
    return checks.pool_sizes(name, value, count, owner)


def _pads(pad: Any, pad_mode: str, count: int, owner: str) -> tuple[int, ...]:
    """Bring 'pad' to two ints an axis, and check it against the mode."""
    checks.one_of("pad_mode", pad_mode, PAD_MODES, owner)
    checks.of_type("pad", pad, (int, tuple), owner)
    pads = (pad,) * (2 * count) if isinstance(pad, int) else pad
    if len(pads) != 2 * count:
        raise located(
            ValueError,
            f"For '{owner}', the 'pad size' must be int and must = {2 * count}, but got "
            f"'{len(pads)}' with type 'int'.",
        )
    for item in pads:
        checks.non_negative_int("pad item", item, owner)
    if pad_mode != "pad" and any(pads):
        raise located(
            ValueError,
            f"For '{owner}', the 'pad' must be zero when 'pad_mode' is not 'pad', but got 'pad': "
            f"{pad} and 'pad_mode': {pad_mode}.",
        )
    return tuple(pads)


def lax_padding(pad_mode: str, pads: tuple[int, ...]) -> Pads:
    """Translate a padding mode and two ints an axis to what lax takes."""
    if pad_mode != "pad":
        return pad_mode.upper()
    return tuple(zip(pads[::2], pads[1::2], strict=True))


def _convolve(
    record: Conv2D | Conv3D | _Conv1D, x: Array, weight: Array, pads: tuple[int, ...]
) -> Array:
    owner, layout = record.name, record.data_format
    kernel, stride, dilation = record.kernel_size, record.stride, record.dilation
    rank = len(kernel) + 2
    for name, array in (("x", x), ("weight", weight)):
        if array.ndim != rank:
            raise located(
                ValueError,
                f"For primitive[{owner}], the {name} shape size must be equal to {rank}, but got "
                f"{array.ndim}.",
            )
    checks.same_dtype(owner, x=x.dtype, weight=weight.dtype)
    names, kernel_names = _LAYOUTS[layout][:2]
    channels, inner = x.shape[names.index("C")], weight.shape[kernel_names.index("I")]
    if channels != inner * record.group:
        raise located(
            RuntimeError,
            f"For '{owner}', 'C_in' of input 'x' shape divide by parameter 'group' must be equal "
            f"to 'C_in' of input 'weight' shape: {inner}, but got 'C_in' of input 'x' shape: "
            f"{channels}, and 'group': {record.group}.",
        )
    if weight.shape[0] != record.out_channel:
        raise located(
            RuntimeError,
            f"For '{owner}', 'w_shape[0]' must be equal to 'out_channel', but got 'w_shape[0]': "
            f"{weight.shape[0]}, 'out_channel': {record.out_channel}.",
        )
    space = tuple(n for n, c in zip(weight.shape, kernel_names, strict=True) if c not in "OI")
    if space != kernel:
        raise located(
            RuntimeError,
            f"For '{owner}', the kernel of 'weight' must be equal to 'kernel_size', but got "
            f"'weight' shape: {weight.shape}, 'kernel_size': {kernel}.",
        )
    sizes = tuple(n for n, c in zip(x.shape, names, strict=True) if c not in "NC")
    if record.pad_mode != "same" and any(
        n + pads[2 * i] + pads[2 * i + 1] < dilation[i] * (kernel[i] - 1) + 1
        for i, n in enumerate(sizes)
    ):
        raise located(
            ValueError,
            f"For '{owner.replace('D', 'd')}', the input's sizes after padding must be greater "
            f"than or equal to those of the kernel, but got 'x' shape: {x.shape}, 'kernel_size': "
            f"{kernel}, 'pad': {pads}, 'dilation': {dilation}.",
        )
    return lax.conv_general_dilated(
        x,
        weight,
        window_strides=stride,
        padding=lax_padding(record.pad_mode, pads),
        rhs_dilation=dilation,
        dimension_numbers=_LAYOUTS[layout],
        feature_group_count=record.group,
    )


def _prepare(record: Any, count: int, formats: tuple[str, ...]) -> None:
    owner = record.name
    if record.mode != 1:
        raise located(
            ValueError,
            f"For '{owner}', the 'mode' must be int and must = 1, but got '{record.mode}' with "
            f"type '{type(record.mode).__name__}'.",
        )
    checks.one_of("format", record.data_format, formats, owner)
    checks.positive_int("out_channel", record.out_channel, owner)
    checks.positive_int("group", record.group, owner)
    set_fields(
        record,
        kernel_size=checks.pool_sizes("kernel_size", record.kernel_size, count, owner),
        stride=_plain_ints("stride", record.stride, count, owner),
        dilation=_plain_ints("dilation", record.dilation, count, owner),
        pad=_pads(record.pad, record.pad_mode, count, owner),
    )


class Conv2D(Primitive):
    """2-D convolution (MindSpore: ``ops.Conv2D``).

    Args:
        out_channel: number of output channels.
        kernel_size: int or (height, width).
        mode: only 1, cross-correlation.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        pad: int or (top, bottom, left, right), with ``"pad"`` only.
        stride: int or (height, width).
        dilation: int or (height, width).
        group: number of groups of channels.
        data_format: ``"NCHW"``, or ``"NHWC"`` with weights (out, height, width, in).
    """

    out_channel: int
    kernel_size: Any
    mode: int = 1
    pad_mode: str = "valid"
    pad: Any = 0
    stride: Any = 1
    dilation: Any = 1
    group: int = 1
    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        _prepare(self, 2, ("NCHW", "NHWC"))

    def compute(self, x: Array, weight: Array) -> Array:
        """Convolve.

        Args:
            x: (N, C, H, W).
            weight: (out, C / group, height, width), of the same dtype.

        Returns:
            (N, out, H', W').
        """
        return _convolve(self, x, weight, self.pad)


class _Conv1D(Primitive, register=False):
    """1-D convolution of (N, C, W)."""

    out_channel: int
    kernel_size: Any
    mode: int = 1
    pad_mode: str = "valid"
    pad: Any = 0
    stride: Any = 1
    dilation: Any = 1
    group: int = 1
    data_format: str = "NCW"

    def __post_init__(self) -> None:
        _prepare(self, 1, ("NCW",))

    @property
    def name(self) -> str:
        """The name in errors."""
        return "Conv1D"

    def compute(self, x: Array, weight: Array) -> Array:
        return _convolve(self, x, weight, self.pad)


class Conv3D(Primitive):
    """3-D convolution of (N, C, D, H, W) (MindSpore: ``ops.Conv3D``).

    Args:
        out_channel: number of output channels.
        kernel_size: int or (depth, height, width).
        mode: only 1, cross-correlation.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        pad: int or (head, tail, top, bottom, left, right), with ``"pad"`` only.
        stride: int or (depth, height, width).
        dilation: int or (depth, height, width).
        group: number of groups of channels.
        data_format: only ``"NCDHW"``.
    """

    out_channel: int
    kernel_size: Any
    mode: int = 1
    pad_mode: str = "valid"
    pad: Any = 0
    stride: Any = 1
    dilation: Any = 1
    group: int = 1
    data_format: str = "NCDHW"

    def __post_init__(self) -> None:
        _prepare(self, 3, ("NCDHW",))

    def compute(self, x: Array, weight: Array) -> Array:
        """Convolve (N, C, D, H, W) with (out, C / group, depth, height, width)."""
        return _convolve(self, x, weight, self.pad)


class _ConvTranspose(Primitive, register=False):
    """Gradient of a convolution with respect to its input, of any rank.

    Fields: two pads, one output pad, stride and dilation an axis; number of groups.
    """

    pads: tuple[int, ...]
    output_padding: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    group: int
    owner: str = "Conv2DTranspose"

    def compute(self, x: Array, weight: Array) -> Array:
        count = len(self.stride)
        if x.ndim != count + 2 or weight.ndim != count + 2:
            raise located(
                ValueError,
                f"For '{self.owner}', the ranks of 'x' and 'weight' must be {count + 2}, but got "
                f"'x' shape: {x.shape}, 'weight' shape: {weight.shape}.",
            )
        checks.same_dtype(self.owner, x=x.dtype, weight=weight.dtype)
        if x.shape[1] != weight.shape[0]:
            raise located(
                ValueError,
                f"For '{self.owner}', 'C_in' of input 'x' must be equal to the first size of "
                f"'weight', but got 'x' shape: {x.shape}, 'weight' shape: {weight.shape}.",
            )
        group, (channels, inner, *kernel) = self.group, weight.shape
        # (in, out / group, ...) -> (out, in / group, ...), turned round.
        turned = weight.reshape(group, channels // group, inner, *kernel).swapaxes(1, 2)
        turned = turned.reshape(group * inner, channels // group, *kernel)
        turned = lax.rev(turned, tuple(range(2, count + 2)))
        padding = []
        for i in range(count):
            reach = self.dilation[i] * (kernel[i] - 1)
            high = reach - self.pads[2 * i + 1] + self.output_padding[i]
            padding.append((reach - self.pads[2 * i], high))
        layout = {1: "NCW", 2: "NCHW", 3: "NCDHW"}[count]
        spread = self.stride
        if count == 3 and spread != (1, 1, 1):
            # XLA aborts at some of these when it swaps a small input and a larger kernel.
            between = [(0, 0, 0), (0, 0, 0), *((0, 0, s - 1) for s in spread)]
            x, spread = lax.pad(x, jnp.zeros((), x.dtype), between), (1, 1, 1)
        return lax.conv_general_dilated(
            x,
            turned,
            window_strides=(1,) * count,
            padding=padding,
            lhs_dilation=spread,
            rhs_dilation=self.dilation,
            dimension_numbers=_LAYOUTS[layout],
            feature_group_count=group,
        )


class Conv2DTranspose(Primitive):
    """Transposed 2-D convolution (MindSpore: ``ops.Conv2DTranspose``).

    Args:
        out_channel: number of channels of the first input.
        kernel_size: int or (height, width).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        pad: int or (top, bottom, left, right), with ``"pad"`` only.
        pad_list: the four pads, in place of ``pad``.
        mode: only 1, cross-correlation.
        stride: int or (height, width).
        dilation: int or (height, width).
        group: number of groups of channels.
        data_format: only ``"NCHW"``.
    """

    out_channel: int
    kernel_size: Any
    pad_mode: str = "valid"
    pad: Any = 0
    pad_list: Any = None
    mode: int = 1
    stride: Any = 1
    dilation: Any = 1
    group: int = 1
    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        if self.pad_list is not None:
            set_fields(self, pad=tuple(self.pad_list))
        _prepare(self, 2, ("NCHW",))

    def __call__(self, out_backprop: Any, weight: Any, input_sizes: Any) -> Tensor:
        """Convolve backwards.

        Args:
            out_backprop: (N, out_channel, H, W).
            weight: (out_channel, C / group, height, width).
            input_sizes: tuple of ints, (N, C, H', W'): the result's shape.

        Returns:
            Tensor of shape ``input_sizes``.

        Raises:
            ValueError: the shape cannot come from these attributes.
        """
        checks.tensors("Conv2DBackpropInput", out_backprop=out_backprop)
        sizes = checks.integers("input_sizes", input_sizes, "Conv2DBackpropInput")
        for name, rank in (("out_backprop", out_backprop.ndim), ("input_sizes", len(sizes))):
            if rank != 4:
                raise located(
                    ValueError, f"For '{self.name}', '{name}' must have 4 axes, but got {rank}."
                )
        pads, extra = [], []
        for i in range(2):
            reach = self.dilation[i] * (self.kernel_size[i] - 1) + 1
            full = (out_backprop.shape[i + 2] - 1) * self.stride[i] + reach
            if self.pad_mode == "same":
                total = max(full - sizes[i + 2], 0)
                low = total // 2
                high = total - low
            else:
                low, high = self.pad[2 * i : 2 * i + 2]
            more = sizes[i + 2] - (full - low - high)
            if not 0 <= more < self.stride[i] and more != 0:
                raise located(
                    ValueError,
                    f"For '{self.name}', the 'input_sizes' {sizes} do not fit 'out_backprop' of "
                    f"shape {tuple(out_backprop.shape)}.",
                )
            pads += [low, high]
            extra.append(more)
        record = _ConvTranspose(
            tuple(pads), tuple(extra), self.stride, self.dilation, self.group, self.name
        )
        return record(out_backprop, weight)


class Conv2DBackpropInput(Conv2DTranspose):
    """The same operator under its older name (MindSpore: ``ops.Conv2DBackpropInput``)."""


class BiasAdd(Primitive):
    """Addition of one number a channel (MindSpore: ``ops.BiasAdd``).

    Args:
        data_format: ``"NCHW"``, ``"NHWC"`` or ``"NCDHW"``.
    """

    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        checks.one_of("data_format", self.data_format, ("NCHW", "NHWC", "NCDHW"), "BiasAdd")

    def compute(self, x: Array, bias: Array) -> Array:
        """Add.

        Args:
            x: (N, C, ...), rank 2 to 5.
            bias: (C,), of the same dtype.

        Returns:
            The shape and dtype of ``x``.
        """
        if not 2 <= x.ndim <= 5:
            raise located(
                ValueError,
                f"For primitive[BiasAdd], the rank of input_x must be in [2,5], but got {x.ndim}.",
            )
        channel = x.ndim - 1 if self.data_format == "NHWC" else 1
        if bias.shape != (x.shape[channel],):
            raise located(
                ValueError,
                f"For 'BiasAdd', bias[0] shape should be equal to input_x[{channel}] shape when "
                f"data_format is {self.data_format}, but got bias shape: {bias.shape}, "
                f"input_shape: {x.shape}.",
            )
        checks.same_dtype("BiasAdd", input_x=x.dtype, bias=bias.dtype)
        return x + lax.broadcast_in_dim(bias, x.shape, (channel,))


_BIAS_ADD = BiasAdd()


def bias_add(input_x: Any, bias: Any) -> Tensor:
    """Add a bias to the channels of (N, C, ...) (MindSpore: ``ops.bias_add``).

    Args:
        input_x: (N, C, ...), rank 2 to 5.
        bias: (C,), of the same dtype.

    Returns:
        Tensor of the shape and dtype of ``input_x``.

    Raises:
        ValueError: the sizes differ.
    """
    return _BIAS_ADD(input_x, bias)


def _function_pads(padding: Any, pad_mode: str, count: int, owner: str) -> Any:
    """Bring 'padding' of a function, one int an axis, to two ints an axis."""
    checks.of_type("padding", padding, (int, tuple, list), owner)
    if isinstance(padding, int):
        return padding
    if len(padding) != count:
        raise located(
            ValueError,
            f"For '{owner}', the 'padding' must be an int or a tuple of {count} ints, but got "
            f"{padding}.",
        )
    pads = tuple(int(p) for p in padding for _ in range(2))
    return pads if pad_mode == "pad" or any(pads) else 0


def _conv(
    record: type[Conv2D] | type[Conv3D] | type[_Conv1D],
    owner: str,
    inputs: tuple[Any, Any, Any],
    stride: Any,
    pad_mode: str,
    padding: Any,
    dilation: Any,
    groups: int,
) -> Any:
    x, weight, bias = inputs
    count = {"conv1d": 1, "conv2d": 2, "conv3d": 3}[owner]
    checks.tensors(owner, input=x, weight=weight)
    shape = tuple(weight.shape)
    checks.positive_int("groups", groups, owner)
    if len(x.shape) > 1 and (x.shape[1] % groups or shape[0] % groups):
        raise located(
            ValueError,
            "The argument 'groups' should be divisible by 'in_channel' and 'out_channel', but "
            f"got group:{groups}, in_channel:{x.shape[1]}, out_channel:{shape[0]}.",
        )
    if bias is not None:
        checks.tensors(owner, bias=bias)
    if bias is not None and tuple(bias.shape) != shape[:1]:
        raise located(
            ValueError,
            f"For '{owner}', Given weight of size {shape}, expected bias to be 1-dimensional with "
            f"{shape[0]} elements, but got bias of shape {tuple(bias.shape)} instead.",
        )
    if len(shape) != count + 2:
        raise located(
            ValueError,
            f"For '{owner}', the 'weight' must have rank {count + 2}, but got shape {shape}.",
        )
    convolution = record(
        out_channel=shape[0],
        kernel_size=shape[2:],
        pad_mode=pad_mode,
        pad=_function_pads(padding, pad_mode, count, owner),
        stride=tuple(stride) if isinstance(stride, list) else stride,
        dilation=tuple(dilation) if isinstance(dilation, list) else dilation,
        group=groups,
    )
    out = convolution(x, weight)
    return out if bias is None else _BIAS_ADD(out, bias)


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve sequences (MindSpore: ``ops.conv1d``).

    Args:
        input: (N, C, W).
        weight: (out, C / groups, width).
        bias: (out,) or None.
        stride: int or (width,).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        padding: int or (width,), with ``"pad"`` only.
        dilation: int or (width,).
        groups: number of groups of channels.

    Returns:
        Tensor (N, out, W').

    Raises:
        RuntimeError: the channels do not fit.
        ValueError: another argument does not fit.
    """
    inputs = (input, weight, bias)
    return _conv(_Conv1D, "conv1d", inputs, stride, pad_mode, padding, dilation, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve images (MindSpore: ``ops.conv2d``).

    Args:
        input: (N, C, H, W).
        weight: (out, C / groups, height, width).
        bias: (out,) or None.
        stride: int or (height, width).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        padding: int or (height, width), with ``"pad"`` only.
        dilation: int or (height, width).
        groups: number of groups of channels.

    Returns:
        Tensor (N, out, H', W').

    Raises:
        RuntimeError: the channels do not fit.
        ValueError: another argument does not fit.
    """
    inputs = (input, weight, bias)
    return _conv(Conv2D, "conv2d", inputs, stride, pad_mode, padding, dilation, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    pad_mode: str = "valid",
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve volumes (MindSpore: ``ops.conv3d``).

    Args:
        input: (N, C, D, H, W), float.
        weight: (C_out, C / groups, kD, kH, kW).
        bias: (C_out,), or None.
        stride: step of the window, an int or three.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        padding: zeros around the input for ``"pad"``: an int, or one for each side or axis.
        dilation: distance of the window's elements, an int or three.
        groups: groups of channels that are convolved apart.

    Returns:
        Tensor (N, C_out, D_out, H_out, W_out).

    Raises:
        TypeError: an argument has another type.
        ValueError: the shapes do not fit, or an argument is out of range.
    """
    inputs = (input, weight, bias)
    return _conv(Conv3D, "conv3d", inputs, stride, pad_mode, padding, dilation, groups)


def transposed(
    x: Any,
    weight: Any,
    pads: tuple[int, ...],
    output_padding: tuple[int, ...],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
    group: int,
) -> Any:
    """Convolve backwards, with two pads and one output pad an axis.

    Args:
        x: (N, C, ...).
        weight: (C, out / group, ...).
        pads: what is taken off, two ints an axis.
        output_padding: what is added at the far end, one int an axis.
        stride: one int an axis.
        dilation: one int an axis.
        group: number of groups of channels.

    Returns:
        Tensor (N, out, ...).
    """
    return _ConvTranspose(pads, output_padding, stride, dilation, group)(x, weight)


def _each(name: str, value: Any, count: int, owner: str) -> tuple[int, ...]:
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must be an int or a tuple of {count} ints, but got "
            f"{value}.",
        )
    return tuple(checks.non_negative_int(name, v, owner) for v in values)


def conv_transpose2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    output_padding: Any = 0,
    groups: int = 1,
    dilation: Any = 1,
) -> Tensor:
    """Convolve images backwards (MindSpore: ``ops.conv_transpose2d``).

    Args:
        input: (N, C, H, W).
        weight: (C, out / groups, height, width).
        bias: (out,) or None.
        stride: int or (height, width).
        padding: int or (height, width), taken off both ends of the result.
        output_padding: int or (height, width), added at the far ends of the result.
        groups: number of groups of channels.
        dilation: int or (height, width).

    Returns:
        Tensor (N, out, H', W').

    Raises:
        ValueError: an argument does not fit.
    """
    owner = "conv_transpose2d"
    record = _ConvTranspose(
        tuple(p for p in _each("padding", padding, 2, owner) for _ in range(2)),
        _each("output_padding", output_padding, 2, owner),
        checks.positive_ints("stride", stride, 2, owner),
        checks.positive_ints("dilation", dilation, 2, owner),
        checks.positive_int("groups", groups, owner),
        owner,
    )
    out = record(input, weight)
    return out if bias is None else _BIAS_ADD(out, bias)
