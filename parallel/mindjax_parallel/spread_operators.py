"""Operators that compute in another way over several devices, as their attributes say."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.parallel_context import ParallelMode
from mindjax.core.primitive import Primitive
from mindjax.ops.fused.attention import check_mask, four_axes, merge_heads, split_heads
from mindjax.ops.fused.flash import FlashAttentionScore
from mindjax_parallel.experts import SpreadMixture, spread_mixture
from mindjax_parallel.mesh import Axes, Placement
from mindjax_parallel.ring_attention import attention_in_ring
from mindjax_parallel.ring_layout import Ring, check_ring
from mindjax_parallel.rules import EXCHANGE_ATTRIBUTE, RING_ATTRIBUTES
from mindjax_parallel.ulysses_attention import Exchange, attention_by_heads

Array = jax.Array
# How many copies of a row's statistics the original gives.
_COPIES = 8
# Where the batch, the sequence and the heads stand; the original has no other layouts in a ring.
_PLACES = {"BSH": (0, 1, 2), "BNSD": (0, 2, 1)}
_NOTES = (
    *RING_ATTRIBUTES,
    EXCHANGE_ATTRIBUTE,
    "enable_ra_send_recv",
    "enable_ra_context_parallel",
)


class RingFlashAttention(Primitive, register=False):
    """`FlashAttentionScore` in a ring of devices.

    Attributes:
        operator: the operator that it stands for.
        mesh: the devices.
        sequence: axes that cut the sequence.
        batch: axes that cut the batch.
        heads: axes that cut the heads of queries.
        key_heads: axes that cut the heads of keys.
        balanced: whether halves are exchanged so that all devices have as much to do.
        staged: whether these are the devices of one pipeline stage.
    """

    operator: FlashAttentionScore
    mesh: Mesh
    sequence: Axes
    batch: Axes
    heads: Axes
    key_heads: Axes
    balanced: bool
    staged: bool = False

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.operator.name

    def compute(
        self,
        query: Array,
        key: Array,
        value: Array,
        real_shift: Array | None,
        drop_mask: Array | None,
        attn_mask: Array | None,
        prefix: Array | None,
        ends_q: Array | None,
        ends_k: Array | None,
    ) -> tuple[Array, Array, Array, Array]:
        """Attend, by the mask if there is one, else to what is before a query."""
        del drop_mask, prefix, ends_k
        owner, record = self.name, self.operator
        q, k, v, mask = _in_heads(record, query, key, value, real_shift, attn_mask)
        ids = None
        if mask is None and ends_q is not None:
            places = jnp.arange(q.shape[0] * q.shape[1], dtype=np.int32)
            ids = jnp.searchsorted(ends_q.astype(np.int32), places, side="right")
            ids = ids.astype(np.int32).reshape(q.shape[:2])
        order = "balanced" if self.balanced else "contiguous"
        lies = (self.sequence, self.batch, self.heads, self.key_heads)
        ring = Ring(self.mesh, *lies, record.scale_value, mask is None, order, self.staged)
        check_ring(ring, q, k, v, mask, ids, owner, RuntimeError)
        return _outputs(record, query, *attention_in_ring(ring, q, k, v, mask, ids))


class UlyssesFlashAttention(Primitive, register=False):
    """`FlashAttentionScore` whose devices exchange parts of the sequence for heads.

    Attributes:
        operator: the operator that it stands for.
        mesh: the devices.
        sequence: axes that cut the sequence.
        batch: axes that cut the batch.
        heads: axes that cut the heads besides.
        staged: whether these are the devices of one pipeline stage.
    """

    operator: FlashAttentionScore
    mesh: Mesh
    sequence: Axes
    batch: Axes
    heads: Axes
    staged: bool = False

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.operator.name

    def compute(
        self,
        query: Array,
        key: Array,
        value: Array,
        real_shift: Array | None,
        drop_mask: Array | None,
        attn_mask: Array | None,
        prefix: Array | None,
        ends_q: Array | None,
        ends_k: Array | None,
    ) -> tuple[Array, Array, Array, Array]:
        """Attend as the operator does."""
        del drop_mask, prefix, ends_q, ends_k
        record = self.operator
        causal = record.sparse_mode == 2
        shown = None if causal else attn_mask
        q, k, v, mask = _in_heads(record, query, key, value, real_shift, shown)
        lies = Exchange(
            self.mesh,
            self.sequence,
            self.batch,
            self.heads,
            record.scale_value,
            causal,
            self.staged,
        )
        found = attention_by_heads(lies, q, k, v, mask, None, self.name, RuntimeError)
        return _outputs(record, query, *found)


def _in_heads(
    record: FlashAttentionScore,
    query: Array,
    key: Array,
    value: Array,
    real_shift: Array | None,
    attn_mask: Array | None,
) -> tuple[Array, Array, Array, Array | None]:
    """Bring the operator's inputs to (B, S, N, D), and its mask to four axes."""
    owner, layout, heads = record.name, record.input_layout, record.head_num
    checks.floating("query", query.dtype, owner)
    if real_shift is not None:
        raise located(
            NotImplementedError,
            f"For '{owner}', a 'real_shift' where keys are cut along the sequence is not "
            "supported: leave it out, or cut heads in place of the sequence.",
        )
    q = split_heads(query, layout, heads, owner, "query")
    own = key.shape[-1] // q.shape[3] if layout == "BSH" else 0
    k, v = (
        split_heads(x, layout, own, owner, name) for x, name in ((key, "key"), (value, "value"))
    )
    length = max(q.shape[1], k.shape[1])
    if record.sparse_mode == 0 and min(record.pre_tokens, record.next_tokens) < length:
        raise located(
            NotImplementedError,
            f"For '{owner}', a band of 'pre_tokens' {record.pre_tokens} and 'next_tokens' "
            f"{record.next_tokens} where keys are cut along the sequence is not supported: give it "
            "as 'attn_mask'.",
        )
    if attn_mask is None:
        return q, k, v, None
    sizes = (q.shape[0], heads, q.shape[1], k.shape[1])
    return q, k, v, four_axes(check_mask(attn_mask, owner), owner, sizes)


