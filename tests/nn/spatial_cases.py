"""Rows of windows, paddings, normalizations and containers: more settings of each."""

from __future__ import annotations

from typing import Any

from tests.nn.layer_cases import Layer
from tests.ops.table import Arr, f32, pos

SEQ, IMG, VOL = f32(2, 3, 8), f32(2, 3, 7, 6), f32(1, 2, 4, 5, 4)
SMALL = f32(1, 2, 3, 4, 3)


def rows(*makes: str, of: tuple[Arr, ...] | Arr = SEQ, **options: Any) -> list[Layer]:
    """Make a row for each setting."""
    inputs = of if isinstance(of, tuple) else (of,)
    return [Layer(make, inputs, **options) for make in makes]


LAYERS = [
    *rows("nn.Dropout(p=0.0)", "nn.Dropout()", "nn.Dropout1d(0.4)", "nn.Dropout1d()",
          "nn.Dropout1d(p=1.0)"),
    *rows("nn.Dropout1d(0.0)", "nn.Dropout(p=0.0)", train=True),
    *rows("nn.Dropout2d()", "nn.Dropout2d(1.0)", of=IMG),
    *rows("nn.Dropout2d(p=0.0)", of=IMG, train=True),
    *rows("nn.Dropout3d()", "nn.Dropout3d(p=0.3)", "nn.Dropout3d(1.0)", of=VOL),
    *rows("nn.Dropout3d(0.0)", of=VOL, train=True),
    *rows("nn.Dense(8, 3, 'ones', 'zeros')", "nn.Dense(8, 1, activation='relu6')"),
    *rows("nn.LayerNorm((8,), epsilon=0.1)", "nn.LayerNorm((3, 8), 1, 1, 'zeros', 'ones')"),
    *rows("nn.GroupNorm(1, 3)", "nn.GroupNorm(3, 3, 0.01, False)",
          "nn.GroupNorm(num_groups=1, num_channels=3, eps=1e-3, affine=True)", of=IMG),
    *rows("nn.Conv1d(3, 2, 4, 3, 'valid')"),
    *rows("nn.Conv3d(2, 4, (1, 2, 3), 2, 'same', has_bias=True)",
          "nn.Conv3d(2, 2, 2, 1, 'pad', (1, 0, 0, 1, 1, 1), group=1)",
          "nn.Conv3d(2, 2, 2, 1, 'pad', 1)", of=SMALL),
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
          of=pos(2, 3, 8)),
    *rows("nn.LPPool2d(1, 2)", "nn.LPPool2d(2.0, (3, 2), (1, 2), True)", "nn.LPPool2d(3, 2, 3)",
          of=pos(1, 2, 7, 6)),
    *rows("nn.ConstantPad1d(2, 1.0)", "nn.ConstantPad1d((0, 3), -1.5)",
          "nn.ConstantPad1d(padding=(1, 0), value=0)"),
    *rows("nn.ConstantPad2d(1, 1.0)", "nn.ConstantPad2d((0, 1, 2, 3), -1)",
          "nn.ConstantPad2d(padding=(1, 0, -1, 0), value=0.5)", of=IMG),
    *rows("nn.ConstantPad3d((1, 0, 0, 1, 2, 0), 1.0)", "nn.ConstantPad3d((0, 1, 2, 0, 1, 1), -1)",
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
    *rows("nn.ZeroPad2d(2)", "nn.ZeroPad2d((0, 1, 2, 3))", "nn.ZeroPad2d(padding=(0, 2, 1, 1))",
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
          "nn.Upsample((5, 8), None, 'bilinear', True)", of=IMG),
    *rows("nn.SequentialCell(nn.Dense(8, 4), nn.ReLU())", "nn.SequentialCell([nn.ReLU()])",
          "nn.SequentialCell(nn.ReLU(), nn.Flatten(), nn.Dense(24, 2))",
          "nn.SequentialCell([nn.Dense(8, 2, has_bias=False), nn.Dense(2, 2)])"),
]  # fmt: skip
