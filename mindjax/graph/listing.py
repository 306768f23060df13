"""A compiled program as a list of named operations, for who shows graphs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from mindjax.graph.jit import Programs
from mindjax.graph.program import Program

# Calls whose body is shown in their place.
_CALLS = ("jit", "pjit", "closed_call", "core_call", "remat", "checkpoint", "custom_jvp_call")
# Beginning of the names of operators' own programs.
_OP = "ms_"


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
            path = name.replace(".", "/")
            names[variable] = self._add(path, "Parameter", [], [variable])
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

    def _visit(self, jaxpr: Any, names: dict[Any, str], around: str = "") -> None:
        for equation in jaxpr.eqns:
            kind = equation.primitive.name
            scope = "/".join(filter(None, (around, _place(str(equation.source_info.name_stack)))))
            given = (names[v] for v in equation.invars if _is_variable(v) and v in names)
            inputs = list(dict.fromkeys(given))
            if kind == "stop_gradient" and inputs:
                names[equation.outvars[0]] = inputs[0]
                continue
            if kind in _CALLS:
                title = str(equation.params.get("name", kind))
                if title.startswith(_OP):
                    # An operator is one node, whatever XLA makes of it.
                    kind = title.removeprefix(_OP)
                elif self._inline(equation, names, scope):
                    continue
            name = self._add(f"{scope}/{kind}" if scope else kind, kind, inputs, equation.outvars)
            names.update(dict.fromkeys(equation.outvars, name))

    def _inline(self, equation: Any, names: dict[Any, str], scope: str) -> bool:
        inner = equation.params.get("jaxpr", equation.params.get("call_jaxpr"))
        inner = getattr(inner, "jaxpr", inner)
        if not hasattr(inner, "eqns") or len(inner.invars) != len(equation.invars):
            return False
        local = {
            inside: names[outside]
            for inside, outside in zip(inner.invars, equation.invars, strict=True)
            if _is_variable(outside) and outside in names
        }
        self._visit(inner, local, scope)
        for inside, outside in zip(inner.outvars, equation.outvars, strict=True):
            if _is_variable(inside) and inside in local:
                names[outside] = local[inside]
        return True


def _place(scope: str) -> str:
    """Bring jax's scope, such as ``A/transpose(jvp(b))/c``, to a path."""
    path = re.sub(r"\w+\(|\)", "", scope)
    return f"Gradients/{path}" if "transpose(" in scope else path


def _is_variable(atom: Any) -> bool:
    return not hasattr(atom, "val")
