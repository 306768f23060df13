"""The deferred engine: ops are recorded, and run as one program when a value is read."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import Any

import jax

from mindjax.core import fused, jax_private
from mindjax.core.executable import Deferrable
from mindjax.core.handle import current
from mindjax.core.pending import Pending
from mindjax.core.recording import FOREIGN, RECORDINGS, Recording, aval_of
from mindjax.core.trie import BITS


def defer(found: Deferrable, arrays: list[Any]) -> Any:
    """Record an op in this thread's record.

    Args:
        found: its executable.
        arrays: inputs, some of which may be pending.

    Returns:
        What stands for its output, or a tuple of these; NOT_DEFERRED if it must be run now: its
        inputs are of kinds that it has not had before, or lie on several devices.
    """
    recording: Recording | None = current.recording
    if recording is None:
        recording = current.recording = Recording()
    elif recording.pressed and recording.full():
        recording.flush()
    with recording.lock:
        out = recording.add(found, arrays)
    if out is FOREIGN:
        # Outside the lock of this one's record, so that two threads never wait for each other.
        arrays[:] = [_settle_foreign(a, recording) for a in arrays]
        return defer(found, arrays)
    return out


def _settle_foreign(value: Any, recording: Recording) -> Any:
    """Compute what other threads have recorded, and raise the errors of what could not be."""
    if type(value) is tuple:
        return tuple(_settle_foreign(v, recording) for v in value)
    if type(value) is Pending and (value.recording is not recording or value.value is not None):
        return value.concrete()
    return value


def learn(found: Deferrable, arrays: list[Any], out: Any) -> None:
    """Note what an op gives for inputs of these kinds, so that it may wait the next time."""
    key = tuple(kind_of(a) for a in arrays)
    single = isinstance(out, jax.Array)
    if not single and not (
        isinstance(out, tuple | list)
        and 0 < len(out) < 1 << BITS
        and all(isinstance(o, jax.Array) for o in out)
    ):
        found.defers = False
        return
    if _calls_back(found, arrays):
        # Its errors belong to the user's line.
        found.defers = False
        return
    if len(found.avals) > 4096:
        found.avals.clear()
    found.avals[key] = aval_of(out) if single else tuple(aval_of(o) for o in out)


def kind_of(value: Any) -> Any:
    """Give the aval of an input of an op, nested as it is."""
    if type(value) is Pending:
        return value.aval
    if value is None:
        return None
    if type(value) is tuple:
        return tuple(kind_of(v) for v in value)
    return aval_of(value)


def _calls_back(found: Deferrable, arrays: list[Any]) -> bool:
    old = jax_private.swap_x64(True)
    try:
        jaxpr = found.call.trace(*arrays).jaxpr  # type: ignore[attr-defined]
    finally:
        jax_private.set_x64(old)
    return bool(jaxpr.effects) or fused.calls_back(jaxpr.jaxpr)


def settled(value: Any) -> Any:
    """Give an array in place of what is pending, inside tuples too."""
    if type(value) is Pending:
        return value.concrete()
    if type(value) is tuple:
        return tuple(settled(v) for v in value)
    return value


def held(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function; a step of an optimizer within it is run when it has come back.

    What it alone held, as the gradients, is gone then: nobody asks for it.

    Args:
        function: to call.
        *args: its arguments.
    """
    recording = current.recording
    if recording is None or recording.held:
        return function(*args)
    recording.held = True
    try:
        return function(*args)
    finally:
        recording.held = False
        if recording.ending is not None:
            recording.flush()


def flush() -> None:
    """Run what this thread has recorded."""
    recording = current.recording
    if recording is not None:
        recording.flush()


def flush_all() -> None:
    """Run what every thread has recorded."""
    flush()
    for recording in list(RECORDINGS):
        recording.flush()


def _after_fork() -> None:
    """Begin without a record: a lock may be held by a thread that the child does not have."""
    current.recording = None
    for recording in list(RECORDINGS):
        recording.lock = threading.RLock()


os.register_at_fork(before=flush, after_in_child=_after_fork)
