"""Batched solvers and Fourier transforms of one program wait for each other; values stay."""

import os
import subprocess
import sys
from functools import partial

import jax
import jax.numpy as jnp
import jaxlib
import numpy as np
import pytest
from jax.extend.core import Literal, jaxpr_as_fun

import mindjax as ms
from mindjax import ops
from mindjax.core import jax_private, solver_order

RANDOM = np.random.default_rng(0)
A, B = (
    jnp.asarray(x @ x.swapaxes(-1, -2) + 4 * np.eye(4), jnp.float32)
    for x in RANDOM.standard_normal((2, 3, 4, 4))
)


def chol(x):
    return jnp.linalg.cholesky(x)


def turns(x):
    return jax.lax.scan(lambda c, _: (chol(c) + jnp.linalg.inv(c), c[0, 0, 0]), x, None, 2)


def either(x):
    return jax.lax.cond(x[0, 0, 0] > 0, lambda v: chol(v) + chol(2 * v), lambda v: v, x)


def until(x):
    return jax.lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, chol(c[1]) + A), (0, x))[1]


# What is computed of two batches, and how many operations must wait for one before.
PROGRAMS = {
    "of one kind": (lambda a, b: (chol(a), chol(b), chol(a + b)), 2),
    "of several kinds": (lambda a, b: (jnp.linalg.eigh(a), jnp.linalg.svd(b), chol(a)), 2),
    "complex values": (lambda a, b: (jnp.linalg.eigvals(a).real.sum(), chol(b)), 1),
    "gradient": (jax.grad(lambda a, b: jnp.sum(jnp.linalg.solve(a, b) ** 2)), 2),
    "transforms": (lambda a, b: (jnp.fft.fft(a).real, jnp.fft.rfft(b).imag, chol(a)), 2),
    "in a loop": (lambda a, b: (turns(a), turns(b)), 1),
    "in a while loop": (lambda a, b: (until(a), chol(b)), 1),
    "in a branch": (lambda a, b: (either(a), either(b)), 1),
    "computed again": (
        lambda a, b: jax.checkpoint(lambda v: chol(v) + chol(v + 1))(a) + chol(b),
        1,
    ),
    "under vmap": (lambda a, b: jax.vmap(lambda u, v: (chol(u), chol(v)))(a, b), 1),
}
# Each program is compiled three times: `make test` tries some.
SLOW = {"of several kinds", "complex values", "in a while loop", "computed again", "under vmap"}
NAMES = [pytest.param(n, marks=[pytest.mark.slow] if n in SLOW else []) for n in PROGRAMS]
# Programs in which nothing waits: not a batch, one solver, none.
FREE = {
    "single matrices": lambda a, b: (chol(a[0]), chol(b[0])),
    "one batch": lambda a, b: (chol(a), b @ a),
    "none": lambda a, b: a @ b + jnp.sin(a),
}


def waiting(jaxpr):
    """Count the operations that need a value of the one before, by the flow of values."""
    reach, count, last = {}, 0, None
    for equation in jaxpr.eqns:
        known = set().union(
            *(reach.get(v, set()) for v in equation.invars if not isinstance(v, Literal))
        )
        if solver_order._waits(equation):
            count += last is not None and last in known
            last = id(equation)
            known = known | {last}
        for out in equation.outvars:
            reach[out] = known
    return count


@pytest.fixture(autouse=True)
def old_jaxlib(monkeypatch):
    monkeypatch.setattr(solver_order, "_WITHOUT_POOL", (99,))


@pytest.mark.parametrize("name", NAMES)
def test_each_waits(name):
    function, count = PROGRAMS[name]
    closed = jax.make_jaxpr(function)(A, B)
    assert solver_order.evaluation(closed.jaxpr) is solver_order.in_turn
    plain = jax.jit(function)(A, B)
    ordered = jax.jit(lambda a, b: solver_order.in_turn(closed.jaxpr, closed.consts, a, b))(A, B)
    for got, want in zip(ordered, jax.tree.leaves(plain), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
    inline = jax.make_jaxpr(lambda a, b: solver_order.in_turn(closed.jaxpr, closed.consts, a, b))(
        A, B
    )
    assert waiting(inline.jaxpr) >= count


@pytest.mark.parametrize("name", [n for n in NAMES if n.values != ("under vmap",)])
def test_matrix_by_matrix(name):
    """For several devices no batch is left, in loops and branches either."""
    function, _ = PROGRAMS[name]
    closed = jax.make_jaxpr(function)(A, B)
    assert solver_order.evaluation(closed.jaxpr, several=True) is solver_order.one_by_one
    alone = jax.make_jaxpr(partial(solver_order.one_by_one, closed.jaxpr, closed.consts))(A, B)
    assert "fft" in str(alone) or not solver_order._count(alone.jaxpr)
    for got, want in zip(
        jaxpr_as_fun(alone)(A, B), jax.tree.leaves(jax.jit(function)(A, B)), strict=True
    ):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_jaxlib_is_asked():
    # A release may have a fourth number.
    assert ".".join(map(str, jax_private.jaxlib_version)) == jaxlib.__version__


@pytest.mark.parametrize("name", FREE)
def test_nothing_waits(name):
    closed = jax.make_jaxpr(FREE[name])(A, B)
    assert solver_order.evaluation(closed.jaxpr) is not solver_order.in_turn


def test_not_a_number_is_kept():
    """What waits does not take up the values that it waits for."""
    broken = jnp.full_like(A, jnp.nan)
    closed = jax.make_jaxpr(lambda a, b: (chol(a), chol(b)))(A, B)
    first, second = solver_order.in_turn(closed.jaxpr, closed.consts, broken, B)
    assert jnp.isnan(first).any()
    np.testing.assert_array_equal(second, chol(B))


HANGS = """
import numpy as np, mindjax as ms
from mindjax import ops
ms.set_context(mode=ms.{mode}_MODE)
random = np.random.default_rng(0)
def matrix():
    a = random.standard_normal((16, 64, 64)).astype("f")
    return ms.Tensor(a @ a.swapaxes(1, 2) + 64 * np.eye(64, dtype="f"))
inputs = [matrix() for _ in range(12)]
run = lambda *xs: [ops.cholesky(x) for x in xs]
run = ms.jit(run) if "{mode}" == "GRAPH" else run
for _ in range(1500):
    out = run(*inputs)
    out[-1].asnumpy()
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "engine", "devices"),
    [("GRAPH", "op_by_op", 1), ("PYNATIVE", "deferred", 1), ("GRAPH", "op_by_op", 4)],
)
def test_a_program_of_solvers_ends(mode, engine, devices, tmp_path):
    """jaxlib alone waits for ever within some hundred runs on two processors."""
    script = tmp_path / "solvers.py"
    script.write_text(HANGS.format(mode=mode))
    command = [sys.executable, "-m", "mindjax", "run", "--devices", str(devices), str(script)]
    environment = {**os.environ, "MINDJAX_EAGER": engine}
    subprocess.run(command, check=True, timeout=300, env=environment)


def test_graph_orders_them():
    """A program of GRAPH is compiled in order; its values are those of the operations alone."""

    @ms.jit
    def run(a, b):
        return ops.cholesky(a), ops.cholesky(b)

    got = run(ms.Tensor(np.asarray(A)), ms.Tensor(np.asarray(B)))
    for value, want in zip(got, (chol(A), chol(B)), strict=True):
        np.testing.assert_allclose(value.asnumpy(), want, rtol=1e-6, atol=1e-6)
