"""Reading by index Tensors: gather and its relatives, masks, and positions of true elements."""

from __future__ import annotations

import math
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.handle import current, is_traced, unwrap
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.shape import broadcast, reshape, shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def index_array(op: str, indices: Array, size: int) -> Array:
    """Prepare indices of an axis: integer dtype checked, Int32 where it suffices, none negative.

    Args:
        op: name of the op, for the message.
        indices: integer array; negative ones count from the end.
        size: number of elements of the axis.

    Returns:
        Int32 (Int64 beyond 2**31 elements) array; what was out of range still is.

    Raises:
        TypeError: ``indices`` holds no integers.
    """
    if not jnp.issubdtype(indices.dtype, jnp.integer):
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument[indices] must be a type of {{Int32, Int64}}, "
            f"but got {from_np(indices.dtype)}.",
        )
    dtype = np.int32 if size < 2**31 else np.int64
    indices = lax.convert_element_type(indices, dtype)
    return jnp.where(indices < 0, indices + np.asarray(size, dtype), indices)


def _platform(array: Array) -> str:
    return next(iter(array.devices())).platform


def known_values(tensor: Any) -> np.ndarray[Any, Any] | None:
    """Give a Tensor's values for a check, if they are there without waiting for a device.

    They are in PYNATIVE on the CPU.

    Args:
        tensor: Tensor or array.

    Returns:
        The values, or None.
    """
    if current.frame is not None:
        return None
    array = unwrap(tensor)
    if array is None or isinstance(array, str | dict) or type(array) is object:
        raise checks.not_a_tensor(tensor)
    if is_traced(array) or (isinstance(array, jax.Array) and _platform(array) != "cpu"):
        return None
    return np.asarray(array)


def check_range(op: str, indices: Any, size: int, error: type[Exception] = RuntimeError) -> None:
    """Raise if an index has no element, where that can be known without waiting for a device.

    It is known in PYNATIVE on the CPU. In a compiled program such an index reads NaN (the lowest
    integer), and a write to it is dropped.

    Raises:
        RuntimeError: an index is out of range; or ``error``, where it is given.
    """
    host = known_values(indices)
    if host is None or host.dtype.kind not in "iu" or not host.size:
        return
    worst = host.max() if host.max() >= size else host.min()
    if not -size <= worst < size:
        raise located(
            error,
            f"For '{op}', the 'input_indices' should be in the range [{-size}, {size}), but got "
            f"{worst}.",
        )


def take_axis(op: str, x: Array, indices: Array, axis: int) -> Array:
    """Replace an axis of an array by indices into it.

    Args:
        op: name of the op, for messages.
        x: array.
        indices: integer array of any shape.
        axis: axis, counted from the front.

    Returns:
        Array of shape ``x.shape[:axis] + indices.shape + x.shape[axis + 1:]``.
    """
    size = x.shape[axis]
    indices = index_array(op, indices, size)
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if not math.prod(shape):
        return jnp.zeros(shape, x.dtype)
    kept = (*range(axis), *range(axis + indices.ndim, len(shape)))
    numbers = lax.GatherDimensionNumbers(
        offset_dims=kept, collapsed_slice_dims=(axis,), start_index_map=(axis,)
    )
    window = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
    return lax.gather(x, indices[..., None], numbers, window, mode="fill")


class Gather(BoundPrimitive):
    """Slices of an axis by index; call: ``Gather()(input_params, input_indices, axis)``."""

    batch_dims: int = 0
    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = ("axis",)
    axis: int = field(default=0, kw_only=True)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Gather, after a check of the indices; the axis is bound first."""
        if len(inputs) == 2 and not named:
            shape = shape_of(inputs[0])
            if -len(shape) <= self.axis < len(shape):
                check_range(self.name, inputs[1], shape[self.axis])
        return super().__call__(*inputs, **named)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the axis."""
        return {k: checks.integer(k, v, self.name) for k, v in statics.items()}

    def compute(self, x: Array, indices: Array) -> Array:
        """Take along the axis, entry by entry of the batch axes."""
        if not -x.ndim <= self.axis < max(x.ndim, 1):
            raise located(
                ValueError,
                f"For primitive[Gather], the axis must be in [{-x.ndim},{x.ndim}), but got "
                f"{self.axis}.",
            )
        axis = self.axis % max(x.ndim, 1)
        batch = self.batch_dims + (indices.ndim if self.batch_dims < 0 else 0)
        if not 0 <= batch <= min(axis, indices.ndim) or x.shape[:batch] != indices.shape[:batch]:
            raise located(
                ValueError,
                f"For 'Gather', the first {self.batch_dims} axes ('batch_dims') must agree and "
                f"come before 'axis' {axis}, but got shapes {x.shape} and {indices.shape}.",
            )

        def one(a: Array, i: Array) -> Array:
            return take_axis("Gather", a, i, axis - batch)

        for _ in range(batch):
            one = jax.vmap(one)
        return one(x, indices)


