"""Three kinds of parallelism at once on eight devices: ``python -m tests.parallel.three_ways``.

Two stages of four devices each, which share the batch and the matrices, the experts or the
sequence; and operators that take values by index, of tables in parts.
"""

import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import numpy as np

import mindjax as ms
from mindjax import Layout, Tensor, nn, ops
from mindjax.communication import init
from mindjax.ops import operations as P
from mindjax_parallel.moe import MoE
from tests.parallel import long_sequences
from tests.parallel.mixtures import RMSNormOf
from tests.parallel.networks import weight
from tests.parallel.pipeline_networks import batches, bert, llama

STEPS, MICROS, WORDS, WIDTH = 20, 4, 32, 16


class Experts(nn.Cell):
    """Two mixtures of experts in two stages, with the loss of the word that follows."""

    def __init__(self, alone, capacity):
        super().__init__()
        rng = np.random.RandomState(3)
        cut = {} if alone else {"data_parallel": 4, "expert_parallel": 2}
        self.table, self.head = weight(rng, WORDS, WIDTH), weight(rng, WIDTH, WORDS)
        self.norms = nn.CellList([RMSNormOf(WIDTH) for _ in range(2)])
        self.blocks = nn.CellList(
            [MoE(WIDTH, 32, 4, 2, capacity, groups=4, **cut) for _ in range(2)]
        )
        for block in self.blocks:
            for parameter in block.trainable_params():
                parameter.set_data(weight(rng, *parameter.shape) * 3)

    def construct(self, tokens, labels):
        """Map words (n, length) and the words that follow to the loss."""
        x, total = ops.gather(self.table, tokens, 0), 0.0
        for norm, block in zip(self.norms, self.blocks, strict=True):
            y, balance = block(norm(x))
            x, total = x + y, total + balance
        logits = ops.transpose(ops.matmul(x, self.head), (0, 2, 1))
        return ops.cross_entropy(logits, labels) + total


class ByIndex(nn.Cell):
    """Takes values by index, then a layer of the second stage."""

    def __init__(self, alone, form):
        super().__init__()
        rng = np.random.RandomState(3)
        self.table, self.other, self.w = (weight(rng, n, WIDTH) for n in (WORDS, WORDS, WIDTH))
        self.form, self.second = form, nn.Dense(WIDTH, WIDTH)
        self.gather, self.matmul, self.along = P.Gather(), P.MatMul(), P.GatherD()
        if alone:
            return
        axes = Layout((2, 2), ("data", "tensor"))
        self.matmul.shard(((2, 1), (1, 2)))
        self.along.shard(((1, 2), (1, 2)))
        cuts = {
            "rows": ((2, 1), (2, 1)),
            "columns": ((1, 2), (2, 1)),
            "both": ((2, 2), (1, 1)),
            "one axis": (axes("data", "None"), axes("data", "None")),
        }
        if form in cuts:
            self.gather.shard(cuts[form])

    def construct(self, x, labels):
        """Give the mean square of what is taken by (n, 4) indices."""
        flat = ops.reshape(x, (-1,))
        wide = ops.tile(ops.reshape(x, (-1, 1)), (1, WIDTH))
        if self.form == "along":
            y = self.along(self.table, 0, wide)
        elif self.form == "of a product":
            y = ops.gather_elements(self.matmul(self.other, self.w), 0, wide)
        elif self.form == "scatter":
            rows = self.matmul(self.other[:16], self.w)
            y = ops.tensor_scatter_add(self.table, ops.reshape(flat, (-1, 1)), rows)
        else:
            y = ops.reshape(self.gather(self.table, x, 0), (-1, WIDTH))
        return (self.second(self.matmul(y, self.w)) ** 2).mean() + 0 * labels.sum()


LONG = {
    "data x sequence x stages": long_sequences.Case(2, 2, kind="heads", keys=4),
    "data x ring x stages": long_sequences.Case(2, 2),
    "tensor x ring x stages": long_sequences.Case(1, 2, 2, kind="balanced", keys=2),
    "ring of four x stages": long_sequences.Case(1, 4, kind="balanced"),
    "ring of four with a mask x stages": long_sequences.Case(1, 4, masked=True),
}
FORMS = ("rows", "columns", "both", "one axis", "along", "of a product", "scatter")
HALVES = {f"blocks.{i}": i // 4 for i in range(8)}
MIXED = {"norms.0": 0, "blocks.0": 0, "norms.1": 1, "blocks.1": 1}
# The network, given whether it is alone; the stages; rows of a batch and parts of its dimensions.
CASES = {
    "llama: data x tensor x stages": (
        lambda alone: llama(np.random.RandomState(3), *((1, 1) if alone else (2, 2))),
        HALVES,
        ((2, 1), (2, 1)),
    ),
    "bert: data x tensor x stages": (
        lambda alone: bert(np.random.RandomState(3), *((1, 1) if alone else (2, 2))),
        HALVES,
        ((2, 1), (2, 1)),
    ),
    "data x experts x stages": (lambda alone: Experts(alone, 1.25), MIXED, ((4, 1), (4, 1))),
    "data x experts x stages, all tokens": (
        lambda alone: Experts(alone, None),
        MIXED,
        ((4, 1), (4, 1)),
    ),
    **{
        name: (
            lambda alone, case=case: long_sequences.Llama(case, alone),
            {"layers.0": 0, "layers.1": 1, "norm": 1},
            ((case.dp, case.sp), (case.dp, case.sp)),
        )
        for name, case in LONG.items()
    },
    **{
        f"by index: {form}": (
            lambda alone, form=form: ByIndex(alone, form),
            {"second": 1},
            ((2, 1), (2, 1)),
        )
        for form in FORMS
    },
}


def given(name):
    """Give the same batches at every call."""
    if ": data" in name:
        return batches(llama, 16, STEPS)
    length = long_sequences.LENGTH if name in LONG else 4 if "index" in name else 8
    words = long_sequences.WORDS if name in LONG else WORDS
    rng = np.random.RandomState(7)
    found = []
    for _ in range(STEPS):
        x = rng.randint(0, words, (16, length)).astype(np.int32)
        found.append((x, (x * 7 + 3) % words))
    return found


def train(name, alone):
    """Train, and give the losses."""
    make, stages, cut = CASES[name]
    ms.reset_auto_parallel_context()
    ms.set_seed(5)
    if not alone:
        ms.set_auto_parallel_context(
            parallel_mode="semi_auto_parallel", pipeline_stages=2, dataset_strategy=cut
        )
    network = make(alone)
    optimizer = nn.Momentum(network.trainable_params(), 0.005, 0.9)
    step = nn.TrainOneStepCell(nn.PipelineCell(network, MICROS, stage_config=stages), optimizer)
    step.set_train()
    return [float(step(*map(Tensor, batch)).asnumpy()) for batch in given(name)]


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for chosen in sys.argv[1:] or CASES:
        result = {"case": chosen, "losses": train(chosen, False), "expected": train(chosen, True)}
        print(json.dumps(result), flush=True)
