"""PagedAttention, IncreFlashAttention and ReshapeAndCache: inference over a cache in blocks."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax_ascend.kernels.foreign import (
    available,
    call,
    narrow_or_float32,
    operator,
    with_gradient,
)

Array = jax.Array

# ReshapeAndCache belongs to the vendor's transformer library, not to aclnn: its operator is the
# scatter that later versions of aclnn have.
ACLNN = (
    operator(
        "aclnnIncreFlashAttentionV4",
        "in:query list:key list:value optional:pseShift optional:attenMask ints:actualSeqLengths "
        "optional:dequantScale1 optional:quantScale1 optional:dequantScale2 optional:quantScale2 "
        "optional:quantOffset2 optional:antiquantScale optional:antiquantOffset "
        "optional:blocktable optional:kvPaddingSize int:numHeads double:scaleValue "
        "text:inputLayout int:numKeyValueHeads int:blockSize int:innerPrecise "
        "out:attentionOut",
    ),
    operator(
        "aclnnScatterPaKvCache",
        "in:key inout:keyCache in:slotMapping in:value inout:valueCache optional:compressLens "
        "optional:compressSeqOffset optional:seqLens text:cacheMode text:scatterMode "
        "ints:strides ints:offsets",
    ),
)


def wanted(query: Array, keys: Array, values: Array, tables: Array) -> bool:
    """Tell whether the kernel takes the arrays."""
    fits = query.ndim == 3 and keys.ndim == values.ndim == 4 and tables.ndim == 2
    fits = fits and keys.size > 0 and values.size > 0
    fits = fits and narrow_or_float32(query, keys, values)
    return fits and available("paged_attention", "paged_attention", "reshape_and_cache")


def reference(
    query: Array, keys: Array, values: Array, tables: Array, lengths: Array, scale: float = 1.0
) -> Array:
    """Attend with one token of each sequence to its part of a cache.

    Args:
        query: float (B, N, D).
        keys: (blocks, size, M, D); M divides N.
        values: (blocks, size, M, D2).
        tables: int32 (B, most blocks), the blocks of each sequence in order.
        lengths: int32 (B,), how many keys each has.
        scale: factor of the products.

    Returns:
        (B, N, D2); a sequence without keys gives 0.
    """
    b, heads, _ = query.shape
    key_heads, wide = keys.shape[2], np.promote_types(query.dtype, np.float32)
    k, v = (
        jnp.take(x, jnp.maximum(tables, 0), 0, mode="clip").reshape(b, -1, key_heads, x.shape[3])
        for x in (keys, values)
    )
    grouped = query.reshape(b, key_heads, heads // key_heads, -1)
    scores = jnp.einsum("bmgd,bsmd->bmgs", grouped, k, preferred_element_type=wide)
    beyond = jnp.arange(k.shape[1])[None] >= lengths[:, None]
    scores = scores * np.asarray(scale, wide)
    scores = jnp.where(beyond[:, None, None], np.asarray(-np.inf, wide), scores)
    peak = jax.lax.stop_gradient(scores.max(-1, keepdims=True))
    weights = jnp.exp(scores - jnp.where(jnp.isfinite(peak), peak, np.asarray(0, wide)))
    total = weights.sum(-1, keepdims=True)
    weights = (weights / jnp.where(total == 0, np.asarray(1, wide), total)).astype(v.dtype)
    out = jnp.einsum("bmgs,bsmd->bmgd", weights, v, preferred_element_type=wide)
    return out.reshape(b, heads, -1).astype(query.dtype)


def paged_attention(
    query: Array, keys: Array, values: Array, tables: Array, lengths: Array, scale: float = 1.0
) -> Array:
    """Attend as `reference` does, by the kernel where it takes the arrays.

    The gradients are those of the plain form: this is for inference.
    """
    if not wanted(query, keys, values, tables):
        return reference(query, keys, values, tables, lengths, scale)
    floats = [jnp.asarray(x, np.float32) for x in (query, keys, values)]
    numbers = [x.astype(np.int32) for x in (tables, lengths)]
    return _attend(scale)(*floats, *numbers).astype(query.dtype)


def incre_flash_attention(
    query: Array, keys: Array, values: Array, lengths: Array, scale: float = 1.0
) -> Array:
    """Attend with one token of each sequence to a cache (B, S, M, D); see `paged_attention`."""
    tables = jnp.arange(keys.shape[0], dtype=np.int32)[:, None]
    return paged_attention(query, keys, values, tables, lengths, scale)


def _attend(scale: float) -> Any:
    plain = partial(reference, scale=scale)

    def forward(*arrays: Array) -> Any:
        outputs = [((*arrays[0].shape[:2], arrays[2].shape[3]), np.float32)]
        (out,) = call(
            "paged_attention",
            "paged_attention",
            outputs,
            *arrays,
            batched="sequential",
            scale=float(scale),
        )
        return out, arrays

    def backward(kept: Any, dout: Array) -> Any:
        return jax.vjp(plain, *kept)[1](dout)

    return with_gradient(forward, backward, plain)


def cache_reference(cache: Array, tokens: Array, slots: Array) -> Array:
    """Write tokens into slots of a cache.

    Args:
        cache: (blocks, size, ...).
        tokens: (tokens, elements of a slot) of its dtype.
        slots: int32 (tokens,), counted over the blocks; those outside the cache are passed over.

    Returns:
        The new cache.
    """
    rows = cache.reshape(cache.shape[0] * cache.shape[1], -1)
    where = jnp.where(slots < 0, np.int32(rows.shape[0]), slots)
    return rows.at[where].set(tokens, mode="drop").reshape(cache.shape)


def reshape_and_cache(cache: Array, tokens: Array, slots: Array) -> Array:
    """Write as `cache_reference` does, by the kernel where it can be had."""
    count = cache.shape[0] * cache.shape[1]
    if not cache.size or not available("paged_attention", "reshape_and_cache"):
        return cache_reference(cache, tokens, slots)
    return _write(cache, tokens.reshape(slots.size, cache.size // count), slots.astype(np.int32))


def _write_forward(cache: Array, tokens: Array, slots: Array) -> Any:
    count = cache.shape[0] * cache.shape[1]
    (out,) = call(
        "paged_attention",
        "reshape_and_cache",
        [(cache.shape, cache.dtype)],
        cache,
        tokens,
        slots,
        aliases={0: 0},
        batched="sequential",
        bytes=cache.dtype.itemsize * cache.size // count,
        slots=count,
    )
    return out, (cache, tokens, slots)


def _write_backward(kept: Any, dout: Array) -> Any:
    return jax.vjp(cache_reference, *kept)[1](dout)


_write = with_gradient(_write_forward, _write_backward, cache_reference)
