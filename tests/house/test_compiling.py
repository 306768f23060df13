"""Tables of small programs are compiled quickly, and everything else as a user's program is."""

import jax
import pytest

from tests.house.compiling import FULL, QUICK, TABLES, Compiling
from tests.house.source import ROOT


def test_folders_of_tables_exist():
    assert all((ROOT / "tests" / folder).is_dir() for folder in TABLES)


@pytest.mark.parametrize(
    ("folder", "marks", "full", "options"),
    [
        ("ops", (), None, QUICK),
        ("ops", (), "1", None),
        ("ops", ("optimized",), None, None),
        ("graph", (), None, None),
        ("graph", ("table",), None, QUICK),
        ("graph", ("table",), "1", None),
        ("examples", (), None, None),
    ],
)
def test_options_of_a_program(folder, marks, full, options, monkeypatch):
    """What jax gives to XLA with the next program holds them, and the user's own beside them."""
    from jax._src import compiler

    monkeypatch.delenv(FULL, raising=False)
    if full:
        monkeypatch.setenv(FULL, full)
    monkeypatch.setattr(compiler, "get_compile_options", compiler.get_compile_options)
    compiling = Compiling()
    compiling.choose(folder, marks)
    assert compiling.options == options
    given = compiler.get_compile_options(
        1, 1, env_options_overrides={"xla_cpu_enable_fast_min_max": True}, backend=None
    )
    wanted = {"xla_cpu_enable_fast_min_max": True, **(options or {})}
    assert dict(given.env_option_overrides) == wanted


@pytest.mark.parametrize("quick", [QUICK, {"xla_option_of_another_xla": 1}], ids=["own", "other"])
def test_options_that_this_xla_does_not_know_are_left_out(quick, monkeypatch):
    from jax._src import compiler

    from tests.house import compiling

    monkeypatch.delenv(FULL, raising=False)
    monkeypatch.setattr(compiler, "get_compile_options", compiler.get_compile_options)
    monkeypatch.setattr(compiling, "QUICK", quick)
    Compiling().choose("ops")
    assert float(jax.jit(lambda x: x + 1)(1.0)) == 2.0
