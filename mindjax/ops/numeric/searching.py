"""Searching in sorted numbers, quantiles, and the n-th smallest element."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, int32, int64, to_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.gather import known_values
from mindjax.ops.numeric.kinds import REAL, accept, accept_alike
from mindjax.ops.promotion import promote
from mindjax.ops.shape import shape_of
from mindjax.ops.sorting import Sort, TopK, along, sort

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

_INDEX_TYPES = (int32, int64)


def _index_type(op: str, name: str, dtype: Any) -> Number:
    if dtype not in _INDEX_TYPES:
        raise located(
            TypeError,
            f"For '{op}', the '{name}' should be one of [mindspore.int32, mindspore.int64], but "
            f"got '{dtype}'.",
        )
    return as_dtype(dtype)


def _search(rows: Array, values: Array, right: bool) -> Array:
    """Search along the last axis, row by row where ``rows`` has several."""
    rows, values = promote(rows, values, op="SearchSorted")
    side = "right" if right else "left"

    def one(row: Array, wanted: Array) -> Array:
        return jnp.searchsorted(row, wanted, side=side, method="sort")

    if rows.ndim == 1:
        return one(rows, values)
    found = jax.vmap(one)(rows.reshape(-1, rows.shape[-1]), values.reshape(-1, values.shape[-1]))
    return found.reshape(values.shape)


class SearchSorted(Primitive):
    """Places where values keep numbers sorted; call: ``SearchSorted()(sorted, values, sorter)``.

    Args:
        dtype: Int32 or Int64, element type of the places.
        right: whether to give the last place instead of the first.
    """

    dtype: Number = int64
    right: bool = False

    def __post_init__(self) -> None:
        _index_type("SearchSorted", "dtype", self.dtype)
        checks.of_type("right", self.right, bool, "SearchSorted")

    def compute(self, rows: Array, values: Array, sorter: Array | None = None) -> Array:
        """Search the last axis."""
        for name, x in (("sorted_sequence", rows), ("values", values)):
            if jnp.issubdtype(x.dtype, jnp.complexfloating):
                raise located(
                    TypeError, f"For 'SearchSorted', the '{name}' must be real, but got {x.dtype}."
                )
        if not rows.ndim or (
            rows.ndim > 1 and (values.ndim != rows.ndim or rows.shape[:-1] != values.shape[:-1])
        ):
            raise located(
                ValueError,
                "For 'SearchSorted', the 'sorted_sequence' must be 1 dimensional or all dimensions "
                "except the last one must be those of 'values', but got the shapes "
                f"{rows.shape} and {values.shape}.",
            )
        if sorter is not None:
            if sorter.shape != rows.shape:
                raise located(
                    ValueError,
                    "For 'SearchSorted', the 'sorter' must have the shape of 'sorted_sequence', "
                    f"but got {sorter.shape} and {rows.shape}.",
                )
            rows = along(rows, sorter.astype(np.int32), rows.ndim - 1)
        if not rows.size or not values.size:
            return jnp.zeros(values.shape, self.dtype.np)
        return _search(rows, values, self.right).astype(self.dtype.np)


def searchsorted(
    sorted_sequence: Tensor,
    values: Tensor,
    *,
    out_int32: bool = False,
    right: bool = False,
    side: str | None = None,
    sorter: Tensor | None = None,
) -> Tensor:
    """Find the places where values keep a sequence sorted (MindSpore: ``ops.searchsorted``).

    Args:
        sorted_sequence: real Tensor, rising along the last axis.
        values: real Tensor; for a sequence with several axes of the same axes but the last.
        out_int32: whether the places are Int32 instead of Int64.
        right: whether to give the last place instead of the first.
        side: ``"left"`` or ``"right"``, another way to say the same.
        sorter: integer Tensor: positions that sort ``sorted_sequence``.

    Returns:
        Tensor of the shape of ``values``.

    Raises:
        TypeError: ``values`` is no Tensor, or a flag is no bool.
        ValueError: ``side`` is unknown or contradicts ``right``, or the shapes do not fit.
    """
    if side not in (None, "left", "right"):
        raise located(
            ValueError,
            "For 'searchsorted', the argument 'side' should be one of in [None, 'left', 'right'], "
            f"but got {side}.",
        )
    if side == "left" and right:
        raise located(
            ValueError,
            "For 'searchsorted', side and right can't be set to opposites, got side of left while "
            "right was True.",
        )
    for name, value in (("sorted_sequence", sorted_sequence), ("values", values)):
        if not hasattr(value, "dtype"):
            raise located(
                TypeError, f"For 'searchsorted', '{name}' must be a Tensor, but got {value!r}."
            )
    checks.of_type("out_int32", out_int32, bool, "searchsorted")
    record = SearchSorted(int32 if out_int32 else int64, True if side == "right" else right)
    more = () if sorter is None else (sorter,)
    return record(sorted_sequence, values, *more)


class _Bound(Primitive, register=False):
    """Places in the rows of a sorted matrix."""

    right: ClassVar[bool]
    out_type: Number = int32

    def __post_init__(self) -> None:
        _index_type(self.name, "out_type", self.out_type)

    def compute(self, rows: Array, values: Array) -> Array:
        """Search each row."""
        checks.same_dtype(self.name, sorted_x=rows.dtype, values=values.dtype)
        for label, x in (("sorted_x", rows), ("values", values)):
            if x.ndim != 2:
                raise located(
                    ValueError,
                    f"For '{self.name}', the rank of '{label}' must be equal to 2, but got: "
                    f"{x.ndim}.",
                )
        if rows.shape[0] != values.shape[0]:
            raise located(
                ValueError,
                f"For '{self.name}', the number of rows of 'sorted_x' must be consistent with that "
                f"of 'values', but got the shapes {rows.shape} and {values.shape}.",
            )
        return SearchSorted(self.out_type, self.right).compute(rows, values)


class LowerBound(_Bound):
    """First places that keep rows sorted; call: ``LowerBound()(sorted_x, values)``."""

    right: ClassVar[bool] = False


class UpperBound(_Bound):
    """Last places that keep rows sorted; call: ``UpperBound()(sorted_x, values)``."""

    right: ClassVar[bool] = True


class Bucketize(Primitive):
    """Index of the bucket of each element, Int32 (MindSpore: ``ops.Bucketize``).

    Args:
        boundaries: rising floats; an element equal to one lies above it.
    """

    boundaries: list[float]

    def __post_init__(self) -> None:
        checks.of_type("boundaries", self.boundaries, list, "Bucketize")
        for i, value in enumerate(self.boundaries):
            checks.of_type(f"boundaries[{i}]", value, float, "Bucketize")

    def compute(self, x: Array) -> Array:
        """Search an array's elements."""
        return _buckets(x, self.boundaries, True)


