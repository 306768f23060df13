"""Kernels in C++ against float64, and their gradients, batches and second derivatives."""

import os
import shutil
import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mindjax_ascend.kernels import (
    adamw,
    convolution,
    flash_attention,
    foreign,
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
    "convolution, channels first": (
        *pair(convolution, "convolution", edges=((1, 1), (2, 0)), channels_first=True),
        [normal(2, 5, 6, 9), normal(3, 3, 5, 34)],
    ),
    "convolution in steps, channels first": (
        *pair(
            convolution, "convolution", stride=(2, 2), edges=((1, 1), (1, 1)), channels_first=True
        ),
        [normal(2, 5, 6, 9), normal(3, 3, 5, 8)],
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
# What says nearly what another row says.
SLOW = (
    "attention",
    "attention, all hidden",
    "add rms norm",
    "softmax",
    "rotary of pairs",
    "weight quant matmul",
    "convolution",
    "convolution, window wider than the image",
    "rms norm of two axes",
    "permute by far numbers",
    "grouped matmul of whole panels",
    "convolution in steps",
    "convolution, channels first",
)


def rows(*names):
    """Give cases as a table."""
    return pytest.mark.parametrize(
        ("kernel", "plain", "inputs"),
        [
            pytest.param(*c, id=n, marks=[pytest.mark.slow] * (n in SLOW and not names))
            for n, c in CASES.items()
            if n in names or not names
        ],
    )


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


@rows()
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


@rows("attention, all hidden", "rms norm", "swiglu", "rotary", "gating", "lstm")
@pytest.mark.slow
def test_second_derivatives(kernel, plain, inputs):
    def twice(function, arrays):
        return slopes(lambda *a: [jnp.sin(g) for g in slopes(function, a)], arrays)

    got = jax.jit(lambda a: twice(kernel, a))(inputs)
    close(got, in_float64(jax.jit(lambda a: twice(plain, a)), inputs), 1e-4)


@rows("attention causal", "rms norm", "softmax", "rotary", "unpermute", "paged attention")
@pytest.mark.slow
def test_batches(kernel, plain, inputs):
    batch = [np.stack([a, a[::-1] if a.dtype.kind == "f" else a]) for a in inputs]
    for axes in ([0] * len(inputs), [0, *[None] * (len(inputs) - 1)]):
        arrays = [b if axis == 0 else a for a, b, axis in zip(inputs, batch, axes, strict=True)]
        got = jax.vmap(lambda *a: (kernel(*a), slopes(kernel, a)), axes)(*arrays)
        close(got, jax.vmap(lambda *a: (plain(*a), slopes(plain, a)), axes)(*arrays), 1e-4)


@pytest.mark.slow
def test_directional_derivatives_go_through_mindjax():
    from mindjax.graph.forward_mode import directional

    x, gamma = normal(6, 37), normal(37)
    forms = [lambda x, f=f: (f(x, gamma)[0], None) for f in (rms_norm.rms_norm, rms_norm.reference)]
    got, expected = (directional(f, (x,), (np.cos(x),))[1] for f in forms)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


NOT_FINITE = np.asarray([[1.0, np.nan, 3.0, 4.0], [1.0, np.inf, 2.0, 0.5], [-np.inf, 1, 2, 3]], "f")
WHOLE = np.ones((1, 3, 1, 4), "f")


@pytest.mark.parametrize(
    ("kernel", "plain"),
    [
        (softmax.softmax, softmax.reference),
        (swiglu.swiglu, swiglu.reference),
        (
            lambda x: rms_norm.rms_norm(x, np.ones(4, "f")),
            lambda x: rms_norm.reference(x, np.ones(4, "f")),
        ),
        (lambda x: moe.gating_top_k(x, 2), lambda x: moe.gating_reference(x, 2)),
        (
            lambda x: flash_attention.flash_attention(x[None, :, None], WHOLE, WHOLE)[0],
            lambda x: flash_attention.reference(x[None, :, None], WHOLE, WHOLE)[0],
        ),
    ],
    ids=["softmax", "swiglu", "rms norm", "gating", "attention"],
)
def test_numbers_that_are_not_finite(kernel, plain):
    for a, b in zip(*(jax.tree.leaves(f(NOT_FINITE)) for f in (kernel, plain)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5)


EMPTY = {
    "attention without keys": (
        *attend(),
        [normal(1, 5, 2, 8), normal(1, 0, 2, 8), normal(1, 0, 2, 8)],
    ),
    "attention without queries": (
        *attend(),
        [normal(1, 0, 2, 8), normal(1, 3, 2, 8), normal(1, 3, 2, 8)],
    ),
    "norm of no rows": (*pair(rms_norm, "rms_norm"), [normal(0, 8), normal(8)]),
    "norm of empty rows": (*pair(rms_norm, "rms_norm"), [normal(3, 0), normal(0)]),
    "swiglu": (*pair(swiglu, "swiglu"), [normal(3, 0)]),
    "softmax": (*pair(softmax, "softmax"), [normal(0, 3)]),
    "permute": (
        partial(moe.permute, kept=0),
        partial(moe.permute_reference, kept=0),
        [normal(0, 3), ints(3, 0, 2)],
    ),
    "grouped matmul": (
        grouped_matmul.grouped_matmul,
        grouped_matmul.reference,
        [normal(0, 3), normal(2, 3, 4), np.zeros(2, "i")],
    ),
}


@pytest.mark.parametrize(
    ("kernel", "plain", "inputs"),
    [
        pytest.param(
            *c, id=n, marks=[pytest.mark.slow] * (n not in ("norm of empty rows", "permute"))
        )
        for n, c in EMPTY.items()
    ],
)
def test_empty_arrays(kernel, plain, inputs):
    got = jax.jit(lambda a: (kernel(*a), slopes(kernel, a)))(inputs)
    close(got, jax.jit(lambda a: (plain(*a), slopes(plain, a)))(inputs), 1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@rows("rms norm", "rotary", "attention causal")
@pytest.mark.slow
def test_narrow_floats(kernel, plain, inputs, dtype):
    arrays = [jnp.asarray(a, dtype) for a in inputs]
    assert calls(kernel, arrays)
    bound = 2e-2 if dtype == "bfloat16" else 3e-3
    for a, b in zip(*(jax.tree.leaves(f(*arrays)) for f in (kernel, plain)), strict=True):
        assert a.dtype == b.dtype
        np.testing.assert_allclose(np.asarray(a, "f"), np.asarray(b, "f"), rtol=bound, atol=bound)


WRONG = [
    ("normalization", "rms_norm", [normal(3, 5), normal(4)], [(3, 5), (3,)], "gamma does not fit"),
    ("softmax", "softmax", [np.ones((2, 3))], [(2, 3)], "must be float32"),
    ("swiglu", "swiglu", [normal(2, 3)], [(2, 1)], "must be even"),
    ("rotary", "rotary", [normal(2, 4), normal(3, 4), normal(3, 4)], [(2, 4)], "do not broadcast"),
    ("lstm", "lstm", [normal(2, 3, 8), normal(8, 3)], [(2, 3, 2)], "do not fit"),
    ("moe", "moe_unpermute", [normal(4, 3), ints(4, 3), normal(2, 2)], [(2, 3)], "for each index"),
    ("softmax", "softmax_grad", [normal(2, 3)], [(2, 3)], "argument is missing"),
    ("paged_attention", "reshape_and_cache", [normal(2, 3)], [(2, 3)], "no number named bytes"),
]


@pytest.mark.parametrize(("source", "name", "arrays", "shapes", "message"), WRONG)
def test_what_a_kernel_cannot_do_is_an_error_of_one_line(source, name, arrays, shapes, message):
    outputs = [(s, np.float32) for s in shapes]
    numbers = {"epsilon": 1e-6} if "norm" in name else {}
    with jax.enable_x64(True), pytest.raises(jax.errors.JaxRuntimeError, match=message) as error:
        jax.block_until_ready(foreign.call(source, name, outputs, *arrays, **numbers))
    assert f"{name}: " in str(error.value).splitlines()[0]


def test_every_kernel_names_the_vendors_operators():
    kinds = {"in", "optional", "out", "inout", "list", "text"}
    kinds |= {"double", "float", "int", "bool", "ints", "bools"}
    modules = [x for x in globals().values() if hasattr(x, "ACLNN")]
    assert len(modules) == 14 - 1
    for operator in (o for m in modules for o in m.ACLNN):
        names = [a.partition(":") for a in operator.arguments]
        assert operator.name.startswith("aclnn") and {n[0] for n in names} <= kinds
        assert len({n[2] for n in names}) == len(names) or "text:x" in operator.arguments


@pytest.mark.slow
def test_without_a_compiler_the_plain_forms_stand(tmp_path):
    program = (
        "import numpy as np; from mindjax_ascend.kernels import softmax;"
        "x = np.ones((2, 4), 'f'); assert not softmax.wanted(x); print(softmax.softmax(x)[0, 0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ
        | {
            "PATH": str(tmp_path),
            "XDG_CACHE_HOME": str(tmp_path),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        capture_output=True,
        text=True,
        check=True,
    )
    assert float(done.stdout) == 0.25
