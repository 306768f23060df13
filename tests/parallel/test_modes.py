"""Networks train on eight devices as on one; what lies where, and what is sent, is as it should be.

The losses of one device are the expected values: the same program, without strategies.
"""

import numpy as np
import pytest

from tests.parallel.cases import CASES
from tests.parallel.launching import on_eight_devices

QUICK = [name for name, case in CASES.items() if case.quick]


def results(names):
    """Run cases in a process with eight virtual devices."""
    return {r["case"]: r for r in on_eight_devices("tests.parallel.modes", *names)}


@pytest.fixture(scope="module")
def quick():
    return results(QUICK)


@pytest.fixture(scope="module")
def every():
    return results(CASES)


def check(name, result):
    """Compare losses, and the bytes that lie on a device and go between them."""
    np.testing.assert_allclose(result["losses"], result["expected"], rtol=1e-5)
    assert result["losses"][-1] < result["losses"][0]
    held, whole = result["held"], result["whole"]
    if "data" in name:
        assert held == whole
        # One sum of the gradients and the loss; no Parameter is gathered.
        assert set(result["transfers"]) == {"all-reduce"}
        assert result["bytes"]["all-reduce"] <= whole + 64
    elif "level" in name:
        assert held <= whole / 8 * 1.1
        assert result["state_held"] <= result["state_whole"] / 8 * 1.1
        # Each Parameter is gathered where it is used, not more than once a pass.
        assert result["bytes"]["all-gather"] <= 2.2 * whole
    elif "search" in name:
        assert held <= whole
    elif "size 2" in name:
        assert held == whole / 2
    else:
        assert held < whole
        assert result["state_held"] < result["state_whole"]


@pytest.mark.parametrize("name", QUICK)
def test_as_one_device(name, quick):
    check(name, quick[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in CASES if n not in QUICK])
def test_as_one_device_all(name, every):
    check(name, every[name])


def test_megatron_gathers_no_parameter(quick):
    """Matrices cut by columns and then by rows need sums of activations only."""
    assert set(quick["llama semi"]["transfers"]) == {"all-reduce"}
