"""Values that are asked for while a graph is compiled: the call then runs op by op."""

from __future__ import annotations

from mindjax.core.errors import located, user_line
from mindjax.core.handle import current


def in_graph() -> bool:
    """Tell whether a program of MindJAX is being traced, not only a transformation."""
    frame = current.frame
    return frame is not None and frame.root_frame().root


class Passing(BaseException):
    """What a trace raises for itself, past every handler of the user's."""


class ValuesNeeded(Passing):
    """Ends a trace that needs a value which only a run has.

    Args:
        reason: what was asked for, and where.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ArraysAlone(ValuesNeeded):
    """Ends the trace of a function that gets numpy arrays and calls nothing of MindJAX."""

    REASON = "it computes with numpy arrays alone"

    def __init__(self) -> None:
        super().__init__(self.REASON)


def can_leave() -> bool:
    """Tell whether the graph that is being traced may be given up for a run op by op."""
    return in_graph() and current.frame.root_frame().may_leave  # type: ignore[union-attr]


def need_values(what: str, otherwise: str = "") -> BaseException:
    """Make what is to be raised where a graph needs a value.

    Args:
        what: what is asked for, a noun.
        otherwise: what to do instead, for the error.

    Returns:
        `ValuesNeeded` where the call can run op by op instead, else a RuntimeError.
    """
    if can_leave():
        return ValuesNeeded(f"{what} is asked for [{user_line()}]")
    instead = otherwise or "return it, or run this part in PYNATIVE_MODE"
    return located(
        RuntimeError,
        "A Tensor's values are asked for (asnumpy, item, print, int(), if) while a graph is "
        f"compiled, where it has none yet: {instead}.",
    )
