"""Registers the platform ``ascend`` with jax, and answers what its library asks of Python."""

from __future__ import annotations

import atexit
import ctypes
import ctypes.util
import itertools
import os
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax_ascend import jax_internals, library, protobuf
from mindjax_ascend.compiler import compile as compiler
from mindjax_ascend.compiler import foreign, segments
from mindjax_ascend.delegate import Delegate, view

# The numbers of PJRT's errors that their texts begin with.
CODES = {
    "CANCELLED": 1,
    "INVALID_ARGUMENT": 3,
    "DEADLINE_EXCEEDED": 4,
    "NOT_FOUND": 5,
    "ALREADY_EXISTS": 6,
    "PERMISSION_DENIED": 7,
    "RESOURCE_EXHAUSTED": 8,
    "FAILED_PRECONDITION": 9,
    "ABORTED": 10,
    "OUT_OF_RANGE": 11,
    "UNIMPLEMENTED": 12,
    "UNAVAILABLE": 14,
    "DATA_LOSS": 15,
}
INTERNAL = 13
COMPILE, LOAD, FREE, RUN, DESCRIBE, CALLBACK, HOLD, FORGET, SIMULATE = range(9)
_ASK = ctypes.CFUNCTYPE(
    ctypes.c_int,
    ctypes.c_void_p,
    ctypes.c_int64,
    ctypes.c_int64,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.c_void_p,
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_size_t,
    ctypes.POINTER(ctypes.c_void_p),
    ctypes.c_size_t,
)


def settings() -> dict[str, Any]:
    """Read the plugin's settings from the environment.

    ``MINDJAX_ASCEND_DRIVER`` is ``sim``, ``acl`` or, by default, ``acl`` where CANN's library is
    found and else ``sim``; ``MINDJAX_ASCEND_SIM_DEVICES`` is the number of simulated devices;
    ``MINDJAX_ASCEND_MEMORY`` limits a simulated device's memory, in bytes;
    ``MINDJAX_ASCEND_ACL`` and ``MINDJAX_ASCEND_OPAPI`` are the paths of CANN's libraries.
    """
    chosen: dict[str, Any] = {"driver": os.environ.get("MINDJAX_ASCEND_DRIVER", "")}
    if not chosen["driver"]:
        chosen["driver"] = "acl" if ctypes.util.find_library("ascendcl") else "sim"
    for name, option in (("ACL", "acl_library"), ("OPAPI", "opapi_library")):
        if f"MINDJAX_ASCEND_{name}" in os.environ:
            chosen[option] = os.environ[f"MINDJAX_ASCEND_{name}"]
    for name, option in (("SIM_DEVICES", "num_devices"), ("MEMORY", "memory_limit_bytes")):
        if f"MINDJAX_ASCEND_{name}" in os.environ:
            chosen[option] = int(os.environ[f"MINDJAX_ASCEND_{name}"])
    return chosen


class _Python:
    """The Python side of one process."""

    def __init__(self, chosen: dict[str, Any]) -> None:
        self.library = library.library()
        # The delegate takes as many devices as a program may name.
        self.delegate = Delegate(max(8, chosen.get("num_devices", 1)))
        self.fuse = chosen["driver"] == "sim"
        # What jax has lowered, and what a compiled program holds, with how many do.
        self.lowered: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.held: dict[int, list[Any]] = {}
        self.numbers = itertools.count(1)

    def register(self, function: jax_internals.PythonFunction) -> int:
        """Keep a Python function as long as jax keeps what it has lowered; gives its number."""
        number = next(self.numbers)
        self.lowered[number] = function
        return number

    def hold(self, number: int) -> None:
        """Keep a Python function until `forget` is called as often."""
        if number in self.held:
            self.held[number][1] += 1
        elif number in self.lowered:
            self.held[number] = [self.lowered[number], 1]
        else:
            raise RuntimeError(
                "UNIMPLEMENTED: a program that calls Python functions is loaded in another "
                "process than lowered it: compile it again"
            )

    def forget(self, number: int) -> None:
        """Undo a `hold`."""
        self.held[number][1] -= 1
        if not self.held[number][1]:
            del self.held[number]

    def answer(
        self, question: int, handle: int, first: bytes, second: bytes, inputs: Any, outputs: Any
    ) -> bytes:
        """Do what the library asks for."""
        if question == RUN:
            self.delegate.run(handle, inputs, outputs)
        elif question == CALLBACK:
            self.call(handle, inputs, outputs)
        elif question == COMPILE:
            return compiler.compile(first, second, self.delegate, self.fuse)
        elif question == LOAD:
            return str(self.delegate.load(first, second)).encode()
        elif question == FREE:
            self.delegate.free(handle)
        elif question == HOLD:
            self.hold(handle)
        elif question == FORGET:
            self.forget(handle)
        elif question == SIMULATE:
            segments.run(first, inputs, outputs)
        elif question == DESCRIBE:
            return self.describe(first, second, handle)
        return b""

    def describe(self, source: bytes, options: bytes, handle: int) -> bytes:
        """Give a program as XLA's HloModuleProtoWithConfig."""
        parsed = jax_internals.CompileOptions.ParseFromString(options)
        if handle >= 0:
            module = self.delegate.hlo(handle)
        elif not source.startswith(compiler.ARTIFACT):
            module = source
        else:
            with jax_internals.context() as context:
                module = jax_internals.hlo_of(jax_internals.parse(context, source))
        return protobuf.with_config(module, parsed.num_replicas, parsed.num_partitions)

    def call(self, number: int, inputs: list[int], outputs: list[int]) -> None:
        """Call a Python function of a program; a token comes before what it takes and gives."""
        function = self.held[number][0]
        tokens = len(inputs) - len(function.inputs)
        arguments = [
            view(address, a.shape, np.dtype(a.dtype)).copy()
            for address, a in zip(inputs[tokens:], function.inputs, strict=True)
        ]
        results = function.function(*arguments)
        given = outputs[len(outputs) - len(function.outputs) :]
        for address, a, result in zip(given, function.outputs, results, strict=True):
            array = np.asarray(result)
            if array.shape != a.shape:
                raise ValueError(
                    f"a Python function must give an array of shape {a.shape}, not {array.shape}"
                )
            view(address, a.shape, np.dtype(a.dtype))[...] = array


