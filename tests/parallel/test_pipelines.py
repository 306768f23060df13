"""Networks train in four stages on eight devices as on one, with only their stage's state on each.

The losses of one device are the expected values: the same program, without a parallel mode.
"""

import functools
import subprocess
import sys

import numpy as np
import pytest

from tests.house.source import ROOT
from tests.parallel.launching import ENVIRONMENT, on_eight_devices
from tests.parallel.pipeline_cases import CASES

QUICK = [name for name, case in CASES.items() if case.quick]


def results(names):
    """Run cases in a process with eight virtual devices."""
    return {r["case"]: r for r in on_eight_devices("tests.parallel.pipelines", *names)}


@pytest.fixture(scope="module")
def quick():
    return results(QUICK)


@functools.cache
def every(network):
    """Run the slow cases of a network, which one process has the time for."""
    return results([n for n in CASES if n not in QUICK and n.startswith(network)])


def check(name, result):
    """Compare losses, and the bytes that lie on a device and go between them."""
    np.testing.assert_allclose(result["losses"], result["expected"], rtol=1e-5)
    # A device holds its stage's Parameters and optimizer state: rows are as long as the longest.
    assert result["unpacked"] == []
    assert result["held"] <= 1.1 * max(result["stages"])
    assert result["read"]
    # What micro batches keep is cut over a stage's devices, masks as the values that they hide.
    assert all(result["masks"])
    # Activations go from stage to stage; no Parameter is gathered.
    assert "collective-permute" in result["transfers"]
    if CASES[name].shared:
        assert result["held"] <= 1.1 * max(result["whole"]) / 2
    else:
        assert "all-gather" not in result["transfers"]
    # The largest activation of a micro batch of four rows; two devices share it, or have it whole.
    values = 6 * 16 * 16 // 2 if "lenet" in name else 8 * 32 // (1 if CASES[name].mp > 1 else 2)
    assert result["most"]["collective-permute"] <= 4 * values * 4
    assert CASES[name].schedule in result["report"]
    if CASES[name].mp == 1 and not CASES[name].shared:
        # Gradients are summed once. In the loop are sums of a few numbers besides, of the loss and
        # of normalization.
        inside, outside = result["sums"]
        assert inside <= 1024
        assert outside >= max(result["stages"]) / 4


@pytest.mark.parametrize("name", QUICK)
def test_as_one_device(name, quick):
    check(name, quick[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in CASES if n not in QUICK])
def test_as_one_device_all(name):
    check(name, every(name.split()[0])[name])


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    ["", "--stages 4 --tensor 1 --schedule gpipe", "--stages 4 --tensor 2"],
)
def test_hybrid_example(words):
    """Data, tensor and pipeline parallelism together give the losses of one device."""
    example = str(ROOT / "examples" / "llama_hybrid.py")

    def losses(*command):
        text = subprocess.run(
            [sys.executable, "-m", "mindjax", "run", *command],
            capture_output=True, text=True, timeout=600, env=ENVIRONMENT, check=True,
        ).stdout  # fmt: skip
        return [float(line.split()[-1]) for line in text.splitlines() if line.startswith("step")]

    alone = losses(example, "--stages", "1", "--tensor", "1")
    assert len(alone) == 20
    np.testing.assert_allclose(losses("--devices", "8", example, *words.split()), alone, rtol=1e-5)
