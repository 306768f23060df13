"""Rows of unpooling, look-ups and matrix layers, of transformers and of layers of `mint.nn`."""

from __future__ import annotations

from tests.nn.mint_cases import rows, shapes
from tests.ops.table import f32, lit, pos

SEQ, IMG, VOL = f32(2, 3, 8), f32(2, 3, 7, 6), f32(1, 2, 4, 5, 6)
ROWS = lit([[0, 3], [2, 2]], "i32")
PLACES1 = lit([[[1, 3, 4, 7]]], "i64")
PLACES2 = lit([[[[0, 3], [9, 14]]]], "i64")
PLACES3 = lit([[[[[0, 3], [9, 14]]]]], "i64")

LAYERS = [
    *rows("nn.MaxUnpool1d(2)", "nn.MaxUnpool1d(2, 2)", "nn.MaxUnpool1d(3, 2)",
          "nn.MaxUnpool1d(2, stride=2, padding=0)", of=(pos(1, 1, 4), PLACES1), grad=False),
    *rows("nn.MaxUnpool2d(2)", "nn.MaxUnpool2d((2, 2), 2)", "nn.MaxUnpool2d(2, (2, 2), 0)",
          "nn.MaxUnpool2d(3, 2)", of=(pos(1, 1, 2, 2), PLACES2), grad=False),
    *rows("nn.MaxUnpool3d((1, 2, 2))", "nn.MaxUnpool3d((1, 2, 2), (1, 2, 2))",
          "nn.MaxUnpool3d((1, 2, 2), None, 0)", "nn.MaxUnpool3d((1, 3, 3), (1, 2, 2))",
          of=(pos(1, 1, 1, 2, 2), PLACES3), grad=False),
    *rows("nn.RReLU()", "nn.RReLU(0.2, 0.2)", "nn.RReLU(lower=0.1, upper=0.1)",
          of=pos(3, 4), grad=False),
    *rows("nn.RReLU(0.25, 0.25)", of=f32(3, 4), grad=False),
    *rows("nn.LRN()", "nn.LRN(2, 1.5, 0.5, 0.7)", of=IMG),
    *rows("nn.ClipByNorm()", "nn.ClipByNorm((0, 1))",
          of=(f32(3, 4), lit(1.5))),
    *rows("nn.L1Regularizer(0.5)", "nn.L1Regularizer(2.0)", of=f32(3, 4)),
    *rows("nn.ImageGradients()", of=f32(2, 1, 4, 5)),
    *shapes("nn.Tril()", f32(3, 4), f32(2, 3, 3)),
    *shapes("nn.Triu()", f32(3, 4), f32(2, 3, 3)),
    *rows("nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 4, 0.0), 2)",
          "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 4, 0.0, 'gelu'), 1)",
          "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 4, 6, 0.0), 1, nn.LayerNorm((8,)))",
          of=f32(4, 2, 8)),
    *rows("nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 4, 0.0), 2)",
          "nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 4, 0.0, norm_first=True), 1)",
          of=(f32(4, 2, 8), f32(3, 2, 8))),
    *rows("nn.Transformer(8, 2, 1, 1, 4, 0.0)", of=(f32(3, 2, 8), f32(4, 2, 8))),
    *rows("mint.nn.Identity()  # 1", "mint.nn.Identity(1, a=2)", of=f32(3)),
    *rows("mint.nn.PReLU(8, 0.3)", "mint.nn.PReLU(1)", of=f32(2, 8)),
    *rows("mint.nn.GLU()", "mint.nn.GLU(1)", "mint.nn.GLU(dim=0)", of=f32(4, 2, 6)),
]  # fmt: skip
