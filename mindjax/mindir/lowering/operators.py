"""MindJAX's operators as the primitives of their own names, where the original runs them so.

What is not listed here is written as the lax operations that it computes with.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from mindjax.core.dtype import Number, from_np, promote_types
from mindjax.core.primitive import Primitive
from mindjax.mindir.builder import Value
from mindjax.mindir.lowering.program import Lowering, exports
from mindjax.mindir.primitives import form_of
from mindjax.mindir.schema import TYPE_NUMBERS

Types = Any

# One result, arrays first, then the static values and the attributes of the record.
_PLAIN_NAMES = """
    Abs Neg Exp Log Log1p Expm1 Sqrt Rsqrt Square Reciprocal Sin Cos Tan Asin ACos Atan Sinh Cosh
    Tanh Asinh Acosh Atanh Erf Erfc Floor Ceil Sigmoid ReLU ReLU6 Softplus Softsign GeLU SiLU HSwish
    HSigmoid Mish LogicalNot Softmax LogSoftmax
    Add Sub Mul Div RealDiv Maximum Minimum Pow FloorDiv FloorMod
    Less LessEqual Greater GreaterEqual Equal NotEqual LogicalAnd LogicalOr
    Reshape Transpose ExpandDims BroadcastTo ReverseV2
    ReduceSum ReduceMean ReduceMax ReduceMin ReduceProd ReduceAll ReduceAny
    MatMul BatchMatMul MatMulExt Conv2D MaxPool AvgPool Conv3D MaxPool3D AvgPool3D"""
_PLAIN = _PLAIN_NAMES.split()
# Those of these that the original computes in floating-point numbers only.
_FLOATING_NAMES = """
    Exp Log Log1p Expm1 Sqrt Rsqrt Reciprocal Sin Cos Tan Asin ACos Atan Sinh Cosh Tanh Asinh Acosh
    Atanh Erf Erfc Floor Ceil Sigmoid ReLU ReLU6 Softplus Softsign GeLU SiLU HSwish HSigmoid Mish
    Softmax LogSoftmax MatMul BatchMatMul MatMulExt Conv2D MaxPool AvgPool Conv3D MaxPool3D
    AvgPool3D ReduceMean Div RealDiv Pow"""
_FLOATING = set(_FLOATING_NAMES.split())


def _is_real(dtype: Any) -> bool:
    return np.issubdtype(dtype, np.floating)


@exports(*_PLAIN)
def _plain(
    low: Lowering, record: Primitive, inputs: Any, types: Types, outs: Types
) -> Value | None:
    name = record.name
    if name in _FLOATING and not all(_is_real(t.dtype) for t in types):
        return None
    if name.startswith("Reduce") and not types[0].shape:
        return None
    if any(0 in t.shape for t in (*types, *outs)):
        return None
    form = form_of(name)
    arrays = list(inputs)
    if record.promotes:
        arrays = _promoted(low, arrays, types)
    statics = [_value(getattr(record, s)) for s in getattr(form.cls, "statics", ())]
    fields = {f: _value(getattr(record, f)) for f in form.fields}
    special = _FIELDS.get(name)
    if special is not None:
        fields = special(record, fields, low)
    if any(v is None or isinstance(v, Primitive) for v in (*statics, *fields.values())):
        return None
    if name.startswith("Reduce"):
        axes = (statics[0],) if isinstance(statics[0], int) else statics[0]
        statics = [axes or tuple(range(types[0].ndim))]
    if name == "MatMulExt" and low.graph.model.dialect == 1:
        return _older_product(low, arrays, types)
    return low.op(name, *arrays, *statics, **fields)


def _older_product(low: Lowering, arrays: list[Value], types: Types) -> Value | None:
    """Write a matrix product with the primitives that MindSpore Lite knows."""
    x, y = types
    if x.ndim < 2 or x.shape[:-2] != y.shape[:-2]:
        return None
    name = "MatMul" if x.ndim == 2 else "BatchMatMul"
    return low.op(name, *arrays, transpose_a=False, transpose_b=False)


def _promoted(low: Lowering, arrays: list[Value], types: Types) -> list[Value]:
    """Bring operands to one dtype, which MindIR's primitives do not do by themselves."""
    common = None
    for kind in types:
        dtype = from_np(kind.dtype)
        common = dtype if common is None else promote_types(common, dtype)
    assert common is not None
    return [
        a if t.dtype == common.np else low.cast(a, common.np)
        for a, t in zip(arrays, types, strict=True)
    ]


def _value(value: Any) -> Any:
    """Give an attribute as MindIR keeps it."""
    if isinstance(value, Number):
        return TYPE_NUMBERS.get(value.np.name)
    if isinstance(value, list):
        return tuple(value)
    return value


def _conv_fields(record: Any, fields: dict[str, Any], low: Lowering) -> dict[str, Any]:
    pad = record.pad if isinstance(record.pad, tuple) else (record.pad,) * 4
    pair = fields["stride"], fields["dilation"]
    stride, dilation = ((v, v) if isinstance(v, int) else tuple(v)[-2:] for v in pair)
    kernel = record.kernel_size
    fields.update(
        kernel_size=(kernel, kernel) if isinstance(kernel, int) else tuple(kernel)[-2:],
        pad=pad,
        pad_list=pad,
        stride=(1, 1, *stride),
        dilation=(1, 1, *dilation),
        groups=record.group,
    )
    return fields


