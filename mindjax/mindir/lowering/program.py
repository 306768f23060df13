"""Walking through a jaxpr: operators by their records, what is left by the table of lax."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import Literal

from mindjax.core.state import Wide
from mindjax.mindir.builder import Graph, Name, Value
from mindjax.mindir.schema import TYPE_NUMBERS

LAX: dict[str, Callable[..., Any]] = {}
"""lax primitive -> function of (lowering, equation, inputs) that gives its results."""

RECORDS: dict[str, Callable[..., Any]] = {}
"""Class of an operator -> function of (lowering, record, inputs, types, types of results)."""

_INLINED = (
    "jit", "pjit", "closed_call", "core_call", "remat2", "remat", "checkpoint", "custom_jvp_call",
    "custom_vjp_call", "custom_vjp_call_jaxpr", "custom_lin",
)  # fmt: skip


_MOST_AXES = 8


class UnknownOperation(NotImplementedError):
    """MindIR has no form for an operation of the network; the message names it."""


def lowers(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the lowering of lax primitives."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        LAX.update(dict.fromkeys(names, function))
        return function

    return keep


def exports(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register the nodes of operators; the function gives None for what it has no nodes for."""

    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        RECORDS.update(dict.fromkeys(names, function))
        return function

    return keep


class Lowering:
    """A graph that grows with the equations of a jaxpr.

    Args:
        graph: the graph.
        calls: finds the records of equations.
    """

    def __init__(self, graph: Graph, calls: Any) -> None:
        self.graph = graph
        self.calls = calls

    def inside(self, name: str) -> Lowering:
        """Begin a sub-graph with a name like ``name``."""
        model = self.graph.model
        graph = Graph(model, f"{name}_{model.number()}")
        model.functions.append(graph.message)
        return Lowering(graph, self.calls)

    # -- nodes --

    def op(self, name: str, *inputs: Value, **attributes: Any) -> Name:
        """Add an operator (see `Graph.op`)."""
        return self.graph.op(name, *inputs, **attributes)

    def node(self, value: Value) -> Name:
        """Give a value as a node."""
        return value if isinstance(value, Name) else self.graph.constant(value)

    def cast(self, value: Value, dtype: Any) -> Value:
        """Bring a value to a dtype."""
        if not isinstance(value, Name):
            return np.asarray(value).astype(dtype)
        return self.op("Cast", value, TYPE_NUMBERS[np.dtype(dtype).name])

    def reshape(self, value: Value, shape: Sequence[int], before: Sequence[int]) -> Value:
        """Give a value of the shape ``before`` another shape."""
        if tuple(shape) == tuple(before):
            return value
        if not isinstance(value, Name):
            return np.reshape(value, shape)
        return self.op("Reshape", value, tuple(int(s) for s in shape))

    def transpose(self, value: Value, order: Sequence[int]) -> Value:
        """Put the axes of a value in another order."""
        if list(order) == list(range(len(order))):
            return value
        if not isinstance(value, Name):
            return np.transpose(value, order)
        return self.op("Transpose", value, tuple(int(o) for o in order))

    def broadcast(self, value: Value, shape: Sequence[int], before: Sequence[int]) -> Value:
        """Broadcast a value of the shape ``before``, with as many axes, to another shape."""
        if tuple(shape) == tuple(before):
            return value
        if (
            not isinstance(value, Name)
            and np.prod(shape, dtype=np.int64) <= self.graph.model.folded
        ):
            return np.broadcast_to(value, shape)
        # The original broadcasts up to eight axes: neighbours that do the same become one.
        old, new = _merged(before, shape) if len(shape) > _MOST_AXES else (before, shape)
        value = self.reshape(self.node(value), old, before)
        value = self.op("BroadcastTo", value, shape=tuple(int(s) for s in new))
        return self.reshape(value, shape, new)

    def slice(
        self,
        value: Value,
        start: Sequence[int],
        end: Sequence[int],
        shape: Sequence[int],
        steps: Sequence[int] | None = None,
    ) -> Value:
        """Cut a box out of a value of the given shape."""
        steps = steps or [1] * len(start)
        whole = all(s == 0 for s in start) and list(end) == list(shape)
        if whole and all(s == 1 for s in steps):
            return value
        box = [tuple(int(v) for v in part) for part in (start, end, steps)]
        if not isinstance(value, Name):
            return np.asarray(value)[tuple(slice(*b) for b in zip(*box, strict=True))]
        masks = dict.fromkeys(
            ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0
        )
        return self.op("StridedSlice", value, *box, **masks)

    # -- equations --

    def run(self, jaxpr: Any, constants: Sequence[Value], inputs: Sequence[Value]) -> list[Value]:
        """Add the equations of a jaxpr.

        Args:
            jaxpr: open jaxpr.
            constants: values of its constants.
            inputs: values of its inputs.

        Returns:
            The values of its outputs.
        """
        environment: dict[Any, Value] = dict(zip(jaxpr.constvars, constants, strict=True))
        environment.update(zip(jaxpr.invars, inputs, strict=True))

        def read(variable: Any) -> Value:
            if isinstance(variable, Literal):
                return np.asarray(variable.val, getattr(variable.aval, "dtype", None))
            return environment[variable]

        for equation in _needed(jaxpr):
            values = [read(v) for v in equation.invars]
            results = self._equation(equation, values)
            for variable, result in zip(equation.outvars, results, strict=True):
                environment[variable] = result
                if isinstance(result, Name):
                    aval = variable.aval
                    self.graph.note_type(result, aval.shape, aval.dtype.name)
        return [read(v) for v in jaxpr.outvars]

    def _equation(self, equation: Any, values: list[Value]) -> list[Value]:
        name = equation.primitive.name
        if self._folds(equation, values):
            return _computed(equation, values)
        if name in _INLINED:
            return self._inlined(equation, values)
        lower = LAX.get(name)
        if lower is None:
            raise UnknownOperation(
                f"MindIR has no form for the operation '{name}' of "
                f"{[v.aval.str_short() for v in equation.invars]}"
            )
        results = lower(self, equation, values)
        return list(results) if isinstance(results, tuple | list) else [results]

    def _folds(self, equation: Any, values: list[Value]) -> bool:
        if any(isinstance(v, Name) for v in values) or equation.effects:
            return False
        sizes = [getattr(v.aval, "size", 0) for v in equation.outvars]
        known = all(isinstance(s, int) for v in equation.outvars for s in v.aval.shape)
        return known and sum(sizes) <= self.graph.model.folded

    def _inlined(self, equation: Any, values: list[Value]) -> list[Value]:
        call = self.calls.find(equation)
        if call is not None:
            results = self._record(call, equation, values)
            if results is not None:
                return results
        parameters = equation.params
        inner = next(parameters[k] for k in ("jaxpr", "call_jaxpr", "fun_jaxpr") if k in parameters)
        constants = [np.asarray(c) for c in getattr(inner, "consts", ())]
        return self.run(getattr(inner, "jaxpr", inner), constants, values)

    def _record(self, call: Any, equation: Any, values: list[Value]) -> list[Value] | None:
        name = call.record.name
        export = RECORDS.get(name)
        if export is None:
            return None
        inputs = jax.tree.unflatten(call.tree, values)
        types = jax.tree.unflatten(call.tree, call.types)
        outs = [v.aval for v in equation.outvars]
        results = export(self, call.record, inputs, types, outs)
        if results is None or isinstance(results, list):
            return results
        return [results]


