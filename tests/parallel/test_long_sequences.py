"""Attention over a sequence that is cut over devices: rings of keys, and exchanged heads."""

import numpy as np
import pytest

from tests.parallel import rings
from tests.parallel.launching import on_eight_devices
from tests.parallel.long_sequences import BATCH, CASES, HEADS, LENGTH, WIDTH

QUICK = [name for name, case in CASES.items() if case.quick]
ORDERS = ("contiguous", "balanced")


def results(names):
    """Run cases in a process with eight virtual devices."""
    return {r["case"]: r for r in on_eight_devices("tests.parallel.long_sequences", *names)}


@pytest.fixture(scope="module")
def every():
    return results([*CASES, *rings.CASES, *(f"memory {order}" for order in ORDERS)])


def check(name, result):
    """Compare losses, the bytes that lie on a device, and those that go between them."""
    case = CASES[name]
    np.testing.assert_allclose(result["losses"], result["expected"], rtol=1e-5)
    assert result["losses"][-1] < result["losses"][0]
    assert result["held"] == result["whole"] - result["cut"] * (1 - 1 / case.mp)
    count, size = result["count"], result["bytes"]
    # Neither a Parameter nor a sequence is gathered; the gradients are summed over devices.
    assert "all-gather" not in count
    rows = BATCH // case.dp * LENGTH // case.sp * WIDTH // HEADS * 4
    keys, queries = rows * case.keys // case.mp, rows * HEADS // case.mp
    layers, n = 2, case.sp
    if case.kind == "heads":
        # Queries, keys, values and results, in each pass.
        assert set(count) == {"all-reduce", "all-to-all"}
        assert count["all-to-all"] == layers * 8
        assert size["all-to-all"] == layers * 4 * (keys + queries)
        return
    assert set(count) == {"all-reduce", "collective-permute"}
    # Keys and values visit all devices in each pass, their gradients come home; XLA may keep the
    # first visitor of the forward pass for the backward one.
    most = layers * (2 * 2 * (n - 1) + 2 * n)
    if case.kind == "ring":
        assert most - 2 * layers <= count["collective-permute"] <= most
        assert size["collective-permute"] == count["collective-permute"] * keys
    else:
        # Halves of all arrays are exchanged once more, of the results and their statistics too.
        exchanged = layers * (9 * queries + 6 * keys)
        assert size["collective-permute"] <= most * keys + exchanged


def test_quick():
    """One process for all: a second one would start as long as they run."""
    found = results([*QUICK, *rings.QUICK])
    for name in QUICK:
        check(name, found[name])
    for name in rings.QUICK:
        assert max(found[name]["errors"]) < 3e-6


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in CASES if n not in QUICK])
def test_as_one_device_all(name, every):
    check(name, every[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in rings.CASES if n not in rings.QUICK])
def test_mathematics_all(name, every):
    assert max(every[name]["errors"]) < 3e-6


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS)
def test_memory_grows_with_the_length(order, every):
    """Twice the length needs twice the memory, not four times, and no whole sequence."""
    one, two = every[f"memory {order}"]["needed"]
    assert two < 2.2 * one
