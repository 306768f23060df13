"""Transforms that cut, erase, place and flip parts of an image."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import (
    INT32_MAX,
    check_bool,
    check_int,
    check_interval,
    check_type,
)
from mindjax.dataset.engine.run import draw
from mindjax.dataset.transforms.operation import OneToOne, is_pil
from mindjax.dataset.vision.enums import Border, Inter, SliceMode
from mindjax.dataset.vision.geometry import GeometricOperation, check_fill, crop, pad
from mindjax.dataset.vision.image import ImageOperation, check_size, height_axis
from mindjax.dataset.vision.resize import resize


def _size_pair(owner: str, size: Any) -> tuple[int, int]:
    given = check_size(owner, "size", size)
    return given if isinstance(given, tuple) else (given, given)


class Crop(GeometricOperation):
    """Cuts a rectangle out.

    Args:
        coordinates: (row, column) of its upper left corner.
        size: edge of a square, or (height, width).
    """

    def __init__(self, coordinates: Any, size: Any) -> None:
        check_type("Crop", "coordinates", coordinates, (list, tuple))
        if len(coordinates) != 2:
            raise located(
                TypeError, "For 'Crop': Coordinates should be a list/tuple (y, x) of length 2."
            )
        self.top, self.left = (
            check_int("Crop", f"coordinates[{n}]", value, 0) for n, value in enumerate(coordinates)
        )
        self.size = _size_pair("Crop", size)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image)
        at = height_axis(image.ndim)
        height, width = image.shape[at], image.shape[at + 1]
        if self.top + self.size[0] > height or self.left + self.size[1] > width:
            raise self._fail(
                f"Crop size is greater than the image dim: {self.size} from ({self.top}, "
                f"{self.left}) of {height} x {width}."
            )
        return np.ascontiguousarray(crop(image, self.top, self.left, *self.size))


class ResizedCrop(GeometricOperation):
    """Cuts a rectangle out and resizes it.

    Args:
        top: its first row.
        left: its first column.
        height: its height.
        width: its width.
        size: edge of a square, or (height, width), of the result.
        interpolation: interpolation of ``Resize``.
    """

    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        size: Any,
        interpolation: Inter = Inter.BILINEAR,
    ) -> None:
        owner = "ResizedCrop"
        self.top, self.left = check_int(owner, "top", top, 0), check_int(owner, "left", left, 0)
        self.height = check_int(owner, "height", height, 1)
        self.width = check_int(owner, "width", width, 1)
        check_type(owner, "interpolation", interpolation, Inter)
        self.size, self.interpolation = _size_pair(owner, size), interpolation

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image)
        at = height_axis(image.ndim)
        if self.top + self.height > image.shape[at] or self.left + self.width > image.shape[at + 1]:
            raise self._fail(
                f"the crop of {self.height} x {self.width} from ({self.top}, {self.left}) is not "
                f"inside the image of {image.shape[at]} x {image.shape[at + 1]}."
            )
        part = crop(image, self.top, self.left, self.height, self.width)
        return resize(part, part.ndim, self.size, self.interpolation, self._fail)


class HorizontalFlip(GeometricOperation):
    """Swaps left and right."""

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image)
        return np.ascontiguousarray(np.flip(image, height_axis(image.ndim) + 1))


class VerticalFlip(GeometricOperation):
    """Swaps top and bottom."""

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image)
        return np.ascontiguousarray(np.flip(image, height_axis(image.ndim)))


class PadToSize(GeometricOperation):
    """Pads an image to a size.

    Args:
        size: edge of a square, or (height, width).
        offset: pixels above and left of the image, or (above, left); None puts it in the middle.
        fill_value: value of the new pixels, or one a channel, in [0, 255].
        padding_mode: what surrounds the image.
    """

    def __init__(
        self,
        size: Any,
        offset: Any = None,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        owner = "PadToSize"
        check_type(owner, "size", size, (int, list, tuple))
        sizes = [size, size] if isinstance(size, int) else list(size)
        if len(sizes) != 2:
            raise located(ValueError, f"For '{owner}': The size must be a sequence of length 2.")
        self.size = [check_int(owner, f"size{n}", value, 1) for n, value in enumerate(sizes)]
        if offset is not None:
            check_type(owner, "offset", offset, (int, list, tuple))
        places = [offset, offset] if isinstance(offset, int) else list(offset or [])
        if len(places) not in (0, 2):
            raise located(
                ValueError, f"For '{owner}': The offset must be empty or a sequence of length 2."
            )
        self.offset = [check_int(owner, f"offset{n}", value, 0) for n, value in enumerate(places)]
        self.fill = check_fill(owner, fill_value)
        check_type(owner, "padding_mode", padding_mode, Border)
        self.padding_mode = padding_mode

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image, 2, 3)
        spare = [want - have for want, have in zip(self.size, image.shape[:2], strict=True)]
        start = self.offset or [max(0, gap) // 2 for gap in spare]
        end = [gap - first for gap, first in zip(spare, start, strict=True)]
        if min(*spare, *end) < 0:
            raise self._fail(
                f"the target size {self.size} should be no less than the image with its offset, "
                f"but got an image of {image.shape[:2]} and offset {start}."
            )
        margins = (start[1], start[0], end[1], end[0])
        fill = self.fill[: image.shape[-1]] if image.ndim == 3 else self.fill
        return pad(image, image.ndim, margins, fill, self.padding_mode)


class _Crops(OneToOne):
    """A transform of one PIL image into several."""

    def __init__(self, size: Any) -> None:
        self.size = _size_pair(type(self).__name__, size)

    def _to_input(self, value: Any) -> Any:
        if not is_pil(value):
            raise self._fail(
                f"Input image should be a Pillow image, but got {type(value)}.", TypeError
            )
        return value

    def _five(self, image: Any) -> tuple[Any, ...]:
        width, height = image.size
        tall, wide = self.size
        if tall > height or wide > width:
            raise self._fail(
                f"Crop size {self.size} is larger than input size {image.size}.", ValueError
            )
        top, left = round((height - tall) / 2.0), round((width - wide) / 2.0)
        corners = (
            (0, 0),
            (width - wide, 0),
            (0, height - tall),
            (width - wide, height - tall),
            (left, top),
        )
        return tuple(image.crop((x, y, x + wide, y + tall)) for x, y in corners)


class FiveCrop(_Crops):
    """Gives the four corners and the middle of a PIL image.

    Args:
        size: edge of a square, or (height, width).
    """

    def _apply(self, image: Any) -> tuple[Any, ...]:
        return self._five(image)


class TenCrop(_Crops):
    """Gives the four corners and the middle of a PIL image, and those of its mirror image.

    Args:
        size: edge of a square, or (height, width).
        use_vertical_flip: whether top and bottom are swapped, and not left and right.
    """

    def __init__(self, size: Any, use_vertical_flip: bool = False) -> None:
        super().__init__(size)
        self.use_vertical_flip = check_bool("TenCrop", "use_vertical_flip", use_vertical_flip)

    def _apply(self, image: Any) -> tuple[Any, ...]:
        # 0 and 1 are Pillow's FLIP_LEFT_RIGHT and FLIP_TOP_BOTTOM.
        mirror = image.transpose(1 if self.use_vertical_flip else 0)
        return self._five(image) + self._five(mirror)


class Erase(GeometricOperation):
    """Fills a rectangle.

    Args:
        top: its first row.
        left: its first column.
        height: its height.
        width: its width.
        value: value of its pixels, or one a channel, in [0, 255].
        inplace: whether the given array is changed.
    """

    def __init__(
        self,
        top: int,
        left: int,
        height: int,
        width: int,
        value: Any = 0.0,
        inplace: bool = False,
    ) -> None:
        owner = "Erase"
        self.top, self.left = check_int(owner, "top", top, 0), check_int(owner, "left", left, 0)
        self.height = check_int(owner, "height", height, 1)
        self.width = check_int(owner, "width", width, 1)
        self.inplace = check_bool(owner, "inplace", inplace)
        check_type(owner, "value", value, (float, int, tuple))
        values = (value,) if isinstance(value, float | int) else value
        if len(values) not in (1, 3):
            raise located(
                TypeError, f"For '{owner}': value should be a single integer/float or a 3-tuple."
            )
        for place, entry in enumerate(values):
            check_type(owner, f"value[{place}]", entry, (float, int))
            check_interval(owner, f"value[{place}]", entry, 0, 255)
        self.value = values

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image, 3, None)
        at = height_axis(image.ndim)
        if self.top > image.shape[at] or self.left > image.shape[at + 1]:
            raise self._fail(
                f"the position ({self.top}, {self.left}) is not inside the image of "
                f"{image.shape[at]} x {image.shape[at + 1]}."
            )
        out = image if self.inplace else image.copy()
        crop(out, self.top, self.left, self.height, self.width)[...] = self.value
        return out


class RandomErasing(ImageOperation):
    """Fills a random rectangle of an array (C, H, W).

    Args:
        prob: probability of it.
        scale: range of its area, as a share of the image's.
        ratio: range of its height by its width.
        value: value of its pixels, one a channel, or "random" for normal noise.
        inplace: whether the given array is changed.
        max_attempts: draws before the image stays.
    """

    is_random = True

    def __init__(
        self,
        prob: float = 0.5,
        scale: Any = (0.02, 0.33),
        ratio: Any = (0.3, 3.3),
        value: Any = 0,
        inplace: bool = False,
        max_attempts: int = 10,
    ) -> None:
        owner = "RandomErasing"
        check_type(owner, "prob", prob, (float, int))
        for name, pair in (("scale", scale), ("ratio", ratio)):
            check_type(owner, name, pair, (list, tuple))
            for place, entry in enumerate(pair):
                check_type(owner, f"{name}[{place}]", entry, (float, int))
            if len(pair) != 2:
                raise located(
                    TypeError, f"For '{owner}': {name} should be a list or tuple of length 2."
                )
        check_type(owner, "value", value, (int, list, tuple, str))
        self.inplace = check_bool(owner, "inplace", inplace)
        check_type(owner, "max_attempts", max_attempts, int)
        if (isinstance(value, str) and value != "random") or (
            isinstance(value, list | tuple) and len(value) != 3
        ):
            raise located(
                ValueError,
                f"For '{owner}': The value for erasing should be either a single value, or a "
                f"string 'random', or a sequence of 3 elements, but got {value!r}.",
            )
        check_interval(owner, "prob", prob, 0.0, 1.0)
        for name, pair, bounds in (("scale", scale, "[]"), ("ratio", ratio, "(]")):
            if pair[0] > pair[1]:
                raise located(
                    ValueError,
                    f"For '{owner}': {name} should be in (min,max) format. Got (max,min).",
                )
            check_interval(owner, f"{name}[0]", pair[0], 0, INT32_MAX, bounds)
            check_interval(owner, f"{name}[1]", pair[1], 0, INT32_MAX, "(]")
        for entry in value if isinstance(value, list | tuple) else [value]:
            if not isinstance(entry, str):
                check_type(owner, "value", entry, int)
                check_interval(owner, "value", entry, 0, 255)
        check_interval(owner, "max_attempts", max_attempts, 1, INT32_MAX)
        self.prob, self.scale, self.ratio = prob, scale, ratio
        self.value, self.max_attempts = value, max_attempts

    def _apply(self, image: Any) -> np.ndarray:
        if not isinstance(image, np.ndarray):
            raise self._fail(f"img should be NumPy image. Got {type(image)}.", TypeError)
        if image.ndim != 3:
            raise self._fail(
                f"img should be 3D with shape (C, H, W), got {image.shape}.", TypeError
            )
        rng = draw()
        if rng.random() >= self.prob:
            return image
        out = image if self.inplace else image.copy()
        channels, height, width = image.shape
        for _ in range(self.max_attempts):
            area = rng.uniform(*self.scale) * height * width
            aspect = math.exp(rng.uniform(math.log(self.ratio[0]), math.log(self.ratio[1])))
            tall, wide = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if tall < height and wide < width:
                top, left = rng.integers((height - tall + 1, width - wide + 1))
                if isinstance(self.value, str):
                    fill: Any = rng.standard_normal((channels, tall, wide))
                elif isinstance(self.value, int):
                    fill = self.value
                else:
                    fill = np.asarray(self.value)[:, None, None]
                out[:, top : top + tall, left : left + wide] = fill
                break
        return out


class CutOut(ImageOperation):
    """Fills random squares with zeros.

    Args:
        length: edge of a square, in pixels.
        num_patches: number of squares.
        is_hwc: whether the channels are the last axis and not the first.
    """

    is_random = True

    def __init__(self, length: int, num_patches: int = 1, is_hwc: bool = True) -> None:
        self.length = check_int("CutOut", "length", length, 1)
        self.num_patches = check_int("CutOut", "num_patches", num_patches, 1)
        self.is_hwc = check_bool("CutOut", "is_hwc", is_hwc)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        if not isinstance(image, np.ndarray) or image.ndim != 3:
            raise self._fail("image shape is not <H,W,C>.")
        out = image.copy()
        view = out if self.is_hwc else out.transpose(1, 2, 0)
        height, width = view.shape[:2]
        if self.length > height or self.length > width:
            raise self._fail(
                f"box size is too large for image erase, got: {self.length} for an image of "
                f"{height} x {width}."
            )
        for _ in range(self.num_patches):
            row, column = draw().integers((height, width))
            half = self.length // 2
            rows = slice(max(0, row - half), min(height, row - half + self.length))
            columns = slice(max(0, column - half), min(width, column - half + self.length))
            view[rows, columns] = 0
        return out


class SlicePatches(ImageOperation):
    """Cuts an image into patches.

    Args:
        num_height: number of patches in a column.
        num_width: number of patches in a row.
        slice_mode: whether the image is padded to whole patches, or the rest dropped.
        fill_value: value of the padding, in [0, 255].
    """

    def __init__(
        self,
        num_height: int = 1,
        num_width: int = 1,
        slice_mode: SliceMode = SliceMode.PAD,
        fill_value: int = 0,
    ) -> None:
        owner = "SlicePatches"
        self.num_height = check_int(owner, "num_height", num_height, 1)
        self.num_width = check_int(owner, "num_width", num_width, 1)
        check_type(owner, "slice_mode", slice_mode, SliceMode)
        self.slice_mode = slice_mode
        self.fill_value = check_int(owner, "fill_value", fill_value, 0, 255)

    def _apply(self, image: np.ndarray) -> Any:
        self._check_rank(image, 2, 3)
        height, width = image.shape[:2]
        if self.num_height > height or self.num_width > width:
            raise self._fail(
                f"the number of patches, {self.num_height} x {self.num_width}, is greater than the "
                f"image, {height} x {width}."
            )
        if self.slice_mode == SliceMode.PAD:
            tall, wide = -(-height // self.num_height), -(-width // self.num_width)
            margins = (0, 0, wide * self.num_width - width, tall * self.num_height - height)
            image = pad(image, image.ndim, margins, (self.fill_value,), Border.CONSTANT)
        else:
            tall, wide = height // self.num_height, width // self.num_width
        patches = tuple(
            np.ascontiguousarray(crop(image, row * tall, column * wide, tall, wide))
            for row in range(self.num_height)
            for column in range(self.num_width)
        )
        return patches[0] if len(patches) == 1 else patches
