"""Rows of TFRecord files (MindSpore: ``TFRecordDataset``)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_bool, check_type
from mindjax.dataset.engine.failures import pipeline_error
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.samplers import Shuffle
from mindjax.dataset.sources.files import FilesDataset, find_files
from mindjax.dataset.sources.schema import Column, Schema, schema_of
from mindjax.dataset.sources.tfrecord_format import (
    COMPRESSIONS,
    index_records,
    open_records,
    read_record,
)
from mindjax.mindrecord.tf_example import Feature, parse_features

# Files that are open at the same time; each is one descriptor.
_OPEN_FILES = 128


class TFRecordDataset(FilesDataset):
    """Rows of TFRecord files, each a ``tf.train.Example``.

    Args:
        dataset_files: paths or patterns of files.
        schema: a ``Schema``, or the path of its file; None for the features of the first row, in
            the order of their names, texts as the bytes of all values, as wide as the widest.
        columns_list: the columns wanted, in this order; None for all.
        num_samples: at most so many rows, of one shard where there are several; None for the
            schema's number.
        num_parallel_workers: number of files whose rows come in turn.
        shuffle: False for the order of the files, True or ``Shuffle.GLOBAL`` for rows in random
            order, ``Shuffle.FILES`` for files in random order.
        num_shards: number of shards.
        shard_id: which shard this is.
        shard_equal_rows: whether all shards have equally many rows; else a shard is whole files.
        cache: only None: the original's cache server does not exist here.
        compression_type: ``"GZIP"`` or ``"ZLIB"``; None or "" for plain files.

    Raises:
        ValueError: a file does not exist, or an argument is out of range.
        TypeError: an argument has the wrong type.
        RuntimeError: a file is damaged, or a record does not fit the schema.
    """

    def __init__(
        self,
        dataset_files: Any,
        schema: str | Schema | None = None,
        columns_list: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = False,
        cache: Any = None,
        compression_type: str | None = None,
    ) -> None:
        owner = type(self).__name__
        if not isinstance(dataset_files, str | list):
            raise located(TypeError, "dataset_files should be type str or a list of strings.")
        files = find_files(owner, dataset_files)
        check_bool(owner, "shard_equal_rows", shard_equal_rows)
        self.schema = schema_of(schema)
        if columns_list is not None:
            check_type(owner, "columns_list", columns_list, list)
        if compression_type not in (None, *COMPRESSIONS):
            raise located(
                ValueError,
                "Input compression_type can only be either '' (no compression), 'ZLIB', or 'GZIP', "
                f"but got {compression_type!r}.",
            )
        self.compression_type = compression_type or ""
        if num_samples is None and self.schema is not None:
            num_samples = Schema.get_num_rows(self.schema)
        # MindSpore: packed files cannot be counted cheaply, so with a number of rows all shards
        # get equally many.
        implied = bool(self.compression_type and num_samples)
        self.shard_equal_rows = shard_equal_rows or implied
        self._whole_files = not self.shard_equal_rows
        super().__init__(
            files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )
        if num_shards is not None and len(files) < num_shards:
            if implied:
                raise located(
                    ValueError,
                    "When compression_type is provided, the number of dataset files cannot be less "
                    f"than num_shards, but the actual number of files is {len(files)} and actual "
                    f"num_shards is {num_shards}.",
                )
            if self._whole_files:
                raise located(
                    RuntimeError,
                    "Invalid file, numbers of tfrecord file should not less than num_shards when "
                    f"shard_equal_rows is false, but got numbers of tfrecord file: {len(files)}, "
                    f"num_shards: {num_shards}.",
                )
        self.columns_list = None if columns_list is None else list(columns_list)
        self._open = functools.lru_cache(_OPEN_FILES)(
            functools.partial(open_records, compression=self.compression_type)
        )
        self._index: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self._wanted: list[Column] | None = None

    # Where records lie.

    def _records(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give where each file's records begin in the lists of starts and sizes, and these."""
        if self._index is None:
            starts, sizes = zip(
                *[index_records(path, self._open(path)) for path in self.dataset_files],
                strict=True,
            )
            firsts = np.cumsum([0, *map(len, starts)])
            self._index = firsts, np.concatenate(starts), np.concatenate(sizes)
        return self._index

    def _counts(self) -> list[int]:
        return np.diff(self._records()[0]).tolist()

    def _features(self, row: int) -> tuple[str, dict[str, Feature]]:
        firsts, starts, sizes = self._records()
        file = int(np.searchsorted(firsts, row, "right")) - 1
        path, number = self.dataset_files[file], row - int(firsts[file])
        data = read_record(path, self._open(path), number, int(starts[row]), int(sizes[row]))
        where = f"{path}: record {number}"
        try:
            return where, parse_features(data)
        except ValueError as error:
            raise pipeline_error(f"Failed to parse tfrecord file: {where}: {error}.") from None

    # Columns.

    def _found(self) -> list[Column]:
        if self._wanted is not None:
            return self._wanted
        if self.schema is not None:
            have = {column.name: column for column in self.schema.columns}
            names, problem = list(have), "failed to find column: {} in JSON schema file"
            problem = f"Invalid data, {problem}. file: {self.schema.schema_file}"
        else:
            where, features = self._features(0)
            have = {name: Column(name, features[name].kind, None) for name in sorted(features)}
            for name, column in have.items():
                if not column.type:
                    raise located(
                        RuntimeError,
                        f"Unrecognized datatype in column {name} of tfrecord file: {where}.",
                    )
            names = list(have)
            problem = "Invalid columns_list, tfrecord file failed to find column name: {}"
        for name in self.columns_list or ():
            if name not in have:
                raise located(RuntimeError, problem.format(name))
        self._wanted = [have[name] for name in self.columns_list or names]
        return self._wanted

    def _columns(self) -> list[str]:
        return [column.name for column in self._found()]

    def _rows(self, run: Run) -> Iterator[tuple[Any, ...]]:
        rows = self._order()[self._indices(run)].tolist()
        return run.map(self, self._reader(), rows, 1, False, type(self).__name__)

    def _reader(self) -> Callable[[int], tuple[np.ndarray, ...]]:
        columns = self._found()
        make = _inferred if self.schema is None else _given

        def read(row: int) -> tuple[np.ndarray, ...]:
            where, features = self._features(row)
            made = []
            for column in columns:
                feature = features.get(column.name)
                if feature is None or not feature.kind:
                    raise pipeline_error(_missing(column.name, where, self.schema is None))
                try:
                    made.append(make(column, feature))
                except ValueError as error:
                    raise pipeline_error(
                        f"map operation: [ParseExample] failed. The corresponding data file is: "
                        f"{where}. {error}"
                    ) from None
            return tuple(made)

        return read


