"""Annotations of what is compiled: `JitConfig`, `Symbol`, `lazy_inline`, `no_inline` and others.

XLA decides by itself what to inline, and each shape has a program of its own; the annotations check
their arguments and leave results as they are.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

from mindjax.core.errors import located
from mindjax.graph.buckets import call_padded, declared_shape, is_row_wise, known
from mindjax.tensor.tensor import Tensor


class JitConfig:
    """Options of compilation, for `Cell.set_jit_config` (MindSpore: ``JitConfig``).

    XLA optimises alike under all of them.

    Args:
        jit_level: ``""``, ``"O0"``, ``"O1"`` or ``"O2"``.
        exc_mode: ``"auto"``, ``"sink"`` or ``"no_sink"``.
        jit_syntax_level: ``""``, ``"STRICT"``, ``"COMPATIBLE"`` or ``"LAX"``.
        debug_level: ``"RELEASE"`` or ``"DEBUG"``.
        infer_boost: ``"on"`` or ``"off"``.
        **kwargs: further options, which are kept.

    Raises:
        ValueError: an option has another value.
    """

    def __init__(
        self,
        jit_level: str = "",
        exc_mode: str = "auto",
        jit_syntax_level: str = "",
        debug_level: str = "RELEASE",
        infer_boost: str = "off",
        **kwargs: Any,
    ) -> None:
        _one_of("jit_level", jit_level, ("", "O0", "O1", "O2"))
        _one_of("exc_mode", exc_mode, ("auto", "sink", "no_sink"))
        _one_of("jit_syntax_level", jit_syntax_level, ("", "STRICT", "COMPATIBLE", "LAX"))
        _one_of("debug_level", debug_level, ("RELEASE", "DEBUG"))
        _one_of("infer_boost", infer_boost, ("", "on", "off"))
        self.jit_config_dict: dict[str, Any] = {
            **kwargs,
            "jit_level": jit_level,
            "exc_mode": exc_mode,
            "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level,
            "infer_boost": infer_boost,
        }
        if jit_level:
            backend = "GE" if jit_level == "O2" else "ms_backend"
            self.jit_config_dict.setdefault("backend", backend)


def _one_of(name: str, value: Any, choices: tuple[str, ...]) -> None:
    if value not in choices:
        raise located(
            ValueError,
            f"For 'JitConfig', the '{name}' must be one of '{list(choices)}', but got {value!r}.",
        )


class Symbol:
    """What is known of an axis whose size changes (MindSpore: ``Symbol``).

    Args:
        max: largest size, if above ``min``.
        min: smallest size.
        divisor: d, where the size is d * n + ``remainder``.
        remainder: from 0 to ``divisor`` - 1.
        unique: whether axes with this symbol have one size.
        **kwargs: further information, which is not used.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument is out of range.
    """

    def __init__(
        self,
        max: int = 0,
        min: int = 1,
        divisor: int = 1,
        remainder: int = 0,
        unique: bool = False,
        **kwargs: Any,
    ) -> None:
        numbers = {"max": max, "min": min, "divisor": divisor, "remainder": remainder}
        for name, value in numbers.items():
            if not isinstance(value, int):
                raise located(
                    TypeError,
                    f"For 'Symbol', the argument '{name}' must be int, but got {type(value)}",
                )
        if not isinstance(unique, bool):
            raise located(
                TypeError,
                f"For 'Symbol', the argument 'unique' must be bool, but got {type(unique)}",
            )
        for name in ("min", "divisor"):
            if numbers[name] <= 0:
                raise located(
                    ValueError,
                    f"For 'Symbol', the '{name}' value should be positive, but got {numbers[name]}",
                )
        if not 0 <= remainder < divisor:
            raise located(
                ValueError,
                f"For 'Symbol', the 'remainder' value should be in the range '[0, {divisor})', but "
                f"got {remainder}",
            )
        self.max, self.min, self.divisor, self.remainder = max, min, divisor, remainder
        self.unique = unique
        self.id = id(self)

    def to_dict(self) -> dict[str, Any]:
        """Give what differs from the defaults."""
        found: dict[str, Any] = {}
        if self.max > self.min:
            found["max"] = self.max
        # A size is divisor * n + remainder with n from 1 up.
        if self.min > self.divisor + self.remainder:
            found["min"] = self.min
        if self.divisor != 1:
            found["divisor"] = self.divisor
        if self.remainder:
            found["remainder"] = self.remainder
        if self.unique:
            found["id"] = self.id
        return found

    def __str__(self) -> str:
        return str(self.to_dict())


def lazy_inline(
    fn: Callable[..., Any] | None = None, attrs: Any = None, policy: str | None = None
) -> Any:
    """Mark a Cell's ``__init__``: its graph is inlined late (MindSpore: ``lazy_inline``).

    Args:
        fn: the ``__init__``; None gives a decorator.
        attrs: attribute or attributes of the Cell that are kept under ``cell_init_args``; by
            default the arguments of ``__init__``.
        policy: None or ``"front"``; XLA decides what to inline.

    Returns:
        The ``__init__``, or the decorator.

    Raises:
        ValueError: it does not decorate an ``__init__``.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(function) or function.__name__ != "__init__":
            kind = "class" if inspect.isclass(function) else "function:"
            raise located(
                ValueError,
                "The lazy_inline should decorate the __init__ function, not the "
                f"{kind} {function.__name__}.",
            )

        @functools.wraps(function)
        def init(self: Any, *args: Any, **kwargs: Any) -> None:
            function(self, *args, **kwargs)
            if attrs is None:
                given = inspect.signature(function).bind(self, *args, **kwargs).arguments
                values = [v for k, v in given.items() if k != "self"]
            else:
                names = [attrs] if isinstance(attrs, str) else attrs
                values = [getattr(self, name) for name in names]
            marks = "lazy_inline" + (" front" if policy == "front" else "")
            object.__setattr__(self, "cell_init_args", f"{marks}{type(self).__name__}{values}")

        return init

    return decorate if fn is None else decorate(fn)


