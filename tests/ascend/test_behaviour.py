"""jax's own behaviour on the platform ascend: donation, callbacks, memories, several devices."""

import functools
import shutil

import pytest

from tests.ascend.processes import run_python

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")
CHECKS = (
    "donation callbacks memories statistics limit ahead serialised exported no_such_option "
    "versions four_devices one_of_four_fails chains apart"
)


@functools.cache
def passed():
    """Run all checks in one process of four devices."""
    return run_python(
        "-m",
        "tests.ascend.run_behaviour",
        *CHECKS.split(),
        MINDJAX_ASCEND_SIM_DEVICES="4",
        MINDJAX_ASCEND_MEMORY="100000000",
        check=False,
    )


@pytest.mark.parametrize("name", CHECKS.split())
def test_behaviour(name):
    assert name in passed().partition("failed: ")[0].split(), passed()


@pytest.mark.slow
def test_kernels_are_steps():
    """Kernels are for programs of one device."""
    assert run_python("-m", "tests.ascend.run_behaviour", "kernels").split() == ["kernels"]


def test_without_a_word_jax_keeps_its_default():
    """Where there is no NPU the platform is there, and is not the default."""
    text = run_python(
        "-c",
        "import jax; print(jax.default_backend(), jax.devices('ascend')[0].platform)",
        JAX_PLATFORMS="",
    )
    assert text.split() == ["cpu", "ascend"]


@pytest.mark.slow
def test_ranks_compute_together_beside_it(tmp_path):
    """Its devices are one process's: as the default it is refused, else in nobody's way."""
    script = tmp_path / "script.py"
    script.write_text(
        "import mindspore as ms\nfrom mindspore.communication import get_rank, init\n"
        "init()\nprint(ms.ops.AllReduce()(ms.Tensor([get_rank() + 1.0])))\n"
    )
    ranks = ["--worker_num", "2", "--local_worker_num", "2", "--join", "True"]
    command = ["-m", "mindjax", "msrun", *ranks, "--log_dir", str(tmp_path), str(script)]
    assert "[3.]" in run_python(*command, JAX_PLATFORMS="")
    assert "does not join them" in run_python(*command, check=False)


def test_report_says_what_ran_where(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import mindspore as ms\nfrom mindspore import ops\n"
        "x = ms.Tensor([[4.0, 1], [1, 3]])\nprint(ops.tanh(x) @ x, ops.inverse(x))\n"
    )
    command = "import sys\nfrom mindjax.__main__ import main\nsys.stderr = sys.stdout\n"
    text = run_python("-c", f"{command}main(['ascend', 'report', {str(script)!r}])")
    assert "1 of them for the delegate (XLA:CPU)" in text
    assert "runs: 2 by steps, 1 by the delegate" in text
    rows = [line.split() for line in text.splitlines()]
    assert ["tanh", "map", "1"] in rows and ["dot_general", "dot", "1"] in rows
    assert "jit_ms_MatrixInverse: custom call lapack_sgetrf_ffi" in text
