"""Batches of rows of like length."""

from __future__ import annotations

import bisect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset.engine.batching import PaddedBatchDataset, Row, pad_stack
from mindjax.dataset.engine.checks import check_bool, check_type
from mindjax.dataset.engine.checks import column_names as check_columns
from mindjax.dataset.engine.dataset import Dataset
from mindjax.dataset.engine.failures import failure
from mindjax.dataset.engine.mapping import Layout, operation_name
from mindjax.dataset.engine.run import Run


def _check_numbers(name: str, values: Any) -> list[int]:
    for value in values:
        if not isinstance(value, int) or isinstance(value, bool):
            raise located(
                TypeError,
                f"For 'bucket_batch_by_length': {name} should be a list of int, but got {values}.",
            )
    if any(value <= 0 for value in values):
        raise located(
            ValueError,
            f"For 'bucket_batch_by_length': {name} must only contain positive numbers, but got "
            f"{values}.",
        )
    return list(values)


class BucketBatchByLengthDataset(Dataset):
    """Batches of rows whose lengths lie in one range, padded.

    Args:
        input_dataset: what it reads.
        column_names: columns that the length is taken of.
        bucket_boundaries: rising lengths at which another range begins.
        bucket_batch_sizes: rows of a batch in each range, one more than boundaries.
        element_length_function: function of the columns that gives the length; None takes the
            first axis of the one column.
        pad_info: column name to (shape or None for the largest row, value); None pads all.
        pad_to_bucket_boundary: whether sizes that ``pad_info`` leaves open are those of the range's
            greatest length.
        drop_remainder: whether a last, shorter batch of each range is left out.
    """

    def __init__(
        self,
        input_dataset: Dataset,
        column_names: list[str],
        bucket_boundaries: list[int],
        bucket_batch_sizes: list[int],
        element_length_function: Callable[..., Any] | None = None,
        pad_info: dict[str, Any] | None = None,
        pad_to_bucket_boundary: bool = False,
        drop_remainder: bool = False,
    ) -> None:
        super().__init__([input_dataset])
        owner = "bucket_batch_by_length"
        for name, values in (
            ("column_names", column_names),
            ("bucket_boundaries", bucket_boundaries),
            ("bucket_batch_sizes", bucket_batch_sizes),
        ):
            check_type(owner, name, values, list)
        self.pad_to_bucket_boundary = check_bool(
            owner, "pad_to_bucket_boundary", pad_to_bucket_boundary
        )
        self.drop_remainder = check_bool(owner, "drop_remainder", drop_remainder)
        self.input_columns = check_columns(owner, "column_names", column_names)
        if element_length_function is None and len(column_names) != 1:
            raise located(
                ValueError,
                f"For '{owner}': If element_length_function is not specified, exactly one column "
                f"name should be passed, but got {column_names}.",
            )
        if element_length_function is not None and not callable(element_length_function):
            raise located(TypeError, f"For '{owner}': element_length_function is not callable.")
        if not bucket_boundaries:
            raise located(ValueError, f"For '{owner}': bucket_boundaries cannot be empty.")
        self.boundaries = _check_numbers("bucket_boundaries", bucket_boundaries)
        if sorted(set(self.boundaries)) != self.boundaries:
            raise located(
                ValueError,
                f"For '{owner}': bucket_boundaries should be strictly increasing, but got "
                f"{bucket_boundaries}.",
            )
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise located(
                ValueError,
                f"For '{owner}': bucket_batch_sizes must contain one element more than "
                f"bucket_boundaries, but got {bucket_batch_sizes}.",
            )
        self.batch_sizes = _check_numbers("bucket_batch_sizes", bucket_batch_sizes)
        self.element_length_function = element_length_function
        # Checks the entries of pad_info, and that its columns exist.
        self._padding = PaddedBatchDataset(input_dataset, 1, pad_info=pad_info)
        self.pad_info = pad_info

    def _columns(self) -> list[str]:
        return self._padding._columns()

    def _size(self) -> int:
        # Only the lengths of all rows tell: one epoch is run and counted.
        return sum(1 for _ in self.create_tuple_iterator(num_epochs=1, output_numpy=True))

    def _length(self, row: Row, places: list[int]) -> int:
        columns = [row[place] for place in places]
        function = self.element_length_function
        if function is None:
            return columns[0].shape[0] if columns[0].ndim else 0
        what = f"bucket_batch_by_length operation: [{operation_name(function)}]"
        try:
            found = np.asarray(function(*columns))
        except Exception as error:
            raise failure(error, what) from error
        if found.ndim or found.dtype.kind not in "iu" or found < 0:
            raise located(
                RuntimeError,
                f"{what}: element_length_function must return an integer of at least 0, but got "
                f"{found!r}.",
            )
        return int(found)

    def _rows(self, run: Run) -> Iterator[Row]:
        names = self.children[0].get_col_names()
        places = Layout("bucket_batch_by_length", names, self.input_columns, []).places
        buckets: list[list[Row]] = [[] for _ in self.batch_sizes]
        for row in self.children[0]._stream(run):
            number = bisect.bisect_right(self.boundaries, self._length(row, places))
            buckets[number].append(row)
            if len(buckets[number]) == self.batch_sizes[number]:
                yield self._batch(buckets[number], number, names)
                buckets[number] = []
        for number, rows in enumerate(buckets):
            if rows and not self.drop_remainder:
                yield self._batch(rows, number, names)

    def _batch(self, rows: list[Row], number: int, names: list[str]) -> Row:
        columns = zip(*rows, strict=True)
        return tuple(
            [
                pad_stack(list(values), name, *self._target(name, values[0].ndim, number))
                for name, values in zip(names, columns, strict=True)
            ]
        )

    def _target(self, name: str, rank: int, number: int) -> tuple[Any, Any]:
        """Give the shape and the value that a column is padded with."""
        if self.pad_info is None or name not in self.pad_info:
            return None, None
        shape, fill = self.pad_info[name]
        is_open = any(size in (None, -1) for size in shape or ())
        if shape is None or not (self.pad_to_bucket_boundary and is_open):
            return shape, fill
        if number == len(self.boundaries):
            raise located(
                RuntimeError,
                "Invalid data, requested to pad to bucket boundary failed, bucket index should be "
                f"less than {number}, but a row is longer than all bucket_boundaries "
                f"{self.boundaries}.",
            )
        largest = self.boundaries[number] - 1
        return [largest if size in (None, -1) else size for size in shape], fill
