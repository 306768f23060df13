"""Kernels in C++ against float64, and their gradients, batches and second derivatives."""

import shutil
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from mindjax_ascend.kernels import (
    flash_attention,
    layer_norm,
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
}
TABLE = pytest.mark.parametrize(("kernel", "plain", "inputs"), CASES.values(), ids=CASES)


def loss(function, arrays):
    """Weigh all results unlike each other."""
    leaves = jax.tree.leaves(function(*arrays))
    return sum(
        (x * jnp.cos(jnp.arange(x.size, dtype=x.dtype)).reshape(x.shape)).sum() for x in leaves
    )


def slopes(function, arrays):
    return jax.grad(lambda arrays: loss(function, arrays))(arrays)


def close(got, expected, tolerance):
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(
            a, b, rtol=tolerance, atol=tolerance * max(1, np.abs(b).max(initial=0))
        )


def in_float64(function, arrays):
    with jax.enable_x64(True):
        return function([np.asarray(a, np.float64) for a in arrays])


@TABLE
def test_values_and_gradients(kernel, plain, inputs):
    got = jax.jit(lambda a: (kernel(*a), slopes(kernel, a)))(inputs)
    expected = in_float64(jax.jit(lambda a: (plain(*a), slopes(plain, a))), inputs)
    close(got, expected, 1e-5)
