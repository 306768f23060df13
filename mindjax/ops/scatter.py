"""Writing by index Tensors into a copy: scatter and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.gather import (
    broadcast_shape,
    check_coordinates,
    check_range,
    check_segments,
    coordinates,
    index_array,
    merge_axes,
)
from mindjax.ops.shape import broadcast, laid_along, shape_of
from mindjax.ops.slicing import fitted

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array

_WRITERS: dict[str, Callable[..., Array]] = {
    "update": lax.scatter,
    "add": lax.scatter_add,
    "mul": lax.scatter_mul,
    "min": lax.scatter_min,
    "max": lax.scatter_max,
}


def scatter_rows(x: Array, where: Array, updates: Array, how: str) -> Array:
    """Combine slices with the places that index tuples name; those out of range are dropped.

    Args:
        x: array to be copied.
        where: index tuples, in the last axis.
        updates: slices, of shape ``where.shape[:-1] + x.shape[where.shape[-1]:]``.
        how: ``"update"``, ``"add"``, ``"sub"``, ``"mul"``, ``"div"``, ``"min"`` or ``"max"``.

    Returns:
        Array like ``x``.
    """
    depth, batch = where.shape[-1], where.ndim - 1
    numbers = lax.ScatterDimensionNumbers(
        update_window_dims=tuple(range(batch, updates.ndim)),
        inserted_window_dims=tuple(range(depth)),
        scatter_dims_to_operand_dims=tuple(range(depth)),
    )
    mode = lax.GatherScatterMode.FILL_OR_DROP
    if how == "update" and where.size == depth > 0 and x.size:
        return _write_slice(x, where.reshape(depth), updates)
    if x.dtype == np.bool_ and how != "update":
        raise located(TypeError, f"Scattering with '{how}' does not take Bool Tensors.")
    if how == "sub":
        return lax.scatter_add(x, where, -updates, numbers, mode=mode)
    if how == "div":
        divisor = lax.scatter_mul(jnp.ones_like(x), where, updates, numbers, mode=mode)
        return lax.div(x, divisor)
    return _WRITERS[how](x, where, updates, numbers, mode=mode)


def _write_slice(x: Array, where: Array, update: Array) -> Array:
    """Write the slice at one index tuple, where it is in range: XLA scatters in a loop."""
    where = where.astype(np.int64 if where.dtype.itemsize > 4 else np.int32)
    sizes = jnp.asarray(x.shape[: where.size], where.dtype)
    inside = jnp.all((where >= 0) & (where < sizes))
    start = [*where, *[jnp.zeros((), where.dtype)] * (x.ndim - where.size)]
    shape = (1,) * where.size + x.shape[where.size :]
    before = lax.dynamic_slice(x, start, shape)
    written = jnp.where(inside, update.reshape(shape), before)
    return lax.dynamic_update_slice(x, written, start)


def checked_updates(op: str, x: Array, where: Array, updates: Array) -> Array:
    """Check that updates have the shape of what index tuples name; ValueError otherwise."""
    shape = where.shape[:-1] + x.shape[where.shape[-1] :]
    if updates.shape != shape:
        raise located(
            ValueError,
            f"For '{op}', the shape of 'updates' must be {shape} (indices.shape[:-1] + "
            f"input_x.shape[indices.shape[-1]:]), but got {updates.shape}.",
        )
    return updates


class ScatterNd(BoundPrimitive):
    """Zeros with slices added by index tuples; call: ``ScatterNd()(indices, updates, shape)``."""

    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = ("shape",)
    shape: tuple[int, ...] = field(default=(), kw_only=True)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Add into zeros, after a check of the indices; the shape is bound first."""
        if len(inputs) == 2 and not named:
            check_coordinates(self.name, inputs[0], self.shape)
        return super().__call__(*inputs, **named)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the shape."""
        return {k: checks.integers(k, v, self.name) for k, v in statics.items()}

    def compute(self, indices: Array, updates: Array) -> Array:
        """Add into zeros."""
        x = jnp.zeros(self.shape, updates.dtype)
        where = coordinates("ScatterNd", indices, x.shape)
        return scatter_rows(x, where, checked_updates("ScatterNd", x, where, updates), "add")


def scatter_nd(indices: Tensor, updates: Tensor, shape: Any) -> Tensor:
    """Add slices into zeros by index tuples (MindSpore: ``ops.scatter_nd``).

    Args:
        indices: integer Tensor; its last axis holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + shape[indices.shape[-1]:]``.
        shape: sizes of the result.

    Returns:
        Tensor; slices of equal places are summed.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    full = checks.sizes("shape", shape, "ScatterNd")
    return ScatterNd.of(full)(indices, updates)


