"""Ways to use a pipeline of two stages on two devices: prints the names of those that are as alone.

Virtual devices must be asked for before jax starts: this runs in a process of its own.
"""

import os
import sys
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=2"
os.environ["MINDJAX_DEVICES"] = "2"

import numpy as np

import mindjax as ms
from mindjax import Tensor, dataset, nn, ops
from mindjax.communication import init
from mindjax.parallel.auto_parallel import AutoParallel


class Network(nn.Cell):
    """Two layers, the loss, and a layer that is not trained."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(4, 6, activation="tanh"), nn.Dense(6, 4)
        self.still = nn.Dense(4, 4)
        for p in self.still.get_parameters():
            p.requires_grad = False

    def construct(self, x):
        """Map (n, 4) to (n, 4)."""
        return self.still(self.second(self.first(x)))


class WithLoss(nn.Cell):
    """The mean square of a network's output."""

    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, x):
        """Give the loss."""
        return (self.network(x) ** 2).mean()


STAGES = {"first": 0, "second": 1, "still": 1}
X = np.random.RandomState(0).randn(8, 4).astype(np.float32)


def pipelined(network, prefix=""):
    """Put the stages on a network, and micro batches around it."""
    return nn.PipelineCell(
        network, 4, stage_config={f"{prefix}{name}": stage for name, stage in STAGES.items()}
    )


def forward(network):
    """Run a network that is not trained: its outputs are added up."""
    return [pipelined(network)(Tensor(X)).asnumpy()]


def functional(network):
    """Train with a function of one's own: the norm of all gradients is limited."""
    cell = pipelined(WithLoss(network), "network.")
    weights = network.trainable_params()
    optimizer = nn.AdamWeightDecay(weights, 0.01)
    reducer = nn.PipelineGradReducer(optimizer.parameters, 4.0)
    grad = ops.value_and_grad(cell, None, optimizer.parameters)

    @ms.jit
    def step(x):
        loss, gradients = grad(x)
        gradients = ops.clip_by_global_norm(reducer(gradients), 0.01)
        optimizer(gradients)
        return loss

    return [step(Tensor(X)).asnumpy() for _ in range(4)]


def written(network):
    """Write a Parameter between steps, read one, and load a checkpoint."""
    cell = pipelined(WithLoss(network), "network.")
    step = nn.TrainOneStepCell(cell, nn.Momentum(network.trainable_params(), 0.1, 0.9))
    found = [step(Tensor(X)).asnumpy()]
    path = os.path.join(tempfile.mkdtemp(), "a.ckpt")
    ms.save_checkpoint(network, path)
    network.second.bias.set_data(Tensor(np.ones(4, np.float32)))
    found += [step(Tensor(X)).asnumpy(), network.first.weight.asnumpy()]
    assert network.first.weight.shape == (6, 4)
    ms.load_param_into_net(network, ms.load_checkpoint(path))
    return [*found, step(Tensor(X)).asnumpy(), network.second.bias.asnumpy()]


def scaled(network):
    """Scale the loss, and train by what `build_train_network` makes: the mean of gradients."""
    cell = pipelined(WithLoss(network), "network.")
    optimizer = nn.SGD(network.trainable_params(), 0.1)
    if ms.get_auto_parallel_context("pipeline_stages") > 1:
        step = ms.amp.build_train_network(cell, optimizer)
    else:
        step = nn.TrainOneStepCell(cell, optimizer, 1 / 4)
    other = nn.TrainOneStepCell(cell, optimizer, 0.5)
    return [step(Tensor(X)).asnumpy(), other(Tensor(X)).asnumpy(), step(Tensor(X)).asnumpy()]


def parts(network):
    """Cut micro batches in two again."""
    halves = nn.MicroBatchInterleaved(WithLoss(network), 2)
    cell = pipelined(halves, "network.network.")
    step = nn.TrainOneStepCell(cell, nn.Momentum(network.trainable_params(), 0.1, 0.9))
    return [step(Tensor(X)).asnumpy() for _ in range(2)]


def model(network):
    """Train by `Model`, with `AutoParallel` around the network."""
    cell = pipelined(WithLoss(network), "network.")
    optimizer = nn.Momentum(network.trainable_params(), 0.1, 0.9)
    staged = ms.get_auto_parallel_context("pipeline_stages") > 1
    ms.reset_auto_parallel_context()
    if staged:
        spread = AutoParallel(cell)
        spread.pipeline(2)
        data = dataset.NumpySlicesDataset({"x": X}, shuffle=False).batch(8)
        ms.Model(spread, optimizer=optimizer).train(2, data)
    else:
        step = nn.TrainOneStepCell(cell, optimizer, 1 / 4)
        for _ in range(2):
            step(Tensor(X))
    return [p.asnumpy() for p in network.get_parameters()]


USES = (forward, functional, written, scaled, parts, model)


def run(use, staged):
    """Run a use with stages or without."""
    ms.reset_auto_parallel_context()
    ms.set_seed(2)
    network = Network()
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel" if staged else "stand_alone",
        pipeline_stages=2 if staged else 1,
    )
    return use(network)


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for use in USES:
        if sys.argv[1:] and use.__name__ not in sys.argv[1:]:
            continue
        for a, b in zip(run(use, True), run(use, False), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
        print(use.__name__, flush=True)
