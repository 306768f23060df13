"""What a training step of a Llama with 70 billion numbers needs on each of 512 devices.

    mindjax dryrun --devices 512 examples/llama_dryrun.py
    mindjax run --devices 8 examples/llama_dryrun.py --size tiny --tensor 2 --shares 2

Matrices are cut by columns, then by rows, over ``--tensor`` devices; Parameters, gradients and
Adam's state are shared out further over ``--shares`` of the others; those cut the batch. With
``--stages`` the layers are a pipeline's instead. Each layer is computed again in the backward pass.
"""

import argparse
import dataclasses

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer
from mindspore.communication import get_group_size, init
from mindspore.parallel.auto_parallel import AutoParallel


@dataclasses.dataclass(frozen=True)
class Size:
    """Numbers of a model: layers, width, heads, heads of keys, inner width, words, length."""

    layers: int
    width: int
    heads: int
    keys: int
    inner: int
    words: int
    length: int


SIZES = {
    "70b": Size(80, 8192, 64, 8, 28672, 32000, 2048),
    "tiny": Size(2, 64, 8, 4, 128, 64, 16),
}


def weight(rows, columns):
    """Give a matrix; in a dry run it has no values."""
    return Parameter(initializer("xavier_uniform", (rows, columns)))


class RMSNorm(nn.Cell):
    """Scale by the root of the mean square."""

    def __init__(self, width):
        super().__init__()
        self.scale = Parameter(initializer("ones", (width,)))

    def construct(self, x):
        """Map (..., width) to the same."""
        return x * ops.rsqrt(ops.mean(x * x, -1, True) + 1e-6) * self.scale


class Layer(nn.Cell):
    """Attention over the words before, and SwiGLU."""

    def __init__(self, size, data, tensor):
        super().__init__()
        self.size, self.head = size, size.width // size.heads
        self.norm1, self.norm2 = RMSNorm(size.width), RMSNorm(size.width)
        self.wq = weight(size.width, size.width)
        self.wk = weight(size.width, size.keys * self.head)
        self.wv = weight(size.width, size.keys * self.head)
        self.wo = weight(size.width, size.width)
        self.gate, self.up = weight(size.width, size.inner), weight(size.width, size.inner)
        self.down = weight(size.inner, size.width)
        columns, rows = ((data, 1), (1, tensor)), ((data, tensor), (tensor, 1))
        self.q, self.k, self.v, self.g, self.u = (ops.MatMul().shard(columns) for _ in range(5))
        self.o, self.d = ops.MatMul().shard(rows), ops.MatMul().shard(rows)

    def heads(self, x, count):
        """Cut (n * length, count * head) into (n, heads, length, head)."""
        x = ops.reshape(x, (-1, self.size.length, count, self.head))
        x = ops.transpose(x, (0, 2, 1, 3))
        return ops.repeat_interleave(x, self.size.heads // count, 1)

    def construct(self, x, mask):
        """Map (n * length, width) to the same."""
        y = self.norm1(x)
        q = self.heads(self.q(y, self.wq), self.size.heads)
        k = self.heads(self.k(y, self.wk), self.size.keys)
        v = self.heads(self.v(y, self.wv), self.size.keys)
        scores = ops.matmul(q, ops.transpose(k, (0, 1, 3, 2))) * self.head**-0.5 + mask
        y = ops.transpose(ops.matmul(ops.softmax(scores, -1), v), (0, 2, 1, 3))
        x = x + self.o(ops.reshape(y, (-1, self.size.width)), self.wo)
        y = self.norm2(x)
        return x + self.d(ops.silu(self.g(y, self.gate)) * self.u(y, self.up), self.down)


class Llama(nn.Cell):
    """The mean cross entropy of the next word."""

    def __init__(self, size, data, tensor):
        super().__init__()
        self.size = size
        self.table, self.out = weight(size.words, size.width), weight(size.width, size.words)
        self.layers = nn.CellList([Layer(size, data, tensor) for _ in range(size.layers)])
        for layer in self.layers:
            layer.recompute()
        self.norm = RMSNorm(size.width)
        self.embed = ops.Gather().shard(((1, tensor), (data, 1)))
        self.last = ops.MatMul().shard(((data, 1), (1, tensor)))
        self.mask = Tensor(np.triu(np.full((size.length, size.length), -1e9, np.float32), 1))

    def construct(self, words, following):
        """Map (n, length) words, and those that follow them, to a number."""
        x = ops.reshape(self.embed(self.table, words, 0), (-1, self.size.width))
        for layer in self.layers:
            x = layer(x, self.mask)
        logits = self.last(self.norm(x), self.out)
        return ops.cross_entropy(logits, ops.reshape(following, (-1,)))


def main():
    """Make the step, and call it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", choices=SIZES, default="70b")
    parser.add_argument("--tensor", type=int, default=8, help="devices that cut a matrix")
    parser.add_argument("--shares", type=int, default=8, help="devices that share a part of it")
    parser.add_argument("--stages", type=int, default=1, help="stages of a pipeline")
    parser.add_argument("--micro-batches", type=int, default=8, help="of a pipeline")
    parser.add_argument("--layers", type=int, help="another number of layers")
    parser.add_argument("--steps", type=int, default=1)
    given = parser.parse_args()
    size = SIZES[given.size]
    size = dataclasses.replace(size, layers=given.layers or size.layers)
    ms.set_context(mode=ms.GRAPH_MODE)
    ms.set_seed(1)
    init()
    data = get_group_size() // given.tensor // given.stages
    net = Llama(size, data, given.tensor)
    optimizer = nn.Adam(net.trainable_params(), 1e-3)
    rows = data
    if given.stages > 1:
        rows = data * given.micro_batches
        names = {f"layers.{i}": i * given.stages // size.layers for i in range(size.layers)}
        net = nn.PipelineCell(net, given.micro_batches, stage_config=names)
    step = AutoParallel(nn.TrainOneStepCell(net, optimizer))
    if given.stages > 1:
        step.pipeline(given.stages)
    else:
        step.hsdp(given.shares, threshold=0, optimizer_level="level3")
    words = np.random.RandomState(0).randint(0, size.words, (rows, size.length + 1))
    for number in range(given.steps):
        loss = step(Tensor(words[:, :-1], ms.int32), Tensor(words[:, 1:], ms.int32))
        print(f"step {number}: loss {float(loss.asnumpy()):.6f}")


if __name__ == "__main__":
    main()
