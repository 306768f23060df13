"""Sparse tensors put together of their parts, and taken apart."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.ops.scatter import tensor_scatter_add
from mindjax.ops.sequence import concat
from mindjax.ops.shape import reshape
from mindjax.ops.sparse.formats import (
    COOTensor,
    CSRTensor,
    RowTensor,
    RowTensorInner,
    SparseParts,
    SparseTensor,
)


def make_coo_tensor(indices: Any, values: Any, dense_shape: Any) -> COOTensor:
    """Make a sparse tensor by coordinates (MindSpore: ``ops.make_coo_tensor``).

    Args:
        indices: integer Tensor, where the values stand.
        values: Tensor.
        dense_shape: sizes of the whole, a tuple of ints.

    Returns:
        The sparse tensor.

    Raises:
        TypeError: a part is of another type.
        ValueError: the shapes do not fit.
    """
    return COOTensor(indices, values, dense_shape)


def make_sparse_tensor(indices: Any, values: Any, dense_shape: Any) -> COOTensor:
    """Make a sparse tensor by coordinates (MindSpore: ``ops.make_sparse_tensor``).

    Args:
        indices: integer Tensor, where the values stand.
        values: Tensor.
        dense_shape: sizes of the whole, a tuple of ints.

    Returns:
        The sparse tensor.

    Raises:
        TypeError: a part is of another type.
        ValueError: the shapes do not fit.
    """
    return make_coo_tensor(indices, values, dense_shape)


def make_csr_tensor(indptr: Any, indices: Any, values: Any, dense_shape: Any) -> CSRTensor:
    """Make a sparse tensor by row pointers (MindSpore: ``ops.make_csr_tensor``).

    Args:
        indptr: integer vector, where the values of each row begin and end.
        indices: integer Tensor, where the values stand.
        values: Tensor.
        dense_shape: sizes of the whole, a tuple of ints.

    Returns:
        The sparse tensor.

    Raises:
        TypeError: a part is of another type.
        ValueError: the shapes do not fit.
    """
    return CSRTensor(indptr, indices, values, dense_shape)


def make_row_tensor_inner(indices: Any, values: Any, dense_shape: Any) -> RowTensorInner:
    """Make a tensor of some rows (MindSpore: ``ops.make_row_tensor_inner``).

    Args:
        indices: integer Tensor, where the values stand.
        values: Tensor.
        dense_shape: sizes of the whole, a tuple of ints.

    Returns:
        The sparse tensor.

    Raises:
        TypeError: a part is of another type.
    """
    return RowTensorInner(indices, values, dense_shape)


def make_row_tensor(indices: Any, values: Any, dense_shape: Any) -> RowTensor:
    """Make a tensor of some rows (MindSpore: ``ops.make_row_tensor``).

    Args:
        indices: integer Tensor, where the values stand.
        values: Tensor.
        dense_shape: sizes of the whole, a tuple of ints.

    Returns:
        The sparse tensor.

    Raises:
        TypeError: a part is of another type.
    """
    return RowTensor(indices, values, dense_shape)


def _part(op: str, kinds: tuple[type[SparseParts], ...], x: Any, name: str) -> Any:
    if not isinstance(x, kinds):
        raise located(
            TypeError, f"For '{op}', input[0] should be {kinds[0].__name__}, but got {type(x)}."
        )
    return getattr(x, name)


_COO = (COOTensor, SparseTensor)
_CSR = (CSRTensor,)
_ROW = (RowTensorInner,)


def coo_tensor_get_values(x: COOTensor) -> Any:
    """Give the values of a sparse tensor (MindSpore: ``ops.coo_tensor_get_values``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("COOTensorGetValues", _COO, x, "values")


def coo_tensor_get_indices(x: COOTensor) -> Any:
    """Give the coordinates of a sparse tensor (MindSpore: ``ops.coo_tensor_get_indices``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("COOTensorGetIndices", _COO, x, "indices")


def coo_tensor_get_dense_shape(x: COOTensor) -> tuple[int, ...]:
    """Give the shape of a sparse tensor (MindSpore: ``ops.coo_tensor_get_dense_shape``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("COOTensorGetDenseShape", _COO, x, "shape")


def csr_tensor_get_values(x: CSRTensor) -> Any:
    """Give the values of a sparse tensor (MindSpore: ``ops.csr_tensor_get_values``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("CSRTensorGetValues", _CSR, x, "values")


def csr_tensor_get_indices(x: CSRTensor) -> Any:
    """Give the columns of a sparse tensor (MindSpore: ``ops.csr_tensor_get_indices``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("CSRTensorGetIndices", _CSR, x, "indices")


def csr_tensor_get_indptr(x: CSRTensor) -> Any:
    """Give the row pointers of a sparse tensor (MindSpore: ``ops.csr_tensor_get_indptr``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("CSRTensorGetIndptr", _CSR, x, "indptr")


def csr_tensor_get_dense_shape(x: CSRTensor) -> tuple[int, ...]:
    """Give the shape of a sparse tensor (MindSpore: ``ops.csr_tensor_get_dense_shape``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("CSRTensorGetDenseShape", _CSR, x, "shape")


def row_tensor_get_values(x: RowTensorInner) -> Any:
    """Give the slices of a tensor of rows (MindSpore: ``ops.row_tensor_get_values``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("RowTensorGetValues", _ROW, x, "values")


def row_tensor_get_indices(x: RowTensorInner) -> Any:
    """Give the row numbers of a tensor of rows (MindSpore: ``ops.row_tensor_get_indices``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("RowTensorGetIndices", _ROW, x, "indices")


def row_tensor_get_dense_shape(x: RowTensorInner) -> tuple[int, ...]:
    """Give the shape of a tensor of rows (MindSpore: ``ops.row_tensor_get_dense_shape``).

    Args:
        x: the sparse tensor.

    Returns:
        The part.

    Raises:
        TypeError: it is something else.
    """
    return _part("RowTensorGetDenseShape", _ROW, x, "dense_shape")


def row_tensor_add(x: RowTensorInner, y: Any) -> Any:
    """Add something to a tensor of some rows (MindSpore: ``ops.row_tensor_add``).

    Args:
        x: tensor of rows.
        y: Tensor of the same shape, or another tensor of rows.

    Returns:
        A Tensor for a Tensor; else a tensor of the rows of both, of which equal ones add up.

    Raises:
        TypeError: an input is something else.
        ValueError: the shapes differ.
    """
    indices, values, shape = _part("RowTensorAdd", _ROW, x, "to_tuple")()
    other = y.dense_shape if isinstance(y, RowTensorInner) else getattr(y, "shape", None)
    if other != shape:
        raise located(
            ValueError,
            f"For 'RowTensorAdd', the shapes must be equal, but got {shape} and {other}.",
        )
    if isinstance(y, RowTensorInner):
        return type(x)(concat((indices, y.indices)), concat((values, y.values)), shape)
    if not isinstance(y, Handle):
        raise located(TypeError, f"For 'RowTensorAdd', input[1] should be Tensor, but got {y!r}.")
    total: Any = y
    return tensor_scatter_add(total, reshape(indices, (-1, 1)), values)
