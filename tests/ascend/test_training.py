"""Networks train on the platform ascend as on cpu, with no step left to the delegate."""

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


# Sums of many gradients differ in their last bits, and normalization makes more of that.
@pytest.mark.parametrize(
    ("size", "steps", "names"),
    [
        ("small", 2, ["resnet18", "decoder"]),
        pytest.param(
            "whole", 4, ["lenet5", "resnet18", "encoder", "decoder", "lstm"], marks=pytest.mark.slow
        ),
    ],
)
def test_networks_train_as_on_cpu_without_the_delegate(size, steps, names):
    text = run_python("-m", "tests.ascend.train_networks", size, str(steps), *names, timeout=900)
    lines = [json.loads(line) for line in text.splitlines() if line.startswith("[")]
    assert [name for name, _, _ in lines] == names
    for name, ours, theirs in lines:
        assert (ours["platform"], theirs["platform"]) == ("ascend", "cpu"), name
        np.testing.assert_allclose(ours["losses"], theirs["losses"], rtol=1e-5, err_msg=name)
        np.testing.assert_allclose(
            ours["forward"], theirs["forward"], rtol=1e-4, atol=1e-4, err_msg=name
        )
        assert theirs["losses"][-1] < theirs["losses"][0], name
        assert ours["delegated"] == [] and ours["executions"]["delegate"] == 0, name
