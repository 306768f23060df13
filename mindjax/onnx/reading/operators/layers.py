"""ONNX's matrix products, normalizations and attention."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.onnx.reading.operators.shapes import axes_of, axis_of
from mindjax.onnx.reading.table import Attributes, operator
from mindjax.onnx.reading.tensors import np_dtype


@operator("MatMul")
def _matmul(n: Attributes, a: Any, b: Any) -> Any:
    return jnp.matmul(a, b)


@operator("Gemm")
def _gemm(n: Attributes, a: Any, b: Any, c: Any = None) -> Any:
    a, b = (x.T if n.get(f) else x for x, f in ((a, "transA"), (b, "transB")))
    out = jnp.matmul(a, b)
    alpha, beta = n.get("alpha", 1.0), n.get("beta", 1.0)
    out = out if alpha == 1 else (out * alpha).astype(a.dtype)
    if c is None:
        return out
    return out + (c if beta == 1 else (c * beta).astype(a.dtype))


@operator("Einsum")
def _einsum(n: Attributes, *values: Any) -> Any:
    return jnp.einsum(n["equation"], *values)


@operator("Det")
def _det(n: Attributes, x: Any) -> Any:
    return jnp.linalg.det(x)


# -- normalizations --


def _wide(x: Any) -> Any:
    return x.astype(jnp.float32) if x.dtype.itemsize < 4 else x


def _aligned(v: Any, rank: int) -> Any:
    return v.reshape((-1,) + (1,) * (rank - 2))


@operator("BatchNormalization")
def _batch_norm(n: Attributes, x: Any, scale: Any, bias: Any, mean: Any, variance: Any) -> Any:
    epsilon = n.get("epsilon", 1e-5)
    running = mean, variance
    if n.get("training_mode"):
        axes = (0, *range(2, x.ndim))
        mean, variance = x.mean(axes), x.var(axes)
    wide = _wide(x)
    parts = [_aligned(v.astype(wide.dtype), x.ndim) for v in (mean, variance, scale, bias)]
    out = (wide - parts[0]) * lax.rsqrt(parts[1] + epsilon) * parts[2] + parts[3]
    out = out.astype(x.dtype)
    if n.outputs == 1:
        return out
    keep = n.get("momentum", 0.9)
    kept = [(r * keep + v.astype(r.dtype) * (1 - keep)).astype(r.dtype)
            for r, v in zip(running, (mean, variance), strict=True)]  # fmt: skip
    return out, *kept


def _normalized(x: Any, axes: tuple[int, ...], epsilon: float) -> tuple[Any, Any, Any]:
    mean = x.mean(axes, keepdims=True)
    apart = x - mean
    inverse = lax.rsqrt((apart * apart).mean(axes, keepdims=True) + epsilon)
    return apart * inverse, mean, inverse


@operator("InstanceNormalization")
def _instance_norm(n: Attributes, x: Any, scale: Any, bias: Any) -> Any:
    out, _, _ = _normalized(_wide(x), tuple(range(2, x.ndim)), n.get("epsilon", 1e-5))
    return (out.astype(x.dtype)) * _aligned(scale, x.ndim) + _aligned(bias, x.ndim)


@operator("LayerNormalization")
def _layer_norm(n: Attributes, x: Any, scale: Any, bias: Any = None) -> Any:
    first = axis_of(n.get("axis", -1), x.ndim)
    wide = _wide(x)
    out, mean, inverse = _normalized(wide, tuple(range(first, x.ndim)), n.get("epsilon", 1e-5))
    out = out.astype(x.dtype) * scale
    out = out if bias is None else out + bias
    return (out, mean, inverse)[: n.outputs] if n.outputs > 1 else out


@operator("RMSNormalization")
def _rms_norm(n: Attributes, x: Any, scale: Any) -> Any:
    first = axis_of(n.get("axis", -1), x.ndim)
    wide = _wide(x)
    square = (wide * wide).mean(tuple(range(first, x.ndim)), keepdims=True)
    return (wide * lax.rsqrt(square + n.get("epsilon", 1e-5))).astype(x.dtype) * scale


@operator("GroupNormalization")
def _group_norm(n: Attributes, x: Any, scale: Any, bias: Any) -> Any:
    groups = n["num_groups"]
    apart = _wide(x).reshape((x.shape[0], groups, -1))
    out, _, _ = _normalized(apart, (2,), n.get("epsilon", 1e-5))
    out = out.reshape(x.shape).astype(x.dtype)
    if n.opset < 21:
        # One scale a group.
        each = x.shape[1] // groups
        scale, bias = jnp.repeat(scale, each), jnp.repeat(bias, each)
    return out * _aligned(scale, x.ndim) + _aligned(bias, x.ndim)


@operator("LpNormalization")
def _lp_norm(n: Attributes, x: Any) -> Any:
    axis = n.get("axis", -1)
    if n.get("p", 2) == 1:
        size = jnp.abs(x).sum(axis, keepdims=True)
    else:
        size = jnp.sqrt((x * x).sum(axis, keepdims=True))
    return jnp.where(size == 0, 0, x / jnp.where(size == 0, 1, size)).astype(x.dtype)


@operator("MeanVarianceNormalization")
def _mean_variance(n: Attributes, x: Any) -> Any:
    axes = tuple(axes_of(n, None, x.ndim) or (0, 2, 3))
    apart = x - x.mean(axes, keepdims=True)
    return apart / (jnp.sqrt((apart * apart).mean(axes, keepdims=True)) + 1e-9)


@operator("LRN")
def _lrn(n: Attributes, x: Any) -> Any:
    size = n["size"]
    low, high = (size - 1) // 2, size // 2
    square = jnp.pad(x * x, ((0, 0), (low, high), *((0, 0),) * (x.ndim - 2)))
    total = sum(lax.slice_in_dim(square, i, i + x.shape[1], axis=1) for i in range(size))
    return x / (n.get("bias", 1.0) + n.get("alpha", 1e-4) / size * total) ** n.get("beta", 0.75)


# -- attention --


@operator("RotaryEmbedding")
def _rotary(n: Attributes, x: Any, cos: Any, sin: Any, places: Any = None) -> Any:
    flat = x.ndim == 3
    if flat:
        heads = n["num_heads"]
        x = x.reshape((*x.shape[:2], heads, -1)).swapaxes(1, 2)
    size = n.get("rotary_embedding_dim", 0) or x.shape[-1]
    turned, rest = x[..., :size], x[..., size:]
    cos, sin = (v if places is None else jnp.take(v, places, 0) for v in (cos, sin))
    cos, sin = (v[:, None, :, : size // 2] for v in (cos, sin))
    if n.get("interleaved"):
        a, b = turned[..., 0::2], turned[..., 1::2]
    else:
        a, b = jnp.split(turned, 2, -1)
    a, b = cos * a - sin * b, sin * a + cos * b
    if n.get("interleaved"):
        out = jnp.stack((a, b), -1).reshape(turned.shape)
    else:
        out = jnp.concatenate((a, b), -1)
    out = jnp.concatenate((out, rest), -1)
    return out.swapaxes(1, 2).reshape((out.shape[0], out.shape[2], -1)) if flat else out


def _heads(x: Any, count: int) -> Any:
    return x.reshape((*x.shape[:2], count, -1)).swapaxes(1, 2)


@operator("Attention")
def _attention(
    n: Attributes, q: Any, k: Any, v: Any, mask: Any = None, past_k: Any = None,
    past_v: Any = None, padded: Any = None,
) -> Any:  # fmt: skip
    flat = q.ndim == 3
    if flat:
        q = _heads(q, n["q_num_heads"])
        k, v = (_heads(x, n["kv_num_heads"]) for x in (k, v))
    if past_k is not None:
        k, v = jnp.concatenate((past_k, k), 2), jnp.concatenate((past_v, v), 2)
    present = k, v
    group = q.shape[1] // k.shape[1]
    if group > 1:
        k, v = (jnp.repeat(x, group, 1) for x in (k, v))
    scale = n.get("scale") or 1 / math.sqrt(q.shape[-1])
    root = math.sqrt(scale)
    raw = jnp.matmul(q * root, k.swapaxes(-1, -2) * root)
    rows, columns = raw.shape[-2:]
    zero, least = jnp.zeros((), q.dtype), jnp.asarray(-np.inf, q.dtype)
    # Rows count from the first key that is not older than the queries.
    first: Any = 0 if past_k is None else past_k.shape[2]
    if past_k is None and padded is not None:
        first = (padded - rows).reshape((-1, 1, 1, 1))
    apart = np.arange(rows)[:, None] - np.arange(columns)[None] + first
    left, right = n.get("left_window_size", -1), n.get("right_window_size", -1)
    right = 0 if n.get("is_causal") else right
    allowed: Any = np.ones((rows, columns), bool)
    allowed = allowed & (apart <= left) if left >= 0 else allowed
    allowed = allowed & (apart >= -right) if right >= 0 else allowed
    bias = jnp.where(allowed, zero, least)
    if mask is not None:
        if mask.shape[-1] < columns:
            sides = [(0, 0)] * (mask.ndim - 1) + [(0, columns - mask.shape[-1])]
            fill: Any = False if mask.dtype == np.bool_ else -np.inf
            mask = jnp.pad(mask, sides, constant_values=fill)
        mask = jnp.where(mask, zero, least) if mask.dtype == np.bool_ else mask
        bias = bias + mask.astype(q.dtype)
    if padded is not None:
        beyond = np.arange(columns)[None] >= padded.reshape((-1, 1))
        bias = bias + jnp.where(beyond[:, None, None, :], least, zero)
    limit = n.get("softcap", 0.0)
    capped = jnp.tanh(raw / limit) * limit if limit else raw
    masked = capped + bias
    wide = masked.astype(np_dtype(n["softmax_precision"])) if "softmax_precision" in n else masked
    # A row without any key gives zeros.
    dead = jnp.all(jnp.isneginf(bias), -1, keepdims=True)
    weights = jax.nn.softmax(jnp.where(dead, 0, wide), -1).astype(q.dtype)
    weights = jnp.where(dead, 0, weights).astype(q.dtype)
    out = jnp.matmul(weights, v)
    if flat:
        out = out.swapaxes(1, 2).reshape((out.shape[0], out.shape[2], -1))
    shown = (raw, capped, masked, weights)[n.get("qk_matmul_output_mode", 0)]
    results = (out, *present, shown)
    return results[: n.outputs] if n.outputs > 1 else out
