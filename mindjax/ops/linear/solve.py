"""Linear equations and least squares."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.linear.factorization import check_pivots, factored, permutation
from mindjax.ops.linear.matrices import (
    COMPLEX,
    HALF,
    REAL,
    accept,
    adjoint_of,
    matrices,
    refuse_failure,
    same,
    square,
    widened,
)
from mindjax.ops.linear.spectra import decomposed
from mindjax.ops.promotion import convert

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _equations(op: str, a: Array, b: Array) -> tuple[Array, Array]:
    """Check the shapes of equations, and bring both to one batch."""
    square(op, a, "matrix")
    matrices(op, b, "rhs")
    if a.shape[-1] != b.shape[-2]:
        raise located(
            ValueError,
            f"For '{op}', the rows of 'matrix' and 'rhs' must be equal, but got shapes {a.shape} "
            f"and {b.shape}.",
        )
    return _one_batch(op, a, b)


def _one_batch(op: str, a: Array, b: Array) -> tuple[Array, Array]:
    try:
        batch = jnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise located(
            ValueError,
            f"For '{op}', the batches of the inputs must be equal, but got shapes {a.shape} and "
            f"{b.shape}.",
        ) from None
    return (
        jnp.broadcast_to(a, (*batch, *a.shape[-2:])),
        jnp.broadcast_to(b, (*batch, *b.shape[-2:])),
    )


class MatrixSolve(Primitive):
    """Solution of linear equations (MindSpore: ``ops.MatrixSolve``).

    Args:
        adjoint: whether the conjugate transpose of the matrices is meant.
    """

    adjoint: bool = False

    def __post_init__(self) -> None:
        checks.boolean("adjoint", self.adjoint, "MatrixSolve")

    def __call__(self, matrix: Any, rhs: Any) -> Any:
        """Solve; a singular matrix raises where values are known (PYNATIVE on the CPU)."""
        out = self._dispatch(matrix, rhs)
        refuse_failure(
            ValueError,
            "For 'MatrixSolve', the 'matrix' must be invertible.",
            out,
            matrix,
            rhs,
        )
        return out

    def compute(self, matrix: Array, rhs: Array) -> Array:
        """Solve ``matrix @ x = rhs`` for (..., n, n) and (..., n, k)."""
        accept("MatrixSolve", (*HALF, *REAL, *COMPLEX), matrix=matrix, rhs=rhs)
        same("MatrixSolve", matrix=matrix, rhs=rhs)
        a, b = _equations("MatrixSolve", widened(matrix), widened(rhs))
        return convert(jnp.linalg.solve(adjoint_of(a) if self.adjoint else a, b), rhs.dtype)


def matrix_solve(matrix: Tensor, rhs: Tensor, adjoint: bool = False) -> Tensor:
    """Solve linear equations (MindSpore: ``ops.matrix_solve``).

    Args:
        matrix: Tensor of shape (..., n, n), floating-point or complex.
        rhs: Tensor of shape (..., n, k) and the same dtype.
        adjoint: whether the conjugate transpose of ``matrix`` is meant.

    Returns:
        Tensor of the shape of ``rhs``; not finite for singular matrices in a compiled program.

    Raises:
        TypeError: the dtypes differ or are integers.
        ValueError: the shapes do not fit; in PYNATIVE on the CPU: a matrix is singular.
    """
    return MatrixSolve(adjoint)(matrix, rhs)


class MatrixTriangularSolve(Primitive):
    """Solution with triangular matrices (MindSpore: ``ops.MatrixTriangularSolve``).

    Args:
        lower: whether the matrices are lower triangular; the other triangle is not read.
        adjoint: whether their conjugate transpose is meant.
    """

    lower: bool = True
    adjoint: bool = False

    def __post_init__(self) -> None:
        checks.boolean("lower", self.lower, "MatrixTriangularSolve")
        checks.boolean("adjoint", self.adjoint, "MatrixTriangularSolve")

    def compute(self, matrix: Array, rhs: Array) -> Array:
        """Solve ``matrix @ x = rhs`` for (..., n, n) and (..., n, k)."""
        op = "MatrixTriangularSolve"
        accept(op, (*REAL, *COMPLEX), matrix=matrix, rhs=rhs)
        same(op, matrix=matrix, rhs=rhs)
        a, b = _equations(op, matrix, rhs)
        return lax.linalg.triangular_solve(
            a,
            b,
            left_side=True,
            lower=self.lower,
            transpose_a=self.adjoint,
            conjugate_a=self.adjoint,
        )


class SolveTriangular(Primitive):
    """Solution with triangular matrices (MindSpore: ``scipy.ops.SolveTriangular``).

    Args:
        lower: whether the lower triangle is read, else the upper one.
        unit_diagonal: whether the diagonal counts as 1.
        trans: ``"N"`` for the matrices as they are, ``"T"`` transposed, ``"C"`` conjugated too.
    """

    lower: bool = False
    unit_diagonal: bool = False
    trans: str = "N"

    def __post_init__(self) -> None:
        checks.boolean("lower", self.lower, "SolveTriangular")
        checks.boolean("unit_diagonal", self.unit_diagonal, "SolveTriangular")
        checks.one_of("trans", self.trans, ("N", "T", "C"), "SolveTriangular")

    def compute(self, a: Array, b: Array) -> Array:
        """Solve ``a @ x = b`` for (..., n, n) and (..., n) or (..., n, k)."""
        accept("SolveTriangular", (*HALF, *REAL, *COMPLEX), a=a, b=b)
        same("SolveTriangular", a=a, b=b)
        square("SolveTriangular", a, "a")
        vector = b.ndim == a.ndim - 1 and b.shape[-1:] == a.shape[-1:]
        matrix, right = _equations(
            "SolveTriangular", widened(a), widened(b[..., None] if vector else b)
        )
        out = lax.linalg.triangular_solve(
            matrix,
            right,
            left_side=True,
            lower=self.lower,
            unit_diagonal=self.unit_diagonal,
            transpose_a=self.trans != "N",
            conjugate_a=self.trans == "C",
        )
        return convert(out[..., 0] if vector else out, b.dtype)


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """Solve with triangular matrices (MindSpore: ``mint.triangular_solve``).

    Args:
        b: Tensor of shape (..., n, k).
        A: Tensor of shape (..., n, n) and the same dtype.
        upper: whether the upper triangle is read, else the lower one.
        transpose: whether the transpose of ``A`` is meant.
        unitriangular: whether the diagonal counts as 1.

    Returns:
        The solution of ``A @ x = b``, and ``A``.

    Raises:
        TypeError: the dtypes differ, or a flag is no bool.
        ValueError: the shapes do not fit.
    """
    for name, flag in (("upper", upper), ("transpose", transpose)):
        checks.boolean(name, flag, "triangular_solve")
    checks.tensors("triangular_solve", b=b, A=A)
    if len(b.shape) < 2:
        raise located(
            ValueError,
            f"For 'triangular_solve', the 'b' must have 2 or more axes, but got {b.shape}.",
        )
    solve = SolveTriangular(not upper, unitriangular, "T" if transpose else "N")
    return solve(A, b), A


class LuSolve(Primitive):
    """Solution, given an LU factorisation (MindSpore: ``ops.LuSolve``)."""

    def __call__(self, x: Any, lu_data: Any, lu_pivots: Any) -> Any:
        """Solve; pivots out of range raise where values are known (PYNATIVE on the CPU)."""
        if len(getattr(lu_data, "shape", ())) >= 2:
            check_pivots("LuSolve", lu_pivots, lu_data.shape[-2])
        return self._dispatch(x, lu_data, lu_pivots)

    def compute(self, b: Array, data: Array, pivots: Array) -> Array:
        """Solve for (..., n, k), with factors (..., n, n) and pivots (..., n)."""
        accept("LuSolve", (*HALF, *REAL, *COMPLEX), x=b, lu_data=data)
        same("LuSolve", x=b, lu_data=data)
        accept("LuSolve", ("Int32", "Int64"), lu_pivots=pivots)
        a, right = _equations("LuSolve", widened(data), widened(b))
        if pivots.shape != data.shape[:-1]:
            raise located(
                ValueError,
                f"For 'LuSolve', the 'lu_pivots' must have shape {data.shape[:-1]}, but got "
                f"{pivots.shape}.",
            )
        order = jnp.broadcast_to(permutation(pivots, a.shape[-1]), a.shape[:-1])
        right = jnp.take_along_axis(right, order[..., None], -2)
        for lower in (True, False):
            right = lax.linalg.triangular_solve(
                a, right, left_side=True, lower=lower, unit_diagonal=lower
            )
        return convert(right, b.dtype)


_lu_solve = LuSolve()


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Solve linear equations, given an LU factorisation (MindSpore: ``ops.lu_solve``).

    Args:
        b: Tensor of shape (..., n, k).
        LU_data: Tensor of shape (..., n, n): U on and above the diagonal, L below it.
        LU_pivots: Int32 or Int64 Tensor of shape (..., n), counted from 1.

    Returns:
        Tensor of the shape of ``b``.

    Raises:
        TypeError: the dtypes differ, or the pivots are no integers.
        ValueError: the shapes do not fit; in PYNATIVE on the CPU: a pivot names no row.
    """
    return _lu_solve(b, LU_data, LU_pivots)


