"""lax's convolutions and sliding windows as MindIR's primitives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindjax.mindir.builder import Value
from mindjax.mindir.lowering.program import Lowering, UnknownOperation, inverse, lowers
from mindjax.mindir.lowering.shapes import concatenated, padded


@lowers("conv_general_dilated")
def _convolution(low: Lowering, equation: Any, values: list[Value]) -> Value:
    given = equation.params
    numbers = given["dimension_numbers"]
    x_type, w_type = (v.aval for v in equation.invars)
    x = low.transpose(values[0], numbers.lhs_spec)
    w = low.transpose(values[1], numbers.rhs_spec)
    x_shape = [x_type.shape[d] for d in numbers.lhs_spec]
    w_shape = [w_type.shape[d] for d in numbers.rhs_spec]
    spatial = len(x_shape) - 2
    if spatial not in (1, 2):
        raise UnknownOperation(f"a convolution over {spatial} dimensions has no form here")
    stride, dilation = list(given["window_strides"]), list(given["rhs_dilation"])
    between = [int(d) - 1 for d in given["lhs_dilation"]]
    padding = [(int(a), int(b)) for a, b in given["padding"]]
    if spatial == 1:
        x_before, w_before = x_shape, w_shape
        x_shape, w_shape = ([*shape[:2], 1, shape[2]] for shape in (x_shape, w_shape))
        x, w = low.reshape(x, x_shape, x_before), low.reshape(w, w_shape, w_before)
        stride, dilation, between = [1, *stride], [1, *dilation], [0, *between]
        padding = [(0, 0), *padding]
    if any(between) or any(p < 0 for pair in padding for p in pair):
        # Spread and cut first: the original knows neither.
        config = [(0, 0, 0), (0, 0, 0)]
        config += [(a, b, d) for (a, b), d in zip(padding, between, strict=True)]
        x, after = padded(low, x, config, x_shape, x_type.dtype)
        x_shape, padding = list(after), [(0, 0), (0, 0)]
    groups, batches = given["feature_group_count"], given["batch_group_count"]
    if batches == 1:
        out = _conv2d(low, x, w, w_shape, stride, dilation, padding, groups)
    else:
        out = _by_batch(low, x, w, x_shape, w_shape, batches, (stride, dilation, padding))
    kept = equation.outvars[0].aval.shape
    shape = [kept[d] for d in numbers.out_spec]
    if spatial == 1:
        out = low.reshape(out, shape, [*shape[:2], 1, shape[2]])
    return low.transpose(out, inverse(numbers.out_spec))


def _conv2d(
    low: Lowering,
    x: Value,
    w: Value,
    w_shape: Sequence[int],
    stride: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[tuple[int, int]],
    groups: int,
) -> Value:
    pads = tuple(p for pair in padding for p in pair)
    return low.op(
        "Conv2D", x, w,
        kernel_size=tuple(int(k) for k in w_shape[2:]), mode=1, out_channel=int(w_shape[0]),
        pad_mode="pad", pad=pads, stride=(1, 1, *(int(s) for s in stride)),
        dilation=(1, 1, *(int(d) for d in dilation)), group=int(groups), data_format="NCHW",
        groups=int(groups), pad_list=pads,
    )  # fmt: skip


def _by_batch(
    low: Lowering,
    x: Value,
    w: Value,
    x_shape: Sequence[int],
    w_shape: Sequence[int],
    count: int,
    rest: tuple[Any, Any, Any],
) -> Value:
    """Convolve groups of the batch with groups of the output's channels."""
    parts = []
    for i in range(count):
        first = [0] * 4
        rows, channels = x_shape[0] // count, w_shape[0] // count
        own = low.slice(x, [i * rows, 0, 0, 0], [(i + 1) * rows, *x_shape[1:]], x_shape)
        filters = low.slice(
            w, [i * channels, *first[1:]], [(i + 1) * channels, *w_shape[1:]], w_shape
        )
        parts.append(_conv2d(low, own, filters, [channels, *w_shape[1:]], *rest, 1))
    return concatenated(low, parts, 1)


def _windows(equation: Any) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    given = equation.params
    if any(d != 1 for d in given.get("window_dilation", ())):
        raise UnknownOperation("windows with gaps have no form in MindIR")
    padding = [(int(a), int(b)) for a, b in given["padding"]]
    return list(given["window_dimensions"]), list(given["window_strides"]), padding


