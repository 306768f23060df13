"""Augmentation by policies: AutoAugment, RandAugment, TrivialAugment, UniformAugment."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_int, check_interval, check_type
from mindjax.dataset.engine.run import draw
from mindjax.dataset.transforms.operation import TensorOperation
from mindjax.dataset.vision.color import (
    ColorOperation,
    contrasted,
    equalized,
    mix,
    posterized,
    saturated,
    sharpened,
    solarized,
    stretched,
)
from mindjax.dataset.vision.enums import AutoAugmentPolicy, Inter
from mindjax.dataset.vision.geometry import RandomResizedCrop, check_fill
from mindjax.dataset.vision.image import ImageOperation, check_size
from mindjax.dataset.vision.resize import Resize
from mindjax.dataset.vision.warps import affine_matrix, check_inter, rotate, three, warp_affine

_COLORS = {
    "Brightness": lambda image, strength: mix(image, None, 1.0 + strength),
    "Color": lambda image, strength: saturated(image, 1.0 + strength),
    "Contrast": lambda image, strength: contrasted(image, 1.0 + strength),
    "Sharpness": lambda image, strength: sharpened(image, 1.0 + strength),
    "Posterize": lambda image, strength: posterized(image, int(strength)),
    "Solarize": lambda image, strength: solarized(image, strength, strength),
    "AutoContrast": lambda image, strength: stretched(image),
    "Equalize": lambda image, strength: equalized(image),
    "Invert": lambda image, strength: 255 - image,
    "Identity": lambda image, strength: image,
}


def apply_named(
    image: np.ndarray, name: str, strength: float, linear: bool, fill: tuple[int, ...]
) -> np.ndarray:
    """Apply one operation of a policy.

    Args:
        image: (H, W, 3) image of bytes.
        name: name of the operation in the paper of AutoAugment.
        strength: shear as a tangent, pixels, degrees, distance of a factor from 1, bits or a
            threshold.
        linear: whether warps mix neighbours.
        fill: colour of places outside the image.

    Returns:
        The changed image.
    """
    if name in _COLORS:
        return _COLORS[name](image, strength)
    if name == "Rotate":
        return rotate(image, strength, None, False, fill, linear)
    move, shear = [0.0, 0.0], [0.0, 0.0]
    axis = 0 if name.endswith("X") else 1
    if name.startswith("Shear"):
        shear[axis] = math.degrees(math.atan(strength))
    else:
        move[axis] = float(int(strength))
    matrix = affine_matrix(image.shape, 0.0, (move[0], move[1]), 1.0, (shear[0], shear[1]))
    return warp_affine(image, matrix, (image.shape[0], image.shape[1]), fill, linear)


def _space(bins: int, shape: tuple[int, ...], wide: bool) -> dict[str, tuple[np.ndarray, bool]]:
    """Give each operation's strengths from weakest to strongest, and whether it has two sides."""
    bend, turn, factor, least = (0.99, 135.0, 0.99, 6) if wide else (0.3, 30.0, 0.9, 4)
    across, down = (32.0, 32.0) if wide else (150 / 331 * shape[1], 150 / 331 * shape[0])
    steps = np.arange(bins)
    none = np.zeros(bins)
    return {
        "Identity": (none, False),
        "ShearX": (np.linspace(0, bend, bins), True),
        "ShearY": (np.linspace(0, bend, bins), True),
        "TranslateX": (np.linspace(0, across, bins), True),
        "TranslateY": (np.linspace(0, down, bins), True),
        "Rotate": (np.linspace(0, turn, bins), True),
        "Brightness": (np.linspace(0, factor, bins), True),
        "Color": (np.linspace(0, factor, bins), True),
        "Contrast": (np.linspace(0, factor, bins), True),
        "Sharpness": (np.linspace(0, factor, bins), True),
        "Posterize": (8 - np.round(steps / ((bins - 1) / least)), False),
        "Solarize": (np.linspace(255.0, 0.0, bins), False),
        "AutoContrast": (none, False),
        "Equalize": (none, False),
    }


class _Policy(ColorOperation):
    is_random = True

    def _set(self, interpolation: Any, fill_value: Any) -> None:
        owner = type(self).__name__
        self.linear = check_inter(owner, "interpolation", interpolation)
        self.fill = three(check_fill(owner, fill_value))

    def _one(self, image: np.ndarray, space: Any, name: str, place: int) -> np.ndarray:
        strengths, signed = space[name]
        strength = float(strengths[place])
        if signed and draw().random() < 0.5:
            strength = -strength
        return apply_named(image, name, strength, self.linear, self.fill)


