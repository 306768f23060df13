"""Rows of random values (MindSpore: ``RandomDataset``)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.engine.checks import check_int, check_type
from mindjax.dataset.engine.run import Run
from mindjax.dataset.sources.mappable import MappableDataset
from mindjax.dataset.sources.schema import Column, Schema, schema_of

_MOST_ROWS = 1024
_MOST_COLUMNS = 4
_MOST_AXES = 3
_LONGEST_AXIS = 16
_TYPES = ("bool", "int8", "uint8", "int32", "int64", "float16", "float32", "float64")


class RandomDataset(MappableDataset):
    """Rows of random values, to try a pipeline with.

    Args:
        total_rows: number of rows; None or 0 for a random one.
        schema: a ``Schema``, or the path of its file; None for random columns.
        columns_list: the schema's columns that are wanted, or names of the random columns; None
            for all of the schema, or for ``c0``, ``c1`` and so on.
        num_samples: at most so many rows.
        num_parallel_workers: accepted; rows are made by the thread that asks for them.
        cache: only None: the original's cache server does not exist here.
        shuffle: whether the order is random; None for yes.
        num_shards: number of shards.
        shard_id: which shard this is.

    Raises:
        TypeError: an argument has the wrong type.
        RuntimeError: ``total_rows`` is negative, a column is not in the schema or is of texts.
    """

    def __init__(
        self,
        total_rows: int | None = None,
        schema: str | Schema | None = None,
        columns_list: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
        shuffle: bool | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = type(self).__name__
        if total_rows is not None:
            check_type(owner, "total_rows", total_rows, int)
            if total_rows < 0:
                raise located(
                    RuntimeError,
                    f"{owner}: 'total_rows' must be greater than or equal to 0, got: {total_rows}",
                )
            check_int(owner, "total_rows", total_rows, 0)
        if columns_list is not None:
            check_type(owner, "columns_list", columns_list, list)
        super().__init__(
            num_parallel_workers, num_samples, None, shuffle, num_shards, shard_id, cache
        )
        self._seed = config.fresh_seed()
        rng = np.random.default_rng(self._seed)
        self.total_rows = total_rows or int(rng.integers(1, _MOST_ROWS + 1))
        given = schema_of(schema)
        if given is None:
            self._made = _random_columns(rng, columns_list)
            return
        have = {column.name: column for column in given.columns}
        for name in columns_list or ():
            if name not in have:
                raise located(
                    RuntimeError,
                    f"Invalid data, failed to find column: {name} in JSON schema file. file "
                    f"content: {' '.join(given.to_json().split())}",
                )
        for column in have.values():
            if column.type == "string":
                raise located(
                    RuntimeError,
                    f"{owner}: column {column.name} is of texts, and random values are numbers.",
                )
        self._made = [
            Column(column.name, column.type, _sizes(rng, column.shape))
            for column in [have[name] for name in columns_list or have]
        ]

    def _columns(self) -> list[str]:
        return [column.name for column in self._made]

    def _length(self) -> int:
        return self.total_rows

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        for row in self._indices(run).tolist():
            rng = np.random.default_rng([self._seed, row])
            yield tuple([_values(rng, column) for column in self._made])


def _random_columns(rng: np.random.Generator, names: list[str] | None) -> list[Column]:
    names = names or [f"c{place}" for place in range(int(rng.integers(1, _MOST_COLUMNS + 1)))]
    return [
        Column(name, str(rng.choice(_TYPES)), _sizes(rng, [-1] * int(rng.integers(1, _MOST_AXES))))
        for name in names
    ]


def _sizes(rng: np.random.Generator, shape: list[int] | None) -> list[int]:
    """Put random sizes in the place of unknown ones."""
    sizes = [] if shape is None else shape
    return [int(rng.integers(1, _LONGEST_AXIS + 1)) if size < 0 else size for size in sizes]


def _values(rng: np.random.Generator, column: Column) -> np.ndarray:
    kind = np.dtype(column.type)
    if kind.kind == "f":
        return np.asarray(rng.standard_normal(column.shape)).astype(kind)
    if kind.kind == "b":
        return np.asarray(rng.integers(0, 2, column.shape)).astype(kind)
    bounds = np.iinfo(kind)
    return np.asarray(rng.integers(bounds.min, bounds.max, column.shape, kind, endpoint=True))
