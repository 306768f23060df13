"""Sums, products, quotients, signs, bounds and bits, element by element."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import Number, bool_, float32, int32, int64, uint32
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    apply,
    broadcast_shape,
    cast_result,
    is_single,
    need_tensors,
    promoted,
    to_tensor,
)
from mindjax.tensor import Tensor


def _divide(x: Tensor, y: Tensor) -> Tensor:
    if not is_single(x.dtype) and not is_single(y.dtype):
        x, y = ops.cast(x, float32), ops.cast(y, float32)
    return ops.tensor_div(x, y)


def _safe(function: Any, x: Tensor, y: Tensor) -> Tensor:
    """Run a remainder; an integer modulo 0 is 0, and floats take part in Float32 or wider."""
    x, y = promoted((x, y))
    kind: Number = x.dtype
    if kind.kind == "float":
        return function(x, y)
    if kind is bool_:
        x, y = ops.cast(x, int32), ops.cast(y, int32)
    zero = ops.equal(y, 0)
    wide = ops.where(zero, ops.zeros_like(x), function(x, ops.where(zero, ops.ones_like(y), y)))
    return ops.cast(wide, kind)


def _remainder(x: Tensor, y: Tensor) -> Tensor:
    if x.dtype.kind == y.dtype.kind == "uint":
        return _safe(ops.fmod, x, y)
    return _safe(ops.floor_mod, x, y)


def _fmod(x: Tensor, y: Tensor) -> Tensor:
    return _safe(ops.fmod, x, y)


def _extreme(function: Any, x1: Any, x2: Any, dtype: Any) -> Tensor:
    x, y = to_tensor(x1), to_tensor(x2)
    if not x.shape and y.shape:
        dtype = y.dtype
    elif x.shape and not y.shape:
        dtype = x.dtype
    return cast_result(function(x, y), dtype)


def _heaviside(x: Tensor, y: Tensor) -> Tensor:
    x, y = promoted((x, y))
    broadcast_shape(x.shape, y.shape)
    return ops.where(ops.lt(x, 0), 0, ops.where(ops.gt(x, 0), 1, ops.add(y, ops.zeros_like(x))))


def _refuse_bool(owner: str, *values: Tensor) -> None:
    if any(x.dtype is bool_ for x in values):
        raise located(TypeError, f"{owner} does not accept dtype bool.")


def _whole(function: Any, x: Tensor, y: Tensor) -> Tensor:
    """Run an op that knows signed integers of 32 and 64 bits only."""
    x, y = promoted((x, y))
    kind = x.dtype
    wide = int64 if kind.bits == 64 or kind is uint32 else int32
    return ops.cast(function(ops.cast(x, wide), ops.cast(y, wide)), kind)


def _gcd(x: Tensor, y: Tensor) -> Tensor:
    return _whole(ops.gcd, x, y)


def _lcm(x: Tensor, y: Tensor) -> Tensor:
    return _whole(ops.lcm, x, y)


def add(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Add (MindSpore: ``numpy.add``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.add, x1, x2, dtype=dtype)


def subtract(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Subtract (MindSpore: ``numpy.subtract``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.sub, x1, x2, dtype=dtype)


def multiply(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Multiply (MindSpore: ``numpy.multiply``).

    Args:
        x1: Tensor.
        x2: Tensor that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no Tensor.
        ValueError: the shapes do not broadcast to each other.
    """
    need_tensors(x1, x2)
    return apply(ops.mul, x1, x2, dtype=dtype)


def divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Divide (MindSpore: ``numpy.divide``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape, Float32 unless an operand is Float16 or Float32.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(_divide, x1, x2, dtype=dtype)


def true_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Divide (MindSpore: ``numpy.true_divide``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape, Float32 unless an operand is Float16 or Float32.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return divide(x1, x2, dtype=dtype)


def floor_divide(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Divide and round down (MindSpore: ``numpy.floor_divide``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.floor_divide, x1, x2, dtype=dtype)


def remainder(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the remainder that has the sign of the divisor (MindSpore: ``numpy.remainder``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape; an integer modulo 0 is 0.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(_remainder, x1, x2, dtype=dtype)


mod = remainder


def fmod(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the remainder that has the sign of the dividend (MindSpore: ``numpy.fmod``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape; an integer modulo 0 is 0.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(_fmod, x1, x2, dtype=dtype)


def divmod(x1: Any, x2: Any, dtype: Any = None) -> tuple[Tensor, Tensor]:
    """Divide and round down, and give the remainder too (MindSpore: ``numpy.divmod``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the results; by default it follows from the operands.

    Returns:
        Quotient and remainder.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return floor_divide(x1, x2, dtype=dtype), remainder(x1, x2, dtype=dtype)


def absolute(x: Any, dtype: Any = None) -> Tensor:
    """Take the absolute value (MindSpore: ``numpy.absolute``).

    Args:
        x: Tensor of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    need_tensors(x)
    return apply(ops.abs, x, dtype=dtype)


abs = fabs = absolute


def negative(a: Any, dtype: Any = None) -> Tensor:
    """Change the sign (MindSpore: ``numpy.negative``).

    Args:
        a: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``a``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``a`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.neg, a, dtype=dtype)


def positive(a: Any, dtype: Any = None) -> Tensor:
    """Give the elements as they are (MindSpore: ``numpy.positive``).

    Args:
        a: Tensor of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``a``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``a`` is no Tensor, or ``dtype`` no dtype.
    """
    need_tensors(a)
    return apply(ops.identity, a, dtype=dtype)


def sign(x: Any, dtype: Any = None) -> Tensor:
    """Give -1, 0 or 1 by the sign (MindSpore: ``numpy.sign``).

    Args:
        x: array-like of numbers.
        dtype: MindSpore dtype of the result; by default that of ``x``, Float32 for integers.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or holds truth values.
    """
    value = to_tensor(x)
    _refuse_bool("sign", value)
    kind = value.dtype if value.dtype.kind == "float" else float32
    return cast_result(ops.sign(ops.cast(value, kind)), dtype)


def copysign(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Give absolute values the signs of other numbers (MindSpore: ``numpy.copysign``).

    Args:
        x1: array-like of numbers.
        x2: array-like of numbers; -0.0 counts as positive.
        dtype: MindSpore dtype of the result; by default that of ``x1``.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or holds truth values.
        ValueError: the shapes do not broadcast to each other.
    """
    value, other = to_tensor(x1), to_tensor(x2)
    _refuse_bool("copysign", value, other)
    broadcast_shape(value.shape, other.shape)
    size = ops.abs(value)
    return cast_result(ops.where(ops.lt(other, 0), ops.neg(size), size), dtype)


def maximum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the larger element; NaN wins (MindSpore: ``numpy.maximum``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape; a 0-d operand does not count for the dtype beside axes.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return _extreme(ops.maximum, x1, x2, dtype)


def minimum(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the smaller element; NaN wins (MindSpore: ``numpy.minimum``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape; a 0-d operand does not count for the dtype beside axes.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return _extreme(ops.minimum, x1, x2, dtype)


def clip(x: Any, xmin: Any, xmax: Any, dtype: Any = None) -> Tensor:
    """Bring elements into an interval (MindSpore: ``numpy.clip``).

    Args:
        x: array-like.
        xmin: lower bound, array-like that broadcasts to ``x``, or None.
        xmax: upper bound, array-like that broadcasts to ``x``, or None.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like.
        ValueError: both bounds are None.
    """
    if xmin is None and xmax is None:
        raise located(ValueError, "One of max or min must be given.")
    if xmin is not None:
        x = maximum(x, xmin, dtype=dtype)
    return x if xmax is None else minimum(x, xmax, dtype=dtype)


def heaviside(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Give 0 below 0, 1 above, and ``x2`` at 0 (MindSpore: ``numpy.heaviside``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(_heaviside, x1, x2, dtype=dtype)


def gcd(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Find the greatest common divisor (MindSpore: ``numpy.gcd``).

    Args:
        x1: array-like of integers.
        x2: array-like of integers that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(_gcd, x1, x2, dtype=dtype)


def lcm(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Find the least common multiple (MindSpore: ``numpy.lcm``).

    Args:
        x1: array-like of integers.
        x2: array-like of integers that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(_lcm, x1, x2, dtype=dtype)


def bitwise_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the bitwise and (MindSpore: ``numpy.bitwise_and``).

    Args:
        x1: array-like of integers or truth values.
        x2: array-like of integers or truth values that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.bitwise_and, x1, x2, dtype=dtype)


def bitwise_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the bitwise or (MindSpore: ``numpy.bitwise_or``).

    Args:
        x1: array-like of integers or truth values.
        x2: array-like of integers or truth values that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.bitwise_or, x1, x2, dtype=dtype)


def bitwise_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the bitwise exclusive or (MindSpore: ``numpy.bitwise_xor``).

    Args:
        x1: array-like of integers or truth values.
        x2: array-like of integers or truth values that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.bitwise_xor, x1, x2, dtype=dtype)


def invert(x: Any, dtype: Any = None) -> Tensor:
    """Change every bit (MindSpore: ``numpy.invert``).

    Args:
        x: array-like of integers.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.invert, x, dtype=dtype)


bitwise_not = invert
