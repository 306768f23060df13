"""Adadelta and AdaMax."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.optim.adam import check_betas
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.tensor.initializer import initializer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


class Adadelta(Optimizer):
    """Adadelta (MindSpore: ``nn.Adadelta``; Zeiler 2012).

    s = rho s + (1 - rho) g²; d = √((u + eps) / (s + eps)) g; u = rho u + (1 - rho) d²;
    p = p - lr d.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        rho: decay of both mean squares, a float from 0 to 1.
        epsilon: a float from 0 up.
        loss_scale: as in `Optimizer`.
        weight_decay: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 1.0,
        rho: float = 0.9,
        epsilon: float = 1e-6,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        checks.of_type("rho", rho, float, self.cls_name)
        checks.of_type("epsilon", epsilon, float, self.cls_name)
        checks.in_range("rho", rho, 0.0, 1.0, self.cls_name)
        checks.float_above("epsilon", epsilon, self.cls_name, ">=")
        self.opt = ops.ApplyAdadelta()
        self.rho, self.epsilon = rho, epsilon
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the mean squares of gradients and of steps."""
        self.accum = self.parameters.clone(prefix="accum", init=0)
        self.accum_update = self.parameters.clone(prefix="accum_update", init=0)

    @one_program
    def construct(self, grads: Any) -> Any:
        """Write the new values of Parameters and mean squares.

        Args:
            grads: gradient of each Parameter, a tuple.

        Returns:
            True for each Parameter.
        """
        if not isinstance(grads, tuple) or not all(isinstance(g, Tensor) for g in grads):
            raise located(
                TypeError,
                "For 'Adadelta', the 'grads' must be a tuple of Tensor, but got "
                f"{type(grads).__name__}.",
            )
        grads, rates = self._prepare(grads)
        states = self.parameters, self.accum, self.accum_update
        for gradient, rate, *state in zip(grads, rates, *states, strict=True):
            self.opt(*state, rate, self.rho, self.epsilon, gradient)
        return (True,) * self.param_length


class AdaMax(Optimizer):
    """Adam with the infinity norm (MindSpore: ``nn.AdaMax``; Kingma & Ba 2015, section 7).

    m = b1 m + (1 - b1) g; v = max(b2 v, |g|); p = p - lr / (1 - b1ᵗ) m / (v + eps).

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        beta1: decay of the moment, between 0 and 1.
        beta2: decay of the norm, between 0 and 1.
        eps: positive number added to the norm.
        weight_decay: as in `Optimizer`.
        loss_scale: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _no_gradients = RuntimeError

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 0.001,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-8,
        weight_decay: Any = 0.0,
        loss_scale: float = 1.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        check_betas(self.cls_name, beta1, beta2, eps)
        self.beta1, self.beta2 = Tensor(beta1, float32), Tensor(beta2, float32)
        self.beta1_power = Parameter(initializer(1, [1], float32), name="beta1_power")
        self.eps = Tensor(eps, float32)
        self.opt = ops.ApplyAdaMax()
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the moments and the norms."""
        self.moment1 = self.parameters.clone(prefix="moment1", init="zeros")
        self.moment2 = self.parameters.clone(prefix="moment2", init="zeros")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, moments, norms and the power of beta.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        gradients, rates = self._prepare(gradients)
        power = self.beta1_power * self.beta1
        ops.assign(self.beta1_power, power)
        states = self.parameters, self.moment1, self.moment2
        for gradient, rate, *state in zip(gradients, rates, *states, strict=True):
            self.opt(*state, power, rate, self.beta1, self.beta2, self.eps, gradient)
        return (True,) * self.param_length
