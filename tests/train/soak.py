"""A long training: resident memory, compilations and step times of its beginning and its end.

Run from the root: ``python -m tests.train.soak [STEPS] [graph|pynative|forward] [O0|O1|O2|auto]``.
"""

from __future__ import annotations

import dataclasses
import gc
import os
import statistics
import sys
import time
from typing import Any

import numpy as np

import mindjax as ms
from mindjax import amp, nn
from mindjax.core.caches import compilations

BATCH = 8


@dataclasses.dataclass
class Report:
    """What a run took.

    Attributes:
        memory: mean resident bytes in the first and in the last tenth after warming up.
        compiled: programs compiled after the first tenth.
        seconds: median step time in the first and in the last tenth.
    """

    memory: tuple[float, float]
    compiled: int
    seconds: tuple[float, float]

    @property
    def growth(self) -> float:
        """Memory of the end over that of the beginning, minus 1."""
        return self.memory[1] / self.memory[0] - 1

    @property
    def slower(self) -> float:
        """Step time of the end over that of the beginning."""
        return self.seconds[1] / self.seconds[0]


def resident() -> int:
    """Give the process's resident bytes."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def network() -> nn.Cell:
    """Give a small network like LeNet."""
    return nn.SequentialCell(
        nn.Conv2d(1, 4, 3, pad_mode="valid"),
        nn.BatchNorm2d(4),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Flatten(),
        nn.Dense(100, 32),
        nn.ReLU(),
        nn.Dropout(p=0.1),
        nn.Dense(32, 10),
    )


def training(level: str) -> Any:
    """Give a training step as a function of a row."""
    net = network()
    rates = nn.exponential_decay_lr(0.05, 0.9, 99, 9, 9)
    optimizer = nn.Momentum(net.trainable_params(), rates, 0.9)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    manager = amp.DynamicLossScaleManager(2**10, 2, 50) if level == "O2" else None
    return amp.build_train_network(net, optimizer, loss, level, loss_scale_manager=manager)


def forward(level: str) -> Any:
    """Give a network's forward pass as a function of a row, without gradients."""
    net = amp.auto_mixed_precision(network(), level)
    return lambda x, y: net(x)


def soak(steps: int, kind: str, level: str = "O0") -> Report:
    """Run steps and look at memory, compilations and time.

    Args:
        steps: how many.
        kind: ``"graph"``, ``"pynative"`` or ``"forward"`` (PYNATIVE, without gradients).
        level: of mixed precision.
    """
    ms.set_context(mode=ms.GRAPH_MODE if kind == "graph" else ms.PYNATIVE_MODE)
    ms.set_seed(1)
    step = (forward if kind == "forward" else training)(level)
    rng = np.random.RandomState(0)
    rows = [
        (
            ms.Tensor(rng.randn(BATCH, 1, 12, 12).astype(np.float32)),
            ms.Tensor(rng.randint(0, 10, BATCH).astype(np.int32)),
        )
        for _ in range(32)
    ]
    tenth = steps // 10
    memory: list[list[int]] = [[], []]
    seconds: list[list[float]] = [[], []]
    before = 0
    for i in range(steps):
        start = time.perf_counter()
        out = step(*rows[i % len(rows)])
        (out[0] if isinstance(out, tuple) else out).asnumpy()
        passed = time.perf_counter() - start
        if i == tenth:
            gc.collect()
            before = sum(compilations().values())
        place = 0 if tenth < i <= 2 * tenth else 1 if i >= steps - tenth else None
        if place is not None:
            seconds[place].append(passed)
            if i % 10 == 0:
                memory[place].append(resident())
    compiled = sum(compilations().values()) - before
    means = [float(np.mean(m)) for m in memory]
    medians = [statistics.median(s) for s in seconds]
    return Report((means[0], means[1]), compiled, (medians[0], medians[1]))


def main() -> None:
    """Run one soak and print its report."""
    arguments = sys.argv[1:]
    steps = int(arguments[0]) if arguments else 10_000
    kinds = arguments[1:2] or ["graph", "pynative", "forward"]
    level = arguments[2] if len(arguments) > 2 else "O0"
    for kind in kinds:
        report = soak(steps, kind, level)
        print(
            f"{kind} {level}: {steps} steps, {report.memory[1] / 2**20:.1f} MiB resident, "
            f"{report.growth:+.2%} since the first tenth, {report.compiled} compilations after it, "
            f"{report.seconds[1] * 1e3:.2f} ms a step, {report.slower:.2f} times the beginning's",
            flush=True,
        )


if __name__ == "__main__":
    main()