def _outputs(
    record: FlashAttentionScore, query: Array, out: Array, peak: Array, total: Array
) -> tuple[Array, Array, Array, Array]:
    """Give what the operator gives."""
    rows = [
        jnp.broadcast_to(lax.stop_gradient(x).astype(np.float32)[..., None], (*x.shape, _COPIES))
        for x in (peak, total)
    ]
    reserved = jnp.zeros((1,), query.dtype)
    return rows[0], rows[1], reserved, merge_heads(out, record.input_layout)


def _attention(
    record: Any, arrays: Sequence[Any], placements: Sequence[Placement], mesh: Mesh, mode: str
) -> Primitive:
    """Give attention in a ring, or by heads, where attributes say so and the sequence is cut."""
    owner, notes = record.name, {n: record.attrs[n] for n in _NOTES if n in record.attrs}

    def wrong(why: str) -> RuntimeError:
        return located(RuntimeError, f"For '{owner}', {why}.")

    for name, value in notes.items():
        if not isinstance(value, bool):
            raise wrong(
                f"the type of primitive attribute '{name}' should be bool, but got {value!r}"
            )
    on = [name for name, value in notes.items() if value]
    how = next((name for name in (*RING_ATTRIBUTES, EXCHANGE_ATTRIBUTE) if name in on), None)
    balanced = "enable_ra_context_parallel" in on
    if balanced and how != "enable_ring_attention":
        raise wrong("'enable_ra_context_parallel' needs 'enable_ring_attention'")
    if how is None:
        return record
    ring = how != EXCHANGE_ATTRIBUTE
    if ring and EXCHANGE_ATTRIBUTE in on:
        raise wrong(f"'{how}' and '{EXCHANGE_ATTRIBUTE}' exclude each other")
    if mode != ParallelMode.SEMI_AUTO_PARALLEL:
        raise wrong(f"'{how}' only supports semi parallel mode, but got '{mode}'")
    places = _PLACES.get(record.input_layout)
    if places is None:
        raise wrong(
            f"'{how}' only supports the layouts BSH and BNSD, but got '{record.input_layout}'"
        )
    modes = (0,) if ring else (0, 1, 2)
    if record.sparse_mode not in modes:
        raise wrong(f"'{how}' only supports sparse_mode {modes}, but got {record.sparse_mode}")
    if record.keep_prob != 1.0:
        raise wrong(f"'{how}' only supports keep_prob 1.0, but got {record.keep_prob}")
    masked = arrays[5] is not None
    if masked and balanced:
        raise wrong(
            "'enable_ra_context_parallel' balances causal attention, and takes no 'attn_mask': "
            "leave one of them out"
        )
    batch, sequence, heads = (placements[0].dimensions[i] for i in places)
    if not sequence:
        return record
    keys = [placements[1].dimensions[i] for i in places]
    if placements[2] != placements[1] or keys[:2] != [batch, sequence]:
        raise wrong(
            f"'{how}' needs query, key and value that are cut alike along batch and sequence, but "
            f"got {[p.parts(mesh) for p in placements[:3]]}"
        )
    if heads[: len(keys[2])] != keys[2] or (not ring and heads != keys[2]):
        raise wrong(
            f"the heads of query and key are cut along other devices, {heads} and {keys[2]}"
        )
    if not ring:
        return UlyssesFlashAttention(record, mesh, sequence, batch, heads)
    # The original's other way sends queries, to be balanced too.
    balanced = balanced or (how == "enable_flash_sp" and not masked)
    return RingFlashAttention(record, mesh, sequence, batch, heads, keys[2], balanced)


def staged(made: Any) -> Primitive:
    """Give the operator that the devices of one pipeline stage compute together.

    Args:
        made: the operator over all devices.
    """
    if isinstance(made, SpreadMixture | RingFlashAttention | UlyssesFlashAttention):
        return dataclasses.replace(made, staged=True)
    return made


Maker = Callable[[Any, Sequence[Any], Sequence[Placement], Mesh, str], Primitive]
SPREAD: dict[str, Maker] = {
    "FlashAttentionScore": _attention,
    "MixtureOfExperts": spread_mixture,
}
"""What makes the operator that computes in an operator's place, by its name."""
