"""The benchmarked networks as MindSpore users write them; the original runs them too."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from batches import batch
from mindspore import nn, ops

LAYERS = 4
"""Layers of the encoder and of the decoder."""
STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))
"""Width and stride of ResNet's stages, each of two blocks."""


class LeNet5(nn.Cell):
    """LeNet-5 for images (N, 1, 32, 32)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, pad_mode="valid")
        self.conv2 = nn.Conv2d(6, 16, 5, pad_mode="valid")
        self.pool = nn.MaxPool2d(kernel_size=2, stride=2)
        self.relu = nn.ReLU()
        self.flatten = nn.Flatten()
        self.fc1 = nn.Dense(400, 120)
        self.fc2 = nn.Dense(120, 84)
        self.fc3 = nn.Dense(84, 10)

    def construct(self, x: Any) -> Any:
        """Give logits (N, 10)."""
        x = self.pool(self.relu(self.conv1(x)))
        x = self.pool(self.relu(self.conv2(x)))
        x = self.flatten(x)
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x)


class Block(nn.Cell):
    """A residual block of two 3x3 convolutions."""

    def __init__(self, cin: int, cout: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, pad_mode="pad", padding=1)
        self.bn1 = nn.BatchNorm2d(cout)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, pad_mode="pad", padding=1)
        self.bn2 = nn.BatchNorm2d(cout)
        self.relu = nn.ReLU()
        self.down = stride != 1 or cin != cout
        if self.down:
            self.short = nn.SequentialCell(
                nn.Conv2d(cin, cout, 1, stride, pad_mode="valid"), nn.BatchNorm2d(cout)
            )

    def construct(self, x: Any) -> Any:
        """Give the block's output."""
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        return self.relu(out + (self.short(x) if self.down else x))


class ResNet18(nn.Cell):
    """ResNet-18 for images (N, 3, 32, 32)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 64, 3, 1, pad_mode="pad", padding=1)
        self.bn = nn.BatchNorm2d(64)
        self.relu = nn.ReLU()
        blocks, cin = [], 64
        for width, stride in STAGES:
            blocks += [Block(cin, width, stride), Block(width, width, 1)]
            cin = width
        self.blocks = nn.SequentialCell(*blocks)
        self.head = nn.Dense(cin, 10)

    def construct(self, x: Any) -> Any:
        """Give logits (N, 10)."""
        x = self.blocks(self.relu(self.bn(self.conv(x))))
        return self.head(ops.mean(x, (2, 3)))


class EncoderLayer(nn.Cell):
    """A post-norm transformer encoder layer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.qkv = nn.Dense(width, 3 * width)
        self.out = nn.Dense(width, width)
        self.up = nn.Dense(width, 4 * width)
        self.down = nn.Dense(4 * width, width)
        self.norm1 = nn.LayerNorm((width,), epsilon=1e-5)
        self.norm2 = nn.LayerNorm((width,), epsilon=1e-5)
        self.gelu = nn.GELU(approximate=True)
        self.softmax = nn.Softmax(-1)

    def construct(self, x: Any) -> Any:
        """Give the layer's output, (N, S, width)."""
        n, s, width = x.shape
        qkv = self.qkv(x).reshape((n, s, 3, self.heads, self.size)).transpose((2, 0, 3, 1, 4))
        q, k, v = qkv[0], qkv[1], qkv[2]
        scores = ops.matmul(q, k.swapaxes(-1, -2)) * (self.size**-0.5)
        mixed = ops.matmul(self.softmax(scores), v).transpose((0, 2, 1, 3)).reshape((n, s, width))
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(self.gelu(self.up(x))))


class Encoder(nn.Cell):
    """Encoder layers of width 256 over 1,000 tokens, with a head that names the token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        self.layers = nn.SequentialCell(*[EncoderLayer(256, 4) for _ in range(LAYERS)])
        self.head = nn.Dense(256, 1000)

    def construct(self, tokens: Any) -> Any:
        """Give logits (N * S, 1000)."""
        return self.head(self.layers(self.embedding(tokens))).reshape((-1, 1000))


class RMSNorm(nn.Cell):
    """Root mean square normalization."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = ms.Parameter(ops.ones((width,), ms.float32), name="gain")

    def construct(self, x: Any) -> Any:
        """Give x over its root mean square, times the gain."""
        return x * ops.rsqrt(ops.square(x).mean(-1, keep_dims=True) + 1e-5) * self.gain


