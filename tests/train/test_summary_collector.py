"""``SummaryCollector``: what a training leaves for TensorBoard, and landscapes of it."""

import json

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, nn, ops, train
from mindjax import dataset as ds
from tests.train.event_files import Summaries, files

IMAGES = np.linspace(0, 1, 8 * 16, dtype=np.float32).reshape(8, 1, 4, 4)
LABELS = np.arange(8, dtype=np.int32) % 2


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.flat, self.fc = nn.Flatten(), nn.Dense(16, 2, weight_init="zeros")
        self.show, self.scalar = ops.TensorSummary(), ops.ScalarSummary()

    def construct(self, x):
        out = self.fc(self.flat(x))
        self.scalar("largest", out.max())
        self.show("logits", out)
        return out


class Narrow(nn.Cell):
    """Two weights, which a plane holds without loss."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Dense(1, 2, weight_init="zeros", has_bias=False)

    def construct(self, x):
        return self.fc(x.mean((1, 2, 3)).reshape(-1, 1))


def data(batch=2):
    return ds.NumpySlicesDataset((IMAGES, LABELS), ["x", "y"], shuffle=False).batch(batch)


def model(net=None, metrics=None):
    net = net or Net()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.25, 0.9)
    return train.Model(net, loss, optimizer, metrics=metrics)


class Note(train.Callback):
    def __init__(self):
        self.losses = []

    def on_train_step_end(self, run_context):
        self.losses.append(float(run_context.original_args().net_outputs.asnumpy()))


NO_LANDSCAPE = {"collect_landscape": None}


def test_a_training(mode, tmp_path):
    note = Note()
    collector = ms.SummaryCollector(
        str(tmp_path),
        collect_freq=3,
        collect_specified_data=NO_LANDSCAPE,
        custom_lineage_data={"author": "me", "tries": 2},
        collect_tensor_freq=4,
    )
    trained = model(metrics={"accuracy": train.Accuracy()})
    trained.fit(2, data(), data(), callbacks=[note, collector])
    trained.eval(data(), callbacks=[collector])
    assert len(files(tmp_path)) == 2
    seen = Summaries(tmp_path)
    steps = [1, 3, 6]
    expected = [(s, pytest.approx(note.losses[s - 1], rel=1e-6)) for s in steps]
    assert seen.values["loss/auto"] == expected
    assert [s for s, _ in seen.values["largest"]] == steps
    assert [s for s, _ in seen.values["logits"]] == [1, 4, 8]
    assert [s for s, _ in seen.values["fc.weight/auto"]] == steps
    assert [s for s, _ in seen.values["input_data/auto"]] == steps
    assert [s for s, _ in seen.values["metrics/accuracy/auto"]] == [4, 8, 8]
    assert seen.values["fc.weight/auto"][0][1].num == 32
    (graph,) = seen.graphs
    path = "_backbone/fc/Dense" if mode == ms.GRAPH_MODE else "network/_backbone/fc/Dense"
    assert path.encode() in graph
    if mode == ms.GRAPH_MODE:
        assert b"Gradients/TrainOneStepCell/network/_backbone/fc/Dense" in graph
    assert "NumpySlicesDataset" in seen.values["train_dataset"][0][1]
    assert seen.hparams["optimizer"] == "Momentum" and seen.hparams["learning_rate"] == 0.25
    assert seen.hparams["train_network"] == "Net" and seen.hparams["author"] == "me"
    assert seen.hparams["epoch"] == 2 and seen.hparams["batch_size"] == 2
    assert seen.hparams["loss"] == pytest.approx(note.losses[-1], rel=1e-6)
    assert seen.hparams["loss_function"] == "SoftmaxCrossEntropyWithLogits"
    assert 0 <= seen.hparams["metrics/accuracy"] <= 1


def test_with_sinking_an_epoch_is_the_unit(tmp_path, monkeypatch):
    """As on a device that is no CPU."""
    ms.set_context(mode=ms.GRAPH_MODE)
    monkeypatch.setattr("mindjax.train.model.get_context", lambda name: "GPU")
    collector = ms.SummaryCollector(
        str(tmp_path), collect_freq=2, collect_specified_data=NO_LANDSCAPE
    )
    trained = model()
    trained.train(4, data(), callbacks=collector, dataset_sink_mode=True)
    seen = Summaries(tmp_path).values
    for tag in ("loss/auto", "largest", "fc.weight/auto"):
        assert [step for step, _ in seen[tag]] == [4, 8, 16]


def test_what_is_collected_is_chosen(tmp_path):
    collector = ms.SummaryCollector(
        str(tmp_path),
        collect_specified_data={"histogram_regular": ".*bias"},
        keep_default_action=False,
    )
    model().train(1, data(), callbacks=collector)
    assert sorted(Summaries(tmp_path).values) == ["fc.bias/auto", "largest", "logits"]


def test_a_landscape(tmp_path):
    interval = [1, 2, 3]
    chosen = {
        "landscape_size": 4,
        "unit": "step",
        "create_landscape": {"train": True, "result": True},
        "num_samples": 8,
        "intervals": [interval],
    }
    collector = ms.SummaryCollector(
        str(tmp_path), collect_specified_data={"collect_landscape": chosen}
    )
    note, trained = Note(), model(Narrow())
    trained.train(1, data(8).repeat(4), callbacks=[collector, note])

    def again():
        net = Narrow()
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        metrics = {"Loss": train.Loss()}
        return train.Model(net, loss, metrics=metrics), net, data(8), metrics

    landscape = ms.SummaryLandscape(str(tmp_path))
    output = tmp_path / "hills"
    landscape.gen_landscapes_with_multi_process(
        again, {"landscape_size": 3}, device_ids=[0], output=str(output)
    )
    values = Summaries(output).values if output.exists() else {}
    path = "landscape_[1, 3]/"
    assert values[path + "z"][0][1].shape == (3, 3)
    # The loss before step n + 1 is the loss of the weights kept after step n.
    np.testing.assert_allclose(values[path + "path_z"][0][1][:3], note.losses[1:4], rtol=1e-3)
    assert values[path + "path_x"][0][1][-1] == pytest.approx(0, abs=1e-12)
    assert values["landscape_[3]/z"][0][1].shape == (3, 3)
    meta = json.loads((tmp_path / "ckpt_dir" / "train_metadata.json").read_text())
    assert meta["landscape_size"] == 3 and meta["epoch_group"] == {"0": interval}
    with pytest.raises(ValueError, match="landscape_size"):
        landscape.gen_landscapes_with_multi_process(again, {"landscape_size": 2})
    with pytest.raises(ValueError, match="device_ids"):
        landscape.gen_landscapes_with_multi_process(again, device_ids=[8])
    landscape.clean_ckpt()
    with pytest.raises(FileNotFoundError, match="SummaryCollector"):
        ms.SummaryLandscape(str(tmp_path)).gen_landscapes_with_multi_process(again)


def test_gradients_of_ones_own_step(mode, tmp_path):
    net, histogram = Net(), ops.HistogramSummary()
    optimizer = nn.SGD(net.trainable_params(), 0.1)
    forward = ms.value_and_grad(lambda x: net(x).sum(), None, optimizer.parameters)

    class Step(nn.Cell):
        def construct(self, x):
            loss, grads = forward(x)
            for parameter, grad in zip(optimizer.parameters, grads, strict=True):
                histogram(f"gradient/{parameter.name}", grad)
            optimizer(grads)
            return loss

    step = Step()
    with ms.SummaryRecord(str(tmp_path)) as record:
        step(Tensor(IMAGES)).asnumpy()
        record.record(1)
    histogram = Summaries(tmp_path).values["gradient/fc.bias"][0][1]
    assert histogram.min == histogram.max == 8


def test_errors(tmp_path):
    folder = str(tmp_path)
    for kwargs, error, word in (
        ({"summary_dir": 3}, TypeError, "summary_dir"),
        ({"collect_freq": 0}, ValueError, "collect_freq"),
        ({"collect_freq": True}, TypeError, "collect_freq"),
        ({"collect_tensor_freq": -1}, ValueError, "collect_tensor_freq"),
        ({"max_file_size": 0}, ValueError, "max_file_size"),
        ({"keep_default_action": 1}, TypeError, "keep_default_action"),
        ({"collect_specified_data": 3}, TypeError, "collect_specified_data"),
        ({"collect_specified_data": {"collect_all": True}}, ValueError, "collect_all"),
        ({"collect_specified_data": {"collect_graph": 1}}, TypeError, "collect_graph"),
        ({"collect_specified_data": {"histogram_regular": "("}}, ValueError, "histogram_regular"),
        ({"collect_specified_data": {"collect_landscape": 3}}, TypeError, "collect_landscape"),
        (
            {"collect_specified_data": {"collect_landscape": {"intervals": [[1]]}}},
            ValueError,
            "intervals",
        ),
        ({"custom_lineage_data": {"a": [1]}}, TypeError, "custom_lineage_data"),
        ({"export_options": {"a": "npy"}}, ValueError, "export_options"),
    ):
        with pytest.raises(error, match=word):
            ms.SummaryCollector(**{"summary_dir": folder, **kwargs})
    collectors = [ms.SummaryCollector(folder), ms.SummaryCollector(folder)]
    with pytest.raises((ValueError, RuntimeError), match="one"):
        model().train(1, data(), callbacks=collectors)
    assert ms.SummaryRecord.count == 0
