"""Lamb: Adam with a trust ratio a layer."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.nn.optim.adam import check_betas
from mindjax.nn.optim.optimizer import MISSING, Optimizer
from mindjax.nn.optim.step import one_program
from mindjax.ops.update import Lamb as _Lamb
from mindjax.tensor.tensor import Tensor


class Lamb(Optimizer):
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
        super().__init__(learning_rate, params, weight_decay)
        check_betas(self.cls_name, beta1, beta2, eps)
        self.beta1, self.beta2 = (Tensor(np.array([b], np.float32)) for b in (beta1, beta2))
        self.eps = Tensor(np.array([eps], np.float32))
        self.opt = _Lamb()
        if self.is_bound:
            self.create_state()

    def create_state(self) -> None:
        """Make the moments."""
        self.moments1 = self.parameters.clone(prefix="lamb_m", init="zeros")
        self.moments2 = self.parameters.clone(prefix="lamb_v", init="zeros")

    @one_program
    def construct(self, gradients: Any) -> Any:
        """Write the new values of Parameters and moments.

        Args:
            gradients: gradient of each Parameter.

        Returns:
            True for each Parameter.
        """
        decays = self._decays()
        gradients, rates = self._prepare(gradients, decay=False)
        hyper = self.beta1, self.beta2, self.eps
        for gradient, rate, parameter, m, v, decay in zip(
            gradients, rates, self.parameters, self.moments1, self.moments2, decays, strict=True
        ):
            self.opt(parameter, m, v, rate, *hyper, decay, self.global_step, gradient)
        return (True,) * self.param_length
