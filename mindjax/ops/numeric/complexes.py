"""Complex numbers: made of parts, taken apart, their angle, size and sign."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import Sign
from mindjax.ops.numeric.kinds import REAL, accept, accept_alike
from mindjax.ops.promotion import broadcast_shape, floating
from mindjax.ops.shape import broadcast

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array

COMPLEX = ("Complex64", "Complex128")


class Angle(Primitive):
    """Angle of complex numbers in radians; 0 or pi for real ones (MindSpore: ``ops.Angle``)."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.angle(floating(x))


def angle(input: Tensor) -> Tensor:
    """Compute the angle of complex numbers (MindSpore: ``ops.angle``).

    Args:
        input: Tensor of any shape; a real number counts as complex.

    Returns:
        Real Tensor of the same shape, in radians from -pi to pi.
    """
    return Angle()(input)


class Complex(Primitive):
    """Complex numbers of their real and imaginary parts (MindSpore: ``ops.Complex``)."""

    def compute(self, real: Array, imag: Array) -> Array:
        """Join two arrays that broadcast to each other."""
        accept_alike("Complex", REAL, real=real, imag=imag)
        shape = broadcast_shape("Complex", real.shape, imag.shape)
        return lax.complex(broadcast(real, shape), broadcast(imag, shape))


class ComplexAbs(Primitive):
    """Absolute value of complex numbers (MindSpore: ``ops.ComplexAbs``)."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element; the slope at 0 is 0."""
        accept("ComplexAbs", "x", x, COMPLEX)
        zero = x == 0
        return jnp.where(zero, 0.0, jnp.abs(jnp.where(zero, 1.0, x)))


class Polar(Primitive):
    """Complex numbers of their absolute value and angle (MindSpore: ``ops.Polar``)."""

    def compute(self, size: Array, angle: Array) -> Array:
        """Join two arrays that broadcast to each other."""
        accept_alike("Polar", REAL, abs=size, angle=angle)
        shape = broadcast_shape("Polar", size.shape, angle.shape)
        size, angle = broadcast(size, shape), broadcast(angle, shape)
        return lax.complex(size * jnp.cos(angle), size * jnp.sin(angle))


def polar(abs: Tensor, angle: Tensor) -> Tensor:
    """Make complex numbers of their absolute value and angle (MindSpore: ``ops.polar``).

    Args:
        abs: Float32 or Float64 Tensor.
        angle: Tensor of the same dtype, in radians; the shapes broadcast.

    Returns:
        Complex64 or Complex128 Tensor of the common shape.

    Raises:
        TypeError: a dtype is another, or they differ.
    """
    for name, value in (("abs", abs), ("angle", angle)):
        if not hasattr(value, "dtype"):
            raise located(TypeError, f"For 'polar', '{name}' must be a Tensor, but got {value!r}.")
    return Polar()(abs, angle)


class _ViewAsReal(Primitive, register=False):
    """Real and imaginary parts on a new last axis."""

    def compute(self, x: Array) -> Array:
        if not jnp.issubdtype(x.dtype, jnp.complexfloating):
            raise located(
                TypeError,
                f"For view_as_real, the dtype of input Tensor must be complex, but got {x.dtype}.",
            )
        return jnp.stack([jnp.real(x), jnp.imag(x)], -1)


def view_as_real(input: Tensor) -> Tensor:
    """Put real and imaginary parts on a new last axis (MindSpore: ``ops.view_as_real``).

    Args:
        input: complex Tensor of any shape.

    Returns:
        Real Tensor of shape ``input.shape + (2,)``.

    Raises:
        TypeError: ``input`` is not complex.
    """
    return _ViewAsReal()(input)


class _IsReal(Primitive, register=False):
    """Whether the imaginary part is 0."""

    def compute(self, x: Array) -> Array:
        return jnp.imag(x) == 0


def isreal(input: Tensor) -> Tensor:
    """Tell where the imaginary part is 0 (MindSpore: ``ops.isreal``).

    Args:
        input: Tensor of any shape and dtype.

    Returns:
        Bool Tensor of the same shape.

    Raises:
        TypeError: ``input`` is no Tensor.
    """
    if not hasattr(input, "dtype"):
        raise located(
            TypeError, f"For isreal, input must be a Tensor, but got {type(input).__name__}."
        )
    return _IsReal()(input)


class _Sgn(Primitive, register=False):
    """A complex number over its absolute value, 0 at 0; the sign of a real one."""

    def compute(self, x: Array) -> Array:
        if not jnp.issubdtype(x.dtype, jnp.complexfloating):
            return Sign().compute(x)
        zero = x == 0
        safe = jnp.where(zero, 1.0, x)
        return jnp.where(zero, 0.0, safe / jnp.abs(safe))


def sgn(input: Tensor) -> Tensor:
    """Divide complex numbers by their absolute value; as `sign` for real ones (``ops.sgn``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype; 0 stays 0.

    Raises:
        TypeError: ``input`` is no Tensor.
    """
    if not hasattr(input, "dtype"):
        raise located(
            TypeError, f"For sgn, the input must be a Tensor, but got {type(input).__name__}."
        )
    return _Sgn()(input)


def positive(input: Any) -> Tensor:
    """Give the Tensor itself (MindSpore: ``ops.positive``).

    Args:
        input: Tensor of any shape and dtype.

    Raises:
        TypeError: ``input`` is no Tensor.
    """
    if not hasattr(input, "dtype"):
        raise located(
            TypeError, f"For positive, the input must be a Tensor, but got {type(input).__name__}."
        )
    return input
