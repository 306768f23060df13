"""Shares of an Ascend device's cores, which XLA does not divide."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located
from mindjax.runtime.streams import Stream, _check


def _refused(owner: str, **values: Any) -> NotImplementedError:
    given = ", ".join(f"'{k}' {v}" for k, v in values.items())
    return located(
        NotImplementedError,
        f"For '{owner}', {given}: XLA gives every program all cores of its device; run programs "
        "that shall share a device in processes of their own.",
    )


def get_device_limit(device: int) -> dict[str, int]:
    """Refuse: XLA gives programs all cores.

    Args:
        device: number of the device.

    Raises:
        NotImplementedError: always.
    """
    raise _refused("get_device_limit", device=device)


def set_device_limit(device: int, cube_num: int = -1, vector_num: int = -1) -> None:
    """Refuse: XLA gives programs all cores.

    Args:
        device: number of the device.
        cube_num: number of matrix cores.
        vector_num: number of vector cores.

    Raises:
        NotImplementedError: always.
    """
    raise _refused("set_device_limit", device=device, cube_num=cube_num, vector_num=vector_num)


def get_stream_limit(stream: Any) -> dict[str, int]:
    """Refuse: XLA gives programs all cores.

    Args:
        stream: the stream.

    Raises:
        TypeError: it is no Stream.
        NotImplementedError: always.
    """
    _check("get_stream_limit", "stream", stream, Stream)
    raise _refused("get_stream_limit", stream=stream)


def set_stream_limit(stream: Any, cube_num: int = -1, vector_num: int = -1) -> None:
    """Refuse: XLA gives programs all cores.

    Args:
        stream: the stream.
        cube_num: number of matrix cores.
        vector_num: number of vector cores.

    Raises:
        TypeError: ``stream`` is no Stream.
        NotImplementedError: always.
    """
    _check("set_stream_limit", "stream", stream, Stream)
    raise _refused("set_stream_limit", stream=stream, cube_num=cube_num, vector_num=vector_num)


def reset_stream_limit(stream: Any) -> None:
    """Do nothing: there is no limit, so every stream has all cores.

    Args:
        stream: the stream.

    Raises:
        TypeError: it is no Stream.
    """
    _check("reset_stream_limit", "stream", stream, Stream)


class StreamLimitCtx:
    """Refuse, once entered: XLA gives programs all cores.

    Args:
        stream: the stream.
        cube_num: number of matrix cores.
        vector_num: number of vector cores.

    Raises:
        TypeError: ``stream`` is no Stream.
    """

    def __init__(self, stream: Any, cube_num: int = -1, vector_num: int = -1) -> None:
        _check("StreamLimitCtx", "stream", stream, Stream)
        self.stream, self.cube_num, self.vector_num = stream, cube_num, vector_num

    def __enter__(self) -> None:
        set_stream_limit(self.stream, self.cube_num, self.vector_num)

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        reset_stream_limit(self.stream)
