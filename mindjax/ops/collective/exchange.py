"""Operators between single ranks: neighbours, sending and receiving, barriers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any, ClassVar

import jax
import jax.numpy as jnp

from mindjax.core import checks, world
from mindjax.core.dtype import Number, Type, from_np, to_np
from mindjax.core.errors import located
from mindjax.core.handle import current
from mindjax.ops.bound import set_fields
from mindjax.ops.collective.base import (
    Collective,
    OfTuples,
    check_group,
    check_rank_of,
    tied,
)
from mindjax.ops.collective.operators import WORLD, Uneven, exchange
from mindjax.ops.creation import ones, zeros

Array = jax.Array


class _AllSwap(Uneven):
    """Rows exchanged: ``_AllSwap()(x, send_size, recv_size)``, sizes in elements for each rank."""

    group: str = WORLD
    statics: ClassVar[tuple[str, ...]] = ("send_size", "recv_size")
    send_size: tuple[int, ...] = field(default=(), kw_only=True)
    recv_size: tuple[int, ...] = field(default=(), kw_only=True)

    def __post_init__(self) -> None:
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Exchange blocks of a 2-D array."""
        if x.ndim != 2:
            raise located(
                ValueError, f"For '{self.name}', the 'tensor_in' must be 2-D, but got {x.shape}."
            )
        out = exchange(x.reshape(-1), self.send_size, self.recv_size, self.members, self.name)
        return out.reshape(-1 if out.ndim else 0, x.shape[1])


def _partners(owner: str, send: Sequence[int], receive: Sequence[int], group: world.Group) -> None:
    """Check ranks of a matched exchange; between other processes a transport must carry it."""
    for rank in (*send, *receive):
        check_rank_of(rank, group, "rank", owner)
    if group.size == 1 and len(send) != len(receive):
        raise located(
            ValueError,
            f"For '{owner}', what is sent to this rank must be received by it, but {len(send)} "
            f"Tensors are sent and {len(receive)} received.",
        )


class NeighborExchange(OfTuples):
    """Tensors sent to some ranks and received from some; takes and gives a tuple of Tensors.

    Fields: ranks to send to and to receive from, shapes received and sent, dtype received, group.
    """

    send_rank_ids: Sequence[int]
    recv_rank_ids: Sequence[int]
    recv_shapes: Sequence[Sequence[int]]
    send_shapes: Sequence[Sequence[int]]
    recv_type: Type
    group: str = WORLD

    def __post_init__(self) -> None:
        check_group(self.group, self.name)
        for name in ("send_rank_ids", "recv_rank_ids", "recv_shapes", "send_shapes"):
            checks.of_type(name, self.__dict__[name], (list, tuple), self.name)

    def compute(self, *arrays: Array) -> tuple[Array, ...]:
        """Give the arrays that were sent here."""
        _partners(self.name, self.send_rank_ids, self.recv_rank_ids, self.members)
        group = self.members
        shapes, others = [[tuple(s) for s in v] for v in (self.send_shapes, self.recv_shapes)]
        if [x.shape for x in arrays] != shapes or (group.size == 1 and others != shapes):
            raise located(
                ValueError,
                f"For '{self.name}', the inputs must have the shapes 'send_shapes' {shapes} and "
                f"'recv_shapes' be those of the sender, but got {[x.shape for x in arrays]} and "
                f"{list(self.recv_shapes)}.",
            )
        for x in arrays if group.size == 1 else ():
            if x.dtype != to_np(self.recv_type):
                raise located(
                    TypeError,
                    f"For '{self.name}', the 'recv_type' must be the sent dtype "
                    f"{from_np(x.dtype)}, but got {self.recv_type}.",
                )
        kinds = [jax.ShapeDtypeStruct(s, to_np(self.recv_type)) for s in others]
        sent = list(zip(self.send_rank_ids, arrays, strict=True))
        received = list(zip(self.recv_rank_ids, kinds, strict=True))
        return tuple(world.transport.exchange(group, sent, received)[:-1])


# Directions of NeighborExchangeV2, clockwise from the top; the opposite one is 4 further.
_STEPS = ((-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1))


