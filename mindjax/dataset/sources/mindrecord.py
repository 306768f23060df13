"""Rows of MindRecord files (MindSpore: ``MindDataset``)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.engine.failures import pipeline_error
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import (
    DistributedSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
    SubsetSampler,
    check_num_samples,
)
from mindjax.dataset.sources.mappable import MappableDataset
from mindjax.mindrecord.schema import Field, to_array
from mindjax.mindrecord.shards import Shards

_SAMPLERS = (SubsetSampler, PKSampler, DistributedSampler, RandomSampler, SequentialSampler)
# MindSpore: up to so many rows are shuffled as one; more, this many at a time.
_GLOBAL_ROWS = 100_000_000
_PARTIAL_ROWS = 1_000_000
_BY_BLOCK = "MS_DEV_MINDRECORD_SHARD_BY_BLOCK"


class MindDataset(MappableDataset):
    """Rows of MindRecord files.

    Columns of numbers and texts are 0-d arrays, arrays have the schema's shape, and bytes are one
    numpy byte string, of shape (1,).

    Args:
        dataset_files: one path, for all the files that were written together, or a list of paths,
            for these alone.
        columns_list: the columns wanted, in this order; None for all, sorted by name.
        num_parallel_workers: number of threads that read.
        shuffle: False for the order of the files, a ``Shuffle``, or True or None for
            ``Shuffle.ADAPTIVE``: all rows as one up to 100 million, else a million at a time.
        num_shards: number of shards.
        shard_id: which shard this is.
        sampler: a ``SequentialSampler``, ``RandomSampler``, ``SubsetSampler``,
            ``SubsetRandomSampler``, ``PKSampler`` over an index field, or ``DistributedSampler``.
        padded_sample: column to value of a row that is appended.
        num_padded: how often it is appended; with it, ``num_shards`` must divide the rows.
        num_samples: at most so many rows; of one shard, where there are several.
        cache: only None: the original's cache server does not exist here.

    Raises:
        ValueError: a file does not exist, or an argument is out of range.
        TypeError: an argument has the wrong type.
        RuntimeError: arguments exclude each other, a file is damaged or has no such column.
    """

    def __init__(
        self,
        dataset_files: str | list[str],
        columns_list: list[str] | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        sampler: Sampler | None = None,
        padded_sample: dict[str, Any] | None = None,
        num_padded: int | None = None,
        num_samples: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = type(self).__name__
        self.dataset_files = _check_files(owner, dataset_files)
        if columns_list is not None:
            check_type(owner, "columns_list", columns_list, list)
        _check_padding(owner, columns_list, padded_sample, num_padded)
        self._check_sampler(sampler, shuffle, num_samples, num_shards)
        super().__init__(
            num_parallel_workers,
            num_samples,
            sampler,
            None if sampler is not None else shuffle is not False,
            num_shards,
            shard_id,
            cache,
        )
        # The user's own sampler, or one set later, knows no files.
        self._level = Shuffle.ADAPTIVE if shuffle in (None, True) else shuffle
        self._first_sampler = self.sampler if sampler is None else None
        self.columns_list = list(columns_list or [])
        self.padded_sample, self.num_padded = padded_sample, num_padded or 0
        self._shards = Shards(self.dataset_files)
        self._shards.check_columns(self.columns_list)
        for place, name in enumerate(self.columns_list):
            if name in self.columns_list[:place]:
                raise located(
                    RuntimeError,
                    f"{owner}: 'columns_list' : Invalid parameter, duplicate column names are not "
                    f"allowed: {name}",
                )
        fields = self._shards.schema.fields
        self._fields = [fields[name] for name in self.columns_list or fields]
        self._padding = None if padded_sample is None else self._padded_row(padded_sample)
        if self.num_padded and self.sampler is not None:
            child = self.sampler.get_child()
            if child is not None and not isinstance(child, DistributedSampler):
                raise located(
                    RuntimeError,
                    f"For '{owner}': padded_sample and a chain of samplers need a "
                    "DistributedSampler as the first one.",
                )
        self._order: np.ndarray | None = None

    def _check_sampler(self, sampler: Any, shuffle: Any, num_samples: Any, num_shards: Any) -> None:
        owner = type(self).__name__
        if shuffle is not None and not isinstance(shuffle, bool | Shuffle):
            raise located(
                TypeError,
                f"For '{owner}': shuffle must be of boolean or enum of 'Shuffle' values like "
                f"'Shuffle.ADAPTIVE', but got {shuffle!r}.",
            )
        count = check_num_samples(owner, num_samples)
        if count is not None and shuffle in (Shuffle.FILES, Shuffle.INFILE):
            raise located(
                ValueError,
                f"For '{owner}': 'Shuffle.FILES' or 'Shuffle.INFILE' and 'num_samples' cannot be "
                "specified at the same time.",
            )
        if sampler is None:
            return
        if count is not None:
            raise located(
                RuntimeError,
                f"For '{owner}': sampler and num_samples cannot be specified at the same time.",
            )
        if shuffle is not None or num_shards is not None:
            what = "sharding" if shuffle is None else "shuffle"
            raise located(
                RuntimeError,
                f"For '{owner}': sampler and {what} cannot be specified at the same time.",
            )
        if not isinstance(sampler, _SAMPLERS):
            raise located(
                ValueError,
                f"For '{owner}': The sampler is not supported yet: {type(sampler).__name__}.",
            )

    def _columns(self) -> list[str]:
        return [field.name for field in self._fields]

    def _length(self) -> int:
        return len(self._shards) + self.num_padded

    def _size(self) -> int:
        assert self.sampler is not None
        return len(self._select(self.sampler, np.random.default_rng(0), count=True))

    def _indices(self, run: Run) -> np.ndarray:
        assert self.sampler is not None
        return self._select(self.sampler, run.generator(self))

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        workers = self._worker_count()
        rows = self._indices(run).tolist()
        return run.map(self, self._read, rows, workers, False, type(self).__name__)

    def __getitem__(self, index: int) -> list[np.ndarray]:
        """Read one row, in the order of one epoch.

        Args:
            index: its number.

        Returns:
            Its columns.

        Raises:
            TypeError: ``index`` is no int.
            ValueError: it is negative.
            RuntimeError: there is no such row.
        """
        check_type(type(self).__name__, "index", index, int)
        if index < 0:
            raise located(ValueError, f"index cannot be negative, but got {index}.")
        if self._order is None:
            run = Run(0, self._nodes())
            self._order = self._indices(run)
        if index >= len(self._order):
            raise located(
                RuntimeError,
                "Input index is not within the required interval of "
                f"[0, {len(self._order) - 1}], but got {index}.",
            )
        return list(self._read(int(self._order[index])))

    # Rows.

    def _read(self, row: int) -> tuple[np.ndarray, ...]:
        if row >= len(self._shards):
            assert self._padding is not None
            return self._padding
        shard, place = self._shards.locate(row)
        raw = {} if all(field.is_blob for field in self._fields) else shard.raw(place)
        blobs = shard.blobs(place) if any(field.is_blob for field in self._fields) else {}
        columns = []
        for field in self._fields:
            try:
                value = blobs[field.name] if field.is_blob else raw[field.name]
                columns.append(_column(field, value))
            except ValueError as error:
                raise pipeline_error(
                    f"Invalid data, column {field.name} of a row of {shard.path}: {error}."
                ) from None
        return tuple(columns)

    def _padded_row(self, sample: dict[str, Any]) -> tuple[np.ndarray, ...]:
        columns = []
        for field in self._fields:
            value = sample[field.name]
            try:
                if field.shape is not None:
                    columns.append(np.asarray(value, field.type).reshape(field.shape))
                elif isinstance(value, str) == (field.type == "string"):
                    columns.append(_column(field, bytes(value) if field.is_blob else value))
                else:
                    raise ValueError(f"{value!r} is no {field.type}")
            except (ValueError, TypeError) as error:
                raise located(
                    RuntimeError,
                    f"For '{type(self).__name__}': padded_sample does not fit column "
                    f"'{field.name}': {error}.",
                ) from None
        return tuple(columns)

    # Order.

    def _select(
        self, sampler: Sampler, rng: np.random.Generator, count: bool = False
    ) -> np.ndarray:
        child = sampler.get_child()
        rows = np.arange(self._length()) if child is None else self._select(child, rng, count)
        own = child is None and sampler is self._first_sampler
        if isinstance(sampler, DistributedSampler):
            return self._share(sampler, rows, self._level if own else Shuffle.GLOBAL, count)
        if isinstance(sampler, SequentialSampler) and sampler.start_index >= 0:
            # MindSpore: a start beyond the end leaves no rows.
            chosen = rows[sampler.start_index :]
        elif isinstance(sampler, RandomSampler) and not sampler.replacement:
            chosen = self._shuffled(rows, rng, self._level if own else Shuffle.GLOBAL)
        elif isinstance(sampler, SubsetSampler):
            return self._subset(sampler, rows, rng)
        else:
            picked = sampler._choose(len(rows), rng, self._classes(sampler, rows))
            return rows[picked]
        return chosen if sampler.num_samples is None else chosen[: sampler.num_samples]

    def _subset(
        self, sampler: SubsetSampler, rows: np.ndarray, rng: np.random.Generator
    ) -> np.ndarray:
        wanted = len(sampler._rows)
        if wanted > len(rows):
            raise located(
                RuntimeError,
                f"Invalid input, indices size: {wanted} should be less than or equal to database "
                f"size: {len(rows)}.",
            )
        return rows[sampler._choose(len(rows), rng, None)]

    def _shuffled(self, rows: np.ndarray, rng: np.random.Generator, level: Any) -> np.ndarray:
        if level is Shuffle.ADAPTIVE:
            level = Shuffle.GLOBAL if len(rows) <= _GLOBAL_ROWS else Shuffle.PARTIAL
        if level is Shuffle.GLOBAL:
            return rng.permutation(rows)
        if level is Shuffle.PARTIAL:
            cuts = range(_PARTIAL_ROWS, len(rows), _PARTIAL_ROWS)
            parts = np.split(rows, cuts)
            return np.concatenate(
                [rng.permutation(parts[at]) for at in rng.permutation(len(parts))]
            )
        # What is appended follows the files.
        parts = np.split(rows, np.append(self._shards.starts[1:-1], len(self._shards)))
        files, padding = parts[:-1], parts[-1]
        if level is Shuffle.FILES:
            files = [files[place] for place in rng.permutation(len(files))]
        else:
            files = [rng.permutation(file) for file in files]
        return np.concatenate([*files, padding])

    def _share(
        self, sampler: DistributedSampler, rows: np.ndarray, level: Any, count: bool
    ) -> np.ndarray:
        """Take one shard's rows; shards that start together choose the same order."""
        size, shards, shard = len(rows), sampler.num_shards, sampler.shard_id
        if self.num_padded and size % shards:
            raise located(
                RuntimeError,
                f"Invalid data, the size of dataset and padded samples: {size} can not be "
                f"divisible by the value of 'num_shards': {shards}. Please adjust the value of "
                "'num_padded'.",
            )
        if not size:
            return rows
        if sampler.shuffle and not count:
            rows = self._shuffled(rows, np.random.default_rng(sampler.seed), level)
            sampler.seed += 1
        if sampler.offset >= 0:
            # MindSpore: consecutive rows; the shards before the offset get one less.
            each, left = divmod(size + sampler.offset, shards)
            sizes = [each + (n < left) - (n < sampler.offset) for n in range(shards)]
            start = sum(sizes[:shard])
            places = np.arange(start, start + sizes[shard])
        else:
            each = np.arange(-(-size // shards))
            by_block = os.environ.get(_BY_BLOCK, "").lower() == "true"
            places = shard * len(each) + each if by_block else shard + shards * each
        chosen = rows[places % size]
        return chosen if sampler.num_samples is None else chosen[: sampler.num_samples]

    def _classes(self, sampler: Sampler, rows: np.ndarray) -> Any:
        if not isinstance(sampler, PKSampler):
            return None
        if sampler.class_column not in self._shards.index_fields:
            raise located(
                RuntimeError,
                f"Invalid data, 'class_column': {sampler.class_column} can not found in fields of "
                "mindrecord files. Please check 'class_column' in PKSampler.",
            )
        return lambda: np.asarray(self._shards.values(sampler.class_column))[rows]


def _column(field: Field, value: Any) -> np.ndarray:
    """Make the column of a row: of raw values 0-d, of bytes one byte string."""
    if field.shape is not None:
        return to_array(field, value) if isinstance(value, bytes) else value
    if field.type == "bytes":
        return np.frombuffer(value, f"S{len(value)}") if value else np.array([b""])
    if field.type == "string":
        return np.array(value)
    try:
        return np.array(value, field.type)
    except OverflowError as error:
        raise ValueError(str(error)) from None


def _check_files(owner: str, files: Any) -> Any:
    for path in files if isinstance(files, list) else [files]:
        if not isinstance(path, str):
            raise located(TypeError, f"For '{owner}': path: {path!r} is not string")
        if not os.path.isfile(path) or not os.access(path, os.R_OK):
            raise located(
                ValueError,
                f"For '{owner}': The file {path} does not exist or permission denied!",
            )
    if not files:
        raise located(
            RuntimeError, f"{owner}: dataset files list is empty, check input dataset_files."
        )
    return files


def _check_padding(owner: str, columns: Any, sample: Any, count: Any) -> None:
    if sample is not None:
        check_type(owner, "padded_sample", sample, dict)
    if count is not None:
        check_type(owner, "num_padded", count, int)
    if sample is None:
        if count is not None:
            raise located(
                RuntimeError, f"For '{owner}': num_padded is specified but padded_sample is not."
            )
        return
    for name, value in (("num_padded", count), ("columns_list", columns)):
        if value is None:
            raise located(
                RuntimeError,
                f"For '{owner}': padded_sample is specified and requires {name} as well.",
            )
    if count is not None and count < 0:
        raise located(ValueError, f"For '{owner}': num_padded is invalid, num_padded={count}.")
    if any(name not in sample for name in columns):
        raise located(ValueError, f"For '{owner}': padded_sample cannot match columns_list.")
