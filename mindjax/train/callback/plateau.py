"""Callbacks that act on a monitored value: ``EarlyStopping`` and ``ReduceLROnPlateau``."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from mindjax.checkpoint.load import load_param_into_net
from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.tensor import Parameter, Tensor
from mindjax.train.callback.base import Callback, RunContext, loss_of

logger = logging.getLogger("mindjax")

_SMALLER_IS_BETTER = (
    "eval_loss",
    "hausdorff_distance",
    "loss",
    "mae",
    "mean_surface_distance",
    "mse",
    "perplexity",
    "root_mean_square_distance",
)


class _Monitor(Callback):
    """Compares the monitored value of each epoch with the best one."""

    def __init__(self, monitor: str, min_delta: float, verbose: bool, mode: str) -> None:
        super().__init__()
        owner = type(self).__name__
        self.monitor = checks.of_type("monitor", monitor, str, owner)
        self.min_delta = abs(checks.of_type("min_delta", min_delta, (float, int), owner))
        self.verbose = checks.boolean("verbose", verbose, owner)
        self.mode = checks.of_type("mode", mode, str, owner)
        if mode not in ("auto", "min", "max"):
            raise located(ValueError, f"mode should be 'auto', 'min' or 'max', but got {mode}.")
        self._smaller = mode == "min" or (mode == "auto" and monitor in _SMALLER_IS_BETTER)
        self.wait = 0
        self.best: Any = np.inf if self._smaller else -np.inf

    def on_train_begin(self, run_context: RunContext) -> None:
        """Forget an earlier training."""
        self.wait = 0
        self.best = np.inf if self._smaller else -np.inf

    def is_improvement(self, value: Any, best: Any) -> bool:
        """Tell whether ``value`` is better than ``best`` by more than ``min_delta``."""
        if self._smaller:
            return bool(value < best - self.min_delta)
        return bool(value > best + self.min_delta)

    def _value(self, params: Any, purpose: str) -> np.ndarray | None:
        """Find the monitored value, or None if it is not there."""
        if self.monitor == "loss":
            found = loss_of(params.get("net_outputs"))
            results: dict[str, Any] = {}
            if isinstance(found, Tensor):
                found = found.asnumpy()
        else:
            results = params.get("eval_results", {})
            found = results.get(self.monitor)
        if found is None:
            logger.warning(
                "%s is conditioned on %s, which is not available. Available choices are: %s",
                purpose,
                self.monitor,
                {"loss", *results},
            )
            return None
        if np.ndim(found) != 0:
            raise located(
                ValueError,
                f"{type(self).__name__} only supports scalar monitor now, but '{self.monitor}' has "
                f"the shape {np.shape(found)}.",
            )
        # MindSpore: a value of exactly 0 counts as absent (test_monitored_zero).
        return np.array(found) if found else None


class EarlyStopping(_Monitor):
    """Stops the training when a value no longer improves.

    Args:
        monitor: ``"loss"``, or in ``Model.fit`` ``"eval_loss"`` or the name of a metric.
        min_delta: smaller changes are no improvement.
        patience: epochs without improvement after which the training stops.
        verbose: whether a line is printed.
        mode: ``"min"``, ``"max"``, or ``"auto"``: by the monitor's name.
        baseline: value that must be reached, too, for an improvement to count.
        restore_best_weights: whether the weights of the best epoch are put back.

    Raises:
        ValueError: ``mode`` is something else.
        TypeError: an argument has the wrong type.

    MindSpore: ``mindspore.train.EarlyStopping``.
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__(monitor, min_delta, verbose, mode)
        owner = type(self).__name__
        self.patience = checks.non_negative_int("patience", patience, owner)
        self.baseline = baseline
        if baseline is not None:
            checks.of_type("baseline", baseline, (float, int), owner)
        self.restore_best_weights = checks.boolean(
            "restore_best_weights", restore_best_weights, owner
        )
        self.stopped_epoch = 0
        self.best_weights_param_dict: dict[str, Parameter] | None = None

    def on_train_begin(self, run_context: RunContext) -> None:
        """Forget an earlier training."""
        super().on_train_begin(run_context)
        self.stopped_epoch = 0
        self.best_weights_param_dict = None

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Compare the value and ask for the stop."""
        params = run_context.original_args()
        value = self._value(params, "Early stopping")
        if value is None:
            return
        self.wait += 1
        better = self.is_improvement(value, self.best)
        if self.restore_best_weights and (better or self.best_weights_param_dict is None):
            self.best_weights_param_dict = _copy(params.train_network)
        if better:
            self.best = value
            if self.baseline is None or self.is_improvement(value, self.baseline):
                self.wait = 0
        if self.wait >= self.patience:
            self.stopped_epoch = params.get("cur_epoch_num")
            run_context.request_stop()
            if self.best_weights_param_dict is not None:
                if self.verbose:
                    print("Restoring model weights from the end of the best epoch.")
                load_param_into_net(params.train_network, self.best_weights_param_dict)

    def on_train_end(self, run_context: RunContext) -> None:
        """Print the epoch at which the training was stopped."""
        if self.stopped_epoch > 0 and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping")


def _copy(network: Any) -> dict[str, Parameter]:
    return {
        name: Parameter(parameter.asnumpy(), name=name)
        for name, parameter in network.parameters_dict().items()
    }


class ReduceLROnPlateau(_Monitor):
    """Lowers the learning rate when a value no longer improves.

    Args:
        monitor: ``"loss"``, or in ``Model.fit`` ``"eval_loss"`` or the name of a metric.
        factor: what the rate is multiplied with, a float in (0, 1).
        patience: epochs without improvement after which the rate is lowered.
        verbose: whether a line is printed.
        mode: ``"min"``, ``"max"``, or ``"auto"``: by the monitor's name.
        min_delta: smaller changes are no improvement.
        cooldown: epochs after a change in which the patience does not run.
        min_lr: the rate is not lowered below this.

    Raises:
        ValueError: ``mode`` or ``factor`` is out of range, or the rate is not a plain number.
        TypeError: an argument has the wrong type.

    MindSpore: ``mindspore.train.ReduceLROnPlateau``.
    """

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, min_delta, verbose, mode)
        owner = type(self).__name__
        checks.float_above("factor", factor, owner, None)
        checks.in_range("factor", factor, 0.0, 1.0, owner, "()")
        self.factor = factor
        self.patience = checks.non_negative_int("patience", patience, owner)
        self.cooldown = checks.non_negative_int("cooldown", cooldown, owner)
        self.min_lr = checks.of_type("min_lr", min_lr, (float, int), owner)
        self.cooldown_counter = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        """Forget an earlier training."""
        super().on_train_begin(run_context)
        self.cooldown_counter = 0

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Compare the value and lower the rate."""
        params = run_context.original_args()
        rate = params.optimizer.learning_rate
        if not isinstance(rate, Parameter):
            raise located(
                ValueError,
                "ReduceLROnPlateau does not support dynamic learning rate and group learning rate "
                "now.",
            )
        value = self._value(params, "Learning rate reduction")
        if value is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_improvement(value, self.best):
            self.best = value
            self.wait = 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._lower(rate, params.cur_epoch_num)
                self.cooldown_counter = self.cooldown
                self.wait = 0

    def _lower(self, rate: Parameter, epoch: int) -> None:
        current = np.float32(rate.asnumpy())
        if current <= self.min_lr:
            return
        new = max(current * np.float32(self.factor), np.float32(self.min_lr))
        rate.set_data(Tensor(np.array(new, np.float32)))
        if self.verbose:
            print(f"Epoch {epoch:05d}: ReduceLROnPlateau reducing learning rate to {new}.")
