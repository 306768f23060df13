"""Resize, with the arithmetic of OpenCV, which the original rests on."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.transforms.operation import is_pil
from mindjax.dataset.vision.enums import Inter
from mindjax.dataset.vision.image import ImageOperation, check_size, height_axis

# OpenCV weighs bytes with integers of 11 bits.
_BITS = 11
_ONE = 1 << _BITS
# Columns times channels squared up to which a matrix product mixes columns faster than indexing.
_MATRIX = 1024
_DTYPES = ("bool", "uint8", "uint16", "int16", "float32", "float64")

Fail = Callable[..., Exception]


def _scale(old: int, new: int) -> float:
    # OpenCV inverts twice, and that decides where 28 * k / 18 is a whole number.
    return 1.0 / (new / old)


@functools.lru_cache(maxsize=256)
def _nearest(old: int, new: int) -> np.ndarray:
    return np.minimum(np.floor(np.arange(new) * _scale(old, new)).astype(np.intp), old - 1)


@functools.lru_cache(maxsize=256)
def _linear(old: int, new: int, clip: bool) -> tuple[np.ndarray, np.ndarray]:
    """Give the left neighbour of each new place and the weight of the right one.

    OpenCV treats the two axes unlike: outside the columns it sets the weight to 0, outside the rows
    it repeats the row, which rounds otherwise.
    """
    at = ((np.arange(new) + 0.5) * _scale(old, new) - 0.5).astype(np.float32)
    low = np.floor(at).astype(np.intp)
    weight = at - low.astype(np.float32)
    if clip:
        weight = np.where((low < 0) | (low >= old - 1), np.float32(0), weight)
        low = np.clip(low, 0, old - 1)
    return low, weight


@functools.lru_cache(maxsize=256)
def _cubic(old: int, new: int) -> tuple[np.ndarray, np.ndarray]:
    """Give the four neighbours of each new place and their weights, (new, 4) each."""
    at = ((np.arange(new) + 0.5) * _scale(old, new) - 0.5).astype(np.float32)
    low = np.floor(at).astype(np.intp)
    x = at - low.astype(np.float32)
    a = np.float32(-0.75)
    one = np.float32(1)
    w0 = ((a * (x + one) - 5 * a) * (x + one) + 8 * a) * (x + one) - 4 * a
    w1 = ((a + 2) * x - (a + 3)) * x * x + one
    w2 = ((a + 2) * (one - x) - (a + 3)) * (one - x) * (one - x) + one
    weights = np.stack([w0, w1, w2, one - w0 - w1 - w2], axis=1).astype(np.float32)
    places = np.clip(low[:, None] + np.arange(-1, 3), 0, old - 1)
    return places, weights


def _fixed(weights: np.ndarray) -> np.ndarray:
    return np.rint(weights * np.float32(_ONE)).astype(np.int32)


def _bilinear(image: np.ndarray, axis: int, height: int, width: int) -> np.ndarray:
    """Resize a stack whose rows of pixels lie along ``axis``, columns along the next one."""
    if image.dtype == np.uint8:
        return _bilinear_bytes(image, axis, height, width)
    old_height, old_width = image.shape[axis], image.shape[axis + 1]
    left, across = _linear(old_width, width, True)
    right = np.minimum(left + 1, old_width - 1)
    top, down = _linear(old_height, height, False)
    upper, lower = np.clip(top, 0, old_height - 1), np.clip(top + 1, 0, old_height - 1)
    tail = (1,) * (image.ndim - axis - 2)
    columns, rows = (width, *tail), (height, 1, *tail)
    work = np.float64 if image.dtype == np.float64 else np.float32
    wide = image.astype(work, copy=False)
    w1 = across.reshape(columns)
    mixed = np.take(wide, left, axis + 1) * (1 - w1) + np.take(wide, right, axis + 1) * w1
    v1 = down.reshape(rows)
    out = np.take(mixed, upper, axis) * (1 - v1) + np.take(mixed, lower, axis) * v1
    return _saturate(out, image.dtype)


@functools.lru_cache(maxsize=64)
def _byte_matrix(old: int, new: int, channels: int) -> np.ndarray:
    """Give the mixing of columns as a matrix: (old * channels, new * channels) float32.

    Its products are whole numbers below 2**24, so that float32 and its sums are exact.
    """
    left, weight = _linear(old, new, True)
    matrix = np.zeros((old, channels, new, channels), np.float32)
    column, channel = np.arange(new)[:, None], np.arange(channels)
    matrix[left[:, None], channel, column, channel] = _fixed(1 - weight)[:, None]
    right = np.minimum(left + 1, old - 1)[:, None]
    matrix[right, channel, column, channel] += _fixed(weight)[:, None]
    return matrix.reshape(old * channels, new * channels)


def _mix_columns(image: np.ndarray, axis: int, width: int) -> np.ndarray:
    """Mix columns of bytes: int32, 2**11 times too large, channels joined to the columns."""
    old, lead = image.shape[axis + 1], image.shape[: axis + 1]
    channels = image.shape[axis + 2] if image.ndim > axis + 2 else 1
    if old * channels * channels <= _MATRIX:
        rows = image.reshape(-1, old * channels).astype(np.float32)
        mixed = rows @ _byte_matrix(old, width, channels)
        return mixed.astype(np.int32).reshape(*lead, width * channels)
    left, weight = _linear(old, width, True)
    wide = image.reshape(*lead, old, channels).astype(np.int32)
    mixed = wide.take(left, axis + 1)
    mixed *= _fixed(1 - weight)[:, None]
    part = wide.take(np.minimum(left + 1, old - 1), axis + 1)
    part *= _fixed(weight)[:, None]
    mixed += part
    return mixed.reshape(*lead, width * channels)


def _bilinear_bytes(image: np.ndarray, axis: int, height: int, width: int) -> np.ndarray:
    """Resize bytes with integers, shifting down where OpenCV does."""
    old = image.shape[axis]
    mixed = _mix_columns(image, axis, width)
    mixed >>= 4
    top, weight = _linear(old, height, False)
    upper, lower = np.clip(top, 0, old - 1), np.clip(top + 1, 0, old - 1)
    out = mixed.take(upper, axis)
    out *= _fixed(1 - weight)[:, None]
    out >>= 16
    part = mixed.take(lower, axis)
    part *= _fixed(weight)[:, None]
    part >>= 16
    out += part
    out += 2
    out >>= 2
    return out.astype(np.uint8).reshape(
        *image.shape[:axis], height, width, *image.shape[axis + 2 :]
    )


def _saturate(values: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    if dtype.kind == "f":
        return values.astype(dtype, copy=False)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(values), limits.min, limits.max).astype(dtype)


def _halve(image: np.ndarray, axis: int) -> np.ndarray:
    """Average squares of four pixels: OpenCV does so whenever both axes are halved."""
    at = (slice(None),) * axis
    even, odd = slice(0, None, 2), slice(1, None, 2)
    corners = [image[(*at, rows, columns)] for rows in (even, odd) for columns in (even, odd)]
    if image.dtype.kind in "iu":
        total = sum(
            (corner.astype(np.int64) for corner in corners[1:]), corners[0].astype(np.int64)
        )
        return ((total + 2) >> 2).astype(image.dtype)
    return ((corners[0] + corners[1]) + (corners[2] + corners[3])) * image.dtype.type(0.25)


def _bicubic(image: np.ndarray, axis: int, height: int, width: int) -> np.ndarray:
    across, down = _cubic(image.shape[axis + 1], width), _cubic(image.shape[axis], height)
    tail = (1,) * (image.ndim - axis - 2)
    byte = image.dtype == np.uint8
    work: Any = np.int32 if byte else np.float64 if image.dtype == np.float64 else np.float32
    wide = image.astype(work)
    for at, (places, weights), shape in (
        (axis + 1, across, (width, *tail)),
        (axis, down, (height, 1, *tail)),
    ):
        scaled = _fixed(weights) if byte else weights
        taps = [
            np.take(wide, places[:, tap], at) * scaled[:, tap].reshape(shape) for tap in range(4)
        ]
        wide = ((taps[0] + taps[1]) + taps[2]) + taps[3]
    if byte:
        wide = (wide + (1 << (2 * _BITS - 1))) >> (2 * _BITS)
        return np.clip(wide, 0, 255).astype(np.uint8)
    return _saturate(wide, image.dtype)


def resize(
    image: np.ndarray, rank: int, size: tuple[int, int], interpolation: Inter, fail: Fail
) -> np.ndarray:
    """Resize images.

    Args:
        image: (H, W), (..., H, W, C) or a stack of them.
        rank: rank of one image of the stack.
        size: height and width of the result.
        interpolation: NEAREST, BILINEAR or BICUBIC.
        fail: makes the error of the transform that asks, from its text.

    Returns:
        The images, in their dtype.

    Raises:
        RuntimeError: the dtype is not supported.
        NotImplementedError: the interpolation is not supported for arrays.
    """
    if image.dtype.name not in _DTYPES:
        raise fail(
            "the data type of image tensor does not match the requirement of operator. Expecting "
            f"tensor in type of {_DTYPES}. But got type {image.dtype}."
        )
    axis = image.ndim - rank + height_axis(rank)
    height, width = image.shape[axis], image.shape[axis + 1]
    if (height, width) == size:
        return image
    if image.dtype == bool:
        return resize(image.astype(np.uint8), rank, size, interpolation, fail).astype(bool)
    if interpolation == Inter.NEAREST:
        rows = np.take(image, _nearest(height, size[0]), axis)
        return np.take(rows, _nearest(width, size[1]), axis + 1)
    if interpolation == Inter.BILINEAR:
        if (height, width) == (2 * size[0], 2 * size[1]):
            return _halve(image, axis)
        return _bilinear(image, axis, *size)
    if interpolation == Inter.BICUBIC:
        return _bicubic(image, axis, *size)
    raise fail(
        f"interpolation={interpolation.name} is not supported for arrays: use BILINEAR, or ToPIL() "
        "before it.",
        NotImplementedError,
    )


class Resize(ImageOperation):
    """Resizes an image.

    Args:
        size: (height, width), or the length of the shorter edge.
        interpolation: how pixels are mixed; arrays take NEAREST, BILINEAR and BICUBIC, PIL images
            all but AREA and PILCUBIC.
    """

    def __init__(self, size: Any, interpolation: Inter = Inter.BILINEAR) -> None:
        self.size = check_size("Resize", "size", size)
        check_type("Resize", "interpolation", interpolation, Inter)
        self.interpolation = interpolation

    def _target(self, height: int, width: int) -> tuple[int, int]:
        if isinstance(self.size, tuple):
            return self.size
        if height < width:
            return self.size, int(self.size * width / height)
        return int(self.size * height / width), self.size

    def _apply(self, image: Any) -> Any:
        if is_pil(image):
            return self._resize_pil(image)
        self._check_rank(image)
        return self._resize(image, image.ndim)

    def _apply_batch(self, rows: np.ndarray) -> np.ndarray:
        self._check_rank(rows[0])
        return self._resize(rows, rows.ndim - 1)

    def _resize(self, image: np.ndarray, rank: int) -> np.ndarray:
        if self.interpolation == Inter.ANTIALIAS:
            raise self._fail(
                f"img should be PIL image. Got {np.ndarray}. Use Decode() for encoded data or "
                "ToPIL() for decoded data.",
                TypeError,
            )
        at = image.ndim - rank + height_axis(rank)
        size = self._target(image.shape[at], image.shape[at + 1])
        return resize(image, rank, size, self.interpolation, self._fail)

    def _resize_pil(self, image: Any) -> Any:
        from PIL import Image

        filters = {
            Inter.NEAREST: Image.Resampling.NEAREST,
            Inter.ANTIALIAS: Image.Resampling.LANCZOS,
            Inter.BILINEAR: Image.Resampling.BILINEAR,
            Inter.BICUBIC: Image.Resampling.BICUBIC,
        }
        if self.interpolation not in filters:
            raise self._fail(
                "Current Interpolation is not supported with PIL input: "
                f"{self.interpolation.name}.",
                TypeError,
            )
        height, width = self._target(image.height, image.width)
        return image.resize((width, height), filters[self.interpolation])
