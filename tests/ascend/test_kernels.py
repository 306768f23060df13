"""Kernels in C++ against float64, and their gradients, batches and second derivatives."""

import shutil
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mindjax_ascend.kernels import (
    adamw,
    convolution,
    flash_attention,
    grouped_matmul,
    layer_norm,
    lstm,
    moe,
    paged_attention,
    quant_matmul,
    rms_norm,
    rotary,
    softmax,
    swiglu,
)

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
    pytest.mark.skipif(jax.device_count() > 1, reason="kernels run on one device"),
]


def normal(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("f")


def attend(causal=False, mask=None):
    after = 0 if causal else flash_attention.UNBOUNDED
    options = {"scale": 0.2, "after": after, "mask": mask}
    return tuple(
        lambda *a, f=f: f(*a, **options)[0]
        for f in (flash_attention.flash_attention, flash_attention.reference)
    )


def hidden(*shape):
    return np.random.default_rng(1).random(shape) < 0.3


def ints(high, *shape):
    return np.random.default_rng(2).integers(0, high, shape).astype(np.int32)


def int8(*shape):
    return np.random.default_rng(3).integers(-128, 128, shape).astype(np.int8)


def of_lists(form):
    """Take the arrays of two parameters one by one."""

    def step(numbers, *arrays):
        return form(*(list(arrays[i::4]) for i in range(4)), numbers)

    return step


def pair(module, name, **options):
    return partial(getattr(module, name), **options), partial(module.reference, **options)


ATTENTION = [normal(2, 70, 4, 16), normal(2, 70, 2, 16), normal(2, 70, 2, 16)]
CASES = {
    "attention": (*attend(), ATTENTION),
    "attention causal": (*attend(causal=True), ATTENTION),
    "attention masked": (*attend(mask=hidden(2, 4, 70, 70)), ATTENTION),
    "attention of odd sizes": (
        *attend(mask=hidden(1, 1, 5, 131)),
        [normal(1, 5, 2, 40), normal(1, 131, 1, 40), normal(1, 131, 1, 24)],
    ),
    "attention, all hidden": (*attend(mask=np.ones((1, 1, 70, 70), "?")), ATTENTION),
    "rms norm": (*pair(rms_norm, "rms_norm"), [normal(3, 5, 37), normal(37)]),
    "rms norm of two axes": (*pair(rms_norm, "rms_norm"), [normal(9, 4, 8), normal(4, 8)]),
    "add rms norm": (
        rms_norm.add_rms_norm,
        rms_norm.add_reference,
        [normal(3, 5, 37), normal(3, 5, 37)[::-1], normal(37)],
    ),
    "layer norm": (*pair(layer_norm, "layer_norm"), [normal(3, 5, 37), normal(37), normal(37)]),
    "softmax": (*pair(softmax, "softmax"), [normal(3, 5, 37)]),
    "swiglu": (*pair(swiglu, "swiglu"), [normal(3, 5, 38)]),
    "rotary": (
        *pair(rotary, "rotary"),
        [normal(2, 3, 5, 8), normal(1, 1, 5, 8), normal(2, 1, 5, 8)[:1]],
    ),
    "rotary of pairs": (
        *pair(rotary, "rotary", interleaved=True),
        [normal(2, 3, 5, 8), normal(2, 1, 5, 8), normal(2, 1, 5, 8)],
    ),
    "gating": (
        partial(moe.gating_top_k, k=3),
        partial(moe.gating_reference, k=3),
        [normal(7, 10)],
    ),
    "permute": (
        partial(moe.permute, kept=17),
        partial(moe.permute_reference, kept=17),
        [normal(9, 5), ints(4, 9, 2)],
    ),
    "permute by far numbers": (
        partial(moe.permute, kept=18),
        partial(moe.permute_reference, kept=18),
        [normal(9, 5), ints(10**9, 9, 2)],
    ),
    "unpermute": (
        moe.unpermute,
        moe.unpermute_reference,
        [normal(15, 5), np.random.default_rng(4).permutation(18).astype("i"), normal(9, 2)],
    ),
    "grouped matmul": (
        grouped_matmul.grouped_matmul,
        grouped_matmul.reference,
        [normal(20, 7), normal(4, 7, 37), np.asarray([3, 3, 11, 18], "i")],
    ),
    "grouped matmul of whole panels": (
        grouped_matmul.grouped_matmul,
        grouped_matmul.reference,
        [normal(20, 7), normal(2, 7, 64), np.asarray([9, 20], "i")],
    ),
    "weight quant matmul": (
        partial(quant_matmul.weight_quant_matmul, group=1100),
        partial(quant_matmul.weight_reference, group=1100),
        [normal(3, 1100), int8(1100, 37), normal(1, 37), normal(1, 37)],
    ),
    "weight quant matmul in groups": (
        partial(quant_matmul.weight_quant_matmul, group=16, turned=True),
        partial(quant_matmul.weight_reference, group=16, turned=True),
        [normal(3, 40), int8(33, 40), normal(3, 33), normal(3, 33)],
    ),
    "paged attention": (
        partial(paged_attention.paged_attention, scale=0.3),
        partial(paged_attention.reference, scale=0.3),
        [
            normal(3, 4, 20),
            normal(9, 16, 2, 20),
            normal(9, 16, 2, 12),
            ints(9, 3, 5),
            np.asarray([80, 0, 33], "i"),
        ],
    ),
    "lstm": (lstm.lstm, lstm.reference, [normal(5, 9, 40), normal(40, 10), *[normal(9, 10)] * 2]),
    "convolution": (
        *pair(convolution, "convolution", edges=((1, 1), (2, 0))),
        [normal(2, 6, 9, 5), normal(3, 3, 5, 34)],
    ),
    "convolution in steps": (
        *pair(convolution, "convolution", stride=(2, 3), edges=((0, 1), (1, 1))),
        [normal(2, 7, 9, 4), normal(3, 2, 4, 32)],
    ),
    "convolution, window wider than the image": (
        *pair(convolution, "convolution", edges=((2, 2), (2, 2))),
        [normal(1, 2, 3, 3), normal(5, 5, 3, 2)],
    ),
    "adamw": (
        of_lists(adamw.adamw),
        of_lists(adamw.reference),
        [
            np.asarray([0.1, 0.001, 1e-3, 1e-2, 0.99, 1.5], "f"),
            *[normal(3, 5), normal(3, 5), normal(3, 5) ** 2, -normal(3, 5)],
            *[normal(70000), normal(70000), normal(70000) ** 2, -normal(70000)],
        ],
    ),
}
TABLE = pytest.mark.parametrize(("kernel", "plain", "inputs"), CASES.values(), ids=CASES)


def is_float(x):
    return jnp.issubdtype(x.dtype, jnp.floating)


def loss(function, arrays):
    """Weigh all results unlike each other."""
    leaves = [x for x in jax.tree.leaves(function(*arrays)) if is_float(x)]
    return sum(
        (x * jnp.cos(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape)).sum() for x in leaves
    )


def slopes(function, arrays):
    """Give the gradients of the arrays of floats."""
    places = [i for i, x in enumerate(arrays) if is_float(x)]

    def of_floats(floats):
        every = list(arrays)
        for i, x in zip(places, floats, strict=True):
            every[i] = x
        return loss(function, every)

    return jax.grad(of_floats)([arrays[i] for i in places])


def close(got, expected, tolerance):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert a.shape == b.shape
        bound = tolerance * max(1, np.abs(np.asarray(b, np.float64)).max(initial=0))
        np.testing.assert_allclose(np.asarray(a, np.float64), b, rtol=tolerance, atol=bound)


def in_float64(function, arrays):
    with jax.enable_x64(True):
        return function([np.asarray(a, np.float64) if is_float(a) else a for a in arrays])


def calls(function, arrays):
    return str(jax.make_jaxpr(lambda a: function(*a))(arrays)).count("ffi_call[")


@TABLE
def test_values_and_gradients(kernel, plain, inputs):
    assert calls(kernel, inputs) and not calls(plain, inputs)
    got = jax.jit(lambda a: (kernel(*a), slopes(kernel, a)))(inputs)
    expected = in_float64(jax.jit(lambda a: (plain(*a), slopes(plain, a))), inputs)
    close(got, expected, 1e-5)


def test_quant_matmul_is_exact():
    for turned in (False, True):
        a, b = int8(3, 2500), int8(37, 2500) if turned else int8(2500, 37)
        assert calls(partial(quant_matmul.quant_matmul, turned=turned), [a, b])
        wide = a.astype(np.int64) @ (b.T if turned else b).astype(np.int64)
        np.testing.assert_array_equal(quant_matmul.quant_matmul(a, b, turned), wide)
    least = np.full((1, 2048), -128, np.int8)
    assert quant_matmul.quant_matmul(least, least, True) == 2048 * 128**2


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_reshape_and_cache(dtype):
    cache = jnp.zeros((3, 4, 2, 5), dtype)
    tokens, slots = jnp.ones((4, 10), dtype), np.asarray([7, -1, 0, 12], "i")
    assert calls(paged_attention.reshape_and_cache, [cache, tokens, slots])
    got = jax.jit(paged_attention.reshape_and_cache)(cache, tokens, slots)
    np.testing.assert_array_equal(got, paged_attention.cache_reference(cache, tokens, slots))
    assert not np.asarray(cache, "f").any()
