"""Attention to selected keys, grouped products and merged attention against plain numpy."""

from __future__ import annotations

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, communication, ops

RNG = np.random.default_rng(13)


def rand(*shape):
    return RNG.uniform(-1, 1, shape)


def single(x):
    return Tensor(np.asarray(x, np.float32))


def ints(values):
    return Tensor(np.asarray(values), ms.int32)


def soft(scores):
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


def chosen(q, k, w, count, seen):
    """Score keys for one query: (G, D), (T, D), (G,)."""
    scores = (np.maximum(q @ k.T, 0) * w[:, None]).sum(0)
    order = sorted((j for j in range(len(k)) if seen(j)), key=lambda j: -scores[j])[:count]
    return order + [-1] * (count - len(order)), [scores[j] for j in order]


def test_indexer():
    q, k, w = rand(2, 3, 4, 8), rand(2, 6, 1, 8), rand(2, 3, 4)
    used, own = [3, 2], [6, 4]
    args = [single(x) for x in (q, k, w)]
    found, values = ops.lightning_indexer(
        *args,
        actual_seq_lengths_query=ints(used),
        actual_seq_lengths_key=ints(own),
        sparse_count=5,
        return_value=True,
    )
    assert found.shape == (2, 3, 1, 5)
    for b, i in np.ndindex(2, 3):
        limit = i + own[b] - used[b] if i < used[b] else -1
        want, scores = chosen(
            q[b, i], k[b, :, 0], w[b, i], 5, lambda j, b=b, limit=limit: j < own[b] and j <= limit
        )
        assert found.asnumpy()[b, i, 0].tolist() == want
        got = values.asnumpy()[b, i, 0, : len(scores)]
        np.testing.assert_allclose(got, scores, rtol=1e-4, atol=1e-6)


def test_indexer_of_rows_and_blocks():
    q, k, w = rand(5, 4, 8), rand(7, 1, 8), rand(5, 4)
    ends, own = [2, 5], [3, 7]
    found, _ = ops.lightning_indexer(
        *(single(x) for x in (q, k, w)),
        actual_seq_lengths_query=ints(ends),
        actual_seq_lengths_key=ints(own),
        layout_query="TND",
        layout_key="TND",
        sparse_count=3,
        sparse_mode=0,
    )
    for i in range(5):
        part = k[:3, 0] if i < 2 else k[3:, 0]
        want, _ = chosen(q[i], part, w[i], 3, lambda j: True)
        assert found.asnumpy()[i, 0].tolist() == want
    cache, table = rand(5, 2, 1, 8), [[3, 1], [0, 4]]
    query, weights = rand(2, 1, 4, 8), rand(2, 1, 4)
    found, _ = ops.lightning_indexer(
        single(query),
        single(cache),
        single(weights),
        actual_seq_lengths_key=ints([3, 4]),
        block_table=ints(table),
        layout_key="PA_BSND",
        sparse_count=4,
    )
    for b, length in enumerate((3, 4)):
        keys = np.concatenate([cache[i, :, 0] for i in table[b]])[:length]
        want, _ = chosen(query[b, 0], keys, weights[b, 0], 4, lambda j: True)
        assert found.asnumpy()[b, 0, 0].tolist() == want


@pytest.mark.parametrize("block", [1, 2])
def test_sparse_attention(block):
    q, k, v = rand(2, 3, 4, 8), rand(2, 6, 1, 8), rand(2, 6, 1, 8)
    q_rope, k_rope = rand(2, 3, 4, 2), rand(2, 6, 1, 2)
    picks = np.array([[[2, 0, -1]], [[1, 2, 0]], [[0, -1, -1]]])[None].repeat(2, 0)
    out, top, total = ops.sparse_flash_attention(
        *(single(x) for x in (q, k, v)),
        ints(picks),
        0.5,
        query_rope=single(q_rope),
        key_rope=single(k_rope),
        sparse_block_size=block,
        attention_mode=2,
        return_softmax_lse=True,
    )
    assert top.shape == total.shape == (2, 1, 3, 4)
    for b, i, n in np.ndindex(2, 3, 4):
        places = [p * block + a for p in picks[b, i, 0] if p >= 0 for a in range(block)]
        places = [j for j in places if j < 6 and j <= i + 3]
        scores = k[b, places, 0] @ q[b, i, n] + k_rope[b, places, 0] @ q_rope[b, i, n]
        scores = scores * 0.5
        want = soft(scores) @ v[b, places, 0]
        np.testing.assert_allclose(out.asnumpy()[b, i, n], want, rtol=1e-4, atol=1e-6)
        lse = top.asnumpy()[b, 0, i, n] + np.log(total.asnumpy()[b, 0, i, n])
        np.testing.assert_allclose(lse, np.log(np.exp(scores).sum()), rtol=1e-4, atol=1e-5)


