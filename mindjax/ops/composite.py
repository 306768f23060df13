"""Functions over functions: HyperMap, Map and MultitypeFuncGraph."""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, cast

from mindjax.core.dtype import Bool, Int, List, NoneType, Number, String, TensorType, Tuple, Type
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.old_paths import parts

_BY_NAME: dict[str, Callable[[Any], bool]] = {
    "Tensor": lambda v: isinstance(v, Handle),
    "Parameter": lambda v: isinstance(v, Handle) and v.is_parameter,
    "Number": lambda v: isinstance(v, int | float | complex),
    "Bool": lambda v: isinstance(v, bool),
    "Int": lambda v: isinstance(v, int) and not isinstance(v, bool),
    # What Python's numbers are, in PYNATIVE and in GRAPH.
    "Int64": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "Float": lambda v: isinstance(v, float),
    "Float32": lambda v: isinstance(v, float),
    "Float64": lambda v: isinstance(v, float),
    **{
        kind: (lambda v, kind=kind: type(v).__name__ == kind)
        for kind in ("RowTensor", "COOTensor", "CSRTensor")
    },
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
        if kind.startswith("Tensor["):
            return isinstance(value, Handle) and kind == f"Tensor[{cast(Any, value).dtype}]"
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
        self.default: Callable[..., Any] | None = None
        self.see = ""

    def register(self, *type_names: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Register a function for kinds of arguments.

        Args:
            type_names: one an argument: ``"Tensor"``, ``"Number"``, ``"Tuple"``, ``"Function"``
                and so on, or MindSpore types.

        Returns:
            A decorator, which gives the function back.
        """

        def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
            self.register_fn(type_names, function)
            return function

        return decorate

    def register_fn(self, type_names: tuple[Any, ...], function: Callable[..., Any]) -> None:
        """Register a function for kinds of arguments, as `register` does.

        Args:
            type_names: one an argument.
            function: the function.
        """
        self.entries.append((tuple(type_names), function))

    def register_default_fn(self, function: Callable[..., Any]) -> None:
        """Set the function for arguments that no registered kinds match.

        Args:
            function: the function.
        """
        self.default = function

    def set_doc_url(self, doc_url: str) -> None:
        """Name the page that the error of arguments without a function points to.

        Args:
            doc_url: address of the page.
        """
        self.see = doc_url

    def set_need_raise(self) -> None:
        """Ask for an error where nothing matches; there is always one, unless a default is set."""
        self.default = None

    def __call__(self, *args: Any) -> Any:
        """Call the first function whose kinds the arguments match.

        Raises:
            ValueError: none matches.
        """
        for kinds, function in self.entries:
            if len(kinds) == len(args) and all(map(_matches, kinds, args)):
                return function(*args)
        if self.default is not None:
            return self.default(*args)
        raise located(
            ValueError,
            f"For 'MultitypeFuncGraph', cannot find fn match given args. '{self.name}' knows "
            f"{[k for k, _ in self.entries]}, but got {[type(a).__name__ for a in args]}."
            + (f" See {self.see}." if self.see else ""),
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


def add_flags(fn: Any = None, **flags: Any) -> Any:
    """Note flags on a function (MindSpore: ``ops.add_flags``); XLA has no use for them.

    Args:
        fn: the function; None gives a decorator.
        flags: what to note, kept in ``_func_graph_flags``.

    Returns:
        The function, or the decorator.
    """

    def decorate(function: Any) -> Any:
        noted = getattr(function, "_func_graph_flags", None)
        if noted is None:
            noted = function._func_graph_flags = {}
        noted.update(flags)
        return function

    return decorate if fn is None else decorate(fn)


def hyper_add(x: Any, y: Any) -> Any:
    """Add nested tuples, lists and dicts leaf by leaf (MindSpore: ``ops.hyper_add``).

    Args:
        x: Tensor, number, or tuple, list or dict of these.
        y: of the same structure.

    Returns:
        The sums; a list comes as a tuple.
    """
    return HyperMap(operator.add)(x, y) if isinstance(x, tuple | list | dict) else x + y


def zip_operation(*sequences: Any) -> tuple[Any, ...]:
    """Give tuples of the elements at each place (MindSpore: ``ops.zip_operation``).

    Args:
        sequences: tuples, lists or Tensors.

    Returns:
        As many tuples as the shortest sequence has elements.
    """
    return tuple(zip(*sequences, strict=False))


def iter_converter(sequence: Any) -> Any:
    """Give what a loop runs over: the elements, of a dict the keys.

    Args:
        sequence: tuple, list, Tensor or dict.
    """
    return sequence if isinstance(sequence, tuple | list) else tuple(sequence)


def ms_hasnext(sequence: Any) -> bool:
    """Tell whether a sequence has an element left.

    Args:
        sequence: tuple or list.
    """
    return bool(len(sequence))


def ms_next(sequence: Any) -> tuple[Any, Any]:
    """Give a sequence's first element and the rest.

    Args:
        sequence: tuple or list.
    """
    return sequence[0], sequence[1:]


augassign_add = operator.add
augassign_sub = operator.sub
augassign_mul = operator.mul
augassign_div = operator.truediv
augassign_floordiv = operator.floordiv
augassign_mod = operator.mod


def _ones_like_for_grad(x: Any) -> Any:
    """Give ones of a value's structure, which a gradient starts from.

    Args:
        x: Tensor, number, or tuple or list of these.
    """
    from mindjax.ops import ones_like

    if isinstance(x, tuple | list):
        return tuple(map(_ones_like_for_grad, x))
    return ones_like(cast(Any, x)) if isinstance(x, Handle) else 1


def env_get(env: Any, key: Any, default: Any = None) -> Any:
    """Look a value up in what gradients are gathered in: a dict.

    Args:
        env: the dict.
        key: what it is kept under.
        default: what to give where there is none.

    Raises:
        TypeError: ``env`` is no dict.
    """
    if not isinstance(env, dict):
        raise located(
            TypeError, f"For 'env_get', the 'env' must be a dict, but got {type(env).__name__}."
        )
    return env.get(key, default)


# Names of other modules that the original lists in ``ops.composite``.
_OPS = """
    batch_dot clip_by_global_norm clip_by_value count_nonzero cummin dot gamma laplace matmul mm
    multinomial normal ones_like poisson repeat_elements repeat_interleave sequence_mask tensor_dot
    uniform vecdot zeros_like
"""
_LATER = {
    **dict.fromkeys(("GradOperation", "_Grad", "_Vmap", "recompute_block"), "mindjax.autodiff"),
    **dict.fromkeys(_OPS.split(), "mindjax.ops"),
}

# The original's is a package: `mindjax.alias` answers for the modules in it.
__path__: list[str] = []
_PARTS = parts("ops.composite")


def __getattr__(name: str) -> Any:
    """Give what the original lists in ``ops.composite`` and other modules define here."""
    if name in _PARTS:
        return sys.modules[__name__]
    if name in _LATER:
        found = getattr(import_module(_LATER[name]), name, None)
        if found is not None:
            return found
    raise AttributeError(f"module 'mindspore.ops.composite' has no attribute '{name}'")
