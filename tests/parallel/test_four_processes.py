"""Trainings of four processes in every mode: as on one device, and ended when a rank is."""

import re
import signal

import pytest

from tests.parallel.launching import msrun

pytestmark = pytest.mark.slow
PROGRAM, LIMIT = "modes.py", 4


@pytest.mark.parametrize("mode", ["data", "semi", "stages", "data and stages"])
def test_as_one_device(mode, tmp_path):
    """The losses of 20 steps are those of one device; the program compares them."""
    outcome = msrun(4, PROGRAM, mode, "-", cwd=tmp_path, limit=290)
    assert outcome.status == 0, outcome
    for rank in range(4):
        assert f"rank {rank} of 4 is through" in outcome.out, outcome


# The mode, what the last rank does, and what msrun says first.
ENDS = [
    ("data", "kill", rf"rank 3 of 4 .*\nkilled by {signal.SIGKILL.name}\n"),
    ("semi", "kill", rf"rank 3 of 4 .*\nkilled by {signal.SIGKILL.name}\n"),
    ("stages", "kill", rf"rank 3 of 4 .*\nkilled by {signal.SIGKILL.name}\n"),
    ("semi", "raise", r"rank 3 of 4 .*\nTraceback (.*\n)+?KeyError: 'no such weight'"),
    ("data", "hang", rf"rank [012] has waited {LIMIT} s for the other ranks in '"),
    ("semi", "hang", rf"rank [012] has waited {LIMIT} s for the other ranks in 'TrainOneStep"),
    ("stages", "hang", rf"rank [012] has waited {LIMIT} s for the other ranks in 'TrainOneStep"),
    ("semi", "alone", rf"rank \d has waited {LIMIT} s for the other ranks in '"),
]


@pytest.mark.parametrize(("mode", "what", "text"), ENDS)
def test_ends(mode, what, text, tmp_path):
    """The job ends soon after a rank does, or when a wait has lasted too long."""
    options = ["--collective_time_out", LIMIT] if what in ("hang", "alone") else []
    outcome = msrun(4, PROGRAM, mode, what, cwd=tmp_path, options=options, limit=200)
    assert outcome.status == 1, outcome
    assert re.search(text, outcome.err), outcome
    assert "@ 0x" not in outcome.err
    ended = float(re.search(r"failed first, ([\d.]+) s after the start", outcome.err)[1])
    # The launcher itself starts in a second or two; what follows the end is to be short.
    assert outcome.seconds - ended < 30, outcome
