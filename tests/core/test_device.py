"""Device targets, each in a process of its own: a target is chosen before a backend starts."""

from __future__ import annotations

import subprocess
import sys

import pytest

ASCEND = """
import warnings
import jax
import mindjax as ms
{choose}
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    x = ms.Tensor([1.0, 2.0]) + 1
    y = ms.Tensor([1.0]) * 2
told = [str(w.message) for w in caught if "Ascend" in str(w.message)]
print(x.asnumpy().tolist(), len(told), "running on cpu:0" in told[0])
"""


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in a new process."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


@pytest.mark.parametrize(
    "choose", ["ms.set_device('Ascend')", "ms.set_context(device_target='Ascend', device_id=0)"]
)
def test_without_ascend_the_default_device_is_used_with_one_warning(choose: str) -> None:
    done = run(ASCEND.format(choose=choose))
    assert done.stdout.strip() == "[2.0, 3.0] 1 True", done.stderr


def test_another_missing_device_is_an_error() -> None:
    done = run("import mindjax as ms\nms.set_device('TPU')\nms.Tensor([1.0]) + 1")
    assert done.returncode == 1
    assert "Unsupported device target TPU" in done.stderr.strip().splitlines()[-1], done.stderr
