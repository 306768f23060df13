"""Attention for training that draws its own dropout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.primitive import Primitive
from mindjax.core.random import default_generator
from mindjax.core.random import key as random_key
from mindjax.ops.fused.attention import UNBOUNDED
from mindjax.ops.fused.flash import check_options, lengths_array, shift_bias, train

Array = jax.Array


class _SpeedFusionAttention(Primitive, register=False):
    """Attention for training that draws its own dropout; called through its function.

    Fields: as `speed_fusion_attention`.
    """

    head_num: int
    input_layout: str
    scale: float = 1.0
    keep_prob: float = 1.0
    pre_tokens: int = UNBOUNDED
    next_tokens: int = UNBOUNDED
    sparse_mode: int = 0
    pse_type: int = 1
    starts: tuple[int, int] = (0, 0)

    def __post_init__(self) -> None:
        check_options(
            "speed_fusion_attention",
            self.input_layout,
            self.keep_prob,
            self.scale,
            self.head_num,
            self.sparse_mode,
        )
        if not 0 <= self.pse_type <= 3:
            raise located(
                ValueError,
                f"For 'speed_fusion_attention', the 'pse_type' must be 0 to 3, but got "
                f"{self.pse_type}.",
            )

    def compute(
        self,
        query: Array,
        key: Array,
        value: Array,
        pse: Array | None,
        atten_mask: Array | None,
        prefix: Array | None,
        ends_q: Array | None,
        ends_k: Array | None,
        seed: Array,
        offset: Array,
    ) -> tuple[Array, Array, Array, Array]:
        """Attend in the layout."""
        name = "speed_fusion_attention"
        checks.floating("query", query.dtype, name)

        def bias(sizes: tuple[int, int, int, int]) -> Callable[[Array], Array]:
            assert pse is not None
            if self.pse_type < 2:
                return shift_bias(pse, sizes, name)
            return self._distance_bias(pse, sizes)

        def kept(sizes: tuple[int, int, int, int]) -> Callable[[Array], Array]:
            start = random_key(seed, offset)
            limit = np.uint32(self.keep_prob * 2**32)

            def one(row: Array) -> Array:
                shape = (sizes[0], sizes[1], sizes[3])
                return jax.random.bits(jax.random.fold_in(start, row), shape, np.uint32) < limit

            return lambda rows: jnp.moveaxis(jax.vmap(one)(rows), 0, 2)

        options = {
            "head_num": self.head_num,
            "layout": self.input_layout,
            "scale": self.scale,
            "keep_prob": self.keep_prob,
            "before": self.pre_tokens,
            "after": self.next_tokens,
            "sparse_mode": self.sparse_mode,
            "bias_before_scale": self.pse_type == 1,
        }
        out, peak, total = train(
            name,
            options,
            query,
            key,
            value,
            None if pse is None else bias,
            None if self.keep_prob == 1 else kept,
            atten_mask,
            prefix,
            (ends_q, ends_k),
        )
        return out, peak, total, jnp.zeros((1,), query.dtype)

    def _distance_bias(
        self, slopes: Array, sizes: tuple[int, int, int, int]
    ) -> Callable[[Array], Array]:
        b, n = sizes[:2]
        if slopes.shape not in ((b, n), (n,)):
            raise located(
                RuntimeError,
                f"For 'speed_fusion_attention', the shape of 'pse' must be {(b, n)} or {(n,)} in "
                f"'pse_type' {self.pse_type}, but got {slopes.shape}.",
            )
        factor = slopes.reshape(-1, n, 1, 1).astype(np.float32)

        def bias(rows: Array) -> Array:
            j = jnp.arange(sizes[3], dtype=np.int32)
            shift = np.int32(self.starts[0] - self.starts[1])
            distance = jnp.abs(rows[:, None] - j[None] + shift).astype(np.float32)
            if self.pse_type == 3:
                distance = jnp.sqrt(distance)
            return -factor * distance[None, None]

        return bias


def _start(value: Any, name: str) -> int:
    if value is None:
        return 0
    numbers = checks.integers(name, value, "speed_fusion_attention")
    if len(numbers) != 1:
        raise located(
            ValueError,
            f"For 'speed_fusion_attention', the '{name}' must hold one int, but got {value}.",
        )
    return numbers[0]


def speed_fusion_attention(
    query: Any,
    key: Any,
    value: Any,
    head_num: int,
    input_layout: str,
    *,
    pse: Any = None,
    padding_mask: Any = None,
    atten_mask: Any = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tokens: int = UNBOUNDED,
    next_tokens: int = UNBOUNDED,
    inner_precise: int = 0,
    prefix: Sequence[int] | None = None,
    actual_seq_qlen: Sequence[int] | None = None,
    actual_seq_kvlen: Sequence[int] | None = None,
    sparse_mode: int = 0,
    gen_mask_parallel: bool = True,
    sync: bool = False,
    pse_type: int = 1,
    q_start_idx: Sequence[int] | None = None,
    kv_start_idx: Sequence[int] | None = None,
) -> tuple[Any, ...]:
    """Attend, for training, with dropout of its own (MindSpore: ``ops.speed_fusion_attention``).

    Args:
        query: as in `flash_attention_score`, as are the following, unless told otherwise.
        key: see ``query``.
        value: see ``query``.
        head_num: N1.
        input_layout: ``"BSH"``, ``"BNSD"``, ``"SBH"``, ``"BSND"`` or ``"TND"``.
        pse: numbers added to the scores, (B, N1, S1, S2) or (1, N1, S1, S2); in the types 2 and 3
            slopes (B, N1) or (N1,).
        padding_mask: None.
        atten_mask: bool or uint8, 1 hides.
        scale: factor of the scores.
        keep_prob: probability of a weight to stay, in (0, 1].
        pre_tokens: keys before its place that a query sees, in the modes 0 (with a mask) and 4.
        next_tokens: keys after it.
        inner_precise: tunes the vendor's device only.
        prefix: number of first keys that every query sees, in mode 5.
        actual_seq_qlen: where sequences of queries end, in the layout TND.
        actual_seq_kvlen: where sequences of keys end, in the layout TND.
        sparse_mode: see `flash_attention_score`.
        gen_mask_parallel: tunes the vendor's device only, as does ``sync``.
        sync: see ``gen_mask_parallel``.
        pse_type: 0 adds ``pse`` after scaling, 1 before, 2 subtracts slope times distance, 3 slope
            times the root of the distance.
        q_start_idx: one int, added to the queries' places in the types 2 and 3.
        kv_start_idx: one int, added to the keys' places.

    Returns:
        The result; greatest scores and sums of the rows, float32 with 8 copies; a reserved Tensor;
        seed and offset of the dropout, and the number of weights that it drew for, all ints.

    Raises:
        TypeError: a dtype or a type is wrong.
        ValueError: layout or ``pse_type`` are unknown.
        RuntimeError: shapes, heads, mode or band do not fit.
        NotImplementedError: ``padding_mask`` is given, or a mode above 5.
    """
    if padding_mask is not None:
        raise located(
            NotImplementedError,
            "For 'speed_fusion_attention', the 'padding_mask' is reserved: use 'atten_mask'.",
        )
    checks.of_type("pse_type", pse_type, int, "speed_fusion_attention")
    operator = _SpeedFusionAttention(
        head_num,
        input_layout,
        scale,
        keep_prob,
        pre_tokens,
        next_tokens,
        sparse_mode,
        pse_type,
        (_start(q_start_idx, "q_start_idx"), _start(kv_start_idx, "kv_start_idx")),
    )
    seed, offset = default_generator().next_key()
    results = operator(
        query,
        key,
        value,
        pse,
        atten_mask,
        lengths_array(prefix),
        lengths_array(actual_seq_qlen),
        lengths_array(actual_seq_kvlen),
        seed,
        offset,
    )
    return (*results, seed, offset, _drawn(query, key, input_layout, head_num, keep_prob))


def _drawn(query: Any, key: Any, layout: str, heads: int, keep_prob: float) -> int:
    """Count the weights that dropout draws for."""
    if keep_prob == 1:
        return 0
    q, k = (x.value_shape if isinstance(x, Handle) else x.shape for x in (query, key))
    axis = {"BSH": 1, "BNSD": 2, "SBH": 0, "BSND": 1, "TND": 0}[layout]
    batch = {"SBH": q[1], "TND": 1}.get(layout, q[0])
    return int(batch * heads * q[axis] * k[axis])
