"""How the devices of a ring send arrays to one another.

In a program of all devices keys go round by permutations. Within a pipeline stage there can be
none: a permutation is one for all devices, and would wait for those of other stages. There keys
move along one axis of the mesh at a time, in an order that leads past every device (Gray, 1953),
by gathers among the few devices of that axis; as much is sent, as long as axes have two devices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax_parallel.ring_layout import Axes

Array = jax.Array


class RingLinks:
    """Links of devices that all run one program: each sends to the next.

    Args:
        axes: that cut the sequence, the slowest first.
        size: number of devices along them.

    Attributes:
        alike: whether every move is the same, so that a loop may go over them.
    """

    alike = True

    def __init__(self, axes: Axes, size: int) -> None:
        self.axes, self.size = axes, size
        self.me = lax.axis_index(axes)

    def move(self, x: Any, step: Any) -> Any:
        """Let visitors go on to the devices that they visit after so many steps, from 1."""
        del step
        return self._permuted(x, [(i, (i + 1) % self.size) for i in range(self.size)])

    def home(self, x: Any) -> Any:
        """Let what travels with the visitors go home from the last device."""
        return self.move(x, self.size)

    def source(self, step: Any) -> Array:
        """Give the device whose visitor has come after so many steps."""
        n = np.int32(self.size)
        return (self.me - step + n) % n

    def mirrored(self, x: Array) -> Array:
        """Exchange an array with the device that is as far from the end as this from the start."""
        return self._permuted(x, [(i, self.size - 1 - i) for i in range(self.size)])

    def _permuted(self, x: Any, pairs: Sequence[tuple[int, int]]) -> Any:
        return jax.tree.map(lambda a: lax.ppermute(a, self.axes, pairs), x)


class StageLinks:
    """Links of the devices of one pipeline stage: along one axis at a time.

    Args:
        axes: that cut the sequence, the slowest first.
        sizes: of the axes.

    Attributes:
        alike: whether every move is the same.
    """

    alike = False

    def __init__(self, axes: Axes, sizes: Sequence[int]) -> None:
        self.axes, self._sizes, self.size = axes, tuple(sizes), math.prod(sizes)
        self.me = lax.axis_index(axes)
        self._own = [lax.axis_index(a) for a in axes]
        self._walk = _past_every_device(self._sizes)
        self._shifts = [(0,) * len(axes)]
        for axis in self._walk:
            last = list(self._shifts[-1])
            last[axis] = (last[axis] + 1) % self._sizes[axis]
            self._shifts.append(tuple(last))

    def move(self, x: Any, step: int) -> Any:
        """Let visitors go on to the devices that they visit after so many steps, from 1."""
        axis = self._walk[step - 1]
        return self._taken(x, axis, self._of(axis, 1))

    def home(self, x: Any) -> Any:
        """Let what travels with the visitors go home from the last device."""
        for axis, shift in enumerate(self._shifts[-1]):
            if shift:
                x = self._taken(x, axis, self._of(axis, -shift))
        return x

    def source(self, step: int) -> Array:
        """Give the device whose visitor has come after so many steps."""
        found = jnp.zeros((), np.int32)
        for axis, shift in enumerate(self._shifts[step]):
            found = found * np.int32(self._sizes[axis]) + self._of(axis, shift)
        return found

    def mirrored(self, x: Array) -> Array:
        """Exchange an array with the device that is as far from the end as this from the start."""
        for axis, size in enumerate(self._sizes):
            x = self._taken(x, axis, np.int32(size - 1) - self._own[axis])
        return x

    def _of(self, axis: int, shift: int) -> Array:
        """Give the place on an axis from which arrays come that are moved so far."""
        n = self._sizes[axis]
        return (self._own[axis] + np.int32(n - shift % n)) % np.int32(n)

    def _taken(self, x: Any, axis: int, place: Array) -> Any:
        def one(a: Array) -> Array:
            every = lax.all_gather(a, self.axes[axis])
            return lax.dynamic_index_in_dim(every, place, 0, keepdims=False)

        return jax.tree.map(one, x)


def _past_every_device(sizes: Sequence[int]) -> list[int]:
    """Give the axis of each step that, taken one after another, lead past every device once."""
    found: list[int] = []
    for axis in reversed(range(len(sizes))):
        found = [*found, *(s for _ in range(sizes[axis] - 1) for s in (axis, *found))]
    return found


Links = RingLinks | StageLinks
