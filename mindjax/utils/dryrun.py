"""Running a program without devices (MindSpore: ``mindspore.utils.dryrun``)."""

from __future__ import annotations

import os
from typing import Any

from mindjax.core.errors import located


def set_simulation() -> None:
    """Refuse: XLA runs what it compiles.

    Raises:
        NotImplementedError: always; jax.eval_shape on `interop.functional` computes shapes alone.
    """
    raise located(
        NotImplementedError,
        "For 'set_simulation', XLA runs what it compiles: Cell.compile compiles without running, "
        "and jax.eval_shape on mindjax.interop.functional(cell) computes shapes alone.",
    )


def mock(mock_val: Any, *args: Any) -> Any:
    """Give a value, or another one where the variable ``MS_SIMULATION_LEVEL`` is set.

    Args:
        mock_val: the other one.
        *args: the value, or a function and its arguments.
    """
    if os.environ.get("MS_SIMULATION_LEVEL"):
        return mock_val
    if len(args) == 1 and not callable(args[0]):
        return args[0]
    return args[0](*args[1:])
