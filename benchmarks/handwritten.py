"""The benchmarked networks in hand-written jax and optax: the peer of GRAPH mode."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from batches import batch
from jax import lax

Params = dict[str, Any]
LAYERS = 4
"""Layers of the encoder and of the decoder."""
STAGES = ((64, 1), (128, 2), (256, 2), (512, 2))
"""Width and stride of ResNet's stages, each of two blocks."""


def _conv(x: Any, w: Any, stride: int = 1, padding: Any = "VALID") -> Any:
    return lax.conv_general_dilated(
        x, w, (stride, stride), padding, dimension_numbers=("NCHW", "OIHW", "NCHW")
    )


def _dense(p: Params, x: Any) -> Any:
    return x @ p["w"].T + p["b"]


def _pool(x: Any) -> Any:
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID")


def _init_dense(rng: np.random.Generator, cin: int, cout: int) -> Params:
    bound = 1 / math.sqrt(cin)
    return {
        "w": jnp.asarray(rng.uniform(-bound, bound, (cout, cin)), jnp.float32),
        "b": jnp.asarray(rng.uniform(-bound, bound, cout), jnp.float32),
    }


def _init_conv(rng: np.random.Generator, cin: int, cout: int, k: int) -> Any:
    bound = 1 / math.sqrt(cin * k * k)
    return jnp.asarray(rng.uniform(-bound, bound, (cout, cin, k, k)), jnp.float32)


def _cross_entropy(logits: Any, labels: Any) -> Any:
    return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()


def lenet5_params() -> Params:
    """Make LeNet-5's weights."""
    rng = np.random.default_rng(1)
    return {
        "conv1": _init_conv(rng, 1, 6, 5),
        "conv2": _init_conv(rng, 6, 16, 5),
        "fc1": _init_dense(rng, 400, 120),
        "fc2": _init_dense(rng, 120, 84),
        "fc3": _init_dense(rng, 84, 10),
    }


def lenet5_loss(p: Params, stats: Params, x: Any, y: Any) -> tuple[Any, Params]:
    """Compute LeNet-5's loss; there are no statistics."""
    x = _pool(jax.nn.relu(_conv(x, p["conv1"])))
    x = _pool(jax.nn.relu(_conv(x, p["conv2"])))
    x = x.reshape(x.shape[0], -1)
    x = jax.nn.relu(_dense(p["fc1"], x))
    x = jax.nn.relu(_dense(p["fc2"], x))
    return _cross_entropy(_dense(p["fc3"], x), y), stats


def _blocks() -> list[tuple[int, int]]:
    return [block for width, stride in STAGES for block in ((width, stride), (width, 1))]


def _init_norm(width: int) -> Params:
    return {"g": jnp.ones(width), "b": jnp.zeros(width)}


def _init_stats(width: int) -> Params:
    return {"m": jnp.zeros(width), "v": jnp.ones(width)}


def resnet18_params() -> Params:
    """Make ResNet-18's weights."""
    rng = np.random.default_rng(1)
    p: Params = {"conv": _init_conv(rng, 3, 64, 3), "bn": _init_norm(64)}
    cin = 64
    for i, (width, stride) in enumerate(_blocks()):
        block = {
            "conv1": _init_conv(rng, cin, width, 3),
            "bn1": _init_norm(width),
            "conv2": _init_conv(rng, width, width, 3),
            "bn2": _init_norm(width),
        }
        if stride != 1 or cin != width:
            block["short"] = _init_conv(rng, cin, width, 1)
            block["bn3"] = _init_norm(width)
        p[f"block{i}"], cin = block, width
    p["head"] = _init_dense(rng, cin, 10)
    return p


def resnet18_stats() -> Params:
    """Make ResNet-18's moving statistics."""
    stats: Params = {"bn": _init_stats(64)}
    for i, (width, _) in enumerate(_blocks()):
        stats[f"block{i}"] = {n: _init_stats(width) for n in ("bn1", "bn2", "bn3")}
    return stats


def one_pass(x: Any) -> tuple[Any, Any]:
    """Give a batch's mean and variance as flax does; it loses digits where the mean is large."""
    mean = x.mean((0, 2, 3))
    return mean, (x * x).mean((0, 2, 3)) - mean * mean


