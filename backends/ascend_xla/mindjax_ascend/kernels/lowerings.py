"""What MindJAX's primitives compute with kernels, found by the entry point ``mindjax.lowerings``.

A function takes the record and the arrays, as `compute` does, and gives what computes them with
kernels. Where a kernel does not fit the arrays it gives None: the record's own `compute` stands,
and so do its errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from mindjax_ascend.kernels import (
    convolution,
    flash_attention,
    foreign,
    grouped_matmul,
    layer_norm,
    lstm,
    moe,
    onednn,
    onednn_convolution,
    paged_attention,
    quant_matmul,
    rms_norm,
    rotary,
    softmax,
    swiglu,
)

Array = jax.Array
Computation = Callable[..., Any]
Lowering = Callable[..., Computation | None]

SMALLEST = 1 << 14
"""Elements of the first array from which on a call of a kernel pays on CPUs."""

_PLAIN_ON_CPU = frozenset({"Softmax", "_CacheWrite"})
"""Primitives whose kernels are not 1.2 times as fast as XLA in benchmarks/kernels.py."""


_FASTER_BY = {"WeightQuantBatchMatmul": "avx512f", "QuantBatchMatmul": "avx512_vnni"}
"""What a processor must have for a primitive's kernel to be that fast."""


def lowerings(cls: type[Any]) -> dict[str, Lowering]:
    """Give what computes a primitive class with kernels, by platform; nothing for other classes."""
    if not cls.__module__.startswith("mindjax."):
        return {}
    function, found = _FUNCTIONS.get(cls.__name__), {}
    if function is not None:
        found["ascend"] = function
    on_cpu = _ON_CPU.get(cls.__name__, function)
    if cls.__name__ in _ON_CPU and not onednn.loaded():
        on_cpu = None
    needed = _FASTER_BY.get(cls.__name__)
    if needed is not None and not foreign.processor_has(needed):
        # Without it bytes in rows are faster in XLA, bytes that lie turned are not.
        on_cpu = _quant_turned if on_cpu is _quant else None
    if on_cpu is not None and cls.__name__ not in _PLAIN_ON_CPU:
        found["cpu"] = _of_size(on_cpu)
    return found


def _of_size(function: Lowering) -> Lowering:
    def chosen(record: Any, *arrays: Any) -> Computation | None:
        from mindjax.ops.contraction import forms_wanted

        first = jax.tree.leaves(arrays)[0]
        if first.size < SMALLEST or not forms_wanted():
            return None
        return function(record, *arrays)

    return chosen


def _rms_norm(record: Any, x: Array, gamma: Array) -> Computation | None:
    if not foreign.narrow_or_float32(x, gamma) or not rms_norm.wanted(x, gamma):
        return None
    return lambda x, gamma: rms_norm.rms_norm(x, gamma, record.epsilon)


def _add_rms_norm(record: Any, x1: Array, x2: Array, gamma: Array) -> Computation | None:
    same = x1.shape == x2.shape and x1.dtype == x2.dtype == gamma.dtype == np.float32
    if not same or not rms_norm.wanted(x1, gamma):
        return None
    return lambda x1, x2, gamma: rms_norm.add_rms_norm(x1, x2, gamma, record.epsilon)


def _layer_norm(record: Any, x: Array, gamma: Array, beta: Array) -> Computation | None:
    first, span = (a % max(x.ndim, 1) for a in (record.begin_norm_axis, record.begin_params_axis))
    fits = first == span == x.ndim - gamma.ndim and layer_norm.wanted(x, gamma, beta)
    if not fits:
        return None
    return lambda x, gamma, beta: layer_norm.layer_norm(x, gamma, beta, record.epsilon)


def _layer_norm_plain(
    record: Any, x: Array, gamma: Array | None, beta: Array | None
) -> Computation | None:
    if gamma is None or beta is None or gamma.ndim != record.count:
        return None
    if not layer_norm.wanted(x, gamma, beta):
        return None
    return lambda x, gamma, beta: layer_norm.layer_norm(x, gamma, beta, record.epsilon)[0]


