"""Run an example as its reader does."""

import os
import subprocess
import sys

from tests.house.source import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'parallel'}"}


def run_example(name, *words, cwd=None, devices=None):
    """Run ``mindjax run examples/NAME WORDS``, perhaps on devices, and give what it printed."""
    several = [] if devices is None else ["--devices", str(devices)]
    command = [sys.executable, "-m", "mindjax", "run", *several, str(ROOT / "examples" / name)]
    result = subprocess.run(
        [*command, *map(str, words)], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True
    )
    assert result.returncode == 0, result.stderr
    return result.stdout
