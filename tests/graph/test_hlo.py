"""GRAPH's training steps against hand-written jax: the same work in the optimised programs."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
WORKLOADS = ["lenet5", "resnet18", "encoder", "decoder", "lstm", "wide_deep"]
FORMED = ["encoder", "lstm"]
"""Those that take other forms on CPUs."""


def compiled(workloads, **environment):
    """Compile steps in a process of their own, under variables of the environment."""
    script = pathlib.Path(__file__).with_name("optimised_programs.py")
    done = subprocess.run(
        [sys.executable, str(script), str(ROOT / "benchmarks"), *workloads],
        env=os.environ | {"PYTHONPATH": f"{ROOT}:{ROOT / 'parallel'}"} | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def plain():
    return compiled(WORKLOADS, MINDJAX_CPU_FORMS="0")


@pytest.fixture(scope="module")
def default():
    return compiled(FORMED)


@pytest.mark.parametrize("workload", WORKLOADS)
def test_plain_forms_do_the_same_work(plain, workload):
    ours, peer = plain[workload]["ours"], plain[workload]["peer"]
    for op in ("dot", "convolution", "reduce-window", "while", "sort", "custom-call", "call"):
        assert ours["ops"].get(op, 0) == peer["ops"].get(op, 0), op
    # Beside the step, ours counts it.
    assert ours["ops"].get("fusion", 0) <= peer["ops"].get("fusion", 0) + 2
    for op in ("copy", "reduce", "transpose"):
        assert ours["ops"].get(op, 0) <= peer["ops"].get(op, 0) + 6, op
    assert ours["peak"] <= 1.05 * peer["peak"]
    assert ours["temporary"] <= 1.02 * peer["temporary"]


@pytest.mark.parametrize("workload", FORMED)
def test_forms_for_cpus_need_no_more_memory(default, workload):
    assert default[workload]["ours"]["peak"] <= 1.05 * default[workload]["peer"]["peak"]
