"""Mixtures of experts: MoeGatingTopKSoftmax, MoeTokenPermute and MoeTokenUnpermute."""

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

ACLNN = (
    operator(
        "aclnnMoeGatingTopKSoftmax", "in:x optional:finished int:k out:y out:expertIdx out:rowIdx"
    ),
    operator(
        "aclnnMoeTokenPermute",
        "in:tokens in:indices int:numOutTokens bool:paddedMode out:permuteTokens out:sortedIndices",
    ),
    operator(
        "aclnnMoeTokenUnpermute",
        "in:permutedTokens in:sortedIndices optional:probs bool:paddedMode ints:restoreShape "
        "out:out",
    ),
    operator(
        "aclnnMoeTokenUnpermuteGrad",
        "in:permutedTokens in:unpermutedTokensGrad in:sortedIndices optional:probs "
        "bool:paddedMode ints:restoreShape out:permutedTokensGrad out:probsGrad",
    ),
)


def wanted(*floats: Array) -> bool:
    """Tell whether the kernels take arrays of floats."""
    return narrow_or_float32(*floats) and available("moe", "gating_top_k", "moe_permute")


def gating_reference(x: Array, k: int) -> tuple[Array, Array]:
    """Choose the greatest softmax values of each row.

    Args:
        x: float (..., experts).
        k: how many.

    Returns:
        The values, greatest first, in the dtype of ``x``, and the experts, int32, (..., k).
    """
    shares = jax.nn.softmax(x.astype(np.promote_types(x.dtype, np.float32)), -1)
    values, experts = jax.lax.top_k(shares, k)
    return values.astype(x.dtype), experts.astype(np.int32)


def gating_top_k(x: Array, k: int) -> tuple[Array, Array]:
    """Choose as `gating_reference` does, by the kernel where it takes the array."""
    if not wanted(x) or x.ndim < 1 or not 0 < k <= x.shape[-1]:
        return gating_reference(x, k)
    values, experts = _gating(k)(jnp.asarray(x, np.float32))
    return values.astype(x.dtype), experts


def _gating(k: int) -> Any:
    def forward(x: Array) -> Any:
        shape = (*x.shape[:-1], k)
        values, experts = call("moe", "gating_top_k", [(shape, np.float32), (shape, np.int32)], x)
        return (values, experts), (x, experts)

    def backward(kept: Any, dout: Any) -> tuple[Array]:
        (dx,) = call("moe", "gating_top_k_grad", [(kept[0].shape, np.float32)], dout[0], *kept)
        return (dx,)

    return with_gradient(forward, backward, partial(gating_reference, k=k))


def permute_reference(tokens: Array, experts: Array, kept: int) -> tuple[Array, Array]:
    """Sort tokens by expert, stably.

    Args:
        tokens: (tokens, H).
        experts: int32 (tokens, k).
        kept: how many sorted rows are given.

    Returns:
        The sorted rows (kept, H); int32 (tokens * k,), where each pair went.
    """
    order = jnp.argsort(experts.reshape(-1), stable=True).astype(np.int32)
    count = order.shape[0]
    places = jnp.zeros((count,), np.int32).at[order].set(jnp.arange(count, dtype=np.int32))
    return jnp.take(tokens, order[:kept] // np.int32(max(experts.shape[1], 1)), 0), places


def permute(tokens: Array, experts: Array, kept: int) -> tuple[Array, Array]:
    """Sort as `permute_reference` does, by the kernel where it takes the arrays."""
    fits = tokens.ndim == experts.ndim == 2 and experts.dtype == np.int32
    if not fits or not wanted(tokens) or not experts.size:
        return permute_reference(tokens, experts, kept)
    rows, places = _permute(min(kept, experts.size))(jnp.asarray(tokens, np.float32), experts)
    return rows.astype(tokens.dtype), places


def _permute(kept: int) -> Any:
    def forward(tokens: Array, experts: Array) -> Any:
        outputs = [((kept, tokens.shape[1]), np.float32), ((experts.size,), np.int32)]
        rows, places = call("moe", "moe_permute", outputs, tokens, experts, batched="sequential")
        return (rows, places), (places, experts)

    def backward(saved: Any, dout: Any) -> Any:
        places, experts = saved
        outputs = [((experts.shape[0], dout[0].shape[1]), np.float32)]
        ones = jnp.ones(experts.shape, np.float32)
        (d_tokens,) = call(
            "moe", "moe_unpermute", outputs, dout[0], places, ones, batched="sequential"
        )
        return d_tokens, np.zeros(experts.shape, jax.dtypes.float0)

    return with_gradient(forward, backward, partial(permute_reference, kept=kept))


def unpermute_reference(rows: Array, places: Array, shares: Array) -> Array:
    """Bring sorted rows back and sum each token's.

    Args:
        rows: (rows, H).
        places: int32 (tokens * k,), where each pair of token and expert stands; those outside the
            rows count as 0.
        shares: (tokens, k), factors.

    Returns:
        (tokens, H).
    """
    inside = (places >= 0) & (places < rows.shape[0])
    taken = jnp.take(rows, jnp.where(inside, places, 0), 0, mode="clip")
    taken = jnp.where(inside[:, None], taken, jnp.zeros((), rows.dtype))
    wide = taken.reshape(*shares.shape, rows.shape[1]).astype(
        np.promote_types(rows.dtype, np.float32)
    )
    return jnp.sum(wide * shares.astype(wide.dtype)[..., None], 1).astype(rows.dtype)


def unpermute(rows: Array, places: Array, shares: Array) -> Array:
    """Merge as `unpermute_reference` does, by the kernel where it takes the arrays."""
    fits = rows.ndim == shares.ndim == 2 and places.dtype == np.int32 and rows.shape[0] > 0
    if not fits or places.size != shares.size or not wanted(rows, shares):
        return unpermute_reference(rows, places, shares)
    wide = (jnp.asarray(rows, np.float32), places, jnp.asarray(shares, np.float32))
    return _unpermute(*wide).astype(rows.dtype)


def _unpermute_forward(rows: Array, places: Array, shares: Array) -> Any:
    outputs = [((shares.shape[0], rows.shape[1]), np.float32)]
    arrays = (rows, places, shares)
    (out,) = call("moe", "moe_unpermute", outputs, *arrays, batched="sequential")
    return out, arrays


def _unpermute_backward(kept: Any, dout: Array) -> Any:
    rows, places, shares = kept
    outputs = [(rows.shape, np.float32), (shares.shape, np.float32)]
    d_rows, d_shares = call("moe", "moe_unpermute_grad", outputs, dout, *kept, batched="sequential")
    return d_rows, np.zeros(places.shape, jax.dtypes.float0), d_shares


_unpermute = with_gradient(_unpermute_forward, _unpermute_backward, unpermute_reference)
