"""Less common functions of elements: bits, common divisors, signs, exponents, neighbours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import as_dtype, from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import TruncateDiv, TruncateMod, mul, pow
from mindjax.ops.comparison import ApproximateEqual
from mindjax.ops.gather import known_values
from mindjax.ops.numeric.kinds import FLOATS, INTEGERS, REAL, SIGNED, accept, accept_alike
from mindjax.ops.promotion import convert, floating, promote_pair
from mindjax.ops.shape import shape_of
from mindjax.ops.special import float_power

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array
TensorLike = Any


class Gcd(Primitive):
    """Greatest common divisor, not negative (MindSpore: ``ops.Gcd``)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        x, y = promote_pair("Gcd", x, y)
        accept("Gcd", "input", x, SIGNED)
        return jnp.gcd(x, y)


def gcd(input: Tensor, other: Tensor) -> Tensor:
    """Compute the greatest common divisor (MindSpore: ``ops.gcd``).

    Args:
        input: Int16, Int32 or Int64 Tensor.
        other: the same; the shapes broadcast.

    Returns:
        Tensor of the common shape and dtype, not negative.

    Raises:
        TypeError: a dtype is another.
    """
    return Gcd()(input, other)


class Lcm(Primitive):
    """Least common multiple, not negative (MindSpore: ``ops.Lcm``)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        x, y = promote_pair("Lcm", x, y)
        accept("Lcm", "x1", x, SIGNED)
        return jnp.lcm(x, y)


def lcm(input: TensorLike, other: TensorLike) -> Tensor:
    """Compute the least common multiple (MindSpore: ``ops.lcm``).

    Args:
        input: Int16, Int32 or Int64 Tensor.
        other: the same; the shapes broadcast.

    Returns:
        Tensor of the common shape and dtype, not negative.

    Raises:
        TypeError: a dtype is another.
    """
    return Lcm()(input, other)


class Invert(Primitive):
    """Every bit flipped (MindSpore: ``ops.Invert``)."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        accept("Invert", "x", x, INTEGERS)
        return jnp.invert(x)


def invert(x: Tensor) -> Tensor:
    """Flip every bit (MindSpore: ``ops.invert``).

    Args:
        x: integer Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` holds no integers.
    """
    return Invert()(x)


