"""Run cases through every face, in both modes, and list in words what is wrong."""

from __future__ import annotations

import functools
import re
from typing import Any

import pytest

import mindjax as ms
from tests.ops.compare import (
    NAMES,
    differences,
    expected_value,
    float_places,
    inputs,
    present,
    short,
    weighted,
)
from tests.ops.table import Case, compile_source
from tests.oracle.golden import Reader

Tables = dict[str, list[Case]]
CHUNK = 12


def marks(slow: bool) -> list[Any]:
    """Give the marks of a test of slow rows."""
    return [pytest.mark.slow] if slow else []


def parameters(tables: Tables) -> list[Any]:
    """Give each case, with its family, as the parameters of a test."""
    return [pytest.param(f, c, marks=marks(c.slow)) for f, rows in tables.items() for c in rows]


def chunks(tables: Tables, quick: int = 1) -> list[Any]:
    """Cut the cases that GRAPH can do into programs: family, place of the first case, slowness.

    Args:
        tables: cases by family.
        quick: each how manieth program `make test` runs; the others are slow.
    """
    return [
        pytest.param(family, i, slow, marks=marks(slow or i // CHUNK % quick > 0))
        for family in tables
        for slow in (False, True)
        for i in range(0, len(compiled(tables, family, slow)), CHUNK)
    ]


def compiled(tables: Tables, family: str, slow: bool) -> list[Case]:
    """Give the slow or the other cases of a family that GRAPH can do."""
    rows = [c for c in tables[family] if c.slow == slow]
    return [c for c in rows if c.graph and not c.raises and present(c)]


@functools.cache
def reader(family: str) -> Reader:
    """Give the goldens of a family, read once."""
    return Reader(family)


def check(problems: list[str]) -> None:
    """Fail with all problems at once."""
    if problems:
        pytest.fail("\n".join(problems), pytrace=False)


def value_problems(case: Case, index: int, goldens: Reader, mode: str, run: Any) -> list[str]:
    """Run one face and list what is wrong with it."""
    want = expected_value(case, index, goldens, mode == "GRAPH")
    label = f"{case.name} [{case.faces[index]}] {mode}"
    try:
        got = run()
        if case.raises:
            return [f"{label}: {want[1]} expected, got {got!r:.80}"]
        return [f"{label}: {text}" for text in differences(got, want, goldens, case)]
    except Exception as error:
        if case.raises:
            right = want[1] in [c.__name__ for c in type(error).__mro__]
            return [] if right else [f"{label}: {want[1]} expected, got {short(error)}"]
        return [f"{label}: {short(error)}"]


def grad_problems(case: Case, index: int, goldens: Reader, mode: str) -> list[str]:
    """Differentiate one face and list what is wrong with it."""
    want = goldens.index[case.name].get("grad")
    if not case.grad or case.raises or want is None:
        return []
    label = f"{case.name} [{case.faces[index]}] {mode} gradient"
    try:
        loss = weighted(case.function(index, NAMES), case)
        got = ms.grad(loss, float_places(case))(*inputs(case))
        got = got if isinstance(got, tuple) else (got,)
        return [f"{label}: {text}" for text in differences(got, want, goldens, case)]
    except Exception as error:
        return [f"{label}: {short(error)}"]


def program(cases: list[Case]) -> Any:
    """Write one function that runs every face, and the gradient of the first, of several cases."""
    lines, names, names_of_args = [], dict(NAMES), []
    for k, case in enumerate(cases):
        args = [f"x{k}_{i}" for i in range(len(case.inputs))]
        names_of_args += args
        for index in present(case):
            names[f"f{k}_{index}"] = case.function(index, NAMES)
            lines.append(f"    r{k}_{index} = f{k}_{index}({', '.join(args)})")
    results = [f"r{k}_{i}" for k, case in enumerate(cases) for i in present(case)]
    lines.append(f"    return ({', '.join(results)},)")
    ident = "program_" + re.sub(r"\W", "_", cases[0].name)
    source = "\n".join([f"def {ident}({', '.join(names_of_args)}):", *lines]) + "\n"
    return compile_source(source, ident, f"<{ident}>", names)


def graph_value_problems(cases: list[Case], goldens: Reader) -> list[str]:
    """Compile several cases together; if that fails, each alone, so as to name the guilty one."""
    args = [x for case in cases for x in inputs(case)]
    try:
        results = list(ms.jit(program(cases))(*args))
    except Exception as error:
        if len(cases) > 1:
            return [p for case in cases for p in graph_value_problems([case], goldens)]
        case, problems = cases[0], []
        for index in present(case):
            run = ms.jit(case.function(index, NAMES))
            problems += value_problems(
                case, index, goldens, "GRAPH", lambda run=run: run(*inputs(case))
            )
        return problems or [f"{case.name} GRAPH, all faces together: {short(error)}"]
    problems = []
    for case in cases:
        for index in present(case):
            got = results.pop(0)
            problems += value_problems(case, index, goldens, "GRAPH", lambda got=got: got)
    return problems


def graph_gradient_problems(cases: list[Case], goldens: Reader) -> list[str]:
    """Differentiate the first faces of several cases in one compiled program."""
    groups = [inputs(case) for case in cases]
    args = [x for group in groups for x in group]
    firsts = [present(case)[0] for case in cases]
    losses = [weighted(c.function(i, NAMES), c) for c, i in zip(cases, firsts, strict=True)]
    places = [float_places(case) for case in cases]

    def gradients(*flat: Any) -> Any:
        results, at = [], 0
        for loss, place, group in zip(losses, places, groups, strict=True):
            results.append(ms.grad(loss, place)(*flat[at : at + len(group)]))
            at += len(group)
        return tuple(results)

    try:
        results = ms.jit(gradients)(*args)
    except Exception as error:
        if len(cases) > 1:
            return [p for case in cases for p in graph_gradient_problems([case], goldens)]
        return [f"{cases[0].name} [{cases[0].faces[firsts[0]]}] GRAPH gradient: {short(error)}"]
    problems = []
    for case, first, got in zip(cases, firsts, results, strict=True):
        got = got if isinstance(got, tuple) else (got,)
        found = differences(got, goldens.index[case.name]["grad"], goldens, case)
        problems += [f"{case.name} [{case.faces[first]}] GRAPH gradient: {text}" for text in found]
    return problems


def run_pynative(family: str, case: Case) -> None:
    """Check the values and gradients of every face of a case."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    goldens = reader(family)
    assert goldens.index[case.name]["sum"] == case.checksum(), "record the goldens again"
    problems = []
    for index in present(case):
        face = case.function(index, NAMES)
        problems += value_problems(
            case, index, goldens, "PYNATIVE", lambda face=face: face(*inputs(case))
        )
        problems += grad_problems(case, index, goldens, "PYNATIVE")
    check(problems)


def run_graph(tables: Tables, family: str, start: int, slow: bool) -> None:
    """Check the values of every face of several cases, compiled together."""
    rows = compiled(tables, family, slow)[start : start + CHUNK]
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        check(graph_value_problems(rows, reader(family)))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)


def run_graph_gradient(tables: Tables, family: str, start: int, slow: bool) -> None:
    """Check the gradients of the first faces of several cases, compiled together."""
    goldens = reader(family)
    rows = compiled(tables, family, slow)[start : start + CHUNK]
    cases = [c for c in rows if "grad" in goldens.index[c.name]]
    if not cases:
        return
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        check(graph_gradient_problems(cases, goldens))
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
