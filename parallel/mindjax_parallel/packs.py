"""State of pipeline stages, packed: one buffer a dtype, of which a device holds its stage's row.

A compiled program is one for all devices, and an array of it lies on all of them. A Parameter of
one stage alone can be held by that stage's devices only as a part of an array that is cut along the
stages: row i holds what stage i needs, one value after the other, and the rows are as long as the
longest. What is cut further, along the axes of tensor parallelism, has these parts as dimensions of
the buffer's own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

from mindjax.core.elsewhere import Elsewhere
from mindjax.core.handle import Handle, whole
from mindjax.core.state import outside_value
from mindjax_parallel.constraint import constrained
from mindjax_parallel.mesh import Axes, Placement

AXIS = "stage"
"""The mesh axis of the stages."""


class Member(NamedTuple):
    """A value of some stages.

    Attributes:
        shape: whole.
        dtype: numpy dtype.
        stages: those that hold it.
        placement: how the devices of a stage cut it.
        summed: mesh axes along which it is the sum of parts; such values share buffers.
    """

    shape: tuple[int, ...]
    dtype: Any
    stages: tuple[int, ...]
    placement: Placement
    summed: Axes = ()

    @property
    def kind(self) -> tuple[Any, tuple[Axes, ...], Axes]:
        """What values share a buffer."""
        cuts = tuple(a for a in self.placement.dimensions if a)
        return np.dtype(self.dtype), cuts, self.summed

    def in_parts(self, mesh: Mesh) -> Member:
        """Give the value whose sum along the first dimension this one is."""
        if not self.summed:
            return self
        parts = math.prod(mesh.shape[a] for a in self.summed)
        lies = Placement((self.summed, *self.placement.dimensions))
        return self._replace(shape=(parts, *self.shape), placement=lies)


def to_row(value: Any, placement: Placement, mesh: Mesh) -> Any:
    """Lay a value out as a buffer does: the parts of each dimension that is cut, then the rest."""
    split: list[int] = []
    first: list[int] = []
    for size, axes in zip(value.shape, placement.dimensions, strict=True):
        if axes:
            parts = math.prod(mesh.shape[a] for a in axes)
            first.append(len(split))
            split.extend((parts, size // parts))
        else:
            split.append(size)
    rest = [i for i in range(len(split)) if i not in first]
    parts = [split[i] for i in first]
    return value.reshape(split).transpose(*first, *rest).reshape(*parts, -1)


def from_row(row: Any, shape: tuple[int, ...], placement: Placement, mesh: Mesh) -> Any:
    """Give the value that `to_row` laid out."""
    parts: list[int] = []
    rest: list[int] = []
    order: list[int] = []
    count = sum(1 for axes in placement.dimensions if axes)
    for size, axes in zip(shape, placement.dimensions, strict=True):
        if axes:
            part = math.prod(mesh.shape[a] for a in axes)
            order.append(len(parts))
            parts.append(part)
            size //= part
        order.append(count + len(rest))
        rest.append(size)
    return row.reshape(*parts, *rest).transpose(*order).reshape(shape)


class Packing:
    """Where members lie in buffers.

    Args:
        members: the values.
        stages: number of stages.
        mesh: the devices, with the axis ``"stage"``.
    """

    def __init__(self, members: Sequence[Member], stages: int, mesh: Mesh) -> None:
        self.members, self.stages, self.mesh = list(members), stages, mesh
        self.kinds = list(dict.fromkeys(m.kind for m in members))
        self.places: list[dict[int, int]] = []
        used = {kind: [0] * stages for kind in self.kinds}
        for member in members:
            size = math.prod(member.shape) // self.parts(member.kind)
            places = {}
            for stage in member.stages:
                places[stage] = used[member.kind][stage]
                used[member.kind][stage] += size
            self.places.append(places)
        self.used = used
        self.lengths = {kind: max(sizes) for kind, sizes in used.items()}

    def parts(self, kind: Any) -> int:
        """Give the number of parts of a kind's values."""
        return math.prod(self.mesh.shape[a] for axes in kind[1] for a in axes)

    def shape(self, kind: Any) -> tuple[int, ...]:
        """Give the shape of a stage's row."""
        cuts = (math.prod(self.mesh.shape[a] for a in axes) for axes in kind[1])
        return (*cuts, self.lengths[kind])

    def structs(self) -> list[Any]:
        """Give shape and dtype of the buffers."""
        return [jax.ShapeDtypeStruct((self.stages, *self.shape(k)), k[0]) for k in self.kinds]

    def shardings(self) -> list[NamedSharding]:
        """Give how the buffers lie."""
        return [NamedSharding(self.mesh, PartitionSpec(AXIS, *k[1], None)) for k in self.kinds]

    def take(self, rows: Sequence[Any], number: int, stage: int) -> Any:
        """Give a member, of a stage's rows, in a trace."""
        member = self.members[number]
        place = self.kinds.index(member.kind)
        size = math.prod(member.shape) // self.parts(member.kind)
        start = self.places[number][stage]
        row = jax.lax.slice_in_dim(rows[place], start, start + size, axis=-1)
        value = from_row(self._laid(row, member.kind), member.shape, member.placement, self.mesh)
        return constrained(value, self.mesh, member.placement)

    def _laid(self, row: Any, kind: Any) -> Any:
        """Keep a row as it is packed: XLA would cut it elsewhere, and send its parts around."""
        if self.mesh.size == self.stages:
            return row
        return constrained(row, self.mesh, Placement((*kind[1], ())))

    def zeros(self) -> list[Any]:
        """Give a stage's rows of zeros, in a trace."""
        return [self._laid(jnp.zeros(self.shape(k), k[0]), k) for k in self.kinds]

    def put(self, rows: list[Any], number: int, stage: int, value: Any, add: bool = False) -> None:
        """Write a member into a stage's rows, or add to it, in a trace."""
        member = self.members[number]
        place = self.kinds.index(member.kind)
        value = constrained(value, self.mesh, member.placement)
        row = self._laid(to_row(value, member.placement, self.mesh), member.kind)
        start = self.places[number][stage]
        if add:
            row += jax.lax.slice_in_dim(rows[place], start, start + row.shape[-1], axis=-1)
        fresh = jax.lax.dynamic_update_slice_in_dim(rows[place], row, start, axis=-1)
        rows[place] = self._laid(fresh, member.kind)

    def in_parts(self) -> Packing:
        """Give where the members lie in parts, that are added up over devices later."""
        return Packing([m.in_parts(self.mesh) for m in self.members], self.stages, self.mesh)

    def summed(self, rows: Sequence[Any], wide: bool) -> list[Any]:
        """Add up the parts of a stage's rows, as `in_parts` lays them out, in a trace.

        Args:
            rows: the rows.
            wide: whether 16-bit numbers are added up in Float32.
        """
        found = []
        for row, kind in zip(rows, self.kinds, strict=True):
            if not kind[2]:
                found.append(row)
                continue
            half = wide and kind[0].itemsize == 2
            total = row.sum(0, dtype=np.float32 if half else row.dtype).astype(row.dtype)
            found.append(self._laid(total, kind))
        return found

    def stage_bytes(self, stage: int) -> int:
        """Give the bytes that a device of a stage needs for its members alone."""
        return sum(self.used[k][stage] * np.dtype(k[0]).itemsize for k in self.kinds)

    def device_bytes(self) -> int:
        """Give the bytes that each device holds."""
        return sum(n * np.dtype(k[0]).itemsize for k, n in self.lengths.items())