def least_squares(a: Array, b: Array) -> Array:
    """Give the least-squares, or least-norm, solution for matrices of full rank.

    Args:
        a: array of shape (..., m, n).
        b: array of shape (..., m, k).

    Returns:
        Array of shape (..., n, k).
    """
    if a.shape[-2] >= a.shape[-1]:
        q, r = factored(a, False)
        return lax.linalg.triangular_solve(r, adjoint_of(q) @ b, left_side=True)
    q, r = factored(adjoint_of(a), False)
    return q @ lax.linalg.triangular_solve(r, b, left_side=True, transpose_a=True, conjugate_a=True)


def least_norm(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """Give the least-squares solution of least norm, for matrices of any rank, by their SVD.

    Args:
        a: array of shape (..., m, n).
        b: array of shape (..., m, k).

    Returns:
        The solution (..., n, k), the singular values, and which of them do not count as 0.
    """
    u, s, vh = decomposed(a, False)
    eps = jnp.finfo(s.dtype).eps * max(a.shape[-2:])
    kept = s > s[..., :1] * jnp.asarray(eps, s.dtype)
    safe = jnp.where(kept, s, jnp.ones((), s.dtype))
    inverse = jnp.where(kept, 1 / safe, jnp.zeros((), s.dtype))
    scaled = convert(inverse, a.dtype)[..., None] * (adjoint_of(u) @ b)
    return adjoint_of(vh) @ scaled, s, kept


def regularized(a: Array, b: Array, weight: Array) -> Array:
    """Give the solution of least ``|a x - b|² + weight |x|²``, by the normal equations."""
    ah = adjoint_of(a)
    m, n = a.shape[-2:]
    identity = jnp.eye(min(m, n), dtype=a.dtype) * convert(weight, a.dtype)
    if m >= n:
        return jnp.linalg.solve(ah @ a + identity, ah @ b)
    return ah @ jnp.linalg.solve(a @ ah + identity, b)


class MatrixSolveLs(Primitive):
    """Least-squares solution (MindSpore: ``ops.MatrixSolveLs``).

    Args:
        fast: whether the normal equations are solved, with the regularizer; else the solution of
            least norm is found, for any rank, and the regularizer has no meaning.
    """

    fast: bool = True

    def __post_init__(self) -> None:
        checks.boolean("fast", self.fast, "MatrixSolveLs")

    def compute(self, matrix: Array, rhs: Array, l2_regularizer: Array) -> Array:
        """Solve for (..., m, n) and (..., m, k)."""
        accept("MatrixSolveLs", (*REAL, *COMPLEX), matrix=matrix, rhs=rhs)
        same("MatrixSolveLs", matrix=matrix, rhs=rhs)
        accept("MatrixSolveLs", ("Float64",), l2_regularizer=l2_regularizer)
        matrices("MatrixSolveLs", matrix, "matrix")
        matrices("MatrixSolveLs", rhs, "rhs")
        if matrix.shape[:-1] != rhs.shape[:-1] or l2_regularizer.shape != ():
            raise located(
                ValueError,
                "For 'MatrixSolveLs', 'matrix' and 'rhs' must differ in the last size only, and "
                f"'l2_regularizer' must be 0-d, but got shapes {matrix.shape}, {rhs.shape} and "
                f"{l2_regularizer.shape}.",
            )
        if self.fast:
            return regularized(matrix, rhs, l2_regularizer)
        return least_norm(matrix, rhs)[0]


class Lstsq(Primitive):
    """Least-squares solution (MindSpore: ``ops.Lstsq``).

    Args:
        fast: whether the rank is full; else the solution of least norm is found, for any rank.
        l2_regularizer: weight of the solution's squared norm.
    """

    fast: bool = True
    l2_regularizer: float = 0.0

    def __post_init__(self) -> None:
        checks.boolean("fast", self.fast, "Lstsq")
        checks.of_type("l2_regularizer", self.l2_regularizer, float, "Lstsq")

    def compute(self, x: Array, a: Array) -> Array:
        """Solve for (m, n) and (m, k) or (m,)."""
        accept("Lstsq", (*HALF, *REAL), x=x, a=a)
        same("Lstsq", x=x, a=a)
        if x.ndim != 2 or a.ndim not in (1, 2) or x.shape[0] != a.shape[0]:
            raise located(
                ValueError,
                "For 'Lstsq', the inputs must have shapes (m, n) and (m, k) or (m,), but got "
                f"{x.shape} and {a.shape}.",
            )
        matrix, right = widened(x), widened(a if a.ndim == 2 else a[:, None])
        if self.l2_regularizer:
            out = regularized(matrix, right, jnp.asarray(self.l2_regularizer, matrix.dtype))
        elif self.fast:
            out = least_squares(matrix, right)
        else:
            out = least_norm(matrix, right)[0]
        return convert(out, x.dtype)


_lstsq = Lstsq()


def lstsq(input: Tensor, A: Tensor) -> Tensor:
    """Solve a least-squares or least-norm problem of full rank (MindSpore: ``ops.lstsq``).

    Args:
        input: Tensor of shape (m, n), floating-point: the matrix.
        A: Tensor of shape (m, k) or (m,) and the same dtype: the right-hand sides.

    Returns:
        Tensor of shape (n, k), or (n, 1).

    Raises:
        TypeError: the dtypes differ, or are not floating-point.
        ValueError: the shapes do not fit.
    """
    return _lstsq(input, A)
