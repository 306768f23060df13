"""What a trace does to Python's own objects, so that a trace that is given up leaves none of it."""

from __future__ import annotations

import threading
import types
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mindjax.core.handle import Handle
from mindjax.graph.control.joining import UNDEFINED

_WRITING = frozenset(("fill", "sort", "put", "partition", "itemset", "resize"))
"""Methods by which a numpy array is written."""
_UNLIKE = frozenset(("view", "sort"))
"""Methods that arrays and Tensors share in name only."""


class Changes:
    """The objects that a trace is about to change, with what they held before.

    Attributes:
        library: whether what is traced calls MindJAX: an op, a Cell, a method that arrays lack.
    """

    def __init__(self) -> None:
        self.library = False
        self._boxes: dict[int, tuple[Any, Any]] = {}
        self._attributes: dict[tuple[int, str], tuple[Any, Any]] = {}
        self._globals: dict[tuple[int, str], tuple[dict[str, Any], Any]] = {}
        self._cells: dict[int, tuple[types.CellType, Any]] = {}

    def note_box(self, box: Any) -> None:
        """Note a container or array whose contents are about to change."""
        if id(box) not in self._boxes:
            copied = _copy(box)
            if copied is not None:
                self._boxes[id(box)] = box, copied

    def note_attribute(self, owner: Any, name: str) -> None:
        """Note an attribute of a plain object that is about to be written."""
        if (id(owner), name) not in self._attributes:
            self._attributes[id(owner), name] = owner, attribute(owner, name)

    def note_names(self, reader: types.FunctionType) -> None:
        """Note names from outside that a function declares as its own to write.

        Args:
            reader: function that reads them.
        """
        names = reader.__globals__
        for name in reader.__code__.co_names:
            key = id(names), name
            self._globals.setdefault(key, (names, names.get(name, UNDEFINED)))
        for cell in reader.__closure__ or ():
            self._cells.setdefault(id(cell), (cell, _held(cell)))

    def note_call(self, function: Any) -> None:
        """Note what is called."""
        self.library = self.library or _of_library(function)

    def undo(self) -> None:
        """Give every object what it held before."""
        for box, items in self._boxes.values():
            _refill(box, items)
        # Backwards: a property's setter writes what was noted before it.
        for (_, name), (owner, before) in reversed(self._attributes.items()):
            put_attribute(owner, name, before)
        for (_, name), (names, before) in self._globals.items():
            if before is UNDEFINED:
                names.pop(name, None)
            else:
                names[name] = before
        for cell, before in self._cells.values():
            if before is not UNDEFINED:
                cell.cell_contents = before
            elif _held(cell) is not UNDEFINED:
                del cell.cell_contents


class _Active(threading.local):
    def __init__(self) -> None:
        self.changes: Changes | None = None


active = _Active()


@contextmanager
def noted() -> Iterator[Changes]:
    """Note what happens to Python's objects."""
    before, active.changes = active.changes, Changes()
    try:
        yield active.changes
    finally:
        active.changes = before


def note_array(function: types.BuiltinFunctionType) -> None:
    """Note what a method of numpy or of `collections` is about to change.

    Args:
        function: the bound method.
    """
    changes, owner = active.changes, function.__self__
    if changes is None:
        return
    if isinstance(owner, deque) or (
        isinstance(owner, np.ndarray) and function.__name__ in _WRITING
    ):
        changes.note_box(owner)


def attribute(owner: Any, name: str) -> Any:
    """Give an object's own attribute; `UNDEFINED` if it has none.

    Args:
        owner: object, class or module.
        name: of the attribute, a slot's or a property's too.
    """
    if _is_computed(owner, name):
        return getattr(owner, name, UNDEFINED)
    return getattr(owner, "__dict__", {}).get(name, UNDEFINED)


def put_attribute(owner: Any, name: str, value: Any) -> None:
    """Give an object's own attribute another value, past its ``__setattr__``.

    Args:
        owner: object, class or module.
        name: of the attribute.
        value: what it is to be; `UNDEFINED` for nothing.
    """
    if isinstance(owner, type) or _is_computed(owner, name):
        if value is not UNDEFINED:
            setattr(owner, name, value)
        elif attribute(owner, name) is not UNDEFINED:
            delattr(owner, name)
    elif value is UNDEFINED:
        owner.__dict__.pop(name, None)
    else:
        owner.__dict__[name] = value


def _is_computed(owner: Any, name: str) -> bool:
    """Tell whether an attribute is a slot or a property of the object's class."""
    return hasattr(type(getattr(type(owner), name, None)), "__set__")


def names(reader: Callable[..., Any]) -> None:
    """Note ``global`` and ``nonlocal`` names where a rewritten function begins.

    Args:
        reader: function that reads them.
    """
    if active.changes is not None and isinstance(reader, types.FunctionType):
        active.changes.note_names(reader)


def _of_library(function: Any) -> bool:
    """Tell whether a call is one of MindJAX that a numpy array could not stand in."""
    if getattr(function, "is_program", False):
        return False
    if isinstance(getattr(function, "__self__", None), Handle):
        name = function.__name__
        return name in _UNLIKE or not hasattr(np.ndarray, name)
    kind = function if isinstance(function, type) else type(function)
    homes = getattr(function, "__module__", None), kind.__module__
    is_own = any(str(h).partition(".")[0] == "mindjax" for h in homes)
    return is_own or hasattr(function, "_enter_graph")


def _copy(box: Any) -> Any:
    if isinstance(box, list | deque):
        return list(box)
    if isinstance(box, dict):
        return dict(box)
    if isinstance(box, set):
        return set(box)
    return box.copy() if isinstance(box, np.ndarray) else None


def _refill(box: Any, items: Any) -> None:
    if isinstance(box, list):
        box[:] = items
    elif isinstance(box, np.ndarray):
        box[...] = items
    elif isinstance(box, deque):
        box.clear()
        box.extend(items)
    else:
        box.clear()
        box.update(items)


def _held(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return UNDEFINED