class Pack:
    """The buffers of some state, and the Handles whose values they hold.

    Args:
        packing: where the values lie.
        handles: one a member.
    """

    def __init__(self, packing: Packing, handles: Sequence[Handle]) -> None:
        self.packing, self.handles = packing, list(handles)
        self.generation = 0
        self.buffers: list[Any] = []
        self.views = [Elsewhere(self, i) for i in range(len(handles))]

    def gather(self) -> list[Any]:
        """Give the buffers, with what was written to the Handles since the last run."""
        stale = [
            i
            for i, (h, v) in enumerate(zip(self.handles, self.views, strict=True))
            if not v.holds(h)
        ]
        if self.buffers and not stale:
            return self.buffers
        values = {i: whole(outside_value(self.handles[i])) for i in stale}
        host = [np.zeros(s.shape, s.dtype) for s in self.packing.structs()]
        for i, member in enumerate(self.packing.members):
            value = values[i] if i in values else self.read(i)
            place = self.packing.kinds.index(member.kind)
            row = to_row(np.asarray(value), member.placement, self.packing.mesh)
            for stage, start in self.packing.places[i].items():
                host[place][stage, ..., start : start + row.shape[-1]] = row
        self.buffers = [
            jax.make_array_from_callback(h.shape, s, lambda index, h=h: h[index])
            for h, s in zip(host, self.packing.shardings(), strict=True)
        ]
        return self.buffers

    def settle(self, buffers: Sequence[Any], written: Sequence[int]) -> None:
        """Take the buffers that a program gave.

        Args:
            buffers: in the packing's order.
            written: members that the program wrote.
        """
        self.buffers = list(buffers)
        self.generation += 1
        changed = set(written)
        for i, (handle, view) in enumerate(zip(self.handles, self.views, strict=True)):
            member = self.packing.members[i]
            view.adopt(handle, member.shape, member.dtype, i in changed)

    def read(self, number: int) -> Any:
        """Give a member's value, on the host.

        In several processes it is gathered from the one that holds it: each must ask.
        """
        member = self.packing.members[number]
        buffer = self.buffers[self.packing.kinds.index(member.kind)]
        stage = min(member.stages)
        size = math.prod(member.shape) // self.packing.parts(member.kind)
        start = self.packing.places[number][stage]
        if buffer.is_fully_addressable:
            row = np.zeros((*buffer.shape[1:-1], size), buffer.dtype)
            for shard in buffer.addressable_shards:
                if shard.index[0].start in (stage, None) and buffer.shape[0] > stage:
                    at = 0 if shard.index[0].start is not None else stage
                    row[shard.index[1:-1]] = np.asarray(shard.data)[at][..., start : start + size]
        else:
            row = whole(buffer)[stage][..., start : start + size]
        return from_row(row, member.shape, member.placement, self.packing.mesh)
