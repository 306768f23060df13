"""Names of older releases and second names, which stand for ops defined elsewhere."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, int32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.activation import FastGeLU, GeLU, softshrink
from mindjax.ops.arithmetic import Add
from mindjax.ops.blending import Lerp
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.cast import cast, cast_like
from mindjax.ops.exponential import expm1
from mindjax.ops.gather import Gather
from mindjax.ops.logic import isnan
from mindjax.ops.loss import MSELossExt
from mindjax.ops.promotion import floating
from mindjax.ops.reduction import ReduceMax, ReduceMin
from mindjax.ops.resize import ResizeNearestNeighbor
from mindjax.ops.sequence import Concat, SplitWithSize, Stack, Unstack, vstack
from mindjax.ops.shape import BroadcastTo, broadcast_to, shape_of
from mindjax.ops.slicing import select
from mindjax.ops.softmax import log_softmax_of
from mindjax.ops.state import write

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

Pack = Stack
TensorAdd = Add
Gelu = GeLU
FastGelu = FastGeLU

soft_shrink = softshrink


class Unpack(Primitive):
    """The slices along an axis, without it (MindSpore: ``ops.Unpack``).

    Args:
        axis: the axis.
    """

    axis: int = 0

    def __call__(self, *inputs: Any) -> Any:
        """Take the axis apart, as `Unstack`."""
        return Unstack(self.axis)(*inputs)


class GatherV2(Primitive):
    """Slices of an axis by index; call: ``GatherV2()(input_params, input_indices, axis)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Take the slices, as `Gather`."""
        return Gather()(*inputs)


def tensor_expm1(input: Tensor) -> Tensor:
    """Compute ``exp(input) - 1`` (MindSpore: ``ops.tensor_expm1``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return expm1(input)


def reduce_max(x: Tensor, axis: Any = ()) -> Tensor:
    """Take the largest element over axes (MindSpore: ``ops.reduce_max``).

    Args:
        x: real Tensor of any shape.
        axis: axes to reduce; ``()`` means all.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis, or it is empty.
    """
    return ReduceMax()(x, axis)


def reduce_min(x: Tensor, axis: Any = ()) -> Tensor:
    """Take the smallest element over axes (MindSpore: ``ops.reduce_min``).

    Args:
        x: real Tensor of any shape.
        axis: axes to reduce; ``()`` means all.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: there is no such axis, or it is empty.
    """
    return ReduceMin()(x, axis)


def row_stack(tensors: Any) -> Tensor:
    """Put rows below each other (MindSpore: ``ops.row_stack``).

    Args:
        tensors: sequence of Tensors; one with a single axis is a row.

    Returns:
        Tensor.

    Raises:
        ValueError: the shapes do not fit.
    """
    return vstack(tensors)


class LerpScalar(Lerp):
    """`Lerp` by a number; call: ``LerpScalar()(start, end, weight)``."""


class LogSoftmaxExt(BoundPrimitive):
    """Logarithm of the softmax; call: ``LogSoftmaxExt()(input, dim, dtype)``."""

    statics: ClassVar[tuple[str, ...]] = ("dim", "dtype")
    dim: int | None = field(default=None, kw_only=True)
    dtype: Number | None = field(default=None, kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the axis and the element type."""
        dim, dtype = statics.get("dim"), statics.get("dtype")
        return {
            "dim": None if dim is None else checks.integer("dim", dim, "log_softmax"),
            "dtype": None if dtype is None else as_dtype(dtype),
        }

    def compute(self, x: Array) -> Array:
        """Normalise one axis; by default the first of 0, 1 or 3 axes, else the second."""
        x = floating(x) if self.dtype is None else x.astype(self.dtype.np)
        default = 0 if x.ndim in (0, 1, 3) else 1
        axis = checks.axis_in_rank(default if self.dim is None else self.dim, x.ndim, "log_softmax")
        return log_softmax_of(x, axis) if x.ndim else jnp.zeros_like(x)


def log_softmax_ext(input: Tensor, dim: int | None = None, *, dtype: Any = None) -> Tensor:
    """Take the logarithm of the softmax along an axis (MindSpore: ``mint.special.log_softmax``).

    Args:
        input: Tensor of any shape.
        dim: the axis; None takes the first of 0, 1 or 3 axes, else the second.
        dtype: float type to convert to first.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``dim`` is no int.
        ValueError: there is no such axis.
    """
    return LogSoftmaxExt()(input, dim, dtype)


class ResizeNearestNeighborV2(Primitive):
    """Nearest neighbours on a grid; call: ``ResizeNearestNeighborV2()(image, size)``.

    Args:
        align_corners: the corners of both grids coincide.
        half_pixel_centers: elements are areas, not points.
    """

    align_corners: bool = False
    half_pixel_centers: bool = False

    def __call__(self, *inputs: Any) -> Any:
        """Resize (N, C, H, W) to a height and a width.

        Raises:
            TypeError: the size is neither a sequence nor a Tensor of ints.
            ValueError: a size is not above 0, or both flags are set.
        """
        image, size = inputs
        pair = checks.integers("size", size, "ResizeNearestNeighborV2")
        return ResizeNearestNeighbor(pair, self.align_corners, self.half_pixel_centers)(image)


def isnan_ext(tensor: Tensor) -> Tensor:
    """Tell where elements are NaN (MindSpore: ``ops.isnan_ext``).

    Args:
        tensor: Tensor of any shape and dtype.

    Returns:
        Bool Tensor of the same shape.
    """
    return isnan(tensor)


def mse_loss_ext(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Average the squares of differences (MindSpore: ``ops.mse_loss_ext``).

    Args:
        input: Tensor of any shape.
        target: Tensor of the same dtype; the shapes broadcast.
        reduction: ``"mean"``, ``"sum"`` or ``"none"``.

    Returns:
        0-d Tensor, or one of the common shape.

    Raises:
        ValueError: ``reduction`` is unknown, or the shapes do not broadcast.
    """
    return MSELossExt(reduction)(input, target)


def type_as(input: Tensor, other: Tensor) -> Tensor:
    """Convert to the dtype of another Tensor (MindSpore: ``ops.type_as``).

    Args:
        input: Tensor of any shape.
        other: Tensor of any shape.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: an argument is no Tensor.
    """
    for name, value in (("input", input), ("other", other)):
        if not hasattr(value, "dtype"):
            raise located(
                TypeError, f"For 'type_as', '{name}' must be a Tensor, but got {value!r}."
            )
    return cast_like(input, other)


class Expand(Primitive):
    """An array broadcast to a shape; call: ``Expand()(x, shape)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Broadcast; -1 keeps a size."""
        x, shape = inputs
        return BroadcastTo(checks.integers("shape", shape, "Expand"))(x)


class SplitV(Primitive):
    """Parts of given sizes along an axis (MindSpore: ``ops.SplitV``).

    Args:
        size_splits: sizes; one of them may be -1, which takes the rest.
        split_dim: the axis.
        num_split: number of parts.
    """

    size_splits: Any
    split_dim: int
    num_split: int

    def __post_init__(self) -> None:
        checks.of_type("size_splits", self.size_splits, (tuple, list), "SplitV")
        for size in self.size_splits:
            checks.of_type("size_splits", size, int, "SplitV")
        checks.of_type("split_dim", self.split_dim, int, "SplitV")
        checks.of_type("num_split", self.num_split, int, "SplitV")
        checks.positive_int("num_split", self.num_split, "SplitV")
        if len(self.size_splits) != self.num_split:
            raise located(
                ValueError,
                f"For 'SplitV', the length of 'size_splits' must be equal to 'num_split', but got "
                f"{self.size_splits} and {self.num_split}.",
            )

    def __call__(self, *inputs: Any) -> Any:
        """Cut.

        Raises:
            ValueError: there is no such axis, or the sizes do not add up.
        """
        shape = shape_of(inputs[0])
        axis = checks.axis_in_rank(self.split_dim, len(shape), "SplitV", "split_dim")
        sizes, known = list(self.size_splits), sum(s for s in self.size_splits if s >= 0)
        if sizes.count(-1) == 1:
            sizes[sizes.index(-1)] = shape[axis] - known
        if min(sizes) < 0 or sum(sizes) != shape[axis]:
            raise located(
                ValueError,
                f"For 'SplitV', the sum of 'size_splits' must be {shape[axis]}, the size of axis "
                f"{self.split_dim}, but got {self.size_splits}.",
            )
        return SplitWithSize()(inputs[0], tuple(sizes), axis)


class TensorToTuple(Primitive):
    """The elements of a vector as Python numbers; call: ``TensorToTuple()(x)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Read the elements.

        Raises:
            TypeError: the input is no Tensor.
            ValueError: it has not one axis.
        """
        (x,) = inputs
        if not hasattr(x, "dtype"):
            raise located(
                TypeError, f"For 'TensorToTuple', the input must be a Tensor, but got {x!r}."
            )
        if len(shape_of(x)) != 1:
            raise located(
                ValueError,
                f"For 'TensorToTuple', the rank of the input must be 1, but got {shape_of(x)}.",
            )
        return checks.python_value(x)


class ParallelConcat(Primitive):
    """Arrays joined along the first axis; call: ``ParallelConcat()((x, y))``."""

    def __call__(self, *inputs: Any) -> Any:
        """Join.

        Raises:
            TypeError: the dtypes differ.
        """
        (values,) = inputs
        for value in checks.of_type("values", values, (tuple, list), "ParallelConcat"):
            checks.tensors("ParallelConcat", values=value)
        if len({v.dtype for v in values}) > 1:
            raise located(
                TypeError,
                "For 'ParallelConcat', the inputs must have one dtype, but got "
                f"{[str(v.dtype) for v in values]}.",
            )
        return Concat(0)(values)


class CopyWithSlice(Primitive):
    """Elements copied into a Tensor; call: ``CopyWithSlice()(target, value)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Write ``value``, broadcast and cast, into ``target``, and give it."""
        target, value = inputs
        fresh = cast(broadcast_to(value, shape_of(target)), target.dtype)
        return write(target, fresh)


def SliceGetItem(value: slice, name: str) -> Any:
    """Read a part of a slice.

    Args:
        value: slice.
        name: ``"start"``, ``"stop"`` or ``"step"``.

    Returns:
        The part.

    Raises:
        TypeError: ``value`` is no slice.
        ValueError: there is no such part.
    """
    checks.of_type("value", value, slice, "SliceGetItem")
    checks.one_of("name", name, ["start", "stop", "step"], "SliceGetItem")
    return getattr(value, name)


class SelectView(Primitive):
    """One index of an axis, which goes; call: ``SelectView()(x, index, axis)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Take the slice; in PYNATIVE it aliases the input."""
        x, index, axis = inputs
        return select(x, axis, index)


class DynamicShape(Primitive):
    """Sizes of the axes as a Tensor (MindSpore: ``ops.DynamicShape``).

    Args:
        dtype: Int64, for which 9 stands too, or Int32 (3).
    """

    dtype: Any = 9

    def __post_init__(self) -> None:
        if self.dtype not in (3, 9, int32, int64):
            raise located(
                ValueError,
                f"For 'DynamicShape', 'dtype' must be Int64 (9) or Int32 (3), not {self.dtype}.",
            )

    def compute(self, x: Array) -> Array:
        """Give the shape as an array."""
        kind = int32 if self.dtype in (3, int32) else int64
        return jnp.asarray(x.shape, kind.np)
