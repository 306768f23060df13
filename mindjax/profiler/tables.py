"""Tables of a trace: steps, operators, programs; and its timeline as one JSON file."""

from __future__ import annotations

import csv
import gzip
import json
import logging
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax

from mindjax.profiler.config import ExportType

logger = logging.getLogger("mindjax")

OUTPUT = "ASCEND_PROFILER_OUTPUT"
"""Folder of the tables within a trace's folder, the original's."""
_DATABASE = "ascend_mindspore_profiler.db"
# A ``#``, which the original's names have, ends a name in a trace.
STEP = "ProfilerStep "
_MICRO = 1000.0


class Operation(NamedTuple):
    """One run of one operator on a device; times in microseconds."""

    name: str
    module: str
    run: int
    device: str
    start: float
    duration: float

    @property
    def kind(self) -> str:
        """The operator's name without XLA's number."""
        head, _, tail = self.name.rpartition(".")
        return head if head and tail.isdigit() else self.name


class Step(NamedTuple):
    """One step on the host; times in microseconds."""

    number: int
    start: float
    duration: float


class Trace:
    """What a trace holds.

    Args:
        folder: the trace's folder.

    Raises:
        FileNotFoundError: there is no trace in it.
    """

    def __init__(self, folder: Path) -> None:
        files = sorted(folder.glob("plugins/profile/*/*.xplane.pb"))
        if not files:
            raise FileNotFoundError(f"{folder} holds no trace: plugins/profile/*/*.xplane.pb")
        self.operations: list[Operation] = []
        self.steps: list[Step] = []
        for path in files:
            for plane in jax.profiler.ProfileData.from_file(str(path)).planes:
                self._read(plane)
        self.operations.sort(key=lambda operation: operation.start)
        self.steps.sort()

    def _read(self, plane: Any) -> None:
        for line in plane.lines:
            for event in line.events:
                if event.name.startswith(STEP):
                    number = int(event.name[len(STEP) :])
                    start, length = event.start_ns / _MICRO, event.duration_ns / _MICRO
                    self.steps.append(Step(number, start, length))
                    continue
                stats = dict(event.stats)
                if "hlo_op" in stats and event.duration_ns > 0:
                    self.operations.append(
                        Operation(
                            str(stats["hlo_op"]),
                            str(stats.get("hlo_module", "")),
                            int(stats.get("run_id", 0)),
                            plane.name,
                            event.start_ns / _MICRO,
                            event.duration_ns / _MICRO,
                        )
                    )

    def choose(self, numbers: Sequence[int] | None) -> None:
        """Keep the steps of these numbers, and what runs within them."""
        if numbers is not None:
            self.steps = [step for step in self.steps if step.number in numbers]
            self.operations = [op for op in self.operations if self.step_of(op) is not None]

    def step_of(self, operation: Operation) -> int | None:
        """Give the number of the step in which an operator began."""
        for step in self.steps:
            if step.start <= operation.start < step.start + step.duration:
                return step.number
        return None


def analyse(
    folder: Path,
    pretty: bool = False,
    step_list: Sequence[int] | None = None,
    export: Sequence[ExportType] = (ExportType.Text,),
) -> None:
    """Write the tables of a trace.

    Args:
        folder: the trace's folder.
        pretty: whether the timeline's JSON is indented.
        step_list: numbers of the steps that count; None for all.
        export: what the tables are written as.
    """
    trace = Trace(folder)
    trace.choose(step_list)
    target = folder / OUTPUT
    operations = trace.operations
    write(target, "step_trace_time", _STEP_HEADER, _step_rows(trace), export)
    header = ("Step Id", "Device", "Module", "Name", "Type", "Start Time(us)", "Duration(us)")
    rows = [
        (trace.step_of(o), o.device, o.module, o.name, o.kind, o.start, o.duration)
        for o in operations
    ]
    write(target, "kernel_details", header, rows, export)
    header = ("OP Type", "Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)")
    kinds = statistics(operations, lambda operation: operation.kind)
    write(target, "op_statistic", (*header, "Ratio(%)"), kinds, export)
    runs: dict[tuple[str, int], list[float]] = defaultdict(list)
    for operation in operations:
        runs[operation.module, operation.run].append(operation.duration)
    modules = _group((module, sum(times)) for (module, _), times in runs.items())
    write(target, "program_statistic", ("Module", *header[1:], "Ratio(%)"), modules, export)
    _write_timeline(folder, target, pretty)


