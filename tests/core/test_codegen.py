"""An op's own program is compiled sooner, and gives the very bits of the usual code."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import mindjax as ms
from mindjax import ops
from mindjax.core import codegen
from mindjax.core.executable import executable

X = jnp.asarray(np.random.default_rng(5).standard_normal((33, 65)), jnp.float32)


def normalized(x):
    centred = x - x.mean(1, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(1, keepdims=True) + 1e-5)


@pytest.mark.parametrize(
    ("function", "sooner"),
    [
        (jnp.tanh, True),
        (jax.nn.gelu, True),
        (lambda x: x.astype(jnp.bfloat16), True),
        (lambda x: jax.nn.softmax(x, -1), True),
        (lambda x: x.sum(0), True),
        (lambda x: jnp.concatenate([x, x], 1), True),
        (jax.grad(lambda x: (normalized(x) ** 4).sum()), True),
        (lambda x: x.T + 1, False),
        (lambda x: jax.jit(jnp.transpose)(x), False),
        (lambda x: x.argmax(1), False),
        (lambda x: jnp.pad(x, 1), False),
        (lambda x: x.at[jnp.arange(3)].add(1.0), False),
        (lambda x: jnp.cumsum(x, 1), False),
    ],
)
def test_both_ways_give_the_same_bits(function, sooner):
    jitted = jax.jit(function)
    made = codegen.program(function, jitted, [X])
    assert codegen.at_once(jitted.trace(X).jaxpr) == sooner
    assert (made is not jitted) == sooner
    np.testing.assert_array_equal(np.asarray(made(X)), np.asarray(jitted(X)))


def test_an_op_runs_its_own_program_alone_and_its_plain_one_within_another():
    """Jax takes options for the outermost program only."""
    x = ms.Tensor(np.asarray(X))
    alone = ops.tanh(x)
    found = executable(ops.operations.Tanh())
    assert found.alone is not found.call
    within = jax.jit(lambda a: ops.tanh(ms.Tensor(a)).value() * 1)(X)
    np.testing.assert_allclose(alone.asnumpy(), np.asarray(within), rtol=1e-6)


def test_a_user_who_disables_jit_gets_the_plain_program():
    jitted = jax.jit(jnp.tanh)
    with jax.disable_jit():
        assert codegen.program(jnp.tanh, jitted, [X]) is jitted
