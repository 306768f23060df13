"""Rectangular parts of Tensors: basic indexing, strided slices, narrow and select."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks, jax_private
from mindjax.core.caches import Cache
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.shape import broadcast, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array

# What happens to an axis. Starts are operands, so that no new start compiles anything. In a graph
# they are numbers of its program: XLA sees which part is read.
INT = ("int",)  # drops the axis, takes a start
ALL = ("all",)  # keeps the axis
NEW = ("new",)  # makes an axis of size 1
Plan = tuple[tuple[Any, ...], ...]


def slice_entry(size: int, step: int) -> tuple[Any, ...]:
    """Describe an axis of which ``size`` elements are kept, ``step`` apart; takes a start."""
    return ("slice", size, step)


Starts = Array | tuple[Array, ...] | None


class _Region(NamedTuple):
    """The block of an array that a plan reads: before strides, dropped and new axes."""

    starts: list[Any]
    sizes: list[int]
    steps: list[int]
    kept: list[int]
    shape: list[int]


def _region(shape: Sequence[int], plan: Plan, starts: Starts) -> _Region:
    region = _Region([], [], [], [], [])
    operand = 0
    axis = 0
    for entry in plan:
        if entry[0] == "new":
            region.shape.append(1)
            continue
        size, step, start = shape[axis], 1, np.int32(0)
        if entry[0] != "all":
            assert starts is not None
            if isinstance(starts, tuple):
                start = starts[operand]
            else:
                start = lax.squeeze(lax.slice_in_dim(starts, operand, operand + 1), [0])
            operand += 1
            size, step = (1, 1) if entry[0] == "int" else entry[1:]
        if entry[0] != "int":
            region.shape.append(size)
        span = (size - 1) * abs(step) + 1 if size else 0
        region.starts.append(start)
        region.sizes.append(span)
        region.steps.append(step)
        region.kept.append(size)
        axis += 1
    for size in shape[axis:]:
        region.starts.append(np.int32(0))
        region.sizes.append(size)
        region.steps.append(1)
        region.kept.append(size)
        region.shape.append(size)
    return region


class Index(Primitive, register=False):
    """The part of an array that a basic index reads.

    Fields: one entry an axis (``INT``, ``ALL``, ``NEW`` or `slice_entry`); axes that are not named
    are kept. The second input holds the lowest index of each ``INT`` and slice, Int32.
    """

    plan: Plan
    view: ClassVar[bool | str] = True

    def __call__(self, *inputs: Any) -> Any:
        """Read."""
        return super().__call__(*_numbered(inputs))

    def compute(self, x: Array, starts: Starts = None) -> Array:
        """Slice dynamically, then step, reverse and reshape."""
        region = _region(x.shape, self.plan, starts)
        if starts is not None:
            x = lax.dynamic_slice(x, region.starts, region.sizes)
        if any(abs(s) != 1 for s in region.steps):
            x = lax.slice(x, [0] * x.ndim, x.shape, [abs(s) for s in region.steps])
        backwards = [i for i, s in enumerate(region.steps) if s < 0]
        if backwards:
            x = lax.rev(x, backwards)
        return x.reshape(region.shape)


def _numbered(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Make numbers of the lowest indices while a graph is traced."""
    starts = inputs[-1]
    if current.frame is None or type(starts) is not np.ndarray or jax_private.untraced():
        return inputs
    return *inputs[:-1], tuple(starts)


def fitted(value: Array, shape: tuple[int, ...]) -> Array:
    """Broadcast a value to the part that it is written to; one element fits any."""
    return broadcast(value.reshape(()) if value.size == 1 else value, shape)


class Update(Primitive, register=False):
    """An array with the part that a basic index reads replaced; fields as in `Index`."""

    plan: Plan

    def __call__(self, *inputs: Any) -> Any:
        """Write."""
        return super().__call__(*_numbered(inputs))

    def compute(self, x: Array, value: Array, starts: Starts = None) -> Array:
        """Write ``value``, cast and broadcast, into the part."""
        region = _region(x.shape, self.plan, starts)
        value = fitted(value.astype(x.dtype), tuple(region.shape)).reshape(region.kept)
        if not value.size:
            return x
        backwards = [i for i, s in enumerate(region.steps) if s < 0]
        if backwards:
            value = lax.rev(value, backwards)
        if starts is None:
            return value
        if any(abs(s) != 1 for s in region.steps):
            value = self._between(x, value, region)
        return lax.dynamic_update_slice(x, value, region.starts)

    def _between(self, x: Array, value: Array, region: _Region) -> Array:
        """Spread the value over its span, with what lies between its elements as it was."""
        gaps = [(0, 0, abs(s) - 1) for s in region.steps]
        value = lax.pad(value, jnp.zeros((), x.dtype), gaps)
        written: Any = True
        for axis, step in enumerate(region.steps):
            if abs(step) != 1:
                place = lax.broadcasted_iota(np.int32, region.sizes, axis)
                written = (place % np.int32(abs(step)) == 0) & written
        return jnp.where(written, value, lax.dynamic_slice(x, region.starts, region.sizes))


