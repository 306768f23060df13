"""Segments of programs that the vendor's open compiler makes kernels of."""

import json
import shutil

import numpy as np
import pytest
from mindjax_ascend.compiler import segments
from mindjax_ascend.hivm import CompilerMissing, compiler

from tests.ascend.processes import run_python


def test_driver_acl_is_refused_with_a_way_out():
    with pytest.raises(RuntimeError, match=r"UNIMPLEMENTED: .*hivmc.*MINDJAX_ASCEND_DRIVER=sim"):
        segments.check(simulated=False)


def test_missing_compiler_is_named(monkeypatch):
    monkeypatch.setattr(compiler.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(CompilerMissing, match=r"mindjax\[ascend-compiler\]"):
        segments.check(simulated=True)


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("g++") is None or not compiler.available(), reason="needs g++ and ascendnpu-ir"
)
def test_segments_run_as_simulated_kernels():
    lines = run_python(
        "-m", "tests.ascend.run_segments", MINDJAX_ASCEND_HIVM="1", MINDJAX_ASCEND_DRIVER="sim"
    )
    forward, gradient, looped, truths = map(json.loads, lines.splitlines())
    for result in (forward, gradient, looped, truths):
        assert result["worst"] < 1e-5 and not result["delegated"]
    assert {"exponential hivm", "reduce hivm", "sqrt hivm"} <= set(forward["operators"])
    assert not forward["left"] and "reduce reduce" not in forward["operators"]
    # A fault of the compiler, on the gradient of RMSNorm, is found before the kernel is used.
    assert "reduce hivm" in gradient["operators"]
    assert ["reaches UB, not GM" in reason for reason in gradient["left"]] == [True]
    assert "tanh hivm" in looped["operators"]
    assert truths["left"] == {"truth values at an edge": 1}


TANH = """func.func public @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %y = stablehlo.tanh %x : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}"""


class Host:
    """What a kernel is compared with, wrong by so much."""

    def __init__(self, error):
        self.error = error

    def values(self, text, arrays):
        assert text == TANH
        return [np.tanh(arrays[0]) + np.float32(self.error)]


@pytest.mark.slow
@pytest.mark.skipif(not compiler.available(), reason="needs ascendnpu-ir")
@pytest.mark.parametrize(("error", "taken"), [(0.0, True), (0.01, False)])
def test_a_kernel_with_other_values_than_the_hosts_is_not_taken(error, taken):
    made = segments._kernel(TANH, Host(error))
    assert bool(made.hivm) == taken
    assert made.reason == ("" if taken else "the kernel's values are not the host's")


@pytest.mark.parametrize(
    ("found", "wanted", "close"),
    [
        (np.float32([1, np.inf, np.nan]), np.float32([1.00001, np.inf, np.nan]), True),
        (np.float32([1, 1000]), np.float32([1.05, 1000]), True),
        (np.float32([1, 2]), np.float32([1.001, 2]), False),
        (np.float32([1, np.nan]), np.float32([1, 2]), False),
        (np.float16([1, 2]), np.float16([1.01, 2]), True),
        (np.int32([1, 2]), np.int32([1, 3]), False),
    ],
)
def test_values_are_close_for_their_type(found, wanted, close):
    assert segments._close(found, wanted) == close
