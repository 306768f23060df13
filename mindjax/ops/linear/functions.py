"""Functions of square matrices: exponential, logarithm, power."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy.linalg import expm

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops import linalg
from mindjax.ops.linear.host import on_host
from mindjax.ops.linear.matrices import (
    COMPLEX,
    HALF,
    REAL,
    accept,
    refuse_failure,
    square,
    widened,
)
from mindjax.ops.promotion import convert

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


class MatrixExp(Primitive):
    """Exponential of square matrices (MindSpore: ``ops.MatrixExp``)."""

    def compute(self, input: Array) -> Array:
        """Sum the series, by scaling and squaring."""
        accept("MatrixExp", (*HALF, *REAL, *COMPLEX), input=input)
        square("MatrixExp", input)
        if not input.size:
            return input
        return convert(expm(widened(input)), input.dtype)


_matrix_exp = MatrixExp()


def matrix_exp(input: Tensor) -> Tensor:
    """Take the exponential of square matrices (MindSpore: ``ops.matrix_exp``).

    Args:
        input: Tensor of shape (..., n, n), floating-point or complex.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``input`` holds integers.
        ValueError: the matrices are not square.
    """
    return _matrix_exp(input)


def _logarithm_on_host(x: Array) -> Array:
    def run(a: Any) -> tuple[Any]:
        import scipy.linalg  # a second of start-up that few programs need

        flat = a.reshape(-1, *a.shape[-2:]).astype(np.complex128)
        with warnings.catch_warnings():
            # SciPy tells how far off it may be; a program has no use for that.
            warnings.simplefilter("ignore")
            out = [scipy.linalg.logm(m) if m.size else m for m in flat]
        return (np.asarray(out, a.dtype).reshape(a.shape),)

    return on_host(run, (jax.ShapeDtypeStruct(x.shape, x.dtype),), x)[0]


@jax.custom_vjp
def _logarithm(x: Array) -> Array:
    """Take the principal logarithm; it needs a Schur form, so the host computes it."""
    return _logarithm_on_host(x)


def _forward(x: Array) -> tuple[Array, Array]:
    return _logarithm(x), x


def _backward(x: Array, cotangent: Array) -> tuple[Array]:
    # The derivative in a direction E is a block of log([[x, E], [0, x]]).
    n = x.shape[-1]
    turned = jnp.swapaxes(x, -1, -2)
    upper = jnp.concatenate([turned, cotangent], -1)
    lower = jnp.concatenate([jnp.zeros_like(turned), turned], -1)
    return (_logarithm(jnp.concatenate([upper, lower], -2))[..., :n, n:],)


_logarithm.defvjp(_forward, _backward)


class MatrixLogarithm(Primitive):
    """Principal logarithm of square matrices, on the host (MindSpore: ``ops.MatrixLogarithm``)."""

    def compute(self, x: Array) -> Array:
        """Take the logarithm of (..., n, n)."""
        accept("MatrixLogarithm", COMPLEX, x=x)
        square("MatrixLogarithm", x, "x")
        return _logarithm(x)


class MatrixPower(Primitive):
    """Integer power of square matrices (MindSpore: ``ops.MatrixPower``).

    Args:
        n: exponent; a negative one inverts.
    """

    n: int

    def __post_init__(self) -> None:
        checks.of_type("n", self.n, int, "MatrixPower")

    def __call__(self, x: Any) -> Any:
        """Take the power; a singular matrix raises where values are known (PYNATIVE on the CPU)."""
        out = self._dispatch(x)
        if self.n < 0:
            refuse_failure(
                ValueError,
                f"For 'MatrixPower', a negative power needs invertible matrices, but got n {self.n}"
                " and a singular one.",
                out,
                x,
            )
        return out

    def compute(self, x: Array) -> Array:
        """Multiply (..., n, n) with itself."""
        square("MatrixPower", x, "x")
        if self.n < 0 and not jnp.issubdtype(x.dtype, jnp.inexact):
            raise located(
                ValueError,
                f"For 'MatrixPower', a negative power needs floating-point matrices, but got n "
                f"{self.n} and {from_np(x.dtype).name}.",
            )
        return convert(jnp.linalg.matrix_power(widened(x), self.n), x.dtype)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """Raise square matrices to an integer power (MindSpore: ``ops.matrix_power``).

    Args:
        input: Tensor of shape (..., m, m).
        n: exponent; 0 gives the identity, a negative one inverts.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        TypeError: ``n`` is no int.
        ValueError: the matrices are not square; ``n`` is negative and ``input`` holds integers or,
            in PYNATIVE on the CPU, a singular matrix.
    """
    return MatrixPower(n)(input)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """Compute condition numbers of square matrices (MindSpore: ``ops.cond``).

    Args:
        A: Float32, Float64 or complex Tensor of shape (..., n, n).
        p: norm of matrices: None or 2 (largest singular value), -2, 1, -1, inf, -inf, ``"fro"``,
            ``"nuc"``.

    Returns:
        Tensor of shape (...): the norm of ``A`` times that of its inverse.

    Raises:
        TypeError: ``A`` is no Tensor of these dtypes.
        ValueError: the matrices are not square; there is no such norm.
    """
    inverted = linalg.inverse(A)
    mode = 2 if p is None else p
    return linalg.norm(A, mode, (-2, -1)) * linalg.norm(inverted, mode, (-2, -1))
