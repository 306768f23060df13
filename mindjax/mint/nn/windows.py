"""Pooling, sliding blocks and resizing of `mint.nn.functional`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.mint.convolution import batched
from mindjax.ops import pooling as _pooling
from mindjax.ops import resize as _resize
from mindjax.ops.shape import expand_dims as _expand_dims
from mindjax.ops.shape import squeeze as _squeeze
from mindjax.ops.vision import patches as _patches
from mindjax.ops.vision import pooling3d as _pooling3d
from mindjax.ops.vision import unpooling as _unpooling

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def max_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Take maxima over windows of images (MindSpore: ``mint.nn.functional.max_pool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width), at most half of the kernel.
        dilation: int or (height, width).
        ceil_mode: count windows that only begin inside.
        return_indices: give the places of the maxima too.

    Returns:
        Tensor (N, C, H', W'); with ``return_indices`` also their places in the flattened (H, W).

    Raises:
        ValueError: an argument does not fit.
    """
    x, single = batched(input, 4, "max_pool2d")
    window = (kernel_size, stride, padding, dilation)
    out = _pooling.max_pool2d(x, *window, return_indices, ceil_mode)
    if single and return_indices:
        return _squeeze(out[0], 0), _squeeze(out[1], 0)
    return _squeeze(out, 0) if single else out


