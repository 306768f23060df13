"""A time limit on collectives: a rank whose program waits for others too long ends with a line."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from typing import Any

from mindjax.core import failure
from mindjax.core.errors import located

LIMIT = "MINDJAX_COLLECTIVE_TIMEOUT"
_DEFAULT = 600.0
# A process that waits for others uses less than this part of a core.
_BUSY = 0.2


def limit() -> float:
    """Give the seconds that a rank may wait for others in a program with collectives.

    Raises:
        ValueError: the variable holds no number above 0.
    """
    text = os.environ.get(LIMIT, "")
    try:
        seconds = float(text or _DEFAULT)
    except ValueError:
        seconds = 0.0
    if not seconds > 0:
        raise located(
            ValueError, f"The environment variable {LIMIT} must be a number > 0: {text!r}."
        )
    return seconds


class Watch:
    """Waits, in a thread of its own, for each program that was started.

    Args:
        rank: of this process.
    """

    def __init__(self, rank: int) -> None:
        self._rank, self._limit = rank, limit()
        self._waiting: queue.SimpleQueue[tuple[str, Any] | None] = queue.SimpleQueue()
        self._now: tuple[str, float, float] | None = None
        # The backend may run a program within the call that starts it, and that call another.
        self._calling: list[tuple[str, float, float]] = []
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._closed = threading.Event()

    def starts(self, name: str) -> None:
        """Note a program that is about to be started.

        Args:
            name: what it is called in the message.
        """
        if not self._threads:
            for work in (self._wait, self._look):
                thread = threading.Thread(target=work, name="mindjax-collectives", daemon=True)
                self._threads.append(thread)
                thread.start()
        with self._lock:
            self._calling.append((name, time.monotonic(), time.process_time()))

    def started(self, name: str, token: Any = None) -> None:
        """Note that the call which starts a program is over.

        Args:
            name: what it is called in the message.
            token: array that is there when it has run; None if it did not start.
        """
        with self._lock:
            self._calling.pop()
        if token is not None:
            self._waiting.put((name, token))

    def close(self) -> None:
        """Wait for the programs that run, and stop.

        A thread that still waits in XLA when the interpreter ends would end it badly.
        """
        self._waiting.put(None)
        for thread in self._threads:
            thread.join()
            self._closed.set()

    def _wait(self) -> None:
        while True:
            found = self._waiting.get()
            if found is None:
                return
            name, token = found
            self._now = name, time.monotonic(), time.process_time()
            # Whoever reads the program's results gets its error.
            with contextlib.suppress(Exception):
                token.block_until_ready()
            self._now = None
            del found, token

    def _look(self) -> None:
        while not self._closed.wait(min(1.0, self._limit / 4)):
            with self._lock:
                if self._calling:
                    self._calling[-1] = self._looked(self._calling[-1])
            now = self._now
            if now is not None:
                fresh = self._looked(now)
                if self._now is now:
                    self._now = fresh

    def _looked(self, now: tuple[str, float, float]) -> tuple[str, float, float]:
        """End this process if a program has waited too long; give what is looked at next."""
        name, began, used = now
        if time.monotonic() - began <= self._limit:
            return now
        if time.process_time() - used <= _BUSY * self._limit:
            self._end(name)
        # It computes: a whole epoch may be one program.
        return name, time.monotonic(), time.process_time()

    def _end(self, name: str) -> None:
        name = name.removeprefix("ms_")
        facing = name in ("Send", "Receive", "NeighborExchange")
        hint = " Of two ranks that send to each other one has to receive first." if facing else ""
        text = (
            f"mindjax: rank {self._rank} has waited {self._limit:g} s for the other ranks in "
            f"'{name}' and ends: a rank is stuck, has ended, or calls other collectives.{hint} "
            f"{LIMIT} sets the limit in seconds."
        )
        failure.note(text)
        print(text, file=sys.stderr, flush=True)
        sys.stdout.flush()
        os._exit(_STUCK)


_STUCK = 124
"""Exit status of a rank that waited too long."""
