"""Sparse tensors by row pointers: products, sums, softmax, and their other forms."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.cast import cast, cast_like
from mindjax.ops.gather import gather, gather_nd
from mindjax.ops.indexed.segments import segment_extreme, segment_sum
from mindjax.ops.masking import need_values
from mindjax.ops.products import matmul
from mindjax.ops.scatter import unsorted_segment_sum
from mindjax.ops.sequence import concat, stack
from mindjax.ops.shape import broadcast_to, reshape, shape_of, transpose
from mindjax.ops.sorting import argsort
from mindjax.ops.sparse.coordinates import (
    coo_to_dense,
    dense_to_sparse_coo,
    merged,
    sparse_product,
)
from mindjax.ops.sparse.formats import COOTensor, CSRTensor
from mindjax.ops.special import conj

if TYPE_CHECKING:
    from mindjax.core.dtype import Number
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _check_csr(op: str, *tensors: Any) -> None:
    for tensor in tensors:
        if not isinstance(tensor, CSRTensor):
            raise located(
                TypeError, f"For '{op}', a CSRTensor is expected, but got {type(tensor).__name__}."
            )


def _check_matrix(op: str, tensor: Any) -> None:
    if tensor.ndim != 2:
        raise located(
            ValueError, f"For '{op}', only 2-D sparse tensors are taken, but got {tensor.shape}."
        )


class CSR2COO(BoundPrimitive):
    """The row of each value, from row pointers; call: ``CSR2COO()(indptr, nnz)``."""

    statics: ClassVar[tuple[str, ...]] = ("nnz",)
    nnz: int = field(default=0, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the number of values."""
        return {"nnz": checks.non_negative_int("nnz", statics["nnz"], self.name)}

    def compute(self, indptr: Array) -> Array:
        """Count how many rows begin before each value."""
        return rows_of(indptr, self.nnz)


def rows_of(indptr: Array, count: int) -> Array:
    """Give the row of each of ``count`` values."""
    places = jnp.arange(count, dtype=indptr.dtype)
    return jnp.searchsorted(indptr[1:], places, side="right").astype(indptr.dtype)


