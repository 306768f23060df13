"""Scaled dot-product attention on arrays: the body of every fused attention operator.

Queries of grouped heads meet their keys by one contraction, so keys are never repeated. Statistics
of the softmax are in float32 (float64 for float64). Long sequences go block by block over the
queries, and each block is computed again for the gradient, so that memory grows with the length
and not with its square. A row in which every key is hidden gives 0.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.core.errors import located

Array = jax.Array
LAYOUTS = ("BSH", "BNSD", "SBH", "BSND", "TND")
UNBOUNDED = 2147483647

# Scores of more elements than this are computed in blocks of so many queries.
_WHOLE = 2**24
_BLOCK = 512


@dataclasses.dataclass(frozen=True)
class Terms:
    """What is done to the scores, each for some rows (queries), all keys at once.

    Every function takes the rows' numbers and gives an array that broadcasts to
    (batch, heads, rows, keys), or is None: ``bias`` is added, ``hidden`` tells the keys that a
    query does not see, ``kept`` the weights that dropout leaves.
    """

    bias: Callable[[Array], Array] | None = None
    hidden: Callable[[Array], Array] | None = None
    kept: Callable[[Array], Array] | None = None
    keep_prob: float = 1.0
    bias_before_scale: bool = False


def accumulator(dtype: Any) -> np.dtype[Any]:
    """Give the dtype in which products are summed and the softmax is computed."""
    return np.dtype(np.float64 if dtype == np.float64 else np.float32)


def _rows_of_scores(q: Array, k: Array, rows: Array, scale: float, terms: Terms) -> Array:
    wide = accumulator(q.dtype)
    b, n, m = q.shape[0], q.shape[2], k.shape[2]
    grouped = q.reshape(b, q.shape[1], m, n // m, q.shape[3])
    scores = jnp.einsum("brmgd,bsmd->bmgrs", grouped, k, preferred_element_type=wide)
    scores = scores.reshape(b, n, q.shape[1], k.shape[1])
    factor = np.asarray(scale, wide)
    if terms.bias is not None and terms.bias_before_scale:
        scores = (scores + terms.bias(rows).astype(wide)) * factor
    else:
        scores = scores * factor
        if terms.bias is not None:
            scores = scores + terms.bias(rows).astype(wide)
    if terms.hidden is not None:
        scores = jnp.where(terms.hidden(rows), np.asarray(-np.inf, wide), scores)
    return scores


def _attend_rows(
    q: Array, k: Array, v: Array, rows: Array, scale: float, terms: Terms
) -> tuple[Array, Array, Array]:
    """Attend with some queries; see `attend`."""
    scores = _rows_of_scores(q, k, rows, scale, terms)
    wide = scores.dtype
    if not k.shape[1]:
        peak = jnp.zeros((*scores.shape[:-1], 1), wide)
    else:
        peak = lax.stop_gradient(jnp.max(scores, -1, keepdims=True))
    base = jnp.where(jnp.isfinite(peak), peak, np.asarray(0, wide))
    weights = jnp.exp(scores - base)
    total = jnp.sum(weights, -1, keepdims=True)
    weights = weights / jnp.where(total == 0, np.asarray(1, wide), total)
    if terms.kept is not None:
        factor = np.asarray(1 / terms.keep_prob, wide)
        weights = jnp.where(terms.kept(rows), weights * factor, np.asarray(0, wide))
    b, n, m = q.shape[0], q.shape[2], k.shape[2]
    grouped = weights.reshape(b, m, n // m, q.shape[1], k.shape[1]).astype(v.dtype)
    out = jnp.einsum("bmgrs,bsmd->brmgd", grouped, v, preferred_element_type=wide)
    out = out.reshape(b, q.shape[1], n, v.shape[3]).astype(q.dtype)
    return out, peak[..., 0], total[..., 0]


def attend(q: Array, k: Array, v: Array, scale: float, terms: Terms) -> tuple[Array, Array, Array]:
    """Sum values by the softmax of scaled products of queries and keys.

    Args:
        q: (B, S1, N1, D).
        k: (B, S2, N2, D); N2 divides N1.
        v: (B, S2, N2, D2).
        scale: factor of the products.
        terms: bias, mask and dropout.

    Returns:
        The sums (B, S1, N1, D2) in the dtype of ``q``; the greatest score and the sum of
        exponentials of each row, (B, N1, S1).
    """
    b, s, n, _ = q.shape
    if b * n * s * k.shape[1] <= _WHOLE or s <= _BLOCK:
        return _attend_rows(q, k, v, jnp.arange(s, dtype=np.int32), scale, terms)
    blocks = -(-s // _BLOCK)
    padded = jnp.pad(q, ((0, 0), (0, blocks * _BLOCK - s), (0, 0), (0, 0)))
    parts = jnp.moveaxis(padded.reshape(b, blocks, _BLOCK, *q.shape[2:]), 1, 0)

    @jax.checkpoint
    def one(part: tuple[Array, Array]) -> tuple[Array, Array, Array]:
        block, first = part
        # Rows behind the end stand for the last one; they are cut off below.
        rows = jnp.minimum(first + jnp.arange(_BLOCK, dtype=np.int32), np.int32(s - 1))
        return _attend_rows(block, k, v, rows, scale, terms)

    firsts = jnp.arange(blocks, dtype=np.int32) * np.int32(_BLOCK)
    out, peak, total = lax.map(one, (parts, firsts))
    out = jnp.moveaxis(out, 0, 1).reshape(b, blocks * _BLOCK, n, v.shape[3])[:, :s]
    peak, total = (
        jnp.moveaxis(x, 0, 2).reshape(b, n, blocks * _BLOCK)[..., :s] for x in (peak, total)
    )
    return out, peak, total


def of_rows(x: Array, rows: Array) -> Array:
    """Take rows of an array (batch, heads, queries, keys)."""
    if x.shape[2] == 1:
        return x
    return jnp.take(x, rows, 2, mode="clip")


def four_axes(mask: Array, owner: str, sizes: tuple[int, int, int, int]) -> Array:
    """Bring a mask to the axes (batch, heads, queries, keys).

    Args:
        mask: (S1, S2), (B, S1, S2), (B, 1, S1, S2) or (B, N, S1, S2), or with 1 for B.
        owner: operator named in the error.
        sizes: B, N, S1, S2.

    Raises:
        RuntimeError: it has another shape.
    """
    full = mask
    if mask.ndim == 2:
        full = mask[None, None]
    elif mask.ndim == 3:
        full = mask[:, None]
    fits = full.ndim == 4 and all(
        have == want or (have == 1 and i < 2)
        for i, (have, want) in enumerate(zip(full.shape, sizes, strict=True))
    )
    if not fits:
        raise located(
            RuntimeError,
            f"For '{owner}', the shape of 'attn_mask' must fit (B, N, S1, S2) = {sizes}, but got "
            f"{mask.shape}.",
        )
    return full


def joined(*parts: Callable[[Array], Array] | None) -> Callable[[Array], Array] | None:
    """Give the function that hides what any of several hides."""
    some = [p for p in parts if p is not None]
    if not some:
        return None

    def hidden(rows: Array) -> Array:
        out = some[0](rows)
        for part in some[1:]:
            out = out | part(rows)
        return out

    return hidden


def band(
    keys: int, before: Any, after: Any, prefix: Array | None = None
) -> Callable[[Array], Array] | None:
    """Hide the keys that are too far before or after a query.

    Args:
        keys: number of keys.
        before: how many keys before its own place a query sees; int, or array (B,).
        after: how many keys after it; int, or array (B,).
        prefix: (B,), number of first keys that every query sees.
    """
    sees_before = isinstance(before, int) and before >= UNBOUNDED
    sees_after = isinstance(after, int) and after >= UNBOUNDED
    if sees_before and sees_after:
        return None

    def limit(value: Any) -> Array:
        return jnp.asarray(value, np.int32).reshape(-1, 1, 1, 1)

    def hidden(rows: Array) -> Array:
        i = rows.reshape(1, 1, -1, 1)
        j = jnp.arange(keys, dtype=np.int32).reshape(1, 1, 1, -1)
        out = jnp.zeros((1, 1, 1, 1), np.bool_)
        if not sees_before:
            out = out | (j < i - limit(before))
        if not sees_after:
            out = out | (j > i + limit(after))
        if prefix is not None:
            out = out & (j >= limit(prefix))
        return out

    return hidden


def beyond(keys: int, first: Any, count: Any) -> Callable[[Array], Array]:
    """Hide the keys outside a sequence's own.

    Args:
        keys: number of keys.
        first: number of the first one, int or (B,).
        count: how many there are, (B,).
    """

    def hidden(rows: Array) -> Array:
        del rows
        j = jnp.arange(keys, dtype=np.int32).reshape(1, 1, 1, -1)
        low = jnp.asarray(first, np.int32).reshape(-1, 1, 1, 1)
        high = low + jnp.asarray(count, np.int32).reshape(-1, 1, 1, 1)
        return (j < low) | (j >= high)

    return hidden


def split_heads(x: Array, layout: str, heads: int, owner: str, name: str) -> Array:
    """Bring an array of a layout to (B, S, N, D).

    Args:
        x: array of the layout; TND stands for one batch.
        layout: ``BSH``, ``BNSD``, ``SBH``, ``BSND`` or ``TND``.
        heads: number of heads, for the layouts that do not show it.
        owner: operator named in the error.
        name: of the argument.

    Raises:
        RuntimeError: the array has another rank, or its heads cannot be cut.
    """
    rank = 3 if layout in ("BSH", "SBH", "TND") else 4
    if x.ndim != rank:
        raise located(
            RuntimeError,
            f"For '{owner}', the '{name}' must have {rank} axes in the layout {layout}, but got "
            f"shape {x.shape}.",
        )
    if layout in ("BSH", "SBH"):
        if heads <= 0 or x.shape[2] % heads:
            raise located(
                RuntimeError,
                f"For '{owner}', the last axis of '{name}' must be divided by its number of heads "
                f"{heads}, but got shape {x.shape}.",
            )
        x = jnp.swapaxes(x, 0, 1) if layout == "SBH" else x
        return x.reshape(*x.shape[:2], heads, x.shape[2] // heads)
    if layout == "BNSD":
        return jnp.swapaxes(x, 1, 2)
    return x[None] if layout == "TND" else x


def merge_heads(x: Array, layout: str) -> Array:
    """Bring (B, S, N, D) back to a layout."""
    if layout in ("BSH", "SBH"):
        x = x.reshape(*x.shape[:2], -1)
        return jnp.swapaxes(x, 0, 1) if layout == "SBH" else x
    if layout == "BNSD":
        return jnp.swapaxes(x, 1, 2)
    return x[0] if layout == "TND" else x


def check_heads(q: Array, k: Array, v: Array, owner: str, same_size: bool = True) -> None:
    """Check arrays (B, S, N, D) against each other.

    Raises:
        RuntimeError: batch, heads or head sizes do not fit.
        TypeError: the dtypes differ.
    """
    if not q.dtype == k.dtype == v.dtype:
        raise located(
            TypeError,
            f"For '{owner}', 'query', 'key' and 'value' must have the same dtype, but got "
            f"{q.dtype}, {k.dtype} and {v.dtype}.",
        )
    fits = k.shape[:3] == v.shape[:3] and q.shape[0] == k.shape[0] and q.shape[3] == k.shape[3]
    if not fits or q.shape[2] % max(k.shape[2], 1) or (same_size and v.shape[3] != k.shape[3]):
        raise located(
            RuntimeError,
            f"For '{owner}', 'query', 'key' and 'value' must agree in batch and head size, and the "
            f"heads of 'query' be a multiple of those of 'key', but got, as (B, S, N, D), "
            f"{q.shape}, {k.shape} and {v.shape}.",
        )


def check_mask(mask: Array, owner: str, name: str = "attn_mask") -> Array:
    """Give a mask of bool or integers as truth values; True hides.

    Raises:
        TypeError: it is of another dtype.
    """
    if mask.dtype == np.bool_:
        return mask
    if mask.dtype not in (np.uint8, np.int8):
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be bool, int8 or uint8, but got {mask.dtype}.",
        )
    return mask != 0


def sparse_terms(
    mode: int,
    mask: Array | None,
    before: int,
    after: int,
    sizes: tuple[int, int, int, int],
    lengths: tuple[Any, Any],
    owner: str,
    prefix: Array | None = None,
) -> Callable[[Array], Array] | None:
    """Give what a sparse mode hides.

    Args:
        mode: 0 the mask and the band, 1 the mask, 2 and 3 a triangle from the upper left or the
            lower right corner, 4 a band from the lower right corner, 5 a prefix and a triangle.
        mask: truth values; in the modes 2 to 4 only its shape is looked at, (2048, 2048) or that
            of the scores, since the mode says what it holds.
        before: keys before its place that a query sees, in the modes 0 and 4.
        after: keys after it.
        sizes: B, N, S1, S2.
        lengths: number of queries and keys of each batch, ints or (B,).
        owner: operator named in the error.
        prefix: (B,), in mode 5.

    Raises:
        RuntimeError: the mode is unknown or lacks what it needs, or the mask's shape is wrong.
    """
    queries, keys = lengths
    if not 0 <= mode <= 8:
        raise located(
            RuntimeError, f"For '{owner}', the 'sparse_mode' must be 0 to 5, but got {mode}."
        )
    if mode > 5:
        raise located(
            NotImplementedError,
            f"For '{owner}', the 'sparse_mode' {mode} has no meaning in the original: use 0 to 5.",
        )
    if mode in (2, 3, 4):
        if mask is not None and mask.shape[-2:] not in ((2048, 2048), sizes[2:]):
            raise located(
                RuntimeError,
                f"For '{owner}', the shape of 'attn_mask' must be (2048, 2048) in 'sparse_mode' "
                f"{mode}, but got {mask.shape}.",
            )
        if mode == 2:
            return band(sizes[3], UNBOUNDED, 0)
        offset = keys - queries
        if mode == 3:
            return band(sizes[3], UNBOUNDED, offset)
        low = UNBOUNDED if before >= UNBOUNDED else before - offset
        high = UNBOUNDED if after >= UNBOUNDED else after + offset
        return band(sizes[3], low, high)
    given: Callable[[Array], Array] | None = None
    if mask is not None:
        full = four_axes(mask, owner, sizes)
        given = lambda rows: of_rows(full, rows)  # noqa: E731
    if mode == 1 and mask is None:
        raise located(RuntimeError, f"For '{owner}', the 'attn_mask' is needed in 'sparse_mode' 1.")
    if mode == 0 and mask is not None:
        return joined(given, band(sizes[3], before, after))
    if mode == 5:
        if prefix is None:
            raise located(
                RuntimeError, f"For '{owner}', the 'prefix' is needed in 'sparse_mode' 5."
            )
        return joined(given, band(sizes[3], UNBOUNDED, keys - queries, prefix))
    return given


def check_band(before: int, after: int, queries: int, keys: int, owner: str) -> None:
    """Check that a band holds something.

    Raises:
        RuntimeError: it is empty, or outside the scores.
    """
    wrong = before < 0 and after < 0
    wrong |= before < 0 <= after and (after < -before or -before >= keys)
    wrong |= after < 0 <= before and (-after > before or -after >= queries)
    if wrong:
        raise located(
            RuntimeError,
            f"For '{owner}', the band of 'pre_tokens' {before} and 'next_tokens' {after} must not "
            "be empty.",
        )
