"""Parts of a traced program: what is needed for some of its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from jax.core import eval_jaxpr


def is_literal(atom: Any) -> bool:
    """Tell whether an atom of a jaxpr is a constant that stands in it."""
    return hasattr(atom, "val")


class Cones:
    """The equations of a jaxpr, by what they give.

    Args:
        jaxpr: the program.
    """

    def __init__(self, jaxpr: Any) -> None:
        self.jaxpr = jaxpr
        self.maker = {v: i for i, e in enumerate(jaxpr.eqns) for v in e.outvars}

    def part(
        self, targets: Sequence[Any], known: Callable[[Any], bool] | None = None
    ) -> tuple[list[Any], Any]:
        """Give a program for some values alone.

        Args:
            targets: atoms of the jaxpr.
            known: tells which variables are given; inputs and constants always are.

        Returns:
            The variables that it takes, and the jaxpr of these.
        """
        needed: set[int] = set()
        inputs: dict[Any, None] = {}
        waiting = [t for t in targets if not is_literal(t)]
        while waiting:
            variable = waiting.pop()
            place = self.maker.get(variable)
            if place is None or (known is not None and known(variable)):
                inputs[variable] = None
            elif place not in needed:
                needed.add(place)
                waiting.extend(v for v in self.jaxpr.eqns[place].invars if not is_literal(v))
        equations = [self.jaxpr.eqns[i] for i in sorted(needed)]
        return list(inputs), piece(self.jaxpr, list(inputs), equations, targets)

    def reach(self, targets: Iterable[Any]) -> set[int]:
        """Give the numbers of the equations that some values need."""
        needed: set[int] = set()
        waiting = [t for t in targets if not is_literal(t)]
        while waiting:
            place = self.maker.get(waiting.pop())
            if place is not None and place not in needed:
                needed.add(place)
                waiting.extend(v for v in self.jaxpr.eqns[place].invars if not is_literal(v))
        return needed


def piece(
    jaxpr: Any, inputs: Sequence[Any], equations: Sequence[Any], outputs: Sequence[Any]
) -> Any:
    """Give a jaxpr of some of another's equations.

    Args:
        jaxpr: the whole.
        inputs: variables that it takes.
        equations: in order.
        outputs: atoms that it gives.
    """
    effects = set().union(*(e.effects for e in equations)) if equations else set()
    return jaxpr.replace(
        constvars=[],
        invars=list(inputs),
        outvars=list(outputs),
        eqns=list(equations),
        effects=effects,
        debug_info=jaxpr.debug_info._replace(arg_names=None, result_paths=None),
    )


def evaluate(jaxpr: Any, inputs: Sequence[Any]) -> list[Any]:
    """Run a jaxpr without constants."""
    return eval_jaxpr(jaxpr, [], *inputs)
