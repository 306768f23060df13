"""Elementwise primitives as nodes of ONNX."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindjax.mindir.lowering import UnknownOperation
from mindjax.onnx.writing.emitter import Emitter, Ref
from mindjax.onnx.writing.rows import ROWS, Call, plain, row

_SAME = """
    Abs Abs, Neg Neg, Exp Exp, Log Log, Tanh Tanh, Erf Erf, Sqrt Sqrt, Sigmoid Sigmoid, Sin Sin,
    Cos Cos, Tan Tan, Asin Asin, ACos Acos, Atan Atan, Sinh Sinh, Cosh Cosh, Asinh Asinh,
    Acosh Acosh, Atanh Atanh, Sign Sign, Floor Floor, Ceil Ceil, Rint Round, ReLU Relu,
    Softplus Softplus, Softsign Softsign, Reciprocal Reciprocal, LogicalNot Not, Add Add, Sub Sub,
    Mul Mul, RealDiv Div, TruncateDiv Div, Pow Pow, Less Less, LessEqual LessOrEqual,
    Greater Greater, GreaterEqual GreaterOrEqual, Equal Equal, LogicalAnd And, LogicalOr Or,
    LogicalXor Xor, Maximum Max, Minimum Min, Select Where, HSwish HardSwish, Depend Identity"""
for _pair in _SAME.split(","):
    _ours, _theirs = _pair.split()
    ROWS[_ours] = plain(_theirs)


def number(x: Any, value: float) -> np.ndarray:
    """Give a scalar of a value's dtype.

    Args:
        x: what has the dtype.
        value: the scalar.
    """
    return np.array(value).astype(x.dtype)


@row("Square")
def _square(e: Emitter, call: Call) -> Ref:
    (x,) = call.inputs
    return e.op("Mul", x, x)


@row("Rsqrt")
def _rsqrt(e: Emitter, call: Call) -> Ref:
    return e.op("Reciprocal", e.op("Sqrt", *call.inputs))


@row("NotEqual")
def _not_equal(e: Emitter, call: Call) -> Ref:
    return e.op("Not", e.op("Equal", *call.inputs))


@row("Erfc")
def _erfc(e: Emitter, call: Call) -> Ref:
    (x,) = call.inputs
    return e.op("Sub", number(x, 1), e.op("Erf", x), dtype=x.dtype)


@row("Log1p")
def _log1p(e: Emitter, call: Call) -> Ref:
    # Kahan's form: near 0, the sum's rounding is undone.
    (x,) = call.inputs
    more = e.op("Add", x, number(x, 1))
    rounded = e.op("Sub", more, number(x, 1))
    same = e.op("Equal", rounded, number(x, 0))
    safe = e.op("Where", same, number(x, 1), rounded, dtype=x.dtype)
    scaled = e.op("Mul", e.op("Log", more), e.op("Div", x, safe))
    endless = e.op("IsInf", x) if x.dtype in (np.float32, np.float64) else same
    scaled = e.op("Where", endless, x, scaled, dtype=x.dtype)
    return e.op("Where", same, x, scaled, dtype=x.dtype)


@row("Expm1")
def _expm1(e: Emitter, call: Call) -> Ref:
    # tanh(x / 2) (exp(x) + 1) loses no digits near 0.
    (x,) = call.inputs
    half = e.op("Tanh", e.op("Mul", x, number(x, 0.5)))
    return e.op("Mul", half, e.op("Add", e.op("Exp", x), number(x, 1)))


@row("IsFinite")
def _is_finite(e: Emitter, call: Call) -> Ref:
    x = e.cast(call.inputs[0], np.float32) if call.inputs[0].dtype.itemsize < 4 else call.inputs[0]
    return e.op("Not", e.op("Or", e.op("IsNaN", x), e.op("IsInf", x)))


@row("ReLU6")
def _relu6(e: Emitter, call: Call) -> Ref:
    (x,) = call.inputs
    return e.op("Clip", x, number(x, 0), number(x, 6))


@row("HSigmoid")
def _hsigmoid(e: Emitter, call: Call) -> Ref:
    return e.op("HardSigmoid", call.inputs[0], alpha=1 / 6, beta=0.5)


@row("SiLU")
def _silu(e: Emitter, call: Call) -> Ref:
    (x,) = call.inputs
    return e.op("Mul", x, e.op("Sigmoid", x))


@row("Mish")
def _mish(e: Emitter, call: Call) -> Ref:
    (x,) = call.inputs
    if e.opset >= 18:
        return e.op("Mish", x)
    return e.op("Mul", x, e.op("Tanh", e.op("Softplus", x)))


@row("GeLU")
def _gelu(e: Emitter, call: Call) -> Ref:
    (x,) = call.inputs
    if e.opset >= 20:
        return e.op("Gelu", x, approximate="tanh")
    cube = e.op("Mul", e.op("Mul", x, x), e.op("Mul", x, number(x, 0.044715)))
    inner = e.op("Mul", e.op("Add", x, cube), number(x, math.sqrt(2 / math.pi)))
    grown = e.op("Add", e.op("Tanh", inner), number(x, 1))
    return e.op("Mul", e.op("Mul", x, number(x, 0.5)), grown)


@row("Div")
def _div(e: Emitter, call: Call) -> Ref:
    x, y = (e.cast(v, call.out.dtype) for v in call.inputs)
    return e.op("Div", x, y)


@row("TruncateMod")
def _truncate_mod(e: Emitter, call: Call) -> Ref:
    return e.op("Mod", *call.inputs, fmod=1)


@row("FloorDiv")
def _floor_div(e: Emitter, call: Call) -> Ref:
    x, y = call.inputs
    if call.out.is_real:
        return e.op("Floor", e.op("Div", x, y))
    if np.issubdtype(call.out.dtype, np.unsignedinteger):
        return e.op("Div", x, y)
    # What is left has the sign of the divisor: without it, the quotient is whole.
    return e.op("Div", e.op("Sub", x, e.op("Mod", x, y)), y)


@row("FloorMod")
def _floor_mod(e: Emitter, call: Call) -> Ref:
    x, y = call.inputs
    if not call.out.is_real:
        return e.op("Mod", x, y)
    return e.op("Sub", x, e.op("Mul", e.op("Floor", e.op("Div", x, y)), y))


@row("Atan2")
def _atan2(e: Emitter, call: Call) -> Ref:
    y, x = call.inputs
    zero = number(x, 0)
    flat = e.op("Equal", x, zero)
    safe = e.op("Where", flat, number(x, 1), x, dtype=x.dtype)
    angle = e.op("Atan", e.op("Div", y, safe))
    # Below the axis of x it is turned by half a circle, to the side that y lies on.
    turn = e.op("Where", e.op("Less", y, zero), number(x, -math.pi), number(x, math.pi))
    turned = e.op("Add", angle, turn, dtype=x.dtype)
    angle = e.op("Where", e.op("Less", x, zero), turned, angle, dtype=x.dtype)
    upright = e.op("Mul", e.op("Sign", y), number(x, math.pi / 2))
    return e.op("Where", flat, upright, angle, dtype=x.dtype)


@row("Erfinv")
def _erfinv(e: Emitter, call: Call) -> Ref:
    """Approximate as Giles (2010), in single precision."""
    (x,) = call.inputs
    if x.dtype.itemsize > 4:
        raise UnknownOperation("ONNX has no form for 'Erfinv' of Float64")
    apart = e.op("Mul", e.op("Sub", number(x, 1), x), e.op("Add", number(x, 1), x))
    w = e.op("Neg", e.op("Log", apart))
    near = _polynomial(e, e.op("Sub", w, number(x, 2.5)), _NEAR)
    far = _polynomial(e, e.op("Sub", e.op("Sqrt", w), number(x, 3)), _FAR)
    factor = e.op("Where", e.op("Less", w, number(x, 5)), near, far, dtype=x.dtype)
    return e.op("Mul", factor, x)


_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087,
         -0.00125372503, -0.00417768164, 0.246640727, 1.50140941)  # fmt: skip
_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773,
        -0.0076224613, 0.00943887047, 1.00167406, 2.83297682)  # fmt: skip


def _polynomial(e: Emitter, x: Ref, factors: tuple[float, ...]) -> Ref:
    result: Any = number(x, factors[0])
    for factor in factors[1:]:
        result = e.op("Add", e.op("Mul", result, x, dtype=x.dtype), number(x, factor))
    return result


def _bitwise_row(name: str) -> Any:
    def write(e: Emitter, call: Call) -> Ref:
        if e.opset < 18:
            raise UnknownOperation(f"ONNX has no '{name}' before opset 18: give opset=18")
        return e.op(name, *call.inputs)

    return write


for _name in ("BitwiseAnd", "BitwiseOr", "BitwiseXor"):
    ROWS[_name] = _bitwise_row(_name)


def _shift_row(left: bool) -> Any:
    def write(e: Emitter, call: Call) -> Ref:
        x, places = call.inputs
        if np.issubdtype(call.out.dtype, np.unsignedinteger):
            return e.op("BitShift", x, places, direction="LEFT" if left else "RIGHT")
        power = e.op("Pow", np.array(2, call.out.dtype), places)
        if left:
            return e.op("Mul", x, power)
        return e.op("Div", e.op("Sub", x, e.op("Mod", x, power)), power)

    return write


ROWS["LeftShift"], ROWS["RightShift"] = _shift_row(True), _shift_row(False)


@row("Cast")
def _cast(e: Emitter, call: Call) -> Any:
    return e.cast(call.inputs[0], call.out.dtype)
