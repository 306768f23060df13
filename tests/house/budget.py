"""The suite's time budget: wall minutes on two cores, by group of folders.

They are minutes of the machine that they were set on: a slower one has as many times more.
"""

import time
from collections import defaultdict

import pytest

CORES = 2
# Seconds that `_work` takes on the machine of the budgets, and what a slower one may have at most.
REFERENCE = 0.0213
SLOWEST = 2.0
GROUPS = {
    "core and ops": (8, {"core", "ops", "tensor", "mint", "numpy", "scipy"}),
    "nn and train": (5, {"nn", "train", "amp", "boost", "profiler", "runtime", "interop"}),
    "graph": (3, {"graph", "autodiff"}),
    "files": (2, {"checkpoint", "mindir", "onnx", "dataset", "mindrecord"}),
    "parallel": (3, {"parallel"}),
    "ascend": (1.5, {"ascend"}),
    "docs": (2, {"house", "cli", "examples"}),
}


def folder_of(nodeid):
    """Name the folder under tests/ that a test stands in."""
    parts = nodeid.partition("::")[0].split("/")
    return parts[1] if len(parts) > 2 else ""


def _work():
    table, total = {}, 0
    for i in range(200_000):
        table[i & 1023] = i
        total += table.get(i * 7 & 1023, 0)
    return total


def slowness():
    """Tell how many times slower than the machine of the budgets this one is; 1 for a faster."""
    taken = []
    for _ in range(9):
        start = time.perf_counter()
        _work()
        taken.append(time.perf_counter() - start)
    return min(max(min(taken) / REFERENCE, 1.0), SLOWEST)


def over_budget(seconds, times=1.0):
    """Tell which groups took too long.

    Args:
        seconds: mapping of folder to the summed seconds of its tests.
        times: how many times slower than the machine of the budgets this one is.
    """
    lines = []
    for group, (minutes, folders) in GROUPS.items():
        taken = sum(seconds.get(folder, 0.0) for folder in folders) / CORES / 60 / times
        if taken > minutes:
            lines.append(f"{group}: {taken:.1f} of {minutes} minutes")
    return lines


class Budget:
    """Pytest plugin that adds up durations and fails a whole run that is over its budget."""

    def __init__(self, enforced):
        self.enforced = enforced
        self.seconds = defaultdict(float)
        # Before the workers start.
        self.times = slowness() if enforced else 1.0

    def pytest_runtest_logreport(self, report):
        self.seconds[folder_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self, session, exitstatus):
        over = over_budget(self.seconds, self.times)
        if self.enforced and exitstatus == pytest.ExitCode.OK and over:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        if not self.enforced:
            return
        if self.times > 1:
            text = f"a machine {self.times:.2f} times slower than that of the time budget"
            terminalreporter.write_line(text)
        for line in over_budget(self.seconds, self.times):
            terminalreporter.write_line(f"over the time budget, {line}", red=True)
