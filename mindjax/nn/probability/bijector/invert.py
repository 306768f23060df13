"""The inverse of a bijector."""

# The original's arguments are named x and y here.
# pyright: reportIncompatibleMethodOverride=false

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.nn.probability.bijector.bijector import Bijector


class Invert(Bijector):
    """The inverse of a bijector (MindSpore: ``nn.probability.bijector.Invert``).

    Args:
        bijector: the bijector.
        name: of the inverse; empty for ``Invert`` and the bijector's name.

    Raises:
        TypeError: ``bijector`` is no Bijector.
    """

    def __init__(self, bijector: Any, name: str = "") -> None:
        checks.of_type("bijector", bijector, Bijector, "Invert")
        name = name or f"Invert{bijector.name}"
        super().__init__(
            bijector.is_constant_jacobian,
            bijector.is_injective,
            name,
            bijector.dtype,
            {"bijector": bijector, "name": name},
        )
        self._bijector = bijector
        self.__dict__["_batch_shape"] = bijector.batch_shape
        self.__dict__["_is_scalar_batch"] = bijector.is_scalar_batch

    @property
    def bijector(self) -> Any:
        """The bijector."""
        return self._bijector

    def forward(self, x: Any) -> Any:
        """Compute the bijector's inverse.

        Args:
            x: Tensor of floats.
        """
        return self.bijector("inverse", x)

    def inverse(self, y: Any) -> Any:
        """Compute the bijector.

        Args:
            y: Tensor of floats.
        """
        return self.bijector("forward", y)

    def forward_log_jacobian(self, x: Any) -> Any:
        """Compute the logarithm of the size of the inverse's derivative.

        Args:
            x: Tensor of floats.
        """
        return self.bijector("inverse_log_jacobian", x)

    def inverse_log_jacobian(self, y: Any) -> Any:
        """Compute the logarithm of the size of the bijector's derivative.

        Args:
            y: Tensor of floats.
        """
        return self.bijector("forward_log_jacobian", y)
