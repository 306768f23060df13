"""Cells around networks: loss, gradients, training steps."""

from mindjax.nn.wrap.cell_wrapper import ForwardValueAndGrad as ForwardValueAndGrad
from mindjax.nn.wrap.cell_wrapper import TrainOneStepCell as TrainOneStepCell
from mindjax.nn.wrap.cell_wrapper import WithEvalCell as WithEvalCell
from mindjax.nn.wrap.cell_wrapper import WithGradCell as WithGradCell
from mindjax.nn.wrap.cell_wrapper import WithLossCell as WithLossCell
