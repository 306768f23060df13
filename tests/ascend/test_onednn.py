"""Convolutions by oneDNN against float64, with derivatives, in batches, threads and both modes."""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mindjax_ascend.kernels import foreign, onednn
from mindjax_ascend.kernels.lowerings import lowerings
from mindjax_ascend.kernels.onednn_convolution import (
    IMAGE,
    Numbers,
    convolution,
    plain,
    reference,
    transposed,
)

import mindjax as ms
from mindjax import Tensor, nn, ops
from mindjax.core import primitive
from mindjax.ops.conv import Conv2D, Conv3D, _Conv1D, _ConvTranspose

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
    pytest.mark.skipif(jax.device_count() > 1, reason="kernels run on one device"),
]


@pytest.fixture
def library():
    if not onednn.loaded():
        pytest.skip("needs onednn-cpu-gomp")


def normal(*shape):
    return np.random.default_rng(len(shape)).normal(size=shape).astype("f")


def case(x, w, stride=1, edges=1, dilation=1, groups=1, last=False):
    count = len(x) - 2
    edges = edges if isinstance(edges, tuple) else ((edges, edges),) * count
    numbers = Numbers((stride,) * count, edges, (dilation,) * count, groups, last)
    return [normal(*x), normal(*w) / np.sqrt(np.prod(w[1:]), dtype="f")], numbers


# Sizes are such that two threads take parts of the batch, of groups and of channels, or one all.
CASES = {
    "small": case((2, 3, 7, 6), (5, 3, 3, 3)),
    "parts of the batch": case((4, 16, 16, 15), (32, 16, 3, 3)),
    "an odd batch, steps": case((5, 16, 17, 18), (24, 16, 3, 3), 2),
    "parts of channels": case((1, 64, 7, 7), (96, 64, 3, 3)),
    "far more weights than pixels": case((3, 160, 3, 3), (160, 160, 3, 3)),
    "channels by the way": case((1, 40, 9, 9), (56, 40, 3, 3)),
    "each channel apart": case((2, 32, 20, 20), (32, 1, 5, 5), edges=2, groups=32),
    "parts of groups": case((1, 32, 20, 20), (64, 8, 3, 3), groups=4),
    "dilation, edges that differ": case(
        (2, 8, 11, 12), (16, 8, 3, 2), 2, ((2, 0), (1, 3)), dilation=2
    ),
    "last pixels unseen": case((2, 4, 10, 10), (4, 4, 3, 3), 4, 0),
    "one pixel's window": case((4, 48, 16, 16), (64, 48, 1, 1), edges=0),
    "channels last": case((4, 16, 16, 16), (32, 3, 3, 16), last=True),
    "channels last, few": case((4, 20, 20, 3), (16, 7, 7, 3), 2, 3, last=True),
    "channels last, groups": case((2, 12, 12, 16), (16, 3, 3, 4), groups=4, last=True),
    "lines": case((4, 16, 200), (32, 16, 5), edges=2),
    "lines of groups": case((2, 16, 50), (16, 4, 3), 3, ((1, 0),), groups=4),
    "volumes": case((2, 8, 9, 8, 7), (16, 8, 3, 3, 3)),
    "volumes, steps": case((1, 4, 9, 8, 7), (8, 4, 2, 3, 1), 2),
}
SLOW = (
    "last pixels unseen",
    "one pixel's window",
    "volumes",
    "small",
    "channels by the way",
    "channels last, few",
    "channels last, groups",
    "lines of groups",
    "an odd batch, steps",
)


def rows(*names):
    return pytest.mark.parametrize(
        ("arrays", "numbers"),
        [
            pytest.param(*c, id=n, marks=[pytest.mark.slow] * (n in SLOW and not names))
            for n, c in CASES.items()
            if n in names or not names
        ],
    )


def loss(function, arrays):
    out = function(*arrays)
    return (jnp.sin(out) * jnp.cos(jnp.arange(out.size, dtype=out.dtype)).reshape(out.shape)).sum()


def slopes(function, arrays):
    return jax.grad(lambda arrays: loss(function, arrays))(list(arrays))


def close(got, expected, tolerance=1e-5):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert a.shape == b.shape
        a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
        bound = tolerance * np.abs(b).max()
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=bound)


def calls(function, arrays):
    return str(jax.make_jaxpr(function)(*arrays)).count("onednn_convolution[")


@rows()
def test_values_and_gradients(library, arrays, numbers):
    def both(form, arrays):
        function = lambda *a: form(*a, numbers)  # noqa: E731
        return function(*arrays), slopes(function, arrays)

    assert calls(lambda *a: both(convolution, a), arrays) == 4
    got = jax.jit(lambda a: both(convolution, a))(arrays)
    with jax.enable_x64(True):
        wide = [np.asarray(a, np.float64) for a in arrays]
        expected = jax.jit(lambda a: both(reference, a))(wide)
    close(got, expected)


