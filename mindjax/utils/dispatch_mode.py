"""Watching and changing the ops of PYNATIVE (MindSpore: ``mindspore.utils.MsDispatchMode``)."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from mindjax.core.handle import current
from mindjax.core.primitive import Primitive, _Engine


class _Modes(threading.local):
    def __init__(self) -> None:
        self.stack: list[MsDispatchMode] = []
        self.inside = False


_modes = _Modes()
_lock = threading.Lock()
_open: list[Any] = []


class OpFunc:
    """An op on its way to the device.

    Args:
        record: the primitive.
        engine: what runs it.
    """

    def __init__(self, record: Primitive, engine: Any) -> None:
        self._record, self._engine = record, engine

    @property
    def name(self) -> str:
        """The primitive's name; sums and differences have the operators' names."""
        name = self._record.name.lstrip("_")
        return {"AddExt": "Add", "SubExt": "Sub"}.get(name, name)

    def __call__(self, *args: Any) -> Any:
        """Run it."""
        return self._engine(self._record, args)


def _intercepted(record: Primitive, inputs: tuple[Any, ...]) -> Any:
    engine = _open[0]
    if not _modes.stack or _modes.inside or current.frame is not None:
        return engine(record, inputs)
    # Ops that the callback runs by itself are not the program's.
    _modes.inside = True
    try:
        return _modes.stack[-1].__ms_dispatch__(OpFunc(record, engine), inputs, {})
    finally:
        _modes.inside = False


class MsDispatchMode(contextlib.ContextDecorator):
    """In a ``with`` block, ``__ms_dispatch__`` runs every op of this thread's PYNATIVE program.

    The innermost mode counts. A subclass defines ``__ms_dispatch__(self, func, args, kwargs=None)``
    and gives what ``func(*args)`` gives; ``func.name`` is the op's name. Compiled programs are one
    whole: their ops are not seen.
    """

    def __enter__(self) -> MsDispatchMode:
        if not _open:
            # What stands in the engine's place until it is first used puts itself out of it.
            import mindjax.core.dispatch  # noqa: F401
        with _lock:
            if not _open:
                _open.append(_Engine.dispatch)
                _Engine.dispatch = staticmethod(_intercepted)
                _Engine.install(None)
        _modes.stack.append(self)
        return self

    def __exit__(self, exc_type: Any, exc_val: Any, exc_tb: Any) -> bool:
        _modes.stack.pop()
        return False

    def __ms_dispatch__(self, func: Any, args: Any, kwargs: Any = None) -> Any:
        """Run an op.

        Args:
            func: the op.
            args: its inputs.
            kwargs: empty.
        """
        return func(*args)
