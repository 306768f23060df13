"""Sorting, the k largest elements, and running sums, products and extremes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.cast import cast
from mindjax.ops.promotion import convert, is_bool

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def order(x: Array, axis: int, descending: bool) -> Array:
    """Give int32 positions that sort an array along an axis; equal elements keep their order."""
    keys = convert(x, np.uint8) if is_bool(x) else jax.lax.stop_gradient(x)
    places = jax.lax.broadcasted_iota(np.int32, x.shape, axis)
    if descending:
        # Sorting the reversed array and reversing it again keeps equal elements in order.
        keys, places = jnp.flip(keys, axis), jnp.flip(places, axis)
    places = jax.lax.sort((keys, places), dimension=axis, is_stable=True, num_keys=1)[1]
    return jnp.flip(places, axis) if descending else places


def along(x: Array, index: Array, axis: int) -> Array:
    """Take elements along an axis at int32 positions."""
    return jnp.take_along_axis(x, index, axis, mode="clip")


class Sort(Primitive):
    """Elements sorted along an axis, and where they came from (MindSpore: ``ops.Sort``).

    Args:
        axis: the axis.
        descending: whether the largest come first.
    """

    axis: int = -1
    descending: bool = False

    def __post_init__(self) -> None:
        checks.of_type("axis", self.axis, int, "Sort")
        checks.of_type("descending", self.descending, bool, "Sort")

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Sort an array; NaN counts as the largest, positions are Int32."""
        if jnp.issubdtype(x.dtype, jnp.complexfloating):
            raise located(TypeError, "For 'Sort', complex numbers have no order.")
        axis = checks.axis_in_rank(self.axis, x.ndim, "Sort")
        if x.ndim == 0:
            return x, jnp.zeros((), np.int32)
        index = order(x, axis, self.descending)
        return along(x, index, axis), index


def sort(input_x: Tensor, axis: int = -1, descending: bool = False) -> tuple[Tensor, Tensor]:
    """Sort along an axis (MindSpore: ``ops.sort``).

    Args:
        input_x: real Tensor of any shape.
        axis: the axis.
        descending: whether the largest come first.

    Returns:
        Sorted Tensor, and the Int32 positions that its elements had.

    Raises:
        ValueError: there is no such axis.
    """
    return Sort(checks.integer("axis", axis, "sort"), bool(descending))(input_x)


def argsort(input: Tensor, axis: int = -1, descending: bool = False) -> Tensor:
    """Give the positions that sort along an axis (MindSpore: ``ops.argsort``).

    Args:
        input: real Tensor of any shape.
        axis: the axis.
        descending: whether the largest come first.

    Returns:
        Int32 Tensor of the same shape.

    Raises:
        ValueError: there is no such axis.
    """
    return Sort(checks.integer("axis", axis, "argsort"), bool(descending))(input)[1]


class TopK(BoundPrimitive):
    """The k largest elements along an axis and their positions (MindSpore: ``ops.TopK``).

    Args:
        sorted: whether they come in order; they always do.
    """

    sorted: bool = True
    statics: ClassVar[tuple[str, ...]] = ("k",)
    k: int = field(default=1, kw_only=True)
    dim: int = field(default=-1, kw_only=True)
    largest: bool = field(default=True, kw_only=True)

    def __post_init__(self) -> None:
        checks.of_type("sorted", self.sorted, bool, "TopK")

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check how many are wanted."""
        return {"k": checks.integer("k", statics["k"], "TopK")}

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Find elements and Int32 positions; of equal elements the first ones."""
        axis = checks.axis_in_rank(self.dim, x.ndim, "TopK")
        x = x.reshape(1) if x.ndim == 0 else x
        size = x.shape[axis]
        if not 0 < self.k <= size:
            raise located(
                ValueError, f"For primitive[TopK], the k must be in (0,{size}], but got {self.k}."
            )
        keys = convert(x, np.uint8) if is_bool(x) else jax.lax.stop_gradient(x)
        if not self.largest:
            # Bitwise not reverses the order of integers without overflow.
            keys = ~keys if jnp.issubdtype(keys.dtype, jnp.integer) else -keys
        index = jax.lax.top_k(jnp.moveaxis(keys, axis, -1), self.k)[1]
        index = jnp.moveaxis(convert(index, np.int32), -1, axis)
        return along(x, index, axis), index


def topk(
    input: Tensor, k: int, dim: int | None = None, largest: bool = True, sorted: bool = True
) -> tuple[Tensor, Tensor]:
    """Find the k largest or smallest elements along an axis (MindSpore: ``ops.topk``).

    Args:
        input: real Tensor of any shape.
        k: how many, at most the size of the axis.
        dim: the axis, the last by default.
        largest: whether the largest are wanted, or the smallest.
        sorted: whether they come in order; they always do.

    Returns:
        The elements, and their Int32 positions.

    Raises:
        ValueError: there is no such axis, or ``k`` does not fit it.
    """
    axis = -1 if dim is None else checks.integer("dim", dim, "topk")
    return TopK(bool(sorted), dim=axis, largest=bool(largest))(input, k)


