"""The older collectives, which give their results (``mindspore.communication.comm_func``).

The original keeps them for old programs; `mint.distributed` has those that write in place.
"""

from __future__ import annotations

from typing import Any

from mindjax.core import world
from mindjax.core.dtype import Type
from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.core.world import HCCL_WORLD_COMM_GROUP
from mindjax.ops.collective import base, inplace, switched
from mindjax.ops.collective.base import CommHandle
from mindjax.ops.collective.exchange import Barrier, BatchISendIRecv
from mindjax.ops.collective.inplace import all_to_all_v_c as all_to_all_v_c
from mindjax.ops.collective.operators import (
    AllGather,
    AllReduce,
    Broadcast,
    CollectiveGather,
    CollectiveScatter,
    Reduce,
    ReduceScatter,
)
from mindjax.ops.collective.peers import ReceiveHandle, ask, post
from mindjax.ops.creation import zeros_like

_Result = tuple[Any, CommHandle | None]


def all_reduce(
    tensor: Any, op: str = "sum", group: str = HCCL_WORLD_COMM_GROUP, async_op: bool = False
) -> _Result:
    """Combine a Tensor over the ranks (MindSpore: ``communication.comm_func.all_reduce``).

    Args:
        tensor: Tensor of any shape.
        op: ``sum``, ``prod``, ``min`` or ``max``.
        group: name of the group.
        async_op: whether to give a handle to wait on.

    Returns:
        The result, and `CommHandle` or None.

    Raises:
        TypeError: an argument is of another type, or ``op`` another name.
        RuntimeError: `init` has not run.
    """
    base.check_tensor(tensor, "all_reduce")
    base.check_op(op, "all_reduce", ("sum", "prod", "min", "max"))
    members = inplace.call_group(group, async_op, "all_reduce")
    out = AllReduce(op, members.name)(tensor)
    return out, base.handle(async_op, out)


def all_gather_into_tensor(
    tensor: Any, group: str = HCCL_WORLD_COMM_GROUP, async_op: bool = False
) -> _Result:
    """Join the ranks' Tensors along axis 0.

    Args:
        tensor: Tensor with at least one axis.
        group: name of the group.
        async_op: whether to give a handle to wait on.

    Returns:
        The result, and `CommHandle` or None.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init` has not run.
    """
    base.check_tensor(tensor, "all_gather_into_tensor")
    members = inplace.call_group(group, async_op, "all_gather_into_tensor")
    out = AllGather(members.name)(tensor)
    return out, base.handle(async_op, out)


def reduce_scatter_tensor(
    tensor: Any, op: str = "sum", group: str = HCCL_WORLD_COMM_GROUP, async_op: bool = False
) -> _Result:
    """Combine Tensors and give each rank its rows.

    Args:
        tensor: Tensor whose rows the group's size divides.
        op: ``sum``, ``prod``, ``min``, ``max`` or ``avg``.
        group: name of the group.
        async_op: whether to give a handle to wait on.

    Returns:
        The result, and `CommHandle` or None.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the rows cannot be shared out.
        RuntimeError: `init` has not run.
    """
    base.check_tensor(tensor, "reduce_scatter_tensor")
    members = inplace.call_group(group, async_op, "reduce_scatter_tensor")
    out = ReduceScatter(op, members.name)(tensor)
    return out, base.handle(async_op, out)


