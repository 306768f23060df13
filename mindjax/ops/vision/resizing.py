"""Resizing of images, sequences and volumes by averages, cubics, kernels and neighbours."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.pooling import check_rank
from mindjax.ops.resize import cubic_weights, interpolate, resized, weighed

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array
Sizes = tuple[int, ...]


def _size(value: Any, count: int, owner: str, name: str = "size") -> Sizes:
    """Check the sizes of an output: a tuple, list or Tensor."""
    sizes = checks.integers(name, value, owner)
    if len(sizes) != count:
        raise located(
            ValueError, f"For '{owner}', the '{name}' must have {count} elements, but got {sizes}."
        )
    if min(sizes) < 1:
        raise located(
            ValueError,
            f"For primitive[{owner}], the {name} value must be greater than 0, but got {sizes}.",
        )
    return sizes


def _flags(record: Any) -> None:
    checks.boolean("align_corners", record.align_corners, record.name)
    if hasattr(record, "half_pixel_centers"):
        checks.boolean("half_pixel_centers", record.half_pixel_centers, record.name)
        if record.align_corners and record.half_pixel_centers:
            raise located(
                ValueError,
                f"For '{record.name}', the 'half_pixel_centers' must be False when 'align_corners' "
                "is True, but got both True.",
            )


class ResizeArea(BoundPrimitive):
    """Averages over areas of images; call: ``ResizeArea(align_corners)(images, size)``.

    MindSpore: ``ops.ResizeArea``.

    Args:
        align_corners: the centres of the corner elements of both grids coincide.
    """

    align_corners: bool = False
    statics: ClassVar[tuple[str, ...]] = ("size",)
    size: Any = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        _flags(self)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the size."""
        return {"size": _size(statics.get("size"), 2, "ResizeArea")}

    def compute(self, x: Array) -> Array:
        """Resize (N, H, W, C) to (N, height, width, C), Float32."""
        check_rank(x, 4, "ResizeArea")
        x = x.astype(np.float32)
        for axis, out in ((1, self.size[0]), (2, self.size[1])):
            x = weighed(x, axis, self._weights(x.shape[axis], out))
        return x

    def _weights(self, n: int, out: int) -> np.ndarray[Any, Any]:
        step = (n - 1) / (out - 1) if self.align_corners and out > 1 else n / out
        weights = np.zeros((out, n))
        for i in range(out):
            begin, end = i * step, (i + 1) * step
            for j in range(math.floor(begin), math.ceil(end - 1e-9)):
                weights[i, min(j, n - 1)] += max(min(j + 1, end) - max(j, begin), 0.0)
        return weights / step


