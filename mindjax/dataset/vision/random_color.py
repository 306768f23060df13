"""Transforms of colours with random strength, or applied at random."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_interval, check_type
from mindjax.dataset.engine.run import draw
from mindjax.dataset.transforms.operation import is_pil
from mindjax.dataset.vision.color import (
    ColorOperation,
    check_cutoff,
    check_factor,
    contrasted,
    equalized,
    grayed_pil,
    mix,
    posterized,
    round_bytes,
    saturated,
    sharpened,
    solarized,
    stretched,
    turned_hue,
)
from mindjax.dataset.vision.image import ImageOperation

_FLOAT_MAX = 16777216


def _check_prob(owner: str, prob: Any) -> float:
    check_type(owner, "prob", prob, (float, int))
    check_interval(owner, "prob", prob, 0.0, 1.0)
    return prob


class _Random(ColorOperation):
    is_random = True


class _Sometimes(_Random):
    """Applies ``_change`` with a probability."""

    ranks, channels = (2, 3), (1, 3)
    prob = 0.5

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return self._change(image) if draw().random() < self.prob else image

    def _change(self, image: np.ndarray) -> np.ndarray:
        raise NotImplementedError


class RandomAdjustSharpness(_Sometimes):
    """Changes the distance from the smoothed image with a probability.

    Args:
        degree: factor, not negative.
        prob: probability of it.
    """

    def __init__(self, degree: float, prob: float = 0.5) -> None:
        self.degree = check_factor("RandomAdjustSharpness", "degree", degree)
        self.prob = _check_prob("RandomAdjustSharpness", prob)

    def _change(self, image: np.ndarray) -> np.ndarray:
        return sharpened(image, self.degree)


class RandomAutoContrast(_Sometimes):
    """Stretches every channel to [0, 255] with a probability.

    Args:
        cutoff: percent of the lightest and of the darkest pixels that are left out, in [0, 50).
        ignore: values that are left out.
        prob: probability of it.
    """

    def __init__(self, cutoff: float = 0.0, ignore: Any = None, prob: float = 0.5) -> None:
        self.cutoff, self.ignore = check_cutoff("RandomAutoContrast", cutoff, ignore)
        self.prob = _check_prob("RandomAutoContrast", prob)

    def _change(self, image: np.ndarray) -> np.ndarray:
        return stretched(image, self.cutoff, self.ignore)


class RandomEqualize(_Sometimes):
    """Flattens the histogram of every channel with a probability.

    Args:
        prob: probability of it.
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = _check_prob("RandomEqualize", prob)

    def _change(self, image: np.ndarray) -> np.ndarray:
        return equalized(image)


class RandomInvert(_Sometimes):
    """Gives 255 - x with a probability.

    Args:
        prob: probability of it.
    """

    def __init__(self, prob: float = 0.5) -> None:
        self.prob = _check_prob("RandomInvert", prob)

    def _change(self, image: np.ndarray) -> np.ndarray:
        return (255 - image).astype(image.dtype)


def check_factors(owner: str, degrees: Any) -> tuple[float, float]:
    """Check a range of factors, (least, greatest)."""
    check_type(owner, "degrees", degrees, (list, tuple))
    if len(degrees) != 2:
        raise located(ValueError, f"For '{owner}': degrees must be a sequence with length 2.")
    for value in degrees:
        check_type(owner, "degrees", value, (int, float))
        check_interval(owner, "degrees", value, 0, _FLOAT_MAX)
    if degrees[0] > degrees[1]:
        raise located(
            ValueError, f"For '{owner}': degrees should be in (min,max) format. Got (max,min)."
        )
    return degrees[0], degrees[1]


class RandomColor(_Random):
    """Changes the distance from the gray image by a random factor.

    Args:
        degrees: (least, greatest) factor.
    """

    def __init__(self, degrees: Any = (0.1, 1.9)) -> None:
        self.degrees = check_factors("RandomColor", degrees)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return saturated(image, draw().uniform(*self.degrees))


class RandomSharpness(_Random):
    """Changes the distance from the smoothed image by a random factor.

    Args:
        degrees: (least, greatest) factor.
    """

    ranks, channels = (2, 3), (1, 3)

    def __init__(self, degrees: Any = (0.1, 1.9)) -> None:
        self.degrees = check_factors("RandomSharpness", degrees)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return sharpened(image, draw().uniform(*self.degrees))


