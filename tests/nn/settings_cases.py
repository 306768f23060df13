"""Rows of everyday layers: more settings of each, and more shapes of those without arguments."""

from __future__ import annotations

from typing import Any

from tests.nn.layer_cases import Layer
from tests.ops.table import Arr, f32, i32, lit, pos

SEQ, IMG, VOL = f32(2, 3, 8), f32(2, 3, 7, 6), f32(1, 2, 4, 5, 4)
SMALL = f32(1, 2, 3, 4, 3)
T = (1e-3, 1e-4)
# The original's tanh and exponential are off by 1e-4.
ROUGH = (3e-3, 1e-3)
WIDE = lit([-120.0, -11.0, -4.2, -0.7, 0.3, 0.9, 3.6, 12.0, 95.0])


def rows(*makes: str, of: tuple[Arr, ...] | Arr = SEQ, **options: Any) -> list[Layer]:
    """Make a row for each setting."""
    inputs = of if isinstance(of, tuple) else (of,)
    return [Layer(make, inputs, **options) for make in makes]


def shapes(make: str, *arrays: Arr, **options: Any) -> list[Layer]:
    """Make a row for each input of a layer."""
    return [Layer(f"{make}  # {i}", (a,), **options) for i, a in enumerate(arrays)]


def units(*names: str, **options: Any) -> list[Layer]:
    """Make three rows for each layer without arguments."""
    return [
        row
        for name in names
        for row in shapes(f"nn.{name}()", f32(5), f32(2, 1, 3, 4), WIDE, **options)
    ]


