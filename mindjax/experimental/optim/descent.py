"""Gradient descent: with momentum, averaged, and by signs."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.experimental.optim.stepped import SteppedOptimizer, check_numbers
from mindjax.nn.optim.grouped import Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.ops.updates.steps import AsgdStep, RpropStep
from mindjax.tensor.tensor import Tensor


class SGD(Optimizer):
    """Gradient descent with momentum (MindSpore: ``experimental.optim.SGD``); as `nn.SGD`.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, from 0 up.
        momentum: share of the sum that stays, from 0 up.
        dampening: share of the gradient that is left out after the first step.
        weight_decay: from 0 up.
        nesterov: whether to look one step ahead; it needs momentum and no dampening.
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        name = type(self).__name__
        checks.of_type("lr", lr, (float, int, Tensor), name)
        if lr < 0.0:
            raise located(ValueError, f"Invalid learning rate: {lr}")
        checks.of_type("momentum", momentum, (int, float), name)
        if momentum < 0.0:
            raise located(ValueError, f"Invalid momentum value: {momentum}")
        checks.of_type("dampening", dampening, (int, float), name)
        checks.of_type("nesterov", nesterov, bool, name)
        checks.of_type("maximize", maximize, bool, name)
        defaults = {
            "lr": lr,
            "momentum": float(momentum),
            "dampening": dampening,
            "weight_decay": weight_decay,
            "nesterov": nesterov,
            "maximize": maximize,
            "grad_centralization": False,
        }
        super().__init__(params, defaults)
        for group in self.param_groups:
            checks.of_type("dampening", group["dampening"], (int, float), name)
            group["dampening"] = float(group["dampening"])
        if nesterov and (momentum <= 0.0 or dampening != 0.0):
            raise located(
                ValueError,
                "For 'SGD', if 'nesterov' is true, 'momentum' must be > 0.0 and 'dampening' must "
                f"equal to 0.0, but got 'momentum' {momentum}, 'dampening' {dampening}",
            )
        self.keep("accum")
        self.keep("stat", "ones")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters, sums and marks.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True.
        """
        self._check_gradients(gradients)
        place = 0
        for group in self.param_groups:
            decay = float(group["weight_decay"])
            record = ops.SGD(group["dampening"], decay, group["nesterov"])
            momentum = Tensor(float(group["momentum"]), float32)
            for parameter in group["params"]:
                gradient = gradients[place]
                gradient = ops.neg(gradient) if group["maximize"] else gradient
                state = self.accum[place], momentum, self.stat[place]
                record(parameter, gradient, group["lr"], *state)
                place += 1
        return True


class ASGD(SteppedOptimizer):
    """Averaged gradient descent (MindSpore: ``experimental.optim.ASGD``); as `nn.ASGD`.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, above 0.
        lambd: decay, a float.
        alpha: power of the rate's decay.
        t0: step at which the average starts, a float.
        weight_decay: from 0 up.
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    states = ("ax", "eta", "mu")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0.0,
        maximize: bool = False,
    ) -> None:
        name = type(self).__name__
        check_numbers(name, {"lr": lr}, {"weight_decay": weight_decay})
        for argument, value in (("lambd", lambd), ("t0", t0)):
            if not isinstance(value, float):
                raise located(
                    TypeError,
                    f"For 'ASGD', the type of {argument} must be float, but got {type(value)}.",
                )
        defaults = {
            "lr": lr,
            "lambd": lambd,
            "alpha": alpha,
            "t0": t0,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.keep("ax")
        self._count()
        self.keep("mu", 1.0, number=True)
        self.keep("eta", 0.0, number=True)

    def update(self, group: dict[str, Any]) -> Any:
        """Give the update of one Parameter."""
        return AsgdStep(
            weight_decay=float(group["weight_decay"]),
            maximize=group["maximize"],
            lambd=float(group["lambd"]),
            alpha=float(group["alpha"]),
            t0=float(group["t0"]),
        )


class Rprop(SteppedOptimizer):
    """Descent by the gradient's signs (MindSpore: ``experimental.optim.Rprop``); as `nn.Rprop`.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: first step, above 0.
        etas: factors that shrink, between 0 and 1, and grow, above 1.
        step_sizes: smallest and largest step.
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    states = ("prev", "step_size")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        name = type(self).__name__
        check_numbers(name, {"lr": lr}, {})
        if etas[1] <= 1.0:
            raise located(
                ValueError, f"For {name}, the etas[1] must be greater than 1.0, but got {etas[1]}."
            )
        checks.float_in_range("etas[0]", etas[0], 0.0, 1.0, name, "()")
        defaults = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize}
        super().__init__(params, defaults)
        self.keep("prev")
        self.keep("step_size")
        self._count()

    def update(self, group: dict[str, Any]) -> Any:
        """Give the update of one Parameter."""
        numbers = (float(x) for x in (*group["etas"], *group["step_sizes"]))
        return RpropStep(float(group["weight_decay"]), group["maximize"], *numbers)
