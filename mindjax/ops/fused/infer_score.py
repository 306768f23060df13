"""Attention of prompts and of new tokens in one operator: FusedInferAttentionScore."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.fused.attention import UNBOUNDED
from mindjax.ops.fused.flash import lengths_array
from mindjax.ops.fused.inference import check_infer, infer, requantized, short_mask, sole, unused

Array = jax.Array


class FusedInferAttentionScore(Primitive):
    """Attention for inference (MindSpore: ``ops.FusedInferAttentionScore``).

    Call and fields: as `fused_infer_attention_score`; ``inner_precise`` tunes the vendor's device
    only: rows that see no key are always 0.
    """

    num_heads: int = 1
    scale_value: float = 1.0
    pre_tokens: int = UNBOUNDED
    next_tokens: int = UNBOUNDED
    input_layout: str = "BSH"
    num_key_value_heads: int = 0
    sparse_mode: int = 0
    inner_precise: int = 1
    block_size: int = 0
    antiquant_mode: int = 0
    softmax_lse_flag: bool = False
    key_antiquant_mode: int = 0
    value_antiquant_mode: int = 0

    def __post_init__(self) -> None:
        check_infer(
            self.name,
            self.input_layout,
            ("BSH", "BNSD", "BSND", "BNSD_BSND"),
            scale_value=self.scale_value,
            num_heads=self.num_heads,
            num_key_value_heads=self.num_key_value_heads,
            sparse_mode=self.sparse_mode,
            inner_precise=self.inner_precise,
        )
        checks.boolean("softmax_lse_flag", self.softmax_lse_flag, self.name)
        if not 0 <= self.sparse_mode <= 4:
            raise located(
                RuntimeError,
                f"For '{self.name}', the 'sparse_mode' must be 0, 1, 2, 3 or 4, but got "
                f"{self.sparse_mode}.",
            )
        for name in ("antiquant_mode", "key_antiquant_mode", "value_antiquant_mode"):
            if self.__dict__[name] != 0:
                raise located(
                    NotImplementedError,
                    f"For '{self.name}', the '{name}' {self.__dict__[name]} is not supported yet: "
                    "use 0, scales of channels.",
                )

    def __call__(
        self,
        query: Any,
        key: Any,
        value: Any,
        pse_shift: Any = None,
        attn_mask: Any = None,
        actual_seq_lengths: Any = None,
        actual_seq_lengths_kv: Any = None,
        dequant_scale1: Any = None,
        quant_scale1: Any = None,
        dequant_scale2: Any = None,
        quant_scale2: Any = None,
        quant_offset2: Any = None,
        antiquant_scale: Any = None,
        antiquant_offset: Any = None,
        block_table: Any = None,
        query_padding_size: Any = None,
        kv_padding_size: Any = None,
        key_antiquant_scale: Any = None,
        key_antiquant_offset: Any = None,
        value_antiquant_scale: Any = None,
        value_antiquant_offset: Any = None,
        key_shared_prefix: Any = None,
        value_shared_prefix: Any = None,
        actual_shared_prefix_len: Any = None,
    ) -> Any:
        """Attend; gives the result, and log of the sums of exponentials."""
        unused(
            self.name,
            "quantized inputs of 'query' are not supported yet: use float16 or bfloat16",
            dequant_scale1=dequant_scale1,
            quant_scale1=quant_scale1,
            dequant_scale2=dequant_scale2,
        )
        unused(
            self.name,
            "the original reserves it: leave it out",
            key_shared_prefix=key_shared_prefix,
            value_shared_prefix=value_shared_prefix,
            actual_shared_prefix_len=actual_shared_prefix_len,
        )
        return Primitive.__call__(
            self,
            query,
            sole(key),
            sole(value),
            pse_shift,
            attn_mask,
            lengths_array(actual_seq_lengths),
            lengths_array(actual_seq_lengths_kv),
            quant_scale2,
            quant_offset2,
            antiquant_scale,
            antiquant_offset,
            block_table,
            query_padding_size,
            kv_padding_size,
            key_antiquant_scale,
            key_antiquant_offset,
            value_antiquant_scale,
            value_antiquant_offset,
        )

    def compute(
        self,
        query: Array,
        key: Array,
        value: Array,
        pse: Array | None,
        mask: Array | None,
        lengths: Array | None,
        own_lengths: Array | None,
        scale: Array | None,
        offset: Array | None,
        antiquant_scale: Array | None,
        antiquant_offset: Array | None,
        table: Array | None,
        query_padding: Array | None,
        padding: Array | None,
        key_scale: Array | None,
        key_offset: Array | None,
        value_scale: Array | None,
        value_offset: Array | None,
    ) -> tuple[Array, Array]:
        """Attend in the layout."""
        layout = self.input_layout.split("_")[0]
        token = (query.shape[2] if layout == "BNSD" else query.shape[1]) == 1
        if antiquant_scale is not None:
            key_scale, value_scale = antiquant_scale[0], antiquant_scale[1]
        if antiquant_offset is not None:
            key_offset, value_offset = antiquant_offset[0], antiquant_offset[1]
        keys = key.shape[2] if layout == "BNSD" else key.shape[1]
        if table is not None:
            size = key.shape[1] if key.ndim == 3 else key.shape[2]
            if self.block_size not in (0, size):
                raise located(
                    ValueError,
                    f"For '{self.name}', the 'block_size' must be that of the blocks of 'key' "
                    f"{size}, but got {self.block_size}.",
                )
            keys = table.shape[1] * size
        if token:
            # One query sees what the mask and the lengths leave; the mode has no say.
            mask = short_mask(mask, self.name, (query.shape[0], self.num_heads, keys))
            lengths = query_padding = None
        out, lse = infer(
            self.name,
            layout,
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
            mode=0 if token else self.sparse_mode,
            before=UNBOUNDED if token else self.pre_tokens,
            after=UNBOUNDED if token else self.next_tokens,
            table=table,
            padding=padding,
            query_padding=query_padding,
            scales=(key_scale, key_offset, value_scale, value_offset),
        )
        out = requantized(out, scale, offset)
        if self.input_layout == "BNSD_BSND":
            out = jnp.swapaxes(out, 1, 2)
        return out, lse if self.softmax_lse_flag else jnp.zeros((1,), np.float32)


def fused_infer_attention_score(
    query: Any,
    key: Any,
    value: Any,
    *,
    pse_shift: Any = None,
    atten_mask: Any = None,
    actual_seq_lengths: Any = None,
    actual_seq_lengths_kv: Any = None,
    dequant_scale1: Any = None,
    quant_scale1: Any = None,
    dequant_scale2: Any = None,
    quant_scale2: Any = None,
    quant_offset2: Any = None,
    antiquant_scale: Any = None,
    antiquant_offset: Any = None,
    key_antiquant_scale: Any = None,
    key_antiquant_offset: Any = None,
    value_antiquant_scale: Any = None,
    value_antiquant_offset: Any = None,
    block_table: Any = None,
    query_padding_size: Any = None,
    kv_padding_size: Any = None,
    key_shared_prefix: Any = None,
    value_shared_prefix: Any = None,
    actual_shared_prefix_len: Any = None,
    num_heads: int = 1,
    scale: float = 1.0,
    pre_tokens: int = UNBOUNDED,
    next_tokens: int = UNBOUNDED,
    input_layout: str = "BSH",
    num_key_value_heads: int = 0,
    sparse_mode: int = 0,
    inner_precise: int = 1,
    block_size: int = 0,
    antiquant_mode: int = 0,
    key_antiquant_mode: int = 0,
    value_antiquant_mode: int = 0,
    softmax_lse_flag: bool = False,
) -> tuple[Any, Any]:
    """Attend, for inference (MindSpore: ``ops.fused_infer_attention_score``).

    Args:
        query: (B, S1, N * D), (B, N, S1, D) or (B, S1, N, D), float.
        key: the same with S2 and its own heads, or a list of one such; int8 with scales; in blocks
            with ``block_table``.
        value: like ``key``.
        pse_shift: numbers added to the scaled scores, (B, N, S1, S2) or (1, N, S1, S2).
        atten_mask: bool, int8 or uint8, 1 hides; for one query (B, S2), (B, 1, S2), (B, 1, 1, S2).
        actual_seq_lengths: (B,), number of valid queries; the others give 0.
        actual_seq_lengths_kv: (B,), number of valid keys.
        dequant_scale1: of int8 queries, not supported, as are the next two.
        quant_scale1: see ``dequant_scale1``.
        dequant_scale2: see ``dequant_scale1``.
        quant_scale2: factor of a result of int8.
        quant_offset2: added to it.
        antiquant_scale: factors of int8 keys and values, 2 numbers or channels of each.
        antiquant_offset: added before.
        key_antiquant_scale: factors of int8 keys.
        key_antiquant_offset: added before.
        value_antiquant_scale: factors of int8 values.
        value_antiquant_offset: added before.
        block_table: (B, blocks), int32, where a sequence's blocks of keys are.
        query_padding_size: number of queries behind the valid ones.
        kv_padding_size: number of keys behind the valid ones.
        key_shared_prefix: None, as the next two.
        value_shared_prefix: see ``key_shared_prefix``.
        actual_shared_prefix_len: see ``key_shared_prefix``.
        num_heads: N.
        scale: factor of the scores.
        pre_tokens: keys before its place that a query sees, in the modes 0 (with a mask) and 4.
        next_tokens: keys after it.
        input_layout: ``"BSH"``, ``"BNSD"``, ``"BSND"``, or ``"BNSD_BSND"`` with another output.
        num_key_value_heads: heads of the keys; 0 as many.
        sparse_mode: 0 to 4, see `flash_attention_score`.
        inner_precise: tunes the vendor's device only.
        block_size: keys of a block.
        antiquant_mode: 0, as the next two.
        key_antiquant_mode: see ``antiquant_mode``.
        value_antiquant_mode: see ``antiquant_mode``.
        softmax_lse_flag: whether to give log of the sums of exponentials.

    Returns:
        Tensor like ``query``; and (B, N, S1, 1) float32, or one 0.

    Raises:
        TypeError: a dtype or a type is wrong.
        ValueError: the layout is unknown, or lengths do not fit.
        RuntimeError: shapes, heads or mode do not fit.
        NotImplementedError: int8 queries, scales of tokens, several keys in a list.
    """
    operator = FusedInferAttentionScore(
        num_heads,
        scale,
        pre_tokens,
        next_tokens,
        input_layout,
        num_key_value_heads,
        sparse_mode,
        inner_precise,
        block_size,
        antiquant_mode,
        softmax_lse_flag,
        key_antiquant_mode,
        value_antiquant_mode,
    )
    return operator(
        query,
        key,
        value,
        pse_shift,
        atten_mask,
        actual_seq_lengths,
        actual_seq_lengths_kv,
        dequant_scale1,
        quant_scale1,
        dequant_scale2,
        quant_scale2,
        quant_offset2,
        antiquant_scale,
        antiquant_offset,
        block_table,
        query_padding_size,
        kv_padding_size,
        key_antiquant_scale,
        key_antiquant_offset,
        value_antiquant_scale,
        value_antiquant_offset,
        key_shared_prefix,
        value_shared_prefix,
        actual_shared_prefix_len,
    )
