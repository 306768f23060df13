"""Operations that compute: ``map`` and ``filter``."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.dataset import config
from mindjax.dataset.debug import show
from mindjax.dataset.engine.callbacks import check_callbacks
from mindjax.dataset.engine.checks import check_bool, column_names
from mindjax.dataset.engine.dataset import Dataset
from mindjax.dataset.engine.failures import failure
from mindjax.dataset.engine.plan import Plan
from mindjax.dataset.engine.run import Run, row_stream
from mindjax.dataset.engine.tensors import to_array
from mindjax.dataset.transforms.operation import TensorOperation, is_pil, operation_name

Row = tuple[Any, ...]


class Layout:
    """Where an operation's columns lie before and after it.

    Args:
        owner: operation's name in messages.
        names: columns of the dataset before.
        inputs: columns that the operation takes.
        outputs: columns that it gives.
    """

    def __init__(self, owner: str, names: list[str], inputs: list[str], outputs: list[str]) -> None:
        for name in inputs:
            if name not in names:
                raise located(
                    RuntimeError,
                    f"For '{owner}': Invalid parameter, input column name: {name} doesn't exist in "
                    f"the dataset columns {names}.",
                )
        self.places = [names.index(name) for name in inputs]
        rest = [place for place in range(len(names)) if place not in self.places]
        kept = {names[place] for place in rest}
        # MindSpore: a column that the operation does not take keeps its name and its values.
        fresh = [turn for turn, name in enumerate(outputs) if name not in kept]
        if len(inputs) == len(outputs) == len(fresh):
            source: list[tuple[bool, int]] = [(False, place) for place in range(len(names))]
            for turn, place in enumerate(self.places):
                source[place] = (True, turn)
        else:
            source = [(True, turn) for turn in fresh] + [(False, place) for place in rest]
        self._source = source
        self.names = [outputs[at] if new else names[at] for new, at in source]

    def merge(self, row: Row, made: Row) -> Row:
        """Put an operation's columns into a row."""
        return tuple([made[at] if new else row[at] for new, at in self._source])


def flatten(operations: Any) -> list[Any]:
    """Bring an operation or a list of them to a list of callables.

    Raises:
        ValueError: an element is not callable.
        RuntimeError: there is none.
    """
    listed = list(operations) if isinstance(operations, list | tuple) else [operations]
    if not listed:
        raise located(RuntimeError, "For 'map': No 'operations' are specified.")
    for operation in listed:
        if not callable(operation) or isinstance(operation, type):
            raise located(
                ValueError,
                "Parameter operations's element of method map should be a python function or class "
                f"method which should be callable, but got: {operation!r}. It doesn't need "
                "parentheses for python function or class method.",
            )
    return listed


def columns_of(result: Any, what: str) -> Row:
    """Bring what an operation returned to one array a column; PIL images pass."""
    values = result if isinstance(result, tuple) else (result,)
    return tuple(
        [
            value if isinstance(value, np.ndarray) or is_pil(value) else to_array(value, what)
            for value in values
        ]
    )


