"""MindIR's primitives that are no class of MindJAX: each by MindJAX's functions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from mindjax import mint, ops
from mindjax.autodiff import vjp
from mindjax.core.handle import Handle
from mindjax.mindir.primitives import call, dtype_of
from mindjax.tensor.tensor import Tensor

Attributes = dict[str, Any]
COMPOSITES: dict[str, Callable[..., Any]] = {}
"""MindIR name -> function of the attributes beside the name and the node's inputs."""

# Functions of mint (first) and operators that take a node's inputs as they are.
_MINT = """
    AcosExt acos, AcoshExt acosh, AsinExt asin, AsinhExt asinh, AtanExt atan, Atan2Ext atan2,
    Addbmm addbmm, Addmm addmm, Addmv addmv, AnyExt any, Any any, ArgMaxExt argmax,
    ArgMinExt argmin, ArgSort argsort, Baddbmm baddbmm, BatchMatMulExt bmm, BincountExt bincount,
    BitwiseAndScalar bitwise_and, BitwiseAndTensor bitwise_and, BitwiseOrScalar bitwise_or,
    BitwiseOrTensor bitwise_or, BitwiseXorScalar bitwise_xor, BitwiseXorTensor bitwise_xor,
    BroadcastToView broadcast_to, Chunk chunk, ChunkView chunk, ClampScalar clamp, Clone clone,
    Copy clone, CumminExt cummin, DiagExt diag, DivMods div, Divs div, Dot dot, EqScalar eq,
    ExpandDimsView unsqueeze, FlattenExt flatten, FloorDivScalar floor_divide,
    FmodScalar fmod, FmodTensor fmod, Frac frac, GreaterEqualScalar greater_equal,
    IndexSelect index_select,
    LessScalar lt, MatrixInverseExt inverse, Max max,
    Min min, MaxDim max, MinDim min, MedianExt median, MedianDim median, Mm mm, Muls mul, Mv mv,
    Narrow narrow, NarrowView narrow, NonZeroExt nonzero, Outer outer, PowScalarTensor pow,
    PowTensorScalar pow, RemainderScalarTensor remainder, RemainderTensorScalar remainder,
    RemainderTensorTensor remainder, RepeatInterleaveInt repeat_interleave,
    RepeatInterleaveTensor repeat_interleave, ScatterAddExt scatter_add, SelectExtView select,
    SelectV2 where, SortExt sort, SplitTensor split, SplitTensorView split, SplitWithSize split,
    SplitWithSizeView split, TensorMove clone, TExt t, TopkExt topk, TraceExt trace,
    TrilExt tril, Take take,
    UnstackExtView unbind, View reshape, XLogYScalarOther xlogy,
    XLogYScalarSelf xlogy"""
_MINT_NN = """
    SeLUExt selu, MishExt mish, LeakyReLUExt leaky_relu, Hardtanh hardtanh, SoftplusExt softplus,
    EluExt elu, PixelShuffle pixel_shuffle, ConstantPadND pad, LayerNormExt layer_norm,
    GroupNorm group_norm, AdaptiveAvgPool2DExt adaptive_avg_pool2d,
    AdaptiveAvgPool1D adaptive_avg_pool1d, AdaptiveAvgPool3DExt adaptive_avg_pool3d"""
_OPERATORS = {
    "ScalarAdd": operator.add,
    "ScalarSub": operator.sub,
    "ScalarMul": operator.mul,
    "ScalarDiv": operator.truediv,
    "ScalarFloorDiv": operator.floordiv,
    "ScalarMod": operator.mod,
    "ScalarPow": operator.pow,
    "ScalarUsub": operator.neg,
    "ScalarUadd": operator.pos,
    "ScalarEq": operator.eq,
    "ScalarNe": operator.ne,
    "ScalarLt": operator.lt,
    "ScalarGt": operator.gt,
    "ScalarLe": operator.le,
    "ScalarGe": operator.ge,
    "Adds": operator.add,
    "Subs": operator.sub,
    "BoolNot": operator.not_,
    "bool_not": operator.not_,
    "ScalarBool": bool,
    "sequence_len": len,
    "SequenceAdd": operator.add,
    "SequenceMul": operator.mul,
    "tuple_equal": operator.eq,
    "list_equal": operator.eq,
}


def _pairs(text: str) -> list[tuple[str, str]]:
    return [(a, b) for a, b in (part.split() for part in text.split(","))]


def _late(module: Any, name: str) -> Callable[..., Any]:
    def run(attributes: Attributes, *values: Any) -> Any:
        return getattr(module, name)(*values)

    return run


