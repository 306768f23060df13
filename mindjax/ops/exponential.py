"""Powers, roots, exponentials, logarithms and error functions, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.promotion import floating

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class Sqrt(Primitive):
    """Square root."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.sqrt(floating(x))


_sqrt = Sqrt()


def sqrt(x: Tensor) -> Tensor:
    """Compute the square root of each element (MindSpore: ``ops.sqrt``).

    Args:
        x: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _sqrt(x)


class Rsqrt(Primitive):
    """Reciprocal of the square root."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jax.lax.rsqrt(floating(x))


_rsqrt = Rsqrt()


def rsqrt(input: Tensor) -> Tensor:
    """Compute ``1 / sqrt(input)`` element by element (MindSpore: ``ops.rsqrt``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _rsqrt(input)


class Square(Primitive):
    """Square."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.square(x)


_square = Square()


def square(input: Tensor) -> Tensor:
    """Compute the square of each element (MindSpore: ``ops.square``).

    Args:
        input: Tensor of any shape.

    Returns:
        Tensor of the same shape and dtype.
    """
    return _square(input)


class Reciprocal(Primitive):
    """Reciprocal."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        x = floating(x)
        return jnp.ones((), x.dtype) / x


_reciprocal = Reciprocal()


def reciprocal(input: Tensor) -> Tensor:
    """Compute ``1 / input`` element by element (MindSpore: ``ops.reciprocal``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _reciprocal(input)


class Exp(Primitive):
    """E to the power of each element."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        if jnp.issubdtype(x.dtype, jnp.integer) and x.dtype != np.int64:
            raise located(
                TypeError,
                "For primitive[Exp], the input argument[input] must be a type of {BFloat16, Bool, "
                "Complex128, Complex64, Float16, Float32, Float64, Int64}, but got "
                f"{from_np(x.dtype)}.",
            )
        return jnp.exp(floating(x))


_exp = Exp()


def exp(input: Tensor) -> Tensor:
    """Compute e to the power of each element (MindSpore: ``ops.exp``).

    Args:
        input: Tensor of any shape; Int64 and Bool are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.

    Raises:
        TypeError: the dtype is another integer one.
    """
    return _exp(input)


class Exp2(Primitive):
    """2 to the power of each element."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.exp2(floating(x))


_exp2 = Exp2()


def exp2(input: Tensor) -> Tensor:
    """Compute 2 to the power of each element (MindSpore: ``ops.exp2``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _exp2(input)


class Expm1(Primitive):
    """E to the power of each element, minus one, exact near zero."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.expm1(floating(x))


_expm1 = Expm1()


def expm1(input: Tensor) -> Tensor:
    """Compute e to the power of each element, minus one, exact near zero (``ops.expm1``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _expm1(input)


class Log(Primitive):
    """Natural logarithm of each element."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.log(floating(x))


_log = Log()


def log(input: Tensor) -> Tensor:
    """Compute the natural logarithm of each element (MindSpore: ``ops.log``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _log(input)


class Log1p(Primitive):
    """Natural logarithm of one plus each element, exact near zero."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.log1p(floating(x))


_log1p = Log1p()


def log1p(input: Tensor) -> Tensor:
    """Compute the natural logarithm of one plus each element (MindSpore: ``ops.log1p``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _log1p(input)


class Log2(Primitive):
    """Logarithm to base 2 of each element."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.log2(floating(x))


_log2 = Log2()


def log2(input: Tensor) -> Tensor:
    """Compute the logarithm to base 2 of each element (MindSpore: ``ops.log2``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _log2(input)


class Log10(Primitive):
    """Logarithm to base 10 of each element."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jnp.log10(floating(x))


_log10 = Log10()


def log10(input: Tensor) -> Tensor:
    """Compute the logarithm to base 10 of each element (MindSpore: ``ops.log10``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _log10(input)


class Erf(Primitive):
    """Gauss error function."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jax.lax.erf(floating(x))


_erf = Erf()


def erf(input: Tensor) -> Tensor:
    """Compute the Gauss error function of each element (MindSpore: ``ops.erf``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _erf(input)


class Erfc(Primitive):
    """Complement of the error function."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jax.lax.erfc(floating(x))


_erfc = Erfc()


def erfc(input: Tensor) -> Tensor:
    """Compute ``1 - erf(input)`` element by element, exact far from zero (MindSpore: ``ops.erfc``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _erfc(input)


class Erfinv(Primitive):
    """Inverse of the error function."""

    def compute(self, x: Array) -> Array:
        """Map an array element by element."""
        return jax.lax.erf_inv(floating(x))


_erfinv = Erfinv()


def erfinv(input: Tensor) -> Tensor:
    """Compute the inverse of the Gauss error function (MindSpore: ``ops.erfinv``).

    Args:
        input: Tensor of any shape; integers are computed in Float32.

    Returns:
        Tensor of the same shape, of the input's floating dtype.
    """
    return _erfinv(input)


tensor_exp = exp