class MapDataset(Dataset):
    """Columns under transforms.

    Args:
        input_dataset: what it reads.
        operations: a transform, a function, or a list of them.
        input_columns: names of the columns they take; None for the first.
        output_columns: names of the columns they give; None for the same names.
        num_parallel_workers: number of workers.
        python_multiprocessing: whether workers are processes.
        cache: only None: the original's cache server does not exist here.
        callbacks: a ``DSCallback`` or a list of them.
        max_rowsize: MB of a row in the original's shared memory; pipes here have no such bound.
        offload: whether the original moves transforms to the device; they stay on the host here.
    """

    def __init__(
        self,
        input_dataset: Dataset,
        operations: Any,
        input_columns: str | list[str] | None = None,
        output_columns: str | list[str] | None = None,
        num_parallel_workers: int | None = None,
        python_multiprocessing: bool = False,
        cache: Any = None,
        callbacks: Any = None,
        max_rowsize: int | list[int] | None = None,
        offload: bool | None = None,
    ) -> None:
        super().__init__([input_dataset], num_parallel_workers)
        self.operations = flatten(operations)
        self.input_columns = (
            [] if input_columns is None else column_names("map", "input_columns", input_columns)
        )
        self.output_columns = (
            [] if output_columns is None else column_names("map", "output_columns", output_columns)
        )
        self.python_multiprocessing = check_bool(
            "map", "python_multiprocessing", python_multiprocessing
        )
        refuse_unsupported("map", cache=cache)
        self.callbacks = [] if callbacks is None else check_callbacks(callbacks)
        check_max_rowsize("map", max_rowsize)
        if offload is not None:
            check_bool("map", "offload", offload)
        self._own = all(getattr(op, "is_own", False) for op in self.operations)
        self._random = any(getattr(op, "is_random", False) for op in self.operations)

    def _waits(self) -> bool:
        return any(callback.waits for callback in self.callbacks)

    def _layout(self) -> Layout:
        names = self.children[0].get_col_names()
        inputs = self.input_columns or names[:1]
        return Layout("map", names, inputs, self.output_columns or inputs)

    def _columns(self) -> list[str]:
        return self._layout().names

    def _what(self, operation: Any = None) -> str:
        ops = self.operations if operation is None else [operation]
        inputs = self.input_columns or self.children[0].get_col_names()[:1]
        names = ", ".join(operation_name(op) for op in ops)
        return f"map operation: [{names}] on column {', '.join(map(repr, inputs))}"

    def _plan(self, run: Run) -> Plan | None:
        layout = self._layout()
        single = len(layout.places) == 1 and len(self.output_columns) <= 1
        if not (self._own and single and all(op.batched for op in self.operations)):
            return None
        if config.get_error_samples_mode() != config.ErrorSamplesMode.RETURN:
            return None
        if self.callbacks or config.get_debug_mode():
            return None
        below = self.children[0]._plan(run)
        if below is None:
            return None
        gather, rng, place = below.gather, run.generator(self), layout.places[0]

        def transformed(index: np.ndarray) -> tuple[np.ndarray, ...]:
            columns = gather(index)
            rows = columns[place]
            with row_stream(rng):
                for operation in self.operations:
                    try:
                        rows = operation._apply_batch(rows)
                    except Exception as error:
                        raise failure(error, self._what(operation), user=False) from error
            return layout.merge(columns, (rows,))

        return Plan(below.chunks, transformed)

    def _apply(self, item: tuple[int | None, Row]) -> Row:
        seed, columns = item
        if seed is not None:
            with row_stream(seed):
                return self._apply((None, columns))
        hooks = config.debug_hooks()
        for place, operation in enumerate(self.operations):
            own = isinstance(operation, TensorOperation)
            if hooks and not place:
                show(hooks, operation_name(operation), True, columns)
            try:
                result = operation(*columns)
            except Exception as error:
                raise failure(error, self._what(operation), user=not own) from error
            columns = columns_of(result, self._what(operation))
            if hooks:
                show(hooks, operation_name(operation), False, columns)
        return tuple([np.asarray(value) if is_pil(value) else value for value in columns])

    def _apply_or_none(self, item: tuple[int | None, Row]) -> Row | None:
        try:
            return self._apply(item)
        except Exception:
            return None

    def _rows(self, run: Run) -> Iterator[Row]:
        layout = self._layout()
        wanted = len(self.output_columns or layout.places)
        rng = run.generator(self)
        watch = run.watch(self, self.callbacks)
        waiting: deque[tuple[Row, tuple[int, int]]] = deque()

        def items() -> Iterator[tuple[int | None, Row]]:
            for row in self.children[0]._stream(run):
                waiting.append((row, watch.begin() if watch else (0, 0)))
                seed = int(rng.integers(2**63)) if self._random else None
                yield seed, tuple([row[place] for place in layout.places])

        mode = config.get_error_samples_mode()
        if config.get_debug_mode():
            mode = config.ErrorSamplesMode.RETURN
        keep = mode == config.ErrorSamplesMode.RETURN
        function: Callable[[Any], Any] = self._apply if keep else self._apply_or_none
        count = self._map_workers()
        last: Row | None = None
        processes = self.python_multiprocessing and not self._own
        source = items()
        if watch and not run.in_step:
            # MindSpore: steps begin when rows are handed to workers, which are ahead of the end.
            source = ahead(source, config.get_prefetch_size())
        for made in run.map(self, function, source, count, processes, self._what()):
            row, numbers = waiting.popleft()
            if watch:
                watch.end(numbers)
            if made is None:
                if mode == config.ErrorSamplesMode.REPLACE and last is not None:
                    yield last
                continue
            if len(made) != wanted:
                raise located(
                    RuntimeError,
                    f"{self._what()}: Invalid columns, the number of columns returned in 'map' "
                    "operations should match the number of 'output_columns', but got the number of "
                    f"columns returned in 'map' operations: {len(made)}, the number of "
                    f"'output_columns': {wanted}.",
                )
            last = layout.merge(row, made)
            yield last

    def _map_workers(self) -> int:
        if self._own:
            heavy = any(op.is_heavy for op in self.operations)
            return self._worker_count(config.get_num_parallel_workers()) if heavy else 1
        return self._worker_count(
            config.get_num_parallel_workers() if self.python_multiprocessing else 1
        )


