"""What the transforms of sound share: checks of arguments and input, dtypes of results."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import INT32_MAX, check_interval, check_type
from mindjax.dataset.transforms.operation import OneToOne

FLOAT32_MAX = 3.4028234663852886e38


class AudioOperation(OneToOne):
    """A transform of one array of sound, (..., time) or a spectrum (..., frequency, time)."""

    # Fewest axes of the input, and whether its last one holds real and imaginary parts.
    low_rank = 1
    is_complex = False
    # Whether integers are refused.
    only_floats = False

    def __call__(self, *values: Any) -> Any:
        """Transform one array.

        Raises:
            TypeError: it is no numpy array.
            RuntimeError: it has no numbers or too few axes.
        """
        for value in values:
            if not isinstance(value, np.ndarray):
                raise self._fail(f"Input should be NumPy audio, got {type(value)}.", TypeError)
        return super().__call__(*values)

    def _to_input(self, value: Any) -> np.ndarray:
        if value.dtype.kind not in ("f" if self.only_floats else "iufb"):
            raise self._fail(
                "input tensor type should be int, float or double, but got: "
                f"{'string' if value.dtype.kind in 'US' else value.dtype}."
            )
        if value.ndim < self.low_rank:
            raise self._fail(
                f"the shape of input tensor does not match the requirement: it has {value.ndim} "
                f"axes, and at least {self.low_rank} are needed."
            )
        if self.is_complex and value.shape[-1] != 2:
            raise self._fail(
                "the shape of input tensor does not match the requirement: its last axis should "
                f"hold real and imaginary parts, but has length {value.shape[-1]}."
            )
        return value


def to_float(column: np.ndarray) -> np.ndarray:
    """Bring an array to float64 if it has it, else to float32."""
    return column if column.dtype == np.float64 else column.astype(np.float32)


def limited(column: np.ndarray) -> np.ndarray:
    """Limit an array to [-1, 1]."""
    return np.clip(column, -1, 1)


def single(value: float) -> float:
    """Round a parameter to float32: the original's filters keep theirs in it.

    Args:
        value: the parameter.
    """
    return float(np.float32(value))


def check_real(
    owner: str, name: str, value: Any, low: float = -FLOAT32_MAX, bounds: str = "[]"
) -> float:
    """Refuse what is no number of float32 from ``low`` on; ``(`` leaves ``low`` out."""
    check_type(owner, name, value, (int, float))
    check_interval(owner, name, value, low, FLOAT32_MAX, bounds)
    return value


def check_positive(owner: str, name: str, value: Any) -> float:
    """Refuse what is no positive number of float32."""
    return check_real(owner, name, value, 0, "(]")


def check_between(
    owner: str, name: str, value: Any, low: float, high: float, bounds: str = "[]"
) -> float:
    """Refuse what is no number of an interval."""
    check_type(owner, name, value, (int, float))
    check_interval(owner, name, value, low, high, bounds)
    return value


def check_count(owner: str, name: str, value: Any, low: int = 0) -> int:
    """Refuse what is no integer from ``low`` on."""
    check_type(owner, name, value, int)
    check_interval(owner, name, value, low, INT32_MAX)
    return value


def check_rate(owner: str, value: Any) -> int:
    """Refuse a sample rate that is no integer or 0."""
    check_type(owner, "sample_rate", value, int)
    check_interval(owner, "sample_rate", value, -INT32_MAX - 1, INT32_MAX)
    if value == 0:
        raise located(ValueError, f"For '{owner}': Input sample_rate is 0.")
    return value
