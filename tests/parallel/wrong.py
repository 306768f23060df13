"""Wrong strategies and settings on eight devices: prints the class and message of each error."""

import json
import os
import tempfile

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["MINDJAX_DEVICES"] = "8"

import numpy as np

import mindjax as ms
from mindjax import Layout, Parameter, Tensor, nn, ops
from mindjax.communication import init
from mindjax.ops import operations as P
from mindjax.ops.fused.flash import FlashAttentionScore
from mindjax.parallel.auto_parallel import AutoParallel
from mindjax_parallel.moe import MoE
from tests.parallel.wrong_cases import CASES


class Call(nn.Cell):
    """An operator on Tensors of ones."""

    def __init__(self, operator, parameter=None):
        super().__init__()
        self.operator = operator
        if parameter is not None:
            self.w = Parameter(Tensor(np.ones(parameter, np.float32)), name="w")

    def construct(self, *inputs):
        """Run it."""
        return self.operator(*inputs)


def ones(*shape):
    """Give a Tensor of ones."""
    return Tensor(np.ones(shape, np.float32))


def run(operator, *shapes, **settings):
    """Run an operator in semi-auto mode."""
    given = {"parallel_mode": "semi_auto_parallel", "dataset_strategy": "full_batch", **settings}
    ms.set_auto_parallel_context(**given)
    return Call(operator)(*(ones(*s) for s in shapes))


def ring(layout="BSH", cut=8, mask=False, length=16, queries=8, **options):
    """Attend with four heads, queries and keys cut as told, with attributes."""
    named = {k: options.pop(k) for k in list(options) if k.startswith("enable")}
    settings = {
        k: options.pop(k) for k in list(options) if k in ("parallel_mode", "pipeline_stages")
    }
    operator = FlashAttentionScore(4, input_layout=layout, **options)
    parts = [(1, n, 1) if layout == "BSH" else (n, 1, 1) for n in (queries, cut, cut)]
    operator.shard((*parts, (8, 1)) if mask else tuple(parts))
    for name, value in named.items():
        operator.add_prim_attr(name, value)
    shape = (1, length, 32) if layout == "BSH" else (length, 1, 32)
    shown = Tensor(np.zeros((length, length), np.uint8)) if mask else None

    def attend(q, k, v):
        return operator(q, k, v, None, None, None, shown)[3]

    return run(attend, shape, shape, shape, **settings)


def mixture(strategy):
    """Give a layer of experts with a strategy of its own."""
    layer = MoE(8, 16, 8, groups=8)
    layer.experts.shard(strategy)
    return layer


def spread(**settings):
    """Give a network of two products in `AutoParallel`."""
    network = AutoParallel(nn.Dense(8, 8), **settings)
    return network


def strategy_file(matrix, places):
    """Write a strategy file for a Parameter called "weight", and give its path."""
    path = os.path.join(tempfile.mkdtemp(), "strategy.json")
    layout = {"dev_matrix": matrix, "tensor_map": places, "field": 0}
    layout |= {"opt_weight_shard_step": 0, "opt_weight_shard_size": 0}
    names = ("weight", "operator.weight")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"current_stage": 1, "parallel_layout_item": dict.fromkeys(names, layout)}, file)
    return path


def loading(path):
    """Run a network that takes its operators' strategies from a file."""
    network = spread()
    network.load_operator_strategy_file(path)
    return network(ones(16, 8))


class Products(nn.Cell):
    """Products with matrices, one after the other."""

    def __init__(self, count, strategy, loss):
        super().__init__()
        self.layers = nn.CellList([nn.Dense(8, 8) for _ in range(count)])
        self.loss = loss
        if strategy is not None:
            self.layers[0].matmul.shard(strategy)

    def construct(self, x):
        """Give the mean, or what the last product gives."""
        for layer in self.layers:
            x = layer(x)
        return x.mean() if self.loss else x


def staged(stages, micros=4, strategy=None, loss=True, **settings):
    """Train a layer a stage, of those that are given."""
    settings = {"parallel_mode": "semi_auto_parallel", "pipeline_stages": 2, **settings}
    ms.set_auto_parallel_context(**settings)
    network = Products(len(stages), strategy, loss)
    config = {f"layers.{i}": stage for i, stage in enumerate(stages)}
    pipelined = nn.PipelineCell(network, micros, stage_config=config)
    step = nn.TrainOneStepCell(pipelined, nn.SGD(network.trainable_params()))
    return step(ones(32, 8))


NAMES = {
    "ms": ms, "nn": nn, "ops": ops, "P": P, "Layout": Layout, "run": run, "ones": ones,
    "spread": spread, "staged": staged, "AutoParallel": AutoParallel, "Call": Call, "np": np,
    "strategy_file": strategy_file, "loading": loading, "ring": ring,
    "MoE": MoE, "mixture": mixture,
}  # fmt: skip

if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for name, (text, *_) in CASES.items():
        ms.reset_auto_parallel_context()
        try:
            eval(text, dict(NAMES))
            found = ["", ""]
        except Exception as error:
            found = [type(error).__name__, str(error)]
        print(json.dumps([name, *found]), flush=True)
