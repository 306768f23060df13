"""Attention to selected keys: the indexer that chooses them, and attention over the chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive

Array = jax.Array
_FOREVER = 2**63 - 1
# Queries that are computed at once.
_ROWS = 64
_COPIES = 8


def by_rows(function: Callable[..., Any], *arrays: Array) -> Any:
    """Run a function of one query over all of them, some at a time."""
    return jax.lax.map(lambda rows: function(*rows), arrays, batch_size=_ROWS)


def attend_one(
    q: Array, k: Array, v: Array, visible: Array, scale: float
) -> tuple[Array, Array, Array]:
    """Attend with one query (M, G, D) over its own keys (M, T, D), values (M, T, D2).

    Returns:
        The sums (M, G, D2); greatest scores and sums of exponentials, (M, G).
    """
    wide = np.dtype(np.float64 if q.dtype == np.float64 else np.float32)
    scores = jnp.einsum("mgd,mtd->mgt", q, k, preferred_element_type=wide) * np.asarray(scale, wide)
    scores = jnp.where(visible[:, None], scores, np.asarray(-np.inf, wide))
    top = jax.lax.stop_gradient(jnp.max(scores, -1, initial=-np.inf))
    base = jnp.where(jnp.isfinite(top), top, np.asarray(0, wide))
    weights = jnp.exp(scores - base[..., None])
    total = jnp.sum(weights, -1)
    safe = jnp.where(total == 0, np.asarray(1, wide), total)
    weights = (weights / safe[..., None]).astype(v.dtype)
    out = jnp.einsum("mgt,mtd->mgd", weights, v, preferred_element_type=wide)
    return out.astype(q.dtype), top, total


class _Sequences:
    """Where queries and keys of several sequences stand, whatever the layout.

    All queries stand in a row, (T1, ...), and all keys, (T2, ...); ``owner`` is each query's
    sequence and ``place`` its place there.
    """

    def __init__(
        self,
        owner: str,
        query: Array,
        key: Array,
        layouts: tuple[str, str],
        lengths: tuple[Array | None, Array | None],
        table: Array | None,
    ) -> None:
        layout, own = layouts
        if own != "PA_BSND" and layout != own:
            raise located(
                RuntimeError,
                f"For '{owner}', the layouts of queries and keys must be the same unless the keys' "
                f"is PA_BSND, but got {layout} and {own}.",
            )
        if (layout == "TND" and lengths[0] is None) or (own != "BSND" and lengths[1] is None):
            raise located(
                RuntimeError, f"For '{owner}', the lengths of sequences are needed in this layout."
            )
        if (own == "PA_BSND") != (table is not None):
            raise located(
                RuntimeError,
                f"For '{owner}', the 'block_table' goes with the layout PA_BSND, but got {own}.",
            )
        zero = jnp.zeros((1,), np.int32)
        if layout == "TND" and lengths[0] is not None:
            ends = lengths[0].astype(np.int32)
            rows = jnp.arange(query.shape[0], dtype=np.int32)
            self.owner = jnp.searchsorted(ends, rows, side="right").astype(np.int32)
            starts = jnp.concatenate([zero, ends[:-1]])
            self.place = rows - jnp.take(starts, self.owner, mode="clip")
            self.queries = ends - starts
            self.used = rows < ends[-1]
        else:
            b, s = query.shape[:2]
            self.owner = jnp.repeat(jnp.arange(b, dtype=np.int32), s)
            self.place = jnp.tile(jnp.arange(s, dtype=np.int32), b)
            full = jnp.full((b,), s, np.int32)
            self.queries = full if lengths[0] is None else lengths[0].astype(np.int32)
            self.used = self.place < jnp.take(self.queries, self.owner)
        self.table, self.block = table, key.shape[1] if table is not None else 1
        if own == "TND" and lengths[1] is not None:
            ends = lengths[1].astype(np.int32)
            self.starts = jnp.concatenate([zero, ends[:-1]])
            self.keys = ends - self.starts
            self.longest = key.shape[0]
        else:
            b = table.shape[0] if table is not None else key.shape[0]
            self.longest = table.shape[1] * self.block if table is not None else key.shape[1]
            self.starts = jnp.arange(b, dtype=np.int32) * np.int32(self.longest)
            full = jnp.full((b,), self.longest, np.int32)
            self.keys = full if lengths[1] is None else lengths[1].astype(np.int32)

    def rows_of(self, owner: Array, places: Array) -> Array:
        """Give the rows of keys at some places of a sequence."""
        places = jnp.maximum(places, 0)
        if self.table is None:
            return self.starts[owner] + places
        blocks = jnp.take(self.table[owner], places // self.block, mode="clip").astype(np.int32)
        return jnp.maximum(blocks, 0) * np.int32(self.block) + places % self.block

    def sees(self, owner: Array, place: Array, places: Array, causal: bool) -> Array:
        """Tell which places of a sequence a query sees."""
        keys = self.keys[owner]
        out = (places >= 0) & (places < keys)
        if causal:
            out = out & (places <= place + keys - self.queries[owner])
        return out


def _flat(x: Array, axes: int) -> Array:
    """Merge the leading axes so that ``axes`` follow them."""
    return x.reshape(-1, *x.shape[x.ndim - axes :])


def _check_mode(owner: str, mode: Any, before: Any, after: Any) -> None:
    if mode not in (0, 3):
        raise located(
            RuntimeError, f"For '{owner}', the 'sparse_mode' must be 0 or 3, but got {mode}."
        )
    if before != _FOREVER or after != _FOREVER:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'pre_tokens' and 'next_tokens' must be 2**63 - 1, as in the "
            f"original, but got {before} and {after}.",
        )


def _check_layouts(owner: str, layout: Any, own: Any) -> None:
    if layout not in ("BSND", "TND") or own not in ("BSND", "TND", "PA_BSND"):
        raise located(
            RuntimeError,
            f"For '{owner}', the layouts must be BSND or TND, that of keys also PA_BSND, but got "
            f"{layout} and {own}.",
        )


class _LightningIndexer(Primitive, register=False):
    """The keys that score highest for each query."""

    layouts: tuple[str, str]
    sparse_count: int
    sparse_mode: int

    def compute(
        self,
        query: Array,
        key: Array,
        weights: Array,
        lengths: Array | None,
        own_lengths: Array | None,
        table: Array | None,
    ) -> tuple[Array, Array]:
        name = "lightning_indexer"
        checks.floating("query", query.dtype, name)
        checks.same_dtype(name, query=query.dtype, key=key.dtype, weights=weights.dtype)
        if weights.shape != query.shape[:-1] or query.shape[-1] != key.shape[-1]:
            raise located(
                RuntimeError,
                f"For '{name}', 'weights' must be like 'query' without its last axis, and 'key' "
                f"have the same head size, but got {query.shape}, {key.shape}, {weights.shape}.",
            )
        if key.shape[-2] != 1:
            raise located(
                RuntimeError, f"For '{name}', 'key' must have one head, but got {key.shape}."
            )
        sequences = _Sequences(name, query, key, self.layouts, (lengths, own_lengths), table)
        q, k, w = _flat(query, 2), _flat(key, 1), _flat(weights, 1)
        count = min(self.sparse_count, sequences.longest)
        places = jnp.arange(sequences.longest, dtype=np.int32)

        def one(q: Array, w: Array, owner: Array, place: Array, used: Array) -> Any:
            own = jnp.take(k, sequences.rows_of(owner, places), 0, mode="clip")
            scores = jnp.einsum("gd,td->gt", q, own, preferred_element_type=np.float32)
            total = jnp.sum(jax.nn.relu(scores) * w.astype(np.float32)[:, None], 0)
            seen = sequences.sees(owner, place, places, self.sparse_mode == 3) & used
            values, found = jax.lax.top_k(jnp.where(seen, total, np.float32(-np.inf)), count)
            real = jnp.isfinite(values)
            found = jnp.where(real, found.astype(np.int32), np.int32(-1))
            return found, jnp.where(real, values, np.float32(0))

        found, values = by_rows(one, q, w, sequences.owner, sequences.place, sequences.used)
        more = ((0, 0), (0, self.sparse_count - count))
        found = jnp.pad(found, more, constant_values=-1)
        shape = (*query.shape[:-2], 1, self.sparse_count)
        values = jnp.pad(values, more).astype(query.dtype)
        return found.reshape(shape), values.reshape(shape)


def lightning_indexer(
    query: Any,
    key: Any,
    weights: Any,
    *,
    actual_seq_lengths_query: Any = None,
    actual_seq_lengths_key: Any = None,
    block_table: Any = None,
    layout_query: str = "BSND",
    layout_key: str = "BSND",
    sparse_count: int = 2048,
    sparse_mode: int = 3,
    pre_tokens: int = _FOREVER,
    next_tokens: int = _FOREVER,
    return_value: bool = False,
) -> tuple[Any, Any]:
    """Choose the keys that score highest for each query (MindSpore: ``ops.lightning_indexer``).

    A key's score is the sum over the heads of their weight times the positive part of the product.

    Args:
        query: (B, S1, N, D) or (T1, N, D), float.
        key: (B, S2, 1, D), (T2, 1, D) or (blocks, block_size, 1, D).
        weights: (B, S1, N) or (T1, N), of the heads.
        actual_seq_lengths_query: (B,), number of valid queries, in TND where sequences end.
        actual_seq_lengths_key: (B,), number of valid keys, in TND where sequences end.
        block_table: (B, blocks), where a sequence's blocks of keys are.
        layout_query: ``"BSND"`` or ``"TND"``.
        layout_key: ``"BSND"``, ``"TND"`` or ``"PA_BSND"``.
        sparse_count: how many keys are chosen.
        sparse_mode: 0 all keys, 3 those before, counted from the lower right corner.
        pre_tokens: 2**63 - 1.
        next_tokens: 2**63 - 1.
        return_value: whether the scores are given; zeros otherwise.

    Returns:
        Places of the keys in their sequences, int32 (B, S1, 1, count) or (T1, 1, count), highest
        first, -1 where there are no more; and their scores.

    Raises:
        TypeError: the dtypes differ.
        ValueError: ``sparse_count`` is not above 0.
        RuntimeError: layouts, mode, lengths or shapes do not fit.
    """
    _check_layouts("lightning_indexer", layout_query, layout_key)
    _check_mode("lightning_indexer", sparse_mode, pre_tokens, next_tokens)
    count = checks.positive_int("sparse_count", sparse_count, "lightning_indexer")
    checks.boolean("return_value", return_value, "lightning_indexer")
    operator = _LightningIndexer((layout_query, layout_key), count, sparse_mode)
    found, values = operator(
        query, key, weights, actual_seq_lengths_query, actual_seq_lengths_key, block_table
    )
    return found, values if return_value else values * 0


class _SparseFlashAttention(Primitive, register=False):
    """Attention over chosen keys."""

    scale: float
    layouts: tuple[str, str]
    sparse_block_size: int
    sparse_mode: int

    def compute(
        self,
        query: Array,
        key: Array,
        value: Array,
        chosen: Array,
        table: Array | None,
        lengths: Array | None,
        own_lengths: Array | None,
        query_rope: Array | None,
        key_rope: Array | None,
    ) -> tuple[Array, Array, Array]:
        name = "sparse_flash_attention"
        checks.floating("query", query.dtype, name)
        checks.same_dtype(name, query=query.dtype, key=key.dtype, value=value.dtype)
        heads, own_heads = query.shape[-2], key.shape[-2]
        if heads % own_heads or key.shape[:-1] != value.shape[:-1]:
            raise located(
                RuntimeError,
                f"For '{name}', the heads of 'query' must be a multiple of those of 'key', and "
                f"'value' like 'key', but got {query.shape}, {key.shape} and {value.shape}.",
            )
        if chosen.shape[:-2] != query.shape[:-2] or chosen.shape[-2] != own_heads:
            raise located(
                RuntimeError,
                f"For '{name}', 'sparse_indices' must have a row for each query and head of keys, "
                f"but got {chosen.shape}.",
            )
        sequences = _Sequences(name, query, key, self.layouts, (lengths, own_lengths), table)
        if query_rope is not None and key_rope is not None:
            query = jnp.concatenate([query, query_rope], -1)
            key = jnp.concatenate([key, key_rope], -1)
        q = _flat(query, 2).reshape(-1, own_heads, heads // own_heads, query.shape[-1])
        k, v, picks = _flat(key, 2), _flat(value, 2), _flat(chosen, 2).astype(np.int32)
        size = np.int32(self.sparse_block_size)
        within = jnp.arange(self.sparse_block_size, dtype=np.int32)

        def one(q: Array, picks: Array, owner: Array, place: Array, used: Array) -> Any:
            blocks = picks[..., None] * size + within
            places = jnp.where(picks[..., None] < 0, np.int32(-1), blocks)
            places = places.reshape(own_heads, -1)
            rows = sequences.rows_of(owner, places)
            head = jnp.arange(own_heads)[:, None]
            seen = sequences.sees(owner, place, places, self.sparse_mode == 3) & used
            rows = jnp.clip(rows, 0, k.shape[0] - 1)
            return attend_one(q, k[rows, head], v[rows, head], seen, self.scale)

        out, top, total = by_rows(one, q, picks, sequences.owner, sequences.place, sequences.used)
        out = out.reshape(*query.shape[:-1], value.shape[-1])
        statistics = []
        for x in (top, total):
            x = x.astype(np.float32).reshape(*query.shape[:-2], own_heads, heads // own_heads)
            statistics.append(jnp.moveaxis(x, -2, 1 if query.ndim == 4 else 0))
        return out, statistics[0], statistics[1]


def sparse_flash_attention(
    query: Any,
    key: Any,
    value: Any,
    sparse_indices: Any,
    scale_value: float,
    *,
    block_table: Any = None,
    actual_seq_lengths_query: Any = None,
    actual_seq_lengths_kv: Any = None,
    query_rope: Any = None,
    key_rope: Any = None,
    sparse_block_size: int = 1,
    layout_query: str = "BSND",
    layout_kv: str = "BSND",
    sparse_mode: int = 3,
    pre_tokens: int = _FOREVER,
    next_tokens: int = _FOREVER,
    attention_mode: int = 0,
    return_softmax_lse: bool = False,
) -> tuple[Any, Any, Any]:
    """Attend to chosen keys (MindSpore: ``ops.sparse_flash_attention``).

    Args:
        query: (B, S1, N, D) or (T1, N, D), float.
        key: (B, S2, M, D), (T2, M, D) or (blocks, block_size, M, D).
        value: like ``key``.
        sparse_indices: int32 (B, S1, M, K) or (T1, M, K), numbers of blocks of keys; -1 for none.
        scale_value: factor of the scores.
        block_table: (B, blocks), where a sequence's blocks of the cache are.
        actual_seq_lengths_query: (B,), number of valid queries, in TND where sequences end.
        actual_seq_lengths_kv: (B,), number of valid keys, in TND where sequences end.
        query_rope: more channels of ``query``, in mode 2.
        key_rope: more channels of ``key``, in mode 2.
        sparse_block_size: keys of a block, a power of 2 up to 128.
        layout_query: ``"BSND"`` or ``"TND"``.
        layout_kv: ``"BSND"``, ``"TND"`` or ``"PA_BSND"``.
        sparse_mode: 0 all chosen keys, 3 those before, counted from the lower right corner.
        pre_tokens: 2**63 - 1.
        next_tokens: 2**63 - 1.
        attention_mode: 2 with ``query_rope`` and ``key_rope``, 0 without.
        return_softmax_lse: whether the rows' statistics are given.

    Returns:
        Tensor like ``query``; greatest scores and sums of exponentials, float32 (B, M, S1, N / M)
        or (M, T1, N / M), or Tensors without elements.

    Raises:
        TypeError: dtypes or types are wrong.
        RuntimeError: layouts, modes, lengths or shapes do not fit.
    """
    name = "sparse_flash_attention"
    _check_layouts(name, layout_query, layout_kv)
    _check_mode(name, sparse_mode, pre_tokens, next_tokens)
    checks.of_type("scale_value", scale_value, float, name)
    checks.boolean("return_softmax_lse", return_softmax_lse, name)
    roped = query_rope is not None and key_rope is not None
    if attention_mode not in (0, 2) or (attention_mode == 2) != roped:
        raise located(
            RuntimeError,
            f"For '{name}', the 'attention_mode' must be 2 with 'query_rope' and 'key_rope', 0 "
            f"without, but got {attention_mode}.",
        )
    size = checks.integer("sparse_block_size", sparse_block_size, name)
    if not 1 <= size <= 128 or size & (size - 1):
        raise located(
            RuntimeError,
            f"For '{name}', the 'sparse_block_size' must be a power of 2 in [1, 128], but got "
            f"{size}.",
        )
    operator = _SparseFlashAttention(scale_value, (layout_query, layout_kv), size, sparse_mode)
    out, top, total = operator(
        query,
        key,
        value,
        sparse_indices,
        block_table,
        actual_seq_lengths_query,
        actual_seq_lengths_kv,
        query_rope,
        key_rope,
    )
    if return_softmax_lse:
        return out, top, total
    return out, top.reshape(-1)[:0], total.reshape(-1)[:0]