def _softmax(record: Any, x: Array) -> Computation | None:
    last = record.axis in (-1, x.ndim - 1, (-1,), (x.ndim - 1,))
    if not last or x.dtype != np.float32 or not softmax.wanted(x):
        return None
    return softmax.softmax


def _swiglu(record: Any, x: Array) -> Computation | None:
    if record.dim not in (-1, x.ndim - 1) or not swiglu.wanted(x):
        return None
    return swiglu.swiglu


def _rotary(record: Any, x: Array, cos: Array, sin: Array) -> Computation | None:
    if x.ndim != 4 or not rotary.wanted(x, cos, sin):
        return None
    return lambda x, cos, sin: rotary.rotary(x, cos, sin, record.mode == 1)


def _gating(record: Any, x: Array, finished: Array | None) -> Computation | None:
    fits = x.ndim in (2, 3) and 0 < record.k <= x.shape[-1] and finished is None
    if not fits or not moe.wanted(x):
        return None

    def gating(x: Array, _finished: None) -> Any:
        values, experts = moe.gating_top_k(x, record.k)
        rows = experts.size // record.k
        numbers = jnp.arange(experts.size, dtype=np.int32).reshape(record.k, rows)
        return values, experts, numbers.T.reshape(experts.shape)

    return gating


def _permute(record: Any, tokens: Array, indices: Array) -> Computation | None:
    fits = tokens.ndim == 2 and indices.ndim in (1, 2) and indices.dtype == np.int32
    fits = fits and indices.shape[0] == tokens.shape[0] and indices.size > 0
    if not fits or (indices.ndim == 2 and indices.shape[1] > 512) or not moe.wanted(tokens):
        return None
    kept = min(record.num_out_tokens or indices.size, indices.size)
    return lambda tokens, indices: moe.permute(tokens, indices.reshape(tokens.shape[0], -1), kept)


def _unpermute(
    record: Any, tokens: Array, places: Array, probs: Array | None
) -> Computation | None:
    fits = probs is not None and tokens.ndim == 2 and places.dtype == np.int32
    if not fits or probs is None or probs.ndim != 2 or probs.size != places.size:
        return None
    return moe.unpermute


def _grouped(record: Any, xs: Any, weights: Any, *rest: Any) -> Computation | None:
    extras, group_list = rest[:-1], rest[-1]
    plain = not any(extras) and not record.transpose_a and not record.transpose_b
    plain = plain and record.group_type == 0
    plain = plain and len(xs) == 1 and len(weights) == 1 and record.output_dtype is None
    if not plain or group_list is None:
        return None
    (x,), (w,) = xs, weights
    if x.dtype != w.dtype or group_list.shape != w.shape[:1] or not grouped_matmul.wanted(x, w):
        return None

    def grouped(xs: Any, weights: Any, *rest: Any) -> Any:
        ends = rest[-1].astype(np.int32)
        if record.group_list_type:
            ends = jnp.cumsum(ends, dtype=np.int32)
        return (grouped_matmul.grouped_matmul(xs[0], weights[0], ends).astype(x.dtype),)

    return grouped


