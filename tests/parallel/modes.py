"""Networks on one device and on eight: ``python -m tests.parallel.modes`` prints JSON lines.

Eight virtual devices must be asked for before jax starts: the cases run in a process of their own.
"""

import collections
import functools
import json
import os
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import numpy as np

import mindjax as ms
from mindjax import Tensor, nn, ops
from mindjax.communication import init
from mindjax.parallel.auto_parallel import AutoParallel
from tests.parallel.cases import CASES, STEPS, Case
from tests.parallel.networks import LENGTH, WORDS, LeNet


class WithLoss(nn.Cell):
    """The mean cross entropy of a network's outputs."""

    def __init__(self, network):
        super().__init__(auto_prefix=False)
        self.network = network

    def construct(self, x, labels):
        """Give the loss."""
        return ops.cross_entropy(self.network(x), ops.reshape(labels, (-1,)))


def batches(network, count):
    """Give the same batches at every call."""
    rng = np.random.RandomState(7)
    for _ in range(count):
        if network is LeNet:
            x = rng.randn(16, 1, 16, 16).astype(np.float32)
            yield Tensor(x), Tensor(rng.randint(0, 8, (16, 1)).astype(np.int32))
        else:
            x = rng.randint(0, WORDS, (16, LENGTH)).astype(np.int32)
            yield Tensor(x), Tensor((x * 7 + 3) % WORDS)


def train(case, alone):
    """Train, and give the losses, the network, the optimizer and the training step."""
    ms.reset_auto_parallel_context()
    ms.set_seed(5)
    if not alone and not case.wrapped:
        ms.set_auto_parallel_context(
            parallel_mode=case.mode,
            dataset_strategy=case.data,
            gradients_mean=True,
            **dict(case.context),
        )
    cut = (1, 1) if alone else (case.dp, case.mp)
    network = case.network(np.random.RandomState(3), *cut)
    # Adam's first steps turn rounding into whole steps: small ones keep two runs together.
    extra = (0.02, 0.9) if case.optimizer is nn.Momentum else (0.002,)
    optimizer = case.optimizer(network.trainable_params(), *extra)
    step = nn.TrainOneStepCell(WithLoss(network), optimizer)
    step.set_train()
    if case.wrapped and not alone:
        step = AutoParallel(step, case.mode)
        step.dataset_strategy(case.data)
        if case.hsdp:
            step.hsdp(**dict(case.hsdp))
    losses = [float(step(*b).asnumpy()) for b in batches(case.network, STEPS)]
    return losses, network, optimizer, step


@functools.cache
def alone(network, optimizer):
    """Give the losses on one device."""
    return train(Case(network, optimizer=optimizer), alone=True)[0]


def bytes_a_device(handles):
    """Give the most bytes that one device holds of some Parameters, and those of one whole copy."""
    held = collections.Counter()
    for handle in handles:
        for shard in handle.value().array.addressable_shards:
            held[shard.device.id] += shard.data.nbytes
    return max(held.values()), sum(h.nbytes for h in handles)


def transfers(step):
    """Count the collectives of a training step's program and the bytes that they give."""
    (program,) = [p for found in step._programs.programs.entries.values() for p in found]
    count = collections.Counter()
    size = collections.Counter()
    text = re.sub(r"/\*.*?\*/", "", program.hlo)
    for shape, kind in re.findall(
        r"= ([^=]*?) (all-reduce|all-gather|reduce-scatter|all-to-all)\(", text
    ):
        count[kind] += 1
        for dtype, dims in re.findall(r"([fsu]\d+)\[([\d,]*)\]", shape):
            size[kind] += int(dtype[1:]) // 8 * int(np.prod([int(d) for d in dims.split(",") if d]))
    return dict(count), dict(size)


def run(name):
    """Run a case and give what a test looks at."""
    case = CASES[name]
    expected = alone(case.network, case.optimizer)
    losses, network, optimizer, step = train(case, alone=False)
    parameters = list(network.trainable_params())
    state = [p for p in optimizer.get_parameters() if p.name not in {q.name for q in parameters}]
    state = [p for p in state if p.ndim]
    held, whole = bytes_a_device(parameters)
    state_held, state_whole = bytes_a_device(state)
    count, size = transfers(step)
    return {
        "case": name,
        "expected": expected,
        "losses": losses,
        "held": held,
        "whole": whole,
        "state_held": state_held,
        "state_whole": state_whole,
        "transfers": count,
        "bytes": size,
        "largest": max(p.nbytes for p in parameters),
    }


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for chosen in sys.argv[1:] or CASES:
        print(json.dumps(run(chosen)), flush=True)
