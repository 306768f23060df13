"""Data sinking: the same numbers in blocks of steps, and what keeps steps apart."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import mindjax as ms
import mindjax.dataset as ds
from mindjax import nn, ops, train
from mindjax.core.caches import compilations
from mindjax.train import sinking

RNG = np.random.RandomState(4)
X = RNG.randn(44, 6).astype(np.float32)
Y = RNG.randint(0, 3, 44).astype(np.int32)


def rows(batch: int = 4) -> Any:
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(batch)


def network() -> nn.Cell:
    ms.set_seed(5)
    return nn.SequentialCell(nn.Dense(6, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dense(8, 3))


def trained(sink: bool, callbacks: Any = None, **options: Any) -> Any:
    ms.set_context(mode=ms.GRAPH_MODE)
    net = network()
    rate = nn.exponential_decay_lr(0.1, 0.9, 40, 10, 1)
    optimizer = nn.Adam(net.trainable_params(), rate)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = train.Model(net, loss, optimizer, **options)
    model.train(3, rows(), callbacks=callbacks, dataset_sink_mode=sink, sink_size=-1)
    return {p.name: p.asnumpy() for p in model.train_network.get_parameters()}


class Losses(train.Callback):
    """Keeps the loss of every epoch's last step."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[float] = []

    def on_train_epoch_end(self, run_context: Any) -> None:
        self.found.append(float(run_context.original_args().net_outputs.asnumpy()))


def test_blocks_give_the_same_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sinking, "_STEPS", 4)
    calls = []
    run = sinking.SunkSteps._run
    monkeypatch.setattr(
        sinking.SunkSteps, "_run", lambda self, *a: calls.append(run(self, *a)) or calls[-1]
    )
    off, on = Losses(), Losses()
    plain, sunk = trained(False, [off]), trained(True, [on])
    # 11 steps: three blocks of three, and two steps by themselves.
    assert [c is not None for c in calls] == [True, True, True, False] * 3
    np.testing.assert_allclose(on.found, off.found, rtol=1e-6)
    for name, value in plain.items():
        np.testing.assert_allclose(sunk[name], value, rtol=1e-5, atol=1e-6, err_msg=name)


def test_every_loss_is_shown(capsys: pytest.CaptureFixture[str]) -> None:
    trained(False, [train.LossMonitor()])
    plain = capsys.readouterr().out
    trained(True, [train.LossMonitor()])
    shown = capsys.readouterr().out
    assert plain.count("step:") == 33
    assert [line.split("loss is ")[0] for line in shown.splitlines()] == [
        line.split("loss is ")[0] for line in plain.splitlines()
    ]
    for one, two in zip(plain.splitlines(), shown.splitlines(), strict=True):
        assert abs(float(one.split()[-1]) - float(two.split()[-1])) < 1e-5


class Halving(train.Callback):
    """Changes the weights between two steps."""

    def on_train_step_end(self, run_context: Any) -> None:
        weight = run_context.original_args().network.trainable_params()[0]
        weight.set_data(weight * 0.5)


def test_what_acts_between_steps_keeps_them_apart() -> None:
    plain, sunk = trained(False, [Halving()]), trained(True, [Halving()])
    for name, value in plain.items():
        np.testing.assert_array_equal(sunk[name], value, err_msg=name)


class Counting(nn.Cell):
    """A network with an attribute that each step writes."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = network()
        self.steps = 0

    def construct(self, x: Any) -> Any:
        self.steps = self.steps + 1
        return self.inner(x) * 1.0


@pytest.mark.parametrize("kind", ["attribute", "convolution"])
def test_what_a_loop_cannot_hold_runs_step_by_step(kind: str) -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    if kind == "attribute":
        net: Any = Counting()
    else:
        net = nn.SequentialCell(nn.Conv1d(1, 2, 3), nn.Flatten(), nn.Dense(12, 3))
    data = {"x": X if kind == "attribute" else X[:, None], "y": Y}
    dataset = ds.NumpySlicesDataset(data, shuffle=False).batch(4)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = train.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    before = [p.asnumpy() for p in net.trainable_params()]
    model.train(1, dataset, dataset_sink_mode=True)
    assert all(
        (a != p.asnumpy()).any() for a, p in zip(before, net.trainable_params(), strict=True)
    )
    if kind == "attribute":
        assert net.steps == 11


def test_no_compilation_after_the_first_epoch() -> None:
    counts = []

    class Count(train.Callback):
        def on_train_epoch_end(self, run_context: Any) -> None:
            counts.append(sum(compilations().values()))

    trained(True, [Count()])
    assert counts[0] == counts[1] == counts[2]


def test_a_second_training_compiles_nothing() -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    net = network()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    model = train.Model(net, loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    model.train(1, rows(), dataset_sink_mode=True)
    before = compilations()
    model.train(2, rows(), dataset_sink_mode=True)
    assert compilations() == before


def test_mixed_precision_sinks_too() -> None:
    ms.set_context(mode=ms.GRAPH_MODE)
    found = []
    for sink in (False, True):
        net = network()
        optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        manager = train.DynamicLossScaleManager(2**10, 2, 20)
        model = train.Model(net, loss, optimizer, amp_level="O2", loss_scale_manager=manager)
        model.train(10, rows(), dataset_sink_mode=sink)
        scale = model.train_network.scale_sense.asnumpy()
        assert scale > 2**10
        assert net(ms.Tensor(X)).dtype is ms.float16
        found.append([scale, *(p.asnumpy() for p in net.get_parameters())])
    for plain, sunk in zip(*found, strict=True):
        np.testing.assert_allclose(sunk, plain, rtol=1e-3, atol=1e-3)


def test_data_sink() -> None:
    weight = ms.Parameter(ms.Tensor([1.0]), name="w")
    dataset = ds.NumpySlicesDataset({"x": np.arange(4, dtype=np.float32)}, shuffle=False)

    def add(x: Any) -> Any:
        ops.assign(weight, weight + x)
        return weight + 0.0

    plain = train.data_sink(add, dataset, 3)
    assert [float(plain().asnumpy()[0]) for _ in range(2)] == [4.0, 8.0]
    weight.set_data(ms.Tensor([1.0]))
    sunk = train.data_sink(add, dataset, 3, jit_config=ms.JitConfig())
    assert [float(sunk().asnumpy()[0]) for _ in range(2)] == [4.0, 8.0]
    with pytest.raises(ValueError, match="sink_size"):
        train.data_sink(add, dataset, 0)
    with pytest.raises(TypeError, match="input_signature"):
        train.data_sink(add, dataset, 1, input_signature=ms.Tensor([1, 2]))


def test_a_network_connected_with_its_data() -> None:
    dataset = ds.NumpySlicesDataset({"x": X}, shuffle=False).batch(4)
    net = nn.Dense(6, 2)
    helper = train.DatasetHelper(dataset, dataset_sink_mode=True, sink_size=5)
    connected = train.connect_network_with_dataset(net, helper)
    outs = [connected().asnumpy() for _ in range(3)]
    np.testing.assert_allclose(outs[2], net(ms.Tensor(X[8:12])).asnumpy(), rtol=1e-6)
    with pytest.raises(RuntimeError, match="sink mode"):
        train.connect_network_with_dataset(net, train.DatasetHelper(dataset, False))
