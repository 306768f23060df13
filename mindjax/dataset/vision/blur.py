"""Smoothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_int, check_interval, check_type
from mindjax.dataset.vision.color import ColorOperation


def gaussian_kernel(size: int, sigma: float) -> np.ndarray:
    """Give weights that add up to 1, float64, shape (size,)."""
    steps = np.arange(size) - (size - 1) / 2
    weights = np.exp(-(steps**2) / (2 * sigma * sigma))
    return weights / weights.sum()


def _whole(weights: np.ndarray) -> np.ndarray:
    """Round weights to whole 1/256 that add up to 256; the error of each goes on to the next."""
    out, rest = np.zeros(len(weights), np.int64), 0.0
    for place in range(len(weights) // 2):
        wanted = weights[place] * 256 + rest
        out[place] = out[-1 - place] = int(np.rint(wanted))
        rest = wanted - out[place]
    out[len(weights) // 2] = 256 - 2 * out[: len(weights) // 2].sum()
    return out


class GaussianBlur(ColorOperation):
    """Smooths an image with a Gaussian.

    Args:
        kernel_size: width and height of the kernel, odd, or (width, height).
        sigma: deviation in columns and rows, or (columns, rows); None or 0 for a third of the
            kernel, nearly.
    """

    ranks, channels = (2, 3), (1, 3)
    dtypes = ("uint8", "float32", "float64", "int16", "uint16")

    def __init__(self, kernel_size: Any, sigma: Any = None) -> None:
        owner = "GaussianBlur"
        check_type(owner, "kernel_size", kernel_size, (int, list, tuple))
        sizes = [kernel_size] if isinstance(kernel_size, int) else list(kernel_size)
        if len(sizes) not in (1, 2):
            raise located(
                TypeError,
                f"For '{owner}': kernel_size should be one integer or a list/tuple of length 2.",
            )
        for size in sizes:
            check_int(owner, "kernel_size", size, 1)
            if size % 2 == 0:
                raise located(
                    ValueError, f"For '{owner}': Input kernel_size is not an odd value: {size}."
                )
        if sigma is not None:
            check_type(owner, "sigma", sigma, (int, float, list, tuple))
        spreads = [0.0] if sigma is None else sigma
        spreads = [spreads] if isinstance(spreads, int | float) else list(spreads)
        if len(spreads) not in (1, 2):
            raise located(
                TypeError,
                f"For '{owner}': Sigma should be a single number or a list/tuple of length 2.",
            )
        for spread in spreads:
            check_type(owner, "sigma", spread, (int, float))
            check_interval(owner, "sigma", spread, 0, 3.4028235e38)
        self.kernels = []
        for size, spread in zip((sizes[0], sizes[-1]), (spreads[0], spreads[-1]), strict=True):
            # OpenCV's deviation for a kernel that comes without one.
            spread = spread if spread > 0 else ((size - 1) * 0.5 - 1) * 0.3 + 0.8
            self.kernels.append(gaussian_kernel(size, spread))

    def _apply(self, image: np.ndarray) -> np.ndarray:
        exact = image.dtype == np.uint8
        across, down = [_whole(k) for k in self.kernels] if exact else self.kernels
        wide = image.astype(np.int64 if exact else np.float64)
        out = _filtered(_filtered(wide, across, 1), down, 0)
        if exact:
            return np.clip((out + (1 << 15)) >> 16, 0, 255).astype(np.uint8)
        return (np.rint(out) if image.dtype.kind in "iu" else out).astype(image.dtype)


def _filtered(image: np.ndarray, weights: np.ndarray, axis: int) -> np.ndarray:
    reach = len(weights) // 2
    size = image.shape[axis]
    places = (
        np.pad(np.arange(size), reach, mode="reflect") if size > 1 else np.zeros(2 * reach + 1, int)
    )
    wide = np.take(image, places, axis)
    out = None
    for place, weight in enumerate(weights):
        part = np.take(wide, np.arange(place, place + size), axis) * weight
        out = part if out is None else out + part
    return np.asarray(out)