class NeighborExchangeV2(Collective):
    """An image with the edges of its neighbours' images around it.

    Fields: ranks to send to and to receive from, clockwise from the top in eight directions, -1 for
    none; widths sent and received (top, bottom, left, right); data format NCHW; group.
    """

    send_rank_ids: Sequence[int]
    send_lens: Sequence[int]
    recv_rank_ids: Sequence[int]
    recv_lens: Sequence[int]
    data_format: str
    group: str = WORLD

    def __post_init__(self) -> None:
        check_group(self.group, self.name)
        for name, count in (
            ("send_rank_ids", 8),
            ("recv_rank_ids", 8),
            ("send_lens", 4),
            ("recv_lens", 4),
        ):
            value = checks.of_type(name, self.__dict__[name], (list, tuple), self.name)
            low = -1 if count == 8 else 0
            if len(value) != count or not all(type(v) is int and v >= low for v in value):
                raise located(
                    ValueError,
                    f"For '{self.name}', the '{name}' must be {count} ints >= {low}, but got "
                    f"{value}.",
                )
        if self.data_format != "NCHW":
            raise located(
                ValueError,
                f"For '{self.name}', the 'data_format' must be 'NCHW', but got {self.data_format}.",
            )

    def compute(self, x: Array) -> Array:
        """Lay the received edges round an image (N, C, H, W)."""
        group = self.members
        for rank in (*self.send_rank_ids, *self.recv_rank_ids):
            if rank != -1:
                check_rank_of(rank, group, "rank", self.name)
        if x.ndim != 4:
            raise located(
                ValueError, f"For '{self.name}', 'input_x' must have 4 axes, but got {x.shape}."
            )
        top, bottom, left, right = self.recv_lens
        height, width = x.shape[2:]
        rows = {-1: (0, top), 0: (top, height), 1: (top + height, bottom)}
        columns = {-1: (0, left), 0: (left, width), 1: (left + width, right)}
        out = jnp.zeros((*x.shape[:2], height + top + bottom, width + left + right), x.dtype)
        out = out.at[:, :, top : top + height, left : left + width].set(x)
        if group.size > 1:
            return self._between_ranks(x, out, rows, columns)
        for direction, (down, across) in enumerate(_STEPS):
            (r, h), (c, w) = rows[down], columns[across]
            sent = self._edge(x, -down, -across)
            asked = self.recv_rank_ids[direction] != -1
            if asked != (self.send_rank_ids[(direction + 4) % 8] != -1) or (
                asked and sent.shape[2:] != (h, w)
            ):
                raise located(
                    ValueError,
                    f"For '{self.name}', what is received from direction {direction}, {(h, w)}, "
                    f"must be sent to direction {(direction + 4) % 8}, but that is "
                    f"{tuple(sent.shape[2:])}.",
                )
            if asked:
                out = out.at[:, :, r : r + h, c : c + w].set(sent)
        return out

    def _between_ranks(self, x: Array, out: Array, rows: Any, columns: Any) -> Array:
        """Lay what other ranks send round an image."""
        sent = [
            (rank, self._edge(x, *_STEPS[direction]))
            for direction, rank in enumerate(self.send_rank_ids)
            if rank != -1
        ]
        # A rank may be a neighbour on several sides: messages come in the order of its directions.
        received, places = [], []
        for direction in sorted(range(8), key=lambda d: (d + 4) % 8):
            if self.recv_rank_ids[direction] != -1:
                down, across = _STEPS[direction]
                (r, h), (c, w) = rows[down], columns[across]
                kind = jax.ShapeDtypeStruct((*x.shape[:2], h, w), x.dtype)
                received.append((self.recv_rank_ids[direction], kind))
                places.append((slice(r, r + h), slice(c, c + w)))
        arrays = world.transport.exchange(self.members, sent, received)
        for (r, c), array in zip(places, arrays[:-1], strict=True):
            out = out.at[:, :, r, c].set(array)
        return out

    def _edge(self, x: Array, down: int, across: int) -> Array:
        """Give what is sent in a direction."""
        top, bottom, left, right = self.send_lens
        height, width = x.shape[2:]
        rows = {-1: slice(0, top), 0: slice(0, height), 1: slice(height - bottom, height)}
        columns = {-1: slice(0, left), 0: slice(0, width), 1: slice(width - right, width)}
        return x[:, :, rows[down], columns[across]]


def other_rank(rank: Any, group: world.Group, name: str, owner: str) -> int:
    """Check a rank that is sent to or received from: one of the group, but not this process.

    Raises:
        TypeError: it is no int.
        ValueError: the group has no such rank, or it is this process.
    """
    check_rank_of(rank, group, name, owner)
    if rank == group.rank:
        raise located(
            ValueError,
            f"For '{owner}', the '{name}' should not be the same as the rank of the current "
            f"process, {rank}.",
        )
    return rank


class Send(Collective):
    """A Tensor sent to another rank: ``Send(sr_tag, dest_rank)(x)``."""

    sr_tag: int
    dest_rank: int
    group: str = WORLD
    group_back: str = WORLD

    def __post_init__(self) -> None:
        check_group(self.group, self.name)

    def compute(self, x: Array) -> Array:
        """Send, and give the array; there is no other rank in a world of one."""
        group = self.members
        target = other_rank(self.dest_rank, group, "dest_rank", self.name)
        return world.transport.send(group, target, x)


