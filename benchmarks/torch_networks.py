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


class DecoderLayer(nn.Module):
    """A decoder layer of LLaMA's kind: RMSNorm, rotary attention, SwiGLU."""

    def __init__(self, width: int, heads: int, hidden: int, length: int) -> None:
        super().__init__()
        self.heads, self.size = heads, width // heads
        self.norm1, self.norm2 = nn.RMSNorm(width, 1e-5), nn.RMSNorm(width, 1e-5)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.out = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)
        frequencies = 10000.0 ** -(torch.arange(0, self.size, 2) / self.size)
        angles = torch.outer(torch.arange(length).float(), frequencies)
        self.register_buffer("cos", angles.cos())
        self.register_buffer("sin", angles.sin())

    def rotate(self, x: Any) -> Any:
        """Turn each pair of features by its position's angle."""
        a, b = x.chunk(2, -1)
        return torch.cat((a * self.cos - b * self.sin, b * self.cos + a * self.sin), -1)

    def forward(self, x: Any) -> Any:
        """Give the layer's output, (N, S, width)."""
        n, s, width = x.shape
        h = self.qkv(self.norm1(x)).reshape(n, s, 3, self.heads, self.size)
        q, k, v = h.permute(2, 0, 3, 1, 4)
        q, k = self.rotate(q), self.rotate(k)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(n, s, width))
        h = self.norm2(x)
        return x + self.down(F.silu(self.gate(h)) * self.up(h))


class Decoder(nn.Module):
    """Four decoder layers of width 256 over 1,000 tokens, with a head that names the token."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 256)
        self.layers = nn.Sequential(*[DecoderLayer(256, 4, 688, 128) for _ in range(4)])
        self.norm = nn.RMSNorm(256, 1e-5)
        self.head = nn.Linear(256, 1000, bias=False)

    def forward(self, tokens: Any) -> Any:
        """Give logits (N * S, 1000)."""
        return self.head(self.norm(self.layers(self.embedding(tokens)))).reshape(-1, 1000)


class Classifier(nn.Module):
    """One LSTM layer of width 256 over 1,000 tokens; the last output names the class."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(1000, 128)
        self.lstm = nn.LSTM(128, 256, batch_first=True)
        self.head = nn.Linear(256, 10)

    def forward(self, tokens: Any) -> Any:
        """Give logits (N, 10)."""
        outputs, _ = self.lstm(self.embedding(tokens))
        return self.head(outputs[:, -1])


class WideDeep(nn.Module):
    """Wide & Deep over a million ids with embeddings of width 16, dense gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.wide, self.embedding = nn.Embedding(1_000_000, 1), nn.Embedding(1_000_000, 16)
        nn.init.zeros_(self.wide.weight)
        self.fc1, self.fc2, self.fc3 = nn.Linear(416, 256), nn.Linear(256, 128), nn.Linear(128, 1)

    def forward(self, ids: Any) -> Any:
        """Give logits (N, 1)."""
        x = F.relu(self.fc1(self.embedding(ids).reshape(len(ids), -1)))
        return self.fc3(F.relu(self.fc2(x))) + self.wide(ids).sum(1)


class WideDeepSparse(WideDeep):
    """Wide & Deep whose tables have sparse gradients."""

    def __init__(self) -> None:
        super().__init__()
        self.wide = nn.Embedding(1_000_000, 1, sparse=True)
        self.embedding = nn.Embedding(1_000_000, 16, sparse=True)
        nn.init.zeros_(self.wide.weight)


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


def decode() -> Any:
    """Build a greedy decoder of one text with caches, as `train_step` gives one.

    Returns:
        A function without arguments that decodes and gives the last token, a float.
    """
    net, length, tokens = Decoder().eval(), 128, 96
    caches = torch.zeros(len(net.layers), 2, 4, length, 64)

    @torch.inference_mode()
    def run() -> float:
        token = torch.tensor([1])
        for place in range(tokens):
            x = net.embedding(token)
            for layer, cache in zip(net.layers, caches, strict=True):
                h = layer.qkv(layer.norm1(x)).reshape(3, 4, 64)
                turned = [
                    torch.cat((a * c - b * s, b * c + a * s), -1)
                    for a, b in (h[0].chunk(2, -1), h[1].chunk(2, -1))
                    for c, s in ((layer.cos[place], layer.sin[place]),)
                ]
                cache[0, :, place], cache[1, :, place] = turned[1], h[2]
                keys, values = cache[0, :, : place + 1], cache[1, :, : place + 1]
                mixed = F.scaled_dot_product_attention(turned[0][:, None], keys, values)
                x = x + layer.out(mixed.reshape(1, -1))
                h = layer.norm2(x)
                x = x + layer.down(F.silu(layer.gate(h)) * layer.up(h))
            token = net.head(net.norm(x)).argmax(-1)
        return float(token)

    return run


def train_step(workload: str) -> Any:
    """Build a training step.

    Args:
        workload: name of the network.

    Returns:
        A function without arguments that trains one step and waits for the loss, a float.
    """
    if workload == "decode":
        return decode()
    net = NETWORKS[workload]().train()
    optimizers: list[Any] = []
    if workload == "wide_deep_sparse":
        # PyTorch has no FTRL: Adagrad holds one of its two states.
        optimizers = [
            torch.optim.Adagrad([net.wide.weight], 5e-2, initial_accumulator_value=1.0),
            torch.optim.SparseAdam([net.embedding.weight], 1e-3),
            torch.optim.Adam(
                [p for n, p in net.named_parameters() if n.startswith("fc")], 1e-3, fused=True
            ),
        ]
    elif workload in RATES:
        optimizers = [torch.optim.Adam(net.parameters(), RATES[workload], fused=True)]
    else:
        optimizers = [torch.optim.SGD(net.parameters(), 0.01, 0.9)]
    x, y = (torch.from_numpy(a) for a in batch(workload))
    logistic = workload.startswith("wide_deep")
    loss_of = F.binary_cross_entropy_with_logits if logistic else F.cross_entropy
    y = y if logistic else y.long()

    def run() -> float:
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = loss_of(net(x), y)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        return float(loss)

    return run
