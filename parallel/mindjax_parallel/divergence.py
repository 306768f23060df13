"""Transfers that would wait for devices that do something else.

Stages choose among operations at each step. Sums and gathers over the devices of one stage may
stand in an operation: only these take part. A permutation is one for all devices, and would wait
for ever for those of other stages.
"""

from __future__ import annotations

import re

_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
_CALLED = re.compile(r"(?:calls|to_apply|body|condition|\w+_computation)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")


def waiting(text: str) -> str | None:
    """Find a permutation among devices within a choice of a compiled program.

    Args:
        text: optimised HLO.

    Returns:
        What XLA says of the operation that it comes from; None if there is none.
    """
    called: dict[str, set[str]] = {}
    found: dict[str, str] = {}
    chosen: set[str] = set()
    here = ""
    for line in text.splitlines():
        start = _COMPUTATION.match(line)
        if start:
            here = start[1]
            called[here] = set()
            continue
        called.setdefault(here, set()).update(_CALLED.findall(line))
        for names in _BRANCHES.findall(line):
            chosen.update(n.strip().lstrip("%") for n in names.split(","))
        if " collective-permute(" in line or " collective-permute-start(" in line:
            name = re.search(r'op_name="([^"]*)"', line)
            found[here] = name[1] if name else "a transfer"
    reached: set[str] = set()
    left = list(chosen)
    while left:
        name = left.pop()
        if name in reached:
            continue
        reached.add(name)
        if name in found:
            return found[name]
        called.setdefault(name, set())
        left.extend(called[name])
    return None