for _name, _function in _pairs(_MINT):
    COMPOSITES[_name] = _late(mint, _function)
for _name, _function in _pairs(_MINT_NN):
    COMPOSITES[_name] = _late(mint.nn.functional, _function)
for _name, _operator in _OPERATORS.items():
    COMPOSITES[_name] = lambda attributes, *values, f=_operator: f(*values)


def _register(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            COMPOSITES[name] = function
        return function

    return keep


@_register("EqualExt")
def _equal(attributes: Attributes, x: Any, y: Any) -> Any:
    return mint.eq(x, y).all() if tuple(x.shape) == tuple(y.shape) else Tensor(False)


@_register("MaskedFillScalar")
def _masked_fill(attributes: Attributes, x: Any, mask: Any, value: Any) -> Any:
    return ops.masked_fill(x, mask, value)


@_register("ViewAs")
def _view_as(attributes: Attributes, x: Any, other: Any) -> Any:
    return mint.reshape(x, other.shape)


def _dtype(value: Any) -> Any:
    return None if value is None else dtype_of(value)


@_register("MakeTuple", "make_tuple", "MakeList", "make_list")
def _make_tuple(attributes: Attributes, *values: Any) -> Any:
    return tuple(values)


@_register("TupleGetItem", "ListGetItem", "tuple_getitem", "list_getitem", "RealTupleGetItem")
def _get_item(attributes: Attributes, values: Any, index: Any) -> Any:
    return values[int(index)]


@_register("TupleSetItem", "ListSetItem")
def _set_item(attributes: Attributes, values: Any, index: Any, value: Any) -> Any:
    changed = list(values)
    changed[int(index)] = value
    return tuple(changed)


@_register("Cast", "ToDtype")
def _cast(attributes: Attributes, x: Any, dtype: Any = None, *rest: Any) -> Any:
    wanted = dtype_of(attributes.get("dst_type") if dtype is None else dtype)
    return ops.cast(x if isinstance(x, Handle) else Tensor(x), wanted)


@_register("ScalarToTensor")
def _scalar_to_tensor(attributes: Attributes, value: Any, dtype: Any = None) -> Any:
    return Tensor(value, _dtype(dtype)) if not isinstance(value, Handle) else value


@_register("TupleToTensor", "ListToTensor")
def _tuple_to_tensor(attributes: Attributes, values: Any, dtype: Any = None) -> Any:
    if any(isinstance(v, Handle) for v in values):
        return ops.stack([v if isinstance(v, Handle) else Tensor(v) for v in values])
    return Tensor(list(values), _dtype(dtype))


@_register("TensorToTuple", "TensorToList", "TensorToScalar")
def _tensor_to_tuple(attributes: Attributes, x: Any) -> Any:
    if x.ndim == 0:
        return x
    return tuple(x[i] for i in range(x.shape[0]))


@_register("ScalarCast")
def _scalar_cast(attributes: Attributes, value: Any, dtype: Any) -> Any:
    wanted = dtype_of(dtype)
    if isinstance(value, Handle):
        return ops.cast(value, wanted)
    return {"float": float, "bool": bool}.get(wanted.kind, int)(value)


@_register("Cond")
def _cond(attributes: Attributes, value: Any, needs_tensor: Any = False) -> Any:
    if isinstance(value, Tensor):
        return value if value.dtype.kind == "bool" else ops.not_equal(value, 0)
    return bool(value)


def _reduction(function: str) -> Callable[..., Any]:
    def run(
        attributes: Attributes, x: Any, dim: Any = None, keepdim: bool = False, dtype: Any = None
    ) -> Any:
        return getattr(mint, function)(x, dim=dim, keepdim=keepdim, dtype=_dtype(dtype))

    return run


COMPOSITES.update(SumExt=_reduction("sum"), MeanExt=_reduction("mean"), Nansum=_reduction("nansum"))


@_register("ProdExt")
def _prod(attributes: Attributes, x: Any, dim: Any, keepdim: bool, dtype: Any = None) -> Any:
    return mint.prod(x, dim, keepdim, dtype=_dtype(dtype))


@_register("CumsumExt")
def _cumsum(attributes: Attributes, x: Any, dim: Any, dtype: Any = None) -> Any:
    return mint.cumsum(x, dim, dtype=_dtype(dtype))


@_register("AddScalar", "AddExt")
def _add(attributes: Attributes, x: Any, y: Any, alpha: Any = 1) -> Any:
    return mint.add(x, y, alpha=alpha)


@_register("SubScalar", "SubExt")
def _sub(attributes: Attributes, x: Any, y: Any, alpha: Any = 1) -> Any:
    return mint.sub(x, y, alpha=alpha)


@_register("ZerosLikeExt")
def _zeros_like(attributes: Attributes, x: Any, dtype: Any = None, *rest: Any) -> Any:
    return mint.zeros_like(x, dtype=_dtype(dtype))


@_register("OnesLikeExt")
def _ones_like(attributes: Attributes, x: Any, dtype: Any = None, *rest: Any) -> Any:
    return mint.ones_like(x, dtype=_dtype(dtype))


@_register("Zeros")
def _zeros(attributes: Attributes, size: Any, dtype: Any = None) -> Any:
    return ops.zeros(size, _dtype(dtype))


@_register("Ones")
def _ones(attributes: Attributes, size: Any, dtype: Any = None) -> Any:
    return ops.ones(size, _dtype(dtype))


@_register("FullLike")
def _full_like(attributes: Attributes, x: Any, value: Any, dtype: Any = None) -> Any:
    return mint.full_like(x, value, dtype=_dtype(dtype))


@_register("FillScalar", "FillTensor")
def _full(attributes: Attributes, size: Any, value: Any, dtype: Any = None) -> Any:
    return mint.full(size, value, dtype=_dtype(dtype))


@_register("Arange")
def _arange(attributes: Attributes, start: Any, end: Any, step: Any, dtype: Any = None) -> Any:
    return mint.arange(start, end, step, dtype=_dtype(dtype))


@_register("StackExt")
def _stack(attributes: Attributes, tensors: Any, dim: int = 0) -> Any:
    return mint.stack(list(tensors), dim)


@_register("SliceExt", "SliceExtView")
def _slice(attributes: Attributes, x: Any, dim: int, start: int, end: int, step: int) -> Any:
    index: list[Any] = [slice(None)] * x.ndim
    index[dim] = slice(start, end, step)
    return x[tuple(index)]


@_register("Embedding")
def _embedding(attributes: Attributes, indices: Any, weight: Any, *rest: Any) -> Any:
    return mint.nn.functional.embedding(indices, weight, *rest)


@_register("GeluExt")
def _gelu(attributes: Attributes, x: Any, approximate: Any = 2) -> Any:
    kind = "tanh" if approximate in (10, "tanh") else "none"
    return mint.nn.functional.gelu(x, approximate=kind)


def _index_of(function: str) -> Callable[..., Any]:
    def run(attributes: Attributes, x: Any, axis: Any = None, output_type: Any = None) -> Any:
        axis = attributes.get("axis", -1) if axis is None else axis
        kind = attributes.get("output_type") if output_type is None else output_type
        wanted = dtype_of(34 if kind is None else kind)
        return getattr(ops, function)(axis, wanted)(x)

    return run


COMPOSITES.update(Argmax=_index_of("Argmax"), Argmin=_index_of("Argmin"))


# -- gradients of training steps --


def _gradient(forward: Callable[..., Any], inputs: Any, cotangent: Any) -> Any:
    """Give the gradients of a function by all its inputs."""
    inputs = inputs if isinstance(inputs, tuple) else (inputs,)
    _, pullback = vjp(forward, *inputs)
    return pullback(cotangent)


def _one(gradients: Any) -> Any:
    return gradients[0] if isinstance(gradients, tuple) else gradients


def _by_input(forward: str, dout_first: bool) -> Callable[..., Any]:
    """Make the gradient of an operator from its input and cotangent, in either order."""

    def run(attributes: Attributes, first: Any, second: Any, *rest: Any) -> Any:
        dout, x = (first, second) if dout_first else (second, first)
        return _one(_gradient(lambda v: call(forward, attributes, True, [v]), x, dout))

    return run


for _name, _forward, _first in (
    ("SiLUGrad", "SiLU", True),
    ("GeLUGrad", "GeLU", True),
    ("ReLU6Grad", "ReLU6", True),
    ("FastGeLUGrad", "FastGeLU", True),
    ("HSwishGrad", "HSwish", True),
    ("HSigmoidGrad", "HSigmoid", True),
    ("MishGradExt", "Mish", True),
    ("SoftplusGrad", "Softplus", True),
    ("AbsGrad", "Abs", False),
    ("ACosGrad", "ACos", False),
    ("AsinGrad", "Asin", False),
    ("AtanGrad", "Atan", False),
):
    COMPOSITES[_name] = _by_input(_forward, _first)


@_register("ReluGrad", "ReLUGrad")
def _relu_grad(attributes: Attributes, dout: Any, x: Any) -> Any:
    return ops.select(ops.greater(x, 0), dout, ops.zeros_like(dout))


@_register("TanhGrad")
def _tanh_grad(attributes: Attributes, y: Any, dy: Any) -> Any:
    return dy * (1 - y * y)


@_register("SigmoidGrad")
def _sigmoid_grad(attributes: Attributes, y: Any, dy: Any) -> Any:
    return dy * y * (1 - y)


@_register("SqrtGrad")
def _sqrt_grad(attributes: Attributes, y: Any, dy: Any) -> Any:
    return dy / (2 * y)


@_register("RsqrtGrad")
def _rsqrt_grad(attributes: Attributes, y: Any, dy: Any) -> Any:
    return dy * y * y * y * -0.5


@_register("ReciprocalGrad")
def _reciprocal_grad(attributes: Attributes, y: Any, dy: Any) -> Any:
    return -dy * y * y


@_register("BiasAddGrad")
def _bias_add_grad(attributes: Attributes, dout: Any, layout: Any = None) -> Any:
    layout = attributes.get("format", 0) if layout is None else layout
    channel = dout.ndim - 1 if layout in (1, "NHWC") or dout.ndim == 2 else 1
    return ops.ReduceSum()(dout, tuple(a for a in range(dout.ndim) if a != channel))


@_register("LayerNormGrad", "LayerNormGradV3")
def _layer_norm_grad(
    attributes: Attributes, x: Any, dy: Any, variance: Any, mean: Any, gamma: Any, *axes: Any
) -> Any:
    names = ("begin_norm_axis", "begin_params_axis")
    found = dict(zip(names, axes, strict=False)) if axes else attributes
    # The file gives the variance itself, so epsilon has to be found again: the original's default.
    norm = ops.LayerNorm(found["begin_norm_axis"], found["begin_params_axis"], 1e-12)

    def forward(x: Any, gamma: Any, beta: Any) -> Any:
        return norm(x, gamma, beta)[0]

    return _gradient(forward, (x, gamma, ops.zeros_like(gamma)), dy)


@_register("LogSoftmaxGrad")
def _log_softmax_grad(attributes: Attributes, y: Any, grad: Any, axis: Any = None) -> Any:
    axis = attributes.get("axis", -1) if axis is None else axis
    return grad - ops.exp(y) * ops.ReduceSum(True)(grad, axis)


@_register("SoftmaxBackward")
def _softmax_grad(attributes: Attributes, dout: Any, out: Any, dim: Any) -> Any:
    return out * (dout - ops.ReduceSum(True)(dout * out, dim))


@_register("Conv2DBackpropFilter")
def _conv_filter_grad(attributes: Attributes, dout: Any, x: Any, size: Any) -> Any:
    weight = ops.zeros(tuple(int(s) for s in size), x.dtype)
    return _one(_gradient(lambda w: call("Conv2D", attributes, False, [x, w]), weight, dout))


@_register("Conv2DBackpropInput")
def _conv_input_grad(attributes: Attributes, dout: Any, weight: Any, size: Any) -> Any:
    x = ops.zeros(tuple(int(s) for s in size), weight.dtype)
    return _one(_gradient(lambda v: call("Conv2D", attributes, False, [v, weight]), x, dout))


@_register("MaxPoolGrad")
def _max_pool_grad(attributes: Attributes, x: Any, out: Any, dout: Any) -> Any:
    return _one(_gradient(lambda v: call("MaxPool", attributes, False, [v]), x, dout))


@_register("AvgPoolGrad")
def _avg_pool_grad(attributes: Attributes, x: Any, out: Any, dout: Any, *fields: Any) -> Any:
    function = bool(fields)
    return _one(_gradient(lambda v: call("AvgPool", attributes, function, [v, *fields]), x, dout))


@_register("BatchNormGrad")
def _batch_norm_grad(
    attributes: Attributes, dout: Any, x: Any, scale: Any, mean: Any, variance: Any, *rest: Any
) -> Any:
    training, epsilon, layout = rest[1:4] if len(rest) == 4 else (
        attributes.get("is_training", False), attributes.get("epsilon", 1e-5), "NCHW",
    )  # fmt: skip
    layout = "NHWC" if layout in (1, "NHWC") else "NCHW"
    norm = ops.BatchNorm(bool(training), epsilon, 0.1, layout)

    def forward(x: Any, scale: Any, bias: Any) -> Any:
        return norm(x, scale, bias, ops.stop_gradient(mean), ops.stop_gradient(variance))[0]

    dx, dscale, dbias = _gradient(forward, (x, scale, ops.zeros_like(scale)), dout)
    return dx, dscale, dbias


@_register("NLLLossGrad")
def _nll_loss_grad(
    attributes: Attributes, logits: Any, dout: Any, labels: Any, weight: Any, total: Any, *rest: Any
) -> Any:
    names: dict[Any, str] = {0: "sum", 1: "mean", 2: "none"}
    reduction = rest[0] if rest else attributes.get("reduction", "mean")
    loss = ops.NLLLoss(names.get(reduction, str(reduction)), *rest[1:2])
    return _one(_gradient(lambda v: loss(v, labels, weight)[0], logits, dout))


@_register("MaximumGrad")
def _maximum_grad(attributes: Attributes, x: Any, y: Any, dout: Any, *which: Any) -> Any:
    return _gradient(ops.maximum, (x, y), dout)


@_register("MinimumGrad")
def _minimum_grad(attributes: Attributes, x: Any, y: Any, dout: Any, *which: Any) -> Any:
    return _gradient(ops.minimum, (x, y), dout)


@_register("EmbeddingDenseBackward")
def _embedding_grad(
    attributes: Attributes, grad: Any, indices: Any, count: Any, padding: Any = None, *rest: Any
) -> Any:
    flat = ops.reshape(indices, (-1,))
    rows = ops.reshape(grad, (flat.shape[0], -1))
    out = ops.TensorScatterAdd()(
        ops.zeros((int(count), rows.shape[1]), rows.dtype), ops.expand_dims(flat, -1), rows
    )
    return out


@_register("DynamicBroadcastGradientArgs", "BroadcastGradientArgs")
def _broadcast_gradient_axes(attributes: Attributes, first: Any, second: Any, *rest: Any) -> Any:
    rank = max(len(first), len(second))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in (first, second)]
    out = [max(a, b) for a, b in zip(*padded, strict=True)]
    return tuple(
        tuple(i for i in range(rank) if own[i] == 1 and (out[i] != 1 or i < rank - len(s)))
        for own, s in zip(padded, (first, second), strict=True)
    )


