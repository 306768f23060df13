"""Resizing of images and sequences by interpolation."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.pooling import adaptive_average

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _places(
    n: int, out: int, align_corners: bool, half_pixel: bool, scale: float | None = None
) -> np.ndarray[Any, Any]:
    """Give, for each output element, its place on the input's axis."""
    if align_corners:
        return np.arange(out) * ((n - 1) / (out - 1) if out > 1 else 0.0)
    step = n / out if scale is None else 1 / scale
    return (np.arange(out) + 0.5) * step - 0.5 if half_pixel else np.arange(out) * step


def _nearest(
    x: Array, axis: int, out: int, align_corners: bool, half_pixel: bool, scale: float | None
) -> Array:
    n = x.shape[axis]
    places = _places(n, out, align_corners, False, scale)
    if half_pixel:
        places = _places(n, out, False, True, scale) + 0.5
    # The small number keeps a whole place whole after its rounding.
    rows = np.floor(places + (0.5 if align_corners else 1e-9)).astype(np.int32)
    return jnp.take(x, np.clip(rows, 0, n - 1), axis, mode="clip")


def _linear(
    x: Array, axis: int, out: int, align_corners: bool, half_pixel: bool, scale: float | None
) -> Array:
    n = x.shape[axis]
    places = np.clip(_places(n, out, align_corners, half_pixel, scale), 0, n - 1)
    low = np.floor(places).astype(np.int32)
    high = np.minimum(low + 1, n - 1).astype(np.int32)
    shape = [1] * x.ndim
    shape[axis] = out
    weight = jnp.asarray((places - low).reshape(shape), x.dtype)
    below, above = (jnp.take(x, rows, axis, mode="clip") for rows in (low, high))
    return below + (above - below) * weight


def _keys(distance: Any, a: float) -> Any:
    """Give the weight of Keys' cubic kernel at distances up to 2."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    return np.where(d <= 1, near, np.where(d < 2, (((d - 5) * d + 8) * d - 4) * a, 0.0))


def cubic_weights(
    n: int, out: int, align_corners: bool, half_pixel: bool, scale: float | None, table: bool
) -> np.ndarray[Any, Any]:
    """Give the matrix (out, n) that resizes an axis by cubic interpolation.

    Args:
        n: size of the axis.
        out: size of the result.
        align_corners: the corners of both grids coincide.
        half_pixel: elements are areas, not points.
        scale: ratio of both sizes, if it is not ``out / n``.
        table: as the original, which rounds fractions to 1 / 1024 and takes another kernel, cut
            off at the border, for areas.

    Returns:
        float64 array; every row sums to 1.
    """
    places = _places(n, out, align_corners, half_pixel, scale)
    cut = table and half_pixel
    a = -0.5 if cut else -0.75
    low = np.floor(places)
    fraction = places - low
    if table:
        fraction = np.round(fraction * 1024) / 1024
    weights = np.zeros((out, n))
    rows = np.arange(out)
    for step in range(-1, 3):
        at = (low + step).astype(int)
        weight = _keys(fraction - step, a)
        if cut:
            weight = np.where((at >= 0) & (at < n), weight, 0.0)
        np.add.at(weights, (rows, np.clip(at, 0, n - 1)), weight)
    return weights / weights.sum(1, keepdims=True)


def weighed(x: Array, axis: int, weights: Any) -> Array:
    """Replace an axis by weighted sums over it, with a matrix (out, n), in Float32 at least."""
    wide = jnp.promote_types(x.dtype, np.float32)
    moved = jnp.moveaxis(x, axis, -1).astype(wide)
    product = jnp.matmul(moved, jnp.asarray(weights, wide).T, precision=lax.Precision.HIGHEST)
    return jnp.moveaxis(product, -1, axis).astype(x.dtype)


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
    """Resizing of the axes after the first two.

    Fields: sizes; ``"nearest"``, ``"linear"``, ``"cubic"`` or ``"table"``, the original's cubic;
    the two flags; ratios of the sizes, () for those that follow from them.
    """

    size: tuple[int, ...]
    mode: str
    align_corners: bool
    half_pixel_centers: bool
    scales: tuple[float, ...] = ()

    def compute(self, x: Array) -> Array:
        flags = (self.align_corners, self.half_pixel_centers)
        return _resized(x, self.size, self.mode, *flags, self.scales)


def _resized(
    x: Array,
    size: tuple[int, ...],
    mode: str,
    align_corners: bool,
    half_pixel: bool,
    scales: tuple[float, ...] = (),
) -> Array:
    if x.ndim != len(size) + 2:
        raise located(
            ValueError,
            f"For 'interpolate', the input must have {len(size) + 2} dims, but got {x.ndim}.",
        )
    for i, out in enumerate(size):
        n, scale = x.shape[i + 2], scales[i] if scales else None
        if n == out and scale in (None, 1):
            continue
        if mode in ("cubic", "table"):
            table = mode == "table"
            x = weighed(x, i + 2, cubic_weights(n, out, align_corners, half_pixel, scale, table))
            continue
        resize = _nearest if mode == "nearest" else _linear
        x = resize(x, i + 2, out, align_corners, half_pixel, scale)
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


_RANKS = {
    "nearest": (3, 4, 5),
    "linear": (3,),
    "bilinear": (4,),
    "bicubic": (4,),
    "trilinear": (5,),
    "area": (3, 4, 5),
    "nearest-exact": (3, 4, 5),
}


def interpolate(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Resize sequences, images or volumes (MindSpore: ``ops.interpolate``).

    Args:
        input: (N, C, W), (N, C, H, W) or (N, C, D, H, W), float.
        size: sizes of the output, an int or one a spatial axis.
        scale_factor: factor of every size, or one a spatial axis, in place of ``size``.
        mode: ``"nearest"``, ``"area"`` or ``"nearest-exact"``; ``"linear"`` at rank 3,
            ``"bilinear"`` and ``"bicubic"`` at rank 4, ``"trilinear"`` at rank 5.
        align_corners: the corners of both grids coincide; with the four last modes only.
        recompute_scale_factor: take the ratio of the sizes in place of ``scale_factor`` itself.

    Returns:
        Tensor of the same rank and dtype.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: not exactly one of ``size`` and ``scale_factor`` is given, or a value or the
            rank does not fit.
    """
    return resized(
        input, size, scale_factor, mode, align_corners, recompute_scale_factor, table=True
    )


