"""Derivatives of higher order along a curve: `jet`, `derivative`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from mindjax.autodiff.traced import Traced, push_forward, run
from mindjax.core.errors import located
from mindjax.core.handle import wrap
from mindjax.core.state import Wide
from mindjax.tensor.tensor import Tensor


def jet(fn: Callable[..., Any], primals: Any, series: Any) -> tuple[Any, Any]:
    """Compute outputs and their derivatives of the first orders along a curve (MindSpore: ``jet``).

    Args:
        fn: function of Tensors, or Cell.
        primals: Tensor or tuple of Tensors: where the curve is at 0; integers become Float32.
        series: Tensor, or tuple of one Tensor a primal, of shape (n, *primal.shape): the curve's
            derivatives of order 1 to n.

    Returns:
        ``(outputs, derivatives)``: a Tensor each, of which the second has a first axis of length n,
        or a list of such for several outputs.

    Raises:
        TypeError: ``primals`` and ``series`` are not both Tensors or both tuples.
        ValueError: their shapes do not fit.
    """
    both = isinstance(primals, Tensor) and isinstance(series, Tensor)
    if not both and not (isinstance(primals, tuple) and isinstance(series, tuple)):
        raise located(
            TypeError, "For 'F.jet', the 'primals' and `series` must be both Tensor or tuple."
        )
    points = (primals,) if isinstance(primals, Tensor) else primals
    curves = (series,) if isinstance(series, Tensor) else series
    if len(points) != len(curves) or len({c.shape[:1] for c in curves}) != 1:
        raise located(
            ValueError,
            "For 'F.jet', the 'series' must hold one Tensor for each of the "
            f"{len(points)} primals, all of one order, but got "
            f"{[c.shape for c in curves]}.",
        )
    for point, curve in zip(points, curves, strict=True):
        if curve.shape[1:] != point.shape or not curve.shape[0]:
            raise located(
                ValueError,
                f"For 'F.jet', the 'series' of a primal of shape {point.shape} must have shape (n, "
                f"*{point.shape}), but got {curve.shape}.",
            )

    def compute(points: tuple[Any, ...], curves: tuple[Any, ...]) -> Any:
        return _expand(fn, points, [c.array for c in curves], every=True)

    return run(fn, compute, (points, curves), {})


def derivative(fn: Callable[..., Any], primals: Any, order: int) -> tuple[Any, Any]:
    """Compute outputs and their derivative of one order (MindSpore: ``derivative``).

    Args:
        fn: function of Tensors, or Cell.
        primals: Tensor or tuple of Tensors; integers become Float32. All move at speed 1.
        order: order of the derivative, from 1 up.

    Returns:
        ``(outputs, derivatives)``, a Tensor each, or a list of such for several outputs.

    Raises:
        TypeError: ``primals`` are no Tensors or ``order`` is no int.
        ValueError: ``order`` is below 1.
    """
    points = (primals,) if isinstance(primals, Tensor) else primals
    if not isinstance(points, tuple) or not all(isinstance(p, Tensor) for p in points):
        raise located(
            TypeError, "For `F.derivative`, the 'primals' must be a Tensor or a tuple of Tensors."
        )
    if isinstance(order, bool) or not isinstance(order, int):
        raise located(TypeError, "For `F.derivative`, the type of order must be int.")
    if order < 1:
        raise located(
            ValueError,
            f"For `F.derivative`, value of order should not be less than 1, but got {order}.",
        )

    def compute(points: tuple[Any, ...]) -> Any:
        with Wide():
            speeds = [
                jnp.concatenate([jnp.ones((1, *p.shape)), jnp.zeros((order - 1, *p.shape))])
                for p in points
            ]
        return _expand(fn, points, speeds, every=False)

    return run(fn, compute, (points,), {})


def _expand(fn: Callable[..., Any], points: Any, curves: list[Any], every: bool) -> Any:
    """Differentiate along the curve by its parameter, as often as there are curve derivatives."""
    points = tuple(p if p.dtype.kind in ("float", "complex") else p.float() for p in points)
    with Wide():
        traced = Traced(fn, points)
        kept: dict[str, Any] = {}

        def along(moved: Any) -> list[Any]:
            arrays = []
            for point, curve in zip(traced.inputs, curves, strict=True):
                step = moved.astype(point.dtype)
                term: Any = 1
                value = point
                for k in range(curve.shape[0]):
                    term = term * step / (k + 1)
                    value = value + curve[k].astype(point.dtype) * term
                arrays.append(value)
            outs, kept["writes"] = traced.call(arrays)
            return outs

        def derivatives(moved: Any, order: int) -> list[list[Any]]:
            if order == 0:
                return [along(moved)]
            below, above = _differentiate(lambda m: derivatives(m, order - 1), moved)
            return [below[0], *above]

        origin = jnp.zeros((), jnp.float64)
        found = derivatives(origin, curves[0].shape[0])
        outs, writes = traced.call(traced.inputs)
    traced.pure.write_back(writes)
    rows = list(zip(*found[1:], strict=True))
    with Wide():
        last = [jnp.stack(row) if every else row[-1] for row in rows]
    value = traced.build(outs)
    if isinstance(value, Tensor):
        return value, wrap(last[0])
    return list(value), [wrap(v) for v in last]


def _differentiate(function: Callable[[Any], list[list[Any]]], at: Any) -> Any:
    tree: list[Any] = []

    def flat(values: list[Any]) -> Any:
        leaves, structure = jax.tree.flatten(function(values[0]))
        tree[:] = [structure]
        return leaves, ()

    leaves, slopes, _ = push_forward(flat, [at], [jnp.ones_like(at)])
    return jax.tree.unflatten(tree[0], leaves), jax.tree.unflatten(tree[0], slopes)
