"""Data sinking: steps of a training run in blocks, each block one program on the device."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from mindjax.graph.flow import LoopWritesAttributes
from mindjax.graph.sinking import SlowInLoop, SunkCalls, stack, take
from mindjax.nn.cell import Cell
from mindjax.tensor.tensor import Tensor
from mindjax.train.callback.base import Callback
from mindjax.train.callback.monitors import LossMonitor, TimeMonitor

# What one block's rows may take, and how many there may be.
_BYTES = 64 << 20
_STEPS = 256
_OF_STEPS = ("step_begin", "step_end", "on_train_step_begin", "on_train_step_end")

Row = tuple[Any, ...]


def watches_steps(callback: Callback) -> bool:
    """Tell whether a callback may look at, or change, the training between two steps.

    Args:
        callback: any; those that only read the loss do not count.
    """
    kind = type(callback)
    if kind in (LossMonitor, TimeMonitor):
        return False
    return any(getattr(kind, n) is not getattr(Callback, n) for n in _OF_STEPS)


class SunkSteps:
    """The steps of a training network, block by block.

    Args:
        network: Cell of one training step.
    """

    def __init__(self, network: Cell) -> None:
        self._calls = SunkCalls(network)
        self._steps, self._sink_size = 1, -1
        self._works = True

    def begin(self, steps: int, sink_size: int) -> None:
        """Begin a training; programs of earlier ones are kept.

        Args:
            steps: steps of an epoch.
            sink_size: steps of a block; -1 for as many as fit.
        """
        self._steps, self._sink_size = steps, sink_size

    def blocks(self, rows: Iterable[Row]) -> Iterator[tuple[list[Row], Any]]:
        """Run a training.

        Args:
            rows: of the data set.

        Returns:
            Blocks of rows, each with the steps' stacked outputs, or with None if the block's steps
            are still to be run one by one.
        """
        rows = iter(rows)
        first = next(rows, None)
        if first is None:
            return
        rows = itertools.chain([first], rows)
        length = self._length(first)
        while block := list(itertools.islice(rows, length)):
            yield block, self._run(block, length)

    def _length(self, row: Row) -> int:
        """Give the steps of a block: blocks of one length, of which few steps are left over."""
        size = sum(t.nbytes for t in row if isinstance(t, Tensor))
        most = max(1, min(_STEPS, _BYTES // max(size, 1)))
        if 0 < self._sink_size <= most:
            return self._sink_size
        blocks = -(-self._steps // most)
        return max(1, self._steps // blocks)

    def _run(self, block: list[Row], length: int) -> Any:
        # A shorter block would be a program of its own.
        if not self._works or length < 2 or len(block) < length:
            return None
        if not all(isinstance(t, Tensor) for row in block for t in row):
            return None
        columns = stack(block)
        if columns is None:
            return None
        try:
            return self._calls(columns)
        except (LoopWritesAttributes, SlowInLoop):
            self._works = False
            return None


class Outputs:
    """The outputs of a block's steps, read when they are asked for.

    Args:
        stacked: what the block's program returned.
    """

    def __init__(self, stacked: Any) -> None:
        self._stacked = stacked
        self._host: Any = None

    def last(self) -> Any:
        """Give the last step's output without waiting for it."""
        return take(self._stacked, -1)

    def row(self, index: int) -> Any:
        """Wait for the block and give a step's output.

        Args:
            index: of the step in the block.
        """
        if self._host is None:
            self._host = _on_host(self._stacked)
        return _row(self._host, index)


def _on_host(tree: Any) -> Any:
    if isinstance(tree, Tensor):
        return tree.asnumpy()
    if isinstance(tree, tuple | list):
        return type(tree)(_on_host(t) for t in tree)
    if isinstance(tree, dict):
        return {k: _on_host(v) for k, v in tree.items()}
    return tree


def _row(tree: Any, index: int) -> Any:
    if isinstance(tree, np.ndarray):
        return Tensor(tree[index])
    if isinstance(tree, tuple | list):
        return type(tree)(_row(t, index) for t in tree)
    if isinstance(tree, dict):
        return {k: _row(v, index) for k, v in tree.items()}
    return tree
