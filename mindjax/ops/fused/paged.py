"""Caches of keys and values: writing them, and attention over their blocks."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.fused.attention import Terms, attend, beyond, joined
from mindjax.ops.fused.inference import dequantized
from mindjax.ops.state import write

Array = jax.Array


class _CacheWrite(Primitive, register=False):
    """Tokens written into the slots of a cache; a negative slot is passed over."""

    def compute(self, cache: Array, tokens: Array, slots: Array) -> Array:
        if cache.ndim < 3:
            raise located(
                RuntimeError,
                f"For 'ReshapeAndCache', a cache must be (blocks, block_size, ...), but got "
                f"{cache.shape}.",
            )
        rows = cache.reshape(cache.shape[0] * cache.shape[1], -1)
        count = slots.size
        if tokens.size != count * rows.shape[1]:
            raise located(
                RuntimeError,
                "For 'ReshapeAndCache', the num_tokens of slot mapping and key must be the same, "
                f"but got {count} slots, tokens {tokens.shape} and a cache {cache.shape}.",
            )
        where = slots.reshape(-1).astype(np.int32)
        # A number that no slot has: such a write is dropped.
        where = jnp.where(where < 0, np.int32(rows.shape[0]), where)
        fresh = rows.at[where].set(tokens.reshape(count, -1).astype(cache.dtype), mode="drop")
        return fresh.reshape(cache.shape)


class ReshapeAndCache(Primitive):
    """Keys and values of new tokens written into a cache (``ops.ReshapeAndCache``).

    Call: as `reshape_and_cache`.
    """

    effect: ClassVar[bool] = True

    def __call__(
        self,
        key: Any,
        value: Any = None,
        key_cache: Any = None,
        value_cache: Any = None,
        slot_mapping: Any = None,
    ) -> Any:
        """Write, and give ``key``.

        Raises:
            TypeError: a cache is no Tensor, or a Tensor is missing.
        """
        pairs = [(key, key_cache, "key_cache")]
        if value is not None:
            pairs.append((value, value_cache, "value_cache"))
        for tokens, cache, name in pairs:
            if not isinstance(cache, Handle) or slot_mapping is None:
                raise located(
                    TypeError,
                    f"For '{self.name}', the '{name}' and 'slot_mapping' must be Tensors, but got "
                    f"{type(cache).__name__} and {type(slot_mapping).__name__}.",
                )
            write(cache, _CacheWrite()(cache, tokens, slot_mapping))
        return key


def reshape_and_cache(
    key: Any,
    value: Any = None,
    key_cache: Any = None,
    value_cache: Any = None,
    slot_mapping: Any = None,
) -> Any:
    """Write keys and values of new tokens into a cache (MindSpore: ``ops.reshape_and_cache``).

    Args:
        key: (tokens, N, D) or (..., N * D).
        value: like ``key``, or None.
        key_cache: (blocks, block_size, N, D), which is changed.
        value_cache: like ``key_cache``.
        slot_mapping: (tokens,), number of each token's slot, counted over the blocks; -1 for none.

    Returns:
        ``key``.

    Raises:
        TypeError: a cache is no Tensor.
        RuntimeError: there are not as many slots as tokens.
    """
    return ReshapeAndCache()(key, value, key_cache, value_cache, slot_mapping)


class KVCacheScatterUpdate(BoundPrimitive):
    """Rows of a cache (B, N, S, D) replaced at a place of its own for each of the batch.

    Call: ``KVCacheScatterUpdate()(var, indices, updates, axis, reduce)``.
    """

    arrays: ClassVar[int] = 3
    statics: ClassVar[tuple[str, ...]] = ("axis", "reduce")
    axis: int = field(default=-2, kw_only=True)
    reduce: str = field(default="none", kw_only=True)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check axis and mode."""
        axis = checks.integer("axis", statics.get("axis", -2), self.name)
        if axis not in (-1, -2, 2, 3):
            raise located(
                ValueError, f"For '{self.name}', the 'axis' must be -1 or -2, but got {axis}."
            )
        if "reduce" in statics:
            checks.one_of("reduce", statics["reduce"], ("none", "update"), self.name)
        return statics

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Replace, in the cache itself too."""
        fresh = super().__call__(*inputs, **named)
        if isinstance(inputs[0], Handle):
            return write(inputs[0], fresh)
        return fresh

    def compute(self, var: Array, indices: Array, updates: Array) -> Array:
        """Lay the updates over the cache, one place for each of the batch."""
        fits = var.ndim == updates.ndim == 4 and indices.shape == var.shape[:1]
        axis = self.axis % 4
        if not fits or any(
            updates.shape[i] != var.shape[i] for i in range(4) if i not in (0, axis)
        ):
            raise located(
                ValueError,
                f"For '{self.name}', 'var' and 'updates' must be 4-D and alike but along axis "
                f"{axis}, with one index for each of the batch, but got {var.shape}, "
                f"{updates.shape} and {indices.shape}.",
            )

        def one(cache: Array, place: Array, rows: Array) -> Array:
            start = [jnp.zeros((), np.int32)] * 3
            start[axis - 1] = place.astype(np.int32)
            return jax.lax.dynamic_update_slice(cache, rows.astype(cache.dtype), start)

        return jax.vmap(one)(var, indices, updates)


def kv_cache_scatter_update(
    var: Any, indices: Any, updates: Any, axis: int, reduce: str = "none"
) -> Any:
    """Replace rows of a cache (MindSpore: ``ops.kv_cache_scatter_update``).

    Args:
        var: (B, N, S, D) or (B, N, D, S), which is changed.
        indices: (B,), the first place of each.
        updates: like ``var``, shorter along ``axis``.
        axis: -1 or -2.
        reduce: ``"none"`` or ``"update"``, which mean the same.

    Returns:
        ``var``.

    Raises:
        ValueError: axis, mode or shapes do not fit.
    """
    return KVCacheScatterUpdate()(var, indices, updates, axis, reduce)


class _Paged(Primitive, register=False):
    """Attention of tokens over a cache in blocks; fields as those of `PagedAttention`."""

    head_num: int
    scale_value: float
    kv_head_num: int
    kv_cache_quant_mode: str = "DEFAULT"

    def __post_init__(self) -> None:
        checks.positive_int("head_num", self.head_num, self.name)
        checks.positive_int("kv_head_num", self.kv_head_num, self.name)
        if self.head_num % self.kv_head_num:
            raise located(
                ValueError,
                f"For '{self.name}', the 'head_num' must be a multiple of 'kv_head_num', but got "
                f"{self.head_num} and {self.kv_head_num}.",
            )
        if self.kv_cache_quant_mode == "PERTOKEN":
            raise located(
                NotImplementedError,
                f"For '{self.name}', the 'kv_cache_quant_mode' PERTOKEN is not supported yet: use "
                "DEFAULT, scales of channels.",
            )
        checks.one_of("kv_cache_quant_mode", self.kv_cache_quant_mode, ("DEFAULT",), self.name)
        mask_mode, size = self._options()
        modes = ("MASK_DEFAULT", "MASK_NONE", "TRAPEZOIDAL")
        checks.one_of("mask_mode", mask_mode, modes, self.name)
        checks.non_negative_int("mla_v_dim", size, self.name)

    def _options(self) -> tuple[str, int]:
        """Give the mode of masks, and the channels of keys that are values."""
        return "MASK_DEFAULT", 0

    def compute(
        self,
        query: Array,
        key_cache: Array,
        value_cache: Array | None,
        tables: Array,
        lengths: Array,
        scale: Array | None,
        offset: Array | None,
        mask: Array | None,
        counts: Array | None,
        alibi: Array | None,
    ) -> Array:
        """Attend, each token over the blocks of its sequence."""
        checks.floating("query", query.dtype, self.name)
        key_cache, value_cache = self._caches(key_cache, value_cache)
        size = key_cache.shape[3]
        if query.size % (self.head_num * size):
            raise located(
                ValueError,
                f"For '{self.name}', the 'query' must hold {self.head_num} heads of size {size} a "
                f"token, but got shape {query.shape}.",
            )
        q = query.reshape(-1, 1, self.head_num, size)
        tokens, batch = q.shape[0], tables.shape[0]
        lengths = lengths.reshape(-1).astype(np.int32)
        if lengths.shape[0] != batch or (counts is None and tokens != batch):
            raise located(
                ValueError,
                f"For '{self.name}', 'block_tables' and 'context_lens' must have a row for each "
                f"sequence, one token each without 'q_seq_lens', but got {tables.shape}, "
                f"{lengths.shape} and {tokens} tokens.",
            )
        seen = lengths
        if counts is not None:
            ends = jnp.cumsum(counts.reshape(-1).astype(np.int32), dtype=np.int32)
            place = jnp.arange(tokens, dtype=np.int32)
            owner = jnp.searchsorted(ends, place, side="right").astype(np.int32)
            owner = jnp.minimum(owner, np.int32(batch - 1))
            tables, lengths = tables[owner], lengths[owner]
            seen = lengths
            if self._options()[0] == "TRAPEZOIDAL":
                # A sequence's last token sees all of it, the one before it one less.
                seen = lengths - (ends[owner] - 1 - place)
        k, v = (self._sequences(c, tables) for c in (key_cache, value_cache))
        if scale is not None:
            pair = [(scale[i], None if offset is None else offset[i]) for i in (0, 1)]
            k = dequantized(k, pair[0][0], pair[0][1], q.dtype, self.name)
            v = dequantized(v, pair[1][0], pair[1][1], q.dtype, self.name)
        keys = k.shape[1]
        bias = self._bias(None if self._options()[0] == "MASK_NONE" else mask, alibi, tokens, keys)
        hidden = joined(beyond(keys, 0, seen))
        terms = Terms(None if bias is None else lambda rows: bias, hidden)
        out, _, _ = attend(q, k, v, self.scale_value, terms)
        if v.shape[3] == size:
            return out.reshape(query.shape)
        per_token = out.reshape(tokens, self.head_num, v.shape[3])
        if query.ndim == 3 and query.shape[-1] == size:
            return per_token
        return per_token.reshape(*query.shape[:-1], self.head_num * v.shape[3])

    def _caches(self, key: Array, value: Array | None) -> tuple[Array, Array]:
        if key.ndim == 3:
            key = key.reshape(*key.shape[:2], self.kv_head_num, -1)
        size = self._options()[1]
        if size:
            return key, key[..., :size]
        if value is None or key.ndim != 4 or key.shape[2] != self.kv_head_num:
            raise located(
                ValueError,
                f"For '{self.name}', the caches must be (blocks, block_size, {self.kv_head_num}, "
                f"D), but got {key.shape} and {None if value is None else value.shape}.",
            )
        return key, value.reshape(*key.shape[:3], -1)

    def _sequences(self, cache: Array, tables: Array) -> Array:
        rows = jnp.take(cache, jnp.maximum(tables, 0), 0, mode="clip")
        return rows.reshape(tables.shape[0], -1, *cache.shape[2:])

    def _bias(
        self, mask: Array | None, alibi: Array | None, tokens: int, keys: int
    ) -> Array | None:
        total = None
        for name, x in (("attn_mask", mask), ("alibi_mask", alibi)):
            if x is None:
                continue
            rows = x.reshape(tokens, -1, x.shape[-1]) if x.size % max(tokens, 1) == 0 else x
            if rows.shape[0] != tokens or rows.shape[1] not in (1, self.head_num):
                raise located(
                    ValueError,
                    f"For '{self.name}', the '{name}' must have a row for each of {tokens} tokens, "
                    f"or {self.head_num} for the heads, but got {x.shape}.",
                )
            width = min(keys, rows.shape[2])
            rows = jnp.pad(
                rows[..., :width].astype(np.float32), ((0, 0), (0, 0), (0, keys - width))
            )[:, :, None]
            total = rows if total is None else total + rows
        return total


class PagedAttention(_Paged):
    """Attention of new tokens over a cache in blocks (MindSpore: ``ops.PagedAttention``).

    Call: ``(query, key_cache, value_cache, block_tables, context_lens, antiquant_scale,
    antiquant_offset, attn_mask, q_seq_lens, alibi_mask)``.

    Args:
        head_num: heads of the query.
        scale_value: factor of the scores.
        kv_head_num: heads of the cache.
        kv_cache_quant_mode: ``"DEFAULT"``: int8 caches have one scale for each channel.
        mask_mode: ``"MASK_DEFAULT"`` adds ``attn_mask``, ``"MASK_NONE"`` nothing,
            ``"TRAPEZOIDAL"`` hides what comes after a token.
        mla_v_dim: above 0 the values are so many first channels of the keys.
    """

    mask_mode: str = "MASK_DEFAULT"
    mla_v_dim: int = 0

    def _options(self) -> tuple[str, int]:
        return self.mask_mode, self.mla_v_dim

    def __call__(
        self,
        query: Any,
        key_cache: Any,
        value_cache: Any = None,
        block_tables: Any = None,
        context_lens: Any = None,
        antiquant_scale: Any = None,
        antiquant_offset: Any = None,
        attn_mask: Any = None,
        q_seq_lens: Any = None,
        alibi_mask: Any = None,
    ) -> Any:
        """Attend; gives a Tensor like ``query``.

        Raises:
            ValueError: tables or lengths are missing.
        """
        if block_tables is None or context_lens is None:
            raise located(
                ValueError, f"For '{self.name}', 'block_tables' and 'context_lens' are needed."
            )
        return Primitive.__call__(
            self,
            query,
            key_cache,
            value_cache,
            block_tables,
            context_lens,
            antiquant_scale,
            antiquant_offset,
            attn_mask,
            q_seq_lens,
            alibi_mask,
        )


class PagedAttentionMask(_Paged):
    """Attention over a cache in blocks with numbers added to the scores.

    Call: ``(query, key_cache, value_cache, block_tables, context_lens, antiquant_scale,
    antiquant_offset, alibi_mask)``; fields as the first four of `PagedAttention`.
    """

    def __call__(
        self,
        query: Any,
        key_cache: Any,
        value_cache: Any,
        block_tables: Any,
        context_lens: Any,
        antiquant_scale: Any = None,
        antiquant_offset: Any = None,
        alibi_mask: Any = None,
    ) -> Any:
        """Attend; gives a Tensor like ``query``."""
        return Primitive.__call__(
            self,
            query,
            key_cache,
            value_cache,
            block_tables,
            context_lens,
            antiquant_scale,
            antiquant_offset,
            None,
            None,
            alibi_mask,
        )
