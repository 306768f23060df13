"""Small programs over Model, callbacks and metrics, written as a MindSpore user writes them.

They run on the original (record.py) and on MindJAX (test_model.py); each returns JSON.
"""

import contextlib
import functools
import io
import os
import re
import tempfile

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import Tensor, nn
from mindspore import train as T

GOLDENS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "goldens")
X = np.linspace(-1, 1, 24, dtype=np.float32).reshape(12, 2)
Y = (X @ np.array([[1.0], [-2.0]], np.float32) + 0.5).astype(np.float32)
LABELS = (np.arange(12) % 3).astype(np.int32)


def outcome(case):
    """Run a scenario and describe its result or its error."""
    try:
        return {"ok": case()}
    except BaseException as error:
        text = str(error).splitlines()
        return {"error": type(error).__name__, "message": text[0] if text else ""}


def printed(call):
    """Run ``call`` and return the lines that it prints, times blanked."""
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        call()
    return re.sub(r"[ \d.]+ ms", " # ms", stream.getvalue()).splitlines()


def data(batch=4, columns=None):
    """Give the regression data in batches."""
    columns = columns or {"x": X, "y": Y}
    return ds.NumpySlicesDataset(columns, shuffle=False).batch(batch)


def classes(batch=4):
    """Give the classification data in batches."""
    return data(batch, {"x": X, "y": LABELS})


