"""``mindjax dryrun``: a script's programs for devices that are not there, compiled and not run."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mindjax.cli.run import run


def dryrun(
    script: str,
    args: Sequence[str],
    devices: int = 1,
    as_module: bool = False,
    out: str | None = None,
    compiles: bool = True,
) -> int:
    """Run a script whose compiled programs are only looked at, and say what each needs.

    Large Parameters get no values, and a program gives zeros. A text about each program goes to
    standard error.

    Args:
        script: path of a Python file, or the name of a module.
        args: what the program finds in ``sys.argv[1:]``.
        devices: how many devices there would be.
        as_module: ``script`` is the name of a module.
        out: JSON file for the figures.
        compiles: whether XLA cuts the programs, so that transfers can be counted.

    Returns:
        The process's exit status: 1 if no program was compiled.
    """
    # Before jax is first asked for devices.
    os.environ["JAX_PLATFORMS"] = "cpu"
    from mindjax.core import simulation
    from mindjax_parallel.dryrun import Report

    def show(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    report = Report(compiles, show)
    simulation.start(report)
    try:
        status = run(script, args, as_module, devices)
    finally:
        simulation.stop()
        if out is not None:
            report.write(out)
    if status == 0 and not report.programs:
        show("mindjax dryrun: nothing was compiled: no jit, and no Cell called in GRAPH_MODE.")
        return 1
    return status
