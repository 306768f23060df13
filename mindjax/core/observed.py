"""Values that a summary shows: kept where they are made, read only when somebody records them.

A summary op inside a compiled program becomes an output of that program, as written state does: the
array stays on the device, and a step that is not recorded waits for nothing. While nobody records,
programs hold no such output; whether somebody does is part of what a program depends on.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
from jax import lax

from mindjax.core.handle import current, is_traced, upload
from mindjax.core.state import AttributeState, changed


class _Kept(AttributeState):
    """State that no Cell owns: what programs write here is theirs to output."""

    def __init__(self, slot: _Slot, name: str, shape: tuple[int, ...] = (), dtype: Any = np.int32):
        super().__init__(slot, name)
        self.aval = shape, np.dtype(dtype)

    def local_value(self) -> Any:
        """Give the last value; zeros where a branch or loop asks before there is one."""
        value = self._value
        return upload(np.zeros(*self.aval)) if value is None else value

    def assign_value(self, value: Any, node: Any = None) -> Any:
        """Write, in a graph through its frame."""
        if current.frame is not None:
            current.frame.write(self, value)
        else:
            self._value = value
        return self


class _Slot:
    """The last value of one name and kind, and how often programs have written it."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind, self.name = kind, name
        self.value = _Kept(self, name)
        self.count = _Kept(self, f"{name} (count)")
        self._seen = 0
        self._fresh = False

    def put(self, array: Any) -> None:
        """Keep a value that is computed already."""
        self.value.aval = tuple(array.shape), array.dtype
        self.value.store(array)
        self._fresh = True

    def trace(self, array: Any) -> None:
        """Make a traced value an output of the program."""
        self.value.aval = tuple(array.shape), array.dtype
        self.value.assign_value(array)
        # In a branch that is not taken the value stays an old one: the count tells.
        self.count.assign_value(lax.add(self.count.array, np.int32(1)))

    def take(self) -> Any:
        """Give the value if it was written since the last time, and None otherwise."""
        count = self.count._value
        seen, self._seen = self._seen, 0 if count is None else int(count)
        fresh, self._fresh = self._fresh, False
        return self.value.local_value() if fresh or seen != self._seen else None

    def clear(self) -> None:
        """Free the value's memory."""
        self.take()
        self.value._value = None


# Programs hold the slots they write; those written op by op are held until they are taken.
_slots: weakref.WeakValueDictionary[tuple[str, str], _Slot] = weakref.WeakValueDictionary()
_pending: dict[tuple[str, str], _Slot] = {}


class _Recording:
    """Whether somebody records: the guard of programs that hold summary ops."""

    count = 0

    def guard(self) -> bool:
        return self.count > 0


_recording = _Recording()


def start() -> None:
    """Begin to keep what summary ops are given."""
    _recording.count += 1
    changed()
    clear()


def stop() -> None:
    """End what `start` began, and free what is kept when the last one ends."""
    _recording.count -= 1
    changed()
    if not _recording.count:
        clear()


def clear() -> None:
    """Forget the values that nobody has taken."""
    for slot in list(_slots.values()):
        slot.clear()
    _pending.clear()


def observe(kind: str, name: str, array: Any) -> None:
    """Keep a value under a name, the last one of a step; nothing while nobody records.

    Args:
        kind: ``"scalar"``, ``"image"``, ``"tensor"`` or ``"histogram"``.
        name: the summary's name.
        array: array of any shape, traced or not.
    """
    frame = current.frame
    if frame is not None:
        frame.root_frame().guards[_recording] = None
    if not _recording.count:
        return
    key = kind, name
    slot = _slots.get(key)
    if slot is None:
        slot = _slots[key] = _Slot(kind, name)
    _pending[key] = slot
    if frame is not None and is_traced(array):
        slot.trace(array)
    elif is_traced(array):
        # A user's own jax.jit has no outputs of ours.
        jax.debug.callback(slot.put, array, ordered=True)
    else:
        slot.put(array)


def take() -> Iterator[tuple[str, str, Any]]:
    """Give what was kept since the last time: kind, name and array."""
    jax.effects_barrier()
    slots = list(_slots.values())
    _pending.clear()
    for slot in slots:
        value = slot.take()
        if value is not None:
            yield slot.kind, slot.name, value
            if slot.count._value is None:
                slot.clear()