class _TensorScatter(Primitive, register=False):
    """A copy with slices combined by index tuples."""

    how: ClassVar[str] = "update"
    beyond: ClassVar[type[Exception]] = RuntimeError

    def __call__(self, *inputs: Any) -> Any:
        x, indices, updates = inputs
        check_coordinates(self.name, indices, shape_of(x), self.beyond)
        return super().__call__(x, indices, updates)

    def compute(self, x: Array, indices: Array, updates: Array) -> Array:
        where = coordinates(self.name, indices, x.shape)
        updates = checked_updates(self.name, x, where, updates)
        return scatter_rows(x, where, updates.astype(x.dtype), self.how)


class TensorScatterUpdate(_TensorScatter):
    """A copy with slices replaced by index tuples."""

    beyond: ClassVar[type[Exception]] = ValueError


class TensorScatterAdd(_TensorScatter):
    """A copy with slices added by index tuples."""

    how: ClassVar[str] = "add"


class TensorScatterSub(_TensorScatter):
    """A copy with slices subtracted by index tuples."""

    how: ClassVar[str] = "sub"


class TensorScatterMul(_TensorScatter):
    """A copy with slices multiplied by index tuples."""

    how: ClassVar[str] = "mul"


class TensorScatterDiv(_TensorScatter):
    """A copy with slices divided by index tuples."""

    how: ClassVar[str] = "div"


class TensorScatterMax(_TensorScatter):
    """A copy with the larger of slices by index tuples."""

    how: ClassVar[str] = "max"


class TensorScatterMin(_TensorScatter):
    """A copy with the smaller of slices by index tuples."""

    how: ClassVar[str] = "min"


