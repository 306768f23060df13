"""Largest, smallest, product and mean of the rows of each segment."""

from __future__ import annotations

import itertools
from dataclasses import field
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.gather import check_range, index_array, take_axis
from mindjax.ops.scatter import UnsortedSegment, scatter_rows
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _limits(dtype: Any) -> tuple[Any, Any]:
    """Give the lowest and the highest finite number of a dtype; TypeError if it has none."""
    if not (jnp.issubdtype(dtype, jnp.floating) or jnp.issubdtype(dtype, jnp.integer)):
        raise located(
            TypeError,
            f"The largest of a segment is taken of integers and floats, but got {from_np(dtype)}.",
        )
    info = jnp.finfo(dtype) if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype)
    return info.min, info.max


def _rows_of(ids: Array, count: int) -> Array:
    """Bring segment numbers to index tuples; negative ones are out of range."""
    ids = ids.astype(np.int32)
    return jnp.where(ids < 0, np.int32(count), ids)[..., None]


def segment_sum(x: Array, ids: Array, count: int) -> Array:
    """Add rows by segment."""
    out = jnp.zeros((count, *x.shape[ids.ndim :]), x.dtype)
    return scatter_rows(out, _rows_of(ids, count), x, "add")


def _spread(values: Array, ids: Array) -> Array:
    """Give each row the value of its segment; NaN or 0 for a row of none."""
    return values.at[ids.astype(np.int32)].get(mode="fill", fill_value=0)


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def segment_extreme(x: Array, ids: Array, count: int, how: str) -> Array:
    """Take the largest (``"max"``) or smallest (``"min"``) rows by segment.

    The gradient is shared evenly by equal ones; an empty segment has the dtype's limit.
    """
    low, high = _limits(x.dtype)
    start = jnp.full((count, *x.shape[ids.ndim :]), low if how == "max" else high, x.dtype)
    return scatter_rows(start, _rows_of(ids, count), x, how)


