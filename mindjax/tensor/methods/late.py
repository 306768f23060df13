"""Methods whose op is loaded when the method is first used."""

from __future__ import annotations

from typing import Any

from mindjax.ops import families


class Late:
    """Class attribute that stands for a function of `mindjax.ops` until it is asked for.

    Args:
        function: public name of the op, if it is not the method's own name.
    """

    def __init__(self, function: str | None = None) -> None:
        self._function = function
        self._owner: type = object
        self._method = ""

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._method = owner, name

    def __get__(self, instance: Any, owner: type) -> Any:
        function = families.load(self._function or self._method)
        setattr(self._owner, self._method, function)
        return function.__get__(instance, owner) if instance is not None else function
