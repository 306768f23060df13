"""Cells of sparse tensors."""

from __future__ import annotations

from mindjax.nn.cell import Cell
from mindjax.ops import SparseTensorDenseMatmul as _Matmul
from mindjax.ops import SparseToDense as _Dense
from mindjax.tensor import Tensor
from mindjax.tensor.sparse import COOTensor

__all__ = ["SparseTensorDenseMatmul", "SparseToDense"]


class SparseToDense(Cell):
    """Give the whole of a sparse tensor (MindSpore: ``nn.SparseToDense``)."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, coo_tensor: COOTensor) -> Tensor:
        """Write the values into zeros.

        Args:
            coo_tensor: sparse tensor of two axes.

        Returns:
            Tensor; the last of equal coordinates wins.
        """
        return _Dense()(coo_tensor.indices, coo_tensor.values, coo_tensor.shape)


class SparseTensorDenseMatmul(Cell):
    """Multiply a sparse matrix by a dense one (MindSpore: ``nn.SparseTensorDenseMatmul``).

    Args:
        adjoint_st: whether the sparse matrix is transposed before.
        adjoint_dt: whether the dense matrix is transposed before.
    """

    def __init__(self, adjoint_st: bool = False, adjoint_dt: bool = False) -> None:
        super().__init__()
        self.adjoint_st, self.adjoint_dt = adjoint_st, adjoint_dt
        self.sparse_dense_matmul = _Matmul(adjoint_st=adjoint_st, adjoint_dt=adjoint_dt)

    def construct(
        self, indices: Tensor, values: Tensor, sparse_shape: tuple[int, ...], dense: Tensor
    ) -> Tensor:
        """Multiply.

        Args:
            indices: integer Tensor of shape (n, 2).
            values: Tensor of shape (n,).
            sparse_shape: two sizes.
            dense: Tensor of two axes.

        Returns:
            Tensor of two axes.
        """
        return self.sparse_dense_matmul(indices, values, sparse_shape, dense)
