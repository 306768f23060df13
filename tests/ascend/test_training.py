"""LeNet-5 trains on the platform ascend as on cpu, with no step left to the delegate."""

import json
import shutil

import numpy as np
import pytest

from tests.ascend.processes import run_python

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@pytest.mark.parametrize(
    ("mode", "steps"), [("graph", 12), pytest.param("pynative", 5, marks=pytest.mark.slow)]
)
def test_lenet5_trains_as_on_cpu(mode, steps):
    ours, theirs = json.loads(run_python("-m", "tests.ascend.train_lenet5", mode, str(steps)))
    assert (ours["platform"], theirs["platform"]) == ("ascend", "cpu")
    np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=1e-5)
    np.testing.assert_allclose(ours["weight"], theirs["weight"], rtol=1e-5)
    assert theirs["losses"][-1] < theirs["losses"][0]
    assert ours["delegated"] == [] and ours["executions"]["delegate"] == 0
    assert ours["executions"]["steps"] >= steps
