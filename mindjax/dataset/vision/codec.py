"""Transforms between encoded images, arrays and PIL images; these need pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool
from mindjax.dataset.transforms.operation import OneToOne, is_pil


def pillow(owner: str) -> Any:
    """Import Pillow, or say how to install it."""
    try:
        from PIL import Image
    except ImportError:
        raise located(
            ImportError, f'{owner} needs pillow: pip install "mindjax[vision]".'
        ) from None
    return Image


class Decode(OneToOne):
    """Decodes the bytes of an image file to RGB.

    Args:
        to_pil: whether the result is a PIL image and not an (H, W, 3) uint8 array.
    """

    is_heavy = True

    def __init__(self, to_pil: bool = False) -> None:
        self.to_pil = check_bool("Decode", "to_pil", to_pil)

    def _to_input(self, value: Any) -> Any:
        if isinstance(value, bytes):
            return np.frombuffer(value, np.uint8)
        if not isinstance(value, np.ndarray):
            raise self._fail(
                f"The type of the encoded image should be {np.ndarray}, but got {type(value)}.",
                TypeError,
            )
        if value.ndim != 1:
            raise self._fail(
                "The number of array dimensions of the encoded image should be 1, but got "
                f"{value.ndim}.",
                TypeError,
            )
        return value

    def _apply(self, column: np.ndarray) -> Any:
        images = pillow("Decode")
        try:
            image = images.open(io.BytesIO(column.tobytes()))
            if image.mode.startswith("I;16"):
                # Pillow would cut the values off at 255.
                image = images.fromarray((np.array(image) >> 8).astype(np.uint8))
            image = image.convert("RGB")
        except (OSError, ValueError, SyntaxError) as error:
            raise self._fail(f"image decode failed: {type(error).__name__}.") from None
        return image if self.to_pil else np.array(image)


class ToPIL(OneToOne):
    """Makes a PIL image of an (H, W) or (H, W, C) array."""

    def _to_input(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) and not is_pil(value):
            raise self._fail(
                "The input image should be of type numpy.ndarray or PIL.Image.Image. Got "
                f"{type(value)}.",
                TypeError,
            )
        return value

    def _apply(self, image: Any) -> Any:
        if is_pil(image):
            return image
        if image.ndim not in (2, 3):
            raise self._fail(
                f"The dimension of input image should be 2 or 3. Got {image.ndim}.", ValueError
            )
        if image.ndim == 3 and image.shape[2] > 4:
            raise self._fail(
                f"The channel of input image should not exceed 4. Got {image.shape[2]}.", ValueError
            )
        if image.ndim == 3 and image.shape[2] == 1:
            image = image[:, :, 0]
        try:
            return pillow("ToPIL").fromarray(image)
        except TypeError as error:
            raise self._fail(str(error), TypeError) from None
