"""What two paths of a program give, made one: kinds of values, and what both can be written as.

A kind says how a value is made of arrays. Two paths that give the numbers 1 and 2 give together a
number that the program computes; where they give what no one kind holds, both are kept with the
number of the one that was taken, and only who uses the value gets an error.
"""

from __future__ import annotations

import collections
import types
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.dtype import Type, from_np, promote_scalar
from mindjax.core.errors import located
from mindjax.core.handle import Handle, Tracer, wrap
from mindjax.core.number import DTYPES, TracedNumber, common_kind, kind_of

Arrays = list[Any]


class _Undefined:
    """The value of a name that holds nothing."""

    def __repr__(self) -> str:
        return "nothing"


UNDEFINED = _Undefined()

_BY_VALUE = (
    *(bool, int, float, complex, str, bytes, type(None), np.generic, slice, range, Type),
    *(set, frozenset),
    *(types.MethodType, types.BuiltinMethodType, types.EllipsisType),
)


@dataclass(frozen=True, eq=False)
class Const:
    """A value of Python's, or a Parameter, that is the same on every path."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Const):
            return False
        a, b = self.value, other.value
        if a is b:
            return True
        if type(a) is not type(b) or not isinstance(a, _BY_VALUE):
            return False
        return repr(a) == repr(b) if isinstance(a, float | complex) else bool(a == b)

    def __hash__(self) -> int:
        return hash(type(self.value))


@dataclass(frozen=True, eq=False)
class Same:
    """An object from before the paths part, which a path leaves where it was."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


@dataclass(frozen=True)
class Array:
    """A Tensor, or a raw jax array."""

    shape: tuple[int, ...]
    dtype: Any
    raw: bool = False


@dataclass(frozen=True)
class Number:
    """A number that the program computes."""

    number: type


@dataclass(frozen=True)
class Sequence_:
    """A tuple, named tuple or list."""

    cls: type
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Mapping_:
    """A dict."""

    cls: type
    keys: tuple[Any, ...]
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Either:
    """One of several kinds, by a number that the program computes."""

    kinds: tuple[Any, ...]


class Late:
    """A value that has another kind on every path.

    Args:
        which: int or traced 0-d array: which of the values it is.
        values: one a kind.
        kinds: their kinds.
        place: where the paths part, and the source there.
    """

    __slots__ = ("kinds", "place", "values", "which")

    def __init__(self, which: Any, values: list[Any], kinds: tuple[Any, ...], place: str) -> None:
        self.which, self.values, self.kinds, self.place = which, values, kinds, place

    def refused(self, name: str = "") -> Exception:
        """Make the error of a use."""
        return unlike(name, [k for k in self.kinds if k != Const(UNDEFINED)], self.place)

    def __getattr__(self, name: str) -> Any:
        raise self.refused()


def _refuse(self: Late, *args: Any) -> Any:
    raise self.refused()


for _name in (
    *("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv", "mod", "pow"),
    *("matmul", "rmatmul", "neg", "abs", "lt", "le", "gt", "ge", "bool", "len", "iter", "call"),
    *("getitem", "setitem", "float", "int", "index", "contains"),
):
    setattr(Late, f"__{_name}__", _refuse)


def unlike(name: str, kinds: Sequence[Any], place: str) -> Exception:
    """Make the error of a value that has no one kind."""
    first, second = [text(k) for k in kinds[:2]] if len(kinds) > 1 else (text(kinds[0]), "nothing")
    shapes = all(isinstance(k, Array) for k in kinds[:2]) and kinds[0].dtype == kinds[1].dtype
    subject = f"'{name}'" if name else "A value"
    error = located(
        ValueError if shapes else TypeError,
        f"Cannot join the values of different branches or turns: {subject} is {first} on one path "
        f"and {second} on another, as {place} decides when the program runs. Give it one kind, "
        f"{'shape' if shapes else 'dtype'} and length on all, or run this part in PYNATIVE_MODE.",
        named=False,
    )
    return error


def text(kind: Any) -> str:
    """Describe a kind."""
    if isinstance(kind, Array):
        return f"a Tensor of shape {kind.shape} and {from_np(kind.dtype)}"
    if isinstance(kind, Number):
        return kind.number.__name__
    if isinstance(kind, Sequence_ | Mapping_):
        return f"a {kind.cls.__name__} of {len(kind.items)}"
    if isinstance(kind, Either):
        return " or ".join(map(text, kind.kinds))
    value = kind.value
    if isinstance(value, Handle):
        return f"a Tensor of shape {value.value_shape} and {from_np(value.value_dtype)}"
    return repr(value)[:60] if isinstance(value, _BY_VALUE) else f"a {type(value).__name__}"


