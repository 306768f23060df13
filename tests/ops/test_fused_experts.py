"""Fused operators beside attention, against plain numpy and the documentation's own examples."""

from __future__ import annotations

import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, ops

RNG = np.random.default_rng(11)


def rand(*shape):
    return RNG.uniform(-1, 1, shape)


def half(values):
    return Tensor(np.array(values), ms.float16)


def ints(values):
    return Tensor(np.array(values), ms.int32)


def same(found, wanted, **named):
    for f, w in zip(found, wanted, strict=True):
        np.testing.assert_allclose(f.asnumpy(), w, **named)


def test_documented_permute():
    rows = np.array([1, 7, 2, 1, 2, 3])[:, None] * np.ones((1, 3))
    tokens, places = ops.moe_token_permute(Tensor(rows, ms.bfloat16), ints([5, 0, 3, 1, 2, 4]))
    assert tokens.dtype == ms.bfloat16
    assert tokens.float().asnumpy()[:, 0].tolist() == [7, 1, 2, 2, 3, 1]
    assert (places.asnumpy().tolist(), places.dtype) == ([5, 0, 3, 1, 2, 4], ms.int32)


def test_permute_and_back(mode):
    tokens, experts, probs = rand(5, 4), RNG.integers(0, 3, (5, 2)), rand(5, 2)
    order = sorted(range(10), key=lambda p: (experts[p // 2, p % 2], p))
    x = Tensor(tokens.astype(np.float32))

    @ms.jit
    def there(x):
        return ops.moe_token_permute(x, ints(experts))

    moved, places = there(x)
    np.testing.assert_allclose(moved.asnumpy(), tokens[[p // 2 for p in order]], rtol=1e-6)
    assert [order[p] for p in places.asnumpy()] == list(range(10))
    back = ops.moe_token_unpermute(moved, places, Tensor(probs.astype(np.float32)))
    np.testing.assert_allclose(back.asnumpy(), tokens * probs.sum(1, keepdims=True), rtol=1e-5)
    alone = ops.moe_token_unpermute(moved, places)
    np.testing.assert_allclose(alone.asnumpy(), np.repeat(tokens, 2, 0), rtol=1e-6)
    few, places = ops.moe_token_permute(x, ints(experts), 7)
    assert few.shape == (7, 4)
    kept = np.array([[p < 7 for p in places.asnumpy()]]).reshape(5, 2)
    back = ops.moe_token_unpermute(few, places, Tensor(probs.astype(np.float32)))
    want = tokens * (probs * kept).sum(1, keepdims=True)
    np.testing.assert_allclose(back.asnumpy(), want, rtol=1e-5, atol=1e-6)
    slope = ms.grad(lambda x: (there(x)[0] ** 2).sum())(x)
    np.testing.assert_allclose(slope.asnumpy(), 4 * tokens, rtol=1e-5)


EXPERTS = [[0, 1, 1], [2, 1, 1], [0, 0, 0]]
ROWS = [[0.1, 0.2, 0.3], [0.2, 0.7, 0.8], [0.3, 0.3, 0.5]]


def test_documented_routing():
    x, places = ops.moe_init_routing_v2(half(ROWS), ints(EXPERTS), 3, 2, 3, 1, 0, False)
    want = [[ROWS[0], ROWS[2]], [ROWS[0], ROWS[0]], [ROWS[1], [0, 0, 0]]]
    np.testing.assert_allclose(x.asnumpy(), want, rtol=1e-3)
    assert places.asnumpy().tolist() == [0, 2, 3, 4, -1, -1, 1, -1, -1]
    before = ops.moe_init_routing_v2(half(ROWS), ints(EXPERTS), 3, 2, 3, 1, 0, True)[2]
    assert before.asnumpy().tolist() == [4, 4, 1]


def test_routing_without_capacity():
    order = [0, 6, 7, 8, 1, 2, 4, 5, 3]
    x, places, ends = ops.moe_init_routing_v2(half(ROWS), ints(EXPERTS), 4, 0, 3, 0, 1, False)
    np.testing.assert_allclose(x.asnumpy(), [ROWS[p // 3] for p in order[:4]], rtol=1e-3)
    assert [order.index(p) for p in range(9)] == places.asnumpy().tolist()
    assert ends.asnumpy().tolist() == [4, 8, 9]
    counts = ops.moe_init_routing_v2(half(ROWS), ints(EXPERTS), 0, 0, 3, 0, 2, False)[2]
    assert counts.asnumpy().tolist() == [4, 4, 1]


def test_older_routing():
    rows = np.arange(9).reshape(3, 3).T
    x, places, experts = ops.moe_init_routing(half(ROWS), ints(rows), ints(EXPERTS), 3)
    flat = np.argsort(np.array(EXPERTS).reshape(-1), kind="stable")
    numbers = rows.reshape(-1)[flat]
    np.testing.assert_allclose(x.asnumpy(), np.array(ROWS)[numbers % 3], rtol=1e-3)
    assert places.asnumpy()[numbers].tolist() == list(range(9))
    assert experts.asnumpy().tolist() == sorted(np.ravel(EXPERTS).tolist())


def test_documented_finalizing():
    gave = np.array([0.1, 0.2, 0.3, 0.1, 0.2, 0.3])[:, None] * np.ones((1, 4))
    bias = np.array([0.1, 0.2, 0.3, 0.4])[:, None] * np.ones((1, 4))
    x1 = np.array([1, 0.2, 0.3])[:, None] * np.ones((1, 4))
    out = ops.MoeFinalizeRouting()(
        half(gave),
        half(x1),
        None,
        half(bias),
        half([[0.7, 0.3], [0.8, 0.2], [0.8, 0.2]]),
        ints([2, 3, 1, 0, 5, 4]),
        ints([[0, 1], [0, 2], [1, 3]]),
    )
    np.testing.assert_allclose(out.asnumpy()[:, 0], [1.37, 0.48, 0.74], atol=2e-3)


def test_expert_tokens():
    ends = ops.MoeComputeExpertTokens()(ints([0, 0, 1, 2, 2]), 4)
    assert ends.asnumpy().tolist() == [2, 3, 5, 5]


def test_gating():
    x = rand(4, 6).astype(np.float32)
    soft = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    order = np.argsort(-soft, 1, kind="stable")[:, :2]
    finished = Tensor(np.array([False, True, False, False]))
    y, experts, rows = ops.MoeGatingTopKSoftmax()(Tensor(x), finished, 2)
    np.testing.assert_allclose(y.asnumpy(), np.take_along_axis(soft, order, 1), rtol=1e-5)
    order[1] = 6
    assert experts.asnumpy().tolist() == order.tolist()
    assert rows.asnumpy().tolist() == [[0, 4], [1, 5], [2, 6], [3, 7]]


def test_groups():
    scores = rand(3, 12).astype(np.float32)
    x = Tensor(scores)
    out = ops.group_topk(x, ints(np.arange(1024)), 4, 2, 2)
    best = np.sort(scores.reshape(3, 4, 3), 2)[..., 1:].sum(2)
    kept = np.argsort(-best, 1)[:, :2]
    want = np.zeros((3, 4, 3), np.float32)
    for i, groups in enumerate(kept):
        want[i, groups] = scores.reshape(3, 4, 3)[i, groups]
    same((out, x), (want.reshape(3, 12),) * 2)


@pytest.mark.parametrize("style", [0, 1])
def test_rotary(style):
    x, angle = rand(2, 3, 4, 6), rand(1, 1, 4, 6)
    cos, sin = np.cos(angle), np.sin(angle)
    turned = np.empty_like(x)
    for i in range(3):
        a, b = (i, i + 3) if style == 0 else (2 * i, 2 * i + 1)
        turned[..., a], turned[..., b] = -x[..., b], x[..., a]
    want = x * cos + turned * sin
    args = [Tensor(v.astype(np.float32)) for v in (x, cos, sin)]
    out = ops.rotary_position_embedding(*args, style)
    np.testing.assert_allclose(out.asnumpy(), want, rtol=1e-4, atol=1e-6)
    slope = ms.grad(lambda x: ops.rotary_position_embedding(x, *args[1:], style).sum())(args[0])
    ahead = np.empty_like(x)
    wide = np.broadcast_to(sin, x.shape)
    for i in range(3):
        a, b = (i, i + 3) if style == 0 else (2 * i, 2 * i + 1)
        ahead[..., a], ahead[..., b] = wide[..., b], -wide[..., a]
    np.testing.assert_allclose(slope.asnumpy(), cos + ahead, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("form", [0, 1, 2, 3])
def test_rotary_of_queries_and_keys(form):
    query, key, angles = rand(2, 8), rand(2, 4), rand(5, 4)
    places = [3, 1]
    rows = angles[places]
    tables = angles if form < 2 else rows
    out = ops.ApplyRotaryPosEmb(form)(
        *(Tensor(v.astype(np.float32)) for v in (query, key, np.cos(tables), np.sin(tables))),
        ints(places),
    )
    for found, x in zip(out, (query, key), strict=True):
        heads = x.reshape(2, -1, 4)
        turned = np.empty_like(heads)
        for i in range(2):
            a, b = (2 * i, 2 * i + 1) if form % 2 else (i, i + 2)
            turned[..., a], turned[..., b] = -heads[..., b], heads[..., a]
        want = heads * np.cos(rows)[:, None] + turned * np.sin(rows)[:, None]
        np.testing.assert_allclose(found.asnumpy(), want.reshape(x.shape), rtol=1e-4, atol=1e-6)


def test_documented_swiglu():
    x = Tensor([[-0.12, 0.123, 31.122], [2.1223, 4.1212121217, 0.3123]], ms.float32)
    np.testing.assert_allclose(
        ops.swiglu(x, 0).asnumpy(), [[-0.11970687, 0.2690224, 9.7194]], rtol=1e-4
    )
    a = rand(2, 6)
    want = a[:, :3] / (1 + np.exp(-a[:, :3])) * a[:, 3:]
    np.testing.assert_allclose(ops.Swiglu()(Tensor(a)).asnumpy(), want, rtol=1e-6)
    with pytest.raises(ValueError, match="divisible by 2"):
        ops.swiglu(Tensor(rand(2, 3)))
    with pytest.raises(TypeError):
        ops.swiglu(ints([[1, 2]]))


def test_documented_sums_that_are_normalized():
    x = Tensor([[0.5, 1.0, 1.5], [0.5, 1.0, 1.5]], ms.float32)
    out, inverse, total = ops.add_rms_norm(x, x, Tensor(np.ones(3, np.float32)))
    np.testing.assert_allclose(out.asnumpy()[0], [0.46290997, 0.92581993, 1.3887299], rtol=1e-5)
    np.testing.assert_allclose(inverse.asnumpy(), [[0.46290997]] * 2, rtol=1e-5)
    np.testing.assert_allclose(total.asnumpy()[0], [1, 2, 3])
    y = Tensor([[1, 2, 3], [1, 2, 3]], ms.float32)
    ones, zeros = Tensor(np.ones(3, np.float32)), Tensor(np.zeros(3, np.float32))
    out, mean, inverse, total = ops.add_layer_norm(y, y, ones, zeros, 1e-7, True)
    np.testing.assert_allclose(out.asnumpy()[0], [-1.2247448, 0, 1.2247448], rtol=1e-5, atol=1e-6)
    same((mean, inverse, total), ([[4]] * 2, [[0.6123724]] * 2, [[2, 4, 6]] * 2), rtol=1e-5)
    with pytest.raises(ValueError, match="not consistent"):
        ops.add_rms_norm(x, x[:1], ones)


def test_sums_differentiate():
    x, y, gamma = rand(2, 4), rand(2, 4), rand(4)

    def want(x):
        total = x + y
        return (total / np.sqrt((total**2).mean(1, keepdims=True) + 1e-6) * gamma).sum()

    def loss(a):
        return ops.add_rms_norm(a, Tensor(y), Tensor(gamma))[0].sum()

    found = ms.grad(loss)(Tensor(x)).asnumpy()
    for at in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[at] = 1e-6
        np.testing.assert_allclose(found[at], (want(x + step) - want(x - step)) / 2e-6, rtol=1e-4)


def test_rounding():
    x, scale, offset = rand(3, 4) * 2, rand(4) * 50, rand(4) * 10
    want = np.clip(np.round(x * scale + offset), -128, 127)
    args = [Tensor(v.astype(np.float32)) for v in (x, scale, offset)]
    out = ops.QuantV2()(*args, False, "ROUND", ms.int8)
    assert out.dtype == ms.int8
    np.testing.assert_array_equal(out.asnumpy(), want)
    y, found = ops.DynamicQuantExt()(args[0], args[1])
    wide = x * scale
    rows = np.abs(wide).max(1) / 127
    np.testing.assert_allclose(found.asnumpy(), rows, rtol=1e-5)
    assert np.abs(y.asnumpy() - wide / rows[:, None]).max() < 0.51


def test_products_of_int8():
    a, b = (RNG.integers(-128, 128, s).astype(np.int8) for s in ((3, 4), (5, 4)))
    scale, rows, bias = rand(5) * 1e-3, rand(3), RNG.integers(-9, 9, 5)
    want = (a.astype(int) @ b.astype(int).T + bias) * scale * rows[:, None]
    operator = ops.QuantBatchMatmul(transpose_x2=True, dtype=ms.bfloat16)
    out = operator(
        Tensor(a),
        Tensor(b),
        Tensor(scale.astype(np.float32)),
        None,
        ints(bias),
        Tensor(rows.astype(np.float32)),
    )
    assert out.dtype == ms.bfloat16
    np.testing.assert_allclose(out.float().asnumpy(), want, rtol=1e-2, atol=1e-2)
    bits = scale.astype(np.float32).view(np.uint32).astype(np.int64)
    out = ops.QuantBatchMatmul(transpose_x2=True)(Tensor(a), Tensor(b), Tensor(bits))
    want = (a.astype(int) @ b.astype(int).T) * scale
    np.testing.assert_allclose(out.asnumpy(), want, rtol=2e-3, atol=2e-3)


@pytest.mark.parametrize("groups", [0, 2])
def test_products_by_int8_weights(groups):
    x, weight = rand(3, 4), RNG.integers(-128, 128, (4, 5)).astype(np.int8)
    shape = (2, 5) if groups else (5,)
    scale, offset, bias = rand(*shape) * 0.01, rand(*shape), rand(5)
    wide = [np.repeat(v, 2, 0) if groups else v for v in (scale, offset)]
    want = x @ ((weight + wide[1]) * wide[0]) + bias
    args = [Tensor(v.astype(np.float32)) for v in (scale, offset, bias)]
    operator = ops.WeightQuantBatchMatmul(antiquant_group_size=groups)
    out = operator(
        Tensor(x.astype(np.float32)), Tensor(weight), args[0], args[1], None, None, args[2]
    )
    np.testing.assert_allclose(out.asnumpy(), want, rtol=1e-4, atol=1e-5)


def test_choice_within_groups():
    x, added = rand(3, 12), rand(12) * 0.2
    weights, experts = ops.FusedAddTopKDiv()(
        *(Tensor(v.astype(np.float32)) for v in (x, added)), 4, 2, 2, 3
    )
    shares = 1 / (1 + np.exp(-x))
    scores = (shares + added).reshape(3, 4, 3)
    kept = np.argsort(-np.sort(scores, 2)[..., 1:].sum(2), 1)[:, :2]
    for i in range(3):
        own = [j for j in range(12) if j // 3 in kept[i]]
        order = sorted(own, key=lambda j: -scores[i, j // 3, j % 3])[:3]
        assert experts.asnumpy()[i].tolist() == order
        want = shares[i, order] / shares[i, order].sum() * 2.5
        np.testing.assert_allclose(weights.asnumpy()[i], want, rtol=1e-5)
    with pytest.raises(NotImplementedError, match="is_norm"):
        ops.FusedAddTopKDiv()(Tensor(x), Tensor(added), 4, 2, 2, 3, 0, False)
