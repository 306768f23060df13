"""The original's old import path of functions: everything that `mindjax.ops` lists."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.ops import functional

if TYPE_CHECKING:
    from mindjax.ops import *  # noqa: F403


def __getattr__(name: str) -> Any:
    return getattr(functional, name)


def __dir__() -> list[str]:
    return dir(functional)
