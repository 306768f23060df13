"""Which device is used (MindSpore: ``mindspore.device_manager``)."""

from __future__ import annotations

from mindjax.core.context import set_deterministic as set_deterministic
from mindjax.core.context import set_device as set_device
from mindjax.core.device import choice, target

__all__ = ["get_current_device", "set_deterministic", "set_device"]


class DeviceInfo(tuple[str, int]):
    """A device's target and number.

    Args:
        device_target: its target.
        device_id: its number.
    """

    def __new__(cls, device_target: str, device_id: int) -> DeviceInfo:
        """Make the pair."""
        return super().__new__(cls, (device_target, device_id))

    @property
    def device_target(self) -> str:
        """The target."""
        return self[0]

    @property
    def device_id(self) -> int:
        """The number."""
        return self[1]


def get_current_device() -> DeviceInfo:
    """Give the target and the number of the device that is used (``get_current_device``)."""
    return DeviceInfo(target(), choice()[1] or 0)
