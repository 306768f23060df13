"""Layers of windows, regions and blocks of images and volumes."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.resize import interpolate
from mindjax.ops.shape import expand_dims, squeeze
from mindjax.ops.vision import fractional, patches, pooling3d, rearrange, unpooling


class Unfold(Cell):
    """Sliding blocks of images in the channels (MindSpore: ``nn.Unfold``).

    Args:
        ksizes: [1, height, width, 1] of a block.
        strides: [1, height, width, 1].
        rates: [1, height, width, 1], distance of a block's elements.
        padding: ``"valid"`` or ``"same"``, in either case.

    Raises:
        TypeError: a size is neither tuple nor list.
        ValueError: a size has another form.
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        sizes, steps = self._inner("ksize", ksizes), self._inner("stride", strides)
        distances = self._inner("rate", rates)
        self.extract_image_patches = patches.ExtractImagePatches(sizes, steps, distances, padding)

    def _inner(self, name: str, value: Any) -> tuple[int, ...]:
        checks.of_type(f"{name}s", value, (tuple, list), self.cls_name)
        inner = tuple(value[1:3])
        form = len(value) == 4 and value[0] == value[3] == 1
        if not form or not all(type(v) is int and v > 0 for v in inner):
            raise located(
                ValueError,
                f"For '{self.cls_name}' the format of '{name}s' must be [1, {name}_row, "
                f"{name}_col, 1] with positive ints, but got {value}.",
            )
        return (1, 1, *inner)

    def construct(self, input_x: Any) -> Any:
        """Turn (N, C, H, W) into (N, height * width * C, H', W')."""
        return self.extract_image_patches(input_x)


class PixelShuffle(Cell):
    """Channels moved into space (Shi 2016; MindSpore: ``nn.PixelShuffle``).

    Args:
        upscale_factor: r.
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, input: Any) -> Any:
        """Turn (..., C * r * r, H, W) into (..., C, H * r, W * r)."""
        return rearrange.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Cell):
    """Space moved into channels (Shi 2016; MindSpore: ``nn.PixelUnshuffle``).

    Args:
        downscale_factor: r.
    """

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def construct(self, input: Any) -> Any:
        """Turn (..., C, H * r, W * r) into (..., C * r * r, H, W)."""
        return rearrange.pixel_unshuffle(input, self.downscale_factor)


class ChannelShuffle(Cell):
    """Channels interleaved over groups (Zhang 2018; MindSpore: ``nn.ChannelShuffle``).

    Args:
        groups: number of groups.
    """

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups
        self.shuffle = rearrange.ChannelShuffle(groups)

    def construct(self, x: Any) -> Any:
        """Shuffle (..., C, H, W)."""
        return self.shuffle(x)


class Upsample(Cell):
    """Sequences, images or volumes of another size (MindSpore: ``nn.Upsample``).

    Args:
        size: sizes of the output, an int or one a spatial axis.
        scale_factor: factor of every size, or one a spatial axis, in place of ``size``.
        mode: as in `ops.interpolate`.
        align_corners: the corners of both grids coincide.
        recompute_scale_factor: take the ratio of the sizes in place of ``scale_factor`` itself.
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.size, self.scale_factor, self.mode = size, scale_factor, mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def construct(self, x: Any) -> Any:
        """Resize."""
        flags = (self.mode, self.align_corners, self.recompute_scale_factor)
        return interpolate(x, self.size, self.scale_factor, *flags)


def _each(op: Any, x: Any) -> Any:
    """Run an op of batches of volumes on a batch, or on a single sample."""
    if len(x.shape) != 4:
        return op(x)
    out = op(expand_dims(x, 0))
    if isinstance(out, tuple):
        return tuple(squeeze(o, 0) for o in out)
    return squeeze(out, 0)


def _six(padding: Any, owner: str) -> Any:
    """Give three pads as six."""
    if isinstance(padding, tuple | list) and len(padding) == 3:
        pads = [checks.non_negative_int("padding", p, owner) for p in padding]
        return tuple(p for p in pads for _ in range(2))
    if isinstance(padding, tuple | list):
        raise located(
            ValueError,
            f"For '{owner}', the 'padding' must be an int or a tuple of 3 ints, but got {padding}.",
        )
    return checks.non_negative_int("padding", padding, owner)


