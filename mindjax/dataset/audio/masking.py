"""Masks of frequencies and times of a spectrum."""

from __future__ import annotations

import numpy as np

from mindjax.dataset.audio.operation import AudioOperation, check_count, check_real, to_float
from mindjax.dataset.engine.checks import check_bool, check_interval, check_type
from mindjax.dataset.engine.run import draw


def _masked(column: np.ndarray, start: int, width: int, value: float, axis: int) -> np.ndarray:
    out = to_float(column).copy()
    place = (..., slice(start, start + width), *([slice(None)] * (-1 - axis)))
    out[place] = value
    return out


def _random_mask(column: np.ndarray, most: int, value: float, axis: int) -> np.ndarray:
    size = column.shape[axis]
    width = draw().random() * most
    start = int(draw().random() * (size - width))
    return _masked(column, start, int(start + width) - start, value, axis)


class MaskAlongAxis(AudioOperation):
    """Masks a range of frequencies or of times, of an array (..., frequency, time).

    Args:
        mask_start: first masked place.
        mask_width: number of masked places.
        mask_value: value of masked places.
        axis: 1 for frequencies, 2 for times.
    """

    low_rank = 2

    def __init__(self, mask_start: int, mask_width: int, mask_value: float, axis: int) -> None:
        self.start = check_count("MaskAlongAxis", "mask_start", mask_start)
        self.width = check_count("MaskAlongAxis", "mask_width", mask_width, 1)
        self.value = check_real("MaskAlongAxis", "mask_value", mask_value)
        check_type("MaskAlongAxis", "axis", axis, int)
        check_interval("MaskAlongAxis", "axis", axis, 1, 2)
        self.axis = axis - 3

    def _apply(self, column: np.ndarray) -> np.ndarray:
        size = column.shape[self.axis]
        if self.start + self.width > size or self.start >= size:
            raise self._fail(
                f"the sum of mask_start and mask_width is out of the input's length {size}: "
                f"{self.start} + {self.width}."
            )
        return _masked(column, self.start, self.width, self.value, self.axis)


class MaskAlongAxisIID(AudioOperation):
    """Masks a random range of frequencies or of times, of an array (..., frequency, time).

    Args:
        mask_param: greatest number of masked places.
        mask_value: value of masked places.
        axis: 1 for frequencies, 2 for times.
    """

    low_rank, is_random = 2, True

    def __init__(self, mask_param: int, mask_value: float, axis: int) -> None:
        self.mask_param = check_count("MaskAlongAxisIID", "mask_param", mask_param)
        self.value = check_real("MaskAlongAxisIID", "mask_value", mask_value)
        check_type("MaskAlongAxisIID", "axis", axis, int)
        check_interval("MaskAlongAxisIID", "axis", axis, 1, 2)
        self.axis = axis - 3

    def _apply(self, column: np.ndarray) -> np.ndarray:
        if self.mask_param > column.shape[self.axis]:
            raise self._fail(
                "mask_param should be less than or equal to the length of masked dimension, but "
                f"got: {self.mask_param} and {column.shape[self.axis]}."
            )
        return _random_mask(column, self.mask_param, self.value, self.axis)


class _Masking(AudioOperation):
    low_rank, axis = 2, -1

    def _set(self, iid_masks: bool, param: int, name: str, start: int, value: float) -> None:
        owner = type(self).__name__
        self.iid_masks = check_bool(owner, "iid_masks", iid_masks)
        self.param = check_count(owner, name, param)
        self.start = check_count(owner, "mask_start", start)
        self.value = check_real(owner, "mask_value", value, 0)

    @property
    def is_random(self) -> bool:  # type: ignore[override]
        """Whether the result depends on ``run.draw()``."""
        return self.iid_masks

    def _apply(self, column: np.ndarray) -> np.ndarray:
        size = column.shape[self.axis]
        if self.param > size:
            raise self._fail(
                f"the mask should be no longer than the masked axis, but got {self.param} and "
                f"{size}."
            )
        if self.iid_masks:
            return _random_mask(column, self.param, self.value, self.axis)
        if self.start + self.param > size:
            raise self._fail(
                f"the sum of mask_start and the mask's length is out of the axis's length {size}: "
                f"{self.start} + {self.param}."
            )
        return _masked(column, self.start, self.param, self.value, self.axis)


class FrequencyMasking(_Masking):
    """Masks frequencies of an array (..., frequency, time).

    Args:
        iid_masks: whether place and length of the mask are random.
        freq_mask_param: length of the mask, or the greatest one.
        mask_start: first masked frequency, if not random.
        mask_value: value of masked places.
    """

    axis = -2

    def __init__(
        self,
        iid_masks: bool = False,
        freq_mask_param: int = 0,
        mask_start: int = 0,
        mask_value: float = 0.0,
    ) -> None:
        self._set(iid_masks, freq_mask_param, "freq_mask_param", mask_start, mask_value)


class TimeMasking(_Masking):
    """Masks times of an array (..., frequency, time).

    Args:
        iid_masks: whether place and length of the mask are random.
        time_mask_param: length of the mask, or the greatest one.
        mask_start: first masked time, if not random.
        mask_value: value of masked places.
    """

    def __init__(
        self,
        iid_masks: bool = False,
        time_mask_param: int = 0,
        mask_start: int = 0,
        mask_value: float = 0.0,
    ) -> None:
        self._set(iid_masks, time_mask_param, "time_mask_param", mask_start, mask_value)
