"""Convolutions of other kinds: deformable, depthwise, transposed in volumes, and by maxima."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import set_fields
from mindjax.ops.conv import Conv2D, bias_add, lax_padding, transposed
from mindjax.ops.pooling import lowest
from mindjax.ops.shape import shape_of
from mindjax.ops.vision.sampling import sample

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Sizes = tuple[int, ...]


def _each(name: str, value: Any, count: int, owner: str, low: int) -> Sizes:
    """Check an int, or a tuple of ``count`` ints, from a bound up."""
    checks.of_type(name, value, (int, tuple), owner)
    values = (value,) * count if isinstance(value, int) else value
    if len(values) != count:
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must be an int or a tuple of {count} ints, but got "
            f"{value}.",
        )
    return tuple(checks.int_at_least(name, v, low, owner) for v in values)


class Conv3DTranspose(Primitive):
    """Transposed convolution of volumes (MindSpore: ``ops.Conv3DTranspose``).

    Args:
        in_channel: number of channels of the input.
        out_channel: number of channels of the result.
        kernel_size: int or (depth, height, width).
        mode: only 1, cross-correlation.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        pad: int or (head, tail, top, bottom, left, right), with ``"pad"`` only.
        stride: int or (depth, height, width).
        dilation: int or (depth, height, width).
        group: number of groups of channels.
        output_padding: int or (depth, height, width), added at the far ends; with ``"pad"`` only.
        data_format: only ``"NCDHW"``.
    """

    in_channel: int
    out_channel: int
    kernel_size: Any
    mode: int = 1
    pad_mode: str = "valid"
    pad: Any = 0
    stride: Any = 1
    dilation: Any = 1
    group: int = 1
    output_padding: Any = 0
    data_format: str = "NCDHW"

    def __post_init__(self) -> None:
        owner = "Conv3DTranspose"
        for name in ("in_channel", "out_channel", "group"):
            checks.positive_int(name, getattr(self, name), owner)
        if self.mode != 1:
            raise located(ValueError, f"For '{owner}', the 'mode' must be 1, but got {self.mode}.")
        checks.of_type("pad_mode", self.pad_mode, str, owner)
        mode = checks.one_of("pad_mode", self.pad_mode.lower(), ("valid", "same", "pad"), owner)
        checks.one_of("data_format", self.data_format, ("NCDHW",), owner)
        values = {
            "kernel_size": _each("kernel_size", self.kernel_size, 3, owner, 1),
            "stride": _each("stride", self.stride, 3, owner, 1),
            "dilation": _each("dilation", self.dilation, 3, owner, 1),
            "pad": _each("pad", self.pad, 6, owner, 0),
            "output_padding": _each("output_padding", self.output_padding, 3, owner, 0),
        }
        for name in ("pad", "output_padding"):
            if mode != "pad" and any(values[name]):
                raise located(
                    ValueError,
                    f"For '{owner}', the '{name}' must be zero when 'pad_mode' is not \"pad\", but "
                    f"got '{name}' is {getattr(self, name)} and 'pad_mode' is {self.pad_mode}.",
                )
        for extra, s, d in zip(
            values["output_padding"], values["stride"], values["dilation"], strict=True
        ):
            checks.int_in_range("output_padding", extra, 0, max(s, d), owner)
        set_fields(self, pad_mode=mode, **values)

    def __call__(self, dout: Any, weight: Any, bias: Any = None) -> Tensor:
        """Convolve (N, in, D, H, W) backwards with (in, out / group, depth, height, width).

        Raises:
            ValueError: a shape does not fit.
            NotImplementedError: a bias is given, which the original does not take either.
        """
        owner = self.name
        if bias is not None:
            raise located(
                NotImplementedError,
                f"For '{owner}', only None is supported as 'bias', but got a "
                f"'{type(bias).__name__}': add it to the result.",
            )
        shape = shape_of(dout)
        if len(shape) != 5 or len(shape_of(weight)) != 5:
            raise located(
                ValueError,
                f"For '{owner}', the ranks of 'dout' and 'weight' must be 5, but got shapes "
                f"{shape} and {shape_of(weight)}.",
            )
        pads, extra = list(self.pad), list(self.output_padding)
        if self.pad_mode != "pad":
            for i, (k, s, d) in enumerate(
                zip(self.kernel_size, self.stride, self.dilation, strict=True)
            ):
                spare = d * (k - 1) + 1 - s
                cut = max(spare, 0) if self.pad_mode == "same" else 0
                pads[2 * i], pads[2 * i + 1] = cut // 2, cut - cut // 2
                # MindSpore: at least the input's size times the stride.
                extra[i] = max(-spare, 0)
        window = (tuple(pads), tuple(extra), self.stride, self.dilation, self.group)
        return transposed(dout, weight, *window)


def conv3d_transpose(
    inputs: Any,
    weight: Any,
    pad_mode: str = "valid",
    padding: Any = 0,
    stride: Any = 1,
    dilation: Any = 1,
    group: int = 1,
    output_padding: Any = 0,
) -> Tensor:
    """Convolve volumes backwards (MindSpore: ``ops.conv3d_transpose``).

    Args:
        inputs: (N, C, D, H, W).
        weight: (C, out / group, depth, height, width).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        padding: int or (head, tail, top, bottom, left, right), with ``"pad"`` only.
        stride: int or (depth, height, width).
        dilation: int or (depth, height, width).
        group: number of groups of channels.
        output_padding: int or (depth, height, width), with ``"pad"`` only.

    Returns:
        Tensor (N, out, D', H', W').

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value or shape does not fit.
    """
    shape = shape_of(weight)
    if len(shape) != 5:
        raise located(
            ValueError, f"For 'conv3d_transpose', the rank of 'weight' must be 5, not {len(shape)}."
        )
    record = Conv3DTranspose(
        shape[0],
        shape[1] * group,
        shape[2:],
        1,
        pad_mode,
        padding,
        stride,
        dilation,
        group,
        output_padding,
    )
    return record(inputs, weight)


class DepthwiseConv2dNative(Primitive):
    """Convolution of every channel alone (MindSpore: ``ops.DepthwiseConv2dNative``).

    Args:
        channel_multiplier: number of output channels of an input channel.
        kernel_size: int or (height, width).
        mode: only 3, depthwise.
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``.
        pad: int or (top, bottom, left, right), with ``"pad"`` only.
        stride: int or (height, width).
        dilation: int or (height, width).
        group: only 1; every channel is a group of its own.
    """

    channel_multiplier: int
    kernel_size: Any
    mode: int = 3
    pad_mode: str = "valid"
    pad: Any = 0
    stride: Any = 1
    dilation: Any = 1
    group: int = 1

    def __post_init__(self) -> None:
        owner = "DepthwiseConv2dNative"
        checks.positive_int("channel_multiplier", self.channel_multiplier, owner)
        for name, only in (("mode", 3), ("group", 1)):
            if getattr(self, name) != only:
                raise located(
                    ValueError,
                    f"For '{owner}', the '{name}' must be {only}, but got {getattr(self, name)}.",
                )
        # Checks the window.
        self._convolution(1)

    def _convolution(self, channels: int) -> Conv2D:
        return Conv2D(
            self.channel_multiplier * channels,
            self.kernel_size,
            pad_mode=self.pad_mode,
            pad=self.pad,
            stride=self.stride,
            dilation=self.dilation,
            group=channels,
        )

    def compute(self, x: Array, weight: Array) -> Array:
        """Convolve (N, C, H, W) with (multiplier, C, height, width) to (N, C * multiplier, ...)."""
        if x.ndim != 4 or weight.ndim != 4 or weight.shape[1] != x.shape[1]:
            raise located(
                ValueError,
                f"For '{self.name}', 'x' must be (N, C, H, W) and 'weight' (multiplier, C, height, "
                f"width), but got shapes {x.shape} and {weight.shape}.",
            )
        rows = jnp.swapaxes(weight, 0, 1).reshape(-1, 1, *weight.shape[2:])
        return self._convolution(x.shape[1]).compute(x, rows)


def _spatial(name: str, value: Any, owner: str) -> Sizes:
    """Check an int, two, or four that begin with ones."""
    checks.of_type(name, value, (int, tuple), owner)
    values = (value,) * 2 if isinstance(value, int) else value
    if len(values) == 4 and values[:2] == (1, 1):
        values = values[2:]
    if len(values) != 2 or not all(type(v) is int and v > 0 for v in values):
        raise located(
            ValueError,
            f"For '{owner}' attr '{name}' should be an positive int number or a tuple of two or "
            f"four positive int numbers, but got {value}",
        )
    return values


class Dilation2D(Primitive):
    """Grayscale dilation: maxima of sums with a filter (MindSpore: ``ops.Dilation2D``).

    Args:
        stride: int, (height, width) or (1, 1, height, width).
        dilation: int, (height, width) or (1, 1, height, width).
        pad_mode: ``"SAME"`` or ``"VALID"``, in either case.
        data_format: only ``"NCHW"``.
    """

    stride: Any
    dilation: Any
    pad_mode: str = "SAME"
    data_format: str = "NCHW"

    def __post_init__(self) -> None:
        owner = "Dilation2D"
        checks.one_of("data_format", self.data_format, ("NCHW",), owner)
        checks.one_of("pad_mode", self.pad_mode, ("VALID", "SAME", "valid", "same"), owner)
        stride = _spatial("stride", self.stride, owner)
        if max(stride) > 255:
            raise located(
                ValueError, f"For '{owner}', the 'stride' must be in [1, 255], but got {stride}."
            )
        set_fields(
            self,
            pad_mode=self.pad_mode.upper(),
            stride=stride,
            dilation=_spatial("dilation", self.dilation, owner),
        )

    def compute(self, x: Array, filter: Array) -> Array:
        """Dilate (N, C, H, W) by (C, height, width)."""
        owner = "Dilation2D"
        checks.same_dtype(owner, x=x.dtype, filter=filter.dtype)
        if from_np(x.dtype).kind not in ("float", "int", "uint"):
            raise located(
                TypeError, f"For '{owner}', the dtype {from_np(x.dtype)} of 'x' is not supported."
            )
        if x.ndim != 4 or filter.ndim != 3 or filter.shape[0] != x.shape[1]:
            raise located(
                ValueError,
                f"For '{owner}', 'x' must be (N, C, H, W) and 'filter' (C, height, width), but got "
                f"shapes {x.shape} and {filter.shape}.",
            )
        kernel = filter.shape[1:]
        reach = tuple(d * (k - 1) + 1 for k, d in zip(kernel, self.dilation, strict=True))
        edges = [(0, 0), (0, 0)]
        if self.pad_mode == "SAME":
            edges = [
                (int(a), int(b))
                for a, b in lax.padtype_to_pads(x.shape[2:], reach, self.stride, "SAME")
            ]
        sizes = [n + a + b for n, (a, b) in zip(x.shape[2:], edges, strict=True)]
        out = [(n - r) // s + 1 for n, r, s in zip(sizes, reach, self.stride, strict=True)]
        if min(out) < 1:
            raise located(
                ValueError,
                f"For '{owner}', the output's sizes must be above 0, but got {out} for 'x' of "
                f"shape {x.shape} and 'filter' of shape {filter.shape}.",
            )
        least = lowest(x.dtype)
        full = [(0, 0, 0)] * 2 + [(a, b, 0) for a, b in edges]
        padded = lax.pad(x, least, full)
        inside = lax.pad(jnp.ones(x.shape, np.bool_), np.False_, full)
        best = None
        for i, j in itertools.product(range(kernel[0]), range(kernel[1])):
            start = (0, 0, i * self.dilation[0], j * self.dilation[1])
            stop = [
                a + (n - 1) * s + 1 for a, n, s in zip(start[2:], out, self.stride, strict=True)
            ]
            steps = (1, 1, *self.stride)
            part = lax.slice(padded, start, (*x.shape[:2], *stop), steps)
            here = lax.slice(inside, start, (*x.shape[:2], *stop), steps)
            term = jnp.where(here, part + filter[:, i, j][:, None, None], least)
            best = term if best is None else jnp.maximum(best, term)
        assert best is not None
        return best


def _four(name: str, value: Any, owner: str, low: int) -> Sizes:
    checks.of_type(name, value, tuple, owner)
    return _each(name, value, 4, owner, low)


class DeformableOffsets(Primitive):
    """Samples of images at moved places (Dai 2017, Zhu 2019; MindSpore: ``ops.DeformableOffsets``).

    Args:
        strides: (1, 1, height, width).
        pads: (top, bottom, left, right).
        ksize: (height, width) of the kernel.
        dilations: (1, 1, height, width).
        data_format: only ``"NCHW"``.
        deformable_groups: number of groups of channels that have places of their own.
        modulated: only True: samples are weighed by a mask.
    """

    strides: Any
    pads: Any
    ksize: Any
    dilations: Any = (1, 1, 1, 1)
    data_format: str = "NCHW"
    deformable_groups: int = 1
    modulated: bool = True

    def __post_init__(self) -> None:
        owner = "DeformableOffsets"
        checks.one_of("data_format", self.data_format, ("NCHW",), owner)
        for name in ("strides", "dilations"):
            values = _four(name, getattr(self, name), owner, 1)
            if values[:2] != (1, 1):
                raise located(
                    ValueError, f"For '{owner}', the '{name}' must begin with (1, 1), not {values}."
                )
        _four("pads", self.pads, owner, 0)
        checks.of_type("ksize", self.ksize, tuple, owner)
        _each("ksize", self.ksize, 2, owner, 1)
        checks.positive_int("deformable_groups", self.deformable_groups, owner)
        if checks.boolean("modulated", self.modulated, owner) is False:
            raise located(
                ValueError, f"For '{owner}', the 'modulated' must be set to True, but got False."
            )

    def compute(self, x: Array, offsets: Array) -> Array:
        """Sample (N, C, H, W).

        Args:
            x: (N, C, H, W).
            offsets: (N, 3 * groups * height * width, H', W'): columns, rows, masks.

        Returns:
            (N, C, H' * height, W' * width), to be convolved with strides of the kernel's size.
        """
        owner = "DeformableOffsets"
        checks.floating("x", x.dtype, owner)
        checks.same_dtype(owner, x=x.dtype, offsets=offsets.dtype)
        if x.ndim != 4 or offsets.ndim != 4:
            raise located(
                ValueError,
                f"For '{owner}', the ranks of 'x' and 'offsets' must be 4, but got shapes "
                f"{x.shape} and {offsets.shape}.",
            )
        (kh, kw), groups = self.ksize, self.deformable_groups
        (sh, sw), (dh, dw) = self.strides[2:], self.dilations[2:]
        top, bottom, left, right = self.pads
        n, channels, height, width = x.shape
        rows = (height + top + bottom - (kh - 1) * dh - 1) // sh + 1
        columns = (width + left + right - (kw - 1) * dw - 1) // sw + 1
        if channels % groups or offsets.shape != (n, 3 * groups * kh * kw, rows, columns):
            raise located(
                ValueError,
                f"For '{owner}', 'offsets' must be {(n, 3 * groups * kh * kw, rows, columns)} and "
                f"the groups must divide the channels, but got shapes {offsets.shape} and "
                f"{x.shape} and {groups} groups.",
            )
        wide = jnp.promote_types(x.dtype, np.float32)
        parts = offsets.astype(wide).reshape(n, 3, groups, kh, kw, rows, columns)
        base_y = np.arange(kh)[:, None, None, None] * dh + np.arange(rows)[:, None] * sh - top
        base_x = np.arange(kw)[:, None, None] * dw + np.arange(columns) * sw - left
        y = parts[:, 1] + jnp.asarray(base_y, wide)
        across = parts[:, 0] + jnp.asarray(base_x, wide)
        images = x.astype(wide).reshape(n, groups, channels // groups, height, width)

        def one(image: Array, y: Array, x: Array, mask: Array) -> Array:
            low = [lax.stop_gradient(jnp.floor(y)), lax.stop_gradient(jnp.floor(x))]
            return sample(image, low, [y - low[0], x - low[1]]) * mask

        taken = jax.vmap(jax.vmap(one))(images, y, across, parts[:, 2])
        # (N, groups, C / groups, kh, kw, H', W') -> rows of windows and of their elements.
        moved = taken.transpose(0, 1, 2, 5, 3, 6, 4)
        return moved.reshape(n, channels, rows * kh, columns * kw).astype(x.dtype)


def deformable_conv2d(
    x: Any,
    weight: Any,
    offsets: Any,
    kernel_size: Any,
    strides: Any,
    padding: Any,
    bias: Any = None,
    dilations: Any = (1, 1, 1, 1),
    groups: int = 1,
    deformable_groups: int = 1,
    modulated: bool = True,
) -> Tensor:
    """Convolve images at moved places (Dai 2017, Zhu 2019; MindSpore: ``ops.deformable_conv2d``).

    Args:
        x: (N, C, H, W).
        weight: (out, C / groups, height, width).
        offsets: (N, 3 * deformable_groups * height * width, H', W'): columns, rows, masks.
        kernel_size: (height, width).
        strides: (1, 1, height, width).
        padding: (top, bottom, left, right).
        bias: (out,) or None.
        dilations: (1, 1, height, width).
        groups: number of groups of channels of the convolution.
        deformable_groups: number of groups of channels that have places of their own.
        modulated: only True: samples are weighed by a mask.

    Returns:
        Tensor (N, out, H', W').

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value or shape does not fit.
    """
    record = DeformableOffsets(
        strides, padding, kernel_size, dilations, "NCHW", deformable_groups, modulated
    )
    checks.tensors("deformable_conv2d", weight=weight)
    samples = record(x, offsets)
    convolution = Conv2D(shape_of(weight)[0], kernel_size, 1, "pad", 0, kernel_size, 1, groups)
    out = convolution(samples, weight)
    return out if bias is None else bias_add(out, bias)


def conv_tbc(input: Any, weight: Any, bias: Any, pad: int = 0) -> Any:
    """Convolve sequences with time first; the convolution of `mint.conv_tbc`."""
    return _TimeFirst(checks.non_negative_int("pad", pad, "conv_tbc"))(input, weight, bias)


class _TimeFirst(Primitive, register=False):
    """Convolution of (time, batch, channels)."""

    pad: int

    def compute(self, x: Array, weight: Array, bias: Array) -> Array:
        for name, array, rank in (("input", x, 3), ("weight", weight, 3), ("bias", bias, 1)):
            if array.ndim != rank:
                raise located(
                    ValueError,
                    f"For 'conv_tbc', the rank of '{name}' must be {rank}, but got {array.ndim}.",
                )
        if x.shape[2] != weight.shape[1] or weight.shape[2:] != bias.shape:
            raise located(
                ValueError,
                "For 'conv_tbc', the channels must agree, but got 'input', 'weight' and 'bias' of "
                f"shapes {x.shape}, {weight.shape} and {bias.shape}.",
            )
        checks.same_dtype("conv_tbc", input=x.dtype, weight=weight.dtype, bias=bias.dtype)
        out = lax.conv_general_dilated(
            x,
            weight,
            (1,),
            lax_padding("pad", (self.pad, self.pad)),
            dimension_numbers=("HNC", "HIO", "HNC"),
        )
        return out + bias
