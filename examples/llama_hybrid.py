"""Train a small Llama on 8 devices: 2 parts of the batch x 2 of the matrices x 2 pipeline stages.

    mindjax run --devices 8 examples/llama_hybrid.py
    mindjax run --devices 8 examples/llama_hybrid.py --stages 4 --tensor 1 --schedule gpipe
    mindjax run examples/llama_hybrid.py --stages 1 --tensor 1

Matrices are cut by columns, then by rows, over ``--tensor`` devices of a stage; the others share
the batch, which goes through the stages in micro batches. The losses are those of one device. It is
to say a sequence of words again; the 20 steps compare losses, and are too few to learn it.
"""

import argparse

import mindspore as ms
import numpy as np
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common.initializer import initializer
from mindspore.communication import get_group_size, init
from mindspore.parallel.auto_parallel import AutoParallel

WIDTH, HEADS, INNER, WORDS, LENGTH = 32, 4, 64, 32, 16


class Product(nn.Cell):
    """A product with a matrix: its columns or its rows are cut over some devices."""

    def __init__(self, rows, columns, data, cut):
        super().__init__()
        self.weight = Parameter(initializer("xavier_uniform", (rows, columns)))
        self.matmul = ops.MatMul()
        if data * max(cut) > 1:
            self.matmul.shard(((data, cut[0]), cut))

    def construct(self, x):
        """Map (n, rows) to (n, columns)."""
        return self.matmul(x, self.weight)


class RMSNorm(nn.Cell):
    """Scale by the root of the mean square."""

    def __init__(self):
        super().__init__()
        self.scale = Parameter(initializer("ones", (WIDTH,)))

    def construct(self, x):
        """Map (n, width) to the same."""
        return x * ops.rsqrt(ops.mean(x * x, -1, True) + 1e-6) * self.scale


class Layer(nn.Cell):
    """Attention over the words before, and SwiGLU."""

    def __init__(self, data, tensor):
        super().__init__()
        columns, rows = (1, tensor), (tensor, 1)
        self.norm, self.inner_norm = RMSNorm(), RMSNorm()
        self.query, self.key, self.value = (Product(WIDTH, WIDTH, data, columns) for _ in range(3))
        self.out = Product(WIDTH, WIDTH, data, rows)
        self.gate, self.up = (Product(WIDTH, INNER, data, columns) for _ in range(2))
        self.down = Product(INNER, WIDTH, data, rows)
        self.future = Tensor(np.triu(np.full((LENGTH, LENGTH), -1e9), 1), ms.float32)

    def heads(self, x):
        """Cut rows into heads."""
        x = ops.reshape(x, (-1, LENGTH, HEADS, WIDTH // HEADS))
        return ops.transpose(x, (0, 2, 1, 3))

    def construct(self, x):
        """Map (n * length, width) to the same."""
        y = self.norm(x)
        query, key, value = (self.heads(p(y)) for p in (self.query, self.key, self.value))
        scores = ops.matmul(query, ops.transpose(key, (0, 1, 3, 2))) * (WIDTH // HEADS) ** -0.5
        mixed = ops.matmul(ops.softmax(scores + self.future, -1), value)
        x = x + self.out(ops.reshape(ops.transpose(mixed, (0, 2, 1, 3)), (-1, WIDTH)))
        y = self.inner_norm(x)
        return x + self.down(ops.silu(self.gate(y)) * self.up(y))


class Llama(nn.Cell):
    """Four layers, and the loss of the next word."""

    def __init__(self, data, tensor):
        super().__init__()
        self.table = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.layers = nn.CellList([Layer(data, tensor) for _ in range(4)])
        self.norm, self.head = RMSNorm(), nn.Dense(WIDTH, WORDS, has_bias=False)

    def construct(self, words, following):
        """Give the loss of (n, length) words."""
        places = ops.reshape(ops.arange(LENGTH), (1, LENGTH))
        x = ops.reshape(self.table(words) + self.places(places), (-1, WIDTH))
        for layer in self.layers:
            x = layer(x)
        return ops.cross_entropy(self.head(self.norm(x)), ops.reshape(following, (-1,)))


def stages_of(count):
    """Deal the layers out to the stages; the first has the embeddings, the last the head."""
    found = {f"layers.{i}": i * count // 4 for i in range(4)}
    return {**found, "table": 0, "places": 0, "norm": count - 1, "head": count - 1}


def main():
    """Train and print losses."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--stages", type=int, default=2)
    parser.add_argument("--tensor", type=int, default=2)
    parser.add_argument("--micro", type=int, default=4)
    parser.add_argument("--schedule", choices=("1f1b", "gpipe"), default="1f1b")
    parser.add_argument("--steps", type=int, default=20)
    given = parser.parse_args()

    ms.set_context(mode=ms.GRAPH_MODE)
    init()
    ms.set_seed(1)
    data = get_group_size() // given.stages // given.tensor
    network = Llama(data, given.tensor)
    pipeline = nn.PipelineCell(network, given.micro, stage_config=stages_of(given.stages))
    optimizer = nn.Adam(network.trainable_params(), 0.01)
    step = nn.TrainOneStepCell(pipeline, optimizer, sens=1 / given.micro)
    if get_group_size() > 1:
        step = AutoParallel(step)
        step.dataset_strategy(((data, 1), (data, 1)))
        step.pipeline(given.stages, interleave=given.schedule != "1f1b", scheduler=given.schedule)
    step.set_train()
    random = np.random.RandomState(0)
    for number in range(given.steps):
        half = random.randint(0, WORDS, (32, LENGTH // 2 + 1))
        text = np.concatenate([half, half], 1)[:, : LENGTH + 1].astype(np.int32)
        loss = step(Tensor(text[:, :-1]), Tensor(text[:, 1:]))
        print(f"step {number + 1}: loss {float(loss.asnumpy()) / given.micro:.6f}")


if __name__ == "__main__":
    main()
