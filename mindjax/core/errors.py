"""Errors that name the user's file and line; the classes are Python's own."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections import deque
from typing import TypeVar

# Found without importing it: data set workers must not load jax.
_JAX = importlib.util.find_spec("jax")
_PACKAGES = (os.path.dirname(_JAX.origin) + os.sep,) if _JAX and _JAX.origin else ()

_STANDARD = os.path.dirname(os.path.abspath(os.__file__)) + os.sep
_OWN = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_CORE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_PARALLEL = importlib.util.find_spec("mindjax_parallel")
_INTERNAL = (
    *_PACKAGES,
    *(p + os.sep for p in (_PARALLEL and _PARALLEL.submodule_search_locations) or ()),
    _OWN,
    _STANDARD + "contextlib",
    _STANDARD + "functools",
    "<frozen ",
)

# What Python functions that a program calls have raised; who runs the program raises it again.
raised: deque[BaseException] = deque(maxlen=1)

ErrorType = TypeVar("ErrorType", bound=BaseException)


def user_line() -> str:
    """Find the innermost stack frame outside MindJAX and JAX.

    Returns:
        ``"path:line"`` of that frame, or an empty string when there is none.
    """
    return _place()[0]


def _place() -> tuple[str, str]:
    """Find the user's line as `user_line`, and the name of what was called there."""
    frame = sys._getframe(2)
    called = ""
    while frame is not None:
        path, name = frame.f_code.co_filename, frame.f_code.co_name
        # A dataclass's constructor is code made from a string.
        made = path == "<string>" and name == "__init__"
        if not made and not path.startswith(_INTERNAL):
            return f"{path}:{frame.f_lineno}", called
        if path.startswith(_OWN) and (name.endswith("__") or not name.startswith(("_", "<"))):
            owner = frame.f_locals.get("self")
            if name in ("__iter__", "__next__"):
                called = ""
            elif owner is None:
                called = name
            elif name in ("__init__", "__call__", "__post_init__", "construct"):
                called = type(owner).__name__
            else:
                called = f"{type(owner).__name__}.{name}"
        frame = frame.f_back
    return "", called


def argument_name(value: object) -> str:
    """Find the name of an argument in the call that the user wrote.

    Args:
        value: the very object that was passed.

    Returns:
        The parameter's name in the outermost function of MindJAX that was given the object, or an
        empty string where it has none there.
    """
    found = ""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_INTERNAL):
        code = frame.f_code
        path, inner = code.co_filename, code.co_name.startswith(("_", "<"))
        if path.startswith(_OWN) and not path.startswith(_CORE) and not inner:
            count = code.co_argcount + code.co_kwonlyargcount
            names = [n for n in code.co_varnames[:count] if frame.f_locals.get(n) is value]
            found = names[0] if names else found
        frame = frame.f_back
    return found


def located(error: type[ErrorType], message: str, named: bool = True) -> ErrorType:
    """Build an exception whose one-line message ends with the user's file and line.

    Args:
        error: exception class, the one that the original raises.
        message: one line that names the op or class, the argument and the value; where it does not
            start with ``For``, the name of what the user called is put before it.
        named: False where what was called only speaks for the user's own code.

    Returns:
        An instance of ``error``, to be raised by the caller.
    """
    where, called = _place()
    text = " ".join(message.split())
    if (
        named
        and called
        and not text.startswith("For ")
        and not re.search(rf"(?<![.\w]){called}\b", text)
    ):
        text = f"For '{called}', {text}"
    made = error(f"{text} [{where}]" if where else text)
    made.mindjax_located = True  # type: ignore[attr-defined]
    return made


def drop_jax_notes(error: BaseException) -> None:
    """Take off the notes on hidden frames that jax adds to errors that pass through it.

    Args:
        error: exception on its way out.
    """
    notes = getattr(error, "__notes__", None)
    if notes:
        error.__notes__ = [n for n in notes if "JAX_TRACEBACK_FILTERING" not in n]


def is_located(error: BaseException) -> bool:
    """Tell whether an exception was made by `located`."""
    return getattr(error, "mindjax_located", False)
