"""Copies with rows or elements replaced or changed, where the rows are named at call or before."""

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
from mindjax.ops.bound import set_fields
from mindjax.ops.gather import check_range, index_array
from mindjax.ops.scatter import TensorScatterElements, scatter_rows
from mindjax.ops.scatter import index_fill as fill_slices
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class _InplaceRows(Primitive, register=False):
    """A copy with some rows combined with others; the rows are known when it is made."""

    indices: Any = field()
    how: ClassVar[str] = "update"

    def __post_init__(self) -> None:
        value = checks.python_value(self.indices)
        indices = value if isinstance(value, tuple) else (value,)
        set_fields(self, indices=checks.integers("indices", indices, self.name))

    def compute(self, x: Array, v: Array) -> Array:
        """Combine the rows."""
        checks.same_dtype(self.name, x=x.dtype, v=v.dtype)
        if x.ndim != v.ndim or not x.ndim or x.shape[1:] != v.shape[1:]:
            raise located(
                ValueError,
                f"For primitive[{self.name}], 'v' must be like 'x' apart from the first axis, but "
                f"got shapes {v.shape} and {x.shape}.",
            )
        if v.shape[0] != len(self.indices):
            raise located(
                ValueError,
                f"For primitive[{self.name}], the size of indices must be equal to {v.shape[0]}, "
                f"but got {len(self.indices)}.",
            )
        for index in self.indices:
            if not 0 <= index < x.shape[0]:
                raise located(
                    ValueError,
                    f"For primitive[{self.name}], the value of indices must be in "
                    f"[0,{x.shape[0]}), but got {index}.",
                )
        where = np.asarray(self.indices, np.int32).reshape(-1, 1)
        return scatter_rows(x, jnp.asarray(where), v, self.how)


class InplaceAdd(_InplaceRows):
    """A copy with rows added to some of its own.

    Args:
        indices: int or tuple of int, the rows.
    """

    how: ClassVar[str] = "add"


class InplaceSub(_InplaceRows):
    """A copy with rows subtracted from some of its own.

    Args:
        indices: int or tuple of int, the rows.
    """

    how: ClassVar[str] = "sub"


class InplaceUpdate(_InplaceRows):
    """A copy with some rows replaced.

    Args:
        indices: int or tuple of int, the rows.
    """


class InplaceUpdateV2(Primitive):
    """A copy with some rows replaced; call: ``InplaceUpdateV2()(x, indices, v)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Replace rows; they are numbers, or an integer vector that may be traced."""
        x, indices, v = inputs
        if not isinstance(indices, Handle | jax.Array):
            checks.tensors("InplaceUpdate", x=x, v=v)
            rows = checks.python_value(indices)
            rows = rows if isinstance(rows, tuple) else (rows,)
            indices = np.asarray(checks.integers("indices", rows, "InplaceUpdate"), np.int64)
        check_range(self.name, indices, shape_of(x)[0] if shape_of(x) else 0)
        return super().__call__(x, indices, v)

    def compute(self, x: Array, indices: Array, v: Array) -> Array:
        """Replace rows."""
        checks.same_dtype(self.name, x=x.dtype, v=v.dtype)
        indices = indices.reshape(-1)
        checks.same_shape(self.name, expected=(*indices.shape, *x.shape[1:]), v=v.shape)
        where = index_array(self.name, indices, x.shape[0])[:, None]
        return scatter_rows(x, where, v, "update")


def inplace_add(x: Tensor, v: Tensor, indices: Any) -> Tensor:
    """Copy a Tensor with rows added (MindSpore: ``ops.inplace_add``).

    Args:
        x: Tensor of shape (n, ...); it is not changed, as in MindSpore.
        v: Tensor of ``x``'s dtype, and its shape but for the first axis.
        indices: int or tuple of int, the rows of ``x``; equal ones add up.

    Returns:
        Tensor like ``x``.

    Raises:
        TypeError: the dtypes differ, or an index is no integer.
        ValueError: the shapes do not fit, or an index is out of range.
    """
    return InplaceAdd(indices)(x, v)


