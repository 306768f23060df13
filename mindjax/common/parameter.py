"""Old import path: ``mindspore.common.parameter``."""

from mindjax.tensor import Parameter as Parameter
from mindjax.tensor import ParameterTuple as ParameterTuple
