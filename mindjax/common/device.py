"""The device of a block of a program (MindSpore: ``mindspore.common.device``)."""

from __future__ import annotations

from typing import Any

from mindjax.core import device
from mindjax.core.errors import located

_TARGETS = ["CPU", "GPU", "TPU", "Ascend", "meta"]


class DeviceCtx:
    """In a ``with`` block, new values go to another device (MindSpore: ``mindspore.DeviceCtx``).

    Args:
        name: ``"CPU"``, ``"GPU"``, ``"TPU"`` or ``"Ascend"``.
        device_id: number of the device, from 0; None for the first.

    Raises:
        ValueError: on entry, ``name`` or ``device_id`` is none of these.
        NotImplementedError: on entry, ``name`` is ``"meta"``: `nn.utils.no_init_parameters` makes
            Cells whose Parameters have no values yet.
        RuntimeError: on entry or where the first value is made, there is no such device.
    """

    def __init__(self, name: str, device_id: int | None = None) -> None:
        self.name, self.device_id = name, device_id
        self._before: list[tuple[str | None, int | None]] = []

    def __enter__(self) -> DeviceCtx:
        if self.name not in _TARGETS:
            raise located(
                ValueError,
                f"For 'DeviceCtx', the name must be one of {_TARGETS}, but got {self.name}.",
            )
        if self.name == "meta":
            raise located(
                NotImplementedError,
                "For 'DeviceCtx', the name 'meta' asks for Tensors without values: "
                "nn.utils.no_init_parameters() makes Cells whose Parameters have none yet.",
            )
        if self.device_id is not None and self.device_id < 0:
            raise located(
                ValueError,
                "For 'DeviceCtx', the device_id must be greater than or equal to 0, but got "
                f"{self.device_id}.",
            )
        before = device.choice()
        device.choose(self.name, self.device_id or 0)
        self._before.append(before)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        device.put_back(self._before.pop())
