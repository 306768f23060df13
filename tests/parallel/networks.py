"""Networks whose operators can be given strategies: LeNet-5, a small BERT, a small Llama."""

import numpy as np

import mindjax as ms
from mindjax import Parameter, Tensor, nn, ops
from mindjax.ops import operations as P

WIDTH, HEADS, LENGTH, WORDS = 32, 4, 8, 64


def weight(rng, *shape):
    """Give a Parameter of small normal numbers."""
    return Parameter(Tensor((rng.randn(*shape) * 0.1).astype(np.float32)))


class LeNet(nn.Cell):
    """LeNet-5 on 16 x 16 pictures."""

    def __init__(self, rng, dp=1, mp=1):
        super().__init__()
        self.kernel1, self.kernel2 = weight(rng, 6, 1, 3, 3), weight(rng, 8, 6, 3, 3)
        self.w1, self.w2 = weight(rng, 8 * 16, 32), weight(rng, 32, 8)
        self.conv1, self.conv2 = P.Conv2D(6, 3, pad_mode="same"), P.Conv2D(8, 3, pad_mode="same")
        self.pool = P.MaxPool(kernel_size=2, strides=2)
        self.matmul1, self.matmul2, self.relu = P.MatMul(), P.MatMul(), P.ReLU()
        if dp * mp > 1:
            self.conv1.shard(((dp, 1, 1, 1), (1, 1, 1, 1)))
            self.conv2.shard(((dp, 1, 1, 1), (mp, 1, 1, 1)))
            self.matmul1.shard(((dp, 1), (1, mp)))
            self.matmul2.shard(((dp, mp), (mp, 1)))

    def construct(self, x):
        """Map (n, 1, 16, 16) to (n, 8)."""
        x = self.pool(self.relu(self.conv1(x, self.kernel1)))
        x = self.pool(self.relu(self.conv2(x, self.kernel2)))
        x = ops.reshape(x, (x.shape[0], -1))
        return self.matmul2(self.relu(self.matmul1(x, self.w1)), self.w2)


