"""What a simulation gives: shapes without values, programs that are not run."""

import os
import resource
import sys

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer
from mindspore.utils import dryrun

assert dryrun.mock(1, 2) == 2
dryrun.set_simulation()
assert os.environ["MS_SIMULATION_LEVEL"] == "1"
assert dryrun.mock(1, 2) == 1
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

# 64 GB of numbers.
weight = Parameter(initializer("normal", (1 << 17, 1 << 17)), name="weight")
other = weight.clone("zeros")
small = Parameter(Tensor(np.arange(4, dtype=np.float32)), name="small")
ms.set_context(mode=ms.PYNATIVE_MODE)
cases = {
    "a product": (ops.matmul(weight, other), (1 << 17, 1 << 17)),
    "a sum": (weight.sum(0), (1 << 17,)),
    "a fill": (ops.zeros((1 << 17, 1 << 17)), (1 << 17, 1 << 17)),
    "a slice": (weight[:3], (3, 1 << 17)),
    "several": (ops.split(weight, 1 << 16)[1], (1 << 16, 1 << 17)),
}
for name, (found, shape) in cases.items():
    assert tuple(found.shape) == shape, name
# What is small is computed.
assert (small * 2).asnumpy().tolist() == [0, 2, 4, 6]

ms.set_context(mode=ms.GRAPH_MODE)
net = nn.Dense(1 << 15, 1 << 15, has_bias=False)
step = nn.TrainOneStepCell(
    nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9)
)
x = Tensor(np.ones((8, 1 << 15), np.float32))
for _ in range(2):
    assert float(step(x, x).asnumpy()) == 0
taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert taken < 1 << 20, f"{taken} KiB"
print("through", len(sys.argv), flush=True)
