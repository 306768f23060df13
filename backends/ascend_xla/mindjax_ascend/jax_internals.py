"""Every private part of jax and jaxlib that the plugin touches; tests say what each must do."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from jax._src import callback as _callback
from jax._src import core as _core
from jax._src import xla_bridge as _xla_bridge
from jax._src.interpreters import mlir as _mlir
from jax._src.sharding_impls import GSPMDSharding, SingleDeviceSharding
from jaxlib import _jax, xla_client  # pyright: ignore[reportAttributeAccessIssue]
from jaxlib.mlir import ir as ir
from jaxlib.mlir import passmanager as passmanager
from jaxlib.mlir.dialects import stablehlo

PLATFORM = "ascend"
CompileOptions = xla_client.CompileOptions
RuntimeError_ = _jax.JaxRuntimeError


def register_platform(library: str, priority: int, options: Callable[[], dict[str, Any]]) -> None:
    """Register the plugin with jax, under the name ``ascend``."""
    _xla_bridge.register_plugin(PLATFORM, library_path=library, priority=priority, options=options)


def backend_started() -> bool:
    """Tell whether jax has started this platform."""
    return PLATFORM in _xla_bridge._backends


def accept_donation() -> None:
    """Let jax mark arguments as donated for this platform."""
    if PLATFORM not in _mlir._platforms_with_donation:
        _mlir._platforms_with_donation.append(PLATFORM)


def inherit_lowerings() -> None:
    """Give this platform the CPU's rules for primitives that have no common one."""
    import jax._src.debugging
    import jax._src.lax.linalg  # noqa: F401

    own = _mlir._platform_specific_lowerings[PLATFORM]
    for primitive, rule in list(_mlir._platform_specific_lowerings["cpu"].items()):
        own.setdefault(primitive, rule)


def forward_custom_calls(known: Callable[[str, int], None]) -> None:
    """Register custom calls for this platform with the plugin, and with XLA:CPU for the delegate.

    Args:
        known: is told of each handler of the foreign function interface: its name and address.
    """

    def register(name: str, handler: Any, platform: str, api_version: int = 1, traits: int = 0):
        _jax.register_custom_call_target(name, handler, platform="Host", api_version=api_version)
        if api_version == 1 and type(handler).__name__ == "PyCapsule":
            known(name, _address(handler))

    xla_client.register_custom_call_handler(PLATFORM, register)
    xla_client.register_custom_call_handler("cpu", _jax.register_custom_call_target)


def _address(capsule: Any) -> int:
    names, pointers = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
    names.restype, names.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointers.restype, pointers.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointers(capsule, names(capsule))


def stablehlo_version() -> list[int]:
    """Give the version of StableHLO that this jaxlib reads."""
    return [int(x) for x in stablehlo.get_current_version().split(".")]


def context() -> Any:
    """Make an MLIR context that knows the dialects of jax's programs."""
    return _mlir.make_ir_context()


def parse(context: Any, code: bytes) -> Any:
    """Read a program as jax hands it to a plugin."""
    return stablehlo.deserialize_portable_artifact(context, code)


@functools.cache
def register_passes() -> None:
    """Make StableHLO's passes known to pass managers."""
    stablehlo.register_stablehlo_passes()


def dump_passes(options: Any, folder: str, passes: str) -> None:
    """Let XLA write what some of its passes make, and spend little on what comes after them.

    Args:
        options: of a compilation, changed in place.
        folder: where the files go.
        passes: regular expression of their names.
    """
    debug = options.executable_build_options.debug_options
    debug.xla_dump_to, debug.xla_dump_hlo_pass_re = folder, passes
    debug.xla_dump_hlo_as_proto = True
    debug.xla_backend_optimization_level = 0
    debug.xla_llvm_disable_expensive_passes = True


def stablehlo_of(context: Any, module: bytes) -> Any:
    """Read a serialised HloModuleProto as StableHLO."""
    return ir.Module.parse(_jax.mlir.hlo_to_stablehlo(module), context)


def hlo_of(module: Any) -> bytes:
    """Give a StableHLO module as a serialised HloModuleProto."""
    computation = _jax.mlir.mlir_module_to_xla_computation(
        str(module), use_tuple_args=False, return_tuple=False
    )
    return computation.as_serialized_hlo_module_proto()


