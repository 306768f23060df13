"""The softplus function."""

from __future__ import annotations

from typing import Any

import mindjax.ops as ops
from mindjax.nn.probability.bijector.bijector import Bijector, given


class Softplus(Bijector):
    """``log(1 + exp(k x)) / k`` (MindSpore: ``nn.probability.bijector.Softplus``).

    Args:
        sharpness: k: float, list, array or Tensor of floats.
        name: of the bijector.

    Raises:
        TypeError: ``sharpness`` is no float.
    """

    def __init__(self, sharpness: Any = 1.0, name: str = "Softplus") -> None:
        super().__init__(name=name, param=given(name, sharpness=sharpness))
        self._sharpness = self._add_parameter(sharpness, "sharpness")

    def extend_repr(self) -> str:
        """Name the parameter or its shape."""
        return self._describe(sharpness=self.sharpness)

    @property
    def sharpness(self) -> Any:
        """The factor k."""
        return self._sharpness

    def _scaled(self, x: Any) -> tuple[Any, Any]:
        x = self._check_value_dtype(x)
        sharpness = self.cast_param_by_value(x, self.sharpness)
        return sharpness * x, sharpness

    def _forward(self, x: Any) -> Any:
        scaled, sharpness = self._scaled(x)
        return -ops.logsigmoid(-scaled) / sharpness

    def _inverse(self, y: Any) -> Any:
        scaled, sharpness = self._scaled(y)
        return _inverse_softplus(scaled) / sharpness

    def _forward_log_jacobian(self, x: Any) -> Any:
        return ops.logsigmoid(self._scaled(x)[0])

    def _inverse_log_jacobian(self, y: Any) -> Any:
        scaled, _ = self._scaled(y)
        return scaled - _inverse_softplus(scaled)


def _inverse_softplus(y: Any) -> Any:
    return y + ops.log(-ops.expm1(-y))
