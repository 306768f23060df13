"""Which steps a profiler records."""

from __future__ import annotations

import logging
from enum import Enum
from typing import Any

from mindjax.core.errors import located

logger = logging.getLogger("mindjax")


class ProfilerAction(Enum):
    """What a profiler does during a step."""

    NONE = 0
    WARM_UP = 1
    RECORD = 2
    RECORD_AND_SAVE = 3

    @staticmethod
    def get_by_value(value: int) -> ProfilerAction | None:
        """Give the action of a number; None if there is none."""
        return next((action for action in ProfilerAction if action.value == value), None)


class Schedule:
    """Waits, warms up and records, again and again.

    A number of the wrong type or size is warned of and reset, as in the original.

    Args:
        wait: steps of a cycle before its warm-up.
        active: steps of a cycle that are recorded, 1 or more.
        warmup: steps of a cycle before it is recorded, in which nothing is written.
        repeat: number of cycles; 0 for as many as there are.
        skip_first: steps before the first cycle.

    MindSpore: ``mindspore.profiler.schedule``.
    """

    def __init__(
        self, *, wait: int, active: int, warmup: int = 0, repeat: int = 0, skip_first: int = 0
    ) -> None:
        self.wait = _checked("wait", wait, 0)
        self.active = _checked("active", active, 1)
        self.warmup = _checked("warmup", warmup, 0)
        self.repeat = _checked("repeat", repeat, 0)
        self.skip_first = _checked("skip_first", skip_first, 0)
        if self.warmup == 0:
            logger.warning("Profiler won't be using warmup, this can skew profiler results")

    def __call__(self, step: int) -> ProfilerAction:
        """Give the action of a step.

        Args:
            step: number of the step, from 0.

        Raises:
            ValueError: it is negative.
        """
        if step < 0:
            raise located(
                ValueError,
                f"For 'schedule', invalid parameter step {step}, which must be not less than 0.",
            )
        length = self.wait + self.warmup + self.active
        cycle, place = divmod(step - self.skip_first, length)
        if cycle < 0 or (self.repeat and cycle >= self.repeat) or place < self.wait:
            return ProfilerAction.NONE
        if place < self.wait + self.warmup:
            return ProfilerAction.WARM_UP
        return ProfilerAction.RECORD_AND_SAVE if place == length - 1 else ProfilerAction.RECORD

    def __repr__(self) -> str:
        return (
            f"Schedule(wait={self.wait!r}, active={self.active!r}, warmup={self.warmup!r}, "
            f"repeat={self.repeat!r}, skip_first={self.skip_first!r})"
        )

    def to_dict(self) -> dict[str, int]:
        """Give the numbers by name."""
        return {
            "wait": self.wait,
            "active": self.active,
            "warmup": self.warmup,
            "repeat": self.repeat,
            "skip_first": self.skip_first,
        }


def _checked(name: str, value: Any, least: int) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        logger.warning(
            "Parameter '%s' should be an int of at least %d, but got %r. Reset to %d.",
            name,
            least,
            value,
            least,
        )
        return least
    return value


def always(step: int) -> ProfilerAction:
    """Record every step."""
    return ProfilerAction.RECORD
