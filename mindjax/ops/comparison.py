"""Element-wise comparison of two Tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import floating, promote_pair

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

TensorLike = Any


def _ordered(op: str, x: Array, y: Array) -> tuple[Array, Array]:
    x, y = promote_pair(op, x, y)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        raise located(TypeError, f"For '{op}', complex numbers have no order.")
    return x, y


class Equal(Primitive):
    """Whether x is equal to y."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)
    keeps_unsigned: ClassVar[bool] = True

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.equal(*promote_pair("Equal", x, y))


_equal = Equal()


def equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Tell where ``input`` is equal to ``other`` (MindSpore: ``ops.equal``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _equal(input, other)


eq = equal


class NotEqual(Primitive):
    """Whether x is not equal to y."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.not_equal(*promote_pair("NotEqual", x, y))


_not_equal = NotEqual()


def not_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Tell where ``input`` is not equal to ``other`` (MindSpore: ``ops.not_equal``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _not_equal(input, other)


ne = not_equal


class Less(Primitive):
    """Whether x is less than y."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.less(*_ordered("Less", x, y))


_less = Less()


def less(input: TensorLike, other: TensorLike) -> Tensor:
    """Tell where ``input`` is less than ``other`` (MindSpore: ``ops.less``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes do not mix, or are complex.
    """
    return _less(input, other)


lt = less
tensor_lt = less


class LessEqual(Primitive):
    """Whether x is less than or equal to y."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.less_equal(*_ordered("LessEqual", x, y))


_less_equal = LessEqual()


def less_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Tell where ``input`` is less than or equal to ``other`` (MindSpore: ``ops.less_equal``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes do not mix, or are complex.
    """
    return _less_equal(input, other)


le = less_equal
tensor_le = less_equal


class Greater(Primitive):
    """Whether x is greater than y."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.greater(*_ordered("Greater", x, y))


_greater = Greater()


def greater(input: TensorLike, other: TensorLike) -> Tensor:
    """Tell where ``input`` is greater than ``other`` (MindSpore: ``ops.greater``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes do not mix, or are complex.
    """
    return _greater(input, other)


gt = greater
tensor_gt = greater


class GreaterEqual(Primitive):
    """Whether x is greater than or equal to y."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        return jnp.greater_equal(*_ordered("GreaterEqual", x, y))


_greater_equal = GreaterEqual()


def greater_equal(input: TensorLike, other: TensorLike) -> Tensor:
    """Tell where ``input`` is greater than or equal to ``other`` (``ops.greater_equal``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes do not mix, or are complex.
    """
    return _greater_equal(input, other)


ge = greater_equal
tensor_ge = greater_equal


class IsClose(Primitive):
    """Whether two arrays are equal within a tolerance (MindSpore: ``ops.IsClose``).

    Args:
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: whether NaN equals NaN.
    """

    rtol: float = 1e-05
    atol: float = 1e-08
    equal_nan: bool = False
    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Compare arrays that broadcast to each other."""
        x, y = (floating(a) for a in promote_pair("IsClose", x, y))
        return jnp.isclose(x, y, rtol=self.rtol, atol=self.atol, equal_nan=self.equal_nan)


def isclose(
    input: TensorLike,
    other: TensorLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> Tensor:
    """Tell where ``|input - other| <= atol + rtol * |other|`` (MindSpore: ``ops.isclose``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: whether NaN equals NaN.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return IsClose(
        checks.number("rtol", rtol, "isclose"),
        checks.number("atol", atol, "isclose"),
        bool(equal_nan),
    )(input, other)


class ApproximateEqual(Primitive):
    """Whether two arrays differ by less than a tolerance (MindSpore: ``ops.ApproximateEqual``).

    Args:
        tolerance: largest difference, exclusive.
    """

    tolerance: float = 1e-05
    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Compare arrays of one shape."""
        x, y = promote_pair("ApproximateEqual", x, y)
        return jnp.abs(x - y) < self.tolerance


def allclose(
    input: TensorLike,
    other: TensorLike,
    rtol: float = 1e-05,
    atol: float = 1e-08,
    equal_nan: bool = False,
) -> bool:
    """Tell whether all elements are close, as `isclose` says (MindSpore: ``mint.allclose``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.
        rtol: relative tolerance.
        atol: absolute tolerance.
        equal_nan: whether NaN equals NaN.

    Returns:
        Python bool.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return bool(isclose(input, other, rtol, atol, equal_nan).all())
