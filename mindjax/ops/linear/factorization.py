"""QR and LU: factorisations, Householder reflections, unpacking of pivots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.linear.matrices import (
    COMPLEX,
    HALF,
    REAL,
    accept,
    adjoint_of,
    known,
    matrices,
    same,
    widened,
)
from mindjax.ops.promotion import convert

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


@jax.custom_jvp
def _complete(x: Array) -> tuple[Array, Array]:
    """Factor tall matrices with all columns of Q."""
    q, r = jnp.linalg.qr(x, "complete")
    return q, r


@_complete.defjvp
def _complete_jvp(primals: Any, tangents: Any) -> Any:
    raise located(
        NotImplementedError,
        "For 'Qr', tall matrices have no gradient with all columns of Q: use mode 'reduced'.",
    )


def factored(x: Array, full: bool) -> tuple[Array, Array]:
    """Factor matrices into Q and R, with a gradient for wide ones, which jax lacks.

    Args:
        x: array of shape (..., m, n).
        full: whether Q is (..., m, m) if m > n.

    Returns:
        Q and R.
    """
    m, n = x.shape[-2:]
    if m > n and full:
        return _complete(x)
    if m >= n:
        q, r = jnp.linalg.qr(x)
        return q, r
    # The first columns determine Q.
    q, left = jnp.linalg.qr(x[..., :m])
    return q, jnp.concatenate([left, adjoint_of(q) @ x[..., m:]], -1)


class Qr(Primitive):
    """Orthogonal and triangular factor (MindSpore: ``ops.Qr``).

    Args:
        full_matrices: whether Q has all columns.
    """

    full_matrices: bool = False

    def __post_init__(self) -> None:
        checks.boolean("full_matrices", self.full_matrices, "Qr")

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Factor arrays of shape (..., m, n)."""
        accept("Qr", (*HALF, *REAL, *COMPLEX), x=x)
        matrices("Qr", x, "x")
        q, r = factored(widened(x), self.full_matrices)
        return convert(q, x.dtype), convert(r, x.dtype)


