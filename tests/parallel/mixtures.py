"""Mixtures of experts on one device and on eight: ``python -m tests.parallel.mixtures``."""

import dataclasses
import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import numpy as np

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops
from mindjax.communication import init
from mindjax_parallel.moe import MoE
from tests.parallel import products
from tests.parallel.modes import bytes_a_device
from tests.parallel.networks import RMSNorm, weight
from tests.parallel.traffic import program, traffic

WIDTH, HIDDEN, EXPERTS, WORDS, BATCH, LENGTH, STEPS = 16, 32, 8, 32, 16, 8, 20


@dataclasses.dataclass(frozen=True)
class Case:
    """A training: parts of tokens, experts and their matrices; experts a token, capacity, mode."""

    dp: int
    ep: int
    mp: int = 1
    k: int = 2
    capacity: float | None = 1.25
    activation: str = "gelu"
    quick: bool = False
    mode: str = "semi_auto_parallel"


CASES = {
    "top 2": Case(8, 8, quick=True),
    "top 1": Case(8, 8, k=1, capacity=1.0),
    "top 3": Case(8, 4, k=3),
    "no token is dropped": Case(8, 8, capacity=None),
    "data x expert x tensor": Case(4, 2, 2, activation="swiglu"),
    "data x expert x tensor, all tokens": Case(4, 2, 2, capacity=None, activation="swiglu"),
    "data": Case(8, 1),
    "the rest is searched for": Case(8, 8, mode="auto_parallel"),
}


class Network(nn.Cell):
    """Words through a mixture, with the loss of the word that follows and the balance loss."""

    def __init__(self, case, alone):
        super().__init__()
        rng = np.random.RandomState(3)
        parts = {} if alone else {
            "data_parallel": case.dp, "expert_parallel": case.ep, "model_parallel": case.mp
        }  # fmt: skip
        self.table, self.head = weight(rng, WORDS, WIDTH), weight(rng, WIDTH, WORDS)
        self.norm = RMSNormOf(WIDTH)
        self.moe = MoE(
            WIDTH,
            HIDDEN,
            EXPERTS,
            case.k,
            case.capacity,
            groups=8,
            activation=case.activation,
            **parts,
        )
        for parameter in self.moe.trainable_params():
            parameter.set_data(weight(rng, *parameter.shape) * 3)

    def construct(self, tokens, labels):
        """Map words (n, length) and the words that follow to the loss."""
        x = ops.gather(self.table, tokens, 0)
        y, balance = self.moe(self.norm(x))
        logits = ops.matmul(x + y, self.head)
        return ops.cross_entropy(ops.transpose(logits, (0, 2, 1)), labels) + balance


class RMSNormOf(RMSNorm):
    """The same for another width."""

    def __init__(self, width):
        super().__init__()
        self.scale = Parameter(Tensor(np.ones(width, np.float32)))


def make(case, alone):
    """Make a network and its training step."""
    network = Network(case, alone)
    step = nn.TrainOneStepCell(network, nn.Momentum(network.trainable_params(), 0.05, 0.9))
    return network, step


def state(step):
    """Give copies of all Parameters, the optimizer's too."""
    return [p.asnumpy().copy() for p in step.get_parameters()]


def run(name):
    """Train on one device, and do each of its steps on eight devices too, from its state."""
    case = CASES[name]
    ms.reset_auto_parallel_context()
    _, step = make(case, alone=True)
    rng = np.random.RandomState(7)
    batches, states, expected = [], [], []
    for _ in range(STEPS):
        x = rng.randint(0, WORDS, (BATCH, LENGTH)).astype(np.int32)
        batches.append((Tensor(x), Tensor((x * 7 + 3) % WORDS)))
        states.append(state(step))
        expected.append(float(step(*batches[-1]).asnumpy()))
    after = state(step)
    ms.set_auto_parallel_context(
        parallel_mode=case.mode, dataset_strategy=((case.dp, 1), (case.dp, 1))
    )
    network, step = make(case, alone=False)
    losses, moved = [], []
    for i, batch in enumerate(batches):
        for parameter, value in zip(step.get_parameters(), states[i], strict=True):
            parameter.set_data(Tensor(value))
        losses.append(float(step(*batch).asnumpy()))
        wanted = states[i + 1] if i + 1 < STEPS else after
        moved.append(
            max(
                float(np.abs(a - b).max() / max(np.abs(b).max(), 1e-3))
                for a, b in zip(state(step), wanted, strict=True)
            )
        )
    for parameter, value in zip(step.get_parameters(), states[-1], strict=True):
        parameter.set_data(Tensor(value))
    twice = [float(step(*batches[-1]).asnumpy()), losses[-1]]
    experts = network.moe.trainable_params()[1:]
    held, whole = bytes_a_device(experts)
    count, size, _ = traffic(program(step))
    return {
        "case": name,
        "losses": losses,
        "expected": expected,
        "moved": max(moved),
        "twice": twice,
        "held": held,
        "whole": whole,
        "parameters": sum(p.nbytes for p in network.trainable_params()),
        "count": count,
        "bytes": size,
    }


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for chosen in sys.argv[1:]:
        result = products.run(chosen) if chosen in products.CASES else run(chosen)
        print(json.dumps(result), flush=True)
