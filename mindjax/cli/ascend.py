"""``mindjax ascend report``: run a script on Ascend, then list what ran where."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from mindjax.cli.run import run


def ascend(script: str, args: Sequence[str], as_module: bool = False) -> int:
    """Run a script on the platform ``ascend`` and list on standard error what ran where.

    Args:
        script: path of a Python file, or the name of a module.
        args: what the program finds in ``sys.argv[1:]``.
        as_module: ``script`` is the name of a module.

    Returns:
        The process's exit status.
    """
    try:
        from mindjax_ascend.report import report  # pyright: ignore[reportMissingImports]
    except ImportError:
        print("mindjax ascend: pip install mindjax-ascend-xla", file=sys.stderr)
        return 1
    # jax reads it when it starts a backend; functions of Python in programs need the cpu.
    os.environ["JAX_PLATFORMS"] = "ascend,cpu"
    import jax

    jax.config.update("jax_platforms", "ascend,cpu")
    try:
        return run(script, args, as_module=as_module)
    finally:
        print(report(), file=sys.stderr, flush=True)
