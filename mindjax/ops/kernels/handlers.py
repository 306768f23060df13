"""Handlers of XLA's foreign function interface, compiled from the sources beside this file."""

from __future__ import annotations

import ctypes
import functools
import os
import platform
from pathlib import Path

import jax

from mindjax.core.compile_cache import default_folder
from mindjax.ops.contraction import cpu_forms

# Square roots set no errno, and a vector may divide where a condition leaves the result out.
_FLAGS = ("-O3", "-fno-math-errno", "-fno-trapping-math", "-w")


@functools.cache
def handler(name: str) -> str | None:
    """Compile and register a kernel.

    Args:
        name: of the source without its suffix; the source defines ``mindjax_{name}``.

    Returns:
        The name that `jax.ffi.ffi_call` knows it by; None if it cannot be had.
    """
    if not cpu_forms() or jax.device_count() > 1:
        return None
    from mindjax.ops.custom.native import compile_library

    source = Path(__file__).with_name(f"{name}.cc")
    flags = (*_FLAGS, f"-I{jax.ffi.include_dir()}", f"-DMACHINE_{platform.machine()}")
    folder = os.path.join(os.path.dirname(default_folder()), "kernels")
    try:
        library = ctypes.CDLL(compile_library([str(source)], name, flags, folder))
    except (OSError, RuntimeError):
        return None
    target = f"mindjax_{name}"
    jax.ffi.register_ffi_target(target, jax.ffi.pycapsule(getattr(library, target)), "cpu")
    return target
