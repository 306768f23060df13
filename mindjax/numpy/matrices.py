"""Diagonals, triangles and powers of a vector."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32
from mindjax.core.errors import located
from mindjax.numpy.arguments import boolean, integer, need_tensors
from mindjax.numpy.array_creation import asarray, checked_shape, rows_less_columns, zeros
from mindjax.tensor import Tensor


def tri(N: int, M: int | None = None, k: int = 0, dtype: Any = float32) -> Tensor:
    """Make a matrix with ones on and below a diagonal (MindSpore: ``numpy.tri``).

    Args:
        N: number of rows.
        M: number of columns, ``N`` by default.
        k: which diagonal, positive above the main one.
        dtype: MindSpore dtype.

    Returns:
        Tensor of shape (N, M).

    Raises:
        TypeError: a size is no integer, or ``dtype`` no dtype.
        ValueError: a size is negative.
    """
    rows, columns = checked_shape((N, N if M is None else M))
    return ops.cast(ops.ge(rows_less_columns(rows, columns), -integer("k", k, "tri")), dtype)


def _triangle(m: Any, keep: Any, k: int) -> Tensor:
    x = asarray(m)
    if not x.shape:
        raise located(ValueError, "input m's rank should be larger than 0.")
    if len(x.shape) == 1:
        # As numpy: the triangle of a matrix whose rows are all the vector.
        x = ops.broadcast_to(x, (x.shape[0], x.shape[0]))
    return keep(x, k)


def tril(m: Any, k: int = 0) -> Tensor:
    """Keep what is on and below a diagonal, zeros elsewhere (MindSpore: ``numpy.tril``).

    Args:
        m: array-like of at least one axis; a vector stands for a matrix of equal rows.
        k: which diagonal, positive above the main one.

    Returns:
        Tensor.

    Raises:
        TypeError: ``m`` is no array-like.
        ValueError: ``m`` has no axis.
    """
    return _triangle(m, ops.tril, k)


def triu(m: Any, k: int = 0) -> Tensor:
    """Keep what is on and above a diagonal, zeros elsewhere (MindSpore: ``numpy.triu``).

    Args:
        m: array-like of at least one axis; a vector stands for a matrix of equal rows.
        k: which diagonal, positive above the main one.

    Returns:
        Tensor.

    Raises:
        TypeError: ``m`` is no array-like.
        ValueError: ``m`` has no axis.
    """
    return _triangle(m, ops.triu, k)


def diagonal(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """Take a diagonal of the matrices at two axes (MindSpore: ``numpy.diagonal``).

    Args:
        a: Tensor of at least two axes.
        offset: which diagonal, positive above the main one.
        axis1: axis of the rows.
        axis2: axis of the columns.

    Returns:
        Tensor; the diagonal is its last axis.

    Raises:
        ValueError: there are less than two axes, or no such axis.
    """
    need_tensors(a)
    return a.diagonal(offset, axis1, axis2)


def trace(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Tensor:
    """Sum a diagonal of the matrices at two axes (MindSpore: ``numpy.trace``).

    Args:
        a: Tensor of at least two axes.
        offset: which diagonal, positive above the main one.
        axis1: axis of the rows.
        axis2: axis of the columns.
        dtype: MindSpore dtype of the result; by default that of ``a``, Int64 for integers.

    Returns:
        Tensor without both axes.

    Raises:
        RuntimeError: there are less than two axes.
        ValueError: there is no such axis.
    """
    need_tensors(a)
    return a.trace(offset, axis1, axis2, dtype)


def diag(v: Tensor, k: int = 0) -> Tensor:
    """Make a matrix of a diagonal, or take the diagonal of a matrix (MindSpore: ``numpy.diag``).

    Args:
        v: 1-d or 2-d Tensor.
        k: which diagonal, positive above the main one.

    Returns:
        2-d or 1-d Tensor.

    Raises:
        TypeError: ``v`` is no Tensor.
        ValueError: ``v`` is neither 1-d nor 2-d.
    """
    need_tensors(v)
    if len(v.shape) == 1:
        return diagflat(v, k)
    if len(v.shape) != 2:
        raise located(ValueError, f"Input must be 1- or 2-d, but got shape {v.shape}.")
    return v.diagonal(k)


def diagflat(v: Tensor, k: int = 0) -> Tensor:
    """Make a matrix with all elements of a Tensor on a diagonal (MindSpore: ``numpy.diagflat``).

    Args:
        v: Tensor of any shape.
        k: which diagonal, positive above the main one.

    Returns:
        Square matrix of ``v.size + abs(k)`` rows.

    Raises:
        TypeError: ``v`` is no Tensor, or ``k`` no integer.
    """
    need_tensors(v)
    size = v.size + abs(integer("k", k, "diagflat"))
    if not v.size:
        return zeros((size, size), v.dtype)
    # One row for each element: placed behind -k rows, it stands k columns to the right.
    line = ops.pad(ops.reshape(v, (-1,)), (max(k, 0), max(-k, 0)))
    on = ops.eq(rows_less_columns(size, size), -k)
    return ops.where(on, line, ops.zeros_like(line))


def vander(x: Any, N: int | None = None, increasing: bool = False) -> Tensor:
    """Give the powers of each element of a vector (MindSpore: ``numpy.vander``).

    Args:
        x: 1-d Tensor, list or tuple.
        N: number of powers, that of elements by default.
        increasing: whether powers grow from left to right.

    Returns:
        Tensor of shape (x.size, N).

    Raises:
        TypeError: an argument has another type.
        ValueError: ``x`` is not 1-d, or ``N`` negative.
    """
    if not isinstance(x, Tensor | list | tuple):
        raise located(
            TypeError, f"Input x must be list, tuple or Tensor, but got {type(x).__name__}."
        )
    value = asarray(x)
    if len(value.shape) != 1:
        raise located(ValueError, f"Input x must be 1-D, but got shape {value.shape}.")
    count = integer("N", N or value.size, "vander")
    if count <= 0:
        raise located(ValueError, f"Input N must > 0, but got {N}.")
    boolean("increasing", increasing, "vander")
    powers = ops.arange(count, dtype=value.dtype)
    powers = powers if increasing else ops.flip(powers, (0,))
    return ops.pow(ops.expand_dims(value, 1), ops.expand_dims(powers, 0))
