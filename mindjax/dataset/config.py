"""Settings of every pipeline: seed, workers, look-ahead (MindSpore: ``dataset.config``)."""

from __future__ import annotations

import json
import os
import random
from enum import IntEnum
from typing import Any

from mindjax.core.errors import located
from mindjax.dataset.debug import DebugHook, PrintMetaDataHook
from mindjax.dataset.engine.checks import INT32_MAX, UINT32_MAX

__all__ = [
    "ErrorSamplesMode",
    "get_auto_num_workers",
    "get_auto_offload",
    "get_autotune_interval",
    "get_callback_timeout",
    "get_debug_mode",
    "get_dynamic_shape",
    "get_enable_autotune",
    "get_enable_shared_mem",
    "get_enable_watchdog",
    "get_error_samples_mode",
    "get_fast_recovery",
    "get_iterator_mode",
    "get_monitor_sampling_interval",
    "get_multiprocessing_start_method",
    "get_multiprocessing_timeout_interval",
    "get_num_parallel_workers",
    "get_numa_enable",
    "get_prefetch_size",
    "get_seed",
    "get_video_backend",
    "load",
    "set_auto_num_workers",
    "set_auto_offload",
    "set_autotune_interval",
    "set_callback_timeout",
    "set_debug_mode",
    "set_dynamic_shape",
    "set_enable_autotune",
    "set_enable_shared_mem",
    "set_enable_watchdog",
    "set_error_samples_mode",
    "set_fast_recovery",
    "set_iterator_mode",
    "set_monitor_sampling_interval",
    "set_multiprocessing_start_method",
    "set_multiprocessing_timeout_interval",
    "set_num_parallel_workers",
    "set_numa_enable",
    "set_prefetch_size",
    "set_seed",
    "set_sending_batches",
    "set_video_backend",
]

# MindSpore: 5489 is the seed of mt19937 and means "not set": every run has its own order.
_UNSET_SEED = 5489


class ErrorSamplesMode(IntEnum):
    """What a pipeline does with a sample whose transform fails."""

    RETURN = 0
    REPLACE = 1
    SKIP = 2


def cpu_count() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


_settings: dict[str, Any] = {
    "seed": _UNSET_SEED,
    "num_parallel_workers": None,
    "prefetch_size": 16,
    "enable_shared_mem": True,
    "enable_watchdog": True,
    "multiprocessing_timeout_interval": 300,
    "multiprocessing_start_method": "fork",
    "monitor_sampling_interval": 1000,
    "callback_timeout": 60,
    "auto_num_workers": False,
    "numa_enable": False,
    "auto_offload": False,
    "enable_autotune": False,
    "autotune_interval": 0,
    "fast_recovery": True,
    "debug_mode": False,
    "debug_hooks": [],
    "sending_batches": 0,
    "dynamic_shape": False,
    "error_samples_mode": ErrorSamplesMode.RETURN,
    "iterator_mode": {"do_copy": False, "parallel_convert": False},
    "video_backend": "CPU",
}


def _positive(setter: str, name: str, value: Any, label: str, high: int = INT32_MAX) -> None:
    if not isinstance(value, int) or isinstance(value, bool):
        raise located(TypeError, f"For '{setter}': {name} isn't of type int, but got {value!r}.")
    if value <= 0 or value > high:
        raise located(
            ValueError,
            f"For '{setter}': {label} is not within the required range "
            f"(0, INT32_MAX({high})], but got {value}.",
        )


