"""Checks of constructor arguments that optimizers, schedules and layers share."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located


def _subject(owner: str | None) -> str:
    return f"For '{owner}', the" if owner else "The"


def check_type(owner: str | None, name: str, value: Any, *types: type) -> None:
    """Check that a value is of one of the types; a bool counts as an int only if bool is named.

    Args:
        owner: class or function that takes the argument.
        name: the argument's name.
        value: what was given.
        types: accepted types.

    Raises:
        TypeError: it is of none of them.
    """
    if isinstance(value, types) and (not isinstance(value, bool) or bool in types):
        return
    names = [t.__name__ for t in types]
    wanted = f"be '{names[0]}'" if len(names) == 1 else f"be one of '{names}'"
    raise located(
        TypeError,
        f"{_subject(owner)} type of '{name}' should {wanted}, but got type "
        f"'{type(value).__name__}'.",
    )


def check_number(owner: str | None, name: str, value: Any, kind: type, above: str = "") -> None:
    """Check a number's type and lower bound.

    Args:
        owner: class or function that takes the argument.
        name: the argument's name.
        value: what was given.
        kind: ``int`` or ``float``.
        above: ``">"`` for positive, ``">="`` for not negative, empty for any number.

    Raises:
        TypeError: it is not of the type.
        ValueError: it is too small.
    """
    if not isinstance(value, kind) or isinstance(value, bool):
        raise located(
            TypeError,
            f"{_subject(owner)} '{name}' must be {kind.__name__}, but got '{type(value).__name__}'",
        )
    if (above == ">" and not value > 0) or (above == ">=" and not value >= 0):
        raise located(
            ValueError,
            f"{_subject(owner)} '{name}' must be {kind.__name__} and must {above} 0, but got "
            f"'{value}' with type '{type(value).__name__}'.",
        )


def check_open_range(owner: str, name: str, value: Any, low: float, high: float) -> None:
    """Check that a float lies strictly between two bounds.

    Args:
        owner: class that takes the argument.
        name: the argument's name.
        value: what was given.
        low: lower bound.
        high: upper bound.

    Raises:
        TypeError: it is not a float.
        ValueError: it is out of range.
    """
    check_type(owner, name, value, float)
    if not low < value < high:
        raise located(
            ValueError,
            f"{_subject(owner)} '{name}' must be in range of ({low}, {high}), but got {value} with "
            f"type '{type(value).__name__}'.",
        )
