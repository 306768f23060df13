"""The networks that ``Model`` trains and evaluates, built around the user's network."""

from __future__ import annotations

from typing import Any

from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.nn.wrap import TrainOneStepCell, WithEvalCell, WithLossCell


def build_train_network(network: Cell, loss_fn: Any, optimizer: Any, scale_manager: Any) -> Cell:
    """Put the loss and the optimizer's step around a network.

    Args:
        network: Cell.
        loss_fn: Cell, or None if the network computes the loss.
        optimizer: optimizer, or None if nothing is updated.
        scale_manager: loss scale manager that does not drop overflows, or None.

    Returns:
        The Cell that one training step calls.

    Raises:
        NotImplementedError: the manager drops overflows.
    """
    with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
    if optimizer is None:
        return with_loss
    sens = None
    if scale_manager is not None:
        if scale_manager.get_drop_overflow_update():
            raise located(
                NotImplementedError,
                "For 'Model', a 'loss_scale_manager' that drops overflows is not supported: use "
                "FixedLossScaleManager(loss_scale, drop_overflow_update=False).",
            )
        sens = float(scale_manager.get_loss_scale())
    step = TrainOneStepCell(with_loss, optimizer, sens)
    step.set_train()
    return step


def build_eval_network(
    network: Cell, loss_fn: Any, eval_network: Cell | None, eval_indexes: Any
) -> tuple[Cell, list[int] | None]:
    """Put the loss around a network for evaluation.

    Args:
        network: Cell.
        loss_fn: Cell, or None.
        eval_network: Cell that is taken instead, or None.
        eval_indexes: positions of loss, prediction and label in its outputs, or None.

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
    return WithEvalCell(network, loss_fn), [0, 1, 2]
