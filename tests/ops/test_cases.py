"""Every face of every op against the original: value, dtype, shape and gradient, in both modes."""

from __future__ import annotations

from typing import Any

import pytest

import mindjax as ms
from tests.ops.compare import NAMES
from tests.ops.later import LATER
from tests.ops.running import chunks, parameters, run_graph, run_graph_gradient, run_pynative
from tests.ops.table import Case, families

TABLES = families()
CASES = parameters(TABLES)
# PYNATIVE tries every row; `make test-all` compiles every program.
CHUNKS = chunks(TABLES, quick=3)
GRADIENT_CHUNKS = chunks(TABLES, quick=6)


@pytest.mark.parametrize(
    ("family", "case"), CASES, ids=lambda x: x.name if isinstance(x, Case) else x
)
def test_pynative(family: str, case: Case) -> None:
    run_pynative(family, case)


@pytest.mark.parametrize(("family", "start", "slow"), CHUNKS, ids=str)
def test_graph(family: str, start: int, slow: bool) -> None:
    run_graph(TABLES, family, start, slow)


@pytest.mark.parametrize(("family", "start", "slow"), GRADIENT_CHUNKS, ids=str)
def test_graph_gradient(family: str, start: int, slow: bool) -> None:
    run_graph_gradient(TABLES, family, start, slow)


def test_awaited_names_are_absent() -> None:
    """A name that has come leaves the list of later ones, so that its cases run."""
    assert [name for name in sorted(LATER) if is_here(name)] == []


def is_here(name: str) -> bool:
    """Tell whether a dotted name can be reached."""
    found: Any = {**NAMES, "Tensor": ms.Tensor}[name.split(".")[0]]
    for part in name.split(".")[1:]:
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True
