"""The original's old import path of Primitive classes: every class that `mindjax.ops` lists."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from mindjax import ops
from mindjax.old_paths import parts

if TYPE_CHECKING:
    from mindjax.ops import *  # noqa: F403


# The original's is a package: `mindjax.alias` answers for the modules in it.
__path__: list[str] = []
_PARTS = parts("ops.operations")
# What the original lists here beside classes.
_FUNCTIONS = ("kernel", "ms_kernel")
_OLD_NAMES = {"identity": "Identity"}


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return sys.modules[__name__]
    found = getattr(ops, _OLD_NAMES.get(name, name), None)
    if not isinstance(found, type) and (found is None or name not in _FUNCTIONS):
        raise AttributeError(f"module 'mindspore.ops.operations' has no attribute '{name}'")
    return found


def __dir__() -> list[str]:
    classes = [n for n in dir(ops) if isinstance(getattr(ops, n), type)]
    return [*classes, *_FUNCTIONS, *_OLD_NAMES]
