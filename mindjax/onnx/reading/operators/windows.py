"""ONNX's convolutions and poolings, over any number of axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.onnx.reading.errors import OnnxError
from mindjax.onnx.reading.table import Attributes, operator

Pairs = list[tuple[int, int]]


def _pads(
    n: Attributes, sizes: Sequence[int], kernel: Sequence[int], stride: Sequence[int],
    gaps: Sequence[int],
) -> Pairs:  # fmt: skip
    """Give what is padded before and behind each axis."""
    mode = n.get("auto_pad", "NOTSET")
    count = len(sizes)
    if mode in ("NOTSET", ""):
        flat = n.get("pads") or [0] * (2 * count)
        return list(zip(flat[:count], flat[count:], strict=True))
    if mode == "VALID":
        return [(0, 0)] * count
    pads = []
    for size, k, s, d in zip(sizes, kernel, stride, gaps, strict=True):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        small, large = total // 2, total - total // 2
        pads.append((small, large) if mode == "SAME_UPPER" else (large, small))
    return pads


def _numbers(rank: int) -> Any:
    axes = tuple(range(rank))
    return lax.ConvDimensionNumbers(axes, axes, axes)


@operator("Conv")
def conv(n: Attributes, x: Any, w: Any, bias: Any = None) -> Any:
    """Convolve (N, C, ...) with (out, C / group, ...)."""
    count = x.ndim - 2
    stride, gaps = n.get("strides") or [1] * count, n.get("dilations") or [1] * count
    pads = _pads(n, x.shape[2:], w.shape[2:], stride, gaps)
    out = lax.conv_general_dilated(
        x, w, stride, pads, rhs_dilation=gaps, dimension_numbers=_numbers(x.ndim),
        feature_group_count=n.get("group", 1),
    )  # fmt: skip
    return out if bias is None else out + bias.reshape((-1,) + (1,) * count)


@operator("ConvTranspose")
def _conv_transpose(n: Attributes, x: Any, w: Any, bias: Any = None) -> Any:
    count, group = x.ndim - 2, n.get("group", 1)
    kernel = n.get("kernel_shape") or list(w.shape[2:])
    stride, gaps = n.get("strides") or [1] * count, n.get("dilations") or [1] * count
    more = n.get("output_padding") or [0] * count
    spans = [(k - 1) * d + 1 for k, d in zip(kernel, gaps, strict=True)]
    mode, wanted = n.get("auto_pad", "NOTSET"), n.get("output_shape")
    if mode in ("SAME_UPPER", "SAME_LOWER") and not wanted:
        wanted = [size * s for size, s in zip(x.shape[2:], stride, strict=True)]
    pads: Pairs = _pads(Attributes({"pads": n.get("pads")}, n.kind, n.opset, 1),
                        x.shape[2:], kernel, stride, gaps)  # fmt: skip
    if wanted:
        wanted = wanted[-count:]
        pads = []
        for i in range(count):
            total = (x.shape[2 + i] - 1) * stride[i] + spans[i] + more[i] - wanted[i]
            low, high = total // 2, total - total // 2
            pads.append((high, low) if mode != "SAME_UPPER" else (low, high))
    sides = [(s - 1 - a, s - 1 - b + m) for s, (a, b), m in zip(spans, pads, more, strict=True)]
    # The weights (in, out / group, ...) as those of a convolution, turned around.
    w = w.reshape((group, w.shape[0] // group, *w.shape[1:])).swapaxes(1, 2)
    w = jnp.flip(w.reshape((-1, *w.shape[2:])), tuple(range(2, x.ndim)))
    out = lax.conv_general_dilated(
        x, w, [1] * count, sides, lhs_dilation=stride, rhs_dilation=gaps,
        dimension_numbers=_numbers(x.ndim), feature_group_count=group,
    )  # fmt: skip
    return out if bias is None else out + bias.reshape((-1,) + (1,) * count)


def _pooled(n: Attributes, x: Any) -> tuple[list[int], list[int], list[int], Pairs]:
    """Give window, stride, gaps and padding of a pooling; "ceil" pads more behind."""
    kernel = list(n["kernel_shape"])
    count = len(kernel)
    stride, gaps = n.get("strides") or [1] * count, n.get("dilations") or [1] * count
    if count != x.ndim - 2:
        raise OnnxError(f"windows over {count} axes do not fit {x.shape}")
    pads = _pads(n, x.shape[2:], kernel, stride, gaps)
    if n.get("ceil_mode") and n.get("auto_pad", "NOTSET") in ("NOTSET", ""):
        for i, (a, b) in enumerate(pads):
            size, span = x.shape[2 + i], (kernel[i] - 1) * gaps[i] + 1
            outs = -(-(size + a + b - span) // stride[i]) + 1
            if (outs - 1) * stride[i] >= size + a:
                outs -= 1
            pads[i] = (a, max((outs - 1) * stride[i] + span - size - a, 0))
    return kernel, stride, gaps, pads


def _slid(x: Any, function: Any, fill: Any, window: tuple[Any, ...]) -> Any:
    kernel, stride, gaps, pads = window
    return lax.reduce_window(
        x, np.array(fill, x.dtype), function, (1, 1, *kernel), (1, 1, *stride),
        ((0, 0), (0, 0), *pads), window_dilation=(1, 1, *gaps),
    )  # fmt: skip


def _least(dtype: Any) -> Any:
    return np.iinfo(dtype).min if np.issubdtype(dtype, np.integer) else -np.inf


@operator("MaxPool")
def _max_pool(n: Attributes, x: Any) -> Any:
    window = _pooled(n, x)
    out = _slid(x, lax.max, _least(x.dtype), window)
    if n.outputs == 1:
        return out
    # Places of the elements, in row-major or column-major order, found as the first maxima.
    kernel, stride, gaps, pads = window
    sizes = x.shape[2:]
    best: Any = None
    place: Any = None
    padded = jnp.pad(x, ((0, 0), (0, 0), *pads), constant_values=_least(x.dtype))
    steps = [1] * len(sizes)
    order = range(len(sizes) - 1, -1, -1) if not n.get("storage_order") else range(len(sizes))
    total = 1
    for axis in order:
        steps[axis] = total
        total *= sizes[axis]
    for offset in np.ndindex(*kernel):
        index = tuple(
            slice(o * d, o * d + (count - 1) * s + 1, s)
            for o, d, s, count in zip(offset, gaps, stride, out.shape[2:], strict=True)
        )
        value = padded[(slice(None), slice(None), *index)]
        here: Any = np.zeros((1,) * len(sizes), np.int64)
        for axis, (o, d, s, count) in enumerate(
            zip(offset, gaps, stride, out.shape[2:], strict=True)
        ):
            line = [1] * len(sizes)
            line[axis] = count
            rows = np.arange(count) * s + o * d - pads[axis][0]
            here = here + (rows * steps[axis]).reshape(line)
        here = jnp.broadcast_to(jnp.asarray(here), value.shape)
        if best is None:
            best, place = value, here
        else:
            better = value > best
            best, place = jnp.where(better, value, best), jnp.where(better, here, place)
    base = np.arange(x.shape[0] * x.shape[1]) * math.prod(sizes)
    base = base.reshape((x.shape[0], x.shape[1]) + (1,) * len(sizes))
    return out, (place + base).astype(np.int64)


@operator("AveragePool")
def _average_pool(n: Attributes, x: Any) -> Any:
    window = _pooled(n, x)
    kernel, stride, gaps, pads = window
    total = _slid(x, lax.add, 0, window)
    ones = jnp.ones((1, 1, *x.shape[2:]), x.dtype)
    if n.get("count_include_pad"):
        # What is padded counts, but not what "ceil" adds behind.
        given = _pads(n, x.shape[2:], kernel, stride, gaps)
        ones = jnp.pad(ones, ((0, 0), (0, 0), *given), constant_values=1)
        pads = [(0, max(b - h, 0)) for (_, b), (_, h) in zip(pads, given, strict=True)]
    return total / _slid(ones, lax.add, 0, (kernel, stride, gaps, pads))


@operator("LpPool")
def _lp_pool(n: Attributes, x: Any) -> Any:
    p = n.get("p", 2)
    return _slid(jnp.abs(x) ** p, lax.add, 0, _pooled(n, x)) ** (1 / p)


@operator("GlobalAveragePool")
def _global_average(n: Attributes, x: Any) -> Any:
    return x.mean(tuple(range(2, x.ndim)), keepdims=True)


@operator("GlobalMaxPool")
def _global_max(n: Attributes, x: Any) -> Any:
    return x.max(tuple(range(2, x.ndim)), keepdims=True)


@operator("GlobalLpPool")
def _global_lp(n: Attributes, x: Any) -> Any:
    p = n.get("p", 2)
    return (jnp.abs(x) ** p).sum(tuple(range(2, x.ndim)), keepdims=True) ** (1 / p)


@operator("MaxUnpool", static=(2,))
def _max_unpool(n: Attributes, x: Any, places: Any, wanted: Any = None) -> Any:
    kernel = n["kernel_shape"]
    stride = n.get("strides") or [1] * len(kernel)
    flat = n.get("pads") or [0] * (2 * len(kernel))
    sizes = [
        (s - 1) * t - flat[i] - flat[i + len(kernel)] + k
        for i, (s, t, k) in enumerate(zip(x.shape[2:], stride, kernel, strict=True))
    ]
    shape = (*x.shape[:2], *sizes)
    full = shape if wanted is None else tuple(int(v) for v in wanted)
    if full != shape and len(full) == x.ndim:
        # Places count in the pooled input of the smaller size.
        coordinates = jnp.unravel_index(places.reshape(-1), shape)
        return jnp.zeros(full, x.dtype).at[coordinates].set(x.reshape(-1))
    out = jnp.zeros(math.prod(shape), x.dtype).at[places.reshape(-1)].set(x.reshape(-1))
    return out.reshape(shape)


@operator("Col2Im", static=(1, 2))
def _col_to_image(n: Attributes, x: Any, image: Any, block: Any) -> Any:
    sizes, kernel = [int(v) for v in image], [int(v) for v in block]
    count = len(sizes)
    gaps, stride = n.get("dilations") or [1] * count, n.get("strides") or [1] * count
    flat = n.get("pads") or [0] * (2 * count)
    padded = [s + flat[i] + flat[i + count] for i, s in enumerate(sizes)]
    outs = [(p - (k - 1) * d - 1) // s + 1
            for p, k, d, s in zip(padded, kernel, gaps, stride, strict=True)]  # fmt: skip
    channels = x.shape[1] // math.prod(kernel)
    x = x.reshape((x.shape[0], channels, math.prod(kernel), *outs))
    result = jnp.zeros((x.shape[0], channels, *padded), x.dtype)
    for i, offset in enumerate(np.ndindex(*kernel)):
        index = tuple(
            slice(o * d, o * d + (c - 1) * s + 1, s)
            for o, d, s, c in zip(offset, gaps, stride, outs, strict=True)
        )
        result = result.at[(slice(None), slice(None), *index)].add(x[:, :, i])
    cut = tuple(slice(flat[i], flat[i] + s) for i, s in enumerate(sizes))
    return result[(slice(None), slice(None), *cut)]
