"""Angles: trigonometric and hyperbolic functions, degrees and radians."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import Number, float16, float32
from mindjax.core.errors import located
from mindjax.numpy.arguments import apply, axis_in, need_tensors, to_tensor
from mindjax.numpy.arithmetic import absolute, remainder
from mindjax.numpy.differences import diff
from mindjax.numpy.dtypes import pi
from mindjax.tensor import Tensor


def _floating(x: Any) -> Tensor:
    need_tensors(x)
    kind: Number = x.dtype
    if kind.kind in ("float", "complex"):
        return x
    return ops.cast(x, float16 if kind.bits <= 8 else float32)


def _radians(x: Tensor) -> Tensor:
    return ops.mul(x, pi / 180.0)


def _degrees(x: Tensor) -> Tensor:
    return ops.mul(x, 180.0 / pi)


def sin(x: Any, dtype: Any = None) -> Tensor:
    """Take the sine (MindSpore: ``numpy.sin``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.sin, _floating(x), dtype=dtype)


def cos(x: Any, dtype: Any = None) -> Tensor:
    """Take the cosine (MindSpore: ``numpy.cos``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.cos, _floating(x), dtype=dtype)


def tan(x: Any, dtype: Any = None) -> Tensor:
    """Take the tangent (MindSpore: ``numpy.tan``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.tan, _floating(x), dtype=dtype)


def arcsin(x: Any, dtype: Any = None) -> Tensor:
    """Invert the sine (MindSpore: ``numpy.arcsin``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.asin, _floating(x), dtype=dtype)


def arccos(input: Any, dtype: Any = None) -> Tensor:
    """Invert the cosine (MindSpore: ``numpy.arccos``).

    Args:
        input: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``input``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``input`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.acos, _floating(input), dtype=dtype)


def arctan(x: Any, dtype: Any = None) -> Tensor:
    """Invert the tangent (MindSpore: ``numpy.arctan``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.atan, _floating(x), dtype=dtype)


def sinh(x: Any, dtype: Any = None) -> Tensor:
    """Take the hyperbolic sine (MindSpore: ``numpy.sinh``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.sinh, _floating(x), dtype=dtype)


def cosh(x: Any, dtype: Any = None) -> Tensor:
    """Take the hyperbolic cosine (MindSpore: ``numpy.cosh``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.cosh, _floating(x), dtype=dtype)


def tanh(x: Any, dtype: Any = None) -> Tensor:
    """Take the hyperbolic tangent (MindSpore: ``numpy.tanh``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.tanh, _floating(x), dtype=dtype)


def arcsinh(x: Any, dtype: Any = None) -> Tensor:
    """Invert the hyperbolic sine (MindSpore: ``numpy.arcsinh``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.asinh, _floating(x), dtype=dtype)


def arccosh(x: Any, dtype: Any = None) -> Tensor:
    """Invert the hyperbolic cosine (MindSpore: ``numpy.arccosh``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.acosh, _floating(x), dtype=dtype)


def arctanh(x: Any, dtype: Any = None) -> Tensor:
    """Invert the hyperbolic tangent (MindSpore: ``numpy.arctanh``).

    Args:
        x: Tensor; integers of 8 bits and Bool become Float16, other integers Float32.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return apply(ops.atanh, _floating(x), dtype=dtype)


def arctan2(x1: Any, x2: Any, dtype: Any = None) -> Tensor:
    """Give the angles of points (x2, x1) (MindSpore: ``numpy.arctan2``).

    Args:
        x1: Tensor.
        x2: Tensor that broadcasts to ``x1``.
        dtype: MindSpore dtype of the result; by default it follows from the operands.

    Returns:
        Tensor of the broadcast shape, radians.

    Raises:
        TypeError: an operand is no Tensor.
        ValueError: the shapes do not broadcast to each other.
    """
    return apply(ops.atan2, _floating(x1), _floating(x2), dtype=dtype)


def deg2rad(x: Any, dtype: Any = None) -> Tensor:
    """Convert degrees to radians (MindSpore: ``numpy.deg2rad``).

    Args:
        x: Tensor of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    need_tensors(x)
    return apply(_radians, x, dtype=dtype)


def radians(x: Any, dtype: Any = None) -> Tensor:
    """Convert degrees to radians (MindSpore: ``numpy.radians``).

    Args:
        x: Tensor of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    return deg2rad(x, dtype=dtype)


def rad2deg(x: Any, dtype: Any = None) -> Tensor:
    """Convert radians to degrees (MindSpore: ``numpy.rad2deg``).

    Args:
        x: Tensor of any shape.
        dtype: MindSpore dtype of the result; by default it follows from ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``x`` is no Tensor, or ``dtype`` no dtype.
    """
    need_tensors(x)
    return apply(_degrees, x, dtype=dtype)


def unwrap(p: Any, discont: float = 3.141592653589793, axis: int = -1) -> Tensor:
    """Add multiples of 2 pi so that neighbours differ by less than pi (``numpy.unwrap``).

    Args:
        p: array-like of angles in radians.
        discont: smaller differences stay as they are.
        axis: the axis along which neighbours are compared.

    Returns:
        Tensor of the same shape, a float.

    Raises:
        TypeError: ``discont`` is no number.
        ValueError: there is no such axis.
    """
    if not isinstance(discont, int | float):
        raise located(TypeError, f"discont should be a float, but got {discont!r}.")
    x = to_tensor(p)
    place = axis_in(axis, len(x.shape))
    step = diff(x, axis=place)
    turned = ops.sub(remainder(ops.add(step, pi), 2 * pi), pi)
    turned = ops.where(ops.logical_and(ops.equal(turned, -pi), ops.gt(step, 0)), pi, turned)
    change = ops.sub(turned, step)
    change = ops.where(ops.lt(absolute(step), discont), 0.0, change)
    head = ops.narrow(x, place, 0, 1)
    tail = ops.narrow(x, place, 1, x.shape[place] - 1)
    tail = ops.add(tail, ops.cumsum(change, place))
    return ops.cat([ops.cast(head, tail.dtype), tail], place)
