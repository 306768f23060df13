"""Checks of arguments and arrays, with the original's error classes and words."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from mindjax.core.dtype import from_np
from mindjax.core.errors import argument_name, located
from mindjax.core.handle import Handle, Tracer
from mindjax.core.values import can_leave, need_values

REDUCTIONS = ("mean", "sum", "none")


def _the(name: str, owner: str) -> str:
    return f"For '{owner}', the '{name}'" if owner else f"The '{name}'"


def _integer(name: str, value: Any, owner: str, bound: str) -> int:
    if isinstance(value, bool):
        raise located(
            TypeError,
            f"{_the(name, owner)} must be int and must {bound}, but got '{value}' with type "
            "'bool'.",
        )
    if not isinstance(value, int | np.integer):
        raise located(
            TypeError, f"{_the(name, owner)} must be int, but got '{type(value).__name__}'."
        )
    return int(value)


def _out_of_bound(name: str, value: Any, owner: str, kind: str, bound: str) -> ValueError:
    return located(
        ValueError,
        f"{_the(name, owner)} must be {kind} and must {bound}, but got '{value}' with type "
        f"'{type(value).__name__}'.",
    )


def int_at_least(name: str, value: Any, low: int, owner: str = "") -> int:
    """Check that an argument is an integer from a lower bound up.

    Args:
        name: of the argument.
        value: to be checked.
        low: lower bound, which belongs to the range.
        owner: class or function named in the error.

    Returns:
        The value as a Python int.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is too small.
    """
    bound = "> 0" if low == 1 else f">= {low}"
    number = _integer(name, value, owner, bound)
    if number < low:
        raise _out_of_bound(name, value, owner, "int", bound)
    return number


def not_a_tensor(value: Any, owner: str = "", name: str = "", kind: str = "a Tensor") -> TypeError:
    """Make the error for an argument that should be a Tensor.

    Args:
        value: what was given.
        owner: class or function named in the error; by default what the user called.
        name: of the argument where the call that the user wrote does not tell it.
        kind: what is accepted.

    Returns:
        The error, to be raised by the caller.
    """
    name = argument_name(value) or name
    subject = f"For '{owner}', the" if owner else "the"
    what = f"'{name}'" if name else "input"
    return located(TypeError, f"{subject} {what} must be {kind}, but got {type(value).__name__}.")


def tensors(owner: str, **values: Any) -> None:
    """Check that arguments whose shapes or dtypes are read are Tensors or arrays.

    Args:
        owner: class or function named in the error.
        values: the arguments by their names.

    Raises:
        TypeError: one is neither.
    """
    for name, value in values.items():
        if not isinstance(value, Handle) and not hasattr(value, "dtype"):
            raise not_a_tensor(value, owner, name)


def positive_int(name: str, value: Any, owner: str = "") -> int:
    """Check that an argument is an integer above 0; errors as in `int_at_least`."""
    return int_at_least(name, value, 1, owner)


def non_negative_int(name: str, value: Any, owner: str = "") -> int:
    """Check that an argument is an integer from 0 up; errors as in `int_at_least`."""
    return int_at_least(name, value, 0, owner)


def in_range(
    name: str, value: Any, low: float, high: float, owner: str = "", brackets: str = "[)"
) -> None:
    """Check that a number lies between two bounds.

    Args:
        name: of the argument.
        value: to be checked.
        low: lower bound.
        high: upper bound.
        owner: class or function named in the error.
        brackets: ``"["`` or ``"("``, then ``"]"`` or ``")"``: whether the bounds belong to it.

    Raises:
        ValueError: it is outside.
    """
    if not _inside(value, low, high, brackets):
        raise located(
            ValueError,
            f"{_the(name, owner)} must be in range of {brackets[0]}{low}, {high}{brackets[1]}, "
            f"but got {value} with type '{type(value).__name__}'.",
        )


def _inside(value: float, low: float, high: float, brackets: str) -> bool:
    above = value >= low if brackets[0] == "[" else value > low
    below = value <= high if brackets[1] == "]" else value < high
    return above and below


def int_in_range(name: str, value: Any, low: int, high: int, owner: str) -> int:
    """Check that an argument is an integer in [low, high).

    Raises:
        TypeError: it is not an integer.
        ValueError: it is outside.
    """
    number = _integer(name, value, owner, f"be in [{low}, {high})")
    in_range(name, value, low, high, owner)
    return number


def float_above(name: str, value: Any, owner: str = "", bound: str | None = ">") -> float:
    """Check that an argument is a float above 0.

    Args:
        name: of the argument.
        value: to be checked; an int is refused.
        owner: class or function named in the error.
        bound: ``">="`` lets 0 pass, None any float.

    Returns:
        The value.

    Raises:
        TypeError: it is not a float.
        ValueError: it is too small.
    """
    if not isinstance(value, float):
        raise located(
            TypeError, f"{_the(name, owner)} must be float, but got '{type(value).__name__}'."
        )
    if bound is not None and not (value > 0 or (bound == ">=" and value == 0)):
        raise _out_of_bound(name, value, owner, "float", f"{bound} 0")
    return value


def number(name: str, value: Any, owner: str = "") -> float:
    """Check that an argument is a real number; a bool does not count.

    Args:
        name: of the argument.
        value: to be checked; a Tensor must hold one value.
        owner: class or function named in the error.

    Returns:
        The number as a float.

    Raises:
        TypeError: it is none.
    """
    return float(of_type(name, python_value(value), (float, int), owner))


def boolean(name: str, value: Any, owner: str = "") -> bool:
    """Check that an argument is a bool; TypeError otherwise."""
    if not isinstance(value, bool):
        raise located(
            TypeError, f"{_the(name, owner)} must be a bool, but got {type(value).__name__}."
        )
    return value


def of_type(name: str, value: Any, types: type | Sequence[type], owner: str = "") -> Any:
    """Check an argument's type; a bool does not count as an int.

    Args:
        name: of the argument.
        value: to be checked.
        types: a class or several.
        owner: class or function named in the error.

    Returns:
        The value.

    Raises:
        TypeError: it is of none of the types.
    """
    accepted = (types,) if isinstance(types, type) else tuple(types)
    refused_bool = isinstance(value, bool) and bool not in accepted
    if refused_bool or not isinstance(value, accepted):
        names = [t.__name__ for t in accepted]
        shown = f"'{names[0]}'" if len(names) == 1 else f"one of '{names}'"
        subject = f"For '{owner}', the" if owner else "The"
        raise located(
            TypeError,
            f"{subject} type of '{name}' should be {shown}, but got type '{type(value).__name__}'.",
        )
    return value


def one_of(name: str, value: Any, choices: Sequence[str], owner: str) -> str:
    """Check that an argument is one of some strings; ValueError otherwise."""
    if not isinstance(value, str) or value not in choices:
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must be str and must be in '{list(choices)}', but got "
            f"'{value}'.",
        )
    return value


def reduction(value: Any, owner: str) -> str:
    """Check the argument 'reduction' of a loss; ValueError if it is not a known one."""
    if not isinstance(value, str) or value not in REDUCTIONS:
        raise located(
            ValueError,
            f"For '{owner}', the 'reduction' must be in {list(REDUCTIONS)}, but got {value}.",
        )
    return value


def float_in_range(
    name: str, value: Any, low: float, high: float, owner: str, brackets: str = "[]"
) -> float:
    """Check that an argument is a number between two bounds.

    Args:
        name: of the argument.
        value: to be checked.
        low: lower bound.
        high: upper bound.
        owner: class or function named in the error.
        brackets: ``"["`` or ``"("``, then ``"]"`` or ``")"``: whether the bounds belong to it.

    Returns:
        The value.

    Raises:
        TypeError: it is not a number.
        ValueError: it is outside.
    """
    of_type(name, value, (float, int), owner)
    if not _inside(value, low, high, brackets):
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must be a number in range {brackets[0]}{low:g}, "
            f"{high:g}{brackets[1]}, but got {value}.",
        )
    return value


def positive_ints(name: str, value: Any, count: int, owner: str) -> tuple[int, ...]:
    """Bring an int or a tuple of ints, all above 0, to a tuple.

    Args:
        name: of the argument.
        value: an int for every place, or a tuple.
        count: how many places.
        owner: class or function named in the error.

    Returns:
        ``count`` ints.

    Raises:
        TypeError: it is neither an int nor a tuple of ``count`` ints.
        ValueError: one is not above 0.
    """
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return (positive_int(f"{name} item", value, owner),) * count
    if not isinstance(value, tuple | list) or len(value) != count:
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be an int or a tuple of {count} ints, but got "
            f"{value!r}.",
        )
    return tuple(positive_int(f"{name} item", v, owner) for v in value)


def pool_sizes(name: str, value: Any, count: int, owner: str) -> tuple[int, ...]:
    """Bring a window's sizes to a tuple, as `positive_ints`, with the words of pooling.

    Raises:
        TypeError: the value is neither an int nor a tuple.
        ValueError: a size is not an int above 0, or there are more or fewer than ``count``.
    """
    of_type(name, value, (int, tuple), owner)
    sizes = (value,) * count if isinstance(value, int) else value
    if len(sizes) != count or not all(type(v) is int and v > 0 for v in sizes):
        number = {1: "one", 2: "two", 3: "three"}[count]
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must be an positive int number or a tuple of {number} "
            f"positive int numbers, but got {value}",
        )
    return tuple(sizes)


def python_value(value: Any) -> Any:
    """Give a size, axis or list of these as Python values; Tensors must hold values.

    Args:
        value: number, dtype, Tensor, or nested sequence of numbers and Tensors.

    Returns:
        Python numbers, tuples for sequences and for Tensors with axes.

    Raises:
        RuntimeError: a Tensor is being traced.
        ValuesNeeded: the same, where the call can run op by op instead.
    """
    if isinstance(value, Handle | jax.Array):
        if isinstance(value._raw() if isinstance(value, Handle) else value, Tracer):
            name = argument_name(value)
            subject = f"the '{name}'" if name else "an argument"
            if can_leave():
                raise need_values(f"the value of {subject}")
            raise located(
                RuntimeError,
                f"{subject} is a Tensor whose values a graph does not have while it is compiled: "
                "give Python numbers, or run this part in PYNATIVE_MODE.",
            )
        value = np.asarray(value)
    if isinstance(value, np.ndarray):
        return value.item() if value.ndim == 0 else tuple(value.tolist())
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple | list):
        return tuple(python_value(v) for v in value)
    return value


def integer(name: str, value: Any, owner: str) -> int:
    """Check one integer argument; a bool does not count.

    Args:
        name: of the argument.
        value: int, or integer Tensor of one element.
        owner: class or function named in the error.

    Returns:
        The Python int.

    Raises:
        TypeError: it is no integer.
    """
    if type(value) is int:
        return value
    value = python_value(value)
    try:
        if isinstance(value, bool):
            raise TypeError
        return operator.index(value)
    except TypeError:
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be int, but got {value!r} with type "
            f"'{type(value).__name__}'.",
        ) from None


def integers(name: str, value: Any, owner: str) -> tuple[int, ...]:
    """Check a tuple of sizes or axes: a sequence of integers, or a Tensor of such.

    Raises:
        TypeError: it is no sequence, or an element is no integer.
    """
    if type(value) is tuple:
        for v in value:
            if type(v) is not int:
                break
        else:
            return value
    value = python_value(value)
    if not isinstance(value, tuple):
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be a tuple or list of int, but got {value!r} with "
            f"type '{type(value).__name__}'.",
        )
    return tuple(integer(name, v, owner) for v in value)


def sizes(name: str, value: Any, owner: str) -> tuple[int, ...]:
    """Check a shape, where one integer stands for one axis and -1 is not allowed.

    Raises:
        TypeError: an element is no integer.
        ValueError: a size is negative.
    """
    value = python_value(value)
    shape = integers(name, value if isinstance(value, tuple) else (value,), owner)
    if any(size < 0 for size in shape):
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' must not hold negative sizes, but got {shape}.",
        )
    return shape


def shape_tuple(name: str, value: Any, owner: str) -> tuple[int, ...]:
    """Check a shape as `sizes` does, where one integer does not stand for one axis.

    Raises:
        TypeError: it is no tuple, list or Tensor, or an element is no integer.
        ValueError: a size is negative.
    """
    if not isinstance(value, tuple | list | Handle | np.ndarray):
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be a tuple or list of ints, but got "
            f"{type(value).__name__}.",
        )
    return sizes(name, value, owner)


def axis_or_axes(name: str, value: Any, owner: str) -> int | tuple[int, ...] | None:
    """Check an argument that may be None, one axis, or a sequence or Tensor of axes.

    Raises:
        TypeError: it is none of these.
    """
    if value is None or type(value) is int:
        return value
    value = python_value(value)
    return integers(name, value, owner) if isinstance(value, tuple) else integer(name, value, owner)


def axis_in_rank(
    axis: Any, rank: int, owner: str = "", name: str = "axis", scalar: bool = True
) -> int:
    """Check an axis against an array's rank and count it from the front.

    Args:
        axis: integer from ``-rank`` to ``rank - 1``.
        rank: number of axes.
        owner: op named in the error; without it the words are those of the original's views.
        name: of the argument.
        scalar: whether a 0-d array counts as one axis.

    Returns:
        The axis, not negative.

    Raises:
        TypeError: ``axis`` is no integer.
        ValueError: there is no such axis.
    """
    axis = integer(name, axis, owner)
    rank = max(rank, 1) if scalar else rank
    if -rank <= axis < rank:
        return axis % rank
    raise located(
        ValueError,
        f"For primitive[{owner}], the {name} must be in [{-rank},{rank}), but got {axis}."
        if owner
        else f"Dimension out of range (expected to be in range of [{-rank}, {rank}), but got "
        f"{axis})",
    )


def axes_in_rank(axes: Sequence[Any], rank: int, owner: str, name: str = "axis") -> tuple[int, ...]:
    """Check several axes as `axis_in_rank`; none may repeat.

    Raises:
        TypeError: one is no integer.
        ValueError: one is out of range or repeats.
    """
    out = tuple(axis_in_rank(a, rank, owner, name) for a in axes)
    if len(set(out)) != len(out):
        raise located(
            ValueError, f"For '{owner}', the '{name}' must all be unique, but got {tuple(axes)}."
        )
    return out


def reduced_axes(axis: Any, rank: int, owner: str, name: str = "axis") -> tuple[int, ...]:
    """Check the axes of a reduction as `axis_in_rank`; none given means all.

    Args:
        axis: None, int, or tuple of int.
        rank: number of axes of the array.
        owner: op named in the error.
        name: of the argument.

    Returns:
        The axes, not negative.

    Raises:
        TypeError: one is no integer.
        ValueError: there is no such axis.
        RuntimeError: an axis is given twice.
    """
    if axis is None or axis == ():
        return tuple(range(rank))
    given = axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(axis_in_rank(a, rank, owner, f"{name} value") for a in given)
    if len(set(axes)) != len(axes):
        raise located(
            RuntimeError, f"For '{owner}', an axis appears multiple times in '{name}': {axis}."
        )
    return axes if rank else ()


def floating(name: str, dtype: Any, owner: str) -> None:
    """Check that an input's numpy dtype is a float; TypeError otherwise."""
    kind = from_np(dtype)
    if kind.kind != "float":
        raise located(
            TypeError,
            f"For primitive[{owner}], the input argument[{name}] must be a type of "
            "{Tensor[Float16], Tensor[BFloat16], Tensor[Float32], Tensor[Float64]}, but got "
            f"Tensor[{kind.name}].",
        )


