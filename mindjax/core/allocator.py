"""The C allocator of a process that computes on the CPU: it keeps the memory that XLA gives back.

XLA allocates the temporary and output buffers of each run of a program with malloc, and glibc
returns large blocks to the kernel as soon as they are freed: each step of a training then begins
with page faults for all of its memory. Three settings of glibc's allocator end that. The process
keeps the memory of its largest moment; `give_back` returns what is free.
"""

from __future__ import annotations

import ctypes
import functools
import math
import mmap
import os
import sys
from typing import Any

import numpy as np

from mindjax.core.device import target

# Constants of <malloc.h>.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
# Blocks of any size come from the heap; it is not trimmed at its end; there is one heap, since
# another thread's cannot hold blocks of more than 64 MiB.
_SETTINGS = ((_ARENA_MAX, 1), (_MMAP_THRESHOLD, 1 << 30), (_TRIM_THRESHOLD, 2**31 - 1))
# Arrays from this size on lie in mapped memory.
MAPPED_BYTES = 4 << 20
_OWN = ("MALLOC_ARENA_MAX", "MALLOC_MMAP_THRESHOLD_", "MALLOC_TRIM_THRESHOLD_")


@functools.cache
def prepare() -> bool:
    """Set glibc's allocator up, once, where MindJAX first puts a value on the CPU.

    Nothing is done with ``MINDJAX_MALLOC=default``, with settings of the user's own (``MALLOC_...``
    or ``GLIBC_TUNABLES``), for another device, or without glibc.

    Returns:
        Whether the settings hold.
    """
    own = any(name in os.environ for name in _OWN)
    own = own or "glibc.malloc" in os.environ.get("GLIBC_TUNABLES", "")
    if own or os.environ.get("MINDJAX_MALLOC") == "default" or target() != "CPU":
        return False
    library = _glibc()
    if library is None:
        return False
    held = [library.mallopt(name, value) for name, value in _SETTINGS]
    return all(held)


def give_back() -> None:
    """Return free memory to the kernel; the allocator keeps its settings."""
    library = _glibc()
    if library is not None:
        library.malloc_trim(0)


@functools.cache
def _glibc() -> Any:
    """Give the process's C library if it is glibc."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None)
    if not hasattr(library, "gnu_get_libc_version"):
        return None
    library.malloc_trim.argtypes = [ctypes.c_size_t]
    return library


def fresh(dims: tuple[int, ...], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Make an array that is to be filled at once.

    Large ones are mapped, because numpy asks for huge pages, which the system may have to clear
    first: benchmarks/checkpoint.py loads a file two to three times as fast so.

    Args:
        dims: its shape.
        dtype: its numpy dtype.

    Raises:
        ValueError: there is no such shape.
        OverflowError: it is too large.
    """
    size = math.prod(dims) * dtype.itemsize
    if size < MAPPED_BYTES:
        return np.empty(dims, dtype)
    try:
        return np.frombuffer(mmap.mmap(-1, size), dtype).reshape(dims)
    except OSError as error:
        raise MemoryError(f"{size} bytes of memory: {error.strerror}") from None
