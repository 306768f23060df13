"""The receiver operating characteristic, ``ROC``, and the area under a curve, ``auc``."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.checks import of_type
from mindjax.core.errors import located
from mindjax.train.metrics.metric import Metric, MetricValue, rearrange_inputs

Curve = tuple[np.ndarray, np.ndarray, np.ndarray]


class ROC(Metric):
    """False and true positive rates at every threshold; only the last update counts.

    Args:
        class_num: number of classes of predictions (N, C); None or 1 for predictions (N,).
        pos_label: the label that counts as positive, 1 if None; must be None for several classes.

    Raises:
        TypeError: an argument is neither int nor None.

    MindSpore: ``mindspore.train.ROC``.
    """

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        for name, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None:
                of_type(name, value, int, "ROC")
        self.class_num, self.pos_label = class_num, pos_label
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._data: tuple[np.ndarray, np.ndarray] | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in predictions and labels.

        Args:
            *inputs: predictions (N, ...) and labels of the same shape, or predictions
                (N, C, ...) and labels (N, ...).

        Raises:
            ValueError: the shapes, ``class_num`` and ``pos_label`` do not fit together.
        """
        y_pred, y = self._pair(inputs)
        if y_pred.ndim not in (y.ndim, y.ndim + 1):
            raise located(
                ValueError,
                "For 'ROC', predicted value (input[0]) and true value (input[1]) must have same "
                "dimensions, or the dimension of predicted value equal the dimension of true value "
                f"add 1, but got predicted value ndim: {y_pred.ndim}, true value ndim: {y.ndim}.",
            )
        if y_pred.ndim == y.ndim:
            if self.class_num not in (None, 1):
                raise located(
                    ValueError,
                    "For 'ROC', when predicted value (input[0]) and true value (input[1]) have the "
                    f"same shape, the 'class_num' must be 1, but got {self.class_num}.",
                )
            self._data = y_pred.reshape(-1), y.reshape(-1)
            return
        if self.pos_label is not None:
            raise located(
                ValueError,
                "For 'ROC', when the dimension of predicted value (input[0]) equals the dimension "
                "of true value (input[1]) add 1, the 'pos_label' must be None, but got "
                f"{self.pos_label}.",
            )
        if self.class_num != y_pred.shape[1]:
            raise located(
                ValueError,
                "For 'ROC', the 'class_num' must equal the number of classes from predicted value "
                f"(input[0]), but got 'class_num' {self.class_num}, the number of classes from "
                f"predicted value {y_pred.shape[1]}.",
            )
        self._data = np.moveaxis(y_pred, 1, -1).reshape(-1, y_pred.shape[1]), y.reshape(-1)

    def eval(self) -> Any:
        """Compute the curves.

        Returns:
            False positive rates, true positive rates and thresholds: an array each, or, for
            several classes, a list of an array for each class.

        Raises:
            RuntimeError: there was no update.
            ValueError: there is no positive or no negative sample.
        """
        if self._data is None:
            raise self._not_updated()
        y_pred, y = self._data
        if y_pred.ndim == 1:
            return _curve(y_pred, y == (1 if self.pos_label is None else self.pos_label))
        curves = [_curve(y_pred[:, c], y == c) for c in range(y_pred.shape[1])]
        return tuple(list(part) for part in zip(*curves, strict=True))


def _curve(scores: np.ndarray, positive: np.ndarray) -> Curve:
    order = np.argsort(scores, kind="stable")[::-1]
    scores, positive = scores[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)
    true = np.concatenate([[0], np.cumsum(positive.astype(np.int64))[last]])
    false = np.concatenate([[0], 1 + last]) - true
    if false[-1] <= 0:
        raise located(
            ValueError,
            "For 'ROC.eval', there is no negative samples in true value, false positive value is "
            "meaningless.",
        )
    if true[-1] <= 0:
        raise located(
            ValueError,
            "For 'ROC.eval', there is no positive samples in true value, true positive value is "
            "meaningless.",
        )
    thresholds = scores[last]
    return false / false[-1], true / true[-1], np.hstack([thresholds[:1] + 1, thresholds])


def auc(x: Any, y: Any, reorder: bool = False) -> MetricValue:
    """Compute the area under a curve by the trapezoidal rule.

    Args:
        x: array (N,) or (N, 1), rising or falling.
        y: array (N,) or (N, 1).
        reorder: whether the points are sorted by ``x`` first.

    Returns:
        The area.

    Raises:
        TypeError: ``x`` or ``y`` is no array.
        ValueError: shapes do not fit, or ``x`` neither rises nor falls.

    MindSpore: ``mindspore.train.auc``.
    """
    if not isinstance(x, np.ndarray) or not isinstance(y, np.ndarray):
        raise located(
            TypeError,
            f"For 'auc', the argument 'x' and 'y' must all be np.ndarray, but got {type(x)}, "
            f"{type(y)}",
        )
    for array in (x, y):
        if array.ndim == 0:
            raise located(
                TypeError,
                f"For 'auc', singleton array {array} cannot be considered as a valid collection.",
            )
    if len(x) != len(y):
        raise located(
            ValueError,
            "For 'auc', found input variables with inconsistent numbers of samples: "
            f"{[len(x), len(y)]}.",
        )
    for array in (x, y):
        if array.shape not in ((len(array),), (len(array), 1)):
            raise located(
                ValueError,
                "For 'auc', the input must be a 1-dimensional array, or a 2-dimensional array with "
                f"the second dimension of 1, but got shape {array.shape}.",
            )
    x, y = x.ravel(), y.ravel()
    if len(x) < 2:
        raise located(
            ValueError,
            "For 'auc', the shape of the argument 'x' in axis 0 must be greater than 2, but got "
            f"{len(x)}.",
        )
    sign = 1
    if reorder:
        order = np.lexsort((y, x))
        x, y = x[order], y[order]
    elif np.any(np.diff(x) < 0):
        if np.any(np.diff(x) > 0):
            raise located(
                ValueError,
                "For 'auc', if the argument is False, the argument 'x' array must be increasing or "
                f"decreasing, but got 'x': {x}",
            )
        sign = -1
    return MetricValue(sign * np.trapezoid(y, x))
