"""Trains LeNet-5 on random images, on Ascend and then on CPU; prints losses as JSON.

Arguments: the mode and the number of steps.
"""

import json
import sys
import time

import numpy as np

import mindjax as ms
from mindjax import nn


class LeNet5(nn.Cell):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool, self.relu, self.flatten = nn.MaxPool2d(2, 2), nn.ReLU(), nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def train(target, steps):
    ms.set_device(target)
    ms.set_seed(1)
    np.random.seed(1)
    network = LeNet5()
    optimizer = nn.Momentum(network.trainable_params(), 0.05, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(network, nn.CrossEntropyLoss()), optimizer)
    step.set_train()
    random = np.random.default_rng(0)
    labels = random.integers(0, 10, 32).astype(np.int32)
    means = random.standard_normal((10, 1, 32, 32))
    losses, seconds = [], []
    for _ in range(steps):
        images = means[labels] + random.standard_normal((32, 1, 32, 32))
        begin = time.perf_counter()
        loss = step(ms.Tensor(images.astype(np.float32)), ms.Tensor(labels))
        losses.append(float(loss.asnumpy()))
        seconds.append(time.perf_counter() - begin)
    weight = network.conv1.weight.asnumpy()
    platform = {d.platform for d in network.conv1.weight.value().__jax_array__().devices()}
    return {
        "losses": losses,
        "weight": float(np.abs(weight).sum()),
        "seconds": sorted(seconds)[len(seconds) // 2],
        "platform": platform.pop(),
    }


def main(mode, steps):
    from mindjax_ascend import plugin
    from mindjax_ascend.compiler import compile as compiler

    ms.set_context(mode={"graph": ms.GRAPH_MODE, "pynative": ms.PYNATIVE_MODE}[mode])
    ours = train("Ascend", steps)
    ours["executions"] = plugin.executions()
    ours["delegated"] = [c.name for c in compiler.compiled if c.delegated]
    print(json.dumps([ours, train("CPU", steps)]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