def _missing(name: str, where: str, inferred: bool) -> str:
    if inferred:
        return (
            f"Invalid columns_list, column name: {name} does not exist in tfrecord file, check "
            f"tfrecord files: {where}."
        )
    return (
        f"map operation: [ParseExample] failed. The corresponding data file is: {where}. Feature "
        f"name: {name} is required in schema but could not be found in tfrecord file."
    )


def _inferred(column: Column, feature: Feature) -> np.ndarray:
    """Make the column of a row without a schema."""
    if feature.kind != column.type:
        raise ValueError(
            f"Invalid column type, the column type of {column.name} should be {column.type}, but "
            f"got {feature.kind}."
        )
    if isinstance(feature.values, np.ndarray):
        return feature.values
    width = max(map(len, feature.values), default=0)
    return np.frombuffer(b"".join(value.ljust(width) for value in feature.values), np.uint8).copy()


def _given(column: Column, feature: Feature) -> np.ndarray:
    """Make the column of a row as the schema says."""
    values = feature.values
    is_text = not isinstance(values, np.ndarray)
    if is_text != (column.type in ("string", "uint8")) and (is_text or column.type == "string"):
        raise ValueError(
            f"The data type loaded from the example for feature name: {column.name} does not match "
            f"the predefined type in schema, the actual type: {feature.kind}, but the predefined "
            f"type: {column.type}"
        )
    if isinstance(values, np.ndarray):
        array = values.astype(np.dtype(column.type))
    elif column.type == "string":
        array = np.array([value.decode() for value in values], np.str_)
    else:
        array = np.frombuffer(b"".join(values), np.uint8).copy()
    if column.shape is None:
        return array
    if column.shape.count(-1) > 1:
        raise ValueError("Requested shape has more than one unknown dimension!")
    try:
        return array.reshape(column.shape)
    except ValueError:
        raise ValueError(
            f"Column shape of {column.name} defined in schema does not match the shape actually "
            f"load: {array.size} values do not make {column.shape}."
        ) from None
