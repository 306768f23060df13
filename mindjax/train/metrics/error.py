"""Mean errors and the mean loss: ``MAE``, ``MSE``, ``Loss``."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.train.metrics.metric import Metric, MetricValue, rearrange_inputs


class _MeanError(Metric):
    """A sum of errors over all elements, divided by the number of samples."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._sum = 0.0
        self._samples_num = 0

    def _error(self, difference: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: predictions (N, ...) and true values of as many elements.

        Raises:
            ValueError: the number of inputs is not 2.
        """
        y_pred, y = self._pair(inputs)
        self._sum += float(self._error(y.reshape(y_pred.shape) - y_pred).sum())
        self._samples_num += y.shape[0]

    def eval(self) -> MetricValue:
        """Compute the mean over the samples.

        Raises:
            RuntimeError: there was no update.
        """
        if self._samples_num == 0:
            raise self._no_samples()
        return MetricValue(self._sum / self._samples_num)


class MAE(_MeanError):
    """Mean of the absolute errors (MindSpore: ``mindspore.train.MAE``)."""

    def _error(self, difference: np.ndarray) -> np.ndarray:
        return np.abs(difference)


class MSE(_MeanError):
    """Mean of the squared errors (MindSpore: ``mindspore.train.MSE``)."""

    def _error(self, difference: np.ndarray) -> np.ndarray:
        return np.square(difference)


class Loss(Metric):
    """Mean of the batches' losses (MindSpore: ``mindspore.train.Loss``)."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._sum_loss = 0.0
        self._total_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: the loss, a scalar or (N,).

        Raises:
            ValueError: the loss has more dimensions, or the number of inputs is not 1.
        """
        (loss,) = self._inputs(inputs, 1, "loss")
        if loss.ndim > 1:
            raise located(
                ValueError,
                "For 'Loss.update', the dimension of your input (loss) must be 1, but got "
                f"{loss.ndim}.",
            )
        self._sum_loss += float(loss.mean())
        self._total_num += 1

    def eval(self) -> MetricValue:
        """Compute the mean.

        Raises:
            RuntimeError: there was no update.
        """
        if self._total_num == 0:
            raise self._no_samples()
        return MetricValue(self._sum_loss / self._total_num)
