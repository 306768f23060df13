"""What libraries take from the original's compiled module: the context, and kinds of types."""

from __future__ import annotations

import functools
from typing import Any

from mindjax._c_expression import typing as typing
from mindjax.core.context import get_context
from mindjax.core.device import target


class MSContext:
    """The settings of the process, as the original's compiled part knows them."""

    @staticmethod
    @functools.cache
    def get_instance() -> MSContext:
        """Give the one context there is."""
        return MSContext()

    def get_ascend_soc_version(self) -> str:
        """Name the kind of the NPU in small letters; empty without one."""
        if target() != "Ascend":
            return ""
        import jax

        return jax.devices()[0].device_kind.lower()

    def get_param(self, name: Any) -> Any:
        """Give a setting of ``set_context``.

        Args:
            name: of the setting.

        Raises:
            ValueError: there is no such setting.
        """
        return get_context(name)
