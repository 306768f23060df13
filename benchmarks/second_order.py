"""Count the epochs in which THOR reaches the loss that Momentum reaches on the demo's digits.

Run ``mindjax run benchmarks/second_order.py --data .data/mnist`` after ``make demo``. Prints a line
a seed and one JSON line: epochs of both, and the largest share.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import mindspore as ms
import mindspore.dataset as ds
import numpy as np
from mindspore import nn
from mindspore.train import Callback, ConvertModelUtils, Model
from networks import LeNet5

BATCH = 32


def digits(folder: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Read the training images as normalized (N, 1, 32, 32) Float32, and their labels."""
    images, labels = (
        np.frombuffer(next(Path(folder).glob(f"train-{kind}*")).read_bytes(), np.uint8)
        for kind in ("images", "labels")
    )
    images = images[16:].reshape(-1, 1, 28, 28).astype(np.float32) / 255
    images = np.pad((images - 0.1307) / 0.3081, ((0, 0), (0, 0), (2, 2), (2, 2)), mode="edge")
    return images, labels[8:].astype(np.int32)


class Losses(Callback):
    """Keeps the loss over all images after each epoch, and stops once it is low enough."""

    def __init__(self, network: Any, data: Any, goal: float = -1.0) -> None:
        self.network, self.data, self.goal = network, data, goal
        self.values: list[float] = []

    def on_train_epoch_end(self, run_context: Any) -> None:
        """Measure."""
        loss, (images, labels) = nn.CrossEntropyLoss(), self.data
        self.network.set_train(False)
        parts = [
            loss(self.network(ms.Tensor(images[i : i + 500])), ms.Tensor(labels[i : i + 500]))
            for i in range(0, len(images), 500)
        ]
        self.network.set_train(True)
        self.values.append(float(np.mean([float(part) for part in parts])))
        if self.values[-1] <= self.goal:
            run_context.request_stop()


def train(data: Any, seed: int, epochs: int, second: bool, goal: float = -1.0) -> list[float]:
    """Train LeNet-5 and give the loss after each epoch."""
    ms.set_seed(seed)
    rows = ds.NumpySlicesDataset(data, ["image", "label"], shuffle=True).batch(BATCH, True)
    steps = int(rows.get_dataset_size() * epochs * SHARE)
    network, loss = LeNet5(), nn.CrossEntropyLoss()
    if second:
        rate = np.linspace(RATE, 0.1 * RATE, steps).astype(np.float32)
        damping = (DAMPING * DAMPING_DECAY ** np.linspace(0, 1, steps)).astype(np.float32)
        optimizer = nn.thor(
            network, ms.Tensor(rate), ms.Tensor(damping), 0.9, batch_size=BATCH, frequency=FREQUENCY
        )
    else:
        optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    model = Model(network, loss, optimizer)
    model = ConvertModelUtils.convert_to_thor_model(model, network, loss, optimizer)
    losses = Losses(network, data, goal)
    model.train(epochs, rows, callbacks=[losses], dataset_sink_mode=False)
    return losses.values


# THOR anneals over the share of Momentum's epochs that it should need.
RATE, DAMPING, DAMPING_DECAY, FREQUENCY, SHARE = 0.01, 0.3, 0.5, 10, 0.6


def main() -> None:
    """Compare over the seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=".data/mnist", help="folder of the demo's IDX files")
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    args = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    data, shares = digits(args.data), []
    for seed in args.seeds:
        first = train(data, seed, args.epochs, second=False)
        values = train(data, seed, args.epochs, second=True, goal=first[-1])
        needed = len(values) if values[-1] <= first[-1] else args.epochs + 1
        shares.append(needed / args.epochs)
        print(
            f"seed {seed}: Momentum {first[-1]:.5f} after {args.epochs} epochs, THOR "
            f"{values[-1]:.5f} after {needed}",
            flush=True,
        )
    print(json.dumps({"epochs": args.epochs, "shares": shares, "largest": max(shares)}))


if __name__ == "__main__":
    main()
