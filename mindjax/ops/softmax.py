"""Softmax and its relatives: along axes, logarithmic, and with Gumbel noise."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator, key
from mindjax.ops.arithmetic import neg
from mindjax.ops.cast import cast_to

if TYPE_CHECKING:
    from mindjax.tensor.tensor import Tensor

Array = jax.Array


class Softmax(Primitive):
    """Exponentials that sum to 1 along axes (MindSpore: ``ops.Softmax``).

    Args:
        axis: int or tuple of ints.
    """

    axis: int | tuple[int, ...] = -1

    def __post_init__(self) -> None:
        axis = self.axis
        if isinstance(axis, bool) or not isinstance(axis, int | tuple):
            raise located(
                TypeError,
                "For 'Softmax', the type of 'axis' should be one of '[int, tuple of int]', but "
                f"got {type(axis)}.",
            )

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("input", x.dtype, "Softmax")
        axes = _axes(self.axis, x.ndim, "Softmax")
        shifted = x - lax.stop_gradient(jnp.max(x, axes, keepdims=True))
        exponentials = jnp.exp(shifted)
        return exponentials / jnp.sum(exponentials, axes, keepdims=True)


def _axes(axis: int | tuple[int, ...], rank: int, owner: str) -> tuple[int, ...]:
    axes = (axis,) if isinstance(axis, int) else axis
    return tuple(checks.axis_in_rank(a, rank, owner, scalar=False) for a in axes)


def softmax(input: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Make exponentials that sum to 1 along an axis (MindSpore: ``ops.softmax``).

    Args:
        input: any shape, float.
        axis: the axis.
        dtype: dtype that ``input`` is cast to first.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: ``axis`` is not an int.
        ValueError: ``axis`` is outside the rank.
    """
    if isinstance(axis, bool) or not isinstance(axis, int):
        raise located(
            TypeError,
            f"the type of 'axis' must be 'int', but got '{axis}' with type "
            f"'{type(axis).__name__}'.",
        )
    return Softmax(axis)(cast_to(input, dtype))


def softmin(x: Any, axis: int = -1, *, dtype: Any = None) -> Tensor:
    """Give the softmax of -x (MindSpore: ``ops.softmin``).

    Args:
        x: any shape but (), float.
        axis: axis along which the result sums to 1.
        dtype: dtype to compute in and to give; by default that of ``x``.

    Returns:
        Tensor of the same shape.

    Raises:
        ValueError: there is no such axis.
    """
    return Softmax(axis)(neg(cast_to(x, dtype)))


class LogSoftmax(Primitive):
    """Logarithm of the softmax along an axis (MindSpore: ``ops.LogSoftmax``).

    Args:
        axis: int.
    """

    axis: int = -1

    def __post_init__(self) -> None:
        checks.of_type("axis", self.axis, int, "LogSoftmax")

    def compute(self, x: Array) -> Array:
        """Apply it to a float array."""
        checks.floating("logits", x.dtype, "LogSoftmax")
        return log_softmax_of(x, checks.axis_in_rank(self.axis, x.ndim, "LogSoftmax", scalar=False))


def log_softmax_of(x: Array, axis: int) -> Array:
    """Give the logarithm of the softmax of an array along one axis."""
    shifted = x - lax.stop_gradient(jnp.max(x, axis, keepdims=True))
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis, keepdims=True))


def log_softmax(logits: Any, axis: int = -1) -> Tensor:
    """Make logarithms of the softmax along an axis (MindSpore: ``ops.log_softmax``).

    Args:
        logits: any shape, float.
        axis: the axis.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``axis`` is outside the rank.
    """
    return LogSoftmax(axis)(logits)


class _GumbelSoftmax(Primitive, register=False):
    """Softmax of logits with Gumbel noise; a one-hot of it in the forward pass if hard."""

    hard: bool
    dim: int

    def compute(self, x: Array, tau: Array, seed: Array, offset: Array) -> Array:
        checks.floating("logits", x.dtype, "gumbel_softmax")
        axis = checks.axis_in_rank(self.dim, x.ndim, "gumbel_softmax", scalar=False)
        noise = jax.random.gumbel(key(seed, offset), x.shape, jnp.float32).astype(x.dtype)
        soft = jax.nn.softmax((x + noise) / tau.astype(x.dtype), axis=axis)
        if not self.hard:
            return soft
        best = lax.argmax(soft, axis, np.int32)
        place = lax.broadcasted_iota(np.int32, x.shape, axis)
        hot = (place == jnp.expand_dims(best, axis)).astype(x.dtype)
        return lax.stop_gradient(hot - soft) + soft


def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Tensor:
    """Draw from a relaxed categorical distribution (Jang 2016; MindSpore: ``ops.gumbel_softmax``).

    Args:
        logits: any shape, float: unnormalised log-probabilities.
        tau: temperature, above 0.
        hard: give one-hot draws whose gradient is that of the soft ones.
        dim: axis of the categories.

    Returns:
        Tensor of the same shape and dtype.

    Raises:
        ValueError: ``tau`` is not above 0.
    """
    checks.boolean("hard", hard, "gumbel_softmax")
    checks.float_in_range("tau", tau, 0.0, float("inf"), "gumbel_softmax", "()")
    # An operand: it is lowered step by step in training.
    temperature = np.asarray(tau, np.float64)
    return _GumbelSoftmax(hard, dim)(logits, temperature, *default_generator().next_key())
