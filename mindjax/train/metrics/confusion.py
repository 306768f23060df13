"""The confusion matrix and the rates that are computed from it."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.checks import of_type, one_of
from mindjax.core.errors import located
from mindjax.train.metrics.metric import Metric, rearrange_inputs

_NORMALIZE = ("target", "prediction", "all", "no_norm")
_DECREASE = ["none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel"]

# Short name of a rate -> its other names.
_ALIASES = {
    "tpr": "sensitivity recall hit_rate true_positive_rate",
    "tnr": "specificity selectivity true_negative_rate",
    "ppv": "precision positive_predictive_value",
    "npv": "negative_predictive_value",
    "fnr": "miss_rate false_negative_rate",
    "fpr": "fall_out false_positive_rate",
    "fdr": "false_discovery_rate",
    "for": "false_omission_rate",
    "pt": "prevalence_threshold",
    "ts": "threat_score critical_success_index csi",
    "acc": "accuracy",
    "ba": "balanced_accuracy",
    "f1": "f1_score",
    "mcc": "matthews_correlation_coefficient",
    "fm": "fowlkes_mallows_index",
    "bm": "informedness bookmaker_informedness",
    "mk": "markedness deltap",
}
_RATES = {name: key for key, text in _ALIASES.items() for name in (key, *text.split())}


class ConfusionMatrix(Metric):
    """How often each class, by row, was predicted as each class, by column.

    Args:
        num_classes: number of classes.
        normalize: ``"no_norm"`` gives counts; ``"target"`` divides them by their row's sum,
            ``"prediction"`` by their column's and ``"all"`` by the sum of all.
        threshold: predictions of floats that are no scores of classes count as class 1 from here
            on, else as class 0.

    Raises:
        TypeError: ``num_classes`` is not int or ``threshold`` is not float.
        ValueError: ``normalize`` is none of these.

    MindSpore: ``mindspore.train.ConfusionMatrix``.
    """

    def __init__(
        self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5
    ) -> None:
        super().__init__()
        self.num_classes = of_type("num_classes", num_classes, int, "ConfusionMatrix")
        if normalize not in _NORMALIZE:
            raise located(
                ValueError,
                "For 'ConfusionMatrix', the argument 'normalize' must be in "
                f"{list(_NORMALIZE)}, but got {normalize}.",
            )
        self.normalize = normalize
        self.threshold = of_type("threshold", threshold, float, "ConfusionMatrix")
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: scores (N, C, ...), class numbers (N, ...) or probabilities of class 1
                (N, ...), and true class numbers (N, ...).

        Raises:
            ValueError: the number of inputs or their shapes do not fit.
        """
        y_pred, y = self._pair(inputs)
        if y_pred.ndim not in (y.ndim, y.ndim + 1):
            raise located(
                ValueError,
                "For 'ConfusionMatrix.update', predicted value (input[0]) and true value "
                "(input[1]) should have same dimensions, or the dimension of predicted value "
                "equals the dimension of true value add 1, but got predicted value ndim: "
                f"{y_pred.ndim}, true value ndim: {y.ndim}.",
            )
        if y_pred.ndim == y.ndim + 1:
            y_pred = y_pred.argmax(axis=1)
        elif y_pred.dtype.kind == "f":
            y_pred = (y_pred >= self.threshold).astype(int)
        places = (y.reshape(-1) * self.num_classes + y_pred.reshape(-1)).astype(int)
        counts = np.bincount(places, minlength=self.num_classes**2)
        self.confusion_matrix += counts.reshape(self.num_classes, self.num_classes)
        self._is_update = True

    def eval(self) -> np.ndarray:
        """Compute the matrix.

        Returns:
            Array (num_classes, num_classes) of float64; 0 where a sum is 0.

        Raises:
            RuntimeError: there was no update.
        """
        if not self._is_update:
            raise self._not_updated()
        counts = self.confusion_matrix
        if self.normalize == "no_norm":
            return counts.copy()
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        sums = counts.sum(axis=axis, keepdims=True)
        return counts / np.where(sums == 0, 1, sums)


