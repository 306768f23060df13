"""The algorithms of `mindspore.boost` on one process, by what they mean."""

from __future__ import annotations

import pathlib
from typing import Any

import numpy as np
import pytest

import mindjax as ms
import mindjax.dataset as ds
from mindjax import boost, nn, ops, train
from mindjax.boost.adasum import adaptive_sum
from mindjax.boost.components import components
from mindjax.core.caches import compilations

X = np.random.RandomState(0).randn(32, 6).astype(np.float32)
Y = np.random.RandomState(1).randint(0, 3, 32).astype(np.int32)


@pytest.fixture(autouse=True)
def fresh_boost():
    """Start each test without settings."""
    boost.AutoBoost._instance = None
    yield
    boost.AutoBoost._instance = None


def network() -> nn.Cell:
    ms.set_seed(4)
    return nn.SequentialCell(
        nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 8), nn.ReLU(), nn.Dense(8, 8), nn.Dense(8, 3)
    )


def with_loss(net: nn.Cell) -> nn.Cell:
    return nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"))


def momentum(net: nn.Cell, **options: Any) -> Any:
    return nn.Momentum(net.trainable_params(), 0.1, 0.9, **options)


def batch() -> tuple[ms.Tensor, ms.Tensor]:
    return ms.Tensor(X), ms.Tensor(Y)


def arrays(parameters: Any) -> list[np.ndarray]:
    return [p.asnumpy() for p in parameters]


def test_the_step_without_settings_is_the_plain_one(mode: int) -> None:
    found = []
    for kind in (nn.TrainOneStepCell, boost.BoostTrainOneStepCell):
        net = network()
        step = kind(with_loss(net), momentum(net), 4.0)
        found.append([float(step(*batch()).asnumpy()) for _ in range(4)])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


def test_gradients_of_several_steps(mode: int) -> None:
    settings = {
        "boost": {"mode": "manual", "grad_accumulation": True},
        "grad_accumulation": {"grad_accumulation_step": 4},
    }
    boost.AutoBoost("O0", settings)
    net = network()
    step = boost.BoostTrainOneStepCell(with_loss(net), momentum(net))
    before = arrays(net.trainable_params())
    parts = [(ms.Tensor(X[i : i + 8]), ms.Tensor(Y[i : i + 8])) for i in range(0, 32, 8)]
    for part in parts[:3]:
        step(*part)
    assert all((a == b).all() for a, b in zip(before, arrays(net.trainable_params()), strict=True))
    step(*parts[3])
    plain = network()
    nn.TrainOneStepCell(with_loss(plain), momentum(plain))(*batch())
    for a, b in zip(net.trainable_params(), plain.trainable_params(), strict=True):
        np.testing.assert_allclose(a.asnumpy(), b.asnumpy(), atol=1e-6)


def test_frozen_layers_stay(mode: int) -> None:
    net = network()
    freeze = boost.GradientFreeze(2, 0, 0.5, 4)
    groups = freeze.split_parameters_groups(net, 2)
    assert len(groups[0]) == 8
    assert 0 < len(groups[1]) < 8
    _, optimizer = freeze.freeze_generate(net, momentum(net))
    assert optimizer.train_strategy.asnumpy().tolist()[:4] == [0, 1, 0, 1]
    step = boost.BoostTrainOneStepCell(with_loss(net), optimizer)
    first = arrays(net.trainable_params())
    step(*batch())
    second = arrays(net.trainable_params())
    assert all((a != b).any() for a, b in zip(first, second, strict=True))
    step(*batch())
    third = dict(zip(net.trainable_params(), arrays(net.trainable_params()), strict=True))
    for parameter, before in zip(net.trainable_params(), second, strict=True):
        trained = any(parameter is p for p in groups[1])
        assert (third[parameter] != before).any() == trained
    before_more = compilations()
    losses = [float(step(*batch()).asnumpy()) for _ in range(6)]
    assert compilations() == before_more
    assert losses[-1] < losses[0]
    assert all(p.name.startswith("boost_1moments.") for p in optimizer.opts[1].moments)


