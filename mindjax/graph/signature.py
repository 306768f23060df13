"""What makes two calls share a program: structure, dtypes, shapes and constants."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, ItemsView, KeysView, Sequence, ValuesView
from typing import Any

import jax
import numpy as np

from mindjax.core import jax_private
from mindjax.core.dtype import Type
from mindjax.core.handle import Handle, current
from mindjax.core.number import TracedNumber
from mindjax.core.partition import partitioner
from mindjax.core.primitive import Primitive
from mindjax.graph.control.joining import Late
from mindjax.tensor.tensor import Tensor

Builder = Callable[[Sequence[Any]], Any]


class Same:
    """An object as a key: equal to itself only, and kept alive so that its id stays its own."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)


def snapshot(value: Any) -> Hashable:
    """Give what a program depends on if it takes a value as a constant.

    Args:
        value: any object.

    Returns:
        The type and the bits of numbers, the elements of containers and the fields of dataclasses,
        in a hashable; of other objects their identity.
    """
    cls = type(value)
    if value is None or cls in (bool, int, str, bytes):
        return cls, value
    if cls is float:
        return cls, value.hex()
    if cls in (tuple, list):
        return cls, *map(snapshot, value)
    if cls is dict:
        return cls, *((snapshot(k), snapshot(v)) for k, v in value.items())
    if cls in (set, frozenset):
        return cls, frozenset(map(snapshot, value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type | Primitive):
        return Same(value), *((k, snapshot(v)) for k, v in vars(value).items())
    return Same(value)


class Signature:
    """Arguments taken apart: a hashable key, the arrays, and a builder that puts them together.

    Attributes:
        key: equal for calls that may share a program.
        handles: the Tensors among the arguments, in order.
        dicts: the arguments that are dicts: the function may write into them.
        arrays: whether all the arrays are numpy's own, and there are any.
    """

    __slots__ = ("arrays", "dicts", "handles", "key")

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.handles: list[Any] = []
        self.arrays: Any = 0
        parts = [self._add(a) for a in args]
        if kwargs:
            parts.append(tuple((k, self._add(v)) for k, v in kwargs.items()))
        self.arrays = 0 < self.arrays == len(self.handles)
        self.dicts = dicts_among(args, kwargs)
        spread = partitioner()
        self.key: Hashable = (
            jax_private.x64_enabled(),
            current.mixed,
            None if spread is None else spread.key,
            *parts,
        )

    def _add(self, value: Any) -> Hashable:
        cls = type(value)
        if cls is Tensor:
            if value.__dict__.get("const_arg"):
                return ("const", value.dtype, value.shape, value.asnumpy().tobytes())
            self.handles.append(value)
            raw = value._raw()
            return raw.shape, raw.dtype
        if value is None or cls is bool or cls is int or cls is str:
            return cls, value
        if cls is float:
            return cls, value.hex()
        if isinstance(value, Handle):
            # A Parameter keeps its identity: it is state, not an argument.
            return "state", id(value)
        if isinstance(value, jax.Array | np.ndarray):
            self.arrays += isinstance(value, np.ndarray)
            tensor = Tensor._from_array(value)
            self.handles.append(tensor)
            return "array", tuple(value.shape), value.dtype
        if isinstance(value, tuple | list):
            return (cls, *[self._add(v) for v in value])
        if isinstance(value, dict):
            return (cls, *((k, self._add(v)) for k, v in value.items()))
        if isinstance(value, np.generic | complex):
            # By its bits: 0.0 and -0.0 are two constants.
            return cls, np.asarray(value).tobytes()
        if isinstance(value, Primitive | Type | type | slice):
            return cls, value if not isinstance(value, slice) else str(value)
        if value is Ellipsis:
            return cls, "..."
        try:
            hash(value)
        except TypeError:
            return cls, snapshot(value)
        return cls, value


def dicts_among(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[dict[Any, Any]]:
    """List the arguments that are dicts."""
    return [a for a in (*args, *kwargs.values()) if type(a) is dict]


def rebuild(args: tuple[Any, ...], kwargs: dict[str, Any], tensors: Sequence[Any]) -> Any:
    """Put arguments together again with other Tensors in place of their own.

    Args:
        args: positional arguments that a `Signature` was made of.
        kwargs: keyword arguments that it was made of.
        tensors: one Tensor for each of the signature's handles.

    Returns:
        The pair of new positional and keyword arguments.
    """
    following = iter(tensors)

    def put(value: Any) -> Any:
        cls = type(value)
        if cls is Tensor:
            return value if value.__dict__.get("const_arg") else next(following)
        if isinstance(value, Handle):
            return value
        if isinstance(value, jax.Array | np.ndarray):
            return next(following)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return cls._make(put(v) for v in value)  # type: ignore[attr-defined]
        if isinstance(value, tuple | list):
            return cls(put(v) for v in value)
        if isinstance(value, dict):
            return {k: put(v) for k, v in value.items()}
        return value

    return tuple(put(a) for a in args), {k: put(v) for k, v in kwargs.items()}


class Result:
    """What a traced function returned: arrays taken out, the rest kept."""

    def __init__(self, value: Any) -> None:
        self.arrays: list[Any] = []
        self.single = isinstance(value, Handle | jax.Array)
        self._template = self._take(value)
        # Such a value cannot be changed, so that every call may give the same one.
        self._plain = type(value) is tuple and all(type(v) in (bool, int, str) for v in value)
        self._written: list[tuple[int, Any]] = []

    def _take(self, value: Any) -> Any:
        if isinstance(value, TracedNumber):
            self.arrays.append(value.array)
            return _Slot(len(self.arrays) - 1, "number", value.kind)
        if isinstance(value, Late):
            self.arrays.append(value.which)
            place = len(self.arrays) - 1
            return _Slot(place, "late", [self._take(v) for v in value.values])
        if isinstance(value, Handle | jax.Array | np.ndarray):
            kind = "array" if not isinstance(value, Handle) else "tensor"
            self.arrays.append(value.array if isinstance(value, Handle) else value)
            return _Slot(len(self.arrays) - 1, kind)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)._make(self._take(v) for v in value)  # type: ignore[attr-defined]
        if isinstance(value, KeysView | ValuesView | ItemsView):
            # As in the original, the views of a dict leave a graph as tuples.
            return tuple(self._take(v) for v in value)
        if isinstance(value, tuple | list):
            return type(value)(self._take(v) for v in value)
        if isinstance(value, dict):
            return {k: self._take(v) for k, v in value.items()}
        return value

    def keep_written(self, before: list[dict[Any, Any]], after: list[dict[Any, Any]]) -> None:
        """Take the dicts among the arguments that the function wrote into as further results."""
        for i, (old, new) in enumerate(zip(before, after, strict=True)):
            if list(old) != list(new) or any(old[k] is not new[k] for k in old):
                self._written.append((i, self._take(new)))

    def write_back(self, dicts: Sequence[dict[Any, Any]], tensors: Sequence[Any]) -> None:
        """Write what the function wrote into the caller's dicts."""
        for i, template in self._written:
            fresh = self._put(template, tensors)
            dicts[i].clear()
            dicts[i].update(fresh)

    def forget(self) -> None:
        """Drop the traced arrays; the structure stays."""
        self.arrays = []

    def build(self, tensors: Sequence[Any]) -> Any:
        """Put a result together of the program's outputs."""
        if self.single:
            return self._pick(self._template, tensors)
        if self._plain:
            return self._template
        return self._put(self._template, tensors)

    def _pick(self, slot: Any, tensors: Sequence[Any]) -> Any:
        tensor = tensors[slot.index]
        return tensor if slot.kind == "tensor" else tensor.array

    def _put(self, value: Any, tensors: Sequence[Any]) -> Any:
        if isinstance(value, _Slot):
            if value.kind == "number":
                return value.more(np.asarray(tensors[value.index].array))
            if value.kind == "late":
                which = int(np.asarray(tensors[value.index].array))
                return self._put(value.more[which], tensors)
            return self._pick(value, tensors)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return type(value)._make(self._put(v, tensors) for v in value)  # type: ignore[attr-defined]
        if isinstance(value, tuple | list):
            return type(value)(self._put(v, tensors) for v in value)
        if isinstance(value, dict):
            return {k: self._put(v, tensors) for k, v in value.items()}
        return value


class _Slot:
    """The place of an output array in a result.

    Args:
        index: which output.
        kind: ``"tensor"``, ``"array"``, ``"number"``, or ``"late"`` for one of several values.
        more: the number's type, or the several values.
    """

    __slots__ = ("index", "kind", "more")

    def __init__(self, index: int, kind: str, more: Any = None) -> None:
        self.index, self.kind, self.more = index, kind, more
