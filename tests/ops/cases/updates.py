"""Steps of optimizers as primitives: what they write into the Parameters."""

from tests.ops.table import Arr, Case, f32, lit, pos

X = f32(3, 2)
G = f32(3, 2)
POS = pos(3, 2)
ROWS = lit([2, 0], "i32")
GR = f32(2, 2)
NAMES = "abcd"


def step(name: str, call: str, inputs: list[Arr], states: int, *more: str, **options: object) -> Case:
    """Give a case that reads ``states`` Parameters, made of the first inputs, after a call."""
    made = "; ".join(f"p{i} = ms.Parameter({NAMES[i]} * 1, name='p{i}')" for i in range(states))
    read = ", ".join(f"p{i} * 1" for i in range(states))
    faces = [f"{made}; r = {c}; return ({read},)" for c in (call, *more)]
    return Case(name, inputs, *faces, **{"graph": False, "grad": False, **options})


HALF = "f16"
N32 = "Tensor({}, ms.float32)".format
POWERS = ", ".join(N32([x]) for x in (0.9, 0.99, 0.01, 0.9, 0.999, 1e-6))

CASES = [
    step("ada_max", "ops.ApplyAdaMax()(p0, p1, p2, 0.9, 0.01, 0.9, 0.99, 1e-6, d)", [X, f32(3, 2), POS, G], 3, "ops.ApplyAdaMax()(p0, p1, p2, Tensor(0.9, ms.float32), Tensor(0.01, ms.float32), 0.9, 0.99, 1e-6, d)"),
    step("adadelta", "ops.ApplyAdadelta()(p0, p1, p2, 0.1, 0.9, 1e-6, d)", [X, POS, pos(3, 2), G], 3, dtypes=HALF),
    step("adagrad_da", "ops.ApplyAdagradDA()(p0, p1, p2, d, 0.1, 0.2, 0.3, 2)", [X, f32(3, 2), POS, G], 3, judge="math", math="-0.1 * np.sign(b + d) * np.maximum(np.abs(b + d) - 0.4, 0) / (0.06 + np.sqrt(c + d * d)), b + d, c + d * d"),
    step("adagrad_da_l1_0", "ops.ApplyAdagradDA()(p0, p1, p2, d, 0.1, 0.0, 0.3, 2)", [X, f32(3, 2), POS, G], 3),
    step("adagrad_v2", "ops.ApplyAdagradV2(1e-3)(p0, p1, 0.1, c)", [X, POS, G], 2, "ops.ApplyAdagradV2(epsilon=1e-3, update_slots=True)(p0, p1, 0.1, c)"),
    step("adagrad_v2_still", "ops.ApplyAdagradV2(1e-3, False)(p0, p1, 0.1, c)", [X, POS, G], 2),
    step("amsgrad", "ops.ApplyAdamWithAmsgrad()(p0, p1, p2, p3, Tensor(0.9, ms.float32), Tensor(0.99, ms.float32), Tensor(0.01, ms.float32), e)", [X, f32(3, 2), POS, pos(3, 2), G], 4),
    step("amsgrad_factors", "ops.ApplyAdamWithAmsgrad(0.8, 0.95, 1e-3)(p0, p1, p2, p3, Tensor(0.9, ms.float32), Tensor(0.99, ms.float32), Tensor(0.01, ms.float32), e)", [X, f32(3, 2), POS, pos(3, 2), G], 4),
    step("add_sign", "ops.ApplyAddSign()(p0, p1, 0.1, 1.0, 0.9, 0.8, c)", [X, f32(3, 2), G], 2, dtypes="f16 f64"),
    step("power_sign", "ops.ApplyPowerSign()(p0, p1, 0.1, 1.2, 0.9, 0.8, c)", [X, f32(3, 2), G], 2, dtypes="f64"),
    step("ftrl", "ops.ApplyFtrl()(p0, p1, p2, d, 0.1, 0.2, 0.3, -0.5)", [X, POS, f32(3, 2), G], 3, judge="math", math="(lambda u, n: (np.where(np.abs(u) > 0.2, (np.sign(u) * 0.2 - u) / (np.sqrt(n) / 0.1 + 0.6), 0), n, u))(c + d - (np.sqrt(b + d * d) - np.sqrt(b)) / 0.1 * a, b + d * d)"),
    step("ftrl_power", "ops.ApplyFtrl()(p0, p1, p2, d, 0.1, 0.0, 0.0, -0.7)", [X, POS, f32(3, 2), G], 3),
    step("descent", "ops.ApplyGradientDescent()(p0, 0.1, b)", [X, G], 1, dtypes="f16 f64"),
    step("keras_momentum", "ops.ApplyKerasMomentum()(p0, p1, Tensor(0.1, ms.float32), c, Tensor(0.9, ms.float32))", [X, f32(3, 2), G], 2, math="a + 0.9 * b - 0.1 * c, 0.9 * b - 0.1 * c"),
    step("keras_nesterov", "ops.ApplyKerasMomentum(use_nesterov=True)(p0, p1, Tensor(0.1, ms.float32), c, Tensor(0.9, ms.float32))", [X, f32(3, 2), G], 2, math="a + 0.9 * (0.9 * b - 0.1 * c) - 0.1 * c, 0.9 * b - 0.1 * c"),
    step("proximal_adagrad", "ops.ApplyProximalAdagrad()(p0, p1, 0.5, 0.4, 0.3, c)", [X, POS, G], 2, dtypes=HALF),
    step("proximal_descent", "ops.ApplyProximalGradientDescent()(p0, 0.5, 0.4, 0.3, b)", [X, G], 1, dtypes=HALF),
    step("adam_no_update", f"ops.AdamNoUpdateParam()(p0, p1, {POWERS}, c)", [X, POS, G], 2),
    Case("adam_no_update_step", [X, POS, G], f"p, q = ms.Parameter(a * 1, name='p'), ms.Parameter(b * 1, name='q'); return ops.AdamNoUpdateParam()(p, q, {POWERS}, c)", f"p, q = ms.Parameter(a * 1, name='p'), ms.Parameter(b * 1, name='q'); return ops.AdamNoUpdateParam(use_nesterov=False)(p, q, {POWERS}, c)", graph=False, grad=False),
    Case("adam_no_update_nesterov", [X, POS, G], f"p, q = ms.Parameter(a * 1, name='p'), ms.Parameter(b * 1, name='q'); return ops.AdamNoUpdateParam(use_nesterov=True)(p, q, {POWERS}, c)", graph=False, grad=False),
    step("cast_adam", "ops.FusedCastAdamWeightDecay()(p0, p1, p2, 0.01, 0.9, 0.999, 1e-6, 0.1, d, Tensor(2.0, ms.float32))", [X, f32(3, 2), POS, Arr((3, 2), "f16")], 3),
    step("weight_scale", "ops.FusedWeightScaleApplyMomentum()(Tensor(0.1, ms.float32), Tensor(0.5, ms.float32), p0, p1, 0.1, c, 0.9)", [X, f32(3, 2), G], 2, math="a - 0.1 * (0.9 * b + 0.5 * (c + 0.1 * a)), 0.9 * b + 0.5 * (c + 0.1 * a)"),
    Case("lars", [X, G], "ops.LARSUpdate()(a, b, ops.square(a).sum(), ops.square(b).sum(), 0.1, 0.2)", "ops.LARSUpdate(1e-5, 0.001, False)(a, b, ops.square(a).sum(), ops.square(b).sum(), 0.1, 0.2)", grad=False, math="(0.001 * np.sqrt((a * a).sum()) / (np.sqrt((b * b).sum()) + 0.1 * np.sqrt((a * a).sum()) + 1e-5)) * (b + 0.1 * a)"),
    Case("lars_clip", [X, G], "ops.LARSUpdate(use_clip=True, hyperpara=0.3)(a, b, ops.square(a).sum(), ops.square(b).sum(), 0.1, 0.2)", grad=False, math="(np.minimum(0.3 * np.sqrt((a * a).sum()) / (np.sqrt((b * b).sum()) + 0.1 * np.sqrt((a * a).sum()) + 1e-5) / 0.2, 1)) * (b + 0.1 * a)"),
    Case("lars_clipped", [X, G], "ops.LARSUpdate(use_clip=True, hyperpara=5.0)(a, b, ops.square(a).sum(), ops.square(b).sum(), 0.1, 0.2)", grad=False, math="(np.minimum(5.0 * np.sqrt((a * a).sum()) / (np.sqrt((b * b).sum()) + 0.1 * np.sqrt((a * a).sum()) + 1e-5) / 0.2, 1)) * (b + 0.1 * a)"),
    Case("lars_zero", [X, G], "ops.LARSUpdate()(a * 0, b, ops.square(a * 0).sum(), ops.square(b).sum(), 0.1, 0.2)", grad=False, math="a * 0"),
    Case("lars_zero_gradient", [X, G], "ops.LARSUpdate(use_clip=True)(a, b * 0, ops.square(a).sum(), ops.square(b * 0).sum(), 0.1, 0.2)", grad=False, math="np.minimum(0.001 * np.sqrt((a * a).sum()) / (0.1 * np.sqrt((a * a).sum()) + 1e-5) / 0.2, 1) * 0.1 * a"),
    step("sparse_adadelta", "ops.SparseApplyAdadelta(1e-6)(p0, p1, p2, 0.1, 0.9, d, e)", [X, POS, pos(3, 2), f32(3, 2), lit([2, 0, 1], "i32")], 3, math="(lambda g: (lambda n: (lambda u: (a - 0.1 * u, n, 0.9 * c + 0.1 * u * u))(np.sqrt(c + 1e-6) * g / np.sqrt(n + 1e-6)))(0.9 * b + 0.1 * g * g))(d[[1, 2, 0]])"),
    step("sparse_adagrad", "ops.SparseApplyAdagrad(0.1)(p0, p1, c, d)", [X, POS, GR, ROWS], 2, math="a - 0.1 * np.array([[c[1, 0], c[1, 1]], [0, 0], [c[0, 0], c[0, 1]]]) / np.sqrt(b + np.array([[c[1, 0], c[1, 1]], [0, 0], [c[0, 0], c[0, 1]]]) ** 2), b + np.array([[c[1, 0], c[1, 1]], [0, 0], [c[0, 0], c[0, 1]]]) ** 2"),
    step("sparse_adagrad_v2", "ops.SparseApplyAdagradV2(0.1, 1e-3)(p0, p1, c, d)", [X, POS, GR, ROWS], 2),
    step("sparse_adagrad_v2_still", "ops.SparseApplyAdagradV2(0.1, 1e-3, update_slots=False)(p0, p1, c, d)", [X, POS, GR, ROWS], 2),
    step("sparse_ftrl", "ops.SparseApplyFtrl(0.1, 0.2, 0.3, -0.5)(p0, p1, p2, d, e)", [X, POS, f32(3, 2), GR, ROWS], 3),
    step("sparse_ftrl_power", "ops.SparseApplyFtrl(0.1, 0.0, 0.0, -0.7)(p0, p1, p2, d, e)", [X, POS, f32(3, 2), GR, ROWS], 3),
    step("sparse_ftrl_v2", "ops.SparseApplyFtrlV2(0.1, 0.2, 0.3, 0.0, -0.5)(p0, p1, p2, d, e)", [X, POS, f32(3, 2), GR, ROWS], 3, "ops.SparseApplyFtrl(0.1, 0.2, 0.3, -0.5)(p0, p1, p2, d, e)"),
    step("fused_sparse_ftrl", "ops.FusedSparseFtrl(0.1, 0.2, 0.3, -0.5)(p0, p1, p2, d, e)", [X, POS, f32(3, 2), f32(3, 2), lit([2, 0, 2], "i32")], 3),
    step("sparse_proximal", "ops.SparseApplyProximalAdagrad()(p0, p1, 0.5, 0.4, 0.3, c, d)", [X, POS, GR, ROWS], 2, math="tuple(np.where(np.array([[1], [0], [1]], bool), y, x) for x, y in zip((a, b), (lambda v, n: (np.sign(v - 0.5 / np.sqrt(n) * np.array([c[1], [0, 0], c[0]])) * np.maximum(np.abs(v - 0.5 / np.sqrt(n) * np.array([c[1], [0, 0], c[0]])) - 0.5 / np.sqrt(n) * 0.4, 0) / (1 + 0.5 / np.sqrt(n) * 0.3), n))(a, b + np.array([c[1], [0, 0], c[0]]) ** 2)))"),
    step("fused_sparse_proximal", f"ops.FusedSparseProximalAdagrad()(p0, p1, {N32([0.5])}, {N32([0.4])}, {N32([0.3])}, c, d)", [X, POS, f32(3, 2), lit([2, 0, 2], "i32")], 2, math="tuple(np.where(np.array([[1], [0], [1]], bool), y, x) for x, y in zip((a, b), (lambda v, n: (np.sign(v - 0.5 / np.sqrt(n) * np.array([c[1], [0, 0], c[0] + c[2]])) * np.maximum(np.abs(v - 0.5 / np.sqrt(n) * np.array([c[1], [0, 0], c[0] + c[2]])) - 0.5 / np.sqrt(n) * 0.4, 0) / (1 + 0.5 / np.sqrt(n) * 0.3), n))(a, b + np.array([c[1], [0, 0], c[0] + c[2]]) ** 2)))"),
    step("sparse_rmsprop", "ops.SparseApplyRMSProp(0.9, 0.8, 1e-3)(p0, p1, p2, 0.1, d, e)", [X, POS, f32(3, 2), f32(3, 2), lit([2, 0, 1], "i32")], 3),
    step("fused_sparse_adam", f"ops.FusedSparseAdam()(p0, p1, p2, {POWERS}, d, e)", [X, f32(3, 2), POS, f32(3, 2), lit([2, 0, 2], "i32")], 3),
    step("fused_sparse_adam_nesterov", f"ops.FusedSparseAdam(use_nesterov=True)(p0, p1, p2, {POWERS}, d, e)", [X, f32(3, 2), POS, GR, ROWS], 3, judge="math", math="(lambda g: (lambda m, v: (a - 0.01 * np.sqrt(0.01) / 0.1 * (0.9 * m + 0.1 * g) / (np.sqrt(v) + 1e-6), m, v))(0.9 * b + 0.1 * g, 0.999 * c + 0.001 * g * g))(np.array([d[1], [0, 0], d[0]]))"),
    step("fused_lazy_adam", f"ops.FusedSparseLazyAdam()(p0, p1, p2, {POWERS}, d, e)", [X, f32(3, 2), POS, f32(3, 2), lit([2, 0, 2], "i32")], 3),
    step("fused_lazy_adam_nesterov", f"ops.FusedSparseLazyAdam(use_nesterov=True)(p0, p1, p2, {POWERS}, d, e)", [X, f32(3, 2), POS, GR, ROWS], 3),
    Case("ada_factor", [f32(3, 4), f32(3, 4), f32(3, 4), pos(3), pos(4), pos(3, 4)], *(f"s = [ms.Parameter(x * 1, name='s') for x in (b, c, d, e, f)]; ops.FusedAdaFactor{options}(Tensor([1e-3, 1e-2], ms.float32), 1.0, 0.9, 0.8, 0.01, 0.03, a, *s); return [x * 1 for x in s]" for options in ("()", "(enable_scale_parameter=True)", "(enable_first_moment=True)", "(True, True, True)")), graph=False, grad=False),
    Case("ada_factor_vector", [f32(4), f32(4), f32(4), pos(1), pos(1), pos(4)], *(f"s = [ms.Parameter(x * 1, name='s') for x in (b, c, d, e, f)]; ops.FusedAdaFactor{options}(Tensor([1e-3, 1e-2], ms.float32), 1.0, 0.9, 0.8, 0.01, 0.03, a, *s); return [x * 1 for x in s]" for options in ("()", "(True, True, True)")), graph=False, grad=False),
    Case("ada_factor_norm", [f32(3, 4), f32(3, 4), f32(3, 4), pos(3), pos(4), pos(3, 4)], "s = [ms.Parameter(x * 1, name='s') for x in (b, c, d, e, f)]; ops.FusedAdaFactorWithGlobalNorm()(Tensor([1e-3, 1e-2], ms.float32), 1.0, 0.9, 0.8, 0.01, 0.03, a, *s, Tensor(2.0, ms.float32)); return [x * 1 for x in s]", graph=False, grad=False),
    Case("float_status", [X], "ops.FloatStatus()(a)", math="np.array([0.0])", grad=False, dtypes="f16 f64"),
    Case("float_status_inf", [lit([1.0, float("inf")])], "ops.FloatStatus()(a)", "ops.FloatStatus()(a - a)", math="np.array([1.0])", grad=False),
    Case("npu_status", [], "ops.NPUAllocFloatStatus()()", "ops.NPUClearFloatStatus()(Tensor([1.0] * 8, ms.float32))", math="np.zeros(8)"),
    step("ftrl_shape_error", "ops.ApplyFtrl()(p0, p1, p2, d, 0.1, 0.2, 0.3, -0.5)", [X, f32(2), f32(3, 2), G], 3, raises=True),
    step("descent_shape_error", "ops.ApplyGradientDescent()(p0, 0.1, b)", [X, f32(2)], 1, raises=True),
    step("adagrad_v2_dtype_error", "ops.ApplyAdagradV2(1e-3)(p0, p1, 0.1, c)", [Arr((3, 2), "f16"), Arr((3, 2), "f16"), G], 2, raises=True),
    step("sparse_shape_error", "ops.SparseApplyAdagradV2(0.1, 1e-3)(p0, p1, c, d)", [X, POS, f32(3, 2), ROWS], 2, raises=True),
    Case("sparse_ftrl_lr_error", [], "ops.SparseApplyFtrl(-0.1, 0.2, 0.3, -0.5)", raises=True),
]