def no_inline(fn: Callable[..., Any] | None = None) -> Any:
    """Mark a function whose graph is not inlined (MindSpore: ``no_inline``); XLA decides that.

    Args:
        fn: the function; None gives a decorator.

    Returns:
        The function, or the decorator.

    Raises:
        ValueError: it does not decorate a function.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if not inspect.isfunction(function):
            raise located(
                ValueError, f"For 'no_inline', a function is needed, but got {function!r}."
            )
        return function

    return decorate if fn is None else decorate(fn)


def set_recursion_limit(recursion_limit: int = 1000) -> None:
    """Allow calls this deep in what is compiled (MindSpore: ``set_recursion_limit``).

    Compiling runs the Python functions, so that Python's own limit is raised to it.

    Args:
        recursion_limit: positive number of nested calls.

    Raises:
        TypeError: it is no int.
        ValueError: it is not above 0.
    """
    from mindjax.core.checks import positive_int

    limit = positive_int("recursion_limit", recursion_limit, "set_recursion_limit")
    sys.setrecursionlimit(max(sys.getrecursionlimit(), limit))


def enable_dynamic(**kwargs: Any) -> Callable[..., Any]:
    """Say which arguments of a compiled function change shape (MindSpore: ``enable_dynamic``).

    Shapes are checked against what is said here. Each shape has a program of its own, unless the
    function is promised to be `row_wise`: then the first axis is padded to a few sizes.

    Args:
        **kwargs: Tensor, or tuple or list of Tensors, by argument name, with None for the axes that
            change.

    Returns:
        A decorator for a function that `jit` compiles, or for what it gives.

    Raises:
        ValueError: there are no arguments, or the function has no such argument.
        TypeError: an argument is no Tensor, or has no axis that changes.
    """
    if not kwargs:
        raise located(ValueError, "For 'enable_dynamic', the input cannot be empty!")
    for name, value in kwargs.items():
        for tensor in value if isinstance(value, tuple | list) else (value,):
            if not isinstance(tensor, Tensor):
                raise located(
                    TypeError,
                    f"For 'enable_dynamic', the argument '{name}' must be a Tensor, or tuple or "
                    f"list of Tensors, but got {type(tensor).__name__}.",
                )
        if not any(_changes(t) for t in (value if isinstance(value, tuple | list) else (value,))):
            raise located(
                TypeError,
                f"For 'enable_dynamic', the shape of argument '{name}' at least have one None.",
            )

    def decorate(function: Any) -> Any:
        signature = inspect.signature(function)
        unknown = [n for n in kwargs if n not in signature.parameters]
        if unknown:
            raise located(
                ValueError, f"For 'enable_dynamic', the function has no arguments {unknown}."
            )

        @functools.wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            given = signature.bind(*args, **named).arguments
            for name, declared in kwargs.items():
                if name in given:
                    _check_shape(name, declared, given[name])
            if is_row_wise(function) and not named:
                places = list(signature.parameters)[: len(args)]
                return call_padded(function, [kwargs.get(n) for n in places], args)
            return function(*args, **named)

        return call

    return decorate


def _changes(tensor: Any) -> bool:
    return any(not known(s) for s in declared_shape(tensor) or ())


def _check_shape(name: str, declared: Any, given: Any) -> None:
    if isinstance(declared, tuple | list):
        for part, value in zip(declared, given, strict=False):
            _check_shape(name, part, value)
        return
    wanted = declared_shape(declared)
    if wanted is None or wanted == (-2,) or not isinstance(given, Tensor):
        return
    fits = len(wanted) == given.ndim and all(
        not known(w) or w == s for w, s in zip(wanted, given.shape, strict=True)
    )
    if not fits or given.dtype is not declared.dtype:
        raise located(
            ValueError,
            f"For 'enable_dynamic', the argument '{name}' was said to have shape {wanted} and "
            f"dtype {declared.dtype}, but got {given.shape} and {given.dtype}.",
        )
