"""Bounded, counted caches; `mindjax info` and the tests read their figures."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Hashable
from typing import Any, Generic, Protocol, TypeVar

Value = TypeVar("Value")
_CACHES: weakref.WeakValueDictionary[str, Cache[Any]] = weakref.WeakValueDictionary()
_ROOMS: weakref.WeakValueDictionary[str, Room] = weakref.WeakValueDictionary()
_compilations: dict[str, int] = {}


class Cache(Generic[Value]):
    """A mapping that drops its oldest entries beyond a limit and counts hits and misses.

    Args:
        name: name in `report()`.
        limit: largest number of entries.
    """

    def __init__(self, name: str, limit: int) -> None:
        self.name, self.limit = name, limit
        self.entries: dict[Hashable, Value] = {}
        self.hits = self.misses = 0
        _CACHES[name] = self

    def get(self, key: Hashable) -> Value | None:
        """Look an entry up."""
        found = self.entries.get(key)
        if found is None:
            self.misses += 1
        else:
            self.hits += 1
        return found

    def put(self, key: Hashable, value: Value) -> Value:
        """Store an entry, dropping the oldest eighth when the cache is full."""
        if len(self.entries) >= self.limit:
            for old in list(self.entries)[: max(1, self.limit // 8)]:
                self.entries.pop(old, None)
        self.entries[key] = value
        return value

    def clear(self) -> None:
        """Drop every entry; the counters stay."""
        self.entries.clear()


class Holder(Protocol):
    """What holds things of which there may be but so many."""

    def renew(self) -> None:
        """Let go of what is held."""


class Room:
    """A limit of what holders keep in caches that are not ours: beyond it the fullest are emptied.

    Args:
        name: name in `report()`.
        limit: largest number that all of them hold.
    """

    def __init__(self, name: str, limit: int) -> None:
        self.name, self.limit = name, limit
        self.held: weakref.WeakKeyDictionary[Holder, int] = weakref.WeakKeyDictionary()
        self.added = 0
        # Of at least what is held: a holder that is gone is counted until the next look.
        self._most = 0
        self._lock = threading.Lock()
        _ROOMS[name] = self

    def add(self, holder: Holder | None) -> None:
        """Note that a holder, if it is not gone, is about to hold one more; it may be emptied."""
        if holder is None:
            return
        with self._lock:
            self.held[holder] = self.held.get(holder, 0) + 1
            self.added += 1
            self._most += 1
            if self._most <= self.limit:
                return
            emptied = []
            self._most = sum(self.held.values())
            if self._most > self.limit:
                for one in sorted(self.held, key=self.held.__getitem__, reverse=True):
                    if self._most <= self.limit - self.limit // 8:
                        break
                    self._most -= self.held.pop(one)
                    emptied.append(one)
        for one in emptied:
            one.renew()

    def left(self, holder: Holder) -> None:
        """Note that a holder holds nothing."""
        with self._lock:
            self._most -= self.held.pop(holder, 0)


def count_compilation(kind: str) -> None:
    """Count one traced program.

    Args:
        kind: ``"op"``, ``"backward"`` or ``"graph"``.
    """
    _compilations[kind] = _compilations.get(kind, 0) + 1


def compilations() -> dict[str, int]:
    """Give the number of programs traced since the start, by kind."""
    return dict(_compilations)


def report() -> dict[str, tuple[int, int, int, int]]:
    """Give every cache's figures.

    Returns:
        Mapping of cache name to ``(entries, limit, hits, misses)``.
    """
    found = {n: (len(c.entries), c.limit, c.hits, c.misses) for n, c in _CACHES.items()}
    found.update({n: (sum(r.held.values()), r.limit, 0, r.added) for n, r in _ROOMS.items()})
    return dict(sorted(found.items()))
