"""Tensor and Parameter: handles with MindSpore's methods."""

from mindjax.tensor.parameter import Parameter as Parameter
from mindjax.tensor.parameter import ParameterTuple as ParameterTuple
from mindjax.tensor.tensor import Tensor as Tensor
from mindjax.tensor.tensor import tensor as tensor