def ahead(items: Iterator[Any], count: int) -> Iterator[Any]:
    """Yield items, so many of them after they were drawn."""
    drawn: deque[Any] = deque()
    for item in items:
        drawn.append(item)
        if len(drawn) > count:
            yield drawn.popleft()
    yield from drawn


class FilterDataset(Dataset):
    """Rows for which a function is true.

    Args:
        input_dataset: what it reads.
        predicate: function of the input columns.
        input_columns: names of its columns; None for all.
        num_parallel_workers: number of worker threads.
    """

    def __init__(
        self,
        input_dataset: Dataset,
        predicate: Callable[..., Any],
        input_columns: str | list[str] | None = None,
        num_parallel_workers: int | None = None,
    ) -> None:
        super().__init__([input_dataset], num_parallel_workers)
        if not callable(predicate):
            raise located(
                TypeError,
                "For 'filter': Predicate should be a Python function or a callable Python object.",
            )
        self.predicate = predicate
        self.input_columns = (
            [] if input_columns is None else column_names("filter", "input_columns", input_columns)
        )

    def _size(self) -> int:
        # Only the function knows: one epoch is run and counted.
        rows = self.create_tuple_iterator(num_epochs=1, output_numpy=True)
        return sum(1 for _ in rows)

    def _what(self) -> str:
        return f"filter operation: [{operation_name(self.predicate)}]"

    def _rows(self, run: Run) -> Iterator[Row]:
        names = self.children[0].get_col_names()
        inputs = self.input_columns or names
        places = Layout("filter", names, inputs, inputs).places

        def test(row: Row) -> tuple[bool, Row]:
            try:
                return bool(self.predicate(*[row[place] for place in places])), row
            except Exception as error:
                raise failure(error, self._what()) from error

        rows = self.children[0]._stream(run)
        for passed, row in run.map(self, test, rows, self._worker_count(), False, self._what()):
            if passed:
                yield row


def refuse_unsupported(owner: str, **arguments: Any) -> None:
    """Refuse arguments that have no counterpart here unless they are None.

    Raises:
        NotImplementedError: one is given.
    """
    for name, value in arguments.items():
        if value is not None:
            raise located(
                NotImplementedError, f"For '{owner}', {name} is not supported: leave it out."
            )


def check_max_rowsize(owner: str, max_rowsize: Any) -> None:
    """Check the original's bound on rows in shared memory, in MB."""
    sizes = max_rowsize if isinstance(max_rowsize, list) else [max_rowsize]
    for size in sizes:
        if size is not None and (not isinstance(size, int) or isinstance(size, bool)):
            raise located(
                TypeError,
                f"For '{owner}': Argument max_rowsize with value {max_rowsize!r} is not of type "
                f"[int, list], but got {type(size)}.",
            )
        if size is not None and (size < -1 or size == 0):
            raise located(
                ValueError,
                f"For '{owner}': Input max_rowsize must be -1 or positive, but got {size}.",
            )
