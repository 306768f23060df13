"""Distinct elements, set differences, ragged ranges, sparse indices: sizes that values decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, int32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.gather import known_values
from mindjax.ops.masking import need_values
from mindjax.ops.numeric.kinds import REAL, accept, accept_alike

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _index_dtype(op: str, name: str, dtype: Any) -> Number:
    if dtype not in (int32, int64):
        raise located(
            TypeError,
            f"For '{op}', the '{name}' should be one of [mindspore.int32, mindspore.int64], but "
            f"got '{dtype}'.",
        )
    return as_dtype(dtype)


class UniqueConsecutive(Primitive):
    """Neighbours that are equal merged, with their inverse and counts, both Int64.

    Args:
        return_inverse: kept for the original's signature, as is the next: all three always come.
        return_counts: see ``return_inverse``.
        dim: axis whose slices are compared; None compares the elements of the flat array.
    """

    return_inverse: bool = False
    return_counts: bool = False
    dim: int | None = None
    concrete: ClassVar[bool] = True

    def compute(self, x: Array) -> tuple[Array, Array, Array]:
        """Compare on the host."""
        need_values("unique_consecutive", "compare x[1:] with x[:-1] instead", x)
        host = np.asarray(x)
        axis = None
        if self.dim is not None:
            axis = checks.axis_in_rank(self.dim, host.ndim, "UniqueConsecutive", "dim")
        rows = host.reshape(-1, 1) if axis is None else np.moveaxis(host, axis, 0)
        flat = rows.reshape(len(rows), int(np.prod(rows.shape[1:], dtype=np.int64)))
        starts = np.ones(len(flat), bool)
        starts[1:] = (flat[1:] != flat[:-1]).any(1)
        inverse = np.cumsum(starts) - 1
        kept = np.flatnonzero(starts)
        counts = np.diff(np.append(kept, len(flat)))
        if axis is None:
            values, inverse = rows[kept, 0], inverse.reshape(host.shape)
        else:
            values = np.moveaxis(rows[kept], 0, axis)
        return jnp.asarray(values), jnp.asarray(inverse, np.int64), jnp.asarray(counts, np.int64)


def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Merge neighbours that are equal (MindSpore: ``ops.unique_consecutive``).

    Args:
        input: Tensor of any shape and dtype.
        return_inverse: whether to give the index of each element's group too.
        return_counts: whether to give the size of each group too.
        dim: axis whose slices are compared; None compares the elements of the flat Tensor.

    Returns:
        Tensor, or a tuple with the Int64 inverse and counts behind it.

    Raises:
        TypeError: a flag is no bool, or ``dim`` no int.
        ValueError: there is no such axis.
        RuntimeError: a compiled program asks, which cannot know how many there are.
    """
    checks.of_type("return_inverse", return_inverse, bool, "unique_consecutive")
    checks.of_type("return_counts", return_counts, bool, "unique_consecutive")
    if dim is not None:
        dim = checks.integer("dim", dim, "unique_consecutive")
    values, inverse, counts = UniqueConsecutive(return_inverse, return_counts, dim)(input)
    more = [t for t, wanted in ((inverse, return_inverse), (counts, return_counts)) if wanted]
    return (values, *more) if more else values


class UniqueWithPad(Primitive):
    """Distinct elements padded to the length of the input; call: ``UniqueWithPad()(x, pad)``."""

    def compute(self, x: Array, pad: Array) -> tuple[Array, Array]:
        """Sort, and rank the groups by their first element."""
        accept("UniqueWithPad", "x", x, ("Float32", "Int32", "Int64"))
        if x.ndim != 1:
            raise located(
                ValueError,
                f"For primitive[UniqueWithPad], the rank of x must be 1, but got {x.ndim}.",
            )
        size = x.shape[0]
        kind = np.int64 if x.dtype == np.int64 else np.int32
        if not size:
            return x, jnp.zeros((0,), kind)
        order = jnp.argsort(x, stable=True)
        sorted_x = x[order]
        starts = jnp.concatenate([jnp.ones(1, np.bool_), sorted_x[1:] != sorted_x[:-1]])
        group = jnp.cumsum(starts.astype(np.int32)) - 1
        # The sort is stable, so that a group starts with its first element in `x`.
        firsts = jnp.full((size,), size, order.dtype)
        firsts = firsts.at[jnp.where(starts, group, size)].set(order, mode="drop")
        rank = jnp.argsort(jnp.argsort(firsts, stable=True), stable=True)
        index = jnp.zeros((size,), kind).at[order].set(rank[group].astype(kind))
        padded = jnp.full((size,), pad.astype(x.dtype), x.dtype)
        return padded.at[index].set(x), index


def unique_with_pad(x: Tensor, pad_num: int) -> tuple[Tensor, Tensor]:
    """Find the distinct elements, padded to the length of the input (``ops.unique_with_pad``).

    Args:
        x: Int32, Int64 or Float32 Tensor with one axis.
        pad_num: number that fills the places behind the distinct elements.

    Returns:
        The distinct elements in order of first appearance, and for each element of ``x`` its index
        among them (Int32, Int64 for Int64).

    Raises:
        TypeError: ``x`` has another dtype.
        ValueError: ``x`` has not one axis.
    """
    return UniqueWithPad()(x, pad_num)


