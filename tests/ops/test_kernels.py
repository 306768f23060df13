"""Kernels in C++ against their plain forms."""

import ctypes
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindjax as ms
from mindjax import Parameter, Tensor, nn
from mindjax.ops import contraction
from mindjax.ops.compiled import compile_library
from mindjax.ops.kernels import adam, handlers, product
from mindjax.ops.kernels.together import together
from mindjax.ops.kernels.transposed import transposed

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++")

NUMBERS = np.asarray([0.1, 0.001, 1e-3, 1e-8, 0.99, 1.5], np.float32)


def arrays(shape, seed=0):
    rng = np.random.default_rng(seed)
    p, m, g = (rng.normal(size=shape).astype("f") for _ in range(3))
    return p, m, rng.random(shape, np.float32), g


def float64(p, m, v, g, numbers):
    p, m, v, g, numbers = (a.astype(np.float64) for a in (p, m, v, g, numbers))
    m, v = m + (g - m) * numbers[0], v + (g * g - v) * numbers[1]
    return p * numbers[4] - numbers[2] * m / (np.sqrt(v) * numbers[5] + numbers[3]), m, v


@needs_compiler
@pytest.mark.parametrize("form", [adam.step, adam.plain], ids=["kernel", "plain"])
@pytest.mark.parametrize("shape", [(1,), (17,), (4097,), (3, 70001), (0,)], ids=str)
def test_adam(form, shape):
    inputs = arrays(shape)
    out = jax.jit(form)(*inputs, NUMBERS)
    for got, expected in zip(out, float64(*inputs, NUMBERS), strict=True):
        np.testing.assert_allclose(got, expected, rtol=2e-6, atol=1e-7)


@needs_compiler
def test_adam_leaves_operands_that_are_not_donated():
    inputs = [jnp.asarray(a) for a in arrays((5000,))]
    before = [np.array(a) for a in inputs]
    jax.jit(adam.step)(*inputs, NUMBERS)
    for now, then in zip(inputs, before, strict=True):
        np.testing.assert_array_equal(now, then)


@needs_compiler
def test_adam_under_transformations():
    inputs = arrays((64,))

    def loss(form):
        return lambda g: form(*inputs[:3], g, NUMBERS)[0].sum()

    np.testing.assert_allclose(
        jax.grad(loss(adam.step))(inputs[3]), jax.grad(loss(adam.plain))(inputs[3]), rtol=1e-6
    )
    rows = [np.stack([a, a * 2]) for a in inputs]
    each = jax.vmap(adam.step, (0, 0, 0, 0, None))(*rows, NUMBERS)
    whole = adam.plain(*rows, NUMBERS)
    for a, b in zip(each, whole, strict=True):
        np.testing.assert_allclose(a, b, rtol=2e-6, atol=1e-7)


@needs_compiler
@pytest.mark.parametrize("shape", [(1, 1), (16, 32), (100, 37), (3, 0), (1030, 700)], ids=str)
def test_transposed(shape):
    x = np.random.default_rng(0).normal(size=shape).astype("f")
    np.testing.assert_array_equal(jax.jit(transposed)(x), x.T)
    jaxpr = str(jax.make_jaxpr(transposed)(x))
    assert "transposed_copy" in jaxpr


def test_transposed_under_transformations():
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3, 4)), jnp.float32)

    def each(turn):
        def loss(x):
            return (turn(x) ** 2 @ x).sum()

        return (
            jax.vmap(jax.grad(loss))(x),
            jax.vmap(turn, 2)(x),
            jax.jvp(loss, (x[0],), (x[1],)),
            jax.hessian(loss)(x[0]),
        )

    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6),
        each(transposed),
        each(jnp.transpose),
    )


PRODUCTS = [
    (1, 1, 1),
    (6, 8, 16),
    (7, 9, 17),
    (121, 37, 70),
    (5, 700, 30),
    (300, 641, 33),
    (9, 2100, 2100),
    (0, 3, 4),
    (3, 0, 4),
]


def test_kernels_run_without_jit():
    x = jnp.asarray(np.random.default_rng(0).normal(size=(300, 200)).astype("f"))
    with jax.disable_jit():
        np.testing.assert_array_equal(transposed(x), x.T)
        if product.wanted(x):
            np.testing.assert_allclose(product.product(x, x, False, True), x @ x.T, rtol=1e-4)
            slope = jax.grad(lambda a: product.product(a, a, True).sum())(x)
            np.testing.assert_allclose(slope, 2 * x.sum(1, keepdims=True) + 0 * x, rtol=1e-3)


def needs_product():
    if not product.wanted(jnp.ones((1, 1))):
        pytest.skip("no compiler, several devices, or a processor that XLA's products are made for")


