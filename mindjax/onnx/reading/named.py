"""Operators of ONNX that are primitives of MindJAX, for arrays of floating-point numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindjax import ops
from mindjax.onnx.reading.table import Attributes

_SAME = """
    Abs Abs, Neg Neg, Exp Exp, Log Log, Sqrt Sqrt, Sin Sin, Cos Cos, Tan Tan, Asin Asin, Acos ACos,
    Atan Atan, Sinh Sinh, Cosh Cosh, Tanh Tanh, Asinh Asinh, Acosh Acosh, Atanh Atanh, Erf Erf,
    Floor Floor, Ceil Ceil, Sigmoid Sigmoid, Relu ReLU, Softsign Softsign, Reciprocal Reciprocal,
    Add Add, Sub Sub, Mul Mul, Div RealDiv, Softplus Softplus"""
_NAMES: dict[str, str] = {}
for _pair in _SAME.split(","):
    _theirs, _ours = _pair.split()
    _NAMES[_theirs] = _ours


def named(attributes: Attributes, values: list[Any]) -> Any:
    """Run an operator that MindJAX has; None for one that it has not in this form.

    Args:
        attributes: the node's.
        values: its inputs.
    """
    if not values or any(v is None or not getattr(v, "dtype", None) for v in values):
        return None
    if any(getattr(v.dtype, "kind", "") not in ("float", "f") for v in values):
        return None
    ours = _NAMES.get(attributes.kind)
    if ours is not None:
        return getattr(ops, ours)()(*values)
    special = _SPECIAL.get(attributes.kind)
    return None if special is None else special(attributes, *values)


def _softmax(attributes: Attributes, x: Any) -> Any:
    if attributes.opset < 13:
        return None
    name = "Softmax" if attributes.kind == "Softmax" else "LogSoftmax"
    return getattr(ops, name)(attributes.get("axis", -1))(x)


def _matmul(attributes: Attributes, a: Any, b: Any) -> Any:
    if a.ndim == b.ndim == 2:
        return ops.MatMul()(a, b)
    same = a.ndim == b.ndim > 2 and tuple(a.shape[:-2]) == tuple(b.shape[:-2])
    return ops.BatchMatMul()(a, b) if same else None


def _convolution(attributes: Attributes, x: Any, w: Any, b: Any = None) -> Any:
    pads = attributes.get("pads") or [0] * 4
    if x.ndim != 4 or attributes.get("auto_pad", "NOTSET") != "NOTSET" or len(pads) != 4:
        return None
    top, left, bottom, right = pads
    out = ops.Conv2D(
        out_channel=w.shape[0],
        kernel_size=tuple(w.shape[2:]),
        pad_mode="pad",
        pad=(top, bottom, left, right),
        stride=tuple(attributes.get("strides") or (1, 1)),
        dilation=tuple(attributes.get("dilations") or (1, 1)),
        group=attributes.get("group", 1),
    )(x, w)
    return out if b is None else ops.BiasAdd()(out, b)


_SPECIAL: dict[str, Callable[..., Any]] = {
    "Softmax": _softmax,
    "LogSoftmax": _softmax,
    "MatMul": _matmul,
    "Conv": _convolution,
}
