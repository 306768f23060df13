"""What Progress writes to a terminal, a file and a notebook, and when."""

import io
import sys
import types

import numpy as np
import pytest

from mindjax.train import progress
from mindjax.train.progress import Progress


class Screen(io.StringIO):
    def isatty(self):
        return True


class Loss:
    """A loss that counts how often it is read."""

    reads = 0

    def asnumpy(self):
        Loss.reads += 1
        return np.array(0.25, np.float32)


@pytest.fixture
def clock(monkeypatch):
    """Give a clock that the test sets."""
    now = types.SimpleNamespace(time=100.0)
    monkeypatch.setattr(progress.time, "monotonic", lambda: now.time)
    monkeypatch.delenv("MINDJAX_PROGRESS", raising=False)
    monkeypatch.setenv("COLUMNS", "100")
    Loss.reads = 0
    return now


def run(clock, stream, seconds=0.01, epochs=2, steps=100, shape=(32, 1, 28, 28), **options):
    bar = Progress(epochs, steps, stream=stream, **options)
    batch = (np.zeros(shape, np.int8),)
    for epoch in range(1, epochs + 1):
        for step in range(1, steps + 1):
            clock.time += seconds
            bar.step(epoch, step, batch, Loss())
        bar.epoch_end()
    bar.close()
    return stream.getvalue()


def test_terminal(clock):
    text = run(clock, Screen())
    drawn = [line.rstrip() for line in text.split("\r") if line.strip()]
    assert drawn[0] == (
        "epoch 1/2  [######------]  step 50/100  loss 0.25  3200 images/s  ETA 0:02"
    )
    assert drawn[-1] == "epoch 2/2  [############]  step 100/100  loss 0.25  3200 images/s"
    assert text.endswith("\n") and text.count("\n") == 1
    # Two seconds: no more than two reads of the loss each.
    assert Loss.reads <= 5


def test_narrow_terminal(clock, monkeypatch):
    monkeypatch.setenv("COLUMNS", "70")
    drawn = [line.rstrip() for line in run(clock, Screen()).split("\r") if line.strip()]
    assert drawn[0] == "epoch 1/2  step 50/100  loss 0.25  3200 images/s  ETA 0:02"
    monkeypatch.setenv("COLUMNS", "30")
    assert all(len(line) < 30 for line in run(clock, Screen()).rstrip().split("\r"))


def test_file_of_a_short_training_is_empty(clock):
    assert run(clock, io.StringIO(), seconds=0.001) == ""
    assert Loss.reads == 0


def test_file_of_a_long_training(clock):
    lines = run(clock, io.StringIO(), seconds=1.0, shape=(32, 10)).splitlines()
    assert lines[0] == "epoch 1/2  step 30/100  loss 0.25  32 samples/s  ETA 2:50"
    assert [line.split("  ")[1] for line in lines] == [
        f"step {n}/100" for n in (30, 60, 90, 100, 30, 60, 90, 100)
    ]


def test_unknown_size(clock):
    text = run(clock, Screen(), steps=60, epochs=1)
    assert "step 50/60" in text
    bar = Progress(1, -1, stream=(screen := Screen()))
    for step in range(1, 5):
        clock.time += 1
        bar.step(1, step, (), 0.5)
    bar.close()
    assert screen.getvalue().rstrip().endswith("epoch 1/1  step 4  loss 0.5  1.00 samples/s")


@pytest.mark.parametrize("switch", ["quiet", "environment"])
def test_off(clock, monkeypatch, switch):
    if switch == "environment":
        monkeypatch.setenv("MINDJAX_PROGRESS", "0")
    assert run(clock, Screen(), quiet=switch == "quiet") == ""


def test_notebook(clock, monkeypatch, capsys):
    class ZMQInteractiveShell:
        pass

    fake = types.ModuleType("IPython")
    fake.get_ipython = ZMQInteractiveShell
    monkeypatch.setitem(sys.modules, "IPython", fake)
    bar = Progress(1, 2)
    for step in (1, 2):
        clock.time += 1
        bar.step(1, step, (), 0.5)
    bar.close()
    out = capsys.readouterr().out
    assert out.startswith("\repoch 1/1") and out.endswith("\n")


def test_an_error_ends_the_line(clock):
    screen = Screen()
    bar = Progress(1, 10, stream=screen)
    for step in (1, 2):
        clock.time += 1
        bar.step(1, step, (), 0.5)
    bar.abandon()
    assert screen.getvalue().endswith("\n")
