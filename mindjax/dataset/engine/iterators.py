"""Iterators over a pipeline, epoch after epoch."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from mindjax.core.errors import located, user_line
from mindjax.dataset import config
from mindjax.dataset.engine.run import Run
from mindjax.dataset.engine.tensors import make_tensor

if TYPE_CHECKING:
    from mindjax.dataset.engine.dataset import Dataset


class DatasetIterator:
    """Runs a pipeline; one ``for`` loop over it is one epoch.

    Args:
        dataset: last node of the pipeline.
        num_epochs: number of epochs; -1 for any number.
        output_numpy: whether values are numpy arrays and not Tensors.
    """

    def __init__(self, dataset: Dataset, num_epochs: int, output_numpy: bool) -> None:
        self._dataset = dataset
        self._convert = _as_numpy if output_numpy else make_tensor
        self._left = num_epochs
        self._run = Run(config.fresh_seed(), dataset._nodes())
        self._rows: Iterator[tuple[Any, ...]] | None = None
        names = dataset.get_col_names()
        # Columns such as "_meta-filename" show once they are renamed.
        shown = [place for place, name in enumerate(names) if not name.startswith("_meta-")]
        self._names = [names[place] for place in shown]
        self._shown = shown if len(shown) < len(names) else None
        self._finalizer = weakref.finalize(self, Run.close, self._run)

    def __iter__(self) -> DatasetIterator:
        """Give this iterator: a loop that was left early goes on where it stopped."""
        return self

    def __next__(self) -> Any:
        """Give the next row.

        Raises:
            StopIteration: an epoch ended; the next call begins another one.
            RuntimeError: all epochs were consumed.
        """
        if self._rows is None:
            if self._left == 0:
                raise located(
                    RuntimeError,
                    "EOF buffer encountered. User tries to fetch data beyond the specified number "
                    "of epochs: create a new iterator, or one with num_epochs=-1.",
                )
            self._run.begin_epoch()
            self._rows = self._dataset._stream(self._run)
        try:
            row = next(self._rows)
        except StopIteration:
            self._run.end_epoch()
            self._rows = None
            self._left -= self._left > 0
            if self._left == 0:
                self.release()
            raise
        except BaseException as error:
            if getattr(error, "_from_pipeline", False):
                where = user_line()
                error.args = (f"{error} [{where}]" if where else str(error),)
            # The traceback keeps this iterator alive: workers must not wait for its end.
            self.release()
            self._rows = None
            raise
        if self._shown is not None:
            row = tuple([row[place] for place in self._shown])
        return self._shape(row)

    def __del__(self) -> None:
        """End the workers of a loop that was left early."""
        if hasattr(self, "_run"):
            # First the workers: closing the stream would wait for their answers.
            self._run.close()
            self._rows = None

    def release(self) -> None:
        """End the workers; a later epoch starts new ones."""
        self._run.close()

    stop = release

    def get_epoch(self) -> int:
        """Give the number of epochs that are left; -1 for any number."""
        return self._left

    def _shape(self, row: tuple[Any, ...]) -> Any:
        raise NotImplementedError


class TupleIterator(DatasetIterator):
    """Gives each row as a list of its columns.

    Args:
        dataset: last node of the pipeline.
        columns: names of the columns wanted, or None for all.
        num_epochs: number of epochs; -1 for any number.
        output_numpy: whether values are numpy arrays and not Tensors.
    """

    def __init__(
        self,
        dataset: Dataset,
        columns: list[str] | None = None,
        num_epochs: int = -1,
        output_numpy: bool = False,
    ) -> None:
        super().__init__(
            dataset if columns is None else dataset.project(columns), num_epochs, output_numpy
        )

    def _shape(self, row: tuple[Any, ...]) -> list[Any]:
        convert = self._convert
        return [convert(value) for value in row]


class DictIterator(DatasetIterator):
    """Gives each row as a dictionary from a column's name to its value."""

    def _shape(self, row: tuple[Any, ...]) -> dict[str, Any]:
        convert = self._convert
        return {name: convert(value) for name, value in zip(self._names, row, strict=True)}


def _as_numpy(value: Any) -> np.ndarray:
    return value
