"""Long trainings keep their memory, their programs and their speed."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

RUNS = [
    ("graph", "O0"),
    ("graph", "O2"),
    ("graph", "auto"),
    ("pynative", "O0"),
    ("pynative", "O2"),
    ("forward", "O0"),
]


def soaked(steps: int, kind: str, level: str) -> tuple[float, int, float]:
    """Run a soak in a process of its own; give growth of memory, compilations, slowing down."""
    environment = os.environ | {"MINDJAX_TRACK_HANDLES": ""}
    command = [sys.executable, "-m", "tests.train.soak", str(steps), kind, level]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = re.search(r"([+-][\d.]+)% since.* (\d+) compilations.* ([\d.]+) times", done.stdout)
    assert found is not None, done.stdout
    return float(found[1]) / 100, int(found[2]), float(found[3])


@pytest.mark.parametrize(("kind", "level"), [("graph", "O2"), ("pynative", "O0")])
def test_a_short_soak(kind: str, level: str) -> None:
    growth, compiled, _ = soaked(300, kind, level)
    assert compiled == 0
    assert growth <= 0.02


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "level"), RUNS)
def test_a_long_soak(kind: str, level: str) -> None:
    growth, compiled, slower = soaked(10_000, kind, level)
    assert compiled == 0
    assert growth <= 0.02
    # Other processes take turns on the machine's cores.
    assert slower <= 1.5
