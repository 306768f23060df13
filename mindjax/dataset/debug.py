"""Hooks that look at data between the operations of ``map`` (MindSpore: ``dataset.debug``)."""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Sequence, Sized
from typing import Any

import numpy as np

__all__ = ["DebugHook", "PrintDataHook", "PrintMetaDataHook"]


class DebugHook(ABC):
    """Base of hooks: override ``compute``, or put a breakpoint there.

    Hooks act in debug mode, which ``config.set_debug_mode`` switches on, or as an operation of
    ``map``.

    Args:
        prev_op_name: name of the operation before it.
    """

    def __init__(self, prev_op_name: str | None = None) -> None:
        self.prev_op_name = prev_op_name
        self.is_first_op: bool | None = None

    def __call__(self, *args: Any) -> Any:
        """Say where it is and look at the columns, which stay as they are."""
        if self.prev_op_name:
            side = "INPUT" if self.is_first_op else "OUTPUT"
            print(
                f"[Dataset debugger] Print the [{side}] of the operation [{self.prev_op_name}].",
                flush=True,
            )
        self.compute(args)
        return args

    @abstractmethod
    def compute(self, *args: Any) -> Any:
        """Look at the data.

        Args:
            *args: one tuple: the columns of a row.
        """

    def set_previous_op_name(self, prev_op_name: str) -> None:
        """Set the name of the operation before it."""
        self.prev_op_name = prev_op_name

    def set_is_first(self, is_first_op: bool) -> None:
        """Set whether it sees what goes into the first operation."""
        self.is_first_op = is_first_op


class PrintMetaDataHook(DebugHook):
    """Prints the types and shapes of the columns."""

    def __init__(self) -> None:
        super().__init__()

    def compute(self, *args: Any) -> Any:
        """Print a line a column."""
        for place, column in enumerate(*args):
            print(f"Column {place}. {_described(column)}", flush=True)
        return args


class PrintDataHook(DebugHook):
    """Prints the columns."""

    def __init__(self) -> None:
        super().__init__()

    def compute(self, *args: Any) -> Any:
        """Print a line a column."""
        for place, column in enumerate(*args):
            data = np.asarray(column) if _is_image(column) else column
            print(f"Column {place}. The data is [{data}].", flush=True)
        return args


def _described(column: Any) -> str:
    if isinstance(column, np.ndarray):
        return f"The dtype is [{column.dtype}]. The shape is [{column.shape}]."
    if _is_image(column):
        return f"The type is [{type(column)}]. The shape is [{column.size}]."
    if isinstance(column, Sized):
        return f"The type is [{type(column)}]. The size is [{len(column)}]."
    return ""


def _is_image(column: Any) -> bool:
    return type(column).__module__.startswith("PIL.")


def show(hooks: Sequence[DebugHook], name: str, first: bool, columns: tuple[Any, ...]) -> None:
    """Let hooks look at the columns of a row.

    Args:
        hooks: the hooks.
        name: name of the operation before them; of the one after them when ``first``.
        first: whether the columns go into the first operation.
        columns: the columns.
    """
    for hook in hooks:
        own = copy.copy(hook)
        own.set_previous_op_name(name)
        own.set_is_first(first)
        own(*columns)
