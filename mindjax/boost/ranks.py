"""This process among those that train together."""

from __future__ import annotations

from mindjax.ops.collective.groups import get_rank, get_world_size, is_initialized


def process_rank() -> int:
    """Give this process's number, 0 if it is alone."""
    return get_rank() if is_initialized() else 0


def process_count() -> int:
    """Give the number of processes, 1 if this one is alone."""
    return get_world_size() if is_initialized() else 1
