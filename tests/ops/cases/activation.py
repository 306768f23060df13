"""Activation functions and dropout that does nothing."""

from tests.ops.table import Case, f32, lit

X = f32(3, 4, lo=-4, hi=4)
K = lit([-3.0, -1.0, 0.0, 1.0, 3.0, 6.0])

CASES = [
    Case("relu", [X], "ops.relu", "ops.ReLU()", "nn.ReLU()", "mint.nn.functional.relu", "mint.nn.ReLU()", dtypes="f16 f64 i32", math="np.maximum(a, 0)"),
    Case("relu_kink", [K], "ops.relu", "ops.ReLU()", dtypes="f16"),
    Case("relu6", [X], "ops.relu6", "ops.ReLU6()", "nn.ReLU6()", dtypes="f16", math="np.clip(a, 0, 6)"),
    Case("gelu", [X], "ops.GeLU()", "nn.GELU()", "ops.gelu(a, approximate='tanh')", dtypes="f16", judge="math", math="0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a ** 3)))"),
    Case("gelu_exact", [X], "ops.gelu(a)", "ops.gelu(a, approximate='none')", "nn.GELU(approximate=False)(a)", "mint.nn.functional.gelu(a)", math="a * sp.ndtr(a)"),
    Case("gelu_tanh", [X], "ops.gelu(a, 'tanh')", "mint.nn.functional.gelu(a, approximate='tanh')", math="0.5 * a * (1 + np.tanh(np.sqrt(2 / np.pi) * (a + 0.044715 * a ** 3)))"),
    Case("fast_gelu", [X], "ops.fast_gelu", "nn.FastGelu()", math="a * np.exp(0.851 * (a - np.abs(a))) / (1 + np.exp(-1.702 * np.abs(a)))"),
    Case("silu", [X], "ops.silu", "nn.SiLU()", "mint.nn.functional.silu", "mint.nn.SiLU()", dtypes="f16", math="a * sp.expit(a)"),
    Case("leaky_relu", [X], "ops.leaky_relu(a, alpha=0.2)", "nn.LeakyReLU(0.2)(a)", "nn.LeakyReLU()(a)", "mint.nn.functional.leaky_relu(a, 0.2)", dtypes="f16", math="np.where(a > 0, a, 0.2 * a)"),
    Case("elu", [X], "ops.elu(a)", "ops.Elu()", "nn.ELU()", "mint.nn.functional.elu(a)", math="np.where(a > 0, a, np.expm1(a))"),
    Case("selu", [X], "ops.selu", "ops.SeLU()", "nn.SeLU()", "mint.nn.functional.selu", judge="math", math="1.0507009873554804934193349852946 * np.where(a > 0, a, 1.6732632423543772848170429916717 * np.expm1(a))"),
    Case("celu", [X], "ops.celu(a, 2.0)", "nn.CELU(2.0)(a)", math="np.where(a > 0, a, 2 * np.expm1(a / 2))"),
    Case("hsigmoid", [X], "ops.hardsigmoid", "ops.HSigmoid()", "nn.HSigmoid()", "mint.nn.functional.hardsigmoid", math="np.clip(a + 3, 0, 6) / 6"),
    Case("hswish", [X], "ops.hardswish", "ops.HSwish()", "nn.HSwish()", "mint.nn.functional.hardswish", math="a * np.clip(a + 3, 0, 6) / 6"),
    Case("softplus", [X], "ops.softplus", "ops.Softplus()", "mint.nn.functional.softplus", math="np.log1p(np.exp(a))", tol=(1e-3, 1e-4)),
    Case("softplus_beta", [X], "ops.softplus(a, 2, 4)", "mint.nn.functional.softplus(a, 2, 4)", math="np.where(2 * a > 4, a, np.log1p(np.exp(2 * a)) / 2)", tol=(1e-3, 1e-4)),
    Case("softsign", [X], "ops.softsign", "ops.Softsign()", "nn.Softsign()", math="a / (1 + np.abs(a))"),
    Case("mish", [X], "ops.mish", "ops.Mish()", "nn.Mish()", "mint.nn.functional.mish", math="a * np.tanh(np.log1p(np.exp(a)))", tol=(1e-3, 1e-4)),
    Case("tanhshrink", [X], "ops.tanhshrink", "nn.Tanhshrink()", math="a - np.tanh(a)"),
    Case("hardtanh", [X], "ops.hardtanh(a)", "nn.Hardtanh()", math="np.clip(a, -1, 1)"),
    Case("hardshrink", [X], "ops.hardshrink(a)", "nn.HShrink()", "mint.nn.functional.hardshrink", math="np.where(np.abs(a) > 0.5, a, 0)"),
    Case("softshrink", [X], "ops.softshrink(a)", "nn.SoftShrink()", math="np.where(np.abs(a) > 0.5, a - 0.5 * np.sign(a), 0)"),
    Case("threshold", [X], "ops.threshold(a, 0.1, 20.0)", "nn.Threshold(0.1, 20.0)(a)", math="np.where(a > 0.1, a, 20.0)"),
    Case("prelu", [f32(2, 3, 2), lit([0.1, 0.2, 0.3])], "ops.prelu", "ops.PReLU()", "mint.nn.functional.prelu", math="np.where(a > 0, a, b[:, None] * a)"),
    Case("prelu_one", [f32(2, 3), lit([0.25])], "ops.prelu", math="np.where(a > 0, a, b * a)"),
    Case("glu", [f32(2, 4)], "ops.glu(a)", "mint.nn.functional.glu(a)", "nn.GLU()", math="a[:, :2] * sp.expit(a[:, 2:])"),
    Case("logit", [f32(3, lo=0.1, hi=0.9)], "ops.logit(a)", math="sp.logit(a)"),
    Case("dropout_eval", [X], "ops.dropout(a, 0.5, training=False)", "mint.nn.functional.dropout(a, 0.5, training=False)"),
    Case("dropout_zero", [X], "ops.dropout(a, 0.0, training=True)", "ops.Dropout(keep_prob=1.0)(a)[0]"),
    Case("dropout2d_eval", [f32(2, 3, 2, 2)], "ops.dropout2d(a, 0.5, training=False)"),
]
