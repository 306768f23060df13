"""The Cell of a training step: precision, loss, loss scale and optimizer around a network."""

from __future__ import annotations

from typing import Any

from mindjax import boost, nn
from mindjax.amp.casting import WithLossCell
from mindjax.amp.levels import auto_mixed_precision, keep_batchnorm
from mindjax.core.dtype import float16, float32
from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.training.accumulation import TrainGradAccuStepCell, accumulates
from mindjax.train.loss_scale_manager import DynamicLossScaleManager, LossScaleManager

LEVELS = ("O0", "O1", "O2", "O3", "auto")
_OPTIONS = ("cast_model_type", "keep_batchnorm_fp32", "loss_scale_manager")


def _settings(level: str) -> dict[str, Any]:
    """Give the dtype, the normalizations' precision and the loss scale of a level."""
    return {
        "keep_batchnorm_fp32": level == "O2",
        "cast_model_type": float16 if level in ("O2", "O3") else float32,
        "loss_scale_manager": DynamicLossScaleManager() if level == "O2" else None,
    }


def build_train_network(
    network: Cell,
    optimizer: Any,
    loss_fn: Cell | None = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> Cell:
    """Put precision, loss, loss scale and optimizer around a network.

    Args:
        network: Cell.
        optimizer: takes the gradients.
        loss_fn: Cell of the network's output and the label; None if the network gives the loss.
        level: as in `auto_mixed_precision`; ``"O2"`` also has a dynamic loss scale.
        boost_level: ``"O0"``; ``"O1"`` or ``"O2"`` for the step of `mindspore.boost`.
        **kwargs: instead of what the level says: ``cast_model_type`` (Float16 or Float32),
            ``keep_batchnorm_fp32`` (bool), ``loss_scale_manager`` (manager or None).

    Returns:
        The Cell of one training step: it gives the loss, or with a loss scale that is updated the
        loss, whether the gradients overflow, and the scale.

    Raises:
        TypeError: an argument has the wrong type.
        ValueError: an argument has the wrong value.

    MindSpore: ``mindspore.amp.build_train_network``; there loss scales that drop overflows are
    refused on a CPU.
    """
    _check_optimizer(optimizer)
    _check_levels(level, boost_level)
    _check_options(kwargs)
    settings = {**_settings(level), **kwargs}
    network = _in_precision(network, settings, level)
    if loss_fn:
        network = _with_loss(network, loss_fn, settings["cast_model_type"])
    manager = settings["loss_scale_manager"]
    scale = None if manager is None else manager.get_loss_scale()
    update = None if manager is None else manager.get_update_cell()
    if update is not None:
        return _scaled(network, optimizer, update, boost_level).set_train()
    if accumulates(network):
        step: Cell = TrainGradAccuStepCell(network, optimizer)
    elif boost_level != "O0":
        step = boost.BoostTrainOneStepCell(network, optimizer, scale)
    else:
        step = nn.TrainOneStepCell(network, optimizer, scale)
    return step.set_train()


def _scaled(network: Cell, optimizer: Any, update: Cell, boost_level: str) -> Cell:
    if accumulates(network):
        raise located(
            NotImplementedError,
            "For 'build_train_network', a loss scale that is updated does not go with "
            "'GradAccumulationCell' or pipeline stages: use FixedLossScaleManager(scale, False).",
        )
    if boost_level != "O0":
        return boost.BoostTrainOneStepWithLossScaleCell(network, optimizer, update)
    return nn.TrainOneStepWithLossScaleCell(network, optimizer, update)


def _in_precision(network: Cell, settings: dict[str, Any], level: str) -> Cell:
    dtype, keep = settings["cast_model_type"], settings["keep_batchnorm_fp32"]
    if dtype is float16 or (level == "O2" and not keep):
        network.to_float(float16)
        if dtype is float16 and keep:
            keep_batchnorm(network)
        return network
    if level in ("O2", "O3"):
        return network
    return auto_mixed_precision(network, level)


def _with_loss(network: Cell, loss_fn: Any, dtype: Any) -> Cell:
    if not isinstance(loss_fn, Cell):
        raise located(
            TypeError,
            "For 'build_train_network', the type of 'loss_fn' must be Cell, but got "
            f"{type(loss_fn).__name__}.",
        )
    if dtype is float16 or getattr(network, "_amp_level", None) in ("O2", "O3", "auto"):
        return WithLossCell(network, loss_fn)
    return nn.WithLossCell(network, loss_fn)


def _check_optimizer(optimizer: Any) -> None:
    if not (isinstance(optimizer, Cell) and hasattr(optimizer, "parameters")):
        raise located(
            TypeError,
            "For 'build_train_network', the type of 'optimizer' must be Optimizer, but got "
            f"{type(optimizer).__name__}.",
        )


def _check_levels(level: Any, boost_level: Any) -> None:
    if not isinstance(level, str):
        raise located(
            TypeError,
            f"The argument `level` must be a string in {list(LEVELS)},but got type {type(level)}.",
        )
    if level not in LEVELS:
        raise located(ValueError, f"The 'level' must be in {list(LEVELS)}, but got {level}.")
    if boost_level not in ("O0", "O1", "O2"):
        raise located(
            ValueError, f"The 'boost_level' must be in ['O0', 'O1', 'O2'], but got {boost_level}."
        )


def _check_options(options: dict[str, Any]) -> None:
    for name, value in options.items():
        if name not in _OPTIONS:
            raise located(ValueError, f"Unsupported arg '{name}'")
        if name == "cast_model_type" and value not in (float16, float32):
            raise located(
                TypeError,
                "The type of 'cast_model_type' should be one of [Float16, Float32], but got "
                f"{value}.",
            )
        if name == "keep_batchnorm_fp32" and not isinstance(value, bool):
            raise located(
                TypeError,
                f"The type of 'keep_batchnorm_fp32' must be bool, but got {type(value).__name__}.",
            )
        if name == "loss_scale_manager" and value and not _is_manager(value):
            raise located(
                TypeError,
                "The type of 'loss_scale_manager' must be LossScaleManager, but got "
                f"{type(value).__name__}.",
            )


def _is_manager(value: Any) -> bool:
    return isinstance(value, LossScaleManager | boost.GroupLossScaleManager)
