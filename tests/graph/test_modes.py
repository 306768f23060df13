"""The two modes train alike: 50 steps, losses within 1e-5, dropout included."""

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, nn, ops

STEPS = 50


class Mlp(nn.Cell):
    """Dense layers with dropout between them."""

    def __init__(self):
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(12, 32), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(32, 5)
        )

    def construct(self, x):
        return self.layers(x)


class Residual(nn.Cell):
    """A residual block of convolutions and batch normalisation, with a head."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, pad_mode="pad", padding=1)
        self.block = nn.SequentialCell(
            nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1),
            nn.BatchNorm2d(8),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3, pad_mode="pad", padding=1),
            nn.BatchNorm2d(8),
        )
        self.head = nn.Dense(8, 5)

    def construct(self, x):
        x = self.conv(x)
        return self.head(ops.mean(ops.relu(x + self.block(x)), (2, 3)))


class Transformer(nn.Cell):
    """Self-attention, a feed-forward part, and dropout on both."""

    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(20, 16)
        self.query, self.key, self.value = (nn.Dense(16, 16) for _ in range(3))
        self.norms = nn.CellList([nn.LayerNorm((16,)), nn.LayerNorm((16,))])
        self.feed = nn.SequentialCell(nn.Dense(16, 32), nn.GELU(), nn.Dense(32, 16))
        self.dropout = nn.Dropout(p=0.1)
        self.head = nn.Dense(16, 5)

    def construct(self, tokens):
        x = self.embedding(tokens)
        scores = ops.matmul(self.query(x), self.key(x).swapaxes(-1, -2)) / 4.0
        mixed = ops.matmul(ops.softmax(scores, -1), self.value(x))
        x = self.norms[0](x + self.dropout(mixed))
        x = self.norms[1](x + self.dropout(self.feed(x)))
        return self.head(x.mean(1))


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


NETWORKS = [
    ("mlp", Mlp, numbers(16, 12), nn.Momentum, {"momentum": 0.9}),
    ("residual", Residual, numbers(8, 3, 8, 8), nn.SGD, {}),
    (
        "transformer",
        Transformer,
        np.random.default_rng(0).integers(0, 20, (8, 6)).astype(np.int32),
        nn.Adam,
        {},
    ),
]


def losses(network, x, optimizer, options, mode):
    ms.set_context(mode=mode)
    ms.set_seed(5)
    net = network()
    rate = 0.001 if optimizer is nn.Adam else 0.02
    update = optimizer(net.trainable_params(), learning_rate=rate, **options)
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), update).set_train()
    labels = Tensor((np.arange(len(x)) % 5).astype(np.int32))
    out = [float(step(Tensor(x), labels).asnumpy()) for _ in range(STEPS)]
    ms.set_context(mode=ms.PYNATIVE_MODE)
    return out


@pytest.mark.parametrize(
    ("name", "network", "x", "optimizer", "options"), NETWORKS, ids=[n[0] for n in NETWORKS]
)
def test_losses_agree_over_50_steps(name, network, x, optimizer, options):
    graph = losses(network, x, optimizer, options, ms.GRAPH_MODE)
    pynative = losses(network, x, optimizer, options, ms.PYNATIVE_MODE)
    np.testing.assert_allclose(graph, pynative, rtol=1e-5)
    assert np.mean(graph[-5:]) < np.mean(graph[:5])
