"""The parts of a batch norm whose batch is spread over devices, each a function of arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.cast import cast
from mindjax.ops.shape import shape_of
from mindjax.ops.state import write

if TYPE_CHECKING:
    from mindjax.tensor import Tensor

Array = jax.Array


def _wide(x: Array) -> Array:
    return x if x.dtype == np.float64 else x.astype(np.float32)


def _channels(op: str, x: Array) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Give the axes other than the second, and the shape of one number a channel."""
    if x.ndim < 2:
        raise located(
            ValueError, f"For '{op}', the input must have at least 2 axes, but got shape {x.shape}."
        )
    shape = (1, x.shape[1]) + (1,) * (x.ndim - 2)
    return tuple(a for a in range(x.ndim) if a != 1), shape


class BatchNormStats(Primitive):
    """Mean and reciprocal deviation of each channel (MindSpore: ``BatchNormStats``)."""

    eps: float

    def compute(self, x: Array) -> tuple[Array, Array]:
        """Reduce (N, C, ...) to two arrays (C,), Float32 at least."""
        axes, _ = _channels("batch_norm_stats", x)
        wide = _wide(x)
        mean = jnp.mean(wide, axes)
        variance = jnp.mean(jnp.square(wide - jnp.mean(wide, axes, keepdims=True)), axes)
        return mean, jax.lax.rsqrt(variance + self.eps)


def batch_norm_stats(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Compute mean and reciprocal deviation of each channel (``mint.batch_norm_stats``).

    Args:
        input: float Tensor (N, C, ...).
        eps: what is added to the variance.

    Returns:
        Mean and ``1 / sqrt(variance + eps)``, both (C,), Float32 or Float64.

    Raises:
        ValueError: there are fewer than two axes.
    """
    return BatchNormStats(checks.number("eps", eps, "batch_norm_stats"))(input)


class BatchNormGatherStatsWithCounts(Primitive):
    """Statistics of several parts of a batch joined, and the unbiased variance."""

    eps: float

    def compute(self, mean: Array, invstd: Array, counts: Array) -> tuple[Array, Array, Array]:
        """Join along the first axis, weighted by the numbers of elements."""
        if mean.ndim != 2 or invstd.shape != mean.shape or counts.size != mean.shape[0]:
            raise located(
                ValueError,
                "For 'batch_norm_gather_stats_with_counts', 'mean' and 'invstd' must have the "
                f"shape (parts, C) and 'counts' (parts,), but got {mean.shape}, {invstd.shape} and "
                f"{counts.shape}.",
            )
        mean, invstd = _wide(mean), _wide(invstd)
        weight = counts.reshape(-1, 1).astype(mean.dtype)
        total = jnp.sum(weight)
        variance = 1 / jnp.square(invstd) - self.eps
        joined = jnp.sum(mean * weight, 0) / total
        squares = jnp.sum((variance + jnp.square(mean - joined)) * weight, 0)
        spread = jax.lax.rsqrt(squares / total + self.eps)
        return joined, spread, squares / (total - 1)


class _Blend(Primitive, register=False):
    """A running statistic moved towards a new one."""

    momentum: float

    def compute(self, running: Array, fresh: Array) -> Array:
        wide = _wide(running)
        return wide + self.momentum * (fresh.astype(wide.dtype) - wide)


def batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    momentum: float = 1e-1,
    eps: float = 1e-5,
    counts: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Join the statistics of several parts of a batch, as in ``mint``.

    Args:
        input: float Tensor (N, C, ...), whose number of elements a channel stands for missing
            ``counts``.
        mean: Tensor (parts, C).
        invstd: Tensor (parts, C): ``1 / sqrt(variance + eps)``.
        running_mean: Tensor (C,), which is moved towards the mean.
        running_var: Tensor (C,), which is moved towards the unbiased variance.
        momentum: how far the running statistics move, from 0 to 1.
        eps: what was added to the variances.
        counts: Tensor (parts,): numbers of elements a channel.

    Returns:
        Mean and ``1 / sqrt(variance + eps)`` of the whole, both (C,).

    Raises:
        ValueError: the shapes do not fit.
    """
    amounts: Any = counts
    if amounts is None:
        shape = shape_of(input)
        amounts = np.full(shape_of(mean)[:1], float(np.prod(shape) / max(shape[1], 1)), np.float32)
    record = BatchNormGatherStatsWithCounts(
        checks.number("eps", eps, "batch_norm_gather_stats_with_counts")
    )
    joined, spread, unbiased = record(mean, invstd, amounts)
    for running, fresh in ((running_mean, joined), (running_var, unbiased)):
        if running is not None:
            write(
                running,
                cast(
                    _Blend(
                        checks.number("momentum", momentum, "batch_norm_gather_stats_with_counts")
                    )(running, fresh),
                    running.dtype,
                ),
            )
    return joined, spread


class BatchNormElemt(Primitive):
    """A batch normalised by given statistics (MindSpore: ``BatchNormElemt``).

    Args:
        has_weight: whether the next input is a factor of each channel.
        has_bias: whether the last input is an addend of each channel.
    """

    has_weight: bool
    has_bias: bool

    def compute(self, x: Array, mean: Array, invstd: Array, *more: Array) -> Array:
        """Map (N, C, ...)."""
        _, shape = _channels("batch_norm_elemt", x)
        wide = _wide(x)
        for name, value in (("mean", mean), ("invstd", invstd)):
            if value.shape != (x.shape[1],):
                raise located(
                    ValueError,
                    f"For 'batch_norm_elemt', the shape of '{name}' must be ({x.shape[1]},), but "
                    f"got {value.shape}.",
                )
        mean, invstd = (v.astype(wide.dtype).reshape(shape) for v in (mean, invstd))
        out = (wide - mean) * invstd
        rest = list(more)
        if self.has_weight:
            out = out * rest.pop(0).astype(wide.dtype).reshape(shape)
        if self.has_bias:
            out = out + rest.pop(0).astype(wide.dtype).reshape(shape)
        return out.astype(x.dtype)


def batch_norm_elemt(
    input: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    mean: Tensor | None = None,
    invstd: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise a batch by given statistics (MindSpore: ``mint.batch_norm_elemt``).

    Args:
        input: float Tensor (N, C, ...).
        weight: Tensor (C,) of factors.
        bias: Tensor (C,) of addends.
        mean: Tensor (C,); None takes that of ``input``.
        invstd: Tensor (C,): ``1 / sqrt(variance + eps)``; None takes that of ``input``.
        eps: what is added to the variance, where that of ``input`` is taken.

    Returns:
        Tensor like ``input``.

    Raises:
        ValueError: the shapes do not fit.
    """
    if mean is None or invstd is None:
        own = batch_norm_stats(input, eps)
        mean, invstd = own[0] if mean is None else mean, own[1] if invstd is None else invstd
    record = BatchNormElemt(weight is not None, bias is not None)
    return record(input, mean, invstd, *(v for v in (weight, bias) if v is not None))
