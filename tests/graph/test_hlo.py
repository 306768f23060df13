"""GRAPH's LeNet-5 step against hand-written jax: the same work in the optimised program."""

import importlib.util
import pathlib
import re
import sys

import jax.numpy as jnp
import pytest

import mindjax as ms
from mindjax import Tensor, nn

BENCHMARKS = pathlib.Path(__file__).parents[2] / "benchmarks"


def load(name):
    """Load a module of the benchmarks."""
    sys.path.insert(0, str(BENCHMARKS))
    try:
        spec = importlib.util.spec_from_file_location(name, BENCHMARKS / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(BENCHMARKS))


class LeNet5(nn.Cell):
    """The benchmarked network."""

    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1, self.fc2, self.fc3 = nn.Dense(400, 120), nn.Dense(120, 84), nn.Dense(84, 10)

    def construct(self, x):
        x = self.pool(self.relu(self.conv1(x)))
        x = self.flatten(self.pool(self.relu(self.conv2(x))))
        return self.fc3(self.relu(self.fc2(self.relu(self.fc1(x)))))


def count(hlo, op):
    return len(re.findall(rf"= \S+ {op}\(", hlo))


@pytest.fixture(scope="module")
def programs():
    """Compile both steps; give (hlo, temporary bytes) of ours and of the hand-written one."""
    batches = load("batches")
    sys.modules["batches"] = batches
    handwritten = load("handwritten")
    del sys.modules["batches"]
    x, y = batches.batch("lenet5")
    ms.set_context(mode=ms.GRAPH_MODE)
    net = LeNet5()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()
    step(Tensor(x), Tensor(y))
    ms.set_context(mode=ms.PYNATIVE_MODE)
    (program,) = [p for v in step._programs.programs.entries.values() for p in v]
    jitted, state = handwritten.compiled_step("lenet5")
    peer = jitted.lower(*state, jnp.asarray(x), jnp.asarray(y)).compile()
    peer_bytes = peer.memory_analysis().temp_size_in_bytes
    return (program.hlo, program.temporary_bytes), (peer.as_text(), peer_bytes)


@pytest.mark.parametrize("op", ["dot", "convolution", "reduce-window", "custom-call"])
def test_the_same_number_of(programs, op):
    (ours, _), (peer, _) = programs
    assert count(ours, op) == count(peer, op)


def test_no_more_fusions_and_no_calls(programs):
    (ours, _), (peer, _) = programs
    assert count(ours, "fusion") <= count(peer, "fusion") + 2
    assert count(ours, "call") == 0


def test_no_more_temporary_bytes(programs):
    (_, ours), (_, peer) = programs
    assert ours <= 1.02 * peer
