"""Logical and bitwise operators, tests of floats, and selection by condition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import is_bool, promote_pair, truth

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

TensorLike = Any


class LogicalAnd(Primitive):
    """Logical and; what is not zero is true."""

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.logical_and(truth(x), truth(y))


_logical_and = LogicalAnd()


def logical_and(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the logical and; what is not zero is true (MindSpore: ``ops.logical_and``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is neither a Tensor nor a number.
    """
    return _logical_and(input, other)


class LogicalOr(Primitive):
    """Logical or; what is not zero is true."""

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.logical_or(truth(x), truth(y))


_logical_or = LogicalOr()


def logical_or(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the logical or; what is not zero is true (MindSpore: ``ops.logical_or``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is neither a Tensor nor a number.
    """
    return _logical_or(input, other)


class LogicalXor(Primitive):
    """Logical exclusive or; what is not zero is true."""

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.logical_xor(truth(x), truth(y))


_logical_xor = LogicalXor()


def logical_xor(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the logical exclusive or; what is not zero is true (MindSpore: ``ops.logical_xor``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is neither a Tensor nor a number.
    """
    return _logical_xor(input, other)


class LogicalNot(Primitive):
    """Logical not."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.logical_not(truth(x))


_logical_not = LogicalNot()


def logical_not(input: Tensor) -> Tensor:
    """Take the logical not; what is not zero is true (MindSpore: ``ops.logical_not``).

    Args:
        input: Tensor of any shape and dtype.

    Returns:
        Tensor of the same shape, Bool.
    """
    return _logical_not(input)


def _integers(op: str, x: Array, y: Array) -> tuple[Array, Array]:
    x, y = promote_pair(op, x, y)
    if not (is_bool(x) or jnp.issubdtype(x.dtype, jnp.integer)):
        raise located(
            TypeError,
            f"For primitive[{op}], the input argument[x] must be an integer or Bool type, but got "
            f"Tensor[{from_np(x.dtype)}].",
        )
    return x, y


class BitwiseAnd(Primitive):
    """Bitwise and."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.bitwise_and(*_integers("BitwiseAnd", x, y))


_bitwise_and = BitwiseAnd()


def bitwise_and(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the bitwise and (MindSpore: ``ops.bitwise_and``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or are not integers or Bool.
    """
    return _bitwise_and(input, other)


class BitwiseOr(Primitive):
    """Bitwise or."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.bitwise_or(*_integers("BitwiseOr", x, y))


_bitwise_or = BitwiseOr()


def bitwise_or(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the bitwise or (MindSpore: ``ops.bitwise_or``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or are not integers or Bool.
    """
    return _bitwise_or(input, other)


class BitwiseXor(Primitive):
    """Bitwise exclusive or."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.bitwise_xor(*_integers("BitwiseXor", x, y))


_bitwise_xor = BitwiseXor()


def bitwise_xor(input: TensorLike, other: TensorLike) -> Tensor:
    """Take the bitwise exclusive or (MindSpore: ``ops.bitwise_xor``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or are not integers or Bool.
    """
    return _bitwise_xor(input, other)


class LeftShift(Primitive):
    """Bits shifted to the left."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.left_shift(*_integers("LeftShift", x, y))


_bitwise_left_shift = LeftShift()


def bitwise_left_shift(input: TensorLike, other: TensorLike) -> Tensor:
    """Shift the bits to the left by ``other`` (MindSpore: ``ops.bitwise_left_shift``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or are not integers.
    """
    return _bitwise_left_shift(input, other)


class RightShift(Primitive):
    """Bits shifted to the right."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.right_shift(*_integers("RightShift", x, y))


_bitwise_right_shift = RightShift()


def bitwise_right_shift(input: TensorLike, other: TensorLike) -> Tensor:
    """Shift the bits to the right by ``other`` (MindSpore: ``ops.bitwise_right_shift``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape and the promoted dtype.

    Raises:
        TypeError: the dtypes do not mix, or are not integers.
    """
    return _bitwise_right_shift(input, other)


class IsNan(Primitive):
    """Whether each element is NaN."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.isnan(x)


_isnan = IsNan()


def isnan(input: Tensor) -> Tensor:
    """Tell where elements are NaN (MindSpore: ``ops.isnan``).

    Args:
        input: Tensor of any shape and dtype.

    Returns:
        Tensor of the same shape, Bool.
    """
    return _isnan(input)


class IsInf(Primitive):
    """Whether each element is infinite."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.isinf(x)


_isinf = IsInf()


def isinf(input: Tensor) -> Tensor:
    """Tell where elements are infinite (MindSpore: ``ops.isinf``).

    Args:
        input: Tensor of any shape and dtype.

    Returns:
        Tensor of the same shape, Bool.
    """
    return _isinf(input)


class IsFinite(Primitive):
    """Whether each element is finite."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.isfinite(x)


_isfinite = IsFinite()


def isfinite(input: Tensor) -> Tensor:
    """Tell where elements are finite (MindSpore: ``ops.isfinite``).

    Args:
        input: Tensor of any shape and dtype.

    Returns:
        Tensor of the same shape, Bool.
    """
    return _isfinite(input)


class Select(Primitive):
    """Elements of one array where a condition holds, else of another (``ops.Select``)."""

    promotes: ClassVar[tuple[int, ...]] = (1, 2)

    def compute(self, condition: Array, x: Array, y: Array) -> Array:
        """Select from arrays that broadcast to each other."""
        x, y = promote_pair("Select", x, y)
        return jnp.where(truth(condition), x, y)


_select = Select()


def where(condition: TensorLike, input: TensorLike, other: TensorLike) -> Tensor:
    """Take ``input`` where the condition holds, ``other`` elsewhere (MindSpore: ``ops.where``).

    Args:
        condition: Bool Tensor.
        input: Tensor or number that broadcasts to the others.
        other: Tensor or number that broadcasts to the others.

    Returns:
        Tensor of the broadcast shape and the promoted dtype of ``input`` and ``other``.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _select(condition, input, other)


select = where
