"""What every function here takes: array-likes, dtypes, axes, with the original's conversions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindjax import ops
from mindjax.core import checks
from mindjax.core.dtype import (
    Number,
    as_dtype,
    bool_,
    float16,
    float32,
    float64,
    from_np,
    int32,
    int64,
    int_type,
    uint_type,
)
from mindjax.core.errors import located
from mindjax.ops.creation import as_tensor
from mindjax.tensor import Tensor

Axis = int | tuple[int, ...] | list[int] | None

DTYPES = (bool_, *int_type, *uint_type, float16, float32, float64)
_NAMES = {"int": int32, "uint": as_dtype("UInt32"), "float": float32, "bool": bool_}
_NARROW = {float64: float32, int64: int32}


def is_number(value: Any) -> bool:
    """Tell whether a value is a Python int, float or bool."""
    return isinstance(value, int | float)


def is_array_like(value: Any) -> bool:
    """Tell whether a value is a Tensor, a Python number or a sequence."""
    return isinstance(value, Tensor | int | float | list | tuple)


def to_tensor(value: Any, wide: bool = False) -> Tensor:
    """Bring an array-like to a Tensor; numbers and sequences become Int32 or Float32, not 64 bit.

    Args:
        value: Tensor, int, float, bool, or nested list or tuple of these.
        wide: whether integers become Int64 after all.

    Returns:
        A Tensor; one that is given comes back as it is.

    Raises:
        TypeError: it is none of these.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, list | tuple):
        made = _of_sequence(value)
        return made if wide else _narrow(made)
    if not is_number(value):
        raise located(TypeError, f"Expect input to be array like, but got {type(value).__name__}.")
    return Tensor(value) if wide else _narrow(Tensor(value))


def _narrow(x: Tensor) -> Tensor:
    return ops.cast(x, _NARROW[x.dtype]) if x.dtype in _NARROW else x


def _of_sequence(value: Any) -> Tensor:
    """Make a Tensor of a sequence; Tensors in it keep their place in gradients."""
    if not holds_tensor(value):
        return Tensor(value)
    parts = [to_tensor(v) for v in value]
    common = parts[0].dtype
    for part in parts[1:]:
        common = promote(common, part.dtype)
    return ops.stack([ops.cast(part, common) for part in parts])


def holds_tensor(value: Any) -> bool:
    """Tell whether a nested sequence holds a Tensor."""
    if isinstance(value, list | tuple):
        return any(holds_tensor(v) for v in value)
    return isinstance(value, Tensor)


def need_tensors(*values: Any) -> None:
    """Check that arguments are Tensors; TypeError otherwise."""
    for value in values:
        if not isinstance(value, Tensor):
            raise located(TypeError, f"expect Tensor, but got {type(value).__name__}.")


def checked_dtype(dtype: Any) -> Number:
    """Check a ``dtype`` argument.

    Args:
        dtype: MindSpore dtype, its name, or a Python or numpy type.

    Returns:
        The dtype; ``int`` and ``float`` are Int32 and Float32.

    Raises:
        TypeError: it is none of the dtypes that this namespace has.
    """
    found = dtype
    if isinstance(dtype, str):
        name = dtype.lower()
        found = _NAMES.get(name) or {str(t).lower(): t for t in DTYPES}.get(name)
    elif isinstance(dtype, type):
        found = _NAMES.get(dtype.__name__)
        if found is None and issubclass(dtype, np.generic):
            found = from_np(dtype)
    if found not in DTYPES:
        raise located(
            TypeError,
            f"only {[str(t) for t in DTYPES]} are allowed for dtype, but got {dtype!r} of type "
            f"{type(dtype).__name__}.",
        )
    return found


def promote(x: Number, y: Number) -> Number:
    """Find the dtype that joins two dtypes; this namespace's own rule, floats win over integers.

    Raises:
        TypeError: one is a dtype that this namespace does not have.
    """
    if x is y:
        return x
    if x not in DTYPES or y not in DTYPES:
        raise located(TypeError, f"input dtype: {x}, {y} are not all mindspore datatypes.")
    floats = [t for t in (x, y) if t.kind == "float"]
    if floats:
        return max(floats, key=lambda t: t.bits)
    return from_np(np.promote_types(x.np, y.np))


