"""Operations that choose, order and name rows; they never touch a value."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.engine import plan as plans
from mindjax.dataset.engine.checks import (
    INT32_MAX,
    check_bool,
    check_int,
    check_interval,
    check_type,
    column_names,
)
from mindjax.dataset.engine.dataset import Dataset
from mindjax.dataset.engine.plan import Plan
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import DistributedSampler, RandomSampler, Sampler


class ShuffleDataset(Dataset):
    """Rows from random places of a buffer.

    Args:
        input_dataset: what it reads.
        buffer_size: rows of the buffer, at least 2.
    """

    def __init__(self, input_dataset: Dataset, buffer_size: int) -> None:
        self.buffer_size = check_int("shuffle", "buffer_size", buffer_size, 2)
        super().__init__([input_dataset])

    def is_shuffled(self) -> bool:
        """Tell that the order is random."""
        return True

    def _plan(self, run: Run) -> Plan | None:
        below = self.children[0]._plan(run)
        if below is None:
            return None
        rng = run.generator(self)
        return Plan(plans.shuffle(below.chunks, self.buffer_size, rng), below.gather)

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        rows = self.children[0]._stream(run)
        return plans.shuffle_rows(rows, self.buffer_size, run.generator(self))


class RepeatDataset(Dataset):
    """The same rows several times.

    Args:
        input_dataset: what it reads.
        count: how often; None or -1 for endlessly.
    """

    def __init__(self, input_dataset: Dataset, count: int | None = None) -> None:
        check_type("repeat", "repeat", count, (int, type(None)))
        if count is not None and not (count == -1 or 1 <= count <= INT32_MAX):
            raise located(
                ValueError,
                "For 'repeat': count should be either -1 or positive integer, range[1, INT32_MAX], "
                f"but got {count}.",
            )
        self.count = -1 if count is None else count
        super().__init__([input_dataset])

    def _size(self) -> int:
        size = self.children[0].get_dataset_size()
        return size if self.count == -1 else size * self.count

    def get_repeat_count(self) -> int:
        """Give how often this dataset runs; -1 for endlessly."""
        return self.count

    def _turns(self) -> Iterator[Any]:
        return itertools.count() if self.count == -1 else iter(range(self.count))

    def _plan(self, run: Run) -> Plan | None:
        first = self.children[0]._plan(run)
        if first is None:
            return None

        def chunks() -> Iterator[np.ndarray]:
            below: Plan | None = first
            for _ in self._turns():
                below = below or self.children[0]._plan(run)
                assert below is not None
                empty = True
                for chunk in below.chunks:
                    empty = empty and not len(chunk)
                    yield chunk
                if empty:
                    return
                below = None

        return Plan(chunks(), first.gather)

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        for _ in self._turns():
            empty = True
            for row in self.children[0]._stream(run):
                empty = False
                yield row
            if empty:
                return


class TakeDataset(Dataset):
    """The first rows.

    Args:
        input_dataset: what it reads.
        count: how many; -1 for all.
    """

    def __init__(self, input_dataset: Dataset, count: int) -> None:
        check_type("take", "count", count, int)
        if not (count == -1 or 1 <= count <= INT32_MAX):
            raise located(
                ValueError,
                "For 'take': count should be either -1 or within the required interval of "
                f"(0, {INT32_MAX}], got {count}.",
            )
        self.count = count
        super().__init__([input_dataset])

    def _size(self) -> int:
        size = self.children[0].get_dataset_size()
        return size if self.count == -1 else min(size, self.count)

    def _plan(self, run: Run) -> Plan | None:
        below = self.children[0]._plan(run)
        if below is None or self.count == -1:
            return below
        return Plan(plans.take(below.chunks, self.count), below.gather)

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        rows = self.children[0]._stream(run)
        return rows if self.count == -1 else itertools.islice(rows, self.count)


class SkipDataset(Dataset):
    """All but the first rows.

    Args:
        input_dataset: what it reads.
        count: how many are left out.
    """

    def __init__(self, input_dataset: Dataset, count: int) -> None:
        self.count = check_int("skip", "count", count, 0)
        super().__init__([input_dataset])

    def _size(self) -> int:
        return max(0, self.children[0].get_dataset_size() - self.count)

    def _plan(self, run: Run) -> Plan | None:
        below = self.children[0]._plan(run)
        return None if below is None else Plan(plans.skip(below.chunks, self.count), below.gather)

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        return itertools.islice(self.children[0]._stream(run), self.count, None)


class ProjectDataset(Dataset):
    """Some columns, in a given order.

    Args:
        input_dataset: what it reads.
        columns: their names.
    """

    def __init__(self, input_dataset: Dataset, columns: str | list[str]) -> None:
        self.columns = column_names("project", "columns", columns)
        super().__init__([input_dataset])

    def _columns(self) -> list[str]:
        self._places()
        return self.columns

    def _places(self) -> list[int]:
        names = self.children[0].get_col_names()
        for name in self.columns:
            if name not in names:
                raise located(
                    RuntimeError,
                    f"For 'project': Invalid column, column name: {name} does not exist; the "
                    f"dataset has {names}.",
                )
        return [names.index(name) for name in self.columns]

    def _plan(self, run: Run) -> Plan | None:
        below = self.children[0]._plan(run)
        if below is None:
            return None
        places, gather = self._places(), below.gather

        def pick(index: np.ndarray) -> tuple[np.ndarray, ...]:
            columns = gather(index)
            return tuple([columns[place] for place in places])

        return Plan(below.chunks, pick)

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        places = self._places()
        for row in self.children[0]._stream(run):
            yield tuple([row[place] for place in places])


class RenameDataset(Dataset):
    """Columns under other names.

    Args:
        input_dataset: what it reads.
        input_columns: old names.
        output_columns: new names.
    """

    def __init__(
        self,
        input_dataset: Dataset,
        input_columns: str | list[str],
        output_columns: str | list[str],
    ) -> None:
        self.input_columns = column_names("rename", "input_columns", input_columns)
        self.output_columns = column_names("rename", "output_columns", output_columns)
        if len(self.input_columns) != len(self.output_columns):
            raise located(
                ValueError,
                "For 'rename': Number of column in input_columns and output_columns is not equal: "
                f"{self.input_columns} and {self.output_columns}.",
            )
        super().__init__([input_dataset])

    def _columns(self) -> list[str]:
        names = self.children[0].get_col_names()
        for name in self.input_columns:
            if name not in names:
                raise located(
                    RuntimeError,
                    "For 'rename': Invalid column, column to be renamed does not exist: "
                    f"'{name}' is not in {names}.",
                )
        new = dict(zip(self.input_columns, self.output_columns, strict=True))
        renamed = [new.get(name, name) for name in names]
        for name in renamed:
            if renamed.count(name) > 1:
                raise located(
                    RuntimeError,
                    "For 'rename': Invalid column, rename operation does not support rename one "
                    "column name into another already exist column name, existing column name is: "
                    f"{name}.",
                )
        return renamed

    def _plan(self, run: Run) -> Plan | None:
        return self.children[0]._plan(run)

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        return self.children[0]._stream(run)


class ZipDataset(Dataset):
    """Columns of several datasets side by side; ends with the shortest.

    Args:
        datasets: two or more.
    """

    def __init__(self, datasets: tuple[Dataset, ...]) -> None:
        check_type("zip", "datasets", datasets, tuple)
        if len(datasets) < 2:
            raise located(ValueError, "For 'zip': Can't zip empty or just one dataset!")
        for place, dataset in enumerate(datasets):
            check_type("zip", f"datasets[{place}]", dataset, Dataset)
        super().__init__(datasets)

    def _columns(self) -> list[str]:
        names: list[str] = []
        for child in self.children:
            for name in child.get_col_names():
                if name in names:
                    raise located(
                        RuntimeError,
                        f"For 'zip': Invalid data, duplicate column {name} already exists when "
                        "zipping datasets: rename it first.",
                    )
                names.append(name)
        return names

    def _size(self) -> int:
        return min(child.get_dataset_size() for child in self.children)

    def get_batch_size(self) -> int:
        """Give None of the children's: rows of a zip are not batches."""
        return self.children[0].get_batch_size()

    def num_classes(self) -> int | None:
        """Give None: a zip has no classes of its own."""
        return None

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        streams = [child._stream(run) for child in self.children]
        for parts in zip(*streams, strict=False):
            yield tuple(itertools.chain.from_iterable(parts))


