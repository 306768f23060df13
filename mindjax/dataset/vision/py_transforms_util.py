"""Functions of images that the original's private module of this name has and libraries use."""

from __future__ import annotations

from typing import Any

import numpy as np


def is_numpy(img: Any) -> bool:
    """Tell whether an image is a numpy array.

    Args:
        img: anything.
    """
    return isinstance(img, np.ndarray)


def hwc_to_chw(img: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Bring the channels of an image to the front.

    Args:
        img: (height, width, channels).

    Returns:
        (channels, height, width); what has no three axes stays.

    Raises:
        TypeError: it is no numpy array.
    """
    if not is_numpy(img):
        raise TypeError(f"img should be NumPy array. Got {type(img)}.")
    return img.transpose(2, 0, 1).copy() if img.ndim == 3 else img
