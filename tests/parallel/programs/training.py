"""Data parallel training in steps of one's own, where rank 0 alone reads the loss."""

import sys

import mindspore as ms
import mindspore.mint.distributed as dist
import numpy as np
from mindspore import Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

from mindjax.core.engine import ENGINES, eager, engine

init()
RANK, SIZE = get_rank(), get_group_size()
ms.set_context(mode=ms.GRAPH_MODE if "graph" in sys.argv else ms.PYNATIVE_MODE)
STEPS, ROWS = 6, 12


def network():
    ms.set_seed(3)
    return nn.SequentialCell(
        nn.Dense(5, 16), nn.BatchNorm1d(16) if "norm" in sys.argv else nn.Tanh(), nn.Dense(16, 2)
    )


def train(mode, rows):
    """Give the losses that this process has read, and the trained Parameters."""
    ms.set_auto_parallel_context(parallel_mode=mode, gradients_mean=True)
    net = network()
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
    step.set_train()
    random = np.random.RandomState(1)
    losses = []
    for number in range(STEPS):
        x = random.randn(ROWS, 5).astype(np.float32)
        y = random.randn(ROWS, 2).astype(np.float32)
        loss = step(Tensor(x[rows]), Tensor(y[rows]))
        if RANK == 0 and number % 2:
            losses.append(float(loss.asnumpy()))
    return losses, [p.asnumpy() for p in net.get_parameters()]


share = ROWS // SIZE
losses, spread = train("data_parallel", slice(RANK * share, (RANK + 1) * share))
every = [None] * SIZE
dist.all_gather_object(every, spread)
alone = train("stand_alone", slice(None))[1]
for rank, parameters in enumerate(every):
    for a, b in zip(parameters, alone, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=f"rank {rank}")
assert len(losses) == (STEPS // 2 if RANK == 0 else 0)
if "engines" in sys.argv:
    # The other engine gives the same losses and Parameters.
    before = engine()
    (other,) = set(ENGINES) - {before}
    with eager(other):
        assert engine() == other
        again = train("data_parallel", slice(RANK * share, (RANK + 1) * share))
    assert engine() == before
    np.testing.assert_allclose(again[0], losses, rtol=1e-5, atol=1e-6)
    for a, b in zip(again[1], spread, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6, err_msg=f"rank {RANK}")
# The sum that is read by nobody.
ops.AllReduce()(Tensor(np.ones(2, np.float32)))
print(f"rank {RANK} of {SIZE} is through", flush=True)
