"""Adam and its kin: optimizers with two moments of the gradient."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.experimental.optim.stepped import SteppedOptimizer, check_numbers, turned
from mindjax.ops.update import AdamStep, ApplyAdamWithAmsgradV2
from mindjax.ops.updates.steps import AdamaxStep, NadamStep, RadamStep
from mindjax.tensor.tensor import Tensor


def _rounded(betas: Any) -> tuple[float, float]:
    """Round the decays to Float32, as the original does before it takes them from one."""
    beta1, beta2 = (float(np.float32(beta)) for beta in betas)
    return beta1, beta2


def _check_adam(lr: Any, betas: Any, eps: Any, weight_decay: Any) -> None:
    for what, value in (("learning rate", lr), ("epsilon value", eps)):
        if value < 0.0:
            raise located(ValueError, f"Invalid {what}: {value}")
    for i in (0, 1):
        if not 0.0 <= betas[i] < 1.0:
            raise located(ValueError, f"Invalid beta parameter at index {i}: {betas[i]}")
    if weight_decay < 0.0:
        raise located(ValueError, f"Invalid weight_decay value: {weight_decay}")


class Adam(SteppedOptimizer):
    """Adam with weight decay added to the gradients (MindSpore: ``experimental.optim.Adam``).

    As in `nn.Adam`, eps is added to the uncorrected root.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, from 0 up.
        betas: decays of the two moments, from 0 up and below 1.
        eps: from 0 up.
        weight_decay: from 0 up.
        amsgrad: whether the largest second moment so far divides (Reddi et al. 2018).
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    states = ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")
    counter = "state_step"
    _decay = 0.0

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        _check_adam(lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        for name in self.states:
            self.keep(name)
        self._count()

    def update(self, group: dict[str, Any]) -> Any:
        """Give the update of one Parameter."""
        beta1, beta2 = group["betas"]
        powers = [ops.pow(Tensor(beta, float32), self._step) for beta in (beta1, beta2)]
        record: Any = ApplyAdamWithAmsgradV2() if group["amsgrad"] else ops.Adam()

        def step(parameter: Any, m: Any, v: Any, largest: Any, gradient: Any, *rest: Any) -> None:
            state = (m, v, largest) if group["amsgrad"] else (m, v)
            gradient = turned(group, gradient, parameter)
            numbers = rest[0], beta1, beta2, group["eps"]
            record(parameter, *state, *powers, *numbers, gradient)

        return step


class AdamW(Adam):
    """Adam with decoupled weight decay (MindSpore: ``experimental.optim.AdamW``).

    Loshchilov & Hutter 2019.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, from 0 up.
        betas: decays of the two moments, from 0 up and below 1.
        eps: from 0 up, added to the root.
        weight_decay: from 0 up.
        amsgrad: whether the largest second moment so far divides (Reddi et al. 2018).
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.01,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)

    def update(self, group: dict[str, Any]) -> Any:
        """Give the update of one Parameter."""
        return AdamStep(
            *_rounded(group["betas"]),
            float(group["eps"]),
            float(group["weight_decay"]),
            True,
            group["maximize"],
            group["amsgrad"],
        )


def _check_moments(
    owner: str, lr: Any, betas: Any, eps: Any, weight_decay: Any, **more: Any
) -> None:
    check_numbers(owner, {"lr": lr, "eps": eps}, {"weight_decay": weight_decay, **more})
    for i in (0, 1):
        checks.float_in_range(f"betas[{i}]", betas[i], 0.0, 1.0, owner, "[)")


def _moment_numbers(group: dict[str, Any]) -> dict[str, Any]:
    beta1, beta2 = _rounded(group["betas"])
    return {
        "weight_decay": float(group["weight_decay"]),
        "maximize": group.get("maximize", False),
        "beta1": beta1,
        "beta2": beta2,
        "eps": float(group["eps"]),
    }


class Adamax(SteppedOptimizer):
    """Adam with the infinity norm (MindSpore: ``experimental.optim.Adamax``).

    Kingma & Ba 2015, section 7; eps is in the norm.

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, above 0.
        betas: decays of moment and norm, from 0 up and below 1.
        eps: above 0.
        weight_decay: from 0 up.
        maximize: whether to climb.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    states = ("exp_avg", "exp_inf")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        *,
        maximize: bool = False,
    ) -> None:
        _check_moments(type(self).__name__, lr, betas, eps, weight_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self._count()
        self.keep("exp_avg")
        self.keep("exp_inf")

    def update(self, group: dict[str, Any]) -> Any:
        """Give the update of one Parameter."""
        return AdamaxStep(**_moment_numbers(group))


class NAdam(SteppedOptimizer):
    """Adam with Nesterov's momentum (MindSpore: ``experimental.optim.NAdam``; Dozat 2016).

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, above 0.
        betas: decays of the two moments, from 0 up and below 1.
        eps: above 0, added to the root.
        weight_decay: from 0 up.
        momentum_decay: how fast the momentum grows to its decay, from 0 up.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    states = ("exp_avg", "exp_avg_sq", "mu_product")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        momentum_decay: float = 4e-3,
    ) -> None:
        name = type(self).__name__
        _check_moments(name, lr, betas, eps, weight_decay, momentum_decay=momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
        }
        super().__init__(params, defaults)
        self._count()
        self.keep("exp_avg")
        self.keep("exp_avg_sq")
        self.keep("mu_product", 1.0, number=True)

    def update(self, group: dict[str, Any]) -> Any:
        """Give the update of one Parameter."""
        decay = float(group["momentum_decay"])
        return NadamStep(**_moment_numbers(group), momentum_decay=decay)


class RAdam(SteppedOptimizer):
    """Adam with a rectified rate (MindSpore: ``experimental.optim.RAdam``; Liu et al. 2020).

    Args:
        params: Parameters, or groups: dicts of ``params`` with any of the other arguments.
        lr: learning rate, above 0.
        betas: decays of the two moments, from 0 up and below 1.
        eps: above 0, added to the root.
        weight_decay: from 0 up.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is out of range.
    """

    states = ("exp_avg", "exp_avg_sq")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
    ) -> None:
        _check_moments(type(self).__name__, lr, betas, eps, weight_decay)
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)
        self._count()
        self.keep("exp_avg")
        self.keep("exp_avg_sq")

    def update(self, group: dict[str, Any]) -> Any:
        """Give the update of one Parameter."""
        return RadamStep(**_moment_numbers(group))
