"""What only the original's driver of Ascend devices can do: refused, with another way."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located


def _refused(name: str, way: str) -> NotImplementedError:
    return located(
        NotImplementedError,
        f"For '{name}', it is a function of the driver of Ascend devices: {way}",
    )


def stress_detect(detect_type: str = "aic") -> int:
    """Refuse: the test of the hardware belongs to the driver.

    Args:
        detect_type: ``"aic"`` or ``"hccs"``.

    Raises:
        NotImplementedError: always.
    """
    raise _refused(
        "stress_detect", f"run the vendor's diagnosis for '{detect_type}' outside the program."
    )


def sdc_detect_start() -> None:
    """Refuse: the search for silent data corruption belongs to the driver.

    Raises:
        NotImplementedError: always.
    """
    raise _refused("sdc_detect_start", "compare the losses of two runs with the same seed.")


def sdc_detect_stop() -> None:
    """Refuse: no search was started.

    Raises:
        NotImplementedError: always.
    """
    raise _refused("sdc_detect_stop", "no search was started.")


def get_sdc_detect_result() -> bool:
    """Refuse: no search was started.

    Raises:
        NotImplementedError: always.
    """
    raise _refused("get_sdc_detect_result", "no search was started.")


def set_dump(target: Any, enabled: bool = True) -> None:
    """Refuse: dumps of ops are written by the original's runtime of Ascend devices.

    Args:
        target: Cell or Primitive.
        enabled: whether its outputs are dumped.

    Raises:
        NotImplementedError: always; a forward hook or `ops.TensorDump` writes outputs everywhere.
    """
    raise located(
        NotImplementedError,
        f"For 'set_dump', the 'target' {type(target).__name__} cannot be dumped (enabled={enabled})"
        ": call Cell.register_forward_hook, or ops.TensorDump inside construct.",
    )
