"""The callback of a data set that waits for the training's steps and epochs."""

from __future__ import annotations

import threading
from typing import Any

from mindjax.dataset import config
from mindjax.dataset.engine.callbacks import CallbackParam, DSCallback, Hooks, hooks, timed_out
from mindjax.train.callback.base import Callback


class WaitedDSCallback(Callback, DSCallback):
    """Base of callbacks that see the training's last step before the next row is transformed.

    The object belongs to ``map(callbacks=...)`` and to the callbacks of ``Model.train``.

    Args:
        step_size: rows of a step, which is the size of a batch.
    """

    waits = True

    def __init__(self, step_size: int = 1) -> None:
        DSCallback.__init__(self, step_size)
        self.step_event, self.epoch_event = threading.Event(), threading.Event()
        self.step_run_context: Any = None
        self.epoch_run_context: Any = None
        self.training_ended = False

    def sync_epoch_begin(self, train_run_context: Any, ds_run_context: CallbackParam) -> None:
        """Called before an epoch but the first, when the training has ended the one before."""

    def sync_step_begin(self, train_run_context: Any, ds_run_context: CallbackParam) -> None:
        """Called before a step but the first, when the training has ended the one before."""

    def epoch_end(self, run_context: Any) -> None:
        """Let the next epoch begin."""
        self.epoch_run_context = run_context
        self.epoch_event.set()

    def step_end(self, run_context: Any) -> None:
        """Let the next step begin."""
        self.step_run_context = run_context
        self.step_event.set()

    def end(self, run_context: Any) -> None:
        """Let go of a pipeline that waits when the training ends."""
        self.epoch_end(run_context)
        self.step_end(run_context)
        self.training_ended = True

    def ds_epoch_begin(self, ds_run_context: CallbackParam) -> None:
        """Wait for the end of the training's epoch, then call ``sync_epoch_begin``."""
        if ds_run_context.cur_epoch_num > 1:
            self._wait(self.epoch_event, "ds_epoch_begin")
            self.sync_epoch_begin(self.epoch_run_context, ds_run_context)

    def ds_step_begin(self, ds_run_context: CallbackParam) -> None:
        """Wait for the end of the training's step, then call ``sync_step_begin``."""
        if ds_run_context.cur_step_num > self.step_size:
            self._wait(self.step_event, "ds_step_begin")
            self.sync_step_begin(self.step_run_context, ds_run_context)

    def _wait(self, event: threading.Event, what: str) -> None:
        if self.training_ended:
            return
        seconds = config.get_callback_timeout()
        came = event.wait(seconds)
        event.clear()
        if not came:
            raise timed_out(what, seconds)

    def create_runtime_obj(self) -> Hooks:
        """Collect the methods that a subclass defines.

        Raises:
            AttributeError: it defines neither of the two.
        """
        calls = {}
        if type(self).sync_step_begin is not WaitedDSCallback.sync_step_begin:
            calls["ds_step_begin"] = self.ds_step_begin
        if type(self).sync_epoch_begin is not WaitedDSCallback.sync_epoch_begin:
            calls["ds_epoch_begin"] = self.ds_epoch_begin
        return hooks(self.step_size, calls)
