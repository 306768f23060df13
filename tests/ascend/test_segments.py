"""Segments of programs that the vendor's open compiler makes kernels of."""

import json
import shutil

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
