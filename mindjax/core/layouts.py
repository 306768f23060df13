"""Where and how jax arrays lie: numbers of shardings, and the order of axes in memory."""

from __future__ import annotations

import itertools
from typing import Any

import jax
from jax.experimental.layout import Format, Layout

from mindjax.core import jax_private

_MOST = 1 << 12
# By identity: the sharding, so that no other takes its place, and its number.
_known: dict[int, tuple[Any, int]] = {}
_numbers: dict[Any, int] = {}
_next = itertools.count()
# By the number of axes: jax's object for arrays whose last axis lies together.
_usual: dict[int, Any] = {}


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


def in_order(array: Any) -> Any:
    """Give a jax array from outside with its axes in their order in memory.

    A user may have made it with another order (`jax.experimental.layout`). Calls of executables
    that look at no array know a shape and a dtype only, and would take its numbers as they lie.

    Args:
        array: of any shape and dtype; anything that is no concrete jax array is given as it is.

    Returns:
        The array, or a copy.
    """
    if type(array) is not jax_private.ArrayImpl:
        return array
    ndim = array.ndim
    if ndim < 2:
        return array
    order, usual = jax_private.memory_order(array), _usual.get(ndim)
    if order is None or (usual is not None and order == usual):
        return array
    axes = str(order).strip("{").partition("}")[0].partition(":")[0].split(",")
    if axes == [str(i) for i in reversed(range(ndim))]:
        _usual[ndim] = order
        return array
    return jax.device_put(array, Format(Layout(tuple(range(ndim))), array.sharding))
