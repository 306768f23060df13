"""Runs what has no steps on XLA:CPU, through a client of its own in this process."""

from __future__ import annotations

import ctypes
import itertools
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from mindjax_ascend import jax_internals
from mindjax_ascend.protobuf import device_ids

DTYPES = {
    1: np.bool_,
    2: np.int8,
    3: np.int16,
    4: np.int32,
    5: np.int64,
    6: np.uint8,
    7: np.uint16,
    8: np.uint32,
    9: np.uint64,
    10: np.float16,
    11: np.float32,
    12: np.float64,
    13: ml_dtypes.bfloat16,
    14: np.complex64,
    15: np.complex128,
    16: ml_dtypes.float8_e5m2,
    17: ml_dtypes.float8_e4m3fn,
    18: ml_dtypes.float8_e4m3b11fnuz,
    19: ml_dtypes.float8_e5m2fnuz,
    20: ml_dtypes.float8_e4m3fnuz,
    21: ml_dtypes.int4,
    22: ml_dtypes.uint4,
    24: ml_dtypes.int2,
    25: ml_dtypes.uint2,
    26: ml_dtypes.float8_e4m3,
    27: ml_dtypes.float8_e3m4,
    28: ml_dtypes.float8_e8m0fnu,
    29: ml_dtypes.float4_e2m1fn,
}
NUMBERS = {np.dtype(d): n for n, d in DTYPES.items()}
Shape = tuple[tuple[int, ...], np.dtype]


def view(address: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """View memory as an array."""
    count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if not count:
        return np.zeros(shape, dtype)
    memory: Any = (ctypes.c_char * count).from_address(address)
    return np.frombuffer(memory, dtype=np.uint8).view(dtype).reshape(shape)


@dataclass
class Loaded:
    """A program that XLA:CPU has compiled, with the shapes of one device."""

    executable: Any
    devices: list[Any]
    parameters: list[Shape]
    results: list[Shape]


def _shapes(shapes: Any) -> list[Shape]:
    return [(tuple(s.dimensions()), np.dtype(s.numpy_dtype())) for s in shapes]


class Delegate:
    """The client and its programs.

    Args:
        devices: how many devices it has.
    """

    def __init__(self, devices: int) -> None:
        self._count = devices
        self._client: Any = None
        self._programs: dict[int, Loaded] = {}
        self._fresh: dict[tuple[bytes, bytes], Loaded] = {}
        self._numbers = itertools.count()

    def place(self, parsed: Any) -> tuple[Any, list[Any]]:
        """Give the client, started if need be, and its devices that stand for a program's.

        Args:
            parsed: compile options.
        """
        if self._client is None:
            self._client = jax_internals.cpu_client(self._count)
        everyone = self._client.devices()
        return self._client, [everyone[i] for i in device_ids(parsed)]

    def compile(self, code: bytes, options: bytes) -> Loaded:
        """Compile a program.

        Args:
            code: a portable artifact of StableHLO.
            options: serialised compile options.
        """
        parsed = jax_internals.CompileOptions.ParseFromString(options)
        client, devices = self.place(parsed)
        executable = jax_internals.compile_on(client, code, devices, parsed)
        proto = executable.hlo_modules()[0].as_serialized_hlo_module_proto()
        shape = jax_internals.program_shape(proto)
        result = shape.result_shape()
        results = result.tuple_shapes() if result.is_tuple() else [result]
        loaded = Loaded(executable, devices, _shapes(shape.parameter_shapes()), _shapes(results))
        self._fresh[code, options] = loaded
        return loaded

    def load(self, code: bytes, options: bytes) -> int:
        """Give the number of a program, which `compile` has left or which is compiled now."""
        loaded = self._fresh.pop((code, options), None)
        if loaded is None:
            loaded = self.compile(code, options)
            del self._fresh[code, options]
        number = next(self._numbers)
        self._programs[number] = loaded
        return number

    def values(self, text: str, arrays: list[np.ndarray]) -> list[np.ndarray]:
        """Give what a function of one device computes.

        Args:
            text: a module of StableHLO.
            arrays: its arguments.
        """
        options = jax_internals.CompileOptions()
        client, devices = self.place(options)
        executable = jax_internals.compile_on(client, text.encode(), devices[:1], options)
        results = jax_internals.run(executable, [jax_internals.put([a], devices) for a in arrays])
        return [np.asarray(part) for (part,) in results]

    def free(self, number: int) -> None:
        """Forget a program."""
        self._programs.pop(number, None)

    def hlo(self, number: int) -> bytes:
        """Give a program as a serialised HloModuleProto, partitioned where it was."""
        executable = self._programs[number].executable
        return executable.hlo_modules()[0].as_serialized_hlo_module_proto()

    def run(self, number: int, inputs: list[int], outputs: list[int]) -> None:
        """Run a program.

        Args:
            number: of the program.
            inputs: addresses of the arguments, device by device.
            outputs: addresses of the results, device by device.
        """
        program = self._programs[number]
        devices, each = program.devices, len(program.parameters)
        arguments = []
        for i, (shape, dtype) in enumerate(program.parameters):
            parts = [view(inputs[d * each + i], shape, dtype) for d in range(len(devices))]
            arguments.append(jax_internals.put(parts, devices))
        results = jax_internals.run(program.executable, arguments)
        each = len(program.results)
        for i, (shape, dtype) in enumerate(program.results):
            for d, part in enumerate(results[i]):
                view(outputs[d * each + i], shape, dtype)[...] = np.asarray(part)
