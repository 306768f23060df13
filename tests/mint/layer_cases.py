"""Rows of the layers of `mint.nn` that torch has under the same name and arguments."""

from __future__ import annotations

from typing import Any

from tests.nn.layer_cases import Layer
from tests.ops.table import Arr, f32, lit, pos, unit

SEQ, IMG, VOL = f32(2, 3, 8), f32(2, 3, 7, 6), f32(1, 2, 4, 5, 6)
X, PAIR, HALVES = f32(3, 4), (f32(4, 5), f32(4, 5)), (unit(4, 5), unit(4, 5))
CLASSES = lit([1, 0, 4, 2], "i64")
ROWS = lit([[0, 3], [2, 2]], "i64")
POINTS = lit([-9.0, -2.5, -0.6, -0.2, 0.0, 0.3, 0.7, 2.8, 9.0])


def of(inputs: tuple[Arr, ...] | Arr, *makes: str, **options: Any) -> list[Layer]:
    """Make a row for each setting."""
    given = inputs if isinstance(inputs, tuple) else (inputs,)
    return [Layer(f"mint.nn.{make}", given, **options) for make in makes]


def points(*names: str) -> list[Layer]:
    """Make four rows for each layer without arguments."""
    arrays = (f32(5), f32(2, 1, 3, 4), POINTS, SEQ)
    return [Layer(f"mint.nn.{n}()  # {i}", (a,)) for n in names for i, a in enumerate(arrays)]


