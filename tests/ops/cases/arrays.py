"""Tensor methods that numpy's arrays have."""

from tests.ops.table import Case, f32, lit, unit

K = lit([[0, 1, 2], [3, 4, 5]], "i32")

CASES = [
    Case("resize_shorter", [f32(2, 3)], "a.resize(4)", "a.resize((4,))", dtypes="f16 i32 bool"),
    Case("resize_longer", [K], "a.resize(2, 4)", "a.resize([2, 4])"),
    Case("resize_same", [K], "a.resize()"),
    Case("resize_empty", [K], "a.resize((0,))"),
    Case("resize_of_a_scalar", [lit(3.0)], "a.resize(2)"),
    Case("hardshrink_method", [f32(2, 3)], "a.hardshrink()"),
    Case("hardshrink_method_lambd", [f32(2, 3)], "a.hardshrink(1.5)"),
    Case("logit_method", [unit(3)], "a.logit()"),
    Case("logit_method_eps", [unit(3)], "a.logit(0.3)", grad=False),
    Case("soft_shrink", [f32(2, 3)], "a.soft_shrink()", "a.soft_shrink(0.5)", "ops.softshrink(a)"),
    Case("cumsum_cast_after", [lit([0.25, 1.5, 2.75])], "a.cumsum(0, ms.int32)", "a.cumsum(axis=0, dtype=ms.int32)", grad=False),
    Case("cumsum_cast_before", [lit([0.25, 1.5, 2.75])], "ops.cumsum(a, 0, ms.int32)", grad=False),
]
