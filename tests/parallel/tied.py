"""Parameters that a network uses in several places, data parallel on eight devices, as JSON."""

import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import numpy as np

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops
from mindjax.communication import init
from tests.parallel import traffic

ROWS, WORDS, WIDTH = 64, 16, 8
# Settings of the context, and the dtype of the Parameters.
CASES = {
    "data": ({"parallel_mode": "data_parallel"}, "float32"),
    "semi": ({"parallel_mode": "semi_auto_parallel"}, "float32"),
    "wide": ({"parallel_mode": "data_parallel", "force_fp32_communication": True}, "float16"),
}


class Network(nn.Cell):
    """A table that is the head too, a matrix and gains that are used twice."""

    def __init__(self, table, square, gain):
        super().__init__()
        self.table = Parameter(Tensor(table), name="table")
        self.square = Parameter(Tensor(square), name="square")
        self.gain = Parameter(Tensor(gain), name="gain")

    def construct(self, tokens, factors):
        """Give the sum of products with factors."""
        x = ops.gather(self.table, tokens, 0) * self.gain
        x = ops.matmul(ops.matmul(x, self.square), self.square) * self.gain
        return ops.sum(ops.matmul(x, ops.transpose(self.table, (1, 0))) * factors)


def gradients(table, square, gain, tokens, factors):
    """Work the gradients out."""
    rows = table[tokens]
    first = rows * gain
    second = first @ square
    third = second @ square
    d_last = factors @ table
    of_table = factors.T @ (third * gain)
    of_gain = (d_last * third).sum(0)
    d_third = d_last * gain
    d_second = d_third @ square.T
    of_square = second.T @ d_third + first.T @ d_second
    d_first = d_second @ square.T
    of_gain = of_gain + (d_first * rows).sum(0)
    np.add.at(of_table, tokens, d_first * gain)
    return of_table, of_square, of_gain


def run(name):
    """Do a step of the size 1; give the largest error, and the bytes that are added up."""
    settings, dtype = CASES[name]
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(**settings)
    rng = np.random.RandomState(0)
    before = [(rng.randint(-2, 3, s) / 2).astype(dtype) for s in ((WORDS, WIDTH), (WIDTH, WIDTH))]
    before.append((rng.randint(1, 3, WIDTH) / 2).astype(dtype))
    tokens = rng.randint(0, WORDS, ROWS).astype(np.int32)
    factors = (rng.randint(-2, 3, (ROWS, WORDS)) / 8).astype(dtype)
    network = Network(*before)
    step = nn.TrainOneStepCell(network, nn.SGD(network.trainable_params(), 1.0))
    step(Tensor(tokens), Tensor(factors))
    exact = gradients(*(a.astype(np.float64) for a in before), tokens, factors.astype(np.float64))
    after = [p.asnumpy().astype(np.float64) for p in network.trainable_params()]
    pairs = zip(before, after, exact, strict=True)
    text = traffic.program(step)
    return {
        "error": max(float(abs((b - a) - e).max() / abs(e).max()) for b, a, e in pairs),
        "sums": traffic.traffic(text)[1],
        "numbers": sum(a.size for a in before),
        "halves": any("f16[" in r and "all-reduce(" in r for r in text.splitlines()),
    }


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for chosen in sys.argv[1:] or CASES:
        print(json.dumps(run(chosen)), flush=True)
