"""Values that stages hand on or keep, in buffers that are alike at every position."""

from __future__ import annotations

import collections
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.sharding import Mesh, PartitionSpec

from mindjax_parallel.constraint import constrained
from mindjax_parallel.mesh import Axes, Placement
from mindjax_parallel.packs import AXIS
from mindjax_parallel.within_stage import within_p


class Slots:
    """Rows of buffers that hold the values of any one position.

    Args:
        members: shapes and dtypes of each position's values.
        flat: whether the values of a dtype share one flat buffer, as long as the most that a
            position has; else each shape has buffers of its own, which keep a value's sharding.
        placements: how the devices of a stage cut each value, which has buffers with its like;
            None leaves that to XLA. Values that positions cut over all devices in several ways
            share buffers of the devices' parts.
        mesh: the devices.
    """

    def __init__(
        self,
        members: Sequence[Sequence[Any]],
        flat: bool,
        placements: Sequence[Sequence[Placement]] | None = None,
        mesh: Mesh | None = None,
    ) -> None:
        self.flat, self._mesh = flat, mesh
        self._layouts = placements
        self._members = members
        self._axes: Axes = () if mesh is None else tuple(a for a in mesh.axis_names if a != AXIS)
        alike = self._alike()
        self._places: list[list[tuple[Any, int]]] = []
        room: dict[Any, int] = {}
        for position, values in enumerate(members):
            used: collections.Counter[Any] = collections.Counter()
            places = []
            for i, value in enumerate(values):
                layout = placements[position][i] if placements else None
                kind = value.dtype if flat else (value.dtype, tuple(value.shape), layout)
                if kind in alike:
                    kind = alike[kind]
                places.append((kind, used[kind]))
                used[kind] += math.prod(value.shape) if flat else 1
            self._places.append(places)
            for kind, size in used.items():
                room[kind] = max(room.get(kind, 0), size)
        self._room = room

    def _alike(self) -> dict[Any, Any]:
        """Find what one buffer of the devices' parts can hold, and give the buffer's own kind."""
        found: dict[Any, dict[Any, None]] = {}
        if self._layouts and self._mesh is not None and not self.flat:
            parts = math.prod(self._mesh.shape[a] for a in self._axes)
            for values, layouts in zip(self._members, self._layouts, strict=True):
                for value, layout in zip(values, layouts, strict=True):
                    if math.prod(layout.parts(self._mesh)) == parts:
                        size = math.prod(value.shape) // parts
                        own = value.dtype, tuple(value.shape), layout
                        shared = value.dtype, (parts, size), Placement((self._axes, ()))
                        found.setdefault(shared, {})[own] = None
        return {k: shared for shared, kinds in found.items() if len(kinds) > 1 for k in kinds}

    def row(self) -> list[Any]:
        """Give shape and dtype of each buffer's row."""
        if self.flat:
            return [jax.ShapeDtypeStruct((n,), kind) for kind, n in self._room.items()]
        return [
            jax.ShapeDtypeStruct(shape, dtype)
            for (dtype, shape, _), n in self._room.items()
            for _ in range(n)
        ]

    def device_bytes(self, lay: Callable[[Any], Placement]) -> float:
        """Give the bytes of a row on each device.

        Args:
            lay: gives the placement of a value that none was told for.
        """
        total = 0.0
        for kind, room in self._room.items():
            if self.flat:
                total += room * np.dtype(kind).itemsize
                continue
            dtype, shape, layout = kind
            layout = layout or lay(jax.ShapeDtypeStruct(shape, dtype))
            parts = 1 if self._mesh is None else math.prod(layout.parts(self._mesh))
            total += room * math.prod(shape) * np.dtype(dtype).itemsize / parts
        return total

    def empty(self) -> list[Any]:
        """Give a row of zeros."""
        return [jnp.zeros(r.shape, r.dtype) for r in self.row()]

    def rows(self, count: int) -> list[Any]:
        """Give buffers of ``count`` rows."""
        return [jnp.zeros((count, *r.shape), r.dtype) for r in self.row()]

    def put(self, position: int, values: Sequence[Any]) -> list[Any]:
        """Lay a position's values out in a row; None stands for zeros."""
        kinds = list(self._room)
        if self.flat:
            parts: dict[Any, list[Any]] = {kind: [] for kind in kinds}
            for member, value in zip(self._members[position], values, strict=True):
                size = math.prod(member.shape)
                flat = jnp.zeros(size, member.dtype) if value is None else jnp.ravel(value)
                parts[member.dtype].append(flat)
            row = []
            for kind, room in self._room.items():
                used = sum(p.shape[0] for p in parts[kind])
                padded = [*parts[kind], jnp.zeros(room - used, kind)]
                row.append(jnp.concatenate(padded))
            return row
        row = self.empty()
        starts = self._starts()
        for i, ((kind, place), value) in enumerate(
            zip(self._places[position], values, strict=True)
        ):
            if value is not None:
                row[starts[kind] + place] = self._in_buffer(value, kind, position, i)
        return row

    def take(self, position: int, row: Sequence[Any]) -> list[Any]:
        """Give the values of a position's row."""
        members = zip(self._members[position], self._places[position], strict=True)
        starts = self._starts()
        if self.flat:
            return [
                jax.lax.dynamic_slice_in_dim(
                    row[starts[kind]], place, math.prod(member.shape)
                ).reshape(member.shape)
                for member, (kind, place) in members
            ]
        return [
            self._of_buffer(row[starts[kind] + place], member, kind, position, i)
            for i, (member, (kind, place)) in enumerate(members)
        ]

    def _in_buffer(self, value: Any, kind: Any, position: int, number: int) -> Any:
        """Give a value as its buffer holds it."""
        _, shape, layout = kind
        own = self._layouts[position][number] if self._layouts else None
        value = self._laid(value, own)
        if own == layout and shape == value.shape:
            return value
        return self._locally(value, own, layout, shape)

    def _of_buffer(self, held: Any, member: Any, kind: Any, position: int, number: int) -> Any:
        """Give a value of what its buffer holds."""
        _, shape, layout = kind
        own = self._layouts[position][number] if self._layouts else None
        if own != layout or shape != tuple(member.shape):
            held = self._locally(held, layout, own, tuple(member.shape))
        return self._laid(held, own)

    def _locally(self, value: Any, before: Any, after: Any, shape: tuple[int, ...]) -> Any:
        """Let each device take its part of a value for its part of one of another shape."""
        assert self._mesh is not None
        local = [n // p for n, p in zip(shape, after.parts(self._mesh), strict=True)]

        def spec(placement: Placement) -> PartitionSpec:
            return PartitionSpec(*(axes or None for axes in placement.dimensions))

        def make(seen: Any, axes: frozenset[str]) -> Callable[..., Any]:
            return jax.shard_map(
                lambda part: [part.reshape(local)],
                mesh=seen, in_specs=spec(before), out_specs=[spec(after)],
                axis_names=set(axes), check_vma=False,
            )  # fmt: skip

        kinds = (ShapedArray(shape, value.dtype),)
        return within_p.bind(value, make=make, mesh=self._mesh, kinds=kinds)[0]

    def _laid(self, value: Any, placement: Placement | None) -> Any:
        if placement is None or self._mesh is None:
            return value
        return constrained(value, self._mesh, placement)

    def _starts(self) -> dict[Any, int]:
        starts, following = {}, 0
        for kind, room in self._room.items():
            starts[kind] = following
            following += 1 if self.flat else room
        return starts
