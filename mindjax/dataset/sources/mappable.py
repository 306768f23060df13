"""The base of sources whose rows have numbers, and of those that lie in arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.engine.dataset import Dataset
from mindjax.dataset.engine.mapping import refuse_unsupported
from mindjax.dataset.engine.plan import Plan
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import Sampler, check_num_samples, select_sampler


class SourceDataset(Dataset):
    """Base of all sources."""


class MappableDataset(SourceDataset):
    """A source whose rows have numbers, read in the order of a sampler.

    Args:
        num_parallel_workers: number of workers that read.
        num_samples: at most so many rows.
        sampler: a ``Sampler`` or an iterable of row numbers.
        shuffle: whether the order is random; None for yes.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    sampler: Sampler | None

    def __init__(
        self,
        num_parallel_workers: int | None = None,
        num_samples: int | None = None,
        sampler: Any = None,
        shuffle: bool | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__((), num_parallel_workers)
        owner = type(self).__name__
        refuse_unsupported(owner, cache=cache)
        self.num_samples = check_num_samples(owner, num_samples)
        self.sampler = select_sampler(owner, num_samples, sampler, shuffle, num_shards, shard_id)

    def _length(self) -> int:
        raise NotImplementedError(type(self).__name__)

    def _labels(self) -> Any:
        return None

    def _indices(self, run: Run) -> np.ndarray:
        assert self.sampler is not None
        return self.sampler.indices(self._length(), run.generator(self), self._labels())

    def _size(self) -> int:
        assert self.sampler is not None
        return self.sampler.count(self._length(), self._labels())

    def is_shuffled(self) -> bool:
        """Tell whether the order of rows is random."""
        return self.sampler is not None and self.sampler.is_shuffled()

    def is_sharded(self) -> bool:
        """Tell whether this is one shard of several."""
        return self.sampler is not None and self.sampler.is_sharded()


class ArrayDataset(MappableDataset):
    """A source whose columns lie in memory as arrays of equal length."""

    def _arrays(self) -> Sequence[np.ndarray]:
        raise NotImplementedError(type(self).__name__)

    def _length(self) -> int:
        return len(self._arrays()[0])

    def _plan(self, run: Run) -> Plan | None:
        arrays = self._arrays()

        def gather(index: np.ndarray) -> tuple[np.ndarray, ...]:
            return tuple([array.take(index, axis=0) for array in arrays])

        def chunks() -> Iterator[np.ndarray]:
            yield self._indices(run)

        return Plan(chunks(), gather)


def check_folder(owner: str, folder: Any, name: str = "dataset_dir") -> str:
    """Give a folder as a text.

    Raises:
        TypeError: it is no path.
        ValueError: there is no such folder.
    """
    check_type(owner, name, folder, (str, os.PathLike))
    if not os.path.isdir(folder) or not os.access(folder, os.R_OK):
        raise located(
            ValueError,
            f"For '{owner}': The folder {folder} does not exist or is not a directory or "
            "permission denied!",
        )
    return os.fspath(folder)


class FolderDataset(ArrayDataset):
    """A source of images and labels that lie in the files of one folder.

    A subclass says which parts there are (``_usages``).

    Args:
        dataset_dir: the folder.
        usage: which part; None for all.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; the files are read at once.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    _usages: ClassVar[tuple[str, ...]] = ("train", "test", "all")

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(
            num_parallel_workers, num_samples, sampler, shuffle, num_shards, shard_id, cache
        )
        owner = type(self).__name__
        self.dataset_dir = check_folder(owner, dataset_dir)
        if usage is not None:
            check_type(owner, "usage", usage, str)
            if usage not in self._usages:
                raise located(
                    ValueError,
                    f"For '{owner}': Input usage is not within the valid set of "
                    f"{list(self._usages)}, but got {usage!r}.",
                )
        self.usage = usage or "all"
        self._loaded: list[np.ndarray] | None = None

    def _columns(self) -> list[str]:
        return ["image", "label"]

    def _read(self) -> list[np.ndarray]:
        raise NotImplementedError(type(self).__name__)

    def _arrays(self) -> Sequence[np.ndarray]:
        if self._loaded is None:
            self._loaded = self._read()
        return self._loaded

    def _labels(self) -> Any:
        return lambda: self._arrays()[1]
