"""Every family of layers against the original: value, names, three steps, gradients, errors."""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import mint, nn, ops
from tests.nn import tables
from tests.nn.layer_cases import ROUGH, Layer

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "nn"
NAMES = {"ms": ms, "nn": nn, "mint": mint, "np": np, "ops": ops}
CHUNK = 20


def _in_pynative() -> list[Any]:
    """List the rows; most run op by op in `make test-all` alone, as GRAPH runs all of them."""
    rows = []
    for family in tables.FAMILIES:
        for i, case in enumerate(tables.layers(family)):
            often = case.eager or case.train or i % 3 == 0
            rows.append(pytest.param(family, case, marks=() if often else pytest.mark.slow))
    return rows


@functools.cache
def golden(family: str) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a family's goldens once."""
    with np.load(FOLDER / f"{family}.npz") as stored:
        arrays = {name: stored[name] for name in stored.files}
    return json.loads((FOLDER / f"{family}.json").read_text()), arrays


def build(case: Layer) -> Any:
    """Make a case's Cell with the goldens' Parameters."""
    cell = eval(case.make, NAMES)
    reset(case, cell)
    return cell.set_train(case.train)


def reset(case: Layer, cell: Any) -> None:
    """Give the Parameters the values that the goldens were made with."""
    for name, p in cell.parameters_and_names():
        if p.dtype is ms.float32:
            p.set_data(ms.Tensor(case.parameter(name, tuple(p.shape))))


def close(family: str, case: Layer, key: str, got: Any) -> None:
    """Compare with a golden array, relative to its greatest element."""
    want, got = golden(family)[1][f"{case.name}/{key}"], got.asnumpy()
    assert got.shape == want.shape, f"{case.name} {key}: {got.shape}, not {want.shape}"
    np.testing.assert_allclose(got, want, 0, case.bound(want), err_msg=f"{case.name} {key}")


