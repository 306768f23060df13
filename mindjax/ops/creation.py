"""Tensors made from sizes and numbers: zeros, full, arange, eye, one_hot."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype, float32, float64, from_np, int64
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


def checked_dtype(op: str, dtype: Any, default: Number) -> Number:
    """Check a ``dtype`` argument.

    Args:
        op: name of the op, for the message.
        dtype: MindSpore dtype, numpy dtype or Python type, or None.
        default: what None stands for.

    Returns:
        The dtype.

    Raises:
        TypeError: ``dtype`` is no data type.
    """
    if dtype is None:
        return default
    if isinstance(dtype, str):
        raise located(
            TypeError, f"For '{op}', the input 'dtype' should be mindspore dtype, but got {dtype}."
        )
    return as_dtype(dtype)


class _Constant(BoundPrimitive, register=False):
    """An array of one number; call: ``op(shape, dtype)``."""

    arrays: ClassVar[int] = 0
    statics: ClassVar[tuple[str, ...]] = ("shape", "dtype")
    shape: tuple[int, ...] = field(default=(), kw_only=True)
    dtype: Number = field(default=float32, kw_only=True)
    number: ClassVar[int] = 0

    def __call__(self, *inputs: Any) -> Any:
        """Make the Tensor."""
        if not inputs:
            return as_tensor(super().__call__())
        shape, dtype = (*inputs, None)[:2]
        checked = checked_dtype(self.name, dtype, float32)
        return type(self).of(checks.sizes("shape", shape, self.name), checked)()

    def compute(self) -> Array:
        return lax.full(self.shape, self.number, self.dtype.np)


def as_tensor(array: Any) -> Any:
    """Make a Tensor of what a primitive without inputs returned."""
    return array if isinstance(array, Handle) else Handle.tensor_class._from_array(array)


class Zeros(_Constant):
    """Zeros."""


class Ones(_Constant):
    """Ones."""

    number: ClassVar[int] = 1


def zeros(size: Any, dtype: Any = None) -> Tensor:
    """Make zeros (MindSpore: ``ops.zeros``).

    Args:
        size: sizes, or one size.
        dtype: element type; Float32 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: a size is no integer, or ``dtype`` no data type.
        ValueError: a size is negative.
    """
    return Zeros()(size, dtype)


def ones(shape: Any, dtype: Any = None) -> Tensor:
    """Make ones (MindSpore: ``ops.ones``).

    Args:
        shape: sizes, or one size.
        dtype: element type; Float32 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: a size is no integer, or ``dtype`` no data type.
        ValueError: a size is negative.
    """
    return Ones()(shape, dtype)


class _ConstantLike(Primitive, register=False):
    """An array of one number with the shape of another."""

    dtype: Number | None = field(default=None, kw_only=True)
    number: ClassVar[int] = 0

    def compute(self, x: Array) -> Array:
        return lax.full(x.shape, self.number, x.dtype if self.dtype is None else self.dtype.np)


class ZerosLike(_ConstantLike):
    """Zeros with the shape of the input."""


class OnesLike(_ConstantLike):
    """Ones with the shape of the input."""

    number: ClassVar[int] = 1


def zeros_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Make zeros with the shape of a Tensor (MindSpore: ``ops.zeros_like``).

    Args:
        input: Tensor.
        dtype: element type; that of ``input`` by default.

    Returns:
        Tensor.
    """
    checks.tensors("zeros_like", input=input)
    return ZerosLike(dtype=None if dtype is None else checked_dtype("ZerosLike", dtype, float32))(
        input
    )


def ones_like(input: Tensor, *, dtype: Any = None) -> Tensor:
    """Make ones with the shape of a Tensor (MindSpore: ``ops.ones_like``).

    Args:
        input: Tensor of any shape.
        dtype: element type; by default that of ``input``.

    Returns:
        Tensor of the same shape.

    Raises:
        AttributeError: ``input`` is no Tensor.
        TypeError: ``dtype`` is no dtype.
    """
    checks.tensors("ones_like", input=input)
    return OnesLike(dtype=None if dtype is None else checked_dtype("OnesLike", dtype, float32))(
        input
    )


class FillV2(BoundPrimitive):
    """A shape filled with one value; call: ``FillV2()(shape, value)``."""

    arrays: ClassVar[int] = 1
    shape: tuple[int, ...] = field(default=(), kw_only=True)
    dtype: Number | None = field(default=None, kw_only=True)

    def __call__(self, *inputs: Any) -> Any:
        """Fill; the shape stands first unless it is bound."""
        if len(inputs) == 1:
            (value,) = inputs
            if isinstance(value, float) and self.dtype is float64:
                # As an operand, a Python float would be rounded to Float32.
                value = np.asarray(value)
            return as_tensor(Primitive.__call__(self, value))
        shape, value = inputs
        return FillV2(shape=checks.sizes("shape", shape, "FillV2"))(value)

    def compute(self, value: Array) -> Array:
        """Broadcast the value."""
        if value.ndim:
            raise located(
                ValueError,
                f"For 'FillV2', the 'value' must be a number or 0-d Tensor, but got {value.shape}.",
            )
        dtype = value.dtype if self.dtype is None else self.dtype.np
        return lax.broadcast(value.astype(dtype), self.shape)


