"""Settings that may be made once."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located


class Once:
    """A setting that may be made once.

    Args:
        name: what makes it.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.value: Any = None

    def check(self) -> None:
        """Check that it was not made yet.

        Raises:
            RuntimeError: it was.
        """
        if self.value is not None:
            raise located(RuntimeError, f"The '{self.name}' can not be set repeatedly.")

    def keep(self, value: Any) -> None:
        """Make it."""
        self.value = value
