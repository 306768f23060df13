"""Runs programs on four simulated devices and on four of XLA:CPU; prints a JSON object for each.

Arguments: names of cases, all where there are none. The environment gives both platforms four
devices.
"""

# ruff: noqa: E731
import json
import sys
import traceback

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P
from mindjax_ascend.compiler import compile as compiler

from tests.ascend.run_programs import differs

# Name, the axes that an array of shape (16, 8) is split along, the same for the result, and the
# program of a device, on a mesh of 2 x 2 devices (x, y).
MAPPED = [
    ("psum", P("x", "y"), P(None, "y"), lambda a: lax.psum(a, "x")),
    ("psum_all", P("x", "y"), P(), lambda a: lax.psum(a, ("x", "y"))),
    ("pmax", P("x", "y"), P("x"), lambda a: lax.pmax(a, "y")),
    ("pmin", P("x", "y"), P("x"), lambda a: lax.pmin(a, "y")),
    ("pmean_half", P("x", "y"), P(None, "y"), lambda a: lax.pmean(a.astype(jnp.bfloat16), "x")),
    ("psum_tuple", P("x"), P(), lambda a: sum(lax.psum((a, 2 * a), "x"))),
    ("psum_integers", P("x"), P(), lambda a: lax.psum((a * 100).astype(jnp.int32), "x")),
    ("all_gather", P("x", "y"), P("x"), lambda a: lax.all_gather(a, "y", axis=1, tiled=True)),
    ("all_gather_new", P("x", "y"), P("x"), lambda a: lax.all_gather(a, "y")),
    ("all_gather_order", P("y"), P(), lambda a: lax.all_gather(a, ("y", "x"), tiled=True)),
    ("psum_scatter", P("x"), P("x"), lambda a: lax.psum_scatter(a, "y", tiled=True)),
    (
        "psum_scatter_1",
        P(),
        P(),
        lambda a: lax.psum_scatter(a, "y", scatter_dimension=1, tiled=True),
    ),
    ("all_to_all", P("x", "y"), P("x", "y"), lambda a: lax.all_to_all(a, "y", 0, 1, tiled=True)),
    (
        "all_to_all_back",
        P("x", "y"),
        P("x", "y"),
        lambda a: lax.all_to_all(a, "x", 1, 0, tiled=True),
    ),
    ("ppermute", P("x"), P("x"), lambda a: lax.ppermute(a, "x", [(0, 1), (1, 0)])),
    ("ppermute_zeros", P("x"), P("x"), lambda a: lax.ppermute(a, "x", [(0, 1)])),
    (
        "axis_index",
        P("x"),
        P(("x", "y")),
        lambda a: a + lax.axis_index("x") * 2 + lax.axis_index("y"),
    ),
    (
        "loop",
        P("x", "y"),
        P("x", "y"),
        lambda a: lax.fori_loop(0, 3, lambda i, b: lax.ppermute(b, "y", [(0, 1), (1, 0)]) + i, a),
    ),
    (
        "branch_by_device",
        P("x"),
        P("x"),
        lambda a: lax.cond(lax.axis_index("x") == 0, jnp.tanh, lambda b: b * b, a),
    ),
    (
        "while_by_sum",
        P("x"),
        P("x"),
        lambda a: lax.while_loop(lambda b: lax.pmax(b.max(), "x") < 50, lambda b: b * 2 + 1, a),
    ),
]
# Name, how (16, 8) and (8, 12) are split, how the result is, and a program of whole arrays.
WHOLE = [
    ("product_rows", P("x"), P(), P("x"), lambda a, b: a @ b),
    ("product_columns", P(), P(None, "y"), P(None, "y"), lambda a, b: a @ b),
    ("product_summed", P(None, "x"), P("x"), P(), lambda a, b: a @ b),
    ("product_both", P("x", "y"), P("y"), P("x"), lambda a, b: a @ b),
    ("reshard", P("x", "y"), P("y", "x"), P("y", "x"), lambda a, b: a * 2 + b.sum()),
    ("softmax", P(None, "y"), P(), P("y"), lambda a, b: jax.nn.softmax(a @ b, axis=0)),
    ("sort", P("x"), P(), P("x"), lambda a, b: jnp.sort(a, axis=0)),
    ("cumsum", P("x"), P(), P(None, "x"), lambda a, b: jnp.cumsum(a, axis=0)),
    ("take", P("x"), P("y"), P(), lambda a, b: jnp.take(a, jnp.array([3, 9, 1]), axis=0)),
    ("uneven", P("x"), P(), P(("x", "y")), lambda a, b: jnp.pad(a, ((3, 1), (0, 0)))),
    (
        "scan",
        P(None, "x"),
        P(),
        P("x"),
        lambda a, b: lax.scan(lambda c, r: (c + r, c * r), a[0], a)[1],
    ),
    ("random", P("x"), P(), P("x"), lambda a, b: a + jax.random.normal(jax.random.key(0), a.shape)),
    ("reverse", P("x"), P(), P("x"), lambda a, b: a[::-1] @ b),
]


