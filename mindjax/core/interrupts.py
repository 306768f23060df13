"""Ctrl-C while buffers are given away."""

from __future__ import annotations

import inspect
import signal
import threading
from typing import Any

# The functions beneath the public ones, which look for members of enums.
_handler, _set_handler = inspect.unwrap(signal.getsignal), inspect.unwrap(signal.signal)


class Shield:
    """Hold Ctrl-C back from the donation of buffers until the results are written back."""

    __slots__ = ("_before", "_caught")

    def __enter__(self) -> None:
        self._caught: list[Any] = []
        self._before: Any = None
        if threading.get_ident() == threading.main_thread().ident:
            before = _handler(signal.SIGINT)
            if callable(before):
                self._before = before
                _set_handler(signal.SIGINT, lambda *a: self._caught.append(a))

    def __exit__(self, *exc: object) -> None:
        if self._before is not None:
            _set_handler(signal.SIGINT, self._before)
            if self._caught:
                self._before(*self._caught[0])
