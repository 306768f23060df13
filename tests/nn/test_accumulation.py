"""Cells that run a network on parts of a batch, reduce gradients, or compute them again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindjax as ms
from mindjax import communication, nn, ops
from mindjax.amp import build_train_network

X = np.random.RandomState(0).randn(128, 5).astype(np.float32)
Y = np.random.RandomState(1).randn(128, 2).astype(np.float32)


def network() -> nn.Cell:
    ms.set_seed(3)
    return nn.SequentialCell(nn.Dense(5, 16), nn.Tanh(), nn.Dense(16, 2))


def with_loss(net: nn.Cell) -> nn.Cell:
    return nn.WithLossCell(net, nn.MSELoss())


def weights(net: nn.Cell) -> list[np.ndarray]:
    return [p.asnumpy() for p in net.trainable_params()]


def test_eight_times_sixteen_is_one_batch(mode: int) -> None:
    net = network()
    whole = nn.TrainOneStepCell(with_loss(net), nn.Adam(net.trainable_params(), 0.01))
    parted_net = network()
    accumulated = nn.GradAccumulationCell(with_loss(parted_net), 8)
    parted = build_train_network(accumulated, nn.Adam(parted_net.trainable_params(), 0.01))
    for _ in range(5):
        one = whole(ms.Tensor(X), ms.Tensor(Y)).asnumpy()
        eight = parted(ms.Tensor(X), ms.Tensor(Y)).asnumpy()
        np.testing.assert_allclose(eight / 8, one, rtol=1e-6)
    for a, b in zip(weights(net), weights(parted_net), strict=True):
        assert abs(a - b).max() <= 1e-6


def test_a_model_accumulates(mode: int) -> None:
    net = network()
    step = nn.GradAccumulationCell(with_loss(net), 4)
    model = ms.Model(step, optimizer=nn.Momentum(net.trainable_params(), 0.1, 0.9))
    plain_net = network()
    plain = nn.TrainOneStepCell(
        with_loss(plain_net), nn.Momentum(plain_net.trainable_params(), 0.1, 0.9)
    )
    for _ in range(3):
        model.train_network(ms.Tensor(X), ms.Tensor(Y))
        plain(ms.Tensor(X), ms.Tensor(Y))
    for a, b in zip(weights(net), weights(plain_net), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


@pytest.mark.parametrize("make", [nn.MicroBatchInterleaved, nn.PipelineCell])
def test_parts_add_up(make: Any, mode: int) -> None:
    net = with_loss(network())
    parts = make(net, 4)(ms.Tensor(X), ms.Tensor(Y)).asnumpy()
    np.testing.assert_allclose(parts, 4 * net(ms.Tensor(X), ms.Tensor(Y)).asnumpy(), rtol=1e-6)


def test_stages_are_noted() -> None:
    net = network()
    nn.PipelineCell(net, 2, stage_config={"0": 0, "2": 1}, segment_config={"1": 3})
    assert net[2].pipeline_stage == 1
    assert net[1].pipeline_segment == 3


@pytest.mark.parametrize(
    ("kind", "words", "call"),
    [
        (TypeError, "must cell type", lambda n: nn.GradAccumulationCell(1, 2)),
        (TypeError, "must be integer", lambda n: nn.GradAccumulationCell(n, 2.0)),
        (ValueError, "large than 0", lambda n: nn.PipelineCell(n, 0)),
        (KeyError, "not found", lambda n: nn.PipelineCell(n, 2, {"nothing": 1})),
        (ValueError, "no 'shard'", lambda n: nn.PipelineCell(n, 2).shard(())),
        (ValueError, "large than 0", lambda n: nn.MicroBatchInterleaved(n, 0)),
        (ValueError, "divided by", lambda n: nn.MicroBatchInterleaved(n, 3)(ms.Tensor(X))),
        (TypeError, "'param' must be", lambda n: nn.ParameterUpdate(ms.Tensor(1.0))),
        (ValueError, "degree: 0", lambda n: nn.DistributedGradReducer([], degree=0)),
        (ValueError, "keyword 'x'", lambda n: n.recompute(x=True)),
        (TypeError, "early_stop", lambda n: n.recompute(early_stop=1)),
        (ValueError, "less_bn", lambda n: n.set_boost("more_bn")),
    ],
)
def test_errors(kind: type, words: str, call: Any) -> None:
    with pytest.raises(kind, match=words) as caught:
        call(network())
    assert "\n" not in str(caught.value.args[0])


def test_gradients_of_one_process(mode: int) -> None:
    communication.init()
    net = network()
    gradients = tuple(ms.Tensor(np.full(p.shape, 2.0, np.float16)) for p in net.trainable_params())
    reduced = nn.DistributedGradReducer(net.trainable_params(), mean=True, degree=4)(gradients)
    assert {str(g.dtype) for g in reduced} == {"Float16"}
    assert all((g.asnumpy() == 0.5).all() for g in reduced)
    scaled = nn.PipelineGradReducer(ms.ParameterTuple(net.trainable_params()), 4.0)(gradients)
    assert all((g.asnumpy() == 0.5).all() for g in scaled)


def test_data_parallel_training_of_one_process(mode: int) -> None:
    communication.init()
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    try:
        net = network()
        step = nn.TrainOneStepCell(with_loss(net), nn.Momentum(net.trainable_params(), 0.1, 0.9))
        assert step.reducer_flag
        found = [step(ms.Tensor(X), ms.Tensor(Y)).asnumpy() for _ in range(3)]
    finally:
        ms.reset_auto_parallel_context()
    net = network()
    step = nn.TrainOneStepCell(with_loss(net), nn.Momentum(net.trainable_params(), 0.1, 0.9))
    wanted = [step(ms.Tensor(X), ms.Tensor(Y)).asnumpy() for _ in range(3)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_small_cells(mode: int) -> None:
    weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    update = nn.ParameterUpdate(weight)
    assert update(ms.Tensor([3.0, 4.0])).asnumpy().tolist() == [3.0, 4.0]
    assert weight.asnumpy().tolist() == [3.0, 4.0]
    three = nn.VirtualDatasetCellTriple(Sum())
    assert float(three(ms.Tensor(1.0), ms.Tensor(2.0), ms.Tensor(3.0)).asnumpy()) == 6.0


class Sum(nn.Cell):
    """Adds three inputs."""

    def construct(self, a: Any, b: Any, c: Any) -> Any:
        return a + b + c


class Noted(nn.Cell):
    """Counts in Python how often it is run, and has statistics."""

    def __init__(self) -> None:
        super().__init__()
        self.dense = nn.Dense(5, 5)
        self.norm = nn.BatchNorm1d(5)

    def construct(self, x: Any) -> Any:
        return ops.tanh(self.norm(self.dense(x))) * x


def test_recompute_gives_equal_numbers(mode: int) -> None:
    found = []
    for again in (False, True):
        ms.set_seed(6)
        net = nn.SequentialCell(Noted(), Noted(), nn.Dense(5, 2))
        if again:
            net[0].recompute()
            net[1].recompute(output_recompute=True, mp_comm_recompute=False)
        step = nn.TrainOneStepCell(with_loss(net), nn.Momentum(net.trainable_params(), 0.1, 0.9))
        step.set_train()
        losses = [float(step(ms.Tensor(X), ms.Tensor(Y)).asnumpy()) for _ in range(3)]
        found.append((losses, [p.asnumpy() for p in net.get_parameters()]))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-6)
    for a, b in zip(found[0][1], found[1][1], strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