class RandAugment(_Policy):
    """Applies random operations of one strength (RandAugment, Cubuk et al. 2020).

    Args:
        num_ops: number of operations.
        magnitude: place of the strength, below ``num_magnitude_bins``.
        num_magnitude_bins: number of strengths, at least 2.
        interpolation: interpolation of warps.
        fill_value: value of places outside the image, or one a channel.
    """

    def __init__(
        self,
        num_ops: int = 2,
        magnitude: int = 9,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.num_ops = check_int("RandAugment", "num_ops", num_ops, 0)
        self.bins = check_int("RandAugment", "num_magnitude_bins", num_magnitude_bins, 2)
        self.magnitude = check_int("RandAugment", "magnitude", magnitude, 0)
        check_interval("RandAugment", "magnitude", magnitude, 0, num_magnitude_bins, "[)")
        self._set(interpolation, fill_value)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        space = _space(self.bins, image.shape, False)
        names = list(space)
        for _ in range(self.num_ops):
            name = names[int(draw().integers(len(names)))]
            image = self._one(image, space, name, self.magnitude)
        return image


class TrivialAugmentWide(_Policy):
    """Applies one random operation of random strength (TrivialAugment, Mueller et al. 2021).

    Args:
        num_magnitude_bins: number of strengths, at least 2.
        interpolation: interpolation of warps.
        fill_value: value of places outside the image, or one a channel.
    """

    def __init__(
        self,
        num_magnitude_bins: int = 31,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        self.bins = check_int("TrivialAugmentWide", "num_magnitude_bins", num_magnitude_bins, 2)
        self._set(interpolation, fill_value)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        space = _space(self.bins, image.shape, True)
        names = list(space)
        name = names[int(draw().integers(len(names)))]
        return self._one(image, space, name, int(draw().integers(self.bins)))


# The policies of the paper (Cubuk et al. 2019): pairs of operation, tenths of the probability and
# place of the strength, "-" for none.
_POLICIES = {
    AutoAugmentPolicy.IMAGENET: """
        Posterize 4 8 Rotate 6 9|Solarize 6 5 AutoContrast 6 -|Equalize 8 - Equalize 6 -
        Posterize 6 7 Posterize 6 6|Equalize 4 - Solarize 2 4|Equalize 4 - Rotate 8 8
        Solarize 6 3 Equalize 6 -|Posterize 8 5 Equalize 10 -|Rotate 2 3 Solarize 6 8
        Equalize 6 - Posterize 4 6|Rotate 8 8 Color 4 0|Rotate 4 9 Equalize 6 -
        Equalize 0 - Equalize 8 -|Invert 6 - Equalize 10 -|Color 6 4 Contrast 10 8
        Rotate 8 8 Color 10 2|Color 8 8 Solarize 8 7|Sharpness 4 7 Invert 6 -
        ShearX 6 5 Equalize 10 -|Color 4 0 Equalize 6 -|Equalize 4 - Solarize 2 4
        Solarize 6 5 AutoContrast 6 -|Invert 6 - Equalize 10 -|Color 6 4 Contrast 10 8
        Equalize 8 - Equalize 6 -""",
    AutoAugmentPolicy.CIFAR10: """
        Invert 1 - Contrast 2 6|Rotate 7 2 TranslateX 3 9|Sharpness 8 1 Sharpness 9 3
        ShearY 5 8 TranslateY 7 9|AutoContrast 5 - Equalize 9 -|ShearY 2 7 Posterize 3 7
        Color 4 3 Brightness 6 7|Sharpness 3 9 Brightness 7 9|Equalize 6 - Equalize 5 -
        Contrast 6 7 Sharpness 6 5|Color 7 7 TranslateX 5 8|Equalize 3 - AutoContrast 4 -
        TranslateY 4 3 Sharpness 2 6|Brightness 9 6 Color 2 8|Solarize 5 2 Invert 0 -
        Equalize 2 - AutoContrast 6 -|Equalize 2 - Equalize 6 -|Color 9 9 Equalize 6 -
        AutoContrast 8 - Solarize 2 8|Brightness 1 3 Color 7 0|Solarize 4 5 AutoContrast 9 -
        TranslateY 9 9 TranslateY 7 9|AutoContrast 9 - Solarize 8 3|Equalize 8 - Invert 1 -
        TranslateY 7 9 AutoContrast 9 -""",
    AutoAugmentPolicy.SVHN: """
        ShearX 9 4 Invert 2 -|ShearY 9 8 Invert 7 -|Equalize 6 - Solarize 6 6
        Invert 9 - Equalize 6 -|Equalize 6 - Rotate 9 3|ShearX 9 4 AutoContrast 8 -
        ShearY 9 8 Invert 4 -|ShearY 9 5 Solarize 2 6|Invert 9 - AutoContrast 8 -
        Equalize 6 - Rotate 9 3|ShearX 9 4 Solarize 3 3|ShearY 8 8 Invert 7 -
        Equalize 9 - TranslateY 6 6|Invert 9 - Equalize 6 -|Contrast 3 3 Rotate 8 4
        Invert 8 - TranslateY 0 2|ShearY 7 6 Solarize 4 8|Invert 6 - Rotate 8 4
        ShearY 3 7 TranslateX 9 3|ShearX 1 6 Invert 6 -|Solarize 7 2 TranslateY 6 7
        ShearY 8 4 Invert 8 -|ShearX 7 9 TranslateY 8 3|ShearY 8 5 AutoContrast 7 -
        ShearX 7 2 Invert 1 -""",
}


def sub_policies(policy: AutoAugmentPolicy) -> list[list[tuple[str, float, int | None]]]:
    """Give the 25 pairs of (operation, probability, place of the strength) of a policy."""
    found = []
    for text in _POLICIES[policy].replace("\n", "|").split("|"):
        words = text.split()
        if words:
            found.append(
                [
                    (name, int(tenths) / 10, None if level == "-" else int(level))
                    for name, tenths, level in zip(
                        words[::3], words[1::3], words[2::3], strict=True
                    )
                ]
            )
    return found


class AutoAugment(_Policy):
    """Applies a random pair of a learned policy (AutoAugment, Cubuk et al. 2019).

    Args:
        policy: the policy.
        interpolation: interpolation of warps.
        fill_value: value of places outside the image, or one a channel.
    """

    def __init__(
        self,
        policy: AutoAugmentPolicy = AutoAugmentPolicy.IMAGENET,
        interpolation: Inter = Inter.NEAREST,
        fill_value: Any = 0,
    ) -> None:
        check_type("AutoAugment", "policy", policy, AutoAugmentPolicy)
        self.policy = sub_policies(policy)
        self._set(interpolation, fill_value)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        space = _space(10, image.shape, False)
        space["Invert"] = space["Identity"]
        for name, prob, place in self.policy[int(draw().integers(len(self.policy)))]:
            if draw().random() < prob:
                image = self._one(image, space, name, place or 0)
        return image


class UniformAugment(ImageOperation):
    """Applies some of several transforms, each with a random probability.

    Args:
        transforms: list of transforms or functions.
        num_ops: number of them that are drawn.
    """

    is_random = True

    def __init__(self, transforms: Any, num_ops: int = 2) -> None:
        check_type("UniformAugment", "num_ops", num_ops, int)
        check_interval("UniformAugment", "num_ops", num_ops, 1, 16777216)
        check_type("UniformAugment", "transforms list", transforms, (list, tuple))
        if num_ops > len(transforms):
            raise located(
                ValueError, "For 'UniformAugment': num_ops is greater than transforms list size."
            )
        for place, transform in enumerate(transforms):
            if not callable(transform) or isinstance(transform, type):
                raise located(
                    TypeError,
                    f"For 'UniformAugment': transforms[{place}] is neither a transform nor a "
                    f"callable, but got {transform!r}.",
                )
        self.transforms, self.num_ops = list(transforms), num_ops

    def _apply(self, image: Any) -> Any:
        rng = draw()
        for place in rng.permutation(len(self.transforms))[: self.num_ops]:
            if rng.random() < rng.random():
                image = self.transforms[place](image)
        return image


class RandomSelectSubpolicy(TensorOperation):
    """Applies one of several lists of transforms, each transform with its probability.

    Args:
        policy: list of lists of (transform, probability).
    """

    is_random = True

    def __init__(self, policy: Any) -> None:
        owner = "RandomSelectSubpolicy"
        check_type(owner, "policy", policy, list)
        if not policy:
            raise located(ValueError, f"For '{owner}': policy can not be empty.")
        for at, part in enumerate(policy):
            check_type(owner, f"policy[{at}]", part, list)
            if not part:
                raise located(ValueError, f"For '{owner}': policy[{at}] can not be empty.")
            for place, pair in enumerate(part):
                name = f"policy[{at}][{place}]"
                check_type(owner, name, pair, (list, tuple))
                if len(pair) != 2:
                    raise located(
                        ValueError, f"For '{owner}': {name} needs to be a 2-tuple: {pair!r}."
                    )
                check_type(owner, f"prob of {name}", pair[1], (int, float))
                check_interval(owner, f"prob of {name}", pair[1], 0, 1)
                if not isinstance(pair[0], TensorOperation):
                    raise located(
                        TypeError, f"For '{owner}': {name} has no transform: {pair[0]!r}."
                    )
        self.policy = policy

    def _apply(self, *columns: Any) -> Any:
        chosen = self.policy[int(draw().integers(len(self.policy)))]
        for transform, prob in chosen:
            if draw().random() < prob:
                result = transform(*columns)
                columns = result if isinstance(result, tuple) else (result,)
        return columns[0] if len(columns) == 1 else columns


_RESIZES = (Inter.NEAREST, Inter.BILINEAR, Inter.BICUBIC)


class RandomResize(ImageOperation):
    """Resizes an image with a random interpolation.

    Args:
        size: (height, width), or the length of the shorter edge.
    """

    is_random = True

    def __init__(self, size: Any) -> None:
        self.size = check_size("RandomResize", "size", size)

    def _apply(self, image: np.ndarray) -> np.ndarray:
        return Resize(self.size, _RESIZES[int(draw().integers(len(_RESIZES)))])(image)


class RandomCropDecodeResize(RandomResizedCrop):
    """Decodes the bytes of an image, cuts out a random rectangle and resizes it.

    Args:
        size: edge of a square, or (height, width).
        scale: range of its area, as a share of the image's.
        ratio: range of width / height.
        interpolation: interpolation of ``Resize``.
        max_attempts: draws before the middle is taken.
    """

    is_heavy = True

    def _to_input(self, value: Any) -> np.ndarray:
        from mindjax.dataset.vision.codec import Decode

        return Decode()(value)