def train(mesh, layout):
    """Train two layers by Momentum; gives the losses and a weight."""
    random = np.random.default_rng(0)
    shapes = {"first": (16, 32), "bias": (32,), "second": (32, 4)}
    weights = {n: random.standard_normal(s).astype("f") / 4 for n, s in shapes.items()}
    x, y = random.standard_normal((64, 16)).astype("f"), random.standard_normal((64, 4)).astype("f")

    def loss(w, x, y):
        return ((jnp.tanh(x @ w["first"] + w["bias"]) @ w["second"] - y) ** 2).mean()

    def step(w, m, x, y):
        value, gradients = jax.value_and_grad(loss)(w, x, y)
        m = jax.tree.map(lambda a, g: 0.9 * a + g, m, gradients)
        return value, jax.tree.map(lambda a, b: a - 0.1 * b, w, m), m

    put = lambda a, p: jax.device_put(a, NamedSharding(mesh, p) if layout else mesh.devices.flat[0])
    split = dict(zip(shapes, layout or [P()] * 3, strict=False))
    weights = {n: put(w, split[n]) for n, w in weights.items()}
    moments = {n: put(np.zeros(s, "f"), split[n]) for n, s in shapes.items()}
    x, y = (put(a, layout[3] if layout else P()) for a in (x, y))
    run, losses = jax.jit(step), []
    for _ in range(8):
        value, weights, moments = run(weights, moments, x, y)
        losses.append(float(value))
    return np.array(losses, "f"), np.asarray(weights["first"])


TRAINED = {
    "data_parallel": [P(), P(), P(), P("x")],
    "tensor_parallel": [P(None, "y"), P("y"), P("y"), P()],
    "both": [P(None, "y"), P("y"), P("y"), P("x")],
    "sharded_weights": [P(("x", "y")), P("x"), P(("x", "y")), P(("x", "y"))],
}


def mesh_of(platform):
    return Mesh(np.array(jax.devices(platform)[:4]).reshape(2, 2), ("x", "y"))


def mapped(platform, split, out, body):
    mesh = mesh_of(platform)
    x = np.random.default_rng(1).standard_normal((16, 8)).astype("f")
    run = jax.shard_map(body, mesh=mesh, in_specs=split, out_specs=out, check_vma=False)
    return jax.jit(run)(jax.device_put(x, NamedSharding(mesh, split)))


def whole(platform, left, right, out, body):
    mesh = mesh_of(platform)
    random = np.random.default_rng(2)
    a, b = random.standard_normal((16, 8)).astype("f"), random.standard_normal((8, 12)).astype("f")
    put = lambda v, p: jax.device_put(v, NamedSharding(mesh, p))
    result = jax.jit(body, out_shardings=NamedSharding(mesh, out))(put(a, left), put(b, right))
    assert result.sharding == NamedSharding(mesh, out)
    return result


def cases():
    """Give functions that run each case on a platform, by name."""
    named = {n: lambda p, r=rest: mapped(p, *r) for n, *rest in MAPPED}
    named |= {n: lambda p, r=rest: whole(p, *r) for n, *rest in WHOLE}
    # What several devices train is held against one device of the same platform.
    for name, layout in TRAINED.items():
        named[name] = lambda p, w=layout: train(mesh_of("ascend"), w if p == "ascend" else None)
    return named


def main(names):
    """Print one line a case."""
    for name, run in cases().items():
        if names and name not in names:
            continue
        compiler.compiled.clear()
        try:
            ours = [np.asarray(a) for a in jax.tree.leaves(run("ascend"))]
            delegated = [c.delegated for c in compiler.compiled if c.delegated]
            theirs = [np.asarray(a) for a in jax.tree.leaves(run("cpu"))]
            wrong = [d for a, b in zip(ours, theirs, strict=True) if (d := differs(a, b))]
        except Exception:
            wrong, delegated = [traceback.format_exc(limit=-3)[-700:]], []
        print(json.dumps({"name": name, "wrong": wrong, "delegated": delegated}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