class BitwiseNot(Primitive):
    """Every bit flipped; of truth values, the opposite (MindSpore: ``BitwiseNot``)."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        accept("BitwiseNot", "input", x, ("Bool", *INTEGERS))
        return jnp.invert(x)


def bitwise_not(input: Tensor) -> Tensor:
    """Flip every bit (MindSpore: ``mint.bitwise_not``).

    Args:
        input: integer or Bool Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` holds floats or complex numbers.
    """
    return BitwiseNot()(input)


class PopulationCount(Primitive):
    """Number of bits that are set, UInt8 (MindSpore: ``ops.PopulationCount``)."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        accept("PopulationCount", "input_x", x, INTEGERS)
        return lax.population_count(x).astype(np.uint8)


def population_count(input_x: Tensor) -> Tensor:
    """Count the bits that are set (MindSpore: ``ops.population_count``).

    Args:
        input_x: integer Tensor of any shape.

    Returns:
        UInt8 Tensor of the same shape.

    Raises:
        TypeError: ``input_x`` holds no integers.
    """
    return PopulationCount()(input_x)


class CompareAndBitpack(Primitive):
    """Eight comparisons with a threshold in one UInt8; call: ``CompareAndBitpack()(x, limit)``."""

    def compute(self, x: Array, threshold: Array) -> Array:
        """Compare and pack along the last axis; the first of eight is the highest bit."""
        op = "CompareAndBitpack"
        kinds = ("Bool", "Float16", *REAL, "Int8", *SIGNED)
        accept_alike(op, kinds, x=x, threshold=threshold)
        if threshold.ndim:
            raise located(
                ValueError,
                f"For primitive[{op}], the threshold's rank must be equal to 0, but got "
                f"{threshold.ndim}.",
            )
        if not x.ndim or x.shape[-1] % 8:
            raise located(
                ValueError,
                f"For '{op}', the last axis of 'x' must be divisible by 8, but got {x.shape}.",
            )
        bits = (x > threshold).reshape(*x.shape[:-1], x.shape[-1] // 8, 8)
        weights = np.left_shift(1, np.arange(7, -1, -1)).astype(np.int32)
        return jnp.sum(bits.astype(np.int32) * weights, -1).astype(np.uint8)


class _CopySign(Primitive, register=False):
    """Absolute values with the signs of other numbers."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, other: Array) -> Array:
        for a in (x, other):
            kind = from_np(a.dtype)
            if kind.kind in ("bool", "complex"):
                raise located(TypeError, f"copysign does not accept dtype {kind.name.lower()}.")
        dtype = floating(x).dtype
        x, other = promote_pair("copysign", x, other)
        size = jnp.abs(convert(x, dtype))
        return jnp.where(other < 0, -size, size)


def copysign(x: Tensor, other: TensorLike) -> Tensor:
    """Give absolute values the signs of other numbers (MindSpore: ``ops.copysign``).

    Args:
        x: real Tensor.
        other: real Tensor or number; the shapes broadcast. A zero counts as positive.

    Returns:
        Tensor of the common shape and of the dtype of ``x``, Float32 for integers.

    Raises:
        TypeError: ``x`` is no Tensor, or an argument is Bool or complex.
    """
    if not hasattr(x, "dtype"):
        raise located(TypeError, f"For 'copysign', a Tensor is expected, but got {type(x)}.")
    if not hasattr(other, "dtype") and (
        not isinstance(other, int | float) or isinstance(other, bool)
    ):
        raise located(
            TypeError, f"For 'copysign', integer, float or Tensor is expected, but got {other!r}."
        )
    return _CopySign()(x, other)


def ldexp(x: Tensor, other: Tensor) -> Tensor:
    """Compute ``x * 2**other`` (MindSpore: ``ops.ldexp``).

    Args:
        x: Tensor.
        other: Tensor of exponents; the shapes broadcast.

    Returns:
        Tensor of the common shape, Float32 for integers.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return mul(x, pow(2.0, other))


class NextAfter(Primitive):
    """Neighbour of a number on the side of another (MindSpore: ``ops.NextAfter``)."""

    def compute(self, x: Array, other: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        accept_alike("NextAfter", REAL, x1=x, x2=other)
        return jnp.nextafter(*promote_pair("NextAfter", x, other))


def nextafter(input: Tensor, other: Tensor) -> Tensor:
    """Give the next number that can be written, on the side of ``other`` (``ops.nextafter``).

    Args:
        input: Float32 or Float64 Tensor.
        other: Tensor of the same dtype; the shapes broadcast.

    Returns:
        Tensor of the common shape.

    Raises:
        TypeError: a dtype is another, or they differ.
    """
    return NextAfter()(input, other)


def float_power_ext(input: TensorLike, exponent: TensorLike) -> Tensor:
    """Raise to a power in Float64 (MindSpore: ``ops.float_power_ext``).

    Args:
        input: Tensor or number, not complex.
        exponent: the same; one of the two is a Tensor. The shapes broadcast.

    Returns:
        Float64 Tensor.

    Raises:
        TypeError: neither is a Tensor, or one is complex.
    """
    for name, value in (("input", input), ("exponent", exponent)):
        tensor = hasattr(value, "dtype")
        if tensor and as_dtype(value.dtype).kind != "complex":
            continue
        if tensor or not isinstance(value, int | float):
            raise located(
                TypeError,
                f"The type of '{name}' must be Tensor or Number (excluding complex), but got "
                f"{value!r}.",
            )
    if not hasattr(input, "dtype") and not hasattr(exponent, "dtype"):
        raise located(
            TypeError,
            f"At least one of the types of inputs must be tensor, but got {input!r} and "
            f"{exponent!r}.",
        )
    return float_power(input, exponent)


def truncate_div(x: TensorLike, y: TensorLike) -> Tensor:
    """Divide and round towards 0 (MindSpore: ``ops.truncate_div``).

    Args:
        x: Tensor or number.
        y: Tensor or number; the shapes broadcast.

    Returns:
        Tensor of the common shape and dtype.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return TruncateDiv()(x, y)


def truncate_mod(x: TensorLike, y: TensorLike) -> Tensor:
    """Take the remainder of `truncate_div` (MindSpore: ``ops.truncate_mod``).

    Args:
        x: Tensor or number.
        y: Tensor or number; the shapes broadcast.

    Returns:
        Tensor of the common shape and dtype; it has the sign of ``x``.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return TruncateMod()(x, y)


def approximate_equal(x: Tensor, y: Tensor, tolerance: float = 1e-5) -> Tensor:
    """Tell where two Tensors differ by less than a tolerance (``ops.approximate_equal``).

    Args:
        x: real Tensor.
        y: real Tensor; the shapes broadcast.
        tolerance: largest difference, exclusive.

    Returns:
        Bool Tensor of the common shape; infinities and NaN are equal to nothing.

    Raises:
        TypeError: the dtypes do not mix, or ``tolerance`` is no float.
    """
    checks.of_type("tolerance", tolerance, float, "ApproximateEqual")
    return ApproximateEqual(tolerance)(x, y)


class Eps(Primitive):
    """Distance from 1 to the next number (MindSpore: ``ops.Eps``)."""

    def compute(self, x: Array) -> Array:
        """Fill an array of the same shape."""
        accept("Eps", "x", x, FLOATS)
        return jnp.full(x.shape, jnp.finfo(x.dtype).eps, x.dtype)


def eps(x: Tensor) -> Tensor:
    """Fill with the distance from 1 to the next number of a dtype (MindSpore: ``ops.eps``).

    Args:
        x: float Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``x`` holds no floats.
    """
    return Eps()(x)


class Fills(Primitive):
    """One value in the shape and dtype of an array; call: ``Fills()(x, value)``."""

    def compute(self, x: Array, value: Array) -> Array:
        """Fill an array of the same shape."""
        return jnp.full(x.shape, value.astype(x.dtype), x.dtype)


def fills(x: Tensor, value: TensorLike) -> Tensor:
    """Fill the shape and dtype of a Tensor with one value (MindSpore: ``ops.fills``).

    Args:
        x: Tensor of any shape and dtype.
        value: number, or 0-d Tensor.

    Returns:
        Tensor like ``x``.

    Raises:
        TypeError: ``value`` is neither a number nor a Tensor.
        ValueError: ``value`` has axes.
    """
    if hasattr(value, "dtype"):
        if shape_of(value):
            raise located(
                ValueError,
                "For 'ops.fills', if the argument 'value' is a tensor, the number of its dimension "
                f"should be 0, but got {len(shape_of(value))}.",
            )
    elif not isinstance(value, int | float):
        raise located(
            TypeError,
            "For 'ops.fills', the type of argument 'value' should be int, float or Tensor, but got "
            f"{value!r}.",
        )
    return Fills()(x, value)


class EqualCount(Primitive):
    """Number of equal elements of two arrays, of their dtype (MindSpore: ``ops.EqualCount``)."""

    def compute(self, x: Array, y: Array) -> Array:
        """Count in arrays of one shape and dtype."""
        checks.same_shape("EqualCount", x=x.shape, y=y.shape)
        checks.same_dtype("EqualCount", x=x.dtype, y=y.dtype)
        return jnp.sum(x == y, dtype=np.int64).reshape(1).astype(x.dtype)


class CheckNumerics(Primitive):
    """The array itself, if it holds neither NaN nor infinity (MindSpore: ``ops.CheckNumerics``).

    A compiled program, which cannot raise, lets them through.
    """

    def __call__(self, *inputs: Any) -> Any:
        """Check where the values are known."""
        host = known_values(inputs[0])
        if host is not None and host.dtype.kind in "fV":
            for kind, found in (("NaN", np.isnan), ("Inf", np.isinf)):
                if found(host.astype(np.float64)).any():
                    raise located(
                        RuntimeError, f"For 'CheckNumerics', Tensor 'x' had {kind} values."
                    )
        return super()._dispatch(*inputs)

    def compute(self, x: Array) -> Array:
        """Check the dtype."""
        accept("CheckNumerics", "x", x, FLOATS)
        return x


class IdentityN(Primitive):
    """Copies of several Tensors; call: ``IdentityN()((x, y))``."""

    def __call__(self, *inputs: Any) -> Any:
        """Copy.

        Raises:
            TypeError: the input is neither a tuple nor a list.
        """
        if len(inputs) != 1 or not isinstance(inputs[0], tuple | list):
            raise located(
                TypeError,
                "For 'IdentityN', the input must be a tuple or list of Tensors, but got "
                f"{type(inputs[0]).__name__ if inputs else 'nothing'}.",
            )
        return super()._dispatch(*inputs[0])

    def compute(self, *arrays: Array) -> tuple[Array, ...]:
        """Check the dtypes."""
        for i, x in enumerate(arrays):
            accept("IdentityN", f"input x[{i}]", x, ("Bool", *FLOATS, *INTEGERS))
        return arrays
