"""Momentum: gradient descent with a moving sum of gradients."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.ops.update import ApplyMomentum
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class Momentum(Optimizer):
    """Momentum, with optax's update (MindSpore: ``nn.Momentum``).

    v = momentum v + g; p = p - lr v, or p - lr (g + momentum v) with Nesterov's gradient.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        momentum: share of the sum that stays, a float from 0 up.
        weight_decay: as in `Optimizer`.
        loss_scale: as in `Optimizer`.
        use_nesterov: whether to look one step ahead.

    Raises:
        TypeError: an argument is missing or of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = MISSING,
        momentum: float = MISSING,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
        use_nesterov: bool = False,
    ) -> None:
        for name, value in (("learning_rate", learning_rate), ("momentum", momentum)):
            if value is MISSING:
                raise located(TypeError, f"For 'Momentum', missing a required argument: '{name}'")
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        checks.of_type("momentum", momentum, float, self.cls_name)
        if momentum < 0.0:
            raise located(
                ValueError,
                f"For 'Momentum', the argument 'momentum' must be at least 0.0, but got {momentum}",
            )
        checks.of_type("use_nesterov", use_nesterov, bool, self.cls_name)
        self.momentum = Parameter(Tensor(momentum, float32), name="momentum")
        self.use_nesterov = use_nesterov
        self.opt = ApplyMomentum(use_nesterov=use_nesterov)
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the moving sums."""
        self.moments = self.parameters.clone(prefix="moments", init="zeros")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and sums.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        gradients, rates = self._prepare(gradients)
        for gradient, rate, parameter, moment in zip(
            gradients, rates, self.parameters, self.moments, strict=True
        ):
            self.opt(parameter, moment, rate, gradient, self.momentum)
        return (True,) * self.param_length
