"""What the original has no word on: the three snippets, sinking, interrupts, threads, waiting."""

import inspect
import json
import os
import signal
import threading
import time

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, nn, train
from mindjax.train import model as model_module

X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(12, 2)
Y = (X @ np.array([[1.0], [-2.0]], np.float32) + 0.5).astype(np.float32)


class Rows:
    """A dataset of the kind that Model asks for: rows, epoch after epoch."""

    def __init__(self, rows):
        self.rows, self.epochs = rows, 0

    def get_dataset_size(self):
        return len(self.rows)

    def create_tuple_iterator(self, num_epochs=-1, do_copy=False):
        return RowIterator(self)


class RowIterator:
    def __init__(self, dataset):
        self.dataset, self.at = dataset, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.at == len(self.dataset.rows):
            self.at = 0
            self.dataset.epochs += 1
            raise StopIteration
        self.at += 1
        return [Tensor(part) for part in self.dataset.rows[self.at - 1]]


def rows(count=3, size=4):
    return Rows(
        [(X[i * size : (i + 1) * size], Y[i * size : (i + 1) * size]) for i in range(count)]
    )


def line():
    return nn.Dense(2, 1, weight_init="ones", bias_init="zeros")


def model(rate=0.1, net=None, **kw):
    net = net or line()
    return train.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), rate, 0.9), **kw)


def weights(m):
    return [p.asnumpy().tolist() for p in m.train_network.get_parameters()]


class Note(train.Callback):
    """Notes the number of the step at each end of a step."""

    def __init__(self):
        self.steps, self.epochs = [], []

    def on_train_step_end(self, run_context):
        self.steps.append(run_context.original_args().cur_step_num)

    def on_train_epoch_end(self, run_context):
        self.epochs.append(run_context.original_args().cur_step_num)


def test_fit_with_the_dataset_first(mode):
    expected = model()
    expected.fit(2, rows())
    for call in (
        lambda m: m.fit(rows(), epochs=2),
        lambda m: m.fit(epochs=2, train_dataset=rows()),
    ):
        found = model()
        call(found)
        assert weights(found) == weights(expected)
    names = list(inspect.signature(train.Model.fit).parameters)
    assert names[:3] == ["self", "epoch", "train_dataset"]


def test_optimizer_without_parameters(mode):
    expected = model()
    expected.train(2, rows())
    net = line()
    found = train.Model(net, nn.MSELoss(), nn.Momentum(learning_rate=0.1, momentum=0.9))
    found.train(2, rows())
    assert weights(found) == weights(expected)


def test_sinking_on_an_accelerator(mode, monkeypatch):
    """Epochs of ``sink_size`` steps go on where the last stopped; GRAPH shows the last step."""
    monkeypatch.setattr(model_module, "get_context", lambda name: "GPU")
    note = Note()
    data = rows()
    sunk = model()
    sunk.train(3, data, note, dataset_sink_mode=True, sink_size=2)
    assert note.epochs == [2, 4, 6]
    assert note.steps == ([2, 4, 6] if mode == ms.GRAPH_MODE else [1, 2, 3, 4, 5, 6])
    whole = model()
    whole.train(2, rows())
    assert weights(sunk) == weights(whole)


def test_sink_size_beyond_the_dataset(mode, monkeypatch):
    monkeypatch.setattr(model_module, "get_context", lambda name: "GPU")
    note = Note()
    model().train(1, rows(), note, dataset_sink_mode=True, sink_size=7)
    assert note.epochs == [7]