class ConfusionMatrixMetric(Metric):
    """A rate of the confusion matrix of each class, from binary images.

    Args:
        skip_channel: False leaves the first class, the background, out.
        metric_name: name of the rate, such as ``"sensitivity"``, ``"precision"``, ``"f1 score"``
            or ``"matthews correlation coefficient"``.
        calculation_method: True computes the rate for each sample first; False sums up the counts
            of all samples, which classes without images need.
        decrease: with ``calculation_method``, how the samples' and classes' rates come together:
            ``"mean"`` or ``"sum"``; ``"none"``, ``"mean_batch"``, ``"sum_batch"``,
            ``"mean_channel"`` and ``"sum_channel"`` where one number is left.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``decrease`` is none of these.

    MindSpore: ``mindspore.train.ConfusionMatrixMetric``.
    """

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: str = "mean",
    ) -> None:
        super().__init__()
        owner = "ConfusionMatrixMetric"
        self.skip_channel = of_type("skip_channel", skip_channel, bool, owner)
        self.calculation_method = of_type("calculation_method", calculation_method, bool, owner)
        self.metric_name = of_type("metric_name", metric_name, str, owner)
        of_type("decrease", decrease, str, owner)
        self.decrease = one_of("decrease", decrease, _DECREASE, owner)
        self.clear()

    def clear(self) -> None:
        """Forget all updates."""
        self._sum = 0.0
        self._count = 0
        self._totals = np.zeros(4)

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take in one batch.

        Args:
            *inputs: predictions and true values, 0 or 1, both (N, C, ...).

        Raises:
            ValueError: the inputs do not fit, or, with ``calculation_method``, are no images or
                more than one number is left of them.
            NotImplementedError: there is no rate ``metric_name``.
        """
        y_pred, y = self._pair(inputs)
        counts = self._counts(y_pred, y)
        if not self.calculation_method:
            self._totals += np.nansum(counts, axis=(0, 1))
            return
        if y_pred.ndim == 2 or (y_pred.ndim == 3 and y_pred.shape[-1] == 1):
            raise located(
                ValueError,
                "For 'ConfusionMatrixMetric.update', the 'calculation_method' must be False for "
                f"classes without images, but got True and predicted value shape {y_pred.shape}.",
            )
        rate, number = _decreased(_rate(self.metric_name, counts), self.decrease)
        if rate.size != 1 or number.size != 1:
            raise located(
                ValueError,
                "For 'ConfusionMatrixMetric.update', the 'decrease' must leave one number, but "
                f"with '{self.decrease}' the rate has shape {rate.shape}: use 'mean' or 'sum'.",
            )
        self._sum += rate.item() * int(number.item())
        self._count += int(number.item())

    def _counts(self, y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Count hits and misses: true, false positives, true, false negatives, (N, C, 4)."""
        owner = "For 'ConfusionMatrixMetric.update'"
        if not np.all(y.astype(np.uint8) == y):
            raise located(
                ValueError, f"{owner}, the true value (input[1]) must be a binarized ndarray."
            )
        if y_pred.ndim < 2:
            raise located(
                ValueError,
                f"{owner}, the predicted value (input[0]) must have at least 2 dimensions, but "
                f"got {y_pred.ndim}.",
            )
        if not self.skip_channel:
            y_pred, y = (a[:, 1:] if a.shape[1] > 1 else a for a in (y_pred, y))
        if y_pred.shape != y.shape:
            raise located(
                ValueError,
                f"{owner}, the shapes of predicted value (input[0]) and true value (input[1]) "
                f"should be equal, but got {y_pred.shape} and {y.shape}.",
            )
        y_pred, y = (a.astype(float).reshape(*a.shape[:2], -1) for a in (y_pred, y))
        hit = (y_pred + y == 2).sum(axis=2, dtype=float)
        left = (y_pred + y == 0).sum(axis=2, dtype=float)
        positive = y.sum(axis=2)
        negative = y.shape[2] - positive
        return np.stack([hit, negative - left, left, positive - hit], axis=-1)

    def eval(self) -> Any:
        """Compute the rate.

        Returns:
            Array (1,) of the rate of the counts of all samples or, with ``calculation_method``,
            the mean of the batches' rates.

        Raises:
            RuntimeError: there was no update, with ``calculation_method``.
            NotImplementedError: there is no rate ``metric_name``.
        """
        if not self.calculation_method:
            return _rate(self.metric_name, self._totals[None])
        if self._count == 0:
            raise self._no_samples()
        return self._sum / self._count


def _over(numerator: Any, denominator: Any) -> Any:
    """Divide; NaN where the denominator is 0."""
    whole = np.where(denominator == 0, np.nan, denominator)
    return numerator / whole


def _rate(name: str, counts: np.ndarray) -> np.ndarray:
    """Compute a rate of counts (..., 4)."""
    key = _RATES.get(name.replace(" ", "_").lower())
    if key is None:
        raise located(
            NotImplementedError,
            f"For 'ConfusionMatrixMetric', the metric '{name}' is not implemented: use one of "
            f"{sorted(_RATES)}.",
        )
    tp, fp, tn, fn = np.moveaxis(counts, -1, 0)
    p, n = tp + fn, fp + tn
    tpr, tnr, ppv, npv = _over(tp, p), _over(tn, n), _over(tp, tp + fp), _over(tn, tn + fn)
    if key == "pt":
        return _over(np.sqrt(tpr * (1 - tnr)) + tnr - 1, tpr + tnr - 1)
    if key == "mcc":
        root = np.sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return _over(tp * tn - fp * fn, root)
    return {
        "tpr": tpr,
        "tnr": tnr,
        "ppv": ppv,
        "npv": npv,
        "fnr": _over(fn, p),
        "fpr": _over(fp, n),
        "fdr": _over(fp, tp + fp),
        "for": _over(fn, tn + fn),
        "ts": _over(tp, tp + fn + fp),
        "acc": _over(tp + tn, p + n),
        "ba": (tpr + tnr) / 2,
        "f1": _over(2 * tp, 2 * tp + fn + fp),
        "fm": np.sqrt(ppv * tpr),
        "bm": tpr + tnr - 1,
        "mk": ppv + npv - 1,
    }[key]


def _decreased(rates: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Bring rates (N, C) together; NaN counts as absent.

    Returns:
        What is left, and how many rates each number stands for.
    """
    known = (~np.isnan(rates)).astype(float)
    rates = np.nan_to_num(rates, nan=0.0)
    if how == "none":
        return rates, known
    if how == "sum":
        return rates.sum(), known.sum()
    axis = 0 if how.endswith("batch") else 1
    number = known.sum(axis=axis)
    total = rates.sum(axis=axis)
    if how.startswith("sum"):
        return total, number
    mean = total / np.maximum(number, 1)
    if how != "mean":
        return mean, number
    # The mean over samples is of those samples alone that have a rate.
    samples = (number > 0).sum().astype(float)
    return mean.sum() / np.maximum(samples, 1), samples