class RandomColorAdjust(_Random):
    """Changes brightness, contrast, saturation and hue by random factors, in random order.

    Args:
        brightness: greatest distance of the factor from 1, or (least, greatest) factor.
        contrast: the same for contrast.
        saturation: the same for saturation.
        hue: greatest share of a turn to both sides, or (least, greatest), in [-0.5, 0.5].
    """

    def __init__(
        self,
        brightness: Any = (1, 1),
        contrast: Any = (1, 1),
        saturation: Any = (1, 1),
        hue: Any = (0, 0),
    ) -> None:
        self.brightness = self._range("brightness", brightness)
        self.contrast = self._range("contrast", contrast)
        self.saturation = self._range("saturation", saturation)
        self.hue = self._range("hue", hue, 0, -0.5, 0.5)

    @staticmethod
    def _range(
        name: str, value: Any, center: float = 1, low: float = 0, high: float = _FLOAT_MAX
    ) -> tuple[float, float]:
        owner = "RandomColorAdjust"
        check_type(owner, name, value, (Number, list, tuple))
        if isinstance(value, int | float):
            if value < 0:
                raise located(
                    ValueError, f"For '{owner}': The input value of {name} cannot be negative."
                )
            ends = (max(low, center - value), center + value)
        else:
            if len(value) != 2:
                raise located(
                    TypeError, f"For '{owner}': If {name} is a sequence, the length must be 2."
                )
            if value[0] > value[1]:
                raise located(
                    ValueError,
                    f"For '{owner}': {name} value should be in (min,max) format. Got {value}.",
                )
            ends = (value[0], value[1])
        for end in ends:
            check_interval(owner, name, end, low, high)
        return ends

    def _apply(self, image: np.ndarray) -> np.ndarray:
        rng = draw()
        changes = (
            lambda x: mix(x, None, rng.uniform(*self.brightness)),
            lambda x: contrasted(x, rng.uniform(*self.contrast)),
            lambda x: saturated(x, rng.uniform(*self.saturation)),
            lambda x: turned_hue(x, rng.uniform(*self.hue)) if any(self.hue) else x,
        )
        for place in rng.permutation(4):
            image = changes[place](image)
        return image


# Principal directions of the colours of ImageNet, of A. Krizhevsky's AlexNet.
_VALUES = np.array([55.46, 4.794, 1.148])
_VECTORS = np.array(
    [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
)


class RandomLighting(_Random):
    """Adds random light along the principal colours of ImageNet.

    Args:
        alpha: deviation of its strength, not negative.
    """

    def __init__(self, alpha: float = 0.05) -> None:
        self.alpha = check_factor("RandomLighting", "alpha", alpha, 0, 3.4028235e38)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        light = _VECTORS @ (draw().normal(0, self.alpha, 3) * _VALUES)
        return round_bytes(image + light)


class RandomPosterize(_Random):
    """Keeps a random number of the highest bits.

    Args:
        bits: the number, or (least, greatest), in [1, 8].
    """

    ranks, channels = (2, 3), (1, 3)

    def __init__(self, bits: Any = (8, 8)) -> None:
        check_type("RandomPosterize", "bits", bits, (list, tuple, int))
        ends = (bits, bits) if isinstance(bits, int) else tuple(bits)
        if len(ends) != 2:
            raise located(
                TypeError,
                "For 'RandomPosterize': Size of bits should be a single integer or a list/tuple "
                "(min, max) of length 2.",
            )
        for end in ends:
            check_type("RandomPosterize", "bits", end, int)
            check_interval("RandomPosterize", "bits", end, 1, 8)
        if ends[0] > ends[1]:
            raise located(
                ValueError, f"For 'RandomPosterize': bits should be (min, max), but got {bits}."
            )
        self.bits = ends

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return posterized(image, int(draw().integers(self.bits[0], self.bits[1] + 1)))


class RandomSolarize(_Random):
    """Inverts the values of a random range.

    Args:
        threshold: (least, greatest) end of the range, in [0, 255].
    """

    ranks, channels = (2, 3), (1, 3)

    def __init__(self, threshold: Any = (0, 255)) -> None:
        check_type("RandomSolarize", "threshold", threshold, tuple)
        if len(threshold) != 2:
            raise located(
                ValueError, "For 'RandomSolarize': threshold must be a sequence of two numbers."
            )
        for end in threshold:
            check_type("RandomSolarize", "threshold", end, int)
            check_interval("RandomSolarize", "threshold", end, 0, 255)
        if threshold[0] > threshold[1]:
            raise located(
                ValueError,
                "For 'RandomSolarize': threshold should be in (min,max) format. Got (max,min).",
            )
        self.threshold = threshold

    def _apply(self, image: np.ndarray) -> np.ndarray:
        low, high = self.threshold
        ends = np.sort(draw().integers(low, high + 1, size=2))
        return solarized(image, int(ends[0]), int(ends[1]))


class RandomGrayscale(ImageOperation):
    """Makes a PIL image gray with a probability, and keeps its number of channels.

    Args:
        prob: probability of it.
    """

    is_random = True

    def __init__(self, prob: float = 0.1) -> None:
        self.prob = _check_prob("RandomGrayscale", prob)

    def _apply(self, image: Any) -> Any:
        if not is_pil(image):
            raise self._fail(
                f"Input image should be a Pillow image, but got {type(image)}.", TypeError
            )
        if draw().random() >= self.prob:
            return image
        return grayed_pil(image, 1 if image.mode == "L" else 3)
