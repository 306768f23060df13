"""Control flow on traced values gives what the original's PYNATIVE mode gives."""

from __future__ import annotations

import copy
import json
import pathlib
from typing import Any

import pytest

import mindjax as ms
from tests.graph import python_programs as programs
from tests.graph.control_programs import plain

GOLDENS = json.loads((pathlib.Path(__file__).parents[1] / "goldens/control.json").read_text())


def same(found: Any, wanted: Any) -> bool:
    """Compare results, floats to 1e-5 of their size."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[k], wanted[k]) for k in wanted)
    if isinstance(wanted, list):
        pairs = zip(found, wanted, strict=True) if isinstance(found, list) else ()
        return (
            isinstance(found, list)
            and len(found) == len(wanted)
            and all(same(a, b) for a, b in pairs)
        )
    if isinstance(wanted, float):
        return isinstance(found, float) and abs(found - wanted) <= 1e-5 * max(1.0, abs(wanted))
    return type(found) is type(wanted) and found == wanted


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_programs(name):
    function, arguments = programs.PROGRAMS[name]
    compiled = ms.jit(function)
    for given, wanted in zip(arguments, GOLDENS[name], strict=True):
        assert same(plain(compiled(*copy.copy(given))), wanted), given
    # All of it is one program: nothing was run op by op.
    assert not compiled._programs.eager


@pytest.mark.parametrize("name", programs.GRADIENTS)
def test_gradients(name):
    function, arguments = programs.PROGRAMS[name]
    gradient = ms.jit(ms.grad(function, 0))
    for given, wanted in zip(arguments, GOLDENS[f"gradient of {name}"], strict=True):
        assert same(plain(gradient(*copy.copy(given))), wanted), given


@pytest.mark.parametrize("name", programs.NETS)
def test_cells(name, mode):
    assert same(plain(programs.NETS[name]()), GOLDENS[name])
