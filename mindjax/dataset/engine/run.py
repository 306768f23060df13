"""State of one running pipeline: random streams, epoch counts and worker pools of its nodes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from mindjax.dataset import config
from mindjax.dataset.engine import workers
from mindjax.dataset.engine.callbacks import DSCallback, Watch


class Run:
    """What belongs to one iterator and not to the datasets that it runs.

    Args:
        seed: seed of every random stream of the run.
        order: the nodes of the pipeline, in an order that depends on its shape alone.
    """

    def __init__(self, seed: int, order: Iterable[Any]) -> None:
        self.seed = seed
        self._places: dict[int, int] = {}
        # Workers make rows ahead: not where a row waits for what the consumer does with the last.
        self.in_step = False
        for node in order:
            self._places.setdefault(id(node), len(self._places))
            self.in_step |= node._waits()
        self._generators: dict[int, np.random.Generator] = {}
        self._counts: dict[int, int] = {}
        self._pools: dict[int, Any] = {}
        self.epoch = 0
        self._watches: dict[int, Watch] = {}

    def begin_epoch(self) -> None:
        """Begin an epoch of the whole pipeline; callbacks are called from now on."""
        self.epoch += 1

    def end_epoch(self) -> None:
        """End an epoch of the whole pipeline."""
        for watch in self._watches.values():
            watch.leave()

    def watch(self, node: Any, callbacks: list[DSCallback]) -> Watch | None:
        """Give what calls a node's callbacks; None where nobody consumes the rows."""
        if not self.epoch or not callbacks:
            return None
        found = self._watches.get(id(node))
        if found is None:
            found = self._watches[id(node)] = Watch(callbacks)
        found.enter(self.epoch)
        return found

    def follow(self, other: Run) -> None:
        """Call callbacks as part of another run."""
        self.epoch, self._watches = other.epoch, other._watches

    def generator(self, node: Any) -> np.random.Generator:
        """Give a node's random stream, the same object in every epoch."""
        found = self._generators.get(id(node))
        if found is None:
            place = self._places.get(id(node), len(self._places))
            found = self._generators[id(node)] = np.random.default_rng([self.seed, place])
        return found

    def next_count(self, node: Any) -> int:
        """Count how often a node was started before, from 0."""
        count = self._counts.get(id(node), 0)
        self._counts[id(node)] = count + 1
        return count

    def map(
        self,
        node: Any,
        function: Callable[[Any], Any],
        items: Iterable[Any],
        count: int,
        processes: bool,
        what: str,
    ) -> Iterator[Any]:
        """Apply a function to a stream, in order.

        Args:
            node: owner of the workers; they live until the run closes.
            function: what is applied to one item.
            items: the stream.
            count: number of workers; one thread means the caller's own.
            processes: whether workers are processes.
            what: operation's name in messages.

        Returns:
            An iterator over the results.
        """
        if config.get_debug_mode() or self.in_step or (count <= 1 and not processes):
            return map(function, items)
        pool = self._pools.get(id(node))
        if pool is None:
            if processes and workers.can_fork():
                pool = workers.ProcessPool(function, count, what, self.seed)
            else:
                pool = workers.ThreadPool(function, count, what)
            self._pools[id(node)] = pool
        return pool.map(items)

    def close(self) -> None:
        """End all workers."""
        pools, self._pools = self._pools, {}
        for pool in pools.values():
            pool.close()


_local = threading.local()


def draw() -> np.random.Generator:
    """Give the random stream of the row that this thread works on.

    Outside a pipeline it is a stream of the thread's own, seeded from ``config.set_seed``.
    """
    current = getattr(_local, "row", None)
    if current is not None:
        return current
    seed = config.get_seed()
    if getattr(_local, "eager_seed", None) != seed:
        _local.eager_seed = seed
        _local.eager = np.random.default_rng(config.fresh_seed())
    return _local.eager


class row_stream:
    """Context in which ``draw`` gives a stream of its own.

    Args:
        source: the stream, or the seed of a new one.
    """

    def __init__(self, source: np.random.Generator | int) -> None:
        self._source = source

    def __enter__(self) -> None:
        source = self._source
        self._before = getattr(_local, "row", None)
        _local.row = (
            source if isinstance(source, np.random.Generator) else np.random.default_rng(source)
        )

    def __exit__(self, *_: object) -> None:
        _local.row = self._before