class DecoderLayer(nn.Cell):
    """A decoder layer of LLaMA's kind: RMSNorm, rotary attention, SwiGLU."""

    def __init__(self, width: int, heads: int, hidden: int, length: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.norm1, self.norm2 = RMSNorm(width), RMSNorm(width)
        self.qkv = nn.Dense(width, 3 * width, has_bias=False)
        self.out = nn.Dense(width, width, has_bias=False)
        self.gate = nn.Dense(width, hidden, has_bias=False)
        self.up = nn.Dense(width, hidden, has_bias=False)
        self.down = nn.Dense(hidden, width, has_bias=False)
        self.silu, self.softmax = nn.SiLU(), nn.Softmax(-1)
        half = np.arange(0, self.size, 2) / self.size
        angles = np.outer(np.arange(length), 10000.0**-half)
        self.cos = ms.Tensor(np.cos(angles).astype("f"))
        self.sin = ms.Tensor(np.sin(angles).astype("f"))
        self.mask = ms.Tensor(np.where(np.tril(np.ones((length, length))), 0, -1e9).astype("f"))

    def rotate(self, x: Any) -> Any:
        """Turn each pair of features by its position's angle."""
        a, b = ops.split(x, self.size // 2, -1)
        return ops.concat((a * self.cos - b * self.sin, b * self.cos + a * self.sin), -1)

    def construct(self, x: Any) -> Any:
        """Give the layer's output, (N, S, width)."""
        n, s, width = x.shape
        h = self.qkv(self.norm1(x)).reshape((n, s, 3, self.heads, self.size))
        qkv = h.transpose((2, 0, 3, 1, 4))
        q, k, v = self.rotate(qkv[0]), self.rotate(qkv[1]), qkv[2]
        scores = ops.matmul(q, k.swapaxes(-1, -2)) * (self.size**-0.5) + self.mask
        mixed = ops.matmul(self.softmax(scores), v).transpose((0, 2, 1, 3)).reshape((n, s, width))
        x = x + self.out(mixed)
        h = self.norm2(x)
        return x + self.down(self.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Cell):
    """Decoder layers of width 256 over 1,000 tokens, with a head that names the token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        self.layers = nn.SequentialCell(*[DecoderLayer(256, 4, 688, 128) for _ in range(LAYERS)])
        self.norm = RMSNorm(256)
        self.head = nn.Dense(256, 1000, has_bias=False)

    def construct(self, tokens: Any) -> Any:
        """Give logits (N * S, 1000)."""
        x = self.layers(self.embedding(tokens))
        return self.head(self.norm(x)).reshape((-1, 1000))


class Classifier(nn.Cell):
    """One LSTM layer of width 256 over 1,000 tokens; the last output names the class."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 128)
        self.lstm = nn.LSTM(128, 256, batch_first=True)
        self.head = nn.Dense(256, 10)

    def construct(self, tokens: Any) -> Any:
        """Give logits (N, 10)."""
        outputs, _ = self.lstm(self.embedding(tokens))
        return self.head(outputs[:, -1])


class WideDeep(nn.Cell):
    """Wide & Deep over a million ids with embeddings of width 16."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Embedding(1_000_000, 1, embedding_table="zeros")
        self.embedding = nn.Embedding(1_000_000, 16)
        self.fc1, self.fc2, self.fc3 = nn.Dense(416, 256), nn.Dense(256, 128), nn.Dense(128, 1)
        self.relu = nn.ReLU()

    def construct(self, ids: Any) -> Any:
        """Give logits (N, 1)."""
        x = self.embedding(ids).reshape((ids.shape[0], -1))
        x = self.relu(self.fc1(x))
        x = self.relu(self.fc2(x))
        return self.fc3(x) + self.wide(ids).sum(1)


class WideDeepSparse(WideDeep):
    """Wide & Deep whose tables have gradients of the rows that a batch names."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.EmbeddingLookup(1_000_000, 1, "zeros")
        self.embedding = nn.EmbeddingLookup(1_000_000, 16)


class TwoOptimizers(nn.Cell):
    """Trains a network's wide part with FTRL and all else with LazyAdam.

    Args:
        network: gives the loss.
    """

    def __init__(self, network: Any) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        weights = network.trainable_params()
        self.wide = ms.ParameterTuple([w for w in weights if "wide" in w.name])
        self.deep = ms.ParameterTuple([w for w in weights if "wide" not in w.name])
        self.weights = ms.ParameterTuple([*self.wide, *self.deep])
        self.ftrl = nn.FTRL(self.wide, learning_rate=5e-2, l1=1e-8, l2=1e-8, initial_accum=1.0)
        self.adam = nn.LazyAdam(self.deep, 1e-3)
        self.ftrl.target = self.adam.target = "CPU"
        self.gradient = ops.GradOperation(get_by_list=True)
        self.count = len(self.wide)

    def construct(self, ids: Any, labels: Any) -> Any:
        """Train a step and give the loss before it."""
        loss = self.network(ids, labels)
        gradients = self.gradient(self.network, self.weights)(ids, labels)
        wide, deep = gradients[: self.count], gradients[self.count :]
        loss = ops.depend(loss, self.ftrl(wide))
        return ops.depend(loss, self.adam(deep))


NETWORKS: dict[str, Any] = {
    "lenet5": LeNet5,
    "resnet18": ResNet18,
    "encoder": Encoder,
    "decoder": Decoder,
    "lstm": Classifier,
    "wide_deep": WideDeep,
    "wide_deep_sparse": WideDeepSparse,
}
RATES = {"encoder": 1e-4, "decoder": 1e-4, "lstm": 1e-3, "wide_deep": 1e-3}
"""Learning rates of those that train with Adam."""


def training_cell(workload: str, graph: bool) -> Any:
    """Build a network, its optimizer and the Cell that trains one step on a batch.

    Args:
        workload: name of the network.
        graph: GRAPH_MODE, else PYNATIVE_MODE.
    """
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    ms.set_seed(1)
    net = NETWORKS[workload]()
    if workload.startswith("wide_deep"):
        loss = nn.BCEWithLogitsLoss()
    else:
        loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    if workload == "wide_deep_sparse":
        return TwoOptimizers(nn.WithLossCell(net, loss)).set_train()
    if workload in RATES:
        optimizer = nn.Adam(net.trainable_params(), RATES[workload])
    else:
        optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    return step.set_train()


def train_step(workload: str, graph: bool) -> Any:
    """Build a training step.

    Args:
        workload: name of the network.
        graph: GRAPH_MODE, else PYNATIVE_MODE.

    Returns:
        A function without arguments that trains one step and waits for the loss, a float.
    """
    step = training_cell(workload, graph)
    x, y = (ms.Tensor(a) for a in batch(workload))
    return lambda: float(step(x, y).asnumpy())
