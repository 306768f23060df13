"""The commands, run as a user runs them."""

import os
import subprocess
import sys

import pytest

from tests.house.source import ROOT

ENVIRONMENT = {**os.environ, "PYTHONPATH": f"{ROOT}:{ROOT / 'parallel'}"}


def mindjax(*words, cwd=ROOT):
    """Run ``python -m mindjax`` with some words."""
    command = [sys.executable, "-m", "mindjax", *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)


def python(*words, cwd=ROOT):
    """Run plain Python with some words."""
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True)


PROGRAMS = {
    "argv": ("import sys; print(sys.argv)", ["--mode", "graph", "-m", "--help", "--", "x"]),
    "names": ("print(__name__, __file__, __package__, __spec__, __doc__)", []),
    "first path": ("import sys; print(sys.path[0])", []),
    "neighbour": ("import neighbour; print(neighbour.__file__)", []),
    "pickled class": ("import pickle\nclass A: pass\nprint(pickle.loads(pickle.dumps(A)))", []),
    "own source": ("import inspect\ndef f(): return 1\nprint(inspect.getsource(f))", []),
    "exit number": ("import sys; sys.exit(7)", []),
    "exit text": ("import sys; sys.exit('no data')", []),
    "exit quietly": ("raise SystemExit", []),
    "error": ("def f():\n    return 1 / 0\n\nf()", []),
    "error with cause": (
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise OSError from e",
        [],
    ),
    "syntax error": ("x = 1\nif x\n    pass\n", []),
    "interrupt": ("raise KeyboardInterrupt", []),
    "own excepthook": ("import sys\nsys.excepthook = lambda *a: print(a[0])\nraise OSError(3)", []),
    "atexit": ("import atexit; atexit.register(print, 'bye'); raise ValueError('x')", []),
    "future import": ("from __future__ import annotations\nx: Undefined = 1\nprint(x)", []),
    "annotations": ("x: int = 1\nprint(__annotations__)", []),
    "latin source": ("# -*- coding: latin-1 -*-\nprint(ascii('\u00e9'))", []),
}


# Each starts two interpreters: `make test` runs every third.
@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=() if i % 3 == 0 else pytest.mark.slow)
        for i, name in enumerate(PROGRAMS)
    ],
)
def test_run_is_like_python(name, tmp_path):
    """The same output, error text and exit status as ``python program.py``."""
    source, words = PROGRAMS[name]
    encoding = "latin-1" if "latin" in name else "utf-8"
    (tmp_path / "program.py").write_text(source, encoding=encoding)
    (tmp_path / "neighbour.py").write_text("")
    (tmp_path / "elsewhere").mkdir()
    expected = python("../program.py", *words, cwd=tmp_path / "elsewhere")
    for command in (["run", "../program.py"], ["../program.py"]):
        actual = mindjax(*command, *words, cwd=tmp_path / "elsewhere")
        assert actual.stdout == expected.stdout
        assert actual.stderr == expected.stderr
        assert actual.returncode == expected.returncode


def test_run_a_module(tmp_path):
    (tmp_path / "tool.py").write_text("import sys, mindspore; print(__name__, sys.argv[1:])")
    result = mindjax("run", "-m", "tool", "--epochs", "3", cwd=tmp_path)
    assert result.stdout == "__main__ ['--epochs', '3']\n"


def test_run_answers_import_mindspore(tmp_path):
    (tmp_path / "program.py").write_text("import mindspore as ms; print(ms.__version__)")
    assert mindjax("run", tmp_path / "program.py").stdout == "2.10.0\n"


def test_missing_script():
    result = mindjax("run", "no_such_script.py")
    assert result.returncode == 2
    assert (
        result.stderr == "mindjax: can't open file 'no_such_script.py': No such file or directory\n"
    )


def test_no_command():
    result = mindjax()
    assert result.returncode == 2
    assert result.stderr.startswith("usage: mindjax")


def test_check_prints_what_the_original_prints():
    """MindSpore: run_check, recorded with 2.10.0."""
    result = mindjax("check")
    assert result.returncode == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[:2] == [
        "MindSpore version:  2.10.0",
        "The result of multiplication calculation is correct, "
        "MindSpore has been installed on platform [CPU] successfully!",
    ]
    assert lines[3].split()[0] == "cpu:0"


def test_info_names_versions():
    import jax
    import numpy

    lines = mindjax("info").stdout.splitlines()
    table = dict(line.split(maxsplit=1) for line in lines if len(line.split()) == 2)
    assert table["mindjax"] == "0.1.0"
    assert table["jax"] == jax.__version__
    assert table["numpy"] == numpy.__version__
