"""Handlers of XLA's foreign function interface, compiled from C++ sources by g++."""

from __future__ import annotations

import ctypes
import functools
import hashlib
import os
import platform
import threading
from collections.abc import Sequence
from pathlib import Path

import jax

from mindjax.core.compile_cache import default_folder
from mindjax.ops.compiled import compile_library
from mindjax.ops.contraction import cpu_forms

# Square roots set no errno, and a vector may divide where a condition leaves the result out.
_FLAGS = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-w")


@functools.cache
def library(source: Path, flags: Sequence[str] = ()) -> ctypes.CDLL | None:
    """Compile a source and load it.

    Args:
        source: in C++; headers beside it are part of what a cached library is known by.
        flags: further flags of the compiler.

    Returns:
        The library; None where there is no compiler, or it refuses the source.
    """
    headers = hashlib.sha256()
    for header in sorted(source.parent.glob("*.h")):
        headers.update(header.read_bytes())
    known_by = f"-DMACHINE_{platform.machine()}_{headers.hexdigest()[:16]}"
    flags = (*_FLAGS, *flags, f"-I{jax.ffi.include_dir()}", known_by)
    # Where the user's folder cannot be written to, the one for temporary files can.
    for folder in (os.path.join(os.path.dirname(default_folder()), "kernels"), None):
        try:
            return ctypes.CDLL(compile_library([str(source)], source.stem, flags, folder))
        except OSError:
            continue
        except RuntimeError:
            break
    return None


def register(found: ctypes.CDLL, name: str, platforms: Sequence[str] = ("cpu",)) -> str:
    """Make a handler of a library known to jax.

    Args:
        found: the library.
        name: of the handler; the library exports ``mindjax_{name}``.
        platforms: names of jax.

    Returns:
        The name that `jax.ffi.ffi_call` knows it by.
    """
    target = f"mindjax_{name}"
    capsule = jax.ffi.pycapsule(getattr(found, target))
    for where in platforms:
        jax.ffi.register_ffi_target(target, capsule, where)
    return target


@functools.cache
def _begin() -> None:
    """Compile every kernel that stands beside this file, at the same time."""
    for source in Path(__file__).parent.glob("*.cc"):
        threading.Thread(target=library, args=(source,)).start()


@functools.cache
def handler(name: str) -> str | None:
    """Compile and register a kernel that stands beside this file.

    Args:
        name: of the source without its suffix; the source defines ``mindjax_{name}``.

    Returns:
        The name that `jax.ffi.ffi_call` knows it by; None if it cannot be had.
    """
    if not cpu_forms() or jax.device_count() > 1:
        return None
    _begin()
    found = library(Path(__file__).with_name(f"{name}.cc"))
    return None if found is None else register(found, name)


@functools.cache
def fitting_handler(name: str) -> str | None:
    """Compile and register a kernel that only some processors are faster with.

    Args:
        name: as in `handler`; the source defines ``int mindjax_{name}_fits()`` too.

    Returns:
        The name that `jax.ffi.ffi_call` knows it by; None if it cannot be had or does not fit.
    """
    if not cpu_forms():
        return None
    _begin()
    found = library(Path(__file__).with_name(f"{name}.cc"))
    if found is None or not getattr(found, f"mindjax_{name}_fits")():
        return None
    return handler(name)
