"""Distances between vectors, and norms that have classes of their own."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.arithmetic import abs, sub
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.linalg import LpNorm
from mindjax.ops.linear.matrices import COMPLEX, HALF, REAL, accept, matrices, same, widened
from mindjax.ops.promotion import convert, floating
from mindjax.ops.shape import reshape, shape_of

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def safe_norm(x: Array, p: float, axes: Any, keepdims: bool = False) -> Array:
    """Take a p-norm whose gradient at 0 is 0, not NaN.

    Args:
        x: floating-point or complex array.
        p: order, 0 or more, or inf.
        axes: axis or axes to reduce.
        keepdims: whether they stay, with size 1.

    Returns:
        Real array.
    """
    zero = x == 0
    # No derivative of |x| or |x|**p at 0.
    size = jnp.abs(jnp.where(zero, jnp.ones((), x.dtype), x))
    none = jnp.zeros((), size.dtype)
    if p == 0:
        return jnp.sum(convert(~zero, size.dtype), axes, keepdims=keepdims)
    if p == np.inf:
        return jnp.max(jnp.where(zero, none, size), axes, keepdims=keepdims, initial=0)
    if p == 1:
        return jnp.sum(jnp.where(zero, none, size), axes, keepdims=keepdims)
    power = jnp.square(size) if p == 2 else size ** jnp.asarray(p, size.dtype)
    total = jnp.sum(jnp.where(zero, none, power), axes, keepdims=keepdims)
    empty = total == 0
    safe = jnp.where(empty, jnp.ones((), total.dtype), total)
    root = jnp.sqrt(safe) if p == 2 else safe ** jnp.asarray(1 / p, total.dtype)
    return jnp.where(empty, none, root)


def _order(op: str, p: Any) -> None:
    checks.of_type("p", p, float, op)
    if not p >= 0:
        raise located(ValueError, f"For '{op}', the 'p' must be non-negative, but got {p}.")


class Cdist(Primitive):
    """Distances of all pairs of vectors (MindSpore: ``ops.Cdist``).

    Args:
        p: order of the norm.
    """

    p: float = 2.0

    def __post_init__(self) -> None:
        _order("Cdist", self.p)

    def compute(self, x1: Array, x2: Array) -> Array:
        """Compare vectors of (..., r, m) with those of (..., s, m)."""
        accept("Cdist", (*HALF, *REAL), x1=x1, x2=x2)
        same("Cdist", x1=x1, x2=x2)
        fits = x1.ndim == x2.ndim and x1.ndim in (2, 3) and x1.shape[-1] == x2.shape[-1]
        if not fits or (
            x1.ndim == 3 and x1.shape[0] != x2.shape[0] and 1 not in (x1.shape[0], x2.shape[0])
        ):
            raise located(
                ValueError,
                "For 'Cdist', the inputs must have shapes (r, m) and (s, m), or the same with one "
                f"batch in front, but got {x1.shape} and {x2.shape}.",
            )
        apart = widened(x1)[..., :, None, :] - widened(x2)[..., None, :, :]
        return convert(safe_norm(apart, self.p, -1), x1.dtype)


def cdist(x1: Tensor, x2: Tensor, p: float = 2.0) -> Tensor:
    """Take the distances of all pairs of vectors (MindSpore: ``ops.cdist``).

    Args:
        x1: Tensor of shape (r, m) or (batch, r, m), floating-point.
        x2: Tensor of shape (s, m) or (batch, s, m), of the same dtype.
        p: order of the norm, a float from 0 to inf.

    Returns:
        Tensor of shape (r, s) or (batch, r, s). The gradient of a distance 0 is 0.

    Raises:
        TypeError: the dtypes differ or are not floating-point, or ``p`` is no float.
        ValueError: ``p`` is negative, or the shapes do not fit.
    """
    return Cdist(p)(x1, x2)


class Pdist(Primitive):
    """Distances of all pairs of rows (MindSpore: ``ops.Pdist``).

    Args:
        p: order of the norm.
    """

    p: float = 2.0

    def __post_init__(self) -> None:
        _order("Pdist", self.p)

    def compute(self, x: Array) -> Array:
        """Compare the rows of (n, m)."""
        accept("Pdist", (*HALF, *REAL), x=x)
        if x.ndim != 2:
            raise located(
                ValueError, f"For 'Pdist', the 'x' must have rank 2, but got shape {x.shape}."
            )
        first, second = (i.astype(np.int32) for i in np.triu_indices(x.shape[0], 1))
        rows = widened(x)
        return convert(safe_norm(rows[first] - rows[second], self.p, -1), x.dtype)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Take the distances of all pairs of rows (MindSpore: ``ops.pdist``).

    Args:
        input: Tensor of shape (n, m), floating-point.
        p: order of the norm, a float from 0 to inf.

    Returns:
        Tensor of shape (n (n - 1) / 2,): the first row with each later one, then the second, ...
        The gradient of a distance 0 is 0.

    Raises:
        TypeError: ``input`` is not floating-point, or ``p`` is no float.
        ValueError: ``p`` is negative, or ``input`` is no matrix.
    """
    return Pdist(p)(input)


