"""Settings that tune the kernels of one kind of device; kept only, as XLA tunes its own."""

from __future__ import annotations

from typing import Any

from mindjax import log
from mindjax.core import device, queue
from mindjax.core.errors import located

_kept: dict[str, Any] = {}


def supported(target: str) -> bool:
    """Tell whether the context names a target; log an error if not, as the original does."""
    if device.target() == target:
        return True
    log.error("%s device is not supported. Please use correct device", device.target())
    return False


def keep(target: str, name: str, value: Any) -> None:
    """Keep a setting of a target's devices.

    Raises:
        RuntimeError: it has another value already.
    """
    if not supported(target):
        return
    if _kept.setdefault(name, value) != value:
        raise located(RuntimeError, f"The '{name}' can not be set repeatedly.")


def one_of(name: str, value: Any, choices: list[Any], error: type[Exception] = ValueError) -> None:
    """Check that a setting has one of some values.

    Raises:
        ValueError: it has not, or the error that is given.
    """
    if not any(type(value) is type(c) and value == c for c in choices):
        raise located(error, f"For '{name}', the value must be one of {choices}, but got {value}.")


def count(target: str) -> int:
    """Count this process's devices of a target.

    Raises:
        RuntimeError: there is none.
    """
    found = len(queue.devices(target))
    if not found:
        raise located(RuntimeError, f"Device {target} not exist.")
    return found
