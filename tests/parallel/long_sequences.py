"""A small Llama over a cut sequence: ``python -m tests.parallel.long_sequences`` prints JSON lines.

Its attention is the fused operator; on one device it is given the mask that a ring knows itself.
"""

import dataclasses
import functools
import json
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import numpy as np

import mindjax as ms
from mindjax import Layout, Tensor, nn, ops
from mindjax.communication import init
from mindjax.ops import operations as P
from mindjax.ops.fused.flash import FlashAttentionScore
from tests.parallel import rings
from tests.parallel.modes import bytes_a_device
from tests.parallel.networks import RMSNorm, weight
from tests.parallel.traffic import program, traffic

WIDTH, HEADS, HIDDEN, LENGTH, WORDS, BATCH, STEPS = 32, 4, 64, 32, 64, 4, 20
# Of the names of the feed-forward matrices.
ENDS = ("te", "up", "wn")


@dataclasses.dataclass(frozen=True)
class Case:
    """A training: parts of the batch, the sequence and the matrices, and how it attends.

    Attributes:
        dp: parts of the batch.
        sp: parts of the sequence.
        mp: parts of the matrices and heads.
        kind: ``"ring"``, ``"balanced"`` or ``"heads"``, where devices exchange heads.
        keys: heads of keys.
        masked: whether the ring is given the mask.
        quick: whether the ordinary suite runs it.
    """

    dp: int
    sp: int
    mp: int = 1
    kind: str = "ring"
    keys: int = 2
    masked: bool = False
    quick: bool = False

    def axes(self):
        """Give the devices with names."""
        return Layout((self.dp, self.sp, self.mp), ("dp", "sp", "mp"))


CASES = {
    "ring 4 x 2": Case(2, 4, quick=True),
    "ring 8": Case(1, 8),
    "ring with a mask": Case(2, 4, masked=True),
    "balanced ring": Case(2, 4, kind="balanced"),
    "data x tensor x sequence": Case(2, 2, 2, kind="balanced"),
    "tensor x sequence": Case(1, 4, 2),
    "heads exchanged": Case(2, 4, kind="heads", keys=4),
    "heads exchanged x tensor": Case(2, 2, 2, kind="heads", keys=4),
}


def columns(axes, *operators):
    """Cut products with a matrix by its columns."""
    for one in operators:
        one.shard((axes("dp", "sp", "None"), axes("mp", "None")))


def rows(axes, operator):
    """Cut a product with a matrix by its rows."""
    operator.shard((axes("dp", "sp", "mp"), axes("None", "mp")))


class Attention(nn.Cell):
    """Causal attention of grouped heads with rotary positions."""

    def __init__(self, rng, case, alone):
        super().__init__()
        self.size, self.keys = WIDTH // HEADS, case.keys
        width = case.keys * self.size
        self.wq, self.wo = weight(rng, WIDTH, WIDTH), weight(rng, WIDTH, WIDTH)
        self.wk, self.wv = weight(rng, width, WIDTH), weight(rng, width, WIDTH)
        self.project, self.out = [P.Dense() for _ in range(3)], P.Dense()
        self.attend = FlashAttentionScore(HEADS, scale_value=self.size**-0.5)
        self.masked = alone or case.masked or case.kind == "heads"
        if alone:
            return
        axes = case.axes()
        columns(axes, *self.project)
        rows(axes, self.out)
        part = axes("dp", "sp", "mp")
        if case.kind == "heads":
            self.attend.shard((part,) * 3 + (axes("None", "None"),))
            self.attend.add_prim_attr("enable_ulysses", True)
            return
        mask = (axes("sp", "None"),) if case.masked else ()
        self.attend.shard((part,) * 3 + mask)
        self.attend.add_prim_attr("enable_ring_attention", True)
        self.attend.add_prim_attr("enable_ra_context_parallel", case.kind == "balanced")

    def rotate(self, x):
        """Turn pairs by their position."""
        x = ops.reshape(x, (*x.shape[:2], -1, self.size))
        half = self.size // 2
        angle = np.arange(LENGTH)[:, None, None] / 100.0 ** (np.arange(half) / half)
        cos, sin = Tensor(np.cos(angle), ms.float32), Tensor(np.sin(angle), ms.float32)
        first, second = x[..., :half], x[..., half:]
        x = ops.concat((first * cos - second * sin, second * cos + first * sin), axis=-1)
        return ops.reshape(x, (*x.shape[:2], -1))

    def construct(self, x):
        """Map (n, length, width) to the same."""
        first, second, third = self.project
        q, k, v = first(x, self.wq), second(x, self.wk), third(x, self.wv)
        mask = None
        if self.masked:
            mask = Tensor(np.triu(np.ones((LENGTH, LENGTH), np.uint8), 1))
        out = self.attend(self.rotate(q), self.rotate(k), v, None, None, None, mask)[3]
        return self.out(out, self.wo)


