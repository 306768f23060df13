"""Running a program without devices (MindSpore: ``mindspore.utils.dryrun``)."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from mindjax.core import simulation


def set_simulation() -> None:
    """Compile what is called from here on, without running it (MindSpore: ``set_simulation``).

    The variable ``MS_SIMULATION_LEVEL`` is set. Large Parameters that are made afterwards get no
    values, programs of GRAPH_MODE give zeros, and what each needs is written to standard error.
    `mindjax dryrun` does the same for a whole script and for devices that are not there.
    """
    report = importlib.import_module("mindjax_parallel.dryrun").Report
    simulation.start(report(show=lambda text: print(text, file=sys.stderr, flush=True)))


def mock(mock_val: Any, *args: Any) -> Any:
    """Give a value, or another one where the variable ``MS_SIMULATION_LEVEL`` is set.

    Args:
        mock_val: the other one.
        *args: the value, or a function and its arguments.
    """
    if os.environ.get(simulation.LEVEL):
        return mock_val
    if len(args) == 1 and not callable(args[0]):
        return args[0]
    return args[0](*args[1:])