# -- taking values apart, and putting them together --


def take(value: Any, arrays: Arrays, before: Any = UNDEFINED) -> Any:
    """Take a value apart.

    Args:
        value: any value.
        arrays: its arrays are appended here.
        before: an object that is not taken apart if the value is it.

    Returns:
        Its kind.
    """
    if value is before and isinstance(value, Handle | list | dict | tuple | Late):
        return Same(value)
    if isinstance(value, Handle):
        if value.is_parameter:
            return Const(value)
        array = _array(value.array)
        arrays.append(array)
        return Array(tuple(array.shape), np.dtype(array.dtype))
    if isinstance(value, TracedNumber):
        arrays.append(value.array)
        return Number(value.kind)
    if isinstance(value, jax.Array):
        arrays.append(value)
        return Array(tuple(value.shape), np.dtype(value.dtype), True)
    if isinstance(value, Late):
        arrays.append(jnp.asarray(value.which, jnp.int32))
        return Either(tuple(take(v, arrays) for v in value.values))
    cls = type(value)
    if cls in (tuple, list) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        return Sequence_(cls, tuple(take(v, arrays) for v in value))
    if cls in (dict, collections.OrderedDict):
        return Mapping_(cls, tuple(value), tuple(take(value[k], arrays) for k in value))
    return Const(value)


def kind_only(value: Any) -> Any:
    """Give a value's kind."""
    return take(value, [])


def _array(value: Any) -> Any:
    return jnp.asarray(value) if isinstance(value, np.ndarray) else value


def put(kind: Any, arrays: Iterator[Any], place: str) -> Any:
    """Put a value together of its kind and arrays."""
    if isinstance(kind, Const | Same):
        return kind.value
    if isinstance(kind, Array):
        array = next(arrays)
        return array if kind.raw else wrap(array)
    if isinstance(kind, Number):
        return TracedNumber(next(arrays), kind.number)
    if isinstance(kind, Either):
        which = next(arrays)
        return Late(which, [put(k, arrays, place) for k in kind.kinds], kind.kinds, place)
    items = [put(k, arrays, place) for k in kind.items]
    if isinstance(kind, Mapping_):
        return kind.cls(zip(kind.keys, items, strict=True))
    return kind.cls._make(items) if hasattr(kind.cls, "_make") else kind.cls(items)  # type: ignore[attr-defined]


def size(kind: Any) -> int:
    """Count the arrays of a kind."""
    if isinstance(kind, Array | Number):
        return 1
    if isinstance(kind, Either):
        return 1 + sum(map(size, kind.kinds))
    if isinstance(kind, Sequence_ | Mapping_):
        return sum(map(size, kind.items))
    return 0


# -- one kind for two --


def join(first: Any, second: Any, fill: bool = False, spread: bool = False) -> Any:
    """Give the kind that holds both.

    Args:
        first: kind.
        second: kind.
        fill: whether nothing may be joined with anything, because it is never read.
        spread: whether a number may become a Tensor with axes.
    """
    if first == second:
        return first
    if isinstance(first, Same):
        first = kind_only(first.value)
    if isinstance(second, Same):
        second = kind_only(second.value)
    if fill and second == Const(UNDEFINED):
        return first
    if fill and first == Const(UNDEFINED):
        return second
    if isinstance(first, Either) or isinstance(second, Either):
        return _either(first, second)
    found = _single(first, second, fill, spread)
    return Either((first, second)) if found is None else found


def _either(first: Any, second: Any) -> Any:
    kinds = list(first.kinds) if isinstance(first, Either) else [first]
    for kind in second.kinds if isinstance(second, Either) else (second,):
        for place, old in enumerate(kinds):
            found = old if old == kind else _single(old, kind)
            if found is not None:
                kinds[place] = found
                break
        else:
            kinds.append(kind)
    return kinds[0] if len(kinds) == 1 else Either(tuple(kinds))


