"""Small numbers that come again: one numpy array of each, and its copy on the device.

A program takes a numpy array 2 us later than one that is on the device already.
"""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from mindjax.core import jax_private
from mindjax.core.caches import Cache

RESIDENT: dict[int, tuple[np.ndarray[Any, Any], Any]] = {}
"""By identity of such a numpy array: the array, and the jax array of the same values."""

INTERNED: dict[int, np.ndarray[Any, Any]] = {}
"""Every array that is made here, by its identity."""

_numbers: Cache[np.ndarray[Any, Any]] = Cache("numbers", 2048)


def number_array(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Make a 0-d array of a number; integers that do not fit wrap around, as in the original.

    Args:
        value: Python or numpy number.
        dtype: numpy dtype.

    Returns:
        0-d numpy array.
    """
    if isinstance(value, int) and not isinstance(value, bool) and not -(2**63) <= value < 2**63:
        value = (value + 2**63) % 2**64 - 2**63 if dtype.kind != "f" else float(value)
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(value).astype(dtype)


def number(value: Any, dtype: Any) -> np.ndarray[Any, Any]:
    """Give the array that `number_array` makes, the same one each time.

    Args:
        value: Python number.
        dtype: numpy dtype.

    Returns:
        0-d numpy array, read-only.
    """
    # Zeros are equal whatever their sign, also within complex numbers.
    kind = type(value)
    key = kind, value if value and kind is not complex else repr(value), dtype
    found = _numbers.entries.get(key)
    return _again(found) if found is not None else _keep(key, number_array(value, dtype))


def index_array(value: int) -> np.ndarray[Any, Any]:
    """Give the Int32 array of one integer, the same one each time.

    Args:
        value: an index.

    Returns:
        numpy array of shape (1,), read-only.
    """
    found = _numbers.entries.get(value)
    if id(found) in RESIDENT:
        return found  # type: ignore[return-value]
    return _again(found) if found is not None else _keep(value, np.asarray([value], np.int32))


def _keep(key: Any, array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    if len(_numbers.entries) >= _numbers.limit:
        _numbers.clear()
        RESIDENT.clear()
        INTERNED.clear()
    INTERNED[id(array)] = array
    array.flags.writeable = False
    return _numbers.put(key, array)


def _again(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Put what is met a second time on the device."""
    if id(array) not in RESIDENT and jax_private.untraced():
        old = jax_private.swap_x64(True)
        try:
            # Not bound to a device: it goes where the op's Tensors are.
            RESIDENT[id(array)] = array, jax.device_put(array)
        finally:
            jax_private.set_x64(old)
    return array
