"""Old import path: ``mindspore.common.initializer``, with what users' own initializers call."""

from typing import Any

import numpy as np

import mindjax.tensor.initializer as _source
from mindjax.tensor.initializer import Constant as Constant
from mindjax.tensor.initializer import Dirac as Dirac
from mindjax.tensor.initializer import HeNormal as HeNormal
from mindjax.tensor.initializer import HeUniform as HeUniform
from mindjax.tensor.initializer import Identity as Identity
from mindjax.tensor.initializer import Initializer as Initializer
from mindjax.tensor.initializer import Normal as Normal
from mindjax.tensor.initializer import One as One
from mindjax.tensor.initializer import Orthogonal as Orthogonal
from mindjax.tensor.initializer import Sparse as Sparse
from mindjax.tensor.initializer import TruncatedNormal as TruncatedNormal
from mindjax.tensor.initializer import Uniform as Uniform
from mindjax.tensor.initializer import VarianceScaling as VarianceScaling
from mindjax.tensor.initializer import XavierNormal as XavierNormal
from mindjax.tensor.initializer import XavierUniform as XavierUniform
from mindjax.tensor.initializer import Zero as Zero
from mindjax.tensor.initializer import initializer as initializer
from mindjax.tensor.tensor import Tensor as Tensor

_INITIALIZER_ALIAS = Initializer.aliases
_calculate_correct_fan = _source._fan
_calculate_fan_in_and_fan_out = _source._fans
_calculate_gain = _source._gain
_register = _source._named
_init_random_normal = _source._normal
_init_truncated_normal = _source._truncated_normal
_init_random_uniform = _source._uniform


def _calculate_in_and_out(arr: Any) -> tuple[int, int]:
    return _calculate_fan_in_and_fan_out(arr.shape)


def _assignment(arr: np.ndarray[Any, Any], num: Any) -> np.ndarray[Any, Any]:
    arr[...] = num
    return arr
