"""A small Llama in four processes: data parallel, semi-auto or in stages, compared with one device.

Words: the mode, and what the last rank does after the third step: ``-`` for nothing, ``kill``,
``raise``, ``hang``, or ``alone`` if rank 0 reads a cut Parameter that the others do not.
"""

import os
import signal
import sys
import time

import mindspore as ms
import numpy as np
from mindspore import Tensor, nn
from mindspore.communication import get_group_size, get_rank, init

from tests.parallel.pipeline_networks import batches, llama

mode, what = sys.argv[1], sys.argv[2]
STEPS, ROWS, MICROS = 20, 16, 4
init()
rank, size = get_rank(), get_group_size()
ms.set_context(mode=ms.GRAPH_MODE)
stages = {"stages": size, "data and stages": size // 2}.get(mode, 1)
cut = (1, 1) if mode in ("data", "stages") else (2, 1) if "data" in mode else (2, size // 2)


def train(parallel):
    """Train, and give the losses."""
    ms.reset_auto_parallel_context()
    part, parts = 0, 1
    if parallel and mode == "data":
        ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
        part, parts = rank, size
    elif parallel:
        ms.set_auto_parallel_context(
            parallel_mode="semi_auto_parallel",
            pipeline_stages=stages,
            dataset_strategy="full_batch" if cut[0] == 1 else ((cut[0], 1), (cut[0], 1)),
        )
        part, parts = rank % (size // stages) // cut[1], cut[0]
    network = llama(np.random.RandomState(3), *(cut if parallel else (1, 1)))
    optimizer = nn.Momentum(network.trainable_params(), 0.01, 0.9)
    if stages > 1:
        places = {f"blocks.{i}": i * stages // 8 for i in range(8)}
        step = nn.TrainOneStepCell(nn.PipelineCell(network, MICROS, stage_config=places), optimizer)
    else:
        step = nn.TrainOneStepCell(network, optimizer)
    step.set_train()
    losses = []
    for number, batch in enumerate(batches(llama, ROWS, STEPS)):
        if parallel and number == 3:
            end(network)
        loss = step(*(Tensor(np.split(x, parts)[part]) for x in batch))
        losses.append(float(loss.asnumpy()))
    return np.array(losses)


def end(network):
    """Do what the second word says."""
    if what == "alone" and rank == 0:
        # Each process must ask for a Parameter that is cut.
        print(next(p for p in network.trainable_params() if p.shape == (64, 32)).asnumpy())
    if rank < size - 1:
        return
    if what == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if what == "raise":
        raise KeyError("no such weight")
    if what in ("hang", "alone"):
        time.sleep(600)


losses = train(True)
if mode == "data":
    # Each rank has the loss of its own rows.
    from mindspore import ops

    losses = ops.AllReduce()(Tensor(losses, ms.float64)).asnumpy() / size
np.testing.assert_allclose(losses, train(False), rtol=1e-5)
print(f"rank {rank} of {size} is through", flush=True)
