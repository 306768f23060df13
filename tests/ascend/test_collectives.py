"""Programs for four simulated devices give what XLA:CPU's four, or one device, give."""

import functools
import json
import shutil

import pytest

from tests.ascend.processes import run_python

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
QUICK = (
    "psum pmean_half all_gather psum_scatter all_to_all ppermute_zeros while_by_sum softmax "
    "data_parallel tensor_parallel both"
)
SLOW = (
    "psum_all pmax pmin psum_tuple psum_integers all_gather_new all_gather_order psum_scatter_1 "
    "all_to_all_back ppermute axis_index loop branch_by_device product_rows product_columns "
    "product_summed product_both reshard sort cumsum take uneven scan random reverse "
    "sharded_weights"
)


@functools.cache
def outcome(names):
    """Run cases in one process, in which both platforms have four devices."""
    lines = run_python(
        "-m",
        "tests.ascend.run_collectives",
        *names.split(),
        MINDJAX_ASCEND_SIM_DEVICES="4",
        XLA_FLAGS="--xla_force_host_platform_device_count=4",
    )
    return {r["name"]: r for r in map(json.loads, lines.splitlines())}


@pytest.mark.parametrize(
    "name", [*QUICK.split(), *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW.split())]
)
def test_several_devices_equal_cpu(name):
    result = outcome(QUICK if name in QUICK.split() else SLOW)[name]
    assert not result["wrong"], result["wrong"]
    assert not result["delegated"], result["delegated"]
