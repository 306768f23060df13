"""Which engine runs PYNATIVE: ops one by one, or recorded and run as one program."""

from __future__ import annotations

import os
from typing import Any

from mindjax.core.errors import located

ENGINES = ("op_by_op", "deferred")


class _Settings:
    """The process's engine.

    Attributes:
        deferred: whether ops are recorded now.
        chosen: the engine that was asked for.
        synchronous: whether each op is waited for.
        check_nan: whether each op's result is looked at.
        waits: whether either is so.
    """

    deferred = False
    chosen = "op_by_op"
    synchronous = False
    check_nan = False
    waits = False


settings = _Settings()


def flush() -> None:
    """Run what all threads have recorded; costs nothing where nothing was."""
    from mindjax.core import deferred

    deferred.flush_all()


def _choose(name: str) -> None:
    settings.chosen = name
    refresh()


def refresh() -> None:
    """Work out which engine runs; what is recorded is run before the plain one takes over."""
    before = settings.deferred
    settings.waits = settings.synchronous or settings.check_nan
    settings.deferred = settings.chosen == "deferred" and not settings.waits
    if before and not settings.deferred:
        flush()


def set_plain(synchronous: bool | None = None, check_nan: bool | None = None) -> None:
    """Ask for what only the plain engine does.

    Args:
        synchronous: whether each op is waited for, so that a device's error shows at its line.
        check_nan: whether an op whose result holds a NaN raises an error at its line.
    """
    if synchronous is not None:
        settings.synchronous = synchronous
    if check_nan is not None:
        settings.check_nan = check_nan
    refresh()


class eager:
    """Choose the engine of PYNATIVE for the process, or for a ``with`` block.

    Args:
        engine: ``"op_by_op"`` runs each op when it is called. ``"deferred"`` records ops and runs
            them as one compiled program when a value is asked for; results are the same.

    Raises:
        ValueError: there is no such engine.
    """

    def __init__(self, engine: str) -> None:
        if engine not in ENGINES:
            raise located(
                ValueError,
                f"For 'eager', the engine must be one of {list(ENGINES)}, but got {engine!r}.",
            )
        self._before = settings.chosen
        _choose(engine)

    def __enter__(self) -> eager:
        return self

    def __exit__(self, *exc: Any) -> None:
        _choose(self._before)


def engine() -> str:
    """Give the name of the engine that runs PYNATIVE now."""
    return "deferred" if settings.deferred else "op_by_op"


_asked = os.environ.get("MINDJAX_EAGER", settings.chosen)
if _asked not in ENGINES:
    raise ValueError(f"MINDJAX_EAGER must be one of {list(ENGINES)}, but is {_asked!r}.")
settings.chosen = _asked
refresh()