LAYERS = [
    *units("ReLU", "ReLU6", "HSigmoid", "HSwish", tol=T),
    *units("Sigmoid", "LogSigmoid", "SiLU", "Mish", "FastGelu", "Tanh", "Tanhshrink", "Softsign",
           tol=ROUGH),
    *shapes("nn.Softmax2d()", f32(1, 4, 2, 2), f32(3, 2, 2), f32(2, 5, 1, 3), tol=T),
    *rows("nn.Softmax()", "nn.Softmax(1)", "nn.Softmax(axis=-3)", "nn.Softmin(0)",
          "nn.Softmin(axis=1)", "nn.Softmin(-3)", "nn.LogSoftmax(0)", "nn.LogSoftmax(axis=1)",
          "nn.LogSoftmax(-3)", tol=ROUGH),
    *rows("nn.ELU(1.0)", tol=ROUGH),
    *shapes("nn.ELU()", f32(3), f32(2, 1, 4), tol=ROUGH),
    *rows("nn.CELU()", "nn.CELU(alpha=0.3)", "nn.CELU(-1.5)", tol=ROUGH),
    *shapes("nn.SeLU()", f32(5), f32(2, 1, 3, 4), WIDE, tol=ROUGH, grad=False),
    *rows("nn.GELU(True)", "nn.GELU(approximate=False)", of=f32(3, 4), tol=ROUGH),
    *rows("nn.LeakyReLU(0.5)", "nn.LeakyReLU(alpha=1)", "nn.LeakyReLU(0.0)"),
    *rows("nn.Hardtanh()", "nn.Hardtanh(-1.5, 0.5)", "nn.Hardtanh(min_val=0, max_val=1.0)"),
    *rows("nn.HShrink(0.1)", "nn.HShrink(lambd=1.0)", "nn.HShrink(0.0)"),
    *rows("nn.SoftShrink(0.1)", "nn.SoftShrink(lambd=1.0)", "nn.SoftShrink(0.7)"),
    *rows("nn.Threshold(0.5, -1.0)", "nn.Threshold(-0.5, 2)", "nn.Threshold(1, value=0.25)"),
    *rows("nn.GLU(-1)", "nn.GLU(axis=2)", of=f32(2, 3, 4), tol=ROUGH),
    *rows("nn.GLU(0)", of=f32(4, 3), tol=ROUGH),
    *rows("nn.PReLU()", "nn.PReLU(3, 0.1)", "nn.PReLU(channel=1, w=0.7)", of=IMG),
    *rows("nn.PReLU(8)", of=f32(3, 8)),
    *rows("nn.get_activation('sigmoid')", "nn.get_activation('leakyrelu')",
          "nn.get_activation('elu')", tol=ROUGH),
    *rows("nn.LRN()", "nn.LRN(2)", "nn.LRN(1, 2.0, 0.5, 0.75)", "nn.LRN(depth_radius=3, bias=1.5)",
          of=IMG, tol=T, grad=False),
    *rows("nn.Flatten(0)", "nn.Flatten(start_dim=2, end_dim=3)", "nn.Flatten(-3, -2)", of=IMG),
    *rows("nn.Identity(3, a=4)"),
    *shapes("nn.Identity()", f32(3), i32(2, 2, lo=0, hi=5)),
    *rows("nn.OneHot(0, 5)", "nn.OneHot(-1, 4, 2.0, -1.0)", "nn.OneHot(axis=1, depth=3)",
          of=i32(2, 3, lo=0, hi=3), grad=False),
    *rows("nn.Embedding(6, 2, padding_idx=0)", "nn.Embedding(vocab_size=5, embedding_size=1)",
          of=i32(3, lo=0, hi=5)),
    *rows("nn.Embedding(5, 4, True, 'zeros', padding_idx=2)", of=i32(2, 2, 2, lo=0, hi=5)),
    *rows("nn.Dropout(p=0.0)", "nn.Dropout()", "nn.Dropout1d(0.4)", "nn.Dropout1d()",
          "nn.Dropout1d(p=1.0)"),
    *rows("nn.Dropout1d(0.0)", "nn.Dropout(p=0.0)", train=True),
    *rows("nn.Dropout2d()", "nn.Dropout2d(1.0)", of=IMG),
    *rows("nn.Dropout2d(p=0.0)", of=IMG, train=True),
    *rows("nn.Dropout3d()", "nn.Dropout3d(p=0.3)", "nn.Dropout3d(1.0)", of=VOL),
    *rows("nn.Dropout3d(0.0)", of=VOL, train=True),
    *rows("nn.Dense(8, 3, 'ones', 'zeros')", "nn.Dense(8, 1, activation='relu6')", tol=T),
    *rows("nn.LayerNorm((8,), epsilon=0.1)", "nn.LayerNorm((3, 8), 1, 1, 'zeros', 'ones')", tol=T),
    *rows("nn.GroupNorm(1, 3)", "nn.GroupNorm(3, 3, 0.01, False)",
          "nn.GroupNorm(num_groups=1, num_channels=3, eps=1e-3, affine=True)", of=IMG, tol=T),
    *rows("nn.Conv1d(3, 2, 4, 3, 'valid')", tol=T),
    *rows("nn.Conv3d(2, 4, (1, 2, 3), 2, 'same', has_bias=True)",
          "nn.Conv3d(2, 2, 2, 1, 'pad', (1, 0, 0, 1, 1, 1), group=1)",
          "nn.Conv3d(2, 2, 2, 1, 'pad', 1)", of=SMALL, tol=T),
    *rows("nn.MaxPool1d()", "nn.MaxPool1d(4, 3, 'same')"),
    *rows("nn.MaxPool3d((1, 2, 2), 1, 'same')", "nn.MaxPool3d(3, 2, 'pad', 1, ceil_mode=True)",
          of=VOL),
    *rows("nn.AvgPool1d()", "nn.AvgPool1d(3, 2, 'pad', 1, count_include_pad=False)"),
    *rows("nn.AvgPool3d()", "nn.AvgPool3d(2, 1, divisor_override=3)", of=VOL),
    *rows("nn.AdaptiveAvgPool1d(1)", "nn.AdaptiveAvgPool1d(8)", "nn.AdaptiveAvgPool1d(2)"),
    *rows("nn.AdaptiveAvgPool2d((2, 5))", "nn.AdaptiveAvgPool2d(1)", of=IMG),
    *rows("nn.AdaptiveAvgPool3d(1)", "nn.AdaptiveAvgPool3d((4, 5, 4))",
          "nn.AdaptiveAvgPool3d((None, 2, 3))", of=VOL),
    *rows("nn.AdaptiveMaxPool1d(1)", "nn.AdaptiveMaxPool1d(8)", "nn.AdaptiveMaxPool1d(2)"),
    *rows("nn.AdaptiveMaxPool2d((3, 2))", "nn.AdaptiveMaxPool2d(1)", "nn.AdaptiveMaxPool2d((2, 4))",
          of=f32(1, 2, 6, 4)),
    *rows("nn.AdaptiveMaxPool3d(1)", "nn.AdaptiveMaxPool3d((4, 5, 4))",
          "nn.AdaptiveMaxPool3d((2, 1, 2))", of=VOL, grad=False),
    *rows("nn.LPPool1d(1, 2)", "nn.LPPool1d(2.0, 3, 1, True)", "nn.LPPool1d(3, 2, 3)",
          of=pos(2, 3, 8), tol=T),
    *rows("nn.LPPool2d(1, 2)", "nn.LPPool2d(2.0, (3, 2), (1, 2), True)", "nn.LPPool2d(3, 2, 3)",
          of=pos(1, 2, 7, 6), tol=T),
    *rows("nn.MaxUnpool1d(2, 2, 0, (1, 1, 7))", "nn.MaxUnpool1d(3, 2)",
          of=(f32(1, 1, 3), lit([[[0, 2, 5]]], "i64")), grad=False),
    *rows("nn.MaxUnpool2d((2, 2), 2)", "nn.MaxUnpool2d(3, 2)",
          of=(f32(1, 1, 1, 2), lit([[[[0, 3]]]], "i64")), grad=False),
    *rows("nn.ConstantPad1d(2, 1.0)", "nn.ConstantPad1d((0, 3), -1.5)",
          "nn.ConstantPad1d(padding=(1, 0), value=0)"),
    *rows("nn.ConstantPad2d(1, 1.0)", "nn.ConstantPad2d((0, 1, 2, 3), -1)",
          "nn.ConstantPad2d(padding=(1, 0, -1, 0), value=0.5)", of=IMG),
    *rows("nn.ConstantPad3d((1, 0, 0, 1, 2, 0), 1.0)", "nn.ConstantPad3d((0, 1, 2, 0), -1)",
          "nn.ConstantPad3d(padding=2, value=0.5)", of=SMALL),
    *rows("nn.ReflectionPad1d(2)", "nn.ReflectionPad1d((0, 3))", "nn.ReflectionPad1d((7, 7))"),
    *rows("nn.ReflectionPad2d(1)", "nn.ReflectionPad2d((0, 3, 2, 0))",
          "nn.ReflectionPad2d(padding=(5, 5, 6, 6))", of=IMG),
    *rows("nn.ReflectionPad3d((1, 0, 2, 1, 0, 1))", "nn.ReflectionPad3d((0, 0, 0, 0, 1, 1))",
          "nn.ReflectionPad3d(padding=(2, 2, 1, 1, 1, 1))", of=SMALL),
    *rows("nn.ReplicationPad1d(2)", "nn.ReplicationPad1d((0, 3))", "nn.ReplicationPad1d((9, 9))"),
    *rows("nn.ReplicationPad2d(1)", "nn.ReplicationPad2d((0, 3, 2, 0))",
          "nn.ReplicationPad2d(padding=(8, 0, 0, 8))", of=IMG),
    *rows("nn.ReplicationPad3d((1, 0, 2, 1, 0, 1))", "nn.ReplicationPad3d((0, 0, 0, 0, 1, 1))",
          "nn.ReplicationPad3d(padding=(4, 2, 1, 1, 1, 1))", of=SMALL),
    *rows("nn.ZeroPad2d(2)", "nn.ZeroPad2d((0, 1, 2, 3))", "nn.ZeroPad2d(padding=(-1, -1, 0, -2))",
          of=IMG),
    *rows("nn.Pad(((0, 1), (1, 0), (2, 2)))", "nn.Pad(((0, 0), (1, 2), (0, 0)), 'CONSTANT')",
          "nn.Pad(((0, 1), (2, 1), (3, 0)), 'REFLECT')",
          "nn.Pad(paddings=((1, 1), (0, 2), (1, 1)), mode='SYMMETRIC')", of=SEQ),
    *rows("nn.PixelShuffle(1)", "nn.PixelShuffle(3)", of=f32(1, 9, 2, 3)),
    *rows("nn.PixelShuffle(upscale_factor=2)", of=f32(8, 1, 2)),
    *rows("nn.PixelUnshuffle(1)", "nn.PixelUnshuffle(3)", of=f32(1, 2, 3, 6)),
    *rows("nn.PixelUnshuffle(downscale_factor=2)", of=f32(2, 2, 4)),
    *rows("nn.ChannelShuffle(1)", "nn.ChannelShuffle(2)", "nn.ChannelShuffle(groups=4)",
          of=f32(1, 4, 2, 2), grad=False),
    *rows("nn.Upsample((3, 9))", "nn.Upsample(size=(14, 4), mode='nearest')",
          "nn.Upsample((5, 8), None, 'bilinear', True)", of=IMG, tol=T),
    *rows("nn.SequentialCell(nn.Dense(8, 4), nn.ReLU())", "nn.SequentialCell([nn.ReLU()])",
          "nn.SequentialCell(nn.ReLU(), nn.Flatten(), nn.Dense(24, 2))",
          "nn.SequentialCell([nn.Dense(8, 2, has_bias=False), nn.Dense(2, 2)])", tol=T),
    *rows("mint.nn.Linear(8, 2, False)", "mint.nn.Linear(8, 3, True)",
          "mint.nn.Linear(in_features=8, out_features=1)", tol=T),
    *rows("mint.nn.GroupNorm(1, 3)", "mint.nn.GroupNorm(3, 3, 0.1, False)",
          "mint.nn.GroupNorm(num_groups=1, num_channels=3, eps=1e-3)", of=IMG, tol=T),
    *rows("mint.nn.Softmax(0)", "mint.nn.Softmax(dim=1)", "mint.nn.Softmax(-1)", tol=ROUGH),
    *shapes("mint.nn.SiLU()", f32(5), f32(2, 1, 3, 4), WIDE, tol=ROUGH),
    *shapes("mint.nn.ReLU()", f32(5), f32(2, 1, 3, 4), WIDE, SEQ),
    *shapes("mint.nn.Sigmoid()", f32(5), f32(2, 1, 3, 4), WIDE, SEQ, tol=ROUGH),
    *shapes("mint.nn.Tanh()", f32(5), f32(2, 1, 3, 4), WIDE, SEQ, tol=ROUGH),
    *rows("mint.nn.Identity()", "mint.nn.Flatten()", "mint.nn.Flatten(0, 1)",
          "mint.nn.Flatten(start_dim=-2, end_dim=-1)"),
    *rows("mint.nn.LogSigmoid()", "mint.nn.Mish()", "mint.nn.GELU()", "mint.nn.GELU('tanh')",
          "mint.nn.ELU()", "mint.nn.ELU(0.5)", "mint.nn.GLU(-1)", "mint.nn.LogSoftmax(1)",
          "mint.nn.Hardtanh(-0.5, 1.0)", "mint.nn.Hardtanh()", "mint.nn.Threshold(0.1, 2.0)",
          "mint.nn.ReLU6()", "mint.nn.PReLU()", "mint.nn.PReLU(3, 0.1)", tol=ROUGH),
    *rows("mint.nn.LayerNorm(8)", "mint.nn.LayerNorm((3, 8), 0.1)",
          "mint.nn.LayerNorm(8, elementwise_affine=False)", "mint.nn.LayerNorm([8], bias=False)",
          tol=T),
    *rows("mint.nn.BatchNorm1d(3)", "mint.nn.BatchNorm1d(3, 0.1, None)",
          "mint.nn.BatchNorm1d(3, affine=False)",
          "mint.nn.BatchNorm1d(3, track_running_stats=False)", tol=T, train=True),
    *rows("mint.nn.Embedding(6, 2)", "mint.nn.Embedding(6, 2, padding_idx=0)",
          "mint.nn.Embedding(6, 2, 1, 0.5)", "mint.nn.Embedding(6, 3, scale_grad_by_freq=True)",
          of=i32(3, 2, lo=0, hi=6)),
    *rows("mint.nn.Conv1d(3, 2, 3)", "mint.nn.Conv1d(3, 3, 2, 2, 1, groups=3, bias=False)",
          "mint.nn.Conv1d(3, 2, 3, padding='same', padding_mode='reflect')",
          "mint.nn.Conv1d(3, 2, 2, dilation=2)", tol=T),
    *rows("mint.nn.Conv2d(3, 2, 3)", "mint.nn.Conv2d(3, 3, 2, 2, 1, groups=3, bias=False)",
          "mint.nn.Conv2d(3, 2, 3, padding='same')", "mint.nn.Conv2d(3, 2, 2, dilation=2)",
          of=IMG, tol=T),
    *rows("mint.nn.AvgPool2d(2)", "mint.nn.AvgPool2d(3, 2, 1, True, False)",
          "mint.nn.AvgPool2d(2, 1, divisor_override=3)", "mint.nn.MaxPool2d(2)",
          "mint.nn.MaxPool2d(3, 2, 1)", "mint.nn.AdaptiveAvgPool2d((2, 3))", of=IMG, tol=T),
    *rows("mint.nn.Dropout(0.5)", "mint.nn.Dropout()", "mint.nn.Dropout2d(0.3)"),
]  # fmt: skip