_STEP_HEADER = ("Step", "Start Time(us)", "Duration(us)", "Computing(us)", "Free(us)", "Operators")


def _step_rows(trace: Trace) -> list[tuple[Any, ...]]:
    rows = []
    for step in trace.steps:
        own = [o for o in trace.operations if trace.step_of(o) == step.number]
        busy = _covered([(o.start, o.start + o.duration) for o in own], step.start + step.duration)
        rows.append(
            (step.number, step.start, step.duration, busy, max(0, step.duration - busy), len(own))
        )
    return rows


def _covered(spans: list[tuple[float, float]], end: float) -> float:
    """Measure how long at least one of the spans lasts, until a moment."""
    total, reached = 0.0, float("-inf")
    for start, stop in sorted(spans):
        stop = min(stop, end)
        total += max(0.0, stop - max(start, reached))
        reached = max(reached, stop)
    return total


def statistics(
    operations: Iterable[Operation], key: Callable[[Operation], str]
) -> list[tuple[Any, ...]]:
    """Count operators and their times by what ``key`` gives, the longest total first.

    Args:
        operations: the operators' runs.
        key: gives the name to count under.

    Returns:
        Rows of name, count, total, shortest, mean, longest time, and the share in percent.
    """
    return _group((key(operation), operation.duration) for operation in operations)


def _group(times: Iterable[tuple[str, float]]) -> list[tuple[Any, ...]]:
    found: dict[str, list[float]] = defaultdict(list)
    for name, time in times:
        found[name].append(time)
    everything = sum(map(sum, found.values())) or 1.0
    rows = [
        (n, len(t), sum(t), min(t), sum(t) / len(t), max(t), 100 * sum(t) / everything)
        for n, t in found.items()
    ]
    return sorted(rows, key=lambda row: -row[2])


def write(
    folder: Path,
    name: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    export: Sequence[ExportType],
) -> None:
    """Write one table.

    Args:
        folder: its folder, which is made if it is missing.
        name: the file's name without ending, or the table's in the database.
        header: names of the columns.
        rows: the values.
        export: as a CSV file, into a SQLite database, or both.
    """
    folder.mkdir(parents=True, exist_ok=True)
    if ExportType.Text in export:
        with open(folder / f"{name}.csv", "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows([_short(value) for value in row] for row in rows)
    if ExportType.Db in export:
        connection = sqlite3.connect(folder / _DATABASE)
        columns = ", ".join(f'"{column}"' for column in header)
        connection.execute(f'DROP TABLE IF EXISTS "{name}"')
        connection.execute(f'CREATE TABLE "{name}" ({columns})')
        marks = ", ".join("?" * len(header))
        connection.executemany(f'INSERT INTO "{name}" VALUES ({marks})', rows)
        connection.commit()
        connection.close()


def _short(value: Any) -> Any:
    return round(value, 3) if isinstance(value, float) else "" if value is None else value


def _write_timeline(folder: Path, target: Path, pretty: bool) -> None:
    """Unpack the timeline that Perfetto and chrome://tracing show."""
    packed = sorted(folder.glob("plugins/profile/*/*.trace.json.gz"))
    if not packed:
        return
    text = gzip.decompress(packed[-1].read_bytes())
    if pretty:
        text = json.dumps(json.loads(text), indent=1).encode()
    (target / "trace_view.json").write_bytes(text)
