"""A walk through a traced program and the functions within it, each looked at once."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr

_CALLS = ("jit", "pjit")


def within(equation: Any) -> list[Any]:
    """List the functions among an equation's parameters, as jaxprs, closed or not.

    Args:
        equation: of a jaxpr.
    """
    if equation.primitive.name in _CALLS:
        # Nearly every op: their other parameters are tuples as long as their inputs are many.
        return [equation.params["jaxpr"]]
    found: list[Any] = []
    _collect(equation.params.values(), found)
    return found


def _collect(values: Any, found: list[Any]) -> None:
    for value in values:
        if isinstance(value, ClosedJaxpr | Jaxpr):
            found.append(value)
        elif isinstance(value, tuple | list):
            _collect(value, found)
        elif isinstance(value, dict):
            _collect(value.values(), found)


def every(jaxpr: Any) -> Iterator[Any]:
    """Give a jaxpr, and each of the functions within it once, closed ones with their constants.

    Args:
        jaxpr: closed or not.
    """
    seen: set[int] = set()
    waiting = [jaxpr]
    while waiting:
        one = waiting.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        for equation in one.eqns:
            waiting += within(equation)
