"""Ctrl-C while buffers are given away."""

from __future__ import annotations

import signal
import threading
from typing import Any


class Shield:
    """Hold Ctrl-C back from the donation of buffers until the results are written back."""

    __slots__ = ("_before", "_caught")

    def __enter__(self) -> None:
        self._caught: list[Any] = []
        self._before: Any = None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self._before = before
                signal.signal(signal.SIGINT, lambda *a: self._caught.append(a))

    def __exit__(self, *exc: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
            if self._caught:
                self._before(*self._caught[0])
