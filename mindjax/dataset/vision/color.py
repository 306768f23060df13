"""Transforms of colours, with the arithmetic of OpenCV and Pillow, which the original rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool, check_interval, check_type
from mindjax.dataset.transforms.operation import is_pil
from mindjax.dataset.vision.enums import ConvertMode
from mindjax.dataset.vision.image import ImageOperation, from_pil, like_pil

FLOAT_MAX = 16777216


def round_bytes(values: np.ndarray) -> np.ndarray:
    """Round numbers to the nearest bytes, halves to even, and limit them."""
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def check_factor(
    owner: str, name: str, value: Any, low: float = 0, high: float = FLOAT_MAX
) -> float:
    """Refuse what is no number of an interval."""
    check_type(owner, name, value, (int, float))
    check_interval(owner, name, value, low, high)
    return value


def gray(image: np.ndarray) -> np.ndarray:
    """Give the luma of an RGB image of bytes, as OpenCV: weights of 15 bits."""
    wide = image.astype(np.int32)
    return ((wide @ np.array([9798, 19235, 3735], np.int32) + (1 << 14)) >> 15).astype(np.uint8)


class ColorOperation(ImageOperation):
    """A transform of an RGB image of bytes, (H, W, 3); a PIL image gives a PIL image."""

    ranks: tuple[int, ...] = (3,)
    channels: tuple[int, ...] = (3,)
    dtypes: tuple[str, ...] = ("uint8",)

    def __call__(self, *values: Any) -> Any:
        """Transform one image."""
        if len(values) == 1 and is_pil(values[0]):
            return like_pil(super().__call__(from_pil(values[0])))
        return super().__call__(*values)

    def _to_input(self, value: Any) -> Any:
        image = super()._to_input(value)
        if image.ndim not in self.ranks or (
            image.ndim == 3 and self.channels and image.shape[2] not in self.channels
        ):
            raise self._fail(
                f"image shape is not supported: {image.shape}; it should be <H,W,C> with "
                f"{self.channels} channels."
            )
        if self.dtypes and str(image.dtype) not in self.dtypes:
            raise self._fail(
                f"input tensor's type should be in {self.dtypes}, but got {image.dtype}."
            )
        return image


class AdjustBrightness(ColorOperation):
    """Multiplies the brightness.

    Args:
        brightness_factor: factor, not negative.
    """

    dtypes = ("uint8", "float32")

    def __init__(self, brightness_factor: float) -> None:
        self.factor = check_factor("AdjustBrightness", "brightness_factor", brightness_factor)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return mix(image, None, self.factor)


def mix(image: np.ndarray, other: Any, factor: float) -> np.ndarray:
    """Give ``factor * image + (1 - factor) * other``, rounded for bytes."""
    share = np.float32(factor)
    mixed = image.astype(np.float32) * share
    if other is not None:
        mixed += np.asarray(other).astype(np.float32) * np.float32(1 - factor)
    return round_bytes(mixed) if image.dtype == np.uint8 else mixed.astype(image.dtype)


class AdjustContrast(ColorOperation):
    """Changes the distance from the mean luma.

    Args:
        contrast_factor: factor, not negative.
    """

    dtypes = ("uint8", "float32")

    def __init__(self, contrast_factor: float) -> None:
        self.factor = check_factor("AdjustContrast", "contrast_factor", contrast_factor)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return contrasted(image, self.factor)


def contrasted(image: np.ndarray, factor: float) -> np.ndarray:
    """Change the distance of an image from its mean luma."""
    if image.dtype == np.uint8:
        return mix(image, round(float(gray(image).mean())), factor)
    return mix(image, (image @ np.array([0.299, 0.587, 0.114], np.float32)).mean(), factor)


class AdjustSaturation(ColorOperation):
    """Changes the distance from the gray image.

    Args:
        saturation_factor: factor, not negative.
    """

    dtypes = ("uint8", "float32")

    def __init__(self, saturation_factor: float) -> None:
        self.factor = check_factor("AdjustSaturation", "saturation_factor", saturation_factor)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return saturated(image, self.factor)


def saturated(image: np.ndarray, factor: float) -> np.ndarray:
    """Change the distance of an image from its gray image."""
    if image.dtype == np.uint8:
        return mix(image, gray(image)[..., None], factor)
    luma = image @ np.array([0.299, 0.587, 0.114], np.float32)
    return mix(image, luma[..., None], factor)


class AdjustSharpness(ColorOperation):
    """Changes the distance from the smoothed image.

    Args:
        sharpness_factor: factor, not negative.
    """

    ranks, channels = (2, 3), (1, 3)
    dtypes = ("uint8", "float32")

    def __init__(self, sharpness_factor: float) -> None:
        self.factor = check_factor("AdjustSharpness", "sharpness_factor", sharpness_factor)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return sharpened(image, self.factor)


def sharpened(image: np.ndarray, factor: float) -> np.ndarray:
    """Change the distance of an image from its smoothed form; its border stays."""
    smooth = image.astype(np.float32)
    if min(image.shape[:2]) > 2:
        height, width = image.shape[:2]
        total = 4 * smooth[1:-1, 1:-1]
        for row in range(3):
            for column in range(3):
                total = total + smooth[row : row + height - 2, column : column + width - 2]
        inner = total / 13
        smooth[1:-1, 1:-1] = round_bytes(inner) if image.dtype == np.uint8 else inner
    return mix(image, smooth, factor)


class AdjustGamma(ColorOperation):
    """Raises values to a power: ``gain * x ** gamma``, with x in [0, 1].

    Args:
        gamma: the power, not negative.
        gain: factor.
    """

    ranks, channels, dtypes = (2, 3), (1, 3), ()

    def __init__(self, gamma: float, gain: float = 1) -> None:
        self.gamma = check_factor("AdjustGamma", "gamma", gamma)
        check_type("AdjustGamma", "gain", gain, (int, float))
        self.gain = float(np.float32(gain))

    def _apply(self, image: np.ndarray) -> np.ndarray:
        power = float(np.float32(self.gamma))
        if image.dtype == np.uint8:
            levels = np.arange(256) / 255.0
            table = np.minimum(255.0, np.power(levels, power) * (255 + 1 - 1e-3) * self.gain)
            return np.floor(np.maximum(table, 0)).astype(np.uint8).take(image)
        if image.dtype.kind != "f":
            raise self._fail(f"unsupported type of image: {image.dtype}.")
        return (np.power(image, power) * self.gain).astype(image.dtype)


def _hue_of_bytes(image: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give hue, saturation and value in bytes, as OpenCV's ``COLOR_RGB2HSV_FULL``."""
    red, green, blue = (image[..., place].astype(np.int64) for place in range(3))
    value = image.max(-1).astype(np.int64)
    spread = value - image.min(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        sat_table = np.rint(np.where(value > 0, (255 << 12) / value, 0)).astype(np.int64)
        hue_table = np.rint(np.where(spread > 0, (256 << 12) / (6.0 * spread), 0)).astype(np.int64)
    half = 1 << 11
    saturation = (spread * sat_table + half) >> 12
    turn = np.where(
        value == red,
        green - blue,
        np.where(value == green, blue - red + 2 * spread, red - green + 4 * spread),
    )
    hue = (turn * hue_table + half) >> 12
    return np.where(hue < 0, hue + 256, hue), saturation, value


def _bytes_of_hue(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Give RGB bytes, as OpenCV's ``COLOR_HSV2RGB_FULL``."""
    one = np.float32(1)
    # A full turn is 255 here and 256 there; so is OpenCV's.
    h = hue.astype(np.float32) * np.float32(6.0 / 255)
    s = saturation.astype(np.float32) * np.float32(1 / 255.0)
    v = value.astype(np.float32) * np.float32(1 / 255.0)
    sector = np.floor(h)
    rest = h - sector
    sector = sector.astype(np.int64) % 6
    levels = np.stack([v, v * (one - s), v * (one - s * rest), v * (one - s * (one - rest))])
    # For each sector, which level red, green and blue have.
    order = np.array([[0, 3, 1], [2, 0, 1], [1, 0, 3], [1, 2, 0], [3, 1, 0], [0, 1, 2]])
    chosen = np.moveaxis(order[sector], -1, 0)
    out = np.take_along_axis(levels, chosen, 0)
    scaled = np.moveaxis(out, 0, -1) * np.float32(255)
    # OpenCV cuts off in whole vectors of 32 pixels of a row, and rounds in the rest.
    whole = hue.shape[1] // 32 * 32
    return np.concatenate(
        [np.trunc(scaled[:, :whole]).astype(np.uint8), round_bytes(scaled[:, whole:])], 1
    )


class AdjustHue(ColorOperation):
    """Turns the hue.

    Args:
        hue_factor: share of a full turn, in [-0.5, 0.5].
    """

    def __init__(self, hue_factor: float) -> None:
        self.factor = check_factor("AdjustHue", "hue_factor", hue_factor, -0.5, 0.5)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return turned_hue(image, self.factor)


def turned_hue(image: np.ndarray, factor: float) -> np.ndarray:
    """Turn the hue of an image of bytes."""
    hue, saturation, value = _hue_of_bytes(image)
    return _bytes_of_hue((hue + int(factor * 255)) % 256, saturation, value)


class AutoContrast(ColorOperation):
    """Stretches every channel to [0, 255].

    Args:
        cutoff: percent of the lightest and of the darkest pixels that are left out, in [0, 50).
        ignore: values that are left out.
    """

    ranks, channels = (2, 3), (1, 3)

    def __init__(self, cutoff: float = 0.0, ignore: Any = None) -> None:
        self.cutoff, self.ignore = check_cutoff("AutoContrast", cutoff, ignore)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return stretched(image, self.cutoff, self.ignore)


def check_cutoff(owner: str, cutoff: Any, ignore: Any) -> tuple[float, list[int]]:
    """Check the arguments of ``AutoContrast``."""
    check_type(owner, "cutoff", cutoff, (int, float))
    check_interval(owner, "cutoff", cutoff, 0, 50, "[)")
    if ignore is None:
        return cutoff, []
    check_type(owner, "ignore", ignore, (list, tuple, int))
    values = [ignore] if isinstance(ignore, int) else list(ignore)
    for value in values:
        check_type(owner, "ignore", value, int)
        check_interval(owner, "ignore", value, 0, 255)
    return cutoff, values


def _by_channel(image: np.ndarray, table_of: Any) -> np.ndarray:
    if image.ndim == 2:
        return table_of(image).take(image)
    planes = [table_of(image[..., c]).take(image[..., c]) for c in range(image.shape[2])]
    return np.stack(planes, -1)


def _trimmed(counts: np.ndarray, cut: int) -> np.ndarray:
    """Take ``cut`` pixels off the low end of a histogram."""
    below = np.cumsum(counts) - counts
    return np.clip(counts - np.maximum(cut - below, 0), 0, None)


def stretched(image: np.ndarray, cutoff: float = 0.0, ignore: Any = ()) -> np.ndarray:
    """Stretch every channel of an image of bytes to [0, 255]."""

    def table_of(plane: np.ndarray) -> np.ndarray:
        counts = np.bincount(plane.ravel(), minlength=256)
        counts[list(ignore)] = 0
        if cutoff:
            cut = int(counts.sum() * np.float32(cutoff) / 100)
            counts = _trimmed(counts, cut)
            counts = _trimmed(counts[::-1], cut)[::-1]
        found = np.flatnonzero(counts)
        low, high = (found[0], found[-1]) if len(found) else (255, 0)
        levels = np.arange(256)
        if high <= low:
            return levels.astype(np.uint8)
        scale = np.float32(255.0) / np.float32(high - low)
        moved = levels.astype(np.float32) * scale - np.float32(low) * scale
        return np.clip(np.trunc(moved), 0, 255).astype(np.uint8)

    return _by_channel(image, table_of)


class Equalize(ColorOperation):
    """Flattens the histogram of every channel."""

    ranks, channels = (2, 3), (1, 3)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return equalized(image)


def equalized(image: np.ndarray) -> np.ndarray:
    """Flatten the histogram of every channel of an image of bytes."""

    def table_of(plane: np.ndarray) -> np.ndarray:
        counts = np.bincount(plane.ravel(), minlength=256)
        first = int(np.flatnonzero(counts)[0])
        rest = plane.size - counts[first]
        if rest == 0:
            return np.arange(256, dtype=np.uint8)
        above = np.maximum(np.cumsum(counts) - counts[first], 0).astype(np.float32)
        return round_bytes(above * (np.float32(255) / np.float32(rest)))

    return _by_channel(image, table_of)


class Invert(ColorOperation):
    """Gives 255 - x."""

    ranks, channels = (2, 3), ()

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return (255 - image).astype(image.dtype)


class Posterize(ColorOperation):
    """Keeps the highest bits of every value.

    Args:
        bits: number of bits, in [0, 8].
    """

    ranks, channels = (2, 3), (1, 3)

    def __init__(self, bits: int) -> None:
        check_type("Posterize", "bits", bits, int)
        check_interval("Posterize", "bits", bits, 0, 8)
        self.bits = bits

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return posterized(image, self.bits)


def posterized(image: np.ndarray, bits: int) -> np.ndarray:
    """Keep the highest bits of every byte."""
    return image & np.uint8(256 - (1 << (8 - bits)))


class Solarize(ColorOperation):
    """Inverts the values of a range.

    Args:
        threshold: lower end, up to 255, or (lower end, upper end).
    """

    ranks, channels = (2, 3), (1, 3)

    def __init__(self, threshold: Any) -> None:
        self.threshold = check_threshold("Solarize", threshold)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return solarized(image, *self.threshold)


def check_threshold(owner: str, threshold: Any) -> tuple[float, float]:
    """Bring a threshold to (lower end, upper end)."""
    check_type(owner, "threshold", threshold, (float, int, list, tuple))
    ends = (threshold, threshold) if isinstance(threshold, float | int) else tuple(threshold)
    if len(ends) != 2:
        raise located(
            TypeError,
            f"For '{owner}': threshold must be a single number or sequence of two numbers.",
        )
    for end in ends:
        check_type(owner, "threshold", end, (float, int))
        check_interval(owner, "threshold", end, 0, 255)
    if ends[0] > ends[1]:
        raise located(
            ValueError, f"For '{owner}': threshold should be in (min,max) format. Got {threshold}."
        )
    return ends[0], ends[1]


def solarized(image: np.ndarray, low: float, high: float) -> np.ndarray:
    """Invert the bytes of a range; equal ends mean all from there on."""
    inside = image >= low
    if low != high:
        inside &= image <= high
    return np.where(inside, 255 - image, image).astype(image.dtype)


class Grayscale(ImageOperation):
    """Makes a PIL image gray.

    Args:
        num_output_channels: 1, or 3 equal ones.
    """

    def __init__(self, num_output_channels: int = 1) -> None:
        check_type("Grayscale", "num_output_channels", num_output_channels, int)
        if num_output_channels not in (1, 3):
            raise located(
                ValueError,
                "For 'Grayscale': Number of channels of the output grayscale image should be "
                f"either 1 or 3. Got {num_output_channels}.",
            )
        self.num_output_channels = num_output_channels

    def _apply(self, image: Any) -> Any:
        if not is_pil(image):
            raise self._fail(
                f"Input image should be a Pillow image, but got {type(image)}.", TypeError
            )
        return grayed_pil(image, self.num_output_channels)


def grayed_pil(image: Any, channels: int) -> Any:
    """Make a PIL image gray, with 1 or 3 channels."""
    luma = image.convert("L")
    return luma if channels == 1 else luma.convert("RGB")


class _HueConversion(ImageOperation):
    def __init__(self, is_hwc: bool = False) -> None:
        self.is_hwc = check_bool(type(self).__name__, "is_hwc", is_hwc)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        if not isinstance(image, np.ndarray):
            raise self._fail(f"img should be NumPy image. Got {type(image)}.", TypeError)
        if image.ndim not in (3, 4):
            raise self._fail(
                f"img shape should be <H,W,C>, <C,H,W>, <N,H,W,C> or <N,C,H,W>, got {image.shape}.",
                TypeError,
            )
        axis = -1 if self.is_hwc else -3
        if image.shape[axis] != 3:
            raise self._fail(
                f"The channel of the image should be 3, but got {image.shape[axis]}.", TypeError
            )
        planes = [np.take(image, place, axis) for place in range(3)]
        return np.stack(self._convert(*planes), axis)

    def _convert(self, *planes: np.ndarray) -> list[np.ndarray]:
        raise NotImplementedError


class RgbToHsv(_HueConversion):
    """Turns red, green, blue in [0, 1] into hue, saturation, value in [0, 1], in float64.

    Args:
        is_hwc: whether the channels are the last axis and not the third last.
    """

    def _convert(self, *planes: np.ndarray) -> list[np.ndarray]:
        red, green, blue = (plane.astype(np.float64) for plane in planes)
        value = np.maximum(np.maximum(red, green), blue)
        spread = value - np.minimum(np.minimum(red, green), blue)
        safe = np.where(spread == 0, 1, spread)
        with np.errstate(divide="ignore", invalid="ignore"):
            saturation = np.where(value == 0, 0, spread / np.where(value == 0, 1, value))
        far_red, far_green, far_blue = ((value - x) / safe for x in (red, green, blue))
        hue = np.where(
            red == value,
            far_blue - far_green,
            np.where(green == value, 2.0 + far_red - far_blue, 4.0 + far_green - far_red),
        )
        return [np.where(spread == 0, 0, hue / 6.0 % 1.0), saturation, value]


class HsvToRgb(_HueConversion):
    """Turns hue, saturation, value in [0, 1] into red, green, blue in [0, 1], in float64.

    Args:
        is_hwc: whether the channels are the last axis and not the third last.
    """

    def _convert(self, *planes: np.ndarray) -> list[np.ndarray]:
        hue, saturation, value = (plane.astype(np.float64) for plane in planes)
        sector = (hue * 6.0).astype(np.int64)
        rest = hue * 6.0 - sector
        low = value * (1.0 - saturation)
        falling = value * (1.0 - saturation * rest)
        rising = value * (1.0 - saturation * (1.0 - rest))
        sector = sector % 6
        table = {
            0: (value, rising, low),
            1: (falling, value, low),
            2: (low, value, rising),
            3: (low, falling, value),
            4: (rising, low, value),
            5: (value, low, falling),
        }
        return [
            np.select([sector == s for s in table], [levels[place] for levels in table.values()])
            for place in range(3)
        ]


# What each conversion takes, and which channels it gives; -1 is an opaque alpha, None luma.
_CONVERSIONS: dict[int, tuple[int, Any]] = {
    0: (3, (0, 1, 2, -1)),
    1: (4, (0, 1, 2)),
    2: (3, (2, 1, 0, -1)),
    3: (4, (2, 1, 0)),
    4: (3, (2, 1, 0)),
    5: (4, (2, 1, 0, 3)),
    6: (3, (2, 1, 0)),
    7: (3, (0, 1, 2)),
    8: (1, (0, 0, 0)),
    9: (1, (0, 0, 0, -1)),
    10: (4, (2, 1, 0)),
    11: (4, (0, 1, 2)),
}
_TO_GRAY = (6, 7, 10, 11)


class ConvertColor(ColorOperation):
    """Converts between orders of channels, with alpha, and gray.

    Args:
        convert_mode: the conversion.
    """

    ranks, channels = (2, 3), ()

    def __init__(self, convert_mode: ConvertMode) -> None:
        check_type("ConvertColor", "convert_mode", convert_mode, ConvertMode)
        self.convert_mode = convert_mode

    def _apply(self, image: np.ndarray) -> np.ndarray:
        wanted, order = _CONVERSIONS[int(self.convert_mode)]
        planes = image[..., None] if image.ndim == 2 else image
        if planes.shape[2] != wanted:
            raise self._fail(
                f"number of channels of image should be {wanted}, but got {planes.shape[2]}."
            )
        if int(self.convert_mode) in _TO_GRAY:
            return gray(planes[..., list(order)])
        alpha = np.full(planes.shape[:2], 255, np.uint8)
        return np.stack([alpha if place < 0 else planes[..., place] for place in order], -1)


class LinearTransformation(ImageOperation):
    """Takes a mean off an image, and multiplies it, flat, by a matrix.

    Args:
        transformation_matrix: square array, as large as the image has numbers.
        mean_vector: array of that length.
    """

    def __init__(self, transformation_matrix: np.ndarray, mean_vector: np.ndarray) -> None:
        owner = "LinearTransformation"
        check_type(owner, "transformation_matrix", transformation_matrix, np.ndarray)
        check_type(owner, "mean_vector", mean_vector, np.ndarray)
        shape = transformation_matrix.shape
        if shape[0] != shape[1]:
            raise located(
                ValueError,
                f"For '{owner}': transformation_matrix should be a square matrix, but got {shape}.",
            )
        if mean_vector.shape[0] != shape[0]:
            raise located(
                ValueError,
                f"For '{owner}': mean_vector length {mean_vector.shape[0]} should match either one "
                f"dimension of the square transformation_matrix {shape}.",
            )
        self.transformation_matrix, self.mean_vector = transformation_matrix, mean_vector

    def _apply(self, image: Any) -> np.ndarray:
        if not isinstance(image, np.ndarray):
            raise self._fail(f"img should be NumPy image. Got {type(image)}.", TypeError)
        if image.size != self.transformation_matrix.shape[0]:
            raise self._fail(
                f"Input tensor and transformation matrix have incompatible shapes: {image.shape}, "
                f"{self.transformation_matrix.shape}.",
                ValueError,
            )
        flat = image.reshape(-1) - self.mean_vector
        return np.dot(flat, self.transformation_matrix).reshape(image.shape)