def qr(input: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Factor matrices into an orthogonal and a triangular one (MindSpore: ``ops.qr``).

    Args:
        input: Tensor of shape (..., m, n), floating-point or complex.
        mode: ``"reduced"`` for Q of shape (..., m, min(m, n)), ``"complete"`` for (..., m, m); a
            tall matrix has a gradient in the first only.

    Returns:
        Q and R.

    Raises:
        TypeError: ``mode`` is neither, or ``input`` holds integers.
        ValueError: ``input`` has fewer than two axes.
    """
    if mode not in ("reduced", "complete"):
        raise located(
            TypeError, f"For 'qr', the 'mode' must be 'reduced' or 'complete', but got {mode!r}."
        )
    return Qr(mode == "complete")(input)


class Geqrf(Primitive):
    """QR with Q as Householder vectors (MindSpore: ``ops.Geqrf``)."""

    def compute(self, input: Array) -> tuple[Array, Array]:
        """Factor arrays of shape (..., m, n)."""
        accept("Geqrf", (*REAL, *COMPLEX), input=input)
        matrices("Geqrf", input)
        vectors, tau = jnp.linalg.qr(input, "raw")
        return jnp.swapaxes(vectors, -1, -2), tau


_geqrf = Geqrf()


def geqrf(input: Tensor) -> tuple[Tensor, Tensor]:
    """Factor matrices, leaving Q as Householder vectors (MindSpore: ``ops.geqrf``).

    Args:
        input: Tensor of shape (..., m, n), Float32, Float64 or complex.

    Returns:
        A Tensor with R on and above the diagonal, the vectors below it; and their factors tau, of
        shape (..., min(m, n)).

    Raises:
        TypeError: ``input`` has another dtype.
        ValueError: ``input`` has fewer than two axes.
    """
    return _geqrf(input)


def reflected(vectors: Array, tau: Array, x: Array, transposed: bool = False) -> Array:
    """Multiply matrices from the left by a product of Householder reflections.

    Args:
        vectors: array of shape (..., m, k or more), vectors below the diagonal.
        tau: array of shape (..., k).
        x: array of shape (..., m, n).
        transposed: whether the conjugate transpose of the product is meant.

    Returns:
        Array of shape (..., m, n).
    """
    count, rows = tau.shape[-1], vectors.shape[-2]
    columns = jnp.tril(vectors[..., :count], -1) + jnp.eye(rows, count, dtype=vectors.dtype)
    factors = jnp.conj(tau) if transposed else tau
    # The last reflection of a product acts first.
    along = (jnp.moveaxis(columns, -1, 0), jnp.moveaxis(factors, -1, 0))

    def reflect(state: Array, step: tuple[Array, Array]) -> tuple[Array, None]:
        vector, factor = step[0][..., :, None], step[1][..., None, None]
        return state - factor * (vector @ (adjoint_of(vector) @ state)), None

    return lax.scan(reflect, x, along, reverse=not transposed)[0]


class Orgqr(Primitive):
    """First columns of a product of reflections (MindSpore: ``ops.Orgqr``)."""

    def compute(self, x: Array, tau: Array) -> Array:
        """Multiply out reflections (..., m, n) with factors (..., k)."""
        accept("Orgqr", (*REAL, *COMPLEX), x=x, tau=tau)
        same("Orgqr", x=x, tau=tau)
        matrices("Orgqr", x, "x")
        m, n = x.shape[-2:]
        if m < n or tau.ndim != x.ndim - 1 or tau.shape[-1] > n or tau.shape[:-1] != x.shape[:-2]:
            raise located(
                ValueError,
                "For 'Orgqr', the inputs must have shapes (..., m, n) and (..., k) with m >= n >= "
                f"k, but got {x.shape} and {tau.shape}.",
            )
        identity = jnp.broadcast_to(jnp.eye(m, n, dtype=x.dtype), x.shape)
        return reflected(x, tau, identity)


_orgqr = Orgqr()


def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """Multiply out Householder reflections (MindSpore: ``ops.orgqr``).

    Args:
        input: Tensor of shape (..., m, n) with vectors below its diagonal, as `geqrf` gives.
        input2: Tensor of shape (..., k), of the same dtype: their factors.

    Returns:
        Tensor of shape (..., m, n): the first columns of the product.

    Raises:
        TypeError: the dtypes differ, or are neither Float32, Float64 nor complex.
        ValueError: the shapes do not fit.
    """
    return _orgqr(input, input2)


class Ormqr(Primitive):
    """Product with reflections (MindSpore: ``ops.Ormqr``).

    Args:
        left: whether Q stands on the left.
        transpose: whether the conjugate transpose of Q is meant.
    """

    left: bool = True
    transpose: bool = False

    def __post_init__(self) -> None:
        checks.boolean("left", self.left, "Ormqr")
        checks.boolean("transpose", self.transpose, "Ormqr")

    def compute(self, x: Array, tau: Array, other: Array) -> Array:
        """Multiply ``other`` (..., m, n) by the reflections."""
        accept("Ormqr", (*REAL, *COMPLEX), x=x, tau=tau, other=other)
        same("Ormqr", x=x, tau=tau, other=other)
        matrices("Ormqr", x, "x")
        matrices("Ormqr", other, "other")
        rows = other.shape[-2 if self.left else -1]
        short = min(x.shape[-2:])
        batches = {x.shape[:-2], tau.shape[:-1], other.shape[:-2]}
        if x.shape[-2] != rows or tau.shape[-1] > short or len(batches) > 1:
            raise located(
                ValueError,
                "For 'Ormqr', the reflections must have as many rows as 'other' has "
                f"{'rows' if self.left else 'columns'}, and one batch, but got shapes {x.shape}, "
                f"{tau.shape} and {other.shape}.",
            )
        if self.left:
            return reflected(x, tau, other, self.transpose)
        return adjoint_of(reflected(x, tau, adjoint_of(other), not self.transpose))


def ormqr(
    input: Tensor, tau: Tensor, other: Tensor, left: bool = True, transpose: bool = False
) -> Tensor:
    """Multiply by a product Q of Householder reflections (MindSpore: ``ops.ormqr``).

    Args:
        input: Tensor of shape (..., p, k) with vectors below its diagonal, as `geqrf` gives.
        tau: Tensor of shape (..., k): their factors.
        other: Tensor of shape (..., m, n) and the same dtype; p is m if ``left``, else n.
        left: whether ``Q @ other`` is meant, instead of ``other @ Q``.
        transpose: whether Q is replaced by its conjugate transpose.

    Returns:
        Tensor of the shape of ``other``.

    Raises:
        TypeError: the dtypes differ, or are neither Float32, Float64 nor complex.
        ValueError: the shapes do not fit.
    """
    return Ormqr(left, transpose)(input, tau, other)


def permutation(pivots: Array, rows: int) -> Array:
    """Turn pivots, counted from 1, into the order of rows that they make.

    Args:
        pivots: integer array of shape (..., k): row i was exchanged with row ``pivots[i]``.
        rows: number of rows.

    Returns:
        Int32 array of shape (..., rows).
    """
    return lax.linalg.lu_pivots_to_permutation(convert(pivots, np.int32) - np.int32(1), rows)


def check_pivots(op: str, pivots: Any, rows: int) -> None:
    """Raise if a pivot names no row, where that can be known (PYNATIVE on the CPU).

    Raises:
        ValueError: a pivot is below 1 or above ``rows``.
    """
    values = known(pivots)
    if values is not None and values.size and not 1 <= values.min() <= values.max() <= rows:
        raise located(
            ValueError,
            f"For '{op}', the 'LU_pivots' must lie between 1 and {rows}, but got "
            f"{values.ravel().tolist()}.",
        )


class LuUnpack(Primitive):
    """P, L and U of a packed factorisation (MindSpore: ``ops.LuUnpack``).

    Args:
        unpack_data: whether L and U are wanted.
        unpack_pivots: whether P is wanted.
    """

    unpack_data: bool = True
    unpack_pivots: bool = True

    def __post_init__(self) -> None:
        checks.boolean("unpack_data", self.unpack_data, "LuUnpack")
        checks.boolean("unpack_pivots", self.unpack_pivots, "LuUnpack")

    def __call__(self, LU_data: Any, LU_pivots: Any) -> Any:
        """Unpack; what is not wanted is None."""
        if len(getattr(LU_data, "shape", ())) >= 2:
            check_pivots("LuUnpack", LU_pivots, LU_data.shape[-2])
        return self._dispatch(LU_data, LU_pivots)

    def compute(self, data: Array, pivots: Array) -> tuple[Array | None, ...]:
        """Unpack data (..., m, n) and pivots (..., min(m, n))."""
        matrices("LuUnpack", data, "LU_data")
        if not jnp.issubdtype(pivots.dtype, jnp.integer):
            accept("LuUnpack", ("Int8", "UInt8", "Int16", "Int32", "Int64"), LU_pivots=pivots)
        m, n = data.shape[-2:]
        k = min(m, n)
        if pivots.shape != (*data.shape[:-2], k):
            raise located(
                ValueError,
                f"For 'LuUnpack', the 'LU_pivots' must have shape {(*data.shape[:-2], k)}, but got "
                f"{pivots.shape}.",
            )
        p = lower = upper = None
        if self.unpack_pivots:
            order = permutation(pivots, m)
            p = convert(order[..., None, :] == jnp.arange(m, dtype=np.int32)[:, None], data.dtype)
        if self.unpack_data:
            lower = jnp.tril(data[..., :k], -1) + jnp.eye(m, k, dtype=data.dtype)
            upper = jnp.triu(data[..., :k, :])
        return p, lower, upper


def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Tensor | None, Tensor | None, Tensor | None]:
    """Unpack an LU factorisation (MindSpore: ``ops.lu_unpack``).

    Args:
        LU_data: Tensor of shape (..., m, n): U on and above the diagonal, L below it.
        LU_pivots: integer Tensor of shape (..., min(m, n)), counted from 1.
        unpack_data: whether L and U are wanted.
        unpack_pivots: whether the permutation matrix is wanted.

    Returns:
        P, L and U, whose product is the factored matrix; None for what is not wanted.

    Raises:
        TypeError: the pivots are no integers, or a flag is no bool.
        ValueError: the shapes do not fit; in PYNATIVE on the CPU: a pivot names no row.
    """
    return LuUnpack(unpack_data, unpack_pivots)(LU_data, LU_pivots)
