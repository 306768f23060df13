"""Layers of windows, regions and grids of images, with torch's arguments."""

from __future__ import annotations

from typing import Any

from mindjax.mint.nn import functional
from mindjax.nn.cell import Cell


class AdaptiveAvgPool3d(Cell):
    """Averages over a fixed number of regions of volumes.

    MindSpore: ``mint.nn.AdaptiveAvgPool3d``.

    Args:
        output_size: int or (D', H', W'); None keeps a size.
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def construct(self, input: Any) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        return functional.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool1d(Cell):
    """Maxima over a fixed number of regions of sequences.

    MindSpore: ``mint.nn.AdaptiveMaxPool1d``.

    Args:
        output_size: number of regions.
        return_indices: give the places of the maxima too.
    """

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size, self.return_indices = output_size, return_indices

    def construct(self, input: Any) -> Any:
        """Pool (N, C, L) or (C, L)."""
        return functional.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AvgPool3d(Cell):
    """Averages over windows of volumes (MindSpore: ``mint.nn.AvgPool3d``).

    Args:
        kernel_size: int or (depth, height, width).
        stride: int or (depth, height, width); None for ``kernel_size``.
        padding: int or (depth, height, width).
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by, or None.
    """

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding
        self.ceil_mode, self.count_include_pad = ceil_mode, count_include_pad
        self.divisor_override = divisor_override

    def construct(self, input: Any) -> Any:
        """Pool (N, C, D, H, W) or (C, D, H, W)."""
        options = (self.padding, self.ceil_mode, self.count_include_pad, self.divisor_override)
        return functional.avg_pool3d(input, self.kernel_size, self.stride, *options)


class MaxUnpool2d(Cell):
    """Inverse of max pooling of images (MindSpore: ``mint.nn.MaxUnpool2d``).

    Args:
        kernel_size: int or (height, width) of the windows.
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width).
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size, self.stride, self.padding = kernel_size, stride, padding

    def construct(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        """Put (N, C, H, W) or (C, H, W) at its places, and zeros elsewhere."""
        window = (self.kernel_size, self.stride, self.padding)
        return functional.max_unpool2d(input, indices, *window, output_size)


class Fold(Cell):
    """Columns, sliding blocks, added up to images (MindSpore: ``mint.nn.Fold``).

    Args:
        output_size: int or (height, width).
        kernel_size: int or (height, width) of a block.
        dilation: int or (height, width).
        padding: int or (height, width), what is cut off both sides.
        stride: int or (height, width).
    """

    def __init__(
        self,
        output_size: Any,
        kernel_size: Any,
        dilation: Any = 1,
        padding: Any = 0,
        stride: Any = 1,
    ) -> None:
        super().__init__()
        self.output_size, self.kernel_size = output_size, kernel_size
        self.dilation, self.padding, self.stride = dilation, padding, stride

    def construct(self, input: Any) -> Any:
        """Add up (N, C * elements of a block, number of blocks), or without N."""
        window = (self.kernel_size, self.dilation, self.padding, self.stride)
        return functional.fold(input, self.output_size, *window)


class Unfold(Cell):
    """Sliding blocks of images as columns (MindSpore: ``mint.nn.Unfold``).

    Args:
        kernel_size: int or (height, width) of a block.
        dilation: int or (height, width).
        padding: int or (height, width), zeros on both sides.
        stride: int or (height, width).
    """

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.kernel_size, self.dilation = kernel_size, dilation
        self.padding, self.stride = padding, stride

    def construct(self, input: Any) -> Any:
        """Take the blocks out of (N, C, H, W) or (C, H, W)."""
        return functional.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)


class PixelShuffle(Cell):
    """Channels moved into space (Shi 2016; MindSpore: ``mint.nn.PixelShuffle``).

    Args:
        upscale_factor: r.
    """

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def construct(self, input: Any) -> Any:
        """Turn (..., C * r * r, H, W) into (..., C, H * r, W * r)."""
        return functional.pixel_shuffle(input, self.upscale_factor)


class Upsample(Cell):
    """Sequences, images or volumes of another size (MindSpore: ``mint.nn.Upsample``).

    Args:
        size: sizes of the output, an int or one a spatial axis.
        scale_factor: factor of every size, or one a spatial axis, in place of ``size``.
        mode: ``"nearest"``, ``"linear"``, ``"bilinear"``, ``"bicubic"`` or ``"trilinear"``.
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

    def construct(self, input: Any) -> Any:
        """Resize."""
        flags = (self.mode, self.align_corners, self.recompute_scale_factor)
        return functional.interpolate(input, self.size, self.scale_factor, *flags)


class UpsamplingNearest2d(Upsample):
    """Images of another size, by nearest neighbours (MindSpore: ``mint.nn.UpsamplingNearest2d``).

    Args:
        size: int or (height, width).
        scale_factor: factor of both sizes, or one each, in place of ``size``.
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor)


class UpsamplingBilinear2d(Upsample):
    """Images of another size, linear, corners aligned.

    MindSpore: ``mint.nn.UpsamplingBilinear2d``.

    Args:
        size: int or (height, width).
        scale_factor: factor of both sizes, or one each, in place of ``size``.
    """

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, "bilinear", True)
