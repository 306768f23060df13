"""Less common functions of arithmetic, element by element, and of complex numbers."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks
from mindjax.core.dtype import float64
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import mul, pow
from mindjax.ops.cast import cast
from mindjax.ops.promotion import floating, promote, promote_pair

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

TensorLike = Any


class Xlogy(Primitive):
    """``x * log(y)``, 0 where x is 0."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        x, y = (floating(a) for a in promote_pair("Xlogy", x, y))
        safe = jnp.where((x == 0) & ~jnp.isnan(y), jnp.ones((), y.dtype), y)
        return x * jnp.log(safe)


_xlogy = Xlogy()


def xlogy(input: TensorLike, other: TensorLike) -> Tensor:
    """Compute ``input * log(other)``, 0 where ``input`` is 0 (MindSpore: ``ops.xlogy``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _xlogy(input, other)


class Xdivy(Primitive):
    """``x / y``, 0 where x is 0."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        x, y = (floating(a) for a in promote_pair("Xdivy", x, y))
        zero = x == 0
        return jnp.where(
            zero, jnp.zeros((), x.dtype), x / jnp.where(zero, jnp.ones((), y.dtype), y)
        )


_xdivy = Xdivy()


def xdivy(x: TensorLike, y: TensorLike) -> Tensor:
    """Compute ``x / y``, 0 where ``x`` is 0 (MindSpore: ``ops.xdivy``).

    Args:
        x: Tensor or number.
        y: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _xdivy(x, y)


class Hypot(Primitive):
    """Length of the vector (x, y)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.hypot(*(floating(a) for a in promote_pair("Hypot", x, y)))


_hypot = Hypot()


def hypot(input: TensorLike, other: TensorLike) -> Tensor:
    """Compute ``sqrt(input**2 + other**2)`` without overflow (MindSpore: ``ops.hypot``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _hypot(input, other)


class SquaredDifference(Primitive):
    """``(x - y) ** 2`` (MindSpore: ``ops.SquaredDifference``)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        x, y = promote_pair("SquaredDifference", x, y)
        return jnp.square(x - y)


