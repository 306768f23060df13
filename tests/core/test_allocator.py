"""The allocator's settings: page faults of a step with them and without; who switches them off."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mindjax.core import allocator

PROGRAM = """
import resource
import mindjax as ms
from mindjax import Tensor, ops
from mindjax.core import allocator
assert allocator.prepare.cache_info().currsize == 0, "importing alone must not"
step = ms.jit(lambda x: ops.exp(x) * 2 + ops.sin(x))
x = ops.ones((1 << 24,))
for _ in range(16):
    step(x).asnumpy()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    step(x).asnumpy()
faults = resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
ms.runtime.empty_cache()
print(allocator.prepare(), faults)
"""

pytestmark = pytest.mark.skipif(allocator._glibc() is None, reason="it is glibc's allocator")


def run(**variables: str) -> tuple[bool, int]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **variables}
    command = [sys.executable, "-c", PROGRAM]
    out = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    holds, faults = out.stdout.split()
    return holds == "True", int(faults)


@pytest.mark.slow
def test_a_step_reuses_its_memory() -> None:
    (ours, few), (default, many) = run(), run(MINDJAX_MALLOC="default")
    assert ours and not default
    # 64 MiB an output, above what glibc adapts to: 16,384 pages a step.
    assert many >= 10 * 16384 > 4 * few


@pytest.mark.parametrize(
    ("name", "value"),
    [("MALLOC_ARENA_MAX", "2"), ("GLIBC_TUNABLES", "glibc.malloc.arena_max=2")],
)
def test_settings_of_the_users_own_stay(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    assert not allocator.prepare.__wrapped__()
