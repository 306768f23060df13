"""Primitives that compute with kernels give what their own `compute` gives."""

import shutil

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mindjax_ascend.kernels import foreign
from mindjax_ascend.kernels.lowerings import SMALLEST, lowerings

import mindjax as ms
from mindjax import Tensor, ops
from mindjax.core import device, primitive
from mindjax.core.dtype import float16
from mindjax.ops.conv import Conv2D
from mindjax.ops.fused.experts import MoeGatingTopKSoftmax, MoeTokenPermute, MoeTokenUnpermute
from mindjax.ops.fused.flash import FlashAttentionScore
from mindjax.ops.fused.gates import AddRmsNorm, Swiglu
from mindjax.ops.fused.grouped import _Grouped
from mindjax.ops.fused.paged import PagedAttention, _CacheWrite
from mindjax.ops.fused.quantized import QuantBatchMatmul, WeightQuantBatchMatmul
from mindjax.ops.fused.rotary import RotaryPositionEmbedding
from mindjax.ops.neural.recurrence import _Recurrence
from mindjax.ops.normalization import LayerNorm, RmsNorm, _LayerNormPlain
from mindjax.ops.softmax import Softmax

pytestmark = [
    pytest.mark.skipif(shutil.which("g++") is None, reason="needs g++"),
    pytest.mark.skipif(jax.device_count() > 1, reason="kernels run on one device"),
]


def normal(*shape, dtype="f"):
    return np.random.default_rng(len(shape)).normal(size=shape).astype(dtype)


def ints(high, *shape):
    return np.random.default_rng(2).integers(0, high, shape).astype(np.int32)


def int8(*shape):
    return np.random.default_rng(3).integers(-128, 128, shape).astype(np.int8)


def attention(mode, mask=None, layout="BNSD", heads=4, **options):
    shape = {"BNSD": (2, 4, 33, 8), "BSH": (2, 33, 32), "BSND": (2, 33, 4, 8), "SBH": (33, 2, 32)}
    record = FlashAttentionScore(
        heads, scale_value=0.3, input_layout=layout, sparse_mode=mode, **options
    )
    q, k, v = (normal(*shape[layout]) for _ in range(3))
    return record, [
        q,
        k[:, :2] if layout == "BNSD" else k,
        v[:, :2] if layout == "BNSD" else v,
        *[None] * 2,
        mask,
        *[None] * 3,
    ]


HIDDEN = np.random.default_rng(5).random((2, 1, 33, 33)) < 0.4
LSTM = [normal(5, 3, 6), (normal(3, 4), normal(1, 4)), normal(16, 6), normal(16, 4)]
CACHE = normal(5, 16, 2, 8)
CASES = {
    "attention": attention(0),
    "attention BSH, mask and band": attention(0, HIDDEN, "BSH", pre_tokens=9, next_tokens=3),
    "attention BSND, mask": attention(1, HIDDEN[0, 0].astype(np.uint8), "BSND"),
    "attention SBH, triangle": attention(2, None, "SBH"),
    "attention, lower triangle": attention(3),
    "attention, band": attention(4, pre_tokens=5, next_tokens=2),
    "rms norm": (RmsNorm(1e-5), [normal(6, 33), normal(33)]),
    "rms norm of half": (RmsNorm(1e-5), [normal(6, 33, dtype="e"), normal(33, dtype="e")]),
    "add rms norm": (AddRmsNorm(), [normal(6, 33), normal(6, 33), normal(33)]),
    "layer norm": (LayerNorm(-1, -1), [normal(6, 33), normal(33), normal(33)]),
    "layer norm of two axes": (LayerNorm(1, 1), [normal(6, 3, 7), normal(3, 7), normal(3, 7)]),
    "layer norm, plain": (_LayerNormPlain(1, 1e-5), [normal(6, 33), normal(33), normal(33)]),
    "softmax": (Softmax(), [normal(6, 33)]),
    "swiglu": (Swiglu(), [normal(6, 34)]),
    "rotary": (RotaryPositionEmbedding(), [normal(2, 3, 4, 8), *[normal(1, 1, 4, 8)] * 2]),
    "gating": (MoeGatingTopKSoftmax(k=2), [normal(6, 9), None]),
    "permute": (MoeTokenPermute(), [normal(6, 9), ints(4, 6, 2)]),
    "permute, one expert each": (MoeTokenPermute(num_out_tokens=4), [normal(6, 9), ints(4, 6)]),
    "unpermute": (MoeTokenUnpermute(), [normal(12, 9), ints(12, 12), normal(6, 2)]),
    "grouped": (
        _Grouped(3, 0),
        [(normal(9, 5),), (normal(3, 5, 7),), *[None] * 5, np.asarray([2, 5, 8])],
    ),
    "grouped by counts": (
        _Grouped(3, 0, 1),
        [(normal(9, 5),), (normal(3, 5, 7),), *[None] * 5, np.asarray([2, 5, 1])],
    ),
    "weight quant": (
        WeightQuantBatchMatmul(),
        [normal(3, 40), int8(40, 7), normal(7), normal(7), None, None, normal(7)],
    ),
    "weight quant in groups": (
        WeightQuantBatchMatmul(False, True, 32),
        [normal(3, 40), int8(7, 40), normal(7, 2), None, None, None, None],
    ),
    "quant": (
        QuantBatchMatmul(False, True, float16),
        [int8(3, 40), int8(7, 40), normal(7) / 1000, None, None, None],
    ),
    "paged attention": (
        PagedAttention(4, 0.3, 2),
        [normal(3, 32), CACHE, CACHE[::-1], ints(5, 3, 2), ints(32, 3), *[None] * 5],
    ),
    "cache": (_CacheWrite(), [CACHE, normal(4, 16), np.asarray([3, -1, 40, 0])]),
    "convolution": (
        Conv2D(7, 3, pad_mode="pad", pad=1, stride=2),
        [normal(2, 5, 6, 9), normal(7, 5, 3, 3)],
    ),
    "lstm": (_Recurrence("lstm"), [*LSTM, normal(16), normal(16), None]),
    "lstm backwards": (_Recurrence("lstm", True), [*LSTM, None, None, None]),
}


