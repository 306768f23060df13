"""Errors that name the user's file and line; the classes themselves are Python's own, as in the original."""

from __future__ import annotations

import os
import sys
from typing import TypeVar

import jax

_PACKAGES = tuple(
    os.path.dirname(os.path.abspath(module.__file__ or "")) + os.sep for module in (jax,)
) + (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    os.path.dirname(os.path.abspath(os.__file__)) + os.sep + "contextlib",
    os.path.dirname(os.path.abspath(os.__file__)) + os.sep + "functools",
    "<frozen ",
)

ErrorType = TypeVar("ErrorType", bound=BaseException)


def user_line() -> str:
    """Find the innermost stack frame outside MindJAX and JAX.

    Returns:
        ``"path:line"`` of that frame, or an empty string when there is none.
    """
    frame = sys._getframe(1)
    while frame is not None:
        path = frame.f_code.co_filename
        if not path.startswith(_PACKAGES):
            return f"{path}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def located(error: type[ErrorType], message: str) -> ErrorType:
    """Build an exception whose one-line message ends with the user's file and line.

    Args:
        error: exception class, the one that the original raises.
        message: one line that names the op or class, the argument and the value.

    Returns:
        An instance of ``error``, to be raised by the caller.
    """
    where = user_line()
    text = " ".join(message.split())
    return error(f"{text} [{where}]" if where else text)