_INDEXES: Cache[Index] = Cache("index plans", 1024)
_UPDATES: Cache[Update] = Cache("update plans", 1024)


def index_record(plan: Plan) -> Index:
    """Give the shared record of a plan."""
    return _INDEXES.get(plan) or _INDEXES.put(plan, Index(plan))


def update_record(plan: Plan) -> Update:
    """Give the shared record of a plan."""
    return _UPDATES.get(plan) or _UPDATES.put(plan, Update(plan))


def out_of_bounds(index: int, size: int) -> IndexError:
    """Build the error of an index that no element has."""
    return located(IndexError, f"index {index} is out of bounds for dimension with size {size}")


def slice_plan(start: Any, stop: Any, step: Any, size: int) -> tuple[int, int, int]:
    """Resolve a Python slice on an axis.

    Args:
        start: first index or None.
        stop: index before which it ends, or None.
        step: distance, not 0, or None.
        size: number of elements of the axis.

    Returns:
        Lowest index, number of elements and step.

    Raises:
        ValueError: ``step`` is 0.
    """
    if step == 0:
        raise located(ValueError, "For 'StridedSlice', 'strides' cannot contain 0")
    indices = range(*builtins.slice(start, stop, step).indices(size))
    count = len(indices)
    if not count:
        return 0, 0, 1
    return min(indices[0], indices[-1]), count, indices.step


def _check_place(owner: str, index: int, size: int) -> None:
    if not -size <= index < size:
        raise located(
            ValueError,
            f"For '{owner}', the 'index' must be in [{-size}, {size}), but got {index}.",
        )


def select(x: Any, axis: int, index: int) -> Any:
    """Take one index of an axis, which goes (MindSpore: ``Tensor.select``).

    Args:
        x: Tensor.
        axis: the axis.
        index: from ``-size`` to ``size - 1``.

    Returns:
        Tensor; in PYNATIVE it aliases ``x``.

    Raises:
        ValueError: the axis or the index is out of range.
    """
    shape = shape_of(x)
    axis = checks.axis_in_rank(axis, len(shape), "select", scalar=False)
    index, size = checks.integer("index", index, "select"), shape[axis]
    _check_place("select", index, size)
    starts = np.asarray([index % size], np.int32)
    return index_record((ALL,) * axis + (INT,))(x, starts)


def narrow(input: Tensor, axis: int, start: int, length: int) -> Tensor:
    """Take ``length`` consecutive elements of an axis (MindSpore: ``ops.narrow``).

    Args:
        input: Tensor.
        axis: the axis.
        start: first index; negative counts from the end.
        length: number of elements.

    Returns:
        Tensor; in PYNATIVE it aliases ``input``.

    Raises:
        ValueError: the axis, start or length is out of range.
    """
    shape = shape_of(input)
    axis = checks.axis_in_rank(axis, len(shape), "narrow")
    size = shape[axis]
    start, length = (
        checks.integer("start", start, "narrow"),
        checks.integer("length", length, "narrow"),
    )
    if not -size <= start <= size:
        raise located(
            ValueError,
            f"For 'narrow', 'start' must be in range of [{-size}, {size}], but got {start}.",
        )
    start = start + size if start < 0 else start
    if not 0 <= length <= size - start:
        raise located(
            ValueError,
            f"For 'narrow', 'length' must be in range of [0, {size - start}], but got {length}.",
        )
    plan = (ALL,) * axis + (slice_entry(length, 1),)
    return index_record(plan)(input, np.asarray([start if length else 0], np.int32))


