"""Checks of the order of collectives: XLA's programs of all ranks have one."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located


def comm_exec_order_check(action: str) -> None:
    """Refuse: the original writes down the order in which its kernels run.

    Args:
        action: ``"start"`` or ``"end"``.

    Raises:
        ValueError: ``action`` is none of these.
        NotImplementedError: always.
    """
    if action not in ("start", "end"):
        raise located(
            ValueError,
            "For 'comm_exec_order_check', the 'action' must be 'start' or 'end', but got "
            f"{action}.",
        )
    raise _refused("comm_exec_order_check", "action", action)


def runtime_execution_order_check(folders_: Any, all_rank: Any = None) -> None:
    """Refuse: the original compares files of the order in which its kernels ran.

    Args:
        folders_: folders of those files.
        all_rank: number of ranks.

    Raises:
        NotImplementedError: always.
    """
    raise _refused("runtime_execution_order_check", "folders_", folders_)


def _refused(name: str, argument: str, value: Any) -> NotImplementedError:
    return located(
        NotImplementedError,
        f"For '{name}', the '{argument}' {value!r}: collectives of a program run in program order "
        "on every rank; the profiler's timeline shows them.",
    )
