"""The original's old import path of functions: everything that `mindjax.ops` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax import ops

if TYPE_CHECKING:
    from mindjax.ops import *  # noqa: F403


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(ops, name):
        raise AttributeError(f"module 'mindspore.ops.functional' has no attribute '{name}'")
    return getattr(ops, name)


def __dir__() -> list[str]:
    return [n for n in dir(ops) if not n.startswith("_")]