class ConcatDataset(Dataset):
    """Datasets of the same columns, one after the other.

    Args:
        datasets: one or more.
    """

    def __init__(self, datasets: Sequence[Dataset]) -> None:
        for place, dataset in enumerate(datasets):
            check_type("concat", f"datasets[{place}]", dataset, Dataset)
        super().__init__(datasets)
        self._sampler: DistributedSampler | RandomSampler | None = None

    def use_sampler(self, new_sampler: Sampler) -> None:
        """Let a sampler choose among the rows of all the datasets.

        Args:
            new_sampler: a ``DistributedSampler`` that does not shuffle, or a ``RandomSampler``.

        Raises:
            TypeError: another sampler.
            ValueError: it shuffles, replaces or has a number of samples.
        """
        if not isinstance(new_sampler, DistributedSampler | RandomSampler):
            raise located(
                TypeError,
                f"The parameter {new_sampler!r} of concat must be DistributedSampler or "
                "RandomSampler!",
            )
        if isinstance(new_sampler, RandomSampler) and new_sampler.replacement:
            raise located(ValueError, "The parameter replacement of RandomSampler must be False!")
        if isinstance(new_sampler, DistributedSampler) and new_sampler.is_shuffled():
            raise located(ValueError, "The parameter shuffle of DistributedSampler must be False!")
        if new_sampler.get_num_samples() is not None:
            raise located(
                ValueError,
                f"The parameter num_samples of {type(new_sampler).__name__} is not support to be "
                "set!",
            )
        self._sampler = new_sampler

    def _columns(self) -> list[str]:
        names = self.children[0].get_col_names()
        for child in self.children[1:]:
            if child.get_col_names() != names:
                raise located(
                    RuntimeError,
                    "For 'concat': Invalid columns, 'column name' or 'column order' of concat "
                    f"datasets should be the same, but got {names} and {child.get_col_names()}.",
                )
        return names

    def _size(self) -> int:
        total = sum(child.get_dataset_size() for child in self.children)
        return total if self._sampler is None else len(self._own_part(total, None))

    def _own_part(self, total: int, run: Run | None) -> Sequence[int]:
        """Give the numbers of the rows that the sampler chooses."""
        sampler = self._sampler
        if isinstance(sampler, DistributedSampler):
            # No row comes twice here to give all shards as many.
            return range(sampler.shard_id, total, sampler.num_shards)
        if sampler is None or run is None:
            return range(total)
        return sampler.indices(total, run.generator(self)).tolist()

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        if self._sampler is None:
            yield from self._all_rows(run)
            return
        rows = list(self._all_rows(run))
        for index in self._own_part(len(rows), run):
            yield rows[index]

    def _all_rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        first: tuple[Any, ...] | None = None
        for child in self.children:
            begins = True
            for row in child._stream(run):
                if begins:
                    first = first or row
                    _check_alike(first, row)
                    begins = False
                yield row


