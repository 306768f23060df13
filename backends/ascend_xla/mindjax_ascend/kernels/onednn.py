"""oneDNN's library, found in a package of PyPI or on the system and loaded at run time."""

from __future__ import annotations

import ctypes
import functools
import importlib.metadata
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from mindjax_ascend.kernels import foreign

PACKAGE = "onednn-cpu-gomp"
"""The package of the extra ``onednn`` that brings the library."""

NAME = "libdnnl.so.3"
_SOURCE = "onednn_convolution"


def _places() -> Iterator[str]:
    """List paths by which the library may be had, those that are asked for first."""
    named = os.environ.get("MINDJAX_ONEDNN", "")
    if named == "0":
        return
    if named:
        yield named
        return
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        files = []
    yield from (str(Path(f.locate()).resolve()) for f in files if f.name == NAME)
    yield NAME


def refusal(path: str) -> str:
    """Let the kernels load a library, and keep the first that they can call.

    Args:
        path: of the library, or a name that the system finds.

    Returns:
        Why it cannot be called; nothing if it can.
    """
    kernels = foreign.library(_SOURCE)
    if kernels is None:
        return "there is no g++ that compiles the kernels"
    load = kernels.mindjax_onednn_load
    load.argtypes, load.restype = [ctypes.c_char_p], ctypes.c_char_p
    return load(path.encode()).decode()


@functools.cache
def loaded() -> str:
    """Load the library, once.

    The variable ``MINDJAX_ONEDNN`` names another one, or with 0 none.

    Returns:
        Its path or name; nothing where there is none that the kernels can call.
    """
    return next((path for path in _places() if not refusal(path)), "")


def fast(numbers: Sequence[int]) -> bool:
    """Tell whether the loaded library has a kernel for a convolution, not only its general loop.

    Args:
        numbers: those that ``Problem`` in the kernels' source begins with.
    """
    kernels = foreign.library(_SOURCE)
    if kernels is None:
        return False
    return bool(kernels.mindjax_onednn_fast((ctypes.c_int64 * len(numbers))(*numbers)))


def available() -> bool:
    """Tell whether kernels can call the library, in a program on one device."""
    return foreign.available(_SOURCE, _SOURCE) and bool(loaded())