def _flag(setter: str, name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise located(TypeError, f"For '{setter}': {name} must be of type bool, but got {value!r}.")


def set_seed(seed: int) -> None:
    """Fix the order and the random transforms of every pipeline started from now on.

    Args:
        seed: integer in [0, 4294967295].

    Raises:
        TypeError: ``seed`` is no integer.
        ValueError: ``seed`` is out of range.
    """
    if not isinstance(seed, int) or isinstance(seed, bool):
        raise located(TypeError, f"For 'set_seed': seed isn't of type int, but got {seed!r}.")
    if not 0 <= seed <= UINT32_MAX:
        raise located(
            ValueError,
            "For 'set_seed': seed given is not within the required range "
            f"[0, UINT32_MAX({UINT32_MAX})], but got {seed}.",
        )
    _settings["seed"] = seed


def get_seed() -> int:
    """Give the seed; 5489 means that none was set."""
    return _settings["seed"]


def seed_from_global(seed: int) -> None:
    """Take over the seed of ``mindspore.set_seed`` (``mindjax.core.random`` calls this).

    Args:
        seed: any non-negative integer; its low 32 bits count.
    """
    _settings["seed"] = seed & UINT32_MAX


def fresh_seed() -> int:
    """Give the seed of a pipeline that starts now: the one set, else one of the system's."""
    seed = get_seed()
    return random.SystemRandom().getrandbits(32) if seed == _UNSET_SEED else seed


def set_num_parallel_workers(num: int) -> None:
    """Set how many workers an operation uses that names no number.

    Args:
        num: positive integer; more than the machine's processors is reduced with a warning.

    Raises:
        TypeError: ``num`` is no integer.
        ValueError: ``num`` is not positive.
    """
    _positive("set_num_parallel_workers", "num", num, "Number of parallel workers given")
    _settings["num_parallel_workers"] = num


def get_num_parallel_workers() -> int:
    """Give the number of workers of an operation that names none."""
    given = _settings["num_parallel_workers"]
    return min(8, cpu_count()) if given is None else given


def workers_set() -> int | None:
    """Give the number that the user set, or None."""
    return _settings["num_parallel_workers"]


def set_prefetch_size(size: int) -> None:
    """Set how many rows the workers of an operation may be ahead of its consumer, together.

    Args:
        size: positive integer.

    Raises:
        TypeError: ``size`` is no integer.
        ValueError: ``size`` is not positive.
    """
    _positive("set_prefetch_size", "size", size, "size")
    _settings["prefetch_size"] = size


def get_prefetch_size() -> int:
    """Give the look-ahead of workers, in rows."""
    return _settings["prefetch_size"]


def set_multiprocessing_timeout_interval(interval: int) -> None:
    """Set after how many seconds without an answer a worker process is reported.

    Args:
        interval: positive integer, in seconds.

    Raises:
        TypeError: ``interval`` is no integer.
        ValueError: ``interval`` is not positive.
    """
    _positive("set_multiprocessing_timeout_interval", "interval", interval, "Interval given")
    _settings["multiprocessing_timeout_interval"] = interval


def get_multiprocessing_timeout_interval() -> int:
    """Give the seconds after which a silent worker process is reported."""
    return _settings["multiprocessing_timeout_interval"]


def set_enable_watchdog(enable: bool) -> None:
    """Switch the report of silent worker processes on or off.

    Args:
        enable: whether to.
    """
    _flag("set_enable_watchdog", "enable", enable)
    _settings["enable_watchdog"] = enable


def get_enable_watchdog() -> bool:
    """Tell whether silent worker processes are reported."""
    return _settings["enable_watchdog"]


def set_multiprocessing_start_method(start_method: str = "fork") -> None:
    """Choose how worker processes start.

    Args:
        start_method: ``"fork"``; scripts need no ``__main__`` guard with it.

    Raises:
        ValueError: neither "fork" nor "spawn".
        NotImplementedError: "spawn": lambdas and closures do not survive it.
    """
    if start_method not in ("fork", "spawn"):
        raise located(
            ValueError,
            "For 'set_multiprocessing_start_method': Input start_method is not within the valid "
            f"set of ['fork', 'spawn'], but got {start_method!r}.",
        )
    if start_method == "spawn":
        raise located(
            NotImplementedError,
            "For 'set_multiprocessing_start_method', start_method='spawn' is not supported: use "
            "'fork', or python_multiprocessing=False for worker threads.",
        )
    _settings["multiprocessing_start_method"] = start_method


def get_multiprocessing_start_method() -> str:
    """Give the way in which worker processes start."""
    return _settings["multiprocessing_start_method"]


def set_error_samples_mode(error_samples_mode: ErrorSamplesMode) -> None:
    """Choose what happens to a sample whose transform in ``map`` fails.

    Args:
        error_samples_mode: RETURN raises, SKIP leaves the sample out, REPLACE gives the last good
            one in its place.

    Raises:
        TypeError: not an ``ErrorSamplesMode``.
    """
    if not isinstance(error_samples_mode, ErrorSamplesMode):
        raise located(
            TypeError,
            "For 'set_error_samples_mode': Argument error_samples_mode with value "
            f"{error_samples_mode!r} is not of type ErrorSamplesMode.",
        )
    _settings["error_samples_mode"] = error_samples_mode


def get_error_samples_mode() -> ErrorSamplesMode:
    """Give what happens to a sample whose transform fails."""
    return _settings["error_samples_mode"]


def set_iterator_mode(do_copy: bool = False, parallel_convert: bool = False) -> None:
    """Record how iterators hand out Tensors; every Tensor owns its values here, so both do nothing.

    Args:
        do_copy: whether a Tensor owns its values.
        parallel_convert: whether conversion runs beside the consumer.
    """
    _flag("set_iterator_mode", "do_copy", do_copy)
    _flag("set_iterator_mode", "parallel_convert", parallel_convert)
    _settings["iterator_mode"] = {"do_copy": do_copy, "parallel_convert": parallel_convert}


def get_iterator_mode() -> dict[str, bool]:
    """Give what ``set_iterator_mode`` recorded."""
    return dict(_settings["iterator_mode"])


def set_enable_shared_mem(enable: bool) -> None:
    """Record whether worker processes may use shared memory; they use pipes, whatever it says.

    Args:
        enable: whether to.
    """
    _flag("set_enable_shared_mem", "enable", enable)
    _settings["enable_shared_mem"] = enable


def get_enable_shared_mem() -> bool:
    """Give what ``set_enable_shared_mem`` recorded."""
    return _settings["enable_shared_mem"]


def set_monitor_sampling_interval(interval: int) -> None:
    """Record the interval of the original's profiler, in ms; nothing here reads it.

    Args:
        interval: positive integer.
    """
    _positive("set_monitor_sampling_interval", "interval", interval, "Interval given")
    _settings["monitor_sampling_interval"] = interval


def get_monitor_sampling_interval() -> int:
    """Give what ``set_monitor_sampling_interval`` recorded, in ms."""
    return _settings["monitor_sampling_interval"]


def set_callback_timeout(timeout: int) -> None:
    """Set how long callbacks and ``sync_wait`` wait for the training.

    Args:
        timeout: positive integer, in seconds.
    """
    _positive("set_callback_timeout", "timeout", timeout, "Timeout given")
    _settings["callback_timeout"] = timeout


def get_callback_timeout() -> int:
    """Give how long callbacks and ``sync_wait`` wait for the training, in seconds."""
    return _settings["callback_timeout"]


def set_auto_num_workers(enable: bool) -> None:
    """Record whether the original tunes worker counts; the processors decide here.

    Args:
        enable: whether to.
    """
    _flag("set_auto_num_workers", "enable", enable)
    _settings["auto_num_workers"] = enable


def get_auto_num_workers() -> bool:
    """Give what ``set_auto_num_workers`` recorded."""
    return _settings["auto_num_workers"]


def set_numa_enable(numa_enable: bool) -> None:
    """Record whether the original binds workers to NUMA nodes; the system schedules them here.

    Args:
        numa_enable: whether to.
    """
    _flag("set_numa_enable", "numa_enable", numa_enable)
    _settings["numa_enable"] = numa_enable


def get_numa_enable() -> bool:
    """Give what ``set_numa_enable`` recorded."""
    return _settings["numa_enable"]


def set_auto_offload(offload: bool) -> None:
    """Record whether the original moves transforms to the device; they stay on the host here.

    Args:
        offload: whether to.
    """
    _flag("set_auto_offload", "offload", offload)
    _settings["auto_offload"] = offload


def get_auto_offload() -> bool:
    """Give what ``set_auto_offload`` recorded."""
    return _settings["auto_offload"]


def set_enable_autotune(enable: bool, filepath_prefix: str | None = None) -> None:
    """Record whether the original's autotuner runs; there is none here, and no file is written.

    Args:
        enable: whether it runs.
        filepath_prefix: where the original saves its findings.

    Raises:
        NotImplementedError: ``filepath_prefix`` is given: there are no findings to save.
    """
    _flag("set_enable_autotune", "enable", enable)
    if filepath_prefix is not None:
        raise located(
            NotImplementedError,
            "For 'set_enable_autotune', filepath_prefix is not supported: leave it out.",
        )
    _settings["enable_autotune"] = enable


def get_enable_autotune() -> bool:
    """Give what ``set_enable_autotune`` recorded."""
    return _settings["enable_autotune"]


def set_autotune_interval(interval: int) -> None:
    """Record the interval of the original's autotuner, in steps; nothing here reads it.

    Args:
        interval: positive integer.
    """
    if not isinstance(interval, int) or isinstance(interval, bool):
        raise located(TypeError, "For 'set_autotune_interval': interval must be of type int.")
    if not 0 <= interval <= INT32_MAX:
        raise located(
            ValueError,
            f"For 'set_autotune_interval': Interval given is not within the required range "
            f"[0, INT32_MAX({INT32_MAX})], but got {interval}.",
        )
    _settings["autotune_interval"] = interval


def get_autotune_interval() -> int:
    """Give what ``set_autotune_interval`` recorded."""
    return _settings["autotune_interval"]


def set_fast_recovery(fast_recovery: bool) -> None:
    """Record whether a resumed pipeline may skip without replaying random transforms.

    Args:
        fast_recovery: whether to.
    """
    _flag("set_fast_recovery", "fast_recovery", fast_recovery)
    _settings["fast_recovery"] = fast_recovery


def get_fast_recovery() -> bool:
    """Give what ``set_fast_recovery`` recorded."""
    return _settings["fast_recovery"]


def set_debug_mode(debug_mode_flag: bool, debug_hook_list: list[Any] | None = None) -> None:
    """Run every operation in the calling thread, so that a debugger stops in user code.

    Without a seed it is 1 from then on.

    Args:
        debug_mode_flag: whether to.
        debug_hook_list: objects that look at the columns before and after each operation of
            ``map``; None for one that prints their types and shapes, [] for those set before.

    Raises:
        TypeError: ``debug_mode_flag`` is no ``bool``, or there is no list of ``DebugHook``.
    """
    _flag("set_debug_mode", "debug_mode_flag", debug_mode_flag)
    hooks = [PrintMetaDataHook()] if debug_hook_list is None else debug_hook_list
    if not isinstance(hooks, list):
        raise located(TypeError, "debug_hook_list is not a list.")
    for hook in hooks:
        if not isinstance(hook, DebugHook):
            raise located(TypeError, "All items in debug_hook_list must be of type DebugHook.")
    if debug_mode_flag and get_seed() == _UNSET_SEED:
        _settings["seed"] = 1
    _settings["debug_hooks"] = hooks or _settings["debug_hooks"]
    _settings["debug_mode"] = debug_mode_flag


def debug_hooks() -> list[DebugHook]:
    """Give the hooks that act now: none but in debug mode."""
    return _settings["debug_hooks"] if _settings["debug_mode"] else []


def get_debug_mode() -> bool:
    """Tell whether every operation runs in the calling thread."""
    return _settings["debug_mode"]


def set_dynamic_shape(is_dynamic: bool) -> None:
    """Record whether shapes change from batch to batch; every pipeline allows it here.

    Args:
        is_dynamic: whether they change.
    """
    _flag("set_dynamic_shape", "is_dynamic", is_dynamic)
    _settings["dynamic_shape"] = is_dynamic


def get_dynamic_shape() -> bool:
    """Give what ``set_dynamic_shape`` recorded."""
    return _settings["dynamic_shape"]


def set_video_backend(backend: str) -> None:
    """Record the decoder of videos.

    Args:
        backend: ``"CPU"`` or ``"Ascend"``.

    Raises:
        ValueError: neither of them.
    """
    if backend not in ("CPU", "Ascend"):
        raise located(
            ValueError,
            "For 'set_video_backend': Input backend is not within the valid set of "
            f"['CPU', 'Ascend'], but got {backend!r}.",
        )
    _settings["video_backend"] = backend


def get_video_backend() -> str:
    """Give what ``set_video_backend`` recorded."""
    return _settings["video_backend"]


def set_sending_batches(batch_num: int) -> None:
    """Record how many batches the original may send to a device ahead; none are sent ahead here.

    Args:
        batch_num: number of batches; 0 for any.

    Raises:
        TypeError: it is no int.
    """
    if not isinstance(batch_num, int) or isinstance(batch_num, bool):
        raise located(TypeError, "batch_num must be an int dtype.")
    _settings["sending_batches"] = batch_num


# Keys of a file of settings -> ours; others are about the original's own machinery.
_KEYS = {
    "numParallelWorkers": set_num_parallel_workers,
    "seed": set_seed,
    "monitorSamplingInterval": set_monitor_sampling_interval,
    "opConnectorSize": set_prefetch_size,
}


def load(file: str) -> None:
    """Take over the settings of a JSON file: workers, seed, look-ahead, monitor's interval.

    Args:
        file: its path.

    Raises:
        TypeError: ``file`` is no text.
        RuntimeError: there is no such file, or it holds no such settings.
    """
    if not isinstance(file, str):
        raise located(TypeError, f"load(): incompatible function arguments: {file!r} is no path.")
    if not os.path.isfile(file):
        raise located(
            RuntimeError,
            f"Invalid file: settings file:{file} is not exist, check input path of config 'load' "
            "API.",
        )
    with open(file, encoding="utf-8") as source:
        try:
            content = json.load(source)
            for key, setter in _KEYS.items():
                if key in content:
                    setter(content[key])
        except (TypeError, ValueError) as error:
            text = str(error).partition(" [")[0]
            raise located(RuntimeError, f"Client file failed to load: {file}: {text}") from None