class MaxPool3d(Cell):
    """Maxima over windows of volumes (MindSpore: ``nn.MaxPool3d``).

    Args:
        kernel_size: int or (depth, height, width).
        stride: int or (depth, height, width).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``, in either case.
        padding: int or (depth, height, width), with ``"pad"`` only, like the next three.
        dilation: int or (depth, height, width).
        return_indices: give the places of the maxima too.
        ceil_mode: count windows that only begin inside.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        owner = self.cls_name
        self.kernel_size, self.stride, self.pad_mode = kernel_size, stride, pad_mode
        self.return_indices = checks.boolean("return_indices", return_indices, owner)
        checks.of_type("pad_mode", pad_mode, str, owner)
        self.only_pad = return_indices or dilation not in (1, (1, 1, 1))
        if not self.only_pad:
            ceil = True if ceil_mode else None
            pads = _six(padding, owner)
            self.max_pool = pooling3d.MaxPool3D(kernel_size, stride, pad_mode, pads, ceil)
            return
        if pad_mode.upper() != "PAD":
            raise located(
                ValueError,
                f"For {owner}, the pad_mode must be 'pad' when dilation is not 1 or return_indices "
                f"is True, but got pad_mode:{pad_mode}.",
            )
        window = (kernel_size, stride, padding, dilation, ceil_mode)
        self.max_pool = pooling3d.MaxPool3DWithArgmax(*window)

    def construct(self, x: Any) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        out = _each(self.max_pool, x)
        return out[0] if self.only_pad and not self.return_indices else out

    def extend_repr(self) -> str:
        """Name the window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class AvgPool3d(Cell):
    """Averages over windows of volumes (MindSpore: ``nn.AvgPool3d``).

    Args:
        kernel_size: int or (depth, height, width).
        stride: int or (depth, height, width).
        pad_mode: ``"valid"``, ``"same"`` or ``"pad"``, in either case.
        padding: int or (depth, height, width), with ``"pad"`` only.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by, or None.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: a value does not fit.
    """

    def __init__(
        self,
        kernel_size: Any = 1,
        stride: Any = 1,
        pad_mode: str = "valid",
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.pad_mode = kernel_size, stride, pad_mode
        if divisor_override is not None:
            checks.positive_int("divisor_override", divisor_override, self.cls_name)
        self.avg_pool = pooling3d.AvgPool3D(
            kernel_size,
            stride,
            pad_mode,
            _six(padding, self.cls_name),
            ceil_mode,
            count_include_pad,
            divisor_override or 0,
        )

    def construct(self, x: Any) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return _each(self.avg_pool, x)

    def extend_repr(self) -> str:
        """Name the window."""
        return f"kernel_size={self.kernel_size}, stride={self.stride}, pad_mode={self.pad_mode}"


class AdaptiveAvgPool3d(Cell):
    """Averages over a fixed number of regions of volumes (MindSpore: ``nn.AdaptiveAvgPool3d``).

    Args:
        output_size: int or (depth, height, width); None keeps a size.
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.adaptive_avg_pool3d = pooling3d.AdaptiveAvgPool3D(output_size)

    def construct(self, input: Any) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return self.adaptive_avg_pool3d(input)


class AdaptiveMaxPool3d(Cell):
    """Maxima over a fixed number of regions of volumes (MindSpore: ``nn.AdaptiveMaxPool3d``).

    Args:
        output_size: int or (depth, height, width); None keeps a size.
        return_indices: give the places of the maxima too.
    """

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, input: Any) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return pooling3d.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class LPPool1d(Cell):
    """p-norms over windows of sequences (MindSpore: ``nn.LPPool1d``).

    Args:
        norm_type: p, not 0; infinity takes the maximum.
        kernel_size: int.
        stride: int; None for ``kernel_size``.
        ceil_mode: count windows that only begin inside.
    """

    def __init__(
        self, norm_type: float, kernel_size: int, stride: int | None = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def construct(self, x: Any) -> Any:
        """Pool (N, C, L) or (C, L)."""
        window = (self.kernel_size, self.stride, self.ceil_mode)
        return pooling3d.lp_pool1d(x, self.norm_type, *window)


class LPPool2d(Cell):
    """p-norms over windows of images (MindSpore: ``nn.LPPool2d``).

    Args:
        norm_type: p, not 0; infinity takes the maximum.
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        ceil_mode: count windows that only begin inside.
    """

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type, self.kernel_size = norm_type, kernel_size
        self.stride, self.ceil_mode = stride, ceil_mode

    def construct(self, x: Any) -> Any:
        """Pool (N, C, H, W)."""
        window = (self.kernel_size, self.stride, self.ceil_mode)
        return pooling3d.lp_pool2d(x, self.norm_type, *window)


class _MaxUnpool(Cell):
    """What the inverses of max pooling share."""

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def _window(self) -> tuple[Any, Any, Any]:
        return self.kernel_size, self.stride, self.padding


class MaxUnpool1d(_MaxUnpool):
    """Inverse of max pooling of sequences (MindSpore: ``nn.MaxUnpool1d``).

    Args:
        kernel_size: int or (int,), size of the windows.
        stride: int or (int,); None for ``kernel_size``.
        padding: int or (int,).
    """

    def construct(self, x: Any, indices: Any, output_size: Any = None) -> Any:
        """Put (N, C, L) or (C, L) at its places, and zeros elsewhere."""
        return unpooling.max_unpool1d(x, indices, *self._window(), output_size)


class MaxUnpool2d(_MaxUnpool):
    """Inverse of max pooling of images (MindSpore: ``nn.MaxUnpool2d``).

    Args:
        kernel_size: int or (height, width) of the windows.
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width).
    """

    def construct(self, x: Any, indices: Any, output_size: Any = None) -> Any:
        """Put (N, C, H, W) or (C, H, W) at its places, and zeros elsewhere."""
        return unpooling.max_unpool2d(x, indices, *self._window(), output_size)


class MaxUnpool3d(_MaxUnpool):
    """Inverse of max pooling of volumes (MindSpore: ``nn.MaxUnpool3d``).

    Args:
        kernel_size: int or (depth, height, width) of the windows.
        stride: int or (depth, height, width); None for ``kernel_size``.
        padding: int or (depth, height, width).
    """

    def construct(self, x: Any, indices: Any, output_size: Any = None) -> Any:
        """Put (N, C, D, H, W) or (C, D, H, W) at its places, and zeros elsewhere."""
        return unpooling.max_unpool3d(x, indices, *self._window(), output_size)


class _FractionalMaxPool(Cell):
    """What both fractional poolings share."""

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.output_size, self.output_ratio = (
            kernel_size,
            output_size,
            output_ratio,
        )
        self.return_indices, self._random_samples = return_indices, _random_samples

    def _arguments(self) -> tuple[Any, ...]:
        sizes = (self.kernel_size, self.output_size, self.output_ratio)
        return *sizes, self.return_indices, self._random_samples


class FractionalMaxPool2d(_FractionalMaxPool):
    """Fractional maxima of images (Graham 2015; MindSpore: ``nn.FractionalMaxPool2d``).

    Args:
        kernel_size: int or (height, width) of a window.
        output_size: int or (height, width) of the output.
        output_ratio: the same as a fraction of the input's, in (0, 1).
        return_indices: give the places of the maxima too.
        _random_samples: (N, C, 2), float, in [0, 1); None draws them.
    """

    def construct(self, input: Any) -> Any:
        """Pool (N, C, H, W) or (C, H, W)."""
        return fractional.fractional_max_pool2d(input, *self._arguments())


class FractionalMaxPool3d(_FractionalMaxPool):
    """Fractional maxima of volumes (Graham 2015; MindSpore: ``nn.FractionalMaxPool3d``).

    Args:
        kernel_size: int or (depth, height, width) of a window.
        output_size: int or (depth, height, width) of the output.
        output_ratio: the same as a fraction of the input's, in (0, 1).
        return_indices: give the places of the maxima too.
        _random_samples: (N, C, 3), float, in [0, 1); None draws them.
    """

    def construct(self, input: Any) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return fractional.fractional_max_pool3d(input, *self._arguments())
