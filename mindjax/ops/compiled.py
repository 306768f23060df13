"""Sources in C and C++, compiled by g++ to shared libraries, once a machine."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path

from mindjax.core.errors import located

_locks: dict[str, threading.Lock] = {}
_locks_lock = threading.Lock()


def compile_library(
    sources: Sequence[str], name: str, flags: Sequence[str] = (), folder: str | None = None
) -> str:
    """Compile sources with g++ to a shared library, once for the same text and flags.

    Args:
        sources: paths.
        name: name of the library.
        flags: of the compiler and of the linker.
        folder: where it is put; by default one in the system's folder for temporary files.

    Returns:
        Path of the library.

    Raises:
        FileNotFoundError: a source does not exist.
        RuntimeError: there is no g++, or it refuses the sources.
    """
    digest = hashlib.sha256(repr(list(flags)).encode())
    for source in sources:
        if not os.path.isfile(source):
            raise located(FileNotFoundError, f"For '{name}', there is no source file '{source}'.")
        digest.update(Path(source).read_bytes())
    user = os.getuid() if hasattr(os, "getuid") else 0
    base = folder or os.path.join(tempfile.gettempdir(), f"mindjax-kernels-{user}")
    os.makedirs(base, mode=0o700, exist_ok=True)
    target = os.path.join(base, f"{name}-{digest.hexdigest()[:16]}.so")
    if os.path.exists(target):
        return target
    with _lock_of(target):
        if not os.path.exists(target):
            _compile(sources, name, flags, target)
    return target


def _lock_of(target: str) -> threading.Lock:
    with _locks_lock:
        return _locks.setdefault(target, threading.Lock())


def _compile(sources: Sequence[str], name: str, flags: Sequence[str], target: str) -> None:
    # Another process may be compiling the same: whichever ends last leaves its library there.
    half = f"{target}.{os.getpid()}"
    command = ["g++", "-std=c++17", "-O2", "-fPIC", "-shared", *sources, *flags, "-o", half]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            first = next((x for x in done.stderr.splitlines() if "error" in x), done.stderr.strip())
            raise located(RuntimeError, f"For '{name}', g++ could not compile {sources}: {first}")
        os.replace(half, target)
    except FileNotFoundError:
        raise located(RuntimeError, f"For '{name}', g++ is needed to compile {sources}.") from None
    finally:
        with contextlib.suppress(OSError):
            os.unlink(half)
