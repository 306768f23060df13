"""Samplers of a ``DataLoader``: iterables of numbers of samples, or of lists of them."""

from __future__ import annotations

import importlib
import itertools
import math
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from mindjax.core.errors import located

T_co = TypeVar("T_co", covariant=True)


def check_kind(name: str, value: Any, kind: Any, optional: bool = False) -> None:
    """Refuse a value of another type; a ``bool`` is no number."""
    if optional and value is None:
        return
    stray = isinstance(value, bool) and kind is not bool
    if stray or not isinstance(value, kind):
        raise located(TypeError, f"{name} must be {kind}, but got: {type(value).__name__}.")


def check_positive(name: str, value: Any) -> None:
    """Refuse a number below 1."""
    if value is not None and value <= 0:
        raise located(ValueError, f"{name} must be positive, but got: {value}.")


class Sampler(Generic[T_co]):
    """Base of samplers.

    Args:
        data_source: data set that numbers are drawn for.
    """

    def __init__(self, data_source: Any = None) -> None:
        pass


class SequentialSampler(Sampler[int]):
    """Gives all numbers in order.

    Args:
        data_source: data set with a length.
    """

    def __init__(self, data_source: Any) -> None:
        super().__init__(data_source)
        self.data_source = data_source

    def __iter__(self) -> Iterator[int]:
        """Begin with 0."""
        yield from range(len(self.data_source))

    def __len__(self) -> int:
        """Count the numbers."""
        return len(self.data_source)


class RandomSampler(Sampler[int]):
    """Gives numbers in random order.

    Args:
        data_source: data set with a length.
        replacement: whether a number may come again.
        num_samples: how many; None for the data set's length.
        generator: numpy's generator; None for a new one each time.
    """

    def __init__(
        self,
        data_source: Any,
        replacement: bool = False,
        num_samples: int | None = None,
        generator: np.random.Generator | None = None,
    ) -> None:
        super().__init__(data_source)
        check_kind("replacement", replacement, bool)
        check_kind("num_samples", num_samples, int, optional=True)
        check_positive("num_samples", num_samples)
        check_kind("generator", generator, np.random.Generator, optional=True)
        self.data_source, self.replacement = data_source, replacement
        self._num_samples, self.generator = num_samples, generator

    @property
    def num_samples(self) -> int:
        """How many numbers there are."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        """Begin a new order."""
        generator, size = self.generator, len(self.data_source)
        if generator is None:
            generator = np.random.default_rng(np.random.randint(0, 2**63 - 1, dtype=np.int64))
        if self.replacement:
            yield from generator.integers(0, size, self.num_samples).tolist()
            return
        left = self.num_samples
        while left > 0:
            yield from generator.permutation(size).tolist()[:left]
            left -= size

    def __len__(self) -> int:
        """Count the numbers."""
        return self.num_samples


class BatchSampler(Sampler[list[int]]):
    """Gives lists of a sampler's numbers.

    Args:
        sampler: iterable of numbers.
        batch_size: length of a list.
        drop_last: whether a shorter last list is left out.
    """

    def __init__(self, sampler: Any, batch_size: int, drop_last: bool) -> None:
        super().__init__()
        check_kind("batch_size", batch_size, int)
        check_positive("batch_size", batch_size)
        check_kind("drop_last", drop_last, bool)
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        """Begin with the first list."""
        numbers = iter(self.sampler)
        while batch := list(itertools.islice(numbers, self.batch_size)):
            if len(batch) < self.batch_size and self.drop_last:
                return
            yield batch

    def __len__(self) -> int:
        """Count the lists."""
        if self.drop_last:
            return len(self.sampler) // self.batch_size
        return (len(self.sampler) - 1) // self.batch_size + 1


class InfiniteSampler(Sampler[None]):
    """Gives None for ever: what an iterable data set is asked for."""

    def __iter__(self) -> Iterator[None]:
        """Begin."""
        while True:
            yield None


class DistributedSampler(Sampler[int]):
    """Gives one process its share of the numbers.

    Args:
        dataset: data set with a length.
        num_replicas: number of processes; None for that of ``mint.distributed``.
        rank: which process this is; None for that of ``mint.distributed``.
        shuffle: whether the order is random.
        seed: seed of the order, alike in all processes.
        drop_last: whether numbers are left out, and not repeated, to give all as many.
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        super().__init__(dataset)
        check_kind("num_replicas", num_replicas, int, optional=True)
        check_kind("rank", rank, int, optional=True)
        check_kind("shuffle", shuffle, bool)
        check_kind("seed", seed, int)
        check_kind("drop_last", drop_last, bool)
        if num_replicas is None or rank is None:
            distributed = importlib.import_module("mindjax.mint.distributed")
            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        assert num_replicas is not None and rank is not None
        if num_replicas <= 0:
            raise located(
                ValueError,
                f"Invalid num_replicas: {num_replicas}, num_replicas must be greater than 0.",
            )
        if not 0 <= rank < num_replicas:
            raise located(
                ValueError,
                f"Invalid rank: {rank}, rank must be in the interval [0, {num_replicas - 1}].",
            )
        self.dataset, self.num_replicas, self.rank = dataset, num_replicas, rank
        self.shuffle, self.seed, self.drop_last, self.epoch = shuffle, seed, drop_last, 0
        size = len(dataset)
        self.num_samples = size // num_replicas if drop_last else math.ceil(size / num_replicas)
        self.total_samples = self.num_samples * num_replicas

    def __iter__(self) -> Iterator[int]:
        """Begin the order of this epoch."""
        size = len(self.dataset)
        order = np.arange(size)
        if self.shuffle:
            order = np.random.default_rng(self.seed + self.epoch).permutation(size)
        return iter(np.resize(order, self.total_samples)[self.rank :: self.num_replicas].tolist())

    def __len__(self) -> int:
        """Count the numbers of this process."""
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch, so that the next order is another one.

        Args:
            epoch: its number.
        """
        check_kind("epoch", epoch, int)
        self.epoch = epoch
