"""The interface of callbacks, what they are given, and the list that calls them."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

import numpy as np

from mindjax.core.errors import located
from mindjax.tensor import Tensor

logger = logging.getLogger("mindjax")


class Callback:
    """Base of callbacks: methods that ``Model`` calls at the stages of training and evaluation.

    Override the methods ``on_train_...`` and ``on_eval_...``. Those without a prefix are the
    original's old names; they are called in training and in evaluation.

    MindSpore: ``mindspore.train.Callback``.
    """

    def __enter__(self) -> Callback:
        return self

    def __exit__(self, *error: object) -> None:
        pass

    def begin(self, run_context: RunContext) -> None:
        """Run before training or evaluation."""

    def epoch_begin(self, run_context: RunContext) -> None:
        """Run before each epoch."""

    def epoch_end(self, run_context: RunContext) -> None:
        """Run after each epoch."""

    def step_begin(self, run_context: RunContext) -> None:
        """Run before each step."""

    def step_end(self, run_context: RunContext) -> None:
        """Run after each step."""

    def end(self, run_context: RunContext) -> None:
        """Run after training or evaluation."""

    def on_train_begin(self, run_context: RunContext) -> None:
        """Run before training."""
        self.begin(run_context)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Run before each training epoch."""
        self.epoch_begin(run_context)

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Run after each training epoch and the evaluation that follows it."""
        self.epoch_end(run_context)

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Run before each training step."""
        self.step_begin(run_context)

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Run after each training step."""
        self.step_end(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """Run after training."""
        self.end(run_context)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Run before evaluation."""
        self.begin(run_context)

    def on_eval_epoch_begin(self, run_context: RunContext) -> None:
        """Run before the evaluation's epoch."""
        self.epoch_begin(run_context)

    def on_eval_epoch_end(self, run_context: RunContext) -> None:
        """Run after the evaluation's epoch."""
        self.epoch_end(run_context)

    def on_eval_step_begin(self, run_context: RunContext) -> None:
        """Run before each evaluation step."""
        self.step_begin(run_context)

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Run after each evaluation step."""
        self.step_end(run_context)

    def on_eval_end(self, run_context: RunContext) -> None:
        """Run after evaluation."""
        self.end(run_context)


class MissingParameter(AttributeError, KeyError):
    """A callback parameter that is not set at this stage; the original raises KeyError."""


class InternalCallbackParam(dict[str, Any]):
    """The state of training that callbacks see, a dict whose keys are attributes too."""

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            raise MissingParameter(key) from None

    def __setattr__(self, key: str, value: Any) -> None:
        self[key] = value


class RunContext:
    """What a callback is given: the state of training, and the request to stop.

    Args:
        original_args: the state, a dict.

    Raises:
        TypeError: ``original_args`` is not a dict.

    MindSpore: ``mindspore.train.RunContext``.
    """

    def __init__(self, original_args: dict[str, Any]) -> None:
        if not isinstance(original_args, dict):
            raise located(
                TypeError,
                "The argument 'original_args' of RunContext should be dict type, but got "
                f"{type(original_args)}.",
            )
        self._original_args = original_args
        self._stop_requested = False

    def original_args(self) -> Any:
        """Give the state: ``cur_epoch_num``, ``cur_step_num``, ``batch_num``, ``net_outputs``..."""
        return self._original_args

    def request_stop(self) -> None:
        """Ask ``Model`` to stop after this step or epoch."""
        self._stop_requested = True

    def get_stop_requested(self) -> bool:
        """Tell whether a stop was asked for."""
        return self._stop_requested


class CallbackManager(Callback):
    """Callbacks that are entered together and called one after the other.

    Args:
        callbacks: None, a callback or a list of callbacks.

    Raises:
        TypeError: something else is given.
    """

    def __init__(self, callbacks: Callback | list[Callback] | None) -> None:
        self.callbacks = as_list(callbacks)
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> CallbackManager:
        entered = []
        # One that cannot be entered ends those before it.
        with contextlib.ExitStack() as stack:
            for callback in self.callbacks:
                target = stack.enter_context(callback)
                if not isinstance(target, Callback):
                    logger.warning("Please return 'self' or a Callback as the enter target.")
                    target = callback
                entered.append(target)
            self._stack = stack.pop_all()
        self.callbacks = entered
        return self

    def __exit__(self, *error: Any) -> None:
        self._stack.__exit__(*error)

    def call(self, stage: str, run_context: RunContext) -> None:
        """Call the method ``stage`` of every callback."""
        for callback in self.callbacks:
            getattr(callback, stage)(run_context)


def as_list(callbacks: Any) -> list[Callback]:
    """Bring the argument ``callbacks`` to a list.

    Raises:
        TypeError: it, or an element, is not a callback.
    """
    if callbacks is None:
        return []
    found = list(callbacks) if isinstance(callbacks, list) else [callbacks]
    for callback in found:
        if not isinstance(callback, Callback):
            raise located(
                TypeError,
                "When the 'callbacks' is a list, the elements in 'callbacks' must be Callback "
                f"functions, but got {type(callback)}.",
            )
    return found


def loss_of(outputs: Any) -> Any:
    """Bring a training network's outputs to the loss that callbacks show.

    Args:
        outputs: Tensor, or tuple or list whose first element is the loss.

    Returns:
        The mean as float for a Tensor. MindSpore: of several outputs the first stays a Tensor
        (``test_model[loss_monitor_two]``).
    """
    if isinstance(outputs, tuple | list) and outputs and isinstance(outputs[0], Tensor):
        return outputs[0]
    if isinstance(outputs, Tensor):
        return float(np.mean(outputs.asnumpy()))
    return outputs
