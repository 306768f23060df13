"""Host memory and recomputation: ``python -m tests.parallel.memory`` prints a JSON line a case."""

import json
import logging
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["MINDJAX_DEVICES"] = "8"

import jax
import numpy as np

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops
from mindjax.communication import init
from mindjax.core import host_memory, simulation
from mindjax.parallel.auto_parallel import AutoParallel
from mindjax_parallel.cost import inlined
from tests.parallel.memory_cases import CASES


class Block(nn.Cell):
    """Two products around a function, the first cut by columns, the second by rows."""

    def __init__(self, random, device, cut):
        super().__init__()
        self.w1, self.w2 = (
            Parameter(Tensor((random.randn(*s) / 4).astype(np.float32)), device=device)
            for s in ((16, 32), (32, 16))
        )
        self.first, self.second = ops.MatMul(), ops.MatMul()
        if cut:
            self.first.shard(((2, 1), (1, 2)))
            self.second.shard(((2, 2), (2, 1)))

    def construct(self, x):
        """Map (n, 16) to the same."""
        return x + ops.tanh(self.second(ops.tanh(self.first(x, self.w1)), self.w2))


class Net(nn.Cell):
    """Three such blocks, and their loss."""

    def __init__(self, device, cut):
        super().__init__()
        random = np.random.RandomState(0)
        self.blocks = nn.CellList([Block(random, device, cut) for _ in range(3)])

    def construct(self, x, y):
        """Map rows and what they should become to a number."""
        for block in self.blocks:
            x = block(x)
        return ops.mean((x - y) ** 2)


def made(case):
    """Give a training step, its network and its optimizer."""
    net = Net(case.device, case.cut)
    for block in net.blocks:
        if case.offload:
            block.offload()
        if case.again is not None:
            block.recompute(**case.again)
    optimizer = nn.Adam(net.trainable_params(), 0.01)
    step = nn.TrainOneStepCell(net, optimizer)
    if case.cut:
        step = AutoParallel(step)
        if case.level:
            step.hsdp(threshold=0, optimizer_level=case.level)
    return step, net, optimizer


def run(case):
    """Train, and give losses, kinds of memory, and what is in the program as it is lowered."""
    random = np.random.RandomState(1)
    x, y = (Tensor(random.randn(8, 16).astype(np.float32)) for _ in range(2))
    if case.without:
        host_memory.kinds = lambda: {"device"}
        host_memory.kind.cache_clear()
    simulation.start(look)
    made(case)[0](x, y)
    simulation.stop()
    step, net, optimizer = made(case)
    losses = [float(step(x, y).asnumpy()) for _ in range(3)]
    return {
        "losses": losses,
        "parameter": net.blocks[0].w1.array.sharding.memory_kind,
        "state": optimizer.moment1[0].array.sharding.memory_kind,
        "products": TEXTS[-1].count("dot_general["),
        "on the host": TEXTS[-1].count("device_put["),
        "gathers": TEXTS[-1].count("kind=gather"),
        "warnings": list(WARNINGS),
    }


WARNINGS, TEXTS = [], []


def look(function, arrays, partitioner, **_):
    """Keep the text of a program, without functions inside it."""
    if partitioner is not None:
        function = partitioner.simulated[0]
    flat = inlined(jax.make_jaxpr(function)(*arrays))
    TEXTS.append(str(jax.make_jaxpr(flat)(*arrays)))


class Noting(logging.Handler):
    """Keeps the texts of warnings."""

    def emit(self, record):
        """Keep one."""
        WARNINGS.append(record.getMessage())


if __name__ == "__main__":
    logging.getLogger("mindjax").addHandler(Noting(logging.WARNING))
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for name in sys.argv[1:]:
        print(json.dumps([name, run(CASES[name])]), flush=True)
