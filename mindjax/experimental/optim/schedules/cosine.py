"""Schedulers along a cosine, once or again and again."""

from __future__ import annotations

import math
from typing import Any

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.experimental.optim.schedules.base import LRScheduler
from mindjax.graph.jit_class import jit_class
from mindjax.tensor.parameter import Parameter
from mindjax.tensor.tensor import Tensor


@jit_class
class CosineAnnealingLR(LRScheduler):
    """Lower the rates along half a cosine, and raise them again (Loshchilov & Hutter 2017).

    Args:
        optimizer: optimizer with ``param_groups``.
        T_max: steps of the way down.
        eta_min: lowest rate.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: an argument is of the wrong type.
    """

    def __init__(
        self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        if not isinstance(eta_min, float | int):
            raise located(
                TypeError,
                "For 'CosineAnnealingLR', the 'eta_min' must be float or int, but got "
                f"{type(eta_min)}.",
            )
        if not isinstance(T_max, int):
            raise located(
                TypeError,
                f"For 'CosineAnnealingLR', the 'T_max' must be int, but got {type(T_max)}.",
            )
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: Any) -> Any:
        return 1 + ops.cos(math.pi * epoch / self.T_max)

    def get_lr(self) -> Any:
        """Give the rates of the groups."""
        epoch, low = self.last_epoch, self.eta_min
        lowest = (epoch - 1 - self.T_max) % (2 * self.T_max) == 0
        ratio = self._height(epoch) / self._height(epoch - 1)
        rise = (1 - math.cos(math.pi / self.T_max)) / 2
        rates = []
        for first, rate in zip(self.base_lrs, self._last_lr, strict=True):
            following = ops.where(lowest, rate + (first - low) * rise, ratio * (rate - low) + low)
            rates.append(ops.where(epoch == 0, rate, following))
        return rates

    def _get_closed_form_lr(self) -> Any:
        height = self._height(self.last_epoch) / 2
        return [self.eta_min + (first - self.eta_min) * height for first in self.base_lrs]


@jit_class
class CosineAnnealingWarmRestarts(LRScheduler):
    """Lower the rates along half a cosine again and again (Loshchilov & Hutter 2017).

    Args:
        optimizer: optimizer with ``param_groups``.
        T_0: steps of the first way, an integer above 0.
        T_mult: how many times longer each way is, an integer above 0.
        eta_min: lowest rate.
        last_epoch: as in `LRScheduler`.

    Raises:
        TypeError: ``eta_min`` is no number.
        ValueError: another argument is out of range.
    """

    def __init__(
        self,
        optimizer: Any,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
    ) -> None:
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if not isinstance(value, int) or value < 1:
                raise located(
                    ValueError,
                    f"For 'CosineAnnealingWarmRestarts', {name} should be an integer and at least "
                    f"1, but got {value}.",
                )
        checks.of_type("eta_min", eta_min, (float, int), "CosineAnnealingWarmRestarts")
        self.T_0, self.T_i, self.T_cur = (
            Parameter(Tensor(float(value), float32), name=name)
            for name, value in (("T_0", T_0), ("T_i", T_0), ("T_cur", last_epoch))
        )
        self._first, self.T_mult, self.eta_min = T_0, T_mult, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> Any:
        """Give the rates of the groups."""
        height = (1 + ops.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (first - self.eta_min) * height for first in self.base_lrs]

    def step(self, epoch: Any = None) -> Any:
        """Write the next rates.

        Args:
            epoch: the step that is meant, a number that may lie between two steps.

        Raises:
            ValueError: ``epoch`` is negative.
        """
        if epoch is None:
            begins = self.last_epoch < 0
            following = ops.where(begins, 0.0, self.T_cur + 1)
            ends = ops.logical_and(following >= self.T_i, ops.logical_not(begins))
            ops.assign(self.T_cur, ops.where(ends, following - self.T_i, following))
            ops.assign(self.T_i, ops.where(ends, self.T_i * self.T_mult, self.T_i))
            ops.assign(self.last_epoch, ops.where(begins, 0.0, self.last_epoch + 1))
        else:
            epoch = float(epoch)
            if epoch < 0:
                raise located(
                    ValueError,
                    "For 'CosineAnnealingWarmRestarts', epoch should be non-negative, but got "
                    f"{epoch}.",
                )
            begun, length = 0.0, float(self._first)
            if self.T_mult == 1:
                begun = epoch // length * length
            while epoch >= begun + length:
                begun, length = begun + length, length * self.T_mult
            ops.assign(self.T_cur, epoch - begun)
            ops.assign(self.T_i, length)
            ops.assign(self.last_epoch, float(math.floor(epoch)))
        for holder, rate in zip(self._last_lr, self.get_lr(), strict=True):
            ops.assign(holder, rate)