@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
def test_product(turned):
    needs_product()
    rng = np.random.default_rng(0)
    options = {"left_turned": bool(turned[0]), "right_turned": bool(turned[1])}
    for rows, depth, columns in PRODUCTS:
        left, right = rng.normal(size=(rows, depth)), rng.normal(size=(depth, columns))
        left, right = left.astype("f"), right.astype("f")
        operands = left.T.copy() if turned[0] else left, right.T.copy() if turned[1] else right
        got = product.product(*map(jnp.asarray, operands), **options)
        # Rounding grows with the sum of what is added up.
        bound = 1e-6 * (np.abs(left).astype("d") @ np.abs(right).astype("d")) + 1e-30
        exact = left.astype("d") @ right.astype("d")
        assert got.shape == exact.shape
        np.testing.assert_array_less(np.abs(got - exact), bound)
        np.testing.assert_array_less(
            np.abs(product.plain(*map(jnp.asarray, operands), **options) - exact), bound
        )


# Batches of several products a thread, of one, of none, and of products that all threads share.
BATCHES = [
    (16, 7, 9, 17),
    (5, 130, 330, 33),
    (1, 6, 5, 4),
    (0, 2, 3, 4),
    (3, 4, 0, 5),
    (3, 2, 521, 520),
]


@pytest.mark.slow
@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
def test_products_of_batches(turned):
    needs_product()
    rng = np.random.default_rng(0)
    options = {"left_turned": bool(turned[0]), "right_turned": bool(turned[1])}
    for count, rows, depth, columns in BATCHES:
        left, right = (
            rng.normal(size=(count, rows, depth)),
            rng.normal(size=(count, depth, columns)),
        )
        left, right = left.astype("f"), right.astype("f")
        operands = (
            left.swapaxes(1, 2).copy() if turned[0] else left,
            right.swapaxes(1, 2).copy() if turned[1] else right,
        )
        bound = 1e-6 * (np.abs(left).astype("d") @ np.abs(right).astype("d")) + 1e-30
        exact = left.astype("d") @ right.astype("d")
        for form in (product.product, product.plain):
            got = form(*map(jnp.asarray, operands), **options)
            assert got.shape == exact.shape
            np.testing.assert_array_less(np.abs(got - exact), bound)


@pytest.mark.parametrize("turned", [(0, 0), (0, 1), (1, 0), (1, 1)], ids=str)
def test_product_under_transformations(turned):
    needs_product()
    rng = np.random.default_rng(0)
    options = {"left_turned": bool(turned[0]), "right_turned": bool(turned[1])}
    x, y = (jnp.asarray(rng.normal(size=(2, 5, 5)), jnp.float32) for _ in range(2))

    def each(form):
        def loss(x, y):
            return jnp.sin(form(x, y, **options)).sum()

        return (
            jax.grad(loss, (0, 1))(x[0], y[0]),
            jax.jvp(jax.grad(loss, (0, 1)), (x[0], y[0]), (x[1], y[1])),
            jax.vmap(jax.grad(loss, (0, 1)), (None, 0))(x[0], y),
            jax.vmap(loss, (2, 0))(jnp.moveaxis(x, 0, 2), y),
        )

    jax.tree.map(
        lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5),
        jax.jit(lambda: each(product.product))(),
        jax.jit(lambda: each(product.plain))(),
    )


def test_products_with_weights_are_the_kernel_and_have_a_switch(monkeypatch):
    needs_product()
    shapes = [jax.ShapeDtypeStruct(s, jnp.float32) for s in ((4, 128, 256), (200, 256))]

    def made():
        def loss(x, w):
            return (contraction.times_weight(x, w, True) ** 2).sum()

        return str(jax.make_jaxpr(jax.grad(loss, (0, 1)))(*shapes))

    assert made().count("packed_product") == 3
    monkeypatch.setattr(contraction, "forms_wanted", lambda: False)
    assert "packed_product" not in made()
    assert made().count("dot_general") == 3


@pytest.mark.slow
@pytest.mark.parametrize("wide", [False, True], ids=["values", "keys"])
def test_right_gradients_of_batches_are_the_kernel_s_and_have_a_switch(monkeypatch, wide):
    needs_product()
    rng = np.random.default_rng(0)
    x = jnp.asarray(rng.normal(size=(2, 4, 128, 128 - 64 * wide)), jnp.float32)
    y = jnp.asarray(rng.normal(size=(2, 4, 128 - 64 * wide, 64 + 64 * wide)), jnp.float32)

    def loss(x, y):
        return jnp.sin(contraction.times_each(x, y)).sum()

    def made():
        both = jax.grad(loss, (0, 1))
        return str(jax.make_jaxpr(both)(x, y)), both(x, y), jax.jvp(loss, (x, y), (x, y))

    program, *values = made()
    assert program.count("packed_product") == 1
    monkeypatch.setattr(contraction, "forms_wanted", lambda: False)
    program, *plain = made()
    assert "packed_product" not in program
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4), values, plain)


