"""A pipeline forward alone, in functions of one's own, with written Parameters, with a scale."""

import os
import subprocess
import sys

import pytest

USES = ("forward", "functional", "written", "scaled", "parts", "model")


@pytest.fixture(scope="module")
def found():
    """Run all of them in a process with two virtual devices."""
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    return subprocess.run(
        [sys.executable, "-m", "tests.parallel.pipeline_uses"],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
        check=False,
    )


@pytest.mark.parametrize("use", USES)
def test_use_is_as_alone(use, found):
    assert use in found.stdout.split(), found.stderr[-3000:]
