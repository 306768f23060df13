"""Goldens of one family: flat arrays by dtype in an npz, and an index in JSON.

An entry of the index describes a value: ``["T", dtype, store, offset, shape]`` a tensor,
``["py", type, text]`` a Python value, ``["dtype", name]``, ``["tuple"|"list", [...]]`` containers,
``["error", class, first line]`` what the original raised. A tensor's dtype is null where only
mathematics gave the value.
"""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "goldens"


def stem(family: str) -> pathlib.Path:
    """Give where a family's files lie, without their ending: ``gather``, ``numpy/creation``."""
    return FOLDER / (family if "/" in family else f"ops/{family}")


class Writer:
    """Collects the values of one family."""

    def __init__(self) -> None:
        self.stores: dict[str, list[np.ndarray]] = {}
        self.sizes: dict[str, int] = {}
        self.seen: dict[tuple[Any, ...], int] = {}
        self.index: dict[str, Any] = {}

    def tensor(self, array: np.ndarray, dtype: str | None) -> list[Any]:
        """Store an array and describe it."""
        key = array.dtype.name
        flat = np.ascontiguousarray(array).ravel()
        mark = (key, flat.tobytes())
        if mark not in self.seen:
            self.seen[mark] = self.sizes.get(key, 0)
            self.stores.setdefault(key, []).append(flat)
            self.sizes[key] = self.seen[mark] + flat.size
        return ["T", dtype, key, self.seen[mark], list(array.shape)]

    def save(self, family: str, about: dict[str, Any]) -> None:
        """Write both files."""
        path = stem(family)
        path.parent.mkdir(parents=True, exist_ok=True)
        stores = {k: np.concatenate(v) for k, v in self.stores.items()}
        np.savez_compressed(path.with_suffix(".npz"), **stores)
        lines = [f' "{name}": {json.dumps(entry)}' for name, entry in self.index.items()]
        head = f' "about": {json.dumps(about)}'
        path.with_suffix(".json").write_text("{\n" + ",\n".join([head, *lines]) + "\n}\n")


class Reader:
    """Gives the values of one family."""

    def __init__(self, family: str) -> None:
        with np.load(stem(family).with_suffix(".npz")) as stored:
            self.stores = {name: stored[name] for name in stored.files}
        self.index = json.loads(stem(family).with_suffix(".json").read_text())

    def array(self, entry: list[Any]) -> np.ndarray:
        """Give the array of a tensor's entry."""
        _, _, key, offset, shape = entry
        return self.stores[key][offset : offset + int(np.prod(shape))].reshape(shape)