@segment_extreme.defjvp
def _segment_extreme_jvp(
    count: int, how: str, primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    x, ids = primals
    out = segment_extreme(x, ids, count, how)
    ids = jnp.where(ids < 0, count, ids)
    chosen = (x == _spread(out, ids)).astype(x.dtype)
    number = jnp.maximum(segment_sum(chosen, ids, count), jnp.ones((), x.dtype))
    share = chosen / jnp.maximum(_spread(number, ids), jnp.ones((), x.dtype))
    return out, segment_sum(jax.lax.stop_gradient(share) * tangents[0], ids, count)


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def segment_product(x: Array, ids: Array, count: int) -> Array:
    """Multiply rows by segment; an empty segment has 1."""
    start = jnp.ones((count, *x.shape[ids.ndim :]), x.dtype)
    return scatter_rows(start, _rows_of(ids, count), x, "mul")


@segment_product.defjvp
def _segment_product_jvp(
    count: int, primals: tuple[Array, Array], tangents: tuple[Array, Array]
) -> tuple[Array, Array]:
    x, ids = primals
    terms = _product_of_others(x, ids) * tangents[0]
    return segment_product(x, ids, count), segment_sum(terms, ids, count)


def _product_of_others(x: Array, ids: Array) -> Array:
    """Multiply, for each row, the other rows of its segment; no division, so zeros are no harm."""
    if not x.size:
        return x
    rows = x.reshape((ids.size, -1))
    order = jnp.argsort(ids.reshape(-1), stable=True)
    sorted_ids, rows = ids.reshape(-1).at[order].get(), rows.at[order].get()
    new = (sorted_ids[1:] != sorted_ids[:-1])[:, None]
    edge, one = jnp.ones((1, 1), np.bool_), jnp.ones((1, rows.shape[1]), x.dtype)

    def joined(left: Any, right: Any) -> Any:
        return left[0] | right[0], jnp.where(right[0], right[1], left[1] * right[1])

    def scanned(values: Array, starts: Array, reverse: bool) -> Array:
        pairs = (starts, jnp.where(starts, jnp.ones((), x.dtype), values))
        return jax.lax.associative_scan(joined, pairs, reverse=reverse)[1]

    first, last = jnp.concatenate([edge, new]), jnp.concatenate([new, edge])
    before = scanned(jnp.concatenate([one, rows[:-1]]), first[: len(rows)], False)
    after = scanned(jnp.concatenate([rows[1:], one]), last[-len(rows) :], True)
    return jnp.zeros_like(rows).at[order].set(before * after).reshape(x.shape)


class _UnsortedSegment(UnsortedSegment, register=False):
    """Base of reductions of rows by segment that are not sums."""

    def compute(self, x: Array, ids: Array) -> Array:
        """Check the shapes and reduce."""
        if not ids.ndim or x.shape[: ids.ndim] != ids.shape:
            raise located(
                ValueError,
                f"For '{self.name}', the shape of 'input_x' must begin with that of 'segment_ids', "
                f"but got {x.shape} and {ids.shape}.",
            )
        if not jnp.issubdtype(ids.dtype, jnp.integer):
            raise located(
                TypeError,
                f"For primitive[{self.name}], the input argument[segment_ids] must be a type of "
                f"{{Int32, Int64}}, but got {ids.dtype}.",
            )
        return self.reduced(x, ids)

    def reduced(self, x: Array, ids: Array) -> Array:
        """Reduce the rows of each segment."""
        raise NotImplementedError


class UnsortedSegmentMax(_UnsortedSegment):
    """Largest rows by segment; call: ``UnsortedSegmentMax()(input_x, segment_ids, n)``."""

    def reduced(self, x: Array, ids: Array) -> Array:
        """Take the largest."""
        return segment_extreme(x, ids, self.num_segments, "max")


class UnsortedSegmentMin(_UnsortedSegment):
    """Smallest rows by segment; call: ``UnsortedSegmentMin()(input_x, segment_ids, n)``."""

    def reduced(self, x: Array, ids: Array) -> Array:
        """Take the smallest."""
        return segment_extreme(x, ids, self.num_segments, "min")


class UnsortedSegmentProd(_UnsortedSegment):
    """Products of rows by segment; call: ``UnsortedSegmentProd()(input_x, segment_ids, n)``."""

    def reduced(self, x: Array, ids: Array) -> Array:
        """Multiply."""
        return segment_product(x, ids, self.num_segments)


def _unsorted(record: Any, x: Any, segment_ids: Any, num_segments: Any) -> Tensor:
    count = record.bind(num_segments=num_segments)["num_segments"]
    return type(record).of(count)(x, segment_ids)


def unsorted_segment_max(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """Take the largest rows by segment (MindSpore: ``ops.unsorted_segment_max``).

    Args:
        x: Tensor whose shape begins with that of ``segment_ids``.
        segment_ids: integer Tensor of at least one axis.
        num_segments: number of segments, an int or 0-d Tensor.

    Returns:
        Tensor of shape ``(num_segments, *x.shape[segment_ids.ndim:])``; a segment without rows has
        the lowest number of the dtype.

    Raises:
        ValueError: the shapes do not fit, or ``num_segments`` is not above 0.
        RuntimeError: a segment is out of range (in PYNATIVE on the CPU).
    """
    return _unsorted(UnsortedSegmentMax(), x, segment_ids, num_segments)


def unsorted_segment_min(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """Take the smallest rows by segment (MindSpore: ``ops.unsorted_segment_min``).

    Args:
        x: Tensor whose shape begins with that of ``segment_ids``.
        segment_ids: integer Tensor of at least one axis.
        num_segments: number of segments, an int or 0-d Tensor.

    Returns:
        Tensor of shape ``(num_segments, *x.shape[segment_ids.ndim:])``; a segment without rows has
        the highest number of the dtype. Errors are those of `unsorted_segment_max`.
    """
    return _unsorted(UnsortedSegmentMin(), x, segment_ids, num_segments)


def unsorted_segment_prod(x: Tensor, segment_ids: Tensor, num_segments: Any) -> Tensor:
    """Multiply rows by segment (MindSpore: ``ops.unsorted_segment_prod``).

    Args:
        x: Tensor whose shape begins with that of ``segment_ids``.
        segment_ids: integer Tensor of at least one axis.
        num_segments: number of segments, an int or 0-d Tensor.

    Returns:
        Tensor of shape ``(num_segments, *x.shape[segment_ids.ndim:])``; a segment without rows has
        1. Errors are those of `unsorted_segment_max`.
    """
    return _unsorted(UnsortedSegmentProd(), x, segment_ids, num_segments)


def segment_mean(x: Array, ids: Array, count: int) -> Array:
    """Average rows by segment; 0 for one without rows, and integers are cut to integers."""
    total = segment_sum(x, ids, count)
    number = segment_sum(jnp.ones(ids.shape, np.int32), ids, count)
    number = jnp.maximum(number, 1).reshape((count,) + (1,) * (total.ndim - 1))
    number = number.astype(total.dtype)
    return total / number if jnp.issubdtype(x.dtype, jnp.inexact) else jax.lax.div(total, number)


class _Segment(Primitive, register=False):
    """Base of reductions of rows by a rising vector of segments; the last gives their number."""

    num_segments: int | None = field(default=None, kw_only=True)

    def __call__(self, *inputs: Any) -> Any:
        """Read the number of segments, and reduce.

        Raises:
            ValueError: the segments do not rise, are negative, or are not as many as rows.
            RuntimeError: a compiled program asks, which does not know the last segment.
        """
        if self.num_segments is not None:
            return super().__call__(*inputs)
        x, ids = inputs
        count = _number_of_segments(self.name, shape_of(x), checks.python_value(ids))
        return type(self)(num_segments=count)(x, ids)

    def compute(self, x: Array, ids: Array) -> Array:
        """Reduce the rows of each segment."""
        raise NotImplementedError

    @property
    def count(self) -> int:
        """The number of segments, which the call has read."""
        return self.num_segments or 0


def _number_of_segments(
    op: str, shape: tuple[int, ...], ids: Any, error: type[Exception] = ValueError
) -> int:
    if not isinstance(ids, tuple) or any(isinstance(i, tuple) for i in ids):
        raise located(ValueError, f"For '{op}', the 'segment_ids' must be a vector.")
    if not shape or len(ids) != shape[0]:
        raise located(
            ValueError,
            f"For '{op}', the amount of data for segment_ids must be equal to the first dimension "
            f"of the shape of input_x, but got {len(ids)} and {shape[0] if shape else 0}.",
        )
    if not ids:
        raise located(ValueError, f"For '{op}', segment_ids input cannot be empty.")
    ids = checks.integers("segment_ids", ids, op)
    if min(ids) < 0:
        raise located(
            error,
            f"For '{op}', the values of segment_ids must be nonnegative, but got {min(ids)}.",
        )
    if any(a > b for a, b in itertools.pairwise(ids)):
        raise located(
            error,
            f"For '{op}', segment_ids must be a tensor with element values sorted in ascending "
            f"order, but got {ids}.",
        )
    return ids[-1] + 1


class SegmentSum(_Segment):
    """Sums of rows by rising segments."""

    def compute(self, x: Array, ids: Array) -> Array:
        """Add."""
        return segment_sum(x, ids, self.count)


class SegmentMean(_Segment):
    """Means of rows by rising segments."""

    def compute(self, x: Array, ids: Array) -> Array:
        """Average."""
        return segment_mean(x, ids, self.count)


class SegmentProd(_Segment):
    """Products of rows by rising segments."""

    def compute(self, x: Array, ids: Array) -> Array:
        """Multiply."""
        return segment_product(x, ids, self.count)


class SegmentMax(_Segment):
    """Largest rows by rising segments; 0 for a segment without rows."""

    how: ClassVar[str] = "max"

    def compute(self, x: Array, ids: Array) -> Array:
        """Take the extremes of the segments that have rows."""
        number = segment_sum(jnp.ones(ids.shape, np.int32), ids, self.count)
        there = (number > 0).reshape((self.count,) + (1,) * (x.ndim - 1))
        extremes = segment_extreme(x, ids, self.count, self.how)
        return jnp.where(there, extremes, jnp.zeros((), x.dtype))


class SegmentMin(SegmentMax):
    """Smallest rows by rising segments; 0 for a segment without rows."""

    how: ClassVar[str] = "min"


class SparseSegmentMean(Primitive):
    """Means by rising segments of the rows that indices name."""

    num_segments: int | None = field(default=None, kw_only=True)

    def __call__(self, *inputs: Any) -> Any:
        """Read the number of segments, and average."""
        if self.num_segments is not None:
            return Primitive.__call__(self, *inputs)
        x, indices, ids = inputs
        check_range(self.name, indices, shape_of(x)[0] if shape_of(x) else 0)
        count = _number_of_segments(
            self.name, shape_of(indices), checks.python_value(ids), RuntimeError
        )
        return Primitive.__call__(SparseSegmentMean(num_segments=count), x, indices, ids)

    def compute(self, x: Array, indices: Array, ids: Array) -> Array:
        """Take the rows, and average."""
        where = index_array(self.name, indices, x.shape[0])
        return segment_mean(take_axis(self.name, x, where, 0), ids, self.num_segments or 0)


def sparse_segment_mean(x: Tensor, indices: Tensor, segment_ids: Tensor) -> Tensor:
    """Average, by segment, the rows that indices name (MindSpore: ``ops.sparse_segment_mean``).

    Args:
        x: Tensor of at least one axis.
        indices: integer vector of row numbers.
        segment_ids: rising integer vector of the same length.

    Returns:
        Tensor of shape ``(segment_ids[-1] + 1, *x.shape[1:])``; 0 for a segment without rows.

    Raises:
        ValueError: the segments are not as many as ``indices``.
        RuntimeError: the segments do not rise or are negative; an index is out of range (in
            PYNATIVE on the CPU); a compiled program asks where the segments are no constants.
    """
    return SparseSegmentMean()(x, indices, segment_ids)
