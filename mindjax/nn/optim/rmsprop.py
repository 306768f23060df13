"""RMSProp and Adagrad: gradients divided by the root of their squares' mean or sum."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program


class RMSProp(Optimizer):
    """RMSProp with momentum, eps under the root (MindSpore: ``nn.RMSProp``; Hinton, lecture 6e).

    s = decay s + (1 - decay) g²; m = momentum m + lr g / √(s + eps); p = p - m. Centered, s is less
    the square of the mean gradient.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        decay: share of the mean that stays, from 0 up.
        momentum: share of the last move that stays, from 0 up.
        epsilon: positive number.
        use_locking: kept for scripts: updates never race.
        centered: whether the variance of the gradient divides (Graves 2013).
        loss_scale: as in `Optimizer`.
        weight_decay: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = 0.1,
        decay: float = 0.9,
        momentum: float = 0.0,
        epsilon: float = 1e-10,
        use_locking: bool = False,
        centered: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        for name, value, above in (
            ("decay", decay, ">="),
            ("momentum", momentum, ">="),
            ("epsilon", epsilon, ">"),
        ):
            checks.of_type(name, value, float, self.cls_name)
            checks.float_above(name, value, self.cls_name, above)
        checks.of_type("use_locking", use_locking, bool, self.cls_name)
        checks.of_type("centered", centered, bool, self.cls_name)
        self.decay, self.momentum, self.epsilon = decay, momentum, epsilon
        self.centered = centered
        self.opt: Any = (
            ops.ApplyCenteredRMSProp(use_locking) if centered else ops.ApplyRMSProp(use_locking)
        )
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the means and the moves."""
        if self.centered:
            self.mg = self.parameters.clone(prefix="mean_grad", init="zeros")
        self.ms = self.parameters.clone(prefix="mean_square", init="ones")
        self.moment = self.parameters.clone(prefix="moment", init="zeros")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, means and moves.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        gradients, rates = self._prepare(gradients)
        rest = self.decay, self.momentum, self.epsilon
        for i, (gradient, rate, parameter) in enumerate(
            zip(gradients, rates, self.parameters, strict=True)
        ):
            if self.centered:
                state = self.mg[i], self.ms[i], self.moment[i]
                self.opt(parameter, *state, gradient, rate, *rest)
            else:
                self.opt(parameter, self.ms[i], self.moment[i], rate, gradient, *rest)
        return (True,) * self.param_length


class Adagrad(Optimizer):
    """Adagrad without eps (MindSpore: ``nn.Adagrad``; Duchi et al. 2011).

    s = s + g²; p = p - lr g / √s.

    Args:
        params: as in `Optimizer`.
        accum: first value of the sums, from 0 up.
        learning_rate: as in `Optimizer`.
        update_slots: whether the sums grow.
        loss_scale: as in `Optimizer`.
        weight_decay: as in `Optimizer`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    _no_gradients = RuntimeError

    def __init__(
        self,
        params: Any = MISSING,
        accum: float = 0.1,
        learning_rate: Any = 0.001,
        update_slots: bool = True,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        checks.of_type("accum", accum, float, self.cls_name)
        checks.of_type("update_slots", update_slots, bool, self.cls_name)
        checks.float_above("accum", accum, self.cls_name, ">=")
        self._first = accum
        self.opt = ops.ApplyAdagrad(update_slots)
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the sums of squares."""
        self.accum = self.parameters.clone(prefix="accum", init=self._first)

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and sums.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        gradients, rates = self._prepare(gradients)
        for gradient, rate, parameter, accum in zip(
            gradients, rates, self.parameters, self.accum, strict=True
        ):
            self.opt(parameter, accum, rate, gradient)
        return (True,) * self.param_length
