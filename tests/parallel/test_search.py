"""The search finds plans that cost no more than those that one would write by hand."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AbstractMesh

from mindjax_parallel.cost import Machine
from mindjax_parallel.mesh import Placement
from mindjax_parallel.search import Search

AXES = tuple(f"d{i}" for i in range(6))
MESH = AbstractMesh((2,) * 6, AXES)
WIDTH, HIDDEN, ROWS = 1024, 4096, 4096


def training(loss, weights, *batch):
    """Give a step of Momentum on flat arrays, its inputs and the names of its state."""
    names = list(weights)

    def step(*flat):
        count = len(names)
        now, speed = flat[:count], flat[count : 2 * count]
        value, grads = jax.value_and_grad(
            lambda ws: loss(dict(zip(names, ws, strict=True)), *flat[2 * count :])
        )(list(now))
        speed = [0.9 * v + g for v, g in zip(speed, grads, strict=True)]
        return [value, *(w - 0.1 * v for w, v in zip(now, speed, strict=True)), *speed]

    state = [jax.ShapeDtypeStruct(s, np.float32) for s in weights.values()] * 2
    return step, [*state, *batch], [*names, *(f"moments.{n}" for n in names)]


def block(weights, x):
    """A feed-forward block of a transformer layer, twice."""
    for i in range(2):
        h = jax.nn.gelu(x @ weights[f"layers.{i}.first"])
        x = x + h @ weights[f"layers.{i}.second"]
    return jnp.mean(x * x)


def recommender(weights, ids):
    """A huge table under a small network."""
    x = weights["table"][ids].reshape(ids.shape[0], -1)
    return jnp.mean(jax.nn.relu(x @ weights["first"]) @ weights["second"])


BLOCK = {
    f"layers.{i}.{name}": shape
    for i in range(2)
    for name, shape in (("first", (WIDTH, HIDDEN)), ("second", (HIDDEN, WIDTH)))
}
TABLE = {"table": (1 << 24, 64), "first": (8 * 64, 256), "second": (256, 1)}
CASES = {
    "block": (block, BLOCK, jax.ShapeDtypeStruct((ROWS, WIDTH), np.float32)),
    "few rows": (block, BLOCK, jax.ShapeDtypeStruct((64, WIDTH), np.float32)),
    "table": (recommender, TABLE, jax.ShapeDtypeStruct((65536, 8), np.int32)),
}
# Dimensions that each hand-written plan cuts.
HAND = {
    "data": {},
    "megatron": {"layers.#.first": 1, "layers.#.second": 0, "first": 1, "second": 0},
    "table": {"table": 0},
}


@pytest.fixture(scope="module", params=CASES)
def search(request):
    loss, weights, batch = CASES[request.param]
    step, arrays, names = training(loss, weights, batch)
    count = len(names)
    found = Search(
        step,
        arrays,
        names,
        range(count, len(arrays)),
        [None] * len(arrays),
        MESH,
        Machine(memory=8e9),
    )
    return found, found.best(limit=60)


@pytest.mark.parametrize("name", HAND)
@pytest.mark.parametrize("model", [1, 3, 6])
def test_no_plan_by_hand_is_cheaper(search, name, model):
    found, best = search
    dims = HAND[name]
    cuts = {r: dims[r.split(" ")[0]] for r in found.roles if r.split(" ")[0] in dims}
    hand = found.plan(model if cuts else 0, cuts)
    assert found.seconds(best) <= found.seconds(hand) * 1.0001


def test_layers_are_one_role(search):
    found, _ = search
    assert all(len(members) in (1, 2) for members in found.roles.values())
    assert len(found.roles) == len({r.split(" ")[0] for r in found.roles})


def test_state_lies_as_its_weight(search):
    _, best = search
    count = len(best.placements) - 1
    assert best.placements[: count // 2] == best.placements[count // 2 : count]


def test_a_table_that_no_device_holds_is_cut():
    step, arrays, names = training(recommender, TABLE, CASES["table"][2])
    count = len(names)
    batches = range(count, len(arrays))
    fixed = [None] * len(arrays)
    found = Search(step, arrays, names, batches, fixed, MESH, Machine(memory=1e9))
    best = found.best(limit=60)
    assert best.placements[0].cut
    assert best.cost.state < 1e9


def test_settled_placements_stay():
    step, arrays, names = training(block, BLOCK, CASES["block"][2])
    count = len(names)
    fixed = [None] * len(arrays)
    fixed[0] = Placement(((), ("d5",)))
    found = Search(step, arrays, names, range(count, len(arrays)), fixed, MESH)
    assert found.best(limit=60).placements[0] == fixed[0]


LAYERS, HEADS = 32, 16
SHAPES = {
    "q": (WIDTH, WIDTH), "k": (WIDTH, WIDTH), "v": (WIDTH, WIDTH), "out": (WIDTH, WIDTH),
    "gate": (WIDTH, HIDDEN), "up": (WIDTH, HIDDEN), "down": (HIDDEN, WIDTH),
}  # fmt: skip
COLUMNS = {f"layers.#.{n}": 1 for n in ("q", "k", "v", "gate", "up")}
MEGATRON = {**COLUMNS, "layers.#.out": 0, "layers.#.down": 0}


def transformer(weights, x):
    """Layers of attention and a gated feed-forward network."""
    for i in range(LAYERS):
        own = {n: weights[f"layers.{i}.{n}"] for n in SHAPES}
        y = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
        q, k, v = ((y @ own[n]).reshape(*x.shape[:2], HEADS, -1) for n in "qkv")
        scores = jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1)
        x = x + jnp.einsum("bhqk,bkhd->bqhd", scores, v).reshape(x.shape) @ own["out"]
        y = x * jax.lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6)
        x = x + (jax.nn.silu(y @ own["gate"]) * (y @ own["up"])) @ own["down"]
    return jnp.mean(x * x)


@pytest.mark.slow
@pytest.mark.parametrize("rows", [8, 512])
def test_many_layers_in_time(rows):
    """32 layers on 64 devices: the plan is there in 20 s of the processor, and costs the least."""
    weights = {f"layers.{i}.{n}": s for i in range(LAYERS) for n, s in SHAPES.items()}
    step, arrays, names = training(
        transformer, weights, jax.ShapeDtypeStruct((rows, 128, WIDTH), np.float32)
    )
    began, count = time.process_time(), len(names)
    found = Search(
        step,
        arrays,
        names,
        range(count, len(arrays)),
        [None] * len(arrays),
        MESH,
        Machine(memory=64e9),
    )
    best = found.best()
    assert time.process_time() - began < 20
    for dims, model in (({}, 0), *((MEGATRON, m) for m in (1, 2, 3, 6))):
        cuts = {r: dims[r.split(" ")[0]] for r in found.roles if r.split(" ")[0] in dims}
        assert found.seconds(best) <= found.seconds(found.plan(model, cuts)) * 1.0001
