"""Normalization."""

from tests.ops.table import Case, f32, lit, pos

X = f32(4, 3, 2, 2)
BN = [X, pos(3), f32(3), f32(3), pos(3)]
T = (1e-3, 1e-4)
L = [f32(2, 3, 4), pos(4), f32(4)]

CASES = [
    Case("batch_norm_eval", BN, "ops.batch_norm(a, d, e, b, c, False, 0.1, 1e-5)", "ops.BatchNorm(is_training=False, epsilon=1e-5)(a, b, c, d, e)[0]", "mint.nn.functional.batch_norm(a, d, e, b, c)", tol=T, math="(a - d[:, None, None]) / np.sqrt(e + 1e-5)[:, None, None] * b[:, None, None] + c[:, None, None]"),
    Case("batch_norm_train", BN, "ops.BatchNorm(is_training=True, epsilon=1e-5)(a, b, c, ms.Parameter(d), ms.Parameter(e))[0]", "nn.BatchNorm2d(3, eps=1e-5, gamma_init=b, beta_init=c).set_train()(a)", tol=T, grad=False, graph=False),
    Case("layer_norm", L, "ops.layer_norm(a, (4,), b, c, 1e-5)", "ops.LayerNorm(-1, -1, 1e-5)(a, b, c)[0]", "ops.LayerNorm(begin_norm_axis=2, begin_params_axis=2, epsilon=1e-5)(a, b, c)[0]", "mint.nn.functional.layer_norm(a, (4,), b, c)", tol=T, dtypes="f16", math="(a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5) * b + c"),
    Case("layer_norm_two", [f32(2, 3, 4), pos(3, 4), f32(3, 4)], "ops.LayerNorm(1, 1, 1e-5)(a, b, c)[0]", "ops.layer_norm(a, (3, 4), b, c, 1e-5)", tol=T),
    Case("layer_norm_stats", L, "ops.LayerNorm(-1, -1, 1e-5)(a, b, c)", tol=T, grad=False),
    Case("layer_norm_plain", [f32(2, 3, 4)], "ops.layer_norm(a, (4,))", "mint.nn.functional.layer_norm(a, (4,))", math="(a - a.mean(-1, keepdims=True)) / np.sqrt(a.var(-1, keepdims=True) + 1e-5)", tol=T),
    Case("group_norm", [f32(2, 4, 3, 3), pos(4), f32(4)], "ops.group_norm(a, 2, b, c)", "mint.nn.functional.group_norm(a, 2, b, c)", tol=T, math="((a.reshape(2, 2, -1) - a.reshape(2, 2, -1).mean(-1, keepdims=True)) / np.sqrt(a.reshape(2, 2, -1).var(-1, keepdims=True) + 1e-5)).reshape(a.shape) * b[:, None, None] + c[:, None, None]"),
    Case("rms_norm", [f32(2, 3, 4), pos(4)], "ops.rms_norm(a, b)[0]", "ops.RmsNorm(1e-6)(a, b)[0]", math="a / np.sqrt((a * a).mean(-1, keepdims=True) + 1e-6) * b", tol=T),
    Case("lrn", [f32(1, 4, 2, 2)], "ops.lrn(a)", "ops.LRN()(a)", grad=False),
    Case("normalize", [f32(3, 4)], "mint.nn.functional.normalize(a)", "a / a.norm(2, 1, True)", math="a / np.sqrt((a * a).sum(1, keepdims=True))", tol=T),
    Case("standardize", [f32(3, 4)], "(a - a.mean(1, True)) / (a.std(1, 0, True) + 1e-6)", tol=T),
    Case("batch_norm_stats", [f32(4, 3), lit([1.0, 2.0, 3.0])], "(a - a.mean(0)) / ops.sqrt(a.var(0) + 1e-5) * b", tol=T),
]