def _check_alike(first: tuple[Any, ...], row: tuple[Any, ...]) -> None:
    for ours, theirs in zip(first, row, strict=True):
        if isinstance(ours, dict) or isinstance(theirs, dict):
            continue
        if ours.dtype != theirs.dtype and not ours.dtype.kind == theirs.dtype.kind == "U":
            raise located(
                RuntimeError,
                "Concat: the data types of the two datasets to be concatenated should be the same, "
                f"but got: {ours.dtype} and {theirs.dtype}.",
            )
        if ours.ndim != theirs.ndim:
            raise located(
                RuntimeError,
                "Concat: the data ranks of the two datasets to be concatenated should be the same, "
                f"but got: {ours.ndim} and {theirs.ndim}.",
            )


class _PartDataset(Dataset):
    """Given rows of another dataset, by their places in its epoch.

    The parts of one dataset must not overlap: its order is drawn from a seed that they share.
    """

    def __init__(self, input_dataset: Dataset, places: np.ndarray, seed: int) -> None:
        self.places, self.seed = places, seed
        super().__init__([input_dataset])

    def _size(self) -> int:
        return len(self.places)

    def _shared_run(self) -> Run:
        return Run(self.seed, self.children[0]._nodes())

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        wanted = {int(place): turn for turn, place in enumerate(self.places)}
        found: dict[int, tuple[Any, ...]] = {}
        next_turn = 0
        shared = self._shared_run()
        shared.follow(run)
        try:
            for place, row in enumerate(self.children[0]._stream(shared)):
                turn = wanted.get(place)
                if turn is not None:
                    found[turn] = row
                while next_turn in found:
                    yield found.pop(next_turn)
                    next_turn += 1
        finally:
            shared.close()

    def _plan(self, run: Run) -> Plan | None:
        below = self.children[0]._plan(self._shared_run())
        if below is None:
            return None

        def chunks() -> Iterator[np.ndarray]:
            yield np.concatenate([np.empty(0, np.int64), *below.chunks])[self.places]

        return Plan(chunks(), below.gather)


