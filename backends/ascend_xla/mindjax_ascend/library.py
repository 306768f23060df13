"""Builds the plugin's library with g++ where the package brings none, and loads it."""

from __future__ import annotations

import ctypes
import fcntl
import functools
import hashlib
import os
import platform
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Square roots set no errno, and a vector may divide where a condition leaves the result out.
FLAGS: list[str] = [
    *("-std=c++17", "-O3", "-fPIC", "-fvisibility=hidden", "-pthread", "-Wall"),
    *("-fno-math-errno", "-fno-trapping-math"),
]
HERE = Path(__file__).parent
BUILT = HERE / "libmindjax_ascend.so"


def source_folder() -> Path:
    """Give the folder of the C++ sources: the package's own, or the one beside it in a checkout."""
    inside = HERE / "src"
    return inside if inside.is_dir() else HERE.parent / "src"


def cache_folder() -> Path:
    """Give the folder that keeps libraries: ``MINDJAX_ASCEND_CACHE``, or in the user's cache."""
    named = os.environ.get("MINDJAX_ASCEND_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return Path(base) / "mindjax" / "ascend"


def _machine() -> str:
    """Describe the processor: a library for one need not run on another."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.machine()
    kept = {x for x in lines if x.startswith(("flags", "Features", "model name"))}
    return platform.machine() + "".join(sorted(kept))


def build(units: list[list[Path]], target: Path, flags: list[str]) -> None:
    """Compile units of sources, several at a time, and link them.

    Args:
        units: lists of C++ files; those of a list are compiled as one text, which saves reading
            their headers again and again.
        target: path of the shared library, replaced at once when it is whole.
        flags: of the compiler.

    Raises:
        RuntimeError: there is no g++, or it refuses a source.
    """

    def run(arguments: list[str]) -> None:
        try:
            done = subprocess.run(["g++", *arguments], capture_output=True, text=True)
        except FileNotFoundError:
            raise RuntimeError(
                "mindjax-ascend-xla is built with g++, which is not there: install it "
                "(Debian: apt install g++)"
            ) from None
        if done.returncode:
            raise RuntimeError(f"g++ could not build mindjax-ascend-xla: {done.stderr[:2000]}")

    def compile(folder: str, number: int, unit: list[Path]) -> str:
        text = os.path.join(folder, f"{number}.cc")
        Path(text).write_text("".join(f'#include "{path}"\n' for path in unit))
        run([*flags, "-c", text, "-o", text + ".o"])
        return text + ".o"

    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            numbers = range(len(units))
            objects = list(pool.map(lambda i: compile(folder, i, units[i]), numbers))
        whole = os.path.join(folder, "whole.so")
        run([*flags, "-shared", *objects, "-o", whole, "-ldl"])
        os.replace(whole, target)


def plugin_units() -> list[list[Path]]:
    """List the plugin's C++ files, by what is compiled together."""
    root = source_folder()
    scalars = root / "runtime/map_ops.cc"
    runtime = [p for p in sorted((root / "runtime").glob("*.cc")) if p != scalars]
    objects = [p for part in ("hal", "pjrt") for p in sorted((root / part).glob("*.cc"))]
    return [[scalars], runtime, objects]


def _cached(name: str, units: list[list[Path]], flags: list[str]) -> Path:
    digest = hashlib.sha256(" ".join([*flags, _machine()]).encode())
    for path in sorted({*source_folder().rglob("*.h"), *(p for unit in units for p in unit)}):
        digest.update(path.read_bytes())
    target = cache_folder() / f"{name}-{digest.hexdigest()[:24]}.so"
    if target.exists():
        return target
    target.parent.mkdir(parents=True, exist_ok=True)
    # Processes that start together build it once.
    with open(target.parent / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not target.exists():
            build(units, target, flags)
    return target


def library_path() -> Path:
    """Give the plugin's library, built where needed; ``MINDJAX_ASCEND_FLAGS`` adds flags of g++."""
    extra = os.environ.get("MINDJAX_ASCEND_FLAGS", "").split()
    if BUILT.exists() and not extra:
        return BUILT
    return _cached("plugin", plugin_units(), [*FLAGS, "-march=native", *extra])


def standin_path() -> Path:
    """Give the stand-in of CANN's libraries that tests use, built where needed."""
    sources = sorted((source_folder() / "standin").glob("*.cc"))
    return _cached("standin", [sources], FLAGS)


@functools.cache
def library() -> ctypes.CDLL:
    """Load the plugin's library."""
    loaded = ctypes.CDLL(str(library_path()))
    loaded.ascend_executions.restype = ctypes.c_int64
    loaded.ascend_offloaded.restype = ctypes.c_int64
    loaded.ascend_refused.restype = ctypes.c_char_p
    loaded.ascend_map_ops.restype = ctypes.c_char_p
    loaded.ascend_reply.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    loaded.ascend_set_stablehlo_version.argtypes = [ctypes.c_int64] * 3
    loaded.ascend_set_handler.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    loaded.ascend_has_map.argtypes = [ctypes.c_int64, ctypes.c_int, ctypes.c_int]
    return loaded


def refused() -> list[str]:
    """List operators of CANN that did not take what they were given, with what they said."""
    return library().ascend_refused().decode().splitlines()
