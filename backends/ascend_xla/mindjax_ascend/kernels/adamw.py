"""AdamW over many parameters in one call (Loshchilov 2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax_ascend.kernels.foreign import available, call, operator

Array = jax.Array
Moments = tuple[list[Array], list[Array], list[Array]]

ACLNN = (
    operator(
        "aclnnApplyAdamWV2",
        "inout:var inout:m inout:v optional:maxGradNorm in:grad in:step float:lr float:beta1 "
        "float:beta2 float:weightDecay float:eps bool:amsgrad bool:maximize",
    ),
)


def wanted(*lists: Sequence[Array]) -> bool:
    """Tell whether the kernel takes parameters, moments and gradients."""
    groups = list(zip(*lists, strict=True))
    fits = all(x.dtype == np.float32 and x.shape == g[0].shape for g in groups for x in g)
    return fits and bool(groups) and available("adamw", "adamw")


def reference(
    parameters: Sequence[Array],
    means: Sequence[Array],
    squares: Sequence[Array],
    gradients: Sequence[Array],
    numbers: Array,
) -> Moments:
    """Take a step with each parameter.

    m += (g - m) share_m; v += (g^2 - v) share_v; p = p keep - rate m / (sqrt(v) scale + eps).

    Args:
        parameters: float arrays.
        means: first moments, like them.
        squares: second moments.
        gradients: gradients.
        numbers: share_m, share_v, rate, eps, keep and scale, (6,).

    Returns:
        Lists of the new parameters and moments.
    """
    share_m, share_v, rate, epsilon, keep, scale = (numbers[i] for i in range(6))
    new: Moments = ([], [], [])
    for p, m, v, g in zip(parameters, means, squares, gradients, strict=True):
        m = m + (g - m) * share_m
        v = v + (g * g - v) * share_v
        step = p * keep - rate * m / (jnp.sqrt(v) * scale + epsilon)
        for kept, value in zip(new, (step, m, v), strict=True):
            kept.append(value)
    return new


def adamw(
    parameters: Sequence[Array],
    means: Sequence[Array],
    squares: Sequence[Array],
    gradients: Sequence[Array],
    numbers: Array,
) -> Moments:
    """Take the steps of `reference`, by one call of the kernel where it takes the arrays."""
    lists = (list(parameters), list(means), list(squares), list(gradients))
    if not wanted(*lists):
        return reference(*lists, numbers)
    return _step(lists, jnp.asarray(numbers, np.float32))


@jax.custom_jvp
def _step(lists: Any, numbers: Array) -> Any:
    groups = list(zip(*lists, strict=True))
    outputs = [(x.shape, np.float32) for group in groups for x in group[:3]]
    aliases = {1 + 4 * i + k: 3 * i + k for i in range(len(groups)) for k in range(3)}
    flat = [x for group in groups for x in group]
    new = call("adamw", "adamw", outputs, numbers, *flat, aliases=aliases, batched="sequential")
    return tuple(new[k::3] for k in range(3))


@_step.defjvp
def _step_jvp(primals: Any, tangents: Any) -> Any:
    # Derivatives are those of the plain form.
    def plain(lists: Any, numbers: Array) -> Moments:
        parameters, means, squares, gradients = lists
        return reference(parameters, means, squares, gradients, numbers)

    return jax.jvp(plain, primals, tangents)