def _buckets(x: Array, boundaries: Any, right: bool) -> Array:
    wide = x.dtype if jnp.issubdtype(x.dtype, jnp.floating) else np.dtype(np.float64)
    limits = jnp.asarray(np.asarray(boundaries, np.float64)).astype(wide)
    if not len(boundaries) or not x.size:
        return jnp.zeros(x.shape, np.int32)
    return _search(limits, x.astype(wide), right).astype(np.int32)


class _BucketizeBy(Primitive, register=False):
    """Index of the bucket of each element, either side closed."""

    boundaries: tuple[float, ...]
    right: bool

    def compute(self, x: Array) -> Array:
        accept("bucketize", "input", x, ("Int32", "Int64", *REAL, "Int16", "Float16", "BFloat16"))
        return _buckets(x, self.boundaries, self.right)


def bucketize(input: Tensor, boundaries: Any, *, right: bool = False) -> Tensor:
    """Find the bucket of each element (MindSpore: ``ops.bucketize``).

    Args:
        input: real Tensor of any shape.
        boundaries: rising numbers, a list, tuple or Tensor with values.
        right: whether an element equal to a boundary lies above it.

    Returns:
        Int32 Tensor of the same shape.

    Raises:
        TypeError: ``input`` has a dtype that is not supported, or ``right`` is no bool.
    """
    checks.of_type("right", right, bool, "bucketize")
    limits = checks.python_value(boundaries)
    if not isinstance(limits, tuple):
        raise located(
            TypeError, f"For 'bucketize', 'boundaries' must be a list, but got {boundaries!r}."
        )
    return _BucketizeBy(limits, right)(input)


