"""Checks of callback arguments, with the original's classes and phrases."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located


def require_bool(value: Any, name: str = "") -> bool:
    """Return ``value`` if it is a bool, else raise TypeError."""
    if not isinstance(value, bool):
        subject = f"'{name}'" if name else "input value"
        raise located(TypeError, f"The {subject} must be a bool, but got {type(value).__name__}.")
    return value


def require_int(value: Any, low: int, name: str = "") -> int:
    """Return ``value`` if it is an int of at least ``low``, else raise TypeError or ValueError."""
    subject = f"'{name}'" if name else "input value"
    if isinstance(value, bool) or not isinstance(value, int):
        raise located(TypeError, f"The {subject} must be int, but got '{type(value).__name__}'")
    if value < low:
        sign = ">= 0" if low == 0 else f"> {low - 1}"
        raise located(
            ValueError,
            f"The {subject} must be int and must {sign}, but got '{value}' with type 'int'.",
        )
    return value


def require_type(name: str, value: Any, *kinds: type) -> Any:
    """Return ``value`` if it is of one of ``kinds``, else raise TypeError."""
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        names = [kind.__name__ for kind in kinds]
        wanted = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
        raise located(
            TypeError,
            f"The type of '{name}' should be {wanted}, but got type '{type(value).__name__}'.",
        )
    return value
