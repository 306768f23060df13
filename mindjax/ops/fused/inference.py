"""Attention for inference: PromptFlashAttention, IncreFlashAttention, FusedInferAttentionScore."""

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
    UNBOUNDED,
    Terms,
    attend,
    beyond,
    check_heads,
    check_mask,
    four_axes,
    joined,
    merge_heads,
    of_rows,
    sparse_terms,
    split_heads,
)
from mindjax.ops.fused.flash import lengths_array
from mindjax.ops.fused.quantized import rounded

Array = jax.Array
_QUANT = "quantized inputs of 'query' are not supported yet: use float16 or bfloat16"


def sole(value: Any) -> Any:
    """Give the Tensor of a list of one, as keys and values come."""
    if isinstance(value, tuple | list):
        if len(value) != 1:
            raise located(
                NotImplementedError,
                "For 'incre_flash_attention', 'key' and 'value' as lists of several Tensors are "
                f"not supported yet: give one, but got {len(value)}.",
            )
        return value[0]
    return value


def unused(owner: str, why: str, **arguments: Any) -> None:
    """Refuse arguments that have no meaning or none yet."""
    for name, value in arguments.items():
        if value is not None:
            raise located(NotImplementedError, f"For '{owner}', the '{name}': {why}.")


def check_infer(owner: str, layout: Any, layouts: tuple[str, ...], **numbers: Any) -> None:
    """Check static arguments that the operators of inference share.

    Raises:
        TypeError: one is of another type.
        ValueError: the layout is unknown.
        RuntimeError: the numbers of heads do not fit.
    """
    checks.of_type("input_layout", layout, str, owner)
    checks.one_of("input_layout", layout, layouts, owner)
    checks.of_type("scale_value", numbers.pop("scale_value"), float, owner)
    for name, value in numbers.items():
        checks.of_type(name, value, int, owner)
    if numbers["num_heads"] <= 0 or numbers["num_key_value_heads"] < 0:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'num_heads' must be greater than 0 and the 'num_key_value_heads' "
            f"not less, but got {numbers['num_heads']} and {numbers['num_key_value_heads']}.",
        )
    own = numbers["num_key_value_heads"] or numbers["num_heads"]
    if numbers["num_heads"] % own:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'num_heads' must be divisible by 'num_key_value_heads', but got "
            f"{numbers['num_heads']} and {own}.",
        )


def dequantized(x: Array, scale: Array, offset: Array | None, dtype: Any, owner: str) -> Array:
    """Read keys or values (B, S, N, D) of int8: ``(x + offset) * scale``.

    Args:
        x: int8.
        scale: one number, or (N * D), (N, 1, D), (1, N, 1, D), (N, D).
        offset: like ``scale``, or None.
        dtype: of the result.
        owner: operator named in the error.

    Raises:
        RuntimeError: the scale has another size.
    """
    n, d = x.shape[2:]

    def laid(value: Array) -> Array:
        if value.size == 1:
            return value.reshape(()).astype(np.float32)
        if value.size != n * d:
            raise located(
                RuntimeError,
                f"For '{owner}', a scale must hold 1 or {n} * {d} numbers, but got {value.shape}.",
            )
        return value.reshape(n, d).astype(np.float32)

    wide = x.astype(np.float32)
    if offset is not None:
        wide = wide + laid(offset)
    return (wide * laid(scale)).astype(dtype)


def _blocks(cache: Array, table: Array, heads: int, owner: str) -> Array:
    """Lay the blocks of a cache in a row: (B, S, N, D).

    Raises:
        RuntimeError: the cache has another rank.
    """
    if cache.ndim == 4:
        # (blocks, N, block_size, D) in the layouts with heads first.
        cache = jnp.swapaxes(cache, 1, 2)
    elif cache.ndim == 3 and cache.shape[2] % heads == 0:
        cache = cache.reshape(*cache.shape[:2], heads, -1)
    else:
        raise located(
            RuntimeError,
            f"For '{owner}', a cache in blocks must be (blocks, block_size, H) or (blocks, N, "
            f"block_size, D), but got {cache.shape}.",
        )
    rows = jnp.take(cache, jnp.maximum(table, 0), 0, mode="clip")
    return rows.reshape(table.shape[0], -1, *cache.shape[2:])


