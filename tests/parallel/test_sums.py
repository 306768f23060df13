"""Sums of 16-bit numbers over devices: in Float32 where that is asked for, and what it changes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from mindjax_parallel.rewrite import rewritten, summed_in_float32
from tests.parallel.launching import on_eight_devices


def loop(x, w):
    """Sums within a loop and a function that is differentiated."""

    def step(y, _):
        return jnp.tanh(y @ w) + w[jnp.array([1, 1, 0, 3])], y.sum(0)

    return jax.lax.scan(step, x, None, 2)[1].sum()


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
def test_sums_are_float32(dtype):
    x, w = (jax.ShapeDtypeStruct((4, 4), dtype),) * 2
    before = jax.make_jaxpr(jax.grad(loop, (0, 1)))(x, w)
    after = rewritten(before, summed_in_float32)
    assert [v.aval for v in after.jaxpr.outvars] == [v.aval for v in before.jaxpr.outvars]
    sums = ("= dot_general", "= reduce_sum", "= scatter-add")
    lines = [line for line in str(after).splitlines() if any(s in line for s in sums)]
    assert len(lines) >= 6
    assert all(":f32[" in line for line in lines)
    values = [np.eye(4), np.full((4, 4), 0.25)]
    results = [
        jax.jit(jax.extend.core.jaxpr_as_fun(f))(*(dtype(v) for v in values))
        for f in (before, after)
    ]
    for a, b in zip(*results, strict=True):
        np.testing.assert_allclose(a.astype(np.float32), b.astype(np.float32), rtol=2e-2, atol=1e-2)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["data", "semi", "shared", "stages", "wrapped"])
def test_gradients(name):
    """The gradients are the exact sums, rounded; without the setting they are not."""
    (found,) = on_eight_devices("tests.parallel.sums", name, limit=200)
    assert found["wide"] == 0
    assert "f16" not in found["kinds"] and "f32" in found["kinds"]
    assert "f16" in found["others"]
    # Micro batches have few rows, whose sums are exact in 16 bits too.
    assert found["narrow"] > 0 or name == "stages"


@pytest.mark.slow
def test_parameters_with_several_uses():
    """Devices add up what several uses of a Parameter give, not each use's gradient."""
    for found in on_eight_devices("tests.parallel.tied", limit=200):
        assert found["error"] <= 1e-3
        # In Float32, and the loss.
        assert found["sums"] == {"all-reduce": 4 * found["numbers"] + 4}
        assert not found["halves"]