def gather(input_params: Tensor, input_indices: Any, axis: int, batch_dims: int = 0) -> Tensor:
    """Take slices of an axis by index (MindSpore: ``ops.gather``).

    Args:
        input_params: Tensor.
        input_indices: integer Tensor of any shape; negative indices count from the end.
        axis: the axis that the indices replace.
        batch_dims: number of leading axes that both share.

    Returns:
        Tensor of shape ``params[:axis] + indices[batch_dims:] + params[axis + 1:]``.

    Raises:
        TypeError: the indices are no integers.
        ValueError: the axis is out of range.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    axis = checks.integer("axis", axis, "Gather")
    return Gather(batch_dims, axis=axis)(input_params, input_indices)


def index_select(input: Tensor, axis: int, index: Tensor) -> Tensor:
    """Take the slices of an axis that a vector of indices names (MindSpore: ``ops.index_select``).

    Args:
        input: Tensor.
        axis: the axis.
        index: integer Tensor with at most one axis.

    Returns:
        Tensor.

    Raises:
        ValueError: the axis is out of range, or ``index`` has more axes.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    if len(shape_of(index)) > 1:
        raise located(
            ValueError,
            f"For 'index_select', the dimension of 'index' must be 1, but got {shape_of(index)}.",
        )
    axis = checks.axis_in_rank(axis, len(shape_of(input)), "index_select")
    return gather(input, reshape(index, (-1,)), axis)


def take(input: Tensor, index: Any) -> Tensor:
    """Take elements of the flattened Tensor (MindSpore: ``ops.take``).

    Args:
        input: Tensor.
        index: integer Tensor of any shape.

    Returns:
        Tensor of the shape of ``index``.
    """
    return gather(reshape(input, (-1,)), index, 0)


def along(op: str, x: Array, indices: Array, axis: int) -> Array:
    """Take one element for each index, along an axis, at the index's own place in the others."""
    if x.ndim != indices.ndim:
        raise located(
            ValueError,
            f"For primitive[{op}], the rank of 'index' must be equal to {x.ndim}, but got "
            f"{indices.ndim}.",
        )
    if not x.ndim:
        return x
    for i, (have, want) in enumerate(zip(x.shape, indices.shape, strict=True)):
        if i != axis and have < want:
            raise located(
                ValueError,
                f"For primitive[{op}], 'index' must not be larger than 'input' apart from axis "
                f"{axis}, but got shapes {indices.shape} and {x.shape}.",
            )
    size = x.shape[axis]
    indices = index_array(op, indices, size)
    if not indices.size:
        return jnp.zeros(indices.shape, x.dtype)
    limits = [size if i == axis else n for i, n in enumerate(indices.shape)]
    x = lax.slice(x, [0] * x.ndim, limits)
    others = tuple(i for i in range(x.ndim) if i != axis)
    numbers = lax.GatherDimensionNumbers(
        offset_dims=(),
        collapsed_slice_dims=(axis,),
        start_index_map=(axis,),
        operand_batching_dims=others,
        start_indices_batching_dims=others,
    )
    return lax.gather(x, indices[..., None], numbers, (1,) * x.ndim, mode="fill")


class GatherD(BoundPrimitive):
    """One element for each index, along an axis; call: ``GatherD()(x, dim, index)``."""

    statics: ClassVar[tuple[str, ...]] = ("dim",)
    dim: int | None = field(default=None, kw_only=True)

    def __call__(self, *inputs: Any) -> Any:
        """Gather; the axis stands between the arrays unless it is bound."""
        if len(inputs) == 3:
            x, dim, index = inputs
            return GatherD.of(checks.integer("dim", dim, "GatherD"))(x, index)
        x, index = inputs
        shape = shape_of(x)
        if self.dim is not None and -len(shape) <= self.dim < len(shape):
            check_range(self.name, index, shape[self.dim])
        return Primitive.__call__(self, x, index)

    def compute(self, x: Array, index: Array) -> Array:
        """Take along the axis."""
        return along("GatherD", x, index, checks.axis_in_rank(self.dim, x.ndim, "GatherD", "dim"))


