"""Recurrent networks, sequence losses and decoders, margin losses, dropout by bits."""

from tests.ops.table import Arr, Case, f32, lit, unit

SEQ = f32(3, 2, 4)
STATE = (f32(1, 2, 5), f32(1, 2, 5))
LOGITS = f32(4, 2, 5)
INDICES = lit([[0, 0], [0, 1], [1, 0], [1, 1], [1, 2]], "i64")
LABELS = lit([1, 2, 0, 0, 3], "i32")
TARGETS = lit([[1, 2, 2], [3, 3, 1]], "i32")
X = f32(3, 4)
MANY = lit([[1, 2, -1, 0], [0, -1, 3, -1], [3, 2, 1, 0]], "i32")
WORDS = lit([[[1, 2, 1, 2, 5, 1, 2], [9, 3, 9, 5, 4, 1, 5]]], "i32")
GUESS = (lit([[0, 0, 0], [1, 0, 1], [1, 1, 1]], "i64"), lit([1, 2, 3]), lit([2, 2, 2], "i64"))
TRUTH = (lit([[0, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 1]], "i64"), lit([1, 3, 2, 1]), lit([2, 2, 2], "i64"))


def ints(*values: int) -> Arr:
    """Describe a vector of Int32."""
    return lit(list(values), "i32")



