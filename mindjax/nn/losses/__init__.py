"""Losses that are loaded when first asked for, an explicit list."""

from mindjax.nn.losses.classes import FocalLoss as FocalLoss
from mindjax.nn.losses.classes import MultiClassDiceLoss as MultiClassDiceLoss
from mindjax.nn.losses.classes import SampledSoftmaxLoss as SampledSoftmaxLoss
from mindjax.nn.losses.distances import L1LossExt as L1LossExt
from mindjax.nn.losses.distances import (
    TripletMarginWithDistanceLoss as TripletMarginWithDistanceLoss,
)
