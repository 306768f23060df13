"""Greedy decoding with caches as MindSpore users write it; the original runs it too."""

from __future__ import annotations

from typing import Any

import mindspore as ms
import numpy as np
from mindspore import nn, ops
from networks import LAYERS, Decoder

TOKENS, LENGTH = 96, 128


class DecoderStep(nn.Cell):
    """Gives the token after one token of one text, and keeps keys and values of each layer.

    Args:
        network: decoder of LLaMA's kind.
    """

    def __init__(self, network: Any) -> None:
        super().__init__()
        self.network = network
        width, self.heads, self.size = 256, 4, 64

        def cache(name: str) -> Any:
            empty = ms.Tensor(np.zeros((LENGTH, width), np.float32))
            return ms.Parameter(empty, name=name, requires_grad=False)

        self.keys = ms.ParameterTuple([cache(f"keys{i}") for i in range(LAYERS)])
        self.values = ms.ParameterTuple([cache(f"values{i}") for i in range(LAYERS)])
        self.places = ms.Tensor(np.arange(LENGTH).astype(np.int32))

    def rotate(self, x: Any, cos: Any, sin: Any) -> Any:
        """Turn each pair of features by the position's angle."""
        a, b = ops.split(x, self.size // 2, -1)
        return ops.concat((a * cos - b * sin, b * cos + a * sin), -1)

    def construct(self, token: Any, position: Any) -> Any:
        """Give the most likely token after a token (1,) at a position (1,), both Int32."""
        net = self.network
        x = net.embedding(token)
        hidden = ops.select(
            self.places > position,
            ops.full((LENGTH,), -1e9, dtype=ms.float32),
            ops.zeros((LENGTH,), ms.float32),
        )
        for i in range(LAYERS):
            layer = net.layers[i]
            cos, sin = ops.gather(layer.cos, position, 0), ops.gather(layer.sin, position, 0)
            h = layer.qkv(layer.norm1(x)).reshape((3, self.heads, self.size))
            key = self.rotate(h[1], cos, sin).reshape((1, -1))
            keys = ops.scatter_update(self.keys[i], position, key)
            values = ops.scatter_update(self.values[i], position, h[2].reshape((1, -1)))
            keys = keys.reshape((LENGTH, self.heads, self.size)).transpose((1, 2, 0))
            values = values.reshape((LENGTH, self.heads, self.size)).transpose((1, 0, 2))
            query = self.rotate(h[0], cos, sin).reshape((self.heads, 1, self.size))
            scores = ops.matmul(query, keys) * (self.size**-0.5) + hidden
            mixed = ops.matmul(layer.softmax(scores), values).reshape((1, -1))
            x = x + layer.out(mixed)
            h = layer.norm2(x)
            x = x + layer.down(layer.silu(layer.gate(h)) * layer.up(h))
        return ops.argmax(net.head(net.norm(x)), -1).astype(ms.int32)


def decode(graph: bool) -> Any:
    """Build a greedy decoder.

    Args:
        graph: GRAPH_MODE, else PYNATIVE_MODE.

    Returns:
        A function without arguments that decodes one text and gives the last token, a float.
    """
    ms.set_context(mode=ms.GRAPH_MODE if graph else ms.PYNATIVE_MODE)
    ms.set_seed(1)
    step = DecoderStep(Decoder()).set_train(False)
    positions = [ms.Tensor(np.array([i], np.int32)) for i in range(TOKENS)]
    first = ms.Tensor(np.array([1], np.int32))

    def run() -> float:
        token = first
        for position in positions:
            token = step(token, position)
        return float(token.asnumpy()[0])

    return run
