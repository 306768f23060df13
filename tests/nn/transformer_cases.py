"""Rows of attention and transformers."""

from __future__ import annotations

from tests.nn.layer_cases import Layer
from tests.ops.table import f32, lit

X = f32(4, 2, 8)
KEYS = f32(3, 2, 8)
HIDDEN = lit([[False, True, False], [False, False, True]], "bool")
CAUSAL = lit([[0, 1, 1, 1], [0, 0, 1, 1], [0, 0, 0, 1], [0, 0, 0, 0]], "bool")
PADDED = "lambda cell, q, k, v, m: cell(q, k, v, key_padding_mask=m)"
MASKED = "lambda cell, q, k, v, m: cell(q, k, v, attn_mask=m, average_attn_weights=False)"
BOTH = "lambda cell, q, k, v, m, p: cell(q, k, v, attn_mask=m, key_padding_mask=p)"
ALL = "lambda cell, t, m, a, b, c, d: cell(t, m, a, b, c, d)"
EDGES = (f32(4, 4), lit([[1, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 0]], "bool"), f32(2, 4), HIDDEN)
WHOLE = "lambda cell, s, t, a, b: cell(s, t, src_key_padding_mask=a, tgt_mask=b)"

LAYERS = [
    Layer("nn.MultiheadAttention(8, 2, add_bias_kv=True)", (X, KEYS, KEYS), eager=True),
    Layer(
        "nn.MultiheadAttention(8, 4, 0.0, True, True, True)",
        (X, KEYS, KEYS, f32(4, 3), f32(2, 3)),
        call=BOTH,
    ),
    Layer(
        "nn.MultiheadAttention(8, 2, add_zero_attn=True)",
        (X, KEYS, KEYS, HIDDEN),
        call=PADDED,
    ),
    Layer(
        "nn.MultiheadAttention(8, 2, 0.0, False, kdim=5, vdim=6)",
        (X, f32(3, 2, 5), f32(3, 2, 6), f32(4, 4, 3)),
        call=MASKED,
    ),
    Layer("nn.MultiheadAttention(8, 2)", (f32(4, 8), f32(3, 8), f32(3, 8))),
    Layer("nn.TransformerEncoderLayer(8, 2, 16, 0.0, 'gelu')", (X, CAUSAL)),
    Layer("nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)", (f32(2, 4, 8),)),
    Layer(
        "nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8, 0.0), 2, nn.LayerNorm((8,)))",
        (X,),
    ),
    Layer("nn.TransformerDecoderLayer(8, 2, 16, 0.0)", (X, KEYS)),
    Layer("nn.TransformerDecoderLayer(8, 2, 16, 0.0, 'gelu', norm_first=True)", (X, KEYS)),
    Layer("nn.TransformerDecoderLayer(8, 4, 4, 0.0)", (X, KEYS, *EDGES), call=ALL),
    Layer(
        "nn.TransformerDecoderLayer(8, 2, 4, 0.3, 'relu', 0.01, True)",
        (f32(2, 4, 8), f32(2, 3, 8)),
    ),
    Layer(
        "nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 8, 0.0), 2, nn.LayerNorm((8,)))",
        (X, KEYS),
    ),
    Layer("nn.TransformerDecoder(nn.TransformerDecoderLayer(8, 4, 4), 1)", (X, KEYS)),
    Layer("nn.Transformer(8, 2, 1, 1, 16, 0.0)", (KEYS, X)),
    Layer("nn.Transformer(8, 2, 1, 1, 4, norm_first=True)", (KEYS, X, HIDDEN, CAUSAL),
          call=WHOLE),
    Layer("nn.Transformer(8, 2, 2, 1, 4, activation='gelu', batch_first=True)",
          (f32(2, 3, 8), f32(2, 4, 8))),
]  # fmt: skip

CALLS = {
    "q": "ms.Tensor(np.ones((4, 2, 8), np.float32))",
    "k": "ms.Tensor(np.ones((3, 2, 8), np.float32))",
}

ERRORS = [
    "nn.MultiheadAttention(8, 2)(q, k[0], k)",
    "nn.MultiheadAttention(8, 2)(q, k, k, key_padding_mask=q[0])",
    "nn.MultiheadAttention(8, 2)(q, k, k, key_padding_mask=ms.Tensor(np.ones((2, 3), np.int32)))",
    "nn.MultiheadAttention(8, 2)(q, k, k, attn_mask=ms.Tensor(np.ones((2, 3), np.float32)))",
    "nn.MultiheadAttention(8, 2)(q, k, k, attn_mask=ms.Tensor(np.ones((4, 3), np.int32)))",
    "nn.TransformerDecoderLayer(8, 2, activation='x')",
    "nn.TransformerDecoderLayer(8, 2, activation=3)",
    "nn.TransformerDecoderLayer(8, 3)",
    "nn.Transformer(8, 2, 1, 1, 4)(q[:, :, :4], q)",
]
