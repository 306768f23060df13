"""Old import path: ``mindspore.common.tensor``."""

from mindjax.tensor import Tensor as Tensor
from mindjax.tensor import tensor as tensor

from_numpy = Tensor.from_numpy