@needs_compiler
def test_together_gives_its_operands():
    inputs = jnp.ones((3, 4)), jnp.arange(5), jnp.zeros((0,), jnp.bool_)
    for got, given in zip(jax.jit(together)(*inputs), inputs, strict=True):
        assert got.dtype == given.dtype
        np.testing.assert_array_equal(got, given)
    assert float(jax.grad(lambda x: together(x * x, x)[0])(jnp.float32(3))) == 6.0
    rows = jax.vmap(lambda x: together(x, 2 * x)[1])(jnp.arange(3.0))
    assert rows.tolist() == [0.0, 2.0, 4.0]


@needs_compiler
def test_weights_that_are_written_together_are_not_copied():
    """What the kernel is for."""

    def copies(meet):
        def step(weights, x):
            gradients = jax.grad(lambda w: jnp.tanh(jnp.tanh(x @ w[0]) @ w[1]).sum())(weights)
            return [w - g for w, g in zip(weights, meet(*gradients), strict=True)]

        shapes = [jax.ShapeDtypeStruct((300, 300), jnp.float32)] * 2
        lowered = jax.jit(step, donate_argnums=0).lower(shapes, shapes[0])
        entry = lowered.compile().as_text().partition("ENTRY")[2]
        return entry.count("f32[300,300]{1,0} copy(")

    assert copies(lambda *gradients: gradients) > copies(together) == 0


OPTIMIZERS = [
    ("Adam", lambda p: nn.Adam(p, 1e-2)),
    ("AdamWeightDecay", lambda p: nn.AdamWeightDecay(p, 1e-2, weight_decay=0.1)),
    ("mint AdamW", lambda p: ms.mint.optim.AdamW(p, 1e-2, weight_decay=0.1)),
]


@needs_compiler
@pytest.mark.parametrize(("name", "make"), OPTIMIZERS, ids=[o[0] for o in OPTIMIZERS])
def test_optimizers_step_as_without_kernels(name, make, monkeypatch):
    def trained():
        weight = Parameter(Tensor(arrays((80, 64))[0]), name="weight")
        optimizer = make([weight])
        for i in range(3):
            optimizer((Tensor(arrays((80, 64), i + 1)[3]),))
        return weight.asnumpy()

    if handlers.handler("adam") is None:
        pytest.skip("several devices")
    with_kernel = trained()
    asked = []
    monkeypatch.setattr(adam, "wanted", lambda *arrays: asked.append(arrays))
    jax.clear_caches()
    np.testing.assert_allclose(with_kernel, trained(), rtol=1e-5, atol=1e-6)
    assert asked
    jax.clear_caches()


@pytest.mark.slow
def test_without_a_compiler_the_plain_form_stands(tmp_path):
    program = (
        "import numpy as np, mindjax as ms; from mindjax import nn, Parameter, Tensor;"
        "w = Parameter(Tensor(np.ones((80, 64), 'f')), name='w'); o = nn.Adam([w], 0.5);"
        "o((Tensor(np.ones((80, 64), 'f')),)); print(float(w.asnumpy()[0, 0]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert abs(float(done.stdout) - 0.5) < 1e-6


@needs_compiler
def test_threads_compile_a_source_once(tmp_path):
    source = tmp_path / "one.cc"
    source.write_text('extern "C" int one() { return 1; }')
    with ThreadPoolExecutor(4) as pool:
        waiting = [
            pool.submit(compile_library, [str(source)], "one", (), str(tmp_path / "made"))
            for _ in range(4)
        ]
    paths = {w.result() for w in waiting}
    assert [str(p) for p in (tmp_path / "made").iterdir()] == list(paths)
    assert ctypes.CDLL(paths.pop()).one() == 1


@needs_compiler
def test_a_source_that_is_refused_leaves_nothing(tmp_path):
    source = tmp_path / "none.cc"
    source.write_text("no C++")
    with pytest.raises(RuntimeError, match="could not compile"):
        compile_library([str(source)], "none", (), str(tmp_path / "made"))
    assert not list((tmp_path / "made").iterdir())
    assert handlers.library(source) is None


@needs_compiler
def test_kernels_are_had_where_the_users_folder_cannot_be_written_to(tmp_path, monkeypatch):
    source, file = tmp_path / "one.cc", tmp_path / "file"
    source.write_text('extern "C" int one() { return 1; }')
    file.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(file))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert handlers.library(source).one() == 1