def infer(
    owner: str,
    layout: str,
    heads: int,
    own_heads: int,
    scale: float,
    query: Array,
    key: Array,
    value: Array,
    *,
    pse: Array | None = None,
    mask: Array | None = None,
    lengths: Array | None = None,
    own_lengths: Array | None = None,
    mode: int = 0,
    before: int = UNBOUNDED,
    after: int = UNBOUNDED,
    table: Array | None = None,
    padding: Array | None = None,
    query_padding: Array | None = None,
    scales: tuple[Array | None, ...] = (None, None, None, None),
) -> tuple[Array, Array]:
    """Attend in the layout of the caller, with lengths, padding, blocks and int8 keys.

    Args:
        owner: operator named in errors.
        layout: ``BSH``, ``BNSD`` or ``BSND``.
        heads: of the query.
        own_heads: of the keys; 0 as many.
        scale: factor of the scores.
        query: in the layout.
        key: in the layout, or in blocks.
        value: like ``key``.
        pse: added to the scaled scores.
        mask: 1 hides.
        lengths: (B,), valid queries; the others give 0.
        own_lengths: (B,), valid keys.
        mode: see `sparse_terms`.
        before: see `sparse_terms`.
        after: see `sparse_terms`.
        table: (B, blocks), where each sequence's blocks of keys are.
        padding: number of keys behind the valid ones, which stand at the right.
        query_padding: number of queries behind the valid ones.
        scales: scale and offset of int8 keys, then of int8 values.

    Returns:
        The result in the layout, and log of the sum of exponentials, (B, N, S1, 1) float32.
    """
    q = split_heads(query, layout, heads, owner, "query")
    if q.shape[2] != heads:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'num_heads' must be the heads of 'query' {q.shape[2]}, but got "
            f"{heads}.",
        )
    own_heads = own_heads or heads
    if table is not None:
        k, v = (_blocks(x, table, own_heads, owner) for x in (key, value))
    else:
        k = split_heads(key, layout, own_heads, owner, "key")
        v = split_heads(value, layout, own_heads, owner, "value")
    if scales[0] is not None:
        k = dequantized(k, scales[0], scales[1], q.dtype, owner)
    if scales[2] is not None:
        v = dequantized(v, scales[2], scales[3], q.dtype, owner)
    if q.dtype == np.int8:
        raise located(NotImplementedError, f"For '{owner}', {_QUANT}.")
    checks.floating("query", q.dtype, owner)
    check_heads(q, k, v, owner, same_size=False)
    b, s, keys = q.shape[0], q.shape[1], k.shape[1]
    sizes = (b, heads, s, keys)

    def of_batch(x: Array | None, name: str) -> Array | None:
        if x is None:
            return None
        if x.size not in (1, b):
            raise located(
                ValueError,
                f"For '{owner}', the size of '{name}' must be 1 or {b}, but got {x.shape}.",
            )
        return jnp.broadcast_to(x.reshape(-1), (b,)).astype(np.int32)

    valid_q = of_batch(lengths, "actual_seq_lengths")
    valid_k = of_batch(own_lengths, "actual_seq_lengths_kv")
    truths = None if mask is None else check_mask(mask, owner)
    ends = (s if valid_q is None else valid_q, keys if valid_k is None else valid_k)
    structure = sparse_terms(mode, truths, before, after, sizes, ends, owner)
    first: Any = 0
    if padding is not None and valid_k is not None:
        first = keys - jnp.maximum(padding.reshape(-1), 0).astype(np.int32) - valid_k
    outside = None if valid_k is None else beyond(keys, first, valid_k)
    bias: Callable[[Array], Array] | None = None
    if pse is not None:
        if pse.ndim != 4 or pse.shape[2] < s or pse.shape[3] < keys:
            raise located(
                RuntimeError,
                f"For '{owner}', the shape of 'pse_shift' must be (B, N, S1, S2) or (1, N, S1, "
                f"S2), (B, N, S1, S2) = {sizes}, but got {pse.shape}.",
            )
        inner = pse[:, :, :s, :keys]
        bias = lambda rows: of_rows(inner, rows)  # noqa: E731
    out, peak, total = attend(q, k, v, scale, Terms(bias, joined(structure, outside)))
    if valid_q is not None:
        start: Any = 0
        if query_padding is not None:
            start = s - jnp.maximum(query_padding.reshape(-1), 0).astype(np.int32) - valid_q
        lows = jnp.broadcast_to(jnp.asarray(start, np.int32).reshape(-1, 1), (b, 1))
        i = jnp.arange(s, dtype=np.int32)[None]
        inside = (i >= lows) & (i < lows + valid_q[:, None])
        out = jnp.where(inside[..., None, None], out, jnp.zeros((), out.dtype))
    lse = jnp.log(total) + jnp.where(total > 0, peak, jnp.zeros((), peak.dtype))
    return merge_heads(out, layout), lse.astype(np.float32)[..., None]


