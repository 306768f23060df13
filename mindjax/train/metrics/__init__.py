"""Metrics that ``Model.eval`` and ``Model.fit`` compute, in numpy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax.core.errors import located
from mindjax.train.metrics.accuracy import Accuracy as Accuracy
from mindjax.train.metrics.accuracy import Top1CategoricalAccuracy as Top1CategoricalAccuracy
from mindjax.train.metrics.accuracy import Top5CategoricalAccuracy as Top5CategoricalAccuracy
from mindjax.train.metrics.accuracy import TopKCategoricalAccuracy as TopKCategoricalAccuracy
from mindjax.train.metrics.bleu import BleuScore as BleuScore
from mindjax.train.metrics.class_rates import F1 as F1
from mindjax.train.metrics.class_rates import Fbeta as Fbeta
from mindjax.train.metrics.class_rates import Precision as Precision
from mindjax.train.metrics.class_rates import Recall as Recall
from mindjax.train.metrics.confusion import ConfusionMatrix as ConfusionMatrix
from mindjax.train.metrics.confusion import ConfusionMatrixMetric as ConfusionMatrixMetric
from mindjax.train.metrics.curves import ROC as ROC
from mindjax.train.metrics.curves import auc as auc
from mindjax.train.metrics.error import MAE as MAE
from mindjax.train.metrics.error import MSE as MSE
from mindjax.train.metrics.error import Loss as Loss
from mindjax.train.metrics.metric import Metric as Metric
from mindjax.train.metrics.metric import rearrange_inputs as rearrange_inputs
from mindjax.train.metrics.occlusion import OcclusionSensitivity as OcclusionSensitivity
from mindjax.train.metrics.perplexity import Perplexity as Perplexity
from mindjax.train.metrics.similarity import CosineSimilarity as CosineSimilarity
from mindjax.train.metrics.similarity import Dice as Dice
from mindjax.train.metrics.surface import HausdorffDistance as HausdorffDistance
from mindjax.train.metrics.surface import MeanSurfaceDistance as MeanSurfaceDistance
from mindjax.train.metrics.surface import RootMeanSquareDistance as RootMeanSquareDistance

_BY_NAME: dict[str, Callable[..., Any]] = {
    "F1": F1,
    "acc": Accuracy,
    "accuracy": Accuracy,
    "auc": auc,
    "bleu_score": BleuScore,
    "confusion_matrix": ConfusionMatrix,
    "confusion_matrix_metric": ConfusionMatrixMetric,
    "cosine_similarity": CosineSimilarity,
    "dice": Dice,
    "hausdorff_distance": HausdorffDistance,
    "loss": Loss,
    "mae": MAE,
    "mean_surface_distance": MeanSurfaceDistance,
    "mse": MSE,
    "occlusion_sensitivity": OcclusionSensitivity,
    "perplexity": Perplexity,
    "precision": Precision,
    "recall": Recall,
    "roc": ROC,
    "root_mean_square_distance": RootMeanSquareDistance,
    "top_1_accuracy": Top1CategoricalAccuracy,
    "top_5_accuracy": Top5CategoricalAccuracy,
    "topk": TopKCategoricalAccuracy,
}


def names() -> list[str]:
    """List the names that ``get_metric_fn`` knows (MindSpore: ``mindspore.train.names``)."""
    return sorted(_BY_NAME)


def get_metric_fn(name: str, *args: Any, **kwargs: Any) -> Any:
    """Make the metric of a name.

    Args:
        name: one of :func:`names`.
        *args: arguments of the metric's class.
        **kwargs: keyword arguments of the metric's class.

    Returns:
        The metric; for ``"auc"``, which is a function, the area.

    Raises:
        KeyError: the name is unknown.

    MindSpore: ``mindspore.train.get_metric_fn``.
    """
    found = _BY_NAME.get(name) if isinstance(name, str) else None
    if found is None:
        raise located(
            KeyError,
            f"For 'get_metric_fn', unsupported metric {name}, please choose one of {names()}.",
        )
    return found(*args, **kwargs)


def get_metrics(metrics: Any) -> dict[str, Metric] | None:
    """Bring ``Model``'s argument ``metrics`` to names and metrics.

    Args:
        metrics: None, a set of names, or a dict of names and metrics.

    Returns:
        Names and metrics; None for None.

    Raises:
        TypeError: ``metrics`` is something else.
        KeyError: a name is unknown.
    """
    if metrics is None:
        return None
    if isinstance(metrics, set):
        return {name: get_metric_fn(name) for name in metrics}
    if not isinstance(metrics, dict):
        raise located(
            TypeError,
            "For 'get_metrics', the argument 'metrics' must be None, dict or set, but got "
            f"{metrics}",
        )
    for name, metric in metrics.items():
        if not isinstance(name, str) or not isinstance(metric, Metric):
            raise located(
                TypeError,
                "For 'get_metrics', if 'metrics' is dict, the key in 'metrics' must be string and "
                f"value in 'metrics' must be Metric, but got key:{type(name)}, "
                f"value:{type(metric)}.",
            )
    return metrics
