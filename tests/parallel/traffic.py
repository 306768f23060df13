"""What a compiled program sends between devices: collectives and bytes, turns of loops counted."""

import collections
import math
import re

KINDS = "all-reduce|all-gather|reduce-scatter|all-to-all|collective-permute"
_COLLECTIVE = re.compile(rf"= ([^=]*?) ({KINDS})(?:-start)?\(")
_SHAPE = re.compile(r"[a-z]+(\d*)\[([\d,]*)\]")


def _bytes(shapes):
    """Give the bytes of each array of a result."""
    return [
        int(width or 8) // 8 * math.prod(int(d) for d in dims.split(",") if d)
        for width, dims in _SHAPE.findall(shapes)
    ]


def traffic(text):
    """Count collectives and the bytes that they give on one device.

    Args:
        text: optimised HLO.

    Returns:
        Three dicts by the kind of collective: how often it runs, bytes, and the most of one array.
    """
    text = re.sub(r"/\*.*?\*/", "", text)
    found, turns, current = collections.defaultdict(list), {}, ""
    for line in text.splitlines():
        started = re.match(r"(?:ENTRY )?%?([\w.\-]+) .*\{$", line)
        if started and not line.startswith(" "):
            current = started[1]
        for shape, kind in _COLLECTIVE.findall(line):
            found[current].append((kind, _bytes(shape)))
        if " while(" in line:
            body = re.search(r"body=%?([\w.\-]+)", line)[1]
            count = re.search(r'known_trip_count":\{"n":"(\d+)"', line)
            assert count or not found[body], f"a loop of unknown length sends: {line}"
            turns[body] = current, int(count[1]) if count else 1
        else:
            for called in re.findall(r"(?:calls|to_apply)=%?([\w.\-]+)", line):
                turns.setdefault(called, (current, 1))
    count, size, largest = collections.Counter(), collections.Counter(), collections.Counter()
    for name, collectives in found.items():
        times, place = 1, name
        while place in turns:
            place, more = turns[place]
            times *= more
        for kind, held in collectives:
            count[kind] += times
            size[kind] += times * sum(held)
            largest[kind] = max([largest[kind], *held])
    return dict(count), dict(size), dict(largest)


def sums_in_loops(text):
    """Give the bytes of what devices add up within loops, each sum once, and outside of them.

    Args:
        text: optimised HLO.
    """
    text = re.sub(r"/\*.*?\*/", "", text)
    called, sums, bodies, here = collections.defaultdict(set), collections.Counter(), set(), ""
    for line in text.splitlines():
        started = re.match(r"(?:ENTRY )?%?([\w.\-]+) \(.*\{$", line)
        if started:
            here = started[1]
            continue
        names = re.findall(r"(?:calls|to_apply|condition|body|\w+_computation)=%?([\w.\-]+)", line)
        for branches in re.findall(r"branch_computations=\{([^}]*)\}", line):
            names += [n.strip().lstrip("%") for n in branches.split(",")]
        called[here].update(names)
        bodies.update(re.findall(r"body=%?([\w.\-]+)", line))
        for shape, kind in _COLLECTIVE.findall(line):
            if kind in ("all-reduce", "reduce-scatter"):
                sums[here] += sum(_bytes(shape))
    inside, left = set(), list(bodies)
    while left:
        name = left.pop()
        if name not in inside:
            inside.add(name)
            left.extend(called[name])
    found = sum(size for name, size in sums.items() if name in inside)
    return found, sum(sums.values()) - found


def program(step):
    """Give the optimised HLO of the one program of a Cell."""
    (found,) = [p for programs in step._programs.programs.entries.values() for p in programs]
    return found.hlo
