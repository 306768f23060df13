"""Loss scale managers: what ``Model`` multiplies the loss with before it is differentiated."""

from __future__ import annotations

from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.nn.training.loss_scale import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell


class LossScaleManager:
    """Base of loss scale managers (MindSpore: ``mindspore.amp.LossScaleManager``)."""

    def get_loss_scale(self) -> float:
        """Give the scale."""
        raise NotImplementedError

    def update_loss_scale(self, overflow: bool) -> None:
        """Take note of whether a gradient overflowed."""
        raise NotImplementedError

    def get_update_cell(self) -> Any:
        """Give the Cell that updates the scale in the training step, or None."""
        raise NotImplementedError


class FixedLossScaleManager(LossScaleManager):
    """A scale that never changes.

    Args:
        loss_scale: the scale, at least 1. The optimizer must be made with the same ``loss_scale``.
        drop_overflow_update: whether a step whose gradients overflow updates nothing.

    Raises:
        ValueError: ``loss_scale`` is below 1.
        TypeError: ``loss_scale`` is not a number.

    MindSpore: ``mindspore.amp.FixedLossScaleManager``.
    """

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if not isinstance(loss_scale, int | float):
            raise located(
                TypeError,
                "For 'FixedLossScaleManager', the argument 'loss_scale' must be a number, but got "
                f"'{type(loss_scale).__name__}'.",
            )
        if loss_scale < 1:
            raise located(
                ValueError, f"The argument 'loss_scale' must be >= 1, but got {loss_scale}"
            )
        self._loss_scale = loss_scale
        self._drop_overflow_update = drop_overflow_update

    def get_loss_scale(self) -> float:
        """Give the scale."""
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Tell whether a step whose gradients overflow updates nothing."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow: bool) -> None:
        """Do nothing: the scale is fixed."""

    def get_update_cell(self) -> Any:
        """Give the Cell that the training step calls; None if overflows are not dropped."""
        if not self._drop_overflow_update:
            return None
        return FixedLossScaleUpdateCell(self._loss_scale)


class DynamicLossScaleManager(LossScaleManager):
    """A scale that falls after an overflow and rises after a time without.

    Args:
        init_loss_scale: first scale, at least 1.
        scale_factor: what the scale is divided or multiplied by.
        scale_window: steps without an overflow before the scale rises.

    Raises:
        ValueError: ``init_loss_scale`` is below 1, or another argument is not above 0.
        TypeError: ``scale_window`` is no int.

    MindSpore: ``mindspore.amp.DynamicLossScaleManager``.
    """

    def __init__(
        self, init_loss_scale: float = 2**24, scale_factor: float = 2, scale_window: int = 2000
    ) -> None:
        if init_loss_scale < 1.0:
            raise located(
                ValueError, f"The argument 'init_loss_scale' must be > 1, but got {init_loss_scale}"
            )
        checks.positive_int("scale_window", scale_window, type(self).__name__)
        if scale_factor <= 0:
            raise located(
                ValueError, f"The argument 'scale_factor' must be > 0, but got {scale_factor}"
            )
        self.loss_scale = init_loss_scale
        self.scale_window = scale_window
        self.scale_factor = self.increase_ratio = scale_factor
        self.decrease_ratio = 1 / scale_factor
        self.cur_iter, self.last_overflow_iter = 1, 0
        self.bad_step_max, self.bad_step = 1000, 0

    def get_loss_scale(self) -> float:
        """Give the scale."""
        return self.loss_scale

    def update_loss_scale(self, overflow: bool) -> None:
        """Choose the next scale.

        Args:
            overflow: whether a gradient overflowed.

        Raises:
            RuntimeError: more than 1000 steps overflowed one after another.
        """
        if overflow:
            self.loss_scale = max(self.loss_scale * self.decrease_ratio, 1)
            self.last_overflow_iter = self.cur_iter
            self.bad_step += 1
        else:
            if (self.cur_iter - self.last_overflow_iter) % self.scale_window == 0:
                self.loss_scale *= self.increase_ratio
            self.bad_step = 0
        if self.bad_step > self.bad_step_max:
            raise located(
                RuntimeError,
                f"Dynamic loss scale Continuous overflow {self.bad_step} times, has exceeded "
                "maximum threshold.",
            )
        self.cur_iter += 1

    def get_drop_overflow_update(self) -> bool:
        """Give True: a step whose gradients overflow updates nothing."""
        return True

    def get_update_cell(self) -> DynamicLossScaleUpdateCell:
        """Give a Cell that chooses the scales within the training step."""
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
