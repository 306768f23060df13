"""The original's import path of layers: a list of names of `mindjax.nn`, and one of its own."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from mindjax.nn.similarity import CosineSimilarity as CosineSimilarity
from mindjax.old_paths import parts

# The original's is a package: `mindjax.alias` answers for the modules in it.
__path__: list[str] = []
_PARTS = parts("nn.layer")
_NAMED = (
    "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d AdaptiveMaxPool2d "
    "AdaptiveMaxPool3d AvgPool1d AvgPool1dExt AvgPool2d AvgPool2dExt AvgPool3d AvgPool3dExt "
    "BatchNorm1d BatchNorm2d BatchNorm3d BiDense CELU CellDict CellList CentralCrop "
    "ChannelShuffle ClipByNorm ConstantPad1d ConstantPad2d ConstantPad3d Conv1d Conv1dTranspose "
    "Conv2d Conv2dBnAct Conv2dThor Conv2dTranspose Conv3d Conv3dTranspose Dense DenseBnAct "
    "DenseThor DiGamma Dropout Dropout1d Dropout2d Dropout2dExt Dropout3d DropoutExt ELU "
    "Embedding EmbeddingExt EmbeddingLookup EmbeddingLookupThor EmbeddingThor FastGelu Flatten "
    "FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU GRUCell GroupNorm HShrink HSigmoid "
    "HSwish Hardtanh IGamma Identity ImageGradients InstanceNorm1d InstanceNorm2d "
    "InstanceNorm3d L1Regularizer LBeta LGamma LPPool1d LPPool2d LRN LSTM LSTMCell LayerNorm "
    "LayerNormExt LeakyReLU Linear LogSigmoid LogSoftmax LogSoftmaxExt MSSSIM MatDet MatInverse "
    "MatMul MatrixDiag MatrixDiagPart MatrixSetDiag MaxPool1d MaxPool2d MaxPool2dExt MaxPool3d "
    "MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish Moments MultiFieldEmbeddingLookup "
    "MultiheadAttention Norm OneHot PReLU PReLUExt PSNR Pad PixelShuffle PixelUnshuffle RNN "
    "RNNCell RReLU Range ReLU ReLU6 ReduceLogSumExp ReflectionPad1d ReflectionPad2d "
    "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d Roll SSIM SeLU "
    "SequentialCell SiLU Sigmoid SoftShrink Softmax Softmax2d Softmin Softsign SyncBatchNorm "
    "Tanh Tanhshrink Threshold TimeDistributed Transformer TransformerDecoder "
    "TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer Tril Triu Unflatten "
    "Unfold Upsample ZeroPad2d get_activation "
)
_NAMES = frozenset(_NAMED.split())


def __getattr__(name: str) -> Any:
    if name in _PARTS:
        return sys.modules[__name__]
    if name == "RNNCellBase":
        return import_module("mindjax.nn.recurrent.cells").RNNCellBase
    if name in _NAMES:
        return getattr(import_module("mindjax.nn"), name)
    raise AttributeError(f"module 'mindspore.nn.layer' has no attribute '{name}'")


def __dir__() -> list[str]:
    return sorted({*_NAMES, "CosineSimilarity"})
