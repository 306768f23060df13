"""Convolutions with torch's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.ops import conv as _conv
from mindjax.ops.shape import expand_dims as _expand_dims
from mindjax.ops.shape import squeeze as _squeeze

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor


def batched(x: Any, rank: int, owner: str) -> tuple[Any, bool]:
    """Put a batch axis before a single sample."""
    checks.tensors(owner, input=x)
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
    x, single = batched(input, rank, op.__name__)
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
