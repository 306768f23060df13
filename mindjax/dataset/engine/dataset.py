"""The base of all datasets: operations that make a new dataset of it, sizes, iterators."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.engine.checks import check_bool, check_int, check_type, column_names
from mindjax.dataset.engine.iterators import DictIterator, TupleIterator
from mindjax.dataset.engine.plan import Plan
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import Sampler
from mindjax.dataset.engine.workers import clamp_workers


class Dataset:
    """A node of a pipeline; sources have no children.

    A subclass says its columns (``_columns``), its size (``_size``), and either how one epoch runs
    row by row (``_rows``) or, over arrays, as index arithmetic (``_plan``).

    Args:
        children: the datasets that this one reads.
        num_parallel_workers: workers of this operation; None for ``config``'s number.
    """

    def __init__(self, children: Sequence[Dataset] = (), num_parallel_workers: int | None = None):
        self.children = list(children)
        owner = type(self).__name__
        if num_parallel_workers is not None:
            check_type(owner, "num_parallel_workers", num_parallel_workers, int)
            if num_parallel_workers < 1:
                raise located(
                    ValueError,
                    f"For '{owner}': num_parallel_workers exceeds the boundary: it must be at "
                    f"least 1, but got {num_parallel_workers}.",
                )
        self.num_parallel_workers = num_parallel_workers
        self._names: list[str] | None = None
        self._first: tuple[Any, ...] | None = None

    # What a subclass says.

    def _columns(self) -> list[str]:
        return self.children[0].get_col_names()

    def _size(self) -> int:
        return self.children[0].get_dataset_size()

    def _plan(self, run: Run) -> Plan | None:
        return None

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        raise NotImplementedError(type(self).__name__)

    # What the engine asks.

    def _stream(self, run: Run) -> Iterator[tuple[Any, ...]]:
        plan = self._plan(run)
        return self._rows(run) if plan is None else plan.rows()

    def _waits(self) -> bool:
        """Whether rows wait for the consumer, so that none may be made ahead of it."""
        return False

    def _nodes(self) -> Iterator[Dataset]:
        for child in self.children:
            yield from child._nodes()
        yield self

    def _worker_count(self, default: int | None = None) -> int:
        wanted = self.num_parallel_workers or config.workers_set() or default or 1
        return clamp_workers(wanted)

    def _peek(self) -> tuple[Any, ...]:
        if self._first is None:
            run = Run(config.fresh_seed(), self._nodes())
            try:
                self._first = next(self._stream(run), ())
            finally:
                run.close()
        return self._first

    # Iteration.

    def __iter__(self) -> TupleIterator:
        """Iterate over one epoch of Tensors."""
        return self.create_tuple_iterator(num_epochs=1)

    def __len__(self) -> int:
        """Count the rows of one epoch."""
        return self.get_dataset_size()

    def __add__(self, datasets: Any) -> Dataset:
        """Run another dataset, or several, after this one."""
        return self.concat(datasets)

    def create_tuple_iterator(
        self,
        columns: str | list[str] | None = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
        do_copy: bool = False,
    ) -> TupleIterator:
        """Make an iterator whose rows are lists.

        Args:
            columns: names of the columns wanted, in this order; None for all.
            num_epochs: number of epochs that may be consumed; -1 for any number.
            output_numpy: whether values are numpy arrays and not Tensors.
            do_copy: whether a Tensor owns its values; it always does here.

        Returns:
            The iterator; one ``for`` loop over it is one epoch.
        """
        _check_iterator("create_tuple_iterator", num_epochs, output_numpy, do_copy)
        names = (
            None if columns is None else column_names("create_tuple_iterator", "columns", columns)
        )
        return TupleIterator(self, names, num_epochs, output_numpy)

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> DictIterator:
        """Make an iterator whose rows are dictionaries from column name to value.

        Args:
            num_epochs: number of epochs that may be consumed; -1 for any number.
            output_numpy: whether values are numpy arrays and not Tensors.
            do_copy: whether a Tensor owns its values; it always does here.

        Returns:
            The iterator; one ``for`` loop over it is one epoch.
        """
        _check_iterator("create_dict_iterator", num_epochs, output_numpy, do_copy)
        return DictIterator(self, num_epochs, output_numpy)

    # What one can ask.

    def get_dataset_size(self) -> int:
        """Count the rows (batches, after ``batch``) of one epoch."""
        return self._size()

    def get_col_names(self) -> list[str]:
        """Give the names of the columns."""
        if self._names is None:
            self._names = self._columns()
        return list(self._names)

    def output_shapes(self, estimate: bool = False) -> list[list[Any]]:
        """Give the shape of each column, from the first row.

        Args:
            estimate: whether to read all rows and put None where a size differs between rows.

        Returns:
            One list of sizes a column.
        """
        check_bool("output_shapes", "estimate", estimate)
        shapes: list[list[Any]] = [list(np.shape(value)) for value in self._peek()]
        if not estimate:
            return shapes
        for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True):
            for shape, value in zip(shapes, row, strict=True):
                if len(shape) != np.ndim(value):
                    raise located(
                        RuntimeError,
                        "For 'output_shapes', estimate needs columns whose rank is the same in "
                        f"every row, but got shapes {shape} and {list(np.shape(value))}.",
                    )
                for axis, size in enumerate(np.shape(value)):
                    if shape[axis] != size:
                        shape[axis] = None
        return shapes

    def output_types(self) -> list[Any]:
        """Give the numpy dtype of each column, from the first row."""
        return [
            np.dtype(value.dtype.type) if value.dtype.kind in "US" else value.dtype
            for value in map(np.asarray, self._peek())
        ]

    @property
    def ranks(self) -> int:
        """How many ranks' shards it reads as one; a batch holds the batches of all."""
        sampler = getattr(self, "sampler", None)
        return max([getattr(sampler, "ranks", 1), *(c.ranks for c in self.children)])

    def get_batch_size(self) -> int:
        """Give the rows of a batch; 1 without ``batch``, -1 where it varies."""
        return self.children[0].get_batch_size() if self.children else 1

    def get_repeat_count(self) -> int:
        """Give how often ``repeat`` runs this dataset; -1 for endlessly."""
        return self.children[0].get_repeat_count() if self.children else 1

    def num_classes(self) -> int | None:
        """Give the number of classes, or None where the source does not say."""
        return self.children[0].num_classes() if self.children else None

    def get_class_indexing(self) -> dict[str, Any]:
        """Give the numbers of named classes; empty where the source has none."""
        return self.children[0].get_class_indexing() if self.children else {}

    def is_shuffled(self) -> bool:
        """Tell whether the order of rows is random."""
        return any(child.is_shuffled() for child in self.children)

    def is_sharded(self) -> bool:
        """Tell whether a source is one shard of several."""
        return any(child.is_sharded() for child in self.children)

    def reset(self) -> None:
        """Begin anew; iterators hold all positions, so there is nothing to do."""

    # Samplers.

    def use_sampler(self, new_sampler: Sampler) -> None:
        """Replace the sampler of the source.

        Raises:
            TypeError: not a ``Sampler``.
            RuntimeError: the source takes none.
        """
        _check_sampler("use_sampler", new_sampler)
        self._source_with_sampler().sampler = new_sampler

    def add_sampler(self, new_sampler: Sampler) -> None:
        """Let a sampler choose among the rows that the present one chooses.

        Raises:
            TypeError: not a ``Sampler``.
            RuntimeError: the source takes none.
        """
        _check_sampler("add_sampler", new_sampler)
        source = self._source_with_sampler()
        if source.sampler is not None:
            new_sampler.add_child(source.sampler)
        source.sampler = new_sampler

    def _source_with_sampler(self) -> Any:
        sources = [node for node in self._nodes() if not node.children]
        if len(sources) != 1 or not hasattr(sources[0], "sampler"):
            raise located(
                RuntimeError, f"The source of '{type(self).__name__}' does not take a sampler."
            )
        for node in self._nodes():
            node._first = None
        return sources[0]

    # Operations.

    def batch(
        self,
        batch_size: int | Callable[[Any], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Stack consecutive rows.

        Args:
            batch_size: rows of a batch, or a function from ``BatchInfo`` to it.
            drop_remainder: whether a last, shorter batch is left out.
            num_parallel_workers: workers of ``per_batch_map``.
            **kwargs: ``per_batch_map``, a function of the input columns (a list of rows each) and a
                ``BatchInfo`` that gives the columns of the batch; ``input_columns`` and
                ``output_columns``, its names; ``python_multiprocessing``, whether it runs in
                processes; ``max_rowsize``, MB of a row in the original's shared memory.

        Returns:
            The new dataset.
        """
        from mindjax.dataset.engine.batching import BatchDataset
        from mindjax.dataset.engine.sync import grown

        return grown(BatchDataset(self, batch_size, drop_remainder, num_parallel_workers, **kwargs))

    def bucket_batch_by_length(
        self,
        column_names: list[str],
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        element_length_function: Callable[..., Any] | None = None,
        pad_info: dict[str, Any] | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> Dataset:
        """Batch rows of like length, padded; see ``BucketBatchByLengthDataset``."""
        from mindjax.dataset.engine.bucketing import BucketBatchByLengthDataset

        return BucketBatchByLengthDataset(
            self,
            column_names,
            bucket_boundaries,
            bucket_batch_sizes,
            element_length_function,
            pad_info,
            pad_to_bucket_boundary,
            drop_remainder,
        )

    def padded_batch(
        self,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> Dataset:
        """Pad rows to one shape and stack them.

        Args:
            batch_size: rows of a batch.
            drop_remainder: whether a last, shorter batch is left out.
            num_parallel_workers: accepted; padding runs in the caller's thread.
            pad_info: column name to (shape or None for the largest row, value); None pads nothing.

        Returns:
            The new dataset.
        """
        from mindjax.dataset.engine.batching import PaddedBatchDataset
        from mindjax.dataset.engine.sync import grown

        return grown(
            PaddedBatchDataset(self, batch_size, drop_remainder, num_parallel_workers, pad_info)
        )

    def map(
        self,
        operations: Any,
        input_columns: str | list[str] | None = None,
        output_columns: str | list[str] | None = None,
        num_parallel_workers: int | None = None,
        **kwargs: Any,
    ) -> Dataset:
        """Apply transforms to columns of each row.

        Args:
            operations: a transform, a function, or a list of them, applied one after the other.
            input_columns: names of the columns they take; None for the first one.
            output_columns: names of the columns they give; None for the same names.
            num_parallel_workers: number of workers.
            **kwargs: ``python_multiprocessing``, whether workers are processes; ``callbacks``,
                ``cache``, ``offload`` and ``max_rowsize`` as in the original.

        Returns:
            The new dataset.
        """
        from mindjax.dataset.engine.mapping import MapDataset

        return MapDataset(
            self, operations, input_columns, output_columns, num_parallel_workers, **kwargs
        )

    def filter(
        self,
        predicate: Callable[..., Any],
        input_columns: str | list[str] | None = None,
        num_parallel_workers: int | None = None,
    ) -> Dataset:
        """Keep the rows for which a function is true.

        Args:
            predicate: function of the input columns.
            input_columns: names of its columns; None for all.
            num_parallel_workers: number of worker threads.

        Returns:
            The new dataset.
        """
        from mindjax.dataset.engine.mapping import FilterDataset

        return FilterDataset(self, predicate, input_columns, num_parallel_workers)

    def shuffle(self, buffer_size: int) -> Dataset:
        """Permute rows within a buffer that is refilled from the stream.

        Args:
            buffer_size: rows of the buffer, at least 2; the dataset's size shuffles it all.

        Returns:
            The new dataset.
        """
        from mindjax.dataset.engine.operations import ShuffleDataset

        if self.is_sync():
            raise located(RuntimeError, "No shuffle after sync operators.")
        return ShuffleDataset(self, buffer_size)

    def repeat(self, count: int | None = None) -> Dataset:
        """Run the dataset several times within one epoch.

        Args:
            count: how often; None or -1 for endlessly.

        Returns:
            The new dataset.
        """
        from mindjax.dataset.engine.operations import RepeatDataset

        return RepeatDataset(self, count)

    def skip(self, count: int) -> Dataset:
        """Leave out the first ``count`` rows of each epoch."""
        from mindjax.dataset.engine.operations import SkipDataset

        return SkipDataset(self, count)

    def take(self, count: int = -1) -> Dataset:
        """Keep the first ``count`` rows of each epoch; all with -1."""
        from mindjax.dataset.engine.operations import TakeDataset

        return TakeDataset(self, count)

    def zip(self, datasets: Dataset | tuple[Dataset, ...]) -> Dataset:
        """Put the columns of other datasets beside this one's, until the shortest ends."""
        from mindjax.dataset.engine.operations import ZipDataset

        if isinstance(datasets, tuple):
            return ZipDataset((self, *datasets))
        check_type("zip", "datasets", datasets, (Dataset, tuple))
        return ZipDataset((self, datasets))

    def concat(self, datasets: Dataset | list[Dataset]) -> Dataset:
        """Run other datasets of the same columns after this one."""
        from mindjax.dataset.engine.operations import ConcatDataset

        check_type("concat", "datasets", datasets, (Dataset, list))
        return ConcatDataset([self, *(datasets if isinstance(datasets, list) else [datasets])])

    def rename(self, input_columns: str | list[str], output_columns: str | list[str]) -> Dataset:
        """Rename columns, pair by pair."""
        from mindjax.dataset.engine.operations import RenameDataset

        return RenameDataset(self, input_columns, output_columns)

    def project(self, columns: str | list[str]) -> Dataset:
        """Keep the named columns, in the given order."""
        from mindjax.dataset.engine.operations import ProjectDataset

        return ProjectDataset(self, columns)

    def sync_wait(
        self,
        condition_name: str,
        num_batch: int = 1,
        callback: Callable[[Any], Any] | None = None,
    ) -> Dataset:
        """Let rows pass only as ``sync_update`` allows.

        Args:
            condition_name: name of the condition.
            num_batch: batches that pass at the start of each epoch and with each update.
            callback: called with the data of each update.

        Returns:
            The new dataset.

        Raises:
            RuntimeError: there is a condition of that name.
        """
        from mindjax.dataset.engine.sync import SyncWaitDataset

        return SyncWaitDataset(self, condition_name, num_batch, callback)

    def sync_update(
        self, condition_name: str, num_batch: int | None = None, data: Any = None
    ) -> None:
        """Let more batches pass at a ``sync_wait``.

        Args:
            condition_name: name of the condition.
            num_batch: how many; None for the number of the ``sync_wait``.
            data: what its callback gets.

        Raises:
            RuntimeError: there is no such condition, or ``num_batch`` is not positive.
        """
        from mindjax.dataset.engine.sync import update

        update(self, condition_name, num_batch, data)

    def disable_sync(self) -> None:
        """Let all rows pass at every ``sync_wait``."""
        from mindjax.dataset.engine.sync import gates

        for gate in gates(self).values():
            gate.open()

    def get_sync_notifiers(self) -> dict[str, Callable[..., None]]:
        """Give, for each ``sync_wait``'s condition, what lets rows pass."""
        from mindjax.dataset.engine.sync import gates

        return {name: gate.update for name, gate in gates(self).items()}

    def is_sync(self) -> bool:
        """Tell whether there is a ``sync_wait``."""
        from mindjax.dataset.engine.sync import gates

        return bool(gates(self))

    def save(self, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
        """Write the rows of one epoch into MindRecord files, which ``MindDataset`` reads.

        Bytes and short integers become int32, unsigned ones of 32 bits and more int64, float16
        float32; only the first size of an array may differ between rows.

        Args:
            file_name: path of the file; with several, a number is appended.
            num_files: number of files.
            file_type: only ``"mindrecord"``.

        Raises:
            ValueError: another type, or ``num_files`` is out of range.
            RuntimeError: a file exists, there are no rows, or MindRecord has no such column.
        """
        from mindjax.dataset.engine.saving import save

        save(self, file_name, num_files, file_type)

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """Give what a function makes of this dataset.

        Raises:
            TypeError: it is no function, or gives no dataset.
        """
        if not callable(apply_func):
            raise located(TypeError, "apply_func must be a function.")
        made = apply_func(self)
        if not isinstance(made, Dataset):
            raise located(TypeError, "apply_func must return a dataset.")
        return made

    def split(self, sizes: list[int] | list[float], randomize: bool = True) -> list[Dataset]:
        """Cut the dataset into parts without common rows.

        Args:
            sizes: rows of each part, or fractions that add up to 1.
            randomize: whether rows are permuted first, alike for all parts and in every epoch.

        Returns:
            One dataset a part.
        """
        from mindjax.dataset.engine.operations import split_dataset

        return split_dataset(self, sizes, randomize)

    def flat_map(self, func: Callable[..., Dataset]) -> Dataset:
        """Run, one after the other, the datasets that a function makes of each row's columns.

        Raises:
            TypeError: ``func`` gives no dataset.
        """
        if not callable(func):
            raise located(TypeError, "func must be a function.")
        parts = [func(*row) for row in self.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        for part in parts:
            check_type("flat_map", "the result of func", part, Dataset)
        if not parts:
            raise located(RuntimeError, "For 'flat_map', the dataset has no rows.")
        return parts[0] if len(parts) == 1 else parts[0].concat(parts[1:])

    def __deepcopy__(self, memo: dict[int, Any]) -> Dataset:
        """Copy the nodes of the pipeline; data and functions are shared."""
        clone = copy.copy(self)
        memo[id(self)] = clone
        clone.children = [copy.deepcopy(child, memo) for child in self.children]
        return clone


def _check_iterator(owner: str, num_epochs: Any, output_numpy: Any, do_copy: Any) -> None:
    check_int(owner, "num_epochs", num_epochs, -1)
    check_bool(owner, "output_numpy", output_numpy)
    check_bool(owner, "do_copy", do_copy)
    if num_epochs == 0:
        raise located(
            RuntimeError,
            f"For '{owner}': num_epochs should be either -1 or positive integer, num_epochs: 0",
        )


def _check_sampler(owner: str, sampler: Any) -> None:
    if not isinstance(sampler, Sampler):
        raise located(
            TypeError, f"For '{owner}': Input sampler must be a Sampler, but got {type(sampler)}."
        )
