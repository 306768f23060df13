"""docs/differences.md is true: MindJAX answers as it says, and a test shows each row."""

import os
import re
import subprocess

import numpy as np
import pytest

from tests.house import differences
from tests.house.source import ROOT

PAGE = (ROOT / "docs/differences.md").read_text(encoding="utf-8")
CASES = [(name, mode) for name, (_, _, modes) in differences.ROWS.items() for mode in modes]


def same(found, wanted):
    """Compare two plain answers, NaN with NaN."""
    if isinstance(found, str) or isinstance(wanted, str):
        return found == wanted
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    return found.shape == wanted.shape and np.allclose(found, wanted, 1e-5, 1e-6, equal_nan=True)


@pytest.mark.table
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "mode_name"), CASES)
def test_answer(name, mode_name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found, wanted = differences.answer(name, mode_name), differences.ROWS[name][1]
    assert same(found, wanted), f"{found} instead of {wanted}"


@pytest.mark.oracle
@pytest.mark.parametrize(("name", "mode_name"), CASES)
def test_the_original_answers_otherwise(name, mode_name, tmp_path):
    """A crash of the original's process is another answer too."""
    done = subprocess.run(
        [os.environ["MINDJAX_ORACLE_PYTHON"], differences.__file__, name, mode_name],
        cwd=tmp_path,
        env={**os.environ, "LIBRARY": "mindspore"},
        capture_output=True,
        text=True,
    )
    found = re.findall("^JSON(.*)$", done.stdout, re.MULTILINE)
    values = {"NaN": np.nan, "Infinity": np.inf, "true": True, "false": False, "null": None}
    assert done.returncode or not same(eval(found[-1], values), differences.ROWS[name][1])


def test_each_row_has_its_test():
    cited = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)
    missing = [
        f"{path}::{name}"
        for path, name in cited
        if not re.search(rf"^def {name}\(", (ROOT / path).read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert cited
    assert not missing


def test_each_program_is_on_the_page():
    shown = [row.rpartition("|")[0].rpartition("|")[2] for row in PAGE.splitlines()]
    names = {name.strip() for cell in shown for name in re.findall(r"\[([^\]]+)\]", cell)}
    assert names == set(differences.ROWS)
