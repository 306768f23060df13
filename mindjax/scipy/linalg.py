"""SciPy's linear algebra on Tensors: factorisations, solvers, eigenvalues."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import float64
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops import linalg
from mindjax.ops.cast import cast
from mindjax.ops.creation import zeros
from mindjax.ops.linear.cholesky import Cholesky, CholeskySolve
from mindjax.ops.linear.matrices import (
    COMPLEX,
    REAL,
    accept,
    matrices,
    refuse_failure,
    same,
)
from mindjax.ops.linear.solve import least_norm, least_squares
from mindjax.ops.linear.spectra import Eigh
from mindjax.ops.promotion import convert
from mindjax.ops.sequence import block_diag as block_diagonal
from mindjax.ops.shape import reshape, shape_of
from mindjax.scipy import ops

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

__all__ = [
    "block_diag",
    "cho_factor",
    "cho_solve",
    "cholesky",
    "eigh",
    "inv",
    "lstsq",
    "lu",
    "lu_factor",
    "solve_triangular",
]

Array = jax.Array


def _matrix(op: str, a: Any, square: bool = True) -> Any:
    """Check a matrix, and bring integers to Float64."""
    if not hasattr(a, "dtype"):
        raise located(TypeError, f"For '{op}', the 'a' must be a Tensor, but got {a!r}.")
    shape = shape_of(a)
    if len(shape) != 2:
        raise located(
            ValueError, f"For '{op}', the dimension of 'a' should be 2, but got {len(shape)}."
        )
    if square and shape[0] != shape[1]:
        raise located(
            ValueError,
            f"For '{op}', the matrix 'a' should be a square matrix like (N, N), but got {shape}.",
        )
    return _wide(a)


def _wide(a: Any) -> Any:
    return cast(a, float64) if a.dtype.kind not in ("float", "complex") else a


def _flags(op: str, **flags: Any) -> None:
    for name, value in flags.items():
        checks.boolean(name, value, op)


def block_diag(*arrs: Any) -> Tensor:
    """Put matrices on the diagonal of a larger one (MindSpore: ``scipy.linalg.block_diag``).

    Args:
        arrs: Tensors with at most two axes; those with fewer count as rows.

    Returns:
        Matrix with zeros elsewhere; without arguments one of shape (1, 0).

    Raises:
        ValueError: a Tensor has more than two axes.
    """
    return block_diagonal(*arrs) if arrs else zeros((1, 0))


def inv(a: Tensor, overwrite_a: bool = False, check_finite: bool = True) -> Tensor:
    """Invert a matrix (MindSpore: ``scipy.linalg.inv``).

    Args:
        a: Tensor of shape (n, n); integers are computed in Float64.
        overwrite_a: a hint on memory; ``a`` stays as it is here.
        check_finite: a hint on speed; numbers that are not finite never hang here.

    Returns:
        Tensor of the same shape.

    Raises:
        LinAlgError: ``a`` is singular, in PYNATIVE on the CPU.
        ValueError: ``a`` is no square matrix.
    """
    _flags("inv", overwrite_a=overwrite_a, check_finite=check_finite)
    wide = _matrix("inv", a)
    out = linalg.inverse(wide)
    refuse_failure(
        np.linalg.LinAlgError, "For 'inv', the 'a' must not be a singular matrix.", out, wide
    )
    return out


def cholesky(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Tensor:
    """Factor a positive definite matrix (MindSpore: ``scipy.linalg.cholesky``).

    Args:
        a: Tensor of shape (n, n); integers are computed in Float64.
        lower: whether the lower factor is wanted, else the upper one.
        overwrite_a: a hint on memory; ``a`` stays as it is here.
        check_finite: a hint on speed; numbers that are not finite never hang here.

    Returns:
        Tensor of the same shape.

    Raises:
        RuntimeError: ``a`` is not positive definite, in PYNATIVE on the CPU.
        TypeError: a flag is no bool.
        ValueError: ``a`` is no square matrix.
    """
    _flags("cholesky", lower=lower, overwrite_a=overwrite_a, check_finite=check_finite)
    return Cholesky(not lower)(_matrix("cholesky", a))


def cho_factor(
    a: Tensor, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, bool]:
    """Factor a positive definite matrix for `cho_solve` (MindSpore: ``scipy.linalg.cho_factor``).

    Args:
        a: Tensor of shape (n, n); integers are computed in Float64.
        lower: whether the lower factor is wanted, else the upper one.
        overwrite_a: a hint on memory; ``a`` stays as it is here.
        check_finite: a hint on speed; numbers that are not finite never hang here.

    Returns:
        The factor, with zeros in the other triangle, and ``lower``.

    Raises:
        RuntimeError: ``a`` is not positive definite, in PYNATIVE on the CPU.
        TypeError: a flag is no bool.
        ValueError: ``a`` is no square matrix.
    """
    return cholesky(a, lower, overwrite_a, check_finite), lower


def cho_solve(
    c_and_lower: tuple[Tensor, bool],
    b: Tensor,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Tensor:
    """Solve linear equations, given a Cholesky factor (MindSpore: ``scipy.linalg.cho_solve``).

    Args:
        c_and_lower: the factor, of shape (n, n), and whether it is the lower one.
        b: Tensor of shape (n,) or (n, k) and the same dtype.
        overwrite_b: a hint on memory; ``b`` stays as it is here.
        check_finite: a hint on speed; numbers that are not finite never hang here.

    Returns:
        Tensor of the shape of ``b``.

    Raises:
        TypeError: the dtypes differ, or a flag is no bool.
        ValueError: the shapes do not fit.
    """
    c, lower = c_and_lower
    _flags("cho_solve", lower=lower, overwrite_b=overwrite_b, check_finite=check_finite)
    if getattr(c, "dtype", 0) != getattr(b, "dtype", 1):
        raise located(
            TypeError,
            "For 'cho_solve', the data type of 'c' and 'b' should be the same, but got "
            f"{getattr(c, 'dtype', c)} and {getattr(b, 'dtype', b)}.",
        )
    factor, right = _matrix("cho_solve", c), _wide(b)
    vector = len(shape_of(b)) == 1
    out = CholeskySolve(not lower)(reshape(right, (-1, 1)) if vector else right, factor)
    return reshape(out, (-1,)) if vector else out


def eigh(
    a: Tensor,
    b: Tensor | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: Any = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Find eigenvalues of a symmetric or Hermitian matrix (MindSpore: ``scipy.linalg.eigh``).

    Args:
        a: Tensor of shape (n, n); integers are computed in Float64.
        b: must be None: the generalized problem is not there.
        lower: whether the lower triangle is read, else the upper one.
        eigvals_only: whether only the eigenvalues are wanted.
        overwrite_a: a hint on memory; ``a`` stays as it is here.
        overwrite_b: a hint on memory.
        turbo: a hint on speed for the generalized problem.
        eigvals: must be None: all eigenvalues are found.
        type: kind of generalized problem, without a meaning for the standard one.
        check_finite: a hint on speed; numbers that are not finite never hang here.

    Returns:
        The eigenvalues, ascending; with the eigenvectors as columns, unless ``eigvals_only``.

    Raises:
        TypeError: a flag is no bool, or ``a`` no Tensor.
        ValueError: ``a`` is no square matrix, or ``b`` or ``eigvals`` is given.
    """
    _flags(
        "eigh",
        lower=lower,
        eigvals_only=eigvals_only,
        overwrite_a=overwrite_a,
        overwrite_b=overwrite_b,
        turbo=turbo,
        check_finite=check_finite,
    )
    for name, value in (("b", b), ("eigvals", eigvals)):
        if value is not None:
            raise located(ValueError, f"For 'eigh', the '{name}' must be None, but got {value!r}.")
    if type not in (1, 2, 3):
        raise located(ValueError, f"For 'eigh', the 'type' must be 1, 2 or 3, but got {type!r}.")
    return Eigh(not eigvals_only, lower)(_matrix("eigh", a))


