"""Losses as Cells."""

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