def split_dataset(
    dataset: Dataset, sizes: list[int] | list[float], randomize: bool
) -> list[Dataset]:
    """Cut a dataset into parts; see ``Dataset.split``.

    Raises:
        TypeError: ``sizes`` is no list of integers or of floats.
        ValueError: a size is not positive, or fractions do not add up to 1.
        RuntimeError: sizes do not add up to the dataset's.
    """
    check_type("split", "sizes", sizes, list)
    check_bool("split", "randomize", randomize)
    if not sizes:
        raise located(ValueError, "For 'split': sizes cannot be empty.")
    total = dataset.get_dataset_size()
    if not total:
        raise located(RuntimeError, "Dataset size unknown, unable to split.")
    if all(isinstance(size, int) and not isinstance(size, bool) for size in sizes):
        for place, size in enumerate(sizes):
            check_interval("split", f"sizes[{place}]", size, 1, INT32_MAX)
        counts = [int(size) for size in sizes]
        if sum(counts) != total:
            raise located(
                RuntimeError,
                f"Sum of split sizes {sum(counts)} is not equal to dataset size {total}.",
            )
    elif all(isinstance(size, float) for size in sizes):
        for place, size in enumerate(sizes):
            check_interval("split", f"sizes[{place}]", size, 0, 1, "(]")
        if abs(sum(sizes) - 1) > 1e-9:
            raise located(ValueError, "For 'split': Sum of percentages is not 1.")
        counts = [round(total * size) for size in sizes]
        place = 0
        while sum(counts) != total:
            step = 1 if sum(counts) < total else -1
            if counts[place % len(counts)] + step > 0:
                counts[place % len(counts)] += step
            place += 1
    else:
        raise located(
            TypeError, f"For 'split': sizes must be all integers or all floats, but got {sizes}."
        )
    places = np.arange(total)
    seed = config.fresh_seed()
    if randomize:
        places = np.random.default_rng(seed).permutation(places)
    ends = np.cumsum(counts)
    return [
        _PartDataset(dataset, places[end - count : end], seed)
        for end, count in zip(ends, counts, strict=True)
    ]


def zip_datasets(datasets: tuple[Dataset, ...]) -> ZipDataset:
    """Put the columns of datasets side by side (MindSpore: ``dataset.zip``).

    Args:
        datasets: a tuple of two or more; their column names must differ.

    Returns:
        The new dataset; it ends with the shortest.
    """
    return ZipDataset(datasets)
