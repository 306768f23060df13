"""Epochs of array-backed pipelines as index arithmetic: rows are only touched batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

# Rows of one gather when a consumer wants single rows; bounds memory, not results.
BLOCK = 64


@dataclass(frozen=True)
class Plan:
    """One epoch of a pipeline over arrays.

    Args:
        chunks: row numbers of the source, int64 arrays, in order; may be endless.
        gather: gives the columns of some rows, each stacked along axis 0.
    """

    chunks: Iterator[np.ndarray]
    gather: Callable[[np.ndarray], tuple[np.ndarray, ...]]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Yield single rows."""
        for index in self.batches(BLOCK, False):
            columns = self.gather(index)
            for place in range(len(index)):
                yield tuple([column[place, ...] for column in columns])

    def batches(self, size: int, drop_remainder: bool) -> Iterator[np.ndarray]:
        """Yield row numbers in arrays of ``size``, the last one shorter or dropped."""
        held: list[np.ndarray] = []
        count = 0
        for chunk in self.chunks:
            start = 0
            while count + len(chunk) - start >= size:
                stop = start + size - count
                held.append(chunk[start:stop])
                yield held[0] if len(held) == 1 else np.concatenate(held)
                held, count, start = [], 0, stop
            if start < len(chunk):
                held.append(chunk[start:])
                count += len(chunk) - start
        if count and not drop_remainder:
            yield np.concatenate(held)


def take(chunks: Iterator[np.ndarray], count: int) -> Iterator[np.ndarray]:
    """Yield the first ``count`` row numbers."""
    for chunk in chunks:
        yield chunk[:count]
        count -= len(chunk)
        if count <= 0:
            return


def skip(chunks: Iterator[np.ndarray], count: int) -> Iterator[np.ndarray]:
    """Yield all but the first ``count`` row numbers."""
    for chunk in chunks:
        if count < len(chunk):
            yield chunk[count:]
        count = max(0, count - len(chunk))


def shuffle(
    chunks: Iterator[np.ndarray], buffer_size: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Yield row numbers as ``shuffle_rows`` does rows."""
    first = next(chunks, None)
    if first is None:
        return
    second = next(chunks, None)
    if second is None and len(first) <= buffer_size:
        yield rng.permutation(first)
        return

    def single() -> Iterator[int]:
        for chunk in (first, second):
            if chunk is not None:
                yield from chunk
        for chunk in chunks:
            yield from chunk

    block: list[int] = []
    for value in shuffle_rows(single(), buffer_size, rng):
        block.append(value)
        if len(block) == BLOCK:
            yield np.asarray(block, np.int64)
            block = []
    if block:
        yield np.asarray(block, np.int64)


def shuffle_rows(rows: Iterator[Any], buffer_size: int, rng: np.random.Generator) -> Iterator[Any]:
    """Yield rows from random places of a buffer that is refilled from the stream."""
    buffer: list[Any] = []
    draws: Iterator[int] = iter(())
    for row in rows:
        if len(buffer) < buffer_size:
            buffer.append(row)
            continue
        place = next(draws, None)
        if place is None:
            draws = iter(rng.integers(0, buffer_size, 1024).tolist())
            place = next(draws)
        chosen, buffer[place] = buffer[place], row
        yield chosen
    for place in rng.permutation(len(buffer)):
        yield buffer[place]
