"""Products whose matrices are cut along both dimensions; run by `mixtures`.

Tensor parallelism in two dimensions: devices (x, y) hold a part of each matrix, cut along both.
Activations lie in parts too; they are gathered along one axis for a product, and its sums are
scattered along the other. In three dimensions rows are cut along a third axis besides.
"""

import numpy as np

import mindjax as ms
from mindjax import Layout, Tensor, nn, ops
from mindjax.ops import operations as P
from tests.parallel.modes import bytes_a_device
from tests.parallel.networks import weight
from tests.parallel.traffic import program, traffic

ROWS, WIDTH, HIDDEN, STEPS = 16, 32, 64, 20

# Name: sizes of the axes x, y and z; parts of each matrix.
CASES = {
    "two dimensions": ((4, 2, 1), 8),
    "two dimensions, 2 x 4": ((2, 4, 1), 8),
    "three dimensions": ((2, 2, 2), 4),
}
QUICK = ["two dimensions"]


class Network(nn.Cell):
    """Two pairs of products with a nonlinearity between."""

    def __init__(self, sizes):
        super().__init__()
        rng = np.random.RandomState(3)
        self.first = ms.ParameterTuple([weight(rng, WIDTH, HIDDEN) for _ in range(2)])
        self.second = ms.ParameterTuple([weight(rng, HIDDEN, WIDTH) for _ in range(2)])
        self.into, self.back = [P.MatMul() for _ in range(2)], [P.MatMul() for _ in range(2)]
        if sizes is None:
            return
        axes = Layout(sizes, ("x", "y", "z"))
        for one in self.into:
            one.shard((axes("z", "x"), axes("x", "y")), (axes(("z", "x"), "y"),))
        for one in self.back:
            one.shard((axes("z", "y"), axes("y", "x")), (axes(("z", "y"), "x"),))

    def construct(self, x, labels):
        """Map (rows, width) to the mean square error."""
        for i in range(2):
            y = self.into[i](x, self.first[i])
            x = x + self.back[i](ops.relu(y), self.second[i])
        return ops.mean(ops.square(x - labels))


def train(sizes):
    """Train, and give the losses, the network and the training step."""
    ms.reset_auto_parallel_context()
    if sizes is not None:
        axes = Layout(sizes, ("x", "y", "z"))
        rows = axes(("z", "y"), "x")
        ms.set_auto_parallel_context(
            parallel_mode="semi_auto_parallel", dataset_strategy=(rows, rows)
        )
    network = Network(sizes)
    step = nn.TrainOneStepCell(network, nn.Momentum(network.trainable_params(), 0.1, 0.9))
    rng = np.random.RandomState(7)
    losses = []
    for _ in range(STEPS):
        x = rng.randn(ROWS, WIDTH).astype(np.float32)
        losses.append(float(step(Tensor(x), Tensor(np.roll(x, 1, 1))).asnumpy()))
    return losses, network, step


def run(name):
    """Run a case and give what a test looks at."""
    sizes, parts = CASES[name]
    expected = train(None)[0]
    losses, network, step = train(sizes)
    held, whole = bytes_a_device(network.trainable_params())
    count, size, largest = traffic(program(step))
    return {
        "case": name,
        "losses": losses,
        "expected": expected,
        "held": held,
        "whole": whole,
        "parts": parts,
        "count": count,
        "bytes": size,
        "largest": largest,
        "parameter": WIDTH * HIDDEN * 4,
    }
