"""Positions of extreme elements, and extreme elements with their positions."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, int32, int64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import maximum, minimum
from mindjax.ops.cast import cast_like
from mindjax.ops.promotion import convert, is_bool
from mindjax.ops.reduction import amax, amin, masked

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _position(op: str, x: Array, axis: int | None, largest: bool) -> tuple[Array, int]:
    """Find the int32 position of the extreme along an axis of the array, or of its flat form."""
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise located(TypeError, f"For '{op}', complex numbers have no order.")
    if axis is None:
        x, axis = x.reshape(-1), 0
    elif x.ndim == 0:
        x = x.reshape(1)
    axis = checks.axis_in_rank(axis, x.ndim, op)
    if x.shape[axis] == 0:
        raise located(
            ValueError, f"For '{op}', an empty axis has no extreme element: shape {x.shape}."
        )
    keys = convert(x, np.uint8) if is_bool(x) else x
    find = jax.lax.argmax if largest else jax.lax.argmin
    return find(keys, axis, np.int32), axis


def pick(x: Array, index: Array, axis: int) -> Array:
    """Take one element along an axis at int32 positions of the other axes' shape."""
    return jnp.take_along_axis(x, jnp.expand_dims(index, axis), axis, mode="clip").squeeze(axis)


class Argmax(Primitive):
    """Position of the largest element along an axis (MindSpore: ``ops.Argmax``).

    Args:
        axis: the axis; None means the flat array.
        output_type: element type of the result, Int32 or Int64.
    """

    axis: int | None = -1
    output_type: Number = int32
    keep_dims: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_index_type(self.name, self.output_type)

    def compute(self, x: Array) -> Array:
        """Find positions; of equal elements the first, and NaN is the largest."""
        return _arg_extreme(self, x, True)


class Argmin(Primitive):
    """Position of the smallest element along an axis (MindSpore: ``ops.Argmin``).

    Args:
        axis: the axis; None means the flat array.
        output_type: element type of the result, Int32 or Int64.
    """

    axis: int | None = -1
    output_type: Number = int32
    keep_dims: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        _check_index_type(self.name, self.output_type)

    def compute(self, x: Array) -> Array:
        """Find positions; of equal elements the first, and NaN is the smallest."""
        return _arg_extreme(self, x, False)


def _check_index_type(op: str, output_type: Any) -> None:
    if output_type not in (int32, int64):
        raise located(
            TypeError,
            f"For '{op}', the 'output_type' must be mindspore.int32 or mindspore.int64, but got "
            f"{output_type}.",
        )


def _arg_extreme(record: Any, x: Array, largest: bool) -> Array:
    index, axis = _position(record.name, x, record.axis, largest)
    index = convert(index, as_dtype(record.output_type).np)
    if record.keep_dims and x.ndim:
        whole = (1,) * x.ndim
        return index.reshape(whole) if record.axis is None else jnp.expand_dims(index, axis)
    return index


def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Find the position of the largest element (MindSpore: ``ops.argmax``).

    Args:
        input: real Tensor of any shape.
        dim: axis; None means the flat Tensor.
        keepdim: whether the axis stays, with size 1; without effect when ``dim`` is None.

    Returns:
        Int64 Tensor without the axis; of equal elements the first one's position.

    Raises:
        ValueError: there is no such axis, or it is empty.
    """
    if dim is None:
        return Argmax(None, int64)(input)
    return Argmax(checks.integer("dim", dim, "argmax"), int64, keep_dims=bool(keepdim))(input)


def argmin(input: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Find the position of the smallest element (MindSpore: ``ops.argmin``).

    Args:
        input: real Tensor of any shape.
        axis: axis; None means the flat Tensor.
        keepdims: whether the axis stays, with size 1; without effect when ``axis`` is None.

    Returns:
        Int32 Tensor without the axis; of equal elements the first one's position.

    Raises:
        ValueError: there is no such axis, or it is empty.
    """
    if axis is None:
        return Argmin(None, int32)(input)
    return Argmin(checks.integer("axis", axis, "argmin"), int32, keep_dims=bool(keepdims))(input)


class ArgMaxWithValue(Primitive):
    """Position and value of the largest element along an axis (``ops.ArgMaxWithValue``).

    Args:
        axis: the axis; None takes the flat Tensor.
        keep_dims: whether the axis stays, with size 1.
    """

    axis: int | None = 0
    keep_dims: bool = False

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Find Int64 positions and values; the first of equal elements gets the gradient."""
        return _with_value(self, x, True)


class ArgMinWithValue(Primitive):
    """Position and value of the smallest element along an axis (``ops.ArgMinWithValue``).

    Args:
        axis: the axis; None takes the flat Tensor.
        keep_dims: whether the axis stays, with size 1.
    """

    axis: int | None = 0
    keep_dims: bool = False

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Find Int64 positions and values; the first of equal elements gets the gradient."""
        return _with_value(self, x, False)


def _with_value(record: Any, x: Array, largest: bool) -> tuple[Array, Array]:
    index, axis = _position(record.name, x, record.axis, largest)
    flat = x.ndim == 0 or record.axis is None
    value = pick(x.reshape(-1) if flat else x, index, axis)
    if record.keep_dims and not flat:
        index, value = jnp.expand_dims(index, axis), jnp.expand_dims(value, axis)
    return convert(index, np.int64), value


def value_index(
    largest: bool, input: Any, axis: int | None, keepdims: bool, initial: Any, where: Any
) -> tuple[Any, Any]:
    """Give the extreme and its position, as `max` and `min` do; no axis means the flat Tensor."""
    name = "max" if largest else "min"
    if axis is None:
        flat = (amax if largest else amin)(input, initial=initial, where=where)
        return flat, Argmax(None, int64)(flat)
    cls = ArgMaxWithValue if largest else ArgMinWithValue
    record = cls(checks.integer("axis", axis, name), bool(keepdims))
    source = masked(name, input, initial, where)
    if initial is not None:
        source = cast_like((maximum if largest else minimum)(source, initial), source)
    index, value = record(source)
    return value, index


def max(
    input: Tensor,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    initial: Any = None,
    where: Any = None,
) -> tuple[Tensor, Tensor]:
    """Find the largest elements and their positions (MindSpore: ``ops.max``).

    Args:
        input: real Tensor of any shape.
        axis: axis; None means all axes, and the position is then 0.
        keepdims: whether the axis stays, with size 1; without effect when ``axis`` is None.
        initial: least value of the result.
        where: Bool Tensor that says which elements count; it needs ``initial``.

    Returns:
        Values, of the input's dtype, and Int64 positions.

    Raises:
        ValueError: there is no such axis, it is empty, or ``where`` lacks ``initial``.
    """
    return value_index(True, input, axis, keepdims, initial, where)


def min(
    input: Tensor,
    axis: int | None = None,
    keepdims: bool = False,
    *,
    initial: Any = None,
    where: Any = None,
) -> tuple[Tensor, Tensor]:
    """Find the smallest elements and their positions (MindSpore: ``ops.min``).

    Args:
        input: real Tensor of any shape.
        axis: axis; None means all axes, and the position is then 0.
        keepdims: whether the axis stays, with size 1; without effect when ``axis`` is None.
        initial: greatest value of the result.
        where: Bool Tensor that says which elements count; it needs ``initial``.

    Returns:
        Values, of the input's dtype, and Int64 positions.

    Raises:
        ValueError: there is no such axis, it is empty, or ``where`` lacks ``initial``.
    """
    return value_index(False, input, axis, keepdims, initial, where)
