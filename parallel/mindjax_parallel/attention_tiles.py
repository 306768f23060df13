"""Attention of some queries to some keys, tile by tile, forward and backward.

A tile is what one device computes while it holds another's keys. Its softmax is not complete: the
forward pass keeps each row's greatest score and sum (Milakov and Gimelshein, 2018), the backward
pass is given the logarithm of the finished sum (Dao, 2022). Tiles larger than a block are computed
block by block, so that memory grows with the length and not with its square.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.ops.fused.attention import accumulator

Array = jax.Array
BLOCK = 512
"""Most rows, and most columns, of the scores that are in memory at once."""


class Hides(NamedTuple):
    """What hides keys of a tile from queries.

    Attributes:
        triangle: whether keys behind the diagonal are hidden.
        mask: truth values, True hides, (B or 1, N or 1, rows, columns); or None.
        rows: (B, rows), the sequence that each query belongs to; or None.
        columns: (B, columns), the sequence that each key belongs to; or None.
    """

    triangle: bool = False
    mask: Array | None = None
    rows: Array | None = None
    columns: Array | None = None


class Softmax(NamedTuple):
    """What rows have gathered so far.

    Attributes:
        sums: (B, S, N, D), weighted values.
        peak: (B, N, S), greatest scores.
        total: (B, N, S), sums of exponentials.
    """

    sums: Array
    peak: Array
    total: Array


def nothing(q: Array, v: Array) -> Softmax:
    """Give what rows have gathered before any key."""
    wide = accumulator(q.dtype)
    b, s, n, _ = q.shape
    return Softmax(
        jnp.zeros((b, s, n, v.shape[3]), wide),
        jnp.full((b, n, s), -np.inf, wide),
        jnp.zeros((b, n, s), wide),
    )


def finished(state: Softmax, dtype: Any) -> tuple[Array, Array]:
    """Give the results of rows, and the logarithms of their sums of exponentials.

    Args:
        state: what they gathered from all keys.
        dtype: of the results.

    Returns:
        (B, S, N, D); (B, N, S), infinite for rows that see no key.
    """
    empty = state.total == 0
    total = jnp.where(empty, jnp.ones((), state.total.dtype), state.total)
    out = state.sums / jnp.swapaxes(total, 1, 2)[..., None]
    log = jnp.where(empty, np.asarray(np.inf, total.dtype), _safe(state.peak) + jnp.log(total))
    return out.astype(dtype), log


def _safe(peak: Array) -> Array:
    return jnp.where(jnp.isfinite(peak), peak, jnp.zeros((), peak.dtype))


def _grouped(x: Array, kv_heads: int) -> Array:
    b, s, n, d = x.shape
    return x.reshape(b, s, kv_heads, n // kv_heads, d)


def _scores(q: Array, k: Array, scale: float, hides: Hides, first: tuple[Any, Any]) -> Array:
    """Give scores (B, N, rows, columns), minus infinity where a key is hidden."""
    wide = accumulator(q.dtype)
    b, s, n, _ = q.shape
    grouped = _grouped(q, k.shape[2])
    scores = jnp.einsum("brmgd,bsmd->bmgrs", grouped, k, preferred_element_type=wide)
    scores = scores.reshape(b, n, s, k.shape[1]) * np.asarray(scale, wide)
    hidden: Array | None = None
    if hides.triangle:
        i = jnp.arange(s, dtype=np.int32) + first[0]
        j = jnp.arange(k.shape[1], dtype=np.int32) + first[1]
        hidden = (j[None] > i[:, None])[None, None]
    if hides.mask is not None:
        hidden = hides.mask if hidden is None else hidden | hides.mask
    if hides.rows is not None and hides.columns is not None:
        other = (hides.rows[:, :, None] != hides.columns[:, None])[:, None]
        hidden = other if hidden is None else hidden | other
    if hidden is None:
        return scores
    return jnp.where(hidden, np.asarray(-np.inf, wide), scores)


def _gather(
    state: Softmax,
    q: Array,
    k: Array,
    v: Array,
    scale: float,
    hides: Hides,
    first: tuple[Any, Any],
) -> Softmax:
    scores = _scores(q, k, scale, hides, first)
    peak = jnp.maximum(state.peak, jnp.max(scores, -1))
    base = _safe(peak)
    kept = jnp.exp(state.peak - base)
    weights = jnp.exp(scores - base[..., None])
    b, _, s = peak.shape
    grouped = weights.reshape(b, k.shape[2], -1, s, k.shape[1]).astype(v.dtype)
    sums = jnp.einsum("bmgrs,bsmd->brmgd", grouped, v, preferred_element_type=peak.dtype)
    return Softmax(
        state.sums * jnp.swapaxes(kept, 1, 2)[..., None] + sums.reshape(state.sums.shape),
        peak,
        state.total * kept + jnp.sum(weights, -1),
    )


def _block(size: int) -> int:
    """Give the greatest divisor below that of a block; the size itself if all are small."""
    if size <= BLOCK:
        return size
    best = max(d for d in range(1, BLOCK + 1) if size % d == 0)
    return best if best >= BLOCK // 8 else size


def _cut(x: Array, axis: int, block: int) -> Array:
    """Cut an axis into blocks, which come first."""
    shape = (*x.shape[:axis], x.shape[axis] // block, block, *x.shape[axis + 1 :])
    return jnp.moveaxis(x.reshape(shape), axis, 0)


def _joined(x: Array, axis: int) -> Array:
    """Join blocks that come first along an axis again."""
    x = jnp.moveaxis(x, 0, axis)
    return x.reshape(*x.shape[:axis], -1, *x.shape[axis + 2 :])


def _part(x: Array | None, axis: int, first: Any, block: int) -> Array | None:
    if x is None or x.shape[axis] == block:
        return x
    return lax.dynamic_slice_in_dim(x, first, block, axis)


def _hides_part(hides: Hides, first: tuple[Any, Any], rows: int, columns: int) -> Hides:
    mask = _part(_part(hides.mask, 2, first[0], rows), 3, first[1], columns)
    return Hides(
        hides.triangle,
        mask,
        _part(hides.rows, 1, first[0], rows),
        _part(hides.columns, 1, first[1], columns),
    )


def _starts(size: int, block: int) -> Array:
    return jnp.arange(0, size, block, dtype=np.int32)


def gather(state: Softmax, q: Array, k: Array, v: Array, scale: float, hides: Hides) -> Softmax:
    """Let rows gather from the keys of a tile.

    Args:
        state: what they have so far.
        q: (B, rows, N, D).
        k: (B, columns, M, D); M divides N.
        v: (B, columns, M, D2).
        scale: factor of the products.
        hides: which keys are hidden.
    """
    rows, columns = _block(q.shape[1]), _block(k.shape[1])
    zero = np.int32(0)
    if rows == q.shape[1] and columns == k.shape[1]:
        return _gather(state, q, k, v, scale, hides, (zero, zero))
    keys = _cut(k, 1, columns), _cut(v, 1, columns), _starts(k.shape[1], columns)

    def of_rows(part: Any) -> Softmax:
        block, have, i = part

        def of_columns(have: Softmax, key: Any) -> tuple[Softmax, None]:
            kb, vb, j = key
            inner = _hides_part(hides, (i, j), rows, columns)
            return _gather(have, block, kb, vb, scale, inner, (i, j)), None

        return lax.scan(of_columns, have, keys)[0]

    parts = Softmax(
        _cut(state.sums, 1, rows), _cut(state.peak, 2, rows), _cut(state.total, 2, rows)
    )
    out = lax.map(of_rows, (_cut(q, 1, rows), parts, _starts(q.shape[1], rows)))
    return Softmax(_joined(out.sums, 1), _joined(out.peak, 2), _joined(out.total, 2))


class Rows(NamedTuple):
    """What the backward pass knows of rows.

    Attributes:
        q: (B, S, N, D), queries.
        gradient: (B, S, N, D2), of their results.
        log: (B, N, S), logarithms of their sums of exponentials.
        inner: (B, N, S), products of their results and gradients.
    """

    q: Array
    gradient: Array
    log: Array
    inner: Array


def _scatter(
    rows: Rows, k: Array, v: Array, scale: float, hides: Hides, first: tuple[Any, Any]
) -> tuple[Array, Array, Array]:
    scores = _scores(rows.q, k, scale, hides, first)
    wide = scores.dtype
    weights = jnp.exp(scores - rows.log[..., None])
    m = k.shape[2]
    gradient = _grouped(rows.gradient, m)
    b, n, r, c = weights.shape
    grouped = weights.reshape(b, m, n // m, r, c)
    narrow = grouped.astype(v.dtype)
    to_v = jnp.einsum("bmgrs,brmgd->bsmd", narrow, gradient, preferred_element_type=wide)
    to_weights = jnp.einsum("brmgd,bsmd->bmgrs", gradient, v, preferred_element_type=wide)
    inner = rows.inner.reshape(b, m, n // m, r, 1)
    to_scores = grouped * (to_weights - inner) * np.asarray(scale, wide)
    to_scores = to_scores.astype(k.dtype)
    to_q = jnp.einsum("bmgrs,bsmd->brmgd", to_scores, k, preferred_element_type=wide)
    to_k = jnp.einsum(
        "bmgrs,brmgd->bsmd", to_scores, _grouped(rows.q, m), preferred_element_type=wide
    )
    return to_q.reshape(rows.q.shape), to_k, to_v


def scatter(
    rows: Rows, k: Array, v: Array, scale: float, hides: Hides
) -> tuple[Array, Array, Array]:
    """Give the gradients that a tile adds to queries, keys and values.

    Args:
        rows: queries and what is known of their results.
        k: (B, columns, M, D).
        v: (B, columns, M, D2).
        scale: factor of the products.
        hides: which keys are hidden.

    Returns:
        Arrays like the queries, keys and values, in the dtype of the softmax.
    """
    size, width = rows.q.shape[1], k.shape[1]
    height, columns = _block(size), _block(width)
    zero = np.int32(0)
    if height == size and columns == width:
        return _scatter(rows, k, v, scale, hides, (zero, zero))
    blocks = Rows(
        _cut(rows.q, 1, height),
        _cut(rows.gradient, 1, height),
        _cut(rows.log, 2, height),
        _cut(rows.inner, 2, height),
    )
    wide = rows.log.dtype

    def of_columns(to_q: Array, key: Any) -> tuple[Array, tuple[Array, Array]]:
        kb, vb, j = key

        def of_rows(sums: tuple[Array, Array], part: Any) -> tuple[tuple[Array, Array], Array]:
            block, i = part
            inner = _hides_part(hides, (i, j), height, columns)
            one, to_k, to_v = _scatter(block, kb, vb, scale, inner, (i, j))
            return (sums[0] + to_k, sums[1] + to_v), one

        start = jnp.zeros(kb.shape, wide), jnp.zeros(vb.shape, wide)
        sums, parts = lax.scan(of_rows, start, (blocks, _starts(size, height)))
        return to_q + _joined(parts, 1), sums

    keys = _cut(k, 1, columns), _cut(v, 1, columns), _starts(width, columns)
    to_q, (to_k, to_v) = lax.scan(of_columns, jnp.zeros(rows.q.shape, wide), keys)
    return to_q, _joined(to_k, 1), _joined(to_v, 1)
