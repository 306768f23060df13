"""Names of the parts of a network in the programs that they make: for graphs and profiles."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

import jax


class _Running(threading.local):
    part: Any = None
    place: str = ""


_running = _Running()


@contextlib.contextmanager
def scope_of(part: Any) -> Iterator[None]:
    """Trace under the name that a part has in the one around it.

    Args:
        part: object with ``_cells``, a dict of its parts.
    """
    outer, place = _running.part, _running.place
    name = _name(outer, part)
    _running.part, _running.place = part, f"{place}/{name}" if place else name
    stage = part.__dict__.get("_pipeline_stage")
    if stage is not None:
        # The pipeline cuts the program by these names.
        segment = part.__dict__.get("_pipeline_segment")
        name += f"/pipeline_stage_{stage}" + ("" if segment is None else f"_segment_{segment}")
    try:
        with jax.named_scope(name):
            yield
    finally:
        _running.part, _running.place = outer, place


def place() -> str:
    """Give the names of the parts that are being traced, the outermost first."""
    return _running.place


def _name(outer: Any, part: Any) -> str:
    if outer is not None:
        for name, inner in outer._cells.items():
            if inner is part:
                return name
            for place, item in getattr(inner, "_cells", {}).items():
                if item is part:
                    return f"{name}/{place}"
    return type(part).__name__
