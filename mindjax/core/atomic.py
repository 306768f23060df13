"""Replacing a file in one step: a reader, or a crash, sees the old file or the whole new one."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
import socket
from collections.abc import Iterator
from typing import IO

_count = itertools.count()


@contextlib.contextmanager
def replacing(path: str, mode: int = 0o400) -> Iterator[IO[bytes]]:
    """Open a new file that takes the place of ``path`` when the block ends well.

    Args:
        path: file to replace; its folder exists.
        mode: permissions of the new file.

    Yields:
        A binary file, open for writing and for reading back.

    Raises:
        OSError: the folder cannot be written to, or the disk is full.
    """
    folder, base = os.path.split(os.path.abspath(path))
    _sweep(folder)
    temporary = os.path.join(folder, f".{base}.{_mark()}{os.getpid()}-{next(_count)}.tmp")
    descriptor = os.open(temporary, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, mode)
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _mark() -> str:
    """Name this machine, since a process number means nothing on another one."""
    return re.sub(r"[^A-Za-z0-9]", "", socket.gethostname()) + "-"


def _sweep(folder: str) -> None:
    """Remove what killed processes of this machine left behind."""
    left = re.compile(rf"\..*\.{_mark()}(\d+)-\d+\.tmp")
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            match = left.fullmatch(name)
            if match and not _alive(int(match[1])):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(folder, name))


def _alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _sync_folder(folder: str) -> None:
    """Make the new name itself survive a power failure, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
