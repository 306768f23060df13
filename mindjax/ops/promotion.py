"""Implicit conversion inside `compute`: arrays brought to the dtype that the one table gives."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.dtype import from_np, promote_types
from mindjax.core.errors import located

Array = jax.Array


def promote(*arrays: Any, op: str = "", broadcast: bool = False) -> tuple[Any, ...]:
    """Convert arrays to their common dtype.

    Args:
        arrays: arrays of any shape; None stands for an absent optional operand and is kept.
        op: name of the operator, for messages.
        broadcast: whether to check that the shapes broadcast to each other.

    Returns:
        The arrays in the same order, of one dtype.

    Raises:
        TypeError: two dtypes do not mix, or every operand is absent.
        ValueError: the shapes should broadcast to each other and do not.
    """
    common = None
    for x in arrays:
        if isinstance(x, tuple | list):
            raise located(
                TypeError,
                f"For '{op}', the operands must be Tensors, but got a {type(x).__name__}.",
            )
        if x is not None:
            dtype = from_np(x.dtype)
            common = dtype if common is None else promote_types(common, dtype)
    if common is None:
        raise located(TypeError, f"For '{op}', an operand must be a Tensor, but all are None.")
    if broadcast:
        broadcast_shape(op, *(x.shape for x in arrays if x is not None))
    return tuple(x if x is None else convert(x, common.np) for x in arrays)


def promote_pair(op: str, x: Any, y: Any) -> tuple[Array, Array]:
    """Convert the two operands of an operator to their common dtype.

    Args:
        op: name of the operator, for messages.
        x: first array.
        y: second array.

    Returns:
        Both arrays, of one dtype.

    Raises:
        TypeError: an operand is None or a sequence, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    for operand in (x, y):
        if operand is None or isinstance(operand, tuple | list):
            kind = "None" if operand is None else type(operand).__name__
            raise located(
                TypeError, f"For '{op}', the operands must be Tensors or numbers, but got {kind}."
            )
    if x.shape != y.shape:
        broadcast_shape(op, x.shape, y.shape)
    if x.dtype == y.dtype:
        return x, y
    common = promote_types(from_np(x.dtype), from_np(y.dtype)).np
    return convert(x, common), convert(y, common)


WIDE_UNSIGNED = ("uint16", "uint32", "uint64")


def refuse_wide_unsigned(op: str, *arrays: Any) -> None:
    """Refuse wide unsigned integers beside another dtype, truth values included.

    Args:
        op: name of the operator, for messages.
        arrays: operands of any shape; what is no array is not looked at.

    Raises:
        TypeError: the dtypes differ, and one of them is UInt16, UInt32 or UInt64.
    """
    kinds = [x.dtype for x in arrays if hasattr(x, "dtype")]
    if any(k != kinds[0] for k in kinds) and any(k in WIDE_UNSIGNED for k in kinds):
        raise located(
            TypeError,
            f"For Op[{op}], the promote output type is invalid: {', '.join(map(str, kinds))}.",
        )


def broadcast_shape(op: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Find the shape that shapes broadcast to.

    Args:
        op: name of the operator, for messages.
        shapes: the shapes.

    Returns:
        The common shape.

    Raises:
        ValueError: the shapes do not broadcast to each other.
    """
    try:
        return jnp.broadcast_shapes(*shapes)
    except ValueError:
        listed = " and ".join(str(list(s)) for s in shapes)
        raise located(
            ValueError, f"For '{op}', the shapes need to broadcast, but got {listed}."
        ) from None


def convert(x: Any, dtype: Any) -> Array:
    """Convert an array as jax does, without the original's rules for values out of range."""
    if isinstance(x, np.ndarray):
        return jnp.asarray(x, dtype)
    return x if x.dtype == dtype else jax.lax.convert_element_type(x, dtype)


def floating(x: Any) -> Array:
    """Convert integers and truth values to float32; other arrays stay as they are."""
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return x
    return convert(x, np.float32)


def is_float(x: Any) -> bool:
    """Tell whether an array holds real floating-point numbers."""
    return jnp.issubdtype(x.dtype, jnp.floating)


def is_bool(x: Any) -> bool:
    """Tell whether an array holds truth values."""
    return x.dtype == np.bool_


def truth(x: Any) -> Array:
    """Tell where an array is not zero."""
    return x if is_bool(x) else x != 0


def refuse_bool(op: str, *arrays: Any) -> None:
    """Raise if every array holds truth values, for which the operator is not defined.

    Raises:
        TypeError: all arrays are Bool.
    """
    if all(is_bool(x) for x in arrays):
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument[x] must be a number type, but got "
            "Tensor[Bool].",
        )