def test_freezing_inside_one_program() -> None:
    found = []
    for whole in (False, True):
        net = network()
        _, optimizer = boost.GradientFreeze(2, 0, 0.5, 4).freeze_generate(net, momentum(net))
        step = boost.BoostTrainOneStepCell(with_loss(net), optimizer)
        call = ms.jit(lambda x, y, step=step: step(x, y)) if whole else step
        found.append([float(call(*batch()).asnumpy()) for _ in range(4)])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_strategies() -> None:
    freeze = boost.GradientFreeze(4, 1, 0.7, 1000)
    np.random.seed(0)
    turns = freeze.generate_freeze_index_sequence(4, 1, 0.7, 1000)
    assert len(turns) == 1010
    assert abs(np.mean(np.array(turns) > 0) - 0.3) < 0.01
    counts = np.bincount(turns, minlength=4)[1:]
    assert counts[0] > counts[1] > counts[2]
    assert freeze.generate_freeze_index_sequence(1, 1, 0.7, 100) == [0] * 101
    assert freeze.generate_freeze_index_sequence(3, 0, 0.5, 8)[:6] == [0, 0, 1, 2, 0, 0][:6]
    with pytest.raises(ValueError, match="strategy '5'"):
        freeze.generate_freeze_index_sequence(3, 5, 0.5, 8)


def test_a_normalized_last_layer(mode: int) -> None:
    net = network()
    weight = net[5].weight.asnumpy()
    bias = net[5].bias.asnumpy()
    less = boost.LessBN(net, fn_flag=True)
    assert net.get_flags()["less_bn"]
    x = ms.Tensor(X)
    inner = x
    for i in range(5):
        inner = net[i](inner)
    a = inner.asnumpy()
    a, w = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (a, weight))
    np.testing.assert_allclose(less(x).asnumpy(), a @ w.T, atol=1e-5)
    assert bias.shape == (3,)
    assert "multiplier" in net[5].multiplier.name


def test_an_optimizer_made_anew() -> None:
    net = network()
    rate = nn.exponential_decay_lr(0.1, 0.9, 10, 2, 2)
    given = nn.Momentum([{"params": net.trainable_params()}], rate, 0.8, weight_decay=0.01)
    process = boost.OptimizerProcess(given)
    process.add_grad_centralization(net)
    made = process.generate_new_optimizer()
    assert type(made) is nn.Momentum
    assert float(made.momentum.asnumpy()) == pytest.approx(0.8)
    assert made.dynamic_lr
    flags = dict(
        zip([p.name for p in made.parameters], made.grad_centralization_flags, strict=True)
    )
    assert flags["0.weight"]
    assert not flags["0.bias"]
    lars = boost.OptimizerProcess(nn.LARS(momentum(net), epsilon=1e-4)).generate_new_optimizer()
    assert isinstance(lars, nn.LARS)
    assert isinstance(lars.opt, nn.Momentum)


def test_groups() -> None:
    net = network()
    first, *others = net.trainable_params()
    groups = boost.ParameterProcess.generate_group_params(
        [first, others[0]], [{"params": [first], "lr": 0.5}, {"order_params": others}]
    )
    assert groups[0] == {"params": [first], "lr": 0.5}
    assert groups[1] == {"order_params": [first, others[0]]}
    assert groups[2] == {"params": [others[0]], "lr": 0.5}
    noted = boost.ParameterProcess().assign_parameter_group(net.trainable_params(), [2])
    assert [p.comm_fusion for p in noted[:3]] == [1, 1, 2]
    with pytest.raises(ValueError, match="empty parameter list"):
        boost.ParameterProcess.generate_group_params([first], [])


def test_adaptive_sums() -> None:
    a, b = ms.Tensor([1.0, 0.0]), ms.Tensor([0.0, 2.0])
    np.testing.assert_allclose(adaptive_sum(a, b).asnumpy(), [1, 2])
    np.testing.assert_allclose(adaptive_sum(a, a).asnumpy(), [1, 0])
    weights = [ms.Parameter(ms.Tensor([5.0, 5.0]), name="w")]
    boost.AdaSum(0, 8, 1, weights)([a], weights, [ms.Tensor([3.0, 3.0])])
    assert weights[0].asnumpy().tolist() == [2.0, 3.0]


def test_components_are_the_main_directions() -> None:
    rng = np.random.RandomState(3)
    data = rng.randn(20, 50) @ np.diag(np.linspace(5, 0.1, 50))
    found = components(data, 3)
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-8)
    covariance = np.cov(data.T)
    values = np.linalg.eigvalsh(covariance)[::-1]
    np.testing.assert_allclose(np.diag(found @ covariance @ found.T), values[:3], rtol=1e-6)
    with pytest.raises(ValueError, match="samples"):
        components(data, 21)


