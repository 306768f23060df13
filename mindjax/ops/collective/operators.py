"""Collective operators that combine, gather, scatter and spread the ranks' arrays."""

from __future__ import annotations

from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks, world
from mindjax.core.errors import located
from mindjax.ops.bound import BoundPrimitive
from mindjax.ops.collective.base import (
    Collective,
    OfTuples,
    check_group,
    check_number,
    check_rank_of,
    check_reduction,
    tied,
)

Array = jax.Array
WORLD = world.HCCL_WORLD_COMM_GROUP


def _rows(x: Array, size: int, owner: str) -> int:
    """Give the rows of each rank's piece of an array."""
    if not x.ndim or x.shape[0] % size:
        raise located(
            ValueError,
            f"For '{owner}', the first dimension of 'input_x' must be divided by the group's size "
            f"{size}, but got shape {x.shape}.",
        )
    return x.shape[0] // size


def _pieces(x: Array, group: world.Group, owner: str) -> list[Array]:
    rows = _rows(x, group.size, owner)
    return [x[i * rows : (i + 1) * rows] for i in range(group.size)]


class AllReduce(Collective):
    """The ranks' arrays combined, on every rank (MindSpore: ``ops.AllReduce``).

    Fields: the operation (`ReduceOp`) and the group.
    """

    op: str = "sum"
    group: str = WORLD

    def __post_init__(self) -> None:
        check_reduction(self.op, self.name)
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Combine arrays of any shape."""
        check_number(x, self.name)
        return world.transport.all_reduce(self.members, x, self.op)


class Reduce(Collective):
    """The ranks' arrays combined, on one rank; the others get a Tensor of shape (1,)."""

    dest_rank: int
    op: str = "sum"
    group: str = WORLD

    def __post_init__(self) -> None:
        check_reduction(self.op, self.name)
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Combine arrays of any shape."""
        group = self.members
        dest = check_rank_of(self.dest_rank, group, "dest_rank", self.name)
        check_number(x, self.name)
        out = world.transport.all_reduce(group, x, self.op)
        return out if group.rank == dest else tied(jnp.zeros((1,), x.dtype), out)


class AllGather(Collective):
    """The ranks' arrays one after the other along axis 0, on every rank."""

    group: str = WORLD

    def __post_init__(self) -> None:
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Join arrays of one shape with at least one axis."""
        if not x.ndim:
            raise located(
                ValueError,
                f"For '{self.name}', the 'x' must have at least one dimension, but got shape ().",
            )
        return _join(world.transport.all_gather(self.members, x))


def _join(pieces: list[Array]) -> Array:
    return pieces[0] if len(pieces) == 1 else jnp.concatenate(pieces)


class CollectiveGather(Collective):
    """The ranks' arrays joined along axis 0, on one rank; the others get shape (1,)."""

    dest_rank: int
    group: str = WORLD

    def __post_init__(self) -> None:
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Join arrays of one shape with at least one axis."""
        group = self.members
        dest = check_rank_of(self.dest_rank, group, "dest_rank", self.name)
        if not x.ndim:
            raise located(
                ValueError,
                f"For '{self.name}', the 'x' must have at least one dimension, but got shape ().",
            )
        out = _join(world.transport.all_gather(group, x))
        return out if group.rank == dest else tied(jnp.zeros((1,), x.dtype), out)


class CollectiveScatter(Collective):
    """This rank's piece of one rank's array, cut along axis 0."""

    src_rank: int = 0
    group: str = WORLD

    def __post_init__(self) -> None:
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Cut an array whose first axis the group's size divides."""
        group = self.members
        source = check_rank_of(self.src_rank, group, "src_rank", self.name)
        rows = _rows(x, group.size, self.name)
        whole = world.transport.broadcast(group, x, source)
        return whole[group.rank * rows : (group.rank + 1) * rows]


class ReduceScatter(Collective):
    """This rank's piece, along axis 0, of the ranks' arrays combined."""

    op: str = "sum"
    group: str = WORLD

    def __post_init__(self) -> None:
        check_reduction(self.op, self.name)
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Combine arrays whose first axis the group's size divides."""
        check_number(x, self.name)
        group = self.members
        return world.transport.reduce_scatter(group, _pieces(x, group, self.name), self.op)


