"""``mindjax graph``: run a script, then list what was compiled, how often, and why again."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

from mindjax.cli.run import run


def graph(script: str, args: Sequence[str], as_module: bool = False) -> int:
    """Run a script as ``mindjax run`` does and list its compiled programs on standard error.

    Args:
        script: path of a Python file, or the name of a module.
        args: what the program finds in ``sys.argv[1:]``.
        as_module: ``script`` is the name of a module.

    Returns:
        The process's exit status.
    """
    try:
        return run(script, args, as_module=as_module)
    finally:
        print(report(), file=sys.stderr, flush=True)


def report() -> str:
    """Describe every program compiled in this process, function by function."""
    from mindjax.graph import journal

    functions: dict[tuple[str, str], list[journal.Compilation]] = {}
    for entry in journal.entries():
        functions.setdefault((entry.name, entry.place), []).append(entry)
    if not functions:
        return "mindjax graph: nothing was compiled: no jit, and no Cell called in GRAPH_MODE."
    lines = [f"mindjax graph: {len(functions)} functions compiled"]
    for (name, place), entries in functions.items():
        totals = {p: sum(e.seconds[p] for e in entries) for p in journal.PHASES}
        executables = sum(e.seconds["compile"] > 0 for e in entries)
        path, _, line = place.rpartition(":")
        near = f"{os.path.relpath(path)}:{line}" if path else place
        lines.append("")
        lines.append(f"{name}  ({near})")
        lines.append(
            f"  traced {len(entries)} times, {executables} executables: "
            + ", ".join(f"{p} {seconds:.2f} s" for p, seconds in totals.items())
        )
        lines += [f"  {e.number}: {_sentence(e)}" for e in entries]
    return "\n".join(lines)


def _sentence(entry: Any) -> str:
    reason, seconds = entry.reason or "first call", entry.seconds
    shared = "" if seconds["compile"] > 0 else "; runs an earlier executable"
    return f"{reason} ({sum(seconds.values()):.2f} s{shared})"
