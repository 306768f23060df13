"""Checks of the arguments of ``Model``, with the original's classes and phrases."""

from __future__ import annotations

import logging
from typing import Any

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.train import callback as callbacks_module
from mindjax.train.callback.base import Callback, as_list

logger = logging.getLogger("mindjax")

_OLD_NAMES = {"begin", "end", "epoch_begin", "epoch_end", "step_begin", "step_end"}
OWN_CALLBACKS = tuple(
    kind
    for name, kind in vars(callbacks_module).items()
    if isinstance(kind, type) and issubclass(kind, Callback) and kind is not Callback
)
_LEVELS = ("O0", "O1", "O2", "O3", "auto")


def check_arguments(
    network: Any, optimizer: Any, amp_level: Any, boost_level: Any, kwargs: dict[str, Any]
) -> None:
    """Check the arguments of ``Model`` as the original does."""
    for name in kwargs:
        if name not in (
            "loss_scale_manager",
            "keep_batchnorm_fp32",
            "boost_config_dict",
            "acc_level",
        ):
            raise located(
                ValueError,
                "The argument in 'kwargs' should be 'loss_scale_manager' or 'keep_batchnorm_fp32' "
                f"or 'boost_config_dict' or 'acc_level', but got '{name}'.",
            )
    if optimizer is None and amp_level != "O0":
        raise located(
            ValueError,
            "Auto mixed precision will not work because 'optimizer' is None. Please set "
            "amp_level='O0' to disable auto mixed precision or set 'optimizer' not be None to use "
            "auto mixed precision.",
        )
    if not isinstance(network, Cell):
        raise located(
            TypeError,
            f"The type of 'network' should be 'Cell', but got type '{type(network).__name__}'.",
        )
    if kwargs.get("loss_scale_manager") is not None and optimizer is None:
        raise located(
            ValueError,
            "The argument 'optimizer' can not be None when set 'loss_scale_manager'.",
        )
    if amp_level not in _LEVELS:
        raise located(
            ValueError, f"The 'level' should be in : {list(_LEVELS)}, but got {amp_level}."
        )
    for name, value in (
        ("boost_level", boost_level),
        ("acc_level", kwargs.get("acc_level", "O0")),
    ):
        if value not in ("O0", "O1", "O2"):
            raise located(
                ValueError,
                f"For 'Model', the '{name}' must be in ['O0', 'O1', 'O2'], but got {value}.",
            )


def size_of(dataset: Any, owner: str) -> int:
    """Ask a dataset for its number of batches.

    Args:
        dataset: the dataset.
        owner: what the user called, for messages.

    Returns:
        the number of batches of an epoch.

    Raises:
        AttributeError: it is no dataset.
    """
    if not hasattr(dataset, "get_dataset_size"):
        raise located(
            AttributeError,
            f"For '{owner}', the '{type(dataset).__name__}' object has no attribute "
            "'get_dataset_size': give a dataset of mindspore.dataset.",
        )
    return dataset.get_dataset_size()


def check_train(
    name: str,
    epoch: Any,
    dataset: Any,
    sink_mode: Any,
    sink_size: Any,
    initial_epoch: Any,
) -> int:
    """Check the arguments of ``Model.train`` and ``Model.fit`` as the original does.

    Returns:
        The steps of an epoch in sink mode.
    """
    owner = f"Model.{name}"
    checks.boolean("dataset_sink_mode", sink_mode, owner)
    if isinstance(sink_size, bool) or not isinstance(sink_size, int):
        raise located(
            TypeError,
            f"For '{owner}', the type of 'sink_size' must be 'int', but got "
            f"'{type(sink_size).__name__}'.",
        )
    checks.positive_int("epoch", epoch, owner)
    checks.non_negative_int("initial_epoch", initial_epoch, owner)
    if initial_epoch >= epoch:
        raise located(
            ValueError,
            f"For 'Model.{name}', the parameter 'epoch' must bigger than parameter "
            f"'initial_epoch', but got the parameter 'epoch' is {epoch}, 'initial_epoch' is "
            f"{initial_epoch}.",
        )
    size = size_of(dataset, owner)
    if size == 0:
        raise located(
            ValueError, "There is no valid data in dataset, please check dataset file firstly."
        )
    if sink_size < -1 or sink_size == 0:
        raise located(
            ValueError,
            f"For 'Model.{name}', The argument 'sink_size' must be -1 or positive, but got "
            f"{sink_size}.",
        )
    return size if sink_size == -1 else sink_size


def check_methods(callbacks: Any, where: str) -> None:
    """Refuse, in ``fit``, the old names of callback methods, which would run in evaluation too."""
    for callback in as_list(callbacks):
        kind = type(callback)
        old = _OLD_NAMES & set(vars(kind))
        if kind in OWN_CALLBACKS or not old:
            continue
        message = (
            f"For {kind.__name__} callback, {old} methods may not be supported in later version, "
            "Use methods prefixed with 'on_train' or 'on_eval' instead when using customized "
            "callbacks."
        )
        if where == "fit":
            raise located(ValueError, message)
        logger.warning(message)
