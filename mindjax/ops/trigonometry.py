"""Trigonometric and hyperbolic functions, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import floating, promote_pair

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

TensorLike = Any


class Sin(Primitive):
    """Sine."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.sin(floating(x))


_sin = Sin()


def sin(input: Tensor) -> Tensor:
    """Compute the sine of each element (MindSpore: ``ops.sin``).

    Args:
        input: Tensor of any shape, in radians; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _sin(input)


class Cos(Primitive):
    """Cosine."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.cos(floating(x))


_cos = Cos()


def cos(input: Tensor) -> Tensor:
    """Compute the cosine of each element (MindSpore: ``ops.cos``).

    Args:
        input: Tensor of any shape, in radians; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _cos(input)


class Tan(Primitive):
    """Tangent."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.tan(floating(x))


_tan = Tan()


def tan(input: Tensor) -> Tensor:
    """Compute the tangent of each element (MindSpore: ``ops.tan``).

    Args:
        input: Tensor of any shape, in radians; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _tan(input)


class Asin(Primitive):
    """Inverse sine."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.arcsin(floating(x))


_asin = Asin()


def asin(input: Tensor) -> Tensor:
    """Compute the inverse sine of each element (MindSpore: ``ops.asin``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _asin(input)


def arcsin(x: Tensor) -> Tensor:
    """Compute the inverse sine of each element (MindSpore: ``ops.arcsin``).

    Args:
        x: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _asin(x)


class ACos(Primitive):
    """Inverse cosine."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.arccos(floating(x))


_acos = ACos()


def acos(input: Tensor) -> Tensor:
    """Compute the inverse cosine of each element (MindSpore: ``ops.acos``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _acos(input)


arccos = acos


class Atan(Primitive):
    """Inverse tangent."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.arctan(floating(x))


_atan = Atan()


def atan(input: Tensor) -> Tensor:
    """Compute the inverse tangent of each element (MindSpore: ``ops.atan``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _atan(input)


arctan = atan


class Sinh(Primitive):
    """Hyperbolic sine."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.sinh(floating(x))


_sinh = Sinh()


def sinh(input: Tensor) -> Tensor:
    """Compute the hyperbolic sine of each element (MindSpore: ``ops.sinh``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _sinh(input)


class Cosh(Primitive):
    """Hyperbolic cosine."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.cosh(floating(x))


_cosh = Cosh()


def cosh(input: Tensor) -> Tensor:
    """Compute the hyperbolic cosine of each element (MindSpore: ``ops.cosh``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _cosh(input)


class Tanh(Primitive):
    """Hyperbolic tangent."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.tanh(floating(x))


_tanh = Tanh()


def tanh(input: Tensor) -> Tensor:
    """Compute the hyperbolic tangent of each element (MindSpore: ``ops.tanh``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _tanh(input)


class Asinh(Primitive):
    """Inverse hyperbolic sine."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.arcsinh(floating(x))


_asinh = Asinh()


def asinh(input: Tensor) -> Tensor:
    """Compute the inverse hyperbolic sine of each element (MindSpore: ``ops.asinh``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _asinh(input)


arcsinh = asinh


class Acosh(Primitive):
    """Inverse hyperbolic cosine."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.arccosh(floating(x))


_acosh = Acosh()


def acosh(input: Tensor) -> Tensor:
    """Compute the inverse hyperbolic cosine of each element (MindSpore: ``ops.acosh``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _acosh(input)


arccosh = acosh


class Atanh(Primitive):
    """Inverse hyperbolic tangent."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.arctanh(floating(x))


_atanh = Atanh()


def atanh(input: Tensor) -> Tensor:
    """Compute the inverse hyperbolic tangent of each element (MindSpore: ``ops.atanh``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _atanh(input)


arctanh = atanh


class Atan2(Primitive):
    """Angle of the point (y, x)."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Map two arrays that broadcast to each other."""
        x, y = promote_pair(self.name, x, y)
        return jnp.arctan2(floating(x), floating(y))


_atan2 = Atan2()


def atan2(input: TensorLike, other: TensorLike) -> Tensor:
    """Compute the angle of the point (other, input) (MindSpore: ``ops.atan2``).

    Args:
        input: Tensor or number.
        other: Tensor or number that broadcasts to the first.

    Returns:
        Tensor of the broadcast shape, in radians, in [-pi, pi].

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _atan2(input, other)


arctan2 = atan2
