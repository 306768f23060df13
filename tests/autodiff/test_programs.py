"""Gradients of small programs, in both modes, against the original."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

import tests.autodiff.transform_programs  # noqa: F401
from tests.autodiff.programs import PROGRAMS, PYNATIVE_ONLY, run

GOLDENS = json.loads((pathlib.Path(__file__).parents[1] / "goldens" / "autodiff.json").read_text())
pytestmark = pytest.mark.table


def same(got: Any, want: Any) -> bool:
    """Compare plain data, numbers to 1e-5."""
    if isinstance(want, float) or isinstance(got, float):
        return got == pytest.approx(want, rel=1e-5, abs=1e-6)
    if isinstance(want, list):
        alike = isinstance(got, list) and len(got) == len(want)
        return alike and all(same(g, w) for g, w in zip(got, want, strict=True))
    return got == want


# The original's PYNATIVE adds up the gradients of one Tensor given at two positions; its GRAPH
# gives each position its own partial derivative, which is what the positions ask for.
AS_IN_GRAPH = {"grad_reused_input"}


def check(name: str, mode: str) -> None:
    """Run a program and compare it with the recording."""
    recorded = "GRAPH" if name in AS_IN_GRAPH else mode
    want = GOLDENS[name].get("both") or GOLDENS[name][recorded]
    if want[0] == "error":
        with pytest.raises(Exception) as caught:
            run(name, mode == "GRAPH")
        assert want[1] in [c.__name__ for c in type(caught.value).__mro__]
        return
    got = json.loads(json.dumps(run(name, mode == "GRAPH")))
    assert same(got, want), f"\n got {got}\nwant {want}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_pynative(name: str) -> None:
    check(name, "PYNATIVE")


@pytest.mark.parametrize("name", [n for n in PROGRAMS if n not in PYNATIVE_ONLY])
def test_graph(name: str) -> None:
    check(name, "GRAPH")
