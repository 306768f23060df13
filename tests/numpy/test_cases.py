"""Every function of `mindspore.numpy` against the original, as the ops are."""

from __future__ import annotations

import pytest

from tests.ops.running import chunks, run_graph, run_graph_gradient, run_pynative
from tests.ops.table import Case, families

TABLES = families("numpy")
CASES = [(family, case) for family, rows in TABLES.items() for case in rows]
CHUNKS = chunks(TABLES)


@pytest.mark.parametrize(
    ("family", "case"), CASES, ids=lambda x: x.name if isinstance(x, Case) else x
)
def test_pynative(family: str, case: Case) -> None:
    run_pynative(family, case)


@pytest.mark.parametrize(("family", "start"), CHUNKS, ids=str)
def test_graph(family: str, start: int) -> None:
    run_graph(TABLES, family, start)


@pytest.mark.parametrize(("family", "start"), CHUNKS, ids=str)
def test_graph_gradient(family: str, start: int) -> None:
    run_graph_gradient(TABLES, family, start)
