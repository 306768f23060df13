"""lax's elementwise operations and reductions as MindIR's primitives."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.mindir.builder import Name, Value
from mindjax.mindir.lowering.program import Lowering, UnknownOperation, lowers
from mindjax.mindir.schema import TYPE_NUMBERS

_UNARY = {
    "exp": "Exp", "log": "Log", "log1p": "Log1p", "expm1": "Expm1", "tanh": "Tanh", "erf": "Erf",
    "erfc": "Erfc", "erf_inv": "Erfinv", "sqrt": "Sqrt", "rsqrt": "Rsqrt", "neg": "Neg",
    "abs": "Abs", "square": "Square", "logistic": "Sigmoid", "sin": "Sin", "cos": "Cos",
    "tan": "Tan", "asin": "Asin", "acos": "ACos", "atan": "Atan", "sinh": "Sinh", "cosh": "Cosh",
    "asinh": "Asinh", "acosh": "Acosh", "atanh": "Atanh", "sign": "Sign", "floor": "Floor",
    "ceil": "Ceil", "is_finite": "IsFinite", "lgamma": "Lgamma", "digamma": "Digamma",
}  # fmt: skip
_BINARY = {
    "add": "Add", "add_any": "Add", "sub": "Sub", "mul": "Mul", "max": "Maximum", "min": "Minimum",
    "lt": "Less", "gt": "Greater", "ge": "GreaterEqual", "le": "LessEqual", "eq": "Equal",
    "ne": "NotEqual", "atan2": "Atan2",
}  # fmt: skip
_LOGICAL = {"and": "LogicalAnd", "or": "LogicalOr", "xor": "LogicalXor", "max": "LogicalOr",
            "min": "LogicalAnd"}  # fmt: skip
_BITWISE = {"and": "BitwiseAnd", "or": "BitwiseOr", "xor": "BitwiseXor"}
_REDUCTIONS = {
    "reduce_sum": "ReduceSum", "reduce_max": "ReduceMax", "reduce_min": "ReduceMin",
    "reduce_prod": "ReduceProd", "reduce_and": "ReduceAll", "reduce_or": "ReduceAny",
}  # fmt: skip


@lowers(*_UNARY)
def _unary(low: Lowering, equation: Any, values: list[Value]) -> Value:
    return low.op(_UNARY[equation.primitive.name], values[0])


@lowers(*_BINARY, *_BITWISE)
def _binary(low: Lowering, equation: Any, values: list[Value]) -> Value:
    name = equation.primitive.name
    dtype = equation.invars[0].aval.dtype
    if dtype == np.bool_ and name in _LOGICAL:
        return low.op(_LOGICAL[name], *values)
    if name in _BITWISE:
        return low.op(_BITWISE[name], *values)
    if dtype == np.bool_ and name in ("lt", "gt", "ge", "le"):
        values = [low.cast(v, np.int32) for v in values]
    return low.op(_BINARY[name], *values)


@lowers("not")
def _not(low: Lowering, equation: Any, values: list[Value]) -> Value:
    dtype = equation.invars[0].aval.dtype
    if dtype == np.bool_:
        return low.op("LogicalNot", values[0])
    return low.op("BitwiseXor", values[0], np.array(-1).astype(dtype))


@lowers("div")
def _div(low: Lowering, equation: Any, values: list[Value]) -> Value:
    inexact = np.issubdtype(equation.invars[0].aval.dtype, np.inexact)
    real = inexact or equation.invars[0].aval.dtype.name == "bfloat16"
    return low.op("RealDiv" if real else "TruncateDiv", *values)


@lowers("rem")
def _rem(low: Lowering, equation: Any, values: list[Value]) -> Value:
    return low.op("TruncateMod", *values)


@lowers("pow")
def _pow(low: Lowering, equation: Any, values: list[Value]) -> Value:
    dtype = equation.outvars[0].aval.dtype
    exponent = values[1]
    if equation.invars[1].aval.dtype != dtype:
        exponent = low.cast(exponent, dtype)
    return low.op("Pow", values[0], exponent)


@lowers("integer_pow")
def _integer_pow(low: Lowering, equation: Any, values: list[Value]) -> Value:
    exponent, x = equation.params["y"], values[0]
    if exponent == 2:
        return low.op("Square", x)
    if exponent == 3:
        return low.op("Mul", low.op("Square", x), x)
    return low.op("Pow", x, np.array(exponent, equation.invars[0].aval.dtype))


@lowers("exp2")
def _exp2(low: Lowering, equation: Any, values: list[Value]) -> Value:
    return low.op("Pow", np.array(2, equation.outvars[0].aval.dtype), values[0])


@lowers("cbrt")
def _cbrt(low: Lowering, equation: Any, values: list[Value]) -> Value:
    third = np.array(1 / 3, equation.outvars[0].aval.dtype)
    root = low.op("Pow", low.op("Abs", values[0]), third)
    return low.op("Mul", low.op("Sign", values[0]), root)


@lowers("round")
def _round(low: Lowering, equation: Any, values: list[Value]) -> Value:
    if int(equation.params["rounding_method"]) != 1:
        raise UnknownOperation("MindIR rounds halves to even only")
    return low.op("Rint", values[0])


@lowers("shift_left", "shift_right_arithmetic")
def _shift(low: Lowering, equation: Any, values: list[Value]) -> Value:
    left = equation.primitive.name == "shift_left"
    return low.op("LeftShift" if left else "RightShift", *values)


@lowers("convert_element_type")
def _convert(low: Lowering, equation: Any, values: list[Value]) -> Value:
    before, after = equation.invars[0].aval.dtype, equation.outvars[0].aval.dtype
    return values[0] if before == after else low.cast(values[0], after)


@lowers("stop_gradient", "copy", "copy_p", "reduce_precision", "sharding_constraint")
def _same(low: Lowering, equation: Any, values: list[Value]) -> Value:
    return values[0]


@lowers("optimization_barrier", "opt_barrier")
def _barrier(low: Lowering, equation: Any, values: list[Value]) -> list[Value]:
    return values


@lowers("clamp")
def _clamp(low: Lowering, equation: Any, values: list[Value]) -> Value:
    least, x, most = values
    return low.op("Minimum", low.op("Maximum", x, least), most)


@lowers("select_n")
def _select(low: Lowering, equation: Any, values: list[Value]) -> Value:
    which, *cases = values
    kind, out = equation.invars[0].aval, equation.outvars[0].aval

    def chosen(condition: Value, true: Value, false: Value) -> Value:
        if kind.shape != out.shape:
            ones = low.reshape(condition, (1,) * len(out.shape), kind.shape)
            condition = low.broadcast(ones, out.shape, (1,) * len(out.shape))
        return low.op("Select", condition, true, false)

    if kind.dtype == np.bool_:
        return chosen(which, cases[1], cases[0])
    result = cases[-1]
    for i in range(len(cases) - 2, -1, -1):
        result = chosen(low.op("Equal", which, np.array(i, kind.dtype)), cases[i], result)
    return result


@lowers(*_REDUCTIONS)
def _reduce(low: Lowering, equation: Any, values: list[Value]) -> Value:
    name = equation.primitive.name
    return reduced(low, _REDUCTIONS[name], values[0], equation.params["axes"])


def reduced(low: Lowering, name: str, x: Value, axes: Any, keep: bool = False) -> Value:
    """Reduce over axes; none at all would mean every axis to MindIR."""
    if not axes:
        return x
    attributes: dict[str, Any] = {"keep_dims": keep}
    if name == "ReduceSum":
        attributes["skip_mode"] = False
    return low.op(name, x, tuple(int(a) for a in axes), **attributes)


@lowers("argmax", "argmin")
def _argmax(low: Lowering, equation: Any, values: list[Value]) -> Value:
    (axis,) = equation.params["axes"]
    out = equation.outvars[0].aval
    x = values[0]
    if equation.invars[0].aval.dtype == np.bool_:
        x = low.cast(x, np.float32)
    name = "Argmax" if equation.primitive.name == "argmax" else "Argmin"
    found = low.op(name, x, axis=int(axis), output_type=TYPE_NUMBERS["int32"])
    return found if out.dtype == np.int32 else low.cast(found, out.dtype)


@lowers("cumsum", "cumprod")
def _cumulative(low: Lowering, equation: Any, values: list[Value]) -> Value:
    name = "CumSum" if equation.primitive.name == "cumsum" else "CumProd"
    reverse = bool(equation.params["reverse"])
    return low.op(name, values[0], int(equation.params["axis"]), exclusive=False, reverse=reverse)


@lowers("cummax", "cummin")
def _cummax(low: Lowering, equation: Any, values: list[Value]) -> Value:
    axis, x = int(equation.params["axis"]), values[0]
    reverse = bool(equation.params["reverse"])
    name = "Cummax" if equation.primitive.name == "cummax" else "Cummin"
    x = low.op("ReverseV2", x, axis=(axis,)) if reverse else low.node(x)
    found = low.graph.item(low.op(name, x, axis=axis), 0)
    return low.op("ReverseV2", found, axis=(axis,)) if reverse else found


@lowers("top_k")
def _top_k(low: Lowering, equation: Any, values: list[Value]) -> list[Value]:
    found = low.op("TopK", values[0], int(equation.params["k"]), sorted=True)
    indices = low.graph.item(found, 1)
    wanted = equation.outvars[1].aval.dtype
    return [low.graph.item(found, 0), indices if wanted == np.int32 else low.cast(indices, wanted)]


@lowers("sort")
def _sort(low: Lowering, equation: Any, values: list[Value]) -> list[Value]:
    axis, keys = int(equation.params["dimension"]), equation.params["num_keys"]
    if keys != 1:
        raise UnknownOperation("MindIR sorts by one key only, but the network sorts by several")
    found = low.op("Sort", values[0], axis=axis, descending=False)
    order: Name = low.graph.item(found, 1)
    rest = [low.op("GatherD", v, axis, order) for v in values[1:]]
    return [low.graph.item(found, 0), *rest]
