"""The original's old import path of functions: everything that `mindjax.ops` lists."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mindjax.old_paths import parts
from mindjax.ops import functional

if TYPE_CHECKING:
    from mindjax.ops import *  # noqa: F403


# The original's is a package: `mindjax.alias` answers for the modules in it.
__path__: list[str] = []
_PARTS = parts("ops.function")


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return sys.modules[__name__]
    return getattr(functional, name)


def __dir__() -> list[str]:
    return dir(functional)
