"""Cells of training that are loaded when first asked for, an explicit list."""

from mindjax.nn.training.accumulation import GradAccumulationCell as GradAccumulationCell
from mindjax.nn.training.accumulation import MicroBatchInterleaved as MicroBatchInterleaved
from mindjax.nn.training.accumulation import PipelineCell as PipelineCell
from mindjax.nn.training.loss_scale import DynamicLossScaleUpdateCell as DynamicLossScaleUpdateCell
from mindjax.nn.training.loss_scale import FixedLossScaleUpdateCell as FixedLossScaleUpdateCell
from mindjax.nn.training.loss_scale import (
    TrainOneStepWithLossScaleCell as TrainOneStepWithLossScaleCell,
)
from mindjax.nn.training.reducer import DistributedGradReducer as DistributedGradReducer
from mindjax.nn.training.reducer import PipelineGradReducer as PipelineGradReducer
from mindjax.nn.training.single import GetNextSingleOp as GetNextSingleOp
from mindjax.nn.training.single import ParameterUpdate as ParameterUpdate
from mindjax.nn.training.single import VirtualDatasetCellTriple as VirtualDatasetCellTriple
