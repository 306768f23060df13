"""Comparisons, truth values, and tests of elements and arrays."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import bool_
from mindjax.core.errors import located
from mindjax.numpy.arguments import (
    Axis,
    apply,
    axes_in,
    boolean,
    broadcast_shape,
    need_tensors,
    to_tensor,
)
from mindjax.numpy.array_creation import asarray
from mindjax.tensor import Tensor


def equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Tell where elements are equal (MindSpore: ``numpy.equal``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.eq, x1, x2, dtype=dtype)


def less(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Tell where ``x1`` is less than ``x2`` (MindSpore: ``numpy.less``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.lt, x1, x2, dtype=dtype)


def greater(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Tell where ``x1`` is greater than ``x2`` (MindSpore: ``numpy.greater``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.gt, x1, x2, dtype=dtype)


def greater_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Tell where ``x1`` is not less than ``x2`` (MindSpore: ``numpy.greater_equal``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.ge, x1, x2, dtype=dtype)


def not_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Tell where elements differ (MindSpore: ``numpy.not_equal``).

    Args:
        x1: Tensor.
        x2: Tensor that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no Tensor.
        ValueError: the shapes do not broadcast to each other.
    """
    need_tensors(x1, x2)
    return apply(ops.ne, x1, x2, dtype=dtype)


def less_equal(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Tell where ``x1`` is not greater than ``x2`` (MindSpore: ``numpy.less_equal``).

    Args:
        x1: Tensor.
        x2: Tensor that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no Tensor.
        ValueError: the shapes do not broadcast to each other.
    """
    need_tensors(x1, x2)
    return apply(ops.le, x1, x2, dtype=dtype)


def logical_and(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the logical and (MindSpore: ``numpy.logical_and``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.logical_and, x1, x2, dtype=dtype)


def logical_or(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the logical or (MindSpore: ``numpy.logical_or``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.logical_or, x1, x2, dtype=dtype)


def logical_xor(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the logical exclusive or (MindSpore: ``numpy.logical_xor``).

    Args:
        x1: Tensor.
        x2: Tensor that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no Tensor.
        ValueError: the shapes do not broadcast to each other.
    """
    need_tensors(x1, x2)
    return apply(ops.logical_xor, x1, x2, dtype=dtype)


def logical_not(a: Any, dtype: Any = None) -> Tensor:
    """Take the logical not (MindSpore: ``numpy.logical_not``).

    Args:
        a: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``a``.

    Returns:
        Bool Tensor of the same shape.

    Raises:
        TypeError: ``a`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.logical_not, a, dtype=dtype)


def isfinite(x: Any, dtype: Any = None) -> Tensor:
    """Tell where elements are finite (MindSpore: ``numpy.isfinite``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Bool Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.isfinite, x, dtype=dtype)


def isinf(x: Any, dtype: Any = None) -> Tensor:
    """Tell where elements are infinite (MindSpore: ``numpy.isinf``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Bool Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.isinf, x, dtype=dtype)


def isnan(x: Any, dtype: Any = None) -> Tensor:
    """Tell where elements are NaN (MindSpore: ``numpy.isnan``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Bool Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.isnan, x, dtype=dtype)


def isposinf(x: Tensor) -> Tensor:
    """Tell where elements are positive infinity (MindSpore: ``numpy.isposinf``).

    Args:
        x: Tensor of any shape.

    Returns:
        Bool Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor.
    """
    need_tensors(x)
    return ops.logical_and(ops.isinf(x), ops.gt(x, 0))


def isneginf(x: Tensor) -> Tensor:
    """Tell where elements are negative infinity (MindSpore: ``numpy.isneginf``).

    Args:
        x: Tensor of any shape.

    Returns:
        Bool Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor.
    """
    need_tensors(x)
    return ops.logical_and(ops.isinf(x), ops.lt(x, 0))


def isscalar(element: Any) -> bool:
    """Tell whether an object is a Python int, float, bool or str (MindSpore: ``numpy.isscalar``).

    Args:
        element: any object; a Tensor, 0-d too, is none.

    Returns:
        Python bool.
    """
    return isinstance(element, int | float | str)


def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    """Tell where ``|a - b| <= atol + rtol |b|`` (MindSpore: ``numpy.isclose``).

    Args:
        a: array-like.
        b: array-like of the same dtype that broadcasts to ``a``.
        rtol: tolerance relative to ``b``.
        atol: absolute tolerance.
        equal_nan: whether two NaN are close.

    Returns:
        Bool Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes differ.
    """
    return ops.IsClose(rtol, atol, equal_nan)(to_tensor(a), to_tensor(b))


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Tensor:
    """Tell whether shapes and all elements are equal (MindSpore: ``numpy.array_equal``).

    Args:
        a1: array-like.
        a2: array-like.
        equal_nan: whether two NaN are equal.

    Returns:
        0-d Bool Tensor.

    Raises:
        TypeError: an argument is no array-like, or ``equal_nan`` no bool.
    """
    x, y = asarray(a1), asarray(a2)
    boolean("equal_nan", equal_nan, "array_equal")
    if x.shape != y.shape:
        return to_tensor(False)
    same = ops.eq(x, y)
    if equal_nan:
        same = ops.logical_or(same, ops.logical_and(ops.isnan(x), ops.isnan(y)))
    return ops.all(same)


def array_equiv(a1: Any, a2: Any) -> Tensor:
    """Tell whether all elements are equal after broadcasting (MindSpore: ``numpy.array_equiv``).

    Args:
        a1: array-like.
        a2: array-like.

    Returns:
        0-d Bool Tensor; false if the shapes do not broadcast to each other.

    Raises:
        TypeError: an argument is no array-like.
    """
    x, y = asarray(a1), asarray(a2)
    try:
        broadcast_shape(x.shape, y.shape)
    except ValueError:
        return to_tensor(False)
    return ops.all(ops.eq(x, y))


def signbit(x: Any, dtype: Any = None) -> Tensor:
    """Tell where elements are less than 0 (MindSpore: ``numpy.signbit``).

    Args:
        x: array-like; -0.0 is not less than 0.
        dtype: Bool or None.

    Returns:
        Bool Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` another dtype.
    """
    if dtype not in (None, bool_):
        raise located(TypeError, f"Casting was not allowed for signbit, but got dtype {dtype}.")
    return ops.lt(to_tensor(x), 0)


def sometrue(a: Any, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Tell whether any element is not zero (MindSpore: ``numpy.sometrue``).

    Args:
        a: array-like.
        axis: axes to reduce, all by default.
        keepdims: whether reduced axes stay, with size 1.

    Returns:
        Bool Tensor without the axes.

    Raises:
        TypeError: ``keepdims`` is no bool or int.
        ValueError: there is no such axis.
    """
    if not isinstance(keepdims, int):
        raise located(TypeError, f"integer argument expected, but got {keepdims!r}.")
    x = to_tensor(a)
    return ops.any(ops.ne(x, 0), axes_in(axis, len(x.shape)), bool(keepdims))