class ListDiff(Primitive):
    """Elements of x that y does not hold, and their positions; call: ``ListDiff()(x, y)``.

    Args:
        out_idx: Int32 or Int64, element type of the positions.
    """

    out_idx: Number = int32
    concrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _index_dtype("ListDiff", "out_idx", self.out_idx)

    def compute(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Compare on the host."""
        need_values("ListDiff", "use ops.where with a mask", x, y)
        if x.ndim != 1 or y.ndim != 1:
            raise located(
                ValueError,
                f"For ListDiff, input x, y should be 1D, but got x dims = {x.ndim}, y dims = "
                f"{y.ndim}.",
            )
        if x.dtype != y.dtype:
            raise located(
                TypeError,
                f"For ListDiff, type of 'x' and 'y' should be same, but got {x.dtype}, {y.dtype}.",
            )
        host = np.asarray(x)
        places = np.flatnonzero(~np.isin(host, np.asarray(y)))
        return jnp.asarray(host[places]), jnp.asarray(places, self.out_idx.np)


class RaggedRange(Primitive):
    """Ranges behind each other; call: ``RaggedRange(Tsplits)(starts, limits, deltas)``.

    Args:
        Tsplits: Int32 or Int64, element type of the splits.
    """

    Tsplits: Number
    concrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        _index_dtype("RaggedRange", "Tsplits", self.Tsplits)

    def compute(self, starts: Array, limits: Array, deltas: Array) -> tuple[Array, Array]:
        """Give the splits, one more than there are ranges, and the numbers."""
        need_values("RaggedRange", "use ops.arange with Python numbers", starts, limits, deltas)
        kinds = ("Int32", "Int64", *REAL)
        accept_alike("RaggedRange", kinds, starts=starts, limits=limits, deltas=deltas)
        if starts.ndim > 1 or starts.shape != limits.shape or starts.shape != deltas.shape:
            raise located(
                ValueError,
                "For RaggedRange, starts, limits, and deltas must be 0-d or 1-d of the same shape, "
                f"but got {starts.shape}, {limits.shape} and {deltas.shape}.",
            )
        first, last, step = (np.asarray(v).reshape(-1) for v in (starts, limits, deltas))
        if not step.all():
            raise located(ValueError, "For RaggedRange, requires input delta != 0, but got 0.")
        if first.dtype.kind == "f":
            sizes = np.ceil((last - first) / step)
        else:
            sizes = -((first - last) // step)
        counts = np.maximum(sizes, 0).astype(np.int64)
        splits = np.concatenate([[0], np.cumsum(counts)])
        place = np.arange(splits[-1]) - np.repeat(splits[:-1], counts)
        values = np.repeat(first, counts) + place.astype(first.dtype) * np.repeat(step, counts)
        return jnp.asarray(splits, self.Tsplits.np), jnp.asarray(values, starts.dtype)


class UnravelIndex(Primitive):
    """Coordinates of flat indices, one row an axis; call: ``UnravelIndex()(indices, dims)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Check the indices where their values are known, and compute."""
        indices, dims = (known_values(v) for v in inputs)
        if indices is not None and dims is not None:
            size = np.prod(dims.astype(np.int64))
            if not ((indices >= 0) & (indices < size)).all():
                raise located(
                    ValueError,
                    f"For 'UnravelIndex', the indices must be in [0, {size}), but got "
                    f"{indices.tolist()}.",
                )
        return super()._dispatch(*inputs)

    def compute(self, indices: Array, dims: Array) -> Array:
        """Divide by the sizes, the last axis first."""
        accept_alike("UnravelIndex", ("Int32", "Int64"), dims=dims, indices=indices)
        if indices.ndim > 1 or dims.ndim != 1:
            raise located(
                ValueError,
                "For primitive[UnravelIndex], the indices must be 0-d or 1-d and the dims 1-d, but "
                f"got the shapes {indices.shape} and {dims.shape}.",
            )
        rows = []
        for i in reversed(range(dims.shape[0])):
            rows.append(indices % dims[i] if i else indices)
            indices = indices // dims[i]
        if not rows:
            return jnp.zeros((0, *indices.shape), indices.dtype)
        return jnp.stack(rows[::-1])


class ComputeAccidentalHits(Primitive):
    """Sampled classes that are true ones; call: ``ComputeAccidentalHits(n)(true, sampled)``.

    Args:
        num_true: number of true classes a row.
    """

    num_true: int = 1
    concrete: ClassVar[bool] = True

    def __post_init__(self) -> None:
        checks.of_type("num_true", self.num_true, int, "ComputeAccidentalHits")
        checks.positive_int("num_true", self.num_true, "ComputeAccidentalHits")

    def compute(self, true: Array, sampled: Array) -> tuple[Array, Array, Array]:
        """Give rows (Int32), places among the samples (Int64) and the lowest Float32 numbers."""
        op = "ComputeAccidentalHits"
        need_values(op, "compare the two with ops.equal", true, sampled)
        accept_alike(op, ("Int32", "Int64"), true_classes=true, sampled_candidates=sampled)
        if true.ndim != 2 or sampled.ndim != 1 or true.shape[1] != self.num_true:
            raise located(
                ValueError,
                f"For '{op}', the shapes must be (rows, {self.num_true}) and (samples,), but got "
                f"{true.shape} and {sampled.shape}.",
            )
        rows, _, places = np.nonzero(np.asarray(true)[:, :, None] == np.asarray(sampled))
        lowest = np.full(rows.shape, np.finfo(np.float32).min, np.float32)
        return jnp.asarray(rows, np.int32), jnp.asarray(places, np.int64), jnp.asarray(lowest)
