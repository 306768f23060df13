"""CPU devices."""

from mindjax.core import queue
from mindjax.device_context import kept


def device_count() -> int:
    """Count this process's CPU devices.

    Raises:
        RuntimeError: there is none.
    """
    return kept.count("CPU")


def is_available() -> bool:
    """Tell whether jax finds a CPU device."""
    return bool(queue.devices("CPU"))
