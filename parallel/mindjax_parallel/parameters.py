"""Parameters of a network on several devices: spreading and synchronising them."""

from __future__ import annotations

import os
from typing import Any

from mindjax.core import world
from mindjax.core.errors import located
from mindjax.core.parallel_context import Generation, operator_files


def parameter_broadcast(net: Any, layout: Any, cur_rank: int = 0, initial_rank: int = 0) -> None:
    """Send Parameters to the ranks that hold copies (MindSpore: ``parameter_broadcast``).

    In one process every Parameter is one array, so its copies are equal already.

    Args:
        net: the network.
        layout: dict of the Parameters' layouts; an empty one sends nothing.
        cur_rank: this process's rank.
        initial_rank: first rank of the pipeline stage.

    Raises:
        ValueError: ``cur_rank`` is not this process's, or ``initial_rank`` is no stage's first.
        NotImplementedError: there are several processes and a layout.
    """
    if not layout or world.transport.size <= 1:
        return
    if cur_rank != world.transport.rank:
        raise located(
            ValueError,
            f"For parameter broadcast, the cur_rank: {cur_rank} is wrong: it is "
            f"{world.transport.rank}.",
        )
    if initial_rank != 0:
        raise located(
            ValueError, f"For parameter broadcast, the initial_rank: {initial_rank} is wrong."
        )
    raise located(
        NotImplementedError,
        f"For 'parameter_broadcast', a layout in a world of {world.transport.size} processes is "
        f"not supported yet: load the checkpoint on every rank of {type(net).__name__}.",
    )


def sync_pipeline_shared_parameters(net: Any) -> None:
    """Send Parameters that several stages share (``sync_pipeline_shared_parameters``).

    Without pipeline stages a shared Parameter is one.

    Args:
        net: the network.

    Raises:
        TypeError: it is no Cell.
    """
    if not hasattr(net, "parameters_and_names"):
        raise located(
            TypeError,
            "For 'sync_pipeline_shared_parameters', the 'net' should be a Cell, but got "
            f"{type(net).__name__}.",
        )


def set_op_strategy_config(mode: str = "SAVE", path: str = "") -> None:
    """Write or read operators' strategies as JSON (MindSpore: ``set_op_strategy_config``).

    Programs that are compiled afterwards in a parallel mode are concerned, until
    `reset_auto_parallel_context`. What is read serves operators without a strategy of their own.

    Args:
        mode: ``"SAVE"`` or ``"LOAD"``.
        path: absolute path that ends in ``.json``.

    Raises:
        KeyError: another mode or path.
    """
    if not os.path.isabs(path):
        raise located(KeyError, "File path must be an absolute path")
    if os.path.splitext(path)[1] != ".json":
        raise located(KeyError, "File type must be .json")
    if mode not in ("SAVE", "LOAD"):
        raise located(KeyError, "Type must be 'SAVE' or 'LOAD'")
    operator_files.clear()
    operator_files[mode] = path
    Generation.count += 1
