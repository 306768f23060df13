"""Sparse tensors: dense parts that stand for a whole, in coordinate, row-pointer and row form.

They are tuples of their parts with field names, so that compiled functions, gradients and jax's
trees take them apart and put them together as any other structure.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar, Self

import jax
import numpy as np

from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.handle import Handle, is_traced, unwrap
from mindjax.ops.gather import gather_nd
from mindjax.ops.scatter import tensor_scatter_add

_INDEX_KINDS = ("Int16", "Int32", "Int64")


def _text(part: Any) -> str:
    """Write a part as the original does, in another way than a Tensor alone."""
    if not isinstance(part, Handle) or is_traced(unwrap(part)):
        return repr(part)
    array = np.asarray(part)
    if array.dtype.kind not in "biufc":
        array = array.astype(np.float32)
    lead = "\n" if array.ndim > 1 else ""
    text = np.array2string(array, formatter={"float_kind": lambda x: f"{x: .8e}"})
    shape = ", ".join(map(str, array.shape))
    return f"Tensor(shape=[{shape}], dtype={from_np(np.asarray(part).dtype)}, value={lead}{text})"


class SparseParts(tuple[Any, ...]):
    """Base of sparse tensors: a tuple of Tensors and of the shape, compared by identity."""

    __slots__ = ()
    _fields: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def _make(cls, parts: Iterable[Any]) -> Self:
        """Make one of checked parts, or of what stands for them while a function is compiled."""
        return tuple.__new__(cls, parts)

    def __init_subclass__(cls) -> None:
        def flatten(value: Any) -> tuple[tuple[Any, ...], Any]:
            return tuple(value)[:-1], value[-1]

        def unflatten(shape: Any, parts: Iterable[Any]) -> Any:
            return cls._make((*parts, shape))

        jax.tree_util.register_pytree_node(cls, flatten, unflatten)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __ne__(self, other: object) -> bool:
        return self is not other

    def __hash__(self) -> int:
        return id(self)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self[-1]))
        named = zip(self._fields[:-1], self, strict=False)
        parts = ", ".join(f"{name}={_text(value)}" for name, value in named)
        return f"{type(self).__name__}(shape=[{shape}], dtype={self.values.dtype}, {parts})"

    __str__ = __repr__

    def to_tuple(self) -> tuple[Any, ...]:
        """Give the parts and the shape as a plain tuple."""
        return tuple(self)

    @property
    def values(self) -> Any:
        """The values that are stored."""
        return self[self._fields.index("values")]

    @property
    def indices(self) -> Any:
        """Where the values stand."""
        return self[self._fields.index("indices")]


class _SparseMatrix(SparseParts):
    """What sparse tensors of single values have in common."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the whole."""
        return self[-1]

    @property
    def dtype(self) -> Any:
        """Element type of the values."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """Number of values that are stored."""
        return self.values.size

    @property
    def itemsize(self) -> int:
        """Bytes of one value."""
        return self.values.itemsize

    @property
    def ndim(self) -> int:
        """Number of axes of the whole."""
        return len(self.shape)

    def with_values(self, values: Any) -> Self:
        """Give a sparse tensor with other values at the same places."""
        place = self._fields.index("values")
        return self._make((*self[:place], values, *self[place + 1 :]))

    def astype(self, dtype: Any) -> Self:
        """Cast the values.

        Args:
            dtype: element type.

        Returns:
            A sparse tensor with the same places.
        """
        return self.with_values(self.values.astype(dtype))

    def abs(self) -> Self:
        """Take the absolute values."""
        return self.with_values(self.values.abs())

    def __neg__(self) -> Self:
        return self.with_values(-self.values)

    def _check_shape(self, other: Any) -> None:
        if self.shape != other.shape:
            raise located(
                ValueError,
                f"Input tensors should have the same shape, but got {self.shape} and "
                f"{other.shape}.",
            )

    def _refused(self, doing: str, other: Any) -> TypeError:
        return located(
            TypeError, f"{type(self).__name__} {doing} with {type(other)} is not supported."
        )


def _check_parts(owner: str, shape: Any, **tensors: Any) -> tuple[int, ...]:
    for name, value in tensors.items():
        if not isinstance(value, Handle):
            raise located(
                TypeError, f"For '{owner}', '{name}' must be Tensor, but got {type(value)}."
            )
    if not isinstance(shape, tuple):
        raise located(TypeError, f"For '{owner}', 'shape' must be tuple, but got {type(shape)}.")
    for size in shape:
        if not isinstance(size, int) or isinstance(size, bool):
            raise located(
                TypeError,
                f"For '{owner}', the element of 'shape' must be int, but got {size!r} in {shape}.",
            )
        if size <= 0:
            raise located(
                ValueError,
                f"For '{owner}', the element of 'shape' must be positive, but got {size} in "
                f"{shape}.",
            )
    for name in ("indptr", "indices"):
        if name in tensors and str(tensors[name].dtype) not in _INDEX_KINDS:
            raise located(
                TypeError,
                f"For '{owner}', the type of '{name}' must be one of [int16, int32, int64], but "
                f"got {tensors[name].dtype}.",
            )
    return shape


def _copied(owner: type[Any], name: str, source: Any, parts: tuple[Any, ...]) -> tuple[Any, ...]:
    """Check that a sparse tensor is given alone, to be copied."""
    if not isinstance(source, owner):
        raise located(
            TypeError,
            f"Expect input `{name}` to be a {owner.__name__}, but got {type(source)}",
        )
    if any(part is not None for part in parts):
        raise located(TypeError, f"If input `{name}` is provided, the others must be None.")
    return tuple(source)


class COOTensor(_SparseMatrix):
    """A sparse tensor by coordinates (MindSpore: ``COOTensor``).

    Args:
        indices: integer Tensor of shape (n, 2), the coordinates of each value.
        values: Tensor of shape (n,).
        shape: sizes of the whole, a tuple of two ints.
        coo_tensor: another one to copy, in place of the parts.

    Raises:
        TypeError: a part is of another type.
        ValueError: the shapes do not fit.
    """

    __slots__ = ()
    _fields = ("indices", "values", "shape")

    def __new__(
        cls, indices: Any = None, values: Any = None, shape: Any = None, coo_tensor: Any = None
    ) -> Self:
        """Check the parts."""
        if coo_tensor is not None:
            return cls._make(_copied(cls, "coo_tensor", coo_tensor, (indices, values, shape)))
        _check_parts("COOTensor", shape, indices=indices, values=values)
        for name, value, rank in (("indices", indices, 2), ("values", values, 1)):
            if len(value.shape) != rank:
                raise located(
                    ValueError,
                    f"For COOTensor, '{name}' must be a {rank}-dimensional tensor, but got a "
                    f"{len(value.shape)}-dimensional tensor.",
                )
        if indices.shape[0] != values.shape[0]:
            raise located(
                ValueError,
                "For COOTensor, 'indices.shape[0]' must be equal to 'values.shape[0]', but got "
                f"{indices.shape[0]} and {values.shape[0]}.",
            )
        if len(shape) != 2 or indices.shape[1] != 2:
            raise located(
                ValueError,
                "For COOTensor, the length of 'shape' and 'indices.shape[1]' must be 2, but got "
                f"{shape} and {indices.shape[1]}.",
            )
        return cls._make((indices, values, shape))

    def coalesce(self) -> COOTensor:
        """Add up values of equal coordinates, and sort them by row and column."""
        from mindjax.ops.sparse.coordinates import merged

        return COOTensor._make((*merged("coalesce", self.indices, self.values), self.shape))

    def to_csr(self) -> CSRTensor:
        """Give the same in row-pointer form."""
        from mindjax.ops.sparse.rows import coo_to_csr

        return coo_to_csr(self)

    def to_dense(self) -> Any:
        """Give the whole; values of equal coordinates add up."""
        from mindjax.ops.sparse.coordinates import coo_to_dense

        return coo_to_dense(self)

    def add(self, other: COOTensor, thresh: Any) -> COOTensor:
        """Add another one, and drop sums smaller than a threshold; see ``ops.coo_add``."""
        from mindjax.ops.sparse.coordinates import coo_add

        return coo_add(self, other, thresh)

    def _taken(self, dense: Any) -> Any:
        return gather_nd(dense, self.indices)

    def __add__(self, other: Any) -> Any:  # type: ignore[override]
        self._check_shape(other)
        if isinstance(other, COOTensor):
            return self.add(other, 0)
        if isinstance(other, Handle):
            dense: Any = other
            return tensor_scatter_add(dense, self.indices, self.values)
        raise self._refused("add", other)

    def __sub__(self, other: Any) -> Any:
        self._check_shape(other)
        if isinstance(other, COOTensor | Handle):
            return self + -other  # type: ignore[operator]
        raise self._refused("subtract", other)

    def __mul__(self, other: Any) -> COOTensor:  # type: ignore[override]
        self._check_shape(other)
        if isinstance(other, Handle):
            return self.with_values(self.values * self._taken(other))
        raise self._refused("multiply", other)

    def __truediv__(self, other: Any) -> COOTensor:
        self._check_shape(other)
        if isinstance(other, Handle):
            return self.with_values(self.values / self._taken(other))
        raise self._refused("divide", other)


class SparseTensor(SparseParts):
    """A sparse tensor by coordinates, of any number of axes (MindSpore: ``SparseTensor``).

    Args:
        indices: integer Tensor of shape (n, axes).
        values: Tensor of shape (n,).
        shape: sizes of the whole, a tuple of ints.

    Raises:
        TypeError: a part is of another type.
    """

    __slots__ = ()
    _fields = ("indices", "values", "shape")

    def __new__(cls, indices: Any, values: Any, shape: Any) -> Self:
        """Check the parts."""
        _check_parts("SparseTensor", shape, indices=indices, values=values)
        return cls._make((indices, values, shape))

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the whole."""
        return self[-1]


