"""The file of events, written by a thread so that a step does not wait for the disk."""

from __future__ import annotations

import logging
import os
import queue
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from mindjax.train.summary import events

logger = logging.getLogger("mindjax")

# A record's length and the two checksums.
_FRAME = 16
_SPARE = 32
_READ_ONLY = 0o400
# Records that may wait for the thread.
_WAITING = 64

Job = Callable[[], list[bytes]]


class EventFile:
    """A file of events.

    Args:
        path: the file, which is made when something is written.
        limit: bytes that it may have; None for no limit.
        raises: whether an error of writing is raised at the next call, and not only logged.
    """

    def __init__(self, path: Path, limit: int | None, raises: bool) -> None:
        self.path, self._left, self._raises = path, limit, raises
        events.proto("record_writer")
        self._jobs: queue.Queue[Any] = queue.Queue(_WAITING)
        self._error: BaseException | None = None
        self._records: Any = None
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="mindjax-summary", daemon=True)
        self._thread.start()

    def write(self, job: Job) -> None:
        """Write the events that a function gives; the thread calls it.

        Raises:
            OSError: an earlier write has failed.
            RuntimeError: an earlier write has failed.
        """
        self._check()
        self._jobs.put(job)

    def flush(self) -> None:
        """Wait until everything is in the file."""
        self._wait("flush")
        self._check()

    def close(self) -> None:
        """Write what is left, and close the file."""
        if self._thread.is_alive():
            self._wait("close")
            self._thread.join()
        self._check()

    def _wait(self, what: str) -> None:
        done = threading.Event()
        self._jobs.put((what, done))
        # Threads that the interpreter has ended answer no more.
        while not done.wait(1.0) and self._thread.is_alive():
            pass

    def _check(self) -> None:
        error, self._error = self._error, None
        if error is not None and self._raises:
            raise error

    def _run(self) -> None:
        while True:
            job = self._jobs.get()
            if not isinstance(job, tuple):
                self._attempt(job)
                continue
            what, done = job
            if what == "flush" and self._records is not None:
                self._attempt(self._flush)
            elif what == "close":
                self._shut()
                done.set()
                return
            done.set()

    def _attempt(self, job: Job) -> None:
        if self._stopped:
            return
        try:
            for event in job():
                self._append(event)
        except Exception as error:
            logger.error("Summaries are not written any more: %s", error)
            self._error, self._stopped = error, True
            self._shut()

    def _append(self, event: bytes) -> None:
        if self._stopped:
            return
        if self._records is None:
            self._records = events.proto("record_writer").RecordWriter(str(self.path))
            self.path.chmod(0o600)
            self._append(events.first_event())
        size = len(event) + _FRAME
        if shutil.disk_usage(self.path).free < size * _SPARE:
            raise RuntimeError(f"The disk space may be soon exhausted by the '{self.path}'.")
        if self._left is not None:
            if self._left < size:
                logger.warning(
                    "'max_file_size' reached: there are %d bytes remaining, but '%s' requires to "
                    "write %d bytes.",
                    self._left,
                    self.path,
                    size,
                )
                self._stopped = True
                self._shut()
                return
            self._left -= size
        self._records.write(event)

    def _flush(self) -> list[bytes]:
        self._records.flush()
        return []

    def _shut(self) -> None:
        records, self._records = self._records, None
        if records is not None:
            records.close()
            if self.path.exists():
                self.path.chmod(_READ_ONLY)


def free_path(folder: Path, prefix: str, rank: int, suffix: str) -> Path:
    """Choose a name of a file of events that does not exist.

    TensorBoard looks for ``tfevents`` in the name; the parts are the original's.
    """
    second = int(time.time())
    while True:
        path = folder / f"{prefix}.out.tfevents.{second}.{rank}.{os.uname().nodename}{suffix}"
        if not path.exists():
            return path
        second += 1


def export_npy(folder: Path, tag: str, step: int, array: np.ndarray[Any, Any]) -> None:
    """Write an array as ``tensor/TAG_STEP.npy``; the tag is quoted as in an address."""
    path = folder / "tensor" / f"{quote(tag, safe='')}_{step}.npy"
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array.astype(np.float32) if array.dtype.kind == "V" else array)
    path.chmod(_READ_ONLY)