def real(name: str, dtype: Any, owner: str) -> None:
    """Check that an input's numpy dtype is no complex one; TypeError otherwise."""
    kind = from_np(dtype)
    if kind.kind == "complex":
        raise located(
            TypeError,
            f"For primitive[{owner}], the input argument[{name}] must be a type of real numbers, "
            f"but got Tensor[{kind.name}].",
        )


def same_dtype(owner: str, **dtypes: Any) -> None:
    """Check that inputs have one dtype; TypeError otherwise."""
    names = {k: from_np(v).name for k, v in dtypes.items()}
    if len(set(names.values())) > 1:
        shown = ", ".join(f"'{k}': {v}" for k, v in names.items())
        raise located(
            TypeError, f"For primitive[{owner}], the input type must be same, but got {shown}."
        )


def same_shape(owner: str, **shapes: Sequence[int]) -> None:
    """Check that inputs have one shape; ValueError otherwise."""
    if len({tuple(s) for s in shapes.values()}) > 1:
        first, second = list(shapes)[:2]
        raise located(
            ValueError,
            f"For '{owner}', the shape of '{second}' must be equal to the shape of '{first}', but "
            f"got '{second}' shape: {tuple(shapes[second])}, '{first}' shape: "
            f"{tuple(shapes[first])}.",
        )
