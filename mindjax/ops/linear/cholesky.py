"""The Cholesky factorisation and what is solved with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.linear.matrices import (
    HALF,
    REAL,
    accept,
    refuse_failure,
    same,
    square,
    widened,
)
from mindjax.ops.promotion import convert

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class Cholesky(Primitive):
    """Triangular factor of positive definite matrices (MindSpore: ``ops.Cholesky``).

    Args:
        upper: whether the upper factor is wanted.
    """

    upper: bool = False

    def __post_init__(self) -> None:
        checks.boolean("upper", self.upper, "Cholesky")

    def __call__(self, input_x: Any) -> Any:
        """Factor the matrices; a failure raises where values are known (PYNATIVE on the CPU)."""
        out = self._dispatch(input_x)
        refuse_failure(
            RuntimeError,
            "For 'Cholesky', the 'input_x' must hold symmetric positive definite matrices.",
            out,
        )
        return out

    def compute(self, x: Array) -> Array:
        """Factor matrices of shape (..., n, n); NaN where they are not positive definite."""
        accept("Cholesky", (*HALF, *REAL), input_x=x)
        square("Cholesky", x, "input_x")
        out = jnp.linalg.cholesky(widened(x), symmetrize_input=True)
        return convert(jnp.swapaxes(out, -1, -2) if self.upper else out, x.dtype)


def cholesky(input_x: Tensor, upper: bool = False) -> Tensor:
    """Factor symmetric positive definite matrices (MindSpore: ``ops.cholesky``).

    Args:
        input_x: Tensor of shape (..., n, n), floating-point.
        upper: whether U with ``input_x = Uᵀ U`` is wanted, instead of L with ``input_x = L Lᵀ``.

    Returns:
        Tensor of the same shape; NaN for a matrix that is not positive definite, in a compiled
        program.

    Raises:
        RuntimeError: a matrix is not positive definite, in PYNATIVE on the CPU.
        TypeError: ``input_x`` is not floating-point, or ``upper`` is no bool.
        ValueError: the matrices are not square.
    """
    return Cholesky(upper)(input_x)


def _solved(factor: Array, b: Array, upper: bool) -> Array:
    """Solve ``A x = b`` with a Cholesky factor of A."""
    first = lax.linalg.triangular_solve(
        factor, b, left_side=True, lower=not upper, transpose_a=upper, conjugate_a=upper
    )
    return lax.linalg.triangular_solve(
        factor, first, left_side=True, lower=not upper, transpose_a=not upper, conjugate_a=not upper
    )


class CholeskyInverse(Primitive):
    """Inverse of a matrix, given its factor (MindSpore: ``ops.CholeskyInverse``).

    Args:
        upper: whether the factor is the upper one.
    """

    upper: bool = False

    def __post_init__(self) -> None:
        checks.boolean("upper", self.upper, "CholeskyInverse")

    def compute(self, x: Array) -> Array:
        """Invert; what lies outside the triangle is not read."""
        accept("CholeskyInverse", REAL, input_x=x)
        if x.ndim != 2:
            raise located(
                ValueError,
                f"For 'CholeskyInverse', the 'input_x' must have rank 2, but got shape {x.shape}.",
            )
        square("CholeskyInverse", x, "input_x")
        identity = jnp.eye(x.shape[-1], dtype=x.dtype)
        half = lax.linalg.triangular_solve(x, identity, left_side=True, lower=not self.upper)
        return half @ half.T if self.upper else half.T @ half


def cholesky_inverse(input_x: Tensor, upper: bool = False) -> Tensor:
    """Invert a matrix whose Cholesky factor is given (MindSpore: ``ops.cholesky_inverse``).

    Args:
        input_x: Tensor of shape (n, n), Float32 or Float64: the factor.
        upper: whether it is the upper factor U of ``Uᵀ U`` instead of L of ``L Lᵀ``.

    Returns:
        Tensor of the same shape: the inverse of the product.

    Raises:
        TypeError: ``input_x`` is neither Float32 nor Float64, or ``upper`` is no bool.
        ValueError: ``input_x`` is no square matrix.
    """
    return CholeskyInverse(upper)(input_x)


class CholeskySolve(Primitive):
    """Solution of equations, given a factor (MindSpore: ``ops.CholeskySolve``).

    Args:
        upper: whether the factor is the upper one.
    """

    upper: bool = False

    def __post_init__(self) -> None:
        checks.boolean("upper", self.upper, "CholeskySolve")

    def compute(self, x1: Array, x2: Array) -> Array:
        """Solve with right-hand sides (..., n, m) and factors (..., n, n)."""
        accept("CholeskySolve", REAL, x1=x1, x2=x2)
        same("CholeskySolve", x1=x1, x2=x2)
        square("CholeskySolve", x2, "x2")
        if x1.ndim != x2.ndim or x1.shape[:-2] != x2.shape[:-2] or x1.shape[-2] != x2.shape[-2]:
            raise located(
                ValueError,
                "For 'CholeskySolve', the inputs must agree in rank, batch and rows, but got "
                f"shapes {x1.shape} and {x2.shape}.",
            )
        return _solved(x2, x1, self.upper)


def cholesky_solve(input: Tensor, input2: Tensor, upper: bool = False) -> Tensor:
    """Solve linear equations, given a Cholesky factor (MindSpore: ``ops.cholesky_solve``).

    Args:
        input: Tensor of shape (..., n, m), Float32 or Float64: the right-hand sides.
        input2: Tensor of shape (..., n, n), of the same dtype: the factor.
        upper: whether it is the upper factor U of ``Uᵀ U`` instead of L of ``L Lᵀ``.

    Returns:
        Tensor of the shape of ``input``.

    Raises:
        TypeError: the dtypes are others, or differ, or ``upper`` is no bool.
        ValueError: the shapes do not fit.
    """
    return CholeskySolve(upper)(input, input2)
