"""Rows that wait for their consumer: ``sync_wait`` and ``sync_update``."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.engine.dataset import Dataset
from mindjax.dataset.engine.run import Run


class Gate:
    """Lets so many rows pass, and more when it is told to.

    Args:
        rows: how many pass at the start of each epoch.
        callback: called with the data of each update, or None.
    """

    def __init__(self, rows: int, callback: Callable[[Any], Any] | None) -> None:
        self.rows, self.callback = rows, callback
        self._free = rows
        self._open = False
        self._changed = threading.Condition()

    def begin(self) -> None:
        """Begin an epoch."""
        with self._changed:
            self._free = self.rows

    def grow(self, factor: int) -> None:
        """Count rows instead of batches of that size."""
        self.rows *= factor

    def wait(self) -> None:
        """Wait until a row may pass; in vain, it opens for good, with a warning."""
        with self._changed:
            seconds = config.get_callback_timeout()
            if not self._changed.wait_for(lambda: self._open or self._free > 0, seconds):
                warnings.warn(
                    f"sync_wait waited {seconds} s and no longer does: is "
                    "dataset.sync_update(condition_name) called after each batch?",
                    UserWarning,
                    stacklevel=2,
                )
                self._open = True
            self._free -= 1

    def update(self, rows: int | None, data: Any) -> None:
        """Let more rows pass: so many, or as many as at an epoch's start."""
        with self._changed:
            self._free += self.rows if rows is None else rows
            if self.callback is not None:
                self.callback(data)
            self._changed.notify_all()

    def open(self) -> None:
        """Let all rows pass from now on."""
        with self._changed:
            self._open = True
            self._changed.notify_all()


class SyncWaitDataset(Dataset):
    """Rows that pass when ``sync_update`` lets them.

    Args:
        input_dataset: what it reads.
        condition_name: name of the condition.
        num_batch: batches that pass at the start of each epoch.
        callback: called with the data of each update.
    """

    def __init__(
        self,
        input_dataset: Dataset,
        condition_name: str,
        num_batch: int,
        callback: Callable[[Any], Any] | None = None,
    ) -> None:
        super().__init__([input_dataset])
        check_type("sync_wait", "condition_name", condition_name, str)
        check_type("sync_wait", "num_batch", num_batch, int)
        if num_batch <= 0:
            raise located(ValueError, "num_batch need to be greater than 0.")
        if callback is not None and not callable(callback):
            raise located(TypeError, f"callback is not a function, but got {callback!r}.")
        if condition_name in gates(input_dataset):
            raise located(RuntimeError, "Condition name is already in use.")
        self.condition_name = condition_name
        self.gate = Gate(num_batch, callback)

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        self.gate.begin()
        rows = self.children[0]._stream(run)
        while True:
            self.gate.wait()
            row = next(rows, None)
            if row is None:
                return
            yield row

    def _waits(self) -> bool:
        return True


def gates(dataset: Dataset) -> dict[str, Gate]:
    """Give the gates of a pipeline by the names of their conditions."""
    return {
        node.condition_name: node.gate
        for node in dataset._nodes()
        if isinstance(node, SyncWaitDataset)
    }


def grown(batched: Any) -> Any:
    """Let the gates below a ``batch`` count its batches; gives the ``batch``."""
    if isinstance(batched.batch_size, int):
        for gate in gates(batched).values():
            gate.grow(batched.batch_size)
    return batched


def update(dataset: Dataset, condition_name: str, num_batch: int | None, data: Any) -> None:
    """Let rows pass; see ``Dataset.sync_update``."""
    check_type("sync_update", "condition_name", condition_name, str)
    if num_batch is not None and (not isinstance(num_batch, int) or num_batch <= 0):
        raise located(
            RuntimeError,
            f"Sync_update batch size can only be positive integer, got: {num_batch}.",
        )
    gate = gates(dataset).get(condition_name)
    if gate is None:
        raise located(RuntimeError, "Condition name not found.")
    if num_batch is None:
        gate.update(None, data)
        return
    size = dataset.get_batch_size()
    if size <= 0:
        raise located(
            RuntimeError, f"Sync_update batch size can only be positive integer, got: {size}."
        )
    gate.update(num_batch * size, data)
