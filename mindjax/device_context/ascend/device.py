"""Ascend devices."""

from mindjax.core import queue
from mindjax.device_context import kept


def device_count() -> int:
    """Count this process's Ascend devices.

    Raises:
        RuntimeError: there is none.
    """
    return kept.count("Ascend")


def is_available() -> bool:
    """Tell whether jax finds a Ascend device."""
    return bool(queue.devices("Ascend"))
