"""``mindjax plot``: a picture of what was recorded, and words where there is nothing."""

import sys
from pathlib import Path

import numpy as np
import pytest

import mindjax as ms
from mindjax.__main__ import main
from mindjax.cli.plot import read_run

pytest.importorskip("matplotlib")
PNG = b"\x89PNG\r\n\x1a\n"


def write(folder, values):
    with ms.SummaryRecord(str(folder)) as record:
        for step, value in enumerate(values):
            record.add_value("scalar", "loss/auto", ms.Tensor(np.float32(value)))
            record.add_value("scalar", "metrics/accuracy/auto", ms.Tensor(np.float32(1 - value)))
            record.record(step)
    return Path(record.log_dir)


def test_event_files(tmp_path, capsys):
    pytest.importorskip("tensorboardX")
    write(tmp_path / "one", [0.5, 0.25])
    path = write(tmp_path / "two", [0.75, 0.5])
    assert main(["plot", str(tmp_path)]) == 0
    assert (tmp_path / "curves.png").read_bytes().startswith(PNG)
    assert "one loss 0.25" in capsys.readouterr().out
    out = tmp_path / "other.png"
    assert main(["plot", str(path), "--out", str(out)]) == 0
    assert out.read_bytes().startswith(PNG)
    assert read_run(tmp_path)["two"]["loss/auto"] == [(0, 0.75), (1, 0.5)]
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(data[:-3])
    # A file that is still being written lacks its last scalars.
    assert read_run(tmp_path)["two"]["loss/auto"] == [(0, 0.75)]
    path.write_bytes(data[:60] + b"?" + data[61:])
    assert main(["plot", str(tmp_path)]) == 2
    assert "damaged" in capsys.readouterr().err


def test_a_log(tmp_path, capsys):
    log = tmp_path / "log.txt"
    log.write_text(
        "Start\nepoch: 1 step: 1, loss is 0.9\nepoch: 1 step: 2, loss is 0.8\n"
        "Eval result: epoch 1, metrics: {'accuracy': 0.5}\nepoch: 2 step: 1, loss is 0.7\n"
    )
    (curves,) = read_run(log).values()
    assert curves == {"loss": [(1, 0.9), (2, 0.8), (3, 0.7)], "accuracy": [(2, 0.5)]}
    assert main(["plot", str(log)]) == 0
    assert (tmp_path / "log.txt.png").read_bytes().startswith(PNG)


def test_what_is_missing_is_named(tmp_path, capsys, monkeypatch):
    empty = tmp_path / "empty"
    empty.mkdir()
    words = tmp_path / "words.txt"
    words.write_text("nothing\n")
    log = tmp_path / "log.txt"
    log.write_text("epoch: 1 step: 1, loss is 0.9\n")
    for path, word in (
        (tmp_path / "none", "there is no"),
        (empty, "SummaryCollector"),
        (words, "no scalars"),
    ):
        assert main(["plot", str(path)]) == 2
        assert word in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert main(["plot", str(log)]) == 2
    assert 'pip install "mindjax[demo]"' in capsys.readouterr().err
