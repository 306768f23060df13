"""Lamb: Adam with a trust ratio a layer."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located
from mindjax.nn.optim.adam import DecoupledAdam
from mindjax.nn.optim.optimizer import MISSING
from mindjax.ops.update import Lamb as _Lamb


class Lamb(DecoupledAdam):
    """LAMB (MindSpore: ``nn.Lamb``; You et al. 2020, with bias correction).

    u = m̂ / (√v̂ + eps) + decay p; p = p - lr ‖p‖ / ‖u‖ u.

    Args:
        params: as in `Optimizer`.
        learning_rate: as in `Optimizer`.
        beta1: decay of the first moment, between 0 and 1.
        beta2: decay of the second moment, between 0 and 1.
        eps: positive number added to the root.
        weight_decay: number, or Cell of the step.

    Raises:
        TypeError: an argument is missing or of the wrong type.
        ValueError: a number is out of range.
    """

    _prefix = "lamb"

    def __init__(
        self,
        params: Any = MISSING,
        learning_rate: Any = MISSING,
        beta1: float = 0.9,
        beta2: float = 0.999,
        eps: float = 1e-6,
        weight_decay: Any = 0.0,
    ) -> None:
        if learning_rate is MISSING:
            raise located(TypeError, "For 'Lamb', missing a required argument: 'learning_rate'")
        super().__init__(params, learning_rate, beta1, beta2, eps, weight_decay)
        self.opt = _Lamb()

    def _write(self, parameter: Any, m: Any, v: Any, rate: Any, decay: Any, gradient: Any) -> None:
        hyper = self.beta1, self.beta2, self.eps
        self.opt(parameter, m, v, rate, *hyper, decay, self.global_step, gradient)
