"""Arguments that a primitive is called with but that shape its program: axes, counts, dtypes."""

from __future__ import annotations

import dataclasses
import operator
from typing import Any, TypeVar

import numpy as np

from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive

Record = TypeVar("Record", bound=Primitive)


def at_call(value: Any) -> Any:
    """Declare an attribute that the call sets, not the constructor.

    Args:
        value: what it is by default.

    Returns:
        The field of the record class.
    """
    return dataclasses.field(init=False, default_factory=lambda: value)


def bind(record: Record, **attributes: Any) -> Record:
    """Copy a record with some attributes replaced.

    Args:
        record: the primitive.
        attributes: new values, already checked.

    Returns:
        A record of the same class.
    """
    fresh = object.__new__(type(record))
    old = record.__dict__
    fresh.__dict__.update({f: old[f] for f in type(record)._fields})
    fresh.__dict__.update(attributes)
    return fresh


def check_field(record: Primitive, field: str, kind: type) -> None:
    """Check the type of a constructor's argument.

    Args:
        record: the primitive.
        field: name of the attribute.
        kind: the type that it must have.

    Raises:
        TypeError: it has another one.
    """
    value = record.__dict__[field]
    if type(value) is not kind:
        raise located(
            TypeError,
            f"For '{record.name}', the type of '{field}' should be '{kind.__name__}', but got type "
            f"'{type(value).__name__}'.",
        )


def static_int(value: Any, op: str, argument: str) -> int:
    """Read an integer argument.

    Args:
        value: int, or integer Tensor of one element.
        op: name of the operator, for messages.
        argument: name of the argument, for messages.

    Returns:
        The Python int.

    Raises:
        TypeError: ``value`` is not an integer.
    """
    if type(value) is int:
        return value
    try:
        return operator.index(value)
    except TypeError:
        raise located(
            TypeError,
            f"For '{op}', the '{argument}' must be an int, but got {value!r} with type "
            f"'{type(value).__name__}'.",
        ) from None


def static_axis(axis: Any, op: str, argument: str = "axis") -> int | tuple[int, ...] | None:
    """Read an axis argument.

    Args:
        axis: None, int, tuple or list of int, or integer Tensor.
        op: name of the operator, for messages.
        argument: name of the argument, for messages.

    Returns:
        None, an int, or a tuple of ints.

    Raises:
        TypeError: ``axis`` is none of these.
    """
    if axis is None or type(axis) is int:
        return axis
    if isinstance(axis, tuple | list):
        return tuple(static_int(a, op, argument) for a in axis)
    if isinstance(axis, Handle | np.ndarray):
        values = np.asarray(axis)
        if values.dtype.kind in "iu":
            return tuple(int(a) for a in values.reshape(-1))
    return static_int(axis, op, argument)


def axis_in(axis: int, ndim: int, op: str, argument: str = "axis") -> int:
    """Bring one axis into ``[0, ndim)``.

    Args:
        axis: axis, negative ones count from the end.
        ndim: number of axes; a 0-d array counts as one axis.
        op: name of the operator, for messages.
        argument: name of the argument, for messages.

    Returns:
        The axis, not negative.

    Raises:
        ValueError: there is no such axis.
    """
    rank = max(ndim, 1)
    if not -rank <= axis < rank:
        raise located(
            ValueError,
            f"For primitive[{op}], the {argument} value must be in [{-rank},{rank}), but got "
            f"{axis}.",
        )
    return axis % rank


def axes_in(axis: Any, ndim: int, op: str, argument: str = "axis") -> tuple[int, ...]:
    """Bring the axes of a reduction into ``[0, ndim)``; none given means all.

    Args:
        axis: None, int or tuple of int.
        ndim: number of axes of the array.
        op: name of the operator, for messages.
        argument: name of the argument, for messages.

    Returns:
        The axes, not negative.

    Raises:
        ValueError: there is no such axis.
        RuntimeError: an axis is given twice.
    """
    if axis is None or axis == ():
        return tuple(range(ndim))
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(axis_in(a, ndim, op, argument) for a in given)
    if len(set(axes)) != len(axes):
        raise located(
            RuntimeError, f"For '{op}', an axis appears multiple times in '{argument}': {axis}."
        )
    return axes if ndim else ()
