"""A compiled program as a list of named operations, for who shows graphs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from mindjax.graph.jit import Programs
from mindjax.graph.program import Program

# Calls whose body is shown in their place.
_CALLS = ("jit", "pjit", "closed_call", "core_call", "remat", "checkpoint", "custom_jvp_call")


class Operation(NamedTuple):
    """One operation: its name, kind, the names of what it takes, and its outputs' types."""

    name: str
    kind: str
    inputs: list[str]
    outputs: str


def latest_program(programs: Programs | None) -> Program | None:
    """Give the program of a function that was traced last; None if there is none."""
    kept = [] if programs is None else list(programs.programs.entries.values())
    return next((variants[-1] for variants in reversed(kept) if variants), None)


def operations(program: Program) -> list[Operation]:
    """List what a program does: state and inputs first, then its operations in order.

    Args:
        program: a traced program.
    """
    return _Lister(program).listed


class _Lister:
    def __init__(self, program: Program) -> None:
        self.listed: list[Operation] = []
        self._taken: dict[str, int] = {}
        jaxpr = program.jaxpr
        names: dict[Any, str] = {}
        for variable, name in zip(jaxpr.constvars, program.constant_names, strict=True):
            names[variable] = self._add(name, "Parameter", [], [variable])
        for i, variable in enumerate(jaxpr.invars):
            names[variable] = self._add(f"inputs/{i}", "Input", [], [variable])
        self._visit(jaxpr, names)

    def _add(self, name: str, kind: str, inputs: list[str], outputs: Sequence[Any]) -> str:
        number = self._taken.get(name, -1) + 1
        self._taken[name] = number
        if number:
            name = f"{name}_{number}"
        types = ", ".join(v.aval.str_short() for v in outputs)
        self.listed.append(Operation(name, kind, inputs, types))
        return name

    def _visit(self, jaxpr: Any, names: dict[Any, str]) -> None:
        for equation in jaxpr.eqns:
            kind = equation.primitive.name
            if kind in _CALLS and self._inline(equation, names):
                continue
            inputs = [names[v] for v in equation.invars if _is_variable(v) and v in names]
            scope = str(equation.source_info.name_stack)
            title = str(equation.params.get("name", kind)) if kind in _CALLS else kind
            name = self._add(f"{scope}/{title}" if scope else title, kind, inputs, equation.outvars)
            names.update(dict.fromkeys(equation.outvars, name))

    def _inline(self, equation: Any, names: dict[Any, str]) -> bool:
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        inner = getattr(inner, "jaxpr", inner)
        if not hasattr(inner, "eqns") or len(inner.invars) != len(equation.invars):
            return False
        local = {
            inside: names[outside]
            for inside, outside in zip(inner.invars, equation.invars, strict=True)
            if _is_variable(outside) and outside in names
        }
        self._visit(inner, local)
        for inside, outside in zip(inner.outvars, equation.outvars, strict=True):
            if _is_variable(inside) and inside in local:
                names[outside] = local[inside]
        return True


def _is_variable(atom: Any) -> bool:
    return not hasattr(atom, "val")
