"""The layers of `mint.nn` under the names that the original gives them in `nn`."""

from __future__ import annotations

from mindjax.mint.nn import layers, normalization, spatial


class AvgPool1dExt(layers.AvgPool1d):
    """`mint.nn.AvgPool1d` (MindSpore: ``nn.AvgPool1dExt``)."""


class AvgPool2dExt(layers.AvgPool2d):
    """`mint.nn.AvgPool2d` (MindSpore: ``nn.AvgPool2dExt``)."""


class AvgPool3dExt(spatial.AvgPool3d):
    """`mint.nn.AvgPool3d` (MindSpore: ``nn.AvgPool3dExt``)."""


class Dropout2dExt(layers.Dropout2d):
    """`mint.nn.Dropout2d` (MindSpore: ``nn.Dropout2dExt``)."""


class DropoutExt(layers.Dropout):
    """`mint.nn.Dropout` (MindSpore: ``nn.DropoutExt``)."""


class EmbeddingExt(layers.Embedding):
    """`mint.nn.Embedding` (MindSpore: ``nn.EmbeddingExt``)."""


class LayerNormExt(normalization.LayerNorm):
    """`mint.nn.LayerNorm` (MindSpore: ``nn.LayerNormExt``)."""


class LogSoftmaxExt(layers.LogSoftmax):
    """`mint.nn.LogSoftmax` (MindSpore: ``nn.LogSoftmaxExt``)."""


class MaxPool2dExt(layers.MaxPool2d):
    """`mint.nn.MaxPool2d` (MindSpore: ``nn.MaxPool2dExt``)."""


class PReLUExt(layers.PReLU):
    """`mint.nn.PReLU` (MindSpore: ``nn.PReLUExt``)."""