def test_compression():
    x, weight, ends = rand(14, 2, 3), rand(4, 2), (6, 14)
    out = ops.nsa_compress(single(x), single(weight), 4, 2, actual_seq_len=ends)
    starts = [0, 2, 6, 8, 10]
    want = np.stack([(x[s : s + 4] * weight[..., None]).sum(0) for s in starts])
    np.testing.assert_allclose(out.asnumpy(), want, rtol=1e-4, atol=1e-6)
    slope = ms.grad(lambda x: ops.nsa_compress(x, single(weight), 4, 2, actual_seq_len=ends).sum())(
        single(x)
    )
    expected = np.zeros_like(x)
    for s in starts:
        expected[s : s + 4] += weight[..., None]
    np.testing.assert_allclose(slope.asnumpy(), expected, rtol=1e-4, atol=1e-6)
    with pytest.raises(RuntimeError, match="actual_seq_len"):
        ops.nsa_compress(single(x), single(weight), 4, 2, actual_seq_len=(14, 6))


def test_attention_to_compressed_keys():
    q, k, v = rand(5, 4, 8), rand(9, 2, 8), rand(9, 2, 6)
    hidden, barred = RNG.random((3, 5)) < 0.3, RNG.random((3, 4)) < 0.2
    hidden[:, 0] = False
    ends_q, ends_k, ends_s = (2, 5), (4, 9), (3, 7)
    out, found, top, total = ops.nsa_compress_attention(
        *(single(x) for x in (q, k, v)),
        0.4,
        4,
        32,
        16,
        64,
        2,
        topk_mask=Tensor(barred),
        atten_mask=Tensor(hidden),
        actual_seq_qlen=ends_q,
        actual_cmp_seq_kvlen=ends_k,
        actual_sel_seq_kvlen=ends_s,
    )
    assert (found.shape, top.shape, total.shape) == ((5, 2, 2), (5, 4, 8), (5, 4, 8))
    first = (0, 0, 0)
    for end in zip(ends_q, ends_k, ends_s, strict=True):
        length, blocks = end[1] - first[1], end[2] - first[2]
        for i in range(first[0], end[0]):
            place = i - first[0]
            important = np.zeros((2, blocks))
            for n in range(4):
                keys = k[first[1] : end[1], n // 2]
                scores = np.where(hidden[place, :length], -np.inf, keys @ q[i, n] * 0.4)
                shares = soft(scores)
                want = shares @ v[first[1] : end[1], n // 2]
                np.testing.assert_allclose(out.asnumpy()[i, n], want, rtol=1e-4, atol=1e-6)
                for j in range(blocks):
                    for a in range(4):
                        for b in range(2):
                            if 0 <= 4 * j - a - b < length:
                                important[n // 2, j] += shares[4 * j - a - b]
            important[:, barred[place, :blocks]] = -np.inf
            for m in range(2):
                order = np.argsort(-important[m], kind="stable").tolist()
                order = [j for j in order if np.isfinite(important[m, j])][:2]
                assert found.asnumpy()[i, m].tolist() == (order + [-1] * 2)[:2]
        first = end


def test_attention_to_selected_blocks():
    q, k, v = rand(4, 4, 8), rand(11, 2, 8), rand(11, 2, 6)
    picks = RNG.permuted(np.tile([0, 1, 2], (4, 2, 1)), axis=-1)[..., :2]
    out, top, total = ops.nsa_select_attention(
        *(single(x) for x in (q, k, v)),
        ints(picks),
        0.4,
        4,
        2,
        2,
        actual_seq_qlen=[2, 4],
        actual_seq_kvlen=[5, 11],
    )
    assert top.shape == total.shape == (4, 4, 8)
    for i, n in np.ndindex(4, 4):
        start, end = (0, 5) if i < 2 else (5, 11)
        places = [start + 2 * p + a for p in picks[i, n // 2] for a in (0, 1)]
        places = [j for j in places if j < end]
        want = soft(k[places, n // 2] @ q[i, n] * 0.4) @ v[places, n // 2]
        np.testing.assert_allclose(out.asnumpy()[i, n], want, rtol=1e-4, atol=1e-6)


def half(values):
    return Tensor(np.array(values), ms.float16)


GROUPED = ([[0] * 4, [1] * 4, [2] * 4, [2] * 4, [1] * 4, [1] * 4], np.arange(32).reshape(4, 4, 2))
WANTED = [[0, 0], [44, 48], [88, 96], [152, 160], [108, 112], [108, 112]]


def test_documented_grouped_products():
    x, weight = [half(GROUPED[0])], [half(GROUPED[1])]
    ends, counts = Tensor([1, 3, 4, 6], ms.int64), Tensor([1, 2, 1, 2], ms.int64)
    out = ops.GroupedMatmul(3, 0)(x, weight, None, None, None, None, None, ends)
    np.testing.assert_array_equal(out[0].asnumpy(), WANTED)
    out = ops.grouped_matmul_v4(
        x, weight, group_list=counts, split_item=3, group_type=0, group_list_type=1
    )
    np.testing.assert_array_equal(out[0].asnumpy(), WANTED)


def test_grouped_products_more():
    pairs = [(rand(3, 4), rand(4, 2), rand(2)), (rand(1, 4), rand(4, 5), rand(5))]
    out = ops.GroupedMatmulV4()(*([single(p[i]) for p in pairs] for i in range(3)))
    for found, (x, w, b) in zip(out, pairs, strict=True):
        np.testing.assert_allclose(found.asnumpy(), x @ w + b, rtol=1e-4, atol=1e-6)
    x = RNG.integers(-128, 128, (5, 4)).astype(np.int8)
    w = RNG.integers(-128, 128, (2, 4, 3)).astype(np.int8)
    scale, rows = rand(2, 3) * 1e-3, rand(5)
    out = ops.GroupedMatmulV4()(
        [Tensor(x)],
        [Tensor(w)],
        scale=[Tensor(scale, ms.bfloat16)],
        pre_token_scale=[single(rows)],
        group_list=Tensor([2, 4], ms.int64),
        split_item=3,
        group_type=0,
    )[0]
    assert out.dtype == ms.bfloat16
    owner = [0, 0, 1, 1]
    want = np.stack(
        [x[i].astype(int) @ w[g].astype(int) * scale[g] * rows[i] for i, g in enumerate(owner)]
    )
    np.testing.assert_allclose(out.float().asnumpy()[:4], want, rtol=3e-2, atol=3e-2)
    assert not out.float().asnumpy()[4].any()
    with pytest.raises(TypeError, match="split_item"):
        ops.GroupedMatmul(0, 0)([single(x)], [single(w)])


def test_grouped_products_differentiate():
    x, w = rand(5, 4), rand(2, 4, 3)

    def loss(x, w):
        groups = Tensor([2, 5], ms.int64)
        return (ops.grouped_matmul([x], [w], None, None, None, None, None, groups, 3, 0)[0]).sum()

    dx, dw = ms.grad(loss, (0, 1))(single(x), single(w))
    owner = [0, 0, 1, 1, 1]
    np.testing.assert_allclose(dx.asnumpy(), w.sum(2)[owner], rtol=1e-4, atol=1e-6)
    want = np.stack([x[:2].sum(0), x[2:].sum(0)])[..., None].repeat(3, 2)
    np.testing.assert_allclose(dw.asnumpy(), want, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("layout", ["SBH", "TND"])
def test_merged_attention(layout):
    s, b, n, d = 3, 2, 2, 4
    scores, values = rand(b, n, s, 6) * 3, rand(b, n, 6, d)
    parts = []
    for keys in (slice(0, 2), slice(2, 6)):
        top = scores[..., keys].max(-1)
        weights = np.exp(scores[..., keys] - top[..., None])
        out = weights @ values[:, :, keys] / weights.sum(-1, keepdims=True)
        parts.append((out, top, weights.sum(-1)))
    whole = np.exp(scores)
    want = whole @ values / whole.sum(-1, keepdims=True)

    def laid(out):
        if layout == "SBH":
            return out.transpose(2, 0, 1, 3).reshape(s, b, n * d)
        return out.transpose(0, 2, 1, 3).reshape(b * s, n, d)

    def copied(x):
        x = x if layout == "SBH" else x.transpose(0, 2, 1).reshape(b * s, n)
        return np.repeat(x[..., None], 8, -1)

    args = [single(f) for p in parts for f in (laid(p[0]), copied(p[1]), copied(p[2]))]
    ends = ints([0, s, 2 * s]) if layout == "TND" else None
    out, top, total = ops.ring_attention_update(*args, ends, layout)
    np.testing.assert_allclose(out.asnumpy(), laid(want), rtol=1e-4, atol=1e-6)
    found = top.asnumpy() + np.log(total.asnumpy())
    np.testing.assert_allclose(found, copied(np.log(whole.sum(-1))), rtol=1e-4, atol=1e-6)


def test_products_spread_over_ranks():
    a, b = rand(4, 3), rand(3, 2)
    with pytest.raises(RuntimeError, match="has not been inited"):
        ops.all_gather_matmul(single(a), single(b), "hccl_world_group", 1)
    communication.init()
    try:
        group = communication.GlobalComm.WORLD_COMM_GROUP
        out, rows = ops.all_gather_matmul(single(a), single(b.T), group, 1, trans_x2=True)
        np.testing.assert_allclose(out.asnumpy(), a @ b, rtol=1e-5)
        np.testing.assert_allclose(rows.asnumpy(), a, rtol=1e-6)
        out = ops.matmul_reduce_scatter(single(a), single(b), group, 1)
        np.testing.assert_allclose(out.asnumpy(), a @ b, rtol=1e-5)
        with pytest.raises(RuntimeError, match="world_size"):
            ops.matmul_reduce_scatter(single(a), single(b), group, 2)
    finally:
        communication.release()


def test_deformable_attention():
    sizes, starts = [[2, 3], [4, 2]], [0, 6]
    value, places = rand(2, 14, 3, 8), RNG.uniform(-0.2, 1.2, (2, 5, 3, 2, 4, 2))
    weight = rand(2, 5, 3, 2, 4)
    out = ops.multi_scale_deformable_attn_function(
        single(value), ints(sizes), ints(starts), single(places), single(weight)
    )
    want = np.zeros((2, 5, 3, 8))
    for b, i, n, level, p in np.ndindex(2, 5, 3, 2, 4):
        height, width = sizes[level]
        x = places[b, i, n, level, p, 0] * width - 0.5
        y = places[b, i, n, level, p, 1] * height - 0.5
        for row in (int(np.floor(y)), int(np.floor(y)) + 1):
            for column in (int(np.floor(x)), int(np.floor(x)) + 1):
                if 0 <= row < height and 0 <= column < width:
                    share = (1 - abs(x - column)) * (1 - abs(y - row))
                    share *= weight[b, i, n, level, p]
                    want[b, i, n] += share * value[b, starts[level] + row * width + column, n]
    np.testing.assert_allclose(out.asnumpy(), want.reshape(2, 5, 24), rtol=1e-3, atol=1e-5)


def test_dispatch_and_combine():
    x, ids, weights = rand(4, 6), RNG.integers(0, 3, (4, 2)), rand(4, 2)
    communication.init()
    try:
        rows, _, places, ends, counts, _, moved = ops.moe_distribute_dispatch(
            single(x), ints(ids), 1, 0, 3, expert_scales=single(weights)
        )
        order = np.argsort(ids.reshape(-1), kind="stable")
        np.testing.assert_allclose(rows.asnumpy(), x[order // 2], rtol=1e-6)
        np.testing.assert_allclose(moved.asnumpy(), weights.reshape(-1)[order], rtol=1e-6)
        assert ends.asnumpy().tolist() == np.cumsum(np.bincount(ids.reshape(-1))).tolist()
        out = ops.moe_distribute_combine(rows, ints(ids), places, counts, single(weights), 1, 0, 3)
        np.testing.assert_allclose(out.asnumpy(), x * weights.sum(1, keepdims=True), rtol=1e-4)
        small = ops.moe_distribute_dispatch(single(x), ints(ids), 1, 0, 3, quant_mode=2)
        back = small[0].asnumpy() * small[1].asnumpy()[:, None]
        np.testing.assert_allclose(back, x[order // 2], atol=1e-2)
        with pytest.raises(NotImplementedError, match="ep_world_size"):
            ops.moe_distribute_dispatch(single(x), ints(ids), 2, 0, 3)
    finally:
        communication.release()
