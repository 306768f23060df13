"""Calls, subscripts and writes in rewritten functions: what traced values change about them."""

from __future__ import annotations

import builtins
import functools
import operator
import types
from collections import deque
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.handle import Handle, Tracer, wrap
from mindjax.core.number import TracedNumber
from mindjax.core.state import Wide
from mindjax.core.values import can_leave, in_graph, need_values
from mindjax.graph.control import changes
from mindjax.graph.control.blocks import active, note_attribute, note_change
from mindjax.graph.control.branches import and_, choose, or_
from mindjax.graph.control.joining import Late, is_traced_value
from mindjax.graph.control.loops import range_
from mindjax.tensor.tensor import Tensor

DEPTH = 40
"""How deep a function may call itself where traced conditions decide whether it goes on."""

_MUTABLE = (list, dict, set)
_ARRAYS = (np.ndarray, deque)


def prepare(function: Any) -> Any:
    """Rewrite what is called; `graph/syntax` puts itself here."""
    return function


def fn(function: Any) -> Any:
    """Give what is to be called in a rewritten function.

    Args:
        function: what the user's code calls.

    Returns:
        The rewritten twin of a user's function, and what takes traced values for some of Python's
        own functions; everything else as it is.
    """
    cls = type(function)
    noted = changes.active.changes
    if noted is not None and not noted.library:
        noted.note_call(function)
    if cls is types.BuiltinFunctionType or cls is type:
        try:
            found = _REPLACED.get(function)
        except TypeError:
            found = None
        if found is not None:
            return found
        if cls is type:
            return function
        owner = function.__self__
        if isinstance(owner, _MUTABLE):
            note_change(owner)
        elif isinstance(owner, _ARRAYS):
            changes.note_array(function)
        return function
    if cls is types.MethodType:
        replaced = _OF_TENSORS.get(function.__func__)
        if replaced is not None and isinstance(function.__self__, Handle):
            return functools.partial(replaced, function.__self__)
        if isinstance(function.__self__, Handle):
            return function
    if isinstance(function, Late):
        raise function.refused()
    if not in_graph():
        return function
    made = prepare(function)
    if active.blocks and made is not function:
        return _Counted(made, function)
    return made