def tensor_scatter_update(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Copy a Tensor with slices replaced by index tuples (MindSpore: ``tensor_scatter_update``).

    Args:
        input_x: Tensor.
        indices: integer Tensor; its last axis holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Returns:
        Tensor like ``input_x``; the last of equal places wins.

    Raises:
        ValueError: the shapes do not fit.
        ValueError: an index is out of range (in PYNATIVE on the CPU).
    """
    return TensorScatterUpdate()(input_x, indices, updates)


def tensor_scatter_add(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Copy a Tensor with slices added by index tuples (``ops.tensor_scatter_add``).

    Args:
        input_x: Tensor.
        indices: integer Tensor; its last axis holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Returns:
        Tensor like ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return TensorScatterAdd()(input_x, indices, updates)


def tensor_scatter_sub(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Copy a Tensor with slices subtracted by index tuples (``ops.tensor_scatter_sub``).

    Args:
        input_x: Tensor.
        indices: integer Tensor; its last axis holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Returns:
        Tensor like ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return TensorScatterSub()(input_x, indices, updates)


def tensor_scatter_mul(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Copy a Tensor with slices multiplied by index tuples (``ops.tensor_scatter_mul``).

    Args:
        input_x: Tensor.
        indices: integer Tensor; its last axis holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Returns:
        Tensor like ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return TensorScatterMul()(input_x, indices, updates)


def tensor_scatter_div(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Copy a Tensor with slices divided by index tuples (``ops.tensor_scatter_div``).

    Args:
        input_x: Tensor.
        indices: integer Tensor; its last axis holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Returns:
        Tensor like ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return TensorScatterDiv()(input_x, indices, updates)


def tensor_scatter_max(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Copy a Tensor with the larger of slices by index tuples (``ops.tensor_scatter_max``).

    Args:
        input_x: Tensor.
        indices: integer Tensor; its last axis holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Returns:
        Tensor like ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return TensorScatterMax()(input_x, indices, updates)


def tensor_scatter_min(input_x: Tensor, indices: Tensor, updates: Tensor) -> Tensor:
    """Copy a Tensor with the smaller of slices by index tuples (``ops.tensor_scatter_min``).

    Args:
        input_x: Tensor.
        indices: integer Tensor; its last axis holds index tuples.
        updates: Tensor of shape ``indices.shape[:-1] + input_x.shape[indices.shape[-1]:]``.

    Returns:
        Tensor like ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return TensorScatterMin()(input_x, indices, updates)


class TensorScatterElements(Primitive):
    """A copy with single elements replaced or added along an axis."""

    axis: int = 0
    reduction: str = "none"

    def __post_init__(self) -> None:
        if self.reduction not in ("none", "add", "mul"):
            raise located(
                ValueError,
                "For 'TensorScatterElements', the argument 'reduction' must be 'none', 'add' or "
                f"'mul', but got {self.reduction!r}.",
            )

    def compute(self, x: Array, indices: Array, updates: Array) -> Array:
        """Scatter along the axis, at each index's own place in the others."""
        axis = checks.axis_in_rank(self.axis, x.ndim, "TensorScatterElements")
        if x.ndim != indices.ndim:
            raise located(
                ValueError,
                f"For 'TensorScatterElements', the ranks of 'input' and 'index' must be equal, but "
                f"got {x.ndim} and {indices.ndim}.",
            )
        if not x.ndim:
            x, indices, updates = x.reshape(1), indices.reshape(1), updates.reshape(1)
            return self._scattered(x, indices, updates, 0).reshape(())
        return self._scattered(x, indices, updates, axis)

    def _scattered(self, x: Array, indices: Array, updates: Array, axis: int) -> Array:
        if updates.ndim == 0:
            updates = jnp.broadcast_to(updates, indices.shape)
        if updates.ndim != indices.ndim or any(
            i > u for i, u in zip(indices.shape, updates.shape, strict=True)
        ):
            raise located(
                ValueError,
                f"For 'TensorScatterElements', 'updates' must not be smaller than 'indices', but "
                f"got shapes {updates.shape} and {indices.shape}.",
            )
        updates = lax.slice(updates, [0] * updates.ndim, indices.shape).astype(x.dtype)
        along = index_array("TensorScatterElements", indices, x.shape[axis])
        parts = [
            along if i == axis else lax.broadcasted_iota(along.dtype, indices.shape, i)
            for i in range(x.ndim)
        ]
        how = "update" if self.reduction == "none" else self.reduction
        return scatter_rows(x, jnp.stack(parts, -1), updates, how)


def tensor_scatter_elements(
    input_x: Tensor, indices: Tensor, updates: Any, axis: int = 0, reduction: str = "none"
) -> Tensor:
    """Copy a Tensor with single elements written along an axis.

    Args:
        input_x: Tensor.
        indices: integer Tensor of the same rank.
        updates: Tensor not smaller than ``indices``, or a number.
        axis: the axis.
        reduction: ``"none"`` replaces, ``"add"`` adds, ``"mul"`` multiplies.

    Returns:
        Tensor like ``input_x``.

    Raises:
        ValueError: the shapes do not fit, or ``reduction`` is unknown.
    """
    return TensorScatterElements(axis, reduction)(input_x, indices, updates)


def scatter(input: Tensor, axis: int, index: Tensor, src: Any) -> Tensor:
    """Copy a Tensor with single elements replaced along an axis (MindSpore: ``ops.scatter``).

    Args:
        input: Tensor.
        axis: the axis.
        index: integer Tensor of the same rank.
        src: Tensor not smaller than ``index``, or a number.

    Returns:
        Tensor like ``input``.

    Raises:
        ValueError: the shapes do not fit.
    """
    return TensorScatterElements(checks.integer("axis", axis, "scatter"))(input, index, src)


def scatter_along_add(input: Tensor, dim: int, index: Tensor, src: Any) -> Tensor:
    """Copy a Tensor with single elements added along an axis (``mint.scatter_add``)."""
    return TensorScatterElements(checks.integer("dim", dim, "scatter_add"), "add")(
        input, index, src
    )


class _IndexCombine(Primitive, register=False):
    """A copy with slices of an axis combined with others."""

    axis: int
    how: str = "add"

    def compute(self, x: Array, indices: Array, y: Array, alpha: Array | None = None) -> Array:
        axis = checks.axis_in_rank(self.axis, x.ndim, "index_add")
        if indices.ndim != 1 or y.ndim != x.ndim or y.shape[axis] != indices.shape[0]:
            raise located(
                ValueError,
                f"For 'IndexAdd', 'indices' must be a vector as long as axis {axis} of 'y', but "
                f"got shapes {indices.shape} and {y.shape}.",
            )
        where = index_array("IndexAdd", indices, x.shape[axis])[:, None]
        y = y.astype(x.dtype) if alpha is None else y.astype(x.dtype) * alpha.astype(x.dtype)
        rows = jnp.moveaxis(y, axis, 0)
        moved = jnp.moveaxis(x, axis, 0)
        rows = checked_updates("IndexAdd", moved, where, rows)
        return jnp.moveaxis(scatter_rows(moved, where, rows, self.how), 0, axis)


def index_write(input: Tensor, dim: int, index: Tensor, source: Tensor) -> Tensor:
    """Copy a Tensor with slices of an axis replaced; as `index_sum` without the sum."""
    return _IndexCombine(checks.integer("dim", dim, "index_copy"), "update")(input, index, source)


def index_sum(input: Tensor, dim: int, index: Tensor, source: Tensor, alpha: Any = 1) -> Tensor:
    """Copy a Tensor with slices of an axis added (``mint.index_add``).

    Args:
        input: Tensor.
        dim: the axis.
        index: integer vector.
        source: Tensor like ``input``, as long as ``index`` along the axis.
        alpha: number that ``source`` is multiplied by.

    Returns:
        Tensor like ``input``.

    Raises:
        ValueError: the shapes do not fit.
    """
    return _IndexCombine(checks.integer("dim", dim, "index_add"))(input, index, source, alpha)


class _IndexFill(Primitive, register=False):
    """A copy with slices of an axis set to one value."""

    axis: int
    promotes: ClassVar[tuple[int, ...]] = (0, 2)

    def compute(self, x: Array, indices: Array, value: Array) -> Array:
        axis = checks.axis_in_rank(self.axis, x.ndim, "index_fill")
        where = index_array("IndexFill", indices.reshape(-1), x.shape[axis])
        hit = jnp.zeros(x.shape[axis], np.bool_).at[where].set(True, mode="drop")
        return jnp.where(laid_along(hit, x, axis), value.astype(x.dtype), x)


def index_fill(x: Tensor, axis: int, index: Tensor, value: Any) -> Tensor:
    """Copy a Tensor with slices of an axis set to one value (MindSpore: ``ops.index_fill``).

    Args:
        x: Tensor.
        axis: the axis.
        index: integer Tensor with at most one axis.
        value: number or 0-d Tensor.

    Returns:
        Tensor like ``x``.

    Raises:
        ValueError: the axis is out of range.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    axis, shape = checks.integer("axis", axis, "index_fill"), shape_of(x)
    if -len(shape) <= axis < len(shape):
        check_range("index_fill", index, shape[axis])
    return _IndexFill(axis)(x, index, value)


class AdvancedUpdate(Primitive, register=False):
    """A copy with the elements that index arrays on several axes name written.

    Fields: which axes have an index array, in order; how values are combined.
    """

    axes: tuple[int, ...]
    how: str = "update"

    def compute(self, x: Array, value: Array, *indices: Array) -> Array:
        """Merge the indexed axes into one, and scatter along it."""
        merged, linear, place, order = merge_axes("TensorScatterUpdate", x, self.axes, indices)
        where = index_array("TensorScatterUpdate", linear, merged.shape[place])
        shape = (*merged.shape[:place], *where.shape, *merged.shape[place + 1 :])
        value = fitted(value.astype(x.dtype), shape)
        if not value.size:
            return x
        lead = tuple(range(place, place + where.ndim))
        value = jnp.moveaxis(value, lead, tuple(range(where.ndim)))
        rows = jnp.moveaxis(merged, place, 0)
        out = scatter_rows(rows, where[..., None], value, self.how)
        moved = jnp.moveaxis(out, 0, place).reshape([x.shape[a] for a in order])
        return lax.transpose(moved, np.argsort(order).tolist())


class MaskUpdate(Primitive, register=False):
    """A copy with the elements written where a mask on the leading axes is true.

    The values are one row a true element, in order, or broadcast to it.
    """

    def compute(self, x: Array, value: Array, mask: Array) -> Array:
        """Number the true elements, and take for each the row of its number."""
        rest = x.shape[mask.ndim :]
        wide = mask.reshape(mask.shape + (1,) * len(rest))
        value = value.astype(x.dtype)
        if value.size == 1 or value.ndim <= len(rest):
            return jnp.where(wide, fitted(value, rest), x)
        rows = broadcast(value, (value.shape[0], *rest))
        number = lax.cumsum(mask.reshape(-1).astype(np.int32), 0) - 1
        chosen = jnp.clip(number, 0, max(rows.shape[0] - 1, 0))
        if not rows.shape[0]:
            return x
        spread = rows.at[chosen].get(mode="clip").reshape((*mask.shape, *rest))
        return jnp.where(wide, spread, x)


class MaskedScatter(Primitive):
    """A copy with elements taken in order where a mask is true."""

    def compute(self, x: Array, mask: Array, source: Array) -> Array:
        """Number the true elements, and take the element of that number."""
        shape = broadcast_shape("MaskedScatter", x.shape, mask.shape)
        x, mask = broadcast(x, shape), broadcast(mask, shape)
        flat = mask.reshape(-1)
        number = lax.cumsum(flat.astype(np.int32), 0) - 1
        chosen = jnp.clip(number, 0, max(source.size - 1, 0))
        values = source.reshape(-1).astype(x.dtype).at[chosen].get(mode="clip")
        return jnp.where(flat, values, x.reshape(-1)).reshape(x.shape)


def masked_scatter(x: Tensor, mask: Tensor, tensor: Tensor) -> Tensor:
    """Copy a Tensor with elements taken in order where a mask is true.

    Args:
        x: Tensor.
        mask: Bool Tensor; it broadcasts with ``x``.
        tensor: the elements, at least as many as the mask has true ones.

    Returns:
        Tensor like ``x``.
    """
    return MaskedScatter()(x, mask, tensor)


class UnsortedSegment(BoundPrimitive, register=False):
    """Base of reductions of rows by segment; call: ``Op()(input_x, segment_ids, n)``."""

    arrays: ClassVar[int] = 2
    statics: ClassVar[tuple[str, ...]] = ("num_segments",)
    num_segments: int = field(default=0, kw_only=True)

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Reduce, after a check of the segments; their number is bound first."""
        if len(inputs) == 2 and not named:
            check_segments(self.name, inputs[1], self.num_segments)
        return super().__call__(*inputs, **named)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the number of segments."""
        count = checks.integer("num_segments", statics["num_segments"], self.name)
        if count <= 0:
            raise located(
                ValueError,
                f"For primitive[{self.name}], the num_segments's value must be greater than 0, but "
                f"got {count}.",
            )
        return {"num_segments": count}


class UnsortedSegmentSum(UnsortedSegment):
    """Sums of rows by segment; call: ``UnsortedSegmentSum()(input_x, segment_ids, n)``."""

    def compute(self, x: Array, ids: Array) -> Array:
        """Add rows; negative segments are dropped."""
        if x.shape[: ids.ndim] != ids.shape:
            raise located(
                ValueError,
                "For 'UnsortedSegmentSum', the shape of 'input_x' must begin with that of "
                f"'segment_ids', but got {x.shape} and {ids.shape}.",
            )
        if not jnp.issubdtype(ids.dtype, jnp.integer):
            raise located(
                TypeError,
                "For primitive[UnsortedSegmentSum], the input argument[segment_ids] must be a type "
                f"of {{Int16, Int32, Int64}}, but got {from_np(ids.dtype)}.",
            )
        out = jnp.zeros((self.num_segments, *x.shape[ids.ndim :]), x.dtype)
        ids = ids.astype(np.int32)
        ids = jnp.where(ids < 0, np.int32(self.num_segments), ids)
        return scatter_rows(out, ids[..., None], x, "add")


def unsorted_segment_sum(input_x: Tensor, segment_ids: Tensor, num_segments: int) -> Tensor:
    """Sum rows by segment (MindSpore: ``ops.unsorted_segment_sum``).

    Args:
        input_x: Tensor whose shape begins with that of ``segment_ids``.
        segment_ids: integer Tensor; rows with negative ones are dropped.
        num_segments: number of segments.

    Returns:
        Tensor of shape ``(num_segments, *input_x.shape[segment_ids.ndim:])``.
    """
    count = UnsortedSegmentSum().bind(num_segments=num_segments)["num_segments"]
    return UnsortedSegmentSum.of(count)(input_x, segment_ids)
