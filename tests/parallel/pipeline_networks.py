"""Networks of eight blocks that pipelines are made of: LeNet-5, a small BERT, a small Llama."""

import numpy as np

from mindjax import nn, ops
from mindjax.ops import operations as P
from tests.parallel.networks import LENGTH, WIDTH, WORDS, Attention, RMSNorm, weight


class Blocks(nn.Cell):
    """Blocks one after the other, and the mean cross entropy of what the last gives."""

    def __init__(self, blocks):
        super().__init__()
        self.blocks = nn.CellList(blocks)

    def construct(self, x, labels):
        """Give the loss."""
        for block in self.blocks:
            x = block(x)
        return ops.cross_entropy(x, ops.reshape(labels, (-1,)))


class Convolution(nn.Cell):
    """A convolution with normalization by the batch."""

    def __init__(self, rng, channels, outputs):
        super().__init__()
        self.kernel = weight(rng, outputs, channels, 3, 3)
        self.conv, self.norm = P.Conv2D(outputs, 3, pad_mode="same"), nn.BatchNorm2d(outputs)

    def construct(self, x):
        """Map (n, channels, h, w) to (n, outputs, h, w)."""
        return ops.relu(self.norm(self.conv(x, self.kernel)))


class Product(nn.Cell):
    """A product with a matrix, cut by columns or rows."""

    def __init__(self, rng, rows, columns, cut=((1, 1), (1, 1))):
        super().__init__()
        self.w, self.matmul = weight(rng, rows, columns), P.MatMul()
        if cut != ((1, 1), (1, 1)):
            self.matmul.shard(cut)

    def construct(self, x):
        """Map (n, rows) to (n, columns)."""
        return self.matmul(x, self.w)


def lenet(rng, dp, mp):
    """Give LeNet-5 on 16 x 16 pictures."""
    columns, rows = ((dp, 1), (1, mp)), ((dp, mp), (mp, 1))
    return Blocks([
        Convolution(rng, 1, 6),
        nn.MaxPool2d(2, 2),
        Convolution(rng, 6, 8),
        nn.SequentialCell(nn.MaxPool2d(2, 2), nn.Flatten()),
        nn.SequentialCell(Product(rng, 128, 32, columns), nn.ReLU()),
        nn.SequentialCell(Product(rng, 32, 16, rows), nn.ReLU()),
        nn.Dropout(p=0.1),
        Product(rng, 16, 8),
    ])  # fmt: skip


class Embedding(nn.Cell):
    """Rows of a table."""

    def __init__(self, rng, dp, mp):
        super().__init__()
        self.table, self.gather = weight(rng, WORDS, WIDTH), P.Gather()
        if dp * mp > 1:
            self.gather.shard(((mp, 1), (dp, 1)))

    def construct(self, tokens):
        """Map (n, length) words to (n * length, width)."""
        return ops.reshape(self.gather(self.table, tokens, 0), (-1, WIDTH))


class Head(nn.Cell):
    """Logits, by the table of the embedding or one of its own."""

    def __init__(self, table, dp, mp):
        super().__init__()
        self.table, self.norm, self.matmul = table, RMSNorm(), P.MatMul(transpose_b=True)
        if dp * mp > 1:
            self.matmul.shard(((dp, 1), (mp, 1)))

    def construct(self, x):
        """Map (n, width) to (n, words)."""
        return self.matmul(self.norm(x), self.table)


class Attending(nn.Cell):
    """Attention with normalization before it or after it."""

    def __init__(self, rng, dp, mp, causal):
        super().__init__()
        self.attention, self.causal = Attention(rng, dp, mp, causal), causal
        self.norm = RMSNorm() if causal else nn.LayerNorm((WIDTH,))

    def construct(self, x):
        """Map (n * length, width) to the same."""
        if self.causal:
            return x + self.attention(self.norm(x))
        return self.norm(x + self.attention(x))


class Gated(nn.Cell):
    """Two products with a gate between them, and dropout."""

    def __init__(self, rng, dp, mp, drop):
        super().__init__()
        self.gate = Product(rng, WIDTH, 2 * WIDTH, ((dp, 1), (1, mp)))
        self.up = Product(rng, WIDTH, 2 * WIDTH, ((dp, 1), (1, mp)))
        self.down = Product(rng, 2 * WIDTH, WIDTH, ((dp, mp), (mp, 1)))
        self.drop, self.norm = nn.Dropout(p=drop), RMSNorm()

    def construct(self, x):
        """Map (n * length, width) to the same."""
        y = self.norm(x)
        return x + self.drop(self.down(ops.silu(self.gate(y)) * self.up(y)))


def transformer(rng, dp, mp, causal):
    """Give an embedding, three layers in two blocks each, and the head."""
    first = Embedding(rng, dp, mp)
    layers = [
        block
        for _ in range(3)
        for block in (Attending(rng, dp, mp, causal), Gated(rng, dp, mp, 0.0 if causal else 0.1))
    ]
    # BERT's first and last stage share the table.
    table = weight(rng, WORDS, WIDTH) if causal else first.table
    return Blocks([first, *layers, Head(table, dp, mp)])


def bert(rng, dp=1, mp=1):
    """Give a small BERT, whose head has the table of its embedding."""
    return transformer(rng, dp, mp, causal=False)


def llama(rng, dp=1, mp=1):
    """Give a small Llama."""
    return transformer(rng, dp, mp, causal=True)


def batches(network, rows, count):
    """Give the same batches at every call, as numpy arrays."""
    rng = np.random.RandomState(7)
    for _ in range(count):
        if network is lenet:
            x = rng.randn(rows, 1, 16, 16).astype(np.float32)
            yield x, rng.randint(0, 8, (rows, 1)).astype(np.int32)
        else:
            x = rng.randint(0, WORDS, (rows, LENGTH)).astype(np.int32)
            yield x, (x * 7 + 3) % WORDS
