"""Learning rates that change: Cells of the step (``*LR``), and lists of rates (``*_lr``)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell


class LearningRateSchedule(Cell):
    """Base of learning rates that are computed from the step.

    A subclass's ``construct(global_step)`` takes an Int32 Tensor and gives a Float32 one.
    """

    def construct(self, global_step: Any) -> Any:
        """Give the learning rate of a step."""
        raise NotImplementedError


class _Decay(LearningRateSchedule):
    def __init__(
        self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False
    ) -> None:
        super().__init__()
        checks.positive_int("decay_steps", decay_steps, self.cls_name)
        checks.float_above("learning_rate", learning_rate, self.cls_name)
        checks.float_above("decay_rate", decay_rate, self.cls_name)
        checks.of_type("is_stair", is_stair, bool, self.cls_name)
        self.learning_rate, self.decay_rate = learning_rate, decay_rate
        self.decay_steps, self.is_stair = decay_steps, is_stair

    def _periods(self, global_step: Any) -> Any:
        periods = ops.cast(global_step, float32) / self.decay_steps
        return ops.floor(periods) if self.is_stair else periods


class ExponentialDecayLR(_Decay):
    """lr rate^(step / steps).

    Args:
        learning_rate: first rate.
        decay_rate: factor a period.
        decay_steps: steps of a period.
        is_stair: whether the rate changes at whole periods only.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is not positive.
    """

    def construct(self, global_step: Any) -> Any:
        """Give the learning rate of a step."""
        return self.learning_rate * ops.pow(self.decay_rate, self._periods(global_step))


class NaturalExpDecayLR(_Decay):
    """lr e^(-rate step).

    Args:
        learning_rate: first rate.
        decay_rate: decay a step.
        decay_steps: steps of a stair.
        is_stair: whether the rate changes at stairs only.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is not positive.
    """

    def construct(self, global_step: Any) -> Any:
        """Give the learning rate of a step."""
        step = ops.cast(global_step, float32)
        if self.is_stair:
            step = ops.floor(step / self.decay_steps) * self.decay_steps
        return self.learning_rate * ops.exp(step * -self.decay_rate)


class InverseDecayLR(_Decay):
    """lr / (1 + rate step / steps).

    Args:
        learning_rate: first rate.
        decay_rate: decay a period.
        decay_steps: steps of a period.
        is_stair: whether the rate changes at whole periods only.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is not positive.
    """

    def construct(self, global_step: Any) -> Any:
        """Give the learning rate of a step."""
        return self.learning_rate / (1 + self.decay_rate * self._periods(global_step))


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine from the highest rate to the lowest.

    Args:
        min_lr: lowest rate.
        max_lr: highest rate.
        decay_steps: steps of the way.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is too small, or ``min_lr`` is not below ``max_lr``.
    """

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        _check_float(self.cls_name, "min_lr", min_lr)
        checks.float_above("min_lr", min_lr, self.cls_name, ">=")
        checks.float_above("max_lr", max_lr, self.cls_name)
        checks.positive_int("decay_steps", decay_steps, self.cls_name)
        _check_order(self.cls_name, min_lr, max_lr)
        self.min_lr, self.max_lr, self.decay_steps = min_lr, max_lr, decay_steps

    def construct(self, global_step: Any) -> Any:
        """Give the learning rate of a step."""
        step = ops.cast(ops.minimum(global_step, self.decay_steps), float32)
        # A sine of the shifted angle rounds as the original does.
        wave = ops.sin((step / self.decay_steps + 0.5) * math.pi)
        return self.min_lr + 0.5 * (self.max_lr - self.min_lr) * (1.0 + wave)


class PolynomialDecayLR(LearningRateSchedule):
    """(lr - end) (1 - step / steps)^power + end.

    Args:
        learning_rate: first rate.
        end_learning_rate: last rate.
        decay_steps: steps of the way.
        power: exponent.
        update_decay_steps: whether a step past the end begins a longer way.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is too small.
    """

    def __init__(
        self,
        learning_rate: float,
        end_learning_rate: float,
        decay_steps: int,
        power: float,
        update_decay_steps: bool = False,
    ) -> None:
        super().__init__()
        checks.float_above("learning_rate", learning_rate)
        _check_float(self.cls_name, "end_learning_rate", end_learning_rate)
        checks.float_above("end_learning_rate", end_learning_rate, self.cls_name, ">=")
        checks.positive_int("decay_steps", decay_steps, self.cls_name)
        checks.of_type("update_decay_steps", update_decay_steps, bool, self.cls_name)
        checks.float_above("power", power, self.cls_name)
        self.start_learning_rate, self.end_learning_rate = learning_rate, end_learning_rate
        self.decay_steps, self.power = decay_steps, power
        self.update_decay_steps = update_decay_steps

    def construct(self, global_step: Any) -> Any:
        """Give the learning rate of a step."""
        step = ops.cast(global_step, float32)
        steps: Any = self.decay_steps
        if self.update_decay_steps:
            steps = steps * ops.maximum(ops.ceil(step / steps), 1)
        else:
            step = ops.minimum(step, steps)
        rest = ops.pow(1.0 - step / steps, self.power)
        return (self.start_learning_rate - self.end_learning_rate) * rest + self.end_learning_rate


