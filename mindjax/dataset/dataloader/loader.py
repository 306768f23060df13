"""The loader: takes samples, puts them together, in the caller or in workers."""

from __future__ import annotations

import collections
import copy
import itertools
import threading
from collections.abc import Callable, Iterator
from concurrent import futures
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.dataloader.collate import default_collate, default_convert
from mindjax.dataset.dataloader.datasets import IterableDataset
from mindjax.dataset.dataloader.samplers import (
    BatchSampler,
    InfiniteSampler,
    RandomSampler,
    SequentialSampler,
    check_kind,
    check_positive,
)

_worker = threading.local()


class WorkerInfo:
    """What a worker knows of itself.

    Args:
        id: its number.
        num_workers: number of workers.
        seed: its seed.
        dataset: its copy of the data set.
    """

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.__dict__.update(id=id, num_workers=num_workers, seed=seed, dataset=dataset)

    id: int
    num_workers: int
    seed: int
    dataset: Any

    def __setattr__(self, key: str, value: Any) -> None:
        """Refuse any change."""
        raise located(RuntimeError, "Cannot modify the attributes of WorkerInfo object.")


def get_worker_info() -> WorkerInfo | None:
    """Give what the worker that runs this knows of itself; None outside of a worker."""
    return getattr(_worker, "info", None)


def _exclusive(condition: Any, name: str, description: str) -> None:
    if condition:
        raise located(ValueError, f"{name} cannot be specified {description}.")


