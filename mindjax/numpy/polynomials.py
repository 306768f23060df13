"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

from mindjax import ops
from mindjax.core.dtype import float32, int32
from mindjax.core.errors import located
from mindjax.numpy.arguments import constant, leading_axes, promoted, to_tensor
from mindjax.numpy.arithmetic import add, true_divide
from mindjax.numpy.differences import convolve
from mindjax.tensor import Tensor


def _coefficients(p: Any) -> Tensor:
    x = leading_axes(to_tensor(p), 1)
    if len(x.shape) > 1:
        raise located(
            ValueError, f"input array must be scalar or 1-d sequence, but got shape {x.shape}."
        )
    return x


def polyadd(a1: Any, a2: Any) -> Tensor:
    """Add two polynomials (MindSpore: ``numpy.polyadd``).

    Args:
        a1: coefficients, array-like.
        a2: coefficients, array-like.

    Returns:
        1-d Tensor.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: one has more than one axis.
    """
    x, y = promoted((_coefficients(a1), _coefficients(a2)))
    size = max(x.size, y.size)
    x, y = (
        ops.cat([ops.zeros((size - p.size,), p.dtype), p], 0) if p.size < size else p
        for p in (x, y)
    )
    return add(x, y)


def polysub(a1: Any, a2: Any) -> Tensor:
    """Subtract a polynomial (MindSpore: ``numpy.polysub``).

    Args:
        a1: coefficients, array-like.
        a2: coefficients to subtract, array-like.

    Returns:
        1-d Tensor.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: one has more than one axis.
    """
    return polyadd(a1, ops.neg(to_tensor(a2)))


def polymul(a1: Any, a2: Any) -> Tensor:
    """Multiply two polynomials (MindSpore: ``numpy.polymul``).

    Args:
        a1: coefficients, array-like.
        a2: coefficients, array-like.

    Returns:
        1-d Tensor.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: one has more than one axis.
    """
    return convolve(_coefficients(a1), _coefficients(a2))


def polyval(p: Any, x: Any) -> Tensor:
    """Evaluate a polynomial (MindSpore: ``numpy.polyval``).

    Args:
        p: coefficients, array-like.
        x: array-like of places.

    Returns:
        Tensor of the shape of ``x``, a float.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: ``p`` has more than one axis.
    """
    coefficients, place = _coefficients(p), to_tensor(x)
    powers = constant(range(coefficients.size - 1, -1, -1), float32)
    terms = ops.mul(coefficients, ops.pow(ops.expand_dims(place, -1), powers))
    return ops.sum(terms, -1)


def polyder(p: Any, m: int = 1) -> Tensor:
    """Differentiate a polynomial (MindSpore: ``numpy.polyder``).

    Args:
        p: coefficients, array-like.
        m: how often.

    Returns:
        1-d Tensor.

    Raises:
        TypeError: ``p`` is no array-like.
        ValueError: ``p`` has more than one axis, or ``m`` is negative.
    """
    x = _coefficients(p)
    _need_order(m)
    if m >= x.size:
        return ops.zeros((0,), float32)
    for _ in range(m):
        x = ops.mul(x[:-1], constant(range(x.size - 1, 0, -1), int32))
    return x


def polyint(p: Any, m: int = 1, k: Any = None) -> Tensor:
    """Integrate a polynomial (MindSpore: ``numpy.polyint``).

    Args:
        p: coefficients, array-like.
        m: how often.
        k: constants of integration, one or ``m``; 0 by default.

    Returns:
        1-d Tensor.

    Raises:
        TypeError: an argument is no array-like.
        ValueError: ``p`` has more than one axis, or ``m`` is negative.
    """
    x = _coefficients(p)
    _need_order(m)
    constants = _coefficients(ops.zeros((m,), x.dtype) if k is None else k)
    if constants.size == 1:
        constants = ops.tile(constants, (m,))
    for i in range(m):
        divided = true_divide(x, constant(range(x.size, 0, -1), int32))
        x = ops.cat(promoted((divided, constants[i : i + 1])), 0)
    return x


def _need_order(m: int) -> None:
    if m < 0:
        raise located(ValueError, f"Order of derivative must be positive, but got {m}.")
