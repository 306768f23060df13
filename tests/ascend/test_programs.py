"""Small jitted programs give on the platform ascend what they give on cpu."""

import functools
import json
import shutil

import pytest

from tests.ascend.cases.programs import DELEGATED, rows
from tests.ascend.processes import run_python

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
NAMES = [name for name, _, _ in rows()]
# One of each kind; the others are for make test-all.
QUICK = {f"{group}-{name}" for group, names in {
    "elementwise": "fused_chain remainder_integers select_scalar half_chain many_blocks",
    "conversions": "f_to_i_saturates",
    "shapes": "pad_negative_interior slice_strided same_result_twice zero_size",
    "indexing": "take_pairs add_at vmap_dynamic_slice",
    "reductions": "sum_axis argmax sort_pairs softmax max_pool_grad_padded",
    "products": "matmul_large matmul_half einsum_attention conv_grad_strided conv_grad_groups",
    "control": "while_swap loop_updates scan_grad switch",
    "random": "normal",
    "linalg": "cholesky",
}.items() for name in names.split()}  # fmt: skip


@functools.cache
def outcome(slow):
    """Run the quick programs or all others in one process."""
    chosen = [n for n in NAMES if (n not in QUICK) == slow]
    lines = run_python("-m", "tests.ascend.run_programs", text="\n".join(chosen), timeout=900)
    return {r["name"]: r for r in map(json.loads, lines.splitlines())}


PARAMETERS = [
    pytest.param(n, n not in QUICK, id=n, marks=[] if n in QUICK else [pytest.mark.slow])
    for n in NAMES
]


@pytest.mark.parametrize(("name", "slow"), PARAMETERS)
def test_program_equals_cpu(name, slow):
    result = outcome(slow)[name]
    assert not result["wrong"], result["wrong"]
    assert bool(result["delegated"]) == (name in DELEGATED), result["delegated"]


def test_there_are_enough_programs():
    assert len(set(NAMES)) == len(NAMES) >= 300
    assert not (QUICK | DELEGATED) - set(NAMES)
