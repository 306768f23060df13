"""`raise` and `assert` under traced conditions: recorded in the program's state, raised after it.

The number of the first error is state of the program that branches and loops carry. What is written
after an error is taken back, as nothing after it would have run.
"""

from __future__ import annotations

import contextlib
import copy
import linecache
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from mindjax.core.errors import user_line
from mindjax.core.handle import Handle, current, wrap
from mindjax.core.number import TracedNumber
from mindjax.core.state import StateFrame, Wide, fresh_value, outside_value
from mindjax.core.values import in_graph, need_values
from mindjax.graph.control.blocks import Raised, active
from mindjax.graph.control.joining import UNDEFINED, Const, Late


class ErrorState(Handle):
    """The number of a program's first error, or a value in its message.

    Args:
        start: value without an error.
        is_code: whether it is the number.
    """

    is_parameter = False

    def __init__(self, start: Any, is_code: bool = False) -> None:
        self._init_handle(start)
        self._frame = None
        self.is_code = is_code

    def assign_value(self, value: Any, node: Any = None) -> Handle:
        """Write the value."""
        if current.frame is not None:
            current.frame.write(self, value)
        else:
            self._value = value
        return self


class Site:
    """A place that may raise.

    Args:
        error: the exception, its traced arguments replaced by None.
        values: by the argument's place, its state and the kind of a number.
        place: the user's file, line and source.
    """

    def __init__(self, error: BaseException, values: dict[int, Any], place: str) -> None:
        self.error, self.values, self.place = error, values, place

    def made(self) -> BaseException:
        """Make the exception with the values of the run."""
        fresh = copy.copy(self.error)
        args = list(self.error.args)
        for i, (state, kind) in self.values.items():
            array = np.asarray(state._value)
            args[i] = wrap(array) if kind is None else kind(array)
        fresh.args = tuple(args)
        fresh.add_note(f"Raised when the program ran: {self.place}")
        return fresh


class Errors:
    """The errors of a program.

    Attributes:
        state: number of the first error, 0 without one.
        sites: the places that may raise.
        marks: after each, whether an error had been raised and what had been written.
    """

    def __init__(self) -> None:
        self.state = ErrorState(np.int32(0), True)
        self.sites: list[Site] = []
        self.marks: list[tuple[Any, dict[Any, Any]]] = []

    def raise_first(self) -> None:
        """Raise what a run recorded.

        Raises:
            BaseException: the first error of the run.
        """
        number = int(np.asarray(self.state._value))
        self.state._value = np.int32(0)
        if number:
            raise self.sites[number - 1].made()


def errors_of(frame: StateFrame) -> Errors:
    """Give the errors of a program that is being traced."""
    if not frame.errors:
        made = Errors()
        frame.errors.append(made)
        frame.values[made.state] = np.int32(0)
    return frame.errors[0]


