"""The settings of parallel training by methods, as libraries read them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindjax.core.parallel_context import get_auto_parallel_context


class _AutoParallelContext:
    """Gives ``get_x()`` for each setting ``x`` of ``set_auto_parallel_context``."""

    def __getattr__(self, name: str) -> Callable[[], Any]:
        setting = name.removeprefix("get_")
        if setting == name:
            raise AttributeError(f"the context of parallel training has no attribute '{name}'")
        try:
            get_auto_parallel_context(setting)
        except ValueError:
            raise AttributeError(
                f"the context of parallel training has no setting '{setting}'"
            ) from None
        return functools.partial(get_auto_parallel_context, setting)


_context = _AutoParallelContext()


def auto_parallel_context() -> _AutoParallelContext:
    """Give the settings of parallel training (MindSpore: of ``_auto_parallel_context``)."""
    return _context