def _code(error: BaseException) -> int:
    return CODES.get(str(error).split(":", 1)[0], INTERNAL)


def _connect(python: _Python) -> Callable[..., int]:
    def ask(
        reply: int,
        question: int,
        handle: int,
        first: int,
        first_size: int,
        second: int,
        second_size: int,
        inputs: Any,
        input_count: int,
        outputs: Any,
        output_count: int,
    ) -> int:
        code = 0
        try:
            text = python.answer(
                question,
                handle,
                ctypes.string_at(first, first_size) if first_size else b"",
                ctypes.string_at(second, second_size) if second_size else b"",
                inputs[:input_count] if input_count else [],
                outputs[:output_count] if output_count else [],
            )
        except BaseException as error:
            code = _code(error)
            said = str(error)
            name = "" if isinstance(error, jax_internals.RuntimeError_) else type(error).__name__
            text = (f"{name}: {said}" if name else said).encode()
        python.library.ascend_reply(reply, text, len(text))
        return code

    return _ASK(ask)


_kept: list[Any] = []


def register() -> None:
    """Register the platform ``ascend`` with jax.

    Without an NPU the platform runs on simulated devices, and is not jax's default: name it in
    ``JAX_PLATFORMS``, or ask for its devices.

    Raises:
        RuntimeError: this jax is none that the plugin knows, or its library cannot be built.
    """
    if _kept:
        return
    check_versions()
    chosen = settings()
    path = library.library_path()
    python = _Python(chosen)
    ask = _connect(python)
    _kept.extend([python, ask])
    python.library.ascend_set_python(ask)
    python.library.ascend_set_stablehlo_version(*jax_internals.stablehlo_version())
    jax_internals.inherit_lowerings()
    jax_internals.accept_donation()
    jax_internals.forward_custom_calls(foreign.register)
    jax_internals.patch_callbacks(python.register, compiler.CALLBACK)
    atexit.register(_leave, python.library)
    priority = 500 if chosen["driver"] == "acl" else -10
    jax_internals.register_platform(str(path), priority, lambda: chosen)


def _leave(loaded: ctypes.CDLL) -> None:
    # Threads that call Python while it ends are ended with the process: none may from here on.
    loaded.ascend_drain()
    loaded.ascend_set_python(None)


def check_versions() -> None:
    """Refuse a jax that the plugin was not written for.

    Raises:
        RuntimeError: jax or jaxlib is older than 0.10.2 or newer than 0.12.
    """
    from importlib.metadata import version as version_of

    for name in ("jax", "jaxlib"):
        version = version_of(name)
        numbers = tuple(int(x) for x in version.split(".")[:2])
        if not (0, 10) <= numbers < (0, 13):
            raise RuntimeError(
                f"mindjax-ascend-xla needs {name} 0.10.2 to 0.12, but {version} is installed: "
                f"pip install '{name}>=0.10.2,<0.13'"
            )


def registered() -> bool:
    """Tell whether `register` has run."""
    return bool(_kept)


def executions() -> dict[str, int]:
    """Count the programs that ran: by the library's steps, and by the delegate."""
    loaded = library.library()
    return {"steps": loaded.ascend_executions(0), "delegate": loaded.ascend_executions(1)}
