"""Rows of activations and look-ups: more settings, and more shapes of those without arguments."""

from __future__ import annotations

from typing import Any

from tests.nn.layer_cases import Layer
from tests.ops.table import Arr, f32, i32, lit

SEQ, IMG = f32(2, 3, 8), f32(2, 3, 7, 6)
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
    *units("ReLU", "ReLU6", "HSigmoid", "HSwish"),
    *units("Sigmoid", "SiLU", "FastGelu", "Tanh", "Tanhshrink", "Softsign"),
    # Far from 0 the original's are not exact.
    *shapes("nn.LogSigmoid()", f32(5), f32(2, 1, 3, 4), f32(9, lo=-8, hi=8)),
    *shapes("nn.Mish()", f32(5), f32(2, 1, 3, 4), f32(9, lo=-8, hi=8)),
    *shapes("nn.Softmax2d()", f32(1, 4, 2, 2), f32(3, 2, 2), f32(2, 5, 1, 3)),
    *rows("nn.Softmax()", "nn.Softmax(1)", "nn.Softmax(axis=-3)", "nn.Softmin(0)",
          "nn.Softmin(axis=1)", "nn.Softmin(-3)", "nn.LogSoftmax(0)", "nn.LogSoftmax(axis=1)",
          "nn.LogSoftmax(-3)"),
    *rows("nn.ELU(1.0)"),
    *shapes("nn.ELU()", f32(3), f32(2, 1, 4)),
    *rows("nn.CELU()", "nn.CELU(alpha=0.3)", "nn.CELU(-1.5)"),
    *shapes("nn.SeLU()", f32(5), f32(2, 1, 3, 4), WIDE, grad=False),
    *rows("nn.GELU(True)", "nn.GELU(approximate=False)", of=f32(3, 4)),
    *rows("nn.LeakyReLU(0.5)", "nn.LeakyReLU(alpha=1)", "nn.LeakyReLU(0.0)"),
    *rows("nn.Hardtanh()", "nn.Hardtanh(-1.5, 0.5)", "nn.Hardtanh(min_val=0, max_val=1.0)"),
    *rows("nn.HShrink(0.1)", "nn.HShrink(lambd=1.0)", "nn.HShrink(0.0)"),
    *rows("nn.SoftShrink(0.1)", "nn.SoftShrink(lambd=1.0)", "nn.SoftShrink(0.7)"),
    *rows("nn.Threshold(0.5, -1.0)", "nn.Threshold(-0.5, 2)", "nn.Threshold(1, value=0.25)"),
    *rows("nn.GLU(-1)", "nn.GLU(axis=2)", of=f32(2, 3, 4)),
    *rows("nn.GLU(0)", of=f32(4, 3)),
    *rows("nn.PReLU()", "nn.PReLU(3, 0.1)", "nn.PReLU(channel=1, w=0.7)", of=IMG),
    *rows("nn.PReLU(8)", of=f32(3, 8)),
    *rows("nn.get_activation('sigmoid')", "nn.get_activation('leakyrelu')",
          "nn.get_activation('elu')"),
    *rows("nn.Flatten(0)", "nn.Flatten(start_dim=2, end_dim=3)", "nn.Flatten(-3, -2)", of=IMG),
    *rows("nn.Identity(3, a=4)"),
    *shapes("nn.Identity()", f32(3), i32(2, 2, lo=0, hi=5)),
    *rows("nn.OneHot(0, 5)", "nn.OneHot(-1, 4, 2.0, -1.0)", "nn.OneHot(axis=1, depth=3)",
          of=i32(2, 3, lo=0, hi=3), grad=False),
    *rows("nn.Embedding(6, 2, padding_idx=0)", "nn.Embedding(vocab_size=5, embedding_size=1)",
          of=i32(3, lo=0, hi=5)),
    *rows("nn.Embedding(5, 4, True, 'zeros', padding_idx=2)", of=i32(2, 2, 2, lo=0, hi=5)),
]  # fmt: skip
