"""Decorators of the original's private package that libraries put on their own Cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def cell_attr_register(fn: Callable[..., Any] | None = None, attrs: Any = None) -> Any:
    """Mark a Cell's ``__init__`` whose arguments identify it (MindSpore: of ``_extends``).

    The original names compiled graphs by these arguments. Here programs are known by what they are
    traced to, so that the function stays as it is.

    Args:
        fn: the ``__init__``; None gives a decorator.
        attrs: names of the arguments, a list or one string.

    Returns:
        ``fn``, or a decorator that gives its function.
    """
    return (lambda function: function) if fn is None else fn
