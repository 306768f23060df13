"""The driver of CANN against a stand-in for its libraries; nothing here has seen an NPU."""

import functools
import json
import os
import shutil

import pytest

from tests.ascend.processes import run_python

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


@functools.cache
def lines():
    """Run all planned failures in one process, which lives to its end."""
    from mindjax_ascend import library

    path = str(library.standin_path())
    text = run_python(
        "-m",
        "tests.ascend.run_faults",
        MINDJAX_ASCEND_DRIVER="acl",
        MINDJAX_ASCEND_ACL=path,
        MINDJAX_ASCEND_OPAPI=path,
    )
    return [json.loads(line) for line in text.splitlines()]


def test_every_fault_is_an_exception_and_the_process_lives_on():
    rows = [r for r in lines() if "seen" in r]
    assert len(rows) >= 50
    wrong = [
        r
        for r in rows
        if not r["after"] or r["code"] not in r["seen"] or r["entry"] not in r["seen"]
    ]
    assert not wrong


def test_programs_are_right_and_nothing_is_misused_or_left():
    (right,) = [r["right"] for r in lines() if "right" in r]
    assert right
    last = lines()[-1]
    assert last["misuse"] == ""
    assert last["left"]["tensors"] == last["left"]["scalars"] == 0
    # The one array that lives to the end.
    assert last["left"]["memory"] == 1


def test_library_that_is_not_there_is_said_so():
    text = run_python(
        "-c",
        "import jax\ntry:\n  jax.devices()\nexcept RuntimeError as e:\n  print(e)",
        MINDJAX_ASCEND_DRIVER="acl",
        MINDJAX_ASCEND_ACL="/nowhere/libascendcl.so",
    )
    assert "NOT_FOUND: ascend: CANN's library cannot be loaded: /nowhere/libascendcl.so" in text
    assert "set_env.sh" in text
    assert os.path.sep not in text.split("set_env.sh")[1]
