"""A time limit on collectives: a rank whose program waits for others too long ends with a line."""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
import time
from typing import Any

LIMIT = "MINDJAX_COLLECTIVE_TIMEOUT"
_DEFAULT = 600.0
# A process that waits for others uses less than this part of a core.
_BUSY = 0.2


def limit() -> float:
    """Give the seconds that a program with collectives may take; 0 or less is no limit."""
    return float(os.environ.get(LIMIT, _DEFAULT))


class Watch:
    """Waits, in a thread of its own, for each program that was started.

    Args:
        rank: of this process.
    """

    def __init__(self, rank: int) -> None:
        self._rank, self._limit = rank, limit()
        self._waiting: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._now: tuple[str, float, float] | None = None
        self._threads = False

    def started(self, name: str, token: Any) -> None:
        """Note a program that runs now.

        Args:
            name: what it is called in the message.
            token: array that is there when it has run.
        """
        if self._limit <= 0:
            return
        if not self._threads:
            self._threads = True
            for work in (self._wait, self._look):
                threading.Thread(target=work, name="mindjax-collectives", daemon=True).start()
        self._waiting.put((name, token))

    def _wait(self) -> None:
        while True:
            name, token = self._waiting.get()
            self._now = name, time.monotonic(), time.process_time()
            # Whoever reads the program's results gets its error.
            with contextlib.suppress(Exception):
                token.block_until_ready()
            self._now = None
            del token

    def _look(self) -> None:
        while True:
            time.sleep(min(1.0, self._limit / 4))
            now = self._now
            if now is None or time.monotonic() - now[1] <= self._limit:
                continue
            if time.process_time() - now[2] > _BUSY * self._limit:
                # It computes: a whole epoch may be one program.
                self._now = now[0], time.monotonic(), time.process_time()
                continue
            self._end(now[0])

    def _end(self, name: str) -> None:
        print(
            f"mindjax: rank {self._rank} has waited {self._limit:g} s for the other ranks in "
            f"'{name.removeprefix('ms_')}' and ends: a rank is stuck, has ended, or calls other "
            f"collectives. {LIMIT} sets the limit in seconds.",
            file=sys.stderr,
            flush=True,
        )
        sys.stdout.flush()
        os._exit(_STUCK)


_STUCK = 124
"""Exit status of a rank that waited too long."""
