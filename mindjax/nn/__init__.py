"""Cells: networks, layers, losses, optimizers and training steps, an explicit list."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindjax.mindir import GraphCell as GraphCell
    from mindjax.nn import probability as probability
    from mindjax.nn.grad import *  # noqa: F403
    from mindjax.nn.layers import *  # noqa: F403
    from mindjax.nn.losses import *  # noqa: F403
    from mindjax.nn.metrics import F1 as F1
    from mindjax.nn.metrics import MAE as MAE
    from mindjax.nn.metrics import MSE as MSE
    from mindjax.nn.metrics import ROC as ROC
    from mindjax.nn.metrics import Accuracy as Accuracy
    from mindjax.nn.metrics import BleuScore as BleuScore
    from mindjax.nn.metrics import ConfusionMatrix as ConfusionMatrix
    from mindjax.nn.metrics import ConfusionMatrixMetric as ConfusionMatrixMetric
    from mindjax.nn.metrics import CosineSimilarity as CosineSimilarity
    from mindjax.nn.metrics import Dice as Dice
    from mindjax.nn.metrics import Fbeta as Fbeta
    from mindjax.nn.metrics import HausdorffDistance as HausdorffDistance
    from mindjax.nn.metrics import Loss as Loss
    from mindjax.nn.metrics import MeanSurfaceDistance as MeanSurfaceDistance
    from mindjax.nn.metrics import Metric as Metric
    from mindjax.nn.metrics import OcclusionSensitivity as OcclusionSensitivity
    from mindjax.nn.metrics import Perplexity as Perplexity
    from mindjax.nn.metrics import Precision as Precision
    from mindjax.nn.metrics import Recall as Recall
    from mindjax.nn.metrics import RootMeanSquareDistance as RootMeanSquareDistance
    from mindjax.nn.metrics import Top1CategoricalAccuracy as Top1CategoricalAccuracy
    from mindjax.nn.metrics import Top5CategoricalAccuracy as Top5CategoricalAccuracy
    from mindjax.nn.metrics import TopKCategoricalAccuracy as TopKCategoricalAccuracy
    from mindjax.nn.metrics import auc as auc
    from mindjax.nn.metrics import get_metric_fn as get_metric_fn
    from mindjax.nn.metrics import names as names
    from mindjax.nn.metrics import rearrange_inputs as rearrange_inputs
    from mindjax.nn.optim.rare import *  # noqa: F403
    from mindjax.nn.recurrent import *  # noqa: F403
    from mindjax.nn.second_order import *  # noqa: F403
    from mindjax.nn.training import *  # noqa: F403

from mindjax.core.families import Families
from mindjax.nn import metrics as metrics
from mindjax.nn.activation import CELU as CELU
from mindjax.nn.activation import ELU as ELU
from mindjax.nn.activation import GELU as GELU
from mindjax.nn.activation import GLU as GLU
from mindjax.nn.activation import LRN as LRN
from mindjax.nn.activation import FastGelu as FastGelu
from mindjax.nn.activation import Hardtanh as Hardtanh
from mindjax.nn.activation import HShrink as HShrink
from mindjax.nn.activation import HSigmoid as HSigmoid
from mindjax.nn.activation import HSwish as HSwish
from mindjax.nn.activation import LeakyReLU as LeakyReLU
from mindjax.nn.activation import LogSigmoid as LogSigmoid
from mindjax.nn.activation import LogSoftmax as LogSoftmax
from mindjax.nn.activation import Mish as Mish
from mindjax.nn.activation import PReLU as PReLU
from mindjax.nn.activation import ReLU as ReLU
from mindjax.nn.activation import ReLU6 as ReLU6
from mindjax.nn.activation import RReLU as RReLU
from mindjax.nn.activation import SeLU as SeLU
from mindjax.nn.activation import Sigmoid as Sigmoid
from mindjax.nn.activation import SiLU as SiLU
from mindjax.nn.activation import Softmax as Softmax
from mindjax.nn.activation import Softmax2d as Softmax2d
from mindjax.nn.activation import Softmin as Softmin
from mindjax.nn.activation import SoftShrink as SoftShrink
from mindjax.nn.activation import Softsign as Softsign
from mindjax.nn.activation import Tanh as Tanh
from mindjax.nn.activation import Tanhshrink as Tanhshrink
from mindjax.nn.activation import Threshold as Threshold
from mindjax.nn.activation import get_activation as get_activation
from mindjax.nn.attention import MultiheadAttention as MultiheadAttention
from mindjax.nn.attention import TransformerEncoder as TransformerEncoder
from mindjax.nn.attention import TransformerEncoderLayer as TransformerEncoderLayer
from mindjax.nn.cell import Cell as Cell
from mindjax.nn.containers import CellDict as CellDict
from mindjax.nn.containers import CellList as CellList
from mindjax.nn.containers import SequentialCell as SequentialCell
from mindjax.nn.conv import Conv1d as Conv1d
from mindjax.nn.conv import Conv2d as Conv2d
from mindjax.nn.conv import Conv2dTranspose as Conv2dTranspose
from mindjax.nn.conv import Conv3d as Conv3d
from mindjax.nn.dense import Dense as Dense
from mindjax.nn.dense import Linear as Linear
from mindjax.nn.dropout import Dropout as Dropout
from mindjax.nn.dropout import Dropout1d as Dropout1d
from mindjax.nn.dropout import Dropout2d as Dropout2d
from mindjax.nn.dropout import Dropout3d as Dropout3d
from mindjax.nn.embedding import Embedding as Embedding
from mindjax.nn.loss import BCELoss as BCELoss
from mindjax.nn.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from mindjax.nn.loss import CosineEmbeddingLoss as CosineEmbeddingLoss
from mindjax.nn.loss import CrossEntropyLoss as CrossEntropyLoss
from mindjax.nn.loss import DiceLoss as DiceLoss
from mindjax.nn.loss import GaussianNLLLoss as GaussianNLLLoss
from mindjax.nn.loss import HingeEmbeddingLoss as HingeEmbeddingLoss
from mindjax.nn.loss import HuberLoss as HuberLoss
from mindjax.nn.loss import KLDivLoss as KLDivLoss
from mindjax.nn.loss import L1Loss as L1Loss
from mindjax.nn.loss import LossBase as LossBase
from mindjax.nn.loss import MAELoss as MAELoss
from mindjax.nn.loss import MarginRankingLoss as MarginRankingLoss
from mindjax.nn.loss import MSELoss as MSELoss
from mindjax.nn.loss import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from mindjax.nn.loss import MultiMarginLoss as MultiMarginLoss
from mindjax.nn.loss import NLLLoss as NLLLoss
from mindjax.nn.loss import PoissonNLLLoss as PoissonNLLLoss
from mindjax.nn.loss import RMSELoss as RMSELoss
from mindjax.nn.loss import SmoothL1Loss as SmoothL1Loss
from mindjax.nn.loss import SoftMarginLoss as SoftMarginLoss
from mindjax.nn.loss import SoftmaxCrossEntropyWithLogits as SoftmaxCrossEntropyWithLogits
from mindjax.nn.loss import TripletMarginLoss as TripletMarginLoss
from mindjax.nn.normalization import BatchNorm1d as BatchNorm1d
from mindjax.nn.normalization import BatchNorm2d as BatchNorm2d
from mindjax.nn.normalization import BatchNorm3d as BatchNorm3d
from mindjax.nn.normalization import GroupNorm as GroupNorm
from mindjax.nn.normalization import LayerNorm as LayerNorm
from mindjax.nn.optim import SGD as SGD
from mindjax.nn.optim import Adagrad as Adagrad
from mindjax.nn.optim import Adam as Adam
from mindjax.nn.optim import AdamWeightDecay as AdamWeightDecay
from mindjax.nn.optim import Lamb as Lamb
from mindjax.nn.optim import Momentum as Momentum
from mindjax.nn.optim import Optimizer as Optimizer
from mindjax.nn.optim import RMSProp as RMSProp
from mindjax.nn.pooling import AdaptiveAvgPool1d as AdaptiveAvgPool1d
from mindjax.nn.pooling import AdaptiveAvgPool2d as AdaptiveAvgPool2d
from mindjax.nn.pooling import AdaptiveMaxPool1d as AdaptiveMaxPool1d
from mindjax.nn.pooling import AdaptiveMaxPool2d as AdaptiveMaxPool2d
from mindjax.nn.pooling import AvgPool1d as AvgPool1d
from mindjax.nn.pooling import AvgPool2d as AvgPool2d
from mindjax.nn.pooling import MaxPool1d as MaxPool1d
from mindjax.nn.pooling import MaxPool2d as MaxPool2d
from mindjax.nn.schedule import CosineDecayLR as CosineDecayLR
from mindjax.nn.schedule import ExponentialDecayLR as ExponentialDecayLR
from mindjax.nn.schedule import InverseDecayLR as InverseDecayLR
from mindjax.nn.schedule import NaturalExpDecayLR as NaturalExpDecayLR
from mindjax.nn.schedule import PolynomialDecayLR as PolynomialDecayLR
from mindjax.nn.schedule import WarmUpLR as WarmUpLR
from mindjax.nn.schedule import cosine_decay_lr as cosine_decay_lr
from mindjax.nn.schedule import exponential_decay_lr as exponential_decay_lr
from mindjax.nn.schedule import inverse_decay_lr as inverse_decay_lr
from mindjax.nn.schedule import natural_exp_decay_lr as natural_exp_decay_lr
from mindjax.nn.schedule import piecewise_constant_lr as piecewise_constant_lr
from mindjax.nn.schedule import polynomial_decay_lr as polynomial_decay_lr
from mindjax.nn.schedule import warmup_lr as warmup_lr
from mindjax.nn.shape import Flatten as Flatten
from mindjax.nn.shape import Identity as Identity
from mindjax.nn.shape import OneHot as OneHot
from mindjax.nn.wrap import ForwardValueAndGrad as ForwardValueAndGrad
from mindjax.nn.wrap import TrainOneStepCell as TrainOneStepCell
from mindjax.nn.wrap import WithEvalCell as WithEvalCell
from mindjax.nn.wrap import WithGradCell as WithGradCell
from mindjax.nn.wrap import WithLossCell as WithLossCell

_METRICS = metrics.__all__
families = Families(
    "mindjax.nn",
    ("layers", "recurrent", "grad", "training", "losses", "optim/rare", "second_order"),
)

# The documentation's examples of `mint.nn` call these as layers of `nn`.
_OF_MINT = {
    "Fold": "Fold",
    "SoftmaxExt": "Softmax",
    "UpsampleExt": "Upsample",
    "UpsamplingNearest2d": "UpsamplingNearest2d",
}


# Modules that the original shows from the start, and where they are here.
_MODULES = {
    "layer": "mindjax.nn.layer",
    "probability": "mindjax.nn.probability",
    "sparse": "mindjax.nn.layers.sparse",
    "utils": "mindjax.nn.initialization",
}


# Names that higher layers define.
_LATER = {"GraphCell": "mindjax.mindir"}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return import_module(_MODULES[name])
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    if name in _OF_MINT:
        return getattr(import_module("mindjax.mint.nn"), _OF_MINT[name])
    if name in _METRICS:
        return getattr(metrics, name)
    if name in families.index():
        globals()[name] = families.load(name)
        return globals()[name]
    raise AttributeError(f"module 'mindspore.nn' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *_METRICS, *_LATER, *families.index()})