def test_what_xla_does_faster_is_left_to_it(library):
    for x, w, groups, handed in [
        ((2, 64, 16, 16), (64, 64, 3, 3), 1, {0, 1, 2}),
        ((2, 64, 16, 16), (3, 64, 3, 3), 1, {2}),
        ((2, 3, 16, 16), (64, 3, 3, 3), 1, {0, 2}),
        ((2, 64, 16, 16), (64, 1, 3, 3), 64, {0, 1, 2}),
    ]:
        arrays, numbers = case(x, w, groups=groups)
        gradient = jax.jit(
            jax.grad(lambda *a, n=numbers: loss(partial(convolution, numbers=n), a), (0, 1))
        )
        text = gradient.lower(*arrays).as_text()
        called = re.findall(r"mindjax_onednn_convolution\(.*role = (\d)", text)
        assert set(map(int, called)) == handed, x


@rows("small")
def test_directions_and_second_derivatives(library, arrays, numbers):
    def derived(form, arrays):
        function = lambda *a: form(*a, numbers)  # noqa: E731
        ahead = jax.jvp(function, arrays, [jnp.cos(a) for a in arrays])[1]
        twice = slopes(lambda *a: jnp.sin(slopes(function, a)[1]), arrays)
        return ahead, twice

    got = jax.jit(lambda a: derived(convolution, a))(arrays)
    close(got, jax.jit(lambda a: derived(reference, a))(arrays), 1e-4)


@pytest.mark.parametrize(
    "axes", [(1, None), *(pytest.param(a, marks=pytest.mark.slow) for a in ((None, 0), (0, 0)))]
)
@rows("small")
def test_batches(library, arrays, numbers, axes):
    given = [
        a if axis is None else np.stack([a, a[::-1], 2 * a], axis)
        for a, axis in zip(arrays, axes, strict=True)
    ]

    def both(form, *arrays):
        function = lambda *a: form(*a, numbers)  # noqa: E731
        return function(*arrays), slopes(function, arrays)

    found = [jax.vmap(lambda *a, f=f: both(f, *a), axes) for f in (convolution, reference)]
    close(*(jax.jit(f)(*given) for f in found))
    assert calls(found[0], given) == (3 if axes == (1, None) else 0)


def test_a_transposed_convolution(library):
    y, w = normal(2, 8, 6, 5), normal(8, 3, 4, 3)
    numbers = Numbers((2, 3), ((1, 0), (1, 1)), (1, 1))
    sizes = ((6 - 1) * 2 + 4 - 1 + 1, (5 - 1) * 3 + 3 - 2 + 2)
    params = {"role": IMAGE, "shape": (2, 3, *sizes), "numbers": numbers}
    forms = [lambda *a: transposed(*a, numbers, sizes), lambda *a: plain(*a, **params)]
    got, expected = (jax.jit(lambda *a, f=f: (f(*a), slopes(f, a)))(y, w) for f in forms)
    close(got, expected)


def test_not_finite_numbers_stay_where_they_are(library):
    x, w = normal(1, 3, 9, 9), normal(5, 3, 3, 3)
    x[0, 1, 4, 4], x[0, 2, 0, 8] = np.nan, np.inf
    numbers = case(x.shape, w.shape)[1]
    got, expected = (
        np.asarray(jax.jit(lambda *a, f=f: f(*a, numbers))(x, w)) for f in (convolution, reference)
    )
    np.testing.assert_array_equal(np.isnan(got), np.isnan(expected))
    np.testing.assert_array_equal(np.isinf(got), np.isinf(expected))


def test_several_threads_at_once(library):
    (x, w), numbers = CASES["parts of the batch"]
    grown = [np.concatenate([x] * (1 + n)) for n in range(4)]
    step = jax.jit(
        lambda x, w: (
            convolution(x, w, numbers),
            slopes(lambda *a: convolution(*a, numbers), (x, w)),
        )
    )
    alone = [jax.tree.map(np.asarray, step(x, w)) for x in grown]
    with ThreadPoolExecutor(4) as pool:
        for which, got in enumerate(pool.map(lambda n: step(grown[n % 4], w), range(40))):
            for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(alone[which % 4]), strict=True):
                np.testing.assert_array_equal(a, b)


RECORDS = {
    "same": (Conv2D(7, 3, pad_mode="same", stride=2), (2, 4, 32, 65), (7, 4, 3, 3)),
    "valid": (Conv2D(6, (3, 2), dilation=2, group=2), (2, 4, 32, 65), (6, 2, 3, 2)),
    "pads": (
        Conv2D(8, 3, pad_mode="pad", pad=(0, 1, 2, 3), data_format="NHWC"),
        (2, 32, 65, 4),
        (8, 3, 3, 4),
    ),
    "lines": (_Conv1D(8, 3, pad_mode="pad", pad=1), (2, 4, 2048), (8, 4, 3)),
    "volumes": (Conv3D(8, 3, pad_mode="same"), (2, 4, 9, 16, 16), (8, 4, 3, 3, 3)),
    "transposed": (
        _ConvTranspose((1, 0, 1, 1), (1, 0), (2, 2), (1, 1), 2),
        (2, 8, 32, 33),
        (8, 3, 3, 3),
    ),
}


