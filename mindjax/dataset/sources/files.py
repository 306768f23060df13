"""The base of sources whose rows lie in files one after the other: which are read, and when."""

from __future__ import annotations

import glob
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import Shuffle, check_shards
from mindjax.dataset.sources.mappable import MappableDataset


def find_files(owner: str, dataset_files: Any) -> list[str]:
    """Give the files that paths and patterns name, sorted.

    Raises:
        TypeError: it is neither a text nor a list.
        ValueError: it is empty, or a pattern names no file.
    """
    check_type(owner, "dataset files", dataset_files, (str, list))
    if not dataset_files:
        raise located(
            ValueError,
            f"For '{owner}': Input dataset_files can not be empty, but got {dataset_files!r}.",
        )
    found, missing = [], []
    for pattern in [dataset_files] if isinstance(dataset_files, str) else dataset_files:
        matches = glob.glob(pattern, recursive=True)
        found += matches
        missing += [] if matches else [pattern]
    if missing:
        raise located(
            ValueError, f"For '{owner}': The following patterns did not match any files: {missing}."
        )
    return sorted(found)


class FilesDataset(MappableDataset):
    """A source whose rows lie in files.

    A subclass says how many rows each file has (``_counts``) and, by ``_whole_files``, whether a
    shard is made of whole files.

    Args:
        dataset_files: the files.
        num_samples: at most so many rows.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: False for the order of the files, True or ``Shuffle.GLOBAL`` for rows in random
            order, ``Shuffle.FILES`` for files in random order.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    _whole_files = False

    def __init__(
        self,
        dataset_files: list[str],
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = type(self).__name__
        self.dataset_files = dataset_files
        if shuffle is not None and not isinstance(shuffle, bool | Shuffle):
            raise located(
                TypeError,
                f"For '{owner}': shuffle must be of boolean or enum of 'Shuffle' values like "
                f"'Shuffle.GLOBAL' or 'Shuffle.FILES', but got {shuffle!r}.",
            )
        level = Shuffle.GLOBAL if shuffle in (None, True) else shuffle
        if level not in (False, Shuffle.GLOBAL, Shuffle.FILES):
            raise located(
                ValueError, f"For '{owner}': shuffle {shuffle} is not there: use Shuffle.GLOBAL."
            )
        check_shards(owner, num_shards, shard_id)
        super().__init__(
            num_parallel_workers, num_samples, None, level == Shuffle.GLOBAL, cache=cache
        )
        self._by_files = level == Shuffle.FILES
        self.num_shards, self.shard_id = num_shards, shard_id
        self._turns: np.ndarray | None = None
        self._file_of: np.ndarray = np.zeros(0, np.int64)

    def _counts(self) -> list[int]:
        raise NotImplementedError(type(self).__name__)

    def is_sharded(self) -> bool:
        """Tell whether this is one shard of several."""
        return self.num_shards is not None

    def _order(self) -> np.ndarray:
        """Give this shard's rows, by their numbers in all the files, in the order of reading."""
        if self._turns is None:
            counts = self._counts()
            files = np.repeat(np.arange(len(counts)), counts)
            rows = self._in_turn(self._own_part(files), files)
            if not len(rows):
                raise located(
                    RuntimeError,
                    f"Invalid data, {type(self).__name__} API can't read the data file (interface "
                    f"mismatch or no data found). Check {self.dataset_files}.",
                )
            self._turns, self._file_of = rows, files[rows]
        return self._turns

    def _own_part(self, files: np.ndarray) -> np.ndarray:
        """Give this shard's rows: as many as any other's, from the start again at the end."""
        rows = np.arange(len(files))
        if self.num_shards is None or not len(rows):
            return rows
        assert self.shard_id is not None
        if self._whole_files:
            return rows[files % self.num_shards == self.shard_id]
        count = -(-len(rows) // self.num_shards)
        return (self.shard_id * count + np.arange(count)) % len(rows)

    def _in_turn(self, rows: np.ndarray, files: np.ndarray) -> np.ndarray:
        """Take a row of each file in turn, of as many files at a time as there are workers."""
        if not len(rows):
            return rows
        workers = self.num_parallel_workers or config.get_num_parallel_workers()
        _, first, which = np.unique(files[rows], return_index=True, return_inverse=True)
        turn = np.argsort(np.argsort(first))[which]
        rows = rows[np.argsort(turn, kind="stable")]
        queue = np.sort(turn, kind="stable") % workers
        step = np.empty(len(rows), np.int64)
        for number in range(min(workers, len(first))):
            own = queue == number
            step[own] = np.arange(own.sum())
        return rows[np.lexsort((queue, step))]

    def _length(self) -> int:
        return len(self._order())

    def _indices(self, run: Run) -> np.ndarray:
        if not self._by_files:
            return super()._indices(run)
        self._order()
        order = run.generator(self).permutation(len(self.dataset_files))
        chosen = np.concatenate([np.flatnonzero(self._file_of == number) for number in order])
        return chosen[: self.num_samples]
