"""Traced functions with some of their equations computed in another way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import ml_dtypes
import numpy as np
from jax.core import eval_jaxpr
from jax.extend.core import ClosedJaxpr
from jax.sharding import Mesh, PartitionSpec

from mindjax_parallel.cones import is_literal
from mindjax_parallel.constraint import laid

_CALLS = ("jit", "pjit", "closed_call")
_AGAIN = ("checkpoint", "remat", "remat2")
Rule = Callable[[Any, list[Any], Callable[..., list[Any]]], list[Any] | None]
"""Takes an equation, its inputs, and what computes it; gives its outputs, or None as it is."""


def rewritten(closed: Any, rule: Rule) -> Any:
    """Give a traced function with the equations that a rule knows computed by it.

    Args:
        closed: a closed jaxpr; those within its equations are looked at too.
        rule: computes an equation, with outputs of the same shapes and dtypes.
    """

    def run(*inputs: Any) -> list[Any]:
        return _run(closed.jaxpr, closed.consts, inputs, rule)

    return jax.make_jaxpr(run)(*(v.aval for v in closed.jaxpr.invars))


def _run(jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Any], rule: Rule) -> list[Any]:
    values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *inputs], strict=True))

    def read(atom: Any) -> Any:
        return atom.val if is_literal(atom) else values[atom]

    for equation in jaxpr.eqns:
        # A function of one device's part has axes that are known in it alone.
        local = equation.primitive.name == "shard_map"
        changed = {k: v if local else _within(v, rule) for k, v in equation.params.items()}
        if any(changed[k] is not v for k, v in equation.params.items()):
            equation = equation.replace(params=changed)
        given = [read(v) for v in equation.invars]

        def compute(*inputs: Any, equation: Any = equation, given: Any = given) -> list[Any]:
            return computed(jaxpr, equation, inputs or given)

        results = rule(equation, given, compute)
        if results is None:
            results = compute()
        values.update(zip(equation.outvars, results, strict=True))
    return [read(v) for v in jaxpr.outvars]


def flattened(closed: Any, again: bool = False) -> Any:
    """Put the equations of called functions among those that call them.

    What follows from Parameters alone within a function can then be told from the rest.

    Args:
        closed: a closed jaxpr.
        again: whether what is computed again is flattened too. As in jax it is computed when all
            that it needs is there, and no earlier.
    """

    def run(jaxpr: Any, consts: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
        values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*consts, *inputs], strict=True))

        def read(atom: Any) -> Any:
            return atom.val if is_literal(atom) else values[atom]

        for equation in jaxpr.eqns:
            given = [read(v) for v in equation.invars]
            if equation.primitive.name in _CALLS and "jaxpr" in equation.params:
                inner = equation.params["jaxpr"]
                # Names of operators stay in what a profile and an error show.
                around = str(equation.source_info.name_stack)
                name = str(equation.params.get("name", "call"))
                with jax.named_scope(f"{around}/{name}" if around else name):
                    results = run(inner.jaxpr, inner.consts, given)
            elif again and equation.primitive.name in _AGAIN:
                results = run(equation.params["jaxpr"], [], jax.lax.optimization_barrier(given))
            else:
                results = computed(jaxpr, equation, given)
            values.update(zip(equation.outvars, results, strict=True))
        return [read(v) for v in jaxpr.outvars]

    avals = [v.aval for v in closed.jaxpr.invars]
    return jax.make_jaxpr(lambda *a: run(closed.jaxpr, closed.consts, a))(*avals)


def computed(jaxpr: Any, equation: Any, inputs: Sequence[Any]) -> list[Any]:
    """Compute an equation in a trace.

    Args:
        jaxpr: has the equation.
        equation: the equation.
        inputs: its inputs, literals too.
    """
    variables = list({v: None for v in equation.invars if not is_literal(v)})
    alone = jaxpr.replace(
        constvars=[],
        invars=variables,
        outvars=equation.outvars,
        eqns=[equation],
        effects=equation.effects,
        debug_info=jaxpr.debug_info._replace(arg_names=None, result_paths=None),
    )
    pairs = zip(equation.invars, inputs, strict=True)
    found = {v: x for v, x in pairs if not is_literal(v)}
    return eval_jaxpr(alone, [], *(found[v] for v in variables))


def _within(value: Any, rule: Rule) -> Any:
    """Rewrite what a parameter of an equation holds."""
    if isinstance(value, ClosedJaxpr):
        return rewritten(value, rule) if value.jaxpr.eqns else value
    if hasattr(value, "eqns") and hasattr(value, "constvars"):
        if not value.eqns or value.constvars:
            return value
        return rewritten(ClosedJaxpr(value, []), rule).jaxpr
    if isinstance(value, tuple) and any(isinstance(v, ClosedJaxpr) for v in value):
        return tuple(_within(v, rule) for v in value)
    return value


_HALVES = (np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16))
_SUMS = ("dot_general", "conv_general_dilated", "ragged_dot_general", "reduce_sum", "scatter-add")


def summed_in_float32(equation: Any, inputs: list[Any], compute: Callable[..., Any]) -> Any:
    """Compute sums of 16-bit numbers in Float32, and cast the results back.

    What devices have parts of is added up where the sum stands, before the cast.

    Args:
        equation: the equation.
        inputs: its inputs.
        compute: unused.
    """
    del compute
    name, dtype = equation.primitive.name, getattr(equation.outvars[0].aval, "dtype", None)
    if name not in _SUMS or dtype not in _HALVES:
        return None
    params = dict(equation.params)
    if "preferred_element_type" in params:
        params["preferred_element_type"] = np.dtype(np.float32)
    else:
        inputs = [x.astype(np.float32) if x.dtype == dtype else x for x in inputs]
    if name == "scatter-add":
        # What adds up is a function of its own, of the dtype.
        for told in ("update_jaxpr", "update_consts"):
            params.pop(told)
        return [jax.lax.scatter_add(*inputs, **params).astype(dtype)]
    return [equation.primitive.bind(*inputs, **params).astype(dtype)]


def both(first: Rule, second: Rule) -> Rule:
    """Give the rule that lets one compute what another one prepares.

    Args:
        first: computes an equation.
        second: is given what the first computes it with.
    """

    def rule(equation: Any, inputs: list[Any], compute: Callable[..., list[Any]]) -> Any:
        def inner(*given: Any) -> list[Any]:
            chosen = list(given) if given else inputs
            found = first(equation, chosen, compute)
            return compute(*given) if found is None else found

        found = second(equation, inputs, inner)
        return first(equation, inputs, compute) if found is None else found

    return rule


def taken_whole(mesh: Mesh) -> Rule:
    """Give the rule that lets each device of a stage have the whole of what has places by index.

    XLA's partition of a gather from, or a scatter into, an array that some of a stage's devices
    share ends the process. Rows that are taken or scattered may be cut.

    Args:
        mesh: all devices.
    """

    def rule(equation: Any, inputs: list[Any], compute: Callable[..., list[Any]]) -> Any:
        name = equation.primitive.name
        if name != "gather" and not name.startswith("scatter"):
            return None
        numbers = equation.params["dimension_numbers"]
        operand, indices = inputs[:2]
        taken = name == "gather"
        batch = set(
            numbers.start_indices_batching_dims if taken else numbers.scatter_indices_batching_dims
        )
        window = set(numbers.offset_dims if taken else numbers.update_window_dims)

        def rows(value: Any) -> PartitionSpec:
            # The dimensions of the indices but their last, which names places.
            places = [d for d in range(value.ndim) if d not in window]
            cut = {d for i, d in enumerate(places) if i not in batch}
            return _open(cut, value.ndim)

        whole = _open(set(), operand.ndim)
        named = _open(set(range(indices.ndim - 1)) - batch, indices.ndim)
        given = laid(operand, mesh, whole), laid(indices, mesh, named)
        if taken:
            return [laid(r, mesh, rows(r)) for r in compute(*given)]
        results = compute(*given, laid(inputs[2], mesh, rows(inputs[2])))
        return [laid(r, mesh, whole) for r in results]

    return rule


def _open(dimensions: set[int], count: int) -> PartitionSpec:
    """Leave some dimensions to XLA; the others are not cut."""
    return PartitionSpec(
        *(PartitionSpec.UNCONSTRAINED if d in dimensions else None for d in range(count))
    )
