"""Operations that stack rows: ``batch`` and ``padded_batch``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.engine.checks import check_bool, check_int, check_type, column_names
from mindjax.dataset.engine.dataset import Dataset
from mindjax.dataset.engine.failures import also_runtime_error, failure, pipeline_error
from mindjax.dataset.engine.mapping import Layout, check_max_rowsize
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.tensors import to_array
from mindjax.dataset.transforms.operation import operation_name

Row = tuple[Any, ...]


class BatchInfo:
    """Which batch of which epoch a function works on.

    Args:
        batch: number of the batch in its epoch, from 0.
        epoch: number of the epoch, from 0.
    """

    def __init__(self, batch: int, epoch: int) -> None:
        self._batch, self._epoch = batch, epoch

    def get_batch_num(self) -> int:
        """Give the number of the batch in its epoch, from 0."""
        return self._batch

    def get_epoch_num(self) -> int:
        """Give the number of the epoch, from 0."""
        return self._epoch


def stack(values: Any, place: int, name: str) -> np.ndarray:
    """Stack the rows of one column.

    Args:
        values: arrays, one a row.
        place: number of the column, for the message.
        name: its name, for the message.

    Returns:
        One array with a new first axis.

    Raises:
        RuntimeError: shapes or dtypes differ.
    """
    first = values[0]
    if isinstance(first, dict):
        return np.asarray(values, dtype=object)
    text = first.dtype.kind in "US"
    for value in values:
        if value.shape != first.shape:
            raise pipeline_error(
                f"Cannot batch tensors with different shapes in column {place} ('{name}'). First "
                f"element had shape {_angle(first.shape)} and this element had shape "
                f"{_angle(value.shape)}",
            )
        if value.dtype != first.dtype and not (text and value.dtype.kind == first.dtype.kind):
            raise pipeline_error(
                f"Cannot batch tensors with different types in column {place} ('{name}'). First "
                f"element had type {first.dtype} and this element had type {value.dtype}",
            )
    return np.stack(values)


def _angle(shape: tuple[int, ...]) -> str:
    return "<" + ",".join(map(str, shape)) + ">"


class BatchDataset(Dataset):
    """Stacks of consecutive rows.

    Args:
        input_dataset: what it reads.
        batch_size: rows of a batch, or a function from ``BatchInfo`` to it.
        drop_remainder: whether a last, shorter batch is left out.
        num_parallel_workers: workers of ``per_batch_map``.
        per_batch_map: function of the input columns (a list of rows each) and a ``BatchInfo``.
        input_columns: names of its columns; None for all.
        output_columns: names of what it gives; None for the same names.
        python_multiprocessing: whether its workers are processes.
        max_rowsize: MB of a row in the original's shared memory; pipes here have no such bound.
    """

    def __init__(
        self,
        input_dataset: Dataset,
        batch_size: int | Callable[[BatchInfo], int],
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        per_batch_map: Callable[..., Any] | None = None,
        input_columns: str | list[str] | None = None,
        output_columns: str | list[str] | None = None,
        python_multiprocessing: bool = False,
        max_rowsize: int | list[int] | None = None,
    ) -> None:
        super().__init__([input_dataset], num_parallel_workers)
        if not isinstance(batch_size, int) and not callable(batch_size):
            raise located(
                TypeError,
                "For 'batch': batch_size should either be an int or a callable, but got "
                f"{batch_size!r}.",
            )
        if batch_size == -1:
            # The original raises ValueError for all numbers below 1 but this one.
            raise located(
                also_runtime_error(ValueError),
                "For 'batch': Batch size cannot be -1 without using batch sampler.",
            )
        if isinstance(batch_size, int):
            batch_size = check_int("batch", "batch_size", int(batch_size), 1) * self.ranks
        self.batch_size = batch_size
        self.drop_remainder = check_bool("batch", "drop_remainder", drop_remainder)
        if per_batch_map is not None and not callable(per_batch_map):
            raise located(
                TypeError,
                "For 'batch': per_batch_map is not a Python function, but got "
                f"{type(per_batch_map)}.",
            )
        self.per_batch_map = per_batch_map
        if per_batch_map is None and (input_columns or output_columns):
            raise located(
                ValueError,
                "For 'batch': input_columns and output_columns can be specified only when "
                "per_batch_map is given.",
            )
        self.input_columns = (
            [] if input_columns is None else column_names("batch", "input_columns", input_columns)
        )
        self.output_columns = (
            []
            if output_columns is None
            else column_names("batch", "output_columns", output_columns)
        )
        if per_batch_map is not None and self.input_columns:
            _check_signature(per_batch_map, len(self.input_columns))
        self.python_multiprocessing = check_bool(
            "batch", "python_multiprocessing", python_multiprocessing
        )
        check_max_rowsize("batch", max_rowsize)

    def _layout(self) -> Layout:
        names = self.children[0].get_col_names()
        inputs = self.input_columns or names
        return Layout("batch", names, inputs, self.output_columns or inputs)

    def _columns(self) -> list[str]:
        return self._layout().names

    def _size(self) -> int:
        rows = self.children[0].get_dataset_size()
        if callable(self.batch_size):
            batches = sum(1 for _ in self._sizes(0, rows))
            return batches
        return rows // self.batch_size if self.drop_remainder else -(-rows // self.batch_size)

    def _sizes(self, epoch: int, rows: int) -> Iterator[int]:
        assert callable(self.batch_size)
        batch = 0
        while rows > 0:
            size = _checked_size(self.batch_size, BatchInfo(batch, epoch)) * self.ranks
            if rows >= size or not self.drop_remainder:
                yield size
            rows, batch = rows - size, batch + 1

    def get_batch_size(self) -> int:
        """Give the rows of a batch; -1 where a function decides."""
        return -1 if callable(self.batch_size) else self.batch_size

    def _rows(self, run: Run) -> Iterator[Row]:
        epoch = run.next_count(self)
        names = self.children[0].get_col_names()
        if self.per_batch_map is None:
            below = None if callable(self.batch_size) else self.children[0]._plan(run)
            if below is not None and not callable(self.batch_size):
                for index in below.batches(self.batch_size, self.drop_remainder):
                    yield below.gather(index)
                return
            for rows, _ in self._groups(run, epoch):
                yield tuple(
                    [
                        stack(values, place, names[place])
                        for place, values in enumerate(zip(*rows, strict=True))
                    ]
                )
            return
        count = self._worker_count(
            config.get_num_parallel_workers() if self.python_multiprocessing else 1
        )
        groups = self._groups(run, epoch)
        yield from run.map(
            self, self._mapped, groups, count, self.python_multiprocessing, self._what()
        )

    def _groups(self, run: Run, epoch: int) -> Iterator[tuple[list[Row], BatchInfo]]:
        rows = self.children[0]._stream(run)
        batch = 0
        group: list[Row] = []
        info = BatchInfo(0, epoch)
        size = self._next_size(info)
        for row in rows:
            group.append(row)
            if len(group) == size:
                yield group, info
                batch, group = batch + 1, []
                info = BatchInfo(batch, epoch)
                size = self._next_size(info)
        if group and not self.drop_remainder:
            yield group, info

    def _next_size(self, info: BatchInfo) -> int:
        return (
            _checked_size(self.batch_size, info) * self.ranks
            if callable(self.batch_size)
            else self.batch_size
        )

    def _what(self) -> str:
        return f"batch operation: [{operation_name(self.per_batch_map)}]"

    def _mapped(self, item: tuple[list[Row], BatchInfo]) -> Row:
        rows, info = item
        layout = self._layout()
        columns = [list(values) for values in zip(*rows, strict=True)]
        assert self.per_batch_map is not None
        try:
            made = self.per_batch_map(*[columns[place] for place in layout.places], info)
        except Exception as error:
            raise failure(error, self._what()) from error
        outputs = self.output_columns or [
            self.children[0].get_col_names()[place] for place in layout.places
        ]
        if not isinstance(made, tuple):
            if len(outputs) != 1:
                raise pipeline_error(
                    f"{self._what()}: per_batch_map should return a tuple of "
                    f"{len(outputs)} columns, but got {type(made)}.",
                )
            made = (made,)
        if len(made) != len(outputs):
            raise pipeline_error(
                f"{self._what()}: Invalid data, the number of columns returned from per_batch_map "
                f"should be {len(outputs)}, but got {len(made)}.",
            )
        arrays: list[Any] = []
        for place, (name, column) in enumerate(zip(outputs, made, strict=True)):
            if not isinstance(column, list | tuple | np.ndarray):
                raise pipeline_error(
                    f"{self._what()}: column {name} returned from per_batch_map should be a list "
                    f"or an array, but got {type(column)}.",
                )
            if len(column) != len(rows):
                raise pipeline_error(
                    f"Invalid data, column: {name} expects: {len(rows)} rows returned from "
                    f"'per_batch_map', got: {len(column)}",
                )
            if isinstance(column, np.ndarray):
                arrays.append(to_array(column, self._what()))
            else:
                arrays.append(
                    stack([to_array(value, self._what()) for value in column], place, name)
                )
        names = self.children[0].get_col_names()
        others = tuple(
            [
                () if place in layout.places else stack(values, place, names[place])
                for place, values in enumerate(columns)
            ]
        )
        return layout.merge(others, tuple(arrays))


def _check_signature(function: Callable[..., Any], columns: int) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(*[None] * (columns + 1))
    except TypeError:
        raise located(
            ValueError,
            "For 'batch': The signature of per_batch_map should match with input columns: it is "
            f"called with {columns} of them and a BatchInfo, but has the parameters {signature}.",
        ) from None


def _checked_size(function: Callable[[BatchInfo], int], info: BatchInfo) -> int:
    try:
        size = function(info)
    except Exception as error:
        raise failure(error, "batch operation: [batch_size function]") from error
    if not isinstance(size, int | np.integer) or isinstance(size, bool) or size <= 0:
        raise located(
            RuntimeError,
            f"Invalid batch size function, the batch size should be a positive integer, but got: "
            f"{size!r}.",
        )
    return int(size)


class PaddedBatchDataset(Dataset):
    """Stacks of rows that are padded to one shape.

    Args:
        input_dataset: what it reads.
        batch_size: rows of a batch.
        drop_remainder: whether a last, shorter batch is left out.
        num_parallel_workers: accepted; padding runs in the caller's thread.
        pad_info: column name to (shape or None for the largest row, value); None pads nothing.
    """

    def __init__(
        self,
        input_dataset: Dataset,
        batch_size: int,
        drop_remainder: bool = False,
        num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> None:
        super().__init__([input_dataset], num_parallel_workers)
        self.batch_size = check_int("padded_batch", "batch_size", batch_size, 1) * self.ranks
        self.drop_remainder = check_bool("padded_batch", "drop_remainder", drop_remainder)
        check_type("padded_batch", "pad_info", pad_info, (dict, type(None)))
        for name, entry in (pad_info or {}).items():
            check_type("padded_batch", "key in pad_info", name, str)
            check_type("padded_batch", f"pad_info['{name}']", entry, tuple)
        self.pad_info = pad_info or {}

    def _columns(self) -> list[str]:
        names = self.children[0].get_col_names()
        for name in self.pad_info:
            if name not in names:
                raise located(
                    RuntimeError,
                    f"For 'padded_batch': Invalid pad_info, column name: {name} does not exist in "
                    f"{names}.",
                )
        return names

    def _size(self) -> int:
        rows = self.children[0].get_dataset_size()
        return rows // self.batch_size if self.drop_remainder else -(-rows // self.batch_size)

    def get_batch_size(self) -> int:
        """Give the rows of a batch."""
        return self.batch_size

    def _rows(self, run: Run) -> Iterator[Row]:
        names = self.get_col_names()
        plain = BatchDataset(self.children[0], self.batch_size, self.drop_remainder)
        for rows, _ in plain._groups(run, 0):
            yield tuple(
                [
                    self._padded(list(values), place, names[place])
                    for place, values in enumerate(zip(*rows, strict=True))
                ]
            )

    def _padded(self, values: list[np.ndarray], place: int, name: str) -> np.ndarray:
        if name not in self.pad_info:
            return stack(values, place, name)
        return pad_stack(values, name, *self.pad_info[name])


def pad_stack(values: list[np.ndarray], name: str, shape: Any, fill: Any) -> np.ndarray:
    """Pad the rows of one column to one shape and stack them.

    Args:
        values: the rows, of one rank.
        name: name of the column.
        shape: size of each axis, None for the largest row's; or None for all.
        fill: value of the padding; None for zero.

    Returns:
        The stack; what does not fit is cut off, as in the original.

    Raises:
        RuntimeError: the rows or ``shape`` have other ranks.
    """
    rank = values[0].ndim
    if any(value.ndim != rank for value in values) or (shape is not None and len(shape) != rank):
        raise located(
            RuntimeError,
            f"For 'padded_batch': column {name} has rows of rank "
            f"{sorted({value.ndim for value in values})}, but pad_info gives shape {shape}.",
        )
    wanted = [None] * rank if shape is None else list(shape)
    sizes = [
        max(value.shape[axis] for value in values) if size in (None, -1) else size
        for axis, size in enumerate(wanted)
    ]
    empty = np.zeros((), values[0].dtype) if fill is None else fill
    out = np.full((len(values), *sizes), empty, values[0].dtype)
    for row, value in zip(out, values, strict=True):
        kept = tuple(
            slice(0, min(size, have)) for size, have in zip(sizes, value.shape, strict=True)
        )
        row[kept] = value[kept]
    return out
