"""Products that the base family lacks: outer, batched, Kronecker, cross, bilinear, tridiagonal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops import products
from mindjax.ops.arithmetic import add_ext, mul
from mindjax.ops.linear.matrices import COMPLEX, HALF, REAL, accept, adjoint_of, same
from mindjax.ops.promotion import broadcast_shape, convert, floating, promote_pair
from mindjax.ops.shape import shape_of, swapaxes
from mindjax.ops.special import conj

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def addr(x: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Compute ``beta * x + alpha * outer(vec1, vec2)`` (MindSpore: ``ops.addr``).

    Args:
        x: Tensor that broadcasts to (n, m); with ``beta`` 0 it does not count.
        vec1: Tensor of shape (n,).
        vec2: Tensor of shape (m,).
        beta: number.
        alpha: number.

    Returns:
        Tensor of shape (n, m).

    Raises:
        TypeError: the dtypes do not mix.
        ValueError: the vectors have another rank, or ``x`` does not broadcast.
    """
    product = products.outer(vec1, vec2)
    scaled = product if isinstance(alpha, int | float) and alpha == 1 else mul(product, alpha)
    if isinstance(beta, int | float) and beta == 0:
        broadcast_shape("addr", shape_of(x), shape_of(product))
        return scaled
    return add_ext(x if isinstance(beta, int | float) and beta == 1 else mul(x, beta), scaled)


def adjoint(x: Tensor) -> Tensor:
    """Exchange the last two axes and conjugate (MindSpore: ``ops.adjoint``).

    Args:
        x: Tensor with at least two axes.

    Returns:
        Tensor of shape (..., n, m) for (..., m, n).

    Raises:
        ValueError: there are fewer than two axes.
    """
    swapped = swapaxes(x, -2, -1)
    return conj(swapped) if "Complex" in str(getattr(x, "dtype", "")) else swapped


