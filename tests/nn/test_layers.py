"""Every layer against the original: names, value, written state, gradients, GRAPH, errors, text."""

from __future__ import annotations

import functools
import json
import pathlib
import re
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import mint, nn
from tests.nn.layer_cases import CALLS, ERRORS, LAYERS, MINT, Layer

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "goldens" / "nn"
NAMES = {"ms": ms, "nn": nn, "mint": mint, "np": np}
CASES = [*LAYERS, *MINT]
WANTED = json.loads((FOLDER / "layers.json").read_text())


@functools.cache
def arrays() -> dict[str, np.ndarray]:
    """Read the goldens once."""
    with np.load(FOLDER / "layers.npz") as stored:
        return {name: stored[name] for name in stored.files}


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


def first(out: Any) -> Any:
    """Give the output that is compared."""
    return out[0] if isinstance(out, tuple) else out


def close(case: Layer, key: str, got: Any) -> None:
    """Compare with a golden array."""
    want = arrays()[f"{case.name}/{key}"]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, 0, case.bound(want), err_msg=f"{case.name} {key}")


@pytest.fixture(autouse=True)
def pynative():
    """Start every test in PYNATIVE."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    yield
    ms.set_context(mode=ms.PYNATIVE_MODE)


@pytest.mark.parametrize("case", CASES, ids=lambda c: c.name)
def test_layer(case: Layer) -> None:
    wanted = WANTED["layers"][case.name]
    cell = build(case)
    listed = {
        n: [list(p.shape), p.requires_grad, str(p.dtype)] for n, p in cell.parameters_and_names()
    }
    assert listed == wanted["parameters"]
    assert list(listed) == list(wanted["parameters"])
    inputs = [ms.Tensor(a) for a in case.arrays()]
    out = first(cell(*inputs))
    assert str(out.dtype) == wanted["dtype"]
    close(case, "out", out.asnumpy())
    for name, p in cell.parameters_and_names():
        if f"{case.name}/after/{name}" in arrays():
            close(case, f"after/{name}", p.asnumpy())


def trained(cell: Any) -> list[tuple[str, Any]]:
    """List the Parameters that are trained, with their names."""
    return [(n, p) for n, p in cell.parameters_and_names() if p.requires_grad]


class Together(nn.Cell):
    """Layers side by side, so that one program holds them all."""

    def __init__(self, cases: list[Layer]) -> None:
        super().__init__()
        self.counts = [len(c.inputs) for c in cases]
        self.cells_of_cases = nn.CellList([build(c) for c in cases])

    def construct(self, *args: Any) -> Any:
        outputs, at = [], 0
        for cell, count in zip(self.cells_of_cases, self.counts, strict=True):
            outputs.append(first(cell(*args[at : at + count])))
            at += count
        return tuple(outputs)


@pytest.mark.parametrize("start", range(0, len(CASES), 30))
def test_graph_gives_the_same(start: int) -> None:
    cases = CASES[start : start + 30]
    together = Together(cases)
    ms.set_context(mode=ms.GRAPH_MODE)
    outputs = together(*[ms.Tensor(a) for c in cases for a in c.arrays()])
    for case, cell, out in zip(cases, together.cells_of_cases, outputs, strict=True):
        close(case, "out", out.asnumpy())
        for name, p in cell.parameters_and_names():
            if f"{case.name}/after/{name}" in arrays():
                close(case, f"after/{name}", p.asnumpy())


EAGER = (
    "nn.Dense(3, 4)",
    "nn.Conv2d(3, 4, (3, 2), (2, 1), 'valid', has_bias=True)",
    "nn.BatchNorm2d(3) train",
    "nn.LayerNorm((4,))",
    "nn.Embedding(5, 3)",
    "nn.MultiheadAttention(8, 2)",
    "nn.CrossEntropyLoss(ignore_index=4, label_smoothing=0.1)",
)
DIFFERENTIATED = [c for c in CASES if c.grad]
CHUNKS = [(ms.GRAPH_MODE, DIFFERENTIATED[i : i + 30]) for i in range(0, len(DIFFERENTIATED), 30)]
CHUNKS.append((ms.PYNATIVE_MODE, [c for c in DIFFERENTIATED if c.name in EAGER]))


@pytest.mark.parametrize(("mode", "cases"), CHUNKS, ids=lambda x: None)
def test_gradients(mode: int, cases: list[Layer]) -> None:
    together = Together(cases)
    ms.set_context(mode=mode)
    flat = [(c, a, x) for c in cases for a, x in zip(c.inputs, c.arrays(), strict=True)]
    inputs = [ms.Tensor(x) for _, _, x in flat]
    places = tuple(i for i, (_, a, _) in enumerate(flat) if a.dtype == "f32")
    sens = [ms.Tensor(c.sens(arrays()[f"{c.name}/out"].shape)) for c in cases]
    weights = [p for cell in together.cells_of_cases for _, p in trained(cell)]

    def loss(*args: Any) -> Any:
        outputs = together(*args)
        total = (outputs[0] * sens[0]).sum()
        for out, s in zip(outputs[1:], sens[1:], strict=True):
            total = total + (out * s).sum()
        return total

    by_place, by_weight = (
        ms.jit(ms.grad(loss, places, weights))
        if mode == ms.GRAPH_MODE
        else ms.grad(loss, places, weights)
    )(*inputs)
    found = dict(zip(places, by_place, strict=True))
    remaining, at = iter(by_weight), 0
    for case, cell in zip(cases, together.cells_of_cases, strict=True):
        for i in range(len(case.inputs)):
            if at + i in found:
                close(case, f"grad/{i}", found[at + i].asnumpy())
        at += len(case.inputs)
        for name, _ in trained(cell):
            close(case, f"grad/{name}", next(remaining).asnumpy())


@pytest.mark.parametrize("text", ERRORS)
def test_error(text: str) -> None:
    kind, line = WANTED["errors"][text]
    names = {**NAMES, **{k: eval(v, NAMES) for k, v in CALLS.items()}}
    with pytest.raises(Exception) as caught:
        eval(compile(text, __file__, "eval"), names).asnumpy()
    assert type(caught.value).__name__ == kind
    said = str(caught.value.args[0])
    assert "\n" not in said
    assert re.search(r"\[.*test_layers\.py:\d+\]$", said), said
    if "When expanding" not in line and "Kernel select" not in line:
        for word in re.findall(r"'(\w+(?: item| size)?)'", line)[:2]:
            assert word in said, f"{word!r} of {line!r} is not in {said!r}"


@pytest.mark.parametrize(
    "text",
    [
        "nn.Dense(3, 4)",
        "nn.Dense(3, 4, activation=nn.ReLU())",
        "nn.MaxPool2d(2, 2)",
        "nn.AvgPool2d(3, 2, 'same')",
        "nn.Dropout(p=0.4)",
        "nn.GroupNorm(2, 4)",
        "nn.Flatten()",
        "nn.MultiheadAttention(8, 2)",
        "nn.BatchNorm2d(3)",
        "nn.Embedding(5, 3)",
        "mint.nn.Linear(3, 4)",
    ],
)
def test_text(text: str) -> None:
    assert repr(eval(text, NAMES)) == WANTED["layers"][text]["repr"]


def test_dropout_drops_and_scales(mode: int, seed: int) -> None:
    ones = ms.Tensor(np.ones((200, 50), np.float32))
    for cell, kept in ((nn.Dropout(p=0.2), 0.8), (nn.Dropout(keep_prob=0.3), 0.3)):
        cell.set_train()
        one, two = (cell(ones).asnumpy() for _ in range(2))
        assert set(np.unique(one)) == {np.float32(0), np.float32(1 / kept)}
        # Five standard deviations of the mean of 10,000 draws.
        assert abs((one > 0).mean() - kept) < 5 * (kept * (1 - kept) / 1e4) ** 0.5
        assert (one != two).any()
        assert cell.set_train(False)(ones) is ones or (cell(ones).asnumpy() == 1).all()


def test_dropout_takes_channels(seed: int) -> None:
    cell = nn.Dropout2d(p=0.5).set_train()
    out = cell(ms.Tensor(np.ones((8, 16, 3, 3), np.float32))).asnumpy()
    assert (out.reshape(128, 9).std(1) == 0).all()
    assert {0.0, 2.0} == set(np.unique(out))


def test_same_seed_same_draws() -> None:
    cell, ones = nn.Dropout(p=0.5).set_train(), ms.Tensor(np.ones((64,), np.float32))
    draws = []
    for graph in (False, True, False):
        ms.set_seed(3)
        ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
        draws.append(np.stack([cell(ones).asnumpy() for _ in range(3)]))
    assert (draws[0] == draws[1]).all()
    assert (draws[0] == draws[2]).all()


def test_initial_weights_have_the_originals_bounds() -> None:
    dense, conv = nn.Dense(300, 200), nn.Conv2d(30, 40, 5, has_bias=True)
    for cell, fan_in in ((dense, 300), (conv, 30 * 25)):
        bound = 1 / np.sqrt(fan_in)
        for p in cell.get_parameters():
            array = p.asnumpy()
            assert abs(array).max() <= bound
            assert abs(array).max() > 0.8 * bound
    table = nn.Embedding(200, 50, padding_idx=3).embedding_table.asnumpy()
    assert (table[3] == 0).all()
    assert abs(table.std() - 0.01) < 0.001
