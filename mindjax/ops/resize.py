"""Resizing of images and sequences by interpolation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _places(n: int, out: int, align_corners: bool, half_pixel: bool) -> np.ndarray[Any, Any]:
    """Give, for each output element, its place on the input's axis."""
    if align_corners:
        return np.arange(out) * ((n - 1) / (out - 1) if out > 1 else 0.0)
    scale = n / out
    return (np.arange(out) + 0.5) * scale - 0.5 if half_pixel else np.arange(out) * scale


def _nearest(x: Array, axis: int, out: int, align_corners: bool, half_pixel: bool) -> Array:
    n = x.shape[axis]
    places = _places(n, out, align_corners, False)
    if half_pixel:
        places = (np.arange(out) + 0.5) * (n / out)
    # The small number keeps a whole place whole after its rounding.
    rows = np.floor(places + (0.5 if align_corners else 1e-9)).astype(np.int32)
    return jnp.take(x, np.clip(rows, 0, n - 1), axis, mode="clip")


def _linear(x: Array, axis: int, out: int, align_corners: bool, half_pixel: bool) -> Array:
    n = x.shape[axis]
    places = np.clip(_places(n, out, align_corners, half_pixel), 0, n - 1)
    low = np.floor(places).astype(np.int32)
    high = np.minimum(low + 1, n - 1).astype(np.int32)
    shape = [1] * x.ndim
    shape[axis] = out
    weight = jnp.asarray((places - low).reshape(shape), x.dtype)
    below, above = (jnp.take(x, rows, axis, mode="clip") for rows in (low, high))
    return below + (above - below) * weight


class ResizeNearestNeighbor(Primitive):
    """Nearest neighbours on a grid of another size (MindSpore: ``ops.ResizeNearestNeighbor``).

    Args:
        size: (height, width) of the output.
        align_corners: the corners of both grids coincide.
        half_pixel_centers: elements are areas, not points.
    """

    size: Any
    align_corners: bool = False
    half_pixel_centers: bool = False

    def __post_init__(self) -> None:
        _check(self.name, self.size, self.align_corners, self.half_pixel_centers)
        object.__setattr__(self, "size", tuple(self.size))

    def compute(self, x: Array) -> Array:
        """Resize (N, C, H, W)."""
        return _resized(x, self.size, "nearest", self.align_corners, self.half_pixel_centers)


class ResizeBilinearV2(Primitive):
    """Linear interpolation on a grid of another size (MindSpore: ``ops.ResizeBilinearV2``).

    Args:
        align_corners: the corners of both grids coincide.
        half_pixel_centers: elements are areas, not points.
    """

    align_corners: bool = False
    half_pixel_centers: bool = False

    def __call__(self, image: Any, size: Any) -> Tensor:
        """Resize (N, C, H, W) to a height and a width.

        Raises:
            ValueError: a size is not above 0, or both flags are set.
        """
        _check(self.name, size, self.align_corners, self.half_pixel_centers)
        record = _Resize(tuple(size), "linear", self.align_corners, self.half_pixel_centers)
        return record(image)


class _Resize(Primitive, register=False):
    """Resizing of the axes after the first two."""

    size: tuple[int, ...]
    mode: str
    align_corners: bool
    half_pixel_centers: bool

    def compute(self, x: Array) -> Array:
        return _resized(x, self.size, self.mode, self.align_corners, self.half_pixel_centers)


def _resized(
    x: Array, size: tuple[int, ...], mode: str, align_corners: bool, half_pixel: bool
) -> Array:
    if x.ndim != len(size) + 2:
        raise located(
            ValueError,
            f"For 'interpolate', the input must have {len(size) + 2} dims, but got {x.ndim}.",
        )
    resize = _nearest if mode == "nearest" else _linear
    for i, out in enumerate(size):
        if x.shape[i + 2] != out:
            x = resize(x, i + 2, out, align_corners, half_pixel)
    return x


def _check(owner: str, size: Any, align_corners: bool, half_pixel: bool) -> None:
    checks.of_type("size", size, (tuple, list), owner)
    for n in size:
        checks.positive_int("size item", n, owner)
    checks.boolean("align_corners", align_corners, owner)
    checks.boolean("half_pixel_centers", half_pixel, owner)
    if align_corners and half_pixel:
        raise located(
            ValueError,
            f"For '{owner}', 'align_corners' and 'half_pixel_centers' exclude each other.",
        )


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Resize images or sequences (MindSpore: ``ops.interpolate``).

    Args:
        input: (N, C, W) or (N, C, H, W), float.
        size: sizes of the output, an int or one a spatial axis.
        scale_factor: factor of every size, or one a spatial axis, in place of ``size``.
        mode: ``"nearest"``, ``"linear"`` at rank 3 or ``"bilinear"`` at rank 4.
        align_corners: the corners of both grids coincide; not with ``"nearest"``.
        recompute_scale_factor: kept; the factor always follows from the sizes.

    Returns:
        Tensor of the same rank and dtype.

    Raises:
        NotImplementedError: another mode.
        ValueError: not exactly one of ``size`` and ``scale_factor`` is given, or a value does not
            fit.
    """
    count = len(input.shape) - 2
    wanted = {1: ("nearest", "linear"), 2: ("nearest", "bilinear")}.get(count, ())
    if mode not in wanted:
        raise located(
            NotImplementedError,
            f"For 'interpolate', the mode {mode!r} of a {count + 2}-D input is not supported: "
            f"use one of {list(wanted)}.",
        )
    if (size is None) == (scale_factor is None):
        raise located(
            ValueError,
            "For 'interpolate', exactly one of 'size' and 'scale_factor' must be given, but got "
            f"size: {size}, scale_factor: {scale_factor}.",
        )
    if align_corners is not None and mode == "nearest":
        raise located(
            ValueError, "For 'interpolate', 'align_corners' does not go with the mode 'nearest'."
        )
    if size is None:
        factors = (
            scale_factor if isinstance(scale_factor, tuple | list) else (scale_factor,) * count
        )
        size = [math.floor(n * f) for n, f in zip(input.shape[2:], factors, strict=True)]
    sizes = (size,) * count if isinstance(size, int) else tuple(size)
    for n in sizes:
        checks.positive_int("size item", n, "interpolate")
    aligned = bool(align_corners)
    half = mode != "nearest" and not aligned
    return _Resize(sizes, "nearest" if mode == "nearest" else "linear", aligned, half)(input)