def baddbmm_ext(
    input: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> Tensor:
    """Compute ``beta * input + alpha * batch1 @ batch2`` (MindSpore: ``ops.baddbmm_ext``).

    Args:
        input: Tensor that broadcasts to (b, n, m).
        batch1: Tensor of shape (b, n, k).
        batch2: Tensor of shape (b, k, m).
        beta: number.
        alpha: number.

    Returns:
        Tensor of shape (b, n, m).

    Raises:
        TypeError: the dtypes differ.
        ValueError: the sizes do not fit.
    """
    return products.baddbmm(input, batch1, batch2, beta, alpha)


class _BatchDot(Primitive, register=False):
    """Contraction of one axis of each input, entry by entry of the first axes."""

    first: int
    second: int

    def compute(self, x1: Array, x2: Array) -> Array:
        accept("batch_dot", ("Float32",), x1=x1, x2=x2)
        if x1.shape[0] != x2.shape[0] or x1.shape[self.first] != x2.shape[self.second]:
            raise located(
                ValueError,
                "For 'batch_dot', the batches and the contracted axes must be equal, but got "
                f"shapes {x1.shape} and {x2.shape} with axes {(self.first, self.second)}.",
            )
        return lax.dot_general(x1, x2, (((self.first,), (self.second,)), ((0,), (0,))))


def batch_dot(x1: Tensor, x2: Tensor, axes: Any = None) -> Tensor:
    """Contract one axis of each Tensor, batch entry by entry (MindSpore: ``ops.batch_dot``).

    Args:
        x1: Float32 Tensor with at least two axes, the batch first.
        x2: Float32 Tensor with at least two axes and the same batch.
        axes: axis of each, as a tuple or list, or one for both; by default the last of ``x1`` and
            the last but one of ``x2`` (the last, if it has two).

    Returns:
        Tensor with the batch, then the other axes of ``x1``, then those of ``x2``; for two Tensors
        of two axes of shape (batch, 1).

    Raises:
        TypeError: the inputs are not Float32, or an axis is no integer.
        ValueError: an axis is 0 or out of range, or the sizes differ.
    """
    ranks = len(shape_of(x1)), len(shape_of(x2))
    if min(ranks) < 2:
        raise located(
            ValueError, f"For 'batch_dot', both inputs must have 2 or more axes, but got {ranks}."
        )
    if axes is None:
        axes = (ranks[0] - 1, max(ranks[1] - 2, 1))
    checks.of_type("axes", axes, (int, tuple, list), "batch_dot")
    pair = (axes, axes) if isinstance(axes, int) else tuple(axes)
    if len(pair) != 2:
        raise located(ValueError, f"For 'batch_dot', 'axes' must be two axes, but got {axes}.")
    places = [
        checks.axis_in_rank(a, r, "batch_dot", "axes") for a, r in zip(pair, ranks, strict=True)
    ]
    if 0 in places:
        raise located(
            ValueError,
            f"For 'batch_dot', the 'axes' must not name the batch axis 0, but got {axes}.",
        )
    out = _BatchDot(*places)(x1, x2)
    return out.reshape((-1, 1)) if ranks == (2, 2) else out


class _Kron(Primitive, register=False):
    """Kronecker product of arrays of any rank."""

    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        x, y = promote_pair("kron", *_blown_up(x, y))
        ndim = x.ndim // 2
        out = x * y
        return out.reshape([out.shape[2 * i] * out.shape[2 * i + 1] for i in range(ndim)])


def _blown_up(x: Array, y: Array) -> tuple[Array, Array]:
    """Interleave axes of size 1, so that a broadcast product is the Kronecker product."""
    ndim = max(x.ndim, y.ndim)
    left = (1,) * (ndim - x.ndim) + x.shape
    right = (1,) * (ndim - y.ndim) + y.shape
    return (
        x.reshape([s for size in left for s in (size, 1)]),
        y.reshape([s for size in right for s in (1, size)]),
    )


_kron = _Kron()


def kron(input: Tensor, other: Tensor) -> Tensor:
    """Take the Kronecker product (MindSpore: ``ops.kron``).

    Args:
        input: Tensor of any shape.
        other: Tensor of any shape; the one with fewer axes gets axes of size 1 in front.

    Returns:
        Tensor of the promoted dtype whose sizes are the products of theirs.

    Raises:
        TypeError: the dtypes do not mix.
    """
    return _kron(input, other)


class Cross(Primitive):
    """Vector product (MindSpore: ``ops.Cross``).

    Args:
        dim: axis of the vectors; -65530 for the first of size 3.
    """

    dim: int = -65530

    def __post_init__(self) -> None:
        checks.of_type("dim", self.dim, int, "Cross")

    def compute(self, input: Array, other: Array) -> Array:
        """Multiply arrays of one dtype that broadcast to each other."""
        accept("Cross", _NUMBERS, input=input, other=other)
        same("Cross", input=input, other=other)
        shape = broadcast_shape("Cross", input.shape, other.shape)
        if self.dim == -65530:
            if 3 not in shape:
                raise located(
                    ValueError,
                    f"For 'Cross', the inputs must have an axis of size 3, but got shape {shape}.",
                )
            axis = shape.index(3)
        else:
            axis = checks.axis_in_rank(self.dim, len(shape), "Cross", "dim")
        x, y = jnp.broadcast_to(input, shape), jnp.broadcast_to(other, shape)
        if not shape or shape[axis] != 3:
            raise located(
                ValueError,
                f"For 'Cross', the size of axis 'dim' must be 3, but got shape {shape}, dim "
                f"{self.dim}.",
            )
        return jnp.cross(x, y, axis=axis)


_NUMBERS = (
    *HALF,
    *REAL,
    *COMPLEX,
    *("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64"),
)


def cross(input: Tensor, other: Tensor, dim: int | None = None) -> Tensor:
    """Take the vector product along an axis (MindSpore: ``ops.cross``).

    Args:
        input: Tensor of numbers.
        other: Tensor of the same dtype that broadcasts to it.
        dim: axis of size 3; by default the first of that size.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: the dtypes differ or are Bool.
        ValueError: no axis, or not this one, has size 3.
    """
    return Cross(-65530 if dim is None else dim)(input, other)


class _Vecdot(Primitive, register=False):
    """Scalar product of the vectors along an axis, the first conjugated."""

    axis: int
    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        x, y = promote_pair("vecdot", x, y)
        ndim = max(x.ndim, y.ndim)
        if not -ndim <= self.axis < ndim:
            raise located(
                ValueError,
                f"For 'vecdot', the 'axis' must be in [{-ndim}, {ndim}), but got {self.axis}.",
            )
        product = jnp.conj(x) * y
        wide = np.int64 if jnp.issubdtype(x.dtype, jnp.integer) else x.dtype
        return jnp.sum(product, self.axis, dtype=wide)


def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """Take the scalar product of vectors along an axis (MindSpore: ``ops.vecdot``).

    Args:
        x: Tensor; complex numbers are conjugated.
        y: Tensor that broadcasts to it.
        axis: axis of the vectors.

    Returns:
        Tensor without the axis, of the promoted dtype; Int64 for integers.

    Raises:
        TypeError: ``axis`` is no int, or the dtypes do not mix.
        ValueError: there is no such axis, or the shapes do not broadcast.
    """
    checks.of_type("axis", axis, int, "vecdot")
    return _Vecdot(axis)(x, y)


class TridiagonalMatMul(Primitive):
    """Product of tridiagonal and full matrices (MindSpore: ``ops.TridiagonalMatMul``)."""

    def compute(self, superdiag: Array, maindiag: Array, subdiag: Array, rhs: Array) -> Array:
        """Multiply diagonals (..., 1, m) with matrices (..., m, n)."""
        op = "TridiagonalMatMul"
        diagonals = {"superdiag": superdiag, "maindiag": maindiag, "subdiag": subdiag}
        accept(op, ("Float16", *REAL, *COMPLEX), **diagonals, rhs=rhs)
        same(op, **diagonals, rhs=rhs)
        wanted = (*rhs.shape[:-2], 1, rhs.shape[-2]) if rhs.ndim > 1 else None
        if any(d.shape != wanted for d in diagonals.values()):
            raise located(
                ValueError,
                f"For '{op}', the diagonals must have shape {wanted}, for 'rhs' of shape "
                f"{rhs.shape}, but got {[d.shape for d in diagonals.values()]}.",
            )
        above, main, below = (jnp.swapaxes(d, -1, -2) for d in diagonals.values())
        zero = jnp.zeros_like(rhs[..., :1, :])
        following = jnp.concatenate([rhs[..., 1:, :], zero], -2)
        previous = jnp.concatenate([zero, rhs[..., :-1, :]], -2)
        return main * rhs + above * following + below * previous


def tensor_muls(input: Tensor, other: Any) -> Tensor:
    """Multiply a Tensor with a number (MindSpore: ``ops.tensor_muls``).

    Args:
        input: Tensor.
        other: Python number.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``input`` is no Tensor, or ``other`` no number.
    """
    if not hasattr(input, "dtype") or not isinstance(other, bool | int | float | complex):
        raise located(
            TypeError,
            "For 'tensor_muls', 'input' must be a Tensor and 'other' a number, but got "
            f"{type(input).__name__} and {type(other).__name__}.",
        )
    return mul(input, other)


def bidense(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute ``input1ᵀ A input2 + bias`` for several A (MindSpore: ``ops.bidense``).

    Args:
        input1: Tensor of shape (..., p).
        input2: Tensor of shape (..., q).
        weight: Tensor of shape (outputs, p, q): the A.
        bias: Tensor of shape (outputs,) or ().

    Returns:
        Tensor of shape (..., outputs).

    Raises:
        TypeError: an input is no Tensor, or the dtypes differ.
        ValueError: the shapes do not fit.
    """
    for name, x in (("input1", input1), ("input2", input2), ("weight", weight)):
        if not hasattr(x, "dtype"):
            raise located(
                TypeError, f"For 'bidense', the '{name}' must be a Tensor, but got {x!r}."
            )
    return _BiDense()(input1, input2, weight, bias)


class _BiDense(Primitive, register=False):
    """Bilinear form of two vectors for each output."""

    def compute(self, x: Array, y: Array, weight: Array, bias: Array | None) -> Array:
        same("bidense", input1=x, input2=y, **({} if bias is None else {"bias": bias}))
        fits = weight.ndim == 3 and x.ndim and y.ndim and x.shape[:-1] == y.shape[:-1]
        if not fits or weight.shape[1:] != (x.shape[-1], y.shape[-1]):
            raise located(
                ValueError,
                "For 'bidense', the inputs must have shapes (..., p), (..., q) and (n, p, q), but "
                f"got {x.shape}, {y.shape} and {weight.shape}.",
            )
        same("bidense", input1=x, weight=weight)
        out = jnp.einsum("...p,npq,...q->...n", x, weight, y)
        if bias is None:
            return out
        if bias.shape not in ((), weight.shape[:1]):
            raise located(
                ValueError,
                f"For 'bidense', the 'bias' must have shape () or {weight.shape[:1]}, but got "
                f"{bias.shape}.",
            )
        return out + bias


class _Cov(Primitive, register=False):
    """Covariance of the rows, with weights of the columns."""

    correction: int

    def compute(self, x: Array, fweights: Array | None, aweights: Array | None) -> Array:
        x = floating(x)
        if x.ndim > 2:
            raise located(
                ValueError, f"For 'cov', the 'input' must have 2 or fewer axes, but got {x.ndim}."
            )
        rows = x.reshape((-1, x.shape[-1]) if x.ndim else (1, 1))
        count = rows.shape[1]
        weights = None
        for name, w in (("fweights", fweights), ("aweights", aweights)):
            if w is None:
                continue
            kind = jnp.integer if name == "fweights" else jnp.floating
            if not jnp.issubdtype(w.dtype, kind):
                words = "an integer type" if name == "fweights" else "a floating type"
                raise located(
                    TypeError,
                    f"For 'cov', the dtype of '{name}' must be {words}, but got {w.dtype}.",
                )
            if w.ndim > 1 or w.size != count:
                raise located(
                    ValueError,
                    f"For 'cov', the '{name}' must hold {count} numbers on at most one axis, but "
                    f"got shape {w.shape}.",
                )
            w = convert(w.reshape(-1), rows.dtype)
            weights = w if weights is None else weights * w
        if weights is None:
            weights = jnp.ones(count, rows.dtype)
        total = jnp.sum(weights)
        share = weights / total
        lost: Any = self.correction
        if aweights is not None:
            lost = self.correction * jnp.sum(share * convert(aweights.reshape(-1), rows.dtype))
        centered = rows - jnp.sum(rows * share, 1, keepdims=True)
        divisor = jnp.maximum(total - lost, jnp.zeros((), rows.dtype))
        out = (centered * weights) @ adjoint_of(centered) / divisor
        return out if x.ndim == 2 else out.reshape(())


def cov(
    input: Tensor,
    *,
    correction: int = 1,
    fweights: Tensor | None = None,
    aweights: Tensor | None = None,
) -> Tensor:
    """Estimate the covariance of variables (MindSpore: ``ops.cov``).

    Args:
        input: Tensor with a variable a row and an observation a column; one with fewer axes holds
            one variable. Integers are computed in Float32.
        correction: what the number of observations is reduced by.
        fweights: integers, how often each observation occurred.
        aweights: floating-point numbers, how much each observation counts.

    Returns:
        Tensor of shape (variables, variables), 0-d for one variable without an axis of its own.

    Raises:
        TypeError: ``correction`` is no int, or a weight has another kind of dtype.
        ValueError: ``input`` has more than two axes, or the weights another number.
    """
    checks.of_type("correction", correction, int, "cov")
    return _Cov(correction)(input, fweights, aweights)