def inverse(order: Sequence[int]) -> list[int]:
    """Give the order of axes that undoes another."""
    return [int(i) for i in np.argsort(order)]


def _merged(before: Sequence[int], after: Sequence[int]) -> tuple[list[int], list[int]]:
    """Merge neighbouring axes that are all broadcast, or all kept."""
    old: list[int] = []
    new: list[int] = []
    kept = None
    for size, wanted in zip(before, after, strict=True):
        if size == wanted == 1:
            continue
        if kept == (size == wanted):
            old[-1], new[-1] = old[-1] * size, new[-1] * wanted
        else:
            old.append(size)
            new.append(wanted)
        kept = size == wanted
    return old, new


def _needed(jaxpr: Any) -> list[Any]:
    """List the equations that an output or an effect needs."""
    needed = {v for v in jaxpr.outvars if not isinstance(v, Literal)}
    found = []
    for equation in reversed(jaxpr.eqns):
        if equation.effects or any(v in needed for v in equation.outvars):
            found.append(equation)
            needed.update(v for v in equation.invars if not isinstance(v, Literal))
    return found[::-1]


def _computed(equation: Any, values: list[Value]) -> list[Value]:
    """Compute an equation of constants."""
    with Wide():
        results = equation.primitive.bind(*values, **equation.params)
        results = results if equation.primitive.multiple_results else [results]
        return [np.asarray(r) for r in results]
