"""SGD: gradient descent, with momentum and dampening."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class SGD(Optimizer):
    """Stochastic gradient descent (MindSpore: ``nn.SGD``).

    v = momentum v + (1 - dampening) g, where the first step takes g undampened; p = p - lr v, or
    p - lr (g + momentum v) with Nesterov's gradient.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        momentum: share of the sum that stays, from 0 up.
        dampening: share of the gradient that is left out, from 0 up.
        weight_decay: a number, as in `Optimizer`.
        nesterov: whether to look one step ahead; it needs momentum and no dampening.
        loss_scale: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _no_gradients = RuntimeError

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 0.1,
        momentum: float = 0.0,
        dampening: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        momentum = _at_least_zero("momentum", momentum)
        dampening = _at_least_zero("dampening", dampening)
        checks.of_type("nesterov", nesterov, bool, self.cls_name)
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise located(
                ValueError,
                "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must "
                f"equal to 0.0, but got 'momentum' {momentum}, 'dampening' {dampening}.",
            )
        self.dampening, self.nesterov = dampening, nesterov
        self.opt = ops.SGD(dampening, 0.0, nesterov)
        self.momentum = Parameter(Tensor(momentum, float32), name="momentum")
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the moving sums and the marks of the first step."""
        if self.dynamic_weight_decay:
            raise located(
                TypeError,
                "For 'SGD', dynamic weight decay is currently not supported, the argument "
                "'weight_decay' or 'weight_decay' set in grouped 'params' must be float or int "
                "type.",
            )
        self.accum = self.parameters.clone(prefix="accum", init="zeros")
        self.stat = self.parameters.clone(prefix="stat", init="ones")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, sums and marks.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        gradients, rates = self._prepare(gradients)
        for gradient, rate, parameter, accum, stat in zip(
            gradients, rates, self.parameters, self.accum, self.stat, strict=True
        ):
            self.opt(parameter, gradient, rate, accum, self.momentum, stat)
        return (True,) * self.param_length


def _at_least_zero(name: str, value: Any) -> float:
    if isinstance(value, int):
        value = float(value)
    if not isinstance(value, float):
        raise located(
            TypeError,
            f"For 'SGD', the argument '{name}' must be float type, but got {type(value)}.",
        )
    if value < 0.0:
        raise located(
            ValueError, f"For 'SGD', the argument '{name}' must be at least 0.0, but got {value}."
        )
    return value