def _single(first: Any, second: Any, fill: bool = False, spread: bool = False) -> Any:
    """Join two kinds without keeping both; None if there is no one kind."""
    first, second = _opened(first), _opened(second)
    if first == second:
        return first
    numbers = _number(first), _number(second)
    if numbers[0] and numbers[1]:
        if (numbers[0] is bool) != (numbers[1] is bool):
            return None
        return Number(common_kind(numbers[0], numbers[1]))
    for number, kind in ((numbers[0], second), (numbers[1], first)):
        if number and isinstance(kind, Array) and not kind.raw:
            dtype = from_np(kind.dtype)
            fits = (spread or kind.shape == ()) and promote_scalar(dtype, number) == dtype
            return kind if fits and (number is bool) == (dtype.kind == "bool") else None
    pair = (first, second)
    if all(isinstance(k, Sequence_) for k in pair) or all(isinstance(k, Mapping_) for k in pair):
        if replace(first, items=()) != replace(second, items=()):
            return None
        if len(first.items) != len(second.items):
            return None
        items = [join(a, b, fill, spread) for a, b in zip(first.items, second.items, strict=True)]
        return replace(first, items=tuple(items))
    return None


def _opened(kind: Any) -> Any:
    """See a Tensor that is a constant, as a Parameter, as an array."""
    if isinstance(kind, Const) and isinstance(kind.value, Handle):
        value = kind.value
        return Array(tuple(value.value_shape), np.dtype(value.value_dtype))
    return kind


def _number(kind: Any) -> type | None:
    if isinstance(kind, Number):
        return kind.number
    return kind_of(kind.value) if isinstance(kind, Const) else None


def holds(joint: Any, kind: Any) -> bool:
    """Tell whether a kind can be written as another one."""
    return join(joint, kind) == joint


def adapt(kind: Any, arrays: Iterator[Any], joint: Any) -> Arrays:
    """Write a value of one kind as one of a joint kind.

    Args:
        kind: its kind.
        arrays: its arrays.
        joint: a kind that holds it.

    Returns:
        The arrays of the joint kind.
    """
    if isinstance(kind, Same):
        if isinstance(joint, Same):
            return []
        opened: Arrays = []
        kind = take(kind.value, opened)
        arrays = iter(opened)
    if kind == Const(UNDEFINED) and not isinstance(joint, Either):
        return zeros(joint)
    if isinstance(joint, Either):
        return _adapt_either(kind, arrays, joint)
    if isinstance(joint, Const | Same):
        return []
    if isinstance(joint, Array | Number):
        dtype = joint.dtype if isinstance(joint, Array) else DTYPES[joint.number]
        shape = joint.shape if isinstance(joint, Array) else ()
        value = kind.value if isinstance(kind, Const) else next(arrays)
        value = value.array if isinstance(value, Handle) else value
        return [jnp.broadcast_to(jnp.asarray(value).astype(dtype), shape)]
    out: Arrays = []
    for item, wanted in zip(kind.items, joint.items, strict=True):
        out += adapt(item, arrays, wanted)
    return out


def _adapt_either(kind: Any, arrays: Iterator[Any], joint: Either) -> Arrays:
    if kind == joint:
        return [next(arrays) for _ in range(size(kind))]
    which: Any = 0
    kinds, single = [kind], True
    if isinstance(kind, Either):
        which, kinds, single = next(arrays), list(kind.kinds), False
    places = [next(i for i, k in enumerate(joint.kinds) if holds(k, old)) for old in kinds]
    parts = [
        adapt(old, iter([next(arrays) for _ in range(size(old))]), joint.kinds[place])
        for old, place in zip(kinds, places, strict=True)
    ]
    out: Arrays = [
        jnp.int32(places[0]) if single else jnp.asarray(places, jnp.int32)[jnp.asarray(which)]
    ]
    for place, wanted in enumerate(joint.kinds):
        fitting = [i for i, p in enumerate(places) if p == place]
        found = parts[fitting[0]] if fitting else zeros(wanted)
        for other in fitting[1:]:
            found = [
                jnp.where(which == other, b, a) for a, b in zip(found, parts[other], strict=True)
            ]
        out += found
    return out


def zeros(kind: Any) -> Arrays:
    """Give arrays that stand for a value that is never read."""
    if isinstance(kind, Array):
        return [jnp.zeros(kind.shape, kind.dtype)]
    if isinstance(kind, Number):
        return [jnp.zeros((), DTYPES[kind.number])]
    if isinstance(kind, Either):
        return [jnp.int32(0), *(a for k in kind.kinds for a in zeros(k))]
    if isinstance(kind, Sequence_ | Mapping_):
        return [a for k in kind.items for a in zeros(k)]
    return []


def is_traced_value(value: Any) -> bool:
    """Tell whether a value is a Tensor or number that the program computes."""
    if isinstance(value, TracedNumber | Late):
        return True
    if isinstance(value, Handle):
        return value.is_parameter or isinstance(value.array, Tracer)
    return isinstance(value, Tracer)
