"""Three kinds of parallelism at once give the losses of one device."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.parallel.launching import on_eight_devices

# Names of the cases of `three_ways`: each is a process of its own, which must not be ended.
NAMES = [
    "llama: data x tensor x stages",
    "bert: data x tensor x stages",
    "data x experts x stages",
    "data x experts x stages, all tokens",
    "data x sequence x stages",
    "data x ring x stages",
    "tensor x ring x stages",
    "ring of four x stages",
    "ring of four with a mask x stages",
    *(f"by index: {form}" for form in ("rows", "columns", "one axis", "along", "of a product")),
]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_as_one_device(name):
    (result,) = on_eight_devices("tests.parallel.three_ways", name, limit=280)
    np.testing.assert_allclose(result["losses"], result["expected"], rtol=1e-5)
    assert result["losses"][-1] < result["losses"][0]


@pytest.mark.slow
@pytest.mark.parametrize("form", ["both", "scatter"])
def test_permutations_are_refused(form):
    """Strategies that do not meet their neighbours' are an error, and no end of the process."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.parallel.three_ways", f"by index: {form}"],
        capture_output=True,
        text=True,
        timeout=200,
        env={k: v for k, v in os.environ.items() if k != "XLA_FLAGS"},
        check=False,
    )
    assert done.returncode == 1
    assert "NotImplementedError: For 'PipelineCell', the strategies let" in done.stderr