def dist(input: Tensor, other: Tensor, p: int = 2) -> Tensor:
    """Take the p-norm of a difference (MindSpore: ``ops.dist``).

    Args:
        input: Tensor, floating-point.
        other: Tensor that broadcasts to it.
        p: order of the norm, an int from 0 up.

    Returns:
        0-d Tensor.

    Raises:
        TypeError: an input is no Tensor, or ``p`` is no int.
        ValueError: ``p`` is negative, or the shapes do not broadcast.
    """
    for name, x in (("input", input), ("other", other)):
        if not hasattr(x, "dtype"):
            raise located(TypeError, f"For 'dist', '{name}' must be a Tensor, but got {type(x)}.")
    checks.of_type("p", p, int, "dist")
    checks.non_negative_int("p", p, "dist")
    apart = sub(input, other)
    if not shape_of(apart):
        return abs(apart)
    return LpNorm(0, p)(reshape(apart, (-1,)))


class Renorm(Primitive):
    """Parts of a Tensor scaled down to a greatest norm (MindSpore: ``ops.Renorm``).

    Args:
        p: order of the norm, above 0.
        dim: axis whose entries are the parts.
        maxnorm: greatest norm.
    """

    p: int
    dim: int
    maxnorm: float

    def __post_init__(self) -> None:
        checks.of_type("p", self.p, int, "Renorm")
        checks.of_type("dim", self.dim, int, "Renorm")
        checks.of_type("maxnorm", self.maxnorm, float, "Renorm")
        if self.p <= 0:
            raise located(ValueError, f"For 'Renorm', the 'p' must be above 0, but got {self.p}.")

    def compute(self, x: Array) -> Array:
        """Scale the entries of the axis."""
        accept("Renorm", (*HALF, *REAL, *COMPLEX), x=x)
        if not -x.ndim <= self.dim < x.ndim:
            raise located(
                RuntimeError,
                f"For 'Renorm', the 'dim' must be in [{-x.ndim}, {x.ndim}), but got {self.dim}.",
            )
        axes = tuple(a for a in range(x.ndim) if a != self.dim % x.ndim)
        wide = widened(x)
        size = safe_norm(wide, float(self.p), axes, True)
        most = jnp.asarray(self.maxnorm, size.dtype)
        one = jnp.ones((), size.dtype)
        large = size > most
        factor = jnp.where(large, most / jnp.where(large, size, one), one)
        return convert(wide * convert(factor, wide.dtype), x.dtype)


def renorm(input: Tensor, p: int, axis: int, maxnorm: float) -> Tensor:
    """Scale parts of a Tensor down to a greatest norm (MindSpore: ``ops.renorm``).

    Args:
        input: Tensor, floating-point or complex.
        p: order of the norm, an int above 0.
        axis: axis whose entries are the parts.
        maxnorm: greatest norm, a float.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``p`` is not above 0.
        RuntimeError: there is no such axis.
    """
    return Renorm(p, axis, maxnorm)(input)


class EuclideanNorm(BoundPrimitive):
    """Length of vectors over axes; call: ``EuclideanNorm()(x, axes)``.

    Args:
        keep_dims: whether reduced axes stay, with size 1.
    """

    keep_dims: bool = False
    statics: ClassVar[tuple[str, ...]] = ("axes",)
    axes: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        checks.boolean("keep_dims", self.keep_dims, "EuclideanNorm")

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check the type of the axes."""
        axes = checks.axis_or_axes("axes", statics["axes"], "EuclideanNorm")
        return {"axes": axes if isinstance(axes, tuple) else () if axes is None else (axes,)}

    def compute(self, x: Array) -> Array:
        """Reduce an array; integers come back as integers."""
        accept("EuclideanNorm", (*HALF, *REAL, *COMPLEX, *_INTEGERS), x=x)
        axes = checks.reduced_axes(self.axes, x.ndim, "EuclideanNorm", "axes")
        wide = widened(floating(x)) if x.dtype.itemsize < 4 else x
        if not jnp.issubdtype(wide.dtype, jnp.inexact):
            wide = convert(x, np.float64)
        out = safe_norm(wide, 2.0, axes, self.keep_dims)
        return convert(out, x.dtype)


_INTEGERS = ("Int8", "Int16", "Int32", "Int64", "UInt8", "UInt16", "UInt32", "UInt64")


class NuclearNorm(Primitive):
    """Sum of singular values of the matrices in two axes (MindSpore: ``ops.NuclearNorm``).

    Args:
        dim: the two axes; None for those of a matrix.
        keepdim: whether they stay, with size 1.
    """

    dim: Any = None
    keepdim: bool = False

    def __post_init__(self) -> None:
        checks.boolean("keepdim", self.keepdim, "NuclearNorm")
        if self.dim is None:
            return
        checks.of_type("dim", self.dim, (list, tuple), "NuclearNorm")
        if len(self.dim) != 2:
            raise located(
                ValueError, f"For 'NuclearNorm', the 'dim' must be two axes, but got {self.dim}."
            )

    def compute(self, x: Array) -> Array:
        """Reduce an array of rank 2 or more."""
        accept("NuclearNorm", REAL, x=x)
        matrices("NuclearNorm", x, "x")
        if self.dim is None and x.ndim != 2:
            raise located(
                ValueError,
                f"For 'NuclearNorm', without 'dim' the 'x' must have rank 2, but got {x.ndim}.",
            )
        dim = (0, 1) if self.dim is None else tuple(self.dim)
        axes = checks.axes_in_rank(dim, x.ndim, "NuclearNorm", "dim")
        return jnp.linalg.norm(x, "nuc", axes, self.keepdim)
