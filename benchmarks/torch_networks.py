"""The benchmarked networks in PyTorch, eager, as its users write them."""

from __future__ import annotations

from typing import Any

import torch
from batches import batch
from torch import nn
from torch.nn import functional as F


class LeNet5(nn.Module):
    """LeNet-5 for images (N, 1, 32, 32)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, bias=False), nn.Conv2d(6, 16, 5, bias=False)
        self.fc1, self.fc2, self.fc3 = nn.Linear(400, 120), nn.Linear(120, 84), nn.Linear(84, 10)

    def forward(self, x: Any) -> Any:
        """Give logits (N, 10)."""
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


class Block(nn.Module):
    """A residual block of two 3x3 convolutions."""

    def __init__(self, cin: int, cout: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(cin, cout, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(cout, cout, 3, 1, 1, bias=False)
        self.bn1, self.bn2 = nn.BatchNorm2d(cout), nn.BatchNorm2d(cout)
        self.short = None
        if stride != 1 or cin != cout:
            self.short = nn.Sequential(
                nn.Conv2d(cin, cout, 1, stride, bias=False), nn.BatchNorm2d(cout)
            )

    def forward(self, x: Any) -> Any:
        """Give the block's output."""
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(out + (x if self.short is None else self.short(x)))


class ResNet18(nn.Module):
    """ResNet-18 for images (N, 3, 32, 32)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv, self.bn = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)
        blocks, cin = [], 64
        for width, stride in ((64, 1), (128, 2), (256, 2), (512, 2)):
            blocks += [Block(cin, width, stride), Block(width, width, 1)]
            cin = width
        self.blocks, self.head = nn.Sequential(*blocks), nn.Linear(512, 10)

    def forward(self, x: Any) -> Any:
        """Give logits (N, 10)."""
        return self.head(self.blocks(F.relu(self.bn(self.conv(x)))).mean((2, 3)))


class EncoderLayer(nn.Module):
    """A post-norm transformer encoder layer."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)

    def forward(self, x: Any) -> Any:
        """Give the layer's output, (N, S, width)."""
        n, s, width = x.shape
        q, k, v = self.qkv(x).reshape(n, s, 3, self.heads, self.size).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) * self.size**-0.5
        mixed = (scores.softmax(-1) @ v).transpose(1, 2).reshape(n, s, width)
        x = self.norm1(x + self.out(mixed))
        return self.norm2(x + self.down(F.gelu(self.up(x), approximate="tanh")))


class Encoder(nn.Module):
    """Four encoder layers of width 256 over 1,000 tokens, with a head that names the token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        self.layers = nn.Sequential(*[EncoderLayer(256, 4) for _ in range(4)])
        self.head = nn.Linear(256, 1000)

    def forward(self, tokens: Any) -> Any:
        """Give logits (N * S, 1000)."""
        return self.head(self.layers(self.embedding(tokens))).reshape(-1, 1000)


NETWORKS: dict[str, Any] = {"lenet5": LeNet5, "resnet18": ResNet18, "encoder": Encoder}


def train_step(workload: str) -> Any:
    """Build a training step.

    Args:
        workload: name of the network.

    Returns:
        A function without arguments that trains one step and waits for the loss, a float.
    """
    net = NETWORKS[workload]().train()
    if workload == "encoder":
        optimizer: Any = torch.optim.Adam(net.parameters(), 1e-4)
    else:
        optimizer = torch.optim.SGD(net.parameters(), 0.01, 0.9)
    x, y = (torch.from_numpy(a) for a in batch(workload))
    y = y.long()

    def run() -> float:
        optimizer.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return float(loss)

    return run
