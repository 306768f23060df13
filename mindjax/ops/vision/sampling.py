"""Sampling of images and volumes at points between their elements: grids, crops, regions."""

from __future__ import annotations

import itertools
import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.handle import current, is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.gather import check_range
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Sizes = tuple[int, ...]


class AffineGrid(BoundPrimitive):
    """Points of a grid under affine maps; call: ``AffineGrid(align_corners)(theta, output_size)``.

    MindSpore: ``ops.AffineGrid``.

    Args:
        align_corners: -1 and 1 are the centres of the outermost elements, not their far edges.
    """

    align_corners: bool = False
    statics: ClassVar[tuple[str, ...]] = ("output_size",)
    output_size: Any = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        checks.boolean("align_corners", self.align_corners, "AffineGrid")

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the size."""
        size = statics.get("output_size")
        checks.of_type("output_size", size, (tuple, list), "AffineGrid")
        size = checks.integers("output_size", size, "AffineGrid")
        if len(size) not in (4, 5) or min(size) < 1:
            raise located(
                ValueError,
                "For primitive[AffineGrid], the size of 'output_size' must be in [4,5] and its "
                f"elements above 0, but got {size}.",
            )
        return {"output_size": size}

    def compute(self, theta: Array) -> Array:
        """Map the points of a grid by (N, 2, 3) or (N, 3, 4); x comes first."""
        size = self.output_size
        if from_np(theta.dtype).kind != "float":
            raise located(
                TypeError,
                "For primitive[AffineGrid], the input argument[theta] must be a type of "
                f"{{Tensor[Float16], Tensor[Float32]}}, but got Tensor[{from_np(theta.dtype)}].",
            )
        count = len(size) - 2
        if theta.ndim != 3 or theta.shape[1:] != (count, count + 1):
            raise located(
                ValueError,
                "For 'AffineGrid', the shape of 'theta' must be [N, 2, 3] for a size of 4 and "
                f"[N, 3, 4] for a size of 5, but got {theta.shape} and {size}.",
            )
        if theta.shape[0] != size[0]:
            raise located(
                ValueError,
                "For 'AffineGrid', the output_size[0] must be equal to the shape[0] of theta, but "
                f"got {size[0]} and {theta.shape[0]}.",
            )
        lines = []
        for n in size[2:]:
            line = np.linspace(-1, 1, n) if n > 1 else np.zeros(1)
            lines.append(line if self.align_corners else line * (n - 1) / n)
        points = np.meshgrid(*lines, indexing="ij")[::-1]
        base = np.stack([*points, np.ones(size[2:])], -1)
        wide = jnp.promote_types(theta.dtype, np.float32)
        moved = jnp.einsum(
            "...j,nij->n...i",
            jnp.asarray(base, wide),
            theta.astype(wide),
            precision=jax.lax.Precision.HIGHEST,
        )
        return moved.astype(theta.dtype)


def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Tensor:
    """Map the points of a grid by affine matrices (MindSpore: ``ops.affine_grid``).

    Args:
        theta: (N, 2, 3) or (N, 3, 4), float.
        size: (N, C, H, W) or (N, C, D, H, W), ints.
        align_corners: -1 and 1 are the centres of the outermost elements, not their far edges.

    Returns:
        Tensor (N, H, W, 2) or (N, D, H, W, 3), x first.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: the shapes do not fit.
    """
    return AffineGrid(align_corners)(theta, size)


def _reflected(x: Array, low: float, span: float) -> Array:
    """Reflect coordinates at both ends of [low, low + span]."""
    if span == 0:
        return jnp.zeros_like(x)
    x = jnp.abs(x - np.asarray(low, x.dtype))
    span_array = np.asarray(span, x.dtype)
    extra, flips = jnp.remainder(x, span_array), jnp.floor(x / span_array)
    odd = jnp.remainder(flips, np.asarray(2, x.dtype)) == 1
    return jnp.where(odd, span_array - extra, extra) + np.asarray(low, x.dtype)


def _coordinates(points: Array, n: int, padding: str, align_corners: bool) -> Array:
    """Turn places in [-1, 1] into indices of an axis of ``n`` elements."""
    one, half = np.asarray(1, points.dtype), np.asarray(0.5, points.dtype)
    if align_corners:
        x = (points + one) * half * np.asarray(n - 1, points.dtype)
    else:
        x = ((points + one) * np.asarray(n, points.dtype) - one) * half
    if padding == "zeros":
        return x
    if padding == "reflection":
        x = _reflected(x, 0, n - 1) if align_corners else _reflected(x, -0.5, n)
    return jnp.clip(x, np.asarray(0, x.dtype), np.asarray(n - 1, x.dtype))


def sample(x: Array, indices: list[Array], corners: list[Array]) -> Array:
    """Weigh the elements of (C, sizes) around points; what is outside counts as 0.

    Args:
        x: (C, sizes).
        indices: for each axis the lower index, integers stored as floats.
        corners: for each axis the fraction beyond it.

    Returns:
        (C, points).
    """
    sizes = x.shape[1:]
    flat = x.reshape(x.shape[0], -1)
    total = None
    for steps in itertools.product((0, 1), repeat=len(sizes)):
        weight, inside, place = None, None, None
        for step, n, low, fraction in zip(steps, sizes, indices, corners, strict=True):
            at = low + np.asarray(step, low.dtype)
            part = fraction if step else 1 - fraction
            here = (at >= 0) & (at < n)
            spot = jnp.clip(at, 0, n - 1).astype(np.int32)
            weight = part if weight is None else weight * part
            inside = here if inside is None else inside & here
            place = spot if place is None else place * np.int32(n) + spot
        assert weight is not None and inside is not None and place is not None
        taken = jnp.take(flat, place, axis=1, mode="clip")
        term = taken * jnp.where(inside, weight, 0).astype(x.dtype)
        total = term if total is None else total + term
    assert total is not None
    return total


def _grid_sampled(x: Array, grid: Array, mode: str, padding: str, align_corners: bool) -> Array:
    sizes = x.shape[2:]
    wide = jnp.promote_types(x.dtype, np.float32)

    def one(image: Array, points: Array) -> Array:
        axes = [
            _coordinates(points[..., -1 - i].astype(wide), n, padding, align_corners)
            for i, n in enumerate(sizes)
        ]
        if mode == "nearest":
            near = [jax.lax.stop_gradient(jnp.round(a)) for a in axes]
            inside = jnp.ones(near[0].shape, np.bool_)
            place = jnp.zeros(near[0].shape, np.int32)
            for a, n in zip(near, sizes, strict=True):
                inside = inside & (a >= 0) & (a < n)
                place = place * np.int32(n) + jnp.clip(a, 0, n - 1).astype(np.int32)
            taken = jnp.take(image.reshape(image.shape[0], -1), place, axis=1, mode="clip")
            return jnp.where(inside, taken, 0).astype(image.dtype)
        low = [jax.lax.stop_gradient(jnp.floor(a)) for a in axes]
        return sample(image.astype(wide), low, [a - b for a, b in zip(axes, low, strict=True)])

    return jax.vmap(one)(x, grid).astype(x.dtype)


class _GridSampler(Primitive, register=False):
    """What both samplers share.

    Args:
        interpolation_mode: ``"bilinear"`` or ``"nearest"``.
        padding_mode: ``"zeros"``, ``"border"`` or ``"reflection"``, what lies outside.
        align_corners: -1 and 1 are the centres of the outermost elements, not their far edges.
    """

    interpolation_mode: str = "bilinear"
    padding_mode: str = "zeros"
    align_corners: bool = False

    count: ClassVar[int] = 2

    def __post_init__(self) -> None:
        owner = self.name
        modes = ("bilinear", "nearest")
        checks.one_of("interpolation_mode", self.interpolation_mode, modes, owner)
        paddings = ("zeros", "border", "reflection")
        checks.one_of("padding_mode", self.padding_mode, paddings, owner)
        checks.boolean("align_corners", self.align_corners, owner)

    def compute(self, x: Array, grid: Array) -> Array:
        """Sample (N, C, sizes) at (N, new sizes, coordinates), x first."""
        owner, rank = self.name, self.count + 2
        for name, array in (("input_x", x), ("grid", grid)):
            if array.ndim != rank:
                raise located(
                    ValueError,
                    f"For '{owner}', '{name}' must be a {rank}-D tensor, but got {array.ndim}-D "
                    "tensor.",
                )
        checks.floating("input_x", x.dtype, owner)
        checks.same_dtype(owner, input_x=x.dtype, grid=grid.dtype)
        if grid.shape[-1] != self.count or grid.shape[0] != x.shape[0]:
            raise located(
                ValueError,
                f"For '{owner}', 'grid' must be (N, ..., {self.count}) with the N of 'input_x', "
                f"but got shapes {grid.shape} and {x.shape}.",
            )
        return _grid_sampled(
            x, grid, self.interpolation_mode, self.padding_mode, self.align_corners
        )


class GridSampler2D(_GridSampler):
    """Images sampled at the points of a grid (MindSpore: ``ops.GridSampler2D``).

    Args:
        interpolation_mode: ``"bilinear"`` or ``"nearest"``.
        padding_mode: ``"zeros"``, ``"border"`` or ``"reflection"``, what lies outside.
        align_corners: -1 and 1 are the centres of the outermost elements, not their far edges.
    """


class GridSampler3D(_GridSampler):
    """Volumes sampled at the points of a grid (MindSpore: ``ops.GridSampler3D``).

    Args:
        interpolation_mode: ``"bilinear"`` or ``"nearest"``.
        padding_mode: ``"zeros"``, ``"border"`` or ``"reflection"``, what lies outside.
        align_corners: -1 and 1 are the centres of the outermost elements, not their far edges.
    """

    count: ClassVar[int] = 3


def grid_sample(
    input: Any,
    grid: Any,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Sample images or volumes at the points of a grid (MindSpore: ``ops.grid_sample``).

    Args:
        input: (N, C, H, W) or (N, C, D, H, W), float.
        grid: (N, H', W', 2) or (N, D', H', W', 3) in [-1, 1], x first, of the same dtype.
        mode: ``"bilinear"`` or ``"nearest"``; for volumes also ``"trilinear"``.
        padding_mode: ``"zeros"``, ``"border"`` or ``"reflection"``, what lies outside.
        align_corners: -1 and 1 are the centres of the outermost elements, not their far edges;
            None for False.

    Returns:
        Tensor (N, C, H', W') or (N, C, D', H', W').

    Raises:
        TypeError: an argument is of a wrong type, or the dtypes differ.
        ValueError: a mode is unknown, or the shapes do not fit.
    """
    kind = GridSampler2D if len(shape_of(input)) == 4 else GridSampler3D
    if mode == "trilinear" and kind is GridSampler3D:
        mode = "bilinear"
    return kind(mode, padding_mode, False if align_corners is None else align_corners)(input, grid)


