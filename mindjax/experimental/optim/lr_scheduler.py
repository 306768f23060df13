"""Schedulers: objects whose ``step`` writes the learning rates of an optimizer's groups."""

from mindjax.experimental.optim.schedules.base import LRScheduler as LRScheduler
from mindjax.experimental.optim.schedules.cosine import CosineAnnealingLR as CosineAnnealingLR
from mindjax.experimental.optim.schedules.cosine import (
    CosineAnnealingWarmRestarts as CosineAnnealingWarmRestarts,
)
from mindjax.experimental.optim.schedules.cyclic import CyclicLR as CyclicLR
from mindjax.experimental.optim.schedules.factors import ConstantLR as ConstantLR
from mindjax.experimental.optim.schedules.factors import ExponentialLR as ExponentialLR
from mindjax.experimental.optim.schedules.factors import LambdaLR as LambdaLR
from mindjax.experimental.optim.schedules.factors import LinearLR as LinearLR
from mindjax.experimental.optim.schedules.factors import MultiplicativeLR as MultiplicativeLR
from mindjax.experimental.optim.schedules.factors import MultiStepLR as MultiStepLR
from mindjax.experimental.optim.schedules.factors import PolynomialLR as PolynomialLR
from mindjax.experimental.optim.schedules.factors import StepLR as StepLR
from mindjax.experimental.optim.schedules.watching import ReduceLROnPlateau as ReduceLROnPlateau
from mindjax.experimental.optim.schedules.watching import SequentialLR as SequentialLR

__all__ = [
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
