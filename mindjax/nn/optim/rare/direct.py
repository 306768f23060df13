"""ASGD and Rprop: averaged descent, and descent by signs."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.ops.updates.steps import AsgdStep, RpropStep
from mindjax.tensor.parameter import Parameter, ParameterTuple
from mindjax.tensor.tensor import Tensor


class ASGD(Optimizer):
    """Averaged gradient descent (MindSpore: ``nn.ASGD``; Polyak & Juditsky 1992, Bottou 2010).

    p = (1 - lambd eta) p - eta g; eta = lr / (1 + lambd lr t)^alpha; a = a + mu (p - a), where mu
    is 1 / max(1, t - t0). The averages are ``ax``.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        lambd: decay, a float.
        alpha: power of the rate's decay, a float.
        t0: step at which the average starts, a float.
        weight_decay: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 0.1,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for name, value in (("lambd", lambd), ("alpha", alpha), ("t0", t0)):
            checks.of_type(name, value, float, self.cls_name)
        self.lambd, self.alpha, self.t0 = lambd, alpha, t0
        self._record = AsgdStep(lambd=lambd, alpha=alpha, t0=t0)
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the weights of the averages, the rates and the averages."""
        self.mu, self.eta = (
            ParameterTuple(
                [Parameter(Tensor(first, float32), f"{name}_{p.name}") for p in self.parameters]
            )
            for name, first in (("mu", 1.0), ("eta", 0.0))
        )
        self.ax = self.parameters.clone(prefix="ax_", init="zeros")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, averages, rates and weights.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True.
        """
        gradients, rates = self._prepare(gradients)
        states = self.parameters, self.ax, self.eta, self.mu
        for gradient, rate, *state in zip(gradients, rates, *states, strict=True):
            self._record(*state, gradient, rate, self.global_step)
        return True


class Rprop(Optimizer):
    """Descent by the gradient's signs (MindSpore: ``nn.Rprop``; Riedmiller & Braun 1993).

    A step grows where its gradient keeps the sign, and shrinks, without moving, where it changes.

    Args:
        params: as in `Optimizer`.
        learning_rate: first step, as in `Optimizer`.
        etas: factors that shrink, between 0 and 1, and grow, above 1; two floats.
        step_sizes: smallest and largest step, two floats.
        weight_decay: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for name, pair in (("etas", etas), ("step_sizes", step_sizes)):
            if not isinstance(pair, tuple):
                raise located(
                    TypeError, f"For Rprop, {name} must be a tuple, but got {type(pair)}."
                )
            if len(pair) != 2:
                raise located(
                    ValueError,
                    f"For Rprop, {name} must be a tuple with the size of 2, but got {len(pair)}.",
                )
        if step_sizes[0] > step_sizes[1]:
            raise located(
                ValueError,
                "For Rprop, maximal step size should not be less than minimal step size, but got "
                f"{step_sizes[0]} > {step_sizes[1]}.",
            )
        checks.float_in_range("etaminus", etas[0], 0.0, 1.0, self.cls_name, "()")
        checks.of_type("etaplus", etas[1], float, self.cls_name)
        if etas[1] <= 1.0:
            raise located(
                ValueError,
                f"For Rprop, etaplus must be greater than 1.0, but got etaplus {etas[1]}.",
            )
        for name, size in zip(("min_step_sizes", "max_step_sizes"), step_sizes, strict=True):
            checks.of_type(name, size, float, self.cls_name)
        self.etaminus, self.etaplus = etas
        self.step_size_min, self.step_size_max = step_sizes
        self._record = RpropStep(0.0, False, *etas, *step_sizes)
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the last gradients and the step sizes."""
        self.prev = self.parameters.clone(prefix="prev", init="zeros")
        self.step_size = self.parameters.clone(prefix="step_size", init="zeros")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, last gradients and step sizes.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True.
        """
        gradients, rates = self._prepare(gradients)
        states = self.parameters, self.prev, self.step_size
        for gradient, rate, *state in zip(gradients, rates, *states, strict=True):
            self._record(*state, gradient, rate, self.global_step)
        return True
