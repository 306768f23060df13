"""Functions and networks that fetch their rows themselves."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from mindjax.core.errors import located
from mindjax.graph import jit
from mindjax.graph.flow import LoopWritesAttributes
from mindjax.graph.sinking import SlowInLoop, SunkCalls, stack, take
from mindjax.nn.cell import Cell
from mindjax.train.dataset_helper import DatasetHelper


def data_sink(
    fn: Callable[..., Any],
    dataset: Any,
    sink_size: int = 1,
    jit_config: Any = None,
    input_signature: Any = None,
) -> Callable[[], Any]:
    """Give a function that fetches its rows from a data set, again and again.

    Args:
        fn: function or Cell of a row.
        dataset: data set; it begins anew when it ends.
        sink_size: rows of one call, which gives what ``fn`` returns for the last of them.
        jit_config: a JitConfig for one compiled program of all rows of a call; None to run row by
            row as ``fn`` is.
        input_signature: Tensor, or list or tuple of Tensors, whose shapes and dtypes the rows must
            have.

    Returns:
        A function without arguments.

    Raises:
        TypeError: ``sink_size`` is no int, or the rows do not have the signature.
        ValueError: ``sink_size`` is below 1.

    MindSpore: ``mindspore.train.data_sink``, which refuses CPUs.
    """
    if isinstance(sink_size, bool) or not isinstance(sink_size, int):
        raise located(
            TypeError,
            "For 'Data sink', the type of 'sink_size' must be int, but got "
            f"{type(sink_size).__name__}.",
        )
    if sink_size <= 0:
        raise located(
            ValueError, f"The 'sink_size' must be positive, but got sink_size {sink_size}."
        )
    if input_signature is not None:
        _check_signature(input_signature, dataset)
    rows = _endless(dataset)
    one = fn if jit_config is None else jit(fn)
    block = _Block(fn) if jit_config is not None and sink_size > 1 else None

    @functools.wraps(fn if not isinstance(fn, Cell) else fn.construct)
    def sink_process() -> Any:
        taken = [next(rows) for _ in range(sink_size)]
        found, out = block(taken) if block is not None else (False, None)
        if not found:
            for row in taken:
                out = one(*row)
        return out

    return sink_process


class _Block:
    """Several rows as one program, where that works."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._calls, self._works = SunkCalls(function), True

    def __call__(self, rows: list[tuple[Any, ...]]) -> tuple[bool, Any]:
        columns = stack(rows) if self._works else None
        if columns is None:
            return False, None
        try:
            return True, take(self._calls(columns), -1)
        except (LoopWritesAttributes, SlowInLoop):
            self._works = False
            return False, None


def _endless(dataset: Any) -> Iterator[tuple[Any, ...]]:
    while True:
        empty = True
        for row in dataset.create_tuple_iterator(num_epochs=1, do_copy=False):
            empty = False
            yield tuple(row)
        if empty:
            raise located(ValueError, "For 'Data sink', the data set is empty.")


def _check_signature(signature: Any, dataset: Any) -> None:
    signature = signature if isinstance(signature, list | tuple) else [signature]
    row = next(dataset.create_tuple_iterator(num_epochs=1, do_copy=False))
    if len(signature) != len(row):
        raise located(
            TypeError,
            f"The number of 'input_signature' must be {len(row)}, the data set's columns, but got "
            f"{len(signature)}.",
        )
    for place, (wanted, found) in enumerate(zip(signature, row, strict=True)):
        if tuple(wanted.shape) != tuple(found.shape) or wanted.dtype != found.dtype:
            raise located(
                TypeError,
                f"The 'input_signature' of input {place} is {wanted.shape} of {wanted.dtype}, but "
                f"the data set has {found.shape} of {found.dtype}.",
            )


class _Connected(Cell):
    """A network that takes its next row from a `DatasetHelper` at each call.

    Args:
        network: network of the rows.
        helper: gives the rows.
    """

    def __init__(self, network: Cell, helper: DatasetHelper) -> None:
        super().__init__(auto_prefix=False)
        self._network = network
        self.__dict__["_helper"] = helper
        self.__dict__["_rows"] = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the network on the next row."""
        own = self.__dict__
        if own["_rows"] is None:
            own["_rows"] = iter(own["_helper"])
        row = next(own["_rows"], None)
        if row is None:
            own["_rows"] = iter(own["_helper"])
            row = next(own["_rows"])
        return self._network(*row)


def connect_network_with_dataset(network: Cell, dataset_helper: DatasetHelper) -> Cell:
    """Let a network fetch its rows itself.

    Args:
        network: network of the rows.
        dataset_helper: gives the rows; it must be in sink mode.

    Returns:
        A Cell without inputs.

    Raises:
        RuntimeError: the helper is not in sink mode.

    MindSpore: ``mindspore.train.connect_network_with_dataset``, which refuses CPUs.
    """
    if not dataset_helper.sinks:
        raise located(
            RuntimeError,
            "The API 'connect_network_with_dataset' should be called in dataset sink mode.",
        )
    connected = _Connected(network, dataset_helper)
    connected.add_flags(sink_mode=True)
    return connected
