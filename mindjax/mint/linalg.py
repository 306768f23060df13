"""mint's linear algebra: norms, QR and inverse, and functions whose signature differs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from mindjax.core import checks
from mindjax.core.dtype import Number, int64
from mindjax.core.errors import located
from mindjax.ops import linalg
from mindjax.ops.linalg import inverse as inv
from mindjax.ops.linear import contractions, diagonals, distances, factorization
from mindjax.ops.linear.solve import triangular_solve as triangular_solve
from mindjax.ops.products import EinsumExt, contract, vector_dot
from mindjax.ops.rearrange import diagonal
from mindjax.ops.reduction import sum as total
from mindjax.ops.shape import shape_of

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

__all__ = ["inv", "matrix_norm", "norm", "qr", "vector_norm"]

baddbmm = contractions.baddbmm_ext

_MODES = tuple(
    f"{word}use_mm_for_euclid_dist{rest}"
    for word, rest in (("", "_if_necessary"), ("", ""), ("donot_", ""))
)


def norm(
    A: Tensor,
    ord: Any = None,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Number | None = None,
) -> Tensor:
    """Take the norm of vectors or matrices (MindSpore: ``mint.linalg.norm``).

    Args:
        A: Tensor of any shape.
        ord: order of the norm. None is the 2-norm of all elements of ``dim``; with one axis any
            number, with two axes one of 1, -1, 2, -2, inf, -inf, ``"fro"``, ``"nuc"``.
        dim: one axis, or two; by default all, which must be one or two if ``ord`` is given.
        keepdim: whether reduced axes stay, with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: the order does not fit the number of axes, or there is no such axis.
    """
    return linalg.norm(A, ord, dim, keepdim, dtype=dtype)


def vector_norm(
    x: Tensor,
    ord: Any = 2,
    dim: Any = None,
    keepdim: bool = False,
    *,
    dtype: Number | None = None,
) -> Tensor:
    """Take the p-norm over axes, whatever their number (MindSpore: ``mint.linalg.vector_norm``).

    Args:
        x: Tensor of any shape.
        ord: order p, any number, inf or -inf.
        dim: axes to reduce, all by default.
        keepdim: whether reduced axes stay, with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: ``ord`` is not a number, or there is no such axis.
    """
    return linalg.vector_norm(x, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    dim: Any = (-2, -1),
    keepdim: bool = False,
    *,
    dtype: Number | None = None,
) -> Tensor:
    """Take a norm of the matrices in two axes (MindSpore: ``mint.linalg.matrix_norm``).

    Args:
        A: Tensor of rank 2 or more.
        ord: ``"fro"``, ``"nuc"``, 1, -1, 2, -2, inf or -inf.
        dim: the two axes.
        keepdim: whether the axes stay, with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: ``ord`` is none of these, or ``dim`` is not two axes.
    """
    return linalg.matrix_norm(A, ord, dim, keepdim, dtype=dtype)


def qr(A: Tensor, mode: str = "reduced") -> tuple[Tensor, Tensor]:
    """Factor matrices into an orthogonal and a triangular one (MindSpore: ``mint.linalg.qr``).

    Args:
        A: Tensor of shape (..., m, n).
        mode: ``"reduced"`` for Q of shape (..., m, min(m, n)), ``"complete"`` for (..., m, m),
            ``"r"`` for R of the first and an empty Q.

    Returns:
        Q and R.

    Raises:
        ValueError: there is no such mode, or ``A`` has fewer than two axes.
    """
    checks.one_of("mode", mode, ("reduced", "complete", "r"), "linalg.qr")
    q, r = factorization.Qr(mode == "complete")(A)
    return (q[..., :0, :0].reshape((0,)), r) if mode == "r" else (q, r)


def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Write what `ops.addr` gives into ``input`` (MindSpore: ``mint.addr_``).

    Args:
        input: Tensor of shape (n, m); with ``beta`` 0 its values do not count.
        vec1: Tensor of shape (n,).
        vec2: Tensor of shape (m,).
        beta: number.
        alpha: number.

    Returns:
        ``input``.

    Raises:
        ValueError: the sizes do not fit.
    """
    checks.tensors("addr_", input=input)
    return input.copy_(contractions.addr(input, vec1, vec2, beta=beta, alpha=alpha))


def cdist(
    x1: Tensor,
    x2: Tensor,
    p: float = 2.0,
    compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
) -> Tensor:
    """Take the distances of all pairs of vectors (MindSpore: ``mint.cdist``).

    Args:
        x1: Tensor of shape (r, m) or (batch, r, m), floating-point.
        x2: Tensor of shape (s, m) or (batch, s, m), of the same dtype.
        p: order of the norm, from 0 to inf.
        compute_mode: how a device may compute the 2-norm; no mode changes the result here.

    Returns:
        Tensor of shape (r, s) or (batch, r, s). The gradient of a distance 0 is 0.

    Raises:
        TypeError: the dtypes differ or are not floating-point.
        ValueError: ``p`` is negative, the shapes do not fit, or there is no such mode.
    """
    checks.one_of("compute_mode", compute_mode, _MODES, "cdist")
    return distances.cdist(x1, x2, checks.number("p", p, "cdist"))


def trace(input: Tensor) -> Tensor:
    """Sum the main diagonal of a matrix (MindSpore: ``mint.trace``).

    Args:
        input: Tensor of shape (m, n).

    Returns:
        0-d Tensor: Int64 for integers and truth values, else of the same dtype.

    Raises:
        ValueError: ``input`` is no matrix.
    """
    checks.tensors("trace", input=input)
    if len(shape_of(input)) != 2:
        raise located(
            ValueError, f"For 'trace', the 'input' must be a matrix, but got {shape_of(input)}."
        )
    if input.dtype.kind in ("float", "complex"):
        return diagonals.trace(input)
    return total(diagonal(input), dtype=int64)


def einsum(equation: Any, *operands: Any) -> Tensor:
    """Sum products written in Einstein's notation (MindSpore: ``mint.einsum``).

    Args:
        equation: subscripts, such as ``"bij,bjk->bik"``; or the first Tensor, with lists of axis
            numbers behind each Tensor and, if wanted, one for the result.
        operands: the Tensors.

    Returns:
        Tensor with the axes that the equation names.

    Raises:
        ValueError: the equation does not fit the Tensors.
        TypeError: the dtypes do not mix.
    """
    return contract(EinsumExt, equation, operands)


def vdot(input: Tensor, other: Tensor) -> Tensor:
    """Take the scalar product of two vectors, the first conjugated (MindSpore: ``mint.vdot``).

    Args:
        input: Tensor of shape (n,).
        other: Tensor of shape (n,), of the same dtype.

    Returns:
        0-d Tensor.

    Raises:
        TypeError: the dtypes differ.
        ValueError: the ranks are not 1, or the sizes differ.
    """
    checks.tensors("vdot", input=input, other=other)
    if input.dtype.kind == "complex":
        return contractions.vecdot(input, other)
    return vector_dot(input, other)