def _planes(
    low: Lowering, x: Value, shape: Sequence[int], sizes: Sequence[int], strides: Sequence[int]
) -> tuple[Value, list[int], list[int], list[int], list[int]]:
    """Bring the one or two axes that windows slide over behind the others.

    Returns:
        The value (N, 1, H, W), its shape, windows and strides of H and W, and the order of axes.
    """
    slid = [i for i, (k, s) in enumerate(zip(sizes, strides, strict=True)) if k != 1 or s != 1]
    if len(slid) > 2:
        raise UnknownOperation("windows over more than two axes have no form here")
    rest = [i for i in range(len(shape)) if i not in slid]
    while len(slid) < 2 and rest:
        slid.insert(0, rest.pop())
    order = [*rest, *slid]
    moved = [shape[i] for i in order]
    plane = [math.prod(moved[: len(rest)]), 1, *([1] * (2 - len(slid))), *moved[len(rest) :]]
    x = low.reshape(low.transpose(x, order), plane, moved)
    ones = [1] * (2 - len(slid))
    return x, plane, ones + [sizes[i] for i in slid], ones + [strides[i] for i in slid], order


def _pool(
    low: Lowering, name: str, x: Value, kernel: Sequence[int], stride: Sequence[int], dtype: Any
) -> Value:
    sizes = {"kernel_size": tuple(map(int, kernel)), "strides": tuple(map(int, stride))}
    if name == "MaxPool":
        four = {k: (1, 1, *v) for k, v in sizes.items()}
        return low.op(name, x, **four, pad_mode="VALID", data_format="NCHW")
    if low.graph.model.dialect == 3:
        return low.op(name, x, **sizes, pad_mode="valid", data_format="NCHW")
    # The original does not read the older dialect's averages: a convolution gives the same.
    shape = (1, 1, *sizes["kernel_size"])
    w = np.full(shape, 1 / math.prod(kernel), dtype)
    return _conv2d(low, x, w, shape, stride, (1, 1), [(0, 0), (0, 0)], 1)


def _slid(
    low: Lowering, equation: Any, x: Value, name: str, fill: float, between: Sequence[int] = ()
) -> Value:
    """Reduce every window of a value."""
    aval, out = equation.invars[0].aval, equation.outvars[0].aval
    sizes, strides, padding = _windows(equation)
    between = between or [0] * aval.ndim
    config = [(a, b, d) for (a, b), d in zip(padding, between, strict=True)]
    x, shape = padded(low, x, config, aval.shape, aval.dtype, fill)
    x, _, kernel, stride, order = _planes(low, x, shape, sizes, strides)
    result = _pool(low, name, low.node(x), kernel, stride, aval.dtype)
    if name == "AvgPool":
        result = low.op("Mul", result, np.array(math.prod(kernel), aval.dtype))
    moved = [out.shape[i] for i in order]
    return low.transpose(low.reshape(result, moved, ()), inverse(order))


def _least(dtype: Any) -> Any:
    return np.finfo(dtype).min if np.issubdtype(dtype, np.floating) else np.iinfo(dtype).min


@lowers("reduce_window_max")
def _window_max(low: Lowering, equation: Any, values: list[Value]) -> Value:
    return _slid(low, equation, values[0], "MaxPool", _least(equation.invars[0].aval.dtype))


@lowers("reduce_window_min")
def _window_min(low: Lowering, equation: Any, values: list[Value]) -> Value:
    x = low.op("Neg", values[0])
    dtype = equation.invars[0].aval.dtype
    return low.op("Neg", _slid(low, equation, x, "MaxPool", _least(dtype)))


@lowers("reduce_window_sum")
def _window_sum(low: Lowering, equation: Any, values: list[Value]) -> Value:
    between = [int(d) - 1 for d in equation.params["base_dilation"]]
    return _slid(low, equation, values[0], "AvgPool", 0, between)


@lowers("select_and_scatter_add")
def _max_pool_gradient(low: Lowering, equation: Any, values: list[Value]) -> Value:
    dout, x = values
    if equation.params["select_prim"].name != "ge":
        raise UnknownOperation("the gradient of windows' minima has no form in MindIR")
    dout_type, aval = (v.aval for v in equation.invars)
    sizes, strides, padding = _windows(equation)
    config = [(a, b, 0) for a, b in padding]
    x, shape = padded(low, x, config, aval.shape, aval.dtype, _least(aval.dtype))
    x, plane, kernel, stride, order = _planes(low, x, shape, sizes, strides)
    moved = [dout_type.shape[i] for i in order]
    down = [plane[0], 1, *([1] * (4 - 2 - min(len(moved), 2))), *moved[-2:]]
    dout = low.reshape(low.transpose(dout, order), down, moved)
    out = _pool(low, "MaxPool", low.node(x), kernel, stride, aval.dtype)
    gradient = low.op(
        "MaxPoolGrad", x, out, dout,
        kernel_size=(1, 1, *(int(k) for k in kernel)), strides=(1, 1, *(int(s) for s in stride)),
        pad_mode="VALID", format="NCHW",
    )  # fmt: skip
    back = low.reshape(gradient, [shape[i] for i in order], plane)
    back = low.transpose(back, inverse(order))
    start = [a for a, _ in padding]
    end = [s - b for s, (_, b) in zip(shape, padding, strict=True)]
    return low.slice(back, start, end, shape)
