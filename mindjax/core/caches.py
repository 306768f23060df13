"""Bounded, counted caches; `mindjax info` and the tests read their figures."""

from __future__ import annotations

import weakref
from collections.abc import Hashable
from typing import Any, Generic, TypeVar

Value = TypeVar("Value")
_CACHES: weakref.WeakValueDictionary[str, Cache[Any]] = weakref.WeakValueDictionary()
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
    return {n: (len(c.entries), c.limit, c.hits, c.misses) for n, c in sorted(_CACHES.items())}
