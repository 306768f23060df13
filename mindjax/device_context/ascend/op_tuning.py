"""How the original compiles ops for Ascend devices: device tuning, XLA compiles whole programs."""

from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.device_context import kept


def op_compile(value: bool) -> None:
    """Keep whether ops are compiled for their shapes.

    Args:
        value: whether.

    Raises:
        TypeError: it is no bool.
        RuntimeError: it is another already.
    """
    kept.one_of("op_compile", value, [True, False], TypeError)
    kept.keep("Ascend", "op_compile", value)


def aoe_tune_mode(tune_mode: str) -> None:
    """Keep how kernels are tuned.

    Args:
        tune_mode: ``"online"`` or ``"offline"``.

    Raises:
        ValueError: it is none of these.
        RuntimeError: it is another already.
    """
    kept.one_of("aoe_tune_mode", tune_mode, ["online", "offline"])
    kept.keep("Ascend", "aoe_tune_mode", tune_mode)


def aoe_job_type(config: str) -> None:
    """Keep what is tuned.

    Args:
        config: ``"1"`` for graphs, ``"2"`` for ops.

    Raises:
        ValueError: it is none of these.
        RuntimeError: it is another already.
    """
    kept.one_of("aoe_job_type", config, ["1", "2"])
    kept.keep("Ascend", "aoe_job_type", config)


def aclnn_cache(enable_global_cache: Any = False, cache_queue_length: int = 10000) -> None:
    """Keep how compiled kernels are cached; MindJAX's caches are shown by ``mindjax info``.

    Args:
        enable_global_cache: whether one cache serves all threads.
        cache_queue_length: its length, from 0 up.

    Raises:
        ValueError: an argument is out of range.
        RuntimeError: it has other values already.
    """
    kept.one_of("aclnn_cache", enable_global_cache, [True, False])
    checks.of_type("cache_queue_length", cache_queue_length, int, "aclnn_cache")
    if cache_queue_length < 0:
        raise located(
            ValueError,
            "For 'aclnn_cache', the 'cache_queue_length' must be from 0 up, but got "
            f"{cache_queue_length}.",
        )
    kept.keep("Ascend", "aclnn_cache", (enable_global_cache, cache_queue_length))
