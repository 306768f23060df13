"""Memory statistics of a target's device."""

from __future__ import annotations

from typing import Any

from mindjax.core import queue
from mindjax.hal.device import checked
from mindjax.runtime import memory


def memory_stats(device_target: str | None = None) -> dict[str, Any]:
    """Give the memory statistics in bytes; zeros on CPUs, which keep none.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    checked(device_target, "memory_stats")
    return memory.statistics(device_target)


def memory_summary(device_target: str | None = None) -> str:
    """Write the memory statistics as a table.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    checked(device_target, "memory_summary")
    return memory.summary(device_target)


def memory_allocated(device_target: str | None = None) -> int:
    """Give the bytes of live arrays on the device.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    return memory_stats(device_target)["total_allocated_memory"]


def memory_reserved(device_target: str | None = None) -> int:
    """Give the bytes that XLA holds on the device.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    return memory_stats(device_target)["total_reserved_memory"]


def max_memory_allocated(device_target: str | None = None) -> int:
    """Give the peak of `memory_allocated` since the start or the last reset.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    return memory_stats(device_target)["max_allocated_memory"]


def max_memory_reserved(device_target: str | None = None) -> int:
    """Give the peak of `memory_reserved` since the start or the last reset.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    return memory_stats(device_target)["max_reserved_memory"]


def reset_max_memory_allocated(device_target: str | None = None) -> None:
    """Start the peak of `max_memory_allocated` again.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    checked(device_target, "reset_max_memory_allocated")
    memory.ALLOCATED.reset(queue.memory(device_target), queue.chosen(device_target))


def reset_max_memory_reserved(device_target: str | None = None) -> None:
    """Start the peak of `max_memory_reserved` again.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    checked(device_target, "reset_max_memory_reserved")
    memory.RESERVED.reset(queue.memory(device_target), queue.chosen(device_target))


def reset_peak_memory_stats(device_target: str | None = None) -> None:
    """Start both peaks again.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such device.
    """
    reset_max_memory_allocated(device_target)
    reset_max_memory_reserved(device_target)
