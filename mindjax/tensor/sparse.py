"""Sparse tensors, as public classes (MindSpore: ``mindspore.COOTensor`` and others)."""

from mindjax.ops.sparse.formats import COOTensor as COOTensor
from mindjax.ops.sparse.formats import CSRTensor as CSRTensor
from mindjax.ops.sparse.formats import RowTensor as RowTensor
from mindjax.ops.sparse.formats import RowTensorInner as RowTensorInner
from mindjax.ops.sparse.formats import SparseTensor as SparseTensor