def promoted(tensors: Sequence[Tensor]) -> list[Tensor]:
    """Cast Tensors to their joint dtype by `promote`."""
    common = tensors[0].dtype
    for x in tensors[1:]:
        common = promote(common, x.dtype)
    return [ops.cast(x, common) for x in tensors]


def scalar_dtype(*numbers: Any) -> Number:
    """Give the dtype of Python numbers: Bool, Int32 or Float32; None does not count."""
    given = [n for n in numbers if n is not None]
    if all(isinstance(n, bool) for n in given):
        return bool_
    return int32 if all(isinstance(n, int) for n in given) else float32


def is_single(dtype: Number) -> bool:
    """Tell whether a dtype is Float16 or Float32, for which no conversion is needed."""
    return dtype in (float16, float32)


def apply(function: Callable[..., Any], *operands: Any, dtype: Any = None) -> Tensor:
    """Run an op on array-likes and cast its result.

    Args:
        function: op on Tensors.
        operands: array-likes.
        dtype: MindSpore dtype of the result; None leaves it.

    Raises:
        TypeError: an operand is no array-like, or ``dtype`` no dtype.
    """
    return cast_result(function(*(to_tensor(x) for x in operands)), dtype)


def cast_result(x: Tensor, dtype: Any) -> Tensor:
    """Cast a Tensor, if a dtype is given."""
    return x if dtype is None else ops.cast(x, dtype)


def axis_in(axis: Any, ndim: int) -> int:
    """Check one axis and count it from the front.

    Raises:
        TypeError: it is no integer.
        ValueError: there is no such axis.
    """
    if not isinstance(axis, int):
        raise located(TypeError, f"axes should be integers, not {type(axis).__name__}.")
    if not -ndim <= axis < ndim:
        raise located(ValueError, f"axis {axis} is out of bounds for array of dimension {ndim}.")
    return axis % ndim


def axes_in(axis: Any, ndim: int) -> tuple[int, ...]:
    """Check axes, None for all, and count them from the front.

    Raises:
        TypeError: one is no integer.
        ValueError: one is out of range or given twice.
    """
    if axis is None:
        return tuple(range(ndim))
    if not isinstance(axis, int | tuple | list):
        raise located(TypeError, f"axis must be int, tuple or list, but got {type(axis).__name__}.")
    found = tuple(axis_in(a, ndim) for a in (axis if isinstance(axis, tuple | list) else (axis,)))
    if len(set(found)) < len(found):
        raise located(ValueError, f"duplicate value in 'axis': {axis}.")
    return found


def integer(name: str, value: Any, owner: str) -> int:
    """Check an int argument; TypeError otherwise."""
    if not isinstance(value, int):
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be an integer, but got {type(value).__name__}.",
        )
    return value


def boolean(name: str, value: Any, owner: str) -> bool:
    """Check a bool argument; TypeError otherwise."""
    return checks.boolean(name, value, owner)


def broadcast_shape(*shapes: Sequence[int]) -> tuple[int, ...]:
    """Find the shape that shapes broadcast to.

    Raises:
        ValueError: they do not.
    """
    try:
        return tuple(np.broadcast_shapes(*(tuple(s) for s in shapes)))
    except ValueError:
        raise located(
            ValueError,
            f"operands could not be broadcast together with shapes {[tuple(s) for s in shapes]}.",
        ) from None


def leading_axes(x: Tensor, ndim: int) -> Tensor:
    """Put axes of size 1 in front until there are ``ndim``."""
    shape = x.shape
    return x if len(shape) >= ndim else ops.reshape(x, (1,) * (ndim - len(shape)) + shape)


def constant(values: Any, dtype: Any) -> Tensor:
    """Make a Tensor of host numbers; made anew each time, since Tensors can be written to."""
    return as_tensor(np.asarray(values, as_dtype(dtype).np))
