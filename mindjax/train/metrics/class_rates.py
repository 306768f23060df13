"""Rates for each class, from counts of hits: ``Precision``, ``Recall``, ``Fbeta``, ``F1``."""

from __future__ import annotations

import sys
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

_EPS = sys.float_info.min


class _HitRate(EvaluationBase):
    """Hits over what was predicted or what was true."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._classes = ClassCount()
        self._hits: list[np.ndarray] = []
        self._base: list[np.ndarray] = []

    def _relevant(self, y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        raise NotImplementedError

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
            y_pred, y = _one_hot(self, y_pred, y, classes)
        else:
            y_pred, y = (a.swapaxes(1, 0).reshape(classes, -1) for a in (y_pred, y))
        self._hits.append((y * y_pred).sum(axis=0))
        self._base.append(self._relevant(y_pred, y).sum(axis=0))
        if self._type == "classification":
            self._hits, self._base = [sum(self._hits)], [sum(self._base)]  # type: ignore[list-item]

    def eval(self, average: bool = False) -> Any:
        """Compute the rate for each class or, multilabel, for each sample.

        Args:
            average: whether the mean over them is wanted.

        Returns:
            Array (C,) or (samples,), or a number if ``average``.

        Raises:
            RuntimeError: there was no update.
            TypeError: ``average`` is not a bool.
        """
        if self._classes.number == 0:
            raise self._no_samples()
        _check_average(self, average)
        rate = np.concatenate(self._hits) / (np.concatenate(self._base) + _EPS)
        return MetricValue(rate.mean()) if average else rate


class Precision(_HitRate):
    """Of the samples predicted to be of a class, the share that is.

    Args:
        eval_type: ``"classification"`` or ``"multilabel"``.

    MindSpore: ``mindspore.train.Precision``.
    """

    def _relevant(self, y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y_pred


class Recall(_HitRate):
    """Of the samples of a class, the share that is predicted to be.

    Args:
        eval_type: ``"classification"`` or ``"multilabel"``.

    MindSpore: ``mindspore.train.Recall``.
    """

    def _relevant(self, y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y


class Fbeta(Metric):
    """Weighted harmonic mean of precision and recall for each class.

    Args:
        beta: weight of recall, above 0.

    Raises:
        ValueError: ``beta`` is not above 0.

    MindSpore: ``mindspore.train.Fbeta``.
    """

    def __init__(self, beta: float) -> None:
        super().__init__()
        if not beta > 0:
            raise located(
                ValueError,
                f"For 'Fbeta', the argument 'beta' must be greater than 0, but got {beta}.",
            )
        self.beta = beta
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._classes = ClassCount()
        self._hits: Any = 0
        self._predicted: Any = 0
        self._true: Any = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: predictions (N, C) and labels: class numbers (N,) or one-hot (N, C).

        Raises:
            ValueError: a label is not a class, or the number of inputs or classes does not fit.
        """
        y_pred, y = self._pair(inputs)
        y = class_numbers(y_pred, y)
        y_pred, y = _one_hot(self, y_pred, y, self._classes.check(self, y_pred))
        self._hits += (y * y_pred).sum(axis=0)
        self._predicted += y_pred.sum(axis=0)
        self._true += y.sum(axis=0)

    def eval(self, average: bool = False) -> Any:
        """Compute the value for each class.

        Args:
            average: whether the mean over the classes is wanted.

        Returns:
            Array (C,), or a number if ``average``.

        Raises:
            RuntimeError: there was no update.
            TypeError: ``average`` is not a bool.
        """
        _check_average(self, average)
        if self._classes.number == 0:
            raise self._no_samples()
        weight = self.beta**2
        value = (1 + weight) * self._hits / (weight * self._true + self._predicted + _EPS)
        return MetricValue(value.mean()) if average else value


class F1(Fbeta):
    """Harmonic mean of precision and recall for each class.

    MindSpore: ``mindspore.train.F1``.
    """

    def __init__(self) -> None:
        super().__init__(1.0)


def _one_hot(
    owner: Metric, y_pred: np.ndarray, y: np.ndarray, classes: int
) -> tuple[np.ndarray, np.ndarray]:
    if y.max() + 1 > classes:
        raise located(
            ValueError,
            f"For '{type(owner).__name__}.update', predicted value (inputs[0]) and true value "
            f"(inputs[1]) should contain same classes, but got predicted value classes {classes}, "
            f"true value classes {y.max() + 1}.",
        )
    each = np.eye(classes)
    return each[y_pred.argmax(axis=1).reshape(-1)], each[y.reshape(-1)]


def _check_average(owner: Metric, average: Any) -> None:
    if not isinstance(average, bool):
        raise located(
            TypeError,
            f"For '{type(owner).__name__}', the type of 'average' should be 'bool', but got type "
            f"'{type(average).__name__}'.",
        )
