"""Faster training (MindSpore: ``mindspore.boost``): an explicit list."""

from mindjax.boost.adasum import AdaSum as AdaSum
from mindjax.boost.auto_boost import AutoBoost as AutoBoost
from mindjax.boost.base import OptimizerProcess as OptimizerProcess
from mindjax.boost.base import ParameterProcess as ParameterProcess
from mindjax.boost.dim_reduce import DimReduce as DimReduce
from mindjax.boost.grad_accumulation import GradientAccumulation as GradientAccumulation
from mindjax.boost.grad_freeze import FreezeOpt as FreezeOpt
from mindjax.boost.grad_freeze import GradientFreeze as GradientFreeze
from mindjax.boost.grad_freeze import freeze_cell as freeze_cell
from mindjax.boost.group_loss_scale import GroupLossScaleManager as GroupLossScaleManager
from mindjax.boost.less_bn import LessBN as LessBN
from mindjax.boost.train_step import BoostTrainOneStepCell as BoostTrainOneStepCell
from mindjax.boost.train_step import (
    BoostTrainOneStepWithLossScaleCell as BoostTrainOneStepWithLossScaleCell,
)

__all__ = [
    "AdaSum",
    "AutoBoost",
    "BoostTrainOneStepCell",
    "BoostTrainOneStepWithLossScaleCell",
    "DimReduce",
    "FreezeOpt",
    "GradientAccumulation",
    "GradientFreeze",
    "GroupLossScaleManager",
    "LessBN",
    "OptimizerProcess",
    "ParameterProcess",
    "freeze_cell",
]