def result(function, arrays):
    """Give results, and the gradients of the arrays of floats by the result that counts."""
    leaves, tree = jax.tree.flatten(list(arrays))
    places = [i for i, x in enumerate(leaves) if x.dtype.kind == "f"]

    def of_floats(floats):
        every = list(leaves)
        for i, x in zip(places, floats, strict=True):
            every[i] = x
        out = function(*jax.tree.unflatten(tree, every))
        counts = out[3:] if len(jax.tree.leaves(out)) == 4 else out
        floats = [x for x in jax.tree.leaves(counts) if x.dtype.kind == "f"]
        return sum((x * jnp.cos(jnp.arange(x.size)).reshape(x.shape)).sum() for x in floats), out

    (_, out), slopes = jax.value_and_grad(of_floats, has_aux=True)([leaves[i] for i in places])
    return out, slopes


# What says nearly what another row says.
SLOW = (
    "attention",
    "attention BSND, mask",
    "attention, band",
    "add rms norm",
    "softmax",
    "swiglu",
    "rotary",
    "unpermute",
    "weight quant",
    "quant",
    "cache",
    "attention SBH, triangle",
    "attention, lower triangle",
    "layer norm of two axes",
    "layer norm, plain",
    "permute, one expert each",
    "grouped by counts",
    "lstm backwards",
    "rms norm",
)


@pytest.mark.parametrize(
    ("record", "arrays"),
    [pytest.param(*c, id=n, marks=[pytest.mark.slow] * (n in SLOW)) for n, c in CASES.items()],
)
def test_a_lowering_gives_what_compute_gives(record, arrays):
    function = lowerings(type(record))["ascend"](record, *arrays)
    program = str(jax.make_jaxpr(lambda a: function(*a))(arrays))
    assert "ffi_call[" in program
    got = jax.jit(lambda a: result(function, a))(arrays)
    expected = jax.jit(lambda a: result(record.compute, a))(arrays)
    bound = 2e-3 if "f16" in program else 2e-5
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert a.shape == b.shape and a.dtype == b.dtype
        scale = max(1, np.abs(np.nan_to_num(np.asarray(b, np.float64), posinf=0, neginf=0)).max())
        np.testing.assert_allclose(
            np.asarray(a, np.float64), np.asarray(b, np.float64), rtol=bound, atol=bound * scale
        )


def test_primitives_find_lowerings_of_installed_backends(mode, monkeypatch):
    asked = []

    def provider(cls):
        asked.append(cls)
        return lowerings(cls)

    monkeypatch.setattr(primitive, "_providers", lambda: (provider,))
    primitive._provided.cache_clear()
    try:
        # A record that no test before has computed.
        epsilon = 1.25e-6 + mode * 1e-6
        x, gamma = normal(SMALLEST // 128, 128), normal(128)
        forward = lambda x: ops.rms_norm(x, Tensor(gamma), epsilon)[0].sum()  # noqa: E731
        given = ms.value_and_grad(forward)(Tensor(x))
        assert RmsNorm in asked and primitive.lowerings_of(RmsNorm).keys() == {"cpu", "ascend"}
    finally:
        primitive._provided.cache_clear()
    expected = jax.value_and_grad(lambda x: RmsNorm(epsilon).compute(x, gamma)[0].sum())(x)
    for a, b in zip(given, expected, strict=True):
        np.testing.assert_allclose(a.asnumpy(), b, rtol=1e-4, atol=1e-4)


def test_other_classes_have_no_lowering():
    class RmsNorm(primitive.Primitive, register=False):
        pass

    assert lowerings(RmsNorm) == {} == lowerings(primitive.Primitive)


def test_programs_for_cpus_hold_no_branch_for_ascend(monkeypatch):
    """XLA:CPU takes fifteen times as long for gradients of convolutions that lie in a branch."""

    class Doubled(primitive.Primitive, register=False):
        def compute(self, x):
            return x + x

    monkeypatch.setitem(primitive.LOWERINGS, Doubled, {})
    primitive.lowering(Doubled, "ascend")(lambda record, x: x * 2)
    chosen = device.choice()
    found = {}
    try:
        for target in ("CPU", "Ascend"):
            device.put_back((target, None))
            program = jax.make_jaxpr(primitive.computation(Doubled()))(np.float32(1))
            found[target] = [e.primitive.name for e in program.eqns]
    finally:
        device.put_back(chosen)
    assert found["CPU"] == ["add"]
    assert "cond" in found["Ascend"]


@pytest.mark.parametrize("able", [True, False])
def test_products_of_bytes_are_kernels_where_the_processor_is_fast(able, monkeypatch):
    monkeypatch.setattr(foreign, "processor_has", lambda ability: able)
    assert ("cpu" in lowerings(WeightQuantBatchMatmul)) == able
    arrays = [int8(128, 128), int8(128, 128), normal(128), None, None, None]
    records = [QuantBatchMatmul(False, turned) for turned in (False, True)]
    made = [lowerings(QuantBatchMatmul)["cpu"](record, *arrays) for record in records]
    assert [m is not None for m in made] == [able, True]