@pytest.fixture(autouse=True)
def pynative():
    """Start every test in PYNATIVE."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize(("family", "case"), _in_pynative(), ids=lambda x: getattr(x, "name", x))
def test_layer(family: str, case: Layer) -> None:
    wanted = golden(family)[0]["layers"][case.name]
    cell = build(case)
    listed = {
        n: [list(p.shape), p.requires_grad, str(p.dtype)] for n, p in cell.parameters_and_names()
    }
    assert listed == wanted["parameters"]
    assert list(listed) == list(wanted["parameters"])
    inputs = [ms.Tensor(a) for a in case.arrays()]
    call = tables.caller(case, NAMES)
    outs = tables.flat(call(cell, *inputs))
    assert [str(out.dtype) for out in outs] == wanted["dtypes"]
    for i, out in enumerate(outs):
        close(family, case, f"out/{i}", out)
    moving = [n for n, _ in cell.parameters_and_names() if n in kept(family, case.name)]
    for _ in range(tables.STEPS - 1 if moving else 0):
        call(cell, *inputs)
    for name, p in cell.parameters_and_names():
        if name in moving:
            close(family, case, f"after/{name}", p)
    if case.eager:
        compare_gradients(family, [case], ms.PYNATIVE_MODE)


@functools.cache
def kept(family: str, name: str) -> frozenset[str]:
    """Name the Parameters whose values after some steps are known."""
    head = f"{name}/after/"
    return frozenset(n[len(head) :] for n in golden(family)[1] if n.startswith(head))


class Together(nn.Cell):
    """Layers side by side, so that one program holds them all."""

    def __init__(self, cases: list[Layer]) -> None:
        super().__init__()
        self.counts = [len(c.inputs) for c in cases]
        self.calls = [tables.caller(c, NAMES) for c in cases]
        self.cells_of_cases = nn.CellList([build(c) for c in cases])

    def construct(self, *args: Any) -> Any:
        outputs, at = [], 0
        rows = zip(self.cells_of_cases, self.calls, self.counts, strict=True)
        for cell, call, count in rows:
            outputs.append(tuple(tables.flat(call(cell, *args[at : at + count]))))
            at += count
        return tuple(outputs)


def trained(cell: Any) -> list[tuple[str, Any]]:
    """List the Parameters that are trained, with their names."""
    return [(n, p) for n, p in cell.parameters_and_names() if p.requires_grad]


def compare_gradients(family: str, cases: list[Layer], mode: int) -> None:
    """Run layers forwards and backwards as one program and compare both."""
    together = Together(cases)
    ms.set_context(mode=mode)
    flat = [(c, i, x) for c in cases for i, x in enumerate(c.arrays())]
    inputs = [ms.Tensor(x) for _, _, x in flat]
    places = tuple(
        k for k, (c, i, _) in enumerate(flat) if c.grad and i in tables.differentiated(c)
    )
    weights = [
        p
        for c, cell in zip(cases, together.cells_of_cases, strict=True)
        for _, p in trained(cell)
        if c.grad
    ]
    shapes = {k: v.shape for k, v in golden(family)[1].items()}
    sens = [
        [ms.Tensor(c.sens(shapes[f"{c.name}/out/{i}"])) for i in range(out_count(family, c))]
        for c in cases
    ]

    def loss(*args: Any) -> Any:
        outputs = together(*args)
        total = ms.Tensor(0.0)
        for case, outs, factors in zip(cases, outputs, sens, strict=True):
            for out, s in zip(outs, factors, strict=True):
                if case.grad and out.dtype is ms.float32:
                    total = total + (out * s).sum()
        return total, outputs

    function = ms.value_and_grad(loss, places or None, weights or None, has_aux=True)
    (_, outputs), grads = (ms.jit(function) if mode == ms.GRAPH_MODE else function)(*inputs)
    by_place, by_weight = split(grads, bool(places), bool(weights))
    found = dict(zip(places, by_place, strict=True))
    remaining, at = iter(by_weight), 0
    for case, cell, outs in zip(cases, together.cells_of_cases, outputs, strict=True):
        for i, out in enumerate(outs):
            close(family, case, f"out/{i}", out)
        for i in range(len(case.inputs)):
            if at + i in found:
                close(family, case, f"grad/{i}", found[at + i])
        at += len(case.inputs)
        for name, _ in trained(cell) if case.grad else ():
            close(family, case, f"grad/{name}", next(remaining))


def out_count(family: str, case: Layer) -> int:
    """Count the outputs of a case."""
    return len(golden(family)[0]["layers"][case.name]["dtypes"])


def split(grads: Any, has_places: bool, has_weights: bool) -> tuple[Any, Any]:
    """Give the gradients of inputs and of weights."""
    if has_places and has_weights:
        by_place, by_weight = grads
    else:
        by_place, by_weight = (grads, ()) if has_places else ((), grads)
    return by_place if isinstance(by_place, tuple) else (by_place,), by_weight


# Powers of small means are close to their bounds.
CHUNKS = [
    pytest.param(
        f,
        cases[i : i + CHUNK],
        marks=[pytest.mark.optimized]
        if any("MSSSIM" in c.name for c in cases[i : i + CHUNK])
        else [],
    )
    for f in tables.FAMILIES
    for cases in [tables.layers(f)]
    for i in range(0, len(cases), CHUNK)
]


@pytest.mark.parametrize(("family", "cases"), CHUNKS, ids=lambda x: x if isinstance(x, str) else "")
def test_graph_and_gradients(family: str, cases: list[Layer]) -> None:
    compare_gradients(family, cases, ms.GRAPH_MODE)


def _rough() -> list[Any]:
    # Recurrent layers take no float64: `test_recurrent.py` has their mathematics in numpy.
    # MSSSIM's gradient is a difference of near numbers, which float32 leaves so far apart.
    return [
        (f, c)
        for f in tables.FAMILIES
        for c in tables.layers(f)
        if c.make in ROUGH and "MSSSIM" not in c.make
    ]


@pytest.mark.parametrize(("family", "case"), _rough(), ids=lambda x: getattr(x, "name", x))
def test_float64_form_of_rough_rows(family: str, case: Layer) -> None:
    """Where the original is off, ours is as near to float64 as it has to be elsewhere."""
    call, cell = tables.caller(case, NAMES), build(case)
    inputs = [ms.Tensor(a) for a in case.arrays()]
    outs = tables.flat(call(cell, *inputs))
    for _, p in cell.parameters_and_names():
        if p.dtype is ms.float32:
            p.set_dtype(ms.float64)
    wide = [x.astype(ms.float64) if x.dtype is ms.float32 else x for x in inputs]
    for out, want in zip(outs, tables.flat(call(cell, *wide)), strict=True):
        want = want.asnumpy()
        assert want.dtype == np.float64
        np.testing.assert_allclose(out.asnumpy(), want, 0, 1e-5 * np.abs(want).max())


@pytest.mark.parametrize(
    ("family", "text"), [(f, t) for f in tables.FAMILIES for t in tables.errors(f)]
)
def test_error(family: str, text: str) -> None:
    kind, line = golden(family)[0]["errors"][text]
    with pytest.raises(Exception) as caught:
        for out in tables.flat(eval(compile(text, __file__, "eval"), tables.names(family, NAMES))):
            out.asnumpy()
    assert type(caught.value).__name__ == kind, str(caught.value)
    said = str(caught.value.args[0])
    assert "\n" not in said
    assert re.search(r"\[.*test_families\.py:\d+\]$", said), said
    if "When expanding" not in line and "Kernel select" not in line:
        for word in re.findall(r"'(\w+)'", line)[:2]:
            assert word in said, f"{word!r} of {line!r} is not in {said!r}"