def two_passes(x: Any) -> tuple[Any, Any]:
    """Give a batch's mean and variance as the original and MindJAX do."""
    return x.mean((0, 2, 3)), x.var((0, 2, 3))


moments = one_pass


def _batch_norm(p: Params, stats: Params, x: Any) -> tuple[Any, Params]:
    mean, variance = moments(x)
    count = x.size // x.shape[1]
    new = {
        "m": stats["m"] * 0.9 + mean * 0.1,
        "v": stats["v"] * 0.9 + variance * (0.1 * count / (count - 1)),
    }
    scale = (p["g"] * lax.rsqrt(variance + 1e-5))[:, None, None]
    return (x - mean[:, None, None]) * scale + p["b"][:, None, None], new


def resnet18_loss(p: Params, stats: Params, x: Any, y: Any) -> tuple[Any, Params]:
    """Compute ResNet-18's loss and its new statistics."""
    new: Params = {}
    pad = ((1, 1), (1, 1))
    x, new["bn"] = _batch_norm(p["bn"], stats["bn"], _conv(x, p["conv"], 1, pad))
    x = jax.nn.relu(x)
    for i, (_, stride) in enumerate(_blocks()):
        block, old = p[f"block{i}"], stats[f"block{i}"]
        fresh = dict(old)
        h, fresh["bn1"] = _batch_norm(
            block["bn1"], old["bn1"], _conv(x, block["conv1"], stride, pad)
        )
        h = _conv(jax.nn.relu(h), block["conv2"], 1, pad)
        h, fresh["bn2"] = _batch_norm(block["bn2"], old["bn2"], h)
        if "short" in block:
            x, fresh["bn3"] = _batch_norm(
                block["bn3"], old["bn3"], _conv(x, block["short"], stride)
            )
        x = jax.nn.relu(h + x)
        new[f"block{i}"] = fresh
    return _cross_entropy(_dense(p["head"], x.mean((2, 3))), y), new


def encoder_params() -> Params:
    """Make the encoder's weights."""
    rng = np.random.default_rng(1)
    width = 256
    p: Params = {"embedding": jnp.asarray(rng.normal(0, 0.02, (1000, width)), jnp.float32)}
    for i in range(LAYERS):
        p[f"layer{i}"] = {
            "qkv": _init_dense(rng, width, 3 * width),
            "out": _init_dense(rng, width, width),
            "up": _init_dense(rng, width, 4 * width),
            "down": _init_dense(rng, 4 * width, width),
            "norm1": _init_norm(width),
            "norm2": _init_norm(width),
        }
    p["head"] = _init_dense(rng, width, 1000)
    return p


def _layer_norm(p: Params, x: Any) -> Any:
    mean = x.mean(-1, keepdims=True)
    variance = jnp.square(x - mean).mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-5) * p["g"] + p["b"]