class Attention(nn.Cell):
    """Heads that parallel training cuts: their projections by columns, then by rows."""

    def __init__(self, rng, dp, mp, causal):
        super().__init__()
        self.causal = causal
        self.wq, self.wk, self.wv = (weight(rng, WIDTH, WIDTH) for _ in range(3))
        self.wo = weight(rng, WIDTH, WIDTH)
        self.project = [P.MatMul() for _ in range(3)]
        self.out, self.scores = P.MatMul(), P.BatchMatMul(transpose_b=True)
        self.mix, self.softmax = P.BatchMatMul(), P.Softmax()
        if dp * mp > 1:
            for one in self.project:
                one.shard(((dp, 1), (1, mp)))
            self.out.shard(((dp, mp), (mp, 1)))
            self.scores.shard(((dp, mp, 1, 1), (dp, mp, 1, 1)))
            self.mix.shard(((dp, mp, 1, 1), (dp, mp, 1, 1)))
            self.softmax.shard(((dp, mp, 1, 1),))

    def heads(self, project, x, w):
        """Project rows and cut them into heads."""
        y = ops.reshape(project(x, w), (-1, LENGTH, HEADS, WIDTH // HEADS))
        return ops.transpose(y, (0, 2, 1, 3))

    def rotate(self, x):
        """Turn pairs by their position."""
        half = WIDTH // HEADS // 2
        angle = np.arange(LENGTH)[:, None] / 100.0 ** (np.arange(half) / half)
        cos, sin = Tensor(np.cos(angle), ms.float32), Tensor(np.sin(angle), ms.float32)
        first, second = x[..., :half], x[..., half:]
        return ops.concat((first * cos - second * sin, second * cos + first * sin), axis=-1)

    def construct(self, x):
        """Map (n * length, width) to the same."""
        q, k, v = (
            self.heads(p, x, w)
            for p, w in zip(self.project, (self.wq, self.wk, self.wv), strict=True)
        )
        if self.causal:
            q, k = self.rotate(q), self.rotate(k)
        scores = self.scores(q, k) * (WIDTH // HEADS) ** -0.5
        if self.causal:
            mask = Tensor(np.triu(np.full((LENGTH, LENGTH), -1e9), 1), ms.float32)
            scores = scores + mask
        y = ops.transpose(self.mix(self.softmax(scores), v), (0, 2, 1, 3))
        return self.out(ops.reshape(y, (-1, WIDTH)), self.wo)


class Bert(nn.Cell):
    """Two encoder layers; every operator of a layer has a strategy."""

    def __init__(self, rng, dp=1, mp=1):
        super().__init__()
        self.table, self.place = weight(rng, WORDS, WIDTH), weight(rng, LENGTH, WIDTH)
        self.gather, self.head = P.Gather(), P.MatMul(transpose_b=True)
        self.layers = nn.CellList([BertLayer(rng, dp, mp) for _ in range(2)])
        if dp * mp > 1:
            self.gather.shard(((mp, 1), (dp, 1)))
            self.head.shard(((dp, 1), (mp, 1)))

    def construct(self, tokens):
        """Map (n, length) words to (n * length, words) logits."""
        x = self.gather(self.table, tokens, 0) + self.place
        x = ops.reshape(x, (-1, WIDTH))
        for layer in self.layers:
            x = layer(x)
        return self.head(x, self.table)


class BertLayer(nn.Cell):
    """Attention and a feed-forward block, with normalisation after each."""

    def __init__(self, rng, dp, mp):
        super().__init__()
        self.attention = Attention(rng, dp, mp, causal=False)
        self.norm1, self.norm2 = nn.LayerNorm((WIDTH,)), nn.LayerNorm((WIDTH,))
        self.first, self.second = nn.Dense(WIDTH, 64), nn.Dense(64, WIDTH)
        for dense in (self.first, self.second):
            dense.weight.set_data(weight(rng, *dense.weight.shape))
        self.act, self.drop = nn.GELU(), nn.Dropout(p=0.1)
        if dp * mp > 1:
            for norm in (self.norm1, self.norm2):
                norm.layer_norm.shard(((dp, 1), (1,), (1,)))
            self.first.matmul.shard(((dp, 1), (mp, 1)))
            self.first.bias_add.shard(((dp, mp), (mp,)))
            self.act.gelu.shard(((dp, mp),))
            self.second.matmul.shard(((dp, mp), (1, mp)))
            self.second.bias_add.shard(((dp, 1), (1,)))
            self.drop.dropout.shard(((dp, 1),))

    def construct(self, x):
        """Map (n * length, width) to the same."""
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.drop(self.second(self.act(self.first(x)))))


class Llama(nn.Cell):
    """Two decoder layers; only matrix products have strategies."""

    def __init__(self, rng, dp=1, mp=1):
        super().__init__()
        self.table, self.lm_head = weight(rng, WORDS, WIDTH), weight(rng, WIDTH, WORDS)
        self.layers = nn.CellList([LlamaLayer(rng, dp, mp) for _ in range(2)])
        self.norm, self.head = RMSNorm(), P.MatMul()
        if dp * mp > 1:
            self.head.shard(((dp, 1), (1, mp)))

    def construct(self, tokens):
        """Map (n, length) words to (n * length, words) logits."""
        x = ops.reshape(ops.gather(self.table, tokens, 0), (-1, WIDTH))
        for layer in self.layers:
            x = layer(x)
        return self.head(self.norm(x), self.lm_head)


class RMSNorm(nn.Cell):
    """Scale by the root of the mean square."""

    def __init__(self):
        super().__init__()
        self.scale = Parameter(Tensor(np.ones(WIDTH, np.float32)))

    def construct(self, x):
        """Map (..., width) to the same."""
        return x * ops.rsqrt(ops.mean(x * x, -1, True) + 1e-6) * self.scale


class LlamaLayer(nn.Cell):
    """Attention and SwiGLU, with normalisation before each."""

    def __init__(self, rng, dp, mp):
        super().__init__()
        self.attention = Attention(rng, dp, mp, causal=True)
        self.norm1, self.norm2 = RMSNorm(), RMSNorm()
        self.gate, self.up = weight(rng, WIDTH, 64), weight(rng, WIDTH, 64)
        self.down = weight(rng, 64, WIDTH)
        self.matmuls = [P.MatMul() for _ in range(3)]
        if dp * mp > 1:
            for one in self.matmuls[:2]:
                one.shard(((dp, 1), (1, mp)))
            self.matmuls[2].shard(((dp, mp), (mp, 1)))

    def construct(self, x):
        """Map (n * length, width) to the same."""
        x = x + self.attention(self.norm1(x))
        y = self.norm2(x)
        gate, up, down = self.matmuls
        return x + down(ops.silu(gate(y, self.gate)) * up(y, self.up), self.down)