def lu_factor(
    a: Tensor, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Tensor, Tensor]:
    """Factor a square matrix into L and U (MindSpore: ``scipy.linalg.lu_factor``).

    Args:
        a: Tensor of shape (n, n); integers are computed in Float64.
        overwrite_a: a hint on memory; ``a`` stays as it is here.
        check_finite: a hint on speed; numbers that are not finite never hang here.

    Returns:
        A Tensor with U on and above the diagonal, L below it; and Int32 pivots, counted from 0:
        row i was exchanged with row ``pivots[i]``.

    Raises:
        ValueError: ``a`` is no square matrix.
    """
    _flags("lu_factor", overwrite_a=overwrite_a, check_finite=check_finite)
    packed, pivots, _ = ops.LU()(_matrix("lu_factor", a))
    return packed, pivots


class _UnpackedLu(Primitive, register=False):
    """P, or P L, with L and U of a packed factorisation."""

    joined: bool

    def compute(self, packed: Array, p: Array) -> Any:
        m, n = packed.shape
        k = min(m, n)
        lower = jnp.tril(packed[:, :k], -1) + jnp.eye(m, k, dtype=packed.dtype)
        upper = jnp.triu(packed[:k])
        return (convert(p, packed.dtype) @ lower, upper) if self.joined else (p, lower, upper)


