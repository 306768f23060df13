"""Sends and receives between two ranks, in torch's manner."""

from __future__ import annotations

from typing import Any, Never

from mindjax.core import world
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.ops.collective import base
from mindjax.ops.collective.base import CommHandle
from mindjax.ops.collective.exchange import BatchISendIRecv, other_rank

Maybe = CommHandle | None


def to_other(rank: Any, group: str | None, name: str, owner: str) -> Never:
    """Refuse a partner of a send or receive: there is none but this process.

    Raises:
        TypeError: the rank is no int.
        ValueError: it is this process.
        RuntimeError: nobody has joined the world, or it is not in the group.
        NotImplementedError: it is another process.
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
    raise located(
        NotImplementedError,
        f"For '{owner}', sending between processes is not supported yet: start one process.",
    )


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
    to_other(dst, group, "dst", "send")


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
    to_other(dst, group, "dst", "isend")


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
    to_other(src, group, "src", "recv")
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
    to_other(src, group, "src", "irecv")


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
