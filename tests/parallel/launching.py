"""Starting the processes of a test as a user does."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from tests.house.source import ROOT

PROGRAMS = Path(__file__).parent / "programs"
ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'parallel'}"}


class Outcome:
    """What ``msrun`` did: its status, output, errors, and the seconds that it took."""

    def __init__(self, result, seconds):
        self.status, self.out, self.err = result.returncode, result.stdout, result.stderr
        self.seconds = seconds

    def __repr__(self):
        return f"status {self.status} after {self.seconds:.1f} s\n{self.out}\n{self.err}"


def msrun(count, program, *words, cwd, options=(), limit=120, **environment):
    """Run a program of this folder, or of a path, in processes and wait for their end."""
    path = program if os.path.isabs(program) else str(PROGRAMS / program)
    command = [sys.executable, "-m", "mindjax", "msrun", "--worker_num", str(count)]
    command += ["--local_worker_num", str(count), "--join", "True", "--log_dir", "logs"]
    began = time.monotonic()
    result = subprocess.run(
        [*command, *map(str, options), path, *map(str, words)],
        cwd=cwd,
        env={**ENVIRONMENT, **environment},
        capture_output=True,
        text=True,
        timeout=limit,
    )
    return Outcome(result, time.monotonic() - began)


def msrun_alone(*words, cwd, **environment):
    """Run ``msrun`` with words of one's own."""
    command = [sys.executable, "-m", "mindjax", "msrun", *map(str, words)]
    return subprocess.run(
        command, cwd=cwd, env={**ENVIRONMENT, **environment}, capture_output=True, text=True
    )


def on_eight_devices(module, *names, limit=900):
    """Run a module of the tests on eight virtual devices; give what its lines of JSON say."""
    done = subprocess.run(
        [sys.executable, "-m", module, *names],
        capture_output=True,
        text=True,
        timeout=limit,
        env={k: v for k, v in os.environ.items() if k != "XLA_FLAGS"},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]
