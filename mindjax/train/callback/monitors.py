"""Callbacks that watch: ``LossMonitor``, ``TimeMonitor``, ``History``, ``LambdaCallback``."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.tensor import Tensor
from mindjax.train.callback.base import Callback, RunContext, loss_of

# Losses that are not printed are checked in batches: reading each would wait for each step.
_PENDING_LIMIT = 100


class LossMonitor(Callback):
    """Prints the loss, and ends the training when it is not finite.

    Steps between two prints are not waited for: their losses are checked at the next print or at
    the epoch's end, and the error names the first step that was not finite.

    Args:
        per_print_times: how many steps lie between prints; 0 prints nothing.

    Raises:
        ValueError: ``per_print_times`` is negative.
        TypeError: ``per_print_times`` is not int.

    MindSpore: ``mindspore.train.LossMonitor``.
    """

    def __init__(self, per_print_times: int = 1) -> None:
        super().__init__()
        self._per_print_times = checks.non_negative_int(
            "per_print_times", per_print_times, "LossMonitor"
        )
        self._last_print_time = 0
        self._pending: list[tuple[int, int, Any]] = []

    @property
    def prints(self) -> bool:
        """Whether losses are printed."""
        return self._per_print_times > 0

    def begin(self, run_context: RunContext) -> None:
        """Forget losses of an interrupted training."""
        self._pending.clear()

    def step_end(self, run_context: RunContext) -> None:
        """Print the loss if it is time.

        Raises:
            ValueError: a loss is not finite.
        """
        params = run_context.original_args()
        epoch, number = params.get("cur_epoch_num", 1), params.cur_step_num
        step = (number - 1) % params.batch_num + 1
        self._pending.append((epoch, step, params.net_outputs))
        every = self._per_print_times
        # A new training, or one set back, begins at a lower step.
        while every and number <= self._last_print_time:
            stride = params.batch_num if params.get("dataset_sink_mode") else 1
            self._last_print_time -= max(every, stride)
        if every and number - self._last_print_time >= every:
            self._last_print_time = number
            loss = self._check_pending()
            print(f"epoch: {epoch} step: {step}, loss is {loss}", flush=True)
        elif len(self._pending) >= _PENDING_LIMIT:
            self._check_pending()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Print the metrics of an evaluation in ``Model.fit``.

        Raises:
            ValueError: a loss is not finite.
        """
        self._check_pending()
        params = run_context.original_args()
        metrics = params.get("metrics")
        if metrics:
            print(f"Eval result: epoch {params.cur_epoch_num}, metrics: {metrics}")

    def _check_pending(self) -> Any:
        """Check the losses since the last check and return the last one."""
        loss = None
        pending, self._pending = self._pending, []
        for epoch, step, outputs in pending:
            loss = loss_of(outputs)
            if isinstance(loss, float) and not np.isfinite(loss):
                raise located(
                    ValueError,
                    f"In epoch: {epoch} step: {step}, loss is NAN or INF, training process cannot "
                    "continue, terminating training.",
                )
        return loss


class _Clock(NamedTuple):
    """When an epoch began, and the seconds spent on data until then."""

    start: float
    fetched: float


