"""A training that is cut off and goes on with another number of processes.

Words: the folder of its checkpoints, the folder to go on from or ``-``, the step after which the
last rank is killed, 0 for none, the mode, and ``alone`` for a training on one device. It prints its
losses.
"""

import itertools
import os
import signal
import sys
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import get_group_size, get_rank, init

from mindjax.checkpoint import load_newest_of_ranks

target, source, dying, mode = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
alone = "alone" in sys.argv
STEPS, ROWS, MICROS = 8, 8, 4
ms.set_context(mode=ms.GRAPH_MODE)
init()
rank, size = get_rank(), get_group_size()
processes = int(os.environ.get("RANK_SIZE", "1"))
if mode == "data" and not alone:
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
elif mode == "stages" and not alone:
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", dataset_strategy="full_batch", pipeline_stages=size
    )
elif not alone:
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel",
        dataset_strategy="full_batch",
        strategy_ckpt_config={"save_file": f"{target}/strategy.ckpt"},
        enable_parallel_optimizer=True,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0},
    )


class Net(nn.Cell):
    """Two products, the first cut by columns, the second by rows; a table that is shared out."""

    def __init__(self):
        super().__init__()
        random = np.random.RandomState(0)
        self.table = Parameter(Tensor(random.randn(16, 8).astype(np.float32)), name="table")
        self.w1 = Parameter(Tensor(random.randn(8, 16).astype(np.float32) / 3), name="w1")
        self.w2 = Parameter(Tensor(random.randn(16, 4).astype(np.float32) / 4), name="w2")
        self.first, self.second = ops.MatMul(), ops.MatMul()
        if mode == "semi" and not alone:
            self.first.shard(((1, 1), (1, 2)))
            self.second.shard(((1, 2), (2, 1)))

    def construct(self, x):
        """Map rows of 16 numbers to rows of 4."""
        return self.second(ops.relu(self.first(ops.matmul(x, self.table), self.w1)), self.w2)


class Layers(nn.Cell):
    """Four layers, of which stages have as many each; none is as wide as another."""

    def __init__(self):
        super().__init__()
        widths = [16, 24, 20, 12, 4]
        self.layers = nn.SequentialCell(
            *(nn.Dense(a, b, activation="tanh") for a, b in itertools.pairwise(widths))
        )
        self.loss = nn.MSELoss()

    def construct(self, x, y):
        """Give the loss."""
        return self.loss(self.layers(x), y)


ms.set_seed(3)
rate = nn.polynomial_decay_lr(0.05, 0.01, STEPS, STEPS, 1, 1.0)
if mode == "stages":
    net = Layers()
    stages = {f"layers.{i}": 0 if alone else i * size // 4 for i in range(4)}
    optimizer = nn.Adam(net.trainable_params(), rate)
    # A pipeline's loss is the sum over its micro batches.
    step = nn.TrainOneStepCell(nn.PipelineCell(net, MICROS, stages), optimizer, sens=1 / MICROS)
else:
    net = Net()
    optimizer = nn.Adam(net.trainable_params(), rate)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer)
begin = 0
if source != "-":
    # One process holds whole Parameters, over however many devices.
    parts = mode == "semi" and Path(source, "rank_1").exists()
    found = load_newest_of_ranks(source, f"{source}/strategy.ckpt" if parts else None)
    assert found is not None
    begin = int(found.pop("step_num").asnumpy())
    missing, unused = ms.load_param_into_net(step, found)
    assert not missing and not unused, (missing, unused)
folder = Path(target) / f"rank_{rank}"
folder.mkdir(parents=True, exist_ok=True)
for number in range(begin, STEPS):
    random = np.random.RandomState(number)
    x, y = (random.randn(ROWS, n).astype(np.float32) for n in (16, 4))
    if mode == "data" and not alone:
        x, y = (a[rank::size] for a in (x, y))
    loss = float(step(Tensor(x), Tensor(y)).asnumpy())
    if mode == "data" and not alone:
        loss = float(ops.AllReduce()(Tensor(loss, ms.float32)).asnumpy()) / size
    elif mode == "stages":
        loss /= MICROS
    if rank == 0:
        print(f"step {number}: loss {loss:.9g}", flush=True)
    path = str(folder / f"net-{number + 1}.ckpt")
    ms.save_checkpoint(step, path, integrated_save=False, append_dict={"step_num": number + 1})
    if number + 1 == dying and rank == max(0, processes - 1):
        os.kill(os.getpid(), signal.SIGKILL)
if mode != "semi" or alone:
    print(f"rank {rank} of {size} is through", flush=True)
    sys.exit(0)
held = net.w1.value().array.addressable_data(0).nbytes
assert held * size == net.w1.nbytes
# A checkpoint loads into the net that is spread already, part by part.
before = net.w1.asnumpy()
net.w1.set_data(Tensor(np.zeros(net.w1.shape, np.float32)))
step(Tensor(x), Tensor(y))
ms.load_param_into_net(net, {"w1": ms.load_checkpoint(path)["w1"]})
np.testing.assert_array_equal(net.w1.asnumpy(), before)
print(f"rank {rank} of {size} is through", flush=True)
