"""Transforms that crop, pad and flip."""

from __future__ import annotations

import math
from numbers import Number
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
from mindjax.dataset.transforms.operation import is_pil
from mindjax.dataset.vision.enums import Border, Inter
from mindjax.dataset.vision.image import (
    ImageOperation,
    check_size,
    from_pil,
    height_axis,
    like_pil,
)
from mindjax.dataset.vision.resize import resize

Margins = tuple[int, int, int, int]

_MODES = {
    Border.EDGE: "edge",
    Border.REFLECT: "reflect",
    Border.SYMMETRIC: "symmetric",
}


class GeometricOperation(ImageOperation):
    """A transform that moves pixels; a PIL image gives a PIL image."""

    def __call__(self, *values: Any) -> Any:
        """Transform one image."""
        if len(values) == 1 and is_pil(values[0]):
            return like_pil(super().__call__(from_pil(values[0])))
        return super().__call__(*values)


def check_padding(owner: str, padding: Any) -> Margins:
    """Bring a padding argument to (left, top, right, bottom).

    Raises:
        TypeError: it is no integer and no sequence.
        ValueError: it is negative, or has neither 2 nor 4 entries.
    """
    check_type(owner, "padding", padding, (tuple, list, Number))
    if isinstance(padding, Number):
        value = check_int(owner, "padding", padding, 0)
        return value, value, value, value
    if len(padding) not in (2, 4):
        raise located(
            ValueError,
            f"For '{owner}': The size of the padding list or tuple should be 2 or 4, but got "
            f"{padding!r}.",
        )
    values = [check_int(owner, f"padding[{n}]", value, 0) for n, value in enumerate(padding)]
    if len(values) == 2:
        return values[0], values[1], values[0], values[1]
    return values[0], values[1], values[2], values[3]


def check_fill(owner: str, fill_value: Any) -> tuple[int, ...]:
    """Bring a fill value, one or three numbers of [0, 255], to a tuple."""
    values = (fill_value,) if isinstance(fill_value, int) else fill_value
    check_type(owner, "fill_value", values, tuple)
    if len(values) not in (1, 3):
        raise located(
            TypeError, f"For '{owner}': fill_value should be a single integer or a 3-tuple."
        )
    return tuple(check_int(owner, "fill_value", value, 0, 255) for value in values)


def pad(
    image: np.ndarray, rank: int, margins: Margins, fill: tuple[int, ...], mode: Border
) -> np.ndarray:
    """Pad images.

    Args:
        image: (H, W), (..., H, W, C) or a stack of them.
        rank: rank of one image of the stack.
        margins: left, top, right, bottom, in pixels.
        fill: one value, or one a channel, for ``Border.CONSTANT``.
        mode: what surrounds the image.

    Returns:
        The larger images.
    """
    left, top, right, bottom = margins
    at = image.ndim - rank + height_axis(rank)
    widths = [(0, 0)] * image.ndim
    widths[at], widths[at + 1] = (top, bottom), (left, right)
    if mode != Border.CONSTANT:
        return np.pad(image, widths, mode=_MODES[mode])  # type: ignore[call-overload]
    out = np.pad(image, widths)
    colour = np.asarray(fill if rank > 2 else fill[:1]).astype(image.dtype)
    if colour.any():
        inside = [slice(None)] * image.ndim
        inside[at] = slice(top, top + image.shape[at])
        inside[at + 1] = slice(left, left + image.shape[at + 1])
        out[...] = colour if rank > 2 else colour[0]
        out[tuple(inside)] = image
    return out


def crop(image: np.ndarray, top: int, left: int, height: int, width: int) -> np.ndarray:
    """Cut a rectangle out of an image (H, W) or (..., H, W, C)."""
    rows, columns = slice(top, top + height), slice(left, left + width)
    return image[rows, columns] if image.ndim == 2 else image[..., rows, columns, :]


