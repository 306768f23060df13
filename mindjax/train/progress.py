"""The progress of training, shown as fits where it is read: terminal, notebook, file or pipe."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Any, TextIO

import numpy as np

from mindjax.train.callback.base import loss_of

# Seconds. Reading the loss waits for the steps that were started, so it is done seldom.
_REDRAW = 0.5
_LINE_EVERY = 30.0
_EPOCH_LINE_EVERY = 2.0
_BAR = 12


class Progress:
    """Shows epoch, step, loss, speed and the time left.

    On a terminal a line on standard error is redrawn twice a second, in a notebook one in the
    cell's output. In a file or pipe a line is printed to standard error at the end of epochs that
    took long enough and every 30 seconds. ``MINDJAX_PROGRESS=0`` shows nothing.

    Args:
        epochs: number of the last epoch.
        steps: steps of an epoch, or 0 or less if unknown.
        first: number of epochs that are skipped.
        quiet: whether something else prints the loss, and nothing is shown.
        stream: where to write; chosen by what the program runs in, if None.
    """

    def __init__(
        self,
        epochs: int,
        steps: int,
        first: int = 0,
        quiet: bool = False,
        stream: TextIO | None = None,
    ) -> None:
        self._epochs, self._steps, self._first = epochs, steps, first
        notebook = stream is None and _in_notebook()
        self._stream = stream or (sys.stdout if notebook else sys.stderr)
        self._live = notebook or self._stream.isatty()
        self._off = quiet or os.environ.get("MINDJAX_PROGRESS", "") == "0"
        self._drawn = 0
        now = time.monotonic()
        self._shown = self._marked = now
        self._marked_step = self._marked_samples = self._samples = 0
        self._rate = self._speed = 0.0
        self._unit = "samples/s"
        self._outputs: Any = None
        self._at = self._shown_at = (first + 1, 0)

    def step(self, epoch: int, step: int, inputs: tuple[Any, ...], outputs: Any) -> None:
        """Note a step that was started, and show it if it is time.

        Args:
            epoch: number of the epoch, from 1.
            step: number of the step in the epoch, from 1.
            inputs: what the network was given; the first dimension counts the samples.
            outputs: what it returned, loss first.
        """
        if self._off:
            return
        shape: Any = getattr(inputs[0], "shape", ()) if inputs else ()
        self._samples += shape[0] if len(shape) else 1
        if len(shape) == 4:
            self._unit = "images/s"
        self._outputs, self._at = outputs, (epoch, step)
        now = time.monotonic()
        if self._rate == 0.0 and self._marked_step == 0:
            # The first step compiles: the speed is measured from its end on.
            self._mark(now)
        elif now - self._shown >= (_REDRAW if self._live else _LINE_EVERY):
            self._show(now)

    def epoch_end(self) -> None:
        """Clear the live line, for what callbacks print; in a file, print a line if it is time."""
        if self._off or self._outputs is None:
            return
        if self._live:
            self._clear()
        elif time.monotonic() - self._shown >= _EPOCH_LINE_EVERY:
            self._show(time.monotonic())

    def close(self) -> None:
        """Show the last state; a live line ends."""
        if self._off or self._outputs is None:
            return
        now = time.monotonic()
        late = self._at != self._shown_at and now - self._shown >= _EPOCH_LINE_EVERY
        if self._live or late:
            self._show(now)
            if self._live:
                self._stream.write("\n")
                self._stream.flush()
        self._outputs, self._drawn = None, 0

    def abandon(self) -> None:
        """Leave a live line as it is: an error ends the training."""
        if self._drawn:
            self._stream.write("\n")
            self._stream.flush()
        self._outputs, self._drawn = None, 0

    def _total(self) -> int:
        epoch, step = self._at
        return (epoch - 1 - self._first) * max(self._steps, 0) + step

    def _mark(self, now: float) -> None:
        self._marked, self._marked_samples = now, self._samples
        self._marked_step = self._total()

    def _show(self, now: float) -> None:
        loss = loss_of(self._outputs)
        # The loss is there only when its step has ended: measure after it.
        now = time.monotonic()
        passed = now - self._marked
        if passed > 0 and self._total() > self._marked_step:
            self._rate = (self._total() - self._marked_step) / passed
            self._speed = (self._samples - self._marked_samples) / passed
            self._mark(now)
        self._shown, self._shown_at = now, self._at
        text = self._text(loss, self._bar())
        if self._live:
            width = max(shutil.get_terminal_size().columns - 1, 20)
            if len(text) > width:
                text = self._text(loss, "")[:width]
            self._stream.write("\r" + text + " " * (self._drawn - len(text)))
            self._drawn = len(text)
        else:
            self._stream.write(text + "\n")
        self._stream.flush()

    def _bar(self) -> str:
        if not self._live or self._steps <= 0:
            return ""
        full = min(_BAR, _BAR * self._at[1] // self._steps)
        return "[" + "#" * full + "-" * (_BAR - full) + "]"

    def _text(self, loss: Any, bar: str) -> str:
        epoch, step = self._at
        parts = [f"epoch {epoch}/{self._epochs}"]
        if bar:
            parts.append(bar)
        parts.append(f"step {step}/{self._steps}" if self._steps > 0 else f"step {step}")
        value = _number(loss)
        if value is not None:
            parts.append(f"loss {value:.4g}")
        if self._speed:
            parts.append(f"{self._speed:.{0 if self._speed >= 10 else 2}f} {self._unit}")
        left = (self._epochs - self._first) * self._steps - self._total()
        if self._rate and self._steps > 0 and left > 0:
            parts.append(f"ETA {_clock(left / self._rate)}")
        return "  ".join(parts)

    def _clear(self) -> None:
        if self._drawn:
            self._stream.write("\r" + " " * self._drawn + "\r")
            self._stream.flush()
            self._drawn = 0


def _number(loss: Any) -> float | None:
    value = loss.asnumpy() if hasattr(loss, "asnumpy") else loss
    try:
        return float(np.mean(value))
    except (TypeError, ValueError):
        return None


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _in_notebook() -> bool:
    python = sys.modules.get("IPython")
    shell = python.get_ipython() if python is not None else None
    return type(shell).__name__ == "ZMQInteractiveShell"