def test_steps_in_few_directions(tmp_path: pathlib.Path, mode: int) -> None:
    class Bowl(nn.Cell):
        """A quadratic loss, steep in two directions."""

        def __init__(self) -> None:
            super().__init__()
            self.weight = ms.Parameter(ms.Tensor(np.ones(4), ms.float32), name="weight")

        def construct(self, scale: Any) -> Any:
            return (self.weight * self.weight * scale).sum()

    directions = np.eye(4)[:2]
    np.save(tmp_path / "pca.npy", directions)
    settings = {
        "boost": {"mode": "manual", "dim_reduce": True},
        "dim_reduce": {"n_components": 2, "alpha": 0.02, "pca_mat_path": str(tmp_path / "pca.npy")},
    }
    auto = boost.AutoBoost("O0", settings)
    net = Bowl()
    net, optimizer = auto.network_auto_process_train(net, momentum(net))
    step = boost.BoostTrainOneStepCell(net, optimizer)
    scale = ms.Tensor([0.8, 0.4, 0.1, 0.1])
    losses = [float(step(scale).asnumpy()) for _ in range(12)]
    assert losses[0] == pytest.approx(1.4)
    # The two steep directions end by second-order steps, the flat ones by momentum.
    assert losses[-1] < 0.2
    assert abs(net.weight.asnumpy()[:2]).max() < 0.05


def test_a_scaled_loss(mode: int) -> None:
    net = network()
    cell = nn.DynamicLossScaleUpdateCell(2.0**8, 2, 3)
    step = boost.BoostTrainOneStepWithLossScaleCell(with_loss(net), momentum(net), cell)
    plain_net = network()
    plain = nn.TrainOneStepCell(with_loss(plain_net), momentum(plain_net))
    for _ in range(4):
        loss, over, scale = step(*batch())
        np.testing.assert_allclose(loss.asnumpy(), plain(*batch()).asnumpy(), rtol=1e-5)
        assert not bool(over)
    assert float(scale.asnumpy()) == 2.0**9
    before = arrays(net.trainable_params())
    _, over, scale = step(ms.Tensor(X * np.float32(np.inf)), ms.Tensor(Y))
    assert bool(over)
    assert float(scale.asnumpy()) == 2.0**8
    assert all((a == b).all() for a, b in zip(before, arrays(net.trainable_params()), strict=True))


def test_a_scale_for_each_group(mode: int) -> None:
    manager = boost.GroupLossScaleManager(64.0, [])
    manager.set_loss_scale_status(2, 64.0)
    weight = ms.Tensor([3.0])

    def loss(x: Any) -> Any:
        return manager(x * weight, 1, 3).sum()

    assert float(loss(ms.Tensor([2.0])).asnumpy()) == 6.0
    gradient = ms.grad(loss)(ms.Tensor([2.0]))
    assert gradient.asnumpy().tolist() == [3.0 * 64]
    manager.update_loss_scale_status(0, ms.Tensor(0.5))
    assert ms.grad(loss)(ms.Tensor([2.0])).asnumpy().tolist() == [3.0 * 32]
    assert manager.get_update_cell() is manager
    assert ops.is_tensor(manager.dynamic_loss_scale[0])


def test_a_model_at_a_level(mode: int) -> None:
    net = network()
    rows = ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(8)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    settings = {"grad_freeze": {"param_groups": 2, "total_steps": 40}}
    model = train.Model(
        net, loss, momentum(net), {"acc"}, boost_level="O1", boost_config_dict=settings
    )
    assert isinstance(model.train_network, boost.BoostTrainOneStepCell)
    model.train(8, rows)
    assert model.eval(rows)["acc"] > 0.5


@pytest.mark.parametrize(
    ("kind", "words", "call"),
    [
        (ValueError, "mode must be", lambda n: boost.AutoBoost("O1", {"boost": {"mode": "x"}})),
        (TypeError, "Optimizer instance", lambda n: boost.FreezeOpt(n)),
        (ValueError, "train_parameter_groups", lambda n: boost.FreezeOpt(momentum(n), None, [0])),
        (TypeError, "tuple or list", lambda n: boost.FreezeOpt(momentum(n), 1)),
        (ValueError, "int number", lambda n: boost.FreezeOpt(momentum(n), [[]], [0.5])),
        (ValueError, "boost_level", lambda n: train.Model(n, boost_level="O5")),
    ],
)
def test_errors(kind: type, words: str, call: Any) -> None:
    with pytest.raises(kind, match=words) as caught:
        call(network())
    assert "\n" not in str(caught.value)
