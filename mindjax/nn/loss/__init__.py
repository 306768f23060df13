"""Losses as Cells."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mindjax.nn.layers import CTCLoss as CTCLoss
    from mindjax.nn.layers import MultilabelMarginLoss as MultilabelMarginLoss
    from mindjax.nn.losses import *  # noqa: F403

from mindjax.core.families import Families
from mindjax.nn.loss.loss import BCELoss as BCELoss
from mindjax.nn.loss.loss import BCEWithLogitsLoss as BCEWithLogitsLoss
from mindjax.nn.loss.loss import CrossEntropyLoss as CrossEntropyLoss
from mindjax.nn.loss.loss import DiceLoss as DiceLoss
from mindjax.nn.loss.loss import HuberLoss as HuberLoss
from mindjax.nn.loss.loss import KLDivLoss as KLDivLoss
from mindjax.nn.loss.loss import L1Loss as L1Loss
from mindjax.nn.loss.loss import LossBase as LossBase
from mindjax.nn.loss.loss import MAELoss as MAELoss
from mindjax.nn.loss.loss import MSELoss as MSELoss
from mindjax.nn.loss.loss import NLLLoss as NLLLoss
from mindjax.nn.loss.loss import RMSELoss as RMSELoss
from mindjax.nn.loss.loss import SmoothL1Loss as SmoothL1Loss
from mindjax.nn.loss.loss import SoftmaxCrossEntropyWithLogits as SoftmaxCrossEntropyWithLogits
from mindjax.nn.loss.margin import CosineEmbeddingLoss as CosineEmbeddingLoss
from mindjax.nn.loss.margin import GaussianNLLLoss as GaussianNLLLoss
from mindjax.nn.loss.margin import HingeEmbeddingLoss as HingeEmbeddingLoss
from mindjax.nn.loss.margin import MarginRankingLoss as MarginRankingLoss
from mindjax.nn.loss.margin import MultiLabelSoftMarginLoss as MultiLabelSoftMarginLoss
from mindjax.nn.loss.margin import MultiMarginLoss as MultiMarginLoss
from mindjax.nn.loss.margin import PoissonNLLLoss as PoissonNLLLoss
from mindjax.nn.loss.margin import SoftMarginLoss as SoftMarginLoss
from mindjax.nn.loss.margin import TripletMarginLoss as TripletMarginLoss

# The rest is loaded when it is first asked for.
families = Families("mindjax.nn", ("losses",))
_LAYERS = ("CTCLoss", "MultilabelMarginLoss")


def __getattr__(name: str) -> Any:
    if name in families.index():
        globals()[name] = families.load(name)
        return globals()[name]
    if name in _LAYERS:
        from mindjax.nn import layers

        return getattr(layers, name)
    raise AttributeError(f"module 'mindspore.nn.loss' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*globals(), *families.index(), *_LAYERS})
