"""``save_graphs``: compiled programs as files."""

from __future__ import annotations

import itertools
import os
import re
from typing import Any

from mindjax.core.context import get_context

_numbers = itertools.count()


def level() -> int:
    """Give what `set_context` or ``MS_DEV_SAVE_GRAPHS`` asks for: 0 nothing, 1 or more files."""
    asked = get_context("save_graphs")
    if asked is False or asked == 0:
        text = os.environ.get("MS_DEV_SAVE_GRAPHS", "0")
        asked = int(text) if text.isdigit() else 0
    return 2 if asked is True else int(asked)


def folder() -> str:
    """Give the folder of the files: ``save_graphs_path`` or ``MS_DEV_SAVE_GRAPHS_PATH``."""
    path = get_context("save_graphs_path")
    if path == ".":
        path = os.environ.get("MS_DEV_SAVE_GRAPHS_PATH", path)
    return os.path.join(os.path.abspath(path), f"rank_{os.environ.get('RANK_ID', '0')}")


def save(name: str, jaxpr: Any, lowered: Any, compiled: Any) -> list[str]:
    """Write a program's texts, where the context asks for it.

    Args:
        name: the function's name.
        jaxpr: what was traced, written at level 2 and above.
        lowered: jax's lowered program: its StableHLO.
        compiled: jax's compiled program: its optimised HLO.

    Returns:
        The files written.
    """
    asked = level()
    if not asked:
        return []
    place = folder()
    os.makedirs(place, exist_ok=True)
    stem = f"{next(_numbers):04d}_{re.sub(r'[^0-9A-Za-z_-]+', '_', name)}"
    texts = {"stablehlo.mlir": lowered.as_text(), "hlo.txt": compiled.as_text() or ""}
    if asked > 1:
        texts["jaxpr.txt"] = str(jaxpr)
    written = []
    for ending, text in texts.items():
        path = os.path.join(place, f"{stem}.{ending}")
        with open(path, "w") as file:
            file.write(text)
        written.append(path)
    return written
