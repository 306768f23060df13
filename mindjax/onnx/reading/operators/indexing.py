"""ONNX's gathers and scatters, and operators whose result's shape depends on values."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from mindjax.onnx.reading.operators.shapes import axis_of, ints
from mindjax.onnx.reading.table import Attributes, operator, space


@operator("Gather", folds=True)
def _gather(n: Attributes, x: Any, indices: Any) -> Any:
    xp = space(x, indices)
    axis = axis_of(n.get("axis", 0), x.ndim)
    if xp is np:
        return np.take(x, indices, axis)
    size = x.shape[axis]
    return jnp.take(x, jnp.where(indices < 0, indices + size, indices), axis, mode="clip")


@operator("GatherElements", folds=True)
def _gather_elements(n: Attributes, x: Any, indices: Any) -> Any:
    xp = space(x, indices)
    axis = axis_of(n.get("axis", 0), x.ndim)
    # Other axes may be longer than those of the indices.
    cut = tuple(slice(None) if a == axis else slice(s) for a, s in enumerate(indices.shape))
    places = xp.where(indices < 0, indices + x.shape[axis], indices)
    return xp.take_along_axis(x[cut], places, axis)


@operator("GatherND", folds=True)
def _gather_nd(n: Attributes, x: Any, indices: Any) -> Any:
    batch = n.get("batch_dims", 0)
    rows = np.indices(x.shape[:batch])
    more = indices.ndim - 1 - batch
    index = [r.reshape(r.shape + (1,) * more) for r in rows]
    index += [indices[..., i] for i in range(indices.shape[-1])]
    return x[tuple(index)]


def _scattered(x: Any, index: Any, updates: Any, reduction: str) -> Any:
    at = jnp.asarray(x).at[index]
    functions = {"none": at.set, "add": at.add, "mul": at.multiply, "max": at.max, "min": at.min}
    return functions[reduction](updates)


@operator("ScatterElements", "Scatter")
def _scatter_elements(n: Attributes, x: Any, indices: Any, updates: Any) -> Any:
    axis = axis_of(n.get("axis", 0), x.ndim)
    index = list(np.ogrid[tuple(slice(s) for s in indices.shape)])
    index[axis] = indices
    return _scattered(x, tuple(index), updates, n.get("reduction", "none"))


@operator("ScatterND")
def _scatter_nd(n: Attributes, x: Any, indices: Any, updates: Any) -> Any:
    index = tuple(indices[..., i] for i in range(indices.shape[-1]))
    return _scattered(x, index, updates, n.get("reduction", "none"))


@operator("TensorScatter")
def _tensor_scatter(n: Attributes, past: Any, update: Any, starts: Any = None) -> Any:
    axis = axis_of(n.get("axis", -2), past.ndim)
    size, steps = past.shape[axis], update.shape[axis]
    first = jnp.zeros(past.shape[0], jnp.int64) if starts is None else starts
    places = first[:, None] + jnp.arange(steps)[None]
    places = places % size if n.get("mode", "linear") == "circular" else places
    moved, new = jnp.moveaxis(past, axis, 1), jnp.moveaxis(update, axis, 1)
    out = moved.at[jnp.arange(past.shape[0])[:, None], places].set(new)
    return jnp.moveaxis(out, 1, axis)


@operator("NonZero", concrete=True)
def _non_zero(n: Attributes, x: Any) -> Any:
    return np.array(np.nonzero(np.atleast_1d(x)), np.int64)


@operator("Compress", static=(1,))
def _compress(n: Attributes, x: Any, condition: Any) -> Any:
    chosen = np.flatnonzero(condition)
    axis = n.get("axis")
    return jnp.take(x.reshape(-1), chosen) if axis is None else jnp.take(x, chosen, axis)


@operator("Unique", concrete=True)
def _unique(n: Attributes, x: Any) -> Any:
    axis = n.get("axis")
    values, first, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True, axis=axis
    )
    inverse = inverse.reshape(-1)
    if not n.get("sorted", 1):
        order = np.argsort(first)
        values = np.take(values, order, 0 if axis is None else axis)
        first, counts = first[order], counts[order]
        inverse = np.argsort(order)[inverse]
    return values, *(v.astype(np.int64) for v in (first, inverse, counts))


@operator("NonMaxSuppression", concrete=True)
def _non_max_suppression(
    n: Attributes, boxes: Any, scores: Any, most: Any = None, overlap: Any = None, least: Any = None
) -> Any:
    most = 0 if most is None else ints(most)[0]
    overlap = 0.0 if overlap is None else float(np.reshape(overlap, -1)[0])
    a, b, c, d = (boxes[..., i] for i in range(4))
    if n.get("center_point_box"):
        a, b, c, d = b - d / 2, a - c / 2, b + d / 2, a + c / 2
    top, bottom, left, right = (
        np.minimum(a, c),
        np.maximum(a, c),
        np.minimum(b, d),
        np.maximum(b, d),
    )
    areas = (bottom - top) * (right - left)
    found = []
    for batch in range(scores.shape[0]):
        for group in range(scores.shape[1]):
            own = scores[batch, group]
            order = np.argsort(-own, kind="stable")
            if least is not None:
                order = order[own[order] > np.reshape(least, -1)[0]]
            kept: list[int] = []
            for place in order:
                if len(kept) >= most:
                    break
                high = np.minimum(bottom[batch, place], bottom[batch, kept])
                low = np.maximum(top[batch, place], top[batch, kept])
                east = np.minimum(right[batch, place], right[batch, kept])
                west = np.maximum(left[batch, place], left[batch, kept])
                common = np.maximum(high - low, 0) * np.maximum(east - west, 0)
                union = areas[batch, place] + areas[batch, kept] - common
                if not np.any(common > overlap * union):
                    kept.append(int(place))
            found += [(batch, group, place) for place in kept]
    return np.array(found, np.int64).reshape(-1, 3)
