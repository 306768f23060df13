"""Which expert gets which token: choices, places below a capacity, the loss that balances them."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

Array = jax.Array


class Routes(NamedTuple):
    """What was chosen for tokens in groups (G, T).

    Attributes:
        experts: int32 (G, T, k), the best first.
        weights: (G, T, k), by which what experts give is added up.
        loss: (), 1 where all experts have as much to do.
    """

    experts: Array
    weights: Array
    loss: Array


def route(x: Array, router: Array, k: int, normalized: bool) -> Routes:
    """Choose experts by the softmax of a product (Shazeer et al., 2017; Fedus et al., 2022).

    Args:
        x: (G, T, H), tokens in groups.
        router: (H, E).
        k: experts a token.
        normalized: whether the weights of a token add up to 1; else they are the softmax's.
    """
    wide = np.promote_types(x.dtype, np.float32)
    scores = jnp.einsum("gth,he->gte", x.astype(wide), router.astype(wide))
    shares = jax.nn.softmax(scores, -1)
    weights, experts = lax.top_k(shares, k)
    experts = experts.astype(np.int32)
    count = router.shape[1]
    chosen = jnp.mean(jnp.sum(jax.nn.one_hot(experts, count, dtype=wide), 2), 1)
    factor = np.asarray(count / k, wide)
    loss = jnp.mean(jnp.sum(chosen * jnp.mean(shares, 1), -1)) * factor
    if normalized:
        weights = weights / jnp.sum(weights, -1, keepdims=True)
    return Routes(experts, weights, loss)


def capacity_of(tokens: int, experts: int, k: int, factor: float) -> int:
    """Give how many tokens of a group an expert takes: the mean, times a factor, at least 1."""
    return max(1, math.ceil(tokens * k * factor / experts))


def slots(experts: Array, count: int, capacity: int) -> Array:
    """Give each choice a place with its expert; first choices come before second ones.

    Args:
        experts: int32 (G, T, k).
        count: number of experts.
        capacity: places of each.

    Returns:
        int32 (G, T, k), expert times capacity plus place; ``count * capacity`` where none is free.
    """
    g, t, k = experts.shape
    order = jnp.swapaxes(experts, 1, 2).reshape(g, k * t)
    taken = jnp.cumsum(jax.nn.one_hot(order, count, dtype=np.int32), 1, dtype=np.int32)
    place = jnp.take_along_axis(taken, order[..., None], 2)[..., 0] - np.int32(1)
    size = np.int32(capacity)
    slot = jnp.where(place < size, order * size + place, np.int32(count) * size)
    return jnp.swapaxes(slot.reshape(g, k, t), 1, 2)


def to_slots(x: Array, slot: Array, size: int) -> Array:
    """Put tokens into their places; free ones are 0.

    Args:
        x: (G, T, H).
        slot: int32 (G, T, k), beyond ``size`` for those that are dropped.
        size: number of places.

    Returns:
        (G, size, H).
    """
    g, t, h = x.shape
    k = slot.shape[2]
    # Each place is written once, and read once by the gradient: nothing is added up in an order
    # that may change.
    copies = jnp.broadcast_to(x[:, :, None], (g, t, k, h)).reshape(g, t * k, h)
    rows = jnp.arange(g, dtype=np.int32)[:, None]
    return (
        jnp.zeros((g, size, h), x.dtype).at[rows, slot.reshape(g, t * k)].set(copies, mode="drop")
    )


def from_slots(y: Array, slot: Array, weights: Array) -> Array:
    """Add up what experts gave for each token; dropped choices count as 0.

    Args:
        y: (G, places, H).
        slot: int32 (G, T, k).
        weights: (G, T, k).

    Returns:
        (G, T, H), in the dtype of ``weights``.
    """
    g, t, k = slot.shape
    flat = slot.reshape(g, t * k, 1)
    rows = jnp.take_along_axis(y, jnp.minimum(flat, np.int32(y.shape[1] - 1)), 1)
    rows = rows.reshape(g, t, k, -1).astype(weights.dtype)
    kept = jnp.where(slot < y.shape[1], weights, jnp.zeros((), weights.dtype))
    return jnp.sum(rows * kept[..., None], 2)


def sorted_by_expert(experts: Array, count: int) -> tuple[Array, Array]:
    """Sort choices by expert, those of none last.

    Args:
        experts: int32 (choices,); ``count`` for none.
        count: number of experts.

    Returns:
        int32 (choices,), which choice comes where; int32 (count,), how many each expert has.
    """
    order = jnp.argsort(experts, stable=True).astype(np.int32)
    sizes = jnp.sum(jax.nn.one_hot(experts, count, dtype=np.int32), 0, dtype=np.int32)
    return order, sizes
