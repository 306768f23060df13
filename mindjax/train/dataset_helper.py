"""``DatasetHelper``: the rows of a dataset, epoch after epoch, as ``Model`` passes them on."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from mindjax.core.errors import located


class DatasetHelper:
    """Iterates over a dataset; each ``for`` loop over the helper is one epoch.

    Rows go straight to the network: nothing is put into a device's queue, with or without
    ``dataset_sink_mode``.

    Args:
        dataset: dataset with ``create_tuple_iterator`` and ``get_dataset_size``.
        dataset_sink_mode: whether an epoch is ``sink_size`` steps, going on where the last epoch
            stopped, instead of the whole dataset.
        sink_size: steps of an epoch in sink mode; -1 for the whole dataset.
        epoch_num: epochs that will be asked for; -1 if unknown.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: ``sink_size`` is 0 or below -1.

    Attributes:
        fetch_seconds: how long rows were waited for.
        sinks: whether it is in sink mode.

    MindSpore: ``mindspore.train.DatasetHelper``.
    """

    def __init__(
        self,
        dataset: Any,
        dataset_sink_mode: bool = True,
        sink_size: int = -1,
        epoch_num: int = 1,
    ) -> None:
        if not isinstance(dataset_sink_mode, bool):
            raise located(
                TypeError,
                "For 'DatasetHelper', the argument 'dataset_sink_mode' must be a bool, but got "
                f"{type(dataset_sink_mode).__name__}.",
            )
        if isinstance(sink_size, bool) or not isinstance(sink_size, int):
            raise located(
                TypeError,
                "For 'DatasetHelper', the argument 'sink_size' must be int, but got "
                f"{type(sink_size).__name__}.",
            )
        if sink_size < -1 or sink_size == 0:
            raise located(
                ValueError,
                "For 'DatasetHelper', the argument 'sink_size' must be -1 or positive, but got "
                f"{sink_size}.",
            )
        self._dataset = dataset
        self.sinks = dataset_sink_mode
        self._limit = sink_size if dataset_sink_mode and sink_size > 0 else None
        epochs = -1 if self._limit is not None else epoch_num
        self._rows = iter(dataset.create_tuple_iterator(num_epochs=epochs, do_copy=False))
        self.fetch_seconds = 0.0

    def __iter__(self) -> Iterator[list[Any]]:
        taken = ended = 0
        while taken != self._limit:
            start = time.perf_counter()
            row = next(self._rows, None)
            self.fetch_seconds += time.perf_counter() - start
            if row is not None:
                taken += 1
                ended = 0
                yield list(row)
            elif self._limit is None or ended:
                return
            else:
                # In sink mode the next epoch of the dataset follows, if it has rows.
                ended = 1

    def sink_size(self) -> int:
        """Give the steps of one epoch."""
        return self._limit or self._dataset.get_dataset_size()

    def types_shapes(self) -> tuple[list[Any], list[Any]]:
        """Give the dataset's column dtypes and shapes."""
        return self._dataset.output_types(), self._dataset.output_shapes()

    def stop_send(self) -> None:
        """End the dataset's workers."""
        self.release()

    def release(self) -> None:
        """End the dataset's workers."""
        stop = getattr(self._rows, "release", None) or getattr(self._rows, "stop", None)
        if stop is not None:
            stop()

    def continue_send(self) -> None:
        """Do nothing: rows are fetched when they are asked for."""

    def get_data_info(self) -> tuple[list[Any], list[Any]]:
        """Give the dtypes and shapes of the columns, as `types_shapes` does."""
        return self.types_shapes()

    def get_mbuf_queue_size(self) -> int:
        """Give 0: no rows wait on the device."""
        return 0
