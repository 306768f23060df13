"""The context: execution mode and the settings of `set_context`."""

from __future__ import annotations

from typing import Any

from mindjax.core import device, engine
from mindjax.core.errors import located

GRAPH_MODE = 0
PYNATIVE_MODE = 1
# Levels of the setting ``jit_syntax_level``.
STRICT, COMPATIBLE, LAX = 0, 1, 2

# Accepted settings with their defaults. Those marked by the comment change what MindJAX does; the
# rest tune the original's own compiler or device runtime, which XLA replaces: they are kept and
# given back by `get_context`.
_DEFAULTS: dict[str, Any] = {
    "mode": PYNATIVE_MODE,  # execution
    "device_target": "CPU",  # placement
    "device_id": 0,  # placement
    "pynative_synchronize": False,  # execution
    "deterministic": "OFF",
    "save_graphs": False,  # files of compiled programs
    "save_graphs_path": ".",  # files of compiled programs
    "max_call_depth": 1000,
    "max_device_memory": "1024GB",
    "variable_memory_max_size": "",
    "mempool_block_size": "1GB",
    "memory_optimize_level": "O0",
    "memory_offload": "OFF",
    "enable_graph_kernel": False,
    "graph_kernel_flags": "",
    "reserve_class_name_in_scope": True,
    "enable_compile_cache": False,  # compiled programs on disk
    "compile_cache_path": "",  # compiled programs on disk
    "enable_reduce_precision": True,
    "enable_dump": False,
    "save_dump_path": ".",
    "inter_op_parallel_num": 0,
    "runtime_num_threads": 30,
    "op_timeout": 900,
    "precompile_only": False,  # execution
    "jit_syntax_level": 2,
    "jit_config": {},
    "ascend_config": {},
    "gpu_config": {},
    "auto_tune_mode": "NO_TUNE",
    "aoe_tune_mode": "",
    "aoe_config": {},
    "check_bprop": False,
    "grad_for_scalar": False,
    "support_binary": False,
    "env_config_path": "",
    "exec_order": "bfs",
    "device_type": "",
    "print_file_path": "",
    "debug_level": 0,
    "topo_order": "",
    "debug": False,
    "check_nan": False,  # execution; not in the original
}
_settings: dict[str, Any] = {}


def set_context(**kwargs: Any) -> None:
    """Set the running environment (MindSpore: ``set_context``).

    Args:
        **kwargs: settings by name: ``mode`` (0 GRAPH_MODE, 1 PYNATIVE_MODE), ``device_target``,
            ``device_id``, and those that tune the original's compiler, which are kept only.

    Raises:
        ValueError: no such setting, or a value out of range.
        TypeError: a value of the wrong type.
    """
    for name, value in kwargs.items():
        if name not in _DEFAULTS:
            raise located(
                ValueError,
                f"For 'context.set_context', the keyword argument {name} is not recognized! "
                "For detailed usage of 'set_context', please refer to the MindSpore website.",
            )
        if name == "mode":
            _set_mode(value)
        elif name == "device_target":
            device.choose(value)
        elif name == "device_id":
            if isinstance(value, bool) or not isinstance(value, int):
                raise located(
                    TypeError,
                    f"For 'set_context', the argument 'device_id' must be int, but got {value!r}.",
                )
            if value < 0:
                raise located(
                    ValueError,
                    f"The parameter 'device_id' must be in range [0, 2147483647], but got {value}.",
                )
            device.choose(None, value)
        elif name == "save_graphs":
            _check_save_graphs(value)
        elif name in ("enable_compile_cache", "precompile_only") and not isinstance(value, bool):
            raise located(
                TypeError,
                f"For 'set_context', the argument '{name}' must be bool, but got {value!r}.",
            )
        elif name in ("pynative_synchronize", "check_nan"):
            _set_switch(name, value)
        _settings[name] = value
    if "enable_compile_cache" in kwargs or "compile_cache_path" in kwargs:
        _keep_compiled()


def _check_save_graphs(value: Any) -> None:
    if value not in (0, 1, 2, 3) or not isinstance(value, bool | int):
        raise located(
            ValueError,
            "For 'context.set_context', the 'save_graphs' must be a bool or an int of 0, 1, 2 or "
            f"3, but got {value!r}.",
        )


def _keep_compiled() -> None:
    """Follow the settings of compiled programs on disk."""
    from mindjax.core import compile_cache

    if get_context("enable_compile_cache"):
        compile_cache.enable_as_original(get_context("compile_cache_path"))
    else:
        compile_cache.disable()


def _set_mode(mode: Any) -> None:
    if mode not in (GRAPH_MODE, PYNATIVE_MODE) or isinstance(mode, bool):
        raise located(
            ValueError,
            "For 'context.set_context', the argument 'mode' should be context.GRAPH_MODE (0) or "
            f"context.PYNATIVE_MODE (1), but got {mode}.",
        )


def _set_switch(name: str, value: Any) -> None:
    """Ask PYNATIVE's engine to wait for each op, or to look for NaN in its result."""
    if not isinstance(value, bool):
        raise located(
            TypeError, f"For 'set_context', the argument '{name}' must be bool, but got {value!r}."
        )
    engine.set_plain(**{"synchronous" if name == "pynative_synchronize" else name: value})


def get_context(attr_key: str) -> Any:
    """Give the value of a setting (MindSpore: ``get_context``).

    Args:
        attr_key: name of the setting.

    Returns:
        Its value; the default if it was never set.

    Raises:
        ValueError: no such setting.
    """
    if attr_key == "device_target":
        return device.target()
    if attr_key not in _DEFAULTS:
        raise located(
            ValueError,
            f"For 'context.get_context', the argument {attr_key} is not recognized! For detailed "
            "usage of 'get_context', please refer to the MindSpore official website.",
        )
    return _settings.get(attr_key, _DEFAULTS[attr_key])


def reset_context() -> None:
    """Put every setting back to its default."""
    _settings.clear()
    engine.set_plain(synchronous=False, check_nan=False)


def graph_mode() -> bool:
    """Tell whether GRAPH_MODE is set."""
    return _settings.get("mode", PYNATIVE_MODE) == GRAPH_MODE


def set_device(device_target: str, device_id: int | None = None) -> None:
    """Choose the device for this process (MindSpore: ``set_device``).

    Args:
        device_target: ``"CPU"``, ``"GPU"``, ``"TPU"`` or ``"Ascend"``.
        device_id: number of the device, from 0.

    Raises:
        ValueError: the target is unknown.
    """
    set_context(device_target=device_target)
    if device_id is not None:
        set_context(device_id=device_id)


def set_deterministic(deterministic: bool) -> None:
    """Ask for ops that give the same bits at each run (MindSpore: ``set_deterministic``).

    CPUs and TPUs always do. On GPUs it must be asked for before the first value is used.

    Args:
        deterministic: whether to ask for them.

    Raises:
        TypeError: ``deterministic`` is no bool.
        RuntimeError: a GPU runs already with the other setting.
    """
    from mindjax.core.checks import boolean

    boolean("deterministic", deterministic, "set_deterministic")
    device.set_deterministic(deterministic)
    _settings["deterministic"] = "ON" if deterministic else "OFF"