class _Counted:
    """A call under a traced condition, which must not call itself for ever."""

    __slots__ = ("function", "key")

    def __init__(self, function: Any, original: Any) -> None:
        self.function = function
        inner = getattr(original, "__func__", original)
        self.key = getattr(inner, "__code__", None) or type(inner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        depth = active.calls.get(self.key, 0)
        if depth >= DEPTH:
            raise _too_deep(self.key)
        active.calls[self.key] = depth + 1
        try:
            return self.function(*args, **kwargs)
        finally:
            active.calls[self.key] = depth


def _too_deep(key: Any) -> BaseException:
    name = getattr(key, "co_name", "a function")
    if can_leave():
        return need_values(f"whether '{name}' calls itself again")
    return RecursionError(
        f"'{name}' calls itself {DEPTH} times under conditions that are only known when the "
        "program runs: give the recursion a constant depth, or write it as a loop."
    )


# -- Python's functions --


def _scalar(value: Any) -> Any:
    """Give the array of a traced Tensor of one element; None for everything else."""
    if isinstance(value, TracedNumber):
        return value.array
    if isinstance(value, Handle) and (isinstance(value.array, Tracer) or value.is_parameter):
        one = int(np.prod(value.value_shape)) == 1
        return value.array.reshape(()) if one and value.value_dtype.kind in "biuf" else None
    return None


def _converter(kind: type) -> Callable[..., Any]:
    def convert(*args: Any, **kwargs: Any) -> Any:
        if len(args) == 1 and not kwargs and in_graph():
            array = _scalar(args[0])
            if array is not None:
                with Wide():
                    if kind is bool:
                        return TracedNumber(array != 0, bool)
                    return TracedNumber(jnp.trunc(array) if kind is int else array, kind)
        return kind(*args, **kwargs)

    return convert


def _isinstance(value: Any, kinds: Any) -> bool:
    if isinstance(value, TracedNumber):
        flat = kinds if isinstance(kinds, tuple) else (kinds,)
        return any(isinstance(k, type) and issubclass(value.kind, k) for k in flat)
    return isinstance(value, kinds)


def _type(*args: Any, **kwargs: Any) -> Any:
    if len(args) == 1 and isinstance(args[0], TracedNumber):
        return args[0].kind
    return type(*args, **kwargs)


def _extreme(name: str) -> Callable[..., Any]:
    plain, better = getattr(builtins, name), operator.gt if name == "max" else operator.lt

    def extreme(*args: Any, **kwargs: Any) -> Any:
        values = args[0] if len(args) == 1 else args
        if isinstance(values, Handle):
            values = list(values)  # type: ignore[call-overload]
        if kwargs or type(values) not in (list, tuple) or not any(map(is_traced_value, values)):
            return plain(*args, **kwargs)
        best = values[0]
        for value in values[1:]:
            best = choose(better(value, best), lambda v=value: v, lambda b=best: b)
        return best

    return extreme


def _fold(name: str) -> Callable[..., Any]:
    plain, combine = getattr(builtins, name), and_ if name == "all" else or_

    def fold(values: Any) -> Any:
        values = list(values)
        if not any(map(is_traced_value, values)):
            return plain(values)
        flags = [_converter(bool)(v) for v in values]
        result = flags[0]
        for flag in flags[1:]:
            result = combine(result, lambda f=flag: f, True)
        return result

    return fold


def _print(*values: Any, **options: Any) -> None:
    """Print when the program runs, in order."""
    if not in_graph():
        print(*values, **options)
        return
    late = [isinstance(v, Handle | TracedNumber) and is_traced_value(v) for v in values]
    arrays = [v.array for v, is_late in zip(values, late, strict=True) if is_late]
    kinds = [getattr(v, "kind", None) for v, is_late in zip(values, late, strict=True) if is_late]
    if any(isinstance(v, list | tuple | dict) and _holds_traced(v) for v in values):
        raise need_values("the text of a container of Tensors")
    kept = [
        None if is_late else wrap(np.asarray(v.array)) if isinstance(v, Handle) else v
        for v, is_late in zip(values, late, strict=True)
    ]

    def show(*given: Any) -> None:
        following = iter(zip(given, kinds, strict=True))
        shown = []
        for value, is_late in zip(kept, late, strict=True):
            if is_late:
                array, kind = next(following)
                value = wrap(np.asarray(array)) if kind is None else kind(array)
            shown.append(value)
        print(*shown, **options)

    with Wide():
        jax.debug.callback(show, *arrays, ordered=True)


def _holds_traced(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return any(
        _holds_traced(v) if isinstance(v, list | tuple | dict) else is_traced_value(v)
        for v in items
    )


def _setattr(value: Any, name: str, *new: Any) -> None:
    note_attribute(value, name)
    setattr(value, name, *new)


def _delattr(value: Any, name: str) -> None:
    note_attribute(value, name)
    delattr(value, name)


_REPLACED: dict[Any, Any] = {
    setattr: _setattr,
    delattr: _delattr,
    range: range_,
    print: _print,
    int: _converter(int),
    float: _converter(float),
    bool: _converter(bool),
    isinstance: _isinstance,
    type: _type,
    max: _extreme("max"),
    min: _extreme("min"),
    all: _fold("all"),
    any: _fold("any"),
}


def _item(tensor: Any, *args: Any, **kwargs: Any) -> Any:
    """Give the only element of a traced Tensor as a number."""
    array = _scalar(tensor) if not args and not kwargs and in_graph() else None
    if array is None:
        return tensor.item(*args, **kwargs)
    kinds = {"b": bool, "f": float}
    with Wide():
        return TracedNumber(array, kinds.get(array.dtype.kind, int))


_OF_TENSORS: dict[Any, Any] = {Tensor.item: _item}


# -- subscripts and writes --


def slice_(start: Any, stop: Any, step: Any) -> slice:
    """Make a slice."""
    return slice(start, stop, step)


def index(value: Any) -> Any:
    """Give an index with Tensors in the place of numbers that the program computes."""
    if isinstance(value, TracedNumber):
        return value.tensor()
    if type(value) is tuple and any(isinstance(v, TracedNumber) for v in value):
        return tuple(map(index, value))
    return value


def item(container: Any, key: Any) -> Any:
    """Give ``container[key]``, also of a tuple, list or CellList by a traced number."""
    if isinstance(container, Late):
        raise container.refused()
    if not isinstance(key, TracedNumber | Handle):
        return container[index(key)]
    if isinstance(container, Handle) or _scalar(key) is None:
        return container[index(key)]  # type: ignore[index]
    if isinstance(container, dict) or not hasattr(container, "__len__"):
        return container[key]
    if hasattr(container, "_enter_graph"):
        return _OneOf(list(container), _place(key, len(container)))
    if isinstance(container, list | tuple | range):
        return _picked(list(container), _place(key, len(container)))
    return container[key]


def _place(key: Any, count: int) -> Any:
    with Wide():
        array = jnp.asarray(_scalar(key)).astype(np.int32)
        return jnp.where(array < 0, array + count, array)


def _picked(values: list[Any], place: Any) -> Any:
    """Choose one of several values by a traced place."""
    if not values:
        raise IndexError("list index out of range")
    out = values[-1]
    for i in range(len(values) - 2, -1, -1):
        with Wide():
            here = TracedNumber(place == i, bool)
        out = choose(here, lambda v=values[i]: v, lambda o=out: o)
    return out


class _OneOf:
    """One of several Cells or functions, which a traced place chooses when it is called."""

    def __init__(self, members: list[Any], place: Any) -> None:
        self.members, self.place = members, place

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def from_(i: int) -> Any:
            if i == len(self.members) - 1:
                return self.members[i](*args, **kwargs)
            with Wide():
                here = TracedNumber(self.place == i, bool)
            return choose(here, lambda: self.members[i](*args, **kwargs), lambda: from_(i + 1))

        return from_(0)


def changing(container: Any) -> Any:
    """Give a container of which an element is about to be written."""
    if isinstance(container, _MUTABLE + _ARRAYS):
        note_change(container)
    return container


def owner(value: Any, name: str) -> Any:
    """Give an object of which an attribute is about to be written."""
    note_attribute(value, name)
    return value


def augment(name: str, old: Any, value: Any) -> Any:
    """Give what ``old`` becomes by an augmented assignment."""
    if isinstance(old, _MUTABLE + _ARRAYS):
        note_change(old)
    return getattr(operator, name)(old, value)
