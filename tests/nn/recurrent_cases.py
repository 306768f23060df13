"""Rows of recurrent layers and steps."""

from __future__ import annotations

from tests.nn.layer_cases import Layer
from tests.ops.table import f32, lit

X = f32(4, 3, 2)
FIRST = f32(3, 4, 2)
LENGTHS = lit([4, 2, 3], "i32")
H1, H2, H4 = f32(1, 3, 3), f32(2, 3, 3), f32(4, 3, 3)
STATE = "lambda cell, x, h, c: cell(x, (h, c))"
LONG = "lambda cell, x, h, c, n: cell(x, (h, c), n)"
MORE = "lambda cell, x, n: cell(x, None, n)"

LAYERS = [
    Layer("nn.RNNCell(2, 3)", (f32(4, 2), f32(4, 3)), eager=True),
    Layer("nn.RNNCell(2, 3, False)", (f32(4, 2), f32(4, 3))),
    Layer("nn.RNNCell(2, 3, nonlinearity='relu')", (f32(4, 2), f32(4, 3))),
    Layer("nn.RNNCell(5, 1, False, 'relu')", (f32(1, 5), f32(1, 1))),
    Layer("nn.GRUCell(2, 3)", (f32(4, 2), f32(4, 3)), eager=True),
    Layer("nn.GRUCell(2, 3, False)", (f32(4, 2), f32(4, 3))),
    Layer("nn.GRUCell(3, 3, has_bias=True)", (f32(1, 3), f32(1, 3))),
    Layer("nn.GRUCell(1, 4)", (f32(2, 1), f32(2, 4))),
    Layer("nn.LSTMCell(2, 3)", (f32(4, 2), f32(4, 3), f32(4, 3)), call=STATE, eager=True),
    Layer("nn.LSTMCell(2, 3, False)", (f32(4, 2), f32(4, 3), f32(4, 3)), call=STATE),
    Layer("nn.LSTMCell(3, 3)", (f32(1, 3), f32(1, 3), f32(1, 3)), call=STATE),
    Layer("nn.LSTMCell(1, 4)", (f32(2, 1), f32(2, 4), f32(2, 4)), call=STATE),
    Layer("nn.RNN(2, 3)", (X, H1)),
    Layer("nn.RNN(2, 3, 2, False, True, nonlinearity='relu')", (FIRST,)),
    Layer("nn.RNN(2, 3, bidirectional=True)", (X, H2, LENGTHS), eager=True),
    Layer("nn.RNN(2, 3, 2, bidirectional=True)", (X, H4)),
    Layer("nn.RNN(2, 3, batch_first=True)", (FIRST, lit([4, 1, 2], "i64")), call=MORE),
    Layer("nn.GRU(2, 3)", (X, H1), eager=True),
    Layer("nn.GRU(2, 3, 2, False, True)", (FIRST,)),
    Layer("nn.GRU(2, 3, bidirectional=True)", (X, H2, LENGTHS)),
    Layer("nn.GRU(2, 3, 2, dropout=0.5, bidirectional=True)", (X, H4)),
    Layer("nn.GRU(2, 3, batch_first=True)", (FIRST, lit([4, 1, 2], "i64")), call=MORE),
    Layer("nn.LSTM(2, 3)", (X, H1, H1), call=STATE, eager=True),
    Layer("nn.LSTM(2, 3, 2, False, True)", (FIRST,)),
    Layer("nn.LSTM(2, 3, bidirectional=True)", (X, H2, H2, LENGTHS), call=LONG),
    Layer("nn.LSTM(2, 3, 2, dropout=0.5, bidirectional=True)", (X, H4, H4), call=STATE),
    Layer("nn.LSTM(2, 3, 2, batch_first=True)", (FIRST, LENGTHS), call=MORE, eager=True),
]

CALLS = {"x": "ms.Tensor(np.ones((5, 2, 3), np.float32))"}

ERRORS = [
    "nn.RNN(3, 4, nonlinearity='x')",
    "nn.RNN(3, 0)",
    "nn.RNN(0, 3)",
    "nn.LSTM(3, 4, 0)",
    "nn.LSTM(3, 4, dropout=1)",
    "nn.LSTM(3, 4, dropout=1.0)",
    "nn.LSTM(3, 4, has_bias=1)",
    "nn.LSTM(3, 4)(x, x)",
    "nn.LSTM(3, 4)(x, (x,))",
    "nn.LSTM(3, 4)(x.astype(ms.int32))",
    "nn.GRU(3, 4)(x, ms.Tensor(np.ones((1, 2, 5), np.float32)))",
    "nn.GRU(3, 4)(x, ms.Tensor(np.ones((1, 2, 4), np.float16)))",
    "nn.GRU(3, 4)(x, None, ms.Tensor([1, 2, 3]))",
    "nn.GRU(3, 4)(x, None, ms.Tensor([1.0, 2.0]))",
    "nn.GRU(4, 4)(x)",
    "nn.GRU(3, 4)(x[0])",
    "nn.RNNCell(3, 4)(x[0], 1)",
    "nn.RNNCell(3, 4)(x[0])",
    "nn.RNNCell(3, 4, nonlinearity='x')",
    "nn.LSTMCell(3, 4)(x[0], x[0])",
]