def reduce(tensor: Any, dst: int, op: str = "sum", group: str = HCCL_WORLD_COMM_GROUP) -> Any:
    """Combine a Tensor over the ranks into one rank's.

    Args:
        tensor: Tensor of any shape.
        dst: rank in the world.
        op: ``sum``, ``prod``, ``min``, ``max`` or ``avg``.
        group: name of the group.

    Returns:
        Tensor; on the other ranks one of shape (1,) without meaning.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(tensor, "reduce")
    members = world.find(group, "reduce")
    return Reduce(members.group_rank(dst), op, members.name)(tensor)


def scatter_tensor(tensor: Any, src: int = 0, group: str = HCCL_WORLD_COMM_GROUP) -> Any:
    """Give each rank its rows of one rank's Tensor.

    Args:
        tensor: Tensor whose rows the group's size divides.
        src: rank in the world.
        group: name of the group.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init` has not run, or ``src`` is not in the group.
    """
    base.check_tensor(tensor, "scatter_tensor")
    base.check_int(src, "src", "scatter_tensor")
    members = world.find(group, "scatter_tensor")
    return CollectiveScatter(members.group_rank(src), members.name)(tensor)


def gather_into_tensor(tensor: Any, dst: int = 0, group: str = HCCL_WORLD_COMM_GROUP) -> Any:
    """Join the ranks' Tensors along axis 0 on one rank.

    Args:
        tensor: Tensor with at least one axis.
        dst: rank in the world.
        group: name of the group.

    Returns:
        Tensor; on the other ranks one of shape (1,) without meaning.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(tensor, "gather_into_tensor")
    base.check_int(dst, "dst", "gather_into_tensor")
    members = world.find(group, "gather_into_tensor")
    return CollectiveGather(members.group_rank(dst), members.name)(tensor)


def broadcast(tensor: Any, src: int = 0, group: str = HCCL_WORLD_COMM_GROUP) -> Any:
    """Give every rank one rank's Tensor.

    Args:
        tensor: Tensor of any shape.
        src: rank in the world.
        group: name of the group.

    Returns:
        Tensor.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init` has not run, or ``src`` is not in the group.
    """
    base.check_tensor(tensor, "broadcast")
    base.check_int(src, "src", "broadcast")
    members = world.find(group, "broadcast")
    return Broadcast(members.group_rank(src), members.name)((tensor,))[0]


def barrier(group: str = HCCL_WORLD_COMM_GROUP) -> None:
    """Wait for every rank of a group.

    Args:
        group: name of the group.

    Raises:
        TypeError: the name is no string.
        RuntimeError: `init` has not run, or there is no such group.
    """
    if not isinstance(group, str):
        raise located(TypeError, f"group must be type of string, but got {type(group)}")
    Barrier(world.find(group, "barrier").name)()


def send(tensor: Any, dst: int = 0, group: str = HCCL_WORLD_COMM_GROUP, tag: int = 0) -> None:
    """Send a Tensor to another rank.

    Args:
        tensor: Tensor of any shape.
        dst: rank in the world, not this process's.
        group: name of the group.
        tag: number that a receive must have too.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``dst`` is this process, as it is in a world of one.
        RuntimeError: `init` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(tensor, "send")
    post(tensor, dst, group, tag, "send")


def recv(tensor: Any, src: int = 0, group: str = HCCL_WORLD_COMM_GROUP, tag: int = 0) -> Any:
    """Receive a Tensor from another rank.

    Args:
        tensor: Tensor of the shape and dtype to receive.
        src: rank in the world, not this process's.
        group: name of the group.
        tag: number that the send must have too.

    Returns:
        A new Tensor.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``src`` is this process, as it is in a world of one.
        RuntimeError: `init` has not run, or ``src`` is not in the group.
    """
    base.check_tensor(tensor, "recv")
    result = zeros_like(tensor)
    ask(result, src, group, tag, "recv")()
    return result


