"""Callbacks of interrupted trainings, and of the operations that steps take."""

from __future__ import annotations

import json
import os
import pathlib
import signal
from typing import Any

import numpy as np
import pytest

import mindjax as ms
import mindjax.dataset as ds
from mindjax import nn, train

X = np.random.RandomState(0).randn(16, 4).astype(np.float32)
Y = np.random.RandomState(1).randn(16, 2).astype(np.float32)


def rows() -> Any:
    return ds.NumpySlicesDataset({"x": X, "y": Y}, shuffle=False).batch(4)


def model() -> train.Model:
    ms.set_seed(2)
    net = nn.Dense(4, 2)
    return train.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.1, 0.9))


def weights(trained: train.Model) -> list[np.ndarray]:
    return [p.asnumpy() for p in trained.train_network.get_parameters()]


class Interrupt(train.Callback):
    """Does something at one step."""

    def __init__(self, step: int, action: Any) -> None:
        super().__init__()
        self.step, self.action = step, action

    def on_train_step_end(self, run_context: Any) -> None:
        if run_context.original_args().cur_step_num == self.step:
            self.action()


def fail() -> None:
    raise RuntimeError("stopped here")


def test_a_backup_is_taken_up_again(tmp_path: pathlib.Path) -> None:
    whole = model()
    whole.train(3, rows())
    broken = model()
    backup = train.BackupAndRestore(str(tmp_path))
    with pytest.raises(RuntimeError, match="stopped here"):
        broken.train(3, rows(), callbacks=[backup, Interrupt(10, fail)])
    assert os.path.exists(tmp_path / "backup.ckpt")
    again = model()
    again.train(3, rows(), callbacks=[train.BackupAndRestore(str(tmp_path))], initial_epoch=2)
    for a, b in zip(weights(whole), weights(again), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    assert not os.path.exists(tmp_path / "backup.ckpt")


def test_a_signal_ends_the_training(tmp_path: pathlib.Path) -> None:
    before = signal.getsignal(signal.SIGUSR1)
    on_exit = train.OnRequestExit(save_mindir=False, directory=str(tmp_path), sig=signal.SIGUSR1)
    stopped = model()
    kill = Interrupt(3, lambda: os.kill(os.getpid(), signal.SIGUSR1))
    stopped.train(5, rows(), callbacks=[kill, on_exit])
    assert on_exit.exit
    assert signal.getsignal(signal.SIGUSR1) == before
    step = int(stopped.train_network.optimizer.global_step.asnumpy()[0])
    assert step in (3, 4)
    assert (tmp_path / "rank_0" / "Net_train.ckpt").exists()
    fresh = train.OnRequestExit(save_mindir=False, directory=str(tmp_path), sig=signal.SIGUSR1)
    again = model()
    again.train(1, rows(), callbacks=[fresh])
    assert int(again.train_network.optimizer.global_step.asnumpy()[0]) == step + 4


def test_a_file_ends_the_training(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "config.json"
    path.write_text("{")
    on_exit = train.OnRequestExit(directory=str(tmp_path), config_file=str(path))
    ask = Interrupt(2, lambda: path.write_text(json.dumps({"GracefulExit": 1})))
    stopped = model()
    stopped.train(4, rows(), callbacks=[ask, on_exit])
    assert int(stopped.train_network.optimizer.global_step.asnumpy()[0]) == 3


@pytest.mark.parametrize(
    ("kind", "words", "call"),
    [
        (TypeError, "backup_dir", lambda: train.BackupAndRestore(1)),
        (ValueError, "save_freq", lambda: train.BackupAndRestore("/tmp", 0)),
        (TypeError, "delete_checkpoint", lambda: train.BackupAndRestore("/tmp", 1, 1)),
        (TypeError, "save_ckpt", lambda: train.OnRequestExit(save_ckpt=1)),
        (ValueError, "SIGKILL", lambda: train.OnRequestExit(False, False, sig=signal.SIGKILL)),
        (ValueError, "ckpt_save_path", train.TrainFaultTolerance),
        (NotImplementedError, "BackupAndRestore", lambda: train.TrainFaultTolerance("/tmp")),
        (ValueError, "data_size", lambda: train.FlopsUtilizationCollector(0)),
        (TypeError, "full_flops", lambda: train.FlopsUtilizationCollector(1, 1, 1)),
    ],
)
def test_errors(kind: type, words: str, call: Any) -> None:
    with pytest.raises(kind, match=words) as caught:
        call()
    assert "\n" not in str(caught.value)


def test_flops(
    capsys: pytest.CaptureFixture[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MA_LOG_DIR", str(tmp_path))
    ms.set_context(mode=ms.GRAPH_MODE)
    trained = model()
    collector = train.FlopsUtilizationCollector(2, 10**9, enable_ma_collector=True)
    trained.train(1, rows(), callbacks=[collector])
    shown = capsys.readouterr().out
    flops = ms.flops_collection()[0]
    # Two products of 4 rows, 4 inputs and 2 outputs, two operations each, and the small rest.
    assert 2 * 2 * 4 * 4 * 2 <= flops < 1000
    assert f"Full model flops is {flops}" in shown
    assert shown.count("Train per step time") == 2
    assert "mfu:0." in shown
    assert len((tmp_path / "time_step_rank_0.txt").read_text().splitlines()) == 4
    assert "model_flops" in (tmp_path / "flops_rank_0.txt").read_text()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    with pytest.raises(ValueError, match="graph mode"):
        model().train(1, rows(), callbacks=[train.FlopsUtilizationCollector(1)])