class COO2CSR(BoundPrimitive):
    """Row pointers, from the rising rows of values; call: ``COO2CSR()(row_indices, height)``."""

    statics: ClassVar[tuple[str, ...]] = ("height",)
    height: int = field(default=0, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the number of rows."""
        return {"height": checks.non_negative_int("height", statics["height"], self.name)}

    def compute(self, rows: Array) -> Array:
        """Find where each row begins."""
        wanted = jnp.arange(self.height + 1, dtype=rows.dtype)
        return jnp.searchsorted(rows, wanted, side="left").astype(rows.dtype)


class CSRGather(Primitive):
    """The elements of a dense tensor where a sparse one has values.

    Call: ``CSRGather()(indptr, indices, dense, sparse_shape)``.
    """

    def __call__(self, *inputs: Any) -> Any:
        """Broadcast the dense tensor and take the elements."""
        indptr, indices, dense, shape = inputs
        shape = checks.sizes("sparse_shape", shape, self.name)
        return super().__call__(indptr, indices, broadcast_to(dense, shape))

    def compute(self, indptr: Array, indices: Array, dense: Array) -> Array:
        """Take the elements."""
        return dense.at[rows_of(indptr, indices.shape[0]), indices].get(mode="fill")


csr2coo = CSR2COO()
coo2csr = COO2CSR()
csr_gather = CSRGather()


def csr_to_coo(tensor: CSRTensor) -> COOTensor:
    """Give a sparse matrix by coordinates (MindSpore: ``ops.csr_to_coo``).

    Args:
        tensor: sparse tensor of two axes.

    Returns:
        Sparse tensor.

    Raises:
        TypeError: the input is no CSRTensor.
        ValueError: it has not two axes.
    """
    _check_csr("csr_to_coo", tensor)
    _check_matrix("csr_to_coo", tensor)
    rows = csr2coo(tensor.indptr, shape_of(tensor.indices)[0])
    columns = cast_like(tensor.indices, rows)
    return COOTensor(stack((rows, columns), 1), tensor.values, tensor.shape)


def csr_to_dense(csr_tensor: CSRTensor) -> Tensor:
    """Give the whole of a sparse matrix (MindSpore: ``ops.csr_to_dense``).

    Args:
        csr_tensor: sparse tensor of two axes.

    Returns:
        Tensor.

    Raises:
        TypeError: the input is no CSRTensor.
        ValueError: it has not two axes.
    """
    _check_csr("csr_to_dense", csr_tensor)
    _check_matrix("csr_to_dense", csr_tensor)
    return coo_to_dense(csr_to_coo(csr_tensor))


def coo_to_csr(x: COOTensor) -> CSRTensor:
    """Give a sparse matrix by row pointers; values of a row keep their order."""
    order = argsort(x.indices[:, 0])
    indices, values = gather(x.indices, order, 0), gather(x.values, order, 0)
    return CSRTensor(coo2csr(indices[:, 0], x.shape[0]), indices[:, 1], values, x.shape)


def dense_to_sparse_csr(tensor: Tensor) -> CSRTensor:
    """Keep the elements of a matrix that are not zero (MindSpore: ``ops.dense_to_sparse_csr``).

    Args:
        tensor: Tensor of two axes.

    Returns:
        Sparse tensor with Int32 places. Errors are those of ``ops.dense_to_sparse_coo``.
    """
    return coo_to_csr(dense_to_sparse_coo(tensor))


class CSRMM(Primitive):
    """A sparse matrix by row pointers times a dense matrix or vector.

    Call: ``CSRMM()(indptr, indices, values, dense_shape, dense)``.

    Fields: the shape of the sparse matrix, and whether it is transposed before.
    """

    promotes: ClassVar[tuple[int, ...]] = (2, 3)
    dense_shape: tuple[int, ...] = field(default=(), kw_only=True)
    transposed: bool = field(default=False, kw_only=True)

    def __call__(self, *inputs: Any) -> Any:
        """Multiply."""
        if len(inputs) == 4:
            return super().__call__(*inputs)
        indptr, indices, values, shape, dense = inputs
        bound = type(self)(dense_shape=checks.sizes("dense_shape", shape, self.name))
        return Primitive.__call__(bound, indptr, indices, values, dense)

    def compute(self, indptr: Array, indices: Array, values: Array, dense: Array) -> Array:
        """Multiply."""
        rows, columns = rows_of(indptr, indices.shape[0]), indices
        height, width = self.dense_shape
        if self.transposed:
            rows, columns, height, width = columns, rows, width, height
        if dense.ndim not in (1, 2) or dense.shape[0] != width:
            raise located(
                ValueError,
                f"For '{self.name}', the dense tensor must have {width} rows, but got shape "
                f"{dense.shape}.",
            )
        return sparse_product(self.name, values, (rows, columns), height, dense)


class CSRMV(CSRMM):
    """A sparse matrix by row pointers times a vector; call as `CSRMM`."""


def csr_mv(csr_tensor: CSRTensor, dense: Tensor) -> Tensor:
    """Multiply a sparse matrix by a vector (MindSpore: ``ops.csr_mv``).

    Args:
        csr_tensor: sparse tensor of shape (m, n).
        dense: Tensor of shape (n, 1) or (n,).

    Returns:
        Tensor of shape (m, 1) or (m,).

    Raises:
        TypeError: the first input is no CSRTensor.
        ValueError: the shapes do not fit.
    """
    _check_csr("csr_mv", csr_tensor)
    _check_matrix("csr_mv", csr_tensor)
    indptr, indices, values, shape = csr_tensor
    return CSRMV()(indptr, indices, values, shape, dense)


class _ProductPlaces(Primitive, register=False):
    """The places at which the product of two sparse matrices may differ from zero."""

    concrete: ClassVar[bool] = True
    shape: tuple[int, int, int]

    def compute(self, *places: Array) -> Array:
        """Multiply the patterns on the host."""
        need_values("csr_mm", "multiply by a dense matrix", *places)
        height, middle, width = self.shape
        patterns = []
        for (rows, columns), size in zip(
            (places[:2], places[2:]), ((height, middle), (middle, width)), strict=True
        ):
            pattern = np.zeros(size, np.float32)
            pattern[np.asarray(rows), np.asarray(columns)] = 1
            patterns.append(pattern)
        found = np.argwhere(patterns[0] @ patterns[1])
        return jnp.asarray(found.astype(places[0].dtype))


def csr_mm(
    a: CSRTensor,
    b: CSRTensor,
    trans_a: bool = False,
    trans_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Any:
    """Multiply a sparse matrix by a matrix (MindSpore: ``ops.csr_mm``).

    Args:
        a: sparse tensor of two axes.
        b: sparse tensor, or Tensor of two axes.
        trans_a: whether ``a`` is transposed before.
        trans_b: whether ``b`` is transposed before.
        adjoint_a: whether ``a`` is transposed and conjugated before.
        adjoint_b: whether ``b`` is transposed and conjugated before.

    Returns:
        Tensor for a Tensor, else a sparse tensor with the places where the product may differ
        from zero.

    Raises:
        TypeError: ``a`` is no CSRTensor.
        ValueError: the shapes do not fit.
        RuntimeError: ``b`` is sparse and a compiled program asks, which cannot know the number of
            places.
    """
    _check_csr("csr_mm", a)
    _check_matrix("csr_mm", a)
    indptr, indices, values, shape = a
    values = conj(values) if adjoint_a else values
    turned = trans_a or adjoint_a
    if isinstance(b, Handle):
        if len(shape_of(b)) != 2:
            raise located(ValueError, f"For 'csr_mm', 'b' must have 2 axes, but got {shape_of(b)}.")
        dense: Any = b
        dense = transpose(dense, (1, 0)) if trans_b or adjoint_b else dense
        dense = conj(dense) if adjoint_b else dense
        record = CSRMM(dense_shape=shape, transposed=turned)
        return record(indptr, indices, values, dense)
    _check_csr("csr_mm", b)
    _check_matrix("csr_mm", b)
    left, right = _matrix(a, turned, adjoint_a), _matrix(b, trans_b or adjoint_b, adjoint_b)
    if left.shape[1] != right.shape[0]:
        raise located(
            ValueError,
            f"For 'csr_mm', the matrices of shapes {left.shape} and {right.shape} cannot be "
            "multiplied.",
        )
    sizes = (left.shape[0], left.shape[1], right.shape[1])
    places = _ProductPlaces(sizes)(
        left.indices[:, 0], left.indices[:, 1], right.indices[:, 0], right.indices[:, 1]
    )
    product = matmul(coo_to_dense(left), coo_to_dense(right))
    found = COOTensor(places, gather_nd(product, places), (sizes[0], sizes[2]))
    return coo_to_csr(found)


def _matrix(x: CSRTensor, turned: bool, conjugated: bool) -> COOTensor:
    """Give a sparse matrix by coordinates, transposed and conjugated where that is asked for."""
    coo = csr_to_coo(x)
    if not turned:
        return coo
    indices = stack((coo.indices[:, 1], coo.indices[:, 0]), 1)
    values = conj(coo.values) if conjugated else coo.values
    return COOTensor(indices, values, (x.shape[1], x.shape[0]))


def _spread(op: str, x: CSRTensor, y: Any) -> Any:
    """Give what a number or Tensor has where a sparse tensor has values."""
    _check_csr(op, x)
    if not shape_of(y):
        return y
    if len(shape_of(y)) > x.ndim:
        raise located(
            ValueError,
            f"For '{op}', dense tensor cannot broadcast to the sparse tensor: {shape_of(y)} to "
            f"{x.shape}.",
        )
    return csr_gather(x.indptr, x.indices, y, x.shape)


def csr_mul(x: CSRTensor, y: Tensor) -> CSRTensor:
    """Multiply a sparse tensor by a dense one, element by element (MindSpore: ``ops.csr_mul``).

    Args:
        x: sparse tensor.
        y: number, or Tensor that broadcasts to ``x``.

    Returns:
        Sparse tensor with the places of ``x``.

    Raises:
        TypeError: ``x`` is no CSRTensor.
        ValueError: ``y`` does not broadcast.
    """
    other = _spread("csr_mul", x, y)
    return x.with_values(x.values * other)


def csr_div(x: CSRTensor, y: Tensor) -> Tensor:
    """Divide the values of a sparse tensor by a dense one (MindSpore: ``ops.csr_div``).

    Args:
        x: sparse tensor.
        y: number, or Tensor that broadcasts to ``x``.

    Returns:
        Tensor of the values; ``x / y`` gives a sparse tensor. Errors are those of ``ops.csr_mul``.
    """
    other = _spread("csr_div", x, y)
    return x.values / other


def csr_add(a: CSRTensor, b: CSRTensor, alpha: Tensor, beta: Tensor) -> CSRTensor:
    """Give ``alpha * a + beta * b`` (MindSpore: ``ops.csr_add``).

    Args:
        a: sparse tensor of two axes.
        b: sparse tensor of the same shape.
        alpha: number or 0-d Tensor.
        beta: number or 0-d Tensor.

    Returns:
        Sparse tensor with the places of both.

    Raises:
        TypeError: an input is no CSRTensor.
        ValueError: the shapes differ, or there are not two axes.
        RuntimeError: a compiled program asks, which cannot know the number of places.
    """
    _check_csr("csr_add", a, b)
    checks.same_shape("csr_add", a=a.shape, b=b.shape)
    left, right = csr_to_coo(a), csr_to_coo(b)
    indices = concat((left.indices, right.indices))
    values = concat((left.values * alpha, right.values * beta))
    found, total = merged("csr_add", indices, values)
    return coo_to_csr(COOTensor(found, total, a.shape))


def csr_reduce_sum(csr_tensor: CSRTensor, axis: int) -> Tensor:
    """Sum the columns of each row of a sparse tensor (MindSpore: ``ops.csr_reduce_sum``).

    Args:
        csr_tensor: sparse tensor.
        axis: the axis of the columns: 1, or 1 - rank.

    Returns:
        Tensor of ``csr_tensor``'s shape, with size 1 on the axis.

    Raises:
        TypeError: the first input is no CSRTensor.
        ValueError: it is another axis.
    """
    _check_csr("csr_reduce_sum", csr_tensor)
    shape = csr_tensor.shape
    if axis not in (1, 1 - len(shape)):
        raise located(
            ValueError,
            f"For CSRReduceSum, `axis` should be 1 or 1-dim. But got `axis`: {axis} and `1- dim`: "
            f"{1 - len(shape)}.",
        )
    rows = csr2coo(csr_tensor.indptr, shape_of(csr_tensor.indices)[0])
    total = unsorted_segment_sum(csr_tensor.values, rows, shape[0])
    return reshape(total, (shape[0], 1, *shape[2:]))


class SparseMatrixSoftmax(Primitive):
    """Softmax over the stored values of each row; call with row pointers and values."""

    def compute(self, indptr: Array, values: Array) -> Array:
        """Subtract the largest, and divide by the sum of the powers."""
        checks.floating("logits", values.dtype, self.name)
        rows, count = rows_of(indptr, values.shape[0]), indptr.shape[0] - 1
        largest = jax.lax.stop_gradient(segment_extreme(values, rows, count, "max"))
        powers = jnp.exp(values - largest.at[rows].get(mode="clip"))
        return powers / segment_sum(powers, rows, count).at[rows].get(mode="clip")


def csr_softmax(logits: CSRTensor, dtype: Number) -> CSRTensor:
    """Take the softmax over the stored values of each row (MindSpore: ``ops.csr_softmax``).

    Args:
        logits: sparse tensor of two axes.
        dtype: element type of the result.

    Returns:
        Sparse tensor with the places of ``logits``.

    Raises:
        TypeError: the input is no CSRTensor, or no float.
        ValueError: it has not two axes.
    """
    _check_csr("csr_softmax", logits)
    _check_matrix("csr_softmax", logits)
    return logits.with_values(SparseMatrixSoftmax()(logits.indptr, cast(logits.values, dtype)))
