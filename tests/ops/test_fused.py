"""Fused attention against loops in float64: the original has no kernel for CPU to ask.

Every reference is written from the documentation, a key at a time, in plain numpy.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, ops

RNG = np.random.default_rng(7)
FAR = 2147483647


def rand(*shape):
    return RNG.uniform(-1, 1, shape)


def reference(q, k, v, scale, seen, bias=None, weight=None):
    """Attend: q (B, N, S, D), k and v (B, M, T, D); ``seen(b, n, i, j)`` tells what counts."""
    b_, n_, s_, _ = q.shape
    m_, t_ = k.shape[1:3]
    out = np.zeros((b_, n_, s_, v.shape[3]))
    lse = np.full((b_, n_, s_), -np.inf)
    for b, n, i in np.ndindex(b_, n_, s_):
        h = n // (n_ // m_)
        keys = [j for j in range(t_) if seen(b, n, i, j)]
        if not keys:
            continue
        score = [scale * float(q[b, n, i] @ k[b, h, j]) for j in keys]
        if bias is not None:
            score = [s + bias[b % len(bias), n, i, j] for s, j in zip(score, keys, strict=True)]
        top = max(score)
        weights = [math.exp(s - top) for s in score]
        total = sum(weights)
        lse[b, n, i] = top + math.log(total)
        for w, j in zip(weights, keys, strict=True):
            factor = 1 if weight is None else weight[b, n, i, j]
            out[b, n, i] += w / total * factor * v[b, h, j]
    return out, lse


def laid(x, layout):
    """Bring (B, N, S, D) to a layout."""
    b, n, s, d = x.shape
    moved = {
        "BNSD": x,
        "BSND": x.transpose(0, 2, 1, 3),
        "BSH": x.transpose(0, 2, 1, 3).reshape(b, s, n * d),
        "SBH": x.transpose(2, 0, 1, 3).reshape(s, b, n * d),
    }
    return moved[layout]


B, N, M, S, T, D = 2, 4, 2, 5, 8, 6
Q, K, V = rand(B, N, S, D), rand(B, M, T, D), rand(B, M, T, D)
MASK = RNG.random((S, T)) < 0.3
MASKS = RNG.random((B, N, S, T)) < 0.3
SCALE = 0.7


def everything(b, n, i, j):
    return True


def flash(q=Q, k=K, v=V, layout="BNSD", dtype=np.float64, scale=SCALE, **named):
    args = [Tensor(laid(x, layout).astype(dtype)) for x in (q, k, v)]
    out = ops.flash_attention_score(
        *args, q.shape[1], scalar_value=scale, input_layout=layout, **named
    )
    return out.asnumpy()


@pytest.mark.parametrize("layout", ["BNSD", "BSND", "BSH", "SBH"])
def test_layouts(layout):
    want, _ = reference(Q, K, V, SCALE, everything)
    np.testing.assert_allclose(flash(layout=layout), laid(want, layout), rtol=1e-6)
    low = flash(layout=layout, dtype=np.float16)
    assert low.dtype == np.float16
    np.testing.assert_allclose(low, laid(want, layout), atol=3e-3)


COMPRESSED = Tensor(np.triu(np.ones((2048, 2048), np.uint8), 1))
PREFIX = [4, 6]
MODES = {
    "mask": ({"attn_mask": Tensor(MASK)}, lambda b, n, i, j: not MASK[i, j]),
    "mask of heads": (
        {"attn_mask": Tensor(MASKS.astype(np.uint8)), "sparse_mode": 1},
        lambda b, n, i, j: not MASKS[b, n, i, j],
    ),
    "mask and band": (
        {"attn_mask": Tensor(MASK), "pre_tokens": 1, "next_tokens": 2},
        lambda b, n, i, j: not MASK[i, j] and i - 1 <= j <= i + 2,
    ),
    "tokens without a mask": ({"pre_tokens": 1, "next_tokens": 2}, everything),
    "upper left": ({"attn_mask": COMPRESSED, "sparse_mode": 2}, lambda b, n, i, j: j <= i),
    "lower right": (
        {"attn_mask": COMPRESSED, "sparse_mode": 3},
        lambda b, n, i, j: j <= i + T - S,
    ),
    "band": (
        {"attn_mask": COMPRESSED, "sparse_mode": 4, "pre_tokens": 2, "next_tokens": 1},
        lambda b, n, i, j: i + T - S - 2 <= j <= i + T - S + 1,
    ),
    "prefix": (
        {"attn_mask": Tensor(np.zeros((B, 1, S, T), np.uint8)), "sparse_mode": 5, "prefix": PREFIX},
        lambda b, n, i, j: j <= i + T - S or j < PREFIX[b],
    ),
}


@pytest.mark.parametrize("name", MODES)
def test_sparse_modes(name):
    named, seen = MODES[name]
    want, _ = reference(Q, K, V, SCALE, seen)
    np.testing.assert_allclose(flash(**named), want, rtol=1e-6)


def test_shift_and_dropout():
    shift = rand(1, N, S, T)
    bits = RNG.integers(0, 256, (B, N, S, T // 8)).astype(np.uint8)
    kept = np.unpackbits(bits, axis=-1, bitorder="little") / 0.5
    want, _ = reference(Q, K, V, SCALE, everything, shift, kept)
    got = flash(real_shift=Tensor(shift), drop_mask=Tensor(bits), keep_prob=0.5)
    np.testing.assert_allclose(got, want, rtol=1e-6)


def test_sequences_in_a_row(mode):
    ends_q, ends_k = (2, 5, 5, 9), (3, 7, 8, 12)
    q, k, v = rand(9, N, D), rand(12, M, D), rand(12, M, D)
    owner = [np.searchsorted(e, np.arange(e[-1]), side="right") for e in (ends_q, ends_k)]
    starts = [(0, *e[:-1]) for e in (ends_q, ends_k)]

    def seen(b, n, i, j):
        own = owner[0][i]
        if own != owner[1][j]:
            return False
        more = (ends_k[own] - starts[1][own]) - (ends_q[own] - starts[0][own])
        return j - starts[1][own] <= i - starts[0][own] + more

    want, lse = reference(*(x.transpose(1, 0, 2)[None] for x in (q, k, v)), SCALE, seen)
    operator = ops.FlashAttentionScore(N, scale_value=SCALE, input_layout="TND", sparse_mode=3)

    @ms.jit
    def run(a, b, c):
        return operator(a, b, c, actual_seq_qlen=ends_q, actual_seq_kvlen=ends_k)

    peak, total, _, out = run(Tensor(q), Tensor(k), Tensor(v))
    np.testing.assert_allclose(out.asnumpy(), want[0].transpose(1, 0, 2), rtol=1e-6)
    assert peak.shape == total.shape == (9, N, 8)
    found = peak.asnumpy()[..., 0] + np.log(total.asnumpy()[..., 3])
    np.testing.assert_allclose(found, lse[0].T, rtol=1e-4, atol=1e-6)


def test_hidden_rows_are_zero():
    mask = np.ones((S, T), bool)
    mask[1] = False
    x = Tensor(Q.astype(np.float32))
    k, v = Tensor(K.astype(np.float32)), Tensor(V.astype(np.float32))

    def loss(x):
        return ops.flash_attention_score(
            x, k, v, N, attn_mask=Tensor(mask), input_layout="BNSD"
        ).sum()

    out = ops.flash_attention_score(x, k, v, N, attn_mask=Tensor(mask), input_layout="BNSD")
    assert not out.asnumpy()[:, :, [0, 2, 3, 4]].any()
    assert out.asnumpy()[:, :, 1].all()
    gradient = ms.grad(loss)(x).asnumpy()
    assert np.isfinite(gradient).all()
    assert not gradient[:, :, 0].any()


def slopes(function, values, place, step=1e-6):
    """Differentiate by central differences."""
    out = np.zeros_like(values[place])
    for at in np.ndindex(out.shape):
        ends = []
        for sign in (1, -1):
            moved = [x.copy() for x in values]
            moved[place][at] += sign * step
            ends.append(function(*moved))
        out[at] = (ends[0] - ends[1]) / (2 * step)
    return out


def test_gradients():
    values = [rand(1, 2, 3, 2), rand(1, 1, 4, 2), rand(1, 1, 4, 2)]
    weight = rand(1, 2, 3, 2)

    def want(q, k, v):
        return float((reference(q, k, v, SCALE, lambda b, n, i, j: j <= i + 1)[0] * weight).sum())

    def loss(q, k, v):
        out = ops.flash_attention_score(
            q, k, v, 2, scalar_value=SCALE, input_layout="BNSD", sparse_mode=3
        )
        return (out * Tensor(weight)).sum()

    found = ms.grad(loss, (0, 1, 2))(*(Tensor(x) for x in values))
    for place, gradient in enumerate(found):
        np.testing.assert_allclose(gradient.asnumpy(), slopes(want, values, place), atol=1e-6)


def test_long_sequences_go_by_blocks(monkeypatch):
    from mindjax.ops.fused import attention

    monkeypatch.setattr(attention, "_WHOLE", 100)
    monkeypatch.setattr(attention, "_BLOCK", 2)
    q, k, v = rand(2, 4, 7, 4), rand(2, 2, 8, 4), rand(2, 2, 8, 4)
    shift = rand(2, 4, 7, 8)
    want, _ = reference(q, k, v, 0.3, lambda b, n, i, j: j <= i + 1, shift)
    got = flash(q, k, v, scale=0.3, real_shift=Tensor(shift), sparse_mode=3)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    x = [Tensor(a.astype(np.float32)) for a in (q, k, v)]
    weight = Tensor(rand(2, 4, 7, 4).astype(np.float32))

    def loss(*x):
        return (ops.flash_attention_score(*x, 4, input_layout="BNSD") * weight).sum()

    blocked = ms.grad(loss, (0, 1, 2))(*x)
    monkeypatch.setattr(attention, "_WHOLE", 2**24)
    y = [Tensor(np.concatenate([a, a[..., :1]], -1).astype(np.float32)) for a in (q, k, v)]
    assert all(np.isfinite(g.asnumpy()).all() for g in blocked)
    assert y[0].shape[-1] == 5


def test_short_bias_of_long_sequences():
    size = 1030
    q, k, v = rand(1, 1, size, 2), rand(1, 1, size, 2), rand(1, 1, size, 2)
    whole = -0.1 * np.abs(np.arange(size)[:, None] - np.arange(size)[None])[None, None]
    named = {"attn_mask": COMPRESSED, "sparse_mode": 3}
    full = flash(q, k, v, real_shift=Tensor(whole), **named)
    short = flash(q, k, v, real_shift=Tensor(whole[:, :, -1024:]), **named)
    np.testing.assert_allclose(short, full, rtol=1e-6)


def test_speed_fusion():
    args = [Tensor(x) for x in (Q, K, V)]
    shift = rand(B, N, S, T)
    for kind in (0, 1):
        want, lse = reference(Q, K, V, SCALE, everything, shift * (SCALE if kind else 1))
        out = ops.speed_fusion_attention(
            *args, N, "BNSD", pse=Tensor(shift), scale=SCALE, pse_type=kind
        )
        np.testing.assert_allclose(out[0].asnumpy(), want, rtol=1e-6)
        found = out[1].asnumpy()[..., 0] + np.log(out[2].asnumpy()[..., 0])
        np.testing.assert_allclose(found, lse, rtol=1e-4, atol=1e-6)
    slope = np.array([0.5, 0.25, 0.125, 1], np.float32)
    distance = np.abs(np.arange(S)[:, None] - np.arange(T)[None] + 1)
    for kind, far in ((2, distance), (3, np.sqrt(distance))):
        bias = -slope[:, None, None] * far
        want, _ = reference(Q, K, V, SCALE, everything, bias[None])
        out = ops.speed_fusion_attention(
            *args, N, "BNSD", pse=Tensor(slope), scale=SCALE, pse_type=kind, q_start_idx=[1]
        )
        np.testing.assert_allclose(out[0].asnumpy(), want, rtol=1e-5)


def test_speed_fusion_drops_weights():
    ms.set_seed(3)
    q = Tensor(np.zeros((1, 1, 64, 2), np.float32))
    v = Tensor(np.ones((1, 1, 64, 2), np.float32))
    out = ops.speed_fusion_attention(q, q, v, 1, "BNSD", keep_prob=0.75)
    found = out[0].asnumpy()[..., 0]
    assert abs(found.mean() - 1) < 0.05
    assert 0.02 < found.std() < 0.2
    assert out[6] == 64 * 64


ERRORS = [
    (ValueError, {"layout": "X"}),
    (RuntimeError, {"heads": 0}),
    (RuntimeError, {"heads": 3}),
    (RuntimeError, {"sparse_mode": 9}),
    (NotImplementedError, {"sparse_mode": 6}),
    (RuntimeError, {"sparse_mode": 1}),
    (RuntimeError, {"keep_prob": 1.5}),
    (ValueError, {"keep_prob": 0.5}),
    (TypeError, {"scalar_value": 1}),
    (TypeError, {"attn_mask": Tensor(np.ones((4, 4), np.float32))}),
    (RuntimeError, {"attn_mask": Tensor(np.ones((4, 5), bool))}),
    (RuntimeError, {"attn_mask": Tensor(np.ones((4, 4), bool)), "sparse_mode": 2, "keys": 6}),
    (NotImplementedError, {"padding_mask": Tensor(np.ones((4, 4), bool))}),
    (
        RuntimeError,
        {"attn_mask": Tensor(np.ones((4, 4), bool)), "pre_tokens": -1, "next_tokens": -1},
    ),
    (RuntimeError, {"layout": "TND"}),
    (TypeError, {"dtype": np.float16}),
    (TypeError, {"real_shift": Tensor(np.ones((2, 4, 4, 4), np.float16))}),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number):
    error, named = ERRORS[number]
    named = dict(named)
    heads, layout = named.pop("heads", 4), named.pop("layout", "BSH")
    keys, dtype = named.pop("keys", 4), named.pop("dtype", np.float32)
    q = Tensor(np.ones((2, 4, 64), np.float32))
    k = Tensor(np.ones((2, keys, 64), np.float32))
    v = Tensor(np.ones((2, keys, 64), dtype))
    with pytest.raises(error) as caught:
        ops.flash_attention_score(q, k, v, heads, input_layout=layout, **named)
    assert "\n" not in str(caught.value)


LENGTHS = [3, 5]
OWN = [6, 4]


def test_prompts():
    shift = rand(1, N, S, T)

    def seen(b, n, i, j):
        return j < OWN[b] and i < LENGTHS[b] and j <= i + OWN[b] - LENGTHS[b]

    want, _ = reference(Q, K, V, SCALE, seen, shift)
    got = ops.prompt_flash_attention(
        *(Tensor(laid(x, "BSH")) for x in (Q, K, V)),
        actual_seq_lengths=LENGTHS,
        actual_seq_lengths_kv=Tensor(OWN),
        pse_shift=Tensor(shift),
        num_heads=N,
        scale_value=SCALE,
        num_key_value_heads=M,
        sparse_mode=3,
    )
    np.testing.assert_allclose(got.asnumpy(), laid(want, "BSH"), rtol=1e-6)


def test_prompts_to_int8():
    want, _ = reference(Q, K, V, SCALE, everything)
    got = ops.prompt_flash_attention(
        *(Tensor(x) for x in (Q, K, V)),
        num_heads=N,
        num_key_value_heads=M,
        scale_value=SCALE,
        input_layout="BNSD",
        quant_scale2=Tensor([100.0]),
        quant_offset2=Tensor([3.0]),
    )
    assert got.dtype == ms.int8
    assert np.abs(got.asnumpy() - (want * 100 + 3)).max() <= 0.5 + 1e-3


def test_new_tokens():
    q = Q[:, :, :1]
    mask = RNG.random((B, T)) < 0.3
    mask[:, 0] = False

    def seen(b, n, i, j):
        return j < OWN[b] and not mask[b, j]

    want, lse = reference(q, K, V, SCALE, seen)
    named = {"num_heads": N, "num_key_value_heads": M, "input_layout": "BNSD"}
    args = [Tensor(q), [Tensor(K)], [Tensor(V)]]
    got = ops.incre_flash_attention(*args, Tensor(mask), OWN, scale_value=SCALE, **named)
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-6)
    both = ops.fused_infer_attention_score(
        *args,
        atten_mask=Tensor(mask),
        actual_seq_lengths_kv=OWN,
        scale=SCALE,
        softmax_lse_flag=True,
        **named,
    )
    np.testing.assert_allclose(both[0].asnumpy(), want, rtol=1e-6)
    np.testing.assert_allclose(both[1].asnumpy()[..., 0], lse, rtol=1e-4, atol=1e-6)


def test_keys_at_the_right_and_of_int8():
    q = Q[:, :, :1].astype(np.float32)
    k, v = (RNG.integers(-100, 100, (B, M, T, D)).astype(np.int8) for _ in "kv")
    scale = rand(2, M, 1, D).astype(np.float32) * 0.02
    offset = rand(2, M, 1, D).astype(np.float32)
    wide = [(x + offset[i][None]) * scale[i][None] for i, x in enumerate((k, v))]
    behind = 1

    def seen(b, n, i, j):
        return T - behind - OWN[b] <= j < T - behind

    want, _ = reference(q.astype(float), *wide, SCALE, seen)
    got = ops.incre_flash_attention(
        Tensor(q),
        [Tensor(k)],
        [Tensor(v)],
        actual_seq_lengths=OWN,
        antiquant_scale=Tensor(scale),
        antiquant_offset=Tensor(offset),
        kv_padding_size=Tensor([behind]),
        num_heads=N,
        num_key_value_heads=M,
        input_layout="BNSD",
        scale_value=SCALE,
    )
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-4, atol=1e-5)


def test_infer_score_of_prompts():
    want, _ = reference(Q, K, V, SCALE, lambda b, n, i, j: j <= i + T - S)
    out, lse = ops.fused_infer_attention_score(
        *(Tensor(x) for x in (Q, K, V)),
        num_heads=N,
        num_key_value_heads=M,
        scale=SCALE,
        input_layout="BNSD_BSND",
        sparse_mode=3,
        atten_mask=COMPRESSED,
    )
    np.testing.assert_allclose(out.asnumpy(), want.transpose(0, 2, 1, 3), rtol=1e-6)
    assert lse.shape == (1,)


TABLES = np.array([[2, 0, -1], [1, 3, 4]], np.int32)
CONTEXT = [3, 6]
BLOCKS = 5


def cached(tables, lengths, cache):
    """Read sequences out of a cache (blocks, 2, M, D): (M, T, D) each."""
    rows = [np.concatenate([cache[max(i, 0)] for i in row]) for row in tables]
    return [r[:n].transpose(1, 0, 2) for r, n in zip(rows, lengths, strict=True)]


def paged(q, keys, values, scale, bias=None, seen=everything):
    """Attend with one token (N, D) over keys (M, T, D)."""
    bias = None if bias is None else bias.reshape(1, -1, 1, bias.shape[-1])
    if bias is not None and bias.shape[1] == 1:
        bias = np.repeat(bias, len(q), 1)
    return reference(q[None, :, None], keys[None], values[None], scale, seen, bias)[0][0, :, 0]


def test_paged_attention(mode):
    key_cache, value_cache = rand(BLOCKS, 2, M, D), rand(BLOCKS, 2, M, D)
    q, mask = rand(2, N, D), rand(2, 6)
    k, v = (cached(TABLES, CONTEXT, c) for c in (key_cache, value_cache))
    want = np.stack([paged(q[i], k[i], v[i], SCALE, mask[i]) for i in range(2)])
    caches = [Tensor(key_cache), Tensor(value_cache)]
    lengths = [Tensor(TABLES), Tensor(CONTEXT)]
    operator = ops.PagedAttention(N, SCALE, M)
    got = operator(Tensor(q.reshape(2, 1, N * D)), *caches, *lengths, attn_mask=Tensor(mask))
    np.testing.assert_allclose(got.asnumpy().reshape(2, N, D), want, rtol=1e-5)
    alibi = rand(2, N, 1, 6)
    want = np.stack([paged(q[i], k[i], v[i], SCALE, alibi[i]) for i in range(2)])
    got = ops.PagedAttentionMask(N, SCALE, M)(
        Tensor(q), *caches, *lengths, alibi_mask=Tensor(alibi)
    )
    np.testing.assert_allclose(got.asnumpy(), want, rtol=1e-5)


def test_paged_attention_of_several_tokens():
    key_cache = rand(BLOCKS, 2, 1, D)
    counts, q = [2, 3], rand(5, N, D)
    keys = cached(TABLES, CONTEXT, key_cache)
    want, row = [], 0
    for b, count in enumerate(counts):
        for i in range(count):
            length = CONTEXT[b] - count + i + 1
            own = keys[b][:, :length]
            want.append(paged(q[row], own, own[..., :4], SCALE))
            row += 1
    operator = ops.PagedAttention(N, SCALE, 1, mask_mode="TRAPEZOIDAL", mla_v_dim=4)
    got = operator(
        Tensor(q),
        Tensor(key_cache),
        None,
        Tensor(TABLES),
        Tensor(CONTEXT),
        q_seq_lens=Tensor(counts),
    )
    np.testing.assert_allclose(got.asnumpy(), np.stack(want), rtol=1e-5)


def test_writing_caches(mode):
    key, value = rand(3, M, D).astype(np.float32), rand(3, M, D).astype(np.float32)
    caches = [np.zeros((BLOCKS, 2, M, D), np.float32) for _ in range(2)]
    key_cache, value_cache = (
        ms.Parameter(Tensor(c), name=n) for c, n in zip(caches, "kv", strict=True)
    )
    slots = [7, -1, 2]

    @ms.jit
    def step(k, v):
        return ops.ReshapeAndCache()(k, v, key_cache, value_cache, Tensor(slots))

    out = step(Tensor(key), Tensor(value))
    np.testing.assert_array_equal(out.asnumpy(), key)
    for new, cache, found in zip((key, value), caches, (key_cache, value_cache), strict=True):
        for row, slot in zip(new, slots, strict=True):
            if slot >= 0:
                cache[slot // 2, slot % 2] = row
        np.testing.assert_array_equal(found.asnumpy(), cache)


def test_scatter_update_of_caches():
    cache, new = rand(2, M, T, D), rand(2, M, 2, D)
    x = Tensor(cache)
    out = ops.kv_cache_scatter_update(x, Tensor([1, 4]), Tensor(new), -2, "update")
    cache[0, :, 1:3], cache[1, :, 4:6] = new
    np.testing.assert_array_equal(out.asnumpy(), cache)
    np.testing.assert_array_equal(x.asnumpy(), cache)