class DataLoader:
    """Gives batches of a data set.

    Args:
        dataset: object with ``__getitem__``, or an ``IterableDataset``.
        batch_size: number of samples in a batch; None gives single samples.
        shuffle: whether the order is random.
        sampler: iterable of numbers of samples.
        batch_sampler: iterable of lists of numbers of samples.
        num_workers: number of threads that load; 0 loads in the caller.
        collate_fn: function that makes a batch of a list of samples; None for the usual one.
        pin_memory: only False: there is no memory of its own for transfers.
        drop_last: whether a smaller last batch is left out.
        timeout: seconds to wait for a batch of a worker; 0 for ever.
        worker_init_fn: function of a worker's number, called when the worker begins.
        multiprocessing_context: only None: workers are threads.
        generator: numpy's generator of the order and of the workers' seeds.
        prefetch_factor: batches that each worker loads ahead; None for 2.
        persistent_workers: whether workers stay from one epoch to the next.
        in_order: whether batches come in order, and not as they are ready.
    """

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        batch_sampler: Any = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0.0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: np.random.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        in_order: bool = True,
    ) -> None:
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            for name, given in (
                ("shuffle", shuffle),
                ("sampler", sampler is not None),
                ("batch_sampler", batch_sampler is not None),
            ):
                _exclusive(given, name, "when dataset is iterable style")
        elif not hasattr(dataset, "__getitem__"):
            raise located(
                NotImplementedError,
                f"{type(dataset).__name__} should implement __getitem__ method if it is map style.",
            )
        check_kind("batch_size", batch_size, int, optional=True)
        check_positive("batch_size", batch_size)
        check_kind("shuffle", shuffle, bool, optional=True)
        if sampler is not None and shuffle:
            raise located(ValueError, "sampler cannot be specified with shuffle.")
        if batch_sampler is not None:
            for name, given in (
                ("batch_size", batch_size != 1),
                ("shuffle", shuffle),
                ("sampler", sampler is not None),
                ("drop_last", drop_last),
            ):
                _exclusive(given, name, "with batch_sampler")
        self._check_workers(
            num_workers, pin_memory, drop_last, timeout, multiprocessing_context, prefetch_factor
        )
        check_kind("generator", generator, np.random.Generator, optional=True)
        check_kind("persistent_workers", persistent_workers, bool)
        if persistent_workers and num_workers <= 0:
            raise located(
                ValueError,
                "persistent_workers must only be specified when num_workers is greater than 0.",
            )
        check_kind("in_order", in_order, bool)
        self.dataset, self.num_workers, self.timeout = dataset, num_workers, timeout
        self.worker_init_fn, self.persistent_workers = worker_init_fn, persistent_workers
        self.in_order, self.prefetch_factor = in_order, prefetch_factor or 2
        self.generator = np.random.default_rng() if generator is None else generator
        if sampler is None:
            if self._iterable:
                sampler = InfiniteSampler()
            elif shuffle:
                sampler = RandomSampler(dataset, generator=self.generator)
            else:
                sampler = SequentialSampler(dataset)
        self.sampler = sampler
        if batch_sampler is not None:
            batch_size, drop_last = None, False
        elif batch_size is not None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.batch_size, self.drop_last, self.batch_sampler = batch_size, drop_last, batch_sampler
        batched = batch_sampler is not None
        self.collate_fn = collate_fn or (default_collate if batched else default_convert)
        self._workers: list[_Worker] | None = None

    @staticmethod
    def _check_workers(
        num_workers: Any, pin_memory: Any, drop_last: Any, timeout: Any, context: Any, ahead: Any
    ) -> None:
        check_kind("num_workers", num_workers, int)
        check_kind("pin_memory", pin_memory, bool)
        check_kind("drop_last", drop_last, bool)
        check_kind("timeout", timeout, (int, float))
        for name, value in (("num_workers", num_workers), ("timeout", timeout)):
            if value < 0:
                raise located(ValueError, f"{name} must be non-negative, but got: {value}.")
        for name, value in (("multiprocessing_context", context), ("prefetch_factor", ahead)):
            if value is not None and num_workers <= 0:
                raise located(
                    ValueError,
                    f"{name} must only be specified when num_workers is greater than 0, but got: "
                    f"{value}.",
                )
        check_kind("prefetch_factor", ahead, int, optional=True)
        check_positive("prefetch_factor", ahead)
        if pin_memory or context is not None:
            name = "pin_memory" if pin_memory else "multiprocessing_context"
            raise located(
                NotImplementedError,
                f"For 'DataLoader', {name} is not supported: leave it out; workers are threads, "
                "and Tensors are copied to the device from any memory.",
            )

    def __len__(self) -> int:
        """Count the batches of an epoch."""
        if not self._iterable:
            return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
        size = len(self.dataset)
        if self.batch_size is None:
            return size
        return size // self.batch_size if self.drop_last else -(-size // self.batch_size)

    def __iter__(self) -> Iterator[Any]:
        """Begin an epoch."""
        if self.num_workers == 0:
            return self._serial(self.dataset)
        return self._parallel()

    def _requests(self) -> Iterator[Any]:
        return iter(self.sampler if self.batch_sampler is None else self.batch_sampler)

    def _take(self, dataset: Any, request: Any) -> Any:
        if self.batch_sampler is None:
            return self.collate_fn(dataset[request])
        return self.collate_fn([dataset[number] for number in request])

    def _serial(self, dataset: Any) -> Iterator[Any]:
        if not self._iterable:
            for request in self._requests():
                yield self._take(dataset, request)
            return
        samples = iter(dataset)
        if self.batch_size is None:
            yield from map(self.collate_fn, samples)
            return
        while batch := list(itertools.islice(samples, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield self.collate_fn(batch)

    def _started(self) -> list[_Worker]:
        if self._workers is not None:
            return self._workers
        seed = int(self.generator.integers(0, 2**63 - 1))
        workers = [_Worker(self, number, seed + number) for number in range(self.num_workers)]
        if self.persistent_workers:
            self._workers = workers
        return workers

    def _parallel(self) -> Iterator[Any]:
        workers = self._started()
        try:
            if self._iterable:
                yield from self._from_streams(workers)
            else:
                yield from self._from_requests(workers)
        finally:
            if workers is not self._workers:
                for worker in workers:
                    worker.pool.shutdown(wait=False, cancel_futures=True)

    def _result(self, waiting: collections.deque[Any]) -> Any:
        seconds = self.timeout or None
        if self.in_order:
            chosen = waiting[0]
            done, _ = futures.wait([chosen], seconds)
        else:
            done, _ = futures.wait(waiting, seconds, futures.FIRST_COMPLETED)
            chosen = next((each for each in waiting if each in done), waiting[0])
        if not done:
            raise located(
                RuntimeError, f"DataLoader timed out after {self.timeout} seconds; see 'timeout'."
            )
        waiting.remove(chosen)
        return chosen.result()

    def _from_requests(self, workers: list[_Worker]) -> Iterator[Any]:
        turns, waiting = itertools.cycle(workers), collections.deque()
        requests = self._requests()
        room = self.num_workers * self.prefetch_factor
        while True:
            for request in itertools.islice(requests, room - len(waiting)):
                worker = next(turns)
                waiting.append(worker.pool.submit(self._take, worker.dataset, request))
            if not waiting:
                return
            yield self._result(waiting)

    def _from_streams(self, workers: list[_Worker]) -> Iterator[Any]:
        end = object()
        streams = [(worker, self._serial(worker.dataset)) for worker in workers]
        turns, waiting = collections.deque(streams), collections.deque()
        room = self.num_workers * self.prefetch_factor
        finished: set[int] = set()

        def step(worker: _Worker, stream: Iterator[Any]) -> Any:
            batch = next(stream, end)
            if batch is end:
                finished.add(id(worker))
            return batch

        while turns or waiting:
            while turns and len(waiting) < room:
                worker, stream = turns.popleft()
                if id(worker) not in finished:
                    waiting.append(worker.pool.submit(step, worker, stream))
                    turns.append((worker, stream))
            if waiting and (batch := self._result(waiting)) is not end:
                yield batch


class _Worker:
    """A thread with a copy of the data set."""

    def __init__(self, loader: DataLoader, number: int, seed: int) -> None:
        self.dataset = copy.copy(loader.dataset)
        info = WorkerInfo(number, loader.num_workers, seed, self.dataset)

        def begin() -> None:
            _worker.info = info
            if loader.worker_init_fn is not None:
                loader.worker_init_fn(number)

        self.pool = futures.ThreadPoolExecutor(1, f"DataLoader worker {number}", begin)
