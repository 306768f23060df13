"""Errors of user code inside a pipeline: one line that names the operation and the column."""

from __future__ import annotations

import functools
import os
import re
import traceback

_LINE = re.compile(r" \[[^\[\]]*:\d+\]$")
_OWN = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + os.sep


@functools.cache
def also_runtime_error(error: type[Exception]) -> type[Exception]:
    """Give a class that both ``except error`` and ``except RuntimeError`` catch.

    The original turns every error of user code into a RuntimeError; the class that the user raised
    is kept beside it.
    """
    if issubclass(error, RuntimeError):
        return error
    if issubclass(error, StopIteration | StopAsyncIteration):
        return RuntimeError
    try:
        return type(
            error.__name__,
            (error, RuntimeError),  # pyright: ignore
            {"__module__": error.__module__, "__init__": Exception.__init__, "__str__": _first},
        )
    except TypeError:
        return RuntimeError


def _first(self: Exception) -> str:
    return str(self.args[0]) if self.args else ""


def raised_at(error: BaseException) -> str:
    """Give ``file:line`` of the innermost frame of user code in an error's traceback."""
    place = ""
    for frame in traceback.extract_tb(error.__traceback__):
        if not frame.filename.startswith((_OWN, "<frozen")):
            place = f"{frame.filename}:{frame.lineno}"
    return place


def pipeline_error(text: str, error: type[Exception] = RuntimeError) -> Exception:
    """Build an error of a running pipeline; its iterator adds the user's line.

    Workers build errors where no frame of the user's consumer is on the stack.
    """
    built = error(" ".join(text.split()))
    built._from_pipeline = True  # type: ignore[attr-defined]
    return built


def failure(error: Exception, what: str, place: str = "", user: bool = True) -> Exception:
    """Build what the consumer of the pipeline sees when user code raised.

    Args:
        error: what user code raised.
        what: the operation, with its columns.
        place: ``file:line`` of the raising line; found in ``error`` when empty.
        user: whether the code is the user's, and not a transform of this package.

    Returns:
        An instance of ``error``'s class that is also a RuntimeError.
    """
    if getattr(error, "_from_pipeline", False):
        return error
    if not user:
        text = _LINE.sub("", str(error))
        return pipeline_error(f"{what} failed. {text}", also_runtime_error(type(error)))
    return failure_of(type(error), str(error), what, place or raised_at(error))


def failure_of(kind: type[Exception], message: str, what: str, place: str) -> Exception:
    """Build what the consumer of the pipeline sees, from the parts of what user code raised."""
    where = f" at {place}" if place else ""
    text = (
        "Exception thrown from user defined Python function in dataset. "
        f"{what} failed{where}: {kind.__name__}: {message}"
    )
    return pipeline_error(text, also_runtime_error(kind))