class Slice(BoundPrimitive):
    """A block of an array; call: ``Slice()(input_x, begin, size)``."""

    statics: ClassVar[tuple[str, ...]] = ("begin", "size")
    begin: tuple[int, ...] = field(default=(), kw_only=True)
    size: tuple[int, ...] = field(default=(), kw_only=True)
    view: ClassVar[bool | str] = True

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the types."""
        return {n: checks.integers(n, v, "Slice") for n, v in statics.items()}

    def compute(self, x: Array) -> Array:
        """Slice; a size of -1 reaches to the end."""
        if not len(self.begin) == len(self.size) == x.ndim:
            raise located(
                ValueError,
                f"For Slice, the lengths of 'begin' and 'size' must be the rank {x.ndim}, but got "
                f"{len(self.begin)} and {len(self.size)}.",
            )
        stops = []
        for i, (first, size) in enumerate(zip(self.begin, self.size, strict=True)):
            stop = x.shape[i] if size == -1 else first + size
            if first < 0 or size < -1 or stop > x.shape[i]:
                raise located(
                    ValueError,
                    f"For Slice, the sum of begin_shape[{i}] and size_shape[{i}] must be no "
                    f"greater than input_x_shape[{i}].",
                )
            stops.append(stop)
        return lax.slice(x, self.begin, stops)


def slice(input_x: Tensor, begin: Any, size: Any) -> Tensor:
    """Take a block of a Tensor (MindSpore: ``ops.slice``).

    Args:
        input_x: Tensor.
        begin: first index of each axis.
        size: number of elements of each axis, -1 for all that follow.

    Returns:
        Tensor; in PYNATIVE it aliases ``input_x``.

    Raises:
        ValueError: the block reaches out of the Tensor.
    """
    return Slice.of(
        checks.integers("begin", begin, "Slice"), checks.integers("size", size, "Slice")
    )(input_x)


class StridedSlice(Primitive):
    """Basic indexing by masks; call: ``StridedSlice(...)(input_x, begin, end, strides)``."""

    begin_mask: int = 0
    end_mask: int = 0
    ellipsis_mask: int = 0
    new_axis_mask: int = 0
    shrink_axis_mask: int = 0

    def __post_init__(self) -> None:
        for name in self._fields:
            checks.non_negative_int(name, getattr(self, name), "StridedSlice")

    def __call__(self, *inputs: Any) -> Any:
        """Slice, with starts as operands."""
        x, *rest = inputs
        begin, end, strides = (
            checks.integers(n, v, "StridedSlice")
            for n, v in zip(("begin", "end", "strides"), rest, strict=True)
        )
        if not len(begin) == len(end) == len(strides):
            raise located(
                ValueError,
                "For 'StridedSlice', 'begin', 'end' and 'strides' must have the same length, but "
                f"got length of 'begin': {len(begin)}, 'end': {len(end)}, 'strides': "
                f"{len(strides)}.",
            )
        plan, starts = self._plan(shape_of(x), begin, end, strides)
        return index_record(plan)(x, np.asarray(starts, np.int32) if starts else None)

    def _plan(
        self,
        shape: tuple[int, ...],
        begin: tuple[int, ...],
        end: tuple[int, ...],
        strides: tuple[int, ...],
    ) -> tuple[Plan, list[int]]:
        count = len(begin)
        if self.ellipsis_mask & (self.ellipsis_mask - 1):
            raise located(
                ValueError,
                "For 'StridedSlice', only one bit of 'ellipsis_mask' may be set, but got "
                f"{self.ellipsis_mask}.",
            )
        marked = self.ellipsis_mask | self.new_axis_mask
        named = sum(not marked >> i & 1 for i in range(count))
        if named > len(shape):
            masked = any(getattr(self, f) for f in self._fields) or min(strides) < 0
            raise located(
                RuntimeError if masked else ValueError,
                f"For 'StridedSlice', 'begin' names {named} axes, but the input has {len(shape)}.",
            )
        plan: list[tuple[Any, ...]] = []
        starts: list[int] = []
        axis = 0
        for i in range(count):
            if self.ellipsis_mask >> i & 1:
                plan += [ALL] * (len(shape) - named)
                axis += len(shape) - named
                continue
            if self.new_axis_mask >> i & 1:
                plan.append(NEW)
                continue
            size = shape[axis]
            if self.shrink_axis_mask >> i & 1:
                if strides[i] < 0 or not -size <= begin[i] < size:
                    raise located(
                        IndexError,
                        f"For 'StridedSlice', 'begin[{i}]' must be in [{-size}, {size}) and "
                        f"'strides[{i}]' positive where 'shrink_axis_mask' is set, but got "
                        f"{begin[i]} and {strides[i]}.",
                    )
                plan.append(INT)
                starts.append(begin[i] % size)
            else:
                first = None if self.begin_mask >> i & 1 else begin[i]
                last = None if self.end_mask >> i & 1 else end[i]
                low, length, step = slice_plan(first, last, strides[i], size)
                plan.append(slice_entry(length, step))
                starts.append(low)
            axis += 1
        return tuple(plan), starts


def strided_slice(
    input_x: Tensor,
    begin: Any,
    end: Any,
    strides: Any,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
) -> Tensor:
    """Slice each axis from ``begin`` to ``end`` by ``strides`` (MindSpore: ``ops.strided_slice``).

    Args:
        input_x: Tensor.
        begin: first index of each axis named.
        end: index of each before which it ends.
        strides: steps, not 0; negative ones run backwards.
        begin_mask: bit i: ``begin[i]`` does not count, the axis is read from its end.
        end_mask: bit i: ``end[i]`` does not count.
        ellipsis_mask: bit i: entry i stands for all axes that no entry names.
        new_axis_mask: bit i: entry i makes an axis of size 1.
        shrink_axis_mask: bit i: entry i takes ``begin[i]`` and drops the axis.

    Returns:
        Tensor; in PYNATIVE it aliases ``input_x``.

    Raises:
        TypeError: an argument holds no integers.
        ValueError: the lengths differ, or a stride is 0.
        IndexError: the index of an axis that is dropped is out of range.
        RuntimeError: more axes are named than there are, with a mask or a negative stride;
            ValueError without.
    """
    record = StridedSlice(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    return record(input_x, begin, end, strides)


class _ReplaceDiagonal(Primitive, register=False):
    """An array with a diagonal replaced."""

    offset: int
    dim1: int
    dim2: int

    def compute(self, x: Array, source: Array) -> Array:
        axes = (checks.axis_in_rank(self.dim1, x.ndim), checks.axis_in_rank(self.dim2, x.ndim))
        moved = jnp.moveaxis(x, axes, (-2, -1))
        rows, columns = (lax.broadcasted_iota(np.int32, moved.shape[-2:], i) for i in (0, 1))
        place = rows + min(self.offset, 0)
        size = source.shape[-1]
        gathered = jnp.take(source, jnp.clip(place[:, 0], 0, max(size - 1, 0)), axis=-1)
        out = jnp.where(columns - rows == self.offset, gathered[..., None].astype(x.dtype), moved)
        return jnp.moveaxis(out, (-2, -1), axes)


def diagonal_scatter(
    input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Copy a Tensor with a diagonal replaced.

    Args:
        input: Tensor with at least two axes.
        src: the diagonal, of the shape that ``ops.diagonal`` gives.
        offset: which diagonal.
        dim1: first axis of the matrices.
        dim2: second axis of the matrices.

    Returns:
        Tensor of the shape of ``input``.
    """
    return _ReplaceDiagonal(offset, dim1, dim2)(input, src)


