"""Numbers of shardings: equal ones have one number, and are compared no second time."""

from __future__ import annotations

import itertools
from typing import Any

_MOST = 1 << 12
# By identity: the sharding, so that no other takes its place, and its number.
_known: dict[int, tuple[Any, int]] = {}
_numbers: dict[Any, int] = {}
_next = itertools.count()


def layout_of(array: Any) -> int:
    """Give the number of a jax array's sharding."""
    sharding = array.sharding
    known = _known.get(id(sharding))
    return known[1] if known is not None else _number(sharding)


def _number(sharding: Any) -> int:
    if len(_known) > _MOST:
        # What knows a layout by its number meets another: it does what it does for a new one.
        _known.clear()
        _numbers.clear()
    number = _numbers.get(sharding)
    if number is None:
        number = _numbers[sharding] = next(_next)
    _known[id(sharding)] = sharding, number
    return number