def requantized(out: Array, scale: Array | None, offset: Array | None) -> Array:
    """Round the result to int8 if a scale is given."""
    if scale is None:
        return out
    wide = out.astype(np.float32)

    def laid(x: Array) -> Array:
        return x.reshape(()) if x.size == 1 else x.reshape(x.shape[-out.ndim + 1 :])

    wide = wide * laid(scale).astype(np.float32)
    if offset is not None:
        wide = wide + laid(offset).astype(np.float32)
    return rounded(wide)


class PromptFlashAttention(Primitive):
    """Attention of whole prompts (MindSpore: ``ops.PromptFlashAttention``).

    Call and fields: as `prompt_flash_attention`; ``inner_precise`` tunes the vendor's device only.
    """

    num_heads: int = 1
    scale_value: float = 1.0
    pre_tokens: int = UNBOUNDED
    next_tokens: int = 0
    input_layout: str = "BSH"
    num_key_value_heads: int = 0
    sparse_mode: int = 0
    inner_precise: int = 1

    def __post_init__(self) -> None:
        check_infer(
            self.name,
            self.input_layout,
            ("BSH", "BNSD"),
            scale_value=self.scale_value,
            num_heads=self.num_heads,
            num_key_value_heads=self.num_key_value_heads,
            sparse_mode=self.sparse_mode,
            inner_precise=self.inner_precise,
        )
        if not 0 <= self.sparse_mode <= 4:
            raise located(
                RuntimeError,
                f"For '{self.name}', the 'sparse_mode' must be 0, 1, 2, 3 or 4, but got "
                f"{self.sparse_mode}.",
            )

    def __call__(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        actual_seq_lengths: Any = None,
        actual_seq_lengths_kv: Any = None,
        pse_shift: Any = None,
        deq_scale1: Any = None,
        quant_scale1: Any = None,
        deq_scale2: Any = None,
        quant_scale2: Any = None,
        quant_offset2: Any = None,
    ) -> Any:
        """Attend."""
        unused(
            self.name,
            _QUANT,
            deq_scale1=deq_scale1,
            quant_scale1=quant_scale1,
            deq_scale2=deq_scale2,
        )
        return Primitive.__call__(
            self,
            query,
            key,
            value,
            attn_mask,
            lengths_array(actual_seq_lengths),
            lengths_array(actual_seq_lengths_kv),
            pse_shift,
            quant_scale2,
            quant_offset2,
        )

    def compute(
        self,
        query: Array,
        key: Array,
        value: Array,
        mask: Array | None,
        lengths: Array | None,
        own_lengths: Array | None,
        pse: Array | None,
        scale: Array | None,
        offset: Array | None,
    ) -> Array:
        """Attend in the layout."""
        out, _ = infer(
            self.name,
            self.input_layout,
            self.num_heads,
            self.num_key_value_heads,
            self.scale_value,
            query,
            key,
            value,
            pse=pse,
            mask=mask,
            lengths=lengths,
            own_lengths=own_lengths,
            mode=self.sparse_mode,
            before=self.pre_tokens,
            after=self.next_tokens,
        )
        return requantized(out, scale, offset)


