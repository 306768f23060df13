"""Schedulers that multiply the last rates, or the first ones, by a factor of the step."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.experimental.optim.schedules.base import LRScheduler, each_group
from mindjax.graph.jit_class import jit_class


def _check_int(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, int):
        raise located(
            TypeError, f"For '{owner}', the type of {name} must be int, but got {type(value)}."
        )


def _check_float(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, float):
        raise located(
            TypeError, f"For '{owner}', the '{name}' must be float, but got {type(value)}."
        )


@jit_class
class _Factor(LRScheduler):
    """Base: ``_factor`` times the last rates, ``_closed_factor`` times the first ones."""

    def _factor(self, epoch: Any) -> Any:
        raise NotImplementedError

    def _closed_factor(self, epoch: Any) -> Any:
        raise NotImplementedError

    def get_lr(self) -> Any:
        """Give the rates of the groups."""
        factor = self._factor(self.last_epoch)
        return [rate * factor for rate in self._last_lr]

    def _get_closed_form_lr(self) -> Any:
        factor = self._closed_factor(self.last_epoch)
        return [rate * factor for rate in self.base_lrs]


@jit_class
class StepLR(_Factor):
    """Multiply the rates by gamma every ``step_size`` steps.

    Args:
        optimizer: optimizer with ``param_groups``.
        step_size: steps of a period.
        gamma: factor, a float.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: an argument is of the wrong type.
    """

    def __init__(
        self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        _check_int("StepLR", "step_size", step_size)
        _check_float("StepLR", "gamma", gamma)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: Any) -> Any:
        ends = ops.logical_and(epoch != 0, epoch % self.step_size == 0)
        return ops.where(ends, self.gamma, 1.0)

    def _closed_factor(self, epoch: Any) -> Any:
        return ops.pow(self.gamma, epoch // self.step_size)


@jit_class
class MultiStepLR(_Factor):
    """Multiply the rates by gamma at given steps.

    Args:
        optimizer: optimizer with ``param_groups``.
        milestones: the steps, a list of integers; one that is named twice counts twice.
        gamma: factor.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: an argument is of the wrong type.
    """

    def __init__(
        self, optimizer: Any, milestones: list[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        checks.of_type("milestones", milestones, list, "MultiStepLR")
        for milestone in milestones:
            _check_int("MultiStepLR", "an element of milestones", milestone)
        checks.of_type("gamma", gamma, (float, int), "MultiStepLR")
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: Any) -> Any:
        factor: Any = ops.ones_like(epoch)
        for milestone, count in self.milestones.items():
            factor = factor * ops.where(epoch == milestone, float(self.gamma) ** count, 1.0)
        return factor

    def _closed_factor(self, epoch: Any) -> Any:
        factor: Any = ops.ones_like(epoch)
        for milestone, count in self.milestones.items():
            factor = factor * ops.where(epoch >= milestone, float(self.gamma) ** count, 1.0)
        return factor


@jit_class
class ConstantLR(_Factor):
    """Multiply the rates by a factor until ``total_iters``.

    Args:
        optimizer: optimizer with ``param_groups``.
        factor: from 0 to 1.
        total_iters: steps with the factor.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the factor is out of range.
    """

    def __init__(
        self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise located(
                ValueError,
                f"Constant multiplicative factor expected to be between 0 and 1, but got {factor}.",
            )
        _check_int("ConstantLR", "total_iters", total_iters)
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Any:
        """Give the rates of the groups."""
        first, last = self.last_epoch == 0, self.last_epoch == self.total_iters
        return [
            ops.where(first, rate * self.factor, ops.where(last, rate / self.factor, rate))
            for rate in self._last_lr
        ]

    def _closed_factor(self, epoch: Any) -> Any:
        return ops.where(epoch >= self.total_iters, 1.0, self.factor)


@jit_class
class LinearLR(_Factor):
    """Move the rates' factor along a line.

    Args:
        optimizer: optimizer with ``param_groups``.
        start_factor: first factor, above 0, at most 1.
        end_factor: last factor, from 0 to 1.
        total_iters: steps of the way.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a factor is out of range.
    """

    def __init__(
        self,
        optimizer: Any,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise located(
                ValueError,
                "Starting multiplicative factor expected to be greater than 0 and less than or "
                f"equal to 1, but got {start_factor}.",
            )
        if end_factor > 1.0 or end_factor < 0:
            raise located(
                ValueError,
                "Ending multiplicative factor expected to be between 0 and 1, but got "
                f"{end_factor}.",
            )
        _check_int("LinearLR", "total_iters", total_iters)
        self.start_factor, self.end_factor = start_factor, end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: Any) -> Any:
        way = self.end_factor - self.start_factor
        before = self.total_iters * self.start_factor + (epoch - 1) * way
        going = ops.where(epoch > self.total_iters, 1.0, 1.0 + way / before)
        return ops.where(epoch == 0, self.start_factor, going)

    def _closed_factor(self, epoch: Any) -> Any:
        way = self.end_factor - self.start_factor
        return self.start_factor + way * ops.minimum(epoch, self.total_iters) / self.total_iters


@jit_class
class ExponentialLR(_Factor):
    """Multiply the rates by gamma every step.

    Args:
        optimizer: optimizer with ``param_groups``.
        gamma: factor, a float.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: an argument is of the wrong type.
    """

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        _check_float("ExponentialLR", "gamma", gamma)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: Any) -> Any:
        return ops.where(epoch == 0, 1.0, self.gamma)

    def _closed_factor(self, epoch: Any) -> Any:
        return ops.pow(self.gamma, epoch)


@jit_class
class PolynomialLR(_Factor):
    """Lower the rates to zero by (1 - step / total_iters)^power.

    Args:
        optimizer: optimizer with ``param_groups``.
        total_iters: steps of the way.
        power: exponent, a float from 0 up.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the power is negative.
    """

    def __init__(
        self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1
    ) -> None:
        _check_float("PolynomialLR", "power", power)
        if power < 0:
            raise located(
                ValueError, f"For 'PolynomialLR', the 'power' must be >= 0, but got {power}."
            )
        _check_int("PolynomialLR", "total_iters", total_iters)
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: Any) -> Any:
        rest = 1.0 - epoch / self.total_iters
        before = 1.0 - (epoch - 1) / self.total_iters
        outside = ops.logical_or(epoch == 0, epoch > self.total_iters)
        return ops.where(outside, 1.0, ops.pow(rest / before, self.power))

    def _closed_factor(self, epoch: Any) -> Any:
        return ops.pow(1.0 - ops.minimum(epoch, self.total_iters) / self.total_iters, self.power)


@jit_class
class LambdaLR(LRScheduler):
    """Multiply the first rates by a function of the step.

    Args:
        optimizer: optimizer with ``param_groups``.
        lr_lambda: function of the step, a Float32 Tensor; or a list of one a group.
        last_epoch: as in `LRScheduler`.

    Raises:
        ValueError: there are more or fewer functions than groups.
    """

    def __init__(
        self,
        optimizer: Any,
        lr_lambda: Callable[[Any], Any] | list[Callable[[Any], Any]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = each_group(optimizer, lr_lambda, "lr_lambdas")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Any:
        """Give the rates of the groups."""
        pairs = zip(self.lr_lambdas, self.base_lrs, strict=True)
        return [rate * factor(self.last_epoch) for factor, rate in pairs]


@jit_class
class MultiplicativeLR(LRScheduler):
    """Multiply the last rates by a function of the step.

    Args:
        optimizer: optimizer with ``param_groups``.
        lr_lambda: function of the step, a Float32 Tensor; or a list of one a group.
        last_epoch: as in `LRScheduler`.

    Raises:
        ValueError: there are more or fewer functions than groups.
    """

    def __init__(
        self,
        optimizer: Any,
        lr_lambda: Callable[[Any], Any] | list[Callable[[Any], Any]],
        last_epoch: int = -1,
    ) -> None:
        self.lr_lambdas = each_group(optimizer, lr_lambda, "lr_lambdas")
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Any:
        """Give the rates of the groups."""
        pairs = zip(self.lr_lambdas, self._last_lr, strict=True)
        begun = self.last_epoch > 0
        return [ops.where(begun, rate * factor(self.last_epoch), rate) for factor, rate in pairs]
