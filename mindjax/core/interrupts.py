"""Signals, as Ctrl-C, while buffers are given away."""

from __future__ import annotations

import signal
import threading
from typing import Any

try:
    # Beneath the public functions, which look for members of enums: that takes fifty times as long.
    from _signal import getsignal as _handler  # pyright: ignore[reportMissingImports]
    from _signal import signal as _set_handler  # pyright: ignore[reportMissingImports]
except ImportError:
    from signal import getsignal as _handler
    from signal import signal as _set_handler

# Those whose handlers in Python may raise: of Ctrl-C, of time limits, of whoever ends a job.
_SIGNALS = tuple(
    int(getattr(signal, name))
    for name in (
        *("SIGINT", "SIGTERM", "SIGALRM", "SIGVTALRM", "SIGPROF"),
        *("SIGUSR1", "SIGUSR2", "SIGHUP", "SIGXCPU"),
    )
    if hasattr(signal, name)
)


class Shield:
    """Hold signals back from the donation of buffers until the results are written back."""

    __slots__ = ("_before", "_caught")

    def __enter__(self) -> None:
        self._caught: list[Any] = []
        self._before: list[tuple[int, Any]] = []
        if threading.get_ident() == threading.main_thread().ident:
            for number in _SIGNALS:
                handler = _handler(number)
                if callable(handler):
                    self._before.append((number, handler))
                    _set_handler(number, self._catch)

    def _catch(self, *signalled: Any) -> None:
        self._caught.append(signalled)

    def __exit__(self, *exc: object) -> None:
        if not self._before:
            return
        for number, handler in self._before:
            _set_handler(number, handler)
        if self._caught:
            handlers = dict(self._before)
            for signalled in self._caught:
                handlers[signalled[0]](*signalled)
