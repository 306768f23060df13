"""Callbacks of ``map``: what is called at the beginning and the end of epochs and steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mindjax.core.errors import located
from mindjax.dataset.engine.checks import check_int
from mindjax.dataset.engine.failures import failure, pipeline_error

EVENTS = ("ds_begin", "ds_epoch_begin", "ds_epoch_end", "ds_step_begin", "ds_step_end")


class CallbackParam(NamedTuple):
    """Where a pipeline is.

    Attributes:
        cur_epoch_num: number of the epoch, from 1; 0 before the first.
        cur_step_num_in_epoch: number of the row in its epoch, from 1.
        cur_step_num: number of the row since the pipeline began, from 1.
    """

    cur_epoch_num: int
    cur_step_num_in_epoch: int
    cur_step_num: int


class Hooks(NamedTuple):
    """What one callback object wants to be called for.

    Attributes:
        step_size: of so many rows the first one calls the step's methods.
        calls: event to method, only for methods that the user's class defines.
    """

    step_size: int
    calls: dict[str, Callable[[CallbackParam], Any]]


class DSCallback:
    """Base of callbacks of data sets: override what is to be called.

    Args:
        step_size: of so many rows the first one calls ``ds_step_begin`` and ``ds_step_end``.

    Raises:
        TypeError: ``step_size`` is no int.
        ValueError: it is not positive.
    """

    # Whether a row waits for the training, so that none may be made ahead.
    waits = False

    def __init__(self, step_size: int = 1) -> None:
        self.step_size = check_int("DSCallback", "step_size", step_size, 1)

    def ds_begin(self, ds_run_context: CallbackParam) -> None:
        """Called before the pipeline gives its first row."""

    def ds_epoch_begin(self, ds_run_context: CallbackParam) -> None:
        """Called before each epoch."""

    def ds_epoch_end(self, ds_run_context: CallbackParam) -> None:
        """Called after each epoch."""

    def ds_step_begin(self, ds_run_context: CallbackParam) -> None:
        """Called before a row is transformed."""

    def ds_step_end(self, ds_run_context: CallbackParam) -> None:
        """Called after a row is transformed."""

    def create_runtime_obj(self) -> Hooks:
        """Collect the methods that a subclass defines.

        Raises:
            AttributeError: it defines none.
        """
        own = [name for name in EVENTS if getattr(type(self), name) is not vars(DSCallback)[name]]
        return hooks(self.step_size, {name: getattr(self, name) for name in own})


def hooks(step_size: int, calls: dict[str, Callable[..., Any]]) -> Hooks:
    """Put together what a callback object wants; there must be something.

    Raises:
        AttributeError: there is nothing.
    """
    if not calls:
        raise located(
            AttributeError,
            "Inheriting Callback class without overriding any methods, check the usage of user "
            "defined Callback.",
        )
    return Hooks(step_size, calls)


def check_callbacks(callbacks: Any) -> list[DSCallback]:
    """Bring the argument of ``map`` to a list.

    Raises:
        TypeError: one is no ``DSCallback``.
    """
    listed = callbacks if isinstance(callbacks, list) else [callbacks]
    for place, callback in enumerate(listed):
        if not isinstance(callback, DSCallback):
            name = f"callbacks[{place}]" if isinstance(callbacks, list) else "callbacks"
            raise located(
                TypeError,
                f"For 'map': Argument {name} with value {callback!r} is not of type "
                f"[{DSCallback}], but got {type(callback)}.",
            )
    return list(listed)


class Watch:
    """Calls the callbacks of one ``map`` while a pipeline runs.

    Args:
        callbacks: the callbacks.
    """

    def __init__(self, callbacks: list[DSCallback]) -> None:
        self._hooks = [callback.create_runtime_obj() for callback in callbacks]
        self._epoch = self._step = self._total = 0

    def _call(self, event: str, step: int | None = None, total: int | None = None) -> None:
        param = CallbackParam(
            self._epoch,
            self._step if step is None else step,
            self._total if total is None else total,
        )
        for entry in self._hooks:
            function = entry.calls.get(event)
            if function is None or (
                step is not None and (param.cur_step_num_in_epoch - 1) % entry.step_size
            ):
                continue
            try:
                function(param)
            except Exception as error:
                raise failure(error, f"callback {event}") from error

    def enter(self, epoch: int) -> None:
        """Begin an epoch, unless it has begun: under ``repeat`` one epoch has several passes."""
        if epoch == self._epoch:
            return
        if not self._epoch:
            self._call("ds_begin")
        self._epoch, self._step = epoch, 0
        self._call("ds_epoch_begin")

    def begin(self) -> tuple[int, int]:
        """Begin a step; gives its numbers for ``end``."""
        self._step += 1
        self._total += 1
        self._call("ds_step_begin", self._step, self._total)
        return self._step, self._total

    def end(self, numbers: tuple[int, int]) -> None:
        """End a step."""
        self._call("ds_step_end", *numbers)

    def leave(self) -> None:
        """End the epoch."""
        self._call("ds_epoch_end")


def timed_out(what: str, seconds: int) -> Exception:
    """Build the error of a callback that waited for the training in vain."""
    return pipeline_error(f"{what} timed out after {seconds} second(s).")
