"""Pipes of AI cores: what is ordered with what, races, orders of execution, and time.

A core issues instructions to its pipes in the order of the program. Two of them are ordered only
by a flag, a barrier, or the scalar pipe, which also issues: everything else may overlap. Memory
accesses that touch the same bytes and are not ordered are races.
"""

from __future__ import annotations

import heapq
import random
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field

from .memory import View

# ST are the scalar unit's own stores: issued in order, complete for others only behind a flag of S.
PIPES = ("S", "ST", "V", "M", "MTE1", "MTE2", "MTE3", "FIX")
_IN_ORDER = ("S", "ST", "M")  # the cube accumulates in order


class SimulationError(RuntimeError):
    """A program does what the simulator cannot follow."""


class Deadlock(RuntimeError):
    """A wait whose flag nothing sets."""


class RaceError(RuntimeError):
    """Two accesses to the same bytes, one of them a write, that no wait or barrier orders."""


@dataclass
class Instruction:
    """One instruction on a pipe of a core: work, or a synchronisation."""

    kind: str  # work, set, wait, barrier
    pipe: str
    name: str
    line: int
    run: Callable[[], None] | None = None
    reads: list[View] = field(default_factory=list)
    writes: list[View] = field(default_factory=list)
    cycles: float = 0.0
    flag: tuple | None = None  # of a set or a wait
    atomic: int = 0  # how a store merges with what is there; 0 where it does not
    core: int = 0
    position: int = 0  # in the program of its core
    number: int = 0  # among those of its pipe, from 0
    before: dict[tuple[int, str], int] = field(default_factory=dict)
    start: float = 0.0
    finish: float = 0.0

    def where(self) -> str:
        """The name with the line in the program."""
        return f"{self.name} (line {self.line}, pipe {self.pipe})"


@dataclass
class Schedule:
    """What `order` finds: the work, for each piece what precedes it, times, and races."""

    work: list[Instruction]
    cycles: float
    busy: dict[str, float]
    races: list[str]


def _merge(into: dict, other: dict) -> None:
    for key, count in other.items():
        if into.get(key, 0) < count:
            into[key] = count


def order(cores: list[list[Instruction]]) -> Schedule:
    """Find what precedes what, the time of each instruction, and the races.

    Args:
        cores: The instructions of each core in the order of the program.

    Returns:
        The schedule. `Instruction.before` says how many instructions of which pipe are complete
        when one starts.

    Raises:
        Deadlock: A wait is never fulfilled.
    """
    for core in cores:
        for position, instruction in enumerate(core):
            instruction.position = position
    issued: list[deque[Instruction]] = [deque(core) for core in cores]
    queues: dict[tuple[int, str], deque[Instruction]] = {
        (c, p): deque() for c in range(len(cores)) for p in PIPES
    }
    known: dict[tuple[int, str], dict] = {key: {} for key in queues}
    count: dict[tuple[int, str], int] = dict.fromkeys(queues, 0)
    # The time at which the pipe takes its next one, and at which all it took is complete.
    free: dict[tuple[int, str], float] = dict.fromkeys(queues, 0.0)
    done: dict[tuple[int, str], float] = dict.fromkeys(queues, 0.0)
    flags: dict[tuple, deque] = defaultdict(deque)
    work: list[Instruction] = []
    busy: dict[str, float] = defaultdict(float)

    def complete_all(core: int) -> None:
        total: dict = {}
        for pipe in PIPES:
            _merge(total, known[core, pipe])
            total[core, pipe] = count[core, pipe]
        time = max(done[core, pipe] for pipe in PIPES)
        for pipe in PIPES:
            _merge(known[core, pipe], total)
            free[core, pipe] = max(free[core, pipe], time)

    def issue(core: int) -> bool:
        """Give the pipes of a core what its scalar pipe reaches."""
        moved = False
        queue = issued[core]
        scalar = (core, "S")
        while queue:
            head = queue[0]
            if head.kind == "barrier" and head.pipe == "ALL":
                if any(queues[core, pipe] for pipe in PIPES):
                    return moved
                complete_all(core)
                queue.popleft()
                moved = True
                continue
            if queues[scalar]:  # the scalar pipe stands at a wait
                return moved
            if head.pipe == "S" and queues[core, "ST"]:  # stores before it are counted first
                return moved
            head.core = core
            head.before = dict(known[scalar])
            head.start = free[scalar]
            queues[core, head.pipe].append(queue.popleft())
            moved = True
            if head.pipe == "S":
                return moved
        return moved

    def step(key: tuple[int, str]) -> bool:
        queue = queues[key]
        if not queue:
            return False
        head = queue[0]
        core, pipe = key
        stores = (core, "ST")
        if head.kind == "wait":
            waiting = flags[head.flag]  # type: ignore[index]
            if not waiting:
                return False
            snapshot, time = waiting.popleft()
            _merge(known[key], snapshot)
            free[key] = max(free[key], time)
        queue.popleft()
        _merge(known[key], head.before)
        free[key] = max(free[key], head.start)
        if head.kind == "work":
            if pipe in _IN_ORDER:
                known[key][key] = count[key]
            head.number = count[key]
            count[key] += 1
            head.before = dict(known[key])
            if pipe == "S":  # the scalar unit sees what it stored
                head.before[stores] = count[stores]
            head.start = max(free[key], done[key] if pipe in _IN_ORDER else 0.0)
            head.finish = head.start + head.cycles
            free[key] = head.finish  # a pipe works on one at a time
            done[key] = max(done[key], head.finish)
            busy[pipe] += head.cycles
            work.append(head)
            if pipe == "S":
                known[key][key] = count[key]
        elif head.kind == "set":
            snapshot = dict(known[key])
            snapshot[key] = count[key]
            if pipe == "S":
                snapshot[stores] = count[stores]
            flags[head.flag].append((snapshot, max(done[key], free[key])))  # type: ignore[index]
        elif head.kind == "barrier":
            known[key][key] = count[key]
            if pipe == "S":
                known[key][stores] = count[stores]
            free[key] = max(free[key], done[key])
        return True

    moving = True
    while moving:
        moving = False
        for core in range(len(cores)):
            while issue(core):
                moving = True
        for key in queues:
            while step(key):
                moving = True
    stuck = [q[0] for q in queues.values() if q]
    if stuck:
        head = min(stuck, key=lambda i: i.line)
        raise Deadlock(f"{head.where()} waits for the flag {head.flag} that nothing sets")
    left = {f: len(w) for f, w in flags.items() if w}
    races = [f"the flag {f} is set {n} times more than it is waited for" for f, n in left.items()]
    races += _races(work)
    cycles = max(done.values(), default=0.0)
    return Schedule(work, cycles, dict(busy), races)


