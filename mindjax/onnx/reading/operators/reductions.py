"""ONNX's reductions, running sums, sorting and losses."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from mindjax.onnx.reading.operators.shapes import axes_of, axis_of, ints
from mindjax.onnx.reading.table import OPERATORS, Attributes, Entry, operator, space

_PLAIN = {"ReduceSum": "sum", "ReduceMean": "mean", "ReduceMax": "max", "ReduceMin": "min",
          "ReduceProd": "prod"}  # fmt: skip
_NORMS = ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare")


def _reduce(n: Attributes, x: Any, given: Any = None) -> Any:
    axes = axes_of(n, given, x.ndim)
    if not axes:
        if n.get("noop_with_empty_axes"):
            return _mapped(n.kind, x)
        axes = list(range(x.ndim))
    xp = space(x)
    how = {"axis": tuple(axes), "keepdims": bool(n.get("keepdims", 1))}
    if n.kind == "ReduceLogSumExp":
        return jax.nn.logsumexp(jnp.asarray(x), **how).astype(x.dtype)
    if n.kind in _PLAIN:
        name = _PLAIN[n.kind]
        if name in ("max", "min") and any(x.shape[a] == 0 for a in axes):
            how["initial"] = _extreme(x.dtype, name == "max")
        return getattr(xp, name)(x, **how).astype(x.dtype)
    x2 = xp.abs(x) if n.kind == "ReduceL1" else x if n.kind == "ReduceLogSum" else x * x
    total = xp.sum(x2, **how).astype(x.dtype)
    last = {"ReduceL2": xp.sqrt, "ReduceLogSum": xp.log}.get(n.kind)
    return total if last is None else last(total).astype(x.dtype)


def _mapped(kind: str, x: Any) -> Any:
    """Reduce over no axis at all: what the reduction does to each element alone."""
    xp = space(x)
    if kind in ("ReduceL1", "ReduceL2"):
        return xp.abs(x)
    if kind == "ReduceSumSquare":
        return x * x
    return xp.log(x) if kind == "ReduceLogSum" else x


def _extreme(dtype: Any, most: bool) -> Any:
    """Give what any value is larger (or smaller) than."""
    if dtype == np.bool_:
        return not most
    if np.issubdtype(dtype, np.integer):
        info = np.iinfo(dtype)
        return int(info.min if most else info.max)
    return -np.inf if most else np.inf


for _kind in (*_PLAIN, *_NORMS):
    OPERATORS[_kind] = Entry(_reduce, static=(1,), folds=_kind != "ReduceLogSumExp")


@operator("ArgMax", "ArgMin", folds=True)
def _extreme_place(n: Attributes, x: Any) -> Any:
    xp = space(x)
    axis = axis_of(n.get("axis", 0), x.ndim)
    function = xp.argmax if n.kind == "ArgMax" else xp.argmin
    if n.get("select_last_index"):
        place = x.shape[axis] - 1 - function(xp.flip(x, axis), axis)
    else:
        place = function(x, axis)
    place = xp.expand_dims(place, axis) if n.get("keepdims", 1) else place
    return place.astype(np.int64)


@operator("CumSum", "CumProd", static=(1,), folds=True)
def _cumulative(n: Attributes, x: Any, axis: Any) -> Any:
    xp = space(x)
    place = axis_of(ints(axis)[0], x.ndim)
    turned = xp.flip(x, place) if n.get("reverse") else x
    if n.get("exclusive"):
        size = x.shape[place]
        first = xp.full_like(xp.take(turned, xp.arange(1), place), n.kind == "CumProd")
        rest = xp.take(turned, xp.arange(size - 1), place)
        turned = xp.concatenate((first, rest), place)
    out = (xp.cumsum if n.kind == "CumSum" else xp.cumprod)(turned, place).astype(x.dtype)
    return xp.flip(out, place) if n.get("reverse") else out


@operator("TopK", static=(1,))
def _top_k(n: Attributes, x: Any, count: Any = None) -> Any:
    k = n["k"] if count is None else ints(count)[0]
    axis = axis_of(n.get("axis", -1), x.ndim)
    # A stable order: of equal ones, the first comes first.
    order = jnp.argsort(x, axis, stable=True, descending=bool(n.get("largest", 1)))
    places = lax.slice_in_dim(order, 0, k, axis=axis)
    return jnp.take_along_axis(x, places, axis), places.astype(np.int64)


@operator("NegativeLogLikelihoodLoss")
def _nll_loss(n: Attributes, x: Any, target: Any, weight: Any = None) -> Any:
    return _loss(n, x, target, weight)


def _loss(n: Attributes, x: Any, target: Any, weight: Any) -> Any:
    ignored = n.get("ignore_index")
    known = target if ignored is None else jnp.where(target == ignored, 0, target)
    taken = -jnp.take_along_axis(x, known[:, None], 1)[:, 0]
    factor = jnp.ones(target.shape, x.dtype) if weight is None else jnp.take(weight, known, 0)
    if ignored is not None:
        factor = jnp.where(target == ignored, 0, factor).astype(x.dtype)
    taken = taken * factor
    reduction = n.get("reduction", "mean")
    if reduction == "none":
        return taken
    return taken.sum() if reduction == "sum" else taken.sum() / factor.sum()


@operator("SoftmaxCrossEntropyLoss")
def _cross_entropy(n: Attributes, x: Any, target: Any, weight: Any = None) -> Any:
    logs = jax.nn.log_softmax(x, 1)
    loss = _loss(n, logs, target, weight)
    return (loss, logs) if n.outputs > 1 else loss
