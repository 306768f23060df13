"""Checkpoints go from MindJAX to the original and back in the middle of training."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from tests.examples.run import ENVIRONMENT
from tests.house.source import ROOT

SCRIPT = ROOT / "tests/oracle/train_lenet.py"
LENET = ROOT / "tests/goldens/lenet"
OURS = [sys.executable, "-m", "mindjax", "run"]


def train(command, *words):
    """Run the script under one implementation and read its losses."""
    result = subprocess.run(
        [*command, str(SCRIPT), *map(str, words)], env=ENVIRONMENT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout.splitlines()[-1])


@pytest.mark.oracle
@pytest.mark.parametrize("first_is_ours", [True, False])
def test_training_goes_on_with_the_same_losses(first_is_ours, digits, tmp_path):
    """30 steps by one, 30 by the other: the losses of the original alone."""
    original = [os.environ["MINDJAX_ORACLE_PYTHON"]]
    first, second = (OURS, original) if first_is_ours else (original, OURS)
    middle, last = tmp_path / "middle.ckpt", tmp_path / "last.ckpt"
    losses = train(first, digits, LENET / "initial.ckpt", middle, "--skip", 0, "--steps", 30)
    losses += train(second, digits, middle, last, "--skip", 30, "--steps", 30)
    golden = json.loads((LENET / "losses.json").read_text())["losses"]
    np.testing.assert_allclose(losses, golden, rtol=1e-4)
