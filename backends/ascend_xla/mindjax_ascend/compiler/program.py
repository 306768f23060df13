"""The form in which compiled programs go to the C++ runtime, which `runtime/program.cc` reads."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

MAGIC = "MJASCEND2"
ARGUMENT, CONSTANT, ARENA, OUTPUT = range(4)
# PJRT_Buffer_Type by the names of MLIR's element types.
TYPES = {
    "i1": 1,
    "i8": 2,
    "i16": 3,
    "i32": 4,
    "i64": 5,
    "ui8": 6,
    "ui16": 7,
    "ui32": 8,
    "ui64": 9,
    "f16": 10,
    "f32": 11,
    "f64": 12,
    "bf16": 13,
    "complex<f32>": 14,
    "complex<f64>": 15,
    "f8E5M2": 16,
    "f8E4M3FN": 17,
    "f8E4M3B11FNUZ": 18,
    "f8E5M2FNUZ": 19,
    "f8E4M3FNUZ": 20,
    "i4": 21,
    "ui4": 22,
    "i2": 24,
    "ui2": 25,
    "f8E4M3": 26,
    "f8E3M4": 27,
    "f8E8M0FNU": 28,
    "f4E2M1FN": 29,
}
TOKEN = 23
BYTES = {1: 1, 2: 1, 6: 1, 3: 2, 7: 2, 10: 2, 13: 2, 4: 4, 8: 4, 11: 4, 5: 8, 9: 8, 12: 8, TOKEN: 0}


@dataclass(eq=False)
class Value:
    """An array that a program computes; `base` is the one whose memory it shares."""

    type: int
    dims: tuple[int, ...]
    place: int = ARENA
    index: int = -1
    base: Value | None = None
    number: int = -1

    @property
    def root(self) -> Value:
        """The value that owns the memory."""
        value = self
        while value.base is not None:
            value = value.base
        return value

    @property
    def elements(self) -> int:
        """How many elements it has."""
        count = 1
        for d in self.dims:
            count *= d
        return count

    @property
    def bytes(self) -> int:
        """How many bytes it takes."""
        return self.elements * BYTES[self.type]


@dataclass(eq=False)
class Region:
    """Steps with values that come in and go out."""

    parameters: list[Value] = field(default_factory=list)
    results: list[Value] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


@dataclass(eq=False)
class Step:
    """One call of a kernel; `calls` are of CANN's operators that do the same, see `cann.py`."""

    op: str
    inputs: list[Value]
    outputs: list[Value]
    ints: list[int] = field(default_factory=list)
    text: str = ""
    calls: str = ""
    regions: list[Region] = field(default_factory=list)
    source: str = ""


@dataclass
class Header:
    """What is said of every program, whether steps or the delegate run it."""

    name: str
    source: bytes
    options: bytes
    assignment: bytes
    replicas: int
    partitions: int
    devices: list[int]
    donated: list[int]
    parameters: list[tuple[int, tuple[int, ...]]]
    outputs: list[tuple[int, tuple[int, ...]]]
    memories: list[int]
    functions: list[int]


class Writer:
    """Collects numbers and texts."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []

    def number(self, value: int) -> None:
        """Add a number of 64 bits."""
        self.parts.append(struct.pack("<q", value))

    def text(self, value: bytes | str) -> None:
        """Add bytes, after their count."""
        data = value.encode() if isinstance(value, str) else value
        self.number(len(data))
        self.parts.append(data)

    def numbers(self, values: list[int] | tuple[int, ...]) -> None:
        """Add a list, after its length."""
        self.parts.append(struct.pack(f"<{len(values) + 1}q", len(values), *values))

    def header(self, header: Header, delegated: str) -> None:
        """Add what comes before the steps; `delegated` says why there are none."""
        self.text(MAGIC)
        self.text(header.name)
        self.text(header.source)
        self.text(header.options)
        self.text(header.assignment)
        self.number(header.replicas)
        self.number(header.partitions)
        self.numbers(header.devices)
        self.numbers(header.donated)
        for shapes in (header.parameters, header.outputs):
            self.numbers([t for t, _ in shapes])
            for _, dims in shapes:
                self.numbers(dims)
        self.numbers(header.memories)
        self.numbers(header.functions)
        self.text(delegated)

    def region(self, region: Region) -> None:
        """Add a region and the steps in it."""
        self.numbers([v.number for v in region.parameters])
        self.numbers([v.number for v in region.results])
        self.number(len(region.steps))
        for step in region.steps:
            self.text(step.op)
            self.numbers([v.number for v in step.inputs])
            self.numbers([v.number for v in step.outputs])
            self.numbers(step.ints)
            self.text(step.text)
            self.text(step.calls)
            self.number(len(step.regions))
            for inner in step.regions:
                self.region(inner)

    def bytes(self) -> bytes:
        """Give all that was added."""
        return b"".join(self.parts)


def delegated(header: Header, reason: str) -> bytes:
    """Write a program that the delegate runs."""
    writer = Writer()
    writer.header(header, reason)
    return writer.bytes()


def stepwise(
    header: Header, values: list[Value], constants: bytes, arena: int, cost: int, body: Region
) -> bytes:
    """Write a program of steps.

    Args:
        header: what is said of every program.
        values: all values, with their places; they are numbered here.
        constants: the bytes of those that are constant.
        arena: size of the memory for intermediate values in bytes.
        cost: estimated time of a run in nanoseconds.
        body: the steps.
    """
    writer = Writer()
    writer.header(header, "")
    writer.text(constants)
    writer.number(arena)
    writer.number(cost)
    writer.number(len(values))
    for number, value in enumerate(values):
        value.number = number
        writer.number(value.type)
        writer.numbers(value.dims)
        writer.number(value.root.place)
        writer.number(value.root.index)
    writer.region(body)
    return writer.bytes()
