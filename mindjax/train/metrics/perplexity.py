"""The perplexity of predicted probabilities."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.core.checks import of_type
from mindjax.core.errors import located
from mindjax.train.metrics.metric import Metric, rearrange_inputs


class Perplexity(Metric):
    """Exponential of the mean negative logarithm of the true labels' probabilities.

    Args:
        ignore_label: label whose places do not count, or None.

    Raises:
        TypeError: ``ignore_label`` is neither int nor None.

    MindSpore: ``mindspore.train.Perplexity``.
    """

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        if ignore_label is not None:
            of_type("ignore_label", ignore_label, int, "Perplexity")
        self.ignore_label = ignore_label
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._sum = 0.0
        self._count = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: probabilities (..., C) and labels (...).

        Raises:
            ValueError: the number of inputs is not 2.
            RuntimeError: there is not one label for each row of probabilities.
        """
        pred, label = self._inputs(inputs, 2, "predicted value, label")
        if label.size != pred.size / pred.shape[-1]:
            raise located(
                RuntimeError,
                "For 'Perplexity.update', predicted value (input[0]) and label (input[1]) should "
                f"have the same shape, but got predicted value shape {pred.shape}, label shape "
                f"{label.shape}.",
            )
        rows, label = pred.reshape(-1, pred.shape[-1]), label.reshape(-1).astype(int)
        if self.ignore_label is not None:
            kept = label != self.ignore_label
            rows, label = rows[kept], label[kept]
        chosen = rows[np.arange(label.size), label]
        self._sum -= np.log(np.maximum(1e-10, chosen)).sum()
        self._count += label.size

    def eval(self) -> float:
        """Compute the perplexity.

        Raises:
            RuntimeError: there was no update.
        """
        if self._count == 0:
            raise self._no_samples()
        return math.exp(self._sum / self._count)