def encoder_loss(p: Params, stats: Params, tokens: Any, y: Any) -> tuple[Any, Params]:
    """Compute the encoder's loss; there are no statistics."""
    x = p["embedding"][tokens]
    n, s, width = x.shape
    for i in range(LAYERS):
        layer = p[f"layer{i}"]
        q, k, v = _dense(layer["qkv"], x).reshape(n, s, 3, 4, width // 4).transpose(2, 0, 3, 1, 4)
        scores = q @ k.swapaxes(-1, -2) * (width // 4) ** -0.5
        mixed = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(n, s, width)
        x = _layer_norm(layer["norm1"], x + _dense(layer["out"], mixed))
        hidden = jax.nn.gelu(_dense(layer["up"], x), approximate=True)
        x = _layer_norm(layer["norm2"], x + _dense(layer["down"], hidden))
    return _cross_entropy(_dense(p["head"], x).reshape(-1, 1000), y), stats


def decoder_params() -> Params:
    """Make the weights of a decoder of LLaMA's kind."""
    rng = np.random.default_rng(1)
    width = 256
    p: Params = {"embedding": jnp.asarray(rng.normal(0, 0.02, (1000, width)), jnp.float32)}

    def linear(cin: int, cout: int) -> Any:
        return _init_dense(rng, cin, cout)["w"]

    for i in range(LAYERS):
        p[f"layer{i}"] = {
            "qkv": linear(width, 3 * width),
            "out": linear(width, width),
            "gate": linear(width, 688),
            "up": linear(width, 688),
            "down": linear(688, width),
            "norm1": jnp.ones(width),
            "norm2": jnp.ones(width),
        }
    p["norm"], p["head"] = jnp.ones(width), linear(width, 1000)
    return p


def rotations(length: int, size: int) -> tuple[Any, Any]:
    """Give cosines and sines (length, size / 2) of rotary embeddings."""
    angles = np.outer(np.arange(length), 10000.0 ** -(np.arange(0, size, 2) / size))
    return np.cos(angles).astype("f"), np.sin(angles).astype("f")


def _rotate(x: Any, cos: Any, sin: Any) -> Any:
    a, b = jnp.split(x, 2, -1)
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1)


def _rms_norm(g: Any, x: Any) -> Any:
    return x * lax.rsqrt(jnp.square(x).mean(-1, keepdims=True) + 1e-5) * g


def decoder_loss(p: Params, stats: Params, tokens: Any, y: Any) -> tuple[Any, Params]:
    """Compute the decoder's loss; there are no statistics."""
    x = p["embedding"][tokens]
    n, s, width = x.shape
    cos, sin = (jnp.asarray(a) for a in rotations(s, width // 4))
    masked = jnp.where(jnp.tril(jnp.ones((s, s), bool)), 0.0, -1e9).astype(jnp.float32)
    for i in range(LAYERS):
        layer = p[f"layer{i}"]
        h = _rms_norm(layer["norm1"], x) @ layer["qkv"].T
        q, k, v = h.reshape(n, s, 3, 4, width // 4).transpose(2, 0, 3, 1, 4)
        q, k = _rotate(q, cos, sin), _rotate(k, cos, sin)
        scores = q @ k.swapaxes(-1, -2) * (width // 4) ** -0.5 + masked
        mixed = (jax.nn.softmax(scores) @ v).transpose(0, 2, 1, 3).reshape(n, s, width)
        x = x + mixed @ layer["out"].T
        h = _rms_norm(layer["norm2"], x)
        x = x + (jax.nn.silu(h @ layer["gate"].T) * (h @ layer["up"].T)) @ layer["down"].T
    logits = _rms_norm(p["norm"], x) @ p["head"].T
    return _cross_entropy(logits.reshape(-1, 1000), y), stats


def lstm_params() -> Params:
    """Make the weights of a classifier with one LSTM layer."""
    rng = np.random.default_rng(1)
    bound = 1 / math.sqrt(256)

    def uniform(*shape: int) -> Any:
        return jnp.asarray(rng.uniform(-bound, bound, shape), jnp.float32)

    return {
        "embedding": jnp.asarray(rng.normal(0, 0.02, (1000, 128)), jnp.float32),
        "input": uniform(1024, 128),
        "state": uniform(1024, 256),
        "input_bias": uniform(1024),
        "state_bias": uniform(1024),
        "head": _init_dense(rng, 256, 10),
    }


def lstm_loss(p: Params, stats: Params, tokens: Any, y: Any) -> tuple[Any, Params]:
    """Compute the classifier's loss; there are no statistics."""
    inputs = p["embedding"][tokens].swapaxes(0, 1) @ p["input"].T + p["input_bias"]

    def step(carry: Any, row: Any) -> Any:
        h, c = carry
        i, f, g, o = jnp.split(row + h @ p["state"].T + p["state_bias"], 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    zeros = jnp.zeros((tokens.shape[0], 256))
    _, outputs = lax.scan(step, (zeros, zeros), inputs)
    return _cross_entropy(_dense(p["head"], outputs[-1]), y), stats


def wide_deep_params() -> Params:
    """Make the weights of Wide & Deep with a million ids of width 16."""
    rng = np.random.default_rng(1)
    return {
        "wide": jnp.zeros((1_000_000, 1)),
        "embedding": jnp.asarray(rng.normal(0, 0.01, (1_000_000, 16)), jnp.float32),
        "fc1": _init_dense(rng, 416, 256),
        "fc2": _init_dense(rng, 256, 128),
        "fc3": _init_dense(rng, 128, 1),
    }


def wide_deep_loss(p: Params, stats: Params, ids: Any, y: Any) -> tuple[Any, Params]:
    """Compute the loss of clicks; there are no statistics."""
    x = p["embedding"][ids].reshape(ids.shape[0], -1)
    x = jax.nn.relu(_dense(p["fc1"], x))
    x = jax.nn.relu(_dense(p["fc2"], x))
    logits = _dense(p["fc3"], x) + p["wide"][ids].sum(1)
    return optax.sigmoid_binary_cross_entropy(logits, y).mean(), stats


WORKLOADS: dict[str, Any] = {
    "lenet5": (lenet5_params, dict, lenet5_loss, lambda: optax.sgd(0.01, 0.9)),
    "resnet18": (resnet18_params, resnet18_stats, resnet18_loss, lambda: optax.sgd(0.01, 0.9)),
    "encoder": (encoder_params, dict, encoder_loss, lambda: optax.adam(1e-4)),
    "decoder": (decoder_params, dict, decoder_loss, lambda: optax.adam(1e-4)),
    "lstm": (lstm_params, dict, lstm_loss, lambda: optax.adam(1e-3)),
    "wide_deep": (wide_deep_params, dict, wide_deep_loss, lambda: optax.adam(1e-3)),
}


def unique_rows(ids: Any, gradients: Any, rows: int) -> tuple[Any, Any]:
    """Add up the gradients of equal ids; places that are left over name a row past the end."""
    ids = ids.reshape(-1)
    unique, inverse = jnp.unique(ids, return_inverse=True, size=ids.size, fill_value=rows)
    return unique, jax.ops.segment_sum(gradients, inverse, ids.size)


def _lazy_adam(table: Any, m: Any, v: Any, count: Any, rows: Any, g: Any) -> tuple[Any, Any, Any]:
    """Step Adam on some rows of a table and of its moments."""
    new_m = 0.9 * m[rows] + 0.1 * g
    new_v = 0.999 * v[rows] + 0.001 * g * g
    rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
    step = rate * new_m / (jnp.sqrt(new_v) + 1e-8)
    put = {"mode": "drop", "unique_indices": True}
    return (
        table.at[rows].add(-step, **put),
        m.at[rows].set(new_m, **put),
        v.at[rows].set(new_v, **put),
    )


def _ftrl(table: Any, n: Any, z: Any, rows: Any, g: Any) -> tuple[Any, Any, Any]:
    """Step FTRL on some rows of a table and of its two states."""
    old_n, weights = n[rows], table[rows]
    new_n = old_n + g * g
    new_z = z[rows] + g - (jnp.sqrt(new_n) - jnp.sqrt(old_n)) / 5e-2 * weights
    shrunk = jnp.clip(new_z, -1e-8, 1e-8) - new_z
    fresh = shrunk / (jnp.sqrt(new_n) / 5e-2 + 2e-8)
    put = {"mode": "drop", "unique_indices": True}
    return (
        table.at[rows].set(fresh, **put),
        n.at[rows].set(new_n, **put),
        z.at[rows].set(new_z, **put),
    )


def wide_deep_sparse_step() -> tuple[Any, Any]:
    """Build the jitted step of Wide & Deep that updates the rows that a batch names."""
    params = wide_deep_params()
    tables = {n: params.pop(n) for n in ("wide", "embedding")}
    optimizer = optax.adam(1e-3)
    zeros = jnp.zeros_like
    slots = {
        "m": zeros(tables["embedding"]),
        "v": zeros(tables["embedding"]),
        "n": jnp.ones_like(tables["wide"]),
        "z": zeros(tables["wide"]),
    }

    def loss(p: Params, wide: Any, embedded: Any, y: Any) -> Any:
        x = embedded.reshape(embedded.shape[0], -1)
        x = jax.nn.relu(_dense(p["fc1"], x))
        x = jax.nn.relu(_dense(p["fc2"], x))
        logits = _dense(p["fc3"], x) + wide.sum(1)
        return optax.sigmoid_binary_cross_entropy(logits, y).mean()

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(p: Params, tables: Params, state: Any, ids: Any, y: Any) -> Any:
        adam, slots, count = state
        looked_up = tables["wide"][ids], tables["embedding"][ids]
        value, grads = jax.value_and_grad(loss, (0, 1, 2))(p, *looked_up, y)
        updates, adam = optimizer.update(grads[0], adam, p)
        count, size = count + 1, tables["wide"].shape[0]
        rows, total = unique_rows(ids, grads[1].reshape(-1, 1), size)
        wide, n, z = _ftrl(tables["wide"], slots["n"], slots["z"], rows, total)
        rows, total = unique_rows(ids, grads[2].reshape(-1, 16), size)
        embedding, m, v = _lazy_adam(
            tables["embedding"], slots["m"], slots["v"], count, rows, total
        )
        tables, slots = {"wide": wide, "embedding": embedding}, {"m": m, "v": v, "n": n, "z": z}
        return optax.apply_updates(p, updates), tables, (adam, slots, count), value

    return step, (params, tables, (optimizer.init(params), slots, jnp.float32(0)))


def decode() -> Any:
    """Build a greedy decoder of one text with caches: a jitted step a token.

    Returns:
        A function without arguments that decodes and gives the last token, a float.
    """
    params, length, tokens = decoder_params(), 128, 96
    cos, sin = (jnp.asarray(a) for a in rotations(length, 64))

    @partial(jax.jit, donate_argnums=1)
    def step(p: Params, caches: Any, token: Any, position: Any) -> Any:
        x, new = p["embedding"][token], []
        hidden = jnp.where(jnp.arange(length) > position, -1e9, 0.0).astype(jnp.float32)
        c, s = cos[position], sin[position]
        for i in range(LAYERS):
            layer, (keys, values) = p[f"layer{i}"], caches[i]
            q, k, v = (_rms_norm(layer["norm1"], x) @ layer["qkv"].T).reshape(3, 4, 64)
            row = (position[0], jnp.int32(0))
            keys = lax.dynamic_update_slice(keys, _rotate(k, c, s).reshape(1, -1), row)
            values = lax.dynamic_update_slice(values, v.reshape(1, -1), row)
            new.append((keys, values))
            q = _rotate(q, c, s).reshape(4, 1, 64)
            scores = q @ keys.reshape(length, 4, 64).transpose(1, 2, 0) * 64**-0.5 + hidden
            mixed = jax.nn.softmax(scores) @ values.reshape(length, 4, 64).transpose(1, 0, 2)
            x = x + mixed.reshape(1, -1) @ layer["out"].T
            h = _rms_norm(layer["norm2"], x)
            x = x + (jax.nn.silu(h @ layer["gate"].T) * (h @ layer["up"].T)) @ layer["down"].T
        return new, jnp.argmax(_rms_norm(p["norm"], x) @ p["head"].T, -1).astype(jnp.int32)

    held = [[(jnp.zeros((length, 256)), jnp.zeros((length, 256))) for _ in range(LAYERS)]]
    positions = [jnp.array([i], jnp.int32) for i in range(tokens)]
    first = jnp.array([1], jnp.int32)

    def run() -> float:
        token = first
        for position in positions:
            held[0], token = step(params, held[0], token, position)
        return float(token[0])

    return run


def compiled_step(workload: str) -> tuple[Any, Any]:
    """Build the jitted training step with donated state.

    Args:
        workload: name of the network.

    Returns:
        The pair of ``step(params, stats, opt_state, x, y)`` and its first state.
    """
    if workload == "wide_deep_sparse":
        return wide_deep_sparse_step()
    make_params, make_stats, loss, make_optimizer = WORKLOADS[workload]
    params, stats, optimizer = make_params(), make_stats(), make_optimizer()

    @partial(jax.jit, donate_argnums=(0, 1, 2))
    def step(p: Params, stats: Params, state: Any, x: Any, y: Any) -> Any:
        (value, new), grads = jax.value_and_grad(loss, has_aux=True)(p, stats, x, y)
        updates, state = optimizer.update(grads, state, p)
        return optax.apply_updates(p, updates), new, state, value

    return step, (params, stats, optimizer.init(params))


def train_step(workload: str) -> Any:
    """Build a training step.

    Args:
        workload: name of the network.

    Returns:
        A function without arguments that trains one step and waits for the loss, a float.
    """
    if workload == "decode":
        return decode()
    step, state = compiled_step(workload)
    x, y = (jnp.asarray(a) for a in batch(workload))
    held = [*state]

    def run() -> float:
        *held[:], value = step(*held, x, y)
        return float(value)

    return run
