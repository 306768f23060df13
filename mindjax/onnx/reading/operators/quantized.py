"""ONNX's operators on quantized numbers, and its transforms of signals."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from mindjax.onnx.reading.operators.shapes import axis_of, ints
from mindjax.onnx.reading.operators.windows import conv
from mindjax.onnx.reading.table import Attributes, operator
from mindjax.onnx.reading.tensors import np_dtype


def _spread(n: Attributes, v: Any, x: Any) -> Any:
    """Give a scale or zero point, one for all, one a row of an axis, or one a block."""
    if v is None or v.ndim == 0:
        return v
    axis = axis_of(n.get("axis", 1), x.ndim) if x.ndim else 0
    block = n.get("block_size", 0)
    if block:
        return jnp.take(jnp.repeat(v, block, axis), jnp.arange(x.shape[axis]), axis)
    if v.ndim == 1 and x.ndim > 1:
        line = [1] * x.ndim
        line[axis] = -1
        return v.reshape(line)
    return v


def _quantized(x: Any, scale: Any, zero: Any, dtype: Any) -> Any:
    info = np.iinfo(dtype)
    y = jnp.rint(x / scale)
    y = y if zero is None else y + zero.astype(y.dtype)
    return jnp.clip(y, info.min, info.max).astype(dtype)


@operator("QuantizeLinear")
def _quantize(n: Attributes, x: Any, scale: Any, zero: Any = None) -> Any:
    dtype = zero.dtype if zero is not None else np_dtype(n.get("output_dtype") or 2)
    wide = x.astype(jnp.float32)
    scale = _spread(n, scale, x).astype(jnp.float32)
    return _quantized(wide, scale, _spread(n, zero, x), dtype)


@operator("DequantizeLinear")
def _dequantize(n: Attributes, x: Any, scale: Any, zero: Any = None) -> Any:
    dtype, wide = scale.dtype, x.astype(jnp.int32)
    zero = _spread(n, zero, x)
    wide = wide if zero is None else wide - zero.astype(jnp.int32)
    out = wide.astype(jnp.float32) * _spread(n, scale, x).astype(jnp.float32)
    return out.astype(np_dtype(n["output_dtype"]) if n.get("output_dtype") else dtype)


@operator("DynamicQuantizeLinear")
def _dynamic_quantize(n: Attributes, x: Any) -> Any:
    low, high = jnp.minimum(x.min(), 0), jnp.maximum(x.max(), 0)
    scale = (high - low) / 255
    scale = jnp.where(scale == 0, 1, scale).astype(x.dtype)
    zero = jnp.clip(jnp.rint(-low / scale), 0, 255).astype(jnp.uint8)
    return _quantized(x, scale, zero, np.dtype(np.uint8)), scale, zero


def _shifted(x: Any, zero: Any) -> Any:
    wide = x.astype(jnp.int32)
    return wide if zero is None else wide - zero.astype(jnp.int32)


@operator("MatMulInteger")
def _matmul_integer(n: Attributes, a: Any, b: Any, za: Any = None, zb: Any = None) -> Any:
    if za is not None and za.ndim == 1 and za.size > 1:
        za = za[:, None]
    return jnp.matmul(_shifted(a, za), _shifted(b, zb))


@operator("ConvInteger")
def _conv_integer(n: Attributes, x: Any, w: Any, zx: Any = None, zw: Any = None) -> Any:
    if zw is not None and zw.ndim == 1:
        zw = zw.reshape((-1,) + (1,) * (w.ndim - 1))
    return conv(n, _shifted(x, zx), _shifted(w, zw))


@operator("QLinearMatMul")
def _qlinear_matmul(
    n: Attributes, a: Any, sa: Any, za: Any, b: Any, sb: Any, zb: Any, sy: Any, zy: Any
) -> Any:
    product = jnp.matmul(_shifted(a, za), _shifted(b, zb)).astype(jnp.float32)
    scale = sa.astype(jnp.float32) * sb.astype(jnp.float32) / sy.astype(jnp.float32)
    return _quantized(product * scale, 1, zy, zy.dtype)


@operator("QLinearConv")
def _qlinear_conv(
    n: Attributes, x: Any, sx: Any, zx: Any, w: Any, sw: Any, zw: Any, sy: Any, zy: Any,
    bias: Any = None,
) -> Any:  # fmt: skip
    line = (-1,) + (1,) * (w.ndim - 1)
    out = conv(n, _shifted(x, zx), _shifted(w, zw.reshape(line) if zw.ndim else zw))
    out = out if bias is None else out + bias.reshape(line[:-1])
    scale = sx * sw / sy
    scale = scale.reshape(line[:-1]) if scale.ndim else scale
    return _quantized(out.astype(jnp.float32) * scale, 1, zy, zy.dtype)


# -- signals --


@operator("DFT", static=(1, 2))
def _dft(n: Attributes, x: Any, length: Any = None, axis: Any = None) -> Any:
    place = n.get("axis", 1) if n.opset < 20 else -2 if axis is None else ints(axis)[0]
    place = axis_of(place, x.ndim)
    count = None if length is None else ints(length)[0]
    real = x.shape[-1] == 1
    inverse, onesided = bool(n.get("inverse")), bool(n.get("onesided"))
    values = x[..., 0] if real else x[..., 0] + 1j * x[..., 1].astype(x.dtype)
    if inverse and onesided:
        size = count or 2 * (x.shape[place] - 1)
        return jnp.fft.irfft(values, size, place).astype(x.dtype)[..., None]
    if inverse:
        out = jnp.fft.ifft(values, count, place)
    elif onesided and real:
        out = jnp.fft.rfft(values, count, place)
    else:
        out = jnp.fft.fft(values, count, place)
    return jnp.stack((out.real, out.imag), -1).astype(x.dtype)


@operator("STFT", static=(1, 3))
def _stft(n: Attributes, x: Any, step: Any, window: Any = None, length: Any = None) -> Any:
    size = int(window.shape[0]) if length is None else ints(length)[0]
    stride = ints(step)[0]
    values = x[..., 0] if x.ndim == 3 and x.shape[-1] == 1 else x
    if x.ndim == 3 and x.shape[-1] == 2:
        values = x[..., 0] + 1j * x[..., 1]
    count = (values.shape[1] - size) // stride + 1
    index = np.arange(count)[:, None] * stride + np.arange(size)
    frames = jnp.take(values, index, 1)
    frames = frames if window is None else frames * window.astype(frames.dtype)
    onesided = n.get("onesided", 1) and not np.iscomplexobj(frames)
    out = jnp.fft.rfft(frames) if onesided else jnp.fft.fft(frames)
    return jnp.stack((out.real, out.imag), -1).astype(x.dtype)


@operator("MelWeightMatrix", static=(0, 1, 2, 3, 4), folds=True)
def _mel_weights(n: Attributes, bins: Any, length: Any, rate: Any, low: Any, high: Any) -> Any:
    count, size = ints(bins)[0], ints(length)[0]
    edges = np.array([float(low), float(high)])
    mels = 2595 * np.log10(1 + edges / 700)
    points = mels[0] + np.arange(count + 2) * (mels[1] - mels[0]) / (count + 2)
    places = ((size + 1) * 700 * (10 ** (points / 2595) - 1) // float(rate)).astype(np.int64)
    out = np.zeros((size // 2 + 1, count))
    for i in range(count):
        start, middle, end = places[i : i + 3]
        if start == middle:
            out[middle, i] = 1
        for j in range(start, middle + 1):
            if middle > start:
                out[j, i] = (j - start) / (middle - start)
        for j in range(middle, end):
            out[j, i] = (end - j) / (end - middle)
    return out.astype(np_dtype(n.get("output_datatype", 1)))
