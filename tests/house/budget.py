"""The suite's time budget: wall minutes on two cores, by group of folders."""

from collections import defaultdict

import pytest

CORES = 2
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


def over_budget(seconds):
    """Tell which groups took too long.

    Args:
        seconds: mapping of folder to the summed seconds of its tests.
    """
    lines = []
    for group, (minutes, folders) in GROUPS.items():
        taken = sum(seconds.get(folder, 0.0) for folder in folders) / CORES / 60
        if taken > minutes:
            lines.append(f"{group}: {taken:.1f} of {minutes} minutes")
    return lines


class Budget:
    """Pytest plugin that adds up durations and fails a whole run that is over its budget."""

    def __init__(self, enforced):
        self.enforced = enforced
        self.seconds = defaultdict(float)

    def pytest_runtest_logreport(self, report):
        self.seconds[folder_of(report.nodeid)] += report.duration

    def pytest_sessionfinish(self, session, exitstatus):
        if self.enforced and exitstatus == pytest.ExitCode.OK and over_budget(self.seconds):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter):
        for line in over_budget(self.seconds) if self.enforced else ():
            terminalreporter.write_line(f"over the time budget, {line}", red=True)
