"""Old import paths of the original (``mindspore.common.*``): names that live elsewhere."""

from mindjax.common import dtype as dtype
from mindjax.common import initializer as initializer
from mindjax.common import parameter as parameter
from mindjax.common import sparse_tensor as sparse_tensor
from mindjax.common.seed import get_rng_state as get_rng_state
from mindjax.common.seed import get_seed as get_seed
from mindjax.common.seed import initial_seed as initial_seed
from mindjax.common.seed import manual_seed as manual_seed
from mindjax.common.seed import seed as seed
from mindjax.common.seed import set_rng_state as set_rng_state
from mindjax.common.seed import set_seed as set_seed
from mindjax.dtype import *  # noqa: F403
from mindjax.graph import jit as jit
from mindjax.graph import jit_class as jit_class
from mindjax.tensor import Parameter as Parameter
from mindjax.tensor import ParameterTuple as ParameterTuple
from mindjax.tensor import Tensor as Tensor
from mindjax.tensor import tensor as tensor
from mindjax.tensor.sparse import COOTensor as COOTensor
from mindjax.tensor.sparse import CSRTensor as CSRTensor
from mindjax.tensor.sparse import RowTensor as RowTensor
from mindjax.tensor.sparse import RowTensorInner as RowTensorInner
from mindjax.tensor.sparse import SparseTensor as SparseTensor
