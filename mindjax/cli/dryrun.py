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
    picture: str | None = None,
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
        picture: SVG file for where the Parameters of the last program would lie.
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
        if picture is not None and report.rows:
            from mindjax_parallel.picture import write_picture

            write_picture(report.rows, picture)
    if status == 0 and not report.programs:
        show("mindjax dryrun: nothing was compiled: no jit, and no Cell called in GRAPH_MODE.")
        return 1
    return status


def placements(strategy: str, out: str) -> int:
    """Draw where the Parameters of a training lie, as its strategy file says.

    Args:
        strategy: the strategy file.
        out: the SVG file.

    Returns:
        The process's exit status: 2 if a file cannot be read or written.
    """
    from mindjax_parallel.picture import draw_placements

    try:
        draw_placements(strategy, out)
    except (ValueError, TypeError, OSError) as error:
        print(f"mindjax: {error}", file=sys.stderr)
        return 2
    return 0
