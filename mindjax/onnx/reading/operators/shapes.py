"""ONNX's operators on shapes, and those that make arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.onnx.reading.errors import OnnxError
from mindjax.onnx.reading.table import Attributes, operator, space
from mindjax.onnx.reading.tensors import checked_shape, np_dtype


def ints(value: Any) -> list[int]:
    """Give an array, list or number as a list of ints."""
    return [int(v) for v in np.asarray(value).reshape(-1)]


def axes_of(n: Attributes, given: Any, rank: int) -> list[int] | None:
    """Give the axes that an attribute or an input names; None if neither does."""
    value = n.get("axes") if given is None else given
    return None if value is None else [axis_of(a, rank) for a in ints(value)]


def axis_of(axis: Any, rank: int) -> int:
    """Give an axis counted from the first."""
    if not -rank <= int(axis) < max(rank, 1):
        raise OnnxError(f"it has no axis {int(axis)} of {rank}")
    return int(axis) % max(rank, 1)


def _sized(shape: Sequence[int]) -> tuple[int, ...]:
    return checked_shape([int(s) for s in shape], "result")


@operator("Shape", blind=True)
def _shape(n: Attributes, x: Any) -> Any:
    shape = tuple(x.shape)[slice(n.get("start", 0), n.get("end"))]
    return np.array(shape, np.int64)


@operator("Size", blind=True)
def _size(n: Attributes, x: Any) -> Any:
    return np.array(math.prod(x.shape), np.int64)


@operator("Reshape", static=(1,), folds=True)
def _reshape(n: Attributes, x: Any, shape: Any = None) -> Any:
    wanted = ints(n["shape"] if shape is None else shape)
    if not n.get("allowzero"):
        wanted = [x.shape[i] if s == 0 else s for i, s in enumerate(wanted)]
    if -1 in wanted and 0 in wanted:
        wanted[wanted.index(-1)] = 0
    return x.reshape(wanted)


@operator("Flatten", folds=True)
def _flatten(n: Attributes, x: Any) -> Any:
    axis = n.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape((math.prod(x.shape[:axis]), math.prod(x.shape[axis:])))


@operator("Squeeze", static=(1,), folds=True)
def _squeeze(n: Attributes, x: Any, given: Any = None) -> Any:
    axes = axes_of(n, given, x.ndim)
    if axes is None:
        axes = [i for i, s in enumerate(x.shape) if s == 1]
    if any(x.shape[a] != 1 for a in axes):
        raise OnnxError(f"an axis of {x.shape} has another size than 1")
    return x.reshape([s for i, s in enumerate(x.shape) if i not in axes])


@operator("Unsqueeze", static=(1,), folds=True)
def _unsqueeze(n: Attributes, x: Any, given: Any = None) -> Any:
    count = len(ints(n["axes"] if given is None else given))
    axes = axes_of(n, given, x.ndim + count) or []
    return space(x).expand_dims(x, tuple(axes))


@operator("Transpose", folds=True)
def _transpose(n: Attributes, x: Any) -> Any:
    return space(x).transpose(x, n.get("perm"))


@operator("Concat", folds=True)
def _concat(n: Attributes, *values: Any) -> Any:
    return space(*values).concatenate(values, n.get("axis", 1))


@operator("Split", static=(1,), folds=True)
def _split(n: Attributes, x: Any, sizes: Any = None) -> Any:
    axis = axis_of(n.get("axis", 0), x.ndim)
    given = n.get("split") if sizes is None else ints(sizes)
    if given is None:
        count = n.get("num_outputs", n.outputs)
        step = -(-x.shape[axis] // count)
        given = [max(min(step, x.shape[axis] - i * step), 0) for i in range(count)]
    if sum(given) != x.shape[axis]:
        raise OnnxError(f"the parts {given} are not the {x.shape[axis]} rows")
    return tuple(space(x).split(x, np.cumsum(given)[:-1].tolist(), axis))


@operator("Slice", static=(-1,), folds=True)
def _slice(
    n: Attributes, x: Any, starts: Any = None, ends: Any = None, axes: Any = None, steps: Any = None
) -> Any:
    if starts is None:
        starts, ends, axes = n["starts"], n["ends"], n.get("axes")
    starts, ends = ints(starts), ints(ends)
    places = range(len(starts)) if axes is None else [axis_of(a, x.ndim) for a in ints(axes)]
    strides = [1] * len(starts) if steps is None else ints(steps)
    index = [slice(None)] * x.ndim
    for axis, start, end, step in zip(places, starts, ends, strides, strict=True):
        size = x.shape[axis]
        if step < 0 and end < -size:
            index[axis] = slice(min(start, size), None, step)
        else:
            index[axis] = slice(start, end, step)
    return x[tuple(index)]


@operator("Expand", static=(1,), folds=True)
def _expand(n: Attributes, x: Any, shape: Any) -> Any:
    return space(x).broadcast_to(x, _sized(np.broadcast_shapes(x.shape, tuple(ints(shape)))))


@operator("Tile", static=(1,), folds=True)
def _tile(n: Attributes, x: Any, counts: Any) -> Any:
    _sized([a * b for a, b in zip(x.shape, ints(counts), strict=True)])
    return space(x).tile(x, tuple(ints(counts)))


@operator("Pad", static=(1, 3), folds=True)
def _pad(n: Attributes, x: Any, pads: Any = None, fill: Any = None, axes: Any = None) -> Any:
    xp = space(x, fill)
    flat = ints(n["pads"] if pads is None else pads)
    fill = n.get("value", 0.0) if fill is None else fill.reshape(())
    places = range(x.ndim) if axes is None else [axis_of(a, x.ndim) for a in ints(axes)]
    sides = [(0, 0)] * x.ndim
    for i, axis in enumerate(places):
        sides[axis] = (flat[i], flat[i + len(flat) // 2])
    # Negative ones cut.
    x = x[tuple(slice(max(-a, 0), s - max(-b, 0))
                for (a, b), s in zip(sides, x.shape, strict=True))]  # fmt: skip
    sides = [(max(a, 0), max(b, 0)) for a, b in sides]
    _sized([s + a + b for (a, b), s in zip(sides, x.shape, strict=True)])
    mode = n.get("mode", "constant")
    if mode != "constant":
        return xp.pad(x, sides, mode={"reflect": "reflect", "edge": "edge", "wrap": "wrap"}[mode])
    if xp is np:
        return np.pad(x, sides, constant_values=fill)
    fill = jnp.asarray(fill).astype(x.dtype)
    return lax.pad(jnp.asarray(x), fill, [(a, b, 0) for a, b in sides])


@operator("ConstantOfShape", static=(0,), folds=True)
def _constant_of_shape(n: Attributes, shape: Any) -> Any:
    value = np.asarray(n.get("value", np.zeros(1, np.float32))).reshape(-1)[0]
    return np.full(_sized(ints(shape)), value)


@operator("Range", static=(0, 1, 2), folds=True)
def _range(n: Attributes, start: Any, limit: Any, delta: Any) -> Any:
    start, limit, delta = (np.reshape(v, -1)[0] for v in (start, limit, delta))
    count = max(int(np.ceil((limit - start) / np.float64(delta))), 0)
    _sized([count])
    return (start + np.arange(count).astype(start.dtype) * delta).astype(start.dtype).reshape(-1)


@operator("EyeLike", folds=True)
def _eye_like(n: Attributes, x: Any) -> Any:
    dtype = np_dtype(n["dtype"]) if "dtype" in n else x.dtype
    return space(x).eye(*x.shape, k=n.get("k", 0)).astype(dtype)


@operator("OneHot", static=(1,), folds=True)
def _one_hot(n: Attributes, indices: Any, depth: Any, values: Any) -> Any:
    xp = space(indices, values)
    count = ints(depth)[0]
    axis = n.get("axis", -1)
    axis = axis + indices.ndim + 1 if axis < 0 else axis
    line = [1] * (indices.ndim + 1)
    line[axis] = count
    numbers = np.arange(_sized([count])[0]).reshape(line)
    places = xp.where(indices < 0, indices + count, indices).astype(np.int64)
    return xp.where(xp.expand_dims(places, axis) == numbers, values[1], values[0])


@operator("Trilu", static=(1,), folds=True)
def _trilu(n: Attributes, x: Any, k: Any = None) -> Any:
    xp = space(x)
    return (xp.triu if n.get("upper", 1) else xp.tril)(x, 0 if k is None else ints(k)[0])


@operator("DepthToSpace")
def _depth_to_space(n: Attributes, x: Any) -> Any:
    (batch, depth, height, width), size = x.shape, n["blocksize"]
    inner = depth // size**2
    if n.get("mode", "DCR") == "DCR":
        x = x.reshape((batch, size, size, inner, height, width)).transpose((0, 3, 4, 1, 5, 2))
    else:
        x = x.reshape((batch, inner, size, size, height, width)).transpose((0, 1, 4, 2, 5, 3))
    return x.reshape((batch, inner, height * size, width * size))


@operator("SpaceToDepth")
def _space_to_depth(n: Attributes, x: Any) -> Any:
    (batch, depth, height, width), size = x.shape, n["blocksize"]
    x = x.reshape((batch, depth, height // size, size, width // size, size))
    crd = n.get("mode", "DCR") == "CRD"
    x = x.transpose((0, 1, 3, 5, 2, 4) if crd else (0, 3, 5, 1, 2, 4))
    return x.reshape((batch, depth * size**2, height // size, width // size))


@operator("CenterCropPad", static=(1,))
def _center_crop_pad(n: Attributes, x: Any, shape: Any) -> Any:
    axes = axes_of(n, None, x.ndim) or list(range(x.ndim))
    for axis, size in zip(axes, ints(shape), strict=True):
        have = x.shape[axis]
        if size < have:
            start = (have - size) // 2
            x = lax.slice_in_dim(x, start, start + size, axis=axis)
        elif size > have:
            before = (size - have) // 2
            sides = [(0, 0)] * x.ndim
            sides[axis] = (before, size - have - before)
            x = jnp.pad(x, sides)
    return x


@operator("ReverseSequence")
def _reverse_sequence(n: Attributes, x: Any, lengths: Any) -> Any:
    batch, time = n.get("batch_axis", 1), n.get("time_axis", 0)
    moved = jnp.moveaxis(x, (batch, time), (0, 1))
    steps = jnp.arange(moved.shape[1])[None]
    ends = lengths[:, None]
    order = jnp.where(steps < ends, ends - 1 - steps, steps)
    order = order.reshape(order.shape + (1,) * (moved.ndim - 2))
    turned = jnp.take_along_axis(moved, order, 1)
    return jnp.moveaxis(turned, (0, 1), (batch, time))


@operator("HannWindow", "HammingWindow", "BlackmanWindow", static=(0,), folds=True)
def _window(n: Attributes, size: Any) -> Any:
    count = ints(size)[0]
    whole = count if n.get("periodic", 1) else count - 1
    turn = 2 * np.pi * np.arange(_sized([count])[0]) / whole
    a, b, c = {"HannWindow": (0.5, 0.5, 0.0), "HammingWindow": (25 / 46, 21 / 46, 0.0),
               "BlackmanWindow": (0.42, 0.5, 0.08)}[n.kind]  # fmt: skip
    wave = a - b * np.cos(turn) + c * np.cos(2 * turn)
    return wave.astype(np_dtype(n.get("output_datatype", 1)))
