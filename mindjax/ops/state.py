"""Ops that write Parameters, and those that order or cut what follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np, promote_types
from mindjax.core.errors import located
from mindjax.core.handle import Handle, is_traced, peek, unwrap, wrap
from mindjax.core.primitive import Primitive
from mindjax.ops.gather import check_range, index_array
from mindjax.ops.scatter import scatter_rows
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    pass

Array = jax.Array


def write(variable: Any, fresh: Any, reaches: bool = True) -> Any:
    """Give a handle the value, and the place on the tape, of a fresh result.

    Args:
        variable: Tensor or Parameter.
        fresh: Tensor that an op has just made.
        reaches: whether a graph writes it into the caller's argument too.

    Returns:
        ``variable``.
    """
    if reaches:
        variable.note_in_place()
    variable.assign_value(peek(fresh), fresh._node)
    return variable


class WritingPrimitive(Primitive, register=False):
    """Base of primitives that write their result into input 0 and give it as a Tensor."""

    effect: ClassVar[bool] = True
    writes_result: ClassVar[bool] = True

    def __call__(self, *inputs: Any) -> Any:
        """Compute the new value, write it, and give it."""
        variable = inputs[0]
        if not isinstance(variable, Handle):
            raise located(
                TypeError,
                f"For '{self.name}', the 'variable' must be a Parameter or Tensor, but got "
                f"{type(variable).__name__}.",
            )
        fresh = super().__call__(*inputs)
        write(variable, fresh)
        return fresh


def kept_dtype(variable: Array, value: Array) -> Array:
    """Cast a value to the variable's dtype, where the original does so by itself."""
    have, got = from_np(variable.dtype), from_np(value.dtype)
    if promote_types(have, got) is not have:
        raise located(
            TypeError,
            "Data type conversion is not supported for a 'Parameter', nor for the input tensor of "
            f"an in-place operator, so data type {have.name}, which cannot be converted to data "
            f"type {promote_types(have, got).name} automatically.",
        )
    return value.astype(variable.dtype)


def _same_shape(op: str, variable: Array, value: Array) -> None:
    if variable.shape != value.shape:
        raise located(
            ValueError,
            f"For '{op}','value' must have the same shape as 'variable'. But got 'value' shape: "
            f"{value.shape}, 'variable' shape: {variable.shape}.",
        )


class Assign(WritingPrimitive):
    """Write a value into a Parameter."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, variable: Array, value: Array) -> Array:
        """Give the value in the variable's dtype."""
        if variable.size == value.size == 1:
            value = value.reshape(variable.shape)
        _same_shape("Assign", variable, value)
        return kept_dtype(variable, value)


def assign(variable: Any, value: Any) -> Any:
    """Write a value into a Parameter (MindSpore: ``ops.assign``).

    Args:
        variable: Parameter or Tensor.
        value: Tensor or number of the same shape; cast to the variable's dtype.

    Returns:
        Tensor, the new value of ``variable``.

    Raises:
        TypeError: the common dtype of both is not the variable's.
        ValueError: the shapes differ.
    """
    return Assign()(variable, value)


class AssignAdd(WritingPrimitive):
    """Add a value to a Parameter."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, variable: Array, value: Array) -> Array:
        """Give the sum."""
        _same_shape("AssignAdd", variable, value)
        return variable + kept_dtype(variable, value)


def assign_add(variable: Any, value: Any) -> Any:
    """Add a value to a Parameter (MindSpore: ``ops.assign_add``).

    Args:
        variable: Parameter or Tensor.
        value: Tensor or number of the same shape; cast to the variable's dtype.

    Returns:
        Tensor, the new value of ``variable``.

    Raises:
        TypeError: the common dtype of both is not the variable's.
        ValueError: the shapes differ.
    """
    return AssignAdd()(variable, value)


class AssignSub(WritingPrimitive):
    """Subtract a value from a Parameter."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, variable: Array, value: Array) -> Array:
        """Give the difference."""
        _same_shape("AssignSub", variable, value)
        return variable - kept_dtype(variable, value)


