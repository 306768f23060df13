"""Where arrays are placed: the device target and number that the context names."""

from __future__ import annotations

import functools
import os
import warnings
from typing import Any

import jax

from mindjax.core import jax_private, world
from mindjax.core.errors import located

_PLATFORMS = {"CPU": "cpu", "GPU": "gpu", "TPU": "tpu", "Ascend": "ascend"}


class _Choice:
    target: str | None = None
    index: int | None = None


def choose(target: str | None, index: int | None = None) -> None:
    """Choose the device that later values go to; starts no backend.

    Once backends run, a device that is missing is refused here, else when it is first used.

    Args:
        target: ``"CPU"``, ``"GPU"``, ``"TPU"`` or ``"Ascend"``; None leaves jax's default.
        index: number of the device, from 0; None leaves it unset.

    Raises:
        ValueError: the target has no such name.
        RuntimeError: backends run already, and none is the target's (``"Ascend"`` excepted).
    """
    if target is not None and target not in _PLATFORMS:
        raise located(
            ValueError,
            f"For 'set_context', the argument 'device_target' must be one of {list(_PLATFORMS)}, "
            f"but got '{target}'.",
        )
    before = _Choice.target, _Choice.index
    if target is not None:
        _Choice.target = target
    if index is not None:
        _Choice.index = index
    if jax_private.started_backends():
        try:
            placement()
        except RuntimeError:
            _Choice.target, _Choice.index = before
            raise


def choice() -> tuple[str | None, int | None]:
    """Give the target and the number that were chosen, None where none was."""
    return _Choice.target, _Choice.index


def put_back(chosen: tuple[str | None, int | None]) -> None:
    """Choose again what `choice` gave."""
    _Choice.target, _Choice.index = chosen


def target() -> str:
    """Name the device target: the chosen one, else the platform that jax would pick."""
    if _Choice.target is not None:
        return _Choice.target
    asked = (
        os.environ.get("JAX_PLATFORMS") or getattr(jax.config, "jax_platforms", None) or "cpu"
    ).split(",")[0]
    names = {"cpu": "CPU", "gpu": "GPU", "cuda": "GPU", "rocm": "GPU", "tpu": "TPU"}
    return names.get(asked, "Ascend" if asked == "ascend" else "CPU")


def is_ascend() -> bool:
    """Tell whether new values go to an Ascend device, or would if one were there."""
    if _Choice.target is not None:
        return _Choice.target == "Ascend"
    return jax.default_backend() == "ascend"


def placement() -> Any:
    """Give the device for new values, None for jax's default.

    An Ascend device that is missing is replaced by jax's default, with one warning.

    Raises:
        RuntimeError: no such device is present.
    """
    if _Choice.target is None and not _Choice.index:
        return None
    platform = _PLATFORMS[_Choice.target] if _Choice.target else None
    world.join()
    if platform is not None and platform == jax.default_backend() and not _Choice.index:
        return None
    try:
        devices = jax.local_devices(backend=platform)
    except RuntimeError as error:
        if platform != "ascend":
            raise located(
                RuntimeError,
                f"Unsupported device target {_Choice.target}: jax finds no such device "
                f"({str(error).splitlines()[0]}).",
            ) from None
        _warn_of_no_ascend()
        devices = jax.local_devices()
    index = _Choice.index or 0
    if world.transport.size > 1 and len(devices) == 1:
        # A launcher has given this process the device that the number means.
        index = 0
    if index >= len(devices):
        if platform == "cpu" or (platform is None and devices[0].platform == "cpu"):
            index = 0
        else:
            raise located(
                RuntimeError, f"device_id {index} is out of range: {len(devices)} devices found."
            )
    return devices[index]


@functools.cache
def _warn_of_no_ascend() -> None:
    # Most scripts name this target, and everything in them runs on other devices too.
    device = jax.local_devices()[0]
    warnings.warn(
        f"device_target='Ascend' is asked for, but jax finds no Ascend device: running on "
        f"{device.platform}:{device.id}. Install mindjax-ascend-xla, or set the device_target.",
        RuntimeWarning,
        stacklevel=2,
    )


_DETERMINISTIC = "--xla_gpu_deterministic_ops=true"


def set_deterministic(deterministic: bool) -> None:
    """Ask XLA for deterministic ops on GPUs, with the flag that it reads when it starts.

    Args:
        deterministic: whether to ask for them.

    Raises:
        RuntimeError: a GPU runs already with the other setting.
    """
    flags = os.environ.get("XLA_FLAGS", "").split()
    if deterministic == (_DETERMINISTIC in flags):
        return
    if jax_private.started_backends() and jax.default_backend() == "gpu":
        raise located(
            RuntimeError,
            "For 'set_deterministic', the GPU runs already: call it before the first Tensor is "
            f"used, or set XLA_FLAGS={_DETERMINISTIC}.",
        )
    kept = [f for f in flags if f != _DETERMINISTIC]
    os.environ["XLA_FLAGS"] = " ".join([*kept, _DETERMINISTIC] if deterministic else kept)
