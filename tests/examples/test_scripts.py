"""Users' small programs give the original's losses, values and names, in both modes."""

import json

import numpy as np
import pytest

from tests.examples.scripts import SCRIPTS, run
from tests.house.source import ROOT

# `make test` runs the long ones in GRAPH alone.
LONG = ("encoder", "resnet_block", "convolutions")
ROWS = [
    pytest.param(
        name,
        graph,
        marks=() if graph or name not in LONG else pytest.mark.slow,
        id=f"{name}-{'GRAPH' if graph else 'PYNATIVE'}",
    )
    for name in SCRIPTS
    for graph in (False, True)
]
GOLDENS = json.loads((ROOT / "tests/goldens/scripts.json").read_text())
pytestmark = pytest.mark.table


@pytest.mark.parametrize(("name", "graph"), ROWS)
def test_script(name, graph, tmp_path, monkeypatch):
    """MindSpore 2.10.0 gives the same in both modes (record_scripts.py)."""
    import mindjax

    mindjax.install()
    monkeypatch.chdir(tmp_path)
    mindjax.set_seed(1)
    found = run(name, graph, tmp_path)
    assert found["names"] == GOLDENS[name]["names"]
    np.testing.assert_allclose(found["numbers"], GOLDENS[name]["numbers"], rtol=1e-4, atol=1e-5)
