"""ONNX's elementwise operators, comparisons and activations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.onnx.reading.errors import OnnxError
from mindjax.onnx.reading.table import OPERATORS, Attributes, Entry, operator, space
from mindjax.onnx.reading.tensors import np_dtype

_UNARY = {
    "Abs": "abs", "Neg": "negative", "Exp": "exp", "Log": "log", "Sqrt": "sqrt", "Sin": "sin",
    "Cos": "cos", "Tan": "tan", "Asin": "arcsin", "Acos": "arccos", "Atan": "arctan",
    "Sinh": "sinh", "Cosh": "cosh", "Tanh": "tanh", "Asinh": "arcsinh", "Acosh": "arccosh",
    "Atanh": "arctanh", "Sign": "sign", "Floor": "floor", "Ceil": "ceil", "Round": "round",
    "Not": "logical_not", "IsNaN": "isnan", "BitwiseNot": "invert",
}  # fmt: skip
_BINARY = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Equal": "equal", "Less": "less",
    "Greater": "greater", "LessOrEqual": "less_equal", "GreaterOrEqual": "greater_equal",
    "And": "logical_and", "Or": "logical_or", "Xor": "logical_xor", "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor",
}  # fmt: skip


def _unary(name: str) -> Any:
    return lambda n, x: getattr(space(x), name)(x)


def _binary(name: str) -> Any:
    return lambda n, a, b: getattr(space(a, b), name)(a, b)


for _theirs, _name in _UNARY.items():
    OPERATORS[_theirs] = Entry(_unary(_name), folds=True)
for _theirs, _name in _BINARY.items():
    OPERATORS[_theirs] = Entry(_binary(_name), folds=True)


def _is_integer(x: Any) -> bool:
    return np.issubdtype(x.dtype, np.integer)


@operator("Reciprocal", folds=True)
def _reciprocal(n: Attributes, x: Any) -> Any:
    return (1 / x).astype(x.dtype)


@operator("Div", folds=True)
def _div(n: Attributes, a: Any, b: Any) -> Any:
    if not _is_integer(a):
        return space(a, b).divide(a, b)
    if space(a, b) is jnp:
        a, b = jnp.broadcast_arrays(jnp.asarray(a), jnp.asarray(b))
        return lax.div(a, b)
    rest = np.fmod(a, b)
    return ((a - rest) // b).astype(a.dtype)


@operator("Mod", folds=True)
def _mod(n: Attributes, a: Any, b: Any) -> Any:
    return space(a, b).fmod(a, b) if n.get("fmod") else space(a, b).mod(a, b)


@operator("Pow", folds=True)
def _pow(n: Attributes, a: Any, b: Any) -> Any:
    xp, dtype = space(a, b), a.dtype
    if _is_integer(a) and not _is_integer(b):
        return xp.power(a.astype(b.dtype), b).astype(dtype)
    if a.dtype != b.dtype:
        b = b.astype(dtype)
    return xp.power(a, b).astype(dtype)


@operator("BitShift", folds=True)
def _shift(n: Attributes, a: Any, b: Any) -> Any:
    xp = space(a, b)
    return xp.left_shift(a, b) if n.get("direction") == "LEFT" else xp.right_shift(a, b)


@operator("Max", "Min", "Sum", "Mean", folds=True)
def _several(n: Attributes, *values: Any) -> Any:
    xp = space(*values)
    if not values:
        raise OnnxError("it has no inputs")
    function = {"Max": xp.maximum, "Min": xp.minimum}.get(n.kind, xp.add)
    result = values[0]
    for value in values[1:]:
        result = function(result, value)
    return (result / len(values)).astype(values[0].dtype) if n.kind == "Mean" else result


@operator("Where", folds=True)
def _where(n: Attributes, condition: Any, a: Any, b: Any) -> Any:
    return space(condition, a, b).where(condition, a, b)


@operator("Clip", folds=True)
def _clip(n: Attributes, x: Any, low: Any = None, high: Any = None) -> Any:
    xp = space(x, low, high)
    if n.opset < 11:
        low, high = n.get("min"), n.get("max")
        low = None if low is None else np.array(low, x.dtype)
        high = None if high is None else np.array(high, x.dtype)
    x = x if low is None else xp.maximum(x, low)
    return x if high is None else xp.minimum(x, high)


@operator("IsInf", folds=True)
def _is_inf(n: Attributes, x: Any) -> Any:
    xp = space(x)
    up, down = n.get("detect_positive", 1), n.get("detect_negative", 1)
    signs = (x > 0) & bool(up) | (x < 0) & bool(down)
    return xp.isinf(x) & signs


@operator("Cast", folds=True)
def _cast(n: Attributes, x: Any) -> Any:
    return _converted(x, np_dtype(n["to"]))


@operator("CastLike", folds=True)
def _cast_like(n: Attributes, x: Any, other: Any) -> Any:
    return _converted(x, other.dtype)


def _converted(x: Any, dtype: Any) -> Any:
    if np.dtype(dtype) == np.bool_:
        return x != 0
    return x.astype(dtype)


@operator("BitCast", folds=True)
def _bit_cast(n: Attributes, x: Any) -> Any:
    return x.view(np_dtype(n["to"])) if space(x) is np else lax.bitcast_convert_type(
        x, np_dtype(n["to"])
    )  # fmt: skip


@operator("Erf")
def _erf(n: Attributes, x: Any) -> Any:
    return lax.erf(x)


# -- activations --


@operator("Relu")
def _relu(n: Attributes, x: Any) -> Any:
    return jnp.maximum(x, 0)


@operator("Sigmoid")
def _sigmoid(n: Attributes, x: Any) -> Any:
    return lax.logistic(x)


@operator("Softplus")
def _softplus(n: Attributes, x: Any) -> Any:
    return jax.nn.softplus(x)


@operator("Softsign")
def _softsign(n: Attributes, x: Any) -> Any:
    return x / (1 + jnp.abs(x))


@operator("LeakyRelu")
def _leaky_relu(n: Attributes, x: Any) -> Any:
    return jnp.where(x < 0, x * n.get("alpha", 0.01), x)


@operator("PRelu")
def _prelu(n: Attributes, x: Any, slope: Any) -> Any:
    return jnp.where(x < 0, x * slope, x)


@operator("ThresholdedRelu")
def _thresholded_relu(n: Attributes, x: Any) -> Any:
    return jnp.where(x > n.get("alpha", 1.0), x, jnp.zeros_like(x))


def _expm1(x: Any) -> Any:
    """Give exp(x) - 1 below 0, where an activation needs it; no gradient overflows above."""
    return jnp.expm1(jnp.minimum(x, 0))


@operator("Elu")
def _elu(n: Attributes, x: Any) -> Any:
    return jnp.where(x < 0, n.get("alpha", 1.0) * _expm1(x), x)


@operator("Celu")
def _celu(n: Attributes, x: Any) -> Any:
    alpha = n.get("alpha", 1.0)
    return jnp.maximum(x, 0) + alpha * _expm1(x / alpha)


@operator("Selu")
def _selu(n: Attributes, x: Any) -> Any:
    alpha, gamma = n.get("alpha", 1.67326319217681884765625), n.get("gamma", 1.05070102214813232)
    return gamma * jnp.where(x < 0, alpha * _expm1(x), x)


@operator("HardSigmoid")
def _hard_sigmoid(n: Attributes, x: Any) -> Any:
    return jnp.clip(n.get("alpha", 0.2) * x + n.get("beta", 0.5), 0, 1)


@operator("HardSwish")
def _hard_swish(n: Attributes, x: Any) -> Any:
    return x * jnp.clip(x / 6 + 0.5, 0, 1)


@operator("Gelu")
def _gelu(n: Attributes, x: Any) -> Any:
    return jax.nn.gelu(x, approximate=n.get("approximate", "none") == "tanh")


@operator("Mish")
def _mish(n: Attributes, x: Any) -> Any:
    return x * jnp.tanh(jax.nn.softplus(x))


@operator("Swish")
def _swish(n: Attributes, x: Any) -> Any:
    return x * lax.logistic(n.get("alpha", 1.0) * x)


@operator("Shrink")
def _shrink(n: Attributes, x: Any) -> Any:
    bias, edge = n.get("bias", 0.0), n.get("lambd", 0.5)
    zero = jnp.zeros_like(x)
    cast = (lambda v: v) if np.issubdtype(x.dtype, np.floating) else (lambda v: v.astype(x.dtype))
    return jnp.where(x < -edge, cast(x + bias), jnp.where(x > edge, cast(x - bias), zero))


@operator("Softmax", "LogSoftmax", "Hardmax")
def _softmax(n: Attributes, x: Any) -> Any:
    old = n.opset < 13
    axis = n.get("axis", 1 if old else -1)
    shape = x.shape
    if old:
        # All axes from the given one on are one.
        axis = axis + x.ndim if axis < 0 else axis
        rows = int(np.prod(shape[:axis], dtype=np.int64))
        x = x.reshape((rows, -1) if x.size else (rows, 0))
        axis = 1
    if n.kind == "Softmax":
        out = jax.nn.softmax(x, axis)
    elif n.kind == "LogSoftmax":
        out = jax.nn.log_softmax(x, axis)
    else:
        size = x.shape[axis]
        place = jnp.argmax(x, axis)
        out = jax.nn.one_hot(place, size, dtype=x.dtype, axis=axis)
    return out.reshape(shape)
