"""Rows of `mint.nn`: the layers that the original's CPU can run."""

from __future__ import annotations

from typing import Any

from tests.nn.layer_cases import Layer
from tests.ops.table import Arr, f32, lit

SEQ, IMG = f32(2, 3, 8), f32(2, 3, 7, 6)
WIDE = lit([-120.0, -11.0, -4.2, -0.7, 0.3, 0.9, 3.6, 12.0, 95.0])


def rows(*makes: str, of: tuple[Arr, ...] | Arr = SEQ, **options: Any) -> list[Layer]:
    """Make a row for each setting."""
    inputs = of if isinstance(of, tuple) else (of,)
    return [Layer(make, inputs, **options) for make in makes]


def shapes(make: str, *arrays: Arr, **options: Any) -> list[Layer]:
    """Make a row for each input of a layer."""
    return [Layer(f"{make}  # {i}", (a,), **options) for i, a in enumerate(arrays)]


LAYERS = [
    *rows("mint.nn.Linear(8, 2, False)", "mint.nn.Linear(8, 3, True)",
          "mint.nn.Linear(in_features=8, out_features=1)"),
    *rows("mint.nn.GroupNorm(1, 3)", "mint.nn.GroupNorm(3, 3, 0.1, False)",
          "mint.nn.GroupNorm(num_groups=1, num_channels=3, eps=1e-3)", of=IMG),
    *rows("mint.nn.Softmax(0)", "mint.nn.Softmax(dim=1)", "mint.nn.Softmax(-1)"),
    *shapes("mint.nn.SiLU()", f32(5), f32(2, 1, 3, 4), WIDE),
    *shapes("mint.nn.ReLU()", f32(5), f32(2, 1, 3, 4), WIDE, SEQ),
    *shapes("mint.nn.Sigmoid()", f32(5), f32(2, 1, 3, 4), WIDE, SEQ),
    *shapes("mint.nn.Tanh()", f32(5), f32(2, 1, 3, 4), WIDE, SEQ),
    *rows("mint.nn.Identity()", "mint.nn.Flatten()", "mint.nn.Flatten(0, 1)",
          "mint.nn.Flatten(start_dim=-2, end_dim=-1)"),
    *rows("mint.nn.GLU(-1)", "mint.nn.PReLU()", "mint.nn.PReLU(3, 0.1)"),
    *rows("mint.nn.Dropout(0.5)", "mint.nn.Dropout()", "mint.nn.Dropout2d(0.3)"),
]  # fmt: skip