CASES = [
    Case("lstm", [SEQ, *STATE, f32(180, 1, 1)], "ops.LSTM(4, 5, 1, False, False, 0.0)(a, b, c, d)[:3]", grad=False),
    Case("lstm_bias", [SEQ, *STATE, f32(200, 1, 1)], "ops.LSTM(4, 5, 1, True, False, 0.0)(a, b, c, d)[:3]", grad=False),
    Case("lstm_projection", [SEQ, f32(1, 2, 2), f32(1, 2, 5), f32(130, 1, 1)], "ops.LSTM(4, 5, 1, False, False, 0.0, 2)(a, b, c, d)[:3]", grad=False),
    Case("lstm_both_ways", [f32(1, 2, 3), f32(2, 2, 2), f32(2, 2, 2), f32(80)], "ops.LSTM(3, 2, 1, False, True, 0.0)(a, b, c, d)[0]", math="(lambda f: np.concatenate([f(d[:40], b[0], c[0]), f(d[40:], b[1], c[1])], 1)[None])((lambda w, h, s: (lambda g: (lambda t: 1 / (1 + np.exp(-g[:, 6:])) * np.tanh(t))(s / (1 + np.exp(-g[:, 2:4])) + np.tanh(g[:, 4:6]) / (1 + np.exp(-g[:, :2]))))(a[0] @ w[:24].reshape(8, 3).T + h @ w[24:].reshape(8, 2).T)))", judge="math"),
    Case("lstm_dropout", [SEQ, *STATE, f32(180, 1, 1)], "ops.LSTM(4, 5, 1, False, False, 2.0)(a, b, c, d)", raises=True),
    Case("lstm_cell", [f32(2, 3), f32(2, 2), f32(2, 2), f32(5, 8), f32(8)], "ops.BasicLSTMCell()(a, b, c, d, e)[:2]", "ops.DynamicRNN(forget_bias=1.0)(a[None], d, e, None, b[None], c[None])[2][0], ops.DynamicRNN(forget_bias=1.0)(a[None], d, e, None, b[None], c[None])[1][0]", math="(lambda g: (lambda s: (s, 1 / (1 + np.exp(-g[:, 6:])) * np.tanh(s)))(c / (1 + np.exp(-g[:, 4:6] - 1)) + np.tanh(g[:, 2:4]) / (1 + np.exp(-g[:, :2]))))(np.concatenate([a, b], 1) @ d + e)", judge="math"),
    Case("gru", [f32(1, 2, 3), f32(3, 6), f32(2, 6), f32(6), f32(6), f32(2, 2)], "ops.DynamicGRUV2()(a, b, c, d, e, None, f)[0]", math="(lambda x, h: (lambda r, z: ((1 - z) * np.tanh(x[:, 4:] + r * h[:, 4:]) + z * f)[None])(1 / (1 + np.exp(-x[:, :2] - h[:, :2])), 1 / (1 + np.exp(-x[:, 2:4] - h[:, 2:4]))))(a[0] @ b + d, f @ c + e)", judge="math"),
    Case("gru_before", [f32(1, 2, 3), f32(3, 6), f32(2, 6), f32(2, 2)], "ops.DynamicGRUV2(gate_order='zrh', reset_after=False)(a, b, c, None, None, None, d)[0]", math="(lambda x, h: (lambda r, z: ((1 - z) * np.tanh(x[:, 4:] + (r * d) @ c[:, 4:]) + z * d)[None])(1 / (1 + np.exp(-x[:, 2:4] - h[:, 2:4])), 1 / (1 + np.exp(-x[:, :2] - h[:, :2]))))(a[0] @ b, d @ c)", judge="math"),
    # Sequences without alignment.
    Case("ctc", [LOGITS, INDICES, LABELS, ints(4, 4)], "ops.CTCLoss()(a, b, c, d)", grad=False),
    Case("ctc_value", [LOGITS, INDICES, LABELS, ints(4, 4)], "ops.CTCLoss()(a, b, c, d)[0]"),
    Case("ctc_collapse", [LOGITS, INDICES, LABELS, ints(4, 4)], "ops.CTCLoss(preprocess_collapse_repeated=True)(a, b, c, d)", grad=False),
    Case("ctc_apart", [LOGITS, INDICES, LABELS, ints(4, 4)], "ops.CTCLoss(ctc_merge_repeated=False)(a, b, c, d)", grad=False, slow=True),
    Case("ctc_longer", [LOGITS, INDICES, LABELS, ints(4, 2)], "ops.CTCLoss(ignore_longer_outputs_than_inputs=True)(a, b, c, d)[0]", grad=False),
    Case("ctc_never", [LOGITS, INDICES, LABELS, ints(4, 3)], "ops.CTCLoss()(a, b, c, d)[0]", grad=False),
    Case("ctc_long_error", [LOGITS, INDICES, LABELS, ints(4, 2)], "ops.CTCLoss()(a, b, c, d)", raises=True),
    Case("ctc_time_error", [LOGITS, INDICES, LABELS, ints(4, 5)], "ops.CTCLoss()(a, b, c, d)", raises=True),
    Case("ctc_v2", [f32(4, 2, 5), TARGETS, ints(4, 4), ints(2, 3)], "ops.CTCLossV2()(ops.log_softmax(a, -1), b, c, d)[0]", "ops.ctc_loss(ops.log_softmax(a, -1), b, c, d, 0, 'none')[0]"),
    Case("ctc_v2_alpha", [f32(4, 2, 5), TARGETS, ints(4, 4), ints(3, 3)], "ops.CTCLossV2()(ops.log_softmax(a, -1), b, c, d)[1]", grad=False),
    Case("ctc_v2_raw_gradient", [f32(4, 2, 5, lo=-1.65, hi=-1.55), TARGETS, ints(4, 3), ints(2, 2)], "ops.ctc_loss(a, b, c, d, 0, 'sum')[0]", tol=(5e-2, 5e-2)),
    Case("ctc_v2_mean", [f32(4, 2, 5), TARGETS, ints(4, 3), ints(2, 1)], "ops.ctc_loss(ops.log_softmax(a, -1), b, c, d)[0]"),
    Case("ctc_v2_blank", [f32(4, 2, 5), TARGETS, ints(4, 2), ints(0, 1)], "ops.ctc_loss(ops.log_softmax(a, -1), b, c, d, 4, 'none')[0]", slow=True),
    Case("ctc_v2_infinite", [f32(4, 2, 5), TARGETS, ints(4, 2), ints(3, 2)], "ops.ctc_loss(ops.log_softmax(a, -1), b, c, d, 0, 'none')[0]", grad=False),
    Case("ctc_v2_range", [LOGITS, TARGETS], "ops.ctc_loss(a, b, (4, 9), (2, 2), 0, 'none')", "ops.ctc_loss(a, b, (4, 1), (2, 3), 0, 'none')", raises=True),
    Case("ctc_v2_values", [LOGITS, TARGETS], "ops.ctc_loss(a, b, (4, 4), (2, 2), 5, 'none')", "ops.ctc_loss(a, b, (4, 4, 4), (2, 2), 0, 'none')", "ops.ctc_loss(a[0], b, (4, 4), (2, 2), 0, 'none')", raises=True),
    Case("ctc_greedy", [unit(4, 2, 3), ints(4, 3)], "ops.ctc_greedy_decoder(a, b)", "ops.CTCGreedyDecoder()(a, b)", graph=False, grad=False),
    Case("ctc_greedy_apart", [unit(4, 2, 3), ints(4, 2)], "ops.CTCGreedyDecoder(False)(a, b)", graph=False, grad=False),
    Case("ctc_greedy_range", [unit(4, 2, 3), ints(5, 2)], "ops.ctc_greedy_decoder(a, b)", raises=True),
    Case("rnnt", [f32(1, 2, 2, 3), lit([[1]], "i32"), ints(2), ints(1)], "ops.RNNTLoss()(a, b, c, d)[0]", math="(lambda p: np.array([-np.log(p[0, 0, 1] * p[0, 1, 0] * p[1, 1, 0] + p[0, 0, 0] * p[1, 0, 1] * p[1, 1, 0])]))((np.exp(a) / np.exp(a).sum(-1, keepdims=True))[0])", judge="math"),
    Case("edit_distance", [*GUESS, *TRUTH], "ops.EditDistance()(a, b, c, d, e, f)", graph=False, grad=False),
    Case("edit_distance_matrix", [lit([[0, 0], [0, 1], [0, 2]], "i64"), lit([1, 2, 3], "i32"), lit([2, 3], "i64"), lit([[0, 0], [0, 1], [1, 0]], "i64"), lit([1, 3, 9], "i32"), lit([2, 2], "i64")], "ops.EditDistance()(a, b, c, d, e, f)", "ops.EditDistance(True)(a, b, c, d, e, f)", graph=False),
    Case("edit_distance_plain", [lit([[0, 0], [0, 1], [0, 2]], "i64"), lit([1, 2, 3], "i32"), lit([2, 3], "i64"), lit([[0, 0], [0, 1], [1, 0]], "i64"), lit([1, 3, 9], "i32"), lit([2, 2], "i64")], "ops.EditDistance(False)(a, b, c, d, e, f)", graph=False),
    Case("no_repeat_ngram", [WORDS, f32(1, 2, 10)], "ops.NoRepeatNGram(3)(a, b)", "ops.NoRepeatNGram(ngram_size=3)(a, b)", grad=False),
    Case("no_repeat_word", [WORDS, f32(1, 2, 10)], "ops.NoRepeatNGram(1)(a, b)", grad=False),
    Case("no_repeat_size", [WORDS, f32(1, 2, 10)], "ops.NoRepeatNGram(8)(a, b)", "ops.NoRepeatNGram(0)(a, b)", raises=True),
    # Margins.
    Case("multi_margin", [X, lit([1, 0, 3], "i64"), lit([0.5, 1, 2, 1])], "ops.MultiMarginLoss(2, 1.5)(a, b, c)", grad=False),
    Case("multi_margin_none", [X, lit([1, 0, 3], "i64")], "ops.MultiMarginLoss(reduction='none')(a, b, None)", dtypes="f64"),
    Case("multi_margin_p", [X, lit([1, 0, 3], "i64")], "ops.MultiMarginLoss(3)(a, b, None)", raises=True),
    *[
        Case(f"multilabel_margin_{reduction}", [X, MANY], f"ops.multilabel_margin_loss(a, b, '{reduction}')", f"ops.MultilabelMarginLoss('{reduction}')(a, b)[0]", judge="math", math=f"(lambda l: l{'' if reduction == 'none' else '.' + reduction + '()'})(np.array([sum(max(0, 1 - (a[n][t] - a[n][i])) for t in ts for i in range(4) if i not in ts) / 4 for n, ts in enumerate([[1, 2], [0], [3, 2, 1, 0]])]))")
        for reduction in ("none", "mean", "sum")
    ],
    Case("multilabel_margin_dtype", [X, lit([[1, 2, -1, 0]] * 3, "i64")], "ops.multilabel_margin_loss(a, b)", raises=True),
    Case("multilabel_margin_shape", [X, lit([[1, 2, -1, 0]] * 2, "i32")], "ops.multilabel_margin_loss(a, b)", raises=True),
    Case("triplet_margin", [X, X, f32(3, 4), lit(1.5)], "ops.TripletMarginLoss(reduction='none')(a, b, c, d)", math="np.maximum(np.sqrt(((a - b + 1e-6) ** 2).sum(1)) - np.sqrt(((a - c + 1e-6) ** 2).sum(1)) + d, 0)", judge="math"),
    Case("triplet_margin_swap", [X, X, f32(3, 4), lit(1.5)], "ops.TripletMarginLoss(1, True)(a, b, c, d)", math="np.mean(np.maximum(np.abs(a - b + 1e-6).sum(1) - np.minimum(np.abs(a - c + 1e-6).sum(1), np.abs(b - c + 1e-6).sum(1)) + d, 0))", judge="math", grad=False),
    # Dropout.
    Case("dropout_do_mask", [f32(2, 4), lit([0b10110101] + [0] * 15, "u8"), lit(0.5)], "ops.DropoutDoMask()(a, b, c)", math="a * 2 * np.array([[1, 0, 1, 0], [1, 1, 0, 1]]) + 0 * c", judge="math", grad=False),
    Case("dropout3d_all", [f32(2, 3, 1, 2, 1)], "ops.Dropout3D(1.0)(a)", math="(a, np.ones_like(a) > 0)", grad=False),
    Case("dropout_gen_mask_all", [lit(1.0)], "ops.DropoutDoMask()(ops.ones((3, 50), ms.float32), ops.DropoutGenMask(1, 2)((3, 50), a), a)", math="np.ones((3, 50)) * a", judge="math", grad=False),
]
