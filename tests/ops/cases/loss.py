"""Losses as functions and primitives."""

from tests.ops.table import Case, f32, lit, pos, unit

X = f32(4, 5)
Y = lit([1, 0, 4, 2], "i32")
Y64 = lit([1, 0, 4, 2], "i64")
P = unit(4, 5)
T = (1e-3, 1e-4)
AB = [f32(3, 4), f32(3, 4)]
IMG = f32(2, 5, 2, 2)
IMGY = lit([[[0, 1], [2, 3]], [[4, 0], [1, 2]]], "i32")

CASES = [
    Case("cross_entropy", [X, Y], "ops.cross_entropy(a, b)", "nn.CrossEntropyLoss()(a, b)", "mint.nn.functional.cross_entropy(a, b.long())", tol=T, math="-np.mean(sp.log_softmax(a, 1)[np.arange(4), b.astype(int)])"),
    Case("cross_entropy_sum", [X, Y], "ops.cross_entropy(a, b, reduction='sum')", tol=T),
    Case("cross_entropy_none", [X, Y], "ops.cross_entropy(a, b, reduction='none')", "mint.nn.functional.cross_entropy(a, b.long(), reduction='none')", math="-sp.log_softmax(a, 1)[np.arange(4), b.astype(int)]", tol=T),
    Case("cross_entropy_weight", [X, Y, pos(5)], "ops.cross_entropy(a, b, c)", "ops.cross_entropy(a, b, weight=c)", tol=T, grad=False),
    Case("cross_entropy_ignore", [X, lit([1, -100, 4, 2], "i32")], "ops.cross_entropy(a, b)", "ops.cross_entropy(a, b, ignore_index=-100)", tol=T),
    Case("cross_entropy_ignore_index", [X, Y], "ops.cross_entropy(a, b, ignore_index=4)", tol=T),
    Case("cross_entropy_smooth", [X, Y], "ops.cross_entropy(a, b, label_smoothing=0.1)", tol=T),
    Case("cross_entropy_probabilities", [X, P], "ops.cross_entropy(a, b)", tol=T, grad=False),
    Case("cross_entropy_images", [IMG, IMGY], "ops.cross_entropy(a, b)", tol=T),
    Case("nll_loss", [X, Y], "ops.nll_loss(a, b)", "nn.NLLLoss()(a, b)", "mint.nn.functional.nll_loss(a, b.long())", math="-np.mean(a[np.arange(4), b.astype(int)])"),
    Case("nll_loss_weight", [X, Y, pos(5)], "ops.nll_loss(a, b, c)", grad=False),
    Case("nll_loss_none", [X, Y], "ops.nll_loss(a, b, reduction='none')"),
    Case("nll_prim", [X, Y, pos(5)], "ops.NLLLoss()(a, b, c)", grad=False),
    Case("sparse_ce_prim", [X, Y], "ops.SparseSoftmaxCrossEntropyWithLogits()(a, b)", "nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction='mean')(a, b)", tol=T),
    Case("sparse_ce_none", [X, Y], "nn.SoftmaxCrossEntropyWithLogits(sparse=True)(a, b)", tol=T),
    Case("ce_prim", [X, P], "ops.SoftmaxCrossEntropyWithLogits()(a, b)", tol=T, grad=False),
    Case("ce_prim_grad", [X, P], "ops.SoftmaxCrossEntropyWithLogits()(a, b)[0]", tol=T),
    Case("bce", [P, P], "ops.binary_cross_entropy(a, b)", "ops.binary_cross_entropy(a, b, reduction='mean')", "mint.nn.functional.binary_cross_entropy(a, b)", "nn.BCELoss(reduction='mean')(a, b)", "ops.BinaryCrossEntropy()(a, b)", tol=T, grad=False, math="np.mean(-b * np.log(a) - (1 - b) * np.log(1 - a))"),
    Case("bce_grad", [unit(3, 4)], "ops.binary_cross_entropy(a, ops.ones_like(a))", "ops.binary_cross_entropy(a, ops.ones_like(a), reduction='mean')", tol=T),
    Case("bce_sum", [P, P, pos(4, 5)], "ops.binary_cross_entropy(a, b, c, 'sum')", tol=T, grad=False),
    Case("bce_logits", [X, P], "ops.binary_cross_entropy_with_logits(a, b)", "ops.binary_cross_entropy_with_logits(a, b, reduction='mean')", "mint.nn.functional.binary_cross_entropy_with_logits(a, b)", tol=T, grad=False, math="np.mean(np.maximum(a, 0) - a * b + np.log1p(np.exp(-np.abs(a))))"),
    Case("bce_logits_weights", [X, P, pos(5), pos(5)], "ops.binary_cross_entropy_with_logits(a, b, c, d)", "ops.BCEWithLogitsLoss()(a, b, c, d)", tol=T, grad=False),
    Case("bce_logits_grad", [X], "ops.binary_cross_entropy_with_logits(a, ops.ones_like(a), ops.ones_like(a), ops.ones_like(a))", "ops.binary_cross_entropy_with_logits(a, ops.ones_like(a))", tol=T),
    Case("sigmoid_ce_prim", [X, P], "ops.SigmoidCrossEntropyWithLogits()(a, b)", tol=T, grad=False),
    Case("sigmoid_ce_grad", [X], "ops.SigmoidCrossEntropyWithLogits()(a, ops.ones_like(a))", tol=T),
    Case("mse_loss", AB, "ops.mse_loss(a, b)", "nn.MSELoss()(a, b)", "mint.nn.functional.mse_loss(a, b)", math="np.mean((a - b) ** 2)", dtypes="f16"),
    Case("mse_loss_none", AB, "ops.mse_loss(a, b, 'none')", "mint.nn.functional.mse_loss(a, b, 'none')", math="(a - b) ** 2"),
    Case("mse_loss_sum", AB, "ops.mse_loss(a, b, reduction='sum')", math="np.sum((a - b) ** 2)"),
    Case("l1_loss", AB, "ops.l1_loss(a, b)", "nn.L1Loss()(a, b)", "mint.nn.functional.l1_loss(a, b)", math="np.mean(np.abs(a - b))"),
    Case("l1_loss_sum", AB, "ops.l1_loss(a, b, 'sum')", math="np.sum(np.abs(a - b))"),
    Case("smooth_l1_loss", AB, "ops.smooth_l1_loss(a, b)", "ops.SmoothL1Loss()(a, b)", "nn.SmoothL1Loss()(a, b)", math="np.where(np.abs(a - b) < 1, 0.5 * (a - b) ** 2, np.abs(a - b) - 0.5)"),
    Case("smooth_l1_mean", AB, "ops.smooth_l1_loss(a, b, 0.5, 'mean')", "mint.nn.functional.smooth_l1_loss(a, b, beta=0.5)", "ops.SmoothL1Loss(0.5, 'mean')(a, b)", math="np.mean(np.where(np.abs(a - b) < 0.5, (a - b) ** 2, np.abs(a - b) - 0.25))"),
    Case("huber_loss", AB, "ops.huber_loss(a, b)", "nn.HuberLoss()(a, b)", math="np.mean(np.where(np.abs(a - b) < 1, 0.5 * (a - b) ** 2, np.abs(a - b) - 0.5))"),
    Case("kl_div", [X, P], "ops.kl_div(a, b)", "ops.kl_div(a, b, 'mean')", "ops.KLDivLoss()(a, b)", "mint.nn.functional.kl_div(a, b)", tol=T, grad=False, math="np.mean(b * (np.log(b) - a))"),
    Case("kl_div_batchmean", [X, P], "ops.kl_div(a, b, 'batchmean')", tol=T, grad=False),
    Case("kl_div_none", [X, P], "ops.kl_div(a, b, 'none')", tol=T, grad=False),
    Case("kl_div_grad", [X], "ops.kl_div(a, ops.ones_like(a) * 0.3, 'sum')", tol=T),
    Case("cosine_similarity", AB, "ops.cosine_similarity(a, b)", math="(a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))", tol=T),
    Case("soft_margin", [f32(3), lit([1.0, -1.0, 1.0])], "ops.soft_margin_loss(a, b)", "nn.SoftMarginLoss()(a, b)", math="np.mean(np.log1p(np.exp(-a * b)))", tol=T, grad=False),
    Case("hinge_embedding", [f32(3), lit([1.0, -1.0, 1.0])], "ops.hinge_embedding_loss(a, b)", tol=T, grad=False),
    Case("margin_ranking", [f32(3), f32(3), lit([1.0, -1.0, 1.0])], "ops.margin_ranking_loss(a, b, c)", tol=T, grad=False),
    Case("cosine_embedding", [f32(2, 3), f32(2, 3), lit([1, -1], "i32")], "ops.cosine_embedding_loss(a, b, c)", tol=T, grad=False),
    Case("gaussian_nll", [f32(3), f32(3), pos(3)], "ops.gaussian_nll_loss(a, b, c)", tol=T, grad=False),
    Case("log_softmax_nll", [X, Y], "ops.nll_loss(ops.log_softmax(a, 1), b)", tol=T),
    Case("mse_error", [f32(2, 3), f32(4)], "ops.mse_loss(a, b)", raises=True),
    Case("cross_entropy_reduction_error", [X, Y], "ops.cross_entropy(a, b, reduction='all')", raises=True),
]
