"""FlashAttentionScore: attention by blocks, whose memory grows with the length (Dao 2022)."""

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

UNBOUNDED = 2**31 - 1
"""Number of keys before or after a query's place that stands for all."""

ACLNN = (
    operator(
        "aclnnFlashAttentionScore",
        "in:query in:key in:value optional:realShift optional:dropMask optional:paddingMask "
        "optional:attenMask ints:prefix double:scaleValue double:keepProb int:preTokens "
        "int:nextTokens int:headNum text:inputLayout int:innerPrecise int:sparseMode "
        "out:softmaxMax out:softmaxSum out:softmaxOut out:attentionOut",
    ),
    operator(
        "aclnnFlashAttentionScoreGrad",
        "in:query in:key in:value in:dy optional:pseShift optional:dropMask optional:paddingMask "
        "optional:attenMask optional:softmaxMax optional:softmaxSum optional:softmaxIn "
        "optional:attentionIn ints:prefix double:scaleValue double:keepProb int:preTokens "
        "int:nextTokens int:headNum text:inputLayout int:innerPrecise int:sparseMode "
        "out:dq out:dk out:dv out:dpse",
    ),
)


def wanted(q: Array, k: Array, v: Array) -> bool:
    """Tell whether the kernels take the arrays."""
    fits = q.ndim == k.ndim == v.ndim == 4 and narrow_or_float32(q, k, v)
    return fits and available("flash_attention", "flash_attention", "flash_attention_grad")


def reference(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    scale: float = 1.0,
    before: int = UNBOUNDED,
    after: int = UNBOUNDED,
) -> tuple[Array, Array, Array]:
    """Sum values by the softmax of scaled products of queries and keys.

    Args:
        q: float (B, S1, N1, D).
        k: (B, S2, N2, D); N2 divides N1.
        v: (B, S2, N2, D2).
        mask: bool or uint8 (B or 1, N1 or 1, S1, S2), nonzero hides; None for none.
        scale: factor of the products.
        before: query i sees no key before i - before.
        after: nor one after i + after.

    Returns:
        The sums (B, S1, N1, D2), rows that see no key 0; the greatest score and the sum of
        exponentials of each row, float32 (B, N1, S1).
    """
    b, queries, heads, size = q.shape
    keys, group = k.shape[1], heads // max(k.shape[2], 1)
    wide = np.promote_types(q.dtype, np.float32)
    grouped = q.reshape(b, queries, k.shape[2], group, size)
    scores = jnp.einsum("brmgd,bsmd->bmgrs", grouped, k, preferred_element_type=wide)
    scores = scores.reshape(b, heads, queries, keys) * np.asarray(scale, wide)
    delta = jnp.arange(keys)[None] - jnp.arange(queries)[:, None]
    hidden = (delta > after) | (delta < -before)
    if mask is not None:
        hidden = hidden | (mask != 0)
    scores = jnp.where(hidden, np.asarray(-np.inf, wide), scores)
    peak = jnp.zeros(scores.shape[:3], wide) if not keys else scores.max(-1)
    peak = jax.lax.stop_gradient(peak)[..., None]
    weights = jnp.exp(scores - jnp.where(jnp.isfinite(peak), peak, np.asarray(0, wide)))
    total = weights.sum(-1, keepdims=True)
    weights = (weights / jnp.where(total == 0, np.asarray(1, wide), total)).astype(v.dtype)
    weights = weights.reshape(b, k.shape[2], group, queries, keys)
    out = jnp.einsum("bmgrs,bsmd->brmgd", weights, v, preferred_element_type=wide)
    out = out.reshape(b, queries, heads, v.shape[3]).astype(q.dtype)
    return out, peak[..., 0], total[..., 0]


def flash_attention(
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None = None,
    scale: float = 1.0,
    before: int = UNBOUNDED,
    after: int = UNBOUNDED,
) -> tuple[Array, Array, Array]:
    """Attend as `reference` does, by the kernel where it takes the arrays.

    The gradient is that of the first result; the kernel gives none for the statistics of the rows.
    """
    options = {"scale": float(scale), "before": int(before), "after": int(after)}
    if not wanted(q, k, v):
        return reference(q, k, v, mask, **options)
    # A mask of floats 0 and 1 would be 4 times as large: bytes, whose gradient is nothing.
    given = jnp.zeros((0,), np.uint8) if mask is None else mask.astype(np.uint8)
    wide = [x.astype(np.float32) for x in (q, k, v)]
    out, peak, total = _attend(**options)(*wide, given)
    return out.astype(q.dtype), peak, total


def _attend(**options: Any) -> Any:
    def forward(q: Array, k: Array, v: Array, mask: Array) -> Any:
        rows = (q.shape[0], q.shape[2], q.shape[1])
        outputs = [((*q.shape[:3], v.shape[3]), np.float32), (rows, np.float32), (rows, np.float32)]
        out = call("flash_attention", "flash_attention", outputs, q, k, v, mask, **options)
        return tuple(out), (q, k, v, mask, *out)

    def backward(kept: Any, dout: Any) -> Any:
        q, k, v, mask = kept[:4]
        outputs = [(x.shape, np.float32) for x in (q, k, v)]
        grads = call("flash_attention", "flash_attention_grad", outputs, *kept, dout[0], **options)
        return (*grads, np.zeros(mask.shape, jax.dtypes.float0))

    return with_gradient(forward, backward, partial(_plain, options))


def _plain(options: Any, q: Array, k: Array, v: Array, mask: Array) -> Any:
    return reference(q, k, v, mask if mask.size else None, **options)
