"""One sample gives the same output alone and in a batch, layer by layer."""

from __future__ import annotations

from typing import Any

import numpy as np

import mindjax as ms
from mindjax import nn

RANDOM = np.random.default_rng(11)
SEQ, IMG, VOL, ROW = ((3, 8), (4, 6, 5), (2, 4, 3, 4), (6,))
# Layers that take (N, ...) and work on every sample by itself when they do not train.
LAYERS = [
    (nn.Dense(6, 4, activation="tanh"), ROW),
    (nn.BiDense(6, 6, 2), ROW),
    (nn.Conv1d(3, 2, 3), SEQ),
    (nn.Conv2d(4, 6, 3, 2, has_bias=True), IMG),
    (nn.Conv2d(4, 4, 3, group=4), IMG),
    (nn.Conv3d(2, 2, 2), VOL),
    (nn.Conv1dTranspose(3, 2, 3, 2), SEQ),
    (nn.Conv2dTranspose(4, 2, 3, 2), IMG),
    (nn.Conv3dTranspose(2, 2, 2), VOL),
    (nn.BatchNorm1d(6), ROW),
    (nn.BatchNorm2d(4), IMG),
    (nn.BatchNorm3d(2), VOL),
    (nn.InstanceNorm2d(4), IMG),
    (nn.LayerNorm((8,)), SEQ),
    (nn.GroupNorm(2, 4), IMG),
    (nn.LRN(), IMG),
    (nn.MaxPool2d(2, 2), IMG),
    (nn.AvgPool2d(3, 2, "same"), IMG),
    (nn.AdaptiveAvgPool2d(2), IMG),
    (nn.AdaptiveMaxPool1d(3), SEQ),
    (nn.LPPool1d(2.0, 2), SEQ),
    (nn.ReflectionPad2d(1), IMG),
    (nn.PixelShuffle(2), IMG),
    (nn.Upsample((9, 7), mode="bilinear"), IMG),
    (nn.Softmax(), ROW),
    (nn.GELU(), ROW),
    (nn.PReLU(4), IMG),
    (nn.Dropout(p=0.5), ROW),
    (nn.RNN(8, 4, batch_first=True), SEQ),
    (nn.GRU(8, 4, batch_first=True, bidirectional=True), SEQ),
    (nn.LSTM(8, 4, 2, batch_first=True), SEQ),
    (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), SEQ),
    (nn.SSIM(filter_size=3), IMG),
    (nn.PSNR(), IMG),
]


class Side(nn.Cell):
    """Every layer on its own input, as one program."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.CellList([layer for layer, _ in LAYERS])

    def construct(self, *inputs: Any) -> Any:
        outputs = []
        for layer, x in zip(self.layers, inputs, strict=True):
            two = isinstance(layer, nn.BiDense | nn.SSIM | nn.PSNR)
            out = layer(x, x * 0.5) if two else layer(x)
            outputs.append(out[0] if isinstance(out, tuple) else out)
        return tuple(outputs)


def test_a_sample_alone_and_in_a_batch(mode: int) -> None:
    cell = Side()
    batches = [RANDOM.random((4, *shape)).astype(np.float32) for _, shape in LAYERS]
    together = cell(*[ms.Tensor(b) for b in batches])
    alone = cell(*[ms.Tensor(b[2:3]) for b in batches])
    for (layer, _), whole, one in zip(LAYERS, together, alone, strict=True):
        whole, one = whole.asnumpy()[2], one.asnumpy()[0]
        scale = max(1.0, float(np.abs(whole).max()))
        np.testing.assert_allclose(one, whole, 0, 1e-6 * scale, err_msg=layer.cls_name)
