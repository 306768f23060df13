"""Shares of right predictions: ``Accuracy`` and the top-k accuracies."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.train.metrics.metric import (
    ClassCount,
    EvaluationBase,
    Metric,
    MetricValue,
    class_numbers,
    rearrange_inputs,
)


class Accuracy(EvaluationBase):
    """Share of samples whose predicted class, or whole set of labels, is right.

    Args:
        eval_type: ``"classification"`` or ``"multilabel"``.

    MindSpore: ``mindspore.train.Accuracy``.
    """

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._correct_num = 0
        self._total_num = 0
        self._classes = ClassCount()

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: predictions (N, C, ...) and labels: class numbers (N, ...), or one-hot or
                multilabel (N, C, ...).

        Raises:
            ValueError: shapes, values or the number of inputs do not fit.
        """
        y_pred, y = self._labelled(inputs)
        classes = self._classes.check(self, y_pred)
        if self._type == "classification":
            right = y_pred.argmax(axis=1) == y
        else:
            right = (_by_sample(y_pred, classes) == _by_sample(y, classes)).all(axis=1)
        self._correct_num += int(right.sum())
        self._total_num += right.size

    def eval(self) -> MetricValue:
        """Compute the share.

        Raises:
            RuntimeError: there was no update.
        """
        if self._total_num == 0:
            raise self._no_samples()
        return MetricValue(self._correct_num / self._total_num)


def _by_sample(labels: np.ndarray, classes: int) -> np.ndarray:
    return labels.swapaxes(1, -1).reshape(-1, classes)


class TopKCategoricalAccuracy(Metric):
    """Share of samples whose class is among the ``k`` that are predicted strongest.

    Args:
        k: how many count, at least 1.

    Raises:
        TypeError: ``k`` is not int.
        ValueError: ``k`` is below 1.

    MindSpore: ``mindspore.train.TopKCategoricalAccuracy``.
    """

    def __init__(self, k: int) -> None:
        super().__init__()
        if not isinstance(k, int):
            raise located(
                TypeError,
                "For 'TopKCategoricalAccuracy', the type of the argument 'k' should be int, but "
                f"got 'k' type: {type(k)}.",
            )
        if k < 1:
            raise located(
                ValueError,
                "For 'TopKCategoricalAccuracy', the argument 'k' must be at least 1, but got 'k' "
                f"value: {k}.",
            )
        self.k = k
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._correct_num = 0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: predictions (N, C) and labels: class numbers (N,) or one-hot (N, C).

        Raises:
            ValueError: the number of inputs is not 2.
        """
        y_pred, y = self._pair(inputs)
        y = class_numbers(y_pred, y).reshape(-1, 1)
        strongest = np.argsort(-y_pred, axis=1)[:, : self.k]
        self._correct_num += int((strongest == y).sum())
        self._samples_num += len(y)

    def eval(self) -> MetricValue:
        """Compute the share.

        Raises:
            RuntimeError: there was no update.
        """
        if self._samples_num == 0:
            raise self._no_samples()
        return MetricValue(self._correct_num / self._samples_num)


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """Share of samples whose class is predicted strongest.

    MindSpore: ``mindspore.train.Top1CategoricalAccuracy``.
    """

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """Share of samples whose class is among the five that are predicted strongest.

    MindSpore: ``mindspore.train.Top5CategoricalAccuracy``.
    """

    def __init__(self) -> None:
        super().__init__(5)
