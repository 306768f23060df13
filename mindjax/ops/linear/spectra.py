"""Eigenvalues and singular values: Eig, Eigh, Svd, and what is made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.dtype import from_np
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.linear.host import on_host
from mindjax.ops.linear.matrices import COMPLEX, REAL, accept, adjoint_of, matrices, square
from mindjax.ops.promotion import convert

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _complex_of(dtype: Any) -> Any:
    wide = np.dtype(dtype) in (np.dtype(np.float64), np.dtype(np.complex128))
    return np.dtype(np.complex128 if wide else np.complex64)


def _on_host(x: Array) -> tuple[Array, Array]:
    kind = _complex_of(x.dtype)
    shapes = (jax.ShapeDtypeStruct(x.shape[:-1], kind), jax.ShapeDtypeStruct(x.shape, kind))

    return on_host(np.linalg.eig, shapes, x)  # type: ignore[return-value]


@jax.custom_jvp
def _eig(x: Array) -> tuple[Array, Array]:
    """Find eigenvalues and eigenvectors of length 1; devices without a kernel ask the host."""

    def native(a: Array) -> tuple[Array, Array]:
        values, vectors = lax.linalg.eig(
            a, compute_left_eigenvectors=False, compute_right_eigenvectors=True
        )
        return values, vectors

    return lax.platform_dependent(x, cpu=native, cuda=native, default=_on_host)


@_eig.defjvp
def _eig_jvp(primals: Any, tangents: Any) -> Any:
    values, vectors = _eig(*primals)
    turned = jnp.linalg.solve(vectors, convert(tangents[0], vectors.dtype) @ vectors)
    same = jnp.eye(values.shape[-1], dtype=bool)
    gaps = values[..., None, :] - values[..., :, None]
    gaps = jnp.where(same, jnp.ones((), gaps.dtype), gaps)
    moved = vectors @ jnp.where(same, jnp.zeros((), turned.dtype), turned / gaps)
    # Eigenvectors keep length 1.
    along = jnp.sum(jnp.conj(vectors) * moved, -2, keepdims=True)
    moved = moved - vectors * convert(jnp.real(along), vectors.dtype)
    return (values, vectors), (jnp.diagonal(turned, axis1=-2, axis2=-1), moved)


class Eig(Primitive):
    """Eigenvalues and eigenvectors (MindSpore: ``ops.Eig``).

    Args:
        compute_v: whether the eigenvectors are wanted.
    """

    compute_v: bool = False

    def __post_init__(self) -> None:
        checks.boolean("compute_v", self.compute_v, "Eig")

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Decompose (..., n, n); without eigenvectors a 0 stands in their place."""
        accept("Eig", (*REAL, *COMPLEX), x=x)
        square("Eig", x, "x")
        values, vectors = _eig(x)
        return values, vectors if self.compute_v else jnp.zeros((), vectors.dtype)


def eig(A: Tensor) -> tuple[Tensor, Tensor]:
    """Find eigenvalues and eigenvectors of square matrices (MindSpore: ``ops.eig``).

    Args:
        A: Tensor of shape (..., n, n), Float32, Float64 or complex.

    Returns:
        Complex Tensors: the eigenvalues, of shape (..., n), and the eigenvectors of length 1 as
        columns, of shape (..., n, n). Neither order nor phase is defined.

    Raises:
        TypeError: ``A`` has another dtype.
        ValueError: the matrices are not square.
    """
    return Eig(True)(A)


def eigvals(A: Tensor) -> Tensor:
    """Find the eigenvalues of square matrices (MindSpore: ``ops.eigvals``).

    Args:
        A: Tensor of shape (..., n, n), Float32, Float64 or complex.

    Returns:
        Complex Tensor of shape (..., n), in no defined order.

    Raises:
        TypeError: ``A`` has another dtype.
        ValueError: the matrices are not square.
    """
    return Eig(False)(A)[0]


class Eigh(Primitive):
    """Eigenvalues of symmetric or Hermitian matrices (MindSpore's kernel of ``scipy.linalg.eigh``).

    Args:
        compute_eigenvectors: whether the eigenvectors are wanted.
        lower: whether the lower triangle is read, else the upper one.
    """

    compute_eigenvectors: bool = True
    lower: bool = True

    def compute(self, x: Array) -> Any:
        """Decompose (..., n, n), eigenvalues ascending."""
        accept("Eigh", (*REAL, *COMPLEX), x=x)
        square("Eigh", x, "x")
        side = "L" if self.lower else "U"
        if not self.compute_eigenvectors:
            return jnp.linalg.eigvalsh(x, side, symmetrize_input=False)
        return tuple(jnp.linalg.eigh(x, side, symmetrize_input=False))


@jax.custom_jvp
def _full_svd(x: Array) -> tuple[Array, Array, Array]:
    return tuple(jnp.linalg.svd(x, full_matrices=True))


@_full_svd.defjvp
def _full_svd_jvp(primals: Any, tangents: Any) -> Any:
    raise located(
        NotImplementedError,
        "For 'Svd', 'full_matrices' has no gradient if the matrices are not square: use "
        "full_matrices=False.",
    )


