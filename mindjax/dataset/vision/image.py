"""What transforms of images share: the check of their input, PIL images, sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_interval
from mindjax.dataset.transforms.operation import OneToOne, is_pil

_MAX_SIZE = 16777216


class ImageOperation(OneToOne):
    """A transform of one image: (H, W) or (..., H, W, C), or a PIL image where it says so."""

    def _to_input(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) and not is_pil(value):
            raise self._fail(f"Input should be NumPy or PIL image, got {type(value)}.", TypeError)
        return value

    def _check_rank(self, image: np.ndarray, low: int = 2, high: int | None = None) -> None:
        if image.ndim < low or (high is not None and image.ndim > high):
            hint = " You may need to perform Decode first." if image.ndim == 1 else ""
            raise self._fail(
                f"image shape should be <H,W> or <H,W,C>, but got rank: {image.ndim}.{hint}"
            )


def from_pil(image: Any) -> np.ndarray:
    """Copy a PIL image to an array."""
    return np.array(image)


def like_pil(array: np.ndarray) -> Any:
    """Make a PIL image of an array; PIL is there, since its caller got an image of it."""
    from PIL import Image

    return Image.fromarray(array)


def height_axis(rank: int) -> int:
    """Give the axis of the rows of pixels; the next one is that of the columns."""
    return 0 if rank == 2 else rank - 3


def check_size(owner: str, name: str, size: Any) -> tuple[int, int] | int:
    """Check an image size: one integer, or (height, width).

    Raises:
        TypeError: it is neither.
        ValueError: it is out of range.
    """
    values = list(size) if isinstance(size, list | tuple) else [size]
    whole = all(isinstance(value, int) and not isinstance(value, bool) for value in values)
    if not whole or len(values) != (2 if isinstance(size, list | tuple) else 1):
        raise located(
            TypeError,
            f"For '{owner}': Size should be a single integer or a list/tuple (h, w) of length 2, "
            f"but got {name}={size!r}.",
        )
    for value in values:
        check_interval(owner, name, value, 1, _MAX_SIZE)
    return (values[0], values[1]) if len(values) == 2 else values[0]
