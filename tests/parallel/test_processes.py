"""Collectives, messages and training between processes, started by msrun."""

import re
import subprocess
import sys

import pytest

from mindjax.cli import demo_data
from tests.house.source import ROOT
from tests.parallel.launching import ENVIRONMENT, PROGRAMS, msrun

# Every line starts processes: `make test` runs the first of a kind.
slow = pytest.mark.slow
RUNS = {
    "operators": (2, ["collectives.py", "quick"], {}),
    "all operators": (2, ["collectives.py"], {}),
    "operators of 3": (3, ["collectives.py"], {}),
    "operators of 4": (4, ["collectives.py"], {}),
    "functions": (2, ["distributed.py"], {}),
    "functions of 3": (3, ["distributed.py"], {}),
    "DistributedDataParallel": (2, ["wrapped.py"], {}),
    "DistributedDataParallel of 3": (3, ["wrapped.py"], {}),
    "mistakes": (2, ["mistakes.py"], {}),
    "training": (2, ["training.py"], {"MINDJAX_EAGER": "deferred"}),
    "training at once": (3, ["training.py"], {"MINDJAX_EAGER": "op_by_op"}),
    "rank 0 alone reads the loss, either engine": (
        *(2, ["training.py", "engines"]),
        {"MINDJAX_EAGER": "deferred"},
    ),
    "training of a graph": (4, ["training.py", "graph"], {}),
    "a ring": (4, ["spreading.py", "ring"], {}),
    "a balanced ring": (4, ["spreading.py", "balanced ring of four"], {}),
    "exchanged heads": (4, ["spreading.py", "heads"], {}),
    "experts": (4, ["spreading.py", "experts"], {}),
    "experts with all tokens": (4, ["spreading.py", "experts, all tokens"], {}),
    "stages": (4, ["staged.py", "1f1b", "4"], {}),
    "stages of two": (4, ["staged.py", "gpipe", "2"], {}),
}
FAST = ("operators", "functions", "training")


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in FAST else slow) for n in RUNS])
def test_run(name, tmp_path):
    count, words, environment = RUNS[name]
    outcome = msrun(count, *words, cwd=tmp_path, limit=300, **environment)
    assert outcome.status == 0, outcome
    for rank in range(count):
        assert f"rank {rank} of {count} is through" in outcome.out, outcome


@slow
def test_processes_that_meet_by_an_address(tmp_path):
    """Processes that nobody launched find each other by ``init_method``."""
    command = [sys.executable, "-m", "mindjax", "run", str(PROGRAMS / "distributed.py"), "tcp"]
    with_port = [*command, "29817"]
    ranks = [
        subprocess.Popen(
            [*with_port, str(rank)],
            cwd=tmp_path,
            env=ENVIRONMENT,
            stdout=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    for rank, process in enumerate(ranks):
        out, _ = process.communicate(timeout=120)
        assert f"rank {rank} of 2 is through" in out


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    folder = tmp_path_factory.mktemp("digits") / "mnist"
    demo_data.write_folder(folder, demo_data.fill_mnist)
    return folder


def losses(text):
    return [float(x) for x in re.findall(r"^step \d+: loss (\S+)$", text, re.MULTILINE)]


@slow
@pytest.mark.parametrize("count", [2, 4])
def test_data_parallel_example(count, digits, tmp_path):
    """The losses over the same batches of all processes are those of one process."""
    example = str(ROOT / "examples" / "lenet5_data_parallel.py")
    words = ["--data", digits, "--steps", 12, "--every", 3]
    outcome = msrun(count, example, *words, cwd=tmp_path, limit=300)
    assert outcome.status == 0, outcome
    command = [sys.executable, "-m", "mindjax", "run", example, *map(str, words)]
    alone = subprocess.run(command, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True)
    assert alone.returncode == 0, alone.stderr
    expected = losses(alone.stdout)
    assert len(expected) == 4
    assert losses(outcome.out) == pytest.approx(expected, rel=1e-5)
