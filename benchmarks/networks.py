"""The benchmarked networks as MindSpore users write them; the original runs them too."""

from __future__ import annotations

from typing import Any

import mindspore as ms
from batches import batch
from mindspore import nn, ops


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
        for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [Block(cin, width, stride), Block(width, width, 1)]
            cin = width
        self.blocks = nn.SequentialCell(*blocks)
        self.head = nn.Dense(512, 10)

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
    """Four encoder layers of width 256 over 1,000 tokens, with a head that names the token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        self.layers = nn.SequentialCell(*[EncoderLayer(256, 4) for _ in range(4)])
        self.head = nn.Dense(256, 1000)

    def construct(self, tokens: Any) -> Any:
        """Give logits (N * S, 1000)."""
        return self.head(self.layers(self.embedding(tokens))).reshape((-1, 1000))


NETWORKS: dict[str, Any] = {"lenet5": LeNet5, "resnet18": ResNet18, "encoder": Encoder}


def train_step(workload: str, graph: bool) -> Any:
    """Build a network, its optimizer and a training step.

    Args:
        workload: name of the network.
        graph: GRAPH_MODE, else PYNATIVE_MODE.

    Returns:
        A function without arguments that trains one step and waits for the loss, a float.
    """
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    ms.set_seed(1)
    net = NETWORKS[workload]()
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    if workload == "encoder":
        optimizer = nn.Adam(net.trainable_params(), 1e-4)
    else:
        optimizer = nn.Momentum(net.trainable_params(), 0.01, 0.9)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)
    step.set_train()
    x, y = (ms.Tensor(a) for a in batch(workload))
    return lambda: float(step(x, y).asnumpy())
