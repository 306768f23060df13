"""The layers of `mint.nn` give what torch's give: values, dtypes, gradients, statistics."""

from __future__ import annotations

import functools
import json
import pathlib
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import mint, nn
from tests.mint.layer_cases import LAYERS
from tests.nn.layer_cases import Layer
from tests.nn.tables import flat

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "mint"
DTYPES = json.loads((FOLDER / "layers.json").read_text())["dtypes"]
STEPS, CHUNK = 3, 24
CHUNKS = [
    # `make test` compiles every third program.
    pytest.param(LAYERS[i : i + CHUNK], marks=() if i % (3 * CHUNK) == 0 else pytest.mark.slow)
    for i in range(0, len(LAYERS), CHUNK)
]


@functools.cache
def golden() -> dict[str, np.ndarray]:
    """Read torch's results once."""
    with np.load(FOLDER / "layers.npz") as stored:
        return {name: stored[name] for name in stored.files}


def build(case: Layer) -> Any:
    """Make a layer with the goldens' Parameters."""
    cell = eval(case.make, {"mint": mint})
    for name, p in cell.parameters_and_names():
        if p.dtype is ms.float32:
            p.set_data(ms.Tensor(case.parameter(name, tuple(p.shape))))
    return cell.set_train(case.train)


def problem(case: Layer, key: str, got: Any) -> str:
    """Say how a result differs from torch's; nothing if it does not."""
    want, found = golden()[f"{case.name}/{key}"], got.asnumpy()
    if found.shape != want.shape:
        return f"{case.name} {key}: shape {found.shape}, not {want.shape}"
    if not np.allclose(found, want, 0, case.bound(want), equal_nan=True):
        return f"{case.name} {key}: off by {np.abs(found - want).max()}"
    return ""


class Together(nn.Cell):
    """Layers side by side, so that one program holds them all."""

    def __init__(self, cases: list[Layer]) -> None:
        super().__init__()
        self.counts = [len(c.inputs) for c in cases]
        self.layers = nn.CellList([build(c) for c in cases])

    def construct(self, *args: Any) -> Any:
        outputs, at = [], 0
        for layer, count in zip(self.layers, self.counts, strict=True):
            outputs.append(tuple(flat(layer(*args[at : at + count]))))
            at += count
        return tuple(outputs)


@pytest.mark.parametrize("cases", CHUNKS, ids=lambda c: c[0].make)
def test_as_torch_in_graph(cases: list[Layer]) -> None:
    together = Together(cases)
    inputs = [ms.Tensor(a) for c in cases for a in c.arrays()]
    kinds = [(c, i, a.dtype) for c in cases for i, a in enumerate(c.inputs)]
    places = tuple(k for k, (c, _, d) in enumerate(kinds) if c.grad and d == "f32")
    weights = [
        (c, n, p)
        for c, layer in zip(cases, together.layers, strict=True)
        for n, p in layer.parameters_and_names()
        if p.requires_grad
    ]

    def loss(*args: Any) -> Any:
        outputs, total = together(*args), ms.Tensor(0.0)
        for case, outs in zip(cases, outputs, strict=True):
            for out in outs:
                if out.dtype is ms.float32:
                    total = total + (out * ms.Tensor(case.sens(tuple(out.shape)))).sum()
        return total, outputs

    train = ms.value_and_grad(loss, places, [p for _, _, p in weights] or None, has_aux=True)
    (_, outputs), grads = ms.jit(train)(*inputs)
    by_place, by_weight = grads if weights else (grads, ())
    found = []
    for case, outs in zip(cases, outputs, strict=True):
        if [str(o.dtype).lower() for o in outs] != DTYPES[case.name]:
            found.append(f"{case.name}: dtypes {[str(o.dtype) for o in outs]}")
        found += [problem(case, f"out/{i}", out) for i, out in enumerate(outs)]
    for k, grad in zip(places, by_place, strict=True):
        found.append(problem(kinds[k][0], f"grad/{kinds[k][1]}", grad))
    for (case, name, _), grad in zip(weights, by_weight, strict=True):
        found.append(problem(case, f"grad/{name}", grad))
    assert not any(found), "\n".join(filter(None, found))


@pytest.mark.parametrize("cases", [[c for c in LAYERS if "BatchNorm" in c.make]], ids=["norms"])
def test_statistics(cases: list[Layer]) -> None:
    for case in cases:
        layer, inputs = build(case), [ms.Tensor(a) for a in case.arrays()]
        for _ in range(STEPS):
            layer(*inputs)
        for name, p in layer.parameters_and_names():
            if f"{case.name}/after/{name}" in golden():
                assert not problem(case, f"after/{name}", p)


@pytest.mark.slow
@pytest.mark.parametrize("case", LAYERS, ids=lambda c: c.name)
def test_as_torch_in_pynative(case: Layer) -> None:
    outs = flat(build(case)(*[ms.Tensor(a) for a in case.arrays()]))
    found = [problem(case, f"out/{i}", out) for i, out in enumerate(outs)]
    assert not any(found), found