class WarmUpLR(LearningRateSchedule):
    """A line from zero to the rate.

    Args:
        learning_rate: rate at the end.
        warmup_steps: steps of the way.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is too small.
    """

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        _check_float(self.cls_name, "learning_rate", learning_rate)
        checks.float_above("learning_rate", learning_rate, self.cls_name, ">=")
        checks.positive_int("warmup_steps", warmup_steps, self.cls_name)
        self.learning_rate, self.warmup_steps = learning_rate, warmup_steps

    def construct(self, global_step: Any) -> Any:
        """Give the learning rate of a step."""
        step = ops.cast(ops.minimum(global_step, self.warmup_steps), float32)
        return self.learning_rate * (step / self.warmup_steps)


def _check_float(owner: str, name: str, value: Any) -> None:
    if not isinstance(value, float):
        raise located(
            TypeError,
            f"For '{owner}', the argument '{name}' must be type of float, but got '{name}' type: "
            f"{type(value)}.",
        )


def _check_order(owner: str, low: float, high: float) -> None:
    if low >= high:
        raise located(
            ValueError,
            f"For '{owner}', the 'max_lr' must be greater than the 'min_lr', but got 'max_lr' "
            f"value: {high}, 'min_lr' value: {low}.",
        )


def _check_steps(total_step: Any, step_per_epoch: Any, epochs: Any, name: str) -> None:
    checks.positive_int("total_step", total_step)
    checks.positive_int("step_per_epoch", step_per_epoch)
    checks.positive_int(name, epochs)


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """List a rate for each step, constant up to each milestone.

    Args:
        milestone: steps at which a piece ends, ascending.
        learning_rates: rate of each piece.

    Returns:
        As many rates as the last milestone says.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: the lengths differ, or the milestones do not ascend from above zero.
    """
    checks.of_type("milestone", milestone, (tuple, list))
    checks.of_type("learning_rates", learning_rates, (tuple, list))
    owner = "For 'piecewise_constant_lr', the"
    if len(milestone) != len(learning_rates):
        raise located(
            ValueError,
            f"{owner} size of 'milestone' must be same with the size of 'learning_rates', but got "
            f"'milestone' size: {len(milestone)}, 'learning_rates' size: {len(learning_rates)}.",
        )
    rates: list[float] = []
    for i, (end, rate) in enumerate(zip(milestone, learning_rates, strict=True)):
        checks.positive_int(f"milestone[{i}]", end)
        checks.float_above(f"learning_rates[{i}]", rate, bound=None)
        if end < len(rates):
            raise located(
                ValueError,
                f"{owner} value of milestone[{i}] must be greater than milestone[{i - 1}], but got "
                f"milestone[{i}]: {end}, milestone[{i - 1}]: {milestone[i - 1]}.",
            )
        rates += [rate] * (end - len(rates))
    return rates


