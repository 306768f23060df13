"""What programs ask the original's ``mindspore.parallel._utils`` for: the parallel settings."""

from __future__ import annotations

from mindjax.core import world
from mindjax.core.parallel_context import get_auto_parallel_context


def _get_parallel_mode() -> str:
    """Give the setting 'parallel_mode'."""
    return get_auto_parallel_context("parallel_mode")


def _is_sharding_propagation() -> bool:
    """Tell whether shardings are searched for by propagation."""
    return get_auto_parallel_context("search_mode") == "sharding_propagation"


def _get_device_num() -> int:
    """Give the number of devices: that of the world once it is joined."""
    if world.GlobalComm.INITED:
        return world.transport.size
    return get_auto_parallel_context("device_num")


def _get_global_rank() -> int:
    """Give this process's rank in the world."""
    return world.transport.rank


def _get_gradients_mean() -> bool:
    """Give the setting 'gradients_mean'."""
    return get_auto_parallel_context("gradients_mean")


def _get_enable_parallel_optimizer() -> bool:
    """Give the setting 'enable_parallel_optimizer'."""
    return get_auto_parallel_context("enable_parallel_optimizer")


def _get_full_batch() -> bool:
    """Give the setting 'full_batch'."""
    return get_auto_parallel_context("full_batch")


def _get_pipeline_stages() -> int:
    """Give the setting 'pipeline_stages'."""
    return get_auto_parallel_context("pipeline_stages")


def _is_in_auto_parallel_mode() -> bool:
    """Tell whether the mode is semi_auto_parallel or auto_parallel."""
    return _get_parallel_mode() in ("semi_auto_parallel", "auto_parallel")
