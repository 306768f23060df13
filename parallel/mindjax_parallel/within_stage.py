"""Operators that the devices of one stage compute together, each its part, inside a pipeline.

The program of a stage is written where the program of all stages is lowered; only there is known
which axes of the mesh XLA still cuts arrays along. What names devices itself stands in the trace as
one equation until then. Its backward pass computes it again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import ShapedArray
from jax.extend.core import Primitive as Operation
from jax.interpreters import mlir
from jax.sharding import Mesh, PartitionSpec

from mindjax.core.primitive import Primitive
from mindjax.ops.gather import take_axis
from mindjax_parallel.constraint import manual
from mindjax_parallel.mesh import Axes, Placement

Array = jax.Array
Make = Callable[[Any, frozenset[str]], Callable[..., Any]]
"""Gives a function of whole arrays for a mesh and those of its axes that it may name."""

within_p = Operation("mindjax_within_stage")
within_p.multiple_results = True
within_p.def_abstract_eval(lambda *_, kinds, **__: list(kinds))


def _lower(ctx: Any, *values: Any, make: Make, mesh: Mesh, kinds: Any) -> Any:
    del kinds
    axes = getattr(ctx.module_context.axis_context, "manual_axes", frozenset())
    seen = manual(mesh, axes) if axes else mesh.abstract_mesh
    own = frozenset(a for a in mesh.axis_names if a not in axes)
    with jax.sharding.use_abstract_mesh(seen):
        return mlir.lower_fun(make(seen, own), multiple_results=True)(ctx, *values)


mlir.register_lowering(within_p, _lower)


def run_within(make: Make, mesh: Mesh, arrays: Sequence[Array]) -> list[Array]:
    """Compute what names the devices of a stage, without a gradient.

    Args:
        make: gives the function for a mesh; it gives a list of arrays.
        mesh: all devices.
        arrays: whole, traced.
    """
    structs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    whole = make(mesh, frozenset(mesh.axis_names))
    kinds = tuple(ShapedArray(a.shape, a.dtype) for a in jax.eval_shape(whole, *structs))
    return within_p.bind(*arrays, make=make, mesh=mesh, kinds=kinds)


def within_stage(make: Make, mesh: Mesh, arrays: Sequence[Array]) -> list[Array]:
    """Compute what names the devices of a stage, with its gradient.

    Args:
        make: gives the function for a mesh; it gives a list of arrays.
        mesh: all devices.
        arrays: whole, traced.
    """
    structs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in arrays]
    whole = make(mesh, frozenset(mesh.axis_names))
    kinds = tuple(ShapedArray(a.shape, a.dtype) for a in jax.eval_shape(whole, *structs))
    real = [i for i, a in enumerate(structs) if jnp.issubdtype(a.dtype, jnp.inexact)]

    def back(seen: Any, axes: frozenset[str]) -> Callable[..., list[Array]]:
        function = make(seen, axes)

        def gradients(*given: Array) -> list[Array]:
            inputs, cotangents = list(given[: len(structs)]), list(given[len(structs) :])

            def of(chosen: list[Array]) -> Any:
                full = list(inputs)
                for place, value in zip(real, chosen, strict=True):
                    full[place] = value
                return function(*full)

            results, pull_back = jax.vjp(of, [inputs[i] for i in real])
            following = iter(cotangents)
            seeds = [
                next(following)
                if jnp.issubdtype(r.dtype, jnp.inexact)
                else np.zeros(r.shape, jax.dtypes.float0)
                for r in results
            ]
            return pull_back(seeds)[0]

        return gradients

    @jax.custom_vjp
    def call(*given: Array) -> list[Array]:
        return within_p.bind(*given, make=make, mesh=mesh, kinds=kinds)

    def backward(given: Sequence[Array], cotangents: Sequence[Any]) -> Any:
        seeds = [
            c for c, k in zip(cotangents, kinds, strict=True) if jnp.issubdtype(k.dtype, np.inexact)
        ]
        wanted = tuple(ShapedArray(structs[i].shape, structs[i].dtype) for i in real)
        found = iter(within_p.bind(*given, *seeds, make=back, mesh=mesh, kinds=wanted))
        return tuple(
            next(found) if i in real else np.zeros(a.shape, jax.dtypes.float0)
            for i, a in enumerate(structs)
        )

    call.defvjp(lambda *given: (call(*given), given), backward)
    return call(*arrays)


def _fill(dtype: Any) -> Any:
    """Give what `Gather` gives for an index out of range."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return np.nan
    if dtype == np.bool_:
        return True
    limits = jnp.iinfo(dtype)
    return limits.max if jnp.issubdtype(dtype, jnp.unsignedinteger) else limits.min