def decomposed(x: Array, full: bool) -> tuple[Array, Array, Array]:
    """Give U, S and the conjugate transpose of V.

    Args:
        x: array of shape (..., m, n).
        full: whether U and V are square.

    Returns:
        The three arrays.
    """
    if full and x.shape[-1] != x.shape[-2]:
        return _full_svd(x)
    return tuple(jnp.linalg.svd(x, full_matrices=False))


class Svd(Primitive):
    """Singular values and vectors (MindSpore: ``ops.Svd``).

    Args:
        full_matrices: whether U and V are square.
        compute_uv: whether U and V are wanted.
    """

    full_matrices: bool = False
    compute_uv: bool = True

    def __post_init__(self) -> None:
        checks.boolean("full_matrices", self.full_matrices, "Svd")
        checks.boolean("compute_uv", self.compute_uv, "Svd")

    def compute(self, x: Array) -> tuple[Array, Array, Array]:
        """Decompose (..., m, n); without vectors arrays of one 0 stand in their places."""
        name = from_np(x.dtype).name
        if name not in (*REAL, *COMPLEX):
            raise located(
                TypeError,
                "For 'Svd', the dtype of 'input' must be in (float32, float64, complex64, "
                f"complex128), but got {name}.",
            )
        matrices("Svd", x)
        if not self.compute_uv:
            empty = jnp.zeros(1, x.dtype)
            return convert(jnp.linalg.svd(x, compute_uv=False), x.dtype), empty, empty
        u, s, vh = decomposed(x, self.full_matrices)
        # MindSpore: the singular values of complex matrices have a complex dtype.
        return convert(s, x.dtype), u, adjoint_of(vh)


def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Decompose matrices into ``U diag(S) Vᴴ`` (MindSpore: ``ops.svd``).

    Args:
        input: Tensor of shape (..., m, n), Float32, Float64 or complex.
        full_matrices: whether U and V are square; then other matrices have no gradient.
        compute_uv: whether U and V are wanted.

    Returns:
        S of shape (..., min(m, n)), descending; with ``compute_uv`` a tuple of S, U and V (not
        transposed). Signs of the vectors are not defined.

    Raises:
        TypeError: ``input`` has another dtype, or a flag is no bool.
        ValueError: ``input`` has fewer than two axes.
    """
    s, u, v = Svd(full_matrices, compute_uv)(input)
    return (s, u, v) if compute_uv else s


class _Pinv(Primitive, register=False):
    """Pseudo-inverse from singular values, or eigenvalues, above a threshold."""

    hermitian: bool = False

    def compute(self, x: Array, atol: Array, rtol: Array) -> Array:
        if self.hermitian:
            values, u = jnp.linalg.eigh(x, "L", symmetrize_input=False)
            vh = adjoint_of(u)
            size = jnp.abs(values)
            largest = jnp.max(size, -1, keepdims=True)
        else:
            u, values, vh = jnp.linalg.svd(x, full_matrices=False)
            size, largest = values, values[..., :1]
        bound = jnp.maximum(
            convert(atol, values.dtype)[..., None], convert(rtol, values.dtype)[..., None] * largest
        )
        kept = size > bound
        # Not 1 / 0 under the mask: its gradient would be NaN.
        safe = jnp.where(kept, values, jnp.ones((), values.dtype))
        inverse = jnp.where(kept, 1 / safe, jnp.zeros((), values.dtype))
        return (adjoint_of(vh) * inverse[..., None, :]) @ adjoint_of(u)


def pinv(x: Tensor, *, atol: Any = None, rtol: Any = None, hermitian: bool = False) -> Tensor:
    """Take the pseudo-inverse of matrices (MindSpore: ``ops.pinv``).

    Args:
        x: Tensor of shape (..., m, n), Float32 or Float64.
        atol: number or Tensor: singular values up to it count as 0.
        rtol: the same, as a share of the largest; by default max(m, n) times the dtype's epsilon,
            0 if ``atol`` is given.
        hermitian: whether ``x`` is symmetric; its lower triangle is read.

    Returns:
        Tensor of shape (..., n, m).

    Raises:
        TypeError: ``x`` is another Tensor or 0-d, or ``hermitian`` is no bool.
        ValueError: ``x`` has one axis.
    """
    shape = getattr(x, "shape", None)
    if shape is None or shape == ():
        raise located(TypeError, f"For 'pinv', the 'x' must be a Tensor with axes, but got {x!r}.")
    if len(shape) < 2:
        raise located(
            ValueError, f"For 'pinv', 'x' must have 2 or more axes, but got {len(shape)}."
        )
    checks.boolean("hermitian", hermitian, "pinv")
    kind = from_np(x.dtype.np) if hasattr(x.dtype, "np") else from_np(x.dtype)
    if kind.name not in REAL:
        raise located(
            TypeError, f"For 'pinv', the 'x' must be Float32 or Float64, but got {kind.name}."
        )
    if rtol is None:
        rtol = max(shape[-2:]) * float(np.finfo(kind.np).eps) if atol is None else 0.0
    bounds = (0.0 if v is None else v for v in (atol, rtol))
    return _Pinv(hermitian)(
        x, *(np.float32(v) if isinstance(v, bool | int | float) else v for v in bounds)
    )