class ResizeBicubic(BoundPrimitive):
    """Cubic interpolation of images; call: ``ResizeBicubic(...)(image, size)``.

    MindSpore: ``ops.ResizeBicubic``.

    Args:
        align_corners: the centres of the corner elements of both grids coincide.
        half_pixel_centers: elements are areas, not points.
    """

    align_corners: bool = False
    half_pixel_centers: bool = False
    statics: ClassVar[tuple[str, ...]] = ("size",)
    size: Any = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        _flags(self)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the size."""
        return {"size": _size(statics.get("size"), 2, "ResizeBicubic")}

    def compute(self, x: Array) -> Array:
        """Resize (N, C, H, W)."""
        check_rank(x, 4, "ResizeBicubic")
        checks.floating("image", x.dtype, "ResizeBicubic")
        flags = (self.align_corners, self.half_pixel_centers, None, True)
        for axis, out in ((2, self.size[0]), (3, self.size[1])):
            if x.shape[axis] != out:
                x = weighed(x, axis, cubic_weights(x.shape[axis], out, *flags))
        return x


class ResizeLinear1D(Primitive):
    """Linear interpolation of sequences; call: ``ResizeLinear1D(mode)(x, size)``.

    MindSpore: ``ops.ResizeLinear1D``.

    Args:
        coordinate_transformation_mode: ``"align_corners"`` or ``"half_pixel"``.
    """

    coordinate_transformation_mode: str = "align_corners"

    def __post_init__(self) -> None:
        name = "coordinate_transformation_mode"
        value = checks.of_type(name, self.coordinate_transformation_mode, str, "ResizeLinear1D")
        checks.one_of(name, value, ("align_corners", "half_pixel"), "ResizeLinear1D")

    def __call__(self, x: Any, size: Any) -> Tensor:
        """Resize (N, C, W) to one width, in a tuple, list or Tensor.

        Raises:
            TypeError: ``x`` is no float.
            ValueError: the size or the rank does not fit.
        """
        checks.tensors("ResizeLinear1D", x=x)
        if len(x.shape) != 3:
            raise located(
                ValueError,
                "For primitive[ResizeLinear1D], the image rank must be equal to 3, but got "
                f"{len(x.shape)}.",
            )
        aligned = self.coordinate_transformation_mode == "align_corners"
        return interpolate(x, _size(size, 1, "ResizeLinear1D"), None, "linear", aligned)


def _upsampled(x: Any, size: Any, scales: Any, mode: str, aligned: bool | None, owner: str) -> Any:
    if (size is None) == (scales is None):
        what = "either" if size is None else "only one of"
        raise located(ValueError, f"For '{owner}', {what} output_size or scales should be defined.")
    checks.tensors(owner, x=x)
    if len(x.shape) != 5:
        raise located(
            ValueError,
            f"For primitive[{owner}], the image rank must be equal to 5, but got {len(x.shape)}.",
        )
    name, value = ("output_size", size) if scales is None else ("scales", scales)
    checks.of_type(name, value, (tuple, list), owner)
    if len(value) != 3:
        raise located(
            ValueError, f"For '{owner}', the '{name}' must have 3 elements, but got {value}."
        )
    return resized(x, size, scales, mode, aligned, None, True)


class UpsampleNearest3D(Primitive):
    """Nearest neighbours in volumes (MindSpore: ``ops.UpsampleNearest3D``)."""

    def __call__(self, x: Any, output_size: Any = None, scales: Any = None) -> Tensor:
        """Resize (N, C, D, H, W) to three sizes, or by three factors.

        Raises:
            TypeError: an argument is of a wrong type.
            ValueError: not exactly one of both is given, or a value or the rank does not fit.
        """
        return _upsampled(x, output_size, scales, "nearest", None, self.name)


class UpsampleTrilinear3D(Primitive):
    """Linear interpolation of volumes (MindSpore: ``ops.UpsampleTrilinear3D``).

    Args:
        align_corners: the centres of the corner elements of both grids coincide.
    """

    align_corners: bool = False

    def __post_init__(self) -> None:
        _flags(self)

    def __call__(self, x: Any, output_size: Any = None, scales: Any = None) -> Tensor:
        """Resize (N, C, D, H, W) to three sizes, or by three factors.

        Raises:
            TypeError: an argument is of a wrong type.
            ValueError: not exactly one of both is given, or a value or the rank does not fit.
        """
        return _upsampled(x, output_size, scales, "trilinear", self.align_corners, self.name)


def upsample(
    input: Any,
    size: Any = None,
    scale_factor: Any = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
) -> Tensor:
    """Resize sequences, images or volumes, as `interpolate` (MindSpore: ``ops.upsample``).

    Args:
        input: (N, C, W), (N, C, H, W) or (N, C, D, H, W), float.
        size: sizes of the output, an int or one a spatial axis.
        scale_factor: factor of every size, or one a spatial axis, in place of ``size``.
        mode: as in `interpolate`.
        align_corners: the corners of both grids coincide.
        recompute_scale_factor: take the ratio of the sizes in place of ``scale_factor`` itself.

    Returns:
        Tensor of the same rank and dtype.

    Raises:
        ValueError: a value or the rank does not fit.
    """
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def _lanczos(radius: float) -> Any:
    def kernel(x: Array) -> Array:
        return jnp.sinc(x) * jnp.sinc(x / radius)

    return kernel


def _gaussian(x: Array) -> Array:
    return jnp.exp(-2 * x * x)


def _box(x: Array) -> Array:
    return jnp.where(x == 0.5, 0.5, 1.0)


def _triangle(x: Array) -> Array:
    return 1 - x


def _keys(x: Array) -> Array:
    return jnp.where(x >= 1, ((-0.5 * x + 2.5) * x - 4) * x + 2, (1.5 * x - 2.5) * x * x + 1)


def _mitchell(x: Array) -> Array:
    far = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return jnp.where(x >= 1, far, (7 / 6 * x - 2) * x * x + 8 / 9)


# A kernel's radius, and its weight at a distance from 0 to there.
_KERNELS: dict[str, tuple[float, Any]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (0.5, _box),
    "triangle": (1.0, _triangle),
    "keyscubic": (2.0, _keys),
    "mitchellcubic": (2.0, _mitchell),
}


class ScaleAndTranslate(Primitive):
    """Scaled and moved images; call: ``ScaleAndTranslate(...)(images, size, scale, translation)``.

    MindSpore: ``ops.ScaleAndTranslate``.

    Args:
        kernel_type: ``"lanczos1"``, ``"lanczos3"``, ``"lanczos5"``, ``"gaussian"``, ``"box"``,
            ``"triangle"``, ``"keyscubic"`` or ``"mitchellcubic"``.
        antialias: widen the kernel where images shrink.
    """

    kernel_type: str = "lanczos3"
    antialias: bool = True
    size: Any = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        checks.of_type("kernel_type", self.kernel_type, str, "ScaleAndTranslate")
        checks.one_of("kernel_type", self.kernel_type, tuple(_KERNELS), "ScaleAndTranslate")
        checks.boolean("antialias", self.antialias, "ScaleAndTranslate")

    def __call__(self, images: Any, size: Any, scale: Any, translation: Any) -> Tensor:
        """Scale (N, H, W, C), and move it by elements of the output.

        Args:
            images: (N, H, W, C).
            size: (height, width) of the output, a Tensor or ints.
            scale: (2,), Float32, factors of rows and columns.
            translation: (2,), Float32, rows and columns.

        Returns:
            Tensor (N, height, width, C), Float32; 0 outside of the images.
        """
        sizes = _size(size, 2, "ScaleAndTranslate")
        record = ScaleAndTranslate(self.kernel_type, self.antialias, size=sizes)
        return Primitive.__call__(record, images, scale, translation)

    def compute(self, x: Array, scale: Array, translation: Array) -> Array:
        """Weigh rows, then columns."""
        check_rank(x, 4, "ScaleAndTranslate")
        for name, vector in (("scale", scale), ("translation", translation)):
            if vector.shape != (2,):
                raise located(
                    ValueError,
                    f"For 'ScaleAndTranslate', the shape of '{name}' must be (2,), but got "
                    f"{vector.shape}.",
                )
            if from_np(vector.dtype).kind != "float":
                raise located(
                    TypeError,
                    f"For 'ScaleAndTranslate', the dtype of '{name}' must be Float32, but got "
                    f"{from_np(vector.dtype)}.",
                )
        x = x.astype(np.float32)
        scale, translation = scale.astype(np.float32), translation.astype(np.float32)
        for i, out in enumerate(self.size):
            weights = self._weights(x.shape[i + 1], out, scale[i], translation[i])
            x = weighed(x, i + 1, weights)
        return x

    def _weights(self, n: int, out: int, scale: Array, translation: Array) -> Array:
        radius, kernel = _KERNELS[self.kernel_type]
        places = (jnp.arange(out, dtype=np.float32) + 0.5 - translation) / scale
        width = jnp.maximum(1 / scale, 1) if self.antialias else jnp.ones((), np.float32)
        centres = jnp.arange(n, dtype=np.float32) + 0.5
        distance = jnp.abs(centres - places[:, None]) / width
        weights = jnp.where(distance <= radius, kernel(distance), 0).astype(np.float32)
        total = weights.sum(1, keepdims=True)
        small = jnp.abs(total) < 1000 * np.finfo(np.float32).tiny
        outside = (places < 0) | (places > n)
        weights = weights / jnp.where(small, 1, total)
        return jnp.where(small | outside[:, None], 0, weights)
