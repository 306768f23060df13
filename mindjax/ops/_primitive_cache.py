"""Old import path: ``mindspore.ops._primitive_cache``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _get_cache_prim(cls: type[Any]) -> Callable[..., Any]:
    """Give a maker of a Primitive; records of equal attributes share their programs anyway.

    Args:
        cls: class of the Primitive.

    Returns:
        A function of its arguments that gives an instance.
    """
    return cls