class Pad(GeometricOperation):
    """Pads an image.

    Args:
        padding: pixels on all sides, or (left and right, top and bottom), or (left, top, right,
            bottom).
        fill_value: value of the new pixels, or one a channel, in [0, 255].
        padding_mode: what surrounds the image.
    """

    def __init__(
        self, padding: Any, fill_value: Any = 0, padding_mode: Border = Border.CONSTANT
    ) -> None:
        self.margins = check_padding("Pad", padding)
        self.fill = check_fill("Pad", fill_value)
        check_type("Pad", "padding_mode", padding_mode, Border)
        self.padding_mode = padding_mode

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image, 2, 3)
        return self._pad(image, image.ndim)

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        self._check_rank(rows[0], 2, 3)
        return self._pad(rows, rows.ndim - 1)

    def _pad(self, image: np.ndarray, rank: int) -> np.ndarray:
        if rank == 3 and image.shape[-1] not in (1, 3):
            raise self._fail(
                "the channel of image tensor does not match the requirement of operator. Expecting "
                f"tensor in channel of (1, 3). But got channel {image.shape[-1]}."
            )
        fill = self.fill[: image.shape[-1]] if rank == 3 else self.fill
        return pad(image, rank, self.margins, fill, self.padding_mode)


class CenterCrop(GeometricOperation):
    """Cuts the middle out, padding with zeros where the image is smaller.

    Args:
        size: edge of a square, or (height, width).
    """

    def __init__(self, size: Any) -> None:
        given = check_size("CenterCrop", "size", size)
        self.size = given if isinstance(given, tuple) else (given, given)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image)
        return self._crop(image, image.ndim)

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        self._check_rank(rows[0])
        return self._crop(rows, rows.ndim - 1)

    def _crop(self, image: np.ndarray, rank: int) -> np.ndarray:
        at = image.ndim - rank + height_axis(rank)
        widths, window = [(0, 0)] * image.ndim, [slice(None)] * image.ndim
        for axis, wanted in zip((at, at + 1), self.size, strict=True):
            missing = max(0, wanted - image.shape[axis])
            widths[axis] = (-(-missing // 2), missing // 2)
            start = max(0, image.shape[axis] - wanted) // 2
            window[axis] = slice(start, start + wanted)
        return np.pad(image, widths)[tuple(window)]


class RandomCrop(GeometricOperation):
    """Cuts a rectangle out at a random place.

    Args:
        size: edge of a square, or (height, width).
        padding: pixels put around the image first; see ``Pad``; None for none.
        pad_if_needed: whether an image that is too small is padded.
        fill_value: value of the new pixels.
        padding_mode: what surrounds the image.
    """

    is_random = True

    def __init__(
        self,
        size: Any,
        padding: Any = None,
        pad_if_needed: bool = False,
        fill_value: Any = 0,
        padding_mode: Border = Border.CONSTANT,
    ) -> None:
        given = check_size("RandomCrop", "size", size)
        self.size = given if isinstance(given, tuple) else (given, given)
        self.margins = (0, 0, 0, 0) if padding is None else check_padding("RandomCrop", padding)
        self.pad_if_needed = check_bool("RandomCrop", "pad_if_needed", pad_if_needed)
        self.fill = check_fill("RandomCrop", fill_value)
        check_type("RandomCrop", "padding_mode", padding_mode, Border)
        self.padding_mode = padding_mode

    def _prepare(self, image: np.ndarray, rank: int) -> tuple[np.ndarray, int, int]:
        if rank < 2:
            raise self._fail(f"input tensor should have at least 2 dimensions, but got: {rank}")
        fill = self.fill[: image.shape[-1]] if rank > 2 else self.fill
        if any(self.margins):
            image = pad(image, rank, self.margins, fill, self.padding_mode)
        at = image.ndim - rank + height_axis(rank)
        height, width = image.shape[at], image.shape[at + 1]
        if self.pad_if_needed and (height < self.size[0] or width < self.size[1]):
            rows, columns = max(0, self.size[0] - height), max(0, self.size[1] - width)
            image = pad(image, rank, (columns, rows, columns, rows), fill, self.padding_mode)
            height, width = image.shape[at], image.shape[at + 1]
        if height < self.size[0] or width < self.size[1]:
            raise self._fail(
                "invalid crop size, crop size is bigger than the image dimensions, got crop "
                f"height: {self.size[0]}, crop width: {self.size[1]}, image: {height} x {width}"
            )
        return image, height - self.size[0] + 1, width - self.size[1] + 1

    def _apply(self, image: np.ndarray) -> np.ndarray:
        image, rows, columns = self._prepare(image, image.ndim)
        top, left = draw().integers((rows, columns))
        return np.ascontiguousarray(crop(image, top, left, *self.size))

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        images, tops, lefts = self._prepare(rows, rows.ndim - 1)
        places = draw().integers((tops, lefts), size=(len(rows), 2)).tolist()
        return np.stack(
            [
                crop(image, top, left, *self.size)
                for image, (top, left) in zip(images, places, strict=True)
            ]
        )


class _RandomFlip(GeometricOperation):
    """A flip along one axis with a probability."""

    is_random = True
    step = 0

    def __init__(self, prob: float = 0.5) -> None:
        owner = type(self).__name__
        check_type(owner, "prob", prob, (float, int))
        check_interval(owner, "prob", prob, 0.0, 1.0)
        self.prob = prob

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image)
        if draw().random() >= self.prob:
            return image
        axis = height_axis(image.ndim) + self.step
        return np.ascontiguousarray(np.flip(image, axis))

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        self._check_rank(rows[0])
        chosen = draw().random(len(rows)) < self.prob
        axis = 1 + height_axis(rows.ndim - 1) + self.step
        out = rows.copy()
        out[chosen] = np.flip(rows[chosen], axis)
        return out


class RandomHorizontalFlip(_RandomFlip):
    """Swaps left and right.

    Args:
        prob: probability of it.
    """

    step = 1


class RandomVerticalFlip(_RandomFlip):
    """Swaps top and bottom.

    Args:
        prob: probability of it.
    """


class RandomResizedCrop(GeometricOperation):
    """Cuts out a rectangle of random area and aspect, and resizes it.

    Args:
        size: edge of a square, or (height, width).
        scale: range of its area, as a share of the image's.
        ratio: range of width / height.
        interpolation: interpolation of ``Resize``.
        max_attempts: draws before the middle is taken.
    """

    is_random = True

    def __init__(
        self,
        size: Any,
        scale: Any = (0.08, 1.0),
        ratio: Any = (3.0 / 4.0, 4.0 / 3.0),
        interpolation: Inter = Inter.BILINEAR,
        max_attempts: int = 10,
    ) -> None:
        owner = "RandomResizedCrop"
        given = check_size(owner, "size", size)
        self.size = given if isinstance(given, tuple) else (given, given)
        for name, value in (("scale", scale), ("ratio", ratio)):
            check_type(owner, name, value, (list, tuple))
            if len(value) != 2:
                raise located(
                    TypeError, f"For '{owner}': {name} should be a list/tuple of length 2."
                )
            low, high = value
            if low > high:
                raise located(
                    ValueError,
                    f"For '{owner}': {name} should be in (min,max) format. Got (max,min): {value}.",
                )
            check_interval(
                owner, f"{name}[0]", low, 0, INT32_MAX, "[]" if name == "scale" else "(]"
            )
            if high <= 0:
                raise located(ValueError, f"For '{owner}': Input {name}[1] must be greater than 0.")
        check_type(owner, "interpolation", interpolation, Inter)
        self.scale, self.ratio, self.interpolation = tuple(scale), tuple(ratio), interpolation
        self.max_attempts = check_int(owner, "max_attempts", max_attempts, 1)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        self._check_rank(image)
        at = height_axis(image.ndim)
        height, width = image.shape[at], image.shape[at + 1]
        part = crop(image, *self._box(height, width))
        return resize(part, part.ndim, self.size, self.interpolation, self._fail)

    def _box(self, height: int, width: int) -> tuple[int, int, int, int]:
        rng = draw()
        low, high = map(math.log, self.ratio)
        for _ in range(self.max_attempts):
            area = rng.uniform(*self.scale) * height * width
            aspect = math.exp(rng.uniform(low, high))
            wide, tall = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if 0 < wide <= width and 0 < tall <= height:
                top, left = rng.integers((height - tall + 1, width - wide + 1))
                return int(top), int(left), tall, wide
        aspect = width / height
        wide = round(height * self.ratio[1]) if aspect > self.ratio[1] else width
        tall = round(width / self.ratio[0]) if aspect < self.ratio[0] else height
        wide, tall = min(wide, width), min(tall, height)
        return (height - tall) // 2, (width - wide) // 2, tall, wide
