"""Sends and receives between two ranks, in torch's manner."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindjax.core import world
from mindjax.core.dtype import to_np
from mindjax.core.errors import located
from mindjax.core.handle import Handle, current
from mindjax.ops.collective import base
from mindjax.ops.collective.base import CommHandle
from mindjax.ops.collective.exchange import BatchISendIRecv, Receive, Send, other_rank

Maybe = CommHandle | None


def other(rank: Any, group: str | None, name: str, owner: str) -> tuple[int, world.Group]:
    """Check the partner of a send or receive, and give its rank in the world and the group.

    Raises:
        TypeError: the rank is no int.
        ValueError: it is this process.
        RuntimeError: nobody has joined the world, or it is not in the group.
    """
    base.check_int(rank, name, owner)
    members = world.find(world.named(group), owner)
    if world.transport.rank == rank:
        raise located(
            ValueError,
            f"For {owner}: Invalid {name} rank: it should not be the same as the rank of the "
            f"current process, {rank}.",
        )
    other_rank(members.group_rank(rank), members, name, owner)
    return rank, members


def _packed(tensor: Any) -> bytes:
    """Give a Tensor as bytes: its dtype and shape, a zero byte, its values."""
    head = f"{tensor.dtype} {' '.join(map(str, tensor.value_shape))}".encode()
    return head + b"\0" + np.ascontiguousarray(tensor.asnumpy()).tobytes()


def _unpacked(data: bytes, into: Any, owner: str) -> Any:
    """Give the Tensor that a message holds.

    Raises:
        ValueError: its dtype or shape are not those of the Tensor that takes it.
    """
    head, _, values = data.partition(b"\0")
    expected = f"{into.dtype} {' '.join(map(str, into.value_shape))}"
    if head.decode() != expected:
        raise located(
            ValueError,
            f"For '{owner}', the tensor must have the dtype and shape that are sent, "
            f"{head.decode()}, but got {expected}.",
        )
    array = np.frombuffer(values, to_np(into.dtype)).reshape(into.value_shape)
    return Handle.tensor_class(array.copy(), dtype=into.dtype)


def post(tensor: Any, dst: Any, group: str | None, tag: Any, owner: str) -> None:
    """Send a Tensor to another rank, as `send`; ``owner`` names the function in errors."""
    target, members = other(dst, group, "dst", owner)
    base.check_int(tag, "tag", owner)
    if current.frame is not None:
        Send(tag, members.group_rank(target), members.name)(tensor)
        return
    world.transport.post(target, tag, _packed(tensor))


def ask(tensor: Any, src: Any, group: str | None, tag: Any, owner: str) -> Callable[[], None]:
    """Ask for a Tensor of another rank, as `recv`; what is given waits for it and writes it."""
    source, members = other(src, group, "src", owner)
    base.check_int(tag, "tag", owner)
    if current.frame is not None:
        place = members.group_rank(source)
        receive = Receive(tag, place, tensor.value_shape, tensor.dtype, members.name)
        base.fill(tensor, receive(), owner)
        return lambda: None
    wait = world.transport.take(source, tag)
    return lambda: base.fill(tensor, _unpacked(wait(), tensor, owner), owner)


class ReceiveHandle(CommHandle):
    """What `irecv` gives: `wait` takes the message and writes it into the Tensor.

    Args:
        take: does that.
    """

    def __init__(self, take: Callable[[], None]) -> None:
        super().__init__()
        self._take: Callable[[], None] | None = take

    def wait(self) -> None:
        """Wait for the message."""
        take, self._take = self._take, None
        if take is not None:
            take()


def send(tensor: Any, dst: int = 0, group: str | None = None, tag: int = 0) -> None:
    """Send a Tensor to another rank (MindSpore: ``mint.distributed.send``).

    Args:
        tensor: Tensor of any shape.
        dst: rank in the world, not this process's.
        group: name of the group; None is the world.
        tag: number that a receive must have too.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``dst`` is this process, as it is in a world of one.
        RuntimeError: `init_process_group` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(tensor, "send")
    post(tensor, dst, group, tag, "send")


