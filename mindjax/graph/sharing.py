"""Programs that differ in numbers only share one executable: the numbers become inputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np

from mindjax.core import jax_private
from mindjax.core.caches import Cache

Compile = Callable[[Any, list[Any]], Any]


class _Family:
    """Programs of one text; ``hoisted`` literals are inputs of the executable."""

    def __init__(self, values: list[Any], hoisted: set[int], compiled: Any) -> None:
        self.values, self.hoisted, self.compiled = values, hoisted, compiled


class Families:
    """The executables of one function's programs."""

    def __init__(self, name: str) -> None:
        # Cells whose attributes a program was seen to write: the next traces begin with them.
        self.writers: dict[Any, None] = {}
        self._families: Cache[_Family] = Cache(f"executables of {name}", 64)

    def executable(self, jaxpr: Any, layout: Hashable, compile_: Compile) -> tuple[Any, list[Any]]:
        """Find an executable that runs a traced function, or compile one.

        Args:
            jaxpr: the traced function.
            layout: what else the executable depends on: order, shapes and donation of the inputs.
            compile_: compiles a jaxpr whose further inputs are given at the end.

        Returns:
            The executable and the numbers to pass at the end of its inputs.
        """
        values = jax_private.literals(jaxpr)
        if not _comparable(jaxpr):
            return compile_(jaxpr, []), []
        masked, _ = jax_private.hoist_literals(jaxpr, set(range(len(values))))
        key = (str(masked), layout)
        family = self._families.get(key)
        hoisted: set[int] = set()
        if family is not None:
            differing = {
                i
                for i, (a, b) in enumerate(zip(values, family.values, strict=True))
                if not _same(a, b)
            }
            hoisted = family.hoisted | differing
            if hoisted == family.hoisted:
                return family.compiled, jax_private.hoist_literals(jaxpr, hoisted)[1]
        changed, numbers = jax_private.hoist_literals(jaxpr, hoisted) if hoisted else (jaxpr, [])
        compiled = compile_(changed, numbers)
        self._families.put(key, _Family(values, hoisted, compiled))
        return compiled, numbers


def _same(x: Any, y: Any) -> bool:
    a, b = np.asarray(x), np.asarray(y)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _comparable(jaxpr: Any) -> bool:
    """Tell whether a jaxpr's text says all of it: no arrays or Python functions inside."""
    if jaxpr.effects - jax_private.named_effects(jaxpr):
        return False
    for equation in jaxpr.eqns:
        if "callback" in equation.primitive.name:
            return False
        for value in jax.tree.leaves(
            list(equation.params.values()),
            is_leaf=lambda v: hasattr(v, "eqns") or hasattr(v, "jaxpr"),
        ):
            if getattr(value, "consts", None) or isinstance(value, np.ndarray | jax.Array):
                return False
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns") and not _comparable(inner):
                return False
    return True