def _average(
    x: Any,
    count: int,
    window: tuple[Any, Any, Any],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> Any:
    owner = f"avg_pool{count}d"
    checks.tensors(owner, input=x)
    if len(x.shape) not in (count + 1, count + 2):
        raise located(
            ValueError,
            f"For '{owner}', the input must have {count + 1} or {count + 2} dims, but got shape "
            f"{tuple(x.shape)}.",
        )
    kernel_size, stride, padding = window
    rest = (padding, ceil_mode, count_include_pad, divisor)
    return _pooling.avg_pool_nd(x, count, kernel_size, stride, *rest, owner)


def avg_pool1d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:
    """Take averages over windows of (N, C, W) or (C, W).

    Args:
        input: (N, C, W) or (C, W).
        kernel_size: int or (width,).
        stride: int or (width,); None for ``kernel_size``.
        padding: int or (width,), at most half of the kernel.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.

    Returns:
        Tensor (N, C, W').

    MindSpore: ``mint.nn.functional.avg_pool1d``.
    """
    window = (kernel_size, stride, padding)
    return _average(input, 1, window, ceil_mode, count_include_pad, None)


def avg_pool2d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Take averages over windows of images (MindSpore: ``mint.nn.functional.avg_pool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        kernel_size: int or (height, width).
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width), at most half of the kernel.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by, or None.

    Returns:
        Tensor (N, C, H', W').

    Raises:
        ValueError: an argument does not fit.
    """
    window = (kernel_size, stride, padding)
    return _average(input, 2, window, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Tensor:
    """Take averages over windows of volumes (MindSpore: ``mint.nn.functional.avg_pool3d``).

    Args:
        input: (N, C, D, H, W) or (C, D, H, W).
        kernel_size: int or (depth, height, width).
        stride: int or (depth, height, width); None for ``kernel_size``.
        padding: int or (depth, height, width), at most half of the kernel.
        ceil_mode: count windows that only begin inside.
        count_include_pad: divide by the window's size at padded edges too.
        divisor_override: what to divide by, or None.

    Returns:
        Tensor (N, C, D', H', W').
    """
    window = (kernel_size, stride, padding)
    return _average(input, 3, window, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool1d(input: Any, output_size: int) -> Tensor:
    """Average over regions of sequences (MindSpore: ``mint.nn.functional.adaptive_avg_pool1d``).

    Args:
        input: (N, C, W) or (C, W).
        output_size: W'.

    Returns:
        Tensor (N, C, W').
    """
    return _pooling.adaptive_avg_pool1d(input, output_size)


def adaptive_avg_pool2d(input: Any, output_size: Any) -> Tensor:
    """Average over regions of images (MindSpore: ``mint.nn.functional.adaptive_avg_pool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        output_size: int or (H', W'); None keeps a size.

    Returns:
        Tensor (N, C, H', W').
    """
    return _pooling.adaptive_avg_pool2d(input, output_size)


def adaptive_max_pool2d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Take maxima over regions of images.

    Args:
        input: (N, C, H, W) or (C, H, W).
        output_size: int or (H', W'); None keeps a size.
        return_indices: give the places of the maxima too.

    Returns:
        Tensor (N, C, H', W'); with ``return_indices`` also their places in the flattened (H, W).

    MindSpore: ``mint.nn.functional.adaptive_max_pool2d``.
    """
    return _pooling.adaptive_max_pool2d(input, output_size, return_indices)


def adaptive_avg_pool3d(input: Any, output_size: Any) -> Tensor:
    """Average over regions of volumes (MindSpore: ``mint.nn.functional.adaptive_avg_pool3d``).

    Args:
        input: (N, C, D, H, W) or (C, D, H, W).
        output_size: int or (D', H', W'); None keeps a size.

    Returns:
        Tensor (N, C, D', H', W').
    """
    return _pooling3d.adaptive_avg_pool3d(input, output_size)


def adaptive_max_pool1d(input: Any, output_size: Any, return_indices: bool = False) -> Any:
    """Take maxima over regions of sequences.

    MindSpore: ``mint.nn.functional.adaptive_max_pool1d``.

    Args:
        input: (N, C, L) or (C, L).
        output_size: L', an int or a tuple of one.
        return_indices: give the places of the maxima too.

    Returns:
        Tensor (N, C, L'); with ``return_indices`` also their places in L, Int64.
    """
    size = output_size[0] if isinstance(output_size, tuple | list) else output_size
    if not checks.boolean("return_indices", return_indices, "adaptive_max_pool1d"):
        return _pooling.adaptive_max_pool1d(input, size)
    _pooling.check_ranks(input, (2, 3), "adaptive_max_pool1d")
    out, places = _pooling.AdaptiveMaxPool2D((1, size))(_expand_dims(input, -2))
    return _squeeze(out, -2), _squeeze(places, -2)


def max_unpool2d(
    input: Any,
    indices: Any,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    output_size: Any = None,
) -> Tensor:
    """Invert max pooling of images (MindSpore: ``mint.nn.functional.max_unpool2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        indices: places of the values in the flattened (H', W'), of the same shape.
        kernel_size: int or (height, width) of the windows.
        stride: int or (height, width); None for ``kernel_size``.
        padding: int or (height, width).
        output_size: (N, C, H', W'), (C, H', W') or (H', W'); None to compute it.

    Returns:
        Tensor (N, C, H', W') or (C, H', W'), zeros elsewhere.
    """
    return _unpooling.max_unpool2d(input, indices, kernel_size, stride, padding, output_size)


def unfold(
    input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Take out sliding blocks of images as columns (MindSpore: ``mint.nn.functional.unfold``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        kernel_size: int or (height, width) of a block.
        dilation: int or (height, width), distance of a block's elements.
        padding: int or (height, width), zeros on both sides.
        stride: int or (height, width), step between blocks.

    Returns:
        Tensor (N, C * elements of a block, number of blocks), or without N.
    """
    x, single = batched(input, 4, "unfold")
    out = _patches.unfold(x, kernel_size, dilation, padding, stride)
    return _squeeze(out, 0) if single else out


def fold(
    input: Any,
    output_size: Any,
    kernel_size: Any,
    dilation: Any = 1,
    padding: Any = 0,
    stride: Any = 1,
) -> Tensor:
    """Add columns, sliding blocks, up to images (MindSpore: ``mint.nn.functional.fold``).

    Args:
        input: (N, C * elements of a block, number of blocks), or without N.
        output_size: int or (height, width).
        kernel_size: int or (height, width) of a block.
        dilation: int or (height, width), distance of a block's elements.
        padding: int or (height, width), what is cut off both sides.
        stride: int or (height, width), step between blocks.

    Returns:
        Tensor (N, C, height, width), or without N.
    """
    x, single = batched(input, 3, "fold")
    out = _patches.fold(x, output_size, kernel_size, dilation, padding, stride)
    return _squeeze(out, 0) if single else out


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Resize sequences, images or volumes (MindSpore: ``mint.nn.functional.interpolate``).

    Args:
        input: (N, C, W), (N, C, H, W) or (N, C, D, H, W), float.
        size: sizes of the output, an int or one a spatial axis.
        scale_factor: factor of every size, or one a spatial axis, in place of ``size``.
        mode: ``"nearest"``; ``"linear"`` at rank 3, ``"bilinear"`` and ``"bicubic"`` at rank 4,
            ``"trilinear"`` at rank 5; ``"area"`` and ``"nearest-exact"`` too.
        align_corners: the corners of both grids coincide.
        recompute_scale_factor: take the ratio of the sizes in place of ``scale_factor`` itself.

    Returns:
        Tensor of the same rank and dtype.

    Raises:
        ValueError: a value or the rank does not fit.
    """
    flags = (mode, align_corners, recompute_scale_factor)
    return _resize.resized(input, size, scale_factor, *flags, table=False)


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """Resize as `interpolate` (MindSpore: ``mint.nn.functional.upsample``).

    Args:
        input: (N, C, W), (N, C, H, W) or (N, C, D, H, W), float.
        size: sizes of the output, an int or one a spatial axis.
        scale_factor: factor of every size, or one a spatial axis, in place of ``size``.
        mode: as in `interpolate`.
        align_corners: the corners of both grids coincide.

    Returns:
        Tensor of the same rank and dtype.
    """
    return interpolate(input, size, scale_factor, mode, align_corners)
