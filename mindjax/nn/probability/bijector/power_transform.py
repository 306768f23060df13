"""Powers: ``PowerTransform`` and its limit ``Exp``."""

from __future__ import annotations

from typing import Any

import mindjax.ops as ops
from mindjax.nn.probability import conditions
from mindjax.nn.probability.bijector.bijector import Bijector, given


class PowerTransform(Bijector):
    """``(1 + x c) ** (1 / c)``, or ``exp(x)`` where c is 0 (MindSpore: ``PowerTransform``).

    Args:
        power: c, from 0 up: float, list, array or Tensor of floats.
        name: of the bijector.

    Raises:
        TypeError: ``power`` is no float.
        ValueError: ``power`` is below 0.
    """

    def __init__(self, power: Any = 0.0, name: str = "PowerTransform") -> None:
        super().__init__(name=name, param=given(name, power=power))
        self._power = self._add_parameter(power, "power")
        conditions.positive(self._power, "Power", zero=True)

    def extend_repr(self) -> str:
        """Name the parameter or its shape."""
        return self._describe(power=self.power)

    @property
    def power(self) -> Any:
        """The power."""
        return self._power

    def _local(self, x: Any) -> tuple[Any, Any, Any, Any]:
        """Give the value, the power, whether it is 0, and a power that is not."""
        x = self._check_value_dtype(x)
        power = self.cast_param_by_value(x, self.power)
        zero = power == 0.0
        return x, power, zero, ops.where(zero, 1.0, power)

    def _forward(self, x: Any) -> Any:
        x, _, zero, power = self._local(x)
        # The branch that is not taken must not overflow: its gradient would be NaN.
        inner = ops.where(zero, 0.0, x) * power
        return ops.where(zero, ops.exp(ops.where(zero, x, 0.0)), ops.exp(ops.log1p(inner) / power))

    def _inverse(self, y: Any) -> Any:
        y, _, zero, power = self._local(y)
        logarithm = ops.log(y)
        return ops.where(zero, logarithm, ops.expm1(logarithm * power) / power)

    def _forward_log_jacobian(self, x: Any) -> Any:
        x, _, zero, power = self._local(x)
        inner = ops.where(zero, 0.0, x) * power
        return ops.where(zero, x, (1.0 / power - 1.0) * ops.log1p(inner))

    def _inverse_log_jacobian(self, y: Any) -> Any:
        y, power, _, _ = self._local(y)
        return (power - 1.0) * ops.log(y)


class Exp(PowerTransform):
    """``exp(x)`` (MindSpore: ``nn.probability.bijector.Exp``).

    Args:
        name: of the bijector.
    """

    def __init__(self, name: str = "Exp") -> None:
        super().__init__(name=name)

    def extend_repr(self) -> str:
        """Name it."""
        return "exp"