def lu(
    a: Tensor, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """Factor a matrix into P, L and U (MindSpore: ``scipy.linalg.lu``).

    Args:
        a: Tensor of shape (m, n); integers are computed in Float64.
        permute_l: whether ``P @ L`` and U are wanted.
        overwrite_a: a hint on memory; ``a`` stays as it is here.
        check_finite: a hint on speed; numbers that are not finite never hang here.

    Returns:
        P (Int32), L and U, or ``P @ L`` and U.

    Raises:
        TypeError: a flag is no bool.
        ValueError: ``a`` is no matrix.
    """
    _flags("lu", permute_l=permute_l, overwrite_a=overwrite_a, check_finite=check_finite)
    packed, _, p = ops.LU()(_matrix("lu", a, False))
    return _UnpackedLu(permute_l)(packed, p)


def solve_triangular(
    a: Tensor,
    b: Tensor,
    trans: Any = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Tensor:
    """Solve with triangular matrices (MindSpore: ``scipy.linalg.solve_triangular``).

    Args:
        a: Tensor of shape (..., n, n); integers are computed in Float32.
        b: Tensor of shape (..., n) or (..., n, k) and the same dtype.
        trans: 0 or ``"N"`` for ``a``, 1 or ``"T"`` for its transpose, 2 or ``"C"`` for the
            conjugate transpose.
        lower: whether the lower triangle is read, else the upper one.
        unit_diagonal: whether the diagonal counts as 1.
        overwrite_b: a hint on memory; ``b`` stays as it is here.
        debug: must be None.
        check_finite: a hint on speed; numbers that are not finite never hang here.

    Returns:
        Tensor of the shape of ``b``.

    Raises:
        NotImplementedError: ``debug`` is given.
        TypeError: the dtypes differ, or a flag is no bool.
        ValueError: the shapes do not fit, or there is no such ``trans``.
    """
    _flags("solve_triangular", overwrite_b=overwrite_b, check_finite=check_finite)
    if debug is not None:
        raise located(
            NotImplementedError, f"For 'solve_triangular', 'debug' must be None, but got {debug!r}."
        )
    return ops.solve_triangular(a, b, trans, lower, unit_diagonal)


class LstsqV2(Primitive):
    """Least squares with residuals, ranks and singular values (kernel of ``lstsq``).

    Args:
        driver: LAPACK's name of the algorithm.
    """

    driver: str

    def compute(self, a: Array, b: Array) -> tuple[Array, ...]:
        """Solve for (..., m, n) and (..., m) or (..., m, k)."""
        accept("lstsq", (*REAL, *COMPLEX), A=a, B=b)
        same("lstsq", A=a, B=b)
        matrices("lstsq", a, "A")
        vector = b.ndim == a.ndim - 1
        right = b[..., None] if vector else b
        if right.ndim < 2 or a.shape[-2] != right.shape[-2]:
            raise located(
                ValueError,
                "For 'lstsq', the rows of 'A' and 'B' must be equal, but got shapes "
                f"{a.shape} and {b.shape}.",
            )
        try:
            batch = jnp.broadcast_shapes(a.shape[:-2], right.shape[:-2])
        except ValueError:
            raise located(
                ValueError,
                f"For 'lstsq', the batches do not broadcast: {a.shape} and {b.shape}.",
            ) from None
        m, n = a.shape[-2:]
        real = jnp.finfo(a.dtype).dtype
        none, no_rank = jnp.zeros(0, real), jnp.zeros(0, np.int64)
        if self.driver == "gels":
            wide = jnp.broadcast_to(a, (*batch, m, n))
            solution = least_squares(wide, jnp.broadcast_to(right, (*batch, *right.shape[-2:])))
            rank, values = no_rank, none
        else:
            solution, s, kept = least_norm(a, right)
            rank = jnp.sum(kept, -1, dtype=np.int64)
            values = none if self.driver == "gelsy" else s
        residual = none
        if self.driver != "gelsy" and m > n:
            residual = jnp.sum(jnp.square(jnp.abs(a @ solution - right)), -2)
        return solution[..., 0] if vector else solution, residual, rank, values


_DRIVERS = ("gels", "gelsy", "gelss", "gelsd")


def lstsq(A: Tensor, B: Tensor, rcond: Any = None, driver: str | None = None) -> Any:
    """Solve a least-squares problem (MindSpore: ``scipy.linalg.lstsq``).

    Args:
        A: Tensor of shape (..., m, n), Float32, Float64 or complex.
        B: Tensor of shape (..., m) or (..., m, k) and the same dtype.
        rcond: must be None: singular values below max(m, n) epsilon times the largest count as 0.
        driver: ``"gels"`` for full rank; ``"gelsy"`` (the default), ``"gelss"`` or ``"gelsd"`` for
            the solution of least norm, for any rank.

    Returns:
        The solution; the squared distance of each column, if m > n and ``driver`` is not
        ``"gelsy"``; the rank, unless ``driver`` is ``"gels"``; and the singular values for
        ``"gelss"`` and ``"gelsd"``. What is not there is an empty Tensor.

    Raises:
        NotImplementedError: ``rcond`` is given.
        TypeError: the dtypes differ, or are integers.
        ValueError: the shapes do not fit, or there is no such ``driver``.
    """
    if rcond is not None:
        raise located(
            NotImplementedError, f"For 'lstsq', the 'rcond' must be None, but got {rcond!r}."
        )
    name = "gelsy" if driver is None else checks.one_of("driver", driver, _DRIVERS, "lstsq")
    return LstsqV2(name)(A, B)
