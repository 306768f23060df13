"""Forward and backward pass of one position of a pipeline, apart from each other in time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.core import eval_jaxpr

from mindjax_parallel.cones import Cones, evaluate, is_literal
from mindjax_parallel.rewrite import flattened
from mindjax_parallel.stage_cut import Position


def _real(variable: Any) -> bool:
    return bool(jnp.issubdtype(variable.aval.dtype, jnp.inexact))


class Passes:
    """The passes of a position.

    What the backward pass needs of the forward pass is kept, but for what can be looked up again
    (Parameters, the batch) or follows from Parameters alone.

    Args:
        position: the position.
        weights: its inputs that are Parameters.
        wanted: those of them by which it is differentiated.
        lasting: its inputs that are the same in both passes.
        splits: whether the gradients of Parameters are worked out apart.
        rewrite: gives a traced pass as it is to be computed.

    Attributes:
        kept: shapes and dtypes of what the forward pass keeps.
        left: those of what the backward pass keeps for the gradients of Parameters.
        gradients: the Parameters, in the order of their gradients.
    """

    def __init__(
        self,
        position: Position,
        weights: set[Any],
        wanted: set[Any],
        lasting: set[Any],
        splits: bool,
        rewrite: Callable[[Any], Any],
    ) -> None:
        self.position, self._weights, self._lasting = position, weights, lasting
        received = set(position.received)
        self._differentiated = [
            i for i, v in enumerate(position.inputs) if v in wanted or (v in received and _real(v))
        ]
        self.gradients = [v for v in position.inputs if v in wanted]
        self.left: list[Any] = []
        self._splits, self._rewrite = splits, rewrite
        self._trace_forward()
        self._trace_backward()
        if splits:
            self._split()

    def _trace_forward(self) -> None:
        position, kept = self.position, {}
        seeded = len(position.sent) + len(position.outputs)
        self._seeded = [i for i, v in enumerate(position.jaxpr.outvars[:seeded]) if _real(v)]

        def forward(*values: Any) -> list[Any]:
            def run(chosen: list[Any]) -> Any:
                full = list(values)
                for place, value in zip(self._differentiated, chosen, strict=True):
                    full[place] = value
                results = evaluate(position.jaxpr, full)
                return [results[i] for i in self._seeded], results

            chosen = [values[i] for i in self._differentiated]
            _, pull_back, results = jax.vjp(run, chosen, has_aux=True)
            leaves, kept["tree"] = jax.tree.flatten(pull_back)
            return [*results, *leaves]

        closed = flattened(jax.make_jaxpr(forward)(*(v.aval for v in position.inputs)))
        closed = self._rewrite(closed)
        self._tree, self._forward = kept["tree"], closed
        count = len(position.jaxpr.outvars)
        leaves = closed.jaxpr.outvars[count:]
        cones, again = Cones(closed.jaxpr), self._recomputed(closed.jaxpr)
        self._leaves = leaves
        stays = set(closed.jaxpr.constvars)
        inputs = list(closed.jaxpr.invars)
        stays.update(v for v, o in zip(inputs, position.inputs, strict=True) if o in self._lasting)
        lazy = [v for v in leaves if not is_literal(v) and (v in stays or v in again)]
        chosen = set(lazy)
        stashed = dict.fromkeys(v for v in leaves if not is_literal(v) and v not in chosen)
        self._stashed = list(stashed)
        self.kept = [v.aval for v in self._stashed]
        self._lazy = list(dict.fromkeys(lazy))
        self._lazy_inputs, self._lazy_piece = cones.part(self._lazy)
        _, self._forward_piece = cones.part([*closed.jaxpr.outvars[:count], *self._stashed])
        self._forward_inputs = self._forward_piece.invars

    def _recomputed(self, jaxpr: Any) -> set[Any]:
        """Give the variables that follow from Parameters and constants alone."""
        known = set(jaxpr.constvars)
        known.update(
            v
            for v, o in zip(jaxpr.invars, self.position.inputs, strict=True)
            if o in self._weights and o in self._lasting
        )
        for equation in jaxpr.eqns:
            if all(is_literal(v) or v in known for v in equation.invars):
                known.update(equation.outvars)
        return known

    def _trace_backward(self) -> None:
        def backward(leaves: list[Any], cotangents: list[Any]) -> list[Any]:
            (gradients,) = jax.tree.unflatten(self._tree, leaves)(cotangents)
            return gradients

        outvars = self.position.jaxpr.outvars
        closed = jax.make_jaxpr(backward)(
            [v.aval if not is_literal(v) else jax.typeof(v.val) for v in self._leaves],
            [outvars[i].aval for i in self._seeded],
        )
        self._backward = self._rewrite(flattened(closed, again=True))
        received = set(self.position.received)
        inputs = self.position.inputs
        self._to_received = [j for j, i in enumerate(self._differentiated) if inputs[i] in received]
        self._to_weights = [
            j for j, i in enumerate(self._differentiated) if inputs[i] not in received
        ]

    def part_sums(self, parted: Callable[[Any, list[int]], Any]) -> None:
        """Let the backward pass give the gradients of Parameters in another form.

        Args:
            parted: gives the pass with some of its outputs, told by number, in that form.
        """
        self._backward = parted(self._backward, self._to_weights)
        if self._splits:
            self._split()

    def _split(self) -> None:
        """Part the backward pass: what the gradients of activations need, then the rest."""
        jaxpr = self._backward.jaxpr
        cones = Cones(jaxpr)
        first = [jaxpr.outvars[j] for j in self._to_received]
        second = [jaxpr.outvars[j] for j in self._to_weights]
        done = cones.reach(first)
        made = {v for i in done for v in jaxpr.eqns[i].outvars}
        inputs, self._second = cones.part(second, made.__contains__)
        cotangents = set(jaxpr.invars[len(self._leaves) :])
        self._handed = [v for v in inputs if v in made or v in cotangents]
        self.left = [v.aval for v in self._handed]
        _, self._first = cones.part([*first, *self._handed])

    # -- in the pipeline --

    def forward(self, lookup: Callable[[Any], Any]) -> tuple[list[Any], list[Any]]:
        """Run the forward pass.

        Args:
            lookup: gives the value of an input.

        Returns:
            The position's results, and what is kept.
        """
        values = self._values(self._forward, lookup)
        results = evaluate(self._forward_piece, [values(v) for v in self._forward_inputs])
        count = len(self.position.jaxpr.outvars)
        return results[:count], results[count:]

    def _values(self, closed: Any, lookup: Callable[[Any], Any]) -> Callable[[Any], Any]:
        known = dict(zip(closed.jaxpr.constvars, closed.consts, strict=True))
        inputs = dict(zip(closed.jaxpr.invars, self.position.inputs, strict=True))
        return lambda v: known[v] if v in known else lookup(inputs[v])

    def _given(
        self, lookup: Callable[[Any], Any], kept: Sequence[Any], cotangents: Sequence[Any]
    ) -> dict[Any, Any]:
        """Give the inputs of the backward pass."""
        values = self._values(self._forward, lookup)
        again = evaluate(self._lazy_piece, [values(v) for v in self._lazy_inputs])
        found = dict(zip(self._lazy, again, strict=True))
        found.update(zip(self._stashed, kept, strict=True))
        leaves = [v.val if is_literal(v) else found[v] for v in self._leaves]
        jaxpr = self._backward.jaxpr
        given = dict(zip(jaxpr.constvars, self._backward.consts, strict=True))
        given.update(zip(jaxpr.invars, [*leaves, *cotangents], strict=True))
        return given

    def backward_inputs(
        self, lookup: Callable[[Any], Any], kept: Sequence[Any], sent: Sequence[Any]
    ) -> list[Any]:
        """Give the inputs of the backward pass; the arguments are those of `backward`."""
        given = self._given(lookup, kept, self.cotangents(sent))
        return [given[v] for v in self._backward.jaxpr.invars]

    def cotangents(self, sent: Sequence[Any]) -> list[Any]:
        """Give the cotangents of the results: those that came back, and ones for the outputs.

        Args:
            sent: of what was sent, zeros where there is none.
        """
        count = len(self.position.sent)
        outvars = self.position.jaxpr.outvars
        return [
            sent[i] if i < count else jnp.ones(outvars[i].aval.shape, outvars[i].aval.dtype)
            for i in self._seeded
        ]

    def backward(
        self, lookup: Callable[[Any], Any], kept: Sequence[Any], sent: Sequence[Any]
    ) -> tuple[list[Any], list[Any], list[Any]]:
        """Run the backward pass.

        Args:
            lookup: gives the value of an input.
            kept: by the forward pass.
            sent: cotangents of what was sent.

        Returns:
            Cotangents of what was received, None for integers; gradients of the Parameters, none
            if they are worked out apart; what is kept for those.
        """
        given = self._given(lookup, kept, self.cotangents(sent))
        if self._splits:
            results = evaluate(self._first, [given[v] for v in self._first.invars])
            count = len(self._to_received)
            return self._spread(results[:count]), [], results[count:]
        jaxpr = self._backward.jaxpr
        consts = [given[v] for v in jaxpr.constvars]
        results = eval_jaxpr(jaxpr, consts, *(given[v] for v in jaxpr.invars))
        received = self._spread([results[j] for j in self._to_received])
        return received, [results[j] for j in self._to_weights], []

    def _spread(self, cotangents: Sequence[Any]) -> list[Any]:
        """Put cotangents in the order of what was received."""
        inputs = self.position.inputs
        by_variable = {
            inputs[self._differentiated[j]]: c
            for j, c in zip(self._to_received, cotangents, strict=True)
        }
        return [by_variable.get(v) for v in self.position.received]

    def weight_gradients(
        self, lookup: Callable[[Any], Any], kept: Sequence[Any], left: Sequence[Any]
    ) -> list[Any]:
        """Work out the gradients of the Parameters.

        Args:
            lookup: gives the value of an input.
            kept: by the forward pass.
            left: by the backward pass.
        """
        jaxpr = self._backward.jaxpr
        blank = [None] * (len(jaxpr.invars) - len(self._leaves))
        given = self._given(lookup, kept, blank)
        given.update(zip(self._handed, left, strict=True))
        return evaluate(self._second, [given[v] for v in self._second.invars])
