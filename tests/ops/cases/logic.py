"""Comparison, logic and selection."""

from tests.ops.table import Case, f32, i32, lit, mask

P = [lit([1.0, 2.0, 3.0, float("nan")]), lit([3.0, 2.0, 1.0, float("nan")])]
ALL = "f16 f64 i8 i32 i64 u8 bool"
S = lit([1.0, float("inf"), float("-inf"), float("nan")])
M = [mask(2, 3), mask(3)]
W = [mask(2, 3), f32(2, 3), f32(3)]


def compare(name: str, prim: str, sign: str, short: str) -> list[Case]:
    """Write the rows of one comparison."""
    faces = [f"ops.{name}", f"Tensor.{short}", f"ops.{prim}()", f"a {sign} b", f"ops.{short}"]
    # mint.equal compares whole Tensors.
    faces += [f"mint.{name}"] if name != "equal" else []
    numpy = {"!=": "not_equal", "==": "equal"}.get(sign, name)
    return [
        Case(name, [f32(2, 3), f32(3)], *faces, dtypes="f16 f64 i32 i64 u8", grad=False, math=f"np.{numpy}(a, b)"),
        Case(name + "_int", [i32(3, 4, lo=0, hi=3), i32(4, lo=0, hi=3)], *faces),
        Case(name + "_nan", P, f"ops.{name}", f"a {sign} b", grad=False),
        Case(name + "_number", [i32(3, 4, lo=0, hi=3)], f"a {sign} 1", f"ops.{name}(a, 1)", *([f"mint.{name}(a, 1)"] if name != "equal" else []), f"a {sign} 0.5"),
    ]


CASES = [
    *compare("equal", "Equal", "==", "eq"),
    *compare("not_equal", "NotEqual", "!=", "ne"),
    *compare("less", "Less", "<", "lt"),
    *compare("less_equal", "LessEqual", "<=", "le"),
    *compare("greater", "Greater", ">", "gt"),
    *compare("greater_equal", "GreaterEqual", ">=", "ge"),
    Case("logical_and", M, "ops.logical_and", "mint.logical_and", "Tensor.logical_and", "ops.LogicalAnd()", "a & b"),
    Case("logical_or", M, "ops.logical_or", "mint.logical_or", "Tensor.logical_or", "ops.LogicalOr()", "a | b"),
    Case("logical_xor", M, "ops.logical_xor", "mint.logical_xor", "Tensor.logical_xor", "ops.LogicalXor()", "a ^ b", math="np.logical_xor(a, b)"),
    Case("logical_not", [mask(2, 3)], "ops.logical_not", "mint.logical_not", "Tensor.logical_not", "ops.LogicalNot()", "~a"),
    Case("logical_float", [lit([0.0, 1.0]), lit([1.0, 2.0])], "ops.logical_and", "mint.logical_and", grad=False, math="np.logical_and(a, b)"),
    Case("isnan", [S], "ops.isnan", "mint.isnan" , "Tensor.isnan", "ops.IsNan()", grad=False, dtypes="f16 f64", math="np.isnan(a)"),
    Case("isinf", [S], "ops.isinf", "mint.isinf", "Tensor.isinf", "ops.IsInf()", grad=False, math="np.isinf(a)"),
    Case("isfinite", [S], "ops.isfinite", "mint.isfinite", "Tensor.isfinite", "ops.IsFinite()", grad=False, dtypes="f16", math="np.isfinite(a)"),
    Case("isclose", [lit([1.0, 2.0, 3.0]), lit([1.0, 2.000001, 4.0])], "ops.isclose", "mint.isclose", "Tensor.isclose", grad=False, math="np.isclose(a, b)"),
    Case("nan_to_num", [S], "ops.nan_to_num(a, 0.0, 1.0, -1.0)", "mint.nan_to_num(a, 0.0, 1.0, -1.0)", grad=False, math="np.array([1.0, 1.0, -1.0, 0.0])"),
    Case("where", W, "ops.where", "mint.where", "ops.select", "ops.Select()(a, b, ops.broadcast_to(c, (2, 3)))", "b.where(a, c)", dtypes="f16 i32"),
    Case("where_number", [mask(2, 3), f32(2, 3)], "ops.where(a, b, 0.0)", "mint.where(a, b, 0.0)", "ops.select(a, b, 0.0)", dtypes="f16"),
    Case("where_mixed", [mask(2, 3), f32(2, 3), i32(3)], "ops.where", "mint.where"),
    Case("where_scalar_first", [mask(2, 3), f32(2, 3)], "ops.where(a, 1.0, b)", "mint.where(a, 1.0, b)"),
    Case("masked_fill", [f32(2, 3), mask(2, 3)], "ops.masked_fill(a, b, 9.0)", "a.masked_fill(b, 9.0)", "ops.MaskedFill()(a, b, 9.0)", dtypes="f16 i32", math="np.where(b, 9.0, a)"),
    Case("masked_fill_tensor", [f32(2, 3), mask(3), lit(7.0)], "ops.masked_fill", "Tensor.masked_fill", dtypes="f16"),
    Case("bool_mean", [mask(3, 4)], "a.float().mean()", "a.astype(ms.float32).mean()", "ops.cast(a, ms.float32).mean()"),
    Case("all_any", [mask(3, 4)], "ops.all(a)", "a.all()", "mint.all(a)", math="np.all(a)"),
    Case("any", [mask(3, 4)], "ops.any(a)", "a.any()", "mint.any(a)", math="np.any(a)"),
    Case("all_axis", [mask(3, 4)], "ops.all(a, 1)", "a.all(1)", "mint.all(a, 1)", "ops.ReduceAll()(a, 1)", math="np.all(a, 1)"),
    Case("any_keep", [mask(3, 4)], "ops.any(a, 0, True)", "a.any(0, True)", "mint.any(a, 0, True)", "ops.ReduceAny(True)(a, 0)", math="np.any(a, 0, keepdims=True)"),
    Case("approximate_equal", [f32(2), f32(2)], "ops.approximate_equal(a, b, 2.0)", "ops.ApproximateEqual(2.0)(a, b)", grad=False),
    Case("equal_shapes", [f32(2, 3), f32(4)], "ops.equal", "a == b", raises=True),
]
