"""The driver of CANN against a stand-in for its libraries; nothing here has seen an NPU."""

import functools
import json
import os
import shutil

import pytest

from tests.ascend.processes import run_python

pytestmark = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")


def run(*arguments):
    """Run a module on the driver of CANN with the stand-in; gives the objects that it writes."""
    from mindjax_ascend import library

    path = str(library.standin_path())
    text = run_python(
        "-m",
        *arguments,
        MINDJAX_ASCEND_DRIVER="acl",
        MINDJAX_ASCEND_ACL=path,
        MINDJAX_ASCEND_OPAPI=path,
    )
    return [json.loads(line) for line in text.splitlines()]


@functools.cache
def lines():
    """Run all planned failures in one process, which lives to its end."""
    return run("tests.ascend.run_faults")


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
    # The one array that lives to the end.
    assert last["left"].pop("memory") == 1
    assert not any(last["left"].values())


def test_operators_and_kernels_are_called_and_right():
    rows = [r["row"] for r in lines() if "row" in r]
    assert len(rows) >= 65
    assert [row for row in rows if row[1]] == []


@pytest.mark.slow
def test_operators_of_other_types_are_called_and_right():
    *rows, last = run("tests.ascend.run_operators", "hei")
    assert len(rows) >= 80
    assert [row for row in rows if row[1]] == []
    assert last == ["misuse", [""]]


def test_what_an_operator_refuses_the_host_does():
    (row,) = [r for r in lines() if "refused" in r]
    assert row["right there"]
    assert row["refused"] == [
        "aclnnTanh (161002: stand-in: planned failure of aclnnTanhGetWorkspaceSize)"
    ]


def test_libraries_of_operators_are_searched_in_order():
    from mindjax_ascend import library

    path = str(library.standin_path())
    text = run_python(
        "-c",
        "import jax, jax.numpy as jnp; print(jnp.arange(3.0) + 1)",
        MINDJAX_ASCEND_DRIVER="acl",
        MINDJAX_ASCEND_ACL=path,
        MINDJAX_ASCEND_OPAPI=f"/nowhere/libnnopbase.so:{path}",
    )
    assert "[1. 2. 3.]" in text


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
