"""``LearningRateScheduler``: a function of the step changes the learning rate."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from mindjax.tensor import Tensor
from mindjax.train.callback.base import Callback, RunContext


class LearningRateScheduler(Callback):
    """Changes the optimizer's learning rate after each step.

    Args:
        learning_rate_function: takes the rate and the number of the step, returns the new rate.

    MindSpore: ``mindspore.train.LearningRateScheduler``.
    """

    def __init__(self, learning_rate_function: Callable[[float, int], float]) -> None:
        super().__init__()
        self.learning_rate_function = learning_rate_function

    def step_end(self, run_context: RunContext) -> None:
        """Ask the function and set the rate."""
        params = run_context.original_args()
        parameter = params.optimizer.learning_rate
        # The shortest decimal of the float32: the function sees 0.1, not 0.10000000149.
        rate = float(np.array2string(parameter.asnumpy()))
        new = self.learning_rate_function(rate, params.cur_step_num)
        if not math.isclose(rate, new, rel_tol=1e-10):
            parameter.set_data(Tensor(np.array(new, np.float32)))