def inplace_sub(x: Tensor, v: Tensor, indices: Any) -> Tensor:
    """Copy a Tensor with rows subtracted (MindSpore: ``ops.inplace_sub``).

    Args:
        x: Tensor of shape (n, ...); it is not changed, as in MindSpore.
        v: Tensor of ``x``'s dtype, and its shape but for the first axis.
        indices: int or tuple of int, the rows of ``x``.

    Returns:
        Tensor like ``x``. Errors are those of `inplace_add`.
    """
    return InplaceSub(indices)(x, v)


def inplace_update(x: Tensor, v: Tensor, indices: Any) -> Tensor:
    """Copy a Tensor with rows replaced (MindSpore: ``ops.inplace_update``).

    Args:
        x: Tensor of shape (n, ...); it is not changed, as in MindSpore.
        v: Tensor of ``x``'s dtype, and its shape but for the first axis.
        indices: int, tuple of int or integer Tensor, the rows of ``x``; negative ones count from
            the end.

    Returns:
        Tensor like ``x``.

    Raises:
        TypeError: the dtypes differ, or an index is no integer.
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return InplaceUpdateV2()(x, indices, v)


class IndexFill(Primitive):
    """A copy with slices of an axis set to a value; call: ``IndexFill()(x, dim, index, value)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Fill; see ``ops.index_fill``."""
        x, dim, index, value = inputs
        return fill_slices(x, dim, index, value)


class IndexPut(Primitive):
    """A copy with elements written by index vectors; call: ``IndexPut()(x1, x2, indices)``.

    Args:
        accumulate: 0 replaces, 1 adds.
    """

    accumulate: int = 0

    def __post_init__(self) -> None:
        checks.of_type("accumulate", self.accumulate, int, self.name)
        if self.accumulate not in (0, 1):
            raise located(
                ValueError, f"For 'IndexPut', accumulate must be 0 or 1, but got {self.accumulate}."
            )

    def compute(self, x: Array, values: Array, indices: tuple[Array, ...]) -> Array:
        """Write."""
        checks.same_dtype(self.name, x1=x.dtype, x2=values.dtype)
        rank = len(indices)
        if values.ndim != 1 or not 1 <= rank <= x.ndim or any(i.ndim != 1 for i in indices):
            raise located(
                ValueError,
                f"For 'IndexPut', 'x2' and the indices must be vectors, one index an axis of 'x1' "
                f"at most, but got shapes {values.shape} and {[i.shape for i in indices]} for "
                f"{x.ndim} axes.",
            )
        parts = [index_array(self.name, i, n) for i, n in zip(indices, x.shape, strict=False)]
        length = max(p.shape[0] for p in parts)
        rest = x.shape[len(parts) :]
        last = rest[-1] if rest else length
        if values.shape[0] not in (1, last) or any(p.shape[0] not in (1, length) for p in parts):
            raise located(
                ValueError,
                f"For 'IndexPut', the size of 'x2' must be 1 or {last} and the indices must "
                f"broadcast, but got {values.shape[0]} and {[p.shape for p in parts]}.",
            )
        where = jnp.stack([jnp.broadcast_to(p, (length,)) for p in parts], -1)
        updates = jnp.broadcast_to(values, (length, *rest))
        return scatter_rows(x, where, updates, "add" if self.accumulate else "update")


class ScatterAddWithAxis(Primitive):
    """A copy with single elements added along an axis; as `TensorScatterElements` with a sum.

    Args:
        axis: the axis.
    """

    axis: int = 0

    def __post_init__(self) -> None:
        checks.of_type("axis", self.axis, int, self.name)

    def __call__(self, *inputs: Any) -> Any:
        """Add along the axis."""
        return TensorScatterElements(self.axis, "add")(*inputs)


def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Write elements of a Tensor at flat indices, in place (MindSpore: ``ops.put_``).

    Args:
        input: Tensor, which is written.
        index: integer Tensor.
        source: Tensor with as many elements.
        accumulate: whether to add instead of replacing.

    Returns:
        ``input``.

    Raises:
        ValueError: the shapes do not fit.
    """
    return input.put_(index, source, accumulate)
