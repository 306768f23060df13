"""GPU devices."""

from mindjax.core import queue
from mindjax.device_context import kept


def device_count() -> int:
    """Count this process's GPU devices.

    Raises:
        RuntimeError: there is none.
    """
    return kept.count("GPU")


def is_available() -> bool:
    """Tell whether jax finds a GPU device."""
    return bool(queue.devices("GPU"))
