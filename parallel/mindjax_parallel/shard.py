"""`shard`: a function or Cell whose inputs and outputs parallel training lays out."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindjax.core.errors import located
from mindjax.nn.cell import Cell
from mindjax.ops.collective.resharding import check_strategies, lay_out


def shard(
    fn: Any, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None
) -> Callable[..., Any]:
    """Lay the inputs and outputs of a function out over devices (MindSpore: ``shard``).

    The operators within follow by propagation. It has an effect in graphs of the parallel modes
    ``semi_auto_parallel`` and ``auto_parallel``; elsewhere the function runs as it is.

    Args:
        fn: Cell, or function of Tensors.
        in_strategy: for each input a tuple of the numbers of parts of its dimensions, or a
            `Layout`.
        out_strategy: the same of the outputs, or None.
        parameter_plan: the same by name of the Cell's Parameters, or None.

    Returns:
        A function with the arguments of ``fn``.

    Raises:
        TypeError: an argument is of another form.
        ValueError: a plan does not fit its Parameter.
    """
    if isinstance(fn, Cell):
        return fn.shard(in_strategy, out_strategy, parameter_plan)
    if not callable(fn):
        raise located(
            TypeError,
            f"For 'Shard', the 'fn' should be a Cell or a function, but got {type(fn).__name__}.",
        )
    check_strategies(in_strategy, out_strategy)
    if parameter_plan is not None:
        raise located(
            TypeError,
            f"If parameter_plan is set, type of fn must be mindspore.nn.Cell, but got {type(fn)}",
        )

    @functools.wraps(fn)
    def sharded(*args: Any, **kwargs: Any) -> Any:
        out = fn(*lay_out(args, in_strategy), **kwargs)
        return lay_out(out, out_strategy) if out_strategy else out

    return sharded