LAYERS = [
    *of(SEQ, "AdaptiveAvgPool1d(3)", "AdaptiveAvgPool1d(8)", "AdaptiveAvgPool1d(1)",
        "AdaptiveAvgPool1d(5)"),
    *of(IMG, "AdaptiveAvgPool2d(3)", "AdaptiveAvgPool2d((2, None))", "AdaptiveAvgPool2d((4, 1))",
        "AdaptiveAvgPool2d((None, 5))"),
    *of(VOL, "AdaptiveAvgPool3d(2)", "AdaptiveAvgPool3d((1, 3, 4))",
        "AdaptiveAvgPool3d((None, 2, 6))", "AdaptiveAvgPool3d((4, 1, None))"),
    *of(SEQ, "AdaptiveMaxPool1d(3)", "AdaptiveMaxPool1d(8)", "AdaptiveMaxPool1d(1)",
        "AdaptiveMaxPool1d(5, True)"),
    *of(IMG, "AdaptiveMaxPool2d((2, 3))", "AdaptiveMaxPool2d(4)", "AdaptiveMaxPool2d((None, 1))",
        "AdaptiveMaxPool2d(3, True)"),
    *of(SEQ, "AvgPool1d(2)", "AvgPool1d(3, 2, 1)", "AvgPool1d(3, 1, 1, True, False)",
        "AvgPool1d(3, 2, ceil_mode=True)"),
    *of(IMG, "AvgPool2d(2)", "AvgPool2d((2, 3), 2, 1)", "AvgPool2d(3, 2, 1, True, False)",
        "AvgPool2d(2, divisor_override=3)"),
    *of(VOL, "AvgPool3d(2)", "AvgPool3d((1, 2, 3), (1, 2, 2), 0)",
        "AvgPool3d(2, 2, 1, False, False)", "AvgPool3d(2, divisor_override=5)"),
    *of(IMG, "MaxPool2d(2)", "MaxPool2d(3, 2, 1)", "MaxPool2d((2, 3), 1, dilation=2)",
        "MaxPool2d(2, return_indices=True)"),
    *of((pos(1, 1, 2, 2), lit([[[[0, 3], [9, 14]]]], "i64")), "MaxUnpool2d(2)",
        "MaxUnpool2d((2, 2), 2)", "MaxUnpool2d(2, (2, 2), 0)", "MaxUnpool2d(3, 2)"),
    *of(SEQ, "ConstantPad1d(2, 1.5)", "ConstantPad1d((1, 3), 2)", "ConstantPad1d((0, 1), -1.0)",
        "ConstantPad1d((3, 0), 0.0)"),
    *of(IMG, "ConstantPad2d(1, 0.5)", "ConstantPad2d((1, 0, 2, 3), 2.0)",
        "ConstantPad2d((0, 0, 1, 1), -1.5)", "ConstantPad2d(2, 0.0)"),
    *of(VOL, "ConstantPad3d(1, 2.0)", "ConstantPad3d((1, 0, 2, 0, 1, 1), 0.5)",
        "ConstantPad3d((0, 0, 0, 0, 1, 2), 1.0)", "ConstantPad3d((1, 1, 0, 0, 0, 0), -2.0)"),
    *of(SEQ, "ReflectionPad1d(2)", "ReflectionPad1d((1, 3))", "ReflectionPad1d((0, 7))",
        "ReflectionPad1d((5, 0))"),
    *of(IMG, "ReflectionPad2d(2)", "ReflectionPad2d((1, 2, 0, 3))", "ReflectionPad2d((5, 0, 6, 0))",
        "ReflectionPad2d((0, 1, 1, 0))"),
    *of(VOL, "ReflectionPad3d(1)", "ReflectionPad3d((1, 2, 0, 3, 1, 0))",
        "ReflectionPad3d((0, 0, 4, 0, 0, 3))", "ReflectionPad3d((5, 5, 0, 0, 0, 0))"),
    *of(SEQ, "ReplicationPad1d(2)", "ReplicationPad1d((3, 1))", "ReplicationPad1d((0, 9))",
        "ReplicationPad1d((1, 0))"),
    *of(IMG, "ReplicationPad2d(2)", "ReplicationPad2d((1, 2, 0, 3))",
        "ReplicationPad2d((8, 0, 0, 0))", "ReplicationPad2d((0, 0, 1, 1))"),
    *of(VOL, "ReplicationPad3d(1)", "ReplicationPad3d((1, 2, 0, 3, 1, 0))",
        "ReplicationPad3d((0, 0, 5, 0, 0, 0))", "ReplicationPad3d((0, 1, 0, 1, 0, 1))"),
    *of(SEQ, "ZeroPad1d(2)", "ZeroPad1d((1, 0))", "ZeroPad1d((0, 4))", "ZeroPad1d((2, 1))"),
    *of(IMG, "ZeroPad2d(1)", "ZeroPad2d((1, 2, 3, 0))", "ZeroPad2d((0, 1, 0, 0))",
        "ZeroPad2d((2, 2, 1, 1))"),
    *of(VOL, "ZeroPad3d(1)", "ZeroPad3d((1, 0, 2, 0, 1, 1))", "ZeroPad3d((0, 0, 0, 3, 0, 0))",
        "ZeroPad3d((1, 1, 1, 1, 0, 2))"),
    *of(SEQ, "Conv1d(3, 4, 3)", "Conv1d(3, 6, 3, 2, 1, 1, 3, False)",
        "Conv1d(3, 3, 3, padding='same', dilation=2)", "Conv1d(3, 4, 2, padding='valid')"),
    *of(IMG, "Conv2d(3, 4, 3)", "Conv2d(3, 6, (3, 2), 2, 1, 2, 3, False)",
        "Conv2d(3, 3, 3, padding='same')", "Conv2d(3, 4, (1, 4), (1, 2), (0, 2))"),
    *of(VOL, "Conv3d(2, 3, 2)", "Conv3d(2, 4, (1, 2, 3), (1, 2, 1), (0, 1, 1), 1, 2, False)",
        "Conv3d(2, 2, 3, padding='same')", "Conv3d(2, 3, 2, dilation=2)"),
    *of(IMG, "ConvTranspose2d(3, 4, 3)", "ConvTranspose2d(3, 6, 3, 2, 1, 1, 3)",
        "ConvTranspose2d(3, 2, (2, 3), (1, 2), bias=False)",
        "ConvTranspose2d(3, 2, 3, dilation=2, padding=1)"),
    *of(SEQ, "BatchNorm1d(3)", "BatchNorm1d(3, 0.1, 0.3, False)", train=True),
    *of(X, "BatchNorm1d(4)", "BatchNorm1d(4, track_running_stats=False)"),
    *of(IMG, "BatchNorm2d(3)", "BatchNorm2d(3, 0.1, 0.3, False)", train=True),
    *of(IMG, "BatchNorm2d(3)", "BatchNorm2d(3, track_running_stats=False)"),
    *of(VOL, "BatchNorm3d(2)", "BatchNorm3d(2, 0.1, 0.3, False)", train=True),
    *of(VOL, "BatchNorm3d(2)", "BatchNorm3d(2, track_running_stats=False)"),
    *of(SEQ, "LayerNorm(8)", "LayerNorm((3, 8), 0.1, False)", "LayerNorm((3, 8))",
        "LayerNorm([8], 1e-3)"),
    *of(IMG, "GroupNorm(1, 3)", "GroupNorm(3, 3, 0.1)"),
    *of(SEQ, "Upsample(scale_factor=2.0)", "Upsample(5, mode='linear', align_corners=True)",
        "Upsample(11, mode='linear')"),
    *of(IMG, "Upsample((5, 4))", "Upsample((9, 4), mode='bilinear', align_corners=True)",
        "Upsample((5, 11), mode='bicubic')", "UpsamplingNearest2d((3, 9))",
        "UpsamplingNearest2d(scale_factor=2.0)", "UpsamplingNearest2d((7, 6))",
        "UpsamplingBilinear2d((4, 5))", "UpsamplingBilinear2d((9, 12))",
        "UpsamplingBilinear2d(scale_factor=2.0)"),
    *of(IMG, "Unfold(2)", "Unfold((2, 3), 1, 1, 2)", "Unfold(3, padding=2, stride=2)",
        "Unfold(kernel_size=(1, 2), dilation=(1, 3))"),
    *of(f32(2, 12, 20), "Fold((5, 6), (2, 2))",
        "Fold(output_size=(5, 6), kernel_size=2, dilation=1)"),
    *of(f32(2, 12, 9), "Fold((4, 4), 2)", "Fold((6, 6), 2, stride=2)"),
    *of(f32(2, 8, 3, 4), "PixelShuffle(2)", "PixelShuffle(1)"),
    *of(f32(1, 18, 2, 2), "PixelShuffle(3)"),
    *of(f32(8, 2, 3), "PixelShuffle(2)  # 2"),
    *of(ROWS, "Embedding(5, 3)", "Embedding(5, 3, 2)", "Embedding(5, 1, padding_idx=-2)",
        "Embedding(4, 2)"),
    *of(X, "Linear(4, 3)", "Linear(4, 1, False)"),
    *of(X, "ELU()", "ELU(0.5)", "ELU(alpha=2.0)", "GELU()", "GELU('tanh')",
        "GELU(approximate='none')", "Hardshrink()", "Hardshrink(1.0)", "Hardshrink(0.0)",
        "Hardtanh()", "Hardtanh(-0.5, 1.2)", "Hardtanh(min_val=0.1, max_val=0.2)",
        "Softshrink()", "Softshrink(1.0)", "Softshrink(0.1)", "Threshold(0.3, 2.0)",
        "Threshold(-1, 0.5)", "Threshold(0.0, 0.0)", "LogSoftmax(1)", "LogSoftmax(0)",
        "LogSoftmax(dim=-1)", "Softmax(0)"),
    *of(POINTS, "ELU(1.0)", "GELU()  # 2", "Hardshrink(0.6)", "Hardtanh()  # 2", "Softshrink(0.6)",
        "Threshold(0.3, -1.0)", "LogSoftmax(0)  # 2"),
    *points("Hardsigmoid", "Hardswish", "LogSigmoid", "Mish", "ReLU6", "SELU", "SiLU", "Tanh",
            "Sigmoid", "ReLU"),
    *of(PAIR, *(f"{name}(reduction='{r}')" for name in ("L1Loss", "MSELoss", "SmoothL1Loss")
                for r in ("mean", "sum", "none")), 
        "SmoothL1Loss(reduction='sum', beta=0.5)"),
    *of(HALVES, "BCELoss()", "BCELoss(reduction='sum')", "BCELoss(reduction='none')"),
    *of((f32(4, 5), unit(4, 5)), "BCEWithLogitsLoss()", "BCEWithLogitsLoss(reduction='sum')",
        "BCEWithLogitsLoss(reduction='none')", "KLDivLoss()", "KLDivLoss(reduction='sum')",
        "KLDivLoss(reduction='batchmean')", "KLDivLoss(reduction='none', log_target=True)"),
    *of((f32(4, 5), CLASSES), "CrossEntropyLoss()", "CrossEntropyLoss(reduction='sum')",
        "CrossEntropyLoss(ignore_index=2, label_smoothing=0.1)",
        "CrossEntropyLoss(reduction='none')",
        "NLLLoss()", "NLLLoss(reduction='sum')", "NLLLoss(ignore_index=1)",
        "NLLLoss(reduction='none')"),
    *of((f32(4), lit([1.0, -1.0, 1.0, -1.0])), "SoftMarginLoss()",
        "SoftMarginLoss(reduction='sum')", "SoftMarginLoss(reduction='none')", grad=False),
    *of((f32(4, 5), f32(4, 5), lit([1, -1, 1, 1], "i64")), "CosineEmbeddingLoss()",
        "CosineEmbeddingLoss(0.3)", "CosineEmbeddingLoss(reduction='sum')",
        "CosineEmbeddingLoss(-0.2, reduction='none')"),
]  # fmt: skip
