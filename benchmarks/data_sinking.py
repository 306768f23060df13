"""Data sinking: seconds of an epoch with ``dataset_sink_mode`` off and on, LeNet-5 and an MLP.

Run from the root: ``python benchmarks/data_sinking.py [STEPS]``. Prints one JSON line a network:
the best of five epochs of each kind, their ratio, and the greatest difference of the losses.
"""

from __future__ import annotations

import json
import os
import sys
import time
from typing import Any

os.environ.setdefault("MINDJAX_PROGRESS", "0")

import numpy as np

import mindjax as ms
import mindjax.dataset as ds
from mindjax import nn, train

BATCH = 32
EPOCHS = 5


def mlp() -> nn.Cell:
    """Give a network of 64 hidden units."""
    return nn.SequentialCell(nn.Dense(64, 64), nn.ReLU(), nn.Dense(64, 10))


def lenet() -> nn.Cell:
    """Give LeNet-5."""
    return nn.SequentialCell(
        nn.Conv2d(1, 6, 5, pad_mode="valid"),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(6, 16, 5, pad_mode="valid"),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(400, 120),
        nn.ReLU(),
        nn.Dense(120, 84),
        nn.ReLU(),
        nn.Dense(84, 10),
    )


class Clock(train.Callback):
    """Notes how long epochs take, the steps' results included."""

    def __init__(self, parameter: Any) -> None:
        super().__init__()
        self.parameter = parameter
        self.seconds: list[float] = []
        self.losses: list[float] = []

    def on_train_epoch_begin(self, run_context: Any) -> None:
        """Start the clock."""
        self.start = time.perf_counter()

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Wait for the last step and stop the clock."""
        self.parameter.asnumpy()
        self.seconds.append(time.perf_counter() - self.start)
        outputs = run_context.original_args().net_outputs
        self.losses.append(float(outputs.asnumpy()))


def epochs(make: Any, shape: tuple[int, ...], steps: int, sink: bool) -> Clock:
    """Train for some epochs, the first of which compiles."""
    ms.set_seed(1)
    rng = np.random.RandomState(0)
    data = {
        "x": rng.randn(steps * BATCH, *shape).astype(np.float32),
        "y": rng.randint(0, 10, steps * BATCH).astype(np.int32),
    }
    rows = ds.NumpySlicesDataset(data, shuffle=False).batch(BATCH)
    network = make()
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    clock = Clock(network.trainable_params()[0])
    model = train.Model(network, loss, optimizer)
    model.train(EPOCHS + 1, rows, callbacks=[clock], dataset_sink_mode=sink)
    return clock


def main() -> None:
    """Measure both networks."""
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    ms.set_context(mode=ms.GRAPH_MODE)
    for name, make, shape in (("mlp64", mlp, (64,)), ("lenet5", lenet, (1, 32, 32))):
        off, on = (epochs(make, shape, steps, sink) for sink in (False, True))
        apart = max(abs(a - b) for a, b in zip(off.losses, on.losses, strict=True))
        best = [min(clock.seconds[1:]) for clock in (off, on)]
        result = {
            "benchmark": "data_sinking",
            "network": name,
            "steps": steps,
            "off_ms_a_step": round(best[0] / steps * 1e3, 4),
            "on_ms_a_step": round(best[1] / steps * 1e3, 4),
            "times_as_fast": round(best[0] / best[1], 2),
            "losses_apart": apart,
        }
        print(json.dumps(result), flush=True)


if __name__ == "__main__":
    main()
