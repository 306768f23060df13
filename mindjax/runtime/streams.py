"""Streams and events, whose order XLA keeps.

All programs of a device run in the order in which they were dispatched, whatever stream is
current. So work never runs before work that it must wait for, and waiting for a stream or an event
means waiting for what had been dispatched.
"""

from __future__ import annotations

import itertools
import threading
import time
from typing import Any

from mindjax.core import checks, queue
from mindjax.core.device import target
from mindjax.core.errors import located

_numbers = itertools.count(1)


class Stream:
    """A name for work in the device's one queue (MindSpore: ``mindspore.runtime.Stream``).

    Args:
        priority: kept; XLA's queue has none.
        **kwargs: ``stream``, another name for that stream, or ``stream_id``, a number.

    Raises:
        TypeError: ``priority`` or ``stream_id`` is no int.
    """

    def __init__(self, priority: int = 0, **kwargs: Any) -> None:
        checks.of_type("priority", priority, int, "Stream")
        self.priority = priority
        other, number = kwargs.get("stream"), kwargs.get("stream_id")
        if number is not None:
            checks.of_type("stream_id", number, int, "Stream")
        elif other is None:
            number = next(_numbers)
        self._id: int = number if other is None else other.id

    @property
    def id(self) -> int:
        """Its number; 0 is the default stream."""
        return self._id

    @property
    def device_id(self) -> int:
        """The device's number."""
        return queue.chosen().id

    @property
    def device_name(self) -> str:
        """The device's target."""
        return target()

    def device_stream(self) -> int:
        """Give the stream's number, which stands for the address that XLA does not show."""
        return self._id

    @property
    def stream_ptr(self) -> int:
        """The stream's number, as `device_stream` gives it."""
        return self._id

    def record_event(self, event: Any = None) -> Any:
        """Let an event stand for what has been dispatched.

        Args:
            event: the event; None makes one.

        Returns:
            The event.

        Raises:
            TypeError: it is no Event.
        """
        event = Event() if event is None else event
        _check("record_event", "event", event, Event)
        event.record(self)
        return event

    def wait_event(self, event: Any) -> None:
        """Let work that is dispatched from now on run after an event, as XLA's order has it.

        Args:
            event: the event.

        Raises:
            TypeError: it is no Event.
        """
        _check("wait_event", "event", event, Event)
        event.wait(self)

    def wait_stream(self, stream: Any) -> None:
        """Let work that is dispatched from now on run after that of a stream.

        Args:
            stream: the stream.

        Raises:
            TypeError: it is no Stream.
        """
        _check("wait_stream", "stream", stream, Stream)
        self.wait_event(stream.record_event())

    def synchronize(self) -> None:
        """Wait for all that has been dispatched."""
        queue.wait()

    def query(self) -> bool:
        """Tell whether all that has been dispatched is done."""
        return not queue.pending()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            raise _wrong("__eq__", "other", other, Stream)
        return self._id == other._id

    def __hash__(self) -> int:
        return hash(self._id)

    def __repr__(self) -> str:
        return (
            f"Stream(device_name={self.device_name}, device_id:{self.device_id}, "
            f"stream id:{self._id})"
        )


class Event:
    """A moment in a device's queue (MindSpore: ``mindspore.runtime.Event``).

    Args:
        enable_timing: whether the moment's time is taken: `record` then waits for what had been
            dispatched.
        blocking: kept; `synchronize` always blocks.

    Raises:
        TypeError: an argument is no bool.
    """

    def __init__(self, enable_timing: bool = False, blocking: bool = False) -> None:
        self._timing = checks.boolean("enable_timing", enable_timing, "Event")
        self._blocking = checks.boolean("blocking", blocking, "Event")
        self._arrays: list[Any] = []
        self._time: float | None = None

    def record(self, stream: Any = None) -> None:
        """Let the event stand for what has been dispatched.

        Args:
            stream: a stream; None for the current one.

        Raises:
            TypeError: it is no Stream.
        """
        if stream is not None:
            _check("record", "stream", stream, Stream)
        self._arrays = queue.pending()
        if self._timing:
            self.synchronize()
            self._time = time.perf_counter()

    def wait(self, stream: Any = None) -> None:
        """Let work that is dispatched from now on run after the event, as XLA's order has it.

        Args:
            stream: a stream; None for the current one.

        Raises:
            TypeError: it is no Stream.
        """
        if stream is not None:
            _check("wait", "stream", stream, Stream)

    def synchronize(self) -> None:
        """Wait for what the event stands for."""
        queue.wait(self._arrays)
        self._arrays = []

    def query(self) -> bool:
        """Tell whether what the event stands for is done."""
        return queue.done(self._arrays)

    def elapsed_time(self, end_event: Any) -> float:
        """Give the time from this event to another in milliseconds.

        Args:
            end_event: the later event.

        Raises:
            TypeError: it is no Event.
            RuntimeError: an event was not recorded, or takes no times.
        """
        _check("elapsed_time", "end_event", end_event, Event)
        if self._time is None or end_event._time is None:
            raise located(
                RuntimeError,
                "For 'elapsed_time', both events must be recorded and made with "
                "enable_timing=True.",
            )
        return (end_event._time - self._time) * 1e3


class _Current(threading.local):
    stream: Stream | None = None


_current = _Current()


def _wrong(owner: str, name: str, value: Any, kind: type) -> TypeError:
    return located(
        TypeError,
        f"For '{owner}', the argument '{name}' should be {kind.__name__}, but got {type(value)}.",
    )


def _check(owner: str, name: str, value: Any, kind: type) -> None:
    if not isinstance(value, kind):
        raise _wrong(owner, name, value, kind)


def synchronize() -> None:
    """Wait for all that has been dispatched (MindSpore: ``mindspore.runtime.synchronize``)."""
    queue.wait()


def set_cur_stream(stream: Any) -> None:
    """Make a stream the current one of this thread.

    Args:
        stream: the stream; None changes nothing.

    Raises:
        TypeError: it is no Stream.
    """
    if stream is not None:
        _check("set_cur_stream", "stream", stream, Stream)
        _current.stream = stream


def current_stream() -> Stream:
    """Give the current stream of this thread."""
    return _current.stream or default_stream()


def default_stream() -> Stream:
    """Give the device's default stream."""
    return Stream(stream_id=0)


def communication_stream() -> Stream:
    """Give the stream of collectives: the default one, as XLA keeps one order for all."""
    return default_stream()


class StreamCtx:
    """Make a stream the current one inside a ``with`` block.

    Args:
        ctx_stream: the stream; None changes nothing.

    Raises:
        TypeError: it is no Stream.
    """

    def __init__(self, ctx_stream: Any) -> None:
        if ctx_stream is not None:
            _check("StreamCtx", "ctx_stream", ctx_stream, Stream)
        self.stream = ctx_stream
        self.prev_stream: Stream | None = None

    def __enter__(self) -> None:
        self.prev_stream = current_stream()
        set_cur_stream(self.stream)

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> None:
        if self.stream is not None:
            set_cur_stream(self.prev_stream)