class Broadcast(OfTuples):
    """One rank's arrays, on every rank; takes and gives a tuple of Tensors."""

    root_rank: int
    group: str = WORLD

    def __post_init__(self) -> None:
        checks.of_type("root_rank", self.root_rank, int, self.name)
        check_group(self.group, self.name)

    def compute(self, *arrays: Array) -> tuple[Array, ...]:
        """Spread arrays of any shape."""
        group = self.members
        root = check_rank_of(self.root_rank, group, "root_rank", self.name)
        return tuple(world.transport.broadcast(group, x, root) for x in arrays)


class Uneven(BoundPrimitive, Collective, register=False):
    """Base of operators whose pieces have a size each; the sizes stand after the array."""

    arrays: ClassVar[int] = 1

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Run the operator on a flat array and the sizes."""
        world.find(self.__dict__["group"], self.name)
        return BoundPrimitive.__call__(self, *inputs, **named)

    def bind(self, **statics: Any) -> dict[str, Any]:
        """Check sizes: ints from 0 up."""
        return {k: _sizes(k, v, self.name) for k, v in statics.items()}


def _sizes(name: str, value: Any, owner: str) -> tuple[int, ...]:
    flat: list[Any] = []

    def walk(v: Any) -> None:
        if isinstance(v, tuple | list):
            for item in v:
                walk(item)
        else:
            flat.append(v)

    walk(value)
    return tuple(checks.non_negative_int(name, v, owner) for v in flat)


def _flat(x: Array, owner: str) -> None:
    if x.ndim != 1:
        raise located(
            ValueError, f"For '{owner}', the 'input_x' must be one-dimensional, but got {x.shape}."
        )


def cut(x: Array, sizes: tuple[int, ...], group: world.Group, owner: str) -> list[Array]:
    """Cut a flat array into a piece for each rank.

    Raises:
        ValueError: there is not one size a rank, or they do not add up to the array's length.
    """
    _flat(x, owner)
    if len(sizes) != group.size or sum(sizes) != x.shape[0]:
        raise located(
            ValueError,
            f"For '{owner}', the sizes must be one for each of {group.size} ranks and add up to "
            f"the length {x.shape[0]} of 'input_x', but got {sizes}.",
        )
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [x[e - s : e] for s, e in zip(sizes, ends, strict=True)]


class AllGatherV(Uneven):
    """The ranks' flat arrays of different lengths joined; ``AllGatherV()(x, sizes)``."""

    group: str = WORLD
    statics: ClassVar[tuple[str, ...]] = ("output_split_sizes",)
    output_split_sizes: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Join flat arrays."""
        group = self.members
        _flat(x, self.name)
        sizes = self.output_split_sizes
        if len(sizes) != group.size or sizes[group.rank] != x.shape[0]:
            raise located(
                ValueError,
                f"For '{self.name}', the 'output_split_sizes' must be one for each of "
                f"{group.size} ranks, {x.shape[0]} for this one, but got {sizes}.",
            )
        return _join(world.transport.gather_uneven(group, x, sizes))


class ReduceScatterV(Uneven):
    """This rank's piece, of its own length, of flat arrays combined."""

    op: str = "sum"
    group: str = WORLD
    statics: ClassVar[tuple[str, ...]] = ("input_split_sizes",)
    input_split_sizes: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        check_reduction(self.op, self.name)
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Combine flat arrays."""
        group = self.members
        check_number(x, self.name)
        pieces = cut(x, self.input_split_sizes, group, self.name)
        return world.transport.reduce_scatter(group, pieces, self.op)


class AlltoAll(Collective):
    """Blocks of an axis sent to the ranks, and those received joined along another axis.

    Fields: number of blocks (the group's size), axis that is cut, axis that is joined, group.
    """

    split_count: int
    split_dim: int
    concat_dim: int
    group: str = WORLD

    def __post_init__(self) -> None:
        check_group(self.group, self.name)
        for name in ("split_count", "split_dim", "concat_dim"):
            checks.of_type(name, self.__dict__[name], int, self.name)

    def compute(self, x: Array) -> Array:
        """Exchange blocks."""
        group = self.members
        if self.split_count != group.size:
            raise located(
                ValueError,
                f"For '{self.name}', the 'split_count' must be equal to the group's size "
                f"{group.size}, but got {self.split_count}.",
            )
        split = checks.axis_in_rank(self.split_dim, x.ndim, self.name, "split_dim")
        concat = checks.axis_in_rank(self.concat_dim, x.ndim, self.name, "concat_dim")
        if x.shape[split] % group.size:
            raise located(
                ValueError,
                f"For '{self.name}', the axis {split} of 'input_x' must be divided by 'split_count'"
                f" {self.split_count}, but got shape {x.shape}.",
            )
        pieces = jnp.split(x, group.size, split)
        shapes = [p.shape for p in pieces]
        received = world.transport.all_to_all(group, pieces, shapes, even=True)
        return jnp.concatenate(received, concat) if len(received) > 1 else received[0]


class AlltoAllV(Uneven):
    """Pieces of different lengths exchanged; ``AlltoAllV()(x, send_numel_list, recv_numel_list)``.

    Fields: the group, and the number of elements that a unit of the lists stands for.
    """

    group: str | None = WORLD
    block_size: int = 1
    statics: ClassVar[tuple[str, ...]] = ("send_numel_list", "recv_numel_list")
    send_numel_list: tuple[int, ...] = field(default=(), kw_only=True)
    recv_numel_list: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.group is not None:
            check_group(self.group, self.name)
        checks.positive_int("block_size", self.block_size, self.name)

    def compute(self, x: Array) -> Array:
        """Exchange pieces of a flat array."""
        send = tuple(s * self.block_size for s in self.send_numel_list)
        receive = tuple(r * self.block_size for r in self.recv_numel_list)
        return exchange(x, send, receive, self.members, self.name)


def exchange(
    x: Array, send: tuple[int, ...], receive: tuple[int, ...], group: world.Group, owner: str
) -> Array:
    """Exchange pieces of a flat array; an empty result has the shape ().

    Raises:
        ValueError: the sizes do not fit the array, the group, or what this rank sends to itself.
    """
    pieces = cut(x, send, group, owner)
    if len(receive) != group.size or receive[group.rank] != send[group.rank]:
        raise located(
            ValueError,
            f"For '{owner}', the sizes to receive must be one for each of {group.size} ranks, and "
            f"{send[group.rank]} from this one, but got {receive}.",
        )
    received = world.transport.all_to_all(group, pieces, [(r,) for r in receive])
    if not sum(receive):
        return jnp.zeros((), x.dtype)
    return _join(received)


class AlltoAllVC(Uneven):
    """Pieces exchanged as a matrix says, [i, j] elements from rank i to rank j.

    Fields: the group, the number of elements of a unit, whether the matrix is transposed.
    """

    group: str | None = WORLD
    block_size: int = 1
    transpose: bool = False
    statics: ClassVar[tuple[str, ...]] = ("send_count_matrix",)
    send_count_matrix: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        if self.group is not None:
            check_group(self.group, self.name)
        checks.positive_int("block_size", self.block_size, self.name)
        checks.boolean("transpose", self.transpose, self.name)

    def compute(self, x: Array) -> Array:
        """Exchange pieces of a flat array."""
        group = self.members
        n, counts = group.size, [c * self.block_size for c in self.send_count_matrix]
        if len(counts) != n * n:
            raise located(
                ValueError,
                f"For '{self.name}', the 'send_count_matrix' must hold {n} * {n} numbers, but got "
                f"{len(counts)}.",
            )
        rows = tuple(counts[group.rank * n : (group.rank + 1) * n])
        columns = tuple(counts[group.rank :: n])
        send, receive = (columns, rows) if self.transpose else (rows, columns)
        return exchange(x, send, receive, group, self.name)
