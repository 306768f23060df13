"""Why this process ends, for the launcher that started it: a small file that it reads."""

from __future__ import annotations

import json
import os
import time
import traceback
from types import TracebackType

VARIABLE = "MINDJAX_ERROR_FILE"


def note(text: str) -> None:
    """Write down why this process ends; the first reason counts.

    Args:
        text: a Python traceback, or a line.
    """
    path = os.environ.get(VARIABLE)
    if not path:
        return
    try:
        with open(path, "x", encoding="utf-8") as file:
            json.dump({"time": time.time(), "text": text}, file)
    except OSError:
        # There is a first reason already, or the launcher has gone.
        return


def note_exception(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Write down an exception that ends this process.

    Args:
        kind: its class.
        error: the exception.
        trace: where its traceback begins.
    """
    if os.environ.get(VARIABLE):
        note("".join(traceback.format_exception(kind, error, trace)))
