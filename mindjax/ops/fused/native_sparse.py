"""Native sparse attention (Yuan 2025): compressed keys, choice of blocks, attention to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax.core import checks
from mindjax.core.errors import located
from mindjax.core.primitive import Primitive
from mindjax.ops.fused.attention import Terms, attend, of_rows
from mindjax.ops.fused.selected import attend_one, by_rows

Array = jax.Array
_COPIES = 8


def ends_of(owner: str, name: str, value: Any, total: int | None = None) -> tuple[int, ...]:
    """Check where sequences end.

    Raises:
        TypeError: it is no tuple or list of ints.
        RuntimeError: it is empty, falls, or does not end at the total.
    """
    if not isinstance(value, tuple | list):
        raise located(
            TypeError,
            f"For '{owner}', the '{name}' must be a tuple or list of int, but got {value!r}.",
        )
    ends = checks.integers(name, value, owner)
    if not ends or ends[0] < 0 or list(ends) != sorted(ends):
        raise located(
            RuntimeError,
            f"For '{owner}', the '{name}' must rise and not be empty, but got {ends}.",
        )
    if total is not None and ends[-1] != total:
        raise located(
            RuntimeError, f"For '{owner}', the '{name}' must end at {total}, but got {ends}."
        )
    return ends


def _check_sizes(owner: str, **sizes: Any) -> None:
    for name, value in sizes.items():
        checks.positive_int(name, value, owner)


class _NsaCompress(Primitive, register=False):
    """Weighted sums of windows of rows, within each sequence."""

    block: int
    stride: int
    ends: tuple[int, ...]

    def compute(self, x: Array, weight: Array) -> Array:
        name = "nsa_compress"
        checks.floating("input", x.dtype, name)
        checks.same_dtype(name, input=x.dtype, weight=weight.dtype)
        if x.ndim != 3 or weight.shape != (self.block, x.shape[1]) or self.ends[-1] != x.shape[0]:
            raise located(
                RuntimeError,
                f"For '{name}', 'input' must be (T, N, D), 'weight' ({self.block}, N) and "
                f"'actual_seq_len' end at T, but got {x.shape}, {weight.shape} and {self.ends}.",
            )
        starts, first = [], 0
        for end in self.ends:
            starts += range(first, end - self.block + 1, self.stride)
            first = end
        rows = np.asarray(starts, np.int32)[:, None] + np.arange(self.block, dtype=np.int32)
        windows = x[rows]
        wide = np.promote_types(x.dtype, np.float32)
        out = jnp.einsum("tbnd,bn->tnd", windows, weight, preferred_element_type=wide)
        return out.astype(x.dtype)


def nsa_compress(
    input: Any,
    weight: Any,
    compress_block_size: int,
    compress_stride: int,
    *,
    actual_seq_len: Sequence[int],
) -> Any:
    """Sum windows of rows by weights (MindSpore: ``ops.nsa_compress``).

    Args:
        input: (T, N, D), float, sequences in a row.
        weight: (compress_block_size, N).
        compress_block_size: rows of a window.
        compress_stride: rows between the starts of windows.
        actual_seq_len: where sequences end; a window stays within one.

    Returns:
        Tensor (windows, N, D).

    Raises:
        TypeError: dtypes or types are wrong.
        ValueError: a size is not above 0.
        RuntimeError: shapes or lengths do not fit.
    """
    _check_sizes(
        "nsa_compress", compress_block_size=compress_block_size, compress_stride=compress_stride
    )
    ends = ends_of("nsa_compress", "actual_seq_len", actual_seq_len)
    return _NsaCompress(compress_block_size, compress_stride, ends)(input, weight)


class _NsaCompressAttention(Primitive, register=False):
    """Attention to compressed keys, and the blocks of keys that it finds important."""

    scale: float
    window: int
    stride: int
    block: int
    count: int
    ends: tuple[tuple[int, ...], ...]

    def compute(
        self, query: Array, key: Array, value: Array, topk_mask: Array | None, mask: Array | None
    ) -> tuple[Array, Array, Array, Array]:
        parts, first = [], (0, 0, 0)
        for end in zip(*self.ends, strict=True):
            rows, keys = slice(first[0], end[0]), slice(first[1], end[1])
            parts.append(
                self._sequence(
                    query[rows], key[keys], value[keys], topk_mask, mask, end[2] - first[2]
                )
            )
            first = end
        out = [jnp.concatenate(x) for x in zip(*parts, strict=True)]
        return out[0], out[1], out[2], out[3]

    def _sequence(
        self,
        q: Array,
        k: Array,
        v: Array,
        topk_mask: Array | None,
        mask: Array | None,
        blocks: int,
    ) -> tuple[Array, Array, Array, Array]:
        s, n, _ = q.shape
        t, m, _ = k.shape
        hidden = None
        if mask is not None:
            full = mask[None, None, :s, :t].astype(np.bool_)
            hidden = lambda rows: of_rows(full, rows)  # noqa: E731
        out, top, total = attend(q[None], k[None], v[None], self.scale, Terms(hidden=hidden))
        scores = jnp.einsum(
            "smgd,tmd->mgst",
            q.reshape(s, m, n // m, -1),
            k,
            preferred_element_type=np.float32,
        ).reshape(n, s, t) * np.float32(self.scale)
        if mask is not None:
            scores = jnp.where(mask[None, :s, :t], np.float32(-np.inf), scores)
        base = jnp.where(jnp.isfinite(top[0]), top[0], 0).astype(np.float32)
        safe = jnp.where(total[0] == 0, 1, total[0]).astype(np.float32)
        shares = jnp.exp(scores - base[..., None]) / safe[..., None]
        # Block j gathers the windows j * wide - m - n (equation 9 of the paper).
        wide, narrow = self.block // self.stride, self.window // self.stride
        spread = np.zeros((t, blocks), np.float32)
        for j in range(blocks):
            for a in range(wide):
                for b in range(narrow):
                    if 0 <= wide * j - a - b < t:
                        spread[wide * j - a - b, j] += 1
        important = jnp.einsum("nst,tj->nsj", shares, spread).reshape(m, n // m, s, blocks).sum(1)
        if topk_mask is not None:
            barred = topk_mask[None, :s, :blocks].astype(np.bool_)
            important = jnp.where(barred, np.float32(-np.inf), important)
        kept = min(self.count, blocks)
        best, found = jax.lax.top_k(important, kept)
        found = jnp.where(jnp.isfinite(best), found.astype(np.int32), np.int32(-1))
        found = jnp.pad(found, ((0, 0), (0, 0), (0, self.count - kept)), constant_values=-1)
        statistics = [
            jnp.repeat(jnp.swapaxes(x[0], 0, 1).astype(np.float32)[..., None], _COPIES, -1)
            for x in (top, total)
        ]
        return out[0], jnp.swapaxes(found, 0, 1), statistics[0], statistics[1]


def _check_heads(owner: str, query: Any, key: Any, value: Any, head_num: Any) -> None:
    shapes = [tuple(x.shape) for x in (query, key, value)]
    fits = all(len(s) == 3 for s in shapes) and shapes[1][:2] == shapes[2][:2]
    if not fits or shapes[0][2] != shapes[1][2] or shapes[0][1] % max(shapes[1][1], 1):
        raise located(
            RuntimeError,
            f"For '{owner}', 'query' must be (T1, N1, D), 'key' (T2, N2, D) and 'value' (T2, N2, "
            f"D2), N1 a multiple of N2, but got {shapes}.",
        )
    if checks.integer("head_num", head_num, owner) != shapes[0][1]:
        raise located(
            RuntimeError,
            f"For '{owner}', the 'head_num' must be the heads of 'query' {shapes[0][1]}, but got "
            f"{head_num}.",
        )
    if not query.dtype == key.dtype == value.dtype:
        raise located(
            RuntimeError,
            f"For '{owner}', 'query', 'key' and 'value' must have one dtype, but got "
            f"{query.dtype}, {key.dtype} and {value.dtype}.",
        )


def nsa_compress_attention(
    query: Any,
    key: Any,
    value: Any,
    scale_value: float,
    head_num: int,
    compress_block_size: int,
    compress_stride: int,
    select_block_size: int,
    select_block_count: int,
    *,
    topk_mask: Any = None,
    atten_mask: Any = None,
    actual_seq_qlen: Sequence[int],
    actual_cmp_seq_kvlen: Sequence[int],
    actual_sel_seq_kvlen: Sequence[int],
) -> tuple[Any, Any, Any, Any]:
    """Attend to compressed keys and choose blocks of keys (``ops.nsa_compress_attention``).

    Args:
        query: (T1, N1, D), float, sequences in a row.
        key: (T2, N2, D), compressed.
        value: (T2, N2, D2), compressed.
        scale_value: factor of the scores.
        head_num: N1.
        compress_block_size: keys that one compressed key stands for.
        compress_stride: keys between the starts of these.
        select_block_size: keys of a block to be chosen.
        select_block_count: blocks chosen for each query.
        topk_mask: bool (S1, blocks), True bars a block.
        atten_mask: bool (S1, S2), True hides a compressed key.
        actual_seq_qlen: where sequences of queries end.
        actual_cmp_seq_kvlen: where sequences of compressed keys end.
        actual_sel_seq_kvlen: the same for the blocks to choose from.

    Returns:
        The result (T1, N1, D2); chosen blocks, int32 (T1, N2, count), -1 where there are no more;
        greatest scores and sums of exponentials, float32 (T1, N1, 8).

    Raises:
        TypeError: types are wrong.
        ValueError: sizes do not fit.
        RuntimeError: shapes or lengths do not fit.
    """
    name = "nsa_compress_attention"
    checks.of_type("scale_value", scale_value, float, name)
    _check_sizes(
        name,
        compress_block_size=compress_block_size,
        compress_stride=compress_stride,
        select_block_size=select_block_size,
        select_block_count=select_block_count,
    )
    if select_block_size % compress_stride or compress_block_size % compress_stride:
        raise located(
            ValueError,
            f"For '{name}', the 'compress_stride' must divide the sizes of blocks, but got "
            f"{compress_stride}, {compress_block_size} and {select_block_size}.",
        )
    _check_heads(name, query, key, value, head_num)
    ends = (
        ends_of(name, "actual_seq_qlen", actual_seq_qlen, query.shape[0]),
        ends_of(name, "actual_cmp_seq_kvlen", actual_cmp_seq_kvlen, key.shape[0]),
        ends_of(name, "actual_sel_seq_kvlen", actual_sel_seq_kvlen),
    )
    if len({len(e) for e in ends}) > 1:
        raise located(
            RuntimeError, f"For '{name}', the lengths must be of as many sequences, but got {ends}."
        )
    operator = _NsaCompressAttention(
        scale_value,
        compress_block_size,
        compress_stride,
        select_block_size,
        select_block_count,
        ends,
    )
    return operator(query, key, value, topk_mask, atten_mask)


class _NsaSelectAttention(Primitive, register=False):
    """Attention to chosen blocks of keys."""

    scale: float
    block: int
    ends: tuple[tuple[int, ...], ...]

    def compute(
        self, query: Array, key: Array, value: Array, chosen: Array
    ) -> tuple[Array, Array, Array]:
        checks.floating("query", query.dtype, "nsa_select_attention")
        t, n, _ = query.shape
        m = key.shape[1]
        ends = [np.asarray(e, np.int32) for e in self.ends]
        owner = np.searchsorted(ends[0], np.arange(t), side="right")
        first = np.concatenate([[0], ends[1][:-1]])[owner].astype(np.int32)
        size = (ends[1][owner] - first).astype(np.int32)
        q = query.reshape(t, m, n // m, query.shape[2])
        within = jnp.arange(self.block, dtype=np.int32)

        def one(q: Array, picks: Array, first: Array, size: Array) -> Any:
            places = (picks.astype(np.int32)[..., None] * np.int32(self.block) + within).reshape(
                m, -1
            )
            seen = (places >= 0) & (places < size)
            rows = jnp.clip(first + places, 0, key.shape[0] - 1)
            head = jnp.arange(m)[:, None]
            return attend_one(q, key[rows, head], value[rows, head], seen, self.scale)

        out, top, total = by_rows(one, q, chosen, jnp.asarray(first), jnp.asarray(size))
        statistics = [
            jnp.repeat(x.reshape(t, n, 1).astype(np.float32), _COPIES, -1) for x in (top, total)
        ]
        return out.reshape(t, n, value.shape[2]), statistics[0], statistics[1]


def nsa_select_attention(
    query: Any,
    key: Any,
    value: Any,
    topk_indices: Any,
    scale_value: float,
    head_num: int,
    select_block_size: int,
    select_block_count: int,
    *,
    atten_mask: Any = None,
    actual_seq_qlen: Sequence[int],
    actual_seq_kvlen: Sequence[int],
) -> tuple[Any, Any, Any]:
    """Attend to chosen blocks of keys (MindSpore: ``ops.nsa_select_attention``).

    Args:
        query: (T1, N1, D), float, sequences in a row.
        key: (T2, N2, D).
        value: (T2, N2, D2).
        topk_indices: int32 (T1, N2, select_block_count), numbers of blocks; -1 for none.
        scale_value: factor of the scores.
        head_num: N1.
        select_block_size: keys of a block.
        select_block_count: blocks of each query.
        atten_mask: None.
        actual_seq_qlen: where sequences of queries end.
        actual_seq_kvlen: where sequences of keys end.

    Returns:
        The result (T1, N1, D2); greatest scores and sums of exponentials, float32 (T1, N1, 8).

    Raises:
        TypeError: types are wrong.
        ValueError: a size is not above 0.
        RuntimeError: shapes or lengths do not fit.
        NotImplementedError: ``atten_mask`` is given.
    """
    name = "nsa_select_attention"
    if atten_mask is not None:
        raise located(
            NotImplementedError,
            f"For '{name}', the 'atten_mask' is not supported by the original either: leave it "
            "out.",
        )
    checks.of_type("scale_value", scale_value, float, name)
    _check_sizes(name, select_block_size=select_block_size, select_block_count=select_block_count)
    _check_heads(name, query, key, value, head_num)
    if tuple(topk_indices.shape) != (query.shape[0], key.shape[1], select_block_count):
        raise located(
            RuntimeError,
            f"For '{name}', the shape of 'topk_indices' must be "
            f"{(query.shape[0], key.shape[1], select_block_count)}, but got {topk_indices.shape}.",
        )
    ends = (
        ends_of(name, "actual_seq_qlen", actual_seq_qlen, query.shape[0]),
        ends_of(name, "actual_seq_kvlen", actual_seq_kvlen, key.shape[0]),
    )
    if len(ends[0]) != len(ends[1]):
        raise located(
            RuntimeError, f"For '{name}', the lengths must be of as many sequences, but got {ends}."
        )
    operator = _NsaSelectAttention(scale_value, select_block_size, ends)
    return operator(query, key, value, topk_indices)
