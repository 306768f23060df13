"""Trigonometric and other smooth functions."""

from tests.ops.table import Arr, Case, f32, pos

U = Arr((2, 3), "f32", -0.9, 0.9)
X = f32(2, 3)

CASES = [
    Case("sin", [X], "ops.sin", "mint.sin", "Tensor.sin", "ops.Sin()", dtypes="f16 f64 i32", math="np.sin(a)"),
    Case("cos", [X], "ops.cos", "mint.cos", "Tensor.cos", "ops.Cos()", dtypes="f16 f64 i32", math="np.cos(a)"),
    Case("tan", [U], "ops.tan", "mint.tan", "Tensor.tan", "ops.Tan()", math="np.tan(a)"),
    Case("asin", [U], "ops.asin", "mint.asin", "Tensor.asin", "ops.Asin()", "ops.arcsin", math="np.arcsin(a)"),
    Case("acos", [U], "ops.acos", "mint.acos", "Tensor.acos", "ops.ACos()", "ops.arccos", math="np.arccos(a)"),
    Case("atan", [X], "ops.atan", "mint.atan", "Tensor.atan", "ops.Atan()", "ops.arctan", math="np.arctan(a)"),
    Case("atan2", [X, pos(3)], "ops.atan2", "mint.atan2", "Tensor.atan2", "ops.Atan2()", math="np.arctan2(a, b)"),
    Case("sinh", [X], "ops.sinh", "mint.sinh", "Tensor.sinh", "ops.Sinh()", math="np.sinh(a)"),
    Case("cosh", [X], "ops.cosh", "mint.cosh", "Tensor.cosh", "ops.Cosh()", math="np.cosh(a)"),
    Case("asinh", [X], "ops.asinh", "mint.asinh", "ops.Asinh()", math="np.arcsinh(a)"),
    Case("acosh", [Arr((2, 3), "f32", 1.2, 3.0)], "ops.acosh", "mint.acosh", "ops.Acosh()", math="np.arccosh(a)"),
    Case("atanh", [U], "ops.atanh", "mint.atanh", "ops.Atanh()", math="np.arctanh(a)"),
    Case("tanh", [X], "ops.tanh", "mint.tanh", "Tensor.tanh", "ops.Tanh()", dtypes="f16 f64 i32", math="np.tanh(a)"),
    Case("sigmoid", [X], "ops.sigmoid", "mint.sigmoid", "Tensor.sigmoid", "ops.Sigmoid()", dtypes="f16 f64", math="sp.expit(a)"),
    Case("logsigmoid", [X], "ops.logsigmoid", "mint.nn.functional.logsigmoid", math="np.log(sp.expit(a))", tol=(2e-3, 2e-3)),
    Case("erf", [X], "ops.erf", "mint.erf", "Tensor.erf", "ops.Erf()", dtypes="f16 f64", math="sp.erf(a)"),
    Case("erfc", [X], "ops.erfc", "mint.erfc", "Tensor.erfc", "ops.Erfc()", math="sp.erfc(a)"),
    Case("erfinv", [U], "ops.erfinv", "mint.erfinv", "ops.Erfinv()", math="sp.erfinv(a)"),
    Case("lgamma", [pos(2, 3)], "ops.lgamma", "ops.Lgamma()", math="sp.gammaln(a)", grad=False),
    Case("digamma", [pos(2, 3)], "ops.digamma", "ops.Digamma()", math="sp.digamma(a)", grad=False),
    Case("sinc", [X], "ops.sinc", "mint.sinc", math="np.sinc(a)"),
    Case("deg2rad", [X], "ops.deg2rad", math="np.deg2rad(a)"),
    Case("rad2deg", [X], "ops.rad2deg", math="np.rad2deg(a)"),
    Case("softmax", [X], "ops.softmax(a)", "ops.softmax(a, axis=-1)", "ops.Softmax()", "ops.Softmax(-1)(a)", "mint.softmax(a, -1)", "a.softmax(-1)", "mint.nn.functional.softmax(a, dim=-1)", dtypes="f16 f64", math="sp.softmax(a, -1)"),
    Case("softmax_axis", [f32(2, 3, 4)], "ops.softmax(a, 1)", "ops.Softmax(1)(a)", "mint.softmax(a, 1)", "ops.softmax(a, axis=-2)", math="sp.softmax(a, 1)"),
    Case("softmax_dtype", [X], "ops.softmax(a, -1, dtype=ms.float16)", grad=False),
    Case("softmax_large", [f32(2, 3, lo=80, hi=120)], "ops.softmax(a)"),
    Case("log_softmax", [X], "ops.log_softmax(a)", "ops.LogSoftmax()", "ops.LogSoftmax(-1)(a)", "mint.nn.functional.log_softmax(a, dim=-1)", dtypes="f16 f64", tol=(1e-5, 1e-5), math="sp.log_softmax(a, -1)"),
    Case("log_softmax_axis", [f32(2, 3, 4)], "ops.log_softmax(a, 1)", "ops.LogSoftmax(1)(a)", math="sp.log_softmax(a, 1)"),
    Case("softmin", [X], "ops.softmin(a)", math="sp.softmax(-a, -1)"),
    Case("softmax_axis_error", [X], "ops.softmax(a, 5)", raises=True),
]
