"""Products, convolutions, poolings and normalizations as nodes of ONNX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.mindir.lowering import UnknownOperation
from mindjax.onnx.writing.elementwise import number
from mindjax.onnx.writing.emitter import Emitter, Ref
from mindjax.onnx.writing.rows import Call, row


def _spatial(value: Any, axes: int = 2) -> list[int]:
    """Give a size along the spatial axes; it is one number, or one an axis, or with N and C."""
    values = [int(v) for v in (value if isinstance(value, tuple | list) else (value,) * axes)]
    return values[-axes:]


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
    pad = call.fields.get("pad", call.fields.get("pad_list", 0))
    ends = np.broadcast_to(pad if np.ndim(pad) != 1 else np.reshape(pad, (-1, 2)), (len(kernel), 2))
    return {"pads": [int(n) for n in ends.T.ravel()]}


def _check_layout(call: Call, name: str) -> None:
    layout = call.fields.get("data_format", "NCHW")
    if layout not in ("NCHW", "NCDHW"):
        raise UnknownOperation(f"'{name}' in the layout {layout} has no form in ONNX: use NCHW")


@row("Conv2D", "Conv3D")
def _convolution(e: Emitter, call: Call) -> Ref:
    _check_layout(call, f"Conv{e.ref(call.inputs[1]).rank - 2}D")
    x, weight = map(e.ref, call.inputs)
    sizes = ("kernel_size", "stride", "dilation")
    kernel, stride, gaps = (_spatial(call.fields[f], weight.rank - 2) for f in sizes)
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
    kernel, stride = (_spatial(call.fields[f]) for f in ("kernel_size", "strides"))
    padding = _padding(call._replace(inputs=[x]), kernel, stride, (1, 1))
    return e.op(kind, x, kernel_shape=kernel, strides=stride, **padding)


@row("MaxPool3D")
def _max_pool3d(e: Emitter, call: Call) -> Any:
    return _pool3d(e, call, "MaxPool")


@row("AvgPool3D")
def _average_pool3d(e: Emitter, call: Call) -> Any:
    if call.fields.get("divisor_override"):
        raise UnknownOperation("'AvgPool3D' with a divisor_override has no form in ONNX")
    counted = int(bool(call.fields.get("count_include_pad", True)))
    if counted and call.fields.get("ceil_mode"):
        raise UnknownOperation(
            "'AvgPool3D' with ceil_mode that counts its padding has no form in ONNX"
        )
    return _pool3d(e, call, "AveragePool", count_include_pad=counted)


def _pool3d(e: Emitter, call: Call, kind: str, **more: Any) -> Any:
    x = e.ref(call.inputs[0])
    kernel, stride = (_spatial(call.fields[f], 3) for f in ("kernel_size", "strides"))
    padding = _padding(call._replace(inputs=[x]), kernel, stride, (1, 1, 1))
    if call.fields.get("ceil_mode"):
        given = padding.get("pads", [0] * 6)
        padding = {"pads": _last_windows(x.shape, call.out.shape, given, kernel, stride)}
    return e.op(kind, x, kernel_shape=kernel, strides=stride, **padding, **more)


def _last_windows(
    before: Any, after: Any, pads: list[int], kernel: list[int], stride: list[int]
) -> list[int]:
    """Pad to where the last windows end: ONNX counts windows that begin in the padding, too."""
    sizes = [*before[2:], *after[2:]]
    if not all(isinstance(n, int) for n in sizes):
        raise UnknownOperation(
            "pooling with ceil_mode of sizes that may change has no form in ONNX"
        )
    axes = len(kernel)
    ends = [
        max((out - 1) * s + k - n - low, 0)
        for n, out, low, k, s in zip(sizes, sizes[axes:], pads, kernel, stride, strict=False)
    ]
    return [*pads[:axes], *ends]


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
