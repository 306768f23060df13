"""Every private jax API that MindJAX touches; a test says what each must do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax._src import api_util as _api_util
from jax._src import config as _config
from jax._src import core as _core
from jax._src import xla_bridge as _xla_bridge
from jax._src.array import ArrayImpl as ArrayImpl
from jax._src.interpreters import pxla as _pxla
from jaxlib.mlir import ir as ir
from jaxlib.mlir import passmanager as passmanager
from jaxlib.version import __version_info__ as _jaxlib_version

jaxlib_version: tuple[int, ...] = _jaxlib_version
# What an executable compiled ahead raises where `jax.debug_nans` finds a NaN.
NanFound: type[Exception] = _api_util.InternalFloatingPointError

# Thread-local switch of 64-bit types. `swap_x64(new)` returns what was set before in this thread,
# `set_x64(old)` puts it back: 0.5 us against 2.2 us of the public context manager.
swap_x64: Callable[[Any], Any] = _config.enable_x64.swap_local
set_x64: Callable[[Any], None] = _config.enable_x64.set_local


def x64_enabled() -> bool:
    """Tell whether 64-bit types are on in this thread."""
    return bool(_config.enable_x64.value)


# No jax trace runs in this thread where `trace_state.value` is `no_trace`.
trace_state: Any = _core.trace_state_strong_ref
no_trace: Any = _core.eval_trace


def untraced() -> bool:
    """Tell whether no jax trace runs in this thread, in a third of the time of `tracing`."""
    return trace_state.value is no_trace


def jit_disabled() -> bool:
    """Tell whether the user's `jax.disable_jit` holds in this thread."""
    return bool(_config.disable_jit.value)


# The user's `jax.debug_nans` and `jax.debug_infs` hold in this thread where their `value` is true.
debug_nans: Any = _config.debug_nans
debug_infs: Any = _config.debug_infs


def memory_order(array: Any) -> Any:
    """Give how a jax array's axes lie in memory: equal objects, and equal texts, for equal orders.

    None where the backend does not tell, and for arrays that are gone or lie in other processes.
    """
    if array.is_deleted() or not array.is_fully_addressable:
        # What asks for a shard that is not here ends the process.
        return None
    try:
        return array._pjrt_layout
    except Exception:
        return None


def nans_debugged() -> bool:
    """Tell whether the user's `jax.debug_nans` or `jax.debug_infs` holds in this thread."""
    return bool(debug_nans.value or debug_infs.value)


def tracing() -> bool:
    """Tell whether any jax trace runs in this thread."""
    return not _core.trace_state_clean()


def named_effects(jaxpr: Any) -> set[Any]:
    """Give those of a jaxpr's effects that only say that it names an axis of a mesh."""
    return {e for e in jaxpr.effects if isinstance(e, _core.NamedAxisEffect)}


def started_backends() -> dict[str, Any]:
    """Give jax's table of started backends without starting one."""
    return dict(_xla_bridge._backends)


def hoist_literals(jaxpr: Any, positions: set[int]) -> tuple[Any, list[Any]]:
    """Turn some of a jaxpr's literals into inputs.

    Args:
        jaxpr: its top-level equations are changed, not those within.
        positions: which literals, numbered in program order.

    Returns:
        The new jaxpr, with further inputs at the end, and the literals' values.
    """
    values, variables, equations, number = [], [], [], 0
    for equation in jaxpr.eqns:
        inputs = list(equation.invars)
        for i, atom in enumerate(inputs):
            if isinstance(atom, _core.Literal):
                if number in positions:
                    inputs[i] = _core.Var(atom.aval)
                    variables.append(inputs[i])
                    values.append(atom.val)
                number += 1
        equations.append(equation.replace(invars=inputs))
    debug = jaxpr.debug_info._replace(arg_names=None)
    hoisted = jaxpr.replace(invars=[*jaxpr.invars, *variables], eqns=equations, debug_info=debug)
    return hoisted, values


def literals(jaxpr: Any) -> list[Any]:
    """List the values of a jaxpr's top-level literals in program order."""
    return [a.val for e in jaxpr.eqns for a in e.invars if isinstance(a, _core.Literal)]


def unchecked_call(compiled: Any) -> Callable[[list[Any]], list[Any]] | None:
    """Give a call of an executable that looks at none of the arrays: in half of the time.

    Args:
        compiled: what ``lower(...).compile()`` gave, on one CPU or GPU.

    Returns:
        A function of the list of its inputs, jax arrays of the very shapes, dtypes and places that
        it was compiled for, that gives the list of its outputs; None for a program with effects or
        callbacks, or if jax has no such call.
    """
    try:
        call = compiled._executable.unsafe_call
        devices = call.xla_executable.local_devices()
        if (
            type(call) is not _pxla.ExecuteReplicated
            or call.has_unordered_effects
            or call.ordered_effects
            or call.has_host_callbacks
            or call.mut is not None
            or call.pgle_profiler is not None
            or compiled._params.const_args
            or compiled._params.is_high
            or len(call.kept_var_idx) != len(compiled._executable._all_args_info.in_avals)
            or any(layout is not None for layout in compiled._executable._dispatch_in_layouts)
            or len(devices) != 1
            or devices[0].platform not in ("cpu", "gpu")
        ):
            return None
        execute, handlers = call.xla_executable.execute_sharded, call.out_handler.handlers
    except AttributeError:
        return None
    # The call keeps alive what the executable needs.
    return lambda arrays, call=call: execute(arrays).consume_with_handlers(handlers)
