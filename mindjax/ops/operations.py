"""The original's old import path of Primitive classes: every class that `mindjax.ops` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax import ops

if TYPE_CHECKING:
    from mindjax.ops import *  # noqa: F403


def __getattr__(name: str) -> Any:
    found = getattr(ops, name, None)
    if not isinstance(found, type):
        raise AttributeError(f"module 'mindspore.ops.operations' has no attribute '{name}'")
    return found


def __dir__() -> list[str]:
    return [n for n in dir(ops) if isinstance(getattr(ops, n), type)]