class CSRTensor(_SparseMatrix):
    """A sparse tensor by row pointers (MindSpore: ``CSRTensor``).

    Args:
        indptr: integer Tensor of shape (rows + 1,): where the values of each row begin and end.
        indices: integer Tensor of shape (n,): the column of each value.
        values: Tensor whose first axis has n elements.
        shape: sizes of the whole, a tuple of ints: rows, columns and the further axes of values.
        csr_tensor: another one to copy, in place of the parts.

    Raises:
        TypeError: a part is of another type.
        ValueError: the shapes do not fit.
    """

    __slots__ = ()
    _fields = ("indptr", "indices", "values", "shape")

    def __new__(
        cls,
        indptr: Any = None,
        indices: Any = None,
        values: Any = None,
        shape: Any = None,
        csr_tensor: Any = None,
    ) -> Self:
        """Check the parts."""
        if csr_tensor is not None:
            parts = (indptr, indices, values, shape)
            return cls._make(_copied(cls, "csr_tensor", csr_tensor, parts))
        _check_parts("CSRTensor", shape, indptr=indptr, indices=indices, values=values)
        if len(indptr.shape) != 1 or len(indices.shape) != 1:
            raise located(
                ValueError,
                "For CSRTensor, indptr and indices must both be 1-dimensional, but got shapes "
                f"{indptr.shape} and {indices.shape}.",
            )
        if not shape or indptr.shape[0] != shape[0] + 1:
            raise located(
                ValueError,
                f"For CSRTensor, indptr must have length (1 + shape[0]), but got: "
                f"{indptr.shape[0]} for shape {shape}",
            )
        if not values.shape or indices.shape[0] != values.shape[0]:
            raise located(
                ValueError,
                "For CSRTensor, indices and values must equal in their shape, but got indices "
                f"shape: {indices.shape}, values shape: {values.shape}.",
            )
        if len(values.shape) + 1 != len(shape) or tuple(values.shape[1:]) != shape[2:]:
            raise located(
                ValueError,
                f"For CSRTensor, the values' shape after the first axis must be {shape[2:]}, but "
                f"got {values.shape}.",
            )
        return cls._make((indptr, indices, values, shape))

    @property
    def indptr(self) -> Any:
        """Where the values of each row begin and end."""
        return self[0]

    def to_coo(self) -> COOTensor:
        """Give the same by coordinates."""
        from mindjax.ops.sparse.rows import csr_to_coo

        return csr_to_coo(self)

    def to_dense(self) -> Any:
        """Give the whole."""
        from mindjax.ops.sparse.rows import csr_to_dense

        return csr_to_dense(self)

    def mv(self, dense_vector: Any) -> Any:
        """Multiply by a vector; see ``ops.csr_mv``."""
        from mindjax.ops.sparse.rows import csr_mv

        return csr_mv(self, dense_vector)

    def mm(self, matrix: Any) -> Any:
        """Multiply by a matrix, a Tensor or another CSRTensor; the product is of its kind."""
        from mindjax.ops.sparse.rows import csr_mm

        return csr_mm(self, matrix)

    def sum(self, axis: int) -> Any:
        """Sum the columns of each row; see ``ops.csr_reduce_sum``."""
        from mindjax.ops.sparse.rows import csr_reduce_sum

        return csr_reduce_sum(self, axis)

    def add(self, b: CSRTensor, alpha: Any, beta: Any) -> CSRTensor:
        """Give ``alpha * self + beta * b``; see ``ops.csr_add``."""
        from mindjax.ops.sparse.rows import csr_add

        return csr_add(self, b, alpha, beta)

    def __add__(self, other: Any) -> CSRTensor:  # type: ignore[override]
        self._check_shape(other)
        if isinstance(other, CSRTensor):
            return self.add(other, 1, 1)
        raise self._refused("add", other)

    def __sub__(self, other: Any) -> CSRTensor:
        self._check_shape(other)
        if isinstance(other, CSRTensor):
            return self.add(other, 1, -1)
        raise self._refused("subtract", other)

    def __mul__(self, other: Any) -> CSRTensor:  # type: ignore[override]
        from mindjax.ops.sparse.rows import csr_mul

        return csr_mul(self, other)

    def __truediv__(self, other: Any) -> CSRTensor:
        from mindjax.ops.sparse.rows import csr_div

        return self.with_values(csr_div(self, other))


class RowTensorInner(SparseParts):
    """Some rows of a tensor (MindSpore: ``common.RowTensorInner``).

    Args:
        indices: integer vector, the row numbers.
        values: Tensor, one slice a row.
        shape: sizes of the whole.
        row_tensor: another one to copy, in place of the parts.

    Raises:
        TypeError: a part is of another type.
    """

    __slots__ = ()
    _fields = ("indices", "values", "dense_shape")

    def __new__(
        cls, indices: Any = None, values: Any = None, shape: Any = None, row_tensor: Any = None
    ) -> Self:
        """Check the parts."""
        if row_tensor is not None:
            parts = (indices, values, shape)
            return cls._make(_copied(RowTensorInner, "row_tensor", row_tensor, parts))
        _check_parts("RowTensor", shape, indices=indices, values=values)
        return cls._make((indices, values, shape))

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """Sizes of the whole."""
        return self[-1]


class RowTensor(RowTensorInner):
    """Some rows of a tensor (MindSpore: ``RowTensor``); parts as in `RowTensorInner`."""

    __slots__ = ()
