"""Functions over functions: HyperMap, Map and MultitypeFuncGraph."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax.core.dtype import Bool, Int, List, NoneType, Number, String, TensorType, Tuple, Type
from mindjax.core.errors import located
from mindjax.core.handle import Handle

_BY_NAME: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Handle),
    "Parameter": lambda v: isinstance(v, Handle) and v.is_parameter,
    "Number": lambda v: isinstance(v, int | float | complex) and not isinstance(v, bool),
    "Bool": lambda v: isinstance(v, bool),
    "Int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Float": lambda v: isinstance(v, float),
    "String": lambda v: isinstance(v, str),
    "Tuple": lambda v: isinstance(v, tuple),
    "List": lambda v: isinstance(v, list),
    "Dictionary": lambda v: isinstance(v, dict),
    "Dict": lambda v: isinstance(v, dict),
    "None": lambda v: v is None,
    "Function": callable,
}


def _matches(kind: Any, value: Any) -> bool:
    """Tell whether a value is of a registered kind: a name, a MindSpore type or a Python type."""
    if isinstance(kind, str):
        test = _BY_NAME.get(kind)
        return test is not None and test(value)
    if isinstance(kind, TensorType):
        return _BY_NAME["Tensor"](value)
    if isinstance(kind, List | Tuple | NoneType | String):
        return _BY_NAME[kind.name](value)
    if isinstance(kind, Bool):
        return isinstance(value, bool)
    if isinstance(kind, Number):
        wanted = int if isinstance(kind, Int) else float
        return isinstance(value, wanted) and not isinstance(value, bool)
    if isinstance(kind, Type):
        return kind.name in _BY_NAME and _BY_NAME[kind.name](value)
    return isinstance(kind, type) and isinstance(value, kind)


class MultitypeFuncGraph:
    """One name for functions that are chosen by the kinds of their arguments.

    Args:
        name: name, for messages.
        read_value: kept for the original's signature: functions always get values.
    """

    def __init__(self, name: str, read_value: bool = False) -> None:
        self.name = name
        self.read_value = read_value
        self.entries: list[tuple[tuple[Any, ...], Callable[..., Any]]] = []

    def register(self, *type_names: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function for kinds of arguments.

        Args:
            type_names: one an argument: ``"Tensor"``, ``"Number"``, ``"Tuple"``, ``"Function"``
                and so on, or MindSpore types.

        Returns:
            A decorator, which gives the function back.
        """

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            self.entries.append((type_names, function))
            return function

        return decorate

    def __call__(self, *args: Any) -> Any:
        """Call the first function whose kinds the arguments match.

        Raises:
            ValueError: none matches.
        """
        for kinds, function in self.entries:
            if len(kinds) == len(args) and all(map(_matches, kinds, args)):
                return function(*args)
        raise located(
            ValueError,
            f"For 'MultitypeFuncGraph', cannot find fn match given args. '{self.name}' knows "
            f"{[k for k, _ in self.entries]}, but got {[type(a).__name__ for a in args]}.",
        )

    def __repr__(self) -> str:
        return f"MultitypeFuncGraph({self.name!r})"


class HyperMap:
    """Apply a function to the leaves of nested tuples, lists and dicts.

    Args:
        ops: the function; without it, it is the first argument of the call.
        reverse: apply from the last element to the first.
    """

    depth = -1

    def __init__(self, ops: Callable[..., Any] | None = None, reverse: bool = False) -> None:
        self.ops = ops
        self.reverse = reverse

    def __call__(self, *args: Any) -> Any:
        """Apply the function to leaves of equal place, in all sequences.

        Raises:
            TypeError: there is no function or no sequence.
            ValueError: the sequences differ in length.
        """
        if self.ops is None:
            if not args or not callable(args[0]):
                raise located(
                    TypeError,
                    f"For '{type(self).__name__}', the first argument must be a function.",
                )
            function, args = args[0], args[1:]
        else:
            function = self.ops
        if not args:
            raise located(TypeError, f"For '{type(self).__name__}', there is nothing to map.")
        return self._map(function, args, self.depth)

    def _map(self, function: Callable[..., Any], args: tuple[Any, ...], depth: int) -> Any:
        first = args[0]
        if depth == 0 or not isinstance(first, tuple | list | dict):
            return function(*args)
        if any(type(a) is not type(first) and not _alike(a, first) for a in args[1:]):
            return function(*args)
        if isinstance(first, dict):
            return {k: self._map(function, tuple(a[k] for a in args), depth - 1) for k in first}
        if len({len(a) for a in args}) > 1:
            raise located(
                ValueError,
                f"For '{type(self).__name__}', the lengths of the inputs must be the same, but got "
                f"{[len(a) for a in args]}.",
            )
        rows = list(zip(*args, strict=True))
        if self.reverse:
            out = [self._map(function, row, depth - 1) for row in reversed(rows)][::-1]
        else:
            out = [self._map(function, row, depth - 1) for row in rows]
        return tuple(out)


def _alike(a: Any, b: Any) -> bool:
    return isinstance(a, tuple | list) and isinstance(b, tuple | list)


class Map(HyperMap):
    """Apply a function to the elements of sequences, without going deeper.

    Args:
        ops: the function; without it, it is the first argument of the call.
        reverse: apply from the last element to the first.
    """

    depth = 1


def tail(sequence: Any) -> tuple[Any, ...]:
    """Give a tuple without its first element (MindSpore: ``ops.composite.tail``).

    Args:
        sequence: tuple or list.

    Returns:
        The other elements.

    Raises:
        ValueError: the sequence is empty.
    """
    if not len(sequence):
        raise located(ValueError, "For 'tail', the sequence must not be empty.")
    return tuple(sequence[1:])


def __getattr__(name: str) -> Any:
    """Give what the original lists in ``ops.composite`` and other modules define here."""
    if name in ("GradOperation", "clip_by_value", "clip_by_global_norm"):
        from mindjax import ops

        return getattr(ops, name)
    raise AttributeError(f"module 'mindspore.ops.composite' has no attribute '{name}'")