class TimeMonitor(Callback):
    """Prints how long each epoch and step took.

    Args:
        data_size: steps of an epoch, used if the dataset does not tell.
        data_time: whether the time spent on waiting for data is printed too.

    Raises:
        TypeError: ``data_time`` is not a bool, or at the epoch's end ``data_size`` is not int.
        ValueError: at the epoch's end ``data_size`` is not positive.

    MindSpore: ``mindspore.train.TimeMonitor``.
    """

    def __init__(self, data_size: int | None = None, data_time: bool = False) -> None:
        super().__init__()
        self.data_size = data_size
        self.data_time = checks.boolean("data_time", data_time, "TimeMonitor")
        self.epoch_time = time.time()
        self._clocks: dict[str, _Clock] = {}
        self._evaluated = 0.0

    def epoch_begin(self, run_context: RunContext) -> None:
        """Start the clock."""
        mode = run_context.original_args().get("mode", "")
        self.epoch_time = time.time()
        self._clocks[mode] = _Clock(self.epoch_time, _fetched(run_context))
        if mode != "eval":
            self._evaluated = 0.0

    def epoch_end(self, run_context: RunContext) -> None:
        """Print the times; those of an epoch are without the evaluation that follows it."""
        params = run_context.original_args()
        mode = params.get("mode", "")
        clock = self._clocks.pop(mode, _Clock(self.epoch_time, 0.0))
        self._finish(params.get("net_outputs"))
        total = (time.time() - clock.start) * 1000
        if mode == "eval":
            self._evaluated += total
        else:
            total -= self._evaluated
        batches = params.get("batch_num")
        steps = batches if isinstance(batches, int) and batches > 0 else self.data_size
        steps = checks.positive_int("data_size", steps, "TimeMonitor")
        line = f"{mode.title()} epoch time: {total:5.3f} ms, per step time: {total / steps:5.3f} ms"
        if self.data_time:
            waited = (_fetched(run_context) - clock.fetched) * 1000
            line += f" (data time: {waited / steps:5.3f} ms)"
        print(line, flush=True)

    @staticmethod
    def _finish(outputs: Any) -> None:
        """Wait for the steps that were started, which the time of an epoch includes."""
        first = outputs[0] if isinstance(outputs, tuple | list) and outputs else outputs
        if isinstance(first, Tensor):
            first.asnumpy()


def _fetched(run_context: RunContext) -> float:
    """Give the seconds spent so far on waiting for data."""
    helper = run_context.original_args().get("dataset_helper")
    return getattr(helper, "fetch_seconds", 0.0)


class History(Callback):
    """Keeps the first output of each epoch's last step, and the metrics.

    Attributes:
        epoch: ``{"epoch": [numbers]}``.
        history: ``{"net_output": [...], metric: [...]}``, one value an epoch.

    MindSpore: ``mindspore.train.History``.
    """

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list[Any]] = {}
        self.epoch: dict[str, list[int]] | None = None

    def begin(self, run_context: RunContext) -> None:
        """Forget the epochs of an earlier training."""
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context: RunContext) -> None:
        """Keep the epoch's values."""
        params = run_context.original_args()
        if self.epoch is None:
            self.epoch = {"epoch": []}
        self.epoch["epoch"].append(params.get("cur_epoch_num", 1))
        output = params.net_outputs
        if isinstance(output, tuple | list) and output and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = np.mean(output.asnumpy())
        values = {"net_output": output, **(params.get("metrics") or {})}
        for name, value in values.items():
            self.history.setdefault(name, []).append(value)


Hook = Callable[[RunContext], Any] | None


def _nothing(run_context: RunContext) -> None:
    pass


class LambdaCallback(Callback):
    """Calls functions, each of which takes the ``RunContext``.

    Args:
        on_train_epoch_begin: called before each training epoch.
        on_train_epoch_end: called after each training epoch.
        on_train_step_begin: called before each training step.
        on_train_step_end: called after each training step.
        on_train_begin: called before training.
        on_train_end: called after training.
        on_eval_epoch_begin: called before the evaluation's epoch.
        on_eval_epoch_end: called after the evaluation's epoch.
        on_eval_step_begin: called before each evaluation step.
        on_eval_step_end: called after each evaluation step.
        on_eval_begin: called before evaluation.
        on_eval_end: called after evaluation.

    MindSpore: ``mindspore.train.LambdaCallback``.
    """

    def __init__(
        self,
        on_train_epoch_begin: Hook = None,
        on_train_epoch_end: Hook = None,
        on_train_step_begin: Hook = None,
        on_train_step_end: Hook = None,
        on_train_begin: Hook = None,
        on_train_end: Hook = None,
        on_eval_epoch_begin: Hook = None,
        on_eval_epoch_end: Hook = None,
        on_eval_step_begin: Hook = None,
        on_eval_step_end: Hook = None,
        on_eval_begin: Hook = None,
        on_eval_end: Hook = None,
    ) -> None:
        super().__init__()
        given = dict(locals())
        for name in given:
            if name.startswith("on_"):
                setattr(self, name, given[name] or _nothing)