class Receive(Collective):
    """A Tensor received from another rank: ``Receive(sr_tag, src_rank, shape, dtype)()``."""

    sr_tag: int
    src_rank: int
    shape: Sequence[int]
    dtype: Type
    group: str = WORLD
    group_back: str = WORLD

    def __post_init__(self) -> None:
        check_group(self.group, self.name)
        if not isinstance(self.dtype, Number) or self.dtype.kind in ("bool", "complex"):
            raise located(
                TypeError,
                f"For '{self.name}', the 'dtype' must be a number type, but got {self.dtype}.",
            )

    def __call__(self, *inputs: Any) -> Any:
        """Receive; an input only orders the call, and lets the gradient go back."""
        other_rank(self.src_rank, world.find(self.group, self.name), "src_rank", self.name)
        return super().__call__(*(inputs or (zeros((1,)),)))

    def compute(self, anchor: Array, *more: Array) -> Array:
        """Receive an array."""
        kind = jax.ShapeDtypeStruct(tuple(self.shape), to_np(self.dtype))
        return world.transport.receive(self.members, self.src_rank, kind, anchor)


class BatchISendIRecv(Collective):
    """Several sends and receives at once; takes a tuple of Tensors, one for each send.

    Fields: ``"isend"`` or ``"irecv"`` each, their ranks, shapes and dtypes of the receives, group.
    """

    op_types: Sequence[str]
    remote_ranks: Sequence[int]
    receive_shapes: Sequence[Sequence[int]] | None = None
    receive_dtypes: Sequence[Type] | None = None
    group: str | None = WORLD

    def __post_init__(self) -> None:
        shapes, dtypes = self.receive_shapes, self.receive_dtypes
        set_fields(
            self,
            receive_shapes=() if shapes is None else shapes,
            receive_dtypes=() if dtypes is None else dtypes,
            group=world.named(self.group, owner=self.name),
        )
        for name in ("op_types", "remote_ranks", "receive_shapes", "receive_dtypes"):
            checks.of_type(name, self.__dict__[name], (tuple, list), self.name)
        for first, second in (("receive_shapes", "receive_dtypes"), ("op_types", "remote_ranks")):
            if len(self.__dict__[first]) != len(self.__dict__[second]):
                raise located(
                    ValueError,
                    f"For '{self.name}', the length of '{first}' and '{second}' must be the same, "
                    f"but got {self.__dict__[first]} and {self.__dict__[second]}.",
                )
        for kind in self.op_types:
            checks.one_of("op_types", kind, ("isend", "irecv"), self.name)

    def __call__(self, *inputs: Any) -> Any:
        """Run the sends and receives on the Tensors of a tuple."""
        if len(inputs) != 1 or not isinstance(inputs[0], tuple | list):
            raise located(TypeError, f"For '{self.name}', the input must be a tuple of Tensors.")
        tensors = [x for x in inputs[0] if x is not None]
        if len(tensors) != list(self.op_types).count("isend"):
            raise located(
                RuntimeError,
                f"For '{self.name}', there must be one input for each 'isend', but got "
                f"{len(tensors)} for {list(self.op_types)}.",
            )
        return super().__call__(*tensors)

    def compute(self, *arrays: Array) -> tuple[Array, ...]:
        """Give a scalar without meaning for each send, and what each receive got."""
        ranks = {"isend": [], "irecv": []}
        for kind, rank in zip(self.op_types, self.remote_ranks, strict=True):
            ranks[kind].append(rank)
        _partners(self.name, ranks["isend"], ranks["irecv"], self.members)
        shapes, dtypes = self.receive_shapes or (), self.receive_dtypes or ()
        group = self.members
        if group.size > 1:
            kinds = [
                jax.ShapeDtypeStruct(tuple(s), to_np(t))
                for s, t in zip(shapes, dtypes, strict=True)
            ]
            sent = list(zip(ranks["isend"], arrays, strict=True))
            got = world.transport.exchange(
                group, sent, list(zip(ranks["irecv"], kinds, strict=True))
            )
            return self._in_order(arrays, got[:-1], got[-1])
        for x, shape, dtype in zip(arrays, shapes, dtypes, strict=False):
            if x.shape != tuple(shape) or x.dtype != to_np(dtype):
                raise located(
                    ValueError,
                    f"For '{self.name}', 'receive_shapes' and 'receive_dtypes' must be those that "
                    f"are sent, {x.shape} {from_np(x.dtype)}, but got {tuple(shape)} {dtype}.",
                )
        return self._in_order(arrays, arrays)

    def _in_order(
        self, arrays: Sequence[Array], results: Sequence[Array], witness: Array | None = None
    ) -> tuple[Array, ...]:
        received = iter(results)
        zero = jnp.zeros((), arrays[0].dtype) if arrays else jnp.zeros(())
        if witness is not None:
            zero = tied(zero, witness)
        return tuple(zero if kind == "isend" else next(received) for kind in self.op_types)


class Barrier(Collective):
    """Every rank of the group waits for the others: ``Barrier()()``."""

    group: str = WORLD

    def __call__(self, *inputs: Any) -> Any:
        """Wait, and give a Tensor of shape (1,) without meaning."""
        if current.frame is not None:
            return super().__call__(ones((1,)))
        world.transport.barrier(world.find(self.group, self.name))
        return ones((1,))

    def compute(self, x: Array) -> Array:
        """Wait within a program."""
        return tied(x, world.transport.all_reduce(self.members, x, "sum"))
