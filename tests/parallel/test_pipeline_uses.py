"""A pipeline forward alone, in functions of one's own, with written Parameters, with a scale."""

import os
import subprocess
import sys

import pytest

QUICK, MORE = ("functional", "written"), ("forward", "scaled", "parts", "model")


def outcome(uses):
    """Run some of them in a process with two virtual devices."""
    environment = {k: v for k, v in os.environ.items() if k != "XLA_FLAGS"}
    return subprocess.run(
        [sys.executable, "-m", "tests.parallel.pipeline_uses", *uses],
        capture_output=True,
        text=True,
        timeout=600,
        env=environment,
        check=False,
    )


@pytest.fixture(scope="module")
def found():
    return outcome(QUICK)


@pytest.fixture(scope="module")
def more():
    return outcome(MORE)


@pytest.mark.parametrize("use", QUICK)
def test_use_is_as_alone(use, found):
    assert use in found.stdout.split(), found.stderr[-3000:]


@pytest.mark.slow
@pytest.mark.parametrize("use", MORE)
def test_use_is_as_alone_too(use, more):
    assert use in more.stdout.split(), more.stderr[-3000:]