class Fill(Primitive):
    """A shape filled with one value; call: ``Fill()(type, shape, value)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Fill."""
        dtype, shape, value = inputs
        checked = checked_dtype("Fill", dtype, float32)
        return FillV2(shape=checks.sizes("shape", shape, "Fill"), dtype=checked)(value)


def fill(type: Any, shape: Any, value: Any) -> Tensor:
    """Fill a shape with one value (MindSpore: ``ops.fill``).

    Args:
        type: element type; None for Int64.
        shape: sizes.
        value: number or 0-d Tensor.

    Returns:
        Tensor.
    """
    return full(shape, value, dtype=type)


def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Fill a shape with one value (MindSpore: ``ops.full``).

    Args:
        size: tuple or list of sizes.
        fill_value: number or 0-d Tensor.
        dtype: element type; Int64 by default, whatever the value, as in the original.

    Returns:
        Tensor.

    Raises:
        TypeError: a size is no integer, or ``dtype`` no data type.
        ValueError: a size is negative.
    """
    checked = checked_dtype("full", dtype, int64)
    return FillV2(shape=checks.shape_tuple("size", size, "full"), dtype=checked)(fill_value)


def full_like(input: Tensor, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """Fill the shape of a Tensor with one value (MindSpore: ``ops.full_like``).

    Args:
        input: Tensor.
        fill_value: number or 0-d Tensor.
        dtype: element type; that of ``input`` by default.

    Returns:
        Tensor.
    """
    checks.tensors("full_like", input=input)
    checked = checked_dtype("full_like", input.dtype if dtype is None else dtype, float32)
    return FillV2(shape=shape_of(input), dtype=checked)(fill_value)


def empty(*size: Any, dtype: Any = None, device: str | None = None) -> Tensor:
    """Make a Tensor of a shape; its values are zeros (MindSpore: ``mint.empty``).

    Args:
        size: sizes, as integers or one sequence.
        dtype: element type; Float32 by default.
        device: must be None: placement is the context's.

    Returns:
        Tensor.

    Raises:
        NotImplementedError: ``device`` is given.
    """
    need_no_device("empty", device)
    return zeros(size[0] if len(size) == 1 else size, dtype)


def empty_like(input: Tensor, *, dtype: Any = None, device: str | None = None) -> Tensor:
    """Make a Tensor of the shape of another; its values are zeros (``mint.empty_like``)."""
    need_no_device("empty_like", device)
    return zeros_like(input, dtype=dtype)


def need_no_device(op: str, device: Any) -> None:
    """Raise if a ``device`` is given.

    Raises:
        NotImplementedError: it is.
    """
    if device is not None:
        raise located(
            NotImplementedError,
            f"For '{op}', the argument 'device' is not supported, but got {device!r}: set "
            "device_target with mindspore.set_context or set_device.",
        )


class Eye(BoundPrimitive):
    """Ones on the main diagonal; call: ``Eye()(n, m, dtype)``."""

    arrays: ClassVar[int] = 0
    statics: ClassVar[tuple[str, ...]] = ("n", "m", "dtype")
    n: int = field(default=0, kw_only=True)
    m: int = field(default=0, kw_only=True)
    dtype: Number = field(default=float32, kw_only=True)

    def __call__(self, *inputs: Any) -> Any:
        """Make the Tensor."""
        if not inputs:
            return as_tensor(Primitive.__call__(self))
        return eye(*inputs)

    def compute(self) -> Array:
        """Compare rows with columns."""
        rows, columns = (lax.broadcasted_iota(np.int32, (self.n, self.m), i) for i in (0, 1))
        return (rows == columns).astype(self.dtype.np)


def eye(n: int, m: int | None = None, dtype: Any = None) -> Tensor:
    """Make a matrix with ones on the main diagonal (MindSpore: ``ops.eye``).

    Args:
        n: number of rows.
        m: number of columns; ``n`` by default.
        dtype: element type; Float32 by default.

    Returns:
        Tensor of shape (n, m).

    Raises:
        TypeError: a size is no integer.
        ValueError: a size is negative.
    """
    rows = checks.integer("n", n, "Eye")
    columns = rows if m is None else checks.integer("m", m, "Eye")
    for name, value in (("n", rows), ("m", columns)):
        if value < 0:
            raise located(ValueError, f"For 'Eye', {name} value can not be negative, got {value}.")
    return Eye.of(rows, columns, checked_dtype("Eye", dtype, float32))()


class OneHot(BoundPrimitive):
    """One value at each index, another elsewhere.

    Call: ``OneHot()(indices, depth, on_value, off_value)``.
    """

    axis: int = -1
    arrays: ClassVar[int] = 3
    promotes: ClassVar[tuple[int, ...]] = (1, 2)
    depth: int | None = field(default=None, kw_only=True)

    def __call__(self, *inputs: Any) -> Any:
        """Encode; the depth stands second unless it is bound."""
        if len(inputs) == 3:
            return Primitive.__call__(self, *inputs)
        indices, depth, on, off = inputs
        return OneHot(self.axis, depth=checks.integer("depth", depth, "OneHot"))(indices, on, off)

    def compute(self, indices: Array, on: Array, off: Array) -> Array:
        """Compare indices with positions."""
        if indices.dtype not in (np.int32, np.int64, np.uint8):
            raise located(
                TypeError,
                "For primitive[OneHot], the input argument[indices] must be a type of "
                f"{{Tensor[Int32], Tensor[Int64]}}, but got Tensor[{from_np(indices.dtype)}].",
            )
        assert self.depth is not None
        if self.depth < 0:
            raise located(
                ValueError,
                "For primitive[OneHot], the depth value must be greater than or equal to 0, but "
                f"got {self.depth}.",
            )
        if not -1 <= self.axis <= indices.ndim:
            raise located(
                ValueError,
                f"For primitive[OneHot], the axis value must be in [-1,{indices.ndim}], but got "
                f"{self.axis}.",
            )
        axis = indices.ndim if self.axis == -1 else self.axis
        wide = lax.expand_dims(indices.astype(np.int32), [axis])
        shape = (*indices.shape[:axis], self.depth, *indices.shape[axis:])
        places = lax.broadcasted_iota(np.int32, shape, axis)
        return jnp.where(wide == places, on.reshape(()), off.reshape(()).astype(on.dtype))


def one_hot(
    indices: Tensor, depth: int, on_value: Any = 1, off_value: Any = 0, axis: int = -1
) -> Tensor:
    """Put one value at each index, another elsewhere (MindSpore: ``ops.one_hot``).

    Args:
        indices: Int32 or Int64 Tensor; an index out of range gives ``off_value`` all along.
        depth: size of the new axis.
        on_value: number or 0-d Tensor.
        off_value: number or 0-d Tensor of the same dtype.
        axis: place of the new axis; -1 is the last.

    Returns:
        Tensor of the dtype of ``on_value``.

    Raises:
        TypeError: the indices are no integers.
        ValueError: ``depth`` is negative, or the axis out of range.
    """
    return OneHot(axis)(indices, depth, on_value, off_value)


class ScalarToTensor(Primitive):
    """A number as a 0-d Tensor; call: ``ScalarToTensor()(input_x, dtype)``."""

    def __call__(self, *inputs: Any) -> Any:
        """Make the Tensor."""
        return scalar_to_tensor(*inputs)


def scalar_to_tensor(input_x: Any, dtype: Any = float32) -> Tensor:
    """Make a 0-d Tensor of a number (MindSpore: ``ops.scalar_to_tensor``).

    Args:
        input_x: Python number.
        dtype: element type.

    Returns:
        Tensor.

    Raises:
        TypeError: ``input_x`` is no number.
    """
    if not isinstance(input_x, bool | int | float):
        raise located(
            TypeError,
            f"For 'ScalarToTensor', the 'input_x' must be a number, but got {input_x!r}.",
        )
    checked = checked_dtype("ScalarToTensor", dtype, float32)
    return Handle.tensor_class._from_array(np.asarray(input_x, checked.np))


class TupleToArray(Primitive):
    """Numbers as a 1-d Tensor."""

    def __call__(self, *inputs: Any) -> Any:
        """Make the Tensor."""
        return tuple_to_array(*inputs)


def tuple_to_array(input_x: Any) -> Tensor:
    """Make a 1-d Tensor of numbers: Int32 of integers, else Float32.

    Args:
        input_x: tuple or list of numbers.

    Returns:
        Tensor.

    Raises:
        TypeError: ``input_x`` is no sequence of numbers.
    """
    if not isinstance(input_x, tuple | list) or not all(
        isinstance(v, bool | int | float) for v in input_x
    ):
        raise located(
            TypeError, f"For 'TupleToArray', the 'input_x' must hold numbers, but got {input_x!r}."
        )
    whole = all(isinstance(v, int) for v in input_x)
    if whole and any(not -(2**31) <= v < 2**31 for v in input_x):
        raise located(
            TypeError, f"For 'TupleToArray', the integers must fit Int32, but got {input_x!r}."
        )
    array = np.asarray(input_x, np.int32 if whole else np.float32)
    return Handle.tensor_class._from_array(array)
