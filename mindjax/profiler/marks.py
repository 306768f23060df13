"""Marks and ranges of a user's own in the timeline."""

from __future__ import annotations

import itertools
import logging
from typing import Any

import jax

from mindjax.profiler.session import Session

logger = logging.getLogger("mindjax")


class Mstx:
    """Marks and ranges in the trace of a profiler whose setting ``mstx`` is on.

    MindSpore: ``mindspore.profiler.mstx``.
    """

    NPU_PROFILER = None
    enable = True

    _numbers = itertools.count(1)
    _ranges: dict[int, tuple[str, Any]] = {}  # noqa: RUF012

    @staticmethod
    def mark(message: str, stream: Any = None, domain: str = "default") -> None:
        """Put a mark into the trace.

        Args:
            message: its text.
            stream: stream of the device; XLA has its own, so marks are the host's.
            domain: name by which a profiler chooses marks.
        """
        if _wanted(message, domain):
            with jax.profiler.TraceAnnotation(message, domain=domain):
                pass

    @staticmethod
    def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
        """Begin a range.

        Args:
            message: its text.
            stream: stream of the device; XLA has its own, so ranges are the host's.
            domain: name by which a profiler chooses ranges.

        Returns:
            The range's number for `range_end`; 0 if nothing is recorded.
        """
        if not _wanted(message, domain):
            return 0
        number = next(Mstx._numbers)
        annotation = jax.profiler.TraceAnnotation(message, domain=domain)
        annotation.__enter__()
        Mstx._ranges[number] = (domain, annotation)
        return number

    @staticmethod
    def range_end(range_id: int, domain: str = "default") -> None:
        """End a range.

        Args:
            range_id: what `range_start` gave; 0 does nothing.
            domain: the range's.
        """
        if range_id == 0:
            return
        found = Mstx._ranges.get(range_id) if isinstance(range_id, int) else None
        if found is None or found[0] != domain:
            logger.warning(
                "Invalid range_id %r for mstx.range_end: give what mstx.range_start returned, and "
                "its domain.",
                range_id,
            )
            return
        del Mstx._ranges[range_id]
        found[1].__exit__(None, None, None)


def _wanted(message: Any, domain: Any) -> bool:
    """Check a mark, and tell whether it is recorded."""
    for name, value in (("message", message), ("domain", domain)):
        if not isinstance(value, str) or not value:
            logger.warning(
                "Invalid %s for mstx: %r. Please input str and can not be empty.", name, value
            )
            return False
    session = Session.active
    if session is None or not session.settings.mstx:
        return False
    settings = session.settings
    if settings.mstx_domain_include:
        return domain in settings.mstx_domain_include
    return domain not in settings.mstx_domain_exclude