def merge_mapped(handles: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    """Give what `vmap` writes of errors: those of the first slice that has one.

    Args:
        handles: what is written.
        values: arrays with a slice a row where the handle is an `ErrorState`.
    """
    values = list(values)
    codes = [
        v for h, v in zip(handles, values, strict=False) if isinstance(h, ErrorState) and h.is_code
    ]
    for i, handle in enumerate(handles):
        if isinstance(handle, ErrorState):
            values[i] = values[i][jnp.argmax(codes[0] != 0)]
    return values


def late() -> bool:
    """Tell whether an error that is raised now is one of the program's run."""
    depth = len(active.blocks)
    return in_graph() and depth > 0 and not (active.tries and active.tries[-1] == depth)


def error(exception: Any) -> Any:
    """Prepare the exception of a ``raise``.

    Returns:
        The exception, to be raised while tracing.

    Raises:
        Raised: it is raised when the program runs.
    """
    if not late():
        return exception
    record(True, exception() if isinstance(exception, type) else exception)
    raise Raised


def check(test: Any, message: Callable[[], Any]) -> None:
    """Run an ``assert``, now or when the program runs."""
    from mindjax.graph.control.branches import truth

    flag = truth(test)
    if isinstance(flag, bool):
        if flag:
            return
        text = message()
        made = AssertionError() if text is None else AssertionError(text)
        made = error(made)
        raise made
    text = message()
    with Wide():
        record(jnp.logical_not(flag), AssertionError() if text is None else AssertionError(text))
    mark()


def record(flag: Any, exception: BaseException) -> None:
    """Record an error of the program's run.

    Args:
        flag: whether it is raised.
        exception: its arguments may be traced.
    """
    if active.tries:
        raise need_values("whether an error is raised in a `try`")
    frame = current.frame
    assert frame is not None
    root = frame.root_frame()
    errors = errors_of(root)
    with Wide():
        before = frame.read(errors.state)
        now = jnp.logical_and(flag, before == 0)
        args: list[Any] = []
        values: dict[int, Any] = {}
        for i, value in enumerate(exception.args):
            array = value.array if isinstance(value, Handle | TracedNumber) else None
            args.append(value if array is None else None)
            if array is not None:
                state = ErrorState(np.zeros(array.shape, array.dtype))
                root.values[state] = np.zeros(array.shape, array.dtype)
                frame.write(state, jnp.where(now, array, frame.read(state)))
                values[i] = state, value.kind if isinstance(value, TracedNumber) else None
        number = len(errors.sites) + 1
        frame.write(errors.state, jnp.where(now, np.int32(number), before))
    exception.args = tuple(args)
    line = user_line()
    path, _, number_text = line.rpartition(":")
    source = linecache.getline(path, int(number_text)).strip() if number_text.isdigit() else ""
    errors.sites.append(Site(exception, values, f"{line}: {source}"))


def mark() -> None:
    """Note what has been written so far, where an error may have ended the program."""
    frame = current.frame
    if frame is None or active.blocks or not frame.root or not frame.errors:
        return
    errors = frame.errors[0]
    flag = frame.values[errors.state]
    with Wide():
        raised = flag != 0
    states = {h: frame.values[h] for h in frame.written if not isinstance(h, ErrorState)}
    errors.marks.append((raised, states))


def take_back(frame: StateFrame) -> None:
    """Undo what a program writes after an error."""
    if not frame.errors:
        return
    for raised, states in reversed(frame.errors[0].marks):
        for handle in frame.written:
            if isinstance(handle, ErrorState):
                continue
            old = states[handle] if handle in states else _captured(frame, handle)
            new = frame.values[handle]
            if old is new or old is None or old.shape != new.shape or old.dtype != new.dtype:
                continue
            frame.values[handle] = jnp.where(raised, old, new)


def _captured(frame: StateFrame, handle: Any) -> Any:
    """Give the value that state has before the program."""
    found = frame.captured.get(handle)
    if found is None:
        value = outside_value(handle)
        if not hasattr(value, "addressable_shards"):
            return None
        found = frame.captured[handle] = fresh_value(handle)
    return found


@contextlib.contextmanager
def trying() -> Iterator[None]:
    """Mark the body of a ``try``: what is raised in it at once can be caught."""
    active.tries.append(len(active.blocks))
    try:
        yield
    finally:
        active.tries.pop()


def given(value: Any, name: str) -> Any:
    """Give a name's value where it is handed on: it may have several kinds.

    Raises:
        UnboundLocalError: when the program runs, if the name holds nothing then.
    """
    if isinstance(value, Late) and not any(k == Const(UNDEFINED) for k in value.kinds):
        return value
    return use(value, name)


def use(value: Any, name: str) -> Any:
    """Give a name's value where it is read.

    Raises:
        TypeError: it has several kinds.
        UnboundLocalError: when the program runs, if the name holds nothing then.
    """
    if not isinstance(value, Late):
        return value
    empty = [i for i, k in enumerate(value.kinds) if k == Const(UNDEFINED)]
    others = [i for i in range(len(value.kinds)) if i not in empty]
    if len(others) != 1 or not in_graph():
        raise value.refused(name)
    text = f"The local variable '{name}' is not defined on every path: {value.place} decides."
    with Wide():
        record(jnp.asarray(value.which) == empty[0], UnboundLocalError(text))
    mark()
    return value.values[others[0]]