def _decay(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool,
    rate: Callable[[int], float],
) -> list[float]:
    _check_steps(total_step, step_per_epoch, decay_epoch, "decay_epoch")
    checks.float_above("learning_rate", learning_rate)
    checks.float_above("decay_rate", decay_rate)
    checks.of_type("is_stair", is_stair, bool)
    return [rate(i // step_per_epoch) for i in range(total_step)]


def exponential_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """List lr rate^(epoch / epochs) for each step.

    Args:
        learning_rate: first rate.
        decay_rate: factor a period.
        total_step: number of steps.
        step_per_epoch: steps of an epoch.
        decay_epoch: epochs of a period.
        is_stair: whether the rate changes at whole periods only.

    Returns:
        A rate for each step.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is not positive.
    """

    def rate(epoch: int) -> float:
        periods = epoch // decay_epoch if is_stair else epoch / decay_epoch
        return learning_rate * decay_rate**periods

    return _decay(
        learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair, rate
    )


def natural_exp_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """List lr e^(-rate epoch) for each step.

    Args:
        learning_rate: first rate.
        decay_rate: decay an epoch.
        total_step: number of steps.
        step_per_epoch: steps of an epoch.
        decay_epoch: epochs of a stair.
        is_stair: whether the rate changes at whole stairs only.

    Returns:
        A rate for each step.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is not positive.
    """

    def rate(epoch: int) -> float:
        stair = epoch // decay_epoch * decay_epoch if is_stair else epoch
        return learning_rate * math.e ** (-decay_rate * stair)

    return _decay(
        learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair, rate
    )


def inverse_decay_lr(
    learning_rate: float,
    decay_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    is_stair: bool = False,
) -> list[float]:
    """List lr / (1 + rate epoch / epochs) for each step.

    Args:
        learning_rate: first rate.
        decay_rate: decay a period.
        total_step: number of steps.
        step_per_epoch: steps of an epoch.
        decay_epoch: epochs of a period.
        is_stair: whether the rate changes at whole periods only.

    Returns:
        A rate for each step.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is not positive.
    """

    def rate(epoch: int) -> float:
        periods = epoch // decay_epoch if is_stair else epoch / decay_epoch
        return learning_rate / (1 + decay_rate * periods)

    return _decay(
        learning_rate, decay_rate, total_step, step_per_epoch, decay_epoch, is_stair, rate
    )


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:
    """List half a cosine from the highest rate to the lowest.

    Args:
        min_lr: lowest rate.
        max_lr: highest rate.
        total_step: number of steps.
        step_per_epoch: steps of an epoch.
        decay_epoch: epochs of the way.

    Returns:
        A rate for each step.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is too small, or ``min_lr`` is not below ``max_lr``.
    """
    _check_float("cosine_decay_lr", "min_lr", min_lr)
    checks.float_above("min_lr", min_lr, bound=">=")
    checks.float_above("max_lr", max_lr)
    _check_steps(total_step, step_per_epoch, decay_epoch, "decay_epoch")
    _check_order("cosine_decay_lr", min_lr, max_lr)
    epochs = (min(i // step_per_epoch, decay_epoch) for i in range(total_step))
    half = 0.5 * (max_lr - min_lr)
    return [min_lr + half * (1 + math.cos(math.pi * epoch / decay_epoch)) for epoch in epochs]


def polynomial_decay_lr(
    learning_rate: float,
    end_learning_rate: float,
    total_step: int,
    step_per_epoch: int,
    decay_epoch: int,
    power: float,
    update_decay_epoch: bool = False,
) -> list[float]:
    """List (lr - end) (1 - epoch / epochs)^power + end for each step.

    Args:
        learning_rate: first rate.
        end_learning_rate: last rate.
        total_step: number of steps.
        step_per_epoch: steps of an epoch.
        decay_epoch: epochs of the way.
        power: exponent.
        update_decay_epoch: whether an epoch past the end begins a longer way.

    Returns:
        A rate for each step.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is too small.
    """
    checks.float_above("learning_rate", learning_rate)
    _check_float("polynomial_decay_lr", "end_learning_rate", end_learning_rate)
    checks.float_above("end_learning_rate", end_learning_rate, bound=">=")
    checks.float_above("power", power)
    _check_steps(total_step, step_per_epoch, decay_epoch, "decay_epoch")
    checks.of_type("update_decay_epoch", update_decay_epoch, bool)
    rates = []
    for i in range(total_step):
        epoch, epochs = i // step_per_epoch, decay_epoch
        if update_decay_epoch:
            epochs *= max(math.ceil(epoch / decay_epoch), 1)
        rest = (1 - min(epoch, epochs) / epochs) ** power
        rates.append((learning_rate - end_learning_rate) * rest + end_learning_rate)
    return rates


def warmup_lr(
    learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int
) -> list[float]:
    """List a line from zero to the rate.

    Args:
        learning_rate: rate at the end.
        total_step: number of steps.
        step_per_epoch: steps of an epoch.
        warmup_epoch: epochs of the way.

    Returns:
        A rate for each step.

    Raises:
        TypeError: an argument is of the wrong type.
        ValueError: a number is too small.
    """
    _check_float("warmup_lr", "learning_rate", learning_rate)
    checks.float_above("learning_rate", learning_rate, bound=">=")
    checks.positive_int("warmup_epoch", warmup_epoch)
    checks.positive_int("total_step", total_step)
    checks.positive_int("step_per_epoch", step_per_epoch)
    epochs = (min(i // step_per_epoch, warmup_epoch) for i in range(total_step))
    return [learning_rate * epoch / warmup_epoch for epoch in epochs]
