"""Gradients in parts: what each device's rows of a batch give, added up over devices later.

The gradient of a matrix is a product over the rows of a batch, that of a bias a sum over them; that
of a table adds each row to a place of its own, and that of a kernel is a convolution whose channels
are the rows. Where devices share the rows, XLA adds their parts
up where the sum stands: in a pipeline once a micro batch. Here the devices' parts stay apart, as
one more dimension, which is cut over them; parts of micro batches are added up without a transfer,
and the parts themselves once. So are the gradients of a Parameter that a network uses in two
places, as a table of words that is the head too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, PartitionSpec

from mindjax_parallel.cones import Cones, evaluate, is_literal
from mindjax_parallel.constraint import laid
from mindjax_parallel.mesh import Axes, Placement
from mindjax_parallel.rewrite import computed, flattened
from mindjax_parallel.sharded_module import cuts_of
from mindjax_parallel.within_stage import run_within

# Only the number of values in a dimension changes.
_SHAPES = ("reshape", "squeeze", "expand_dims")
_SAME = ("convert_element_type", "neg", "copy", "copy_p")
_BASES = ("dot_general", "reduce_sum", "scatter-add", "conv_general_dilated")


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

        return _needed(jax.make_jaxpr(run)(*(v.aval for v in jaxpr.invars)))

    def together(self, cuts: Sequence[Placement], additions: set[int], wide: bool) -> Any:
        """Give the program without outputs that are gradients, with some additions of parts.

        Args:
            cuts: how what `operands` gives lies.
            additions: numbers of equations; those of which both inputs come in parts are added in
                parts, and the parts then.
            wide: whether parts that are cast from Float32 are added in it.

        Returns:
            A closed jaxpr; None where no addition has such inputs.
        """
        known = dict(zip(self._operands, cuts, strict=True))
        jaxpr = self._closed.jaxpr
        changed: list[int] = []

        def run(*inputs: Any) -> list[Any]:
            values = dict(zip(jaxpr.constvars, self._closed.consts, strict=True))
            values.update(zip(jaxpr.invars, inputs, strict=True))
            walk = _Walk(self._cones, values, known, self._mesh, self._rows, self._parts, wide)
            for number, equation in enumerate(jaxpr.eqns):
                parts = walk.added(equation) if number in additions else None
                if parts is None:
                    given = [v.val if is_literal(v) else values[v] for v in equation.invars]
                    results = computed(jaxpr, equation, given)
                else:
                    changed.append(number)
                    total = parts.sum(0, dtype=parts.dtype)
                    results = [total.astype(equation.outvars[0].aval.dtype)]
                values.update(zip(equation.outvars, results, strict=True))
            kept = [v for i, v in enumerate(jaxpr.outvars) if i not in self._outputs]
            return [walk.value(v) for v in kept]

        closed = jax.make_jaxpr(run)(*(v.aval for v in jaxpr.invars))
        return _needed(closed) if changed else None


def _needed(closed: Any) -> Any:
    """Leave the equations out that nobody asks for any more."""
    jaxpr = closed.jaxpr
    acting = [i for i, e in enumerate(jaxpr.eqns) if e.effects]
    asked = [v for i in acting for v in jaxpr.eqns[i].invars]
    needed = Cones(jaxpr).reach([*jaxpr.outvars, *asked]) | set(acting)
    equations = [e for i, e in enumerate(jaxpr.eqns) if i in needed]
    return closed.replace(jaxpr=jaxpr.replace(eqns=equations))


def summed_together(
    closed: Any, placements: Sequence[Placement], state: int, mesh: Mesh, rows: Axes, wide: bool
) -> Any:
    """Let devices add up once what a program adds of several sums over the rows of a batch.

    Args:
        closed: a program, whose state lies whole on each device.
        placements: of its inputs.
        state: how many of the first inputs are state; its gradients are looked at.
        mesh: the devices.
        rows: mesh axes that cut the rows.
        wide: whether 16-bit numbers are added up over devices in Float32.

    Returns:
        A closed jaxpr; None where there is no such sum.
    """
    shapes = {v.aval.shape for v in closed.jaxpr.invars[:state] if v.aval.shape}
    if not _adds(closed.jaxpr, shapes):
        return None
    closed = flattened(closed, again=True)
    jaxpr = closed.jaxpr
    places = [i for i, e in enumerate(jaxpr.eqns) if _adds_gradients(e, shapes)]
    # Of a sum of sums the last has them all.
    within = {v for i in places for v in jaxpr.eqns[i].invars if not is_literal(v)}
    chosen = {i for i in places if jaxpr.eqns[i].outvars[0] not in within}
    ends = [jaxpr.eqns[i].outvars[0] for i in sorted(chosen)]
    count = len(jaxpr.outvars)
    noted = closed.replace(
        jaxpr=jaxpr.replace(
            outvars=[*jaxpr.outvars, *ends],
            debug_info=jaxpr.debug_info._replace(arg_names=None, result_paths=None),
        )
    )
    sums = PartialSums(noted, range(count, count + len(ends)), mesh, rows)
    if not sums.avals:
        return None
    given = [v.aval for v in jaxpr.invars], list(placements)
    cuts = cuts_of(sums.operands, mesh, given)
    return sums.together(cuts, chosen, wide)


def _adds_gradients(equation: Any, shapes: set[tuple[int, ...]]) -> bool:
    """Tell whether an equation adds what may be two gradients of one Parameter."""
    return equation.primitive.name == "add_any" and equation.outvars[0].aval.shape in shapes


def _adds(jaxpr: Any, shapes: set[tuple[int, ...]]) -> bool:
    """Tell whether a program, or one that it calls, adds gradients."""
    for equation in jaxpr.eqns:
        if _adds_gradients(equation, shapes):
            return True
        inner = (getattr(v, "jaxpr", v) for v in equation.params.values())
        if any(hasattr(v, "eqns") and _adds(v, shapes) for v in inner):
            return True
    return False


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
        wide: bool = False,
    ) -> None:
        self._cones, self._values, self._cuts, self._wide = cones, values, cuts, wide
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

    def added(self, equation: Any) -> Any:
        """Give the sum of two values that both come in parts, in parts; None of others."""
        first, second = (self._of(v) for v in equation.invars)
        return None if first is None or second is None else first + second

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
        if name == "conv_general_dilated":
            return self._convolved(equation)
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
        if self._wide and name == "convert_element_type" and inner.dtype == np.float32:
            return inner
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
            other = jnp.asarray(self.value(second), inner.dtype)
            return inner * other if equation.primitive.name == "mul" else inner / other
        if equation.primitive.name == "div":
            return None
        inner = self._of(second)
        return None if inner is None else jnp.asarray(self.value(first), inner.dtype) * inner

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

    def _convolved(self, equation: Any) -> Any:
        """Let each device convolve its rows: to XLA parts would be groups of channels."""
        params, inputs = equation.params, equation.invars
        numbers = params["dimension_numbers"]
        places = numbers.lhs_spec[1], numbers.rhs_spec[1]
        rows = [self._cut_alone(v, p) for v, p in zip(inputs, places, strict=True)]
        if params["feature_group_count"] > 1 or not all(rows):
            return None
        specs = tuple(PartitionSpec(*(None,) * p, self._rows) for p in places)

        def local(*parts: Any) -> list[Any]:
            return [equation.primitive.bind(*parts, **params)[None]]

        def make(seen: Any, axes: frozenset[str]) -> Callable[..., list[Any]]:
            return jax.shard_map(
                local, mesh=seen, in_specs=specs, out_specs=[PartitionSpec(self._rows)],
                axis_names=set(axes),
            )  # fmt: skip

        return run_within(make, self._mesh, [self.value(v) for v in inputs])[0]

    def _is_zero(self, atom: Any) -> bool:
        place = None if is_literal(atom) else self._cones.maker.get(atom)
        if place is None:
            return is_literal(atom) and not np.any(np.asarray(atom.val))
        equation = self._cones.jaxpr.eqns[place]
        same = equation.primitive.name in ("broadcast_in_dim", "mindjax_layout")
        return same and self._is_zero(equation.invars[0])

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