# What an in-place primitive gives its first input: name -> function of all inputs.
_IN_PLACE: dict[str, Callable[..., Any]] = {
    "InplaceAddExt": lambda x, y, alpha=1: mint.add(x, y, alpha=alpha),
    "InplaceAddsExt": lambda x, y, alpha=1: mint.add(x, y, alpha=alpha),
    "InplaceSubExt": lambda x, y, alpha=1: mint.sub(x, y, alpha=alpha),
    "InplaceSubScalar": lambda x, y, alpha=1: mint.sub(x, y, alpha=alpha),
    "InplaceMul": mint.mul,
    "InplaceMuls": mint.mul,
    "InplaceDiv": mint.div,
    "InplaceDivs": mint.div,
    "InplaceFloorDivide": mint.floor_divide,
    "InplaceFloorDivides": mint.floor_divide,
    "InplaceRemainderTensorTensor": mint.remainder,
    "InplaceRemainderTensorScalar": mint.remainder,
    "InplaceCopy": lambda x, source, wait=False: mint.broadcast_to(source, x.shape),
    "InplaceZero": mint.zeros_like,
    "InplaceFillScalar": lambda x, value: mint.full_like(x, value),
    "InplaceFillTensor": lambda x, value: mint.broadcast_to(value, x.shape),
    "InplaceClampScalar": mint.clamp,
    "InplaceClampTensor": mint.clamp,
    "InplaceMaskedFillScalar": ops.masked_fill,
    "InplaceMaskedFillTensor": ops.masked_fill,
    "InplaceExp": mint.exp,
    "InplaceLog": mint.log,
    "InplaceFloor": mint.floor,
    "InplaceTanh": mint.tanh,
    "InplaceSigmoid": mint.sigmoid,
    "InplaceReLU": mint.nn.functional.relu,
    "InplaceSign": mint.sign,
}


def _in_place(name: str) -> Callable[..., Any]:
    def run(attributes: Attributes, x: Any, *values: Any) -> Any:
        given = ops.cast(_IN_PLACE[name](x, *values), x.dtype)
        if x.is_parameter:
            ops.Assign()(x, given)
        else:
            x.copy_(given)
        return x

    return run


for _name in _IN_PLACE:
    COMPOSITES[_name] = _in_place(_name)
