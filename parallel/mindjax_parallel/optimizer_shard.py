"""Optimizer parallelism: devices that would hold copies of a Parameter share it out.

Parameters and the optimizer's state lie in parts at rest (Rajbhandari et al., 2020, "ZeRO"). Where
a function is differentiated, marks stand in its trace: the forward pass gathers a Parameter there,
and its gradient is scattered. What a mark does is decided when the program is lowered, once the
placements that the operators want are known.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.ad_checkpoint import checkpoint_name
from jax.extend.core import Primitive
from jax.interpreters import batching, mlir
from jax.sharding import Mesh

from mindjax.core.errors import located
from mindjax_parallel.mesh import Placement

_GATHERED = "mindjax_gathered"

mark_p = Primitive("mindjax_share")
mark_p.def_impl(lambda x, **_: x)
mark_p.def_abstract_eval(lambda x, **_: x)
# Shardings that the marks of a program that is being lowered stand for.
_following = itertools.count()
_meaning: dict[tuple[int, str], Any] = {}


def _lower(ctx: Any, x: Any, *, number: int, kind: str) -> Any:
    sharding = _meaning.get((number, kind))
    if sharding is None:
        return [x]
    return mlir.lower_fun(
        lambda a: jax.lax.with_sharding_constraint(a, sharding), multiple_results=False
    )(ctx, x)


mlir.register_lowering(mark_p, _lower)
batching.defvectorized(mark_p)


def _marked(number: int, keep: bool) -> Callable[[Any], Any]:
    """Give the function that gathers a Parameter, whose gradient is scattered."""

    @jax.custom_vjp
    def gather(x: Any) -> Any:
        return mark_p.bind(x, number=number, kind="gather")

    def forward(x: Any) -> Any:
        return gather(x), None

    def backward(_: None, gradient: Any) -> Any:
        kind = "scatter" if keep else "sum"
        return (mark_p.bind(gradient, number=number, kind=kind),)

    gather.defvjp(forward, backward)
    return gather


class Shares:
    """Which Parameters are shared out, and how.

    Args:
        mesh: the devices.
        most: most parts of a Parameter; -1 for as many as there would be copies.
        threshold: bytes that a Parameter must have.
    """

    def __init__(self, mesh: Mesh, most: int, threshold: int) -> None:
        self.mesh, self.most, self.threshold = mesh, most, threshold
        # By identity of what was gathered, in the trace that is running: that, its
        # share, and what gathers it.
        self._gathered: dict[int, tuple[Any, Any, Callable[[Any], Any]]] = {}

    def at_use(self, handle: Any) -> Placement | None:
        """Give the placement that operators want of a Parameter that is shared out."""
        mesh, placement = handle.__dict__.get("_at_use", (None, None))
        return placement if mesh == self.mesh else None

    def gathered(
        self, function: Callable[..., Any], weights: Sequence[Any], level: int
    ) -> Callable[..., Any]:
        """Mark where Parameters are gathered for a forward pass.

        Args:
            function: of the arrays of inputs, then of Parameters, that will be differentiated.
            weights: the Parameters.
            level: 2 scatters gradients, 3 gathers again for the backward pass.

        Returns:
            The function to differentiate in its place.
        """
        gathers = [self._gather_of(w, level) for w in weights]

        def shared(inputs: list[Any], values: list[Any]) -> Any:
            whole = [v if g is None else g(v) for g, v in zip(gathers, values, strict=True)]
            for i, (gather, value) in enumerate(zip(gathers, values, strict=True)):
                if gather is None:
                    continue
                if level == 3:
                    whole[i] = checkpoint_name(whole[i], _GATHERED)
                if level == 3 or weights[i].parallel_optimizer_comm_recompute:
                    self._gathered[id(whole[i])] = whole[i], value, gather
            try:
                return function(inputs, whole)
            finally:
                self._gathered.clear()

        if level < 3:
            return shared
        kept = jax.checkpoint_policies.save_anything_except_these_names(_GATHERED)
        return jax.checkpoint(shared, policy=kept)

    def again(
        self, function: Callable[..., Any], level: int, policy: Any = None
    ) -> Callable[..., Any]:
        """Let the backward pass compute a function again from what it reads and takes.

        Args:
            function: of the lists of arrays that it reads around it, and of its inputs.
            level: of optimizer parallelism; at 3 shares of Parameters are kept, at the others those
                of Parameters whose ``parallel_optimizer_comm_recompute`` says so.
            policy: says what else is kept.

        Raises:
            NotImplementedError: there is a policy at level 3.
        """
        if level == 3 and policy is not None:
            raise located(
                NotImplementedError,
                "For 'recompute', 'mp_comm_recompute' False is not supported where the optimizer "
                "level is 3: it keeps shares only. Leave it out, or take level 2.",
            )

        def run(reads: list[Any], inputs: list[Any]) -> Any:
            found = [self._gathered.get(id(r)) for r in reads]
            if not any(found):
                return jax.checkpoint(function, policy=policy)(reads, inputs)
            shares = [r if f is None else f[1] for r, f in zip(reads, found, strict=True)]
            gathered = _gathering(function, [None if f is None else f[2] for f in found])
            again = _from_kept(gathered) if level == 3 else jax.checkpoint(gathered, policy=policy)
            return again(shares, inputs)

        return run

    def _gather_of(self, weight: Any, level: int) -> Callable[[Any], Any] | None:
        if not self._large(weight) or not getattr(weight, "parallel_optimizer", True):
            return None
        number = _number_of(weight)
        if number is None:
            number = next(_following)
            # With its identity: a copy of the Parameter carries the note too.
            weight.__dict__["_share"] = id(weight), number
        return _marked(number, level >= 2)

    def _large(self, weight: Any) -> bool:
        shape = weight.shape
        return bool(shape) and math.prod(shape) * weight.dtype.np.itemsize >= self.threshold

    def share(
        self,
        function: Callable[..., Any],
        arrays: Sequence[Any],
        state: Sequence[Any],
        placements: list[Placement],
    ) -> tuple[Callable[..., Any], list[Placement]]:
        """Decide what each mark of a program stands for.

        Args:
            function: the program on flat arrays.
            arrays: its inputs.
            state: Handles of the first of them.
            placements: what the operators want of each.

        Returns:
            The program to lower, and the placements of its inputs at rest.
        """
        shared = list(placements)
        by_name: dict[str, tuple[Any, Placement]] = {}
        meaning: dict[tuple[int, str], Any] = {}
        first: list[int] = []
        marked = _numbers_in(jax.make_jaxpr(function)(*(_struct(a) for a in arrays)).jaxpr)
        for i, handle in enumerate(state):
            number = _number_of(handle)
            if number is None:
                continue
            wanted = placements[i]
            rest = self._cut(wanted, tuple(np.shape(arrays[i])))
            if rest == wanted:
                continue
            handle.__dict__["_at_use"] = self.mesh, wanted
            shared[i] = rest
            by_name[handle.name] = handle, rest
            if number in marked:
                meaning[number, "gather"] = wanted.sharding(self.mesh)
                meaning[number, "scatter"] = rest.sharding(self.mesh)
            else:
                first.append(i)
        for i, handle in enumerate(state):
            weight = _weight_of(handle, by_name)
            if weight is not None and np.shape(arrays[i]) == tuple(weight[0].shape):
                shared[i] = weight[1]

        def program(*flat: Any) -> Any:
            whole = list(flat)
            for i in first:
                sharding = placements[i].sharding(self.mesh)
                whole[i] = jax.lax.with_sharding_constraint(whole[i], sharding)
            return function(*whole)

        program.__name__ = program.__qualname__ = getattr(function, "__name__", "program")
        _meaning.clear()
        _meaning.update(meaning)
        return program, shared

    def at_rest(
        self, arrays: Sequence[Any], state: Sequence[Any], placements: Sequence[Placement]
    ) -> list[Placement]:
        """Give how Parameters and optimizer state lie at rest, of a program without marks.

        Args:
            arrays: the program's inputs.
            state: Handles of the first of them.
            placements: what the operators want of each.
        """
        found = list(placements)
        by_name: dict[str, tuple[Any, Placement]] = {}
        for i, handle in enumerate(state):
            named = getattr(handle, "requires_grad", False) and getattr(handle, "name", None)
            if named and self._large(handle) and getattr(handle, "parallel_optimizer", True):
                found[i] = self._cut(placements[i], tuple(np.shape(arrays[i])))
                by_name[handle.name] = handle, found[i]
        for i, handle in enumerate(state):
            weight = _weight_of(handle, by_name)
            if weight is not None and np.shape(arrays[i]) == tuple(weight[0].shape):
                found[i] = weight[1]
        return found

    def _cut(self, placement: Placement, shape: tuple[int, ...]) -> Placement:
        """Cut a placement further, along the axes whose devices would hold copies."""
        used = {a for axes in placement.dimensions for a in axes}
        free = [a for a in self.mesh.axis_names if a not in used]
        parts = placement.parts(self.mesh)
        for place, size in enumerate(shape):
            left, axes, count = size // parts[place], [], 1
            for axis in free:
                width = self.mesh.shape[axis]
                if left % width == 0 and (self.most < 0 or count * width <= self.most):
                    axes.append(axis)
                    left //= width
                    count *= width
            if axes:
                entries = list(placement.dimensions)
                entries[place] = (*entries[place], *axes)
                return Placement(tuple(entries))
        return placement


def _gathering(
    function: Callable[..., Any], gathers: Sequence[Callable[[Any], Any] | None]
) -> Callable[..., Any]:
    """Gather what a function reads."""

    def gathered(shares: list[Any], inputs: list[Any]) -> Any:
        whole = [s if g is None else g(s) for g, s in zip(gathers, shares, strict=True)]
        return function(whole, inputs)

    return gathered


def _from_kept(gathered: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a function again in the backward pass from its two lists.

    It is no `jax.checkpoint`: the policy of the one around it would keep all that is inside.
    """

    def forward(shares: list[Any], inputs: list[Any]) -> Any:
        return gathered(shares, inputs), (shares, inputs)

    def backward(kept: Any, cotangents: Any) -> Any:
        # Behind the gradients of what follows: XLA would merge it with the forward pass.
        leaves, tree = jax.tree.flatten((kept, cotangents))
        places = [i for i, x in enumerate(leaves) if x.dtype != jax.dtypes.float0]
        held = jax.lax.optimization_barrier([leaves[i] for i in places])
        for i, x in zip(places, held, strict=True):
            leaves[i] = x
        (shares, inputs), cotangents = jax.tree.unflatten(tree, leaves)
        _, pull_back = jax.vjp(gathered, shares, inputs)
        return pull_back(cotangents)

    run = jax.custom_vjp(gathered)
    run.defvjp(forward, backward)
    return run


def _number_of(handle: Any) -> int | None:
    owner, number = handle.__dict__.get("_share", (None, None))
    return number if owner == id(handle) else None


def _struct(array: Any) -> Any:
    return jax.ShapeDtypeStruct(np.shape(array), array.dtype)


def _weight_of(handle: Any, by_name: dict[str, tuple[Any, Placement]]) -> Any:
    """Find the Parameter whose optimizer state a Handle is: the end of its name."""
    name = getattr(handle, "name", None)
    if not isinstance(name, str) or name in by_name:
        return None
    parts = name.split(".")
    for i in range(1, len(parts)):
        found = by_name.get(".".join(parts[i:]))
        if found is not None:
            return found
    return None


def _numbers_in(jaxpr: Any) -> set[int]:
    """List the Parameters that a program holds marks of."""
    found: set[int] = set()
    for equation in jaxpr.eqns:
        if equation.primitive is mark_p:
            found.add(equation.params["number"])
        for value in jax.tree.leaves(
            list(equation.params.values()), is_leaf=lambda v: hasattr(v, "jaxpr")
        ):
            inner = getattr(value, "jaxpr", value)
            if hasattr(inner, "eqns"):
                found |= _numbers_in(inner)
    return found