def msort(input: Tensor) -> Tensor:
    """Sort along the first axis (MindSpore: ``ops.msort``).

    Args:
        input: real Tensor with an axis or more.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``input`` has no axis.
    """
    if not shape_of(input):
        raise located(ValueError, "For 'msort', the input must have an axis, but it is 0-d.")
    return sort(input, 0)[0]


def top_k(input_x: Tensor, k: int, sorted: bool = True) -> tuple[Tensor, Tensor]:
    """Find the k largest elements along the last axis (MindSpore: ``ops.top_k``).

    Args:
        input_x: real Tensor with an axis or more.
        k: how many.
        sorted: whether they come in order; they always do.

    Returns:
        The elements, and their Int32 positions.

    Raises:
        TypeError: ``k`` is no int, or ``sorted`` no bool.
        ValueError: there are fewer than ``k``.
    """
    return TopK(sorted)(input_x, k)


class NthElement(BoundPrimitive):
    """The n-th smallest element of the last axis; call: ``NthElement()(input, n)``.

    Args:
        reverse: whether to count from the largest.
    """

    reverse: bool = False
    statics: ClassVar[tuple[str, ...]] = ("n",)
    n: int = field(default=0, kw_only=True)

    def __post_init__(self) -> None:
        checks.of_type("reverse", self.reverse, bool, "NthElement")

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the position."""
        return {"n": checks.integer("n", statics["n"], "NthElement")}

    def compute(self, x: Array) -> Array:
        """Sort and take."""
        if not x.ndim:
            raise located(ValueError, "For 'NthElement', the input must have an axis, but is 0-d.")
        size = x.shape[-1]
        if not 0 <= self.n < size:
            raise located(
                ValueError,
                f"For primitive[NthElement], the n_value must be in [0, {size}), but got {self.n}.",
            )
        return Sort(-1, self.reverse).compute(x)[0][..., self.n]


class KthValue(Primitive):
    """The k-th smallest element along an axis and its Int64 position (MindSpore: ``KthValue``)."""

    k: int
    dim: int = -1
    keepdim: bool = False

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Sort and take."""
        axis = checks.axis_in_rank(self.dim, x.ndim, "kthvalue", "dim")
        if not x.size:
            raise located(ValueError, f"For 'kthvalue', the input is empty: shape {x.shape}.")
        size = x.shape[axis] if x.ndim else 1
        if not 1 <= self.k <= size:
            raise located(
                RuntimeError,
                f"For 'kthvalue', 'k' must be in [1, {size}], but got {self.k}.",
            )
        values, places = Sort(axis).compute(x)
        if not x.ndim:
            return values, places.astype(np.int64)
        pick = (slice(None),) * axis + (
            (slice(self.k - 1, self.k)) if self.keepdim else self.k - 1,
        )
        return values[pick], places[pick].astype(np.int64)


def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """Find the k-th smallest element along an axis (MindSpore: ``mint.kthvalue``).

    Args:
        input: real Tensor.
        k: which element, counted from 1.
        dim: the axis.
        keepdim: whether the axis stays, with size 1.

    Returns:
        The elements, and their Int64 positions.

    Raises:
        TypeError: ``k`` or ``dim`` is no int, or ``keepdim`` no bool.
        ValueError: ``input`` is empty, or there is no such axis.
        RuntimeError: there is no k-th element.
    """
    checks.of_type("keepdim", keepdim, bool, "kthvalue")
    k, dim = checks.integer("k", k, "kthvalue"), checks.integer("dim", dim, "kthvalue")
    return KthValue(k, dim, keepdim)(input)


