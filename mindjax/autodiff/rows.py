"""Gradients of tables that a graph only looks rows up in: those of the rows (`RowTensor`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.core import eval_jaxpr
from jax.extend.core import Literal

from mindjax.core.handle import current
from mindjax.ops.gather import EmbeddingLookup

_LOOKUP = f"ms_{EmbeddingLookup.__name__}"


class Rows(NamedTuple):
    """The gradient of a table: ``values[i]`` belongs to row ``indices[i]``; rows may repeat."""

    indices: Any
    values: Any
    shape: tuple[int, ...]


def wanted(weights: Sequence[Any]) -> bool:
    """Tell whether gradients of some weights may be those of rows, in the graph that is traced."""
    if not EmbeddingLookup.met or current.frame is None:
        return False
    # What looks at every gradient takes dense ones.
    watched = current.frame.root_frame().overflow is not None
    return not watched and not any(w.__dict__.get("_gradient_hooks") for w in weights)


def vjp(
    function: Callable[[list[Any], list[Any]], tuple[Any, Any]],
    inputs: list[Any],
    weights: list[Any],
) -> tuple[Any, Callable[[Any], tuple[list[Any], list[Any]]], Any]:
    """Differentiate as ``jax.vjp(..., has_aux=True)`` does, with `Rows` for tables.

    Args:
        function: of lists of arrays; it is traced once.
        inputs: arrays.
        weights: arrays; a table among them is one that only look-ups read.

    Returns:
        The outputs, the function of their cotangents that gives the gradients of inputs and of
        weights, and what else the function gives.
    """
    closed, shapes = jax.make_jaxpr(function, return_shape=True)(inputs, weights)
    jaxpr, tree = closed.jaxpr, jax.tree.structure(shapes)
    count = jax.tree.structure(shapes[0]).num_leaves
    lookups = _lookups(jaxpr, jaxpr.invars[len(inputs) :])
    found = [e for equations in lookups.values() for e in equations]
    needed = _needed(jaxpr, [a for e in found for a in e.invars[1:]])
    if needed is None:
        lookups, found, needed = {}, [], []
    where = eval_jaxpr(
        _changed(jaxpr, [], needed, [a for e in found for a in e.invars[1:]]),
        closed.consts,
        *inputs,
        *weights,
    )
    places = [(where[2 * i], where[2 * i + 1]) for i in range(len(found))]
    tables = [k for k, equations in lookups.items() for _ in equations]
    looked_up = [
        EmbeddingLookup().compute(weights[k], *place)
        for k, place in zip(tables, places, strict=True)
    ]
    rest = [e for e in jaxpr.eqns if not any(e is f for f in found)]
    main = _changed(jaxpr, [e.outvars[0] for e in found], rest, jaxpr.outvars)
    others = [w for k, w in enumerate(weights) if k not in lookups]

    def run(inputs: list[Any], others: list[Any], rows: list[Any]) -> Any:
        following = iter(others)
        full = [w if k in lookups else next(following) for k, w in enumerate(weights)]
        flat = eval_jaxpr(main, closed.consts, *inputs, *full, *rows)
        return flat[:count], flat[count:]

    flat, pull_back, more = jax.vjp(run, inputs, others, looked_up, has_aux=True)
    outputs, aux = jax.tree.unflatten(tree, [*flat, *more])

    def pulled(cotangents: Any) -> tuple[list[Any], list[Any]]:
        of_inputs, of_others, of_rows = pull_back(jax.tree.leaves(cotangents))
        following = iter(of_others)
        gradients = []
        for k, weight in enumerate(weights):
            if k not in lookups:
                gradients.append(next(following))
                continue
            own = [i for i, table in enumerate(tables) if table == k]
            indices = [_less(*places[i]) for i in own]
            values = [of_rows[i].reshape(-1, *weight.shape[1:]) for i in own]
            gradients.append(Rows(_joined(indices), _joined(values), tuple(weight.shape)))
        return of_inputs, gradients

    return outputs, pulled, aux


def _less(indices: Any, offset: Any) -> Any:
    return (indices - offset.astype(indices.dtype)).reshape(-1)


def _joined(parts: list[Any]) -> Any:
    return parts[0] if len(parts) == 1 else jnp.concatenate(parts)


def _lookups(jaxpr: Any, weights: Sequence[Any]) -> dict[int, list[Any]]:
    """List the look-ups of each weight that nothing else uses, by the weight's number."""
    uses: dict[Any, list[Any]] = {v: [] for v in weights}
    for equation in jaxpr.eqns:
        for place, atom in enumerate(equation.invars):
            if not isinstance(atom, Literal) and atom in uses:
                call = equation.primitive.name in ("jit", "pjit") and place == 0
                looks_up = call and equation.params["name"] == _LOOKUP
                uses[atom].append(equation if looks_up else None)
    left = [v for v in jaxpr.outvars if not isinstance(v, Literal)]
    return {
        k: uses[v]
        for k, v in enumerate(weights)
        if uses[v] and None not in uses[v] and v not in left
    }


def _needed(jaxpr: Any, atoms: Sequence[Any]) -> list[Any] | None:
    """List the equations that compute some values; None if one of them has an effect."""
    wanted = {a for a in atoms if not isinstance(a, Literal)}
    kept = []
    for equation in reversed(jaxpr.eqns):
        if wanted.isdisjoint(equation.outvars):
            continue
        if equation.effects:
            return None
        kept.append(equation)
        wanted.update(a for a in equation.invars if not isinstance(a, Literal))
    return kept[::-1]


def _changed(jaxpr: Any, inputs: list[Any], equations: list[Any], outputs: Sequence[Any]) -> Any:
    """Give a jaxpr with further inputs, and with other equations and outputs."""
    debug = jaxpr.debug_info._replace(arg_names=None, result_paths=None)
    return jaxpr.replace(
        invars=[*jaxpr.invars, *inputs], eqns=equations, outvars=list(outputs), debug_info=debug
    )