def isend(tensor: Any, dst: int = 0, group: str = HCCL_WORLD_COMM_GROUP, tag: int = 0) -> Any:
    """Send a Tensor to another rank without waiting; as `send`.

    Args:
        tensor: Tensor of any shape.
        dst: rank in the world, not this process's.
        group: name of the group.
        tag: number that a receive must have too.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``dst`` is this process, as it is in a world of one.
        RuntimeError: `init` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(tensor, "isend")
    post(tensor, dst, group, tag, "isend")
    return CommHandle(tensor)


def irecv(tensor: Any, src: int = 0, group: str = HCCL_WORLD_COMM_GROUP, tag: int = 0) -> Any:
    """Receive a Tensor from another rank without waiting; as `recv`.

    Args:
        tensor: Tensor of the shape and dtype to receive.
        src: rank in the world, not this process's.
        group: name of the group.
        tag: number that the send must have too.

    Returns:
        A new Tensor, which holds the message after `wait` of the handle, and the handle.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``src`` is this process, as it is in a world of one.
        RuntimeError: `init` has not run, or ``src`` is not in the group.
    """
    base.check_tensor(tensor, "irecv")
    result = zeros_like(tensor)
    return result, ReceiveHandle(ask(result, src, group, tag, "irecv"))


class P2POp:
    """A send or a receive for `batch_isend_irecv`.

    Args:
        op: ``"isend"`` or ``"irecv"``, or the function of that name.
        tensor: what is sent; for a receive a Tensor, or a tuple, of the shape.
        peer: rank in the world.
        group: name of the group; None is the world.
        tag: only 0.
        recv_dtype: dtype received, where ``tensor`` is a shape.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``op`` is another name.
        NotImplementedError: ``tag`` is not 0.
    """

    def __init__(
        self,
        op: Any,
        tensor: Any,
        peer: int,
        group: str | None = None,
        tag: int = 0,
        recv_dtype: Type | None = None,
    ) -> None:
        if not (isinstance(op, str) or callable(op)):
            raise located(
                TypeError, f"op must be type of string or function, but got type of {type(op)}"
            )
        name = op if isinstance(op, str) else getattr(op, "__name__", "")
        if name not in ("isend", "irecv"):
            raise located(
                ValueError, f"Expected ``op`` to be of type ``isend`` or `irecv``, but got {name}"
            )
        if not isinstance(tensor, Handle | tuple):
            raise located(
                TypeError,
                f"Expected ``tensor`` to be type of tuple or Tensor, but got {type(tensor)}.",
            )
        if not isinstance(peer, int):
            raise located(TypeError, f"peer must be type of int, but got type of {type(peer)}")
        if tag != 0:
            raise located(NotImplementedError, f"``tag`` not support yet, but got {tag}.")
        if recv_dtype is not None and not isinstance(recv_dtype, Type):
            raise located(
                TypeError,
                f"recv_dtype must be type of mindspore dtype, but got type of {type(recv_dtype)}",
            )
        self.op, self.peer, self.group, self.tag = op, peer, group, tag
        self.tensor: Any = tensor
        self.recv_dtype = recv_dtype
        self.kind: str = name


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> tuple[Any, ...]:
    """Run several sends and receives at once.

    Args:
        p2p_op_list: list of `P2POp` of one group.

    Returns:
        For each a Tensor: a scalar without meaning for a send, what came for a receive.

    Raises:
        TypeError: the list is empty or no list, or an element is no `P2POp`.
        ValueError: a receive has a shape but no dtype, or sends and receives do not match.
        RuntimeError: `init` has not run, or a rank is not in the group.
    """
    if not isinstance(p2p_op_list, list):
        raise located(TypeError, f"p2p_op_list must be type of list, but got {p2p_op_list}.")
    if not p2p_op_list:
        raise located(TypeError, "p2p_op_list can not be empty list.")
    shapes, dtypes = [], []
    for i, p2p in enumerate(p2p_op_list):
        if not isinstance(p2p, P2POp):
            raise located(TypeError, f"must be type of P2POp, but got {type(p2p)}")
        if p2p.kind == "irecv" and isinstance(p2p.tensor, tuple):
            if p2p.recv_dtype is None:
                raise located(
                    ValueError,
                    f"'recv_dtype' of {i}th P2POp in p2p_op_list is None but op_types is 'irecv' "
                    "and P2POp.tensor is a tuple type.",
                )
            shapes.append(p2p.tensor)
            dtypes.append(p2p.recv_dtype)
        elif p2p.kind == "irecv":
            shapes.append(p2p.tensor.value_shape)
            dtypes.append(p2p.tensor.dtype)
    members = world.find(world.named(p2p_op_list[0].group), "batch_isend_irecv")
    operator = BatchISendIRecv(
        [p.kind for p in p2p_op_list],
        [members.group_rank(p.peer) for p in p2p_op_list],
        shapes,
        dtypes,
        members.name,
    )
    return operator([p.tensor for p in p2p_op_list if p.kind == "isend"])


def all_to_all_with_output_shape(
    output_shape_list: Any,
    input_tensor_list: Any,
    group: str | None = None,
    async_op: bool = False,
) -> _Result:
    """Send each rank its Tensor and receive one from each.

    Args:
        output_shape_list: for each rank the shape received, or a Tensor of that shape.
        input_tensor_list: one Tensor for each rank.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        A tuple of Tensors, and `CommHandle` or None.

    Raises:
        TypeError: an argument is of another type, or the dtypes differ.
        ValueError: the sizes do not fit.
        RuntimeError: `init` has not run.
    """
    name = world.named(group)
    return switched.exchanged(output_shape_list, input_tensor_list, name, async_op)


def all_to_all_single_with_output_shape(
    output_shape: Any,
    tensor: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str | None = None,
    async_op: bool = False,
) -> _Result:
    """Send each rank rows of a Tensor and receive rows from each.

    Args:
        output_shape: shape received, or a Tensor of that shape.
        tensor: Tensor whose rows are sent.
        output_split_sizes: rows received from each rank; None if they are equal.
        input_split_sizes: rows sent to each rank; None if they are equal.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        The result, and `CommHandle` or None.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the sizes do not fit.
        RuntimeError: `init` has not run.
    """
    base.check_list([tensor])
    if not isinstance(output_shape, Handle | tuple | list):
        raise located(TypeError, f"Expected tensor or tuple, but got {type(output_shape)}")
    members = inplace.call_group(group, async_op, "all_to_all_single_with_output_shape")
    shape = output_shape.value_shape if isinstance(output_shape, Handle) else tuple(output_shape)
    out = inplace.single(
        tensor, shape[0], shape[1:], output_split_sizes, input_split_sizes, members
    )
    return out, base.handle(async_op, out)
