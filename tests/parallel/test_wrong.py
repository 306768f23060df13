"""Wrong strategies and settings raise the documented class, in one line that names the cause."""

import json
import os
import subprocess
import sys

import pytest

from tests.parallel.wrong_cases import CASES


@pytest.fixture(scope="module")
def found():
    """Run all of them in a process with eight virtual devices."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.parallel.wrong"],
        capture_output=True,
        text=True,
        timeout=300,
        env=dict(os.environ),
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return {name: (kind, text) for name, kind, text in map(json.loads, done.stdout.splitlines())}


@pytest.mark.parametrize("name", CASES)
def test_error(name, found):
    _, kind, words = CASES[name]
    raised, message = found[name]
    assert raised == kind, message
    assert words in message
    assert "\n" not in message
    assert len(message) < 500
