"""Cells of parallel training (``mindspore.parallel.nn``)."""

from mindjax.nn.training.accumulation import GradAccumulationCell as GradAccumulation
from mindjax.nn.training.accumulation import MicroBatchInterleaved as MicroBatchInterleaved
from mindjax.nn.training.accumulation import PipelineCell as Pipeline
from mindjax.nn.training.accumulation import PipelineCell as PipelineCell
from mindjax.nn.training.reducer import PipelineGradReducer as PipelineGradReducer

__all__ = [
    "GradAccumulation",
    "MicroBatchInterleaved",
    "Pipeline",
    "PipelineCell",
    "PipelineGradReducer",
]
