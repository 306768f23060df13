"""Compiled programs on disk: who asks for them, where they go, how much stays."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import pytest

import mindjax as ms
from mindjax import ops
from mindjax.core import compile_cache

NAMES = (
    "jax_compilation_cache_dir",
    "jax_enable_compilation_cache",
    "jax_persistent_cache_min_compile_time_secs",
)


def settings() -> list[Any]:
    return [getattr(jax.config, name) for name in NAMES]


def test_the_context_switches_it_on_and_off(tmp_path: Path) -> None:
    before = settings()
    ms.set_context(enable_compile_cache=True, compile_cache_path=str(tmp_path / "programs"))
    try:
        ms.jit(lambda x: ops.exp(x) * 17.25)(ops.ones((3, 5)))
        assert list((tmp_path / "programs").glob("*ms_*-cache"))
    finally:
        ms.set_context(enable_compile_cache=False, compile_cache_path="")
    assert settings() == before


def test_trim_deletes_the_oldest_first(tmp_path: Path) -> None:
    for i, name in enumerate(["new-cache", "old-cache", "older-cache", "notes.txt"]):
        (tmp_path / name).write_bytes(b"x" * 100)
        os.utime(tmp_path / name, (1000 - i, 1000 - i))
    assert compile_cache.trim(str(tmp_path), 150) == 200
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new-cache", "notes.txt"]


PROGRAM = """
import mindspore as ms
from mindspore import ops
import jax
ms.jit(lambda x: ops.exp(x) * 3)(ops.ones((2, 3)))
print(jax.config.jax_compilation_cache_dir)
"""


@pytest.mark.parametrize(
    ("variables", "folder"),
    [
        ({}, "home/mindjax/programs"),
        ({"MINDJAX_COMPILE_CACHE": "here"}, "here"),
        ({"MINDJAX_COMPILE_CACHE": "0"}, None),
        ({"JAX_COMPILATION_CACHE_DIR": "own"}, "own"),
    ],
    ids=["default", "named", "off", "the user's own"],
)
def test_run_keeps_programs(variables: dict[str, str], folder: str | None, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_COMP", "JAX_PERSI"))}
    kept |= {"XDG_CACHE_HOME": str(tmp_path / "home"), "PYTHONPATH": os.pathsep.join(sys.path)}
    out = subprocess.run(
        [sys.executable, "-m", "mindjax", "graph", "program.py"],
        cwd=tmp_path,
        env=kept | variables,
        capture_output=True,
        text=True,
    )
    assert out.returncode == 0, out.stderr
    assert "1: first call" in out.stderr and "(program.py:5)" in out.stderr
    shown = out.stdout.strip()
    assert shown == ("None" if folder is None else shown) and shown.endswith(folder or "None")
    if folder is not None and folder != "own":
        assert list((tmp_path / folder).glob("*-cache"))