def _pool_fields(record: Any, fields: dict[str, Any], low: Lowering) -> dict[str, Any]:
    plain = record.name == "AvgPool"
    for name in ("kernel_size", "strides"):
        value = fields[name]
        value = (value, value) if isinstance(value, int) else tuple(value)[-2:]
        fields[name] = value if plain else (1, 1, *value)
    mode = fields["pad_mode"]
    fields["pad_mode"] = mode.lower() if plain else mode.upper()
    if record.data_format != "NCHW" or (plain and low.graph.model.dialect == 1):
        fields["pad_mode"] = None
    return fields


def _conv3d_fields(record: Any, fields: dict[str, Any], low: Lowering) -> dict[str, Any]:
    for name in ("kernel_size", "stride", "dilation"):
        fields[name] = _three(fields[name])
    pad = record.pad if isinstance(record.pad, tuple) else (record.pad,) * 6
    fields.update(
        pad=pad,
        pad_list=pad,
        strides=(1, 1, *fields["stride"]),
        dilations=(1, 1, *fields["dilation"]),
        groups=record.group,
    )
    return fields


def _pool3d_fields(record: Any, fields: dict[str, Any], low: Lowering) -> dict[str, Any]:
    for name in ("kernel_size", "strides"):
        fields[name] = (1, 1, *_three(fields[name]))
    maximum = record.name == "MaxPool3D"
    pad = record.pad_list if maximum else record.pad
    fields["pad_list"] = tuple(n for ends in pad for n in ends)
    if not maximum:
        fields["pad"] = fields["pad_list"]
    mode = fields["pad_mode"].upper()
    fields["pad_mode"] = "CALCULATED" if maximum and record.ceil_mode else mode
    if maximum:
        fields["ceil_mode"] = int(bool(record.ceil_mode))
    return fields


def _three(value: Any) -> tuple[int, ...]:
    return (value,) * 3 if isinstance(value, int) else tuple(value)[-3:]


def _axis_field(record: Any, fields: dict[str, Any], low: Lowering) -> dict[str, Any]:
    axis = fields["axis"]
    fields["axis"] = (axis,) if isinstance(axis, int) and record.name == "Softmax" else axis
    return fields


_FIELDS: dict[str, Any] = {
    "Conv2D": _conv_fields,
    "MaxPool": _pool_fields,
    "AvgPool": _pool_fields,
    "Conv3D": _conv3d_fields,
    "MaxPool3D": _pool3d_fields,
    "AvgPool3D": _pool3d_fields,
    "Softmax": _axis_field,
}


@exports("Dense")
def _dense(low: Lowering, record: Any, inputs: Any, types: Types, outs: Types) -> Value | None:
    x, weight, *bias = inputs
    if types[1].ndim != 2 or not _is_real(outs[0].dtype) or types[0].ndim == 0:
        return None
    columns, rows = types[1].shape
    flat = (int(np.prod(types[0].shape[:-1], dtype=np.int64)), rows)
    if 0 in flat or not columns or not all(isinstance(n, int) for n in types[0].shape):
        return None
    x = low.reshape(x, flat, types[0].shape)
    out = low.op("MatMul", x, weight, transpose_a=False, transpose_b=True)
    if bias and bias[0] is not None:
        out = low.op("BiasAdd", out, bias[0], data_format="NCHW")
    return low.reshape(out, outs[0].shape, (flat[0], columns))


@exports("LayerNorm")
def _layer_norm(
    low: Lowering, record: Any, inputs: Any, types: Types, outs: Types
) -> list[Value] | None:
    if not all(_is_real(t.dtype) for t in types) or 0 in types[0].shape:
        return None
    out = low.op(
        "LayerNorm", *inputs,
        begin_norm_axis=record.begin_norm_axis, begin_params_axis=record.begin_params_axis,
        epsilon=float(record.epsilon),
    )  # fmt: skip
    return [low.graph.item(out, i) for i in range(3)]


@exports("_BatchNormInference")
def _batch_norm(low: Lowering, record: Any, inputs: Any, types: Types, outs: Types) -> Value | None:
    if record.channel != 1 or types[0].ndim not in (2, 4) or any(v is None for v in inputs):
        return None
    if not all(t.dtype == np.float32 for t in types) or 0 in types[0].shape:
        return None
    out = low.op(
        "BatchNorm", *inputs,
        is_training=False, epsilon=float(record.epsilon), momentum=0.1, data_format="NCHW",
    )  # fmt: skip
    return low.graph.item(out, 0)


@exports("Concat")
def _concat(low: Lowering, record: Any, inputs: Any, types: Types, outs: Types) -> Value | None:
    (tensors,), (kinds,) = inputs, types
    if any(t.dtype != outs[0].dtype or 0 in t.shape for t in kinds) or len(tensors) < 2:
        return None
    return low.op("Concat", low.graph.tuple(tensors), axis=int(record.axis))


@exports("Select")
def _select(low: Lowering, record: Any, inputs: Any, types: Types, outs: Types) -> Value | None:
    shapes = {t.shape for t in types}
    if len(shapes) > 1 or any(t.dtype != outs[0].dtype for t in types[1:]):
        return None
    return low.op("Select", *inputs)


@exports("Cast")
def _cast(low: Lowering, record: Any, inputs: Any, types: Types, outs: Types) -> Value | None:
    return inputs[0] if types[0].dtype == outs[0].dtype else low.cast(inputs[0], outs[0].dtype)
