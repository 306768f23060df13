"""Convolution and pooling of `mint.nn.functional`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.ops import conv as _conv
from mindjax.ops import pooling as _pooling
from mindjax.ops.shape import expand_dims as _expand_dims
from mindjax.ops.shape import squeeze as _squeeze

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def _batched(x: Any, rank: int, owner: str) -> tuple[Any, bool]:
    """Put a batch axis before a single sample."""
    if len(x.shape) not in (rank, rank - 1):
        raise located(
            RuntimeError,
            f"For '{owner}', the input must have {rank - 1} or {rank} dims, but got shape "
            f"{tuple(x.shape)}.",
        )
    single = len(x.shape) == rank - 1
    return (_expand_dims(x, 0) if single else x), single


def _convolve(
    op: Callable[..., Any],
    rank: int,
    input: Any,
    weight: Any,
    bias: Any,
    window: tuple[Any, Any, Any],
    groups: int,
) -> Any:
    """Convolve a batch or a single sample, with torch's 'padding'."""
    stride, padding, dilation = window
    x, single = _batched(input, rank, op.__name__)
    mode, pads = "pad", padding
    if isinstance(padding, str):
        mode, pads = checks.one_of("padding", padding, ("valid", "same"), op.__name__), 0
    out = op(x, weight, bias, stride, mode, pads, dilation, groups)
    return _squeeze(out, 0) if single else out


def conv1d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve sequences (N, C, W) or (C, W) (MindSpore: ``mint.nn.functional.conv1d``).

    Args:
        input: (N, C, W) or (C, W).
        weight: (out, C / groups, width).
        bias: (out,) or None.
        stride: int or (width,).
        padding: int, (width,), ``"valid"`` or ``"same"``.
        dilation: int or (width,).
        groups: number of groups of channels.

    Returns:
        Tensor (N, out, W').
    """
    window = (stride, padding, dilation)
    return _convolve(_conv.conv1d, 3, input, weight, bias, window, groups)


def conv2d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve images (MindSpore: ``mint.nn.functional.conv2d``).

    Args:
        input: (N, C, H, W) or (C, H, W).
        weight: (out, C / groups, height, width).
        bias: (out,) or None.
        stride: int or (height, width).
        padding: int, (height, width), ``"valid"`` or ``"same"``.
        dilation: int or (height, width).
        groups: number of groups of channels.

    Returns:
        Tensor (N, out, H', W').

    Raises:
        RuntimeError: the channels do not fit.
        ValueError: another argument does not fit.
    """
    window = (stride, padding, dilation)
    return _convolve(_conv.conv2d, 4, input, weight, bias, window, groups)


def conv3d(
    input: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
) -> Tensor:
    """Convolve volumes (N, C, D, H, W) or (C, D, H, W).

    Args:
        input: (N, C, D, H, W) or (C, D, H, W).
        weight: (out, C / groups, depth, height, width).
        bias: (out,) or None.
        stride: int or (depth, height, width).
        padding: int, (depth, height, width), ``"valid"`` or ``"same"``.
        dilation: int or (depth, height, width).
        groups: number of groups of channels.

    Returns:
        Tensor (N, out, D', H', W').

    MindSpore: ``mint.nn.functional.conv3d``.
    """
    window = (stride, padding, dilation)
    return _convolve(_conv.conv3d, 5, input, weight, bias, window, groups)


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
    x, single = _batched(input, 4, "max_pool2d")
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