def _weight_quant(record: Any, x: Array, weight: Array, *rest: Any) -> Computation | None:
    scale, offset, quant_scale, _, _ = rest
    turned = record.transpose_weight
    if (
        quant_scale is not None
        or record.transpose_x
        or x.dtype != np.float32
        or not quant_matmul.wanted(x, weight, turned)
    ):
        return None
    depth, columns = weight.shape[::-1] if turned else weight.shape
    group = record.antiquant_group_size
    groups = -(-depth // group) if group else 0
    for numbers in (scale, offset):
        if numbers is None or numbers.size in (1, columns):
            continue
        rows = numbers.shape[:-2] + (numbers.shape[-2:][::-1] if turned else numbers.shape[-2:])
        if not group or rows != (groups, columns):
            return None

    def laid(numbers: Array | None) -> Array:
        if numbers is None:
            numbers = jnp.zeros((1,), np.float32)
        if numbers.size in (1, columns):
            rows = jnp.broadcast_to(numbers.reshape(1, -1), (1, columns))
            rows = jnp.repeat(rows, groups, 0) if group else rows
        else:
            rows = jnp.swapaxes(numbers, -1, -2) if turned else numbers
        return rows.astype(np.float32)

    def product(x: Array, weight: Array, scale: Array, offset: Any, *rest: Any) -> Array:
        laid_out = (laid(scale), laid(offset))
        out = quant_matmul.weight_quant_matmul(x, weight, *laid_out, group or depth, turned)
        bias = rest[-1]
        return out if bias is None else out + bias.astype(np.float32)

    return product


def _quant(record: Any, x1: Array, x2: Array, *rest: Any) -> Computation | None:
    scale, offset, bias, rows = rest
    turned = record.transpose_x2
    fits = not record.transpose_x1 and x1.dtype == np.int8 and quant_matmul.wanted(x1, x2, turned)
    fits = fits and scale.dtype == np.float32 and all(y is None for y in (offset, bias, rows))
    from mindjax.core.dtype import int8, to_np

    if not fits or record.dtype is int8:
        return None

    def product(x1: Array, x2: Array, scale: Array, *_: Any) -> Array:
        whole = quant_matmul.quant_matmul(x1, x2, turned).astype(np.float32)
        return (whole * scale).astype(to_np(record.dtype))

    return product


def _quant_turned(record: Any, *arrays: Any) -> Computation | None:
    return _quant(record, *arrays) if record.transpose_x2 else None


def _paged(record: Any, query: Array, keys: Array, values: Any, *rest: Any) -> Computation | None:
    tables, lengths, extras = rest[0], rest[1], rest[2:]
    heads, key_heads = record.head_num, record.kv_head_num
    plain = all(x is None for x in extras) and record.mla_v_dim == 0
    plain = plain and keys.ndim == 4 and tables.ndim == 2
    if not plain or values is None or keys.shape != values.shape or keys.shape[2] != key_heads:
        return None
    size = keys.shape[-1]
    if query.size != tables.shape[0] * heads * size:
        return None
    q: Any = jax.ShapeDtypeStruct((tables.shape[0], heads, size), query.dtype)
    if lengths.size != tables.shape[0] or not paged_attention.wanted(q, keys, values, tables):
        return None

    def attention(query: Array, keys: Array, values: Array, *rest: Any) -> Array:
        q, numbers = query.reshape(-1, heads, size), (rest[0], rest[1].reshape(-1))
        out = paged_attention.paged_attention(q, keys, values, *numbers, record.scale_value)
        return out.reshape(query.shape)

    return attention


def _cache_write(record: Any, cache: Array, tokens: Array, slots: Array) -> Computation | None:
    count = int(np.prod(cache.shape[:2])) if cache.ndim > 2 else 0
    if not count or not cache.size or tokens.size != slots.size * (cache.size // count):
        return None

    def write(cache: Array, tokens: Array, slots: Array) -> Array:
        rows = tokens.astype(cache.dtype).reshape(slots.size, -1)
        return paged_attention.reshape_and_cache(cache, rows, slots.reshape(-1))

    return write


def _band(record: Any, queries: int, keys: int, masked: bool) -> tuple[int, int] | None:
    """Give how many keys before and after its place a query sees; None for what has no kernel."""
    everything = flash_attention.UNBOUNDED
    mode, before, after = record.sparse_mode, record.pre_tokens, record.next_tokens
    if mode == 0:
        return (before, after) if masked else (everything, everything)
    if mode == 1 and masked:
        return everything, everything
    if mode == 2:
        return everything, 0
    if mode == 3:
        return everything, keys - queries
    if mode == 4:
        low = everything if before >= everything else before - (keys - queries)
        return low, everything if after >= everything else after + (keys - queries)
    return None


def _attention(
    record: Any, query: Array, key: Array, value: Array, *rest: Any
) -> Computation | None:
    from mindjax.ops.fused.attention import four_axes, merge_heads, split_heads

    shift, dropped, mask, prefix, *ends = rest
    layout, heads, name = record.input_layout, record.head_num, record.name
    plain = all(x is None for x in (shift, dropped, prefix, *ends)) and layout != "TND"
    plain = plain and query.dtype == key.dtype == value.dtype
    plain = plain and (mask is None or mask.dtype in (np.bool_, np.uint8, np.int8))
    if not plain or not query.size or not key.size or not value.size:
        return None

    def split(query: Array, key: Array, value: Array) -> tuple[Array, Array, Array]:
        q = split_heads(query, layout, heads, name, "query")
        own = key.shape[-1] // q.shape[3] if layout in ("BSH", "SBH") else 0
        k, v = (split_heads(x, layout, own, name, "key") for x in (key, value))
        return q, k, v

    q, k, v = jax.eval_shape(split, query, key, value)
    band = _band(record, q.shape[1], k.shape[1], mask is not None)
    fits = q.shape[2] == heads and k.shape[2] > 0 and heads % k.shape[2] == 0
    fits = fits and k.shape[:3] == v.shape[:3] and q.shape[::3] == k.shape[::3]
    if band is None or not fits or not flash_attention.wanted(q, k, v):
        return None
    sizes = (q.shape[0], heads, q.shape[1], k.shape[1])
    hides = mask is not None and record.sparse_mode < 2
    if hides:
        jax.eval_shape(lambda mask: four_axes(mask, name, sizes), mask)

    def attention(query: Array, key: Array, value: Array, *rest: Any) -> Any:
        hidden = four_axes(rest[2], name, sizes) if hides else None
        heads_apart = split(query, key, value)
        out, peak, total = flash_attention.flash_attention(
            *heads_apart, hidden, record.scale_value, *band
        )
        copies = [jnp.broadcast_to(x[..., None], (*x.shape, 8)) for x in (peak, total)]
        return (*copies, jnp.zeros((1,), query.dtype), merge_heads(out, layout))

    return attention


def _recurrence(
    record: Any, x: Array, state: Any, w_ih: Array, w_hh: Array, *rest: Any
) -> Computation | None:
    lengths = (*rest, None, None, None)[2]
    plain = record.kind == "lstm" and lengths is None and x.ndim == 3 and len(state) == 2
    plain = plain and w_ih.ndim == w_hh.ndim == 2 and x.shape[2] == w_ih.shape[1]
    plain = plain and all(a.dtype == np.float32 for a in (x, *state, w_ih, w_hh))
    if not plain or any(s.ndim != 2 or s.shape[0] not in (1, x.shape[1]) for s in state):
        return None
    from mindjax.ops.contraction import times_weight

    widened: Any = [jax.ShapeDtypeStruct((x.shape[1], s.shape[1]), s.dtype) for s in state]
    h, c = widened
    gates: Any = jax.ShapeDtypeStruct((*x.shape[:2], w_ih.shape[0]), x.dtype)
    if w_hh.shape != (w_ih.shape[0], w_ih.shape[0] // 4) or not lstm.wanted(gates, w_hh, h, c):
        return None

    def recurrence(x: Array, state: Any, w_ih: Array, w_hh: Array, *rest: Any) -> Any:
        inputs = times_weight(x, w_ih, True, jax.lax.Precision.HIGHEST)
        for bias in rest[:2]:
            inputs = inputs if bias is None else inputs + bias
        if record.backwards:
            inputs = inputs[::-1]
        start = (jnp.broadcast_to(s, (x.shape[1], s.shape[1])) for s in state)
        out, cell = lstm.lstm(inputs, w_hh, *start)
        last = out[-1]
        return (out[::-1] if record.backwards else out), last, cell

    return recurrence


def _conv2d(record: Any, x: Array, weight: Array) -> Computation | None:
    plain = record.data_format == "NCHW" and record.group == 1 and record.pad_mode != "same"
    plain = plain and tuple(record.dilation) == (1, 1) and x.ndim == weight.ndim == 4
    plain = plain and weight.shape == (record.out_channel, *weight.shape[1:2], *record.kernel_size)
    if not plain:
        return None
    pads = record.pad if isinstance(record.pad, tuple) else (record.pad,) * 4
    edges = ((pads[0], pads[1]), (pads[2], pads[3]))
    turned: Any = jax.ShapeDtypeStruct([weight.shape[i] for i in (2, 3, 1, 0)], weight.dtype)
    room = all(n + sum(e) >= k for n, e, k in zip(x.shape[2:], edges, turned.shape, strict=False))
    if not room or not convolution.wanted(x, turned, edges, True):
        return None
    stride = tuple(record.stride)
    slides = stride == (1, 1)
    return lambda x, weight: convolution.convolution(
        x, weight.transpose(2, 3, 1, 0), stride, edges, True, slides
    )


def _numbers(record: Any, x: Array, weight: Array) -> onednn_convolution.Numbers | None:
    """Give a convolution's numbers where its arrays fit them; errors are for `compute` to raise."""
    count, last = len(record.kernel_size), record.data_format == "NHWC"
    if not x.ndim == weight.ndim == count + 2:
        return None
    space, window = (a.shape[1:-1] if last else a.shape[2:] for a in (x, weight))
    channels, inner = (a.shape[-1 if last else 1] for a in (x, weight))
    if channels != inner * record.group or (weight.shape[0], window) != (
        record.out_channel,
        record.kernel_size,
    ):
        return None
    reach = [(k - 1) * d + 1 for k, d in zip(window, record.dilation, strict=True)]
    mode = "VALID" if record.pad_mode == "pad" else record.pad_mode.upper()
    edges = jax.lax.padtype_to_pads(space, reach, record.stride, mode)
    if record.pad_mode == "pad":
        edges = list(zip(record.pad[::2], record.pad[1::2], strict=True))
    if any(n + sum(e) < r for n, e, r in zip(space, edges, reach, strict=True)):
        return None
    edges = tuple((int(low), int(high)) for low, high in edges)
    return onednn_convolution.Numbers(record.stride, edges, record.dilation, record.group, last)


def _onednn(record: Any, x: Array, weight: Array) -> Computation | None:
    numbers = _numbers(record, x, weight)
    if numbers is None or not onednn_convolution.wanted(x, weight, numbers):
        return None
    return lambda x, weight: onednn_convolution.convolution(x, weight, numbers)


def _onednn_transposed(record: Any, x: Array, weight: Array) -> Computation | None:
    count = len(record.stride)
    if not x.ndim == weight.ndim == count + 2 or x.shape[1] != weight.shape[0]:
        return None
    edges = tuple(zip(record.pads[::2], record.pads[1::2], strict=True))
    numbers = onednn_convolution.Numbers(record.stride, edges, record.dilation, record.group)
    sizes = tuple(
        (n - 1) * s + (k - 1) * d + 1 - sum(e) + more
        for n, s, k, d, e, more in zip(
            *(x.shape[2:], record.stride, weight.shape[2:], record.dilation, edges),
            record.output_padding,
            strict=True,
        )
    )
    # More at the far end than a step would be another result.
    fits = all(m < s for m, s in zip(record.output_padding, record.stride, strict=True))
    fits = fits and min(sizes) > 0 and x.shape[1] % record.group == 0
    if not fits or not onednn_convolution.wanted(x, weight, numbers):
        return None
    return lambda x, weight: onednn_convolution.transposed(x, weight, numbers, sizes)


_ON_CPU: dict[str, Lowering] = {
    "Conv2D": _onednn,
    "Conv3D": _onednn,
    "_Conv1D": _onednn,
    "_ConvTranspose": _onednn_transposed,
}
"""Lowerings on CPUs that are not those of ``ascend``, by names of classes."""

_FUNCTIONS: dict[str, Lowering] = {
    "FlashAttentionScore": _attention,
    "RmsNorm": _rms_norm,
    "AddRmsNorm": _add_rms_norm,
    "LayerNorm": _layer_norm,
    "_LayerNormPlain": _layer_norm_plain,
    "Softmax": _softmax,
    "Swiglu": _swiglu,
    "RotaryPositionEmbedding": _rotary,
    "MoeGatingTopKSoftmax": _gating,
    "MoeTokenPermute": _permute,
    "MoeTokenUnpermute": _unpermute,
    "_Grouped": _grouped,
    "WeightQuantBatchMatmul": _weight_quant,
    "QuantBatchMatmul": _quant,
    "PagedAttention": _paged,
    "_CacheWrite": _cache_write,
    "_Recurrence": _recurrence,
    "Conv2D": _conv2d,
}
