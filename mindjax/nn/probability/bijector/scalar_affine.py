"""Linear functions."""

from __future__ import annotations

from typing import Any

import mindjax.ops as ops
from mindjax.nn.probability.bijector.bijector import Bijector, given


class ScalarAffine(Bijector):
    """``scale * x + shift`` (MindSpore: ``nn.probability.bijector.ScalarAffine``).

    Args:
        scale: float, list, array or Tensor of floats.
        shift: the same.
        name: of the bijector.

    Raises:
        TypeError: a parameter is no float, or they differ in dtype.
    """

    def __init__(self, scale: Any = 1.0, shift: Any = 0.0, name: str = "ScalarAffine") -> None:
        super().__init__(True, True, name, None, given(name, scale=scale, shift=shift))
        self._scale = self._add_parameter(scale, "scale")
        self._shift = self._add_parameter(shift, "shift")

    def extend_repr(self) -> str:
        """Name the parameters or their shape."""
        return self._describe(scale=self.scale, shift=self.shift)

    @property
    def scale(self) -> Any:
        """The factor."""
        return self._scale

    @property
    def shift(self) -> Any:
        """What is added."""
        return self._shift

    def _forward(self, x: Any) -> Any:
        x = self._check_value_dtype(x)
        return self.cast_param_by_value(x, self.scale) * x + self.cast_param_by_value(x, self.shift)

    def _inverse(self, y: Any) -> Any:
        y = self._check_value_dtype(y)
        return (y - self.cast_param_by_value(y, self.shift)) / self.cast_param_by_value(
            y, self.scale
        )

    def _forward_log_jacobian(self, x: Any) -> Any:
        x = self._check_value_dtype(x)
        return ops.log(ops.abs(self.cast_param_by_value(x, self.scale)))

    def _inverse_log_jacobian(self, y: Any) -> Any:
        return -1.0 * self._forward_log_jacobian(y)