def precedes(first: Instruction, second: Instruction) -> bool:
    """Whether the first is complete when the second starts."""
    return second.before.get((first.core, first.pipe), 0) > first.number


def _races(work: list[Instruction]) -> list[str]:
    touched: dict[int, list[tuple[int, int, View, Instruction, bool]]] = defaultdict(list)
    found: dict[tuple, str] = {}
    for now in work:
        mine = [(v, False) for v in now.reads] + [(v, True) for v in now.writes]
        for view, writing in mine:
            if not view.size:
                continue
            first, behind = view.bounds()
            others = touched[id(view.memory)]
            survivors = []
            for entry in others:
                low, high, other, earlier, wrote = entry
                if low >= behind or high <= first:
                    survivors.append(entry)
                    continue
                ordered = earlier is now or precedes(earlier, now)
                # Atomic stores of one kind may come in any order.
                ordered |= bool(now.atomic) and now.atomic == earlier.atomic
                if not ordered and (writing or wrote) and view.overlaps(other):
                    key = (earlier.line, now.line, earlier.core, now.core)
                    found.setdefault(
                        key,
                        f"{view.memory.name} bytes {max(low, first)} to {min(high, behind)}: "
                        f"{earlier.where()} {'writes' if wrote else 'reads'} and {now.where()} "
                        f"{'writes' if writing else 'reads'} with no wait between them",
                    )
                # What is ordered before this write, inside of it, orders all that follows.
                hidden = writing and earlier is not now and precedes(earlier, now)
                if not (hidden and first <= low and high <= behind and view._dense()):
                    survivors.append(entry)
            survivors.append((first, behind, view, now, writing))
            touched[id(view.memory)] = survivors
    return list(found.values())


def execution(work: list[Instruction], policy: str, seed: int = 0) -> list[Instruction]:
    """An order of execution that the flags and barriers allow.

    Args:
        work: The instructions of a schedule.
        policy: `program`, `late` (always the one that the program has last) or `random`.
        seed: Of the random policy.

    Returns:
        The instructions, each after all that precede it.

    Raises:
        ValueError: There is no such policy.
    """
    if policy not in ("program", "late", "random"):
        raise ValueError(f"policy is {policy!r}: program, late and random are known")
    generator = random.Random(seed)
    by_program = sorted(work, key=lambda i: (i.position, i.core))
    keys = {id(i): n for n, i in enumerate(by_program)}

    def priority(instruction: Instruction) -> float:
        if policy == "random":
            return generator.random()
        number = keys[id(instruction)]
        return number if policy == "program" else -number

    complete: dict[tuple[int, str], int] = defaultdict(int)
    finished: dict[tuple[int, str], set[int]] = defaultdict(set)
    waiting: dict[tuple[int, str], list[tuple[int, int, Instruction]]] = defaultdict(list)
    ready: list[tuple[float, int, Instruction]] = []

    def place(instruction: Instruction) -> None:
        """Into the ready ones, or behind the first pipe that it still waits for."""
        for key, needed in instruction.before.items():
            if complete[key] < needed:
                heapq.heappush(waiting[key], (needed, keys[id(instruction)], instruction))
                return
        heapq.heappush(ready, (priority(instruction), keys[id(instruction)], instruction))

    for instruction in by_program:
        place(instruction)
    done: list[Instruction] = []
    while ready:
        instruction = heapq.heappop(ready)[2]
        done.append(instruction)
        key = (instruction.core, instruction.pipe)
        finished[key].add(instruction.number)
        while complete[key] in finished[key]:
            finished[key].remove(complete[key])
            complete[key] += 1
        while waiting[key] and waiting[key][0][0] <= complete[key]:
            place(heapq.heappop(waiting[key])[2])
    return done
