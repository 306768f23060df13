"""Mixed precision against the original: dtypes layer by layer, numbers, loss scales."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import nn, ops
from mindjax.core.caches import compilations

ms.install()

from tests.amp import cases as c  # noqa: E402

GOLDENS = json.loads(
    (pathlib.Path(__file__).resolve().parents[1] / "goldens" / "amp.json").read_text()
)
# Float16 has 11 bits: some roundings of a few operators.
HALF = {"rtol": 4e-3, "atol": 4e-3}


@pytest.mark.parametrize("name", GOLDENS["layers"])
def test_dtypes_layer_by_layer(name: str) -> None:
    network, level = name.split()
    wanted = GOLDENS["layers"][name]
    found = c.layers(network, level, ms.float16)
    assert found["dtypes"] == wanted["dtypes"]
    np.testing.assert_allclose(found["out"], wanted["out"], **HALF)


@pytest.mark.parametrize("name", [n for n in GOLDENS["layers"] if not n.endswith("O0")])
def test_bfloat16_has_the_same_places(name: str) -> None:
    # The original's CPU has no kernels for bfloat16; its rules name one low dtype.
    network, level = name.split()
    wanted = GOLDENS["layers"][name]
    found = c.layers(network, level, ms.bfloat16)
    places = {k: v.replace("Float16", "BFloat16") for k, v in wanted["dtypes"].items()}
    assert found["dtypes"] == places
    np.testing.assert_allclose(found["out"], wanted["out"], rtol=0.1, atol=0.06)


@pytest.mark.parametrize("level", c.LEVELS)
def test_a_graph_gives_the_same(level: str) -> None:
    network = ms.amp.auto_mixed_precision(c.made("Image"), level, ms.float16)
    ms.set_context(mode=ms.GRAPH_MODE)
    out = network(ms.Tensor(c.X))
    wanted = GOLDENS["layers"][f"Image {level}"]
    assert str(out.dtype) == wanted["dtypes"][""]
    np.testing.assert_allclose(out.astype(ms.float32).asnumpy(), wanted["out"], **HALF)


@pytest.mark.parametrize("kind", GOLDENS["custom"])
def test_lists_of_ones_own(kind: str) -> None:
    wanted = GOLDENS["custom"][kind]
    found = c.custom(kind)
    assert found["dtypes"] == wanted["dtypes"]
    np.testing.assert_allclose(found["out"], wanted["out"], **HALF)


@pytest.mark.parametrize(
    ("name", "graph"),
    [
        ("Image O1", False),
        ("Image O2", True),
        ("Image O3", True),
        ("Image auto", True),
        ("Line O2", False),
        ("Line auto", False),
    ],
)
def test_training(name: str, graph: bool) -> None:
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    found = c.trained(*name.split())
    np.testing.assert_allclose(found, GOLDENS["trained"][name], rtol=1e-2)


@pytest.mark.parametrize("name", c.OPERATORS)
def test_operators_at_level_auto(name: str) -> None:
    wanted = GOLDENS["operators"][name]
    found = c.operator(name)
    assert {pair: found.get(pair) for pair in wanted} == wanted


@pytest.mark.parametrize("kind", ["dynamic", "fixed", "set"])
def test_overflows_are_skipped_and_the_scale_moves(kind: str, mode: int) -> None:
    names = {ms.PYNATIVE_MODE: "steps pynative", ms.GRAPH_MODE: "steps graph"}
    found = c.scaled_steps(kind, nn.TrainOneStepWithLossScaleCell)
    np.testing.assert_allclose(found, GOLDENS[names[mode]][kind], rtol=1e-6, atol=1e-6)


def test_scaler(mode: int) -> None:
    assert c.scaler_steps() == GOLDENS["scaler"]
    assert c.manager_steps() == GOLDENS["manager"]


def test_an_overflow_compiles_nothing(mode: int) -> None:
    network = c.Quadratic()
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    step = nn.TrainOneStepWithLossScaleCell(
        network, optimizer, nn.DynamicLossScaleUpdateCell(1024.0, 2, 2)
    )
    for row in c.rows()[:4]:
        step(row)
    before = compilations()
    for row in c.rows():
        step(row)
    assert compilations() == before


def test_a_scaler_in_a_compiled_step() -> None:
    scaler = ms.amp.DynamicLossScaler(1024, 2, 2)

    @ms.jit
    def step(row: Any) -> Any:
        finite = ms.amp.all_finite((row,))
        scaler.adjust(finite)
        return scaler.unscale(scaler.scale((row,)))[0], finite

    scales = []
    for row in c.rows():
        out, finite = step(row)
        assert bool(finite) == np.isfinite(row.asnumpy()).all()
        np.testing.assert_allclose(out.asnumpy(), row.asnumpy())
        scales.append(float(scaler.scale_value.asnumpy()))
    assert scales == [s for s, _ in GOLDENS["scaler"]]


def test_level_o2_has_a_dynamic_scale() -> None:
    network = c.made("Image")
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = ms.amp.build_train_network(network, optimizer, loss, "O2")
    assert isinstance(step, nn.TrainOneStepWithLossScaleCell)
    before = network.dense.weight.asnumpy()
    results = [step(ms.Tensor(c.X), ms.Tensor(c.LABELS)) for _ in range(12)]
    overflows = [bool(over) for _, over, _ in results]
    # 2^24 is beyond Float16: the scale falls until the gradients fit.
    assert overflows[0]
    assert not overflows[-1]
    assert float(results[-1][2].asnumpy()) < 2**24
    assert (network.dense.weight.asnumpy() != before).any()
    assert np.isfinite(network.dense.weight.asnumpy()).all()


def test_level_o1_changes_the_network() -> None:
    network = c.made("Image")
    assert ms.amp.auto_mixed_precision(network, "O1") is network
    assert ms.amp.custom_mixed_precision(network, white_list=[ops.ReLU]) is network


def test_losses_at_level_auto() -> None:
    loss = ms.amp.auto_mixed_precision(lambda a, b: ops.mse_loss(a, b), "auto")
    half = ms.Tensor(np.ones((2, 2)), ms.float16)
    assert loss(half, half).dtype is ms.float32


def test_precision_of_a_cell() -> None:
    cell = nn.Dense(2, 2)
    kinds = type(cell.get_mixed_precision_type())
    assert cell.get_mixed_precision_type() is kinds.NOTSET
    assert cell.mixed_precision_type is None
    cell.to_float(ms.float16)
    assert cell.get_mixed_precision_type() is kinds.FP16
    assert cell.get_flags() == {"fp16": True, "fp32": False, "bf16": False}
    x = ms.Tensor(np.ones((1, 2), np.float32))
    assert cell(x).dtype is ms.float16
    cell.set_mixed_precision_type(kinds.BF16)
    assert cell(x).dtype is ms.bfloat16
    cell.set_mixed_precision_type(kinds.NOTSET)
    assert cell(x).dtype is ms.float32
    with pytest.raises(TypeError, match="MixedPrecisionType"):
        cell.set_mixed_precision_type(ms.float16)


def test_lists_are_copies() -> None:
    white = ms.amp.get_white_list()
    assert nn.Dense in white
    assert ops.MatMul in white
    white.clear()
    assert ms.amp.get_white_list()
    assert ms.amp.get_black_list() == [
        nn.BatchNorm1d,
        nn.BatchNorm2d,
        nn.BatchNorm3d,
        nn.LayerNorm,
    ]


@pytest.mark.parametrize(
    ("kind", "words", "call"),
    [
        (TypeError, "should be Cell", lambda a, n: a.auto_mixed_precision(len, "O1")),
        (TypeError, "Cell or function", lambda a, n: a.auto_mixed_precision(1, "auto")),
        (ValueError, "dtype", lambda a, n: a.auto_mixed_precision(n, "O1", ms.float32)),
        (ValueError, "not supported", lambda a, n: a.auto_mixed_precision(n, "O4")),
        (ValueError, "must be provided", lambda a, n: a.custom_mixed_precision(n)),
        (
            ValueError,
            "same time",
            lambda a, n: a.custom_mixed_precision(n, white_list=[], black_list=[]),
        ),
        (TypeError, "list", lambda a, n: a.custom_mixed_precision(n, white_list=(nn.Dense,))),
        (TypeError, "class", lambda a, n: a.custom_mixed_precision(n, white_list=[n])),
        (TypeError, "'Cell'", lambda a, n: a.custom_mixed_precision(n, black_list=[ops.ReLU])),
        (ValueError, "> 1", lambda a, n: a.StaticLossScaler(0.5)),
        (TypeError, "scale_value", lambda a, n: a.DynamicLossScaler("1", 2, 2)),
        (ValueError, "scale_window", lambda a, n: a.DynamicLossScaler(2, 2, 0)),
        (ValueError, ">= 1", lambda a, n: a.FixedLossScaleManager(0.5)),
        (ValueError, "> 1", lambda a, n: a.DynamicLossScaleManager(0.5)),
        (ValueError, "> 0", lambda a, n: a.DynamicLossScaleManager(8, 0)),
        (TypeError, "optimizer", lambda a, n: a.build_train_network(n, n.dense)),
        (ValueError, "level", lambda a, n: a.build_train_network(n, _optimizer(n), level="O7")),
        (
            ValueError,
            "Unsupported arg 'x'",
            lambda a, n: a.build_train_network(n, _optimizer(n), x=1),
        ),
    ],
)
def test_errors(kind: type, words: str, call: Any) -> None:
    with pytest.raises(kind, match=words) as caught:
        call(ms.amp, c.Image())
    assert "\n" not in str(caught.value)


def _optimizer(network: Any) -> Any:
    return nn.Momentum(network.trainable_params(), 0.1, 0.9)