class LogAddExp(Primitive):
    """``log(exp(x) + exp(y))``."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.logaddexp(*(floating(a) for a in promote_pair("LogAddExp", x, y)))


_logaddexp = LogAddExp()


def logaddexp(input: TensorLike, other: TensorLike) -> Tensor:
    """Compute ``log(exp(input) + exp(other))`` without overflow (MindSpore: ``ops.logaddexp``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _logaddexp(input, other)


class LogAddExp2(Primitive):
    """``log2(2**x + 2**y)``."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.logaddexp2(*(floating(a) for a in promote_pair("LogAddExp2", x, y)))


_logaddexp2 = LogAddExp2()


def logaddexp2(input: TensorLike, other: TensorLike) -> Tensor:
    """Compute ``log2(2**input + 2**other)`` without overflow (MindSpore: ``ops.logaddexp2``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _logaddexp2(input, other)


class Fmax(Primitive, register=False):
    """Larger of two arrays, without NaN where there is another."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.fmax(*promote_pair("Fmax", x, y))


_fmax = Fmax()


def fmax(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the larger of two elements; a number beats NaN (MindSpore: ``ops.fmax``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _fmax(input, other)


class Fmin(Primitive, register=False):
    """Smaller of two arrays, without NaN where there is another."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.fmin(*promote_pair("Fmin", x, y))


_fmin = Fmin()


def fmin(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the smaller of two elements; a number beats NaN (MindSpore: ``ops.fmin``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _fmin(input, other)


class Heaviside(Primitive):
    """Step function: 0 below zero, 1 above, y at zero."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        x, y = promote_pair("Heaviside", x, y)
        step = jnp.where(x > 0, jnp.ones((), x.dtype), jnp.zeros((), x.dtype))
        return jnp.where(x == 0, y, jnp.where(x != x, x, step))


_heaviside = Heaviside()


def heaviside(input: TensorLike, values: TensorLike) -> Tensor:
    """Give 0 below zero, 1 above zero and ``values`` at zero (MindSpore: ``ops.heaviside``).

    Args:
        input: Tensor or number.
        values: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _heaviside(input, values)


class Real(Primitive):
    """Real part."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.real(x)


_real = Real()


def real(input: Tensor) -> Tensor:
    """Take the real part (MindSpore: ``ops.real``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape, real.
    """
    return _real(input)


class Imag(Primitive):
    """Imaginary part."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.imag(x)


_imag = Imag()


def imag(input: Tensor) -> Tensor:
    """Take the imaginary part (MindSpore: ``ops.imag``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape, real.
    """
    return _imag(input)


class Conj(Primitive):
    """Complex conjugate."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.conj(x)


_conj = Conj()


def conj(input: Tensor) -> Tensor:
    """Take the complex conjugate (MindSpore: ``ops.conj``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _conj(input)


class IsNegInf(Primitive, register=False):
    """Whether each element is minus infinity."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return x == -jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.zeros(x.shape, bool)


_isneginf = IsNegInf()


def isneginf(input: Tensor) -> Tensor:
    """Tell where elements are minus infinity (MindSpore: ``ops.isneginf``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape, Bool.
    """
    return _isneginf(input)


class IsPosInf(Primitive, register=False):
    """Whether each element is plus infinity."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return x == jnp.inf if jnp.issubdtype(x.dtype, jnp.floating) else jnp.zeros(x.shape, bool)


_isposinf = IsPosInf()


def isposinf(input: Tensor) -> Tensor:
    """Tell where elements are plus infinity (MindSpore: ``ops.isposinf``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape, Bool.
    """
    return _isposinf(input)


class Signbit(Primitive, register=False):
    """Whether the sign bit is set."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return (
            jnp.signbit(x) if jnp.issubdtype(x.dtype, jnp.floating) else x < jnp.zeros((), x.dtype)
        )


_signbit = Signbit()


def signbit(input: Tensor) -> Tensor:
    """Tell where the sign bit is set, as for -0.0 (MindSpore: ``ops.signbit``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape, Bool.
    """
    return _signbit(input)


class Sinc(Primitive):
    """``sin(pi x) / (pi x)``."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.sinc(floating(x))


_sinc = Sinc()


def sinc(input: Tensor) -> Tensor:
    """Compute ``sin(pi * input) / (pi * input)``, 1 at zero (MindSpore: ``ops.sinc``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _sinc(input)


class NanToNum(Primitive):
    """NaN and infinities replaced by numbers (MindSpore: ``ops.NanToNum``).

    Args:
        nan: what replaces NaN, 0 by default.
        posinf: what replaces infinity, the largest number by default.
        neginf: what replaces minus infinity, the smallest number by default.
    """

    nan: float | None = None
    posinf: float | None = None
    neginf: float | None = None

    def compute(self, x: Array) -> Array:
        """Replace elements."""
        return jnp.nan_to_num(
            x, nan=0.0 if self.nan is None else self.nan, posinf=self.posinf, neginf=self.neginf
        )


def nan_to_num(
    input: Tensor,
    nan: float | None = None,
    posinf: float | None = None,
    neginf: float | None = None,
) -> Tensor:
    """Replace NaN and infinities by numbers (MindSpore: ``ops.nan_to_num``).

    Args:
        input: Tensor of any shape.
        nan: what replaces NaN, 0 by default.
        posinf: what replaces infinity, the dtype's largest number by default.
        neginf: what replaces minus infinity, the dtype's smallest number by default.

    Returns:
        Tensor of the same shape and dtype.
    """
    return NanToNum(nan, posinf, neginf)(input)


def rad2deg(x: Tensor) -> Tensor:
    """Convert radians to degrees (MindSpore: ``ops.rad2deg``).

    Args:
        x: Tensor of any shape, in radians.

    Returns:
        Tensor of the same shape, in degrees.
    """
    return mul(x, 180.0 / math.pi)


def deg2rad(x: Tensor) -> Tensor:
    """Convert degrees to radians (MindSpore: ``ops.deg2rad``).

    Args:
        x: Tensor of any shape, in degrees.

    Returns:
        Tensor of the same shape, in radians.
    """
    return mul(x, math.pi / 180.0)


def float_power(input: TensorLike, exponent: TensorLike) -> Tensor:
    """Raise to a power in Float64 (MindSpore: ``ops.float_power``).

    Args:
        input: Tensor or number.
        exponent: Tensor or number that broadcasts to the first.

    Returns:
        Float64 Tensor of the broadcast shape.
    """
    wide = tuple(cast(a, float64) for a in (input, exponent))
    return pow(*wide)


class SquareSumAll(Primitive):
    """Sums of the squares of two arrays (MindSpore: ``ops.SquareSumAll``)."""

    def compute(self, x: Array, y: Array) -> tuple[Array, Array]:
        """Reduce two arrays."""
        return jnp.sum(jnp.square(x), dtype=x.dtype), jnp.sum(jnp.square(y), dtype=y.dtype)


def diff(
    x: Tensor,
    n: int = 1,
    axis: int = -1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Take differences of neighbours along an axis (MindSpore: ``ops.diff``).

    Args:
        x: Tensor of rank 1 or more.
        n: how often; the original knows only 1.
        axis: the axis.
        prepend: Tensor to put in front of ``x`` along the axis.
        append: Tensor to put behind it.

    Returns:
        Tensor whose axis is ``n`` shorter.

    Raises:
        ValueError: there is no such axis.
    """
    checks.tensors("diff", x=x)
    parts = [p for p in (prepend, x, append) if p is not None]
    return _Diff(checks.integer("n", n, "diff"), checks.integer("axis", axis, "diff"))(*parts)


class _Diff(Primitive, register=False):
    """Repeated differences of neighbours along an axis."""

    n: int
    axis: int

    def compute(self, *parts: Array) -> Array:
        """Join arrays along the axis and take differences."""
        axis = checks.axis_in_rank(self.axis, next(iter(parts)).ndim, "diff")
        x = jnp.concatenate(promote(*parts, op="diff"), axis)
        return jnp.diff(x, self.n, axis)
