"""Sparse tensors by coordinates: sums, concatenation, products with dense matrices."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import int32
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import abs as absolute
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.cast import cast, cast_like
from mindjax.ops.comparison import greater_equal
from mindjax.ops.creation import zeros
from mindjax.ops.gather import (
    check_coordinates,
    check_range,
    coordinates,
    gather,
    gather_nd,
    index_array,
    known_values,
    take_axis,
)
from mindjax.ops.masking import need_values, nonzero
from mindjax.ops.scatter import scatter_rows, tensor_scatter_add, unsorted_segment_sum
from mindjax.ops.sequence import concat
from mindjax.ops.shape import reshape, shape_of, transpose
from mindjax.ops.sorting import argsort
from mindjax.ops.sparse.formats import COOTensor

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class _Merge(Primitive, register=False):
    """Coordinates without repetition, in rising order, and the place of each given one in them."""

    concrete: ClassVar[bool] = True
    op: str

    def compute(self, indices: Array) -> tuple[Array, Array]:
        """Look at them on the host."""
        need_values(self.op, "use a sparse tensor of fixed places, or a dense one", indices)
        host = np.asarray(indices)
        found, place = np.unique(host, axis=0, return_inverse=True)
        return jnp.asarray(found), jnp.asarray(place.reshape(-1).astype(np.int32))


def merged(op: str, indices: Any, values: Any) -> tuple[Any, Any]:
    """Add up values of equal coordinates.

    Args:
        op: name of the op, for messages.
        indices: integer Tensor of shape (n, axes).
        values: Tensor whose first axis has n elements.

    Returns:
        The coordinates without repetition, in rising order, and their values.

    Raises:
        RuntimeError: a compiled program asks, which cannot know their number.
    """
    found, place = _Merge(op)(indices)
    return found, unsorted_segment_sum(values, place, shape_of(found)[0])


class Coalesce(Primitive):
    """Values of equal coordinates added up; call: ``Coalesce()(x_indices, x_values, x_shape)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Add up."""
        return coalesce(*inputs)


def coalesce(x_indices: Tensor, x_values: Tensor, x_shape: Tensor) -> tuple[Tensor, ...]:
    """Add up values of equal coordinates, and sort them (MindSpore: ``ops.coalesce``).

    Args:
        x_indices: integer Tensor of shape (axes, n).
        x_values: Tensor of shape (n,).
        x_shape: integer vector, the sizes of the whole.

    Returns:
        Coordinates, values and shape; as given, without repetition.

    Raises:
        ValueError: the shapes do not fit, or a coordinate is negative or beyond its size.
        RuntimeError: a compiled program asks, which cannot know the number of coordinates.
    """
    where, values, shape = shape_of(x_indices), shape_of(x_values), shape_of(x_shape)
    if len(where) != 2 or len(values) != 1 or where[1:] != values or shape != where[:1]:
        raise located(
            ValueError,
            "For 'Coalesce', 'x_indices' must be of shape (axes, n), 'x_values' (n,) and 'x_shape' "
            f"(axes,), but got {where}, {values} and {shape}.",
        )
    places, sizes = known_values(x_indices), known_values(x_shape)
    if places is not None and sizes is not None:
        for axis, place in np.argwhere((places < 0) | (places >= sizes[:, None]))[:1]:
            raise located(
                ValueError,
                f"For 'Coalesce', 'x_indices' must be in [0, {sizes[axis]}) on axis {axis}, but "
                f"x_indices[{axis}][{place}] is {places[axis, place]}.",
            )
    found, total = merged("Coalesce", transpose(x_indices, (1, 0)), x_values)
    return transpose(found, (1, 0)), total, x_shape


def _check_coo(op: str, *tensors: Any) -> None:
    for tensor in tensors:
        if not isinstance(tensor, COOTensor):
            raise located(TypeError, f"For '{op}', a COOTensor is expected, but got {tensor!r}.")


def coo_add(x1: COOTensor, x2: COOTensor, thresh: Tensor) -> COOTensor:
    """Add two sparse tensors, and drop sums smaller than a threshold (MindSpore: ``ops.coo_add``).

    Args:
        x1: sparse tensor.
        x2: sparse tensor of the same shape and dtypes.
        thresh: number or 0-d Tensor; sums of a smaller size vanish.

    Returns:
        Sparse tensor with rising coordinates.

    Raises:
        TypeError: an input is no COOTensor, or the dtypes differ.
        ValueError: the shapes differ.
        RuntimeError: a compiled program asks, which cannot know the number of sums.
    """
    _check_coo("coo_add", x1, x2)
    checks.same_shape("SparseAdd", x1=x1.shape, x2=x2.shape)
    for part in ("values", "indices"):
        a, b = getattr(x1, part).dtype, getattr(x2, part).dtype
        if a is not b:
            raise located(
                TypeError, f"For 'SparseAdd', the dtypes of the {part} differ: {a} and {b}."
            )
    if shape_of(thresh):
        raise located(ValueError, f"For 'SparseAdd', 'thresh' must be 0-d, but got {thresh!r}.")
    indices = concat((x1.indices, x2.indices))
    found, total = merged("coo_add", indices, concat((x1.values, x2.values)))
    if isinstance(thresh, Handle) or thresh:
        kept = reshape(nonzero(greater_equal(absolute(total), thresh)), (-1,))
        found, total = gather(found, kept, 0), gather(total, kept, 0)
    return COOTensor(found, total, x1.shape)


def coo_concat(sp_input: Any, concat_dim: int = 0) -> COOTensor:
    """Put sparse tensors one after another along an axis (MindSpore: ``ops.coo_concat``).

    Args:
        sp_input: list or tuple of two and more sparse tensors, of equal sizes but for the axis.
        concat_dim: the axis.

    Returns:
        Sparse tensor with rising coordinates.

    Raises:
        TypeError: an input is no COOTensor.
        ValueError: there are fewer than two, there is no such axis, or the shapes do not fit.
    """
    checks.of_type("sp_input", sp_input, (list, tuple), "coo_concat")
    if isinstance(sp_input, COOTensor) or len(sp_input) < 2:
        raise located(ValueError, "For coo_concat, not support COOTensor input number < 2.")
    _check_coo("coo_concat", *sp_input)
    axis = checks.axis_in_rank(concat_dim, 2, "coo_concat", "concat_dim")
    start, moved = 0, []
    for one in sp_input:
        checks.same_shape(
            "coo_concat", first=sp_input[0].shape[1 - axis :][:1], other=one.shape[1 - axis :][:1]
        )
        offset = np.zeros((1, 2), np.int64)
        offset[0, axis] = start
        moved.append(one.indices + _constant(offset, one.indices))
        start += one.shape[axis]
    shape = list(sp_input[0].shape)
    shape[axis] = start
    indices, values = concat(moved), concat([one.values for one in sp_input])
    order = sorted_by(indices[:, 0], indices[:, 1])
    return COOTensor(gather(indices, order, 0), gather(values, order, 0), tuple(shape))


def _constant(values: Any, like: Any) -> Any:
    return cast_like(type(like)(values), like)


def sorted_by(first: Any, second: Any) -> Any:
    """Give the order that sorts by one vector, and by another where it is equal."""
    order = argsort(second)
    return gather(order, argsort(gather(first, order, 0)), 0)


def coo_to_dense(x: COOTensor) -> Any:
    """Give the whole of a sparse tensor; values of equal coordinates add up."""
    return tensor_scatter_add(zeros(x.shape, x.values.dtype), x.indices, x.values)


def dense_to_sparse_coo(tensor: Tensor) -> COOTensor:
    """Keep the elements of a matrix that are not zero (MindSpore: ``ops.dense_to_sparse_coo``).

    Args:
        tensor: Tensor of two axes.

    Returns:
        Sparse tensor with Int32 coordinates.

    Raises:
        TypeError: the input is no Tensor.
        ValueError: it has not two axes.
        RuntimeError: a compiled program asks, which cannot know the number of elements.
    """
    checks.of_type("tensor", tensor, Handle, "dense_to_sparse_coo")
    if len(shape_of(tensor)) != 2:
        raise located(
            ValueError,
            f"For 'dense_to_sparse_coo', the tensor must be 2-D, but got {shape_of(tensor)}.",
        )
    indices = nonzero(tensor)
    return COOTensor(cast(indices, int32), gather_nd(tensor, indices), shape_of(tensor))


class SparseToDense(BoundPrimitive):
    """The whole of a sparse tensor; call: ``SparseToDense()(indices, values, sparse_shape)``.

    The last of equal coordinates wins.
    """

    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = ("sparse_shape",)
    sparse_shape: tuple[int, ...] = field(default=(), kw_only=True)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Check the coordinates, where they are known, and write the values."""
        if len(inputs) == 3:
            shape = checks.sizes("sparse_shape", inputs[2], self.name)
            check_range(self.name, inputs[0][:, :1], shape[0], ValueError)
            check_range(self.name, inputs[0][:, 1:], shape[-1], ValueError)
        return super().__call__(*inputs, **named)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the shape."""
        return {"sparse_shape": checks.sizes("sparse_shape", statics["sparse_shape"], self.name)}

    def compute(self, indices: Array, values: Array) -> Array:
        """Write into zeros."""
        check_parts(self.name, indices, values, self.sparse_shape)
        where = coordinates(self.name, indices, self.sparse_shape)
        return scatter_rows(jnp.zeros(self.sparse_shape, values.dtype), where, values, "update")


def check_parts(op: str, indices: Array, values: Array, shape: tuple[int, ...]) -> None:
    """Check that coordinates, values and shape belong together; ValueError otherwise."""
    if values.ndim != 1 or indices.shape != (*values.shape, len(shape)):
        raise located(
            ValueError,
            f"For '{op}', the indices must be of shape (n, {len(shape)}) and the values (n,), but "
            f"got {indices.shape} and {values.shape}.",
        )


class SparseTensorDenseAdd(Primitive):
    """A dense tensor with a sparse one added.

    Call: ``SparseTensorDenseAdd()(x1_indices, x1_values, x1_shape, x2)``.
    """

    def __call__(self, *inputs: Any) -> Any:
        """Add; ``x1_shape`` is a tuple, or a Tensor of known values."""
        indices, values, shape, dense = inputs
        sizes = checks.sizes("x1_shape", shape, self.name)
        checks.same_shape(self.name, x1_shape=sizes, x2=shape_of(dense))
        check_coordinates(self.name, indices, sizes)
        return super().__call__(indices, values, dense)

    def compute(self, indices: Array, values: Array, dense: Array) -> Array:
        """Add the values at their places."""
        checks.same_dtype(self.name, x1_values=values.dtype, x2=dense.dtype)
        check_parts(self.name, indices, values, dense.shape)
        return scatter_rows(dense, coordinates(self.name, indices, dense.shape), values, "add")


def sparse_product(
    op: str, values: Array, places: tuple[Array, Array], height: int, dense: Array
) -> Array:
    """Multiply a sparse matrix by a dense one.

    Args:
        op: name of the op, for messages.
        values: array of shape (n,).
        places: row and column of each value.
        height: number of rows.
        dense: array of shape (columns, ...).

    Returns:
        Array of shape (height, ...).
    """
    rows, columns = (
        index_array(op, place, size)
        for place, size in zip(places, (height, dense.shape[0]), strict=True)
    )
    taken = take_axis(op, dense, columns, 0)
    terms = values.reshape(values.shape + (1,) * (dense.ndim - 1)) * taken
    start = jnp.zeros((height, *dense.shape[1:]), terms.dtype)
    return scatter_rows(start, rows[:, None], terms, "add")


class SparseTensorDenseMatmul(Primitive):
    """A sparse matrix times a dense one.

    Call: ``SparseTensorDenseMatmul()(indices, values, sparse_shape, dense)``.

    Args:
        adjoint_st: whether the sparse matrix is transposed before.
        adjoint_dt: whether the dense matrix is transposed before.
    """

    adjoint_st: bool = False
    adjoint_dt: bool = False
    sparse_shape: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        checks.of_type("adjoint_st", self.adjoint_st, bool, self.name)
        checks.of_type("adjoint_dt", self.adjoint_dt, bool, self.name)

    def __call__(self, *inputs: Any) -> Any:
        """Multiply; ``sparse_shape`` is a tuple, or a Tensor of known values."""
        indices, values, shape, dense = inputs
        sizes = checks.sizes("sparse_shape", shape, self.name)
        if len(sizes) != 2 or len(shape_of(dense)) != 2:
            raise located(
                ValueError,
                f"For '{self.name}', both matrices must have 2 axes, but got shapes {sizes} and "
                f"{shape_of(dense)}.",
            )
        for axis in (0, 1):
            check_range(self.name, indices[:, axis], sizes[axis], ValueError)
        bound = type(self)(self.adjoint_st, self.adjoint_dt, sparse_shape=sizes)
        return Primitive.__call__(bound, indices, values, dense)

    def compute(self, indices: Array, values: Array, dense: Array) -> Array:
        """Multiply."""
        check_parts(self.name, indices, values, self.sparse_shape)
        checks.same_dtype(self.name, values=values.dtype, dense=dense.dtype)
        rows, columns, (height, width) = indices[:, 0], indices[:, 1], self.sparse_shape
        if self.adjoint_st:
            rows, columns, height, width = columns, rows, width, height
        if self.adjoint_dt:
            dense = dense.T
        if dense.shape[0] != width:
            raise located(
                ValueError,
                f"For '{self.name}', the dense matrix must have {width} rows, but got "
                f"{dense.shape[0]}.",
            )
        return sparse_product(self.name, values, (rows, columns), height, dense)


class SparseSlice(Primitive):
    """The part of a sparse tensor in a box.

    Call: ``SparseSlice()(indices, values, shape, start, size)``; all but the values are integers.
    """

    def __call__(self, *inputs: Any) -> Any:
        """Cut.

        Returns:
            Coordinates from ``start`` on, values, and the shape of the part.

        Raises:
            ValueError: the shapes do not fit.
            RuntimeError: a compiled program asks, which cannot know how many values are inside.
        """
        indices, values, shape, start, size = inputs
        if len({shape_of(x) for x in (shape, start, size)}) > 1 or len(shape_of(shape)) != 1:
            raise located(
                ValueError,
                f"For '{self.name}', 'shape', 'start' and 'size' must be vectors of one length, "
                f"but got {[shape_of(x) for x in (shape, start, size)]}.",
            )
        kept, part = _Inside()(indices, shape, start, size)
        return gather(indices, kept, 0) - start, gather(values, kept, 0), part


class _Inside(Primitive, register=False):
    """Which coordinates lie in a box, and the box's size inside the whole."""

    concrete: ClassVar[bool] = True

    def compute(self, indices: Array, shape: Array, start: Array, size: Array) -> Any:
        """Look at them on the host."""
        need_values("SparseSlice", "use a dense tensor", indices, shape, start, size)
        where, low, high = np.asarray(indices), np.asarray(start), np.asarray(shape)
        if where.ndim != 2 or where.shape[1:] != low.shape:
            raise located(
                ValueError,
                f"For 'SparseSlice', the indices must be of shape (n, {low.size}), but got "
                f"{where.shape}.",
            )
        part = np.clip(np.minimum(low + np.asarray(size), high) - low, 0, None)
        inside = ((where >= low) & (where < low + part)).all(-1)
        return jnp.asarray(np.flatnonzero(inside)), jnp.asarray(part.astype(high.dtype))