class GatherInParts(Primitive, register=False):
    """`Gather` of a table that the devices of a stage hold parts of.

    Each takes the rows that it has, and rows are added up over devices. XLA's own partition of the
    gradient, a scatter, ends the process where stages and parts of a table come together.

    Attributes:
        operator: the operator that it stands for.
        mesh: all devices.
        table: how the table is cut.
        indices: how the indices are cut.
    """

    operator: Any
    mesh: Mesh
    table: Placement
    indices: Placement

    @property
    def name(self) -> str:
        """The operator's name."""
        return self.operator.name

    def compute(self, x: Array, indices: Array) -> Array:
        """Take rows."""
        axis = self.operator.axis % x.ndim
        cut, rows = list(self.table.dimensions), self.table.dimensions[axis]
        used = {a for axes in cut for a in axes}
        # Devices that hold different parts of the table all need the same indices.
        places = [tuple(a for a in axes if a not in used) for axes in self.indices.dimensions]
        specs = _spec(cut), _spec(places)
        out = _spec([*cut[:axis], *places, *cut[axis + 1 :]])

        def local(part: Array, wanted: Array) -> list[Array]:
            return [_take(part, wanted, axis, rows, x.shape[axis])]

        def make(seen: Any, axes: frozenset[str]) -> Callable[..., list[Array]]:
            return jax.shard_map(
                local, mesh=seen, in_specs=specs, out_specs=[out], axis_names=set(axes)
            )

        return within_stage(make, self.mesh, [x, indices])[0]


def _spec(dimensions: Sequence[Axes]) -> PartitionSpec:
    return PartitionSpec(*(axes or None for axes in dimensions))


def _take(part: Array, wanted: Array, axis: int, rows: Axes, size: int) -> Array:
    """Take what a device has of the rows, and add up over those that have others."""
    if not rows:
        return take_axis("Gather", part, wanted, axis)
    count = part.shape[axis]
    wanted = wanted.astype(np.int32)
    places = jnp.where(wanted < 0, wanted + np.int32(size), wanted)
    own = places - lax.axis_index(rows).astype(np.int32) * np.int32(count)
    here = (own >= 0) & (own < count)
    shape = [1] * axis + list(wanted.shape) + [1] * (part.ndim - axis - 1)
    found = take_axis("Gather", part, jnp.where(here, own, np.int32(0)), axis)
    found = jnp.where(here.reshape(shape), found, jnp.zeros((), part.dtype))
    if part.dtype == np.bool_:
        total = lax.psum(found.astype(np.int32), rows) != 0
    else:
        total = lax.psum(found, rows)
    inside = ((places >= 0) & (places < size)).reshape(shape)
    return jnp.where(inside, total, jnp.asarray(_fill(part.dtype), part.dtype))


def gather_in_parts(
    record: Any, arrays: Sequence[Any], placements: Sequence[Placement], mesh: Mesh
) -> Primitive:
    """Give the operator that takes rows of a table in parts, or the operator itself.

    Args:
        record: a `Gather`.
        arrays: its inputs.
        placements: theirs.
        mesh: all devices.
    """
    if not placements[0].cut or record.batch_dims or not np.ndim(arrays[0]):
        return record
    return GatherInParts(record, mesh, placements[0], placements[1])
