"""The table of functions behind Tensor methods that users' code asks."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mindjax.core.errors import located


class Registry(dict[str, Any]):
    """Functions by name; what is not registered is looked up in `mindjax.ops`."""

    def register(self, name: str, obj: Any) -> None:
        """Register a function.

        Args:
            name: its name.
            obj: the function.

        Raises:
            TypeError: ``name`` is no string.
        """
        if not isinstance(name, str):
            raise located(TypeError, f"For 'Registry.register', a str is needed, but got {name!r}.")
        self[name] = obj

    def get(self, obj_str: str, default: Any = None) -> Any:  # type: ignore[override]
        """Give the function of a name.

        Args:
            obj_str: the name.
            default: what to give where there is none.

        Raises:
            ValueError: there is none, and no ``default``.
        """
        found = super().get(obj_str)
        if found is None:
            found = getattr(import_module("mindjax.ops"), obj_str, default)
        if found is None:
            raise located(ValueError, f"For 'Registry.get', there is no function '{obj_str}'.")
        return found


tensor_operator_registry = Registry()
