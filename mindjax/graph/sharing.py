"""Programs that differ in numbers only share one executable: the numbers become inputs."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import jax
import numpy as np

from mindjax.core import jax_private
from mindjax.core.caches import Cache
from mindjax.core.jaxprs import every

Compile = Callable[[Any, list[Any]], Any]


class _Family:
    """Programs of one text; ``hoisted`` literals are inputs of the executable."""

    def __init__(self, values: list[Any], hoisted: set[int], compiled: Any) -> None:
        self.values, self.hoisted, self.compiled = values, hoisted, compiled


class _Single(NamedTuple):
    """The only program of its layout so far: nothing needs its text yet."""

    jaxpr: Any
    compiled: Any


_SEVERAL = _Single(None, None)


class Families:
    """The executables of one function's programs."""

    def __init__(self, name: str) -> None:
        # Cells whose attributes a program was seen to write: the next traces begin with them.
        self.writers: dict[Any, None] = {}
        self._families: Cache[_Family] = Cache(f"executables of {name}", 64)
        self._layouts: Cache[_Single] = Cache(f"layouts of {name}", 64)

    def executable(self, jaxpr: Any, layout: Hashable, compile_: Compile) -> tuple[Any, list[Any]]:
        """Find an executable that runs a traced function, or compile one.

        Args:
            jaxpr: the traced function.
            layout: what else the executable depends on: order, shapes and donation of the inputs.
            compile_: compiles a jaxpr whose further inputs are given at the end.

        Returns:
            The executable and the numbers to pass at the end of its inputs.
        """
        first = self._layouts.get(layout)
        if first is None:
            # To print a program takes a tenth of the time of tracing it.
            compiled = compile_(jaxpr, [])
            if not any(getattr(inner, "consts", ()) for inner in every(jaxpr)):
                self._layouts.put(layout, _Single(jaxpr, compiled))
            return compiled, []
        if first is not _SEVERAL:
            self._layouts.put(layout, _SEVERAL)
            if _comparable(first.jaxpr):
                values = jax_private.literals(first.jaxpr)
                key = _text(first.jaxpr, values), layout
                self._families.put(key, _Family(values, set(), first.compiled))
        if not _comparable(jaxpr):
            return compile_(jaxpr, []), []
        values = jax_private.literals(jaxpr)
        key = _text(jaxpr, values), layout
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


def _text(jaxpr: Any, values: list[Any]) -> str:
    """Print a program without the values of its literals."""
    return str(jax_private.hoist_literals(jaxpr, set(range(len(values))))[0])


def _same(x: Any, y: Any) -> bool:
    a, b = np.asarray(x), np.asarray(y)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def _comparable(jaxpr: Any) -> bool:
    """Tell whether a jaxpr's text says all of it: no arrays or Python functions inside."""
    return not any(
        getattr(inner, "consts", ())
        or inner.effects - jax_private.named_effects(inner)
        or any(map(_hides, inner.eqns))
        for inner in every(jaxpr)
    )


def _hides(equation: Any) -> bool:
    """Tell whether an equation holds what its text does not say."""
    if "callback" in equation.primitive.name:
        return True
    values = jax.tree.leaves(
        list(equation.params.values()), is_leaf=lambda v: hasattr(v, "eqns") or hasattr(v, "jaxpr")
    )
    return any(isinstance(v, np.ndarray | jax.Array) for v in values)
