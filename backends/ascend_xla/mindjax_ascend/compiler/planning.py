"""Where values lie: intermediate ones share an arena, results lie in the outputs."""

from __future__ import annotations

from mindjax_ascend.compiler.program import ARENA, OUTPUT, Region, Step, Value

ALIGNMENT = 64
# Kernels that may write their result over their first input.
IN_PLACE = ("dynamic_update_slice", "scatter")


class _Lives:
    """First and last time that each owner of memory is in use."""

    def __init__(self) -> None:
        self.first: dict[Value, int] = {}
        self.last: dict[Value, int] = {}
        self.everything: dict[Value, None] = {}
        self.clock = 0

    def touch(self, value: Value, time: int) -> None:
        self.everything[value] = None
        root = value.root
        self.everything[root] = None
        if root not in self.first:
            self.first[root] = time
            self.last[root] = time
        self.first[root] = min(self.first[root], time)
        self.last[root] = max(self.last[root], time)

    def region(self, region: Region) -> None:
        for value in region.parameters:
            self.touch(value, self.clock)
        for step in region.steps:
            self.clock += 1
            start = self.clock
            for value in [*step.inputs, *step.outputs]:
                self.touch(value, start)
            for inner in step.regions:
                outside = self._read_within(inner)
                self.region(inner)
                self.clock += 1
                for value in outside:
                    self.touch(value, self.clock)
            if step.regions:
                # Loops come back to their beginning: what they read from outside stays.
                for value in [*step.inputs, *step.outputs]:
                    self.touch(value, self.clock)
                for inner in step.regions:
                    for value in self._read_within(inner):
                        self.touch(value, self.clock)
        self.clock += 1
        for value in region.results:
            self.touch(value, self.clock)

    def _read_within(self, region: Region) -> list[Value]:
        made = {v.root for s in region.steps for v in s.outputs}
        read = [v for s in region.steps for v in s.inputs] + region.results
        for step in region.steps:
            for inner in step.regions:
                read += self._read_within(inner)
        return [v for v in read if v.root not in made]


def _write_over(region: Region, outer: set[Value]) -> None:
    """Let results lie over first inputs that nothing reads any more."""
    for inner in (r for s in region.steps for r in s.regions):
        _write_over(inner, {p.root for p in inner.parameters})
    mine = set(outer)
    for position, step in enumerate(region.steps):
        if step.op in IN_PLACE:
            whole = step.inputs[0]
            later = region.steps[position + 1 :]
            read = {v.root for s in later for v in _reads(s)} | {v.root for v in region.results}
            if (
                whole.root in mine
                and whole.root.place == ARENA
                and whole.root not in read
                and all(v.root is not whole.root for v in step.inputs[1:])
            ):
                step.outputs[0].base = whole
        mine.update(v.root for v in step.outputs)


def _reads(step: Step) -> list[Value]:
    read = list(step.inputs)
    for region in step.regions:
        read += region.results
        for inner in region.steps:
            read += _reads(inner)
    return read


def place_outputs(body: Region) -> None:
    """Give each result of the program a place among its outputs, by a copy where it has another."""
    for i, value in enumerate(body.results):
        root = value.root
        if root.place == ARENA and root.bytes == value.bytes:
            root.place, root.index = OUTPUT, i
            continue
        copy = Value(value.type, value.dims, OUTPUT, i)
        body.steps.append(Step("move", [value], [copy], source="copy"))
        body.results[i] = copy


def plan(body: Region) -> tuple[list[Value], int]:
    """Place the values that are neither inputs, outputs nor constants.

    Returns:
        All values, and the size of the arena in bytes.
    """
    _write_over(body, set())
    place_outputs(body)
    lives = _Lives()
    lives.region(body)
    owners = [v for v in lives.first if v.place == ARENA]
    owners.sort(key=lambda v: lives.first[v])
    ends: list[tuple[int, int, int]] = []  # last use, offset, size
    size = 0
    for value in owners:
        start = lives.first[value]
        ends = sorted((e for e in ends if e[0] >= start), key=lambda e: e[1])
        need = max(ALIGNMENT, -(-value.bytes // ALIGNMENT) * ALIGNMENT)
        offset = 0
        for _, begin, length in ends:
            if begin - offset >= need:
                break
            offset = max(offset, begin + length)
        value.index = offset
        ends.append((lives.last[value], offset, need))
        size = max(size, offset + need)
    return list(lives.everything), size
