"""Old import path: ``mindspore.common.sparse_tensor``."""

from mindjax.tensor.sparse import COOTensor as COOTensor
from mindjax.tensor.sparse import CSRTensor as CSRTensor
from mindjax.tensor.sparse import RowTensor as RowTensor
from mindjax.tensor.sparse import RowTensorInner as RowTensorInner
from mindjax.tensor.sparse import SparseTensor as SparseTensor