def gather_elements(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """Take one element for each index, along an axis (MindSpore: ``ops.gather_elements``).

    Args:
        input: Tensor.
        dim: the axis.
        index: integer Tensor of the same rank, not larger apart from ``dim``.

    Returns:
        Tensor of the shape of ``index``.

    Raises:
        TypeError: the indices are no integers.
        ValueError: ranks or sizes do not fit, or the axis is out of range.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    dim = checks.integer("dim", dim, "GatherD")
    return GatherD.of(dim)(input, index)


def gather_d(x: Tensor, dim: int, index: Tensor) -> Tensor:
    """Take one element for each index, along an axis (MindSpore: ``ops.gather_d``).

    Args:
        x: Tensor.
        dim: the axis.
        index: integer Tensor of the same rank.

    Returns:
        Tensor of ``index``'s shape and ``x``'s dtype.

    Raises:
        ValueError: ranks or sizes do not fit, or the axis is out of range.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return gather_elements(x, dim, index)


def coordinates(op: str, indices: Array, shape: tuple[int, ...]) -> Array:
    """Prepare index tuples, the last axis of ``indices``, into the leading axes of a shape."""
    depth = indices.shape[-1] if indices.ndim else 0
    if not indices.ndim or depth > len(shape):
        raise located(
            ValueError,
            f"For '{op}', the last dimension of 'indices' must be at most the rank {len(shape)} of "
            f"the input, but got indices of shape {indices.shape}.",
        )
    parts = [index_array(op, indices[..., i], shape[i]) for i in range(depth)]
    return jnp.stack(parts, -1) if parts else indices.astype(np.int32)


class GatherNd(Primitive):
    """Slices by index tuples, which the last axis of the indices holds."""

    def __call__(self, *inputs: Any) -> Any:
        """Gather slices, after a check of the indices."""
        x, indices = inputs
        check_coordinates(self.name, indices, shape_of(x))
        return super().__call__(x, indices)

    def compute(self, x: Array, indices: Array) -> Array:
        """Gather slices."""
        where = coordinates("GatherNd", indices, x.shape)
        depth = where.shape[-1]
        batch = where.ndim - 1
        rest = x.shape[depth:]
        numbers = lax.GatherDimensionNumbers(
            offset_dims=tuple(range(batch, batch + len(rest))),
            collapsed_slice_dims=tuple(range(depth)),
            start_index_map=tuple(range(depth)),
        )
        return lax.gather(x, where, numbers, (*(1,) * depth, *rest), mode="fill")


def check_segments(op: str, ids: Any, count: int) -> None:
    """Raise if an element belongs to no segment, as `check_range`; negative ones are dropped.

    Raises:
        RuntimeError: a number is not below ``count``.
    """
    host = known_values(ids)
    if host is not None and host.dtype.kind in "iu" and host.size and host.max() >= count:
        raise located(
            RuntimeError,
            f"For '{op}', the 'segment_ids' must be below {count}, but got {host.max()}.",
        )


def check_coordinates(
    op: str, indices: Any, shape: tuple[int, ...], error: type[Exception] = RuntimeError
) -> None:
    """Raise if an index tuple has no element, where that can be known; as `check_range`."""
    host = known_values(indices)
    if host is None or host.dtype.kind not in "iu" or not host.size:
        return
    if not host.ndim or host.shape[-1] > len(shape):
        return
    rows = host.reshape(-1, host.shape[-1])
    sizes = np.asarray(shape[: host.shape[-1]], np.int64)
    beyond = ((rows >= sizes) | (rows < -sizes)).any(1)
    if beyond.any():
        raise located(
            error,
            f"For '{op}', the indices {rows[beyond.argmax()].tolist()} do not index into the shape "
            f"{list(shape)}.",
        )


def gather_nd(input_x: Tensor, indices: Tensor) -> Tensor:
    """Take slices by index tuples (MindSpore: ``ops.gather_nd``).

    Args:
        input_x: Tensor of rank r.
        indices: integer Tensor; its last axis holds tuples of at most r indices.

    Returns:
        Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Raises:
        TypeError: the indices are no integers.
        ValueError: the tuples are longer than r.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return GatherNd()(input_x, indices)


class AdvancedIndex(Primitive, register=False):
    """Elements by index arrays on several axes, with numpy's placing of the result axes.

    Fields: which axes have an index array, in order.
    """

    view: ClassVar[bool | str] = "write"

    axes: tuple[int, ...]

    def compute(self, x: Array, *indices: Array) -> Array:
        """Merge the indexed axes into one, and take along it."""
        merged, linear, axis, _ = merge_axes("Gather", x, self.axes, indices)
        return take_axis("Gather", merged, linear, axis)


def merge_axes(
    op: str, x: Array, axes: tuple[int, ...], indices: tuple[Array, ...]
) -> tuple[Array, Array, int, tuple[int, ...]]:
    """Bring indexed axes together and merge them, and the index arrays with them.

    Args:
        op: name of the op, for messages.
        x: array.
        axes: axes with an index array, rising.
        indices: one integer array an axis; they broadcast together.

    Returns:
        The array with the axes merged; the merged indices, out of range where one of them is; the
        merged axis; the order of axes that brought them together.

    Raises:
        ValueError: the index arrays do not broadcast together.
    """
    neighbours = axes == tuple(range(axes[0], axes[0] + len(axes)))
    place = axes[0] if neighbours else 0
    rest = [a for a in range(x.ndim) if a not in axes]
    order = (*rest[:place], *axes, *rest[place:])
    moved = x if neighbours else lax.transpose(x, order)
    sizes = [x.shape[a] for a in axes]
    total = math.prod(sizes)
    merged = moved.reshape((*moved.shape[:place], total, *moved.shape[place + len(axes) :]))
    if len(axes) == 1:
        return merged, indices[0], place, order
    try:
        shape = np.broadcast_shapes(*(i.shape for i in indices))
    except ValueError:
        raise located(
            ValueError,
            "For 'tensor getitem', x.shape and y.shape need to broadcast. The index Tensors have "
            f"the shapes {[i.shape for i in indices]}.",
        ) from None
    dtype = np.int32 if total < 2**31 else np.int64
    linear = jnp.zeros(shape, dtype)
    valid = jnp.ones(shape, np.bool_)
    for index, size in zip(indices, sizes, strict=True):
        index = broadcast(index_array(op, index, size), shape).astype(dtype)
        linear = linear * np.asarray(size, dtype) + index
        valid = valid & (index >= 0) & (index < np.asarray(size, dtype))
    return merged, jnp.where(valid, linear, np.asarray(total, dtype)), place, order


def broadcast_shape(op: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Give the common shape of several.

    Raises:
        ValueError: they do not broadcast together.
    """
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise located(
            ValueError, f"For '{op}', the shapes {list(shapes)} need to broadcast together."
        ) from None


class EmbeddingLookup(Primitive):
    """Rows by index; call: ``EmbeddingLookup()(input_params, input_indices, offset)``.

    Class variable ``met``: whether one was made; the gradients of tables may be those of rows then.
    """

    met: ClassVar[bool] = False

    def __init__(self) -> None:
        EmbeddingLookup.met = True

    def compute(self, x: Array, indices: Array, offset: Array) -> Array:
        """Take rows; indices outside the table give zeros."""
        where = indices.astype(np.int32) - offset.astype(np.int32)
        valid = (where >= 0) & (where < x.shape[0])
        rows = take_axis("EmbeddingLookup", x, jnp.where(valid, where, 0), 0)
        return jnp.where(valid.reshape(valid.shape + (1,) * (x.ndim - 1)), rows, 0).astype(x.dtype)


class _Bounded(Primitive, register=False):
    """Indices brought into range, by clipping or by wrapping round."""

    size: int
    wrap: bool
    low: int = 0

    def compute(self, indices: Array) -> Array:
        limit = jnp.asarray(self.size, indices.dtype)
        if self.wrap:
            return jnp.remainder(indices, limit)
        return jnp.clip(indices, jnp.asarray(self.low, indices.dtype), limit - 1)


def clip_indices(indices: Tensor, size: int, low: int = 0) -> Tensor:
    """Bring indices into range: from ``low`` to ``size - 1``."""
    return _Bounded(size, False, low)(indices)


def wrap_indices(indices: Tensor, size: int) -> Tensor:
    """Bring indices into range by counting round."""
    return _Bounded(size, True)(indices)
