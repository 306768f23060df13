"""Rates that go up and down between two bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.experimental.optim.schedules.base import LRScheduler, each_group
from mindjax.graph.jit_class import jit_class
from mindjax.tensor.tensor import Tensor

_MODES = ("triangular", "triangular2", "exp_range")


@jit_class
class CyclicLR(LRScheduler):
    """Move the rates up and down between two bounds (Smith 2017).

    Args:
        optimizer: optimizer with ``param_groups``.
        base_lr: lower bound, or a list of one a group.
        max_lr: upper bound, or a list of one a group.
        step_size_up: steps of a way up.
        step_size_down: steps of a way down, None for as many.
        mode: ``"triangular"``: always the same height; ``"triangular2"``: half the height each
            cycle; ``"exp_range"``: gamma^step of the height.
        gamma: of ``"exp_range"``.
        scale_fn: the height's factor, of the cycle or the step, in place of ``mode``.
        scale_mode: ``"cycle"`` or ``"iterations"``: what ``scale_fn`` is called with.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: ``optimizer`` is no Optimizer.
        ValueError: there are more or fewer bounds than groups, or ``mode`` has another name.
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[Any], Any] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
    ) -> None:
        lows = each_group(optimizer, base_lr, "values for base_lr")
        if last_epoch == -1:
            for low, group in zip(lows, optimizer.param_groups, strict=True):
                ops.assign(group["lr"], Tensor(low, float32))
        highs = each_group(optimizer, max_lr, "values for max_lr")
        self.max_lrs = [Tensor(high, float32) for high in highs]
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_step_size = up + down
        self.step_up_ratio = up / self.total_step_size
        if mode not in _MODES and scale_fn is None:
            raise located(
                ValueError,
                f"For 'CyclicLR', mode is invalid and scale_fn is None: mode must be one of "
                f"{_MODES}, but got {mode}.",
            )
        self.mode, self.gamma = mode, gamma
        self._scale_fn = scale_fn
        if scale_fn is None:
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.scale_mode = scale_mode
        super().__init__(optimizer, last_epoch)
        self.base_lrs = [Tensor(low, float32) for low in lows]

    def scale_fn(self, x: Any) -> Any:
        """Give the factor of the height.

        Args:
            x: cycle, from 1 up, or step.

        Returns:
            A number or Tensor.
        """
        if self._scale_fn is not None:
            return self._scale_fn(x)
        if self.mode == "triangular":
            return 1.0
        return ops.pow(0.5, x - 1) if self.mode == "triangular2" else ops.pow(self.gamma, x)

    def get_lr(self) -> Any:
        """Give the rates of the groups."""
        cycles = self.last_epoch / self.total_step_size
        cycle = ops.floor(1 + cycles)
        x = 1.0 + cycles - cycle
        up, down = x / self.step_up_ratio, (x - 1) / (self.step_up_ratio - 1)
        part = ops.where(x <= self.step_up_ratio, up, down)
        height = part * self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        pairs = zip(self.base_lrs, self.max_lrs, strict=True)
        return [low + (high - low) * height for low, high in pairs]
