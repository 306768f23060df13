"""Every function of `mindspore.numpy` against the original, as the ops are."""

from __future__ import annotations

import pytest

from tests.ops.running import chunks, parameters, run_graph, run_graph_gradient, run_pynative
from tests.ops.table import Case, families

TABLES = families("numpy")
CASES = parameters(TABLES)
# PYNATIVE tries every row; `make test-all` compiles every program.
CHUNKS = chunks(TABLES, quick=2)
GRADIENT_CHUNKS = chunks(TABLES, quick=4)


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
