"""Every folder of tests has a place in the time budget, and the budget counts."""

import pytest

from tests.house.budget import GROUPS, SLOWEST, folder_of, over_budget, slowness
from tests.house.source import ROOT


def test_every_folder_has_a_budget():
    known = set().union(*(folders for _, folders in GROUPS.values()))
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/test_*.py")}
    assert folders <= known


@pytest.mark.parametrize(
    ("nodeid", "folder"),
    [
        ("tests/ops/test_reduction.py::test_sum[PYNATIVE]", "ops"),
        ("tests/nn/loss/test_loss.py::test_a/b", "nn"),
        ("tests/test_top.py::test_a", ""),
    ],
)
def test_folder(nodeid, folder):
    assert folder_of(nodeid) == folder


@pytest.mark.parametrize(
    ("seconds", "over"),
    [
        ({"graph": 200.0, "autodiff": 159.0}, 0),
        ({"graph": 202.0, "autodiff": 159.0}, 1),
        ({"core": 961.0, "nn": 601.0, "parallel": 361.0, "nowhere": 9e9}, 3),
    ],
)
def test_sums_are_wall_time_on_two_cores(seconds, over):
    assert len(over_budget(seconds)) == over


def test_a_slower_machine_has_more_minutes():
    assert len(over_budget({"graph": 400.0}, 1.5)) == 0
    assert len(over_budget({"graph": 600.0}, 1.5)) == 1
    assert 1 <= slowness() <= SLOWEST
