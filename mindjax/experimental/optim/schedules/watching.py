"""Schedulers that watch a value, or other schedulers."""

from __future__ import annotations

from bisect import bisect_right
from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.experimental.optim.schedules.base import each_group
from mindjax.graph.jit_class import jit_class
from mindjax.nn.optim.grouped import Optimizer
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


@jit_class
class SequentialLR:
    """One scheduler after another.

    Args:
        optimizer: optimizer with ``param_groups``.
        schedulers: list of schedulers of that optimizer.
        milestones: steps at which the next one takes over, one less than schedulers.
        last_epoch: number of steps so far, -1 for none.

    Raises:
        ValueError: a scheduler is of another optimizer, or the numbers do not fit.
    """

    def __init__(
        self, optimizer: Any, schedulers: list[Any], milestones: list[int], last_epoch: int = -1
    ) -> None:
        for i, scheduler in enumerate(schedulers):
            if scheduler.optimizer is not optimizer:
                raise located(
                    ValueError,
                    "Sequential Schedulers expects all schedulers to belong to the same "
                    f"optimizer, but got scheduler at index {i} is different from the optimizer "
                    "passed in.",
                )
        if len(milestones) != len(schedulers) - 1:
            raise located(
                ValueError,
                "Sequential Schedulers expects number of schedulers provided to be one more than "
                f"the number of milestone points, but got number of schedulers {len(schedulers)} "
                f"and the number of milestones {len(milestones)}",
            )
        self._schedulers, self.milestones = schedulers, milestones
        self.last_epoch = Parameter(
            Tensor(float(last_epoch + 1), float32), name="last_epoch_SequentialLR"
        )
        self.optimizer = optimizer
        for group in optimizer.param_groups:
            ops.assign(group["lr"], group["initial_lr"])
        for scheduler in schedulers:
            ops.assign_sub(scheduler.last_epoch, 1.0)
        schedulers[0].step()
        self._last_lr = schedulers[0]._last_lr

    def step(self) -> None:
        """Let the scheduler whose turn it is write the next rates."""
        ops.assign_add(self.last_epoch, 1.0)
        epoch = int(self.last_epoch)
        turn = bisect_right(self.milestones, epoch)
        if turn > 0 and self.milestones[turn - 1] == epoch:
            self._schedulers[turn].step(0)
        else:
            self._schedulers[turn].step()

    def get_last_lr(self) -> list[Any]:
        """Give the rates of the groups as they are, Tensors."""
        return [ops.deepcopy(rate) for rate in self._last_lr]


@jit_class
class ReduceLROnPlateau:
    """Lower the rates when a value stops getting better.

    Args:
        optimizer: optimizer with ``param_groups``.
        mode: ``"min"`` or ``"max"``: what is better.
        factor: of the rates, below 1.
        patience: steps without a better value that are borne.
        threshold: how much better counts.
        threshold_mode: ``"rel"`` or ``"abs"``: what the threshold is of.
        cooldown: steps after a change that are not counted.
        min_lr: lowest rate, or a list of one a group.
        eps: a smaller change is left out.

    Raises:
        TypeError: ``optimizer`` is no Optimizer.
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        optimizer: Any,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: Any = 0,
        eps: float = 1e-8,
    ) -> None:
        if factor >= 1.0:
            raise located(ValueError, f"The lr factor should be less than 1.0, but got {factor}.")
        if not isinstance(optimizer, Optimizer):
            raise located(
                TypeError, f"Expected an `Optimizer`, but got type {type(optimizer).__name__}"
            )
        self.optimizer, self.factor = optimizer, factor
        lowest = each_group(optimizer, min_lr, "min_lrs")
        self.min_lrs = [Tensor(low, float32) for low in lowest]
        for name, value, choices in (
            ("mode", mode, ("min", "max")),
            ("threshold mode", threshold_mode, ("rel", "abs")),
        ):
            if value not in choices:
                raise located(
                    ValueError,
                    f"`{name}` should be '{choices[0]}' or '{choices[1]}', but got {value}.",
                )
        self.mode, self.threshold_mode = mode, threshold_mode
        self.patience, self.threshold, self.eps = patience, threshold, eps
        self.cooldown = cooldown
        self.mode_worse = float("inf") if mode == "min" else float("-inf")
        self.last_epoch = Parameter(Tensor(0, int32), name="last_epoch_ReduceLROnPlateau")
        self.best, self.cooldown_counter, self.wait = (
            Parameter(Tensor(value, float32), name=name)
            for name, value in (("best", self.mode_worse), ("cooldown_counter", 0.0), ("wait", 0.0))
        )
        self._last_lr = [group["lr"] for group in optimizer.param_groups]

    def step(self, metrics: Any) -> bool:
        """Look at a value, and write the rates.

        Args:
            metrics: number or 0-d Tensor.

        Returns:
            True.
        """
        current = ops.cast(metrics, float32)
        ops.assign_add(self.last_epoch, 1)
        better = self._is_improvement(current)
        cooling = self.in_cooldown()
        wait = ops.where(ops.logical_or(better, cooling), 0.0, self.wait + 1)
        counter = self.cooldown_counter - ops.where(cooling, 1.0, 0.0)
        lower = wait > self.patience
        ops.assign(self.best, ops.where(better, current, self.best))
        for holder, lowest in zip(self._last_lr, self.min_lrs, strict=True):
            rate = ops.maximum(holder * self.factor, lowest)
            changes = ops.logical_and(lower, holder > rate + self.eps)
            ops.assign(holder, ops.where(changes, rate, holder))
        ops.assign(self.cooldown_counter, ops.where(lower, float(self.cooldown), counter))
        ops.assign(self.wait, ops.where(lower, 0.0, wait))
        return True

    def in_cooldown(self) -> Any:
        """Tell whether steps are not counted now."""
        return self.cooldown_counter > 0

    def _is_improvement(self, current: Any) -> Any:
        sign = -1.0 if self.mode == "min" else 1.0
        if self.threshold_mode == "rel":
            bound = self.best * (1.0 + sign * self.threshold)
        else:
            bound = self.best + sign * self.threshold
        return current < bound if self.mode == "min" else current > bound

    def get_last_lr(self) -> list[Any]:
        """Give the rates of the groups as they are, Tensors."""
        return [ops.deepcopy(rate) for rate in self._last_lr]