def isend(tensor: Any, dst: int = 0, group: str | None = None, tag: int = 0) -> Maybe:
    """Send a Tensor to another rank without waiting; as `send`.

    Args:
        tensor: Tensor of any shape.
        dst: rank in the world, not this process's.
        group: name of the group; None is the world.
        tag: number that a receive must have too.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``dst`` is this process, as it is in a world of one.
        RuntimeError: `init_process_group` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(tensor, "isend")
    post(tensor, dst, group, tag, "isend")
    return CommHandle(tensor)


def recv(tensor: Any, src: int = 0, group: str | None = None, tag: int = 0) -> int:
    """Receive a Tensor from another rank (MindSpore: ``mint.distributed.recv``).

    Args:
        tensor: Tensor that takes the result.
        src: rank in the world, not this process's.
        group: name of the group; None is the world.
        tag: number that the send must have too.

    Returns:
        0.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``src`` is this process, as it is in a world of one.
        RuntimeError: `init_process_group` has not run, or ``src`` is not in the group.
    """
    base.check_tensor(tensor, "recv")
    ask(tensor, src, group, tag, "recv")()
    return 0


def irecv(tensor: Any, src: int = 0, group: str | None = None, tag: int = 0) -> Maybe:
    """Receive a Tensor from another rank without waiting; as `recv`.

    Args:
        tensor: Tensor that takes the result.
        src: rank in the world, not this process's.
        group: name of the group; None is the world.
        tag: number that the send must have too.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``src`` is this process, as it is in a world of one.
        RuntimeError: `init_process_group` has not run, or ``src`` is not in the group.
    """
    base.check_tensor(tensor, "irecv")
    return ReceiveHandle(ask(tensor, src, group, tag, "irecv"))


class P2POp:
    """A send or a receive for `batch_isend_irecv` (MindSpore: ``mint.distributed.P2POp``).

    Args:
        op: ``"isend"`` or ``"irecv"``, or the function of that name.
        tensor: what is sent, or takes what is received.
        peer: rank in the world.
        group: name of the group; None is the world.
        tag: only 0.

    Raises:
        TypeError: an argument is of another type.
        NotImplementedError: ``tag`` is not 0.
    """

    def __init__(
        self, op: Any, tensor: Any, peer: int, group: str | None = None, tag: int = 0
    ) -> None:
        name = op if isinstance(op, str) else getattr(op, "__name__", None)
        if name not in ("isend", "irecv"):
            raise located(TypeError, f"Expected op to be of type isend or irecv, but got {op}")
        if not isinstance(tensor, Handle):
            raise located(TypeError, f"Expected tensor to be Tensor, but got {type(tensor)}.")
        base.check_int(peer, "peer", "P2POp")
        if tag != 0:
            raise located(NotImplementedError, f"tag is not support yet, but got {tag}.")
        self.op, self.tensor, self.peer, self.group, self.tag = op, tensor, peer, group, tag
        self.kind: str = name


def batch_isend_irecv(p2p_op_list: Any) -> list[CommHandle]:
    """Run several sends and receives at once (``mint.distributed.batch_isend_irecv``).

    Args:
        p2p_op_list: list of `P2POp` of one group; Tensors of receives are changed.

    Returns:
        A list of one handle.

    Raises:
        TypeError: the list is empty, or an element is no `P2POp` or of another group.
        ValueError: sends and receives do not match.
        RuntimeError: `init_process_group` has not run, or a rank is not in the group.
    """
    if not p2p_op_list:
        raise located(TypeError, "p2p_op_list can not be empty list.")
    for p2p in p2p_op_list:
        if not isinstance(p2p, P2POp):
            raise located(TypeError, "The elements in p2p_op_list must be type of P2POp.")
        if p2p.group != p2p_op_list[0].group:
            raise located(TypeError, "The group name in p2p_op_list must be consistent.")
    members = world.find(world.named(p2p_op_list[0].group), "batch_isend_irecv")
    takes = [p.tensor for p in p2p_op_list if p.kind == "irecv"]
    if members.size > 1 and current.frame is None:
        return [_batch(p2p_op_list, members)]
    operator = BatchISendIRecv(
        [p.kind for p in p2p_op_list],
        [members.group_rank(p.peer) for p in p2p_op_list],
        [t.value_shape for t in takes],
        [t.dtype for t in takes],
        members.name,
    )
    results = operator([p.tensor for p in p2p_op_list if p.kind == "isend"])
    for p2p, fresh in zip(p2p_op_list, results, strict=True):
        if p2p.kind == "irecv":
            base.fill(p2p.tensor, fresh, "batch_isend_irecv")
    return [CommHandle(*takes)]


def _batch(operations: Any, members: world.Group) -> CommHandle:
    """Run sends and receives as messages between processes."""
    owner = "batch_isend_irecv"
    waits = []
    for p2p in operations:
        members.group_rank(p2p.peer)
        if p2p.kind == "isend":
            world.transport.post(p2p.peer, p2p.tag, _packed(p2p.tensor))
        else:
            waits.append((p2p.tensor, world.transport.take(p2p.peer, p2p.tag)))

    def take() -> None:
        for tensor, wait in waits:
            base.fill(tensor, _unpacked(wait(), tensor, owner), owner)

    return ReceiveHandle(take)
