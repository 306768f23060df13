"""Joining, splitting and repeating Tensors."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np, promote_types
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.promotion import promote, refuse_wide_unsigned
from mindjax.ops.shape import atleast_1d, atleast_2d, atleast_3d, broadcast, reshape, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def _need_sequence(op: str, tensors: Any) -> None:
    if not isinstance(tensors, tuple | list):
        raise located(
            TypeError,
            f"For '{op}', the input must be a list or tuple of Tensors, but got "
            f"{type(tensors).__name__}.",
        )
    for x in tensors:
        if not isinstance(x, Handle) and not isinstance(x, jax.Array | np.ndarray):
            raise located(
                TypeError,
                f"For '{op}', the elements must be Tensors, but got {type(x).__name__}.",
            )


def _ranged(op: str, axis: Any, ndim: int) -> int:
    axis = checks.integer("axis", axis, op)
    if not -ndim <= axis < ndim:
        raise located(
            ValueError,
            f"For primitive[{op}], the axis value must be in [{-ndim},{ndim}), but got {axis}.",
        )
    return axis % ndim


class Concat(Primitive):
    """Join arrays along an axis that they have; the input is one tuple."""

    axis: int = 0

    def compute(self, tensors: Sequence[Array]) -> Array:
        """Concatenate, in the common dtype."""
        if not len(tensors):
            raise located(
                ValueError,
                "For primitive[Concat], the elements size must be greater than 0, but got 0.",
            )
        first = tensors[0]
        axis = _ranged("Concat", self.axis, first.ndim)
        for x in tensors:
            if x.ndim != first.ndim or any(
                a != b
                for i, (a, b) in enumerate(zip(x.shape, first.shape, strict=True))
                if i != axis
            ):
                raise located(
                    ValueError,
                    "For primitive[Concat] only support one axis different, but got more than "
                    f"one (shapes are {[x.shape for x in tensors]})!",
                )
        refuse_wide_unsigned("Concat", *tensors)
        return lax.concatenate(promote(*tensors, op="Concat"), axis)


def concat(tensors: Any, axis: int = 0) -> Tensor:
    """Join Tensors along an axis that they have (MindSpore: ``ops.concat``).

    Args:
        tensors: tuple or list of Tensors whose other sizes agree; dtypes are promoted.
        axis: the axis.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tensors`` is no sequence of Tensors.
        ValueError: sizes differ, there are no Tensors, or the axis is out of range.
    """
    _need_sequence("Concat", tensors)
    record = _concat_record(axis) if type(axis) is int else Concat(axis)
    return record(tuple(tensors))


_concat_record = functools.lru_cache(maxsize=256)(Concat)

cat = concat


class Stack(Primitive):
    """Join arrays of one shape along a new axis; the input is one tuple."""

    axis: int = 0

    def compute(self, tensors: Sequence[Array]) -> Array:
        """Stack."""
        if not len(tensors):
            raise located(
                ValueError,
                "For primitive[Stack], the stack element num must be greater than or equal to 1, "
                "but got 0.",
            )
        first = tensors[0]
        for i, x in enumerate(tensors):
            if x.dtype != first.dtype:
                raise located(
                    TypeError,
                    f"For 'Stack', all input must have the same data type! input[{i}] data type = "
                    f"{from_np(x.dtype)}, input[0] data type = {from_np(first.dtype)}",
                )
            if x.shape != first.shape:
                raise located(
                    ValueError,
                    f"For 'Stack', all input shape must be the same! {x.shape} And {first.shape}",
                )
        axis = _ranged("Stack", self.axis, first.ndim + 1)
        return lax.concatenate([lax.expand_dims(x, [axis]) for x in tensors], axis)


def stack(tensors: Any, axis: int = 0) -> Tensor:
    """Join Tensors of one shape and dtype along a new axis (MindSpore: ``ops.stack``).

    Args:
        tensors: tuple or list of Tensors.
        axis: place of the new axis.

    Returns:
        Tensor.

    Raises:
        TypeError: dtypes differ, or ``tensors`` is no sequence of Tensors.
        ValueError: shapes differ, there are no Tensors, or the axis is out of range.
    """
    _need_sequence("Stack", tensors)
    return Stack(axis)(tuple(tensors))


class Unstack(Primitive):
    """The slices along an axis, without it."""

    axis: int = 0
    num: int | None = None
    view: ClassVar[bool | str] = True

    def compute(self, x: Array) -> tuple[Array, ...]:
        """Take the axis apart."""
        axis = _ranged("Unstack", self.axis, x.ndim)
        if self.num is not None and self.num != x.shape[axis]:
            raise located(
                ValueError,
                f"For 'Unstack', 'num' must be equal to input_x.shape[{axis}] = {x.shape[axis]}, "
                f"but got {self.num}.",
            )
        return tuple(lax.squeeze(part, [axis]) for part in cut(x, axis, [1] * x.shape[axis]))


def unstack(input_x: Tensor, axis: int = 0) -> tuple[Tensor, ...]:
    """Take a Tensor apart along an axis (MindSpore: ``ops.unstack``).

    Args:
        input_x: Tensor with at least one axis.
        axis: the axis that goes.

    Returns:
        A Tensor each index of the axis; in PYNATIVE they alias ``input_x``.

    Raises:
        ValueError: the axis is out of range.
    """
    return Unstack(checks.integer("axis", axis, "Unstack"))(input_x)


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """Take a Tensor apart along an axis (MindSpore: ``ops.unbind``).

    Args:
        input: Tensor of at least one axis.
        dim: axis, which goes.

    Returns:
        One Tensor for each index.

    Raises:
        ValueError: there is no such axis.
    """
    return unstack(input, dim)


class Split(Primitive):
    """Equal parts along an axis."""

    axis: int = 0
    output_num: int = 1
    view: ClassVar[bool | str] = True

    def compute(self, x: Array) -> tuple[Array, ...]:
        """Cut the axis in ``output_num`` parts."""
        axis = _ranged("Split", self.axis, x.ndim)
        size = x.shape[axis]
        if self.output_num < 1 or size % self.output_num:
            raise located(
                ValueError,
                f"For 'Split', x_shape[{axis}] must be divisible by output_num = "
                f"{self.output_num}, but got {size}",
            )
        return cut(x, axis, [size // self.output_num] * self.output_num)


class SplitWithSize(BoundPrimitive):
    """Parts of given sizes along an axis; call: ``SplitWithSize()(input, split_size, axis)``."""

    statics: ClassVar[tuple[str, ...]] = ("split_size", "axis")
    split_size: tuple[int, ...] = field(default=(), kw_only=True)
    axis: int = field(default=0, kw_only=True)
    view: ClassVar[bool | str] = True

    def compute(self, x: Array) -> tuple[Array, ...]:
        """Cut the axis at the running sums."""
        return cut(x, checks.axis_in_rank(self.axis, x.ndim, "split"), self.split_size)


def cut(x: Array, axis: int, parts: Sequence[int]) -> tuple[Array, ...]:
    """Slice an axis into consecutive parts of the given sizes.

    The gradient is one concatenation, not a sum of as many padded arrays as there are parts.
    """
    if parts and sum(parts) == x.shape[axis]:
        return tuple(lax.split(x, tuple(parts), axis))
    ends = list(itertools.accumulate(parts))
    return tuple(
        lax.slice_in_dim(x, end - size, end, axis=axis)
        for size, end in zip(parts, ends, strict=True)
    )


def _axis_in_bounds(op: str, axis: Any, ndim: int) -> int:
    axis = checks.integer("axis", axis, op)
    if not -ndim <= axis < ndim:
        raise located(
            ValueError,
            f"For '{op}', axis {axis} is out of bounds for array of dimension {ndim}",
        )
    return axis % ndim


def split(tensor: Tensor, split_size_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut a Tensor along an axis (MindSpore: ``ops.split``).

    Args:
        tensor: Tensor with at least one axis.
        split_size_or_sections: size of each part (the last may be smaller), or the sizes.
        axis: the axis.

    Returns:
        The parts; in PYNATIVE they alias ``tensor``.

    Raises:
        TypeError: the sizes are no integers.
        ValueError: a size is not positive, the sizes do not add up, or the axis is out of range.
    """
    shape = shape_of(tensor)
    axis = _axis_in_bounds("split", axis, len(shape))
    wanted = checks.python_value(split_size_or_sections)
    total = shape[axis]
    if isinstance(wanted, tuple):
        parts = checks.integers("split_size_or_sections", wanted, "split")
        if any(p < 0 for p in parts):
            raise located(
                ValueError,
                "For split, the value of 'split_size_or_sections' must be more than zero, but got "
                f"{parts}.",
            )
        if sum(parts) != total:
            raise located(
                ValueError,
                f"For split, the sum of 'split_size_or_sections' should be equal to {total}, but "
                f"got {sum(parts)}.",
            )
    else:
        size = checks.integer("split_size_or_sections", wanted, "split")
        if size <= 0:
            raise located(
                ValueError,
                "For split, the value of 'split_size_or_sections' must be more than zero, but got "
                f"{size}.",
            )
        full, rest = divmod(total, size)
        parts = (size,) * full + ((rest,) if rest or not total else ())
    return SplitWithSize.of(parts, axis)(tensor)