def resized(
    input: Any,
    size: Any,
    scale_factor: Any,
    mode: str,
    align_corners: bool | None,
    recompute_scale_factor: bool | None,
    table: bool,
) -> Any:
    """Resize as `interpolate`; ``table`` takes the original's cubic kernel, else torch's."""
    owner = "interpolate"
    if not isinstance(mode, str) or mode not in _RANKS:
        raise located(
            ValueError, f"For '{owner}', 'mode' must be in '{list(_RANKS)}', but got {mode}"
        )
    checks.tensors(owner, input=input)
    rank = len(input.shape)
    if rank not in _RANKS[mode]:
        raise located(
            ValueError,
            f"For '{owner}', {mode} only support '{list(_RANKS[mode])}'D, but got {rank}D",
        )
    if (size is None) == (scale_factor is None):
        raise located(
            ValueError,
            f"For '{owner}', exactly one of 'size' and 'scale_factor' must be given, but got "
            f"size: {size}, scale_factor: {scale_factor}.",
        )
    if align_corners is not None:
        checks.boolean("align_corners", align_corners, owner)
        if mode in ("nearest", "area", "nearest-exact"):
            raise located(
                ValueError,
                f"For '{owner}', 'align_corners' option cannot currently be set with the mode = "
                f"{mode}, and dim = {rank}D",
            )
    if recompute_scale_factor is not None:
        checks.boolean("recompute_scale_factor", recompute_scale_factor, owner)
    sizes, scales = _target(input.shape[2:], size, scale_factor, recompute_scale_factor, owner)
    if mode == "area":
        return _Area(sizes)(input)
    if mode == "nearest-exact":
        return _Resize(sizes, "nearest", False, True, scales)(input)
    aligned = bool(align_corners)
    kind = {"nearest": "nearest", "bicubic": "table" if table else "cubic"}.get(mode, "linear")
    half = mode != "nearest" and not aligned
    return _Resize(sizes, kind, aligned, half, scales)(input)


def _target(
    now: tuple[int, ...], size: Any, factor: Any, recompute: bool | None, owner: str
) -> tuple[tuple[int, ...], tuple[float, ...]]:
    """Give the sizes of the output, and the ratios where they do not follow from them."""
    count = len(now)
    for name, value in (("size", size), ("scale_factor", factor)):
        if isinstance(value, tuple | list) and len(value) != count:
            raise located(
                ValueError,
                f"For '{owner}', 'input' and '{name}' must have the same spatial dimensions, but "
                f"got 'input' is {count}D, '{name}' is {len(value)}D",
            )
    if size is not None:
        if recompute:
            raise located(
                ValueError,
                f"For '{owner}', it is incorrect to set 'recompute_scale_factor' to True after "
                "specifying an explicit 'size'.",
            )
        sizes = tuple(size) if isinstance(size, tuple | list) else (size,) * count
        return tuple(checks.positive_int(f"size[{i}]", n, owner) for i, n in enumerate(sizes)), ()
    factors = tuple(factor) if isinstance(factor, tuple | list) else (factor,) * count
    for i, f in enumerate(factors):
        checks.of_type(f"scale_factor[{i}]", f, (float, int), owner)
        if f <= 0:
            raise located(
                ValueError,
                f"For '{owner}', the 'scale_factor[{i}]' must be float and must > 0, but got '{f}' "
                f"with type '{type(f).__name__}'.",
            )
    sizes = tuple(math.floor(n * f) for n, f in zip(now, factors, strict=True))
    sizes = tuple(checks.positive_int("size item", n, owner) for n in sizes)
    return sizes, () if recompute else tuple(float(f) for f in factors)


class _Area(Primitive, register=False):
    """Averages over regions of the axes after the first two."""

    size: tuple[int, ...]

    def compute(self, x: Array) -> Array:
        return adaptive_average(x, self.size)
