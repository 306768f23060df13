"""Attention for training, FlashAttentionScore, and what its relatives share with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.fused.attention import (
    LAYOUTS,
    UNBOUNDED,
    Terms,
    attend,
    check_band,
    check_heads,
    check_mask,
    joined,
    merge_heads,
    of_rows,
    sparse_terms,
    split_heads,
)

Array = jax.Array
# How many copies of a row's statistics the original gives.
_COPIES = 8


def lengths_array(value: Any) -> Any:
    """Give lengths, a tuple or list of ints or a Tensor, as an array of int32."""
    if isinstance(value, tuple | list):
        return np.asarray(checks.integers("lengths", value, "attention"), np.int32)
    return value


def check_options(
    owner: str, layout: Any, keep_prob: Any, scale: Any, heads: Any, sparse_mode: Any
) -> None:
    """Check static arguments that the attention operators share.

    Raises:
        TypeError: one is of another type.
        ValueError: the layout is unknown.
        RuntimeError: a number is out of range.
    """
    checks.of_type("input_layout", layout, str, owner)
    checks.one_of("input_layout", layout, LAYOUTS, owner)
    checks.of_type("keep_prob", keep_prob, float, owner)
    checks.of_type("scale_value", scale, float, owner)
    checks.of_type("sparse_mode", sparse_mode, int, owner)
    if checks.integer("head_num", heads, owner) <= 0:
        raise located(
            RuntimeError, f"For '{owner}', the 'head_num' must be greater than 0, but got {heads}."
        )
    if not 0 < keep_prob <= 1:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'keep_prob' must be a floating point number in (0, 1], but got "
            f"{keep_prob}.",
        )


def unpacked(mask: Array, sizes: tuple[int, int, int, int], owner: str) -> Callable[..., Array]:
    """Read a dropout mask of bits, 8 keys a byte, the lowest bit first.

    Raises:
        RuntimeError: it has another shape.
    """
    b, n, queries, keys = sizes
    if mask.dtype != np.uint8 or mask.shape != (b, n, queries, keys // 8) or keys % 8:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'drop_mask' must be uint8 of shape (B, N1, S1, S2 // 8) = "
            f"{(b, n, queries, keys // 8)}, S2 a multiple of 8, but got {mask.dtype} {mask.shape}.",
        )

    def kept(rows: Array) -> Array:
        bits = of_rows(mask, rows)[..., None] >> jnp.arange(8, dtype=np.uint8)
        bits = (bits & np.uint8(1)).astype(np.bool_)
        return bits.reshape(*bits.shape[:3], keys)

    return kept


def shift_bias(pse: Array, sizes: tuple[int, int, int, int], owner: str) -> Callable[..., Array]:
    """Give the rows of a position bias, whole or its last 1024 rows by the rule of ALiBi.

    Raises:
        RuntimeError: it has another shape.
    """
    b, n, queries, keys = sizes
    whole = pse.shape[-2:] == (queries, keys)
    short = pse.shape[-2:] == (1024, keys) and queries > 1024
    if pse.ndim != 4 or pse.shape[0] not in (1, b) or pse.shape[1] != n or not (whole or short):
        raise located(
            RuntimeError,
            f"For '{owner}', the shape of 'real_shift' must be (B, N1, S1, S2) or (1, N1, S1, S2), "
            f"or with 1024 for S1 beyond that, (B, N1, S1, S2) = {sizes}, but got {pse.shape}.",
        )

    def bias(rows: Array) -> Array:
        if whole:
            return of_rows(pse, rows)
        # The bias depends on the distance alone: a row is one of the last ones, moved.
        first = queries - 1024
        stored = jnp.remainder(rows - np.int32(first), np.int32(1024))
        moved = stored + np.int32(first) - rows
        columns = jnp.arange(keys, dtype=np.int32) + moved[:, None]
        taken = jnp.take(pse, stored, 2, mode="clip")
        where = jnp.clip(columns, 0, keys - 1)[None, None]
        return jnp.take_along_axis(taken, where, 3)

    return bias


def segments(
    ends_q: Array, ends_k: Array, keys: int, mode: int, before: int, after: int
) -> Callable[[Array], Array]:
    """Hide keys of other sequences, and by the mode within one, where sequences stand in a row.

    Args:
        ends_q: (B,), where each sequence of queries ends.
        ends_k: (B,), where each sequence of keys ends.
        keys: number of all keys.
        mode: 0 and 1 whole, 2 and 3 triangles, 4 a band.
        before: keys before its place that a query sees, in mode 4.
        after: keys after it.
    """
    ends_q, ends_k = ends_q.astype(np.int32), ends_k.astype(np.int32)
    zero = jnp.zeros((1,), np.int32)
    starts_q, starts_k = (jnp.concatenate([zero, e[:-1]]) for e in (ends_q, ends_k))
    j = jnp.arange(keys, dtype=np.int32)
    segment_k = jnp.searchsorted(ends_k, j, side="right").astype(np.int32)
    place_k = j - jnp.take(starts_k, segment_k, mode="clip")
    offsets = (ends_k - starts_k) - (ends_q - starts_q)

    def hidden(rows: Array) -> Array:
        segment = jnp.searchsorted(ends_q, rows, side="right").astype(np.int32)
        i = rows - jnp.take(starts_q, segment, mode="clip")
        out = segment[:, None] != segment_k[None]
        delta = place_k[None] - i[:, None]
        offset = jnp.take(offsets, segment, mode="clip")[:, None]
        if mode == 2:
            out = out | (delta > 0)
        elif mode == 3:
            out = out | (delta > offset)
        elif mode == 4:
            out = out | (delta > offset + np.int32(min(after, 2**30)))
            out = out | (delta < offset - np.int32(min(before, 2**30)))
        return out[None, None]

    return hidden


def train(
    owner: str,
    options: dict[str, Any],
    query: Array,
    key: Array,
    value: Array,
    bias: Any,
    kept: Any,
    attn_mask: Array | None,
    prefix: Array | None,
    ends: tuple[Array | None, Array | None],
) -> tuple[Array, Array, Array]:
    """Attend in the layout of the caller.

    Args:
        owner: operator named in errors.
        options: head_num, layout, scale, keep_prob, before, after, sparse_mode, and whether the
            bias is added before scaling.
        query: in the layout.
        key: in the layout.
        value: in the layout.
        bias: function that makes the bias from (B, N1, S1, S2), or None.
        kept: function that makes the dropout mask from these sizes, or None.
        attn_mask: True hides.
        prefix: (B,).
        ends: where sequences end, in the layout TND.

    Returns:
        The result in the layout; the greatest score and the sum of each row, eightfold.
    """
    layout, heads = options["layout"], options["head_num"]
    q = split_heads(query, layout, heads, owner, "query")
    if q.shape[2] != heads:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'head_num' must be the heads of 'query' {q.shape[2]}, but got "
            f"{heads}.",
        )
    size = q.shape[3]
    own = key.shape[-1] // size if layout in ("BSH", "SBH") else 0
    k = split_heads(key, layout, own, owner, "key")
    v = split_heads(value, layout, own, owner, "value")
    check_heads(q, k, v, owner, same_size=False)
    sizes = (q.shape[0], heads, q.shape[1], k.shape[1])
    mode, before, after = options["sparse_mode"], options["before"], options["after"]
    mask = None if attn_mask is None else check_mask(attn_mask, owner)
    if layout == "TND":
        if ends[0] is None or ends[1] is None:
            raise located(
                RuntimeError,
                f"For '{owner}', 'actual_seq_qlen' and 'actual_seq_kvlen' are needed in the layout "
                "TND.",
            )
        if mode > 4 or mode < 0:
            raise located(
                RuntimeError,
                f"For '{owner}', the 'sparse_mode' must be 0 to 4 in the layout TND, but got "
                f"{mode}.",
            )
        inside = segments(ends[0], ends[1], sizes[3], mode, before, after)
        given = None
        if mode < 2 and mask is not None:
            given = sparse_terms(1, mask, before, after, sizes, sizes[2:], owner)
        hidden = joined(inside, given)
    else:
        if mask is not None and mode in (0, 4):
            check_band(before, after, sizes[2], sizes[3], owner)
        hidden = sparse_terms(mode, mask, before, after, sizes, sizes[2:], owner, prefix)
    terms = Terms(
        bias=None if bias is None else bias(sizes),
        hidden=hidden,
        kept=None if kept is None else kept(sizes),
        keep_prob=options["keep_prob"],
        bias_before_scale=options.get("bias_before_scale", False),
    )
    out, peak, total = attend(q, k, v, options["scale"], terms)
    statistics = []
    for x in (peak, total):
        x = jnp.broadcast_to(x.astype(np.float32)[..., None], (*x.shape, _COPIES))
        statistics.append(jnp.swapaxes(x[0], 0, 1) if layout == "TND" else x)
    return merge_heads(out, layout), statistics[0], statistics[1]


class FlashAttentionScore(Primitive):
    """Attention for training (Dao 2022; MindSpore: ``ops.FlashAttentionScore``).

    Call: ``(query, key, value, real_shift, drop_mask, padding_mask, attn_mask, prefix,
    actual_seq_qlen, actual_seq_kvlen)``; gives the rows' greatest scores and sums, a reserved
    Tensor, and the result. Fields: as `flash_attention_score`; ``inner_precise`` tunes the vendor's
    device only.
    """

    head_num: int
    keep_prob: float = 1.0
    scale_value: float = 1.0
    pre_tokens: int = UNBOUNDED
    next_tokens: int = UNBOUNDED
    inner_precise: int = 0
    input_layout: str = "BSH"
    sparse_mode: int = 0

    def __post_init__(self) -> None:
        check_options(
            self.name,
            self.input_layout,
            self.keep_prob,
            self.scale_value,
            self.head_num,
            self.sparse_mode,
        )

    def __call__(
        self,
        query: Any,
        key: Any,
        value: Any,
        real_shift: Any = None,
        drop_mask: Any = None,
        padding_mask: Any = None,
        attn_mask: Any = None,
        prefix: Any = None,
        actual_seq_qlen: Any = None,
        actual_seq_kvlen: Any = None,
    ) -> Any:
        """Attend.

        Raises:
            NotImplementedError: ``padding_mask`` is given.
            ValueError: dropout without a mask, or a mask without dropout.
        """
        if padding_mask is not None:
            raise located(
                NotImplementedError,
                f"For '{self.name}', the 'padding_mask' is reserved: use 'attn_mask'.",
            )
        if (drop_mask is None) != (self.keep_prob == 1):
            raise located(
                ValueError,
                f"For '{self.name}', the 'drop_mask' must be given if and only if 'keep_prob' is "
                f"below 1, but got 'keep_prob' {self.keep_prob}.",
            )
        return self._dispatch(
            query,
            key,
            value,
            real_shift,
            drop_mask,
            attn_mask,
            lengths_array(prefix),
            lengths_array(actual_seq_qlen),
            lengths_array(actual_seq_kvlen),
        )

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
        """Attend in the layout."""
        checks.floating("query", query.dtype, self.name)
        if real_shift is not None and real_shift.dtype != query.dtype:
            raise located(
                TypeError,
                f"For '{self.name}', the 'real_shift' must have the dtype of 'query', but got "
                f"{real_shift.dtype}.",
            )
        options = {
            "head_num": self.head_num,
            "layout": self.input_layout,
            "scale": self.scale_value,
            "keep_prob": self.keep_prob,
            "before": self.pre_tokens,
            "after": self.next_tokens,
            "sparse_mode": self.sparse_mode,
        }
        name = self.name
        out, peak, total = train(
            name,
            options,
            query,
            key,
            value,
            None if real_shift is None else lambda sizes: shift_bias(real_shift, sizes, name),
            None if drop_mask is None else lambda sizes: unpacked(drop_mask, sizes, name),
            attn_mask,
            prefix,
            (ends_q, ends_k),
        )
        return peak, total, jnp.zeros((1,), query.dtype), out


def flash_attention_score(
    query: Any,
    key: Any,
    value: Any,
    head_num: int,
    real_shift: Any = None,
    drop_mask: Any = None,
    padding_mask: Any = None,
    attn_mask: Any = None,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    keep_prob: float = 1.0,
    scalar_value: float = 1.0,
    pre_tokens: int = UNBOUNDED,
    next_tokens: int = UNBOUNDED,
    inner_precise: int = 0,
    input_layout: str = "BSH",
    sparse_mode: int = 0,
) -> Any:
    """Attend, for training (Dao 2022; MindSpore: ``ops.flash_attention_score``).

    Args:
        query: (B, S1, N1 * D), (B, N1, S1, D), (S1, B, N1 * D), (B, S1, N1, D) or (T1, N1, D),
            float.
        key: the same with S2 and N2 heads; N2 divides N1.
        value: like ``key``.
        head_num: N1.
        real_shift: numbers added to the scaled scores, (B, N1, S1, S2) or (1, N1, S1, S2); beyond
            1024 queries the last 1024 rows will do where they depend on the distance alone.
        drop_mask: bits of the weights that dropout keeps, uint8 (B, N1, S1, S2 // 8).
        padding_mask: None.
        attn_mask: bool or uint8, 1 hides: (B, N1, S1, S2), (B, 1, S1, S2) or (S1, S2); in the
            modes 2, 3 and 4 (2048, 2048) or None, since the mode says what it holds.
        prefix: (B,), number of first keys that every query sees, in mode 5.
        actual_seq_qlen: where sequences of queries end, in the layout TND.
        actual_seq_kvlen: where sequences of keys end, in the layout TND.
        keep_prob: probability of a weight to stay, in (0, 1].
        scalar_value: factor of the scores.
        pre_tokens: keys before its place that a query sees, in the modes 0 (with a mask) and 4.
        next_tokens: keys after it.
        inner_precise: tunes the vendor's device only.
        input_layout: ``"BSH"``, ``"BNSD"``, ``"SBH"``, ``"BSND"`` or ``"TND"``.
        sparse_mode: 0 mask and band, 1 mask, 2 and 3 a triangle from the upper left or the lower
            right corner, 4 a band from the lower right corner, 5 a prefix and a triangle.

    Returns:
        Tensor like ``query``; rows that see no key are 0.

    Raises:
        TypeError: a dtype or a type is wrong.
        ValueError: the layout is unknown, or dropout and its mask do not go together.
        RuntimeError: shapes, heads, mode or band do not fit.
        NotImplementedError: ``padding_mask`` is given, or a mode above 5.
    """
    operator = FlashAttentionScore(
        head_num,
        keep_prob,
        scalar_value,
        pre_tokens,
        next_tokens,
        inner_precise,
        input_layout,
        sparse_mode,
    )
    return operator(
        query,
        key,
        value,
        real_shift,
        drop_mask,
        padding_mask,
        attn_mask,
        prefix,
        actual_seq_qlen,
        actual_seq_kvlen,
    )[3]