def chunk(input: Tensor, chunks: int, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut a Tensor along an axis into at most ``chunks`` equal parts, the last maybe smaller.

    Args:
        input: Tensor with at least one axis.
        chunks: number of parts.
        axis: the axis.

    Returns:
        The parts; in PYNATIVE they alias ``input``.

    Raises:
        TypeError: ``chunks`` is no integer.
        ValueError: ``chunks`` is not positive, or the axis is out of range.
    """
    chunks = checks.integer("chunks", chunks, "chunk")
    if chunks <= 0:
        raise located(
            ValueError, f"For ops.chunk parameter 'chunks' must be greater than 0, but got {chunks}"
        )
    shape = shape_of(input)
    size = shape[_axis_in_bounds("chunk", axis, len(shape))]
    return split(input, max(1, -(-size // chunks)), axis)


def tensor_split(input: Tensor, indices_or_sections: Any, axis: int = 0) -> tuple[Tensor, ...]:
    """Cut a Tensor along an axis, into parts of nearly equal size or at indices.

    Args:
        input: Tensor with at least one axis.
        indices_or_sections: number of parts, or the indices where new parts begin.
        axis: the axis.

    Returns:
        The parts; in PYNATIVE they alias ``input``.

    Raises:
        ValueError: the number of parts is not positive, or the axis is out of range.
    """
    shape = shape_of(input)
    axis = _axis_in_bounds("tensor_split", axis, len(shape))
    total, wanted = shape[axis], checks.python_value(indices_or_sections)
    if isinstance(wanted, tuple):
        points = [0, *(checks.integers("indices_or_sections", wanted, "tensor_split")), total]
        clamped = [min(max(p + total if p < 0 else p, 0), total) for p in points]
        return tuple(_narrow(input, axis, a, max(b - a, 0)) for a, b in itertools.pairwise(clamped))
    count = checks.integer("indices_or_sections", wanted, "tensor_split")
    if count <= 0:
        raise located(
            ValueError,
            f"For tensor_split, the argument 'indices_or_sections' must be positive, got {count}.",
        )
    base, more = divmod(total, count)
    return SplitWithSize.of((base + 1,) * more + (base,) * (count - more), axis)(input)


def _narrow(x: Tensor, axis: int, start: int, length: int) -> Tensor:
    total = shape_of(x)[axis]
    return SplitWithSize.of((start, length, total - start - length), axis)(x)[1]


def hsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the second axis, the only one for 1-d Tensors (MindSpore: ``ops.hsplit``).

    Args:
        input: Tensor with that axis.
        indices_or_sections: number of parts, or where to cut.

    Returns:
        Parts, as `tensor_split` gives them.

    Raises:
        TypeError: ``indices_or_sections`` holds no integers.
        ValueError: ``input`` lacks the axis.
    """
    return tensor_split(input, indices_or_sections, 0 if len(shape_of(input)) == 1 else 1)


def vsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the first axis (MindSpore: ``ops.vsplit``).

    Args:
        input: Tensor with that axis.
        indices_or_sections: number of parts, or where to cut.

    Returns:
        Parts, as `tensor_split` gives them.

    Raises:
        TypeError: ``indices_or_sections`` holds no integers.
        ValueError: ``input`` lacks the axis.
    """
    return tensor_split(input, indices_or_sections, 0)


def dsplit(input: Tensor, indices_or_sections: Any) -> tuple[Tensor, ...]:
    """Cut along the third axis (MindSpore: ``ops.dsplit``).

    Args:
        input: Tensor with that axis.
        indices_or_sections: number of parts, or where to cut.

    Returns:
        Parts, as `tensor_split` gives them.

    Raises:
        TypeError: ``indices_or_sections`` holds no integers.
        ValueError: ``input`` lacks the axis.
    """
    return tensor_split(input, indices_or_sections, 2)


def hstack(tensors: Any) -> Tensor:
    """Join Tensors along the second axis, the only one for 1-d Tensors (MindSpore: ``ops.hstack``).

    Args:
        tensors: tuple or list of Tensors of one dtype.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tensors`` is no tuple or list.
        ValueError: the shapes do not fit.
    """
    _need_sequence("hstack", tensors)
    full = atleast_1d(tuple(tensors))
    return concat(full, 0 if full and len(shape_of(full[0])) == 1 else 1)


def vstack(inputs: Any) -> Tensor:
    """Join Tensors along the first axis, each given two axes (MindSpore: ``ops.vstack``).

    Args:
        inputs: tuple or list of Tensors of one dtype.

    Returns:
        Tensor.

    Raises:
        TypeError: ``inputs`` is no tuple or list.
        ValueError: the shapes do not fit.
    """
    _need_sequence("vstack", inputs)
    return concat(atleast_2d(tuple(inputs)), 0)


def dstack(tensors: Any) -> Tensor:
    """Join Tensors along the third axis, each given three axes (MindSpore: ``ops.dstack``).

    Args:
        tensors: tuple or list of Tensors of one dtype.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tensors`` is no tuple or list.
        ValueError: the shapes do not fit.
    """
    _need_sequence("dstack", tensors)
    return concat(atleast_3d(tuple(tensors)), 2)


def column_stack(tensors: Any) -> Tensor:
    """Join Tensors along the second axis, 1-d Tensors as columns (MindSpore: ``ops.column_stack``).

    Args:
        tensors: tuple or list of Tensors of one dtype.

    Returns:
        Tensor.

    Raises:
        TypeError: ``tensors`` is no tuple or list.
        ValueError: the shapes do not fit.
    """
    _need_sequence("column_stack", tensors)
    return concat([reshape(x, (-1, 1)) if len(shape_of(x)) < 2 else x for x in tensors], 1)


class Tile(BoundPrimitive):
    """Copies of an array side by side; call: ``Tile()(input, dims)``."""

    statics: ClassVar[tuple[str, ...]] = ("dims",)
    dims: tuple[int, ...] = field(default=(), kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the repetitions."""
        return {"dims": _repetitions(statics["dims"])}

    def compute(self, x: Array) -> Array:
        """Repeat along each axis, aligned at the last."""
        dims = (1,) * (x.ndim - len(self.dims)) + self.dims
        shape = (1,) * (len(dims) - x.ndim) + x.shape
        paired = [s for pair in zip(dims, shape, strict=True) for s in pair]
        places = tuple(2 * i + 1 for i in range(len(dims)))
        full = lax.broadcast_in_dim(x.reshape(shape), paired, places)
        return full.reshape([d * s for d, s in zip(dims, shape, strict=True)])


def _repetitions(dims: Any) -> tuple[int, ...]:
    dims = checks.integers("dims", dims, "Tile")
    for i, d in enumerate(dims):
        if d < 0:
            raise located(
                ValueError,
                f"For 'Tile', 'dims' cannot contain negative integer numbers, but got {d} in "
                f"{i}th.",
            )
    return dims


def tile(input: Tensor, dims: Any) -> Tensor:
    """Repeat a Tensor along each axis (MindSpore: ``ops.tile``).

    Args:
        input: Tensor.
        dims: repetitions of each axis, aligned at the last.

    Returns:
        Tensor.

    Raises:
        TypeError: ``dims`` is no sequence of integers.
        ValueError: a repetition is negative.
    """
    return Tile.of(_repetitions(dims))(input)


class _RepeatInterleave(Primitive, register=False):
    """Each element several times in a row: one number for all, or one each."""

    repeats: tuple[int, ...]
    axis: int

    def compute(self, x: Array) -> Array:
        axis = checks.axis_in_rank(self.axis, x.ndim, "repeat_interleave")
        size = x.shape[axis]
        if len(self.repeats) == 1:
            full = lax.expand_dims(x, [axis + 1])
            shape = (*x.shape[: axis + 1], self.repeats[0], *x.shape[axis + 1 :])
            merged = (*x.shape[:axis], size * self.repeats[0], *x.shape[axis + 1 :])
            return broadcast(full, shape).reshape(merged)
        if len(self.repeats) != size:
            raise located(
                ValueError,
                "For 'repeat_interleave', 'repeats' must have the same size as input along axis, "
                f"but got {len(self.repeats)} and {size}.",
            )
        parts = [
            lax.slice_in_dim(x, i, i + 1, axis=axis)
            for i, n in enumerate(self.repeats)
            for _ in range(n)
        ]
        if not parts:
            return lax.slice_in_dim(x, 0, 0, axis=axis)
        return lax.concatenate(parts, axis)


def repeat_interleave(input: Tensor, repeats: Any, axis: int | None = None) -> Tensor:
    """Repeat each element in place (MindSpore: ``ops.repeat_interleave``).

    Args:
        input: Tensor.
        repeats: repetitions, one number or one for each element along the axis.
        axis: the axis; None repeats the flattened Tensor.

    Returns:
        Tensor.

    Raises:
        TypeError: ``repeats`` holds no integers.
        ValueError: a repetition is negative, or their number does not fit.
    """
    wanted = checks.python_value(repeats)
    counts = wanted if isinstance(wanted, tuple) else (wanted,)
    counts = checks.integers("repeats", counts, "repeat_interleave")
    if any(n < 0 for n in counts):
        raise located(
            ValueError,
            f"For 'repeat_interleave', 'repeats' must not be negative, but got {repeats!r}.",
        )
    if axis is None:
        input, axis = reshape(input, (-1,)), 0
    return _RepeatInterleave(counts, checks.integer("axis", axis, "repeat_interleave"))(input)


def repeat_elements(x: Tensor, rep: int, axis: int = 0) -> Tensor:
    """Repeat each element along an axis (MindSpore: ``ops.repeat_elements``).

    Args:
        x: Tensor.
        rep: how often, positive.
        axis: the axis.

    Returns:
        Tensor, ``rep`` times as long along the axis.

    Raises:
        TypeError: ``rep`` is no integer.
        ValueError: there is no such axis.
    """
    return repeat_interleave(x, rep, axis)


class Meshgrid(Primitive):
    """Coordinate matrices of coordinate vectors; the input is one tuple."""

    indexing: str = "xy"

    def __post_init__(self) -> None:
        if self.indexing not in ("xy", "ij"):
            raise located(
                ValueError,
                f"For 'Meshgrid', the argument 'indexing' must be 'xy' or 'ij', but got "
                f"{self.indexing!r}.",
            )

    def compute(self, inputs: Sequence[Array]) -> tuple[Array, ...]:
        """Broadcast each vector over the axes of the others."""
        order = list(range(len(inputs)))
        if self.indexing == "xy" and len(inputs) > 1:
            order[:2] = [1, 0]
        flat = [x.reshape(-1) for x in inputs]
        shape = [flat[i].shape[0] for i in order]
        return tuple(lax.broadcast_in_dim(x, shape, (order.index(i),)) for i, x in enumerate(flat))


def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Tensor, ...]:
    """Make coordinate matrices of coordinate vectors (MindSpore: ``ops.meshgrid``).

    Args:
        inputs: 0-d or 1-d Tensors.
        indexing: ``"xy"`` (the first two axes exchanged) or ``"ij"``.

    Returns:
        One Tensor an input, all of one shape.

    Raises:
        ValueError: ``indexing`` is neither.
    """
    if len(inputs) == 1 and isinstance(inputs[0], tuple | list):
        inputs = tuple(inputs[0])
    _need_sequence("Meshgrid", inputs)
    return Meshgrid(indexing)(tuple(inputs))


def block_diag(*inputs: Any) -> Tensor:
    """Put matrices on the diagonal of a larger one.

    Args:
        inputs: Tensors with at most two axes; those with fewer count as rows.

    Returns:
        Matrix with zeros elsewhere.

    Raises:
        ValueError: a Tensor has more than two axes.
    """
    blocks = atleast_2d(inputs)
    for x in blocks:
        if len(shape_of(x)) > 2:
            raise located(
                ValueError,
                f"For 'block_diag', the inputs must have at most 2 axes, but got {shape_of(x)}.",
            )
    return _BlockDiag()(blocks)


class _BlockDiag(Primitive, register=False):
    """Matrices on a diagonal; the input is one tuple."""

    def compute(self, blocks: Sequence[Array]) -> Array:
        width = sum(b.shape[1] for b in blocks)
        dtype = functools.reduce(promote_types, (from_np(b.dtype) for b in blocks)).np
        rows, before = [], 0
        for block in blocks:
            after = width - before - block.shape[1]
            zero = jnp.zeros((), dtype)
            rows.append(lax.pad(block.astype(dtype), zero, [(0, 0, 0), (before, after, 0)]))
            before += block.shape[1]
        return lax.concatenate(rows, 0)
