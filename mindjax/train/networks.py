"""The networks that ``Model`` trains and evaluates, built around the user's network."""

from __future__ import annotations

import logging
from typing import Any

from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.training.accumulation import accumulates
from mindjax.nn.wrap import TrainOneStepCell, WithEvalCell, WithLossCell

logger = logging.getLogger("mindjax")


def boosted(
    network: Cell, optimizer: Any, eval_network: Cell | None, level: str, config: Any
) -> tuple[Cell, Any, Cell | None]:
    """Give networks and optimizer as the algorithms of `mindspore.boost` want them.

    Args:
        network: Cell.
        optimizer: optimizer, or None.
        eval_network: Cell, or None.
        level: of `boost.AutoBoost`; ``"O0"`` changes nothing.
        config: settings of `boost.AutoBoost`.
    """
    if level == "O0":
        return network, optimizer, eval_network
    from mindjax.boost import AutoBoost

    boost = AutoBoost(level, config)
    if optimizer is None:
        logger.warning("In boost mode, the optimizer must be defined.")
        return network, optimizer, eval_network
    network, optimizer = boost.network_auto_process_train(network, optimizer)
    if eval_network is not None:
        eval_network = boost.network_auto_process_eval(eval_network)
    return network, optimizer, eval_network


def build_train_network(
    network: Cell,
    loss_fn: Any,
    optimizer: Any,
    amp_level: str,
    boost_level: str,
    options: dict[str, Any],
) -> Cell:
    """Put precision, loss and the optimizer's step around a network.

    Args:
        network: Cell.
        loss_fn: Cell, or None if the network computes the loss.
        optimizer: optimizer, or None if nothing is updated.
        amp_level: of `amp.build_train_network`.
        boost_level: of `amp.build_train_network`.
        options: ``loss_scale_manager`` and ``keep_batchnorm_fp32``, where they are given.

    Returns:
        The Cell that one training step calls.
    """
    if optimizer is None:
        return network if loss_fn is None else WithLossCell(network, loss_fn)
    if amp_level == "O0" and boost_level == "O0" and options.get("loss_scale_manager") is None:
        # A loss that is no Cell is taken here.
        with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        if options.get("keep_batchnorm_fp32") is None and not accumulates(with_loss):
            return TrainOneStepCell(with_loss, optimizer).set_train()
    from mindjax.amp.networks import build_train_network as build

    given = {k: options[k] for k in ("loss_scale_manager",) if k in options}
    if options.get("keep_batchnorm_fp32") is not None:
        given["keep_batchnorm_fp32"] = options["keep_batchnorm_fp32"]
    return build(network, optimizer, loss_fn, amp_level, boost_level, **given)


def build_eval_network(
    network: Cell,
    loss_fn: Any,
    eval_network: Cell | None,
    eval_indexes: Any,
    add_cast_fp32: bool = False,
) -> tuple[Cell, list[int] | None]:
    """Put the loss around a network for evaluation.

    Args:
        network: Cell.
        loss_fn: Cell, or None.
        eval_network: Cell that is taken instead, or None.
        eval_indexes: positions of loss, prediction and label in its outputs, or None.
        add_cast_fp32: whether outputs and labels are cast to Float32 before the loss.

    Returns:
        The Cell that one evaluation step calls, and the positions.

    Raises:
        ValueError: neither ``loss_fn`` nor ``eval_network`` is given, or the positions are not
            three.
    """
    if eval_network is not None:
        three = isinstance(eval_indexes, list) and len(eval_indexes) == 3
        if eval_indexes is not None and not three:
            raise located(
                ValueError,
                "The argument 'eval_indexes' must be a list or None. If 'eval_indexes' is a list, "
                f"length of it must be three. But got 'eval_indexes' {eval_indexes}",
            )
        return eval_network, eval_indexes
    if loss_fn is None:
        raise located(
            ValueError,
            "If `metrics` is set, `eval_network` must not be None: give `eval_network` or "
            "`loss_fn`, or do not set `metrics` if you don't want an evaluation.",
        )
    return WithEvalCell(network, loss_fn, add_cast_fp32), [0, 1, 2]


def spread(network: Any) -> Any:
    """Give a network that runs over several devices if a Cell in it, `AutoParallel`, says so.

    Args:
        network: training step, evaluation or prediction; None stays None.
    """
    if network is None or hasattr(network, "around"):
        return network
    for _, cell in network.cells_and_names():
        around = getattr(cell, "around", None)
        if callable(around):
            return around(network)
    return network
