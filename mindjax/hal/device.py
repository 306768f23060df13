"""What devices there are."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from mindjax.core import checks, device, queue
from mindjax.core.errors import located

TARGETS = ["CPU", "GPU", "Ascend", "TPU"]


def checked(target: Any, owner: str, present: bool = True) -> str:
    """Check a device target.

    Args:
        target: its name; None for the context's.
        owner: function named in the error.
        present: whether such a device must be there.

    Raises:
        TypeError: it is no string.
        ValueError: there is no such target, or no device of it.
    """
    target = device.target() if target is None else target
    if not isinstance(target, str):
        raise located(
            TypeError,
            f"For '{owner}', the argument 'device_target' must be str, but got {target}, type is "
            f"{type(target)}.",
        )
    if target not in TARGETS:
        raise located(
            ValueError,
            f"For 'hal.{owner}', the argument 'device_target' must be one of {TARGETS}, but got "
            f"{target}.",
        )
    if present and not queue.devices(target):
        raise located(
            ValueError,
            f"For '{owner}', {target} backend is not available: jax finds no such device.",
        )
    return target


def is_initialized(device_target: str) -> bool:
    """Tell whether a target's backend runs; starts none.

    Args:
        device_target: ``"CPU"``, ``"GPU"``, ``"TPU"`` or ``"Ascend"``.

    Raises:
        ValueError: there is no such target.
    """
    return queue.started(checked(device_target, "is_initialized", False))


def is_available(device_target: str) -> bool:
    """Tell whether jax finds a device of a target.

    Args:
        device_target: ``"CPU"``, ``"GPU"``, ``"TPU"`` or ``"Ascend"``.

    Raises:
        ValueError: there is no such target.
    """
    return bool(queue.devices(checked(device_target, "is_available", False)))


def device_count(device_target: str | None = None) -> int:
    """Count this process's devices of a target.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such target, or no device of it.
    """
    return len(queue.devices(checked(device_target, "device_count")))


def _device(owner: str, device_id: Any, device_target: Any) -> Any:
    found = queue.devices(checked(device_target, owner))
    checks.of_type("device_id", device_id, int, owner)
    if not 0 <= device_id < len(found):
        raise located(
            ValueError,
            f"For '{owner}', the argument 'device_id' must be from 0 and less than device count: "
            f"{len(found)}, but got {device_id}.",
        )
    return found[device_id]


def get_device_name(device_id: int, device_target: str | None = None) -> str:
    """Name a device: ``"CPU"``, or what jax calls its kind.

    Args:
        device_id: number of the device.
        device_target: None for the context's.

    Raises:
        TypeError: ``device_id`` is no int.
        ValueError: there is no such device.
    """
    found = _device("get_device_name", device_id, device_target)
    return "CPU" if found.platform == "cpu" else str(found.device_kind)


def get_device_capability(
    device_id: int, device_target: str | None = None
) -> tuple[int, int] | None:
    """Give a GPU's compute capability, major and minor; None for other devices.

    Args:
        device_id: number of the device.
        device_target: None for the context's.

    Raises:
        TypeError: ``device_id`` is no int.
        ValueError: there is no such device.
    """
    found = _device("get_device_capability", device_id, device_target)
    text = str(getattr(found, "compute_capability", ""))
    if found.platform == "cpu" or "." not in text:
        return None
    major, _, minor = text.partition(".")
    return int(major), int(minor)


def get_device_properties(device_id: int, device_target: str | None = None) -> Any:
    """Describe a device; None for CPUs.

    Args:
        device_id: number of the device.
        device_target: None for the context's.

    Returns:
        An object with ``name``, ``major``, ``minor``, ``total_memory``, ``free_memory`` in bytes
        and ``multi_processor_count``; None where jax does not say.

    Raises:
        TypeError: ``device_id`` is no int.
        ValueError: there is no such device.
    """
    found = _device("get_device_properties", device_id, device_target)
    if found.platform == "cpu":
        return None
    major, minor = get_device_capability(device_id, device_target) or (None, None)
    stats = found.memory_stats() or {}
    total = stats.get("bytes_limit")
    return SimpleNamespace(
        name=str(found.device_kind),
        major=major,
        minor=minor,
        total_memory=total,
        free_memory=None if total is None else total - stats.get("bytes_in_use", 0),
        multi_processor_count=getattr(found, "core_count", None),
    )


def get_arch_list(device_target: str | None = None) -> list[str] | None:
    """List the architectures of this process's GPUs, such as ``"sm_90"``; None for other targets.

    Args:
        device_target: None for the context's.

    Raises:
        ValueError: there is no such target, or no device of it.
    """
    target = checked(device_target, "get_arch_list")
    if target != "GPU":
        return None
    found = {str(getattr(d, "compute_capability", "")) for d in queue.devices(target)}
    return [f"sm_{text.replace('.', '')}" for text in sorted(found) if text]
