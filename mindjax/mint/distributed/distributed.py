"""The original's import path of `mint.distributed`'s functions."""

from __future__ import annotations

from typing import Any

from mindjax.mint import distributed


def __getattr__(name: str) -> Any:
    return getattr(distributed, name)


def __dir__() -> list[str]:
    return dir(distributed)
