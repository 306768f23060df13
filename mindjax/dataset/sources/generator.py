"""Sources of the user's own: any Python object that gives rows, and arrays in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from mindjax.core.dtype import to_np
from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.engine.batching import stack
from mindjax.dataset.engine.checks import check_bool, check_type, column_names
from mindjax.dataset.engine.failures import failure, pipeline_error
from mindjax.dataset.engine.mapping import check_max_rowsize, refuse_unsupported
from mindjax.dataset.engine.plan import Plan
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import check_shards
from mindjax.dataset.engine.tensors import to_array
from mindjax.dataset.sources.mappable import ArrayDataset, MappableDataset

Row = tuple[Any, ...]


class GeneratorDataset(MappableDataset):
    """Rows of a Python object.

    Args:
        source: a random-access object (``__getitem__`` and ``__len__``), an iterable, or a function
            that gives an iterator; each row is a tuple or list of columns, or one column.
        column_names: names of the columns.
        column_types: dtypes that the columns must have; None for any.
        schema: only None: name the columns.
        num_samples: at most so many rows.
        num_parallel_workers: number of workers that read a random-access source.
        shuffle: whether the order is random; None for yes where rows can be accessed at random.
        sampler: a ``Sampler`` or an iterable of row numbers, for random access only.
        num_shards: number of shards, for random access only.
        shard_id: which shard this is.
        python_multiprocessing: whether several workers are processes rather than threads.
        max_rowsize: MB of a row in the original's shared memory; pipes here have no such bound.
        batch_sampler: iterable of lists of row numbers: each list is one batch.
        collate_fn: with ``batch_sampler``, function from the columns of a batch (a list of rows
            each) and a ``BatchInfo`` to its columns.

    Raises:
        TypeError: ``source`` gives no rows, or an argument has the wrong type.
        ValueError: names are missing or come twice, or random access is asked of an iterable.
        RuntimeError: a random-access source has no length or no rows.
    """

    def __init__(
        self,
        source: Any,
        column_names: str | list[str] | None = None,
        column_types: list[Any] | None = None,
        schema: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        python_multiprocessing: bool = True,
        max_rowsize: int | list[int] | None = None,
        batch_sampler: Any = None,
        collate_fn: Any = None,
    ) -> None:
        owner = type(self).__name__
        self._random_access = hasattr(source, "__getitem__")
        if not (self._random_access or hasattr(source, "__iter__") or callable(source)) or (
            isinstance(source, type)
        ):
            raise located(
                TypeError,
                "Input `source` function of GeneratorDataset should be callable, iterable or "
                "random accessible, commonly it should implement one of the method like yield, "
                f"__getitem__ or __next__(__iter__), but got {source!r}.",
            )
        if self._random_access and not hasattr(source, "__len__"):
            raise located(
                RuntimeError,
                "Attempt to construct a random access dataset, '__len__' method is required! "
                f"{type(source).__name__} has none.",
            )
        refuse_unsupported(owner, schema=schema)
        self.column_names = _names(owner, column_names)
        self.column_types = _types(owner, column_types, self.column_names)
        self.python_multiprocessing = check_bool(
            owner, "python_multiprocessing", python_multiprocessing
        )
        check_max_rowsize(owner, max_rowsize)
        self.source: Any = source
        self._batches, self._collate = batch_sampler, collate_fn
        if batch_sampler is not None:
            self._check_batch_sampler(num_samples, shuffle, sampler, num_shards)
            shuffle = False
        elif collate_fn is not None:
            raise located(ValueError, f"For '{owner}': collate_fn needs batch_sampler.")
        check_shards(owner, num_shards, shard_id)
        if not self._random_access:
            for name, value in (("sampler", sampler), ("num_shards", num_shards)):
                if value is not None:
                    raise located(
                        ValueError,
                        f"For '{owner}': {name} is not supported if source does not have attribute "
                        "'__getitem__'.",
                    )
        super().__init__(num_parallel_workers, num_samples, sampler, shuffle, num_shards, shard_id)
        if not self._random_access:
            # MindSpore: shuffle is accepted for an iterable and has no effect; .shuffle() has.
            self.sampler = None
        elif not len(self.source):
            raise located(
                RuntimeError, "GeneratorDataset: data row of input source must not be 0, got: 0"
            )

    def _check_batch_sampler(
        self, num_samples: Any, shuffle: Any, sampler: Any, shards: Any
    ) -> None:
        owner = type(self).__name__
        if not self._random_access or not isinstance(self._batches, Iterable):
            raise located(
                ValueError,
                f"For '{owner}': batch_sampler should be an iterable of lists of row numbers, and "
                "the source should have attribute '__getitem__'.",
            )
        given = {
            "num_samples": num_samples,
            "shuffle": shuffle,
            "sampler": sampler,
            "num_shards": shards,
        }
        for name, value in given.items():
            if value is not None:
                raise located(
                    ValueError,
                    f"For '{owner}': batch_sampler is specified, {name} cannot be: leave it out.",
                )

    def __getitem__(self, index: int) -> Row:
        """Give one row of a random-access source."""
        if not self._random_access:
            raise located(
                RuntimeError, "Dataset don't support randomized access: its source is an iterable."
            )
        if not -len(self.source) <= index < len(self.source):
            raise located(IndexError, f"Index {index} is out of range of the source.")
        return self._read(index)

    def _columns(self) -> list[str]:
        return self.column_names

    def _length(self) -> int:
        return len(self.source)

    def _size(self) -> int:
        if self._batches is not None:
            return sum(1 for _ in self._batches)
        if self._random_access:
            return super()._size()
        if hasattr(self.source, "__len__"):
            size = len(self.source)
        else:
            # An iterable does not tell: it is run once.
            size = sum(1 for _ in self._iterate())
        return size if self.num_samples is None else min(size, self.num_samples)

    def get_batch_size(self) -> int:
        """Give 1, or -1 where ``batch_sampler`` decides."""
        return 1 if self._batches is None else -1

    def is_shuffled(self) -> bool:
        """Tell whether the order of rows is random."""
        return self._random_access and super().is_shuffled()

    def _what(self) -> str:
        name = getattr(self.source, "__name__", None) or type(self.source).__name__
        return f"GeneratorDataset's source: [{name}]"

    def _rows(self, run: Run) -> Iterator[Row]:
        if self._batches is not None:
            yield from self._read_batches(run)
        elif self._random_access:
            indices = self._indices(run).tolist()
            workers = self._worker_count()
            yield from run.map(
                self, self._read, indices, workers, self._processes(workers), self._what()
            )
        else:
            for count, row in enumerate(self._iterate()):
                if count == self.num_samples:
                    return
                yield self._row(row)

    def _worker_count(self, default: int | None = None) -> int:
        # MindSpore: the number given here counts, config's does not, unless it is None.
        if self.num_parallel_workers == 1:
            return 1
        return super()._worker_count(config.get_num_parallel_workers())

    def _processes(self, workers: int) -> bool:
        wanted = self.num_parallel_workers or workers
        return self.python_multiprocessing and wanted > 1

    def _iterate(self) -> Iterator[Any]:
        try:
            rows = iter(self.source) if hasattr(self.source, "__iter__") else iter(self.source())
            yield from rows
        except Exception as error:
            raise failure(error, self._what()) from error

    def _read(self, index: int) -> Row:
        try:
            row = self.source[index]
        except Exception as error:
            raise failure(error, self._what()) from error
        return self._row(row)

    def _row(self, row: Any) -> Row:
        values = row if isinstance(row, tuple | list) else (row,)
        if len(values) != len(self.column_names):
            raise pipeline_error(
                f"{self._what()} should return same number of NumPy arrays as specified in "
                f"column_names, the size of column_names is:{len(self.column_names)} and number of "
                f"returned NumPy array is:{len(values)}."
            )
        columns = tuple([to_array(value, self._what()) for value in values])
        if self.column_types is not None:
            for name, column, wanted in zip(
                self.column_names, columns, self.column_types, strict=True
            ):
                if column.dtype != wanted:
                    raise pipeline_error(
                        f"{self._what()}: Invalid column_types: column '{name}' should be "
                        f"{wanted}, but got {column.dtype}.",
                    )
        return columns

    def _read_batches(self, run: Run) -> Iterator[Row]:
        from mindjax.dataset.engine.batching import BatchInfo

        epoch = run.next_count(self)
        workers = self._worker_count()
        batches = [(BatchInfo(turn, epoch), list(rows)) for turn, rows in enumerate(self._batches)]
        yield from run.map(
            self, self._read_batch, batches, workers, self._processes(workers), self._what()
        )

    def _read_batch(self, item: tuple[Any, list[int]]) -> Row:
        info, indices = item
        columns = [list(values) for values in zip(*map(self._read, indices), strict=True)]
        if self._collate is not None:
            try:
                made = self._collate(*columns, info)
            except Exception as error:
                raise failure(error, "GeneratorDataset's collate_fn") from error
            columns = list(made) if isinstance(made, tuple) else [made]
        return tuple(
            [
                to_array(column, self._what())
                if isinstance(column, np.ndarray)
                else stack(
                    [to_array(value, self._what()) for value in column],
                    place,
                    self.column_names[place],
                )
                for place, column in enumerate(columns)
            ]
        )


def _names(owner: str, names: Any) -> list[str]:
    if names is None:
        raise located(ValueError, f"For '{owner}': Neither columns_names nor schema are provided.")
    return column_names(owner, "column_names", names)


def _types(owner: str, types: Any, names: list[str]) -> list[np.dtype[Any]] | None:
    if types is None:
        return None
    listed = list(types) if isinstance(types, list | tuple) else [types]
    if len(listed) != len(names):
        raise located(
            ValueError,
            f"For '{owner}': column_types and column_names should have the same length, but got "
            f"{len(listed)} and {len(names)}.",
        )
    return [to_np(entry) for entry in listed]


class _Ragged(list[np.ndarray]):
    """A column whose rows differ in shape, indexed as an array is."""

    def __getitem__(self, index: Any) -> Any:
        return super().__getitem__(index[0] if isinstance(index, tuple) else index)


def _regular(column: Any) -> bool:
    try:
        np.asarray(column)
    except ValueError:
        return False
    return True


class NumpySlicesDataset(ArrayDataset):
    """Rows along the first axis of arrays or lists in memory.

    Args:
        data: an array or a list (one column), a tuple of them (a column each), or a dictionary
            from column name to one.
        column_names: names of the columns; None for the dictionary's, else ``column_0`` and so on.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; rows are gathered batch by batch.
        shuffle: whether the order is random; None for yes.
        sampler: a ``Sampler`` or an iterable of row numbers.
        num_shards: number of shards.
        shard_id: which shard this is.

    Raises:
        TypeError: ``data`` is none of these.
        ValueError: it is empty, its columns differ in length, or names do not fit.
    """

    def __init__(
        self,
        data: Any,
        column_names: str | list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = type(self).__name__
        if hasattr(data, "columns") and hasattr(data, "to_dict"):
            # A pandas frame; pandas itself is not needed.
            data = {str(name): np.asarray(data[name]) for name in data.columns}
        check_type(owner, "data", data, (list, tuple, dict, np.ndarray))
        if len(data) == 0:
            raise located(ValueError, f"For '{owner}': Argument data cannot be empty")
        names: list[str] | None = None
        if isinstance(data, dict):
            names, columns = [str(name) for name in data], list(data.values())
        elif isinstance(data, tuple):
            columns = list(data)
        else:
            columns = [data]
        if column_names is not None:
            names = _names(owner, column_names)
        if names is None:
            names = [f"column_{place}" for place in range(len(columns))]
        if len(names) != len(columns):
            raise located(
                ValueError,
                f"For '{owner}': Num of input column names is {len(names)}, but required is "
                f"{len(columns)}.",
            )
        self.column_names = names
        self._data = [
            _column(owner, name, column) for name, column in zip(names, columns, strict=True)
        ]
        if len({len(column) for column in self._data}) > 1:
            lengths = {name: len(column) for name, column in zip(names, self._data, strict=True)}
            raise located(
                ValueError, f"For '{owner}': Data length in each column is not equal: {lengths}."
            )
        super().__init__(num_parallel_workers, num_samples, sampler, shuffle, num_shards, shard_id)

    def __getitem__(self, index: int) -> Row:
        """Give one row."""
        return tuple([column[index, ...] for column in self._data])

    def _columns(self) -> list[str]:
        return self.column_names

    def _arrays(self) -> Sequence[np.ndarray]:
        return self._data

    def _plan(self, run: Run) -> Plan | None:
        stacked = all(isinstance(column, np.ndarray) for column in self._data)
        return super()._plan(run) if stacked else None

    def _rows(self, run: Run) -> Iterator[Row]:
        for index in self._indices(run).tolist():
            yield self[index]

    def _labels(self) -> Any:
        if "label" not in self.column_names:
            return None
        return lambda: self._data[self.column_names.index("label")]


def _column(owner: str, name: str, column: Any) -> Any:
    what = f"{owner}: column '{name}'"
    try:
        if isinstance(column, list | tuple) and not _regular(column):
            return _Ragged([to_array(row, what) for row in column])
        array = to_array(column, what)
    except RuntimeError as error:
        raise located(RuntimeError, str(error)) from None
    if array.ndim == 0:
        raise located(
            TypeError,
            f"For '{owner}': column '{name}' should have rows along its first axis, but got "
            f"{column!r}.",
        )
    return array


class PaddedDataset(GeneratorDataset):
    """Rows that fill a dataset up to a number that shards divide.

    Args:
        padded_samples: a dictionary from column names to values for each row.

    Raises:
        TypeError: it is no list of dictionaries.
        ValueError: it is empty.
    """

    def __init__(self, padded_samples: list[dict[str, Any]]) -> None:
        check_type("PaddedDataset", "padded_samples", padded_samples, list)
        if not padded_samples:
            raise located(ValueError, "For 'PaddedDataset': padded_samples cannot be empty.")
        for place, sample in enumerate(padded_samples):
            check_type("PaddedDataset", f"padded_samples[{place}]", sample, dict)
        names = list(padded_samples[0])
        rows = [tuple(sample[name] for name in names) for sample in padded_samples]
        super().__init__(rows, column_names=names, shuffle=False)
        self.padded_samples = padded_samples
