"""What libraries take from the original's compiled module: the NPU's kind, and kinds of types."""

from __future__ import annotations

import functools

from mindjax._c_expression import typing as typing
from mindjax.core.device import target


class MSContext:
    """What the original's compiled part knows of the process."""

    @staticmethod
    @functools.cache
    def get_instance() -> MSContext:
        """Give the one there is."""
        return MSContext()

    def get_ascend_soc_version(self) -> str:
        """Name the kind of the NPU in small letters; empty without one."""
        if target() != "Ascend":
            return ""
        import jax

        return jax.devices()[0].device_kind.lower()
