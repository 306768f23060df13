"""Dispatch: operands, cache keys, raw arrays, views, and what a failing input says."""

import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindjax as ms
from mindjax import Tensor, ops
from mindjax.core import caches, jax_private
from mindjax.core.primitive import Primitive


class Scale(Primitive, register=False):
    """Multiplies by its attribute."""

    factor: float = 1.0

    def compute(self, x):
        return x * jnp.asarray(self.factor, x.dtype)


KEYS = [
    (1, 1.0, False),
    (1, True, False),
    (0.0, -0.0, False),
    (2, 2, True),
    (0.5, 0.5, True),
    ([1, 2], (1, 2), True),
    ("a", b"a", False),
    (None, 0, False),
    (float("nan"), float("nan"), True),
    (np.float32(1), np.float64(1), False),
]


@pytest.mark.parametrize(("x", "y", "equal"), KEYS, ids=[f"{x!r}-{y!r}" for x, y, _ in KEYS])
def test_typed_keys(x, y, equal):
    assert (Scale(x) == Scale(y)) is equal
    assert not equal or hash(Scale(x)) == hash(Scale(y))


def test_an_array_is_never_an_attribute():
    with pytest.raises(TypeError, match="factor"):
        hash(Scale(np.ones(2)))


def test_raw_arrays_in_raw_arrays_out():
    x = jnp.ones(3)
    assert isinstance(ops.add(x, x), jax.Array)
    assert isinstance(ops.add(x, 1.0), jax.Array)
    assert isinstance(ops.add(Tensor(x), x), Tensor)


NUMBERS = [
    ("scalars", lambda x, i: x + i * 0.25),
    ("indices", lambda x, i: x[i % 50]),
    ("negative indices", lambda x, i: x[-1 - i % 50]),
    ("slice starts", lambda x, i: x[i % 40 : i % 40 + 7]),
    ("set by index", lambda x, i: x.__setitem__(i % 50, float(i))),
]


@pytest.mark.parametrize(("name", "use"), NUMBERS, ids=[n for n, _ in NUMBERS])
def test_a_thousand_numbers_compile_few_programs(name, use):
    x = Tensor(np.arange(50, dtype=np.float32))
    before = sum(caches.compilations().values())
    for i in range(1000):
        use(x, i)
    assert sum(caches.compilations().values()) - before <= 10


def test_64_bit_types_without_the_users_setting():
    assert not jax.config.jax_enable_x64
    assert (Tensor([1, 2]) + 1).dtype is ms.int64
    assert (Tensor(np.ones(2)) * 2.0).asnumpy().dtype == np.float64
    assert jnp.ones(3).dtype == np.float32
    assert not jax_private.x64_enabled()


FAULTS = [
    ("not a tensor", lambda: ops.add(Tensor([1.0]), "a"), TypeError, "Add"),
    ("shapes", lambda: ops.add(ops.ones((2, 3)), ops.ones((4,))), ValueError, "broadcast"),
    ("uint16", lambda: Tensor([1], ms.uint16) + Tensor([1], ms.int8), TypeError, "implicit"),
]


@pytest.mark.parametrize(("name", "fault", "error", "words"), FAULTS, ids=[f[0] for f in FAULTS])
def test_faults_name_the_users_line(name, fault, error, words):
    with pytest.raises(error, match=words) as caught:
        fault()
    assert "test_dispatch.py:" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_views_alias_both_ways_in_pynative():
    x = Tensor(np.zeros((2, 3), np.float32))
    row, turned = x[0], x.T
    row[1] = 5.0
    assert x.asnumpy()[0, 1] == 5.0 and turned.asnumpy()[1, 0] == 5.0
    x[0, 2] = 7.0
    assert row.asnumpy()[2] == 7.0
    turned[0, 1] = 9.0
    assert x.asnumpy()[1, 0] == 9.0


def test_private_jax_apis_do_what_is_needed():
    old = jax_private.swap_x64(True)
    assert jax_private.x64_enabled()
    jax_private.set_x64(old)
    assert not jax_private.x64_enabled() and not jax_private.tracing()
    seen = []
    jax.jit(lambda x: seen.append(jax_private.tracing()) or x)(jnp.ones(2))
    assert seen == [True]
    assert "cpu" in jax_private.started_backends()
    total = jax.make_jaxpr(lambda x: jax.lax.psum(x, "rank"), axis_env=[("rank", 2)])(1.0)
    assert jax_private.named_effects(total.jaxpr) == total.jaxpr.effects != set()
    assert not jax_private.named_effects(jax.make_jaxpr(jnp.sin)(1.0).jaxpr)
    assert not jax_private.jit_disabled() and not jax_private.nans_debugged()
    with jax.disable_jit(), jax.debug_infs(True):
        assert jax_private.jit_disabled() and jax_private.nans_debugged()
    with jax.debug_nans(True), pytest.raises(jax_private.NanFound):
        jax.jit(jnp.log).lower(jnp.ones(2)).compile()(-jnp.ones(2))
    closed = jax.make_jaxpr(lambda x: jax.jit(lambda a, b: a * b)(x, np.float32(2.5)))(jnp.ones(2))
    assert [float(np.asarray(v)) for v in jax_private.literals(closed.jaxpr)] == [2.5]
    hoisted, values = jax_private.hoist_literals(closed.jaxpr, {0})
    assert len(values) == 1
    out = jax.core.eval_jaxpr(hoisted, closed.consts, jnp.ones(2), np.float32(4.0))
    np.testing.assert_array_equal(out[0], [4.0, 4.0])


@pytest.mark.parametrize("code", ["ops; ops.ones((2,))", "mint; mint.zeros(2)"])
def test_an_op_is_the_first_thing_used(code: str) -> None:
    command = [sys.executable, "-c", f"from mindjax import {code}"]
    subprocess.run(command, check=True, cwd=pathlib.Path(__file__).parents[2])


def test_an_unchecked_call_runs_an_executable_on_one_device():
    given = [jnp.ones(3), jnp.full(2, 2.0)]
    program = jax.jit(lambda a, b: (a + 1, b * 2), donate_argnums=0, keep_unused=True)
    call = jax_private.unchecked_call(program.lower(*given).compile())
    assert call is not None
    first, second = call(given)
    assert given[0].is_deleted() and not given[1].is_deleted()
    assert first.tolist() == [2.0] * 3 and second.tolist() == [4.0] * 2
    asks = jax.jit(lambda a: jax.pure_callback(lambda v: v, a, a)).lower(given[1]).compile()
    assert jax_private.unchecked_call(asks) is None
    assert jax_private.unchecked_call(None) is None
