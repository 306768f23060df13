"""Samplers: which rows of a random-access source are read, and in which order."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import INT64_MAX, check_bool, check_int, check_type


class Shuffle(str, Enum):  # noqa: UP042  (MindSpore's prints as an Enum)
    """Levels of shuffling."""

    ADAPTIVE = "adaptive"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "files"
    INFILE = "infile"


def check_num_samples(owner: str, num_samples: Any) -> int | None:
    """Check a number of samples; 0 and None both mean all, given back as None."""
    if num_samples is None:
        return None
    check_type(owner, "num_samples", num_samples, int)
    if not 0 <= num_samples <= INT64_MAX:
        raise located(
            ValueError,
            f"For '{owner}': num_samples exceeds the boundary between 0 and {INT64_MAX}"
            f"(INT64_MAX)!, but got {num_samples}.",
        )
    return num_samples or None


class Sampler:
    """Base of all samplers; a subclass of the user's defines ``__iter__`` over row numbers.

    Args:
        num_samples: at most so many rows; None or 0 for all.
    """

    def __init__(self, num_samples: int | None = None) -> None:
        self.num_samples = check_num_samples(type(self).__name__, num_samples)
        self.child_sampler: Sampler | None = None
        self.dataset_size = 0

    def __iter__(self) -> Iterator[int]:
        """Iterate over row numbers."""
        raise located(
            NotImplementedError,
            f"Sampler must be subclassed to implement __iter__: '{type(self).__name__}' has none.",
        )

    def add_child(self, sampler: Sampler) -> None:
        """Let this sampler choose among the rows that another one chose.

        Raises:
            RuntimeError: there is a child already.
        """
        if self.child_sampler is not None:
            raise located(
                RuntimeError, "Cannot add child sampler, this sampler already has a child."
            )
        if sampler is not None:
            self.child_sampler = sampler

    def get_child(self) -> Sampler | None:
        """Give the sampler whose rows this one chooses among."""
        return self.child_sampler

    def get_num_samples(self) -> int | None:
        """Give the largest number of rows, or None."""
        return self.num_samples

    def reset(self) -> None:
        """Forget the position; samplers here keep none."""

    def is_shuffled(self) -> bool:
        """Tell whether the order is random."""
        return self.child_sampler is not None and self.child_sampler.is_shuffled()

    def is_sharded(self) -> bool:
        """Tell whether this is one shard of several."""
        return self.child_sampler is not None and self.child_sampler.is_sharded()

    def indices(self, size: int, rng: np.random.Generator, labels: Any = None) -> np.ndarray:
        """Choose the rows of one epoch.

        Args:
            size: number of rows of the source.
            rng: random stream of the pipeline.
            labels: function that gives the class of every row, for samplers that need it.

        Returns:
            Row numbers, int64, in order.

        Raises:
            RuntimeError: a row number is out of bounds.
        """
        if self.child_sampler is not None:
            rows = self.child_sampler.indices(size, rng, labels)
            picked = self._choose(len(rows), rng, None if labels is None else _select(labels, rows))
            return rows[picked]
        return self._choose(size, rng, labels)

    def count(self, size: int, labels: Any = None) -> int:
        """Count the rows of one epoch; consumes no random numbers of a pipeline."""
        return len(self.indices(size, np.random.default_rng(0), labels))

    def _choose(self, size: int, rng: np.random.Generator, labels: Any) -> np.ndarray:
        self.dataset_size = size
        limit = size if self.num_samples is None else min(self.num_samples, size)
        chosen: list[int] = []
        beyond: list[int] = []
        for value in self:
            if len(chosen) == limit:
                break
            (chosen if 0 <= value < size else beyond).append(int(value))
        if beyond:
            # MindSpore: row numbers of a user's sampler that do not exist are left out.
            warnings.warn(
                f"{type(self).__name__}: Sample ID ({beyond[0]}) and {len(beyond) - 1} more are "
                f"out of bound, expected range [0, {size - 1}]: they are left out.",
                UserWarning,
                stacklevel=2,
            )
        return np.asarray(chosen, np.int64)


class BuiltinSampler(Sampler):
    """Base of the samplers below."""


def _select(labels: Any, rows: np.ndarray) -> Any:
    return lambda: labels()[rows]


def _in_bounds(rows: np.ndarray, size: int) -> np.ndarray:
    bad = (rows < 0) | (rows >= size)
    if bad.any():
        raise located(
            RuntimeError,
            f"Sample ID ({rows[bad][0]}) is out of bound, expected range [0, {size - 1}]",
        )
    return rows


class SequentialSampler(BuiltinSampler):
    """Takes rows in their order.

    Args:
        start_index: first row; None for 0.
        num_samples: at most so many rows.
    """

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        if start_index is not None:
            check_type("SequentialSampler", "start_index", start_index, int)
        self.start_index = start_index or 0

    def _choose(self, size: int, rng: np.random.Generator, labels: Any) -> np.ndarray:
        start = self.start_index
        if start < 0:
            raise located(
                RuntimeError,
                "SequentialSampler: start_index_ must be greater than or equal to 0, but got: "
                f"{start}",
            )
        if start >= size > 0:
            raise located(
                RuntimeError,
                "Invalid parameter, start_index must be less than num_rows, but got start_index: "
                f"{start}, num_rows: {size}.",
            )
        stop = size if self.num_samples is None else min(size, start + self.num_samples)
        return np.arange(start, stop, dtype=np.int64)


class RandomSampler(BuiltinSampler):
    """Takes rows in a random order.

    Args:
        replacement: whether a row may come twice.
        num_samples: at most so many rows.
        shuffle: level of shuffling; a source here has one level, so GLOBAL and ADAPTIVE are alike.
    """

    def __init__(
        self,
        replacement: bool = False,
        num_samples: int | None = None,
        shuffle: Shuffle = Shuffle.GLOBAL,
    ) -> None:
        super().__init__(num_samples)
        self.replacement = check_bool("RandomSampler", "replacement", replacement)
        check_type("RandomSampler", "shuffle", shuffle, Shuffle)
        if shuffle not in (Shuffle.GLOBAL, Shuffle.ADAPTIVE):
            raise located(
                NotImplementedError,
                f"For 'RandomSampler', shuffle={shuffle} needs a source of several files: use "
                "Shuffle.GLOBAL.",
            )
        self.shuffle = shuffle

    def is_shuffled(self) -> bool:
        """Tell that the order is random."""
        return True

    def _choose(self, size: int, rng: np.random.Generator, labels: Any) -> np.ndarray:
        count = size if self.num_samples is None else min(self.num_samples, size)
        if self.replacement:
            return rng.integers(0, max(size, 1), count if size else 0)
        return rng.permutation(size)[:count].astype(np.int64, copy=False)


class _Process:
    """How many ranks this process stands for."""

    ranks = 1


def stand_for(ranks: int) -> None:
    """Let this process read the shards of several ranks as one.

    Pipelines that are made from now on and read the first of so many shards read them all, and
    their batches hold the batches of all ranks.

    Args:
        ranks: number of ranks.
    """
    _Process.ranks = ranks


class DistributedSampler(BuiltinSampler):
    """Takes every ``num_shards``-th row; all shards get equally many.

    The order depends on the number of epochs begun and on nothing else, so that the shards of one
    training never overlap.

    Args:
        num_shards: number of shards.
        shard_id: which one this is, from 0.
        shuffle: whether rows are permuted first, alike in every shard.
        num_samples: at most so many rows of this shard.
        offset: shard that gets row 0 when rows are not repeated to fill up; -1 repeats them.
    """

    def __init__(
        self,
        num_shards: int,
        shard_id: int,
        shuffle: bool = True,
        num_samples: int | None = None,
        offset: int = -1,
    ) -> None:
        for name, value in (("num_shards", num_shards), ("shard_id", shard_id)):
            if not isinstance(value, int) or isinstance(value, bool):
                raise located(
                    TypeError, f"DistributedSampler: {name} must be integer but was: {value!r}."
                )
        check_bool("DistributedSampler", "shuffle", shuffle)
        check_type("DistributedSampler", "offset", offset, int)
        super().__init__(num_samples)
        if num_shards <= 0 or not 0 <= shard_id < num_shards:
            raise located(
                RuntimeError,
                "DistributedSampler: shard_id must be within [0, num_shards) of a positive "
                f"num_shards, but got shard_id: {shard_id}, num_shards: {num_shards}.",
            )
        if offset > num_shards:
            raise located(
                RuntimeError,
                f"DistributedSampler: offset must be no more than num_shards({num_shards}), but "
                f"got: {offset}",
            )
        self.ranks = 1
        if _Process.ranks > 1 and num_shards == _Process.ranks and shard_id == 0:
            self.ranks, num_shards = num_shards, 1
            self.num_samples = num_samples and num_samples * self.ranks
            offset = min(offset, 0)
        self.num_shards, self.shard_id = num_shards, shard_id
        self.shuffle, self.offset = shuffle, offset
        self.seed = 0

    def is_shuffled(self) -> bool:
        """Tell whether the order is random."""
        return self.shuffle

    def is_sharded(self) -> bool:
        """Tell whether there is more than one shard."""
        return self.num_shards > 1

    def count(self, size: int, labels: Any = None) -> int:
        """Count the rows of this shard."""
        seed, rows = self.seed, super().count(size, labels)
        self.seed = seed
        return rows

    def _choose(self, size: int, rng: np.random.Generator, labels: Any) -> np.ndarray:
        if size == 0:
            return np.empty(0, np.int64)
        places = np.arange(size, dtype=np.int64)
        if self.shuffle:
            places = np.random.default_rng(self.seed).permutation(places)
            self.seed += 1
        if self.offset >= 0:
            first = (self.shard_id - self.offset) % self.num_shards
            rows = places[first :: self.num_shards]
        else:
            each = -(-size // self.num_shards)
            rows = places[(self.shard_id + self.num_shards * np.arange(each)) % size]
        return rows if self.num_samples is None else rows[: self.num_samples]


class PKSampler(BuiltinSampler):
    """Takes K rows of each class.

    Args:
        num_val: rows of each class (K).
        num_class: number of classes; only None (all) is supported, as in the original.
        shuffle: whether the order of the classes is random.
        class_column: name of the column of classes.
        num_samples: at most so many rows.
    """

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        check_type("PKSampler", "num_val", num_val, int)
        check_bool("PKSampler", "shuffle", shuffle)
        check_type("PKSampler", "class_column", class_column, str)
        if num_class is not None:
            raise located(
                NotImplementedError,
                "Not supported to specify num_class for PKSampler: leave it out.",
            )
        super().__init__(num_samples)
        if num_val <= 0:
            raise located(
                RuntimeError, f"PKSampler: num_val must be greater than 0, but got: {num_val}"
            )
        self.num_val, self.shuffle, self.class_column = num_val, shuffle, class_column

    def is_shuffled(self) -> bool:
        """Tell whether the order is random."""
        return self.shuffle

    def _choose(self, size: int, rng: np.random.Generator, labels: Any) -> np.ndarray:
        if labels is None:
            raise located(
                RuntimeError, "PKSampler: the dataset has no column of classes to sample from."
            )
        classes = np.asarray(labels())
        by_class = [np.flatnonzero(classes == value) for value in np.unique(classes)]
        enough = [rows for rows in by_class if len(rows) >= self.num_val]
        if not enough:
            raise located(
                RuntimeError, f"PKSampler: no class has as many as num_val={self.num_val} rows."
            )
        if self.shuffle:
            enough = [enough[place] for place in rng.permutation(len(enough))]
            picked = [rng.choice(rows, self.num_val, replace=False) for rows in enough]
        else:
            picked = [rows[: self.num_val] for rows in enough]
        rows = np.concatenate(picked).astype(np.int64)
        return rows if self.num_samples is None else rows[: self.num_samples]


def _index_array(owner: str, indices: Any) -> np.ndarray:
    values = list(indices) if isinstance(indices, Iterable) else [indices]
    for place, value in enumerate(values):
        if not isinstance(value, int | np.integer) or isinstance(value, bool):
            raise located(
                TypeError,
                f"{owner}: Type of indices element must be int, but got list[{place}]: {value!r}, "
                f"type: {type(value)}.",
            )
    return np.asarray(values, np.int64)


class SubsetSampler(BuiltinSampler):
    """Takes given rows in the given order.

    Args:
        indices: row numbers.
        num_samples: at most so many of them.
    """

    def __init__(self, indices: Any, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self._rows = _index_array(type(self).__name__, indices)

    def _choose(self, size: int, rng: np.random.Generator, labels: Any) -> np.ndarray:
        rows = self._rows if self.num_samples is None else self._rows[: self.num_samples]
        return _in_bounds(rows, size)


class SubsetRandomSampler(SubsetSampler):
    """Takes given rows in a random order.

    Args:
        indices: row numbers.
        num_samples: at most so many of them.
    """

    def is_shuffled(self) -> bool:
        """Tell that the order is random."""
        return True

    def _choose(self, size: int, rng: np.random.Generator, labels: Any) -> np.ndarray:
        rows = rng.permutation(self._rows)
        return _in_bounds(rows if self.num_samples is None else rows[: self.num_samples], size)


class IterSampler(Sampler):
    """Wraps a list of row numbers or any iterable object that a user gives as sampler.

    Args:
        sampler: iterable of row numbers, iterated once an epoch.
        num_samples: at most so many rows.
    """

    def __init__(self, sampler: Iterable[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.sampler = sampler

    def __iter__(self) -> Iterator[int]:
        """Iterate over row numbers."""
        return iter(self.sampler)


class WeightedRandomSampler(BuiltinSampler):
    """Takes row ``i`` with a probability proportional to ``weights[i]``.

    Args:
        weights: one non-negative number a row; rows beyond its end are never taken.
        num_samples: number of rows; None for as many as the source has.
        replacement: whether a row may come twice.
    """

    def __init__(
        self, weights: Sequence[float], num_samples: int | None = None, replacement: bool = True
    ) -> None:
        values = list(weights) if isinstance(weights, Iterable) else [weights]
        for place, value in enumerate(values):
            if not isinstance(value, int | float | np.number) or isinstance(value, bool):
                raise located(
                    TypeError,
                    "WeightedRandomSampler: Type of weights element must be number, but got "
                    f"list[{place}]: {value!r}, type: {type(value)}.",
                )
        check_bool("WeightedRandomSampler", "replacement", replacement)
        super().__init__(num_samples)
        self.weights, self.replacement = np.asarray(values, np.float64), replacement

    def is_shuffled(self) -> bool:
        """Tell that the order is random."""
        return True

    def _choose(self, size: int, rng: np.random.Generator, labels: Any) -> np.ndarray:
        weights = self.weights
        if (weights < 0).any() or not len(weights):
            place = int(np.argmax(weights < 0)) if len(weights) else 0
            value = weights[place] if len(weights) else "nothing"
            raise located(
                RuntimeError,
                "WeightedRandomSampler: weights vector must not be empty or contain negative "
                f"numbers, got: weights[{place}] = {value}",
            )
        if not weights.any():
            raise located(
                RuntimeError,
                "WeightedRandomSampler: elements of weights vector must not be all zero",
            )
        if len(weights) > size:
            raise located(
                RuntimeError,
                "Invalid parameter, size of sample weights must be less than or equal to num of "
                f"data, but got weight size: {len(weights)}, num of data: {size}",
            )
        count = size if self.num_samples is None else self.num_samples
        if self.replacement:
            return rng.choice(len(weights), count, p=weights / weights.sum()).astype(np.int64)
        # MindSpore: rows of weight 0 come last, after those that can be drawn.
        keys = rng.random(len(weights)) ** (1.0 / np.maximum(weights, 1e-300))
        keys[weights == 0] = -rng.random(int((weights == 0).sum()))
        return np.argsort(-keys, kind="stable")[:count].astype(np.int64)


def select_sampler(
    owner: str,
    num_samples: int | None,
    sampler: Any,
    shuffle: bool | None,
    num_shards: int | None,
    shard_id: int | None,
    default_shuffle: bool = True,
) -> Sampler:
    """Turn a source's arguments into one sampler.

    Args:
        owner: name of the source.
        num_samples: at most so many rows.
        sampler: a sampler, an iterable of row numbers, or None.
        shuffle: True, False, or None for ``default_shuffle``.
        num_shards: number of shards, or None.
        shard_id: which shard, or None.
        default_shuffle: what ``shuffle=None`` means.

    Returns:
        The sampler.

    Raises:
        RuntimeError: arguments exclude each other.
        ValueError: ``num_shards`` or ``shard_id`` is out of range.
        TypeError: an argument has the wrong type.
    """
    num_samples = check_num_samples(owner, num_samples)
    if shuffle is not None and not isinstance(shuffle, Shuffle):
        check_bool(owner, "shuffle", shuffle)
    check_shards(owner, num_shards, shard_id)
    if sampler is not None:
        if shuffle is not None:
            raise located(
                RuntimeError,
                f"For '{owner}': sampler and shuffle cannot be specified at the same time.",
            )
        if num_shards is not None:
            raise located(
                RuntimeError,
                f"For '{owner}': sampler and sharding cannot be specified at the same time.",
            )
        if isinstance(sampler, Sampler):
            if num_samples is not None:
                if isinstance(sampler, BuiltinSampler):
                    raise located(
                        ValueError,
                        f"For '{owner}': Conflicting arguments during sampler assignments: give "
                        "num_samples to the sampler.",
                    )
                sampler.num_samples = num_samples
            return sampler
        if isinstance(sampler, int | np.integer):
            return SubsetSampler([sampler])
        if isinstance(sampler, str) or not isinstance(sampler, Iterable):
            raise located(
                TypeError,
                f"For '{owner}': Unsupported sampler object of type {type(sampler)}: give a "
                "Sampler or an iterable of row numbers.",
            )
        if isinstance(sampler, list | tuple | np.ndarray):
            return SubsetSampler(sampler, num_samples)
        return IterSampler(sampler, num_samples)
    wanted = default_shuffle if shuffle is None else bool(shuffle)
    if num_shards is not None and shard_id is not None:
        return DistributedSampler(num_shards, shard_id, wanted, num_samples)
    return RandomSampler(num_samples=num_samples) if wanted else SequentialSampler(0, num_samples)


def check_shards(owner: str, num_shards: Any, shard_id: Any) -> None:
    """Refuse a shard without its number, and numbers out of range."""
    if num_shards is None and shard_id is None:
        return
    if shard_id is None:
        raise located(
            RuntimeError,
            f"For '{owner}': num_shards is specified and currently requires shard_id as well.",
        )
    if num_shards is None:
        raise located(RuntimeError, f"For '{owner}': shard_id is specified but num_shards is not.")
    check_int(owner, "num_shards", num_shards, 1)
    check_int(owner, "shard_id", shard_id, 0, num_shards - 1)
