"""Gradients in parts: what each device's rows of a batch give, added up over devices later.

The gradient of a matrix is a product over the rows of a batch, that of a bias a sum over them; that
of a table adds each row to a place of its own. Where devices share the rows, XLA adds their parts
up where the sum stands: in a pipeline once a micro batch. Here the devices' parts stay apart, as
one more dimension, which is cut over them; parts of micro batches are added up without a transfer,
and the parts themselves once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec

from mindjax_parallel.cones import Cones, evaluate, is_literal
from mindjax_parallel.constraint import laid
from mindjax_parallel.mesh import Axes, Placement
from mindjax_parallel.rewrite import computed

# Only the number of values in a dimension changes.
_SHAPES = ("reshape", "squeeze", "expand_dims")
_SAME = ("convert_element_type", "neg", "copy", "copy_p")
_BASES = ("dot_general", "reduce_sum", "scatter-add")


class PartialSums:
    """A traced backward pass whose gradients can be given in parts.

    Args:
        closed: the pass, without functions that it calls.
        outputs: numbers of its outputs that are gradients.
        mesh: all devices.
        rows: mesh axes that cut the rows of a batch.
    """

    def __init__(self, closed: Any, outputs: Sequence[int], mesh: Mesh, rows: Axes) -> None:
        self._closed = closed
        self._outputs, self._mesh, self._rows = set(outputs), mesh, rows
        self._parts = math.prod(mesh.shape[a] for a in rows)
        self._cones = Cones(self._closed.jaxpr)
        bases = [
            self._closed.jaxpr.eqns[i]
            for i in self._cones.reach([self._closed.jaxpr.outvars[o] for o in outputs])
            if self._closed.jaxpr.eqns[i].primitive.name in _BASES
        ]
        operands = dict.fromkeys(v for e in bases for v in e.invars if not is_literal(v))
        self._operands = list(operands)
        self._inputs, self._piece = self._cones.part(self._operands)

    @property
    def avals(self) -> list[Any]:
        """Shapes and dtypes of what sums may go over."""
        return [v.aval for v in self._operands]

    def operands(self, inputs: Sequence[Any]) -> list[Any]:
        """Work out what sums may go over.

        Args:
            inputs: of the pass.
        """
        jaxpr = self._closed.jaxpr
        values = dict(zip(jaxpr.constvars, self._closed.consts, strict=True))
        values.update(zip(jaxpr.invars, inputs, strict=True))
        return evaluate(self._piece, [values[v] for v in self._inputs])

    def parted(self, cuts: Sequence[Placement]) -> Any:
        """Give the pass with gradients in parts, along a first dimension.

        Args:
            cuts: how what `operands` gives lies.

        Returns:
            A closed jaxpr.
        """
        known = dict(zip(self._operands, cuts, strict=True))
        jaxpr = self._closed.jaxpr

        def run(*inputs: Any) -> list[Any]:
            values = dict(zip(jaxpr.constvars, self._closed.consts, strict=True))
            values.update(zip(jaxpr.invars, inputs, strict=True))
            for equation in jaxpr.eqns:
                given = [v.val if is_literal(v) else values[v] for v in equation.invars]
                results = computed(jaxpr, equation, given)
                values.update(zip(equation.outvars, results, strict=True))
            walk = _Walk(self._cones, values, known, self._mesh, self._rows, self._parts)
            return [
                walk.parts_or_whole(v) if i in self._outputs else walk.value(v)
                for i, v in enumerate(jaxpr.outvars)
            ]

        closed = jax.make_jaxpr(run)(*(v.aval for v in jaxpr.invars))
        # The sums that nobody asks for any more.
        needed = Cones(closed.jaxpr).reach(closed.jaxpr.outvars)
        equations = [e for i, e in enumerate(closed.jaxpr.eqns) if i in needed]
        return closed.replace(jaxpr=closed.jaxpr.replace(eqns=equations))


class _Walk:
    """Follows a gradient back to the sum over rows that it comes from."""

    def __init__(
        self,
        cones: Cones,
        values: dict[Any, Any],
        cuts: dict[Any, Placement],
        mesh: Mesh,
        rows: Axes,
        parts: int,
    ) -> None:
        self._cones, self._values, self._cuts = cones, values, cuts
        self._mesh, self._rows, self._parts = mesh, rows, parts

    def value(self, atom: Any) -> Any:
        """Give a value as it is."""
        return atom.val if is_literal(atom) else self._values[atom]

    def parts_or_whole(self, atom: Any) -> Any:
        """Give a value in parts: where that cannot be, the first part is all of it."""
        found = self._of(atom)
        if found is not None:
            return found
        value = jnp.asarray(self.value(atom))
        first = jnp.arange(self._parts, dtype="int32") == 0
        first = first.reshape(self._parts, *(1 for _ in value.shape))
        return jnp.where(first, value[None], jnp.zeros((), value.dtype))

    def _of(self, atom: Any) -> Any:
        place = None if is_literal(atom) else self._cones.maker.get(atom)
        if place is None:
            return None
        equation = self._cones.jaxpr.eqns[place]
        name, params = equation.primitive.name, equation.params
        if name == "dot_general":
            return self._product(equation)
        if name == "scatter-add":
            return self._scattered(equation)
        if name in ("add", "add_any"):
            both = [self._of(v) for v in equation.invars]
            if both[0] is None and both[1] is None:
                return None
            first, second = (self.parts_or_whole(v) for v in equation.invars)
            return first + second
        if name in ("mul", "div"):
            return self._scaled(equation)
        if name not in (*_SAME, *_SHAPES, "transpose", "reduce_sum", "mindjax_layout"):
            return None
        inner = self._of(equation.invars[0])
        if name == "reduce_sum" and inner is None:
            return self._sum(equation)
        if inner is None:
            return None
        shape = equation.outvars[0].aval.shape
        if name in _SHAPES:
            return inner.reshape(self._parts, *shape)
        if name == "transpose":
            return inner.transpose(0, *(p + 1 for p in params["permutation"]))
        if name == "reduce_sum":
            return inner.sum(tuple(a + 1 for a in params["axes"]), dtype=inner.dtype)
        if name == "mindjax_layout":
            spec = params["spec"]
            used = {a for e in spec if e for a in ((e,) if isinstance(e, str) else e)}
            if used & set(self._rows):
                return None
            return laid(inner, params["mesh"], PartitionSpec(self._rows, *spec))
        return equation.primitive.bind(inner, **params)

    def _scaled(self, equation: Any) -> Any:
        first, second = equation.invars
        inner = self._of(first)
        if inner is not None:
            other = jnp.asarray(self.value(second))
            return inner * other if equation.primitive.name == "mul" else inner / other
        if equation.primitive.name == "div":
            return None
        inner = self._of(second)
        return None if inner is None else jnp.asarray(self.value(first)) * inner

    def _cut(self, atom: Any, dimension: int) -> bool:
        """Tell whether rows lie along a dimension, the rows' axes first."""
        if is_literal(atom) or atom not in self._cuts:
            return False
        return self._cuts[atom].dimensions[dimension][: len(self._rows)] == self._rows

    def _cut_alone(self, atom: Any, dimension: int) -> bool:
        """Tell whether the rows' axes cut a dimension, and nothing is cut besides.

        Of what is cut along places too, XLA's own partition of a scatter ends the process.
        """
        if is_literal(atom) or atom not in self._cuts:
            return False
        found = self._cuts[atom].dimensions
        others = any(axes for i, axes in enumerate(found) if i != dimension)
        return found[dimension] == self._rows and not others

    def _product(self, equation: Any) -> Any:
        left, right = equation.invars
        (first, second), _ = equation.params["dimension_numbers"]
        for i, j in zip(first, second, strict=True):
            if self._cut(left, i) and self._cut(right, j):
                return self._apart(equation, [(left, i), (right, j)])
        return None

    def _sum(self, equation: Any) -> Any:
        (operand,) = equation.invars
        for axis in equation.params["axes"]:
            if self._cut(operand, axis):
                return self._apart(equation, [(operand, axis)])
        return None

    def _scattered(self, equation: Any) -> Any:
        """Add the rows of each part to zeros; what they are added to counts once."""
        operand, indices, updates = equation.invars
        numbers = equation.params["dimension_numbers"]
        if numbers.operand_batching_dims:
            return None
        rows = [d for d in range(updates.aval.ndim) if d not in numbers.update_window_dims]
        for place, axis in enumerate(rows):
            if self._cut_alone(updates, axis) and self._cut_alone(indices, place):
                zeros = jnp.zeros(operand.aval.shape, operand.aval.dtype)
                found = self._apart(equation, [(indices, place), (updates, axis)], zeros)
                return found if self._is_zero(operand) else self.parts_or_whole(operand) + found
        return None

    def _is_zero(self, atom: Any) -> bool:
        place = None if is_literal(atom) else self._cones.maker.get(atom)
        if place is None:
            return is_literal(atom) and not jnp.any(atom.val)
        equation = self._cones.jaxpr.eqns[place]
        return equation.primitive.name == "broadcast_in_dim" and self._is_zero(equation.invars[0])

    def _apart(self, equation: Any, inputs: Sequence[tuple[Any, int]], *first: Any) -> Any:
        """Compute a sum over each part of a dimension.

        Args:
            equation: the sum.
            inputs: with the dimension of each.
            first: inputs before them, of every part.
        """
        given, axes = [], []
        for atom, axis in inputs:
            value = jnp.asarray(self.value(atom))
            shape = list(value.shape)
            shape[axis : axis + 1] = [self._parts, shape[axis] // self._parts]
            given.append(value.reshape(shape))
            axes.append(axis)

        def one(*arrays: Any) -> Any:
            return equation.primitive.bind(*first, *arrays, **equation.params)

        found = jax.vmap(one, in_axes=tuple(axes))(*given)
        return found[0] if isinstance(found, list | tuple) else found