def assign_sub(variable: Any, value: Any) -> Any:
    """Subtract a value from a Parameter (MindSpore: ``ops.assign_sub``).

    Args:
        variable: Parameter or Tensor.
        value: Tensor or number of the same shape; cast to the variable's dtype.

    Returns:
        Tensor, the new value of ``variable``.

    Raises:
        TypeError: the common dtype of both is not the variable's.
        ValueError: the shapes differ.
    """
    return AssignSub()(variable, value)


class ScatterWrite(WritingPrimitive, register=False):
    """Combine rows with those of a Parameter that indices name."""

    how: ClassVar[str]

    def __call__(self, *inputs: Any) -> Any:
        """Write, after a check of the indices where their values are known."""
        if len(inputs) == 3 and isinstance(inputs[0], Handle):
            shape = shape_of(inputs[0])
            if not shape:
                raise located(
                    ValueError,
                    f"For '{self.name}', 'input_x' must be a Parameter or Tensor with at least one "
                    "axis.",
                )
            check_range(self.name, inputs[1], shape[0])
        return super().__call__(*inputs)

    def compute(self, variable: Array, indices: Array, updates: Array) -> Array:
        """Give the written array."""
        shape = indices.shape + variable.shape[1:]
        if updates.shape != shape:
            raise located(
                ValueError,
                f"For '{self.name}', the shape of 'updates' must be {shape}, but got "
                f"{updates.shape}.",
            )
        where = index_array(self.name, indices, variable.shape[0])[..., None]
        return scatter_rows(variable, where, kept_dtype(variable, updates), self.how)


class ScatterUpdate(ScatterWrite):
    """Replace rows of a Parameter."""

    use_locking: bool = True
    how: ClassVar[str] = "update"


class ScatterAdd(ScatterWrite):
    """Add to rows of a Parameter."""

    use_locking: bool = False
    how: ClassVar[str] = "add"


class ScatterSub(ScatterWrite):
    """Subtract from rows of a Parameter."""

    use_locking: bool = False
    how: ClassVar[str] = "sub"


def scatter_update(input_x: Any, indices: Any, updates: Any) -> Any:
    """Replace rows of a Parameter (MindSpore: ``ops.scatter_update``).

    Args:
        input_x: Parameter.
        indices: integer Tensor.
        updates: Tensor of shape ``indices.shape + input_x.shape[1:]``.

    Returns:
        Tensor, the new value of ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return ScatterUpdate()(input_x, indices, updates)


def scatter_add(input_x: Any, indices: Any, updates: Any) -> Any:
    """Add to rows of a Parameter (MindSpore: ``ops.scatter_add``).

    Args:
        input_x: Parameter.
        indices: integer Tensor.
        updates: Tensor of shape ``indices.shape + input_x.shape[1:]``.

    Returns:
        Tensor, the new value of ``input_x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return ScatterAdd()(input_x, indices, updates)


def add_slices(op: str, x: Array, indices: Array, y: Array, axis: int) -> Array:
    """Add slices to those of an array that indices name, along an axis.

    Args:
        op: name of the op, for messages.
        x: array.
        indices: integer vector.
        y: array like ``x``, as long as ``indices`` along the axis.
        axis: the axis.

    Returns:
        Array like ``x``.

    Raises:
        ValueError: the shapes do not fit, or there is no such axis.
    """
    axis = checks.axis_in_rank(axis, x.ndim, op, scalar=False)
    moved = jnp.moveaxis(x, axis, 0)
    rows = jnp.moveaxis(kept_dtype(x, y), axis, 0) if y.ndim == x.ndim else y
    if indices.ndim != 1 or rows.shape != (*indices.shape, *moved.shape[1:]):
        raise located(
            ValueError,
            f"For '{op}', the updates must be like 'x' and as long as 'indices' along axis {axis}, "
            f"but got shapes {y.shape}, {x.shape} and {indices.shape}.",
        )
    where = index_array(op, indices, x.shape[axis])[:, None]
    return jnp.moveaxis(scatter_rows(moved, where, rows, "add"), 0, axis)


