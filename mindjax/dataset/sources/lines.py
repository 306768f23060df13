"""Sources of lines of text: text files and CSV files."""

from __future__ import annotations

import csv
import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_type
from mindjax.dataset.engine.samplers import Shuffle
from mindjax.dataset.sources.files import FilesDataset, find_files
from mindjax.dataset.sources.mappable import ArrayDataset

_INTEGER = re.compile(r"\s*[+-]?\d+")
_DECIMAL = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


class LinesDataset(FilesDataset, ArrayDataset):
    """A source whose rows are lines of files.

    Args:
        dataset_files: paths or patterns of files.
        num_samples: at most so many rows.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: False for the order of the files, True or ``Shuffle.GLOBAL`` for rows in random
            order, ``Shuffle.FILES`` for files in random order.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    def __init__(
        self,
        dataset_files: Any,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        super().__init__(
            find_files(type(self).__name__, dataset_files),
            num_samples,
            num_parallel_workers,
            shuffle,
            num_shards,
            shard_id,
            cache,
        )
        self._lines: list[list[tuple[Any, ...]]] | None = None
        self._loaded: list[np.ndarray] | None = None

    def _read_file(self, path: str) -> list[tuple[Any, ...]]:
        raise NotImplementedError(type(self).__name__)

    def _types(self) -> list[Any]:
        return [np.str_] * len(self._columns())

    def _counts(self) -> list[int]:
        self._lines = [self._read_file(path) for path in self.dataset_files]
        return [len(rows) for rows in self._lines]

    def _arrays(self) -> Sequence[np.ndarray]:
        if self._loaded is None:
            order = self._order()
            assert self._lines is not None
            rows = list(itertools.chain.from_iterable(self._lines))
            columns = zip(*[rows[place] for place in order], strict=True)
            self._loaded = [
                np.array(column, dtype=kind)
                for column, kind in zip(columns, self._types(), strict=True)
            ]
            self._lines = None
        return self._loaded


class TextFileDataset(LinesDataset):
    """Lines of text files: column ``text``; empty lines are left out.

    Args:
        dataset_files: paths or patterns of files.
        num_samples: at most so many rows.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: False for the order of the files, True or ``Shuffle.GLOBAL`` for rows in random
            order, ``Shuffle.FILES`` for files in random order.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    def _columns(self) -> list[str]:
        return ["text"]

    def _read_file(self, path: str) -> list[tuple[Any, ...]]:
        with open(path, encoding="utf-8", newline="\n") as lines:
            return [(text,) for line in lines if (text := line.rstrip("\n"))]


class CSVDataset(LinesDataset):
    """Rows of CSV files (RFC 4180).

    Args:
        dataset_files: paths or patterns of files.
        field_delim: character between fields.
        column_defaults: an int, a float or a text for each column: its type is the column's,
            int32, float32 or text; None for text.
        column_names: names of the columns; None takes the first line of every file for them.
        num_samples: at most so many rows.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: False for the order of the files, True or ``Shuffle.GLOBAL`` for rows in random
            order, ``Shuffle.FILES`` for files in random order.
        num_shards: number of shards.
        shard_id: which shard this is.
        cache: only None: the original's cache server does not exist here.
    """

    def __init__(
        self,
        dataset_files: Any,
        field_delim: str = ",",
        column_defaults: Any = None,
        column_names: Any = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "CSVDataset"
        check_type(owner, "field delim", field_delim, str)
        if field_delim in ('"', "\r", "\n") or len(field_delim) != 1:
            raise located(ValueError, f"For '{owner}': field_delim is invalid: {field_delim!r}.")
        if column_defaults is not None:
            check_type(owner, "column_defaults", column_defaults, list)
            for place, value in enumerate(column_defaults):
                check_type(owner, f"column_defaults[{place}]", value, (str, int, float))
        for place, name in enumerate(column_names or ()):
            check_type(owner, f"column_names[{place}]", name, str)
        self.field_delim, self.column_names = field_delim, [*map(str, column_names or ())]
        self.column_defaults = list(column_defaults or ())
        super().__init__(
            dataset_files,
            num_samples,
            num_parallel_workers,
            shuffle,
            num_shards,
            shard_id,
            cache,
        )

    def _columns(self) -> list[str]:
        if self.column_names:
            return self.column_names
        records = self._records(self.dataset_files[0])
        for record in records:
            return record
        return []

    def _default(self, place: int) -> Any:
        return self.column_defaults[place] if place < len(self.column_defaults) else ""

    def _types(self) -> list[Any]:
        kinds = {int: np.int32, bool: np.int32, float: np.float32, str: np.str_}
        return [kinds[type(self._default(place))] for place in range(len(self._columns()))]

    def _records(self, path: str) -> list[list[str]]:
        with open(path, encoding="utf-8", newline="") as lines:
            try:
                records = csv.reader(lines, delimiter=self.field_delim, strict=True)
                return [record for record in records if record]
            except csv.Error as error:
                raise self._bad(path, str(error)) from None

    def _bad(self, path: str, text: str) -> Exception:
        return located(
            RuntimeError, f"Invalid file, failed to parse csv file: {path}. Error message: {text}."
        )

    def _read_file(self, path: str) -> list[tuple[Any, ...]]:
        records = self._records(path)
        if not self.column_names:
            records = records[1:]
        width = len(self._columns())
        rows = []
        for record in records:
            if len(record) != width:
                raise self._bad(
                    path,
                    f"Invalid columns, the size of column_names should be the number of fields, "
                    f"{len(record)}, but it is {width}",
                )
            rows.append(tuple(self._field(path, *field) for field in enumerate(record)))
        return rows

    def _field(self, path: str, place: int, text: str) -> Any:
        default = self._default(place)
        if isinstance(default, str):
            return text
        pattern, kind = (_DECIMAL, float) if isinstance(default, float) else (_INTEGER, int)
        # C's conversions stop at the first sign that is no part of the number.
        found = pattern.match(text)
        if found is None:
            raise self._bad(path, f"type does not match, {text!r} is no {kind.__name__}")
        return kind(found[0])