def select_scatter(input: Tensor, src: Tensor, axis: int, index: int) -> Tensor:
    """Copy a Tensor with one index of an axis replaced (``ops.select_scatter``).

    Args:
        input: Tensor.
        src: Tensor of ``input``'s shape without the axis.
        axis: the axis.
        index: which index of it.

    Returns:
        Tensor like ``input``.

    Raises:
        ValueError: the axis or the index is out of range, or the shapes do not fit.
    """
    shape = shape_of(input)
    axis = checks.axis_in_rank(axis, len(shape), "select_scatter")
    index, size = checks.integer("index", index, "select_scatter"), shape[axis]
    _check_place("select_scatter", index, size)
    plan = (ALL,) * axis + (INT,)
    return update_record(plan)(input, src, np.asarray([index % size], np.int32))


def slice_scatter(
    input: Tensor,
    src: Tensor,
    axis: int = 0,
    start: int | None = None,
    end: int | None = None,
    step: int = 1,
) -> Tensor:
    """Copy a Tensor with a slice of an axis replaced (``ops.slice_scatter``).

    Args:
        input: Tensor.
        src: Tensor of the slice's shape.
        axis: the axis.
        start: first index; None for the first.
        end: index behind the last; None for the end.
        step: distance of the indices, positive.

    Returns:
        Tensor like ``input``.

    Raises:
        ValueError: the axis is out of range, ``step`` is not positive, or the shapes do not fit.
    """
    shape = shape_of(input)
    axis = checks.axis_in_rank(axis, len(shape), "slice_scatter")
    low, count, step = slice_plan(start, end, step, shape[axis])
    plan = (ALL,) * axis + (slice_entry(count, step),)
    return update_record(plan)(input, src, np.asarray([low], np.int32))
