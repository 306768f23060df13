"""Attention of several heads: weights of keys, and sums of values by them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive

Array = jax.Array


def _heads(x: Array, heads: int) -> Array:
    return x.reshape(*x.shape[:2], heads, x.shape[2] // heads)


def _masked(scores: Array, mask: Array | None, name: str) -> Array:
    if mask is None:
        return scores
    if mask.dtype == np.bool_:
        return jnp.where(mask, np.asarray(-np.inf, scores.dtype), scores)
    checks.floating(name, mask.dtype, "attention")
    return scores + mask.astype(scores.dtype)


class _AttentionWeights(Primitive, register=False):
    """Softmax of scaled products of queries and keys."""

    heads: int

    def compute(
        self, query: Array, key: Array, attn_mask: Array | None, padding: Array | None
    ) -> Array:
        checks.same_dtype("attention", query=query.dtype, key=key.dtype)
        q, k = _heads(query, self.heads), _heads(key, self.heads)
        scale = np.asarray(1 / np.sqrt(q.shape[-1]), q.dtype)
        scores = jnp.einsum("lnhd,snhd->nhls", q * scale, k)
        if attn_mask is not None and attn_mask.ndim == 3:
            attn_mask = attn_mask.reshape(scores.shape)
        scores = _masked(scores, attn_mask, "attn_mask")
        if padding is not None:
            scores = _masked(scores, padding[:, None, None, :], "key_padding_mask")
        scores = scores - lax.stop_gradient(jnp.max(scores, -1, keepdims=True))
        exponentials = jnp.exp(scores)
        return exponentials / jnp.sum(exponentials, -1, keepdims=True)


class _Attend(Primitive, register=False):
    """Sums of values by their weights."""

    def compute(self, weights: Array, value: Array) -> Array:
        v = _heads(value, weights.shape[1])
        out = jnp.einsum("nhls,snhd->lnhd", weights, v)
        return out.reshape(*out.shape[:2], -1)


class _MeanOfHeads(Primitive, register=False):
    """The mean of (N, H, L, S) over the heads."""

    def compute(self, weights: Array) -> Array:
        return jnp.mean(weights, 1)


def attention_weights(
    query: Any, key: Any, heads: int, attn_mask: Any = None, key_padding_mask: Any = None
) -> Any:
    """Weigh keys for queries (Vaswani 2017).

    Args:
        query: (L, N, heads * D).
        key: (S, N, heads * D).
        heads: number of heads.
        attn_mask: (L, S) or (N * heads, L, S): True where a key is hidden, or numbers to add.
        key_padding_mask: (N, S), the same for the keys of each sample.

    Returns:
        Tensor (N, heads, L, S); each row sums to 1.

    Raises:
        ValueError: a mask's shape does not fit.
    """
    length, batch, size = query.shape[0], query.shape[1], key.shape[0]
    shapes = ((length, size), (batch * heads, length, size))
    if attn_mask is not None and tuple(attn_mask.shape) not in shapes:
        raise located(
            ValueError,
            f"For 'attention', the shape of the `attn_mask` should be {shapes[0]} or {shapes[1]}, "
            f"but got {tuple(attn_mask.shape)}.",
        )
    if key_padding_mask is not None and tuple(key_padding_mask.shape) != (batch, size):
        raise located(
            ValueError,
            f"For 'attention', the shape of the `key_padding_mask` should be {(batch, size)}, but "
            f"got {tuple(key_padding_mask.shape)}.",
        )
    return _AttentionWeights(heads)(query, key, attn_mask, key_padding_mask)


_ATTEND, _MEAN = _Attend(), _MeanOfHeads()


def attend(weights: Any, value: Any) -> Any:
    """Sum values by their weights.

    Args:
        weights: (N, heads, L, S).
        value: (S, N, heads * D).

    Returns:
        Tensor (L, N, heads * D).
    """
    return _ATTEND(weights, value)


def mean_of_heads(weights: Any) -> Any:
    """Average (N, heads, L, S) over the heads."""
    return _MEAN(weights)