class Line(nn.Cell):
    """y = x w + b with known weights."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Dense(2, 1, weight_init=Tensor([[0.3, 0.2]], ms.float32), bias_init="zeros")

    def construct(self, x):
        return self.dense(x)


class Classes(nn.Cell):
    """Three logits with known weights."""

    def __init__(self):
        super().__init__()
        weight = Tensor(np.arange(6).reshape(3, 2) / 10, ms.float32)
        self.dense = nn.Dense(2, 3, weight_init=weight, bias_init="zeros")

    def construct(self, x):
        return self.dense(x)


def model(rate=0.1, **kw):
    """Give a Model of the line."""
    net = Line()
    optimizer = nn.Momentum(net.trainable_params(), rate, 0.9)
    return T.Model(net, nn.MSELoss(), optimizer, **kw)


def classifier(metrics=None, **kw):
    """Give a Model of the three classes."""
    net = Classes()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.SGD(net.trainable_params(), 0.5)
    return T.Model(net, loss, optimizer, metrics=metrics or {"accuracy"}, **kw)


class Events(T.Callback):
    """Notes every call and some parameters."""

    def __init__(self):
        self.seen = []

    def note(self, name, run_context):
        """Append one line."""
        p = run_context.original_args()
        keys = ("cur_epoch_num", "cur_step_num", "batch_num", "mode", "epoch_num")
        self.seen.append([name, *[p.get(key) for key in keys], "net_outputs" in p, "metrics" in p])


def _hook(name):
    return lambda self, run_context: self.note(name, run_context)


for _stage in ("begin", "end", "epoch_begin", "epoch_end", "step_begin", "step_end"):
    for _phase in ("train", "eval"):
        _name = f"on_{_phase}_{_stage}"
        setattr(Events, _name, _hook(_name))


def events(call):
    """Return what an Events callback sees."""
    seen = Events()
    call(seen)
    return seen.seen


def number(value):
    """Make a JSON number or list of a metric."""
    return np.asarray(value, np.float64).tolist()


def history(valid=False, **kw):
    """Train and return what History holds."""
    note = T.History()
    m = classifier({"accuracy", "loss"})
    if valid:
        m.fit(3, classes(), classes(), callbacks=[note], **kw)
    else:
        m.train(3, classes(), callbacks=[note])
    return note.epoch, {key: number(value) for key, value in note.history.items()}


def checkpoints(epochs=2, again=0, batch=4, prefix="net", keys=False, **config):
    """Train with ModelCheckpoint and list the files it leaves."""
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(1 + again):
            callback = T.ModelCheckpoint(prefix, folder, T.CheckpointConfig(**config))
            model().train(epochs, data(batch), callbacks=callback)
        files = sorted(f for f in os.listdir(folder) if not f.endswith(".meta"))
        latest = os.path.basename(callback.latest_ckpt_file_name)
        result = [files, latest]
        if keys:
            kind = config.get("format", "ckpt")
            loaded = ms.load_checkpoint(os.path.join(folder, latest), format=kind)
            result.append({k: number(v.asnumpy()) for k, v in loaded.items()})
        for name in os.listdir(folder):
            os.chmod(os.path.join(folder, name), 0o600)
        return result


class Fail(T.Callback):
    """Raises at one step."""

    def __init__(self, step, error=RuntimeError):
        self.step, self.error = step, error

    def on_train_step_end(self, run_context):
        """Raise."""
        if run_context.original_args().cur_step_num == self.step:
            raise self.error("stop here")


def failing(error):
    """Train until an error with exception_save and list the files."""
    with tempfile.TemporaryDirectory() as folder:
        config = T.CheckpointConfig(save_checkpoint_steps=100, exception_save=True)
        callbacks = [T.ModelCheckpoint("net", folder, config), Fail(5, error)]
        try:
            model().train(3, data(), callbacks=callbacks)
        except BaseException as caught:
            name = type(caught).__name__
        files = sorted(f for f in os.listdir(folder) if not f.endswith(".meta"))
        for file in files:
            os.chmod(os.path.join(folder, file), 0o600)
        return name, files


class Stop(T.Callback):
    """Requests a stop at one step."""

    def __init__(self, step):
        self.step = step

    def on_train_step_end(self, run_context):
        """Request it."""
        if run_context.original_args().cur_step_num >= self.step:
            run_context.request_stop()


def rates(call):
    """Train with a callback that changes the rate and return the rates after each epoch."""
    m = model()
    seen = []
    note = T.LambdaCallback(
        on_train_epoch_end=lambda c: seen.append(
            number(c.original_args().optimizer.learning_rate.asnumpy())
        )
    )
    lines = printed(lambda: call(m, note))
    return seen, lines


def plateau(**kw):
    """Run ReduceLROnPlateau on the training loss."""
    return rates(
        lambda m, note: m.train(
            6, data(), callbacks=[T.ReduceLROnPlateau(monitor="loss", verbose=True, **kw), note]
        )
    )


def early(epochs=6, fit=True, **kw):
    """Run EarlyStopping and return the epochs trained, the weights and the lines."""
    m = classifier({"accuracy", "loss"})
    note = T.History()
    stop = T.EarlyStopping(verbose=True, **kw)
    if fit:
        lines = printed(lambda: m.fit(epochs, classes(), classes(), callbacks=[note, stop]))
    else:
        lines = printed(lambda: m.train(epochs, classes(), callbacks=[note, stop]))
    weight = number(next(iter(m.train_network.trainable_params())).asnumpy())
    return note.epoch["epoch"], stop.stopped_epoch, number(stop.best), weight, lines


def eval_results(**kw):
    """Note eval_results at the end of each training epoch of fit."""
    seen = []

    class Note(T.Callback):
        def on_train_epoch_end(self, run_context):
            p = run_context.original_args()
            seen.append({k: number(v) for k, v in p.get("eval_results", {}).items()})

    classifier({"accuracy", "loss"}).fit(3, classes(5), classes(5), callbacks=[Note()], **kw)
    return seen


class Two(nn.Cell):
    """A loss network with two outputs."""

    def __init__(self):
        super().__init__()
        self.line = Line()
        self.loss = nn.MSELoss()

    def construct(self, x, y):
        loss = self.loss(self.line(x), y)
        return loss, loss * 2


def nan_data():
    """Give data whose second batch is not finite."""
    x = X.copy()
    x[5] = np.nan
    return data(4, {"x": x, "y": Y})


def fit_lines(**kw):
    """Return what LossMonitor prints in fit."""
    m = classifier({"accuracy"})
    return printed(lambda: m.fit(2, classes(6), classes(6), callbacks=T.LossMonitor(), **kw))


def no_loss_lines():
    """Train a network that has its loss inside."""
    m = T.Model(Two())
    return printed(lambda: m.train(1, data(), callbacks=T.LossMonitor()))


def trained(batch=4, **kw):
    """Return the weights after training."""
    m = model()
    m.train(2, data(batch), **kw)
    return [number(p.asnumpy()) for p in m.train_network.trainable_params()]


OPTIMIZERS = {
    "momentum": lambda parameters: nn.Momentum(parameters, 0.1, 0.9),
    "adam": lambda parameters: nn.Adam(parameters, 0.05),
    "sgd": lambda parameters: nn.SGD(parameters, 0.1, momentum=0.5),
    "adam_weight_decay": lambda parameters: nn.AdamWeightDecay(parameters, 0.05),
}


def with_optimizer(name):
    """Give a Model of the line with an optimizer of a name."""
    net = Line()
    return T.Model(net, nn.MSELoss(), OPTIMIZERS[name](net.trainable_params()))


def resume_file(name):
    """Give the path of the checkpoint that the original wrote after one epoch."""
    return os.path.join(GOLDENS, "ckpt", f"resume_{name}.ckpt")


def resumed(name, path=None):
    """Go on from a checkpoint and return what is printed."""
    m = with_optimizer(name)
    ms.load_param_into_net(m.train_network, ms.load_checkpoint(path or resume_file(name)))
    return printed(lambda: m.train(3, data(), T.LossMonitor(), initial_epoch=1))


def predict():
    """Predict one batch."""
    return number(model().predict(Tensor(X)).asnumpy())


def set_train_flags():
    """Tell the training flag of the backbone after each call."""
    m = classifier()
    net = m.predict_network
    flags = [net.training]
    m.train(1, classes())
    flags.append(net.training)
    m.eval(classes())
    flags.append(net.training)
    m.train(1, classes())
    m.predict(Tensor(X))
    flags.append(net.training)
    return flags


def networks():
    """Tell the classes of the three networks."""
    m = classifier()
    plain = T.Model(Line(), nn.MSELoss())
    bare = T.Model(Line())
    parts = (
        m.train_network,
        m.eval_network,
        m.predict_network,
        plain.train_network,
        bare.train_network,
        bare.eval_network,
    )
    return [type(part).__name__ for part in parts]


CASES = {
    "loss_monitor": lambda: printed(lambda: model().train(2, data(), callbacks=T.LossMonitor())),
    "loss_monitor_2": lambda: printed(lambda: model().train(3, data(), callbacks=T.LossMonitor(2))),
    "loss_monitor_0": lambda: printed(lambda: model().train(1, data(), callbacks=T.LossMonitor(0))),
    "loss_monitor_nan": lambda: model().train(2, nan_data(), callbacks=T.LossMonitor()),
    "loss_monitor_nan_100": lambda: model().train(2, nan_data(), callbacks=T.LossMonitor(100)),
    "loss_monitor_nan_0": lambda: model().train(2, nan_data(), callbacks=T.LossMonitor(0)),
    "loss_monitor_bad": lambda: T.LossMonitor(-1),
    "loss_monitor_float": lambda: T.LossMonitor(1.5),
    "loss_monitor_two": no_loss_lines,
    "loss_monitor_fit": fit_lines,
    "loss_monitor_sink": lambda: printed(
        lambda: model().train(2, data(), T.LossMonitor(), dataset_sink_mode=True, sink_size=2)
    ),
    "time_monitor": lambda: printed(lambda: model().train(2, data(), callbacks=[T.TimeMonitor()])),
    "time_monitor_data": lambda: printed(
        lambda: model().train(1, data(), callbacks=[T.TimeMonitor(data_time=True)])
    ),
    "time_monitor_eval": lambda: printed(
        lambda: classifier().eval(classes(), callbacks=[T.TimeMonitor(3)])
    ),
    "time_monitor_fit": lambda: printed(
        lambda: classifier().fit(2, classes(), classes(), callbacks=[T.TimeMonitor()])
    ),
    "time_monitor_bad": lambda: T.TimeMonitor(data_time=1),
    "events_train": lambda: events(lambda e: model().train(2, data(), callbacks=e)),
    "events_sink": lambda: events(
        lambda e: model().train(2, data(), callbacks=e, dataset_sink_mode=True, sink_size=2)
    ),
    "events_initial": lambda: events(
        lambda e: model().train(3, data(), callbacks=[e], initial_epoch=2)
    ),
    "events_eval": lambda: events(lambda e: classifier().eval(classes(), callbacks=e)),
    "events_fit": lambda: events(lambda e: classifier().fit(2, classes(), classes(), callbacks=e)),
    "events_fit_2": lambda: events(
        lambda e: classifier().fit(4, classes(), classes(), valid_frequency=2, callbacks=e)
    )[-30:],
    "events_fit_list": lambda: [
        e[0]
        for e in events(
            lambda e: classifier().fit(4, classes(), classes(), valid_frequency=[1, 4], callbacks=e)
        )
        if e[0] == "on_eval_begin" or e[0] == "on_train_epoch_end"
    ],
    "events_stop": lambda: events(lambda e: model().train(3, data(), callbacks=[e, Stop(5)])),
    "old_methods_fit": lambda: model(metrics={"mae"}).fit(
        1, data(), callbacks=type("Old", (T.Callback,), {"step_end": lambda s, c: None})()
    ),
    "old_methods_train": lambda: events_of_old(),
    "bad_callback": lambda: model().train(1, data(), callbacks=[3]),
    "bad_callback_type": lambda: model().train(1, data(), callbacks=3),
    "history": history,
    "history_fit": lambda: history(True),
    "eval_results": eval_results,
    "eval_results_2": lambda: eval_results(valid_frequency=2),
    "trained": trained,
    "trained_sink": lambda: trained(dataset_sink_mode=True),
    "trained_sink_2": lambda: trained(dataset_sink_mode=True, sink_size=2),
    "trained_initial": lambda: trained(initial_epoch=1),
    "trained_stop": lambda: trained(callbacks=Stop(2)),
    "rates_scheduler": lambda: rates(
        lambda m, note: m.train(
            3, data(), [T.LearningRateScheduler(lambda r, s: r * 0.5 if s == 4 else r), note]
        )
    ),
    "plateau": lambda: plateau(patience=1, min_delta=10),
    "plateau_cooldown": lambda: plateau(patience=1, min_delta=10, cooldown=2, factor=0.5),
    "plateau_min": lambda: plateau(patience=2, min_delta=10, min_lr=0.05),
    "plateau_max": lambda: plateau(patience=1, mode="max", factor=0.5),
    "plateau_mode": lambda: T.ReduceLROnPlateau(mode="low"),
    "plateau_factor": lambda: T.ReduceLROnPlateau(factor=1.5),
    "plateau_factor_int": lambda: T.ReduceLROnPlateau(factor=2),
    "plateau_patience": lambda: T.ReduceLROnPlateau(patience=-1),
    "plateau_monitor": lambda: T.ReduceLROnPlateau(monitor=3),
    "early_loss": lambda: early(monitor="loss", patience=2, min_delta=0.05),
    "early_eval": lambda: early(patience=1, min_delta=0.05),
    "early_accuracy": lambda: early(monitor="accuracy", patience=2),
    "early_restore": lambda: early(monitor="accuracy", patience=2, restore_best_weights=True),
    "early_baseline": lambda: early(patience=2, baseline=0.001),
    "early_train": lambda: early(fit=False, monitor="loss", patience=1, min_delta=0.01),
    "early_absent": lambda: early(fit=False, patience=1),
    "early_mode": lambda: T.EarlyStopping(mode="low"),
    "early_delta": lambda: T.EarlyStopping(min_delta="a"),
    "early_verbose": lambda: T.EarlyStopping(verbose=1),
    "ckpt_default": checkpoints,
    "ckpt_steps": lambda: checkpoints(3, save_checkpoint_steps=4),
    "ckpt_max": lambda: checkpoints(3, save_checkpoint_steps=1, keep_checkpoint_max=2),
    "ckpt_again": lambda: checkpoints(1, again=2, save_checkpoint_steps=3),
    "ckpt_async": lambda: checkpoints(2, save_checkpoint_steps=3, async_save=True),
    "ckpt_st": lambda: checkpoints(1, save_checkpoint_steps=3, format="safetensors"),
    "ckpt_append": lambda: checkpoints(
        2,
        keys=True,
        save_checkpoint_steps=4,
        append_info=["epoch_num", "step_num", {"lr": 0.25, "n": 3}],
    ),
    "ckpt_crc": lambda: checkpoints(1, save_checkpoint_steps=3, crc_check=True),
    "ckpt_seconds": lambda: checkpoints(2, save_checkpoint_steps=0, save_checkpoint_seconds=100),
    "ckpt_minutes": lambda: checkpoints(2, keep_checkpoint_max=0, keep_checkpoint_per_n_minutes=10),
    "ckpt_none": lambda: T.CheckpointConfig(0, 0, 0, 0),
    "ckpt_negative": lambda: T.CheckpointConfig(-1),
    "ckpt_float": lambda: T.CheckpointConfig(1.5),
    "ckpt_network": lambda: T.CheckpointConfig(saved_network=3),
    "ckpt_info_type": lambda: T.CheckpointConfig(append_info={"a": 1}),
    "ckpt_info_word": lambda: T.CheckpointConfig(append_info=["loss"]),
    "ckpt_info_item": lambda: T.CheckpointConfig(append_info=[3]),
    "ckpt_info_value": lambda: T.CheckpointConfig(append_info=[{"a": [1]}]),
    "ckpt_info_two": lambda: T.CheckpointConfig(append_info=[{"a": 1}, {"b": 1}]),
    "ckpt_st_crc": lambda: T.CheckpointConfig(format="safetensors", crc_check=True),
    "ckpt_exception": lambda: T.CheckpointConfig(exception_save=1),
    "ckpt_policy": lambda: str(
        T.CheckpointConfig(save_checkpoint_seconds=5).get_checkpoint_policy()
    ),
    "ckpt_policy_2": lambda: str(T.CheckpointConfig(0, 5, 0, 0).get_checkpoint_policy()),
    "ckpt_prefix": lambda: T.ModelCheckpoint("a/b"),
    "ckpt_config": lambda: T.ModelCheckpoint(config=3),
    "ckpt_directory": lambda: T.ModelCheckpoint(directory=3),
    "ckpt_fail": lambda: failing(RuntimeError),
    "ckpt_interrupt": lambda: failing(KeyboardInterrupt),
    **{f"resumed_{name}": functools.partial(resumed, name) for name in OPTIMIZERS},
    "predict": predict,
    "predict_empty": lambda: model().predict(Tensor(np.zeros((0, 2), np.float32))),
    "predict_type": lambda: model().predict([1]),
    "predict_backend": lambda: model().predict(Tensor(X), backend="x"),
    "flags": set_train_flags,
    "networks": networks,
    "epoch_zero": lambda: model().train(0, data()),
    "epoch_negative": lambda: model().train(-1, data()),
    "epoch_float": lambda: model().train(1.5, data()),
    "sink_zero": lambda: model().train(1, data(), sink_size=0),
    "sink_negative": lambda: model().train(1, data(), sink_size=-2),
    "sink_float": lambda: model().train(1, data(), sink_size=1.5),
    "sink_mode": lambda: model().train(1, data(), dataset_sink_mode=1),
    "initial_big": lambda: model().train(1, data(), initial_epoch=1),
    "initial_negative": lambda: model().train(1, data(), initial_epoch=-1),
    "columns": lambda: model().train(1, data(4, {"x": X, "y": Y, "z": Y})),
    "fit_frequency": lambda: classifier().fit(1, classes(), classes(), valid_frequency=1.5),
    "fit_metrics": lambda: model().fit(1, data(), data()),
    "fit_initial": lambda: classifier().fit(2, classes(), initial_epoch=2),
    "eval_metrics": lambda: model().eval(data()),
    "eval_sink": lambda: classifier().eval(classes(), dataset_sink_mode=1),
    "eval_values": lambda: {
        key: number(value)
        for key, value in classifier({"acc", "loss", "precision", "recall", "F1", "top_1_accuracy"})
        .eval(classes())
        .items()
    },
    "eval_dict": lambda: {
        key: number(value)
        for key, value in classifier({"mine": T.Accuracy(), "l": T.Loss()}).eval(classes()).items()
    },
    "metrics_list": lambda: model(metrics=["acc"]),
    "metrics_unknown": lambda: model(metrics={"zzz"}),
    "metrics_value": lambda: model(metrics={"a": 3}),
    "metrics_no_loss": lambda: T.Model(Line(), metrics={"acc"}),
    "eval_indexes": lambda: model(metrics={"mae"}, eval_network=Line(), eval_indexes=[0, 1]),
    "network_type": lambda: T.Model(3),
    "amp_level": lambda: model(amp_level="O9"),
    "amp_no_optimizer": lambda: T.Model(Line(), nn.MSELoss(), amp_level="O2"),
    "unknown_argument": lambda: model(foo=1),
    "scale_no_optimizer": lambda: T.Model(
        Line(), nn.MSELoss(), loss_scale_manager=T.FixedLossScaleManager()
    ),
    "context_type": lambda: T.RunContext(3),
}


def events_of_old():
    """Train with a callback that has the old method names."""
    seen = []
    body = {
        name: (lambda word: lambda self, context: seen.append(word))(name)
        for name in ("begin", "end", "epoch_begin", "epoch_end", "step_begin", "step_end")
    }
    model().train(1, data(6), callbacks=type("Old", (T.Callback,), body)())
    return seen


PRED = np.array([[0.2, 0.5, 0.3], [0.3, 0.1, 0.6], [0.9, 0.05, 0.05], [0.1, 0.1, 0.8]], np.float32)
TRUE = np.array([1, 0, 0, 2], np.int32)
ONEHOT = np.eye(3, dtype=np.float32)[TRUE]
MULTI = np.array([[0, 1, 0], [1, 0, 1], [0, 1, 1]], np.float32)
MULTI_TRUE = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 1]], np.float32)


def measured(metric, *updates, average=None):
    """Update a metric and evaluate it."""
    for update in updates:
        metric.update(*update)
    return number(metric.eval() if average is None else metric.eval(average))


def kind(metric, *inputs):
    """Tell whether a metric gives an array or a number."""
    metric.update(*inputs)
    return np.ndim(metric.eval())


PAIR = (PRED, TRUE)
METRICS = {
    "accuracy": lambda: measured(T.Accuracy(), PAIR),
    "accuracy_two": lambda: measured(T.Accuracy(), PAIR, (PRED[:1], TRUE[1:2])),
    "accuracy_tensor": lambda: measured(T.Accuracy(), (Tensor(PRED), Tensor(TRUE))),
    "accuracy_list": lambda: measured(T.Accuracy(), (PRED.tolist(), TRUE.tolist())),
    "accuracy_onehot": lambda: measured(T.Accuracy(), (PRED, ONEHOT)),
    "accuracy_multi": lambda: measured(T.Accuracy("multilabel"), (MULTI, MULTI_TRUE)),
    "accuracy_images": lambda: measured(
        T.Accuracy(), (np.stack([PRED, PRED], 2), np.stack([TRUE, TRUE[::-1]], 1))
    ),
    "accuracy_index": lambda: measured(T.Accuracy().set_indexes([2, 0]), (TRUE, np.zeros(1), PRED)),
    "accuracy_call": lambda: number(T.Accuracy()(PRED, TRUE)),
    "accuracy_empty": lambda: T.Accuracy().eval(),
    "accuracy_type": lambda: T.Accuracy("x"),
    "accuracy_one": lambda: T.Accuracy().update(PRED),
    "accuracy_dim": lambda: T.Accuracy().update(PRED, PRED),
    "accuracy_shape": lambda: T.Accuracy().update(PRED, TRUE[:2]),
    "accuracy_input": lambda: T.Accuracy().update("a", TRUE),
    "accuracy_classes": lambda: measured(T.Accuracy(), PAIR, (PRED[:, :2], TRUE)),
    "accuracy_multi_value": lambda: T.Accuracy("multilabel").update(PRED, PRED),
    "accuracy_multi_shape": lambda: T.Accuracy("multilabel").update(MULTI, MULTI[:2]),
    "accuracy_multi_dim": lambda: T.Accuracy("multilabel").update(MULTI, TRUE),
    "precision": lambda: measured(T.Precision(), PAIR),
    "precision_two": lambda: measured(T.Precision(), PAIR, PAIR, (PRED[:1], TRUE[1:2])),
    "precision_average": lambda: measured(T.Precision(), PAIR, average=True),
    "precision_onehot": lambda: measured(T.Precision(), (PRED, ONEHOT)),
    "precision_multi": lambda: measured(T.Precision("multilabel"), (MULTI, MULTI_TRUE)),
    "precision_multi_two": lambda: measured(
        T.Precision("multilabel"), (MULTI, MULTI_TRUE), (MULTI_TRUE, MULTI)
    ),
    "precision_multi_average": lambda: measured(
        T.Precision("multilabel"), (MULTI, MULTI_TRUE), average=True
    ),
    "precision_label": lambda: T.Precision().update(PRED, TRUE + 5),
    "precision_empty": lambda: T.Precision().eval(),
    "precision_average_type": lambda: measured(T.Precision(), PAIR, average=1),
    "precision_one": lambda: T.Precision().update(PRED),
    "recall": lambda: measured(T.Recall(), PAIR),
    "recall_average": lambda: measured(T.Recall(), PAIR, average=True),
    "recall_multi": lambda: measured(T.Recall("multilabel"), (MULTI, MULTI_TRUE)),
    "recall_multi_average": lambda: measured(
        T.Recall("multilabel"), (MULTI, MULTI_TRUE), average=True
    ),
    "recall_empty": lambda: T.Recall().eval(),
    "f1": lambda: measured(T.F1(), PAIR),
    "f1_average": lambda: measured(T.F1(), PAIR, average=True),
    "fbeta": lambda: measured(T.Fbeta(2), PAIR, PAIR),
    "fbeta_beta": lambda: T.Fbeta(0),
    "fbeta_empty": lambda: T.F1().eval(),
    "fbeta_label": lambda: T.F1().update(PRED, TRUE + 5),
    "top1": lambda: measured(T.Top1CategoricalAccuracy(), PAIR),
    "top2": lambda: measured(T.TopKCategoricalAccuracy(2), PAIR, PAIR),
    "top2_onehot": lambda: measured(T.TopKCategoricalAccuracy(2), (PRED, ONEHOT)),
    "top5": lambda: measured(
        T.Top5CategoricalAccuracy(), (np.tile(PRED, (1, 3)) + np.arange(9) / 100, TRUE)
    ),
    "topk_type": lambda: T.TopKCategoricalAccuracy(1.5),
    "topk_value": lambda: T.TopKCategoricalAccuracy(0),
    "topk_empty": lambda: T.TopKCategoricalAccuracy(2).eval(),
    "topk_one": lambda: T.TopKCategoricalAccuracy(2).update(PRED),
    "loss": lambda: measured(T.Loss(), (np.array(0.5),), (np.array([1.0, 2.0]),)),
    "loss_tensor": lambda: measured(T.Loss(), (Tensor(0.5),), (Tensor([1.0, 2.0]),)),
    "loss_dim": lambda: T.Loss().update(PRED),
    "loss_two": lambda: T.Loss().update(PRED, PRED),
    "loss_empty": lambda: T.Loss().eval(),
    "mae": lambda: measured(T.MAE(), (PRED, PRED[::-1]), (PRED, PRED * 2)),
    "mse": lambda: measured(T.MSE(), (PRED, PRED[::-1]), (PRED, PRED * 2)),
    "mae_reshape": lambda: measured(T.MAE(), (PRED[:, :1], PRED[:, 1])),
    "mae_empty": lambda: T.MAE().eval(),
    "mse_one": lambda: T.MSE().update(PRED),
    "kinds": lambda: [
        kind(metric, *PAIR) for metric in (T.Accuracy(), T.Precision(), T.Recall(), T.F1())
    ],
    "get": lambda: type(T.get_metric_fn("top_5_accuracy")).__name__,
    "get_unknown": lambda: T.get_metric_fn("zzz"),
    "get_argument": lambda: T.get_metric_fn("precision", eval_type="multilabel")._type,
    "index_type": lambda: T.Accuracy().set_indexes([0.5]),
    "index_list": lambda: T.Accuracy().set_indexes(3),
    "abstract": lambda: T.Metric(),
}