def prompt_flash_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    actual_seq_lengths: Any = None,
    actual_seq_lengths_kv: Any = None,
    pse_shift: Any = None,
    deq_scale1: Any = None,
    quant_scale1: Any = None,
    deq_scale2: Any = None,
    quant_scale2: Any = None,
    quant_offset2: Any = None,
    num_heads: int = 1,
    scale_value: float = 1.0,
    pre_tokens: int = UNBOUNDED,
    next_tokens: int = 0,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    inner_precise: int = 1,
) -> Any:
    """Attend with whole prompts (MindSpore: ``ops.prompt_flash_attention``).

    Args:
        query: (B, S1, N * D) or (B, N, S1, D), float.
        key: the same with S2 and its own heads.
        value: like ``key``.
        attn_mask: bool, int8 or uint8, 1 hides: (S1, S2), (B, S1, S2), (B, 1, S1, S2), or (2048,
            2048) in the modes 2, 3 and 4.
        actual_seq_lengths: (B,), number of valid queries; the others give 0.
        actual_seq_lengths_kv: (B,), number of valid keys.
        pse_shift: numbers added to the scaled scores, (B, N, S1, S2) or (1, N, S1, S2).
        deq_scale1: of int8 inputs, not supported, as are the next two.
        quant_scale1: see ``deq_scale1``.
        deq_scale2: see ``deq_scale1``.
        quant_scale2: factor of a result of int8, one number or a vector of the last axis.
        quant_offset2: added to it.
        num_heads: N.
        scale_value: factor of the scores.
        pre_tokens: keys before its place that a query sees, in the modes 0 (with a mask) and 4.
        next_tokens: keys after it.
        input_layout: ``"BSH"`` or ``"BNSD"``.
        num_key_value_heads: heads of the keys; 0 as many.
        sparse_mode: 0 to 4, see `flash_attention_score`.
        inner_precise: tunes the vendor's device only.

    Returns:
        Tensor like ``query``; int8 if ``quant_scale2`` is given.

    Raises:
        TypeError: a dtype or a type is wrong.
        ValueError: the layout is unknown, or lengths do not fit.
        RuntimeError: shapes, heads or mode do not fit.
        NotImplementedError: int8 inputs.
    """
    operator = PromptFlashAttention(
        num_heads,
        scale_value,
        pre_tokens,
        next_tokens,
        input_layout,
        num_key_value_heads,
        sparse_mode,
        inner_precise,
    )
    return operator(
        query,
        key,
        value,
        attn_mask,
        actual_seq_lengths,
        actual_seq_lengths_kv,
        pse_shift,
        deq_scale1,
        quant_scale1,
        deq_scale2,
        quant_scale2,
        quant_offset2,
    )


def short_mask(mask: Array | None, owner: str, sizes: tuple[int, int, int]) -> Array | None:
    """Bring a mask of one query, (B, S), (B, 1, S) or (B, 1, 1, S), to four axes."""
    if mask is None:
        return None
    truths = check_mask(mask, owner)
    b, n, keys = sizes
    if truths.ndim == 2:
        truths = truths[:, None, None]
    return four_axes(truths, owner, (b, n, 1, keys))


class IncreFlashAttention(Primitive):
    """Attention of one new token a sequence (MindSpore: ``ops.IncreFlashAttention``).

    Call and fields: as `incre_flash_attention`; ``inner_precise`` tunes the vendor's device only.
    """

    num_heads: int = 1
    input_layout: str = "BSH"
    scale_value: float = 1.0
    num_key_value_heads: int = 0
    block_size: int = 0
    inner_precise: int = 1

    def __post_init__(self) -> None:
        check_infer(
            self.name,
            self.input_layout,
            ("BSH", "BNSD", "BSND"),
            scale_value=self.scale_value,
            num_heads=self.num_heads,
            num_key_value_heads=self.num_key_value_heads,
            inner_precise=self.inner_precise,
        )

    def __call__(
        self,
        query: Any,
        key: Any,
        value: Any,
        attn_mask: Any = None,
        actual_seq_lengths: Any = None,
        pse_shift: Any = None,
        dequant_scale1: Any = None,
        quant_scale1: Any = None,
        dequant_scale2: Any = None,
        quant_scale2: Any = None,
        quant_offset2: Any = None,
        antiquant_scale: Any = None,
        antiquant_offset: Any = None,
        block_table: Any = None,
        kv_padding_size: Any = None,
    ) -> Any:
        """Attend."""
        unused(
            self.name,
            "the original does not use it yet either: leave it out",
            dequant_scale1=dequant_scale1,
            quant_scale1=quant_scale1,
            dequant_scale2=dequant_scale2,
        )
        return Primitive.__call__(
            self,
            query,
            sole(key),
            sole(value),
            attn_mask,
            lengths_array(actual_seq_lengths),
            pse_shift,
            quant_scale2,
            quant_offset2,
            antiquant_scale,
            antiquant_offset,
            block_table,
            kv_padding_size,
        )

    def compute(
        self,
        query: Array,
        key: Array,
        value: Array,
        mask: Array | None,
        lengths: Array | None,
        pse: Array | None,
        scale: Array | None,
        offset: Array | None,
        antiquant_scale: Array | None,
        antiquant_offset: Array | None,
        table: Array | None,
        padding: Array | None,
    ) -> Array:
        """Attend in the layout."""
        keys = key.shape[2] if self.input_layout == "BNSD" else key.shape[1]
        if table is not None:
            size = key.shape[1] if key.ndim == 3 else key.shape[2]
            if self.block_size not in (0, size):
                raise located(
                    ValueError,
                    f"For '{self.name}', the 'block_size' must be that of the blocks of 'key' "
                    f"{size}, but got {self.block_size}.",
                )
            keys = table.shape[1] * size
        scales: list[Array | None] = [None] * 4
        for i, x in ((0, antiquant_scale), (1, antiquant_offset)):
            if x is not None:
                scales[i], scales[i + 2] = x[0], x[1]
        out, _ = infer(
            self.name,
            self.input_layout,
            self.num_heads,
            self.num_key_value_heads,
            self.scale_value,
            query,
            key,
            value,
            pse=pse,
            mask=short_mask(mask, self.name, (query.shape[0], self.num_heads, keys)),
            own_lengths=lengths,
            table=table,
            padding=padding,
            scales=tuple(scales),
        )
        return requantized(out, scale, offset)