class IndexAdd(WritingPrimitive):
    """Add slices to those of a Parameter that indices name, along an axis."""

    axis: int
    use_lock: bool = True
    check_index_bound: bool = True

    def __call__(self, *inputs: Any) -> Any:
        """Write, after a check of the indices."""
        axis, shape = checks.integer("axis", self.axis, self.name), shape_of(inputs[0])
        if len(inputs) == 3 and -len(shape) <= axis < len(shape):
            check_range(self.name, inputs[1], shape[axis])
        return super().__call__(*inputs)

    def compute(self, x: Array, indices: Array, y: Array) -> Array:
        """Give the sum."""
        return add_slices("IndexAdd", x, indices, y, self.axis)


def index_add(
    x: Any,
    indices: Any,
    y: Any,
    axis: int,
    use_lock: bool = True,
    check_index_bound: bool = True,
) -> Any:
    """Add slices to those of a Parameter that indices name (MindSpore: ``ops.index_add``).

    Args:
        x: Parameter.
        indices: integer vector.
        y: Tensor like ``x``, as long as ``indices`` along the axis.
        axis: the axis.
        use_lock: kept for the original's signature: writes are always whole.
        check_index_bound: kept for the original's signature: the check does not wait for a device.

    Returns:
        Tensor, the new value of ``x``.

    Raises:
        ValueError: the shapes do not fit.
        RuntimeError: an index is out of range (in PYNATIVE on the CPU).
    """
    return IndexAdd(axis, use_lock, check_index_bound)(x, indices, y)


class Depend(Primitive):
    """The first input, once the second has been computed."""

    def __call__(self, *inputs: Any) -> Any:
        """Give the value; Python's order has already run ``expr``."""
        value, _ = inputs
        return value


def depend(value: Any, expr: Any) -> Any:
    """Give ``value`` after ``expr`` has run (MindSpore: ``ops.depend``).

    Args:
        value: anything.
        expr: what must have run before; in Python's order of evaluation it has.

    Returns:
        ``value``.
    """
    return Depend()(value, expr)


class Identity(Primitive):
    """The input."""

    def compute(self, x: Array) -> Array:
        """Give the array."""
        return x


def identity(x: Any) -> Any:
    """Give the input as a new Tensor (MindSpore: ``ops.identity``).

    Args:
        x: Tensor of any shape and dtype.

    Returns:
        Tensor of the same shape and dtype.
    """
    return Identity()(x)


class StopGradient(Primitive):
    """The input, as a constant for gradients."""

    view: ClassVar[bool | str] = True
    constant: ClassVar[bool] = True

    def compute(self, x: Array) -> Array:
        """Give the array, with zero gradient."""
        return lax.stop_gradient(x)


def stop_gradient(value: Any) -> Any:
    """Give the value, as a constant for gradients (MindSpore: ``ops.stop_gradient``).

    Args:
        value: Tensor, or anything, which comes back as it is.

    Returns:
        Tensor; tuples and lists element by element.
    """
    if isinstance(value, tuple | list):
        return type(value)(stop_gradient(v) for v in value)
    return StopGradient()(value) if isinstance(value, Handle | jax.Array) else value


class Print(Primitive):
    """Print values, one a line; in a compiled program when it runs."""

    effect: ClassVar[bool] = True

    def __call__(self, *inputs: Any) -> None:
        """Print each input."""
        print_(*inputs)


def print_(*input_x: Any) -> None:
    """Print values, one a line (MindSpore: ``ops.print_``).

    Args:
        input_x: Tensors, numbers and texts; traced Tensors are printed when the program runs.
    """
    traced = [isinstance(x, Handle) and is_traced(unwrap(x)) for x in input_x]
    if any(traced):
        arrays = [unwrap(x) for x, is_late in zip(input_x, traced, strict=True) if is_late]

        kept = [None if is_late else x for x, is_late in zip(input_x, traced, strict=True)]

        def show(*values: Any) -> None:
            late = iter(values)
            print_(*(wrap(next(late)) if t else x for x, t in zip(kept, traced, strict=True)))

        jax.debug.callback(show, *arrays)
        return
    for x in input_x:
        print(repr(x) if isinstance(x, Handle) else x)
