"""Which Cells and ops compute in low precision at each level."""

from __future__ import annotations

from typing import Any

from mindjax import nn, ops
from mindjax.core.precision import OpLists

# Cells of ours that run one operator of the white list, which in the original is an attribute.
OPERATOR_CELLS = {"ReLU": "ReLU", "PReLU": "PReLU", "BiDense": "MatMul"}
_WHITE_CELLS = (
    "Conv1d Conv2d Conv3d Conv1dTranspose Conv2dTranspose Conv3dTranspose Dense LSTMCell RNNCell "
    "GRUCell"
)
_WHITE_OPS = (
    "Conv2D Conv3D Conv2DTranspose Conv3DTranspose Conv2DBackpropInput MatMul BatchMatMul PReLU "
    "ReLU Ger"
)
_BLACK_CELLS = "BatchNorm1d BatchNorm2d BatchNorm3d LayerNorm"

# The level "auto", by operator. The last ones of each are ours: what the original makes of other
# operators of the list.
_LOW = frozenset(
    [
        "Conv2D",
        "Conv2DExt",
        "Conv3D",
        "Conv3DExt",
        "Conv2DTranspose",
        "ConvTranspose2D",
        "Conv3DTranspose",
        "Convolution",
        "MatMul",
        "MatMulExt",
        "BatchMatMul",
        "BatchMatMulExt",
        "PReLU",
        "Einsum",
        "Dense",
        "Addmm",
        "Addbmm",
        "Addmv",
        "Baddbmm",
        "Mv",
        "Conv1D",
        "TensorDot",
        "_ConvTranspose",
    ]
)
_FULL = frozenset(
    [
        "Pow",
        "ACos",
        "Asin",
        "Cosh",
        "Erfinv",
        "Exp",
        "Expm1",
        "Log",
        "Log10",
        "Log1p",
        "Log2",
        "Reciprocal",
        "Rsqrt",
        "Sinh",
        "Tan",
        "Softplus",
        "SoftplusExt",
        "LayerNorm",
        "LayerNormExt",
        "BatchNorm",
        "BatchNormExt",
        "GroupNorm",
        "Norm",
        "KLDivLoss",
        "SmoothL1Loss",
        "MultilabelMarginLoss",
        "SoftMarginLoss",
        "TripletMarginLoss",
        "MultiMarginLoss",
        "BCEWithLogitsLoss",
        "Pdist",
        "Cdist",
        "Renorm",
        "ReduceProd",
        "Softmax",
        "LogSoftmax",
        "LogSoftmaxExt",
        "CumProd",
        "CumSum",
        "CumsumExt",
        "ProdExt",
        "SumExt",
        "L1LossExt",
        "MSELossExt",
        "NLLLoss",
        "NLLLoss2d",
        "_GroupNorm",
        "_LayerNormPlain",
        "_BatchNormTraining",
        "_BatchNormInference",
        "_CrossEntropy",
        "_ScaledSoftplus",
    ]
)
_PROMOTED = frozenset(
    [
        "Addcdiv",
        "Addcmul",
        "Cross",
        "_PyboostCrossPrim",
        "Dot",
        "GridSampler2D",
        "GridSampler3D",
        "BiasAdd",
        "AddN",
        "Concat",
    ]
)


def _found(namespace: Any, names: str) -> list[type]:
    return [getattr(namespace, n) for n in names.split()]


def get_white_list() -> list[type]:
    """Give a copy of the classes that level ``O1`` computes in low precision.

    Returns:
        Cells and Primitives.

    MindSpore: ``mindspore.amp.get_white_list``.
    """
    return _found(nn, _WHITE_CELLS) + _found(ops, _WHITE_OPS)


def get_black_list() -> list[type]:
    """Give a copy of the Cells that level ``O2`` computes in full precision.

    Returns:
        Cells.

    MindSpore: ``mindspore.amp.get_black_list``.
    """
    return _found(nn, _BLACK_CELLS)


def op_lists(dtype: Any) -> OpLists:
    """Give each operator's precision at the level ``auto``.

    Args:
        dtype: Float16 or BFloat16.
    """
    return OpLists(dtype, _LOW, _FULL, _PROMOTED)