def incre_flash_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    actual_seq_lengths: Any = None,
    pse_shift: Any = None,
    dequant_scale1: Any = None,
    quant_scale1: Any = None,
    dequant_scale2: Any = None,
    quant_scale2: Any = None,
    quant_offset2: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    block_table: Any = None,
    num_heads: int = 1,
    input_layout: str = "BSH",
    scale_value: float = 1.0,
    num_key_value_heads: int = 0,
    block_size: int = 0,
    inner_precise: int = 1,
    kv_padding_size: Any = None,
) -> Any:
    """Attend with one new token a sequence (MindSpore: ``ops.incre_flash_attention``).

    Args:
        query: (B, 1, N * D) or (B, N, 1, D), float.
        key: (B, S, N2 * D) or (B, N2, S, D), or a list of one such; int8 with ``antiquant_scale``;
            in blocks with ``block_table``.
        value: like ``key``.
        attn_mask: bool, int8 or uint8, 1 hides: (B, S), (B, 1, S) or (B, 1, 1, S).
        actual_seq_lengths: (B,), number of valid keys.
        pse_shift: numbers added to the scaled scores, (B, N, 1, S) or (1, N, 1, S).
        dequant_scale1: None, as the next two.
        quant_scale1: see ``dequant_scale1``.
        dequant_scale2: see ``dequant_scale1``.
        quant_scale2: factor of a result of int8.
        quant_offset2: added to it.
        antiquant_scale: factors of int8 keys and values, (2, N2 * D) or (2, N2, 1, D).
        antiquant_offset: added before, the same shape.
        block_table: (B, blocks), int32, where a sequence's blocks of keys are.
        num_heads: N.
        input_layout: ``"BSH"`` or ``"BNSD"``.
        scale_value: factor of the scores.
        num_key_value_heads: N2; 0 as many as N.
        block_size: keys of a block.
        inner_precise: tunes the vendor's device only.
        kv_padding_size: number of keys behind the valid ones, which stand at the right.

    Returns:
        Tensor like ``query``; int8 if ``quant_scale2`` is given.

    Raises:
        TypeError: a dtype or a type is wrong.
        ValueError: the layout is unknown, or lengths do not fit.
        RuntimeError: shapes or heads do not fit.
        NotImplementedError: several keys in a list.
    """
    operator = IncreFlashAttention(
        num_heads, input_layout, scale_value, num_key_value_heads, block_size, inner_precise
    )
    return operator(
        query,
        key,
        value,
        attn_mask,
        actual_seq_lengths,
        pse_shift,
        dequant_scale1,
        quant_scale1,
        dequant_scale2,
        quant_scale2,
        quant_offset2,
        antiquant_scale,
        antiquant_offset,
        block_table,
        kv_padding_size,
    )
