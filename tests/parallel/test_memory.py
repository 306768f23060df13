"""Where values wait and what is computed again changes no loss, and is as was asked for."""

import numpy as np
import pytest

from mindjax import Parameter, Tensor, nn
from tests.parallel.launching import on_eight_devices
from tests.parallel.memory_cases import CASES


def results(names):
    """Run cases in a process with eight virtual devices."""
    return dict(on_eight_devices("tests.parallel.memory", *names, limit=300))


@pytest.fixture(scope="module")
def quick():
    return results([n for n, c in CASES.items() if c.quick])


@pytest.fixture(scope="module")
def every():
    return results(CASES)


@pytest.fixture
def found(request):
    """Give all results that the ordinary suite has, or all where a slow case asks."""
    slow = request.node.get_closest_marker("slow") is not None
    return request.getfixturevalue("every" if slow else "quick")


def of(names):
    """Mark the cases that the ordinary suite leaves out."""
    return [n if CASES[n].quick else pytest.param(n, marks=pytest.mark.slow) for n in names]


@pytest.mark.parametrize("name", of(CASES))
def test_losses(name, found):
    np.testing.assert_allclose(found[name]["losses"], found["plain"]["losses"], rtol=1e-5)
    assert found[name]["losses"][-1] < found[name]["losses"][0]


# Kinds of memory of a Parameter and of its moment, and how many products a step has: two a block
# forward, four backward but for the first input's, and those that are computed again.
PINNED = "pinned_host"
HELD = {
    "plain": ("device", "device", 17),
    "on the host": (PINNED, PINNED, 17),
    "offload": ("device", "device", 17),
    "again": ("device", "device", 23),
    "cut": ("device", "device", 17),
    "cut, on the host": (PINNED, PINNED, 17),
    "cut, offload": ("device", "device", 17),
    "cut, again": ("device", "device", 23),
    # The second product of each block is kept.
    "cut, again but for sums": ("device", "device", 20),
    "shared, again": ("device", "device", 23),
    # With the gradient of the first block's input, which XLA drops.
    "level 3, again": ("device", "device", 24),
    "no memory of the host": ("device", "device", 17),
}


@pytest.mark.parametrize("name", of(HELD))
def test_what_is_held(name, found):
    one = found[name]
    assert (one["parameter"], one["state"], one["products"]) == HELD[name]


@pytest.mark.parametrize("name", of(CASES))
def test_values_that_are_offloaded(name, found):
    case = CASES[name]
    # The results of two products of three blocks, there and back.
    asked = 12 if case.offload and not case.without else 0
    assert found[name]["on the host"] == asked


@pytest.mark.slow
def test_gathers_again(found):
    """Six Parameters are gathered, in both passes, besides those that XLA drops."""
    assert found["shared, again"]["gathers"] == 6
    assert found["level 3, again"]["gathers"] == 12
    assert found["shared, again with gathers"]["gathers"] == 18


def test_one_warning_without_memory_of_the_host(found):
    (text,) = found["no memory of the host"]["warnings"]
    assert "has no memory of the host" in text and "\n" not in text
    assert not found["offload"]["warnings"]


WRONG = {
    "another device": (
        lambda: Parameter(Tensor([1.0]), device="GPU"), ValueError, "Only 'CPU' and 'Remote'"),
    "a remote device": (
        lambda: Parameter(Tensor([1.0]), device="Remote"), NotImplementedError, "'CPU' keeps"),
    "a prefetch of another type": (lambda: nn.ReLU().offload(1.5), TypeError, "prefetch"),
    "a prefetch below 0": (lambda: nn.ReLU().offload(-1), ValueError, "prefetch"),
    "an unknown prefetch": (lambda: nn.ReLU().offload("x"), ValueError, "prefetch"),
    "a recomputation's unknown keyword": (
        lambda: nn.ReLU().recompute(offload=True), ValueError, "'offload' is not recognized"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    function, kind, text = WRONG[name]
    with pytest.raises(kind, match=text) as caught:
        function()
    assert "\n" not in str(caught.value)
