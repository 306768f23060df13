"""The distribution function of the Gumbel distribution."""

from __future__ import annotations

from typing import Any

import mindjax.ops as ops
from mindjax.nn.probability import conditions
from mindjax.nn.probability.bijector.bijector import Bijector, given


class GumbelCDF(Bijector):
    """``exp(-exp(-(x - loc) / scale))`` (MindSpore: ``nn.probability.bijector.GumbelCDF``).

    Args:
        loc: float, list, array or Tensor of floats.
        scale: above 0; the same.
        name: of the bijector.

    Raises:
        TypeError: a parameter is no float.
        ValueError: ``scale`` is not above 0.
    """

    def __init__(self, loc: Any = 0.0, scale: Any = 1.0, name: str = "GumbelCDF") -> None:
        super().__init__(name=name, param=given(name, loc=loc, scale=scale))
        self._loc = self._add_parameter(loc, "loc")
        self._scale = self._add_parameter(scale, "scale")
        conditions.positive(self._scale, "scale")

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(loc=self.loc, scale=self.scale)

    @property
    def loc(self) -> Any:
        """The location."""
        return self._loc

    @property
    def scale(self) -> Any:
        """The scale."""
        return self._scale

    def _standard(self, x: Any) -> tuple[Any, Any]:
        x = self._check_value_dtype(x)
        scale = self.cast_param_by_value(x, self.scale)
        return (x - self.cast_param_by_value(x, self.loc)) / scale, scale

    def _forward(self, x: Any) -> Any:
        z, _ = self._standard(x)
        return ops.exp(-ops.exp(-z))

    def _inverse(self, y: Any) -> Any:
        y = self._check_value_dtype(y)
        loc, scale = (self.cast_param_by_value(y, p) for p in (self.loc, self.scale))
        return loc - scale * ops.log(-ops.log(y))

    def _forward_log_jacobian(self, x: Any) -> Any:
        z, scale = self._standard(x)
        return -z - ops.exp(-z) - ops.log(scale)

    def _inverse_log_jacobian(self, y: Any) -> Any:
        y = self._check_value_dtype(y)
        scale = self.cast_param_by_value(y, self.scale)
        return ops.log(scale / (-1.0 * y * ops.log(y)))