def _crop_size(size: Any, owner: str) -> Sizes:
    """Check the height and width of crops."""
    checks.of_type("crop_size", size, tuple, owner)
    if len(size) != 2:
        raise located(
            ValueError, f"For '{owner}', the 'crop_size' must be (height, width), but got {size}."
        )
    size = tuple(checks.integer("crop_size", n, owner) for n in size)
    if min(size) < 1:
        raise located(
            ValueError, f"For '{owner}', the crop_size's value must be positive, but got {size}."
        )
    return size


def _evenly(low: Array, high: Array, size: np.float32, count: int) -> Array:
    """Give places from one border of a box to the other, rounded as C rounds Float32.

    XLA would fuse products with sums and fold the constants, which moves a sample by more than a
    pixel's value tells. In Float64 every step is exact until it is rounded.
    """

    def rounded(x: Array) -> Array:
        # XLA may drop a pair of casts.
        return jax.lax.reduce_precision(x, 8, 23)

    begin, extent = low.astype(np.float64), (high - low).astype(np.float64)
    step = rounded(rounded(extent * np.float64(size)) / np.float64(count - 1))
    places = rounded(jnp.arange(count, dtype=np.float64) * step)
    return (rounded(begin * np.float64(size)) + places).astype(np.float32)


class CropAndResize(BoundPrimitive):
    """Boxes of images, resized; call: ``CropAndResize(...)(x, boxes, box_index, crop_size)``.

    MindSpore: ``ops.CropAndResize``.

    Args:
        method: ``"bilinear"``, ``"nearest"`` or ``"bilinear_v2"``, which averages over areas.
        extrapolation_value: what lies outside of the image.
    """

    method: str = "bilinear"
    extrapolation_value: float = 0.0
    arrays: ClassVar[int] = 3
    statics: ClassVar[tuple[str, ...]] = ("crop_size",)
    crop_size: Any = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        methods = ("bilinear", "nearest", "bilinear_v2")
        checks.of_type("method", self.method, str, "CropAndResize")
        checks.one_of("method", self.method, methods, "CropAndResize")
        checks.of_type("extrapolation_value", self.extrapolation_value, float, "CropAndResize")

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the size of the crops."""
        return {"crop_size": _crop_size(statics.get("crop_size"), "CropAndResize")}

    def compute(self, x: Array, boxes: Array, box_index: Array) -> Array:
        """Cut boxes (number, 4), as y1, x1, y2, x2 in [0, 1], out of (N, H, W, C).

        Returns:
            (number, height, width, C), Float32.
        """
        _check_boxes(x, boxes, box_index, "CropAndResize")
        images = jnp.moveaxis(x.astype(np.float32), -1, 1)
        crop = self._area if self.method == "bilinear_v2" else self._point
        cut = jax.vmap(lambda box, i: crop(jnp.take(images, i, 0, mode="clip"), box))
        out = cut(boxes.astype(np.float32), box_index)
        return jnp.moveaxis(out, 1, -1).astype(np.float32)

    def _point(self, image: Array, box: Array) -> Array:
        """Sample at points from border to border of a box, or at its centre."""
        axes = []
        for n, out, low, high in zip(
            image.shape[1:], self.crop_size, box[:2], box[2:], strict=True
        ):
            size = np.float32(n - 1)
            if out > 1:
                axes.append(_evenly(low, high, size, out))
            else:
                axes.append(np.float32(0.5) * (low + high)[None] * size)
        inside = [(a >= 0) & (a <= n - 1) for a, n in zip(axes, image.shape[1:], strict=True)]
        if self.method == "nearest":
            # Half is rounded away from 0, as C does.
            rows, columns = [
                jnp.clip(jnp.floor(a + 0.5), 0, n - 1).astype(np.int32)
                for a, n in zip(axes, image.shape[1:], strict=True)
            ]
            out = image[:, rows[:, None], columns]
        else:
            out = _bilinear(image, axes)
        here = inside[0][:, None] & inside[1]
        return jnp.where(here, out, np.float32(self.extrapolation_value))

    def _area(self, image: Array, box: Array) -> Array:
        """Sample at centres of areas of a box of whole elements."""
        axes, starts = [], []
        for n, out, low, high in zip(
            image.shape[1:], self.crop_size, box[:2], box[2:], strict=True
        ):
            begin, end = jnp.trunc(low * np.float32(n)), jnp.trunc(high * np.float32(n))
            size = jnp.maximum(end - begin + 1, 1)
            place = (jnp.arange(out, dtype=np.float32) + 0.5) * (size / np.float32(out)) - 0.5
            axes.append((place, size, n))
            starts.append(begin)
        lows, highs, fractions = [], [], []
        for (place, size, n), begin in zip(axes, starts, strict=True):
            low = jnp.clip(jnp.floor(place), 0, size - 1)
            high = jnp.clip(jnp.ceil(place), 0, size - 1)
            fractions.append(place - low)
            lows.append(jnp.clip(begin + low, 0, n - 1).astype(np.int32))
            highs.append(jnp.clip(begin + high, 0, n - 1).astype(np.int32))
        return _mixed(image, lows, highs, fractions)


def _mixed(image: Array, low: list[Array], high: list[Array], part: list[Array]) -> Array:
    """Interpolate (C, H, W) between lower and upper rows and columns."""
    rows, columns = part[0][:, None], part[1]
    top = image[:, low[0][:, None], low[1]]
    top = top + (image[:, low[0][:, None], high[1]] - top) * columns
    bottom = image[:, high[0][:, None], low[1]]
    bottom = bottom + (image[:, high[0][:, None], high[1]] - bottom) * columns
    return top + (bottom - top) * rows


def _bilinear(image: Array, axes: list[Array]) -> Array:
    """Interpolate (C, H, W) at rows and columns; places outside are moved to the border."""
    lows, highs, parts = [], [], []
    for place, n in zip(axes, image.shape[1:], strict=True):
        low = jnp.floor(place)
        parts.append(place - low)
        lows.append(jnp.clip(low, 0, n - 1).astype(np.int32))
        highs.append(jnp.clip(low + 1, 0, n - 1).astype(np.int32))
    return _mixed(image, lows, highs, parts)


def _check_boxes(x: Array, boxes: Array, box_index: Array, owner: str) -> None:
    for name, array, rank in (("x", x, 4), ("boxes", boxes, 2), ("box_index", box_index, 1)):
        if array.ndim != rank:
            raise located(
                ValueError, f"For '{owner}', the rank of '{name}' must be {rank}, not {array.ndim}."
            )
    if boxes.shape[1] != 4 or boxes.shape[0] != box_index.shape[0]:
        raise located(
            ValueError,
            f"For '{owner}', 'boxes' must be (n, 4) and 'box_index' (n,), but got {boxes.shape} "
            f"and {box_index.shape}.",
        )
    if from_np(boxes.dtype).kind != "float" or not jnp.issubdtype(box_index.dtype, jnp.integer):
        raise located(
            TypeError,
            f"For '{owner}', 'boxes' must be Float32 and 'box_index' Int32, but got "
            f"{from_np(boxes.dtype)} and {from_np(box_index.dtype)}.",
        )


def crop_and_resize(
    image: Any,
    boxes: Any,
    box_indices: Any,
    crop_size: Any,
    method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Tensor:
    """Cut boxes out of images and resize them (MindSpore: ``ops.crop_and_resize``).

    Args:
        image: (N, H, W, C).
        boxes: (number, 4), Float32: y1, x1, y2, x2 as fractions of the image.
        box_indices: (number,), Int32: the image of each box.
        crop_size: (height, width) of the crops, ints.
        method: ``"bilinear"``, ``"nearest"`` or ``"bilinear_v2"``, which averages over areas.
        extrapolation_value: what lies outside of the image.

    Returns:
        Tensor (number, height, width, C), Float32.

    Raises:
        TypeError: an argument is of a wrong type.
        ValueError: the shapes do not fit, or an index is out of range (in PYNATIVE on the CPU).
    """
    if shape_of(image):
        check_range("CropAndResize", box_indices, shape_of(image)[0], ValueError)
    return CropAndResize(method, extrapolation_value)(image, boxes, box_indices, crop_size)


class ROIAlign(Primitive):
    """Regions of interest, averaged over bilinear samples (He 2017; MindSpore: ``ops.ROIAlign``).

    Args:
        pooled_height: height of the output.
        pooled_width: width of the output.
        spatial_scale: from a region's coordinates to those of the features.
        sample_num: samples an axis and bin; below 1, as many as a bin has whole elements.
        roi_end_mode: 1 moves a region's far corner by 1 before scaling; 0 makes every region at
            least 1 element wide instead.
    """

    pooled_height: int
    pooled_width: int
    spatial_scale: float
    sample_num: int = 2
    roi_end_mode: int = 1
    most: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        for name in ("pooled_height", "pooled_width", "sample_num", "roi_end_mode"):
            checks.of_type(name, getattr(self, name), int, "ROIAlign")
        checks.of_type("spatial_scale", self.spatial_scale, float, "ROIAlign")
        checks.positive_int("pooled_height", self.pooled_height, "ROIAlign")
        checks.positive_int("pooled_width", self.pooled_width, "ROIAlign")
        if self.roi_end_mode not in (0, 1):
            raise located(
                ValueError,
                f"For 'ROIAlign', the 'roi_end_mode' must be 0 or 1, but got {self.roi_end_mode}.",
            )

    def __call__(self, features: Any, rois: Any) -> Any:
        """Pool regions (n, 5), as index, x1, y1, x2, y2, of (N, C, H, W) to (n, C, h, w).

        Raises:
            ValueError: a shape does not fit.
            NotImplementedError: ``sample_num`` is below 1 in a compiled function.
        """
        if self.sample_num > 0:
            return super().__call__(features, rois)
        array = unwrap(rois)
        if current.frame is not None or is_traced(array):
            raise located(
                NotImplementedError,
                "For 'ROIAlign', a 'sample_num' below 1 depends on the values of 'rois' and cannot "
                f"be compiled, but got {self.sample_num}: give the number of samples.",
            )
        host = np.asarray(array, np.float64)
        reach = (host[:, 3:] - host[:, 1:3] + self.roi_end_mode) * self.spatial_scale
        bins = np.maximum(reach, 1.0) / np.asarray([self.pooled_width, self.pooled_height])
        most = max(int(np.ceil(bins.max(initial=1.0))), 1)
        values = {f: self.__dict__[f] for f in type(self)._fields}
        return Primitive.__call__(ROIAlign(**{**values, "most": most}), features, rois)

    def compute(self, features: Array, rois: Array) -> Array:
        """Pool each region."""
        if features.ndim != 4 or rois.ndim != 2 or rois.shape[1] != 5:
            raise located(
                ValueError,
                "For 'ROIAlign', 'features' must be (N, C, H, W) and 'rois' (n, 5), but got shapes "
                f"{features.shape} and {rois.shape}.",
            )
        wide = jnp.promote_types(features.dtype, np.float32)
        maps = features.astype(wide)
        one = jax.vmap(lambda roi: self._region(maps, roi))
        return one(rois.astype(wide)).astype(features.dtype)

    def _region(self, maps: Array, roi: Array) -> Array:
        image = jnp.take(maps, roi[0].astype(np.int32), 0, mode="clip")
        outs = (self.pooled_height, self.pooled_width)
        points, counted, counts = [], [], []
        for axis, out in enumerate(outs):
            scale = np.asarray(self.spatial_scale, roi.dtype)
            begin = roi[2 - axis] * scale
            size = (roi[4 - axis] + self.roi_end_mode) * scale - begin
            if self.roi_end_mode == 0:
                size = jnp.maximum(size, 1)
            bin_size = size / out
            if self.sample_num > 0:
                number, count = self.sample_num, jnp.asarray(self.sample_num, roi.dtype)
            else:
                number, count = self.most, jnp.maximum(jnp.floor(bin_size), 1)
            steps = (jnp.arange(number).astype(roi.dtype) + 0.5) / count
            place = begin + (jnp.arange(out).astype(roi.dtype)[:, None] + steps) * bin_size
            points.append(place.reshape(-1))
            counted.append(jnp.tile(jnp.arange(number) < count, out))
            counts.append(count)
        inside, axes = [], []
        for place, n, valid in zip(points, image.shape[1:], counted, strict=True):
            inside.append((place >= -1) & (place <= n) & valid)
            axes.append(jnp.clip(place, 0, n - 1))
        values = _bilinear(image, axes)
        values = jnp.where(inside[0][:, None] & inside[1], values, 0)
        number = [math.prod(a.shape) // o for a, o in zip(axes, outs, strict=True)]
        parts = values.reshape(image.shape[0], outs[0], number[0], outs[1], number[1])
        return parts.sum((2, 4)) / (counts[0] * counts[1])


class ExtractGlimpse(Primitive):
    """Windows of images around offsets; call: ``ExtractGlimpse(...)(x, size, offsets)``.

    MindSpore: ``ops.ExtractGlimpse``.

    Args:
        centered: offsets count from the centre of the image, in halves of its size.
        normalized: offsets are fractions of the image, not elements.
        uniform_noise: fill what lies outside with uniform noise; goes with ``"uniform"`` only.
        noise: ``"uniform"``, ``"gaussian"`` or ``"zero"``, what fills the outside.
    """

    centered: bool = True
    normalized: bool = True
    uniform_noise: bool = True
    noise: str = "uniform"
    size: Any = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        for name in ("centered", "normalized", "uniform_noise"):
            checks.boolean(name, getattr(self, name), "ExtractGlimpse")
        kinds = ("uniform", "gaussian", "zero")
        checks.one_of("noise", self.noise, kinds, "ExtractGlimpse")
        if self.uniform_noise and self.noise != "uniform":
            raise located(
                ValueError,
                "For 'ExtractGlimpse', the value of 'noise' must be uniform when uniform_noise is "
                f"True, but got {self.noise}.",
            )

    def __call__(self, x: Any, size: Any, offsets: Any) -> Any:
        """Cut windows out of (N, H, W, C).

        Args:
            x: (N, H, W, C), Float32.
            size: (height, width) of the windows, a Tensor or ints.
            offsets: (N, 2), Float32, row and column of each window's centre.

        Returns:
            Tensor (N, height, width, C).
        """
        sizes = checks.integers("size", size, "ExtractGlimpse")
        if len(sizes) != 2 or min(sizes) < 1:
            raise located(
                ValueError,
                f"For 'ExtractGlimpse', the 'size' must be two ints above 0, but got {sizes}.",
            )
        flags = (self.centered, self.normalized, self.uniform_noise, self.noise)
        record = ExtractGlimpse(*flags, size=sizes)
        if self.noise == "zero":
            return Primitive.__call__(record, x, offsets)
        return Primitive.__call__(record, x, offsets, *default_generator().next_key())

    def compute(
        self, x: Array, offsets: Array, seed: Array | None = None, offset: Array | None = None
    ) -> Array:
        """Cut one window an image; noise is drawn with the key of one draw."""
        if x.ndim != 4 or offsets.shape != (x.shape[0], 2):
            raise located(
                ValueError,
                "For 'ExtractGlimpse', 'x' must be (N, H, W, C) and 'offsets' (N, 2), but got "
                f"shapes {x.shape} and {offsets.shape}.",
            )
        checks.floating("offsets", offsets.dtype, "ExtractGlimpse")
        shape = (x.shape[0], *self.size, x.shape[3])
        if seed is None or offset is None:
            outside = jnp.zeros(shape, x.dtype)
        elif self.noise == "gaussian":
            outside = jax.random.normal(key(seed, offset), shape, x.dtype)
        else:
            outside = jax.random.uniform(key(seed, offset), shape, x.dtype)

        def one(image: Array, place: Array, filling: Array) -> Array:
            indices, valid = [], []
            for i, out in enumerate(self.size):
                n = np.float32(image.shape[i])
                centre = place[i] * n if self.normalized else place[i]
                centre = centre / 2 + n / 2 if self.centered else centre
                # Begins are cut towards 0, as the original does.
                begin = jnp.trunc(centre - np.float32(out) / 2).astype(np.int32)
                index = begin + jnp.arange(out, dtype=np.int32)
                valid.append((index >= 0) & (index < image.shape[i]))
                indices.append(jnp.clip(index, 0, image.shape[i] - 1))
            taken = image[indices[0][:, None], indices[1]]
            inside = valid[0][:, None] & valid[1]
            return jnp.where(inside[..., None], taken, filling)

        return jax.vmap(one)(x, offsets.astype(np.float32), outside)
