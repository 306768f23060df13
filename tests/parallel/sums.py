"""Gradients of 16-bit Parameters over eight devices, added up in Float32 or not, as JSON."""

import json
import os
import re
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import numpy as np

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops
from mindjax.communication import init
from mindjax.parallel.auto_parallel import AutoParallel

ROWS, WIDTH = 64, 8
# The matrix, or a row of it all, as stages pack it.
GRADIENT = r"(\w+)\[(?:\d*,?8|64)\]"
# Settings of the context, or what `AutoParallel` is told.
CASES = {
    "data": {"parallel_mode": "data_parallel"},
    "semi": {"parallel_mode": "semi_auto_parallel"},
    "shared": {
        "parallel_mode": "semi_auto_parallel",
        "enable_parallel_optimizer": True,
        "parallel_optimizer_config": {"parallel_optimizer_threshold": 0},
    },
    "stages": {"parallel_mode": "semi_auto_parallel", "pipeline_stages": 2},
    "wrapped": None,
}


class Network(nn.Cell):
    """The gradient of the matrix is a product over the rows of a batch."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.zeros((WIDTH, WIDTH)), ms.float16), name="w")
        self.last = nn.ReLU()

    def construct(self, x, factors):
        """Give the sum of products with factors."""
        return ops.sum(self.last(ops.matmul(x, self.w) * factors + 1) - 1)


def run(name, wide):
    """Do a step of the size 1; give how many gradients are not the rounded exact sums."""
    ms.reset_auto_parallel_context()
    settings = CASES[name]
    if settings is not None:
        ms.set_auto_parallel_context(force_fp32_communication=wide, **settings)
    network = Network()
    cell, micros = network, 1
    if name == "stages":
        micros = 2
        cell = nn.PipelineCell(network, micros, stage_config={"last": 1})
    step = nn.TrainOneStepCell(cell, nn.SGD(network.trainable_params(), 1.0))
    if settings is None:
        step = AutoParallel(step)
        if wide:
            step.enable_fp32_communication()
    random = np.random.RandomState(0)
    x, factors = (random.randint(0, 16, (ROWS, WIDTH)).astype(np.float16) for _ in range(2))
    step(Tensor(x), Tensor(factors))
    parts = [a.astype(np.float32) for a in (x, factors)]
    # Each device of a stage adds up its rows of the micro batches, in the dtype of the gradients.
    devices = 8 // ms.get_auto_parallel_context("pipeline_stages") if micros > 1 else 1
    rows = [a.reshape(micros, devices, -1, WIDTH) for a in parts]
    totals = np.zeros((devices, WIDTH, WIDTH), np.float16)
    for x, factors in zip(*rows, strict=True):
        totals += np.einsum("drx,dry->dxy", x, factors).astype(np.float16)
    total = totals.astype(np.float32).sum(0).astype(np.float16)
    ((program,),) = step._programs.programs.entries.values()
    given = re.findall(r"= ([^=]*?) (?:all-reduce|reduce-scatter)\(", program.hlo)
    kinds = sorted({k for shape in given for k in re.findall(GRADIENT, shape)})
    return int((network.w.asnumpy() != -total).sum()), kinds


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for chosen in sys.argv[1:] or CASES:
        wide, kinds = run(chosen, True)
        narrow, others = run(chosen, False)
        found = {"case": chosen, "wide": wide, "kinds": kinds, "narrow": narrow, "others": others}
        print(json.dumps(found), flush=True)
