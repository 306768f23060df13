"""Strategy files on eight devices: ``python -m tests.parallel.strategy_files`` prints JSON."""

import json
import os
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["MINDJAX_DEVICES"] = "8"

import numpy as np

import mindjax as ms
from mindjax import Parameter, Tensor, nn
from mindjax.checkpoint.strategy import read_strategy
from mindjax.communication import init
from mindjax.ops import operations as P
from mindjax.parallel import set_op_strategy_config
from mindjax.parallel.auto_parallel import AutoParallel


class Block(nn.Cell):
    """Two products around a function; their operators have strategies, or none."""

    def __init__(self, cut):
        super().__init__()
        self.first, self.second, self.twice = P.MatMul(), P.MatMul(), P.ReLU()
        self.w1 = Parameter(Tensor(np.ones((8, 16), np.float32)), name="w1")
        self.w2 = Parameter(Tensor(np.ones((16, 8), np.float32)), name="w2")
        self.scale = Parameter(Tensor(np.ones(8, np.float32)), name="scale", requires_grad=False)
        if cut:
            self.first.shard(((2, 1), (1, 4)))
            self.second.shard(((2, 4), (4, 1)))

    def construct(self, x):
        """Map (n, 8) to the same."""
        return self.second(self.twice(self.first(x, self.w1)), self.w2) * self.scale


class Net(nn.Cell):
    """Two such blocks."""

    def __init__(self, cut):
        super().__init__()
        self.blocks = nn.CellList([Block(cut), Block(cut)])

    def construct(self, x):
        """Map (n, 8) to the same."""
        for block in self.blocks:
            x = block(x)
        return x


def placements(net):
    """Give the numbers of parts of each Parameter."""
    return {
        p.name: [
            n // m
            for n, m in zip(p.shape, p.value().array.addressable_shards[0].data.shape, strict=True)
        ]
        for p in net.get_parameters()
    }


def run(net):
    """Run a network once."""
    return net(Tensor(np.ones((4, 8), np.float32))).asnumpy()


def semi(**settings):
    """Set semi-auto mode with further settings."""
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(
        parallel_mode="semi_auto_parallel", dataset_strategy="full_batch", **settings
    )


def of_files(folder):
    """Write and read files, and give what a test looks at."""
    found = {}
    for kind in ("ckpt", "json"):
        path = f"{folder}/made/{kind}.{kind}"
        semi(strategy_ckpt_config={"save_file": path})
        net = Net(True)
        expected = run(net)
        found["placed"] = placements(net)
        content = read_strategy(path)
        found[f"{kind} operators"] = {
            o.name: [d.dim for d in o.strategies] for o in content.operators
        }
        found[f"{kind} layouts"] = {
            n: [e.dev_matrix[0].dim, e.tensor_map[0].dim] for n, e in content.layouts.items()
        }
        semi(strategy_ckpt_load_file=path)
        plain = Net(False)
        np.testing.assert_array_equal(run(plain), expected)
        found[f"{kind} loaded"] = placements(plain)
    semi(strategy_ckpt_config={"save_file": path, "only_trainable_params": False},
         group_ckpt_save_file=f"{folder}/group.pb")  # fmt: skip
    run(Net(True))
    found["all names"] = sorted(read_strategy(path).layouts)
    found["group"] = ms.restore_group_info_list(f"{folder}/group.pb")
    semi()
    set_op_strategy_config("SAVE", f"{folder}/operators.json")
    run(Net(True))
    found["operators"] = [o.name for o in read_strategy(f"{folder}/operators.json").operators]
    semi()
    set_op_strategy_config("LOAD", f"{folder}/operators.json")
    plain = Net(False)
    np.testing.assert_array_equal(run(plain), expected)
    found["operators loaded"] = placements(plain)
    semi()
    plain = Net(False)
    run(plain)
    found["after a reset"] = placements(plain)
    ms.reset_auto_parallel_context()
    wrapped = AutoParallel(Net(True), "sharding_propagation")
    wrapped.dataset_strategy("full_batch")
    wrapped.save_param_strategy_file(f"{folder}/wrapped.ckpt")
    wrapped.save_operator_strategy_file(f"{folder}/wrapped.json")
    wrapped.disable_strategy_file_only_for_trainable_params()
    run(wrapped)
    found["wrapped names"] = sorted(read_strategy(f"{folder}/wrapped.ckpt").layouts)
    plain = AutoParallel(Net(False), "sharding_propagation")
    plain.dataset_strategy("full_batch")
    plain.load_param_strategy_file(f"{folder}/wrapped.ckpt")
    run(plain)
    found["wrapped loaded"] = placements(plain)
    return found


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    with tempfile.TemporaryDirectory() as made:
        print(json.dumps(of_files(made)))
