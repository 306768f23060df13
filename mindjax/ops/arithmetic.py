"""Sums, products, quotients, remainders and powers, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.precision import CastTo
from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import (
    WIDE_UNSIGNED,
    convert,
    floating,
    is_bool,
    is_float,
    promote_pair,
    refuse_bool,
    refuse_wide_unsigned,
)

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array
TensorLike = Any
_BOTH: tuple[int, ...] = (0, 1)


class Add(Primitive):
    """Sum of two numeric arrays (MindSpore: ``ops.Add``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Add arrays that broadcast to each other."""
        x, y = promote_pair("Add", x, y)
        refuse_bool("Add", x)
        return jnp.add(x, y)


_add = Add()


def add(input: TensorLike, other: TensorLike) -> Tensor:
    """Add two numeric Tensors (MindSpore: ``ops.add``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or both are Bool.
    """
    return _add(input, other)


class AddExt(Primitive):
    """``x + alpha * y`` for any dtype; of truth values it is the logical or."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array, alpha: Array | None = None) -> Array:
        """Add arrays that broadcast to each other."""
        x, y = promote_pair("Add", x, y)
        return jnp.add(x, _scaled("Add", y, alpha))


add_ext = AddExt()


class Sub(Primitive):
    """Difference of two numeric arrays (MindSpore: ``ops.Sub``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Subtract arrays that broadcast to each other."""
        x, y = promote_pair("Sub", x, y)
        refuse_bool("Sub", x)
        return jnp.subtract(x, y)


_sub = Sub()


def sub(input: TensorLike, other: TensorLike) -> Tensor:
    """Subtract two numeric Tensors (MindSpore: ``ops.sub``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or both are Bool.
    """
    return _sub(input, other)


class SubExt(Primitive):
    """``x - alpha * y`` for any dtype; of truth values it is the exclusive or."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array, alpha: Array | None = None) -> Array:
        """Subtract arrays that broadcast to each other."""
        x, y = promote_pair("Sub", x, y)
        y = _scaled("Sub", y, alpha)
        return jnp.logical_xor(x, y) if is_bool(x) else jnp.subtract(x, y)


sub_ext = SubExt()


def _scaled(op: str, y: Array, alpha: Array | None) -> Array:
    if alpha is None:
        return y
    if is_float(alpha) and not jnp.issubdtype(y.dtype, jnp.inexact):
        raise located(
            TypeError,
            f"For '{op}', the 'alpha' must be an integer for Tensors of {y.dtype}, not a float.",
        )
    return jnp.multiply(y, convert(alpha, y.dtype))


def subtract(input: TensorLike, other: TensorLike, *, alpha: float = 1) -> Tensor:
    """Compute ``input - alpha * other`` (MindSpore: ``ops.subtract``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.
        alpha: number.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or ``alpha`` is a float for integer Tensors.
    """
    return sub_ext(input, other) if alpha == 1 else sub_ext(input, other, alpha)


class Mul(Primitive):
    """Product of two arrays (MindSpore: ``ops.Mul``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH
    keeps_unsigned: ClassVar[bool] = True

    def compute(self, x: Array, y: Array) -> Array:
        """Multiply arrays that broadcast to each other."""
        return jnp.multiply(*_product_pair("Mul", x, y))


_mul = Mul()


def mul(input: TensorLike, other: TensorLike) -> Tensor:
    """Multiply two Tensors element by element (MindSpore: ``ops.mul``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _mul(input, other)


multiply = mul


class Div(Primitive):
    """Quotient of two arrays; integers divide to Float32 (MindSpore: ``ops.Div``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH
    keeps_unsigned: ClassVar[bool] = True

    def compute(self, x: Array, y: Array) -> Array:
        """Divide arrays that broadcast to each other."""
        x, y = _product_pair("Div", x, y)
        return jnp.divide(floating(x), floating(y))

    def __call__(self, x: Any, y: Any) -> Any:
        """Divide; a wide unsigned Tensor meets a Python float in Float32."""
        return self._dispatch(_beside_float(x, y), _beside_float(y, x))


def _beside_float(x: Any, other: Any) -> Any:
    wide = isinstance(x, Handle) and x.value_dtype in (np.uint16, np.uint32, np.uint64)
    return CastTo(float32)(x) if wide and isinstance(other, float | np.floating) else x


def _product_pair(op: str, x: Array, y: Array) -> tuple[Array, Array]:
    """Promote factors; wide unsigned integers do not even mix with truth values here."""
    refuse_wide_unsigned(op, x, y)
    return promote_pair(op, x, y)


_div = Div()


class RealDiv(Primitive):
    """Quotient of two numeric arrays in their own dtype (MindSpore: ``ops.RealDiv``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Divide arrays that broadcast to each other; integers are cut towards zero."""
        x, y = promote_pair("RealDiv", x, y)
        refuse_bool("RealDiv", x)
        return jnp.divide(x, y) if jnp.issubdtype(x.dtype, jnp.inexact) else _trunc_div(x, y)


_real_div = RealDiv()


def tensor_div(x: TensorLike, y: TensorLike) -> Tensor:
    """Divide in the promoted dtype (MindSpore: ``ops.tensor_div``).

    Args:
        x: Tensor or number.
        y: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype; integers are cut towards zero.

    Raises:
        TypeError: the dtypes do not mix, or both are Bool.
    """
    return _real_div(x, y)


class TruncateDiv(RealDiv):
    """Quotient cut towards zero (MindSpore: ``ops.TruncateDiv``)."""

    def compute(self, x: Array, y: Array) -> Array:
        """Divide arrays that broadcast to each other."""
        x, y = promote_pair("TruncateDiv", x, y)
        return jnp.trunc(jnp.divide(x, y)) if is_float(x) else _trunc_div(x, y)


class DivNoNan(Primitive):
    """Quotient that is 0 where the divisor is 0 (MindSpore: ``ops.DivNoNan``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Divide arrays that broadcast to each other."""
        x, y = promote_pair("DivNoNan", x, y)
        zero = y == 0
        safe = jnp.where(zero, jnp.ones((), y.dtype), y)
        quotient = _trunc_div(x, safe) if not is_float(x) else jnp.divide(x, safe)
        return jnp.where(zero, jnp.zeros((), x.dtype), quotient)


class MulNoNan(Primitive):
    """Product that is 0 where the second factor is 0 (MindSpore: ``ops.MulNoNan``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Multiply arrays that broadcast to each other."""
        x, y = promote_pair("MulNoNan", x, y)
        return jnp.where(y == 0, jnp.zeros((), x.dtype), jnp.multiply(x, y))


def _extremes(x: Array) -> Array:
    """Give what the original's integer quotient by zero is: infinity cut to the dtype."""
    info = np.iinfo(x.dtype)
    high, low = jnp.asarray(info.max, x.dtype), jnp.asarray(info.min, x.dtype)
    zero = jnp.zeros((), x.dtype)
    return jnp.where(x > 0, high, jnp.where(x < 0, low, zero))


def _trunc_div(x: Array, y: Array) -> Array:
    x, y = jnp.broadcast_arrays(x, y)
    return jnp.where(y == 0, _extremes(x), jax.lax.div(x, jnp.where(y == 0, jnp.ones_like(y), y)))


def _floor_rem(x: Array, y: Array) -> Array:
    """Remainder with the divisor's sign; integers modulo zero give the smallest number."""
    x, y = jnp.broadcast_arrays(x, y)
    if is_float(x):
        rest = jax.lax.rem(x, y)
        return jnp.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)
    safe = jnp.where(y == 0, jnp.ones_like(y), y)
    rest = jax.lax.rem(x, safe)
    if jnp.issubdtype(x.dtype, jnp.signedinteger):
        rest = jnp.where((rest != 0) & ((rest < 0) != (safe < 0)), rest + safe, rest)
    return jnp.where(y == 0, jnp.asarray(np.iinfo(x.dtype).min, x.dtype), rest)


def _floor_div(x: Array, y: Array) -> Array:
    x, y = jnp.broadcast_arrays(x, y)
    if is_bool(x):
        return _floor_div(convert(x, np.uint8), convert(y, np.uint8)) != 0
    if is_float(x):
        # The rounded exact multiple: floor(x / y) is one too high for 1.0 // 0.1.
        exact = jnp.round(jnp.divide(x - _floor_rem(x, y), y))
        return jnp.where(y == 0, jnp.floor(jnp.divide(x, y)), exact)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return convert(jnp.floor(jnp.divide(x, y).real), x.dtype)
    safe = jnp.where(y == 0, jnp.ones_like(y), y)
    return jnp.where(y == 0, _extremes(x), jax.lax.div(x - _floor_rem(x, safe), safe))


class FloorDiv(Primitive):
    """Quotient rounded down (MindSpore: ``ops.FloorDiv``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Divide arrays that broadcast to each other."""
        return _floor_div(*promote_pair("FloorDiv", x, y))


_floor_divide = FloorDiv()


def floor_divide(input: TensorLike, other: TensorLike) -> Tensor:
    """Divide and round down (MindSpore: ``ops.floor_divide``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype; an integer divided by zero is the
        largest or smallest number of its dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _floor_divide(input, other)


def floor_div(x: TensorLike, y: TensorLike) -> Tensor:
    """Divide and round down (MindSpore: ``ops.floor_div``).

    Args:
        x: Tensor or number.
        y: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _floor_divide(x, y)


class FloorMod(Primitive):
    """Remainder with the sign of the divisor (MindSpore: ``ops.FloorMod``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Take the remainder of arrays that broadcast to each other."""
        x, y = promote_pair("FloorMod", x, y)
        _refuse_remainder("FloorMod", x)
        if x.dtype in WIDE_UNSIGNED:
            raise located(
                TypeError, f"For 'FloorMod', the input type {x.dtype} is invalid: it is unsigned."
            )
        return _floor_rem(x, y)


_floor_mod = FloorMod()


def floor_mod(x: TensorLike, y: TensorLike) -> Tensor:
    """Take the remainder that has the divisor's sign (MindSpore: ``ops.floor_mod``).

    Args:
        x: Tensor or number.
        y: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype; an integer modulo zero is the
        smallest number of its dtype.

    Raises:
        TypeError: the dtypes do not mix, or are Bool or complex.
    """
    return _floor_mod(x, y)


def remainder(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the remainder that has the divisor's sign (MindSpore: ``ops.remainder``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or are Bool or complex.
    """
    return _floor_mod(input, other)


class Mod(Primitive):
    """Remainder with the sign of the dividend (MindSpore: ``ops.Mod``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Take the remainder of arrays that broadcast to each other."""
        x, y = promote_pair(self.name, x, y)
        _refuse_remainder(self.name, x)
        return jax.lax.rem(*jnp.broadcast_arrays(x, y))


class TruncateMod(Mod):
    """Remainder with the sign of the dividend (MindSpore: ``ops.TruncateMod``)."""


_truncate_mod = TruncateMod()


def fmod(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the remainder that has the dividend's sign (MindSpore: ``ops.fmod``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or are Bool or complex.
    """
    return _truncate_mod(input, other)


def _refuse_remainder(op: str, x: Array) -> None:
    refuse_bool(op, x)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise located(TypeError, f"For '{op}', complex numbers have no remainder.")


class DivMod(Primitive):
    """Quotient rounded down or cut (MindSpore: ``DivMod``)."""

    rounding_mode: str
    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Divide arrays that broadcast to each other."""
        x, y = promote_pair("Div", x, y)
        if self.rounding_mode == "floor":
            return _floor_div(x, y)
        if is_float(x):
            return jnp.trunc(jnp.divide(x, y))
        low = jnp.asarray(np.iinfo(x.dtype).min, x.dtype)
        return jnp.where(y == 0, low, _trunc_div(x, y))


_div_floor, _div_trunc = DivMod("floor"), DivMod("trunc")


def div(input: TensorLike, other: TensorLike, *, rounding_mode: str | None = None) -> Tensor:
    """Divide two Tensors (MindSpore: ``ops.div``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.
        rounding_mode: None for the quotient itself, ``"floor"`` to round down, ``"trunc"`` to cut
            towards zero.

    Returns:
        Tensor of the broadcast shape; integers give Float32 without a rounding mode and keep their
        dtype with one.

    Raises:
        ValueError: ``rounding_mode`` is none of these.
        TypeError: the dtypes do not mix.
    """
    if rounding_mode is None:
        return _div(input, other)
    if rounding_mode == "floor":
        return _div_floor(input, other)
    if rounding_mode == "trunc":
        return _div_trunc(input, other)
    raise located(
        ValueError,
        "For ops.div, rounding_mode value should be None, 'floor' or 'trunc', but got "
        f"{rounding_mode!r}.",
    )


divide = div


def true_divide(dividend: TensorLike, divisor: TensorLike) -> Tensor:
    """Divide two Tensors (MindSpore: ``ops.true_divide``).

    Args:
        dividend: Tensor or number.
        divisor: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape; integers give Float32.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _div(dividend, divisor)


class Pow(Primitive):
    """Power of two arrays (MindSpore: ``ops.Pow``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Raise an array to the power of another that broadcasts to it."""
        x, y = promote_pair("Pow", x, y)
        refuse_bool("Pow", x)
        if jnp.issubdtype(x.dtype, jnp.inexact):
            return jnp.power(x, y)
        return _integer_power(*jnp.broadcast_arrays(x, y))


def _integer_power(x: Array, y: Array) -> Array:
    """Multiply repeatedly; a negative exponent gives the real power cut to an integer."""
    if jnp.issubdtype(x.dtype, jnp.unsignedinteger):
        return jnp.power(x, y)
    one = jnp.ones_like(x)
    power = jnp.power(x, jnp.maximum(y, jnp.zeros_like(y)))
    sign = jnp.where((y & one) == 0, one, -one)
    cut = jnp.where(x == one, one, jnp.where(x == -one, sign, jnp.zeros_like(x)))
    cut = jnp.where(x == 0, jnp.asarray(np.iinfo(x.dtype).min, x.dtype), cut)
    return jnp.where(y < 0, cut, power)


_pow = Pow()


def pow(input: TensorLike, exponent: TensorLike) -> Tensor:
    """Raise to a power element by element (MindSpore: ``ops.pow``).

    Args:
        input: Tensor or number.
        exponent: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or both are Bool.
    """
    return _pow(input, exponent)


pows = pow


class Neg(Primitive):
    """Negative (MindSpore: ``ops.Neg``)."""

    def compute(self, x: Array) -> Array:
        """Negate an array."""
        refuse_bool("Neg", x)
        return jnp.negative(x)


_neg = Neg()


def neg(input: Tensor) -> Tensor:
    """Negate each element (MindSpore: ``ops.neg``).

    Args:
        input: numeric Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: the dtype is Bool.
    """
    return _neg(input)


negative = neg


class Abs(Primitive):
    """Absolute value (MindSpore: ``ops.Abs``)."""

    def compute(self, x: Array) -> Array:
        """Take absolute values; the gradient at zero is zero, where jax's is one."""
        return jnp.sign(x) * x if is_float(x) else convert(jnp.abs(x), x.dtype)


_abs = Abs()


def abs(input: Tensor) -> Tensor:
    """Take the absolute value of each element (MindSpore: ``ops.abs``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype, complex ones included.
    """
    return _abs(input)


absolute = abs


class Sign(Primitive):
    """Sign (MindSpore: ``ops.Sign``)."""

    def compute(self, x: Array) -> Array:
        """Give -1, 0 or 1 for each element."""
        return x if is_bool(x) else jnp.sign(x)


_sign = Sign()


def sign(input: Tensor) -> Tensor:
    """Give the sign of each element, -1, 0 or 1 (MindSpore: ``ops.sign``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _sign(input)


class Inv(Primitive):
    """Reciprocal in the array's own dtype (MindSpore: ``ops.Inv``)."""

    def compute(self, x: Array) -> Array:
        """Compute ``1 / x``; integers are cut towards zero."""
        if jnp.issubdtype(x.dtype, jnp.inexact):
            return jnp.ones((), x.dtype) / x
        refuse_bool("Inv", x)
        return _integer_power(x, -jnp.ones_like(x))


_inv = Inv()


def inv(x: Tensor) -> Tensor:
    """Compute ``1 / x`` element by element (MindSpore: ``ops.inv``).

    Args:
        x: numeric Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: the dtype is Bool.
    """
    return _inv(x)


class Maximum(Primitive):
    """Larger of two arrays (MindSpore: ``ops.Maximum``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Take the larger elements; NaN wins, and equal ones share the gradient."""
        return jnp.maximum(*promote_pair("Maximum", x, y))


_maximum = Maximum()


def maximum(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the larger of two elements (MindSpore: ``ops.maximum``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype; NaN where an operand is NaN.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _maximum(input, other)


class Minimum(Primitive):
    """Smaller of two arrays (MindSpore: ``ops.Minimum``)."""

    promotes: ClassVar[tuple[int, ...]] = _BOTH

    def compute(self, x: Array, y: Array) -> Array:
        """Take the smaller elements; NaN wins, and equal ones share the gradient."""
        return jnp.minimum(*promote_pair("Minimum", x, y))


_minimum = Minimum()


def minimum(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the smaller of two elements (MindSpore: ``ops.minimum``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype; NaN where an operand is NaN.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _minimum(input, other)


tensor_add = add
tensor_sub = sub
tensor_mul = mul
tensor_mod = floor_mod
tensor_floordiv = floor_divide
tensor_pow = pow
