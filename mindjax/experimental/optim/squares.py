"""Optimizers that divide by the root of the gradient's squares: their sum or their mean."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.experimental.optim.stepped import SteppedOptimizer, check_numbers, turned
from mindjax.nn.optim.grouped import Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.ops.updates.steps import RmspropStep


class Adagrad(SteppedOptimizer):
    """Adagrad with eps beside the root (MindSpore: ``experimental.optim.Adagrad``).

    Duchi et al. 2011.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, above 0.
        lr_decay: the rate is divided by 1 + lr_decay t, from 0 up.
        weight_decay: from 0 up.
        initial_accumulator_value: first value of the sums, from 0 up; one for all groups.
        eps: above 0.
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    states = ("accum",)

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        at_least = {
            "lr_decay": lr_decay,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
        }
        check_numbers(type(self).__name__, {"lr": lr, "eps": eps}, at_least)
        super().__init__(params, {"lr": lr, **at_least, "eps": eps, "maximize": maximize})
        self.keep("accum", initial_accumulator_value)
        self._count()

    def update(self, group: dict[str, Any]) -> Any:
        """Give the update of one Parameter."""
        record = ops.ApplyAdagradV2(float(group["eps"]), True)

        def step(parameter: Any, accum: Any, gradient: Any, rate: Any, count: Any) -> None:
            rate = rate / (1 + (count - 1) * group["lr_decay"])
            record(parameter, accum, rate, turned(group, gradient, parameter))

        return step


class Adadelta(Optimizer):
    """Adadelta (MindSpore: ``experimental.optim.Adadelta``; Zeiler 2012).

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, above 0.
        rho: decay of both mean squares, from 0 to 1.
        eps: above 0.
        weight_decay: from 0 up.
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        name = type(self).__name__
        check_numbers(name, {"lr": lr, "eps": eps}, {"weight_decay": weight_decay})
        checks.float_in_range("rho", rho, 0.0, 1.0, name)
        defaults = {
            "lr": lr,
            "rho": rho,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.keep("accum", 0)
        self.keep("accum_update", 0)
        self.opt = ops.ApplyAdadelta()

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and mean squares.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True.
        """
        self._check_gradients(gradients)
        place = 0
        for group in self.param_groups:
            numbers = group["lr"], group["rho"], group["eps"]
            for parameter in group["params"]:
                state = self.accum[place], self.accum_update[place]
                gradient = turned(group, gradients[place], parameter)
                self.opt(parameter, *state, *numbers, gradient)
                place += 1
        return True


class RMSprop(Optimizer):
    """RMSProp with eps beside the root (MindSpore: ``experimental.optim.RMSprop``).

    Hinton, lecture 6e; centered: Graves 2013.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, above 0.
        alpha: decay of the means, from 0 up.
        eps: above 0.
        weight_decay: from 0 up.
        momentum: decay of the sum of steps, from 0 up.
        centered: whether the variance of the gradient divides.
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum: float = 0.0,
        centered: bool = False,
        maximize: bool = False,
    ) -> None:
        at_least = {"alpha": alpha, "momentum": momentum, "weight_decay": weight_decay}
        check_numbers(type(self).__name__, {"lr": lr, "eps": eps}, at_least)
        defaults = {"lr": lr, **at_least, "eps": eps, "centered": centered, "maximize": maximize}
        super().__init__(params, defaults)
        for name in ("mean_grad", "mean_square", "moment"):
            self.keep(name)

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, means and sums.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True.
        """
        self._check_gradients(gradients)
        place = 0
        for group in self.param_groups:
            record = RmspropStep(
                weight_decay=float(group["weight_decay"]),
                maximize=group["maximize"],
                alpha=float(group["alpha"]),
                eps=float(group["eps"]),
                momentum=float(group["momentum"]),
                centered=group["centered"],
            )
            for parameter in group["params"]:
                state = self.mean_grad[place], self.mean_square[place], self.moment[place]
                record(parameter, *state, gradients[place], group["lr"])
                place += 1
        return True