@pytest.mark.parametrize(("record", "x", "w"), RECORDS.values(), ids=RECORDS)
def test_a_lowering_gives_what_compute_gives(library, record, x, w):
    arrays = [normal(*x), normal(*w)]
    function = lowerings(type(record))["cpu"](record, *arrays)
    assert calls(function, arrays) == 1
    got = jax.jit(function)(*arrays)
    close(got, jax.jit(record.compute)(*arrays))


@pytest.fixture
def installed(monkeypatch):
    """Let primitives find the lowerings, as where the distribution is installed."""
    monkeypatch.setattr(primitive, "_providers", lambda: (lowerings,))
    primitive._provided.cache_clear()
    yield
    primitive._provided.cache_clear()


@pytest.mark.parametrize(
    ("shape", "dtype", "branches"),
    [((2, 8, 40, 40), "f", 1), ((2, 8, 9, 9), "f", 0), ((2, 8, 40, 40), "e", 0)],
)
def test_no_branch_for_what_the_library_does_not_take(library, installed, shape, dtype, branches):
    """XLA:CPU takes fifteen times as long for gradients of convolutions that lie in a branch."""
    record = Conv2D(4, 3)
    arrays = [normal(*shape).astype(dtype), normal(4, 8, 3, 3).astype(dtype)]
    program = jax.make_jaxpr(primitive.computation(record))(*arrays)
    assert [e.primitive.name for e in program.eqns].count("cond") == branches


def test_networks_in_both_modes(library, installed, mode, tmp_path):
    x = Tensor(normal(2, 4, 32, 65 + mode))
    net = nn.Conv2d(4, 6, 3, pad_mode="pad", padding=(1, 0, 2, 1), has_bias=True)
    net.weight.set_data(Tensor(normal(6, 4, 3, 3)))
    asked = []
    found = foreign.call
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(foreign, "call", lambda *a, **k: asked.append(a[0]) or found(*a, **k))
        function = lambda x: ops.sin(net(x)).sum()  # noqa: E731
        value, slope = ms.value_and_grad(function)(x)
        value.asnumpy(), slope.asnumpy()
    assert set(asked) == {"onednn_convolution"}
    numbers = Numbers((1, 1), ((1, 0), (2, 1)), (1, 1))
    weight, bias = net.weight.asnumpy(), net.bias.asnumpy()[:, None, None]
    expected = jax.value_and_grad(lambda x: jnp.sin(reference(x, weight, numbers) + bias).sum())
    close((value.asnumpy(), slope.asnumpy()), expected(x.asnumpy()), 1e-4)
    ms.export(net, x, file_name=str(tmp_path / "net"), file_format="STABLEHLO")
    written = (tmp_path / "net.stablehlo").read_bytes()
    assert b"convolution" in written and b"mindjax_onednn" not in written


def test_without_jit_and_exported(library):
    arrays, numbers = CASES["small"]
    function = lambda *a: convolution(*a, numbers)  # noqa: E731
    expected = reference(*arrays, numbers)
    with jax.disable_jit():
        close(function(*arrays), expected)
    exported = jax.export.export(jax.jit(function))(*arrays)
    assert "custom_call @mindjax" not in exported.mlir_module()
    close(jax.export.deserialize(exported.serialize()).call(*arrays), expected)


@pytest.mark.parametrize("named", ["0", "/nowhere/libdnnl.so.3"])
def test_without_the_library_plain_forms_stand(named, monkeypatch):
    monkeypatch.setenv("MINDJAX_ONEDNN", named)
    onednn.loaded.cache_clear()
    try:
        assert onednn.loaded() == "" and not onednn.available()
        _, x, w = RECORDS["same"]
        arrays = [normal(*x), normal(*w)]
        assert "cpu" not in lowerings(Conv2D) and not lowerings(_ConvTranspose)
        numbers = case(x, w)[1]
        assert calls(lambda *a: convolution(*a, numbers), arrays) == 0
    finally:
        onednn.loaded.cache_clear()


@pytest.mark.parametrize("named", ["/nowhere", "libm.so.6"])
def test_other_libraries_are_refused(named):
    reason = onednn.refusal(named)
    expected = {"/nowhere": "cannot open", "libm.so.6": "there is no dnnl_version"}[named]
    assert ("another one is loaded" if onednn.loaded() else expected) in reason