class _Running(BoundPrimitive, register=False):
    """What running sums and products, called as ``record(x, axis)``, share."""

    exclusive: bool = False
    reverse: bool = False
    statics: ClassVar[tuple[str, ...]] = ("axis",)
    axis: int = field(default=0, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the axis's type."""
        return {"axis": checks.integer("axis", statics["axis"], self.name)}

    def _accumulate(self, x: Array, run: Any, neutral: int) -> Array:
        if x.ndim == 0:
            checks.axis_in_rank(self.axis, 0, self.name)
            return jnp.full_like(x, neutral) if self.exclusive else x
        axis = checks.axis_in_rank(self.axis, x.ndim, self.name)
        if self.exclusive:
            pad = [(0, 0, 0)] * x.ndim
            pad[axis] = (-1, 1, 0) if self.reverse else (1, -1, 0)
            x = jax.lax.pad(x, jnp.asarray(neutral, x.dtype), pad)
        return run(x, axis=axis, reverse=self.reverse)


class CumSum(_Running):
    """Running sum along an axis (MindSpore: ``ops.CumSum``).

    Args:
        exclusive: whether an element's own value is left out of its sum.
        reverse: whether to add from the end.
    """

    def compute(self, x: Array) -> Array:
        """Accumulate an array in its dtype, Int32 for truth values."""
        x = convert(x, np.int32) if is_bool(x) else x
        return self._accumulate(x, jax.lax.cumsum, 0)


class CumProd(_Running):
    """Running product along an axis (MindSpore: ``ops.CumProd``).

    Args:
        exclusive: whether an element's own value is left out of its product.
        reverse: whether to multiply from the end.
    """

    def compute(self, x: Array) -> Array:
        """Accumulate an array in its dtype, Int32 for truth values."""
        x = convert(x, np.int32) if is_bool(x) else x
        return self._accumulate(x, jax.lax.cumprod, 1)


_cumsum, _cumprod = CumSum(), CumProd()
_NARROW = (np.bool_, np.int8, np.int16, np.uint8)


def cumsum(x: Tensor, axis: int, dtype: Number | None = None) -> Tensor:
    """Add up along an axis (MindSpore: ``ops.cumsum``).

    Args:
        x: Tensor of any shape.
        axis: the axis.
        dtype: element type of the result; by default that of ``x``, Int32 for narrower integers.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: there is no such axis.
    """
    axis = checks.integer("axis", axis, "cumsum")
    return _cumsum(accumulated(x, dtype, np.dtype(np.int32)), axis)


def accumulated(x: Any, dtype: Any, default: np.dtype[Any]) -> Any:
    """Cast what is to be accumulated: to the wanted dtype, or narrow integers to a wider one."""
    if dtype is not None:
        return cast(x, as_dtype(dtype))
    checks.tensors("cumsum", x=x)
    own = as_dtype(x.dtype).np
    narrow = (own.kind in "bi" and own.itemsize < default.itemsize) or own == np.uint8
    return cast(x, as_dtype(default)) if narrow else x


def cumprod(input: Tensor, dim: int, dtype: Number | None = None) -> Tensor:
    """Multiply up along an axis (MindSpore: ``ops.cumprod``).

    Args:
        input: Tensor of any shape.
        dim: the axis.
        dtype: element type of the result; by default that of ``input``.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: there is no such axis.
    """
    return _cumprod(input if dtype is None else cast(input, as_dtype(dtype)), dim)


class Cummax(Primitive):
    """Running maximum along an axis and its positions (MindSpore: ``ops.Cummax``).

    Args:
        axis: the axis.
    """

    axis: int

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Accumulate an array; positions are Int64, of equal elements the latest."""
        return _running_extreme(self.name, x, self.axis, jax.lax.cummax)


class Cummin(Primitive):
    """Running minimum along an axis and its positions (MindSpore: ``ops.Cummin``).

    Args:
        axis: the axis.
    """

    axis: int

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Accumulate an array; positions are Int32, of equal elements the latest."""
        values, index = _running_extreme(self.name, x, self.axis, jax.lax.cummin)
        return values, convert(index, np.int32)


def _running_extreme(op: str, x: Array, axis: int, run: Any) -> tuple[Array, Array]:
    axis = checks.axis_in_rank(axis, x.ndim, op)
    if x.ndim == 0:
        return x, jnp.zeros((), np.int64)
    keys = jax.lax.stop_gradient(x)
    best = run(keys, axis=axis)
    hit = (keys == best) | (keys != keys)
    places = jax.lax.broadcasted_iota(np.int32, x.shape, axis)
    index = jax.lax.cummax(jnp.where(hit, places, np.int32(0)), axis=axis)
    return along(x, index, axis), convert(index, np.int64)


def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Give the largest element so far along an axis, and its position (MindSpore: ``ops.cummax``).

    Args:
        input: real Tensor of any shape.
        axis: the axis.

    Returns:
        Values of the input's shape, and Int64 positions, of equal elements the latest.

    Raises:
        ValueError: there is no such axis.
    """
    return Cummax(checks.integer("axis", axis, "cummax"))(input)


def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Give the smallest element so far along an axis, and its position (MindSpore: ``ops.cummin``).

    Args:
        input: real Tensor of any shape.
        axis: the axis.

    Returns:
        Values of the input's shape, and Int32 positions, of equal elements the latest.

    Raises:
        ValueError: there is no such axis.
    """
    return Cummin(checks.integer("axis", axis, "cummin"))(input)
