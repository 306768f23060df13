"""Products, convolutions, poolings and normalizations as nodes of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.mindir.lowering import UnknownOperation
from mindjax.onnx.writing.elementwise import number
from mindjax.onnx.writing.emitter import Emitter, Ref
from mindjax.onnx.writing.rows import Call, row


def _pair(value: Any) -> list[int]:
    """Give height and width of a size that is one number, or two, or four with N and C."""
    values = [int(v) for v in (value if isinstance(value, tuple | list) else (value, value))]
    return values[-2:]


@row("MatMul", "BatchMatMul", "MatMulExt")
def _matmul(e: Emitter, call: Call) -> Any:
    a, b = (_turned(e, x, call.fields.get(f)) for x, f in
            zip(call.inputs, ("transpose_a", "transpose_b"), strict=True))  # fmt: skip
    return e.op("MatMul", a, b)


def _turned(e: Emitter, x: Any, turned: Any) -> Any:
    if not turned:
        return x
    if not isinstance(x, Ref):
        return np.swapaxes(x, -1, -2)
    order = [*range(x.rank - 2), x.rank - 1, x.rank - 2]
    return e.op("Transpose", x, perm=order)


@row("BiasAdd")
def _bias_add(e: Emitter, call: Call) -> Ref:
    x, bias = call.inputs
    rank = e.ref(x).rank
    if call.fields.get("data_format", "NCHW") == "NHWC" or rank == 2:
        return e.op("Add", x, bias)
    aligned = np.array([-1, *([1] * (rank - 2))])
    return e.op("Add", x, e.op("Reshape", bias, aligned))


def _same_pads(
    sizes: Sequence[int | None], kernel: Sequence[int], stride: Sequence[int], gaps: Sequence[int]
) -> list[int] | None:
    """Give what the padding "same" adds before and behind; None if a size may change."""
    low, high = [], []
    for n, k, s, d in zip(sizes, kernel, stride, gaps, strict=True):
        if n is None:
            return None
        total = max((-(-n // s) - 1) * s + (k - 1) * d + 1 - n, 0)
        low.append(total // 2)
        high.append(total - total // 2)
    return [*low, *high]


def _padding(
    call: Call, kernel: Sequence[int], stride: Sequence[int], gaps: Sequence[int]
) -> dict[str, Any]:
    mode = str(call.fields.get("pad_mode", "valid")).lower()
    if mode == "valid":
        return {}
    if mode == "same":
        pads = _same_pads(call.inputs[0].shape[2:], kernel, stride, gaps)
        return {"auto_pad": "SAME_UPPER"} if pads is None else {"pads": pads}
    pad = call.fields.get("pad", 0)
    top, bottom, left, right = pad if isinstance(pad, tuple | list) else (pad,) * 4
    return {"pads": [int(top), int(left), int(bottom), int(right)]}


def _check_layout(call: Call, name: str) -> None:
    layout = call.fields.get("data_format", "NCHW")
    if layout != "NCHW":
        raise UnknownOperation(f"'{name}' in the layout {layout} has no form in ONNX: use NCHW")


@row("Conv2D")
def _convolution(e: Emitter, call: Call) -> Ref:
    _check_layout(call, "Conv2D")
    x, weight = map(e.ref, call.inputs)
    kernel, stride, gaps = (_pair(call.fields[f]) for f in ("kernel_size", "stride", "dilation"))
    given = call._replace(inputs=[x, weight])
    return e.op(
        "Conv", x, weight, kernel_shape=kernel, strides=stride, dilations=gaps,
        group=int(call.fields.get("group", 1)), **_padding(given, kernel, stride, gaps),
    )  # fmt: skip


@row("MaxPool")
def _max_pool(e: Emitter, call: Call) -> Ref:
    return _pool(e, call, "MaxPool")


@row("AvgPool")
def _average_pool(e: Emitter, call: Call) -> Ref:
    return _pool(e, call, "AveragePool")


def _pool(e: Emitter, call: Call, kind: str) -> Any:
    _check_layout(call, kind)
    x = e.ref(call.inputs[0])
    kernel, stride = (_pair(call.fields[f]) for f in ("kernel_size", "strides"))
    padding = _padding(call._replace(inputs=[x]), kernel, stride, (1, 1))
    return e.op(kind, x, kernel_shape=kernel, strides=stride, **padding)


@row("BatchNorm")
def _batch_norm(e: Emitter, call: Call) -> Any:
    _check_layout(call, "BatchNorm")
    if call.fields.get("is_training"):
        raise UnknownOperation("ONNX has no training: call set_train(False)")
    out = e.op("BatchNormalization", *call.inputs, epsilon=float(call.fields["epsilon"]))
    return (out, None, None, None, None)


@row("LayerNorm")
def _layer_norm(e: Emitter, call: Call) -> Any:
    x = e.ref(call.inputs[0])
    first = int(call.fields["begin_norm_axis"]) % x.rank
    epsilon = float(call.fields["epsilon"])
    axes = list(range(first, x.rank))
    mean = e.reduce("ReduceMean", x, axes, True)
    apart = e.op("Sub", x, mean, dtype=x.dtype, shape=x.shape)
    variance = e.reduce("ReduceMean", e.op("Mul", apart, apart), axes, True)
    if int(call.fields["begin_params_axis"]) % x.rank == first:
        out = e.op("LayerNormalization", *call.inputs, axis=first, epsilon=epsilon)
    else:
        deviation = e.op("Sqrt", e.op("Add", variance, number(x, epsilon)))
        scaled = e.op("Mul", e.op("Div", apart, deviation), call.inputs[1])
        out = e.op("Add", scaled, call.inputs[2])
    return (out, *(e.cast(v, t.dtype) for v, t in zip((mean, variance), call.out[1:], strict=True)))


def _softmax_axis(call: Call) -> int:
    axis = call.fields.get("axis", -1)
    if isinstance(axis, tuple | list):
        if len(axis) != 1:
            raise UnknownOperation("'Softmax' over several axes has no form in ONNX")
        axis = axis[0]
    return int(axis)


@row("Softmax")
def _softmax(e: Emitter, call: Call) -> Ref:
    return e.op("Softmax", call.inputs[0], axis=_softmax_axis(call))


@row("LogSoftmax")
def _log_softmax(e: Emitter, call: Call) -> Ref:
    return e.op("LogSoftmax", call.inputs[0], axis=_softmax_axis(call))
