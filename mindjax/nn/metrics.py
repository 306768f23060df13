"""The metrics at their old import path; they live in `mindjax.train.metrics`, a higher layer."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindjax.train.metrics import F1 as F1
    from mindjax.train.metrics import MAE as MAE
    from mindjax.train.metrics import MSE as MSE
    from mindjax.train.metrics import ROC as ROC
    from mindjax.train.metrics import Accuracy as Accuracy
    from mindjax.train.metrics import BleuScore as BleuScore
    from mindjax.train.metrics import ConfusionMatrix as ConfusionMatrix
    from mindjax.train.metrics import ConfusionMatrixMetric as ConfusionMatrixMetric
    from mindjax.train.metrics import CosineSimilarity as CosineSimilarity
    from mindjax.train.metrics import Dice as Dice
    from mindjax.train.metrics import Fbeta as Fbeta
    from mindjax.train.metrics import HausdorffDistance as HausdorffDistance
    from mindjax.train.metrics import Loss as Loss
    from mindjax.train.metrics import MeanSurfaceDistance as MeanSurfaceDistance
    from mindjax.train.metrics import Metric as Metric
    from mindjax.train.metrics import OcclusionSensitivity as OcclusionSensitivity
    from mindjax.train.metrics import Perplexity as Perplexity
    from mindjax.train.metrics import Precision as Precision
    from mindjax.train.metrics import Recall as Recall
    from mindjax.train.metrics import RootMeanSquareDistance as RootMeanSquareDistance
    from mindjax.train.metrics import Top1CategoricalAccuracy as Top1CategoricalAccuracy
    from mindjax.train.metrics import Top5CategoricalAccuracy as Top5CategoricalAccuracy
    from mindjax.train.metrics import TopKCategoricalAccuracy as TopKCategoricalAccuracy
    from mindjax.train.metrics import auc as auc
    from mindjax.train.metrics import get_metric_fn as get_metric_fn
    from mindjax.train.metrics import get_metrics as get_metrics
    from mindjax.train.metrics import names as names
    from mindjax.train.metrics import rearrange_inputs as rearrange_inputs

__all__ = [
    "F1",
    "MAE",
    "MSE",
    "ROC",
    "Accuracy",
    "BleuScore",
    "ConfusionMatrix",
    "ConfusionMatrixMetric",
    "CosineSimilarity",
    "Dice",
    "Fbeta",
    "HausdorffDistance",
    "Loss",
    "MeanSurfaceDistance",
    "Metric",
    "OcclusionSensitivity",
    "Perplexity",
    "Precision",
    "Recall",
    "RootMeanSquareDistance",
    "Top1CategoricalAccuracy",
    "Top5CategoricalAccuracy",
    "TopKCategoricalAccuracy",
    "auc",
    "get_metric_fn",
    "get_metrics",
    "names",
    "rearrange_inputs",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module("mindjax.train.metrics"), name)
    raise AttributeError(f"module 'mindspore.nn.metrics' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