def program_shape(proto: bytes) -> Any:
    """Give the shapes that go in and out of a serialised HloModuleProto."""
    return xla_client.XlaComputation(proto).program_shape()


def text_of(proto: bytes) -> str:
    """Give a serialised HloModuleProto as XLA writes it."""
    return xla_client.XlaComputation(proto).as_hlo_text()


def new_client(options: dict[str, Any]) -> Any:
    """Start a client of this platform that jax does not know."""
    return _jax.get_c_api_client(PLATFORM, options)


def cpu_client(devices: int) -> Any:
    """Start a client of XLA:CPU that jax does not know."""
    return _jax.get_tfrt_cpu_client(asynchronous=True, num_devices=devices)


def compile_on(client: Any, code: bytes, devices: list[Any], options: Any) -> Any:
    """Compile a program for devices of a client."""
    return client.compile_and_load(code, xla_client.DeviceList(tuple(devices)), options)


@functools.lru_cache(maxsize=4096)
def abstract(shape: tuple[int, ...], dtype: Any) -> Any:
    """Give jax's description of an array."""
    return _core.ShapedArray(shape, dtype)


@functools.lru_cache(maxsize=64)
def _on(devices: tuple[Any, ...]) -> Any:
    if len(devices) == 1:
        return SingleDeviceSharding(devices[0])
    return GSPMDSharding.get_replicated(devices)


def put(parts: list[np.ndarray], devices: list[Any]) -> Any:
    """Make an array of one part a device, all of the shape of a part."""
    about = abstract(parts[0].shape, parts[0].dtype)
    single = [
        _jax.batched_device_put(about, _on((d,)), [part], [d], True)
        for part, d in zip(parts, devices, strict=True)
    ]
    if len(devices) == 1:
        return single[0]
    return _jax.ArrayImpl(about, _on(tuple(devices)), single, True, True)


def run(executable: Any, arguments: list[Any]) -> list[list[Any]]:
    """Run an executable; gives each result's parts."""
    return executable.execute_sharded(arguments).disassemble_into_single_device_arrays()


class PythonFunction:
    """A function that a program calls, with what goes in and out of it."""

    def __init__(self, function: Any, inputs: list[Any], outputs: list[Any]) -> None:
        self.function, self.inputs, self.outputs = function, inputs, outputs


def patch_callbacks(register: Callable[[PythonFunction], int], target: str) -> None:
    """Lower calls of Python functions on this platform to a custom call.

    jax lowers them for a fixed list of platforms. The replacement stands in its place and asks
    it for all others.

    Args:
        register: keeps a function and gives its number.
        target: the custom call's name.
    """
    original = _callback.emit_python_callback
    if getattr(original, "of_ascend", False):
        return

    def emit(ctx: Any, callback: Any, token: Any, operands: Any, *args: Any, **kwargs: Any) -> Any:
        if tuple(ctx.module_context.platforms) != (PLATFORM,):
            return original(ctx, callback, token, operands, *args, **kwargs)
        return _emit(ctx, register, target, callback, token, operands, *args, **kwargs)

    emit.of_ascend = True  # type: ignore[attr-defined]
    _callback.emit_python_callback = emit


def _emit(
    ctx: Any,
    register: Callable[[PythonFunction], int],
    target: str,
    callback: Any,
    token: Any,
    operands: Any,
    operand_avals: Any,
    result_avals: Any,
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any = None,
) -> Any:
    if partitioned:
        raise NotImplementedError("partitioned callbacks on the platform 'ascend'")
    function = PythonFunction(callback, list(operand_avals), list(result_avals))
    number = register(function)
    ctx.module_context.add_keepalive(function)
    types = [_mlir.aval_to_ir_type(ctx.module_context, a) for a in result_avals]
    operands = list(operands)
    if token:
        operands = [token, *operands]
        types = [_mlir.token_type(), *types]
    call = _mlir.custom_call(
        target,
        result_types=types,
        operands=operands,
        backend_config={"id": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), number)},
        has_side_effect=has_side_effect,
        api_version=4,
    )
    if sharding is not None and not token:
        _mlir.set_sharding(ctx.module_context, call, sharding)
    results = list(call.results)
    if token:
        token, *results = results
    return results, token, function
