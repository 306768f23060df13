"""The driver of `bishengir-compile`, the vendor's open compiler for Ascend NPUs.

The compiler comes with the package `ascendnpu-ir`. Its last step, `hivmc`, is part of CANN and not
open: a stand-in for it keeps the HIVM module that it would get, which is what `compile` returns.
"""

from __future__ import annotations

import importlib.util
import os
import re
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

TARGET = "Ascend910B1"
_HINT = 'pip install "mindjax[ascend-compiler]"'

# Answers the version question, and keeps the module that the last step gets.
_STAND_IN = """#!/bin/sh
if [ "$1" = "--version" ]; then echo "hivmc {version}"; exit 0; fi
cp "$1" "{kept}"
"""

# A program that does not fit into UB is tried again with room for more buffers at a time.
_BUFFERS = (0, 2, 8, 16, 32, 64)


class CompilerMissing(ImportError):
    """The package with the compiler is not installed."""


class CompileError(RuntimeError):
    """The compiler refuses a program, crashes, or takes too long; the message is one line."""


@dataclass(frozen=True)
class Compiled:
    """What the compiler made.

    Attributes:
        hivm: The text of the HIVM module.
        version: The version of ascendnpu-ir.
        options: The options that it was called with.
    """

    hivm: str
    version: str
    options: tuple[str, ...]


def available() -> bool:
    """Whether the package with the compiler is installed."""
    return importlib.util.find_spec("ascendnpuir") is not None


def installed() -> None:
    """Make sure that the package with the compiler is installed.

    Raises:
        CompilerMissing: it is not; the message says how to install it.
    """
    _package()


def _package() -> tuple[Path, str]:
    spec = importlib.util.find_spec("ascendnpuir")
    if spec is None or spec.origin is None:
        raise CompilerMissing(f"the Ascend compiler is not installed: {_HINT}")
    return Path(spec.origin).parent, metadata.version("ascendnpu-ir")


def is_tile(text: str) -> bool:
    """Whether a module is in the form of one tile: memory arguments, no scheduling by HFusion."""
    return "WorkspaceArgIdx" in text


def options_for(text: str) -> tuple[str, ...]:
    """The options that the form of a module needs."""
    if is_tile(text):
        return (
            "-enable-triton-kernel-compile=true",
            "-enable-hivm-compile=true",
            "-enable-hfusion-compile=true",
        )
    if re.search(r"\bhivm\.hir\.", text):
        return ("-enable-hivm-compile=true",)
    return ("-enable-hfusion-compile=true",)


def compile(
    text: str,
    target: str = TARGET,
    blocks: int = 1,
    extra: tuple[str, ...] = (),
    seconds: float = 60.0,
    library: bool = True,
) -> Compiled:
    """Compile an MLIR module to HIVM.

    Args:
        text: The module: linalg on tensors (what `lower` gives), or HIVM written by hand.
        target: The name of the chip.
        blocks: The number of blocks that a program in HFusion's form is spread over.
        extra: Options of `bishengir-compile` besides those that the form needs.
        seconds: The time that one run of the compiler may take.
        library: Refuse a module that calls what the vendor's library does not have.

    Returns:
        The HIVM module, with the version and options that made it.

    Raises:
        CompilerMissing: `ascendnpu-ir` is not installed.
        CompileError: The compiler does not take the program, or runs too long.
    """
    package, version = _package()
    spread = (f"--block-dim={blocks}",) if blocks > 1 else ()
    given = (*options_for(text), *spread, *extra)
    tries = _BUFFERS if given[0] == "-enable-hfusion-compile=true" else (0,)
    error = CompileError("no run")
    for count in tries:
        chosen = (*given, f"--hfusion-max-buffer-count-tuning={count}") if count else given
        try:
            hivm = _run(package, version, text, target, chosen, seconds)
        except CompileError as refused:
            error = refused
            if "ub overflow" not in str(refused):
                break
            continue
        if library:
            _check_library(package, hivm)
        return Compiled(hivm, version, chosen)
    raise error


def _run(
    package: Path, version: str, text: str, target: str, options: tuple[str, ...], seconds: float
) -> str:
    with tempfile.TemporaryDirectory(prefix="mindjax-hivm-") as name:
        folder = Path(name)
        source, kept, tools = folder / "kernel.mlir", folder / "kept.mlir", folder / "bin"
        source.write_text(text)
        tools.mkdir()
        stand_in = tools / "hivmc"
        stand_in.write_text(_STAND_IN.format(version=version, kept=kept))
        stand_in.chmod(0o755)
        command = [
            str(package / "bin" / "bishengir-compile"),
            str(source),
            *options,
            f"-target={target}",
            "-o",
            str(folder / "kernel.o"),
        ]
        environment = {
            **os.environ,
            "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}",
            "TMPDIR": str(folder),
        }
        # A session of its own, so that a run that takes too long ends with all its children.
        try:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                cwd=folder, env=environment, start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise CompileError(f"bishengir-compile does not start: {error.strerror}") from None
        try:
            said, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise CompileError(f"bishengir-compile took more than {seconds:g} s") from None
        if not kept.exists():
            raise CompileError(_reason(said, process.returncode, source))
        return kept.read_text()


def _reason(said: str, code: int, source: Path) -> str:
    """One line out of what the compiler printed."""
    if code < 0 or "Stack dump" in said:
        found = re.search(r"(?:LLVM ERROR: |Assertion )(.*)", said)
        return f"bishengir-compile crashed: {found[1] if found else f'signal {-code}'}"
    lines = re.findall(r"error: (.*)", said)
    useful = [line for line in lines if "Failed to run" not in line] or lines
    place = re.search(rf'{re.escape(source.name)}":(\d+):\d+\): error: (?!Failed to run)', said)
    where = f" (line {place[1]} of the module)" if place else ""
    reason = useful[0].split(" (possible reason")[0] if useful else f"exit status {code}"
    return f"bishengir-compile: {reason}{where}"


def _check_library(package: Path, hivm: str) -> None:
    """Each library call must be in the bitcode that the package links on this architecture."""
    names = sorted(set(re.findall(r"func\.func private @(\w+)\(", hivm)))
    missing = [n for n in names if f"_mlir_ciface_{n}".encode() not in _library(package)]
    if missing:
        raise CompileError(f"the vendor's library has no {', '.join(missing)}")


_BITCODE: dict[Path, bytes] = {}


def _library(package: Path) -> bytes:
    if package not in _BITCODE:
        files = sorted((package / "lib").glob("meta_op.*.c220.bc"))
        _BITCODE[package] = b"".join(f.read_bytes() for f in files)
    return _BITCODE[package]
