"""Norms of vectors and matrices, and inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.dtype import Number, as_dtype
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.cast import cast
from mindjax.ops.promotion import convert, floating, promote_pair

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array
Axis = int | tuple[int, ...] | list[int] | None
_MATRIX_ORDERS = (2, -2, 1, -1, float("inf"), -float("inf"), "fro", "nuc", None)


class VectorNorm(Primitive, register=False):
    """p-norm over axes.

    Args:
        ord: the order p.
        axis: the axes; None means all.
        keepdims: whether reduced axes stay, with size 1.
    """

    ord: float = 2.0
    axis: Axis = None
    keepdims: bool = False

    def compute(self, x: Array) -> Array:
        """Reduce an array."""
        x = floating(x)
        axes = checks.reduced_axes(self.axis, x.ndim, "norm", "dim")
        size = jnp.abs(x)
        if self.ord == 2:
            return jnp.sqrt(jnp.sum(jnp.square(size), axes, keepdims=self.keepdims))
        if self.ord == np.inf:
            return jnp.max(size, axes, keepdims=self.keepdims)
        if self.ord == -np.inf:
            return jnp.min(size, axes, keepdims=self.keepdims)
        if self.ord == 0:
            return convert(
                jnp.sum(size != 0, axes, dtype=np.int32, keepdims=self.keepdims), size.dtype
            )
        if self.ord == 1:
            return jnp.sum(size, axes, keepdims=self.keepdims)
        p = jnp.asarray(self.ord, size.dtype)
        return jnp.power(jnp.sum(jnp.power(size, p), axes, keepdims=self.keepdims), 1 / p)


class MatrixNorm(Primitive, register=False):
    """Norm of the matrices in two axes.

    Args:
        ord: ``"fro"``, ``"nuc"``, 1, -1, 2, -2, inf or -inf.
        axis: the two axes.
        keepdims: whether the axes stay, with size 1.
    """

    ord: float | str = "fro"
    axis: tuple[int, int] = (-2, -1)
    keepdims: bool = False

    def compute(self, x: Array) -> Array:
        """Reduce an array."""
        x = floating(x)
        axes = tuple(checks.axis_in_rank(a, x.ndim, "norm", "dim") for a in self.axis)
        if axes[0] == axes[1]:
            raise located(ValueError, f"For 'norm', the two axes must differ, but got {self.axis}.")
        return jnp.linalg.norm(x, self.ord, axes, self.keepdims)


def norm(
    A: Tensor,
    ord: Any = None,
    dim: Axis = None,
    keepdim: bool = False,
    *,
    dtype: Number | None = None,
) -> Tensor:
    """Take the norm of vectors or matrices (MindSpore: ``ops.norm``).

    Args:
        A: Tensor of any shape; integers are computed in Float32.
        ord: order of the norm. None is the 2-norm of all elements of ``dim``; with one axis any
            number, with two axes one of 1, -1, 2, -2, inf, -inf, ``"fro"``, ``"nuc"``.
        dim: one axis, or two; by default all axes if ``ord`` is None, else those of a vector or
            matrix.
        keepdim: whether reduced axes stay, with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: the order does not fit the number of axes, or there is no such axis.
    """
    x = A if dtype is None else cast(A, as_dtype(dtype))
    axis = checks.axis_or_axes("dim", dim, "norm")
    axes = axis if isinstance(axis, tuple) else None if axis is None else (axis,)
    if ord is None:
        return VectorNorm(2.0, axes, bool(keepdim))(x)
    if axes is None:
        axes = tuple(range(len(x.shape)))
    if len(axes) == 1 and not isinstance(ord, str):
        return VectorNorm(float(ord), axes, bool(keepdim))(x)
    if len(axes) == 2 and ord in _MATRIX_ORDERS:
        order: Any = ord if isinstance(ord, str) else float(ord)  # type: ignore[arg-type]
        return MatrixNorm(order, axes, bool(keepdim))(x)  # type: ignore[arg-type]
    raise located(
        ValueError,
        "For norm, the ord mode must be in [2, -2, 1, -1, float('inf'), -float('inf'), 'fro', "
        f"'nuc', None] for matrices, a number for vectors, but got {ord!r} for {len(axes)} axes.",
    )


def vector_norm(
    x: Tensor,
    ord: Any = 2,
    axis: Axis = None,
    keepdims: bool = False,
    *,
    dtype: Number | None = None,
) -> Tensor:
    """Take the p-norm over axes, whatever their number (MindSpore: ``ops.vector_norm``).

    Args:
        x: Tensor of any shape; integers are computed in Float32.
        ord: order p, any number, inf or -inf.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: ``ord`` is not a number, or there is no such axis.
    """
    if isinstance(ord, bool) or not isinstance(ord, int | float):
        raise located(
            ValueError, f"For 'vector_norm', the 'ord' must be a number, but got {ord!r}."
        )
    x = x if dtype is None else cast(x, as_dtype(dtype))
    return VectorNorm(
        checks.number("ord", ord, "vector_norm"),
        checks.axis_or_axes("axis", axis, "vector_norm"),
        bool(keepdims),
    )(x)


def matrix_norm(
    A: Tensor,
    ord: Any = "fro",
    axis: Any = (-2, -1),
    keepdims: bool = False,
    *,
    dtype: Number | None = None,
) -> Tensor:
    """Take a norm of the matrices in two axes (MindSpore: ``ops.matrix_norm``).

    Args:
        A: Tensor of rank 2 or more; integers are computed in Float32.
        ord: ``"fro"``, ``"nuc"``, 1, -1, 2, -2, inf or -inf.
        axis: the two axes.
        keepdims: whether the axes stay, with size 1.
        dtype: element type to compute in.

    Returns:
        Tensor without the axes.

    Raises:
        ValueError: ``ord`` is none of these, or ``axis`` is not two axes.
    """
    axes = checks.axis_or_axes("axis", axis, "matrix_norm")
    if not isinstance(axes, tuple) or len(axes) != 2 or ord is None:
        raise located(
            ValueError,
            f"For 'matrix_norm', 'axis' must be two axes, 'ord' not None, but got {axis}, {ord}.",
        )
    return norm(A, ord, axes, keepdims, dtype=dtype)


class MatrixInverse(Primitive):
    """Inverse of square matrices (MindSpore: ``ops.MatrixInverse``).

    Args:
        adjoint: whether the conjugate transpose of the inverse is wanted.
    """

    adjoint: bool = False

    def compute(self, x: Array) -> Array:
        """Invert matrices of shape (..., n, n)."""
        if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
            raise located(
                ValueError,
                f"For 'MatrixInverse', the last two sizes must be equal, but got shape {x.shape}.",
            )
        out = jnp.linalg.inv(floating(x))
        return jnp.conj(jnp.swapaxes(out, -1, -2)) if self.adjoint else out


_inverse = MatrixInverse()


def inverse(input: Tensor) -> Tensor:
    """Invert square matrices (MindSpore: ``ops.inverse``).

    Args:
        input: Tensor of shape (..., n, n).

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: the last two sizes differ.
    """
    return _inverse(input)


class LpNorm(Primitive):
    """p-norm over axes (MindSpore: ``ops.LpNorm``).

    Args:
        axis: the axes.
        p: order of the norm.
        keep_dims: whether reduced axes stay, with size 1.
        epsilon: least value of the sum of powers.
    """

    axis: Axis
    p: int = 2
    keep_dims: bool = False
    epsilon: float = 1e-12

    def compute(self, x: Array) -> Array:
        """Reduce an array."""
        axes = checks.reduced_axes(_tuple(self.axis), x.ndim, "LpNorm")
        x = jnp.abs(floating(x))
        if self.p == 0:
            return convert(jnp.sum(x != 0, axes, dtype=np.int32, keepdims=self.keep_dims), x.dtype)
        total = jnp.sum(x**self.p, axes, keepdims=self.keep_dims)
        return jnp.maximum(total, jnp.asarray(self.epsilon, x.dtype)) ** (1 / self.p)


class L2Normalize(Primitive):
    """Vectors along an axis scaled to length 1 (MindSpore: ``ops.L2Normalize``).

    Args:
        axis: the axis, an int or a list of one.
        epsilon: least value of the squared length.
    """

    axis: Axis = 0
    epsilon: float = 1e-4

    def __post_init__(self) -> None:
        axes = _tuple(self.axis)
        if not isinstance(axes, tuple) or len(axes) != 1:
            raise located(
                TypeError,
                f"For 'L2Normalize', the length of 'axis' must be 1, but got {self.axis}.",
            )

    def compute(self, x: Array) -> Array:
        """Scale an array."""
        axes = checks.reduced_axes(_tuple(self.axis), x.ndim, "L2Normalize")
        total = jnp.sum(jnp.square(x), axes, keepdims=True)
        return x / jnp.sqrt(jnp.maximum(total, jnp.asarray(self.epsilon, x.dtype)))


def _tuple(axis: Any) -> Any:
    return tuple(axis) if isinstance(axis, list) else (axis,) if isinstance(axis, int) else axis


class _CosineSimilarity(Primitive, register=False):
    """Cosine of the angle between vectors along an axis."""

    dim: int = 1
    eps: float = 1e-08
    promotes: ClassVar[tuple[int, ...]] = (0, 1)

    def compute(self, x: Array, y: Array) -> Array:
        """Compare arrays that broadcast to each other."""
        x, y = (floating(a) for a in promote_pair("cosine_similarity", x, y))
        axis = checks.axis_in_rank(self.dim, max(x.ndim, y.ndim), "cosine_similarity", "dim")
        x, y = jnp.broadcast_arrays(x, y)
        least = jnp.asarray(self.eps, x.dtype)
        lengths = (jnp.sqrt(jnp.sum(jnp.square(a), axis, keepdims=True)) for a in (x, y))
        units = [a / jnp.maximum(n, least) for a, n in zip((x, y), lengths, strict=True)]
        return jnp.sum(units[0] * units[1], axis)


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-08) -> Tensor:
    """Take the cosine of the angle between vectors (MindSpore: ``ops.cosine_similarity``).

    Args:
        x1: Tensor of any shape; integers are computed in Float32.
        x2: Tensor that broadcasts to ``x1``.
        dim: axis of the vectors.
        eps: least length that a vector counts with.

    Returns:
        Tensor without the axis.

    Raises:
        ValueError: there is no such axis, or the shapes do not broadcast.
    """
    return _CosineSimilarity(
        checks.integer("dim", dim, "cosine_similarity"),
        checks.number("eps", eps, "cosine_similarity"),
    )(x1, x2)