class Interrupt(train.Callback):
    """Raises KeyboardInterrupt as Ctrl-C does, while a step runs."""

    def __init__(self, step):
        self.step = step

    def on_train_step_begin(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            signal.raise_signal(signal.SIGINT)


@pytest.fixture
def own_interrupts():
    """Python's own handler of Ctrl-C, whatever stood there before."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("own_interrupts")
def test_interrupt_leaves_the_network_and_saves_it(mode, tmp_path):
    config = train.CheckpointConfig(save_checkpoint_steps=100, exception_save=True)
    saver = train.ModelCheckpoint("net", str(tmp_path), config)
    m = model()
    with pytest.raises(KeyboardInterrupt):
        m.train(5, rows(), [saver, Interrupt(6)])
    expected = model()
    expected.train(5, rows(), [Stop(5)])
    assert weights(m) == weights(expected)
    assert os.listdir(tmp_path) == ["net-2_3_breakpoint.ckpt"]
    found = ms.load_checkpoint(str(tmp_path / "net-2_3_breakpoint.ckpt"))
    saved = [found[p.name].asnumpy().tolist() for p in m.train_network.get_parameters()]
    assert saved == weights(expected)
    m.train(1, rows())


class Stop(train.Callback):
    def __init__(self, step):
        self.step = step

    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            run_context.request_stop()


def test_an_evaluation_inside_a_step(mode):
    """A callback that evaluates leaves the training as it was."""
    m = model(metrics={"mae"})
    flags = []

    class Evaluate(train.Callback):
        def on_train_step_end(self, run_context):
            flags.append(m.predict_network.training)
            m.eval(rows())

    m.train(2, rows(), Evaluate())
    expected = model()
    expected.train(2, rows())
    assert weights(m) == weights(expected) and flags == [True] * 6


def test_a_thread_saves_while_training(mode, tmp_path):
    """Each file holds the weights of one moment between two steps."""
    m = model(0.01)
    history = {json.dumps(weights(m))}
    done = threading.Event()
    files = []

    def save():
        while not done.is_set():
            path = str(tmp_path / f"{len(files)}.ckpt")
            ms.save_checkpoint(m.train_network, path)
            files.append(path)

    class Keep(train.Callback):
        def on_train_step_end(self, run_context):
            history.add(json.dumps(weights(m)))
            if len(files) > 4:
                run_context.request_stop()

    thread = threading.Thread(target=save)
    thread.start()
    try:
        m.train(1000, rows(), Keep())
    finally:
        done.set()
        thread.join()
    assert len(files) > 4
    names = [p.name for p in m.train_network.get_parameters()]
    for path in files:
        found = ms.load_checkpoint(path)
        assert list(found) == names
        moment = json.dumps([value.asnumpy().tolist() for value in found.values()])
        if mode == ms.GRAPH_MODE:
            assert moment in history
    assert np.isfinite(m.train_network.trainable_params()[0].asnumpy()).all()


def test_steps_between_prints_are_not_waited_for(monkeypatch, capsys):
    """LossMonitor reads losses only when it prints, and then all of them."""
    reads = []
    real = Tensor.asnumpy

    def counted(self):
        reads.append(1)
        return real(self)

    class Count(train.Callback):
        def on_train_step_end(self, run_context):
            seen.append(len(reads))

    seen = []
    m = model()
    monkeypatch.setattr(Tensor, "asnumpy", counted)
    monkeypatch.setenv("MINDJAX_PROGRESS", "0")
    m.train(2, rows(), [train.LossMonitor(4), Count()])
    # The three of the first epoch are read at its end, the fourth when it is printed.
    assert seen == [0, 0, 0, 4, 4, 4]
    assert capsys.readouterr().out.count("loss is") == 1


def test_the_step_that_is_not_finite_is_named():
    bad = X.copy()
    bad[5] = np.inf
    data = Rows([(X[:4], Y[:4]), (bad[4:8], Y[4:8]), (X[8:], Y[8:])])
    with pytest.raises(ValueError, match="In epoch: 1 step: 2, loss is NAN or INF"):
        model().train(2, data, train.LossMonitor(3))


def test_model_checkpoint_of_a_second_training(tmp_path):
    saver = train.ModelCheckpoint("net", str(tmp_path), train.CheckpointConfig(2))
    m = model()
    m.train(1, rows(), saver)
    for name in os.listdir(tmp_path):
        os.unlink(tmp_path / name)
    m.train(1, rows(), saver)
    assert sorted(os.listdir(tmp_path)) == ["net-1_2.ckpt", "net-1_3.ckpt"]


def test_resuming_gives_the_same_weights(mode, tmp_path):
    """Optimizer state included: 4 epochs equal 2 epochs, a file, and 2 epochs."""
    whole = model()
    whole.train(4, rows())
    first = model()
    first.train(2, rows())
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint(first.train_network, path)
    second = model()
    missing, unused = ms.load_param_into_net(second.train_network, ms.load_checkpoint(path))
    assert missing == [] and unused == []
    second.train(4, rows(), initial_epoch=2)
    assert weights(second) == weights(whole)


@pytest.mark.parametrize("seconds", [0.0, 3600.0])
def test_save_checkpoint_seconds(tmp_path, monkeypatch, seconds):
    clock = iter(range(0, 10**9, 10))
    monkeypatch.setattr(time, "time", lambda: float(next(clock)) * (seconds == 0.0))
    config = train.CheckpointConfig(0, save_checkpoint_seconds=5)
    model().train(1, rows(), train.ModelCheckpoint("n", str(tmp_path), config))
    expected = ["n-1_1.ckpt", "n-1_2.ckpt", "n-1_3.ckpt"] if seconds == 0.0 else ["n-1_3.ckpt"]
    assert sorted(os.listdir(tmp_path)) == expected


def test_names_by_functions(tmp_path):
    saver = train.ModelCheckpoint(
        prefix=lambda p: f"at{p.cur_step_num}",
        directory=lambda p: str(tmp_path / f"epoch{p.cur_epoch_num}"),
        config=train.CheckpointConfig(3),
    )
    model().train(2, rows(), saver)
    found = {name: os.listdir(tmp_path / name) for name in sorted(os.listdir(tmp_path))}
    assert found == {"epoch1": ["at3.ckpt"], "epoch2": ["at6.ckpt"]}


def test_time_of_an_epoch_is_without_its_evaluation(monkeypatch, capsys):
    now = [100.0]
    monkeypatch.setattr(time, "time", lambda: now[0])
    monitor = train.TimeMonitor()
    stages = (("on_train_epoch_begin", "train", 3.0), ("on_eval_epoch_begin", "eval", 5.0))
    for stage, mode, seconds in (
        *stages,
        ("on_eval_epoch_end", "eval", 0.0),
        ("on_train_epoch_end", "train", 0.0),
    ):
        params = train.callback._InternalCallbackParam(mode=mode, batch_num=2)
        getattr(monitor, stage)(train.RunContext(params))
        now[0] += seconds
    assert capsys.readouterr().out.splitlines() == [
        "Eval epoch time: 5000.000 ms, per step time: 2500.000 ms",
        "Train epoch time: 3000.000 ms, per step time: 1500.000 ms",
    ]


def test_monitored_zero():
    """MindSpore: a monitored value of exactly 0 counts as absent."""
    stop = train.EarlyStopping(monitor="mae", patience=1)
    params = train.callback._InternalCallbackParam(eval_results={"mae": 0.0}, cur_epoch_num=1)
    context = train.RunContext(params)
    stop.on_train_epoch_end(context)
    assert stop.wait == 0 and not context.get_stop_requested()


def test_early_stopping_baseline():
    """An improvement counts only when it passes the baseline."""
    stop = train.EarlyStopping(monitor="mae", patience=2, baseline=0.5)
    waits = []
    for value in (0.9, 0.4, 0.6):
        params = train.callback._InternalCallbackParam(eval_results={"mae": value}, cur_epoch_num=1)
        stop.on_train_epoch_end(train.RunContext(params))
        waits.append(stop.wait)
    assert waits == [1, 0, 1]


def test_a_parameter_that_is_not_set():
    params = train.callback._InternalCallbackParam(a=1)
    params.b = 2
    assert params["b"] == params.b == 2 and not hasattr(params, "c")
    for kind in (KeyError, AttributeError):
        with pytest.raises(kind):
            _ = params.c


UNSUPPORTED = {
    "backend": lambda: model().predict(Tensor(X), backend="lite"),
    "config": lambda: model().predict(Tensor(X), config={}),
    "incremental": lambda: train.CheckpointConfig(incremental=True),
}


def test_layouts_need_several_devices():
    for call in (model().infer_train_layout, model().infer_predict_layout):
        with pytest.raises(RuntimeError, match="auto_parallel"):
            call(rows())


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_argument(name):
    with pytest.raises(NotImplementedError, match=f"{name}.* (use|leave|save)") as caught:
        UNSUPPORTED[name]()
    assert __file__ in str(caught.value)


def test_loss_scale(mode):
    """A fixed scale changes nothing but the numbers in between."""
    net = line()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9, loss_scale=1024.0)
    scaled = train.Model(
        net,
        nn.MSELoss(),
        optimizer,
        loss_scale_manager=train.FixedLossScaleManager(1024.0, drop_overflow_update=False),
    )
    scaled.train(2, rows())
    expected = model()
    expected.train(2, rows())
    for found, wanted in zip(weights(scaled), weights(expected), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_build():
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        built = model(metrics={"mae"})
        before = weights(built)
        built.build(rows(), rows())
        assert weights(built) == before
        built.train(1, rows())
        expected = model()
        expected.train(1, rows())
        assert weights(built) == weights(expected)
        with pytest.raises(ValueError, match="can not both be None"):
            built.build()
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    with pytest.raises(RuntimeError, match="GRAPH_MODE"):
        model().build(rows())


@pytest.mark.parametrize("level", [0.5, "a"])
def test_bad_loss_scale(level):
    error = ValueError if level == 0.5 else TypeError
    with pytest.raises(error, match="loss_scale"):
        train.FixedLossScaleManager(level)


def test_metrics_print_as_plain_numbers():
    metric = train.Accuracy()
    values = {"accuracy": metric(np.eye(3), np.array([0, 1, 1]))}
    assert str(values) == "{'accuracy': 0.6666666666666666}"
    assert isinstance(values["accuracy"], np.float64) and values["accuracy"].round(2) == 0.67