class Quantile(Primitive):
    """Quantiles by linear interpolation; call: ``Quantile()(input, q)``.

    Args:
        dim: axis to reduce; None for the flat array.
        keep_dims: whether the axis stays, with size 1.
        ignore_nan: whether NaNs are left out instead of being the result.
    """

    dim: int | None = None
    keep_dims: bool = False
    ignore_nan: bool = False

    def __post_init__(self) -> None:
        if self.dim is not None:
            checks.of_type("dim", self.dim, int, "Quantile")
        checks.of_type("keep_dims", self.keep_dims, bool, "Quantile")
        checks.of_type("ignore_nan", self.ignore_nan, bool, "Quantile")

    def __call__(self, *inputs: Any) -> Any:
        """Check ``q`` where its values are known, and compute."""
        x, q = inputs
        checks.tensors("Quantile", input=x)
        if not isinstance(q, float) and not hasattr(q, "dtype"):
            raise located(
                TypeError, f"For 'Quantile', the 'q' must be a float or Tensor, but got {q!r}."
            )
        host = np.asarray(q) if isinstance(q, float) else known_values(q)
        if host is not None and host.dtype.kind == "f" and not ((host >= 0) & (host <= 1)).all():
            raise located(
                ValueError, f"For 'Quantile', the 'q' must in the range [0, 1], but got: {host}."
            )
        if isinstance(q, float):
            q = np.asarray(q, to_np(x.dtype))
        return super()._dispatch(x, q)

    def compute(self, x: Array, q: Array) -> Array:
        """Sort and interpolate; the quantiles stand on the first axis, if ``q`` has one."""
        accept_alike("Quantile", REAL, input=x, q=q)
        if q.ndim > 1:
            raise located(
                ValueError, f"For 'Quantile', 'q' must be 0-d or 1-d, but got shape {q.shape}."
            )
        axis = self.dim if self.dim is None else checks.axis_in_rank(self.dim, x.ndim, "Quantile")
        if not x.ndim:
            axis = None
        size = x.size if axis is None else x.shape[axis]
        if not size:
            raise located(ValueError, f"For 'Quantile', the axis is empty: shape {x.shape}.")
        function = jnp.nanquantile if self.ignore_nan else jnp.quantile
        return function(x, q, axis=axis, keepdims=self.keep_dims).astype(x.dtype)


def quantile(input: Tensor, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Compute quantiles by linear interpolation (MindSpore: ``ops.quantile``).

    Args:
        input: Float32 or Float64 Tensor.
        q: float, or 0-d or 1-d Tensor of the same dtype, from 0 to 1.
        axis: axis to reduce; None for the flat Tensor.
        keepdims: whether the axis stays, with size 1.

    Returns:
        Tensor of the same dtype; several quantiles stand on the first axis. NaN where there is one.

    Raises:
        TypeError: a dtype is another, or ``q`` is neither float nor Tensor.
        ValueError: ``q`` is out of range, or there is no such axis.
    """
    return Quantile(axis, keepdims)(input, q)


def nanquantile(input: Tensor, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Compute quantiles without the NaNs (MindSpore: ``ops.nanquantile``).

    Args:
        input: Float32 or Float64 Tensor.
        q: float, or 0-d or 1-d Tensor of the same dtype, from 0 to 1.
        axis: axis to reduce; None for the flat Tensor.
        keepdims: whether the axis stays, with size 1.

    Returns:
        Tensor of the same dtype; several quantiles stand on the first axis. NaN where all are.

    Raises:
        TypeError: a dtype is another, or ``q`` is neither float nor Tensor.
        ValueError: ``q`` is out of range, or there is no such axis.
    """
    return Quantile(axis, keepdims, True)(input, q)
