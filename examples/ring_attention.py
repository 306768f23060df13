"""Train on sequences that are cut over devices: ``mindjax run --devices 8 ring_attention.py``.

Two layers of attention copy words that stand half a sequence back, which only attention over the
whole sequence can. Four devices hold a part of the sequence each, times two that hold a part of
the batch. Keys and values travel from device to device; none holds a whole sequence. The same
network trains on one device first, and the losses are compared.
"""

import argparse
import time

import mindspore as ms
import numpy as np
from mindspore import Layout, Parameter, Tensor, nn, ops
from mindspore.communication import get_group_size, init
from mindspore.ops.operations.nn_ops import FlashAttentionScore

WIDTH, HEADS, WORDS = 64, 4, 32


def weight(*shape):
    return Parameter(Tensor(np.random.randn(*shape).astype(np.float32) * shape[-1] ** -0.5))


class Layer(nn.Cell):
    """Causal attention and a feed-forward network."""

    def __init__(self, length, axes, balanced):
        super().__init__()
        self.norms = nn.CellList([nn.LayerNorm((WIDTH,)) for _ in range(2)])
        self.qkv = nn.CellList([nn.Dense(WIDTH, WIDTH) for _ in range(3)])
        self.out = nn.Dense(WIDTH, WIDTH)
        self.feed = nn.SequentialCell(
            nn.Dense(WIDTH, 2 * WIDTH), nn.ReLU(), nn.Dense(2 * WIDTH, WIDTH)
        )
        self.attend = FlashAttentionScore(HEADS, scale_value=(WIDTH // HEADS) ** -0.5)
        # In a ring attention is causal unless a mask says otherwise; on one device a mask must.
        self.mask = (
            Tensor(np.triu(np.ones((length, length), np.uint8), 1)) if axes is None else None
        )
        if axes is not None:
            self.attend.shard((axes("batch", "sequence", "None"),) * 3)
            self.attend.add_prim_attr("enable_ring_attention", True)
            self.attend.add_prim_attr("enable_ra_context_parallel", balanced)

    def construct(self, x):
        y = self.norms[0](x)
        q, k, v = (project(y) for project in self.qkv)
        x = x + self.out(self.attend(q, k, v, None, None, None, self.mask)[3])
        return x + self.feed(self.norms[1](x))


class Network(nn.Cell):
    """Words to the loss of the words that stand half a sequence back."""

    def __init__(self, length, axes=None, balanced=False):
        super().__init__()
        np.random.seed(1)
        ms.set_seed(1)
        self.table, self.places, self.head = (
            weight(WORDS, WIDTH),
            weight(length, WIDTH),
            weight(WIDTH, WORDS),
        )
        self.layers = nn.CellList([Layer(length, axes, balanced) for _ in range(2)])

    def construct(self, words, wanted):
        x = ops.gather(self.table, words, 0) + self.places
        for layer in self.layers:
            x = layer(x)
        logits = ops.transpose(ops.matmul(x, self.head), (0, 2, 1))
        return ops.cross_entropy(logits, wanted)


def train(network, length, steps):
    """Train, and give the losses and the seconds of a step."""
    step = nn.TrainOneStepCell(network, nn.Adam(network.trainable_params(), 0.003))
    rng = np.random.RandomState(0)
    losses = []
    for _ in range(steps):
        words = rng.randint(0, WORDS, (8, length)).astype(np.int32)
        wanted = np.roll(words, length // 2, 1)
        wanted[:, : length // 2] = -100  # No loss where nothing stands so far back.
        start = time.perf_counter()
        losses.append(float(step(Tensor(words), Tensor(wanted)).asnumpy()))
    return losses, time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--length", type=int, default=64, help="words of a sequence")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--plain", action="store_true", help="do not balance the devices' work")
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    alone, seconds = train(Network(options.length), options.length, options.steps)
    print(f"one device: loss {alone[0]:.4f} to {alone[-1]:.4f}, {1000 * seconds:.0f} ms a step")

    parts = get_group_size() // 2
    cut = (2, parts)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy=(cut, cut))
    axes = Layout((2, parts, 1), ("batch", "sequence", "none"))
    network = Network(options.length, axes, balanced=not options.plain)
    losses, seconds = train(network, options.length, options.steps)
    print(
        f"2 x {parts} devices: loss {losses[0]:.4f} to {losses[-1]:.4f}, "
        f"{1000 * seconds:.0f} ms a step"
    )
    apart = max(abs(a - b) / a for a, b in zip(alone, losses, strict=True))
    print(f"greatest relative difference of a loss: {apart:.1e}")


if __name__ == "__main__":
    main()
