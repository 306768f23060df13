"""Loss scale managers: what ``Model`` multiplies the loss with before it is differentiated."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located


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
        drop_overflow_update: whether a step whose gradients overflow updates nothing; ``Model``
            supports False.

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

    def get_update_cell(self) -> None:
        """Give None: nothing updates the scale.

        Raises:
            NotImplementedError: steps that overflow are to be dropped.
        """
        if self._drop_overflow_update:
            raise located(
                NotImplementedError,
                "For 'FixedLossScaleManager', 'drop_overflow_update' has no update cell: use "
                "drop_overflow_update=False.",
            )
