"""Attention over a cut sequence against float64 mathematics; run by `long_sequences`."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh

from mindjax_parallel import attention_tiles
from mindjax_parallel.ring_attention import ring_attention
from mindjax_parallel.ring_layout import zigzag_order
from mindjax_parallel.ulysses_attention import ulysses_attention

SHAPE = 2, 32, 4, 8
RING = ("d0", "d1")

# Name: heads of keys, arguments; "mask" and "segments" stand for arrays.
CASES = {
    "balanced, grouped heads, segments": (
        2, {"order": "balanced", "segments": True, "head_axis": "d2"}),
    "a mask": (2, {"mask": True, "causal": False}),
    "all keys": (4, {"causal": False, "batch_axis": "d2"}),
    "contiguous": (2, {}),
    "contiguous, segments": (1, {"segments": True}),
    "a mask of causal attention": (2, {"mask": True}),
    "balanced": (4, {"order": "balanced"}),
    "zigzag": (2, {"order": "zigzag"}),
    "one head of keys, queries cut": (1, {"head_axis": "d2"}),
    "axes that are part of types": (2, {"order": "balanced", "explicit": True}),
    "heads": (4, {"ulysses": True}),
    "heads, axes that are part of types": (4, {"ulysses": True, "explicit": True}),
    "heads, one of keys": (1, {"ulysses": True, "segments": True}),
    "heads, grouped": (2, {"ulysses": True, "causal": False, "batch_axis": "d2"}),
}  # fmt: skip
QUICK = list(CASES)[:1]


def _mesh(explicit=False):
    if explicit:
        return jax.make_mesh((2, 2, 2), ("d0", "d1", "d2"))
    return Mesh(np.array(jax.devices()).reshape(2, 2, 2), ("d0", "d1", "d2"))


def _reference(q, k, v, hidden):
    group = q.shape[2] // k.shape[2]
    k, v = jnp.repeat(k, group, 2), jnp.repeat(v, group, 2)
    scores = jnp.einsum("bqnd,bknd->bnqk", q, k) / math.sqrt(q.shape[3])
    scores = jnp.where(hidden, -jnp.inf, scores)
    return jnp.einsum("bnqk,bknd->bqnd", jax.nn.softmax(scores, -1), v)


def run(name):
    """Give the greatest errors of results and gradients, relative to their greatest values."""
    keys, options = CASES[name]
    options = dict(options)
    b, s, _, d = SHAPE
    rng = np.random.RandomState(0)
    q, weights = (rng.randn(*SHAPE).astype(np.float32) for _ in range(2))
    k, v = (rng.randn(b, s, keys, d).astype(np.float32) for _ in range(2))
    hidden = np.zeros((b, 1, s, s), bool)
    if options.get("causal", True):
        hidden = hidden | np.triu(np.ones((s, s), bool), 1)
    if "mask" in options:
        mask = rng.rand(b, 1, s, s) < 0.4
        mask[..., 0] = False
        hidden, options["mask"] = hidden | mask, mask
    if "segments" in options:
        ids = np.sort(rng.randint(0, 3, (b, s)), 1).astype(np.int32)
        hidden = hidden | (ids[:, :, None] != ids[:, None])[:, None]
        options["segments"] = ids
    order = zigzag_order(s, 4) if options.get("order") == "zigzag" else np.arange(s)
    attend = ulysses_attention if options.pop("ulysses", False) else ring_attention

    mesh = _mesh(options.pop("explicit", False))

    def cut(q, k, v):
        out = attend(q[:, order], k[:, order], v[:, order], mesh, RING, **options)
        return jnp.sum(out * weights[:, order]), out

    def whole(q, k, v):
        out = _reference(q, k, v, hidden)
        return jnp.sum(out * weights), out

    block, attention_tiles.BLOCK = attention_tiles.BLOCK, 4
    try:
        found = jax.jit(jax.value_and_grad(cut, (0, 1, 2), has_aux=True))(q, k, v)
    finally:
        attention_tiles.BLOCK = block
    with jax.enable_x64(True):
        wide = [np.asarray(x, np.float64) for x in (q, k, v)]
        expected = jax.jit(jax.value_and_grad(whole, (0, 1, 2), has_aux=True))(*wide)
    # The first is a sum, whose terms cancel.
    (loss, out), gradients = found
    found = (loss, np.asarray(out)[:, np.argsort(order)]), gradients
    pairs = zip(jax.tree.leaves(found)[1:], jax.tree.leaves(expected)[1:], strict=True)
    return {
        "case": name,
        "errors": [float(np.abs(a - e).max() / np.abs(e).max()) for a, e in map(_arrays, pairs)],
    }


def _arrays(pair):
    return [np.asarray(x, np.float64) for x in pair]


def memory(order):
    """Give the bytes that a device needs besides inputs, for one length and for its double."""

    def loss(q, k, v):
        return jnp.sum(ring_attention(q, k, v, _mesh(), (*RING, "d2"), order=order))

    needed = []
    for length in (16384, 32768):
        shape = jax.ShapeDtypeStruct((1, length, 2, 16), np.float32)
        compiled = jax.jit(jax.grad(loss, (0, 1, 2))).lower(shape, shape, shape).compile()
        needed.append(compiled.memory_analysis().temp_size_in_bytes)
    return {"case": f"memory {order}", "needed": needed}
