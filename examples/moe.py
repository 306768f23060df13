"""Train a mixture of experts on several devices: ``mindjax run --devices 8 moe.py``.

Words go through a layer of eight experts, of which each word sees two. Devices hold parts of the
batch and one expert each; words are sent to their experts and back. The same network trains on one
device first. Losses are equal as long as words choose the same experts: rounding may, late in a
training, let one choose another.
"""

import argparse

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.communication import get_group_size, init

from mindjax_parallel.moe import MoE

WIDTH, HIDDEN, EXPERTS, WORDS, LENGTH = 32, 64, 8, 64, 16


class Network(nn.Cell):
    """Two layers of experts between an embedding and a head."""

    def __init__(self, capacity, devices=1):
        super().__init__()
        np.random.seed(1)
        ms.set_seed(1)
        self.table = Parameter(Tensor(np.random.randn(WORDS, WIDTH).astype(np.float32)))
        self.norms = nn.CellList([nn.LayerNorm((WIDTH,)) for _ in range(3)])
        # As many groups on one device as on eight: words compete for places within a group.
        self.layers = nn.CellList(
            [
                MoE(
                    WIDTH,
                    HIDDEN,
                    EXPERTS,
                    num_experts_chosen=2,
                    capacity_factor=capacity,
                    groups=8,
                    data_parallel=devices,
                    expert_parallel=devices,
                )
                for _ in range(2)
            ]
        )
        self.head = nn.Dense(WIDTH, WORDS)

    def construct(self, words, wanted):
        x = ops.gather(self.table, words, 0)
        balance = 0.0
        for norm, layer in zip(self.norms[:2], self.layers, strict=True):
            y, loss = layer(norm(x))
            x, balance = x + y, balance + loss
        logits = ops.transpose(self.head(self.norms[2](x)), (0, 2, 1))
        return ops.cross_entropy(logits, wanted) + balance


def train(network, steps):
    """Train, and give the losses."""
    step = nn.TrainOneStepCell(network, nn.Adam(network.trainable_params(), 0.003))
    rng = np.random.RandomState(0)
    losses = []
    for _ in range(steps):
        words = rng.randint(0, WORDS, (16, LENGTH)).astype(np.int32)
        losses.append(float(step(Tensor(words), Tensor((words * 7 + 3) % WORDS)).asnumpy()))
    return losses


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--capacity", type=float, default=1.25)
    parser.add_argument("--all", action="store_true", help="drop no word: no capacity")
    options = parser.parse_args()
    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    capacity = None if options.all else options.capacity
    alone = train(Network(capacity), options.steps)
    print(f"one device: loss {alone[0]:.4f} to {alone[-1]:.4f}")

    devices = get_group_size()
    cut = (devices, 1)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel", dataset_strategy=(cut, cut))
    network = Network(capacity, devices)
    losses = train(network, options.steps)
    held = network.layers[0].up.value().array.addressable_shards[0].data.shape
    print(f"{devices} devices: loss {losses[0]:.4f} to {losses[-1]:.4f}")
    print(f"experts {tuple(network.layers[0].up.shape)}, of which a device holds {held}")
    apart = max(abs(a - b) / a for a, b in zip(alone, losses, strict=True))
    print(f"greatest relative difference of a loss: {apart:.1e}")


if __name__ == "__main__":
    main()
