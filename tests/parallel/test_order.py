"""Programs with collectives: what counts as one, and the order that their transfers keep."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

from mindjax_parallel.spread import AXIS, calls_collectives, evaluate_in_order

SIZE = 4
# `jax.vmap` needs a partner for each.
SWAPS = [(0, 1), (1, 0), (2, 3), (3, 2)]
X = np.arange(6, dtype=np.float32)


def traced(function, *arrays):
    return jax.make_jaxpr(function, axis_env=[(AXIS, SIZE)])(*arrays)


def within(function):
    return jax.jit(lambda x: jax.jit(function)(x) + 1)


FUNCTIONS = {
    "sum": (lambda x: lax.psum(x, AXIS), True),
    "groups": (lambda x: lax.psum(x, AXIS, axis_index_groups=[[0, 1], [2], [3]]), True),
    "most": (lambda x: lax.pmax(x, AXIS), True),
    "gather": (lambda x: lax.all_gather(x, AXIS), True),
    "scatter": (lambda x: lax.psum_scatter(jnp.ones((4, 2)) * x[0], AXIS), True),
    "message": (lambda x: lax.ppermute(x, AXIS, [(0, 1)]), True),
    "within": (within(lambda x: lax.ppermute(x, AXIS, [(0, 1)])), True),
    "loop": (lambda x: lax.fori_loop(0, 3, lambda _, y: lax.psum(y, AXIS), x), True),
    "branch": (lambda x: lax.cond(x[0] > 0, lambda y: lax.psum(y, AXIS), lambda y: y, x), True),
    "gradient": (jax.grad(lambda x: lax.psum(x**2, AXIS).sum()), True),
    "none": (lambda x: jnp.sin(x).sum(), False),
    "axes of an array": (lambda x: x.reshape(2, 3).sum(axis=(0, 1)), False),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_calls_collectives(name):
    function, expected = FUNCTIONS[name]
    assert calls_collectives(traced(function, X)) is expected


def ordered(function, x):
    """Evaluate on four ranks that `jax.vmap` stands for; give outputs and witnesses."""
    closed = traced(function, x[0])

    def rank(a):
        token, zero = jnp.uint32(7), jnp.uint32(0)
        return evaluate_in_order(closed.jaxpr, closed.consts, [a], token, zero)

    return jax.vmap(rank, axis_name=AXIS)(x)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int32, np.uint8, np.complex64])
def test_values_are_kept(dtype):
    x = np.stack([X + r for r in range(SIZE)]).astype(dtype)

    def function(a):
        first = lax.psum(a, AXIS)
        return first, lax.ppermute(first, AXIS, SWAPS), a

    (first, second, third), _ = ordered(function, x)
    np.testing.assert_array_equal(first[2], x.sum(0, dtype=dtype))
    np.testing.assert_array_equal(second[1], x.sum(0, dtype=dtype))
    np.testing.assert_array_equal(third, x)


def test_signs_of_zero_are_kept():
    x = np.full((SIZE, 2), -0.0, np.float32)
    (out,), _ = ordered(lambda a: [lax.ppermute(a, AXIS, SWAPS)], x)
    assert np.signbit(np.asarray(out)[1]).all()


def two(a):
    """Two sums that need nothing of each other."""
    return lax.psum(a, AXIS) + lax.psum(a * 2, AXIS)


def nothing(a):
    """One sum that no result uses."""
    lax.psum(a, AXIS)
    return [lax.psum(a + 1, AXIS)]


ORDERED = {
    "one after the other": nothing,
    "in a loop": lambda a: [lax.scan(lambda y, x: (two(y) / 9, y + x), a, a)[0]],
    "in a loop of unknown length": lambda a: [
        lax.while_loop(lambda y: y.sum() < 1e4, lambda y: two(y) + 1, a)
    ],
    "in a choice": lambda a: [lax.cond(a.sum() > 1, two, lambda y: y, a)],
}


def with_sums(jaxpr):
    """Find the jaxpr, of one and those within it, that has two sums."""
    if sum(e.primitive.name.startswith("psum") for e in jaxpr.eqns) == 2:
        return jaxpr
    for equation in jaxpr.eqns:
        held = [v for p in equation.params.values() for v in (p if isinstance(p, tuple) else (p,))]
        for inner in (getattr(v, "jaxpr", None) for v in held):
            found = with_sums(inner) if hasattr(inner, "eqns") else None
            if found is not None:
                return found
    return None


@pytest.mark.parametrize("name", ORDERED)
def test_each_waits_for_the_last(name):
    """Nothing but the order ties the two sums."""
    closed = traced(ORDERED[name], X)

    def rank(a):
        return evaluate_in_order(closed.jaxpr, closed.consts, [a], jnp.uint32(0), jnp.uint32(0))

    whole = jax.make_jaxpr(rank, axis_env=[(AXIS, SIZE)])(X).jaxpr
    again = with_sums(whole)
    places = {v: i for i, e in enumerate(again.eqns) for v in e.outvars}
    sums = [i for i, e in enumerate(again.eqns) if e.primitive.name.startswith("psum")]

    def needs(place):
        found, left = set(), [place]
        while left:
            for atom in again.eqns[left.pop()].invars:
                before = None if hasattr(atom, "val") else places.get(atom)
                if before is not None and before not in found:
                    found.add(before)
                    left.append(before)
        return found

    assert sums[0] in needs(sums[1])
    # The witness of all of them, or what a loop or a choice hands on of it.
    outputs = [v for v in again.outvars if not hasattr(v, "val") and v.aval.dtype == np.uint32]
    assert any(set(sums) <= needs(places[v]) for v in outputs if v in places)


@pytest.mark.parametrize("name", ["in a loop", "in a loop of unknown length", "in a choice"])
def test_loops_and_choices_keep_values(name):
    x = np.stack([X + r for r in range(SIZE)])
    expected = jax.vmap(lambda a: ORDERED[name](a)[0], axis_name=AXIS)(x)
    (out,), witness = ordered(ORDERED[name], x)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    assert witness.dtype == np.uint32
