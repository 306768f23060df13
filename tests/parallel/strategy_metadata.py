"""How Parameters of programs lie, asked on eight devices: prints JSON."""

import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["MINDJAX_DEVICES"] = "8"

import numpy as np

import mindjax as ms
from mindjax import Parameter, Tensor, nn
from mindjax.communication import init
from mindjax.ops import operations as P
from mindjax.parallel.auto_parallel import AutoParallel
from mindjax.parallel.strategy import (
    clear_strategy_metadata,
    enable_save_strategy_online,
    get_current_strategy_metadata,
    get_strategy_metadata,
)
from tests.parallel.strategy_files import Net, run, semi


class Product(nn.Cell):
    """A product, whose rows and columns of sums are cut in two."""

    def __init__(self, name):
        super().__init__()
        self.w = Parameter(Tensor(np.ones((16, 16), np.float32)), name=name)
        self.matmul = P.MatMul().shard(((2, 2), (2, 1)))

    def construct(self, x):
        """Map (n, 16) to the same."""
        return self.matmul(x, self.w)


class Products(nn.Cell):
    """Two products and their sum."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Product("w"), Product("w")

    def construct(self, x):
        """Map (n, 16) to a number."""
        return self.second(self.first(x)).sum()


def shown(layouts):
    """Give metadata as JSON has it, None of those of none."""
    return layouts and {
        str(rank): {n: [e[0].to_dict(), *e[1:]] for n, e in entries.items()}
        for rank, entries in layouts.items()
    }


def asked(network):
    """Ask for all ranks and for this one."""
    return [shown(get_strategy_metadata(network)), shown(get_current_strategy_metadata(network))]


def of_programs():
    """Ask before and after programs are compiled."""
    found = {}
    semi()
    early = Net(True)
    run(early)
    found["before it is enabled"] = asked(early)
    enable_save_strategy_online()
    net = Net(True)
    found["before it is compiled"] = asked(net)
    run(net)
    found["here"] = shown(get_current_strategy_metadata(net))
    found["rank 5"] = shown(get_strategy_metadata(net, 5))
    found["of a block"] = shown(get_strategy_metadata(net.blocks[1], 5))
    found["ranks"] = list(get_strategy_metadata(net))
    found["compiled before"] = asked(early)
    alike = Net(True)
    for mine, its in zip(alike.blocks, net.blocks, strict=True):
        mine.w1, mine.w2, mine.scale = its.w1, its.w2, its.scale
    found["of the same Parameters"] = asked(alike)
    around = nn.SequentialCell(net)
    found["not compiled around it"] = asked(around)
    around(Tensor(np.ones((4, 8), np.float32)))
    found["compiled around it"] = shown(get_current_strategy_metadata(around))
    try:
        get_strategy_metadata(net, 8)
    except KeyError as error:
        found["no rank"] = str(error)
    clear_strategy_metadata()
    found["cleared"] = asked(net)
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    whole = Net(False)
    run(whole)
    found["data parallel"] = asked(whole)
    return found


def of_shared():
    """Ask where optimizer parallelism cuts further, with stages and without."""
    found = {}
    enable_save_strategy_online()
    for stages in (1, 2):
        products = Products()
        network = products
        if stages > 1:
            network = nn.PipelineCell(products, 2, stage_config={"first": 0, "second": 1})
        optimizer = nn.Momentum(products.trainable_params(), 0.1, 0.9)
        step = AutoParallel(nn.TrainOneStepCell(network, optimizer))
        step.hsdp(threshold=0)
        step.full_batch = True
        if stages > 1:
            step.pipeline(2)
        step(Tensor(np.ones((16, 16), np.float32)))
        for rank in (0, 7):
            found[f"{stages}, rank {rank}"] = shown(get_strategy_metadata(products, rank))
    return found


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    print(json.dumps(of_shared() if "shared" in sys.argv else of_programs()))
