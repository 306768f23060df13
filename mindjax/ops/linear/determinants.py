"""Determinants of square matrices, and their logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING

import jax
import jax.numpy as jnp

from mindjax.core.primitive import Primitive
from mindjax.ops.exponential import log
from mindjax.ops.linear.matrices import COMPLEX, HALF, REAL, accept, square, widened
from mindjax.ops.promotion import convert

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class MatrixDeterminant(Primitive):
    """Determinant of square matrices (MindSpore: ``ops.MatrixDeterminant``)."""

    def compute(self, input: Array) -> Array:
        """Reduce the last two axes."""
        accept("MatrixDeterminant", (*HALF, *REAL, *COMPLEX), input=input)
        square("MatrixDeterminant", input)
        return convert(jnp.linalg.det(widened(input)), input.dtype)


class LogMatrixDeterminant(Primitive):
    """Sign and logarithm of the determinant (MindSpore: ``ops.LogMatrixDeterminant``)."""

    def compute(self, input: Array) -> tuple[Array, Array]:
        """Reduce the last two axes, twice."""
        accept("LogMatrixDeterminant", (*HALF, *REAL, *COMPLEX), input=input)
        square("LogMatrixDeterminant", input)
        sign, size = jnp.linalg.slogdet(widened(input))
        # MindSpore: a complex input has a complex logarithm too.
        return convert(sign, input.dtype), convert(size, input.dtype)


_det = MatrixDeterminant()
_slogdet = LogMatrixDeterminant()


def det(input: Tensor) -> Tensor:
    """Take the determinant of square matrices (MindSpore: ``ops.det``).

    Args:
        input: Tensor of shape (..., n, n), floating-point or complex.

    Returns:
        Tensor of shape (...) and the same dtype.

    Raises:
        TypeError: ``input`` holds integers.
        ValueError: the last two sizes differ, or there are fewer axes.
    """
    return _det(input)


def slogdet(input: Tensor) -> tuple[Tensor, Tensor]:
    """Take the determinant's sign and the logarithm of its size (MindSpore: ``ops.slogdet``).

    Args:
        input: Tensor of shape (..., n, n), floating-point or complex.

    Returns:
        Two Tensors of shape (...) and the same dtype; the logarithm of 0 is -inf.

    Raises:
        TypeError: ``input`` holds integers.
        ValueError: the last two sizes differ, or there are fewer axes.
    """
    return _slogdet(input)


def logdet(input: Tensor) -> Tensor:
    """Take the logarithm of the determinant (MindSpore: ``ops.logdet``).

    Args:
        input: Tensor of shape (..., n, n), floating-point or complex.

    Returns:
        Tensor of shape (...); NaN for negative determinants of real matrices.

    Raises:
        TypeError: ``input`` holds integers.
        ValueError: the last two sizes differ, or there are fewer axes.
    """
    sign, size = _slogdet(input)
    return size + log(sign)


matrix_determinant = det
log_matrix_determinant = slogdet
