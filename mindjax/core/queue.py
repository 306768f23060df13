"""Work that is dispatched to devices, and what the devices say about themselves.

XLA runs the programs of one device in the order in which they were dispatched.
"""

from __future__ import annotations

from typing import Any

import jax

from mindjax.core import device, engine, jax_private, world
from mindjax.core.errors import located


def pending() -> list[Any]:
    """List the live arrays that are not computed yet."""
    if not jax_private.started_backends():
        return []
    engine.flush()
    return [a for a in jax.live_arrays() if not a.is_ready()]


def wait(arrays: list[Any] | None = None) -> None:
    """Wait for arrays or, without an argument, for all that was dispatched.

    Args:
        arrays: those that `pending` gave.
    """
    if arrays is None:
        arrays = pending()
        jax.effects_barrier()
    for array in arrays:
        if not array.is_deleted():
            array.block_until_ready()


def done(arrays: list[Any]) -> bool:
    """Tell whether arrays are computed."""
    return all(array.is_deleted() or array.is_ready() for array in arrays)


def devices(target: str) -> list[Any]:
    """List the devices of a target, none where jax finds none.

    Args:
        target: ``"CPU"``, ``"GPU"``, ``"TPU"`` or ``"Ascend"``.
    """
    world.join()
    try:
        return list(jax.local_devices(backend=device._PLATFORMS[target]))
    except RuntimeError:
        return []


def started(target: str) -> bool:
    """Tell whether a target's backend runs; starts none."""
    return any(
        backend.platform == device._PLATFORMS[target]
        for backend in jax_private.started_backends().values()
    )


def chosen(target: str | None = None) -> Any:
    """Give the device of a target that is used here.

    Args:
        target: None for the one that the context names.

    Raises:
        RuntimeError: there is no such device.
    """
    placed = device.placement()
    if target is None and placed is not None:
        return placed
    found = devices(target or device.target())
    if not found and target is None:
        # A script's target may be missing here: its values are where jax's are.
        return jax.local_devices()[0]
    if not found:
        raise located(RuntimeError, f"Device {target or device.target()} not exist.")
    return placed if placed in found else found[0]


def memory(target: str | None = None) -> dict[str, int]:
    """Give the allocator's statistics in bytes; empty where a device keeps none, as a CPU.

    Args:
        target: None for the one that the context names.
    """
    return dict(chosen(target).memory_stats() or {})
