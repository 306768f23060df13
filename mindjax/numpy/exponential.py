"""Powers, roots, exponentials and logarithms, element by element."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32
from mindjax.numpy.arguments import apply, need_tensors, promote
from mindjax.tensor import Tensor


def _exp2(x: Tensor) -> Tensor:
    return ops.pow(2, x)


def _cbrt(x: Tensor) -> Tensor:
    x = ops.cast(x, promote(x.dtype, float32))
    return ops.mul(ops.sign(x), ops.pow(ops.abs(x), 1.0 / 3.0))


def _inverse(x: Tensor) -> Tensor:
    return ops.tensor_div(1, x)


def _hypot(x: Tensor, y: Tensor) -> Tensor:
    return ops.sqrt(ops.add(ops.square(x), ops.square(y)))


def _logaddexp(x: Tensor, y: Tensor) -> Tensor:
    return ops.logaddexp(_float(x), _float(y))


def _logaddexp2(x: Tensor, y: Tensor) -> Tensor:
    return ops.logaddexp2(_float(x), _float(y))


def _float(x: Tensor) -> Tensor:
    return x if x.dtype.kind in ("float", "complex") else ops.cast(x, float32)


def exp(x: Any, dtype: Any = None) -> Tensor:
    """Take the exponential (MindSpore: ``numpy.exp``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.exp, x, dtype=dtype)


def expm1(x: Any, dtype: Any = None) -> Tensor:
    """Take the exponential less 1 (MindSpore: ``numpy.expm1``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.expm1, x, dtype=dtype)


def log(x: Any, dtype: Any = None) -> Tensor:
    """Take the natural logarithm (MindSpore: ``numpy.log``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.log, x, dtype=dtype)


def log1p(x: Any, dtype: Any = None) -> Tensor:
    """Take the logarithm of 1 more (MindSpore: ``numpy.log1p``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.log1p, x, dtype=dtype)


def log2(x: Any, dtype: Any = None) -> Tensor:
    """Take the logarithm to base 2 (MindSpore: ``numpy.log2``).

    Args:
        x: Tensor of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    need_tensors(x)
    return apply(ops.log2, x, dtype=dtype)


def log10(x: Any, dtype: Any = None) -> Tensor:
    """Take the logarithm to base 10 (MindSpore: ``numpy.log10``).

    Args:
        x: Tensor of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    need_tensors(x)
    return apply(ops.log10, x, dtype=dtype)


def sqrt(x: Any, dtype: Any = None) -> Tensor:
    """Take the square root (MindSpore: ``numpy.sqrt``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.sqrt, x, dtype=dtype)


def exp2(x: Any, dtype: Any = None) -> Tensor:
    """Raise 2 to a power (MindSpore: ``numpy.exp2``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape; of integers the powers are integers too.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(_exp2, x, dtype=dtype)


def square(x: Any, dtype: Any = None) -> Tensor:
    """Square (MindSpore: ``numpy.square``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(ops.square, x, dtype=dtype)


def cbrt(x: Any, dtype: Any = None) -> Tensor:
    """Take the cube root (MindSpore: ``numpy.cbrt``).

    Args:
        x: Tensor; integers and Float16 become Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(_cbrt, x, dtype=dtype)


def reciprocal(x: Any, dtype: Any = None) -> Tensor:
    """Divide 1 by each element (MindSpore: ``numpy.reciprocal``).

    Args:
        x: array-like of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape and dtype; integers are cut towards zero.

    Raises:
        TypeError: ``x`` is no array-like, or ``dtype`` no dtype.
    """
    return apply(_inverse, x, dtype=dtype)


def power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Raise to a power (MindSpore: ``numpy.power``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.pow, x1, x2, dtype=dtype)


def float_power(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Raise to a power in Float32 (MindSpore: ``numpy.float_power``).

    Args:
        x1: Tensor.
        x2: Tensor that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no Tensor.
        ValueError: the shapes do not broadcast to each other.
    """
    need_tensors(x1, x2)
    return apply(ops.pow, ops.cast(x1, float32), ops.cast(x2, float32), dtype=dtype)


def logaddexp(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the logarithm of the sum of exponentials (MindSpore: ``numpy.logaddexp``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(_logaddexp, x1, x2, dtype=dtype)


def logaddexp2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the logarithm to base 2 of the sum of powers of 2 (MindSpore: ``numpy.logaddexp2``).

    Args:
        x1: Tensor.
        x2: Tensor that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no Tensor.
        ValueError: the shapes do not broadcast to each other.
    """
    need_tensors(x1, x2)
    return apply(_logaddexp2, x1, x2, dtype=dtype)


def hypot(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Take the length of the hypotenuse (MindSpore: ``numpy.hypot``).

    Args:
        x1: array-like.
        x2: array-like that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: an operand is no array-like, or the dtypes do not mix.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(_hypot, x1, x2, dtype=dtype)