class Layer(nn.Cell):
    """Attention and SwiGLU, with normalisation before each."""

    def __init__(self, rng, case, alone):
        super().__init__()
        self.attention = Attention(rng, case, alone)
        self.norm1, self.norm2 = RMSNorm(), RMSNorm()
        self.gate, self.up = weight(rng, HIDDEN, WIDTH), weight(rng, HIDDEN, WIDTH)
        self.down = weight(rng, WIDTH, HIDDEN)
        self.products = [P.Dense() for _ in range(3)]
        if not alone:
            columns(case.axes(), *self.products[:2])
            rows(case.axes(), self.products[2])

    def construct(self, x):
        """Map (n, length, width) to the same."""
        x = x + self.attention(self.norm1(x))
        y = self.norm2(x)
        gate, up, down = self.products
        return x + down(ops.silu(gate(y, self.gate)) * up(y, self.up), self.down)


class Llama(nn.Cell):
    """Two decoder layers, with the loss of the next word."""

    def __init__(self, case, alone):
        super().__init__()
        rng = np.random.RandomState(3)
        self.table, self.head = weight(rng, WORDS, WIDTH), weight(rng, WORDS, WIDTH)
        self.layers = nn.CellList([Layer(rng, case, alone) for _ in range(2)])
        self.norm, self.product = RMSNorm(), P.Dense()
        if not alone:
            axes = case.axes()
            self.product.shard((axes("dp", "sp", "None"), axes("None", "None")))

    def construct(self, tokens, labels):
        """Map words (n, length) and the words that follow to the mean cross entropy."""
        x = ops.gather(self.table, tokens, 0)
        for layer in self.layers:
            x = layer(x)
        logits = self.product(self.norm(x), self.head)
        return ops.cross_entropy(ops.transpose(logits, (0, 2, 1)), labels)


def train(case, alone):
    """Train, and give the losses, the network and the training step."""
    ms.reset_auto_parallel_context()
    if not alone:
        cut = (case.dp, case.sp)
        ms.set_auto_parallel_context(
            parallel_mode="semi_auto_parallel", dataset_strategy=(cut, cut)
        )
    network = Llama(case, alone)
    step = nn.TrainOneStepCell(network, nn.Momentum(network.trainable_params(), 0.02, 0.9))
    rng = np.random.RandomState(7)
    losses = []
    for _ in range(STEPS):
        x = rng.randint(0, WORDS, (BATCH, LENGTH)).astype(np.int32)
        losses.append(float(step(Tensor(x), Tensor((x * 7 + 3) % WORDS)).asnumpy()))
    return losses, network, step


@functools.cache
def alone(keys):
    """Give the losses on one device."""
    return train(Case(1, 1, keys=keys), alone=True)[0]


def run(name):
    """Run a case and give what a test looks at."""
    case = CASES[name]
    losses, network, step = train(case, alone=False)
    held, whole = bytes_a_device(network.trainable_params())
    cut = [p for p in network.trainable_params() if ".attention.w" in p.name or p.name[-2:] in ENDS]
    count, size, _ = traffic(program(step))
    return {
        "case": name,
        "losses": losses,
        "expected": alone(case.keys),
        "held": held,
        "whole": whole,
        "cut": sum(p.nbytes for p in cut),
        "count": count,
        "bytes": size,
    }


if __name__ == "__main__":
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    for chosen in sys.argv[1:] or CASES:
        if chosen.startswith("memory "):
            result = rings.memory(chosen.split()[1])
        else:
            result = rings.run(chosen) if chosen in rings.CASES else run(chosen)
        print(json.dumps(result), flush=True)
