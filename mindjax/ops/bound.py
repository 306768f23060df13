"""Primitives that are called with sizes, axes or dtypes: these become fields of a bound record."""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np

from mindjax.core.caches import Cache
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive, typed_key

Bound = TypeVar("Bound", bound="BoundPrimitive")

_RECORDS: Cache[Any] = Cache("bound records", 4096)


class BoundPrimitive(Primitive, register=False):
    """Base of primitives that are called with static values after their arrays.

    The static values are keyword-only fields, so that a record with them is a whole program:
    ``Reshape()(x, (2, 3))`` runs ``Reshape(shape=(2, 3))`` on ``x``.

    - ``arrays``: number of inputs that are arrays.
    - ``statics``: names of the fields that the further inputs fill.
    """

    arrays: ClassVar[int] = 1
    statics: ClassVar[tuple[str, ...]] = ()

    def __call__(self, *inputs: Any) -> Any:
        """Run the operator; what stands after the arrays is bound first."""
        count = self.arrays
        if len(inputs) == count:
            return super().__call__(*inputs)
        given = dict(zip(self.statics, map(static, inputs[count:]), strict=False))
        record = dataclasses.replace(self, **self.bind(**given))
        return Primitive.__call__(record, *inputs[:count])

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check and normalise the static values of a call; subclasses extend it."""
        return statics

    @classmethod
    def of(cls: type[Bound], *values: Any) -> Bound:
        """Give the shared record with these static values, made once."""
        key = (cls, *(typed_key(cls, f, v) for f, v in zip(cls.statics, values, strict=True)))
        found = _RECORDS.get(key)
        if found is None:
            found = _RECORDS.put(key, cls(**dict(zip(cls.statics, values, strict=True))))
        return found


def static(value: Any) -> Any:
    """Give a size, axis or list of these as Python values; Tensors must hold values.

    Args:
        value: number, dtype, Tensor, or nested sequence of numbers and Tensors.

    Returns:
        Python numbers, tuples for sequences and for Tensors with axes.
    """
    if isinstance(value, Handle):
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return value.item() if value.ndim == 0 else tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return tuple(static(v) for v in value)
    return value


def integers(op: str, name: str, value: Any) -> tuple[int, ...]:
    """Check a tuple of sizes or axes.

    Args:
        op: name of the op, for the message.
        name: name of the argument.
        value: sequence of integers, or a Tensor of such.

    Returns:
        The integers.

    Raises:
        TypeError: ``value`` is no sequence, or an element is no integer.
    """
    if type(value) is tuple and all(type(v) is int for v in value):
        return value
    value = static(value)
    if not isinstance(value, tuple):
        raise located(
            TypeError,
            f"For '{op}', the argument '{name}' must be a tuple or list of int, but got {value!r} "
            f"with type '{type(value).__name__}'.",
        )
    return tuple(integer(op, name, v) for v in value)


def integer(op: str, name: str, value: Any) -> int:
    """Check one integer.

    Raises:
        TypeError: ``value`` is no integer.
    """
    if type(value) is int:
        return value
    value = static(value)
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise located(
            TypeError,
            f"For '{op}', the argument '{name}' must be int, but got {value!r} with type "
            f"'{type(value).__name__}'.",
        ) from None


def sizes(op: str, name: str, value: Any) -> tuple[int, ...]:
    """Check a shape, where one integer stands for one axis and -1 is not allowed.

    Raises:
        TypeError: an element is no integer.
        ValueError: a size is negative.
    """
    value = static(value)
    shape = (
        (integer(op, name, value),) if not isinstance(value, tuple) else integers(op, name, value)
    )
    for size in shape:
        if size < 0:
            raise located(
                ValueError,
                f"For '{op}', the argument '{name}' must not hold negative sizes, but got {shape}.",
            )
    return shape


def axis_of(axis: Any, ndim: int, op: str = "", name: str = "axis") -> int:
    """Bring an axis to the range from 0 to ``ndim - 1``.

    Args:
        axis: integer from ``-ndim`` to ``ndim - 1``.
        ndim: number of axes; 0 counts as 1.
        op: name of the op, for the message.
        name: name of the argument.

    Returns:
        The axis counted from the front.

    Raises:
        TypeError: ``axis`` is no integer.
        ValueError: it is out of range.
    """
    axis = integer(op, name, axis)
    ndim = max(ndim, 1)
    if not -ndim <= axis < ndim:
        lead = f"For '{op}', " if op else ""
        raise located(
            ValueError,
            f"{lead}Dimension out of range (expected to be in range of [{-ndim}, {ndim}), but got "
            f"{axis})",
        )
    return axis % ndim


def axes_of(axes: Sequence[int], ndim: int, op: str) -> tuple[int, ...]:
    """Bring several axes to the front-counted range; none may repeat.

    Raises:
        ValueError: an axis is out of range or repeats.
    """
    out = tuple(axis_of(a, ndim, op) for a in axes)
    if len(set(out)) != len(out):
        raise located(
            ValueError, f"For '{op}', the axes must all be unique, but got {tuple(axes)}."
        )
    return out
