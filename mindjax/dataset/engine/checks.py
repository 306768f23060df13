"""Checks of arguments, with the original's error classes and key phrases."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindjax.core.errors import located

INT32_MAX = 2147483647
INT64_MAX = 9223372036854775807
UINT32_MAX = 4294967295


def check_type(owner: str, name: str, value: Any, types: type | tuple[type, ...]) -> None:
    """Refuse a value of another type.

    Args:
        owner: dataset, operation or transform that is asked.
        name: argument's name.
        value: argument's value; ``bool`` counts as ``int`` only where ``bool`` is listed.
        types: accepted types.

    Raises:
        TypeError: ``value`` is of none of ``types``.
    """
    types = types if isinstance(types, tuple) else (types,)
    is_stray_bool = isinstance(value, bool) and bool not in types and object not in types
    if is_stray_bool or not isinstance(value, types):
        raise located(
            TypeError,
            f"For '{owner}': Argument {name} with value {value!r} is not of type {list(types)}, "
            f"but got {type(value)}.",
        )


def check_interval(
    owner: str, name: str, value: float, low: float, high: float, bounds: str = "[]"
) -> None:
    """Refuse a number outside an interval.

    Args:
        owner: dataset, operation or transform that is asked.
        name: argument's name.
        value: argument's value.
        low: lower end.
        high: upper end.
        bounds: two brackets; a round one leaves its end out.

    Raises:
        ValueError: ``value`` lies outside.
    """
    above = value > low if bounds[0] == "(" else value >= low
    below = value < high if bounds[1] == ")" else value <= high
    if not (above and below):
        raise located(
            ValueError,
            f"For '{owner}': Input {name} is not within the required interval of "
            f"{bounds[0]}{low}, {high}{bounds[1]}, but got {value}.",
        )


def check_int(owner: str, name: str, value: Any, low: int, high: int = INT32_MAX) -> int:
    """Refuse what is no integer within ``[low, high]``; give it back as ``int``."""
    check_type(owner, name, value, int)
    check_interval(owner, name, value, low, high)
    return int(value)


def check_bool(owner: str, name: str, value: Any) -> bool:
    """Refuse what is no ``bool``; give it back."""
    check_type(owner, name, value, bool)
    return value


def column_names(owner: str, name: str, value: Any) -> list[str]:
    """Bring one name or several to a list.

    Raises:
        TypeError: an entry is no ``str``.
        ValueError: a name is empty or comes twice.
    """
    names = [value] if isinstance(value, str) else value
    check_type(owner, name, names, (list, tuple))
    for index, entry in enumerate(names):
        check_type(owner, f"{name}[{index}]", entry, str)
        if not entry:
            raise located(ValueError, f"For '{owner}': {name}[{index}] should not be empty.")
    if len(set(names)) != len(names):
        raise located(
            ValueError,
            f"For '{owner}': Every column name should not be same with others in {name}, "
            f"but got {list(names)}.",
        )
    return list(names)


def check_member(owner: str, name: str, value: Any, allowed: Iterable[Any]) -> None:
    """Refuse a value outside a set.

    Raises:
        ValueError: ``value`` is not in ``allowed``.
    """
    allowed = list(allowed)
    if value not in allowed:
        raise located(
            ValueError,
            f"For '{owner}': Input {name} is not within the valid set of {allowed}, "
            f"but got {value!r}.",
        )
