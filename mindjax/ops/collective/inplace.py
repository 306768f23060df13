"""Collectives in torch's manner: they write into the Tensors that the caller gives.

`mint.distributed` shows them as they are, `ops.communication` behind a switch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindjax.core import world
from mindjax.core.errors import located
from mindjax.ops.collective import base
from mindjax.ops.collective.base import CommHandle
from mindjax.ops.collective.exchange import Barrier
from mindjax.ops.collective.operators import (
    AllGather,
    AllGatherV,
    AllReduce,
    AlltoAllV,
    AlltoAllVC,
    Broadcast,
    CollectiveScatter,
    Reduce,
    ReduceScatter,
    ReduceScatterV,
)
from mindjax.ops.sequence import concat
from mindjax.ops.shape import reshape

Maybe = CommHandle | None


def call_group(group: Any, async_op: Any, owner: str) -> world.Group:
    """Check the two arguments that every collective has, and give the group.

    Raises:
        TypeError: one is of another type.
        RuntimeError: nobody has joined the world, or there is no such group.
    """
    name = world.named(group)
    base.check_async(async_op)
    return world.find(name, owner)


def all_reduce(
    tensor: Any, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Maybe:
    """Combine a Tensor over the ranks, in place (MindSpore: ``mint.distributed.all_reduce``).

    Args:
        tensor: Tensor of any shape, which is changed.
        op: ``sum``, ``prod``, ``min``, ``max`` or ``avg``.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or ``op`` another name.
        RuntimeError: `init_process_group` has not run.
    """
    base.check_tensor(tensor, "all_reduce")
    base.check_op(op, "all_reduce")
    members = call_group(group, async_op, "all_reduce")
    base.fill(tensor, AllReduce(op, members.name)(tensor), "all_reduce")
    return base.handle(async_op, tensor)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: str | None = None, async_op: bool = False
) -> Maybe:
    """Join the ranks' Tensors along axis 0 into one (``mint.distributed``).

    Args:
        output_tensor: Tensor that takes the result, with the group's size times the rows.
        input_tensor: Tensor with at least one axis.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        RuntimeError: `init_process_group` has not run.
    """
    base.check_tensor(input_tensor, "all_gather_into_tensor")
    base.check_tensor(output_tensor, "all_gather_into_tensor", "output")
    members = call_group(group, async_op, "all_gather_into_tensor")
    base.fill(output_tensor, AllGather(members.name)(input_tensor), "all_gather_into_tensor")
    return base.handle(async_op, output_tensor)


def _rows(tensor: Any, sizes: Any, group: world.Group, owner: str) -> tuple[int, ...]:
    """Give the rows of each rank, even ones if no sizes are given."""
    rows = tensor.value_shape[0] if tensor.value_shape else 0
    if sizes is None or not sizes:
        if rows % group.size:
            raise located(
                ValueError,
                f"For '{owner}', the shape at dim 0 must be divided by world_size, but got {rows} "
                f"and {group.size}.",
            )
        return (rows // group.size,) * group.size
    if len(sizes) != group.size or sum(sizes) != rows:
        raise located(
            ValueError,
            f"For '{owner}', the split sizes must be one for each of {group.size} ranks and add up "
            f"to {rows}, but got {list(sizes)}.",
        )
    return tuple(sizes)


def all_gather_into_tensor_uneven(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    group: str | None = None,
    async_op: bool = False,
) -> Maybe:
    """Join the ranks' Tensors of different lengths into one (``mint.distributed``).

    Args:
        output: Tensor that takes the result.
        input: Tensor with at least one axis.
        output_split_sizes: rows of each rank; None if they are equal.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        ValueError: the sizes do not fit.
        RuntimeError: `init_process_group` has not run.
    """
    base.check_tensor(input, "all_gather_into_tensor_uneven")
    base.check_tensor(output, "all_gather_into_tensor_uneven", "output")
    members = call_group(group, async_op, "all_gather_into_tensor_uneven")
    rows = _rows(output, output_split_sizes, members, "all_gather_into_tensor_uneven")
    rest = output.value_shape[1:]
    width = math.prod(rest)
    flat = AllGatherV(members.name)(reshape(input, (-1,)), tuple(r * width for r in rows))
    whole = reshape(flat, (sum(rows), *rest))
    base.fill(output, whole, "all_gather_into_tensor_uneven")
    return base.handle(async_op, output)


def reduce_scatter_tensor(
    output: Any, input: Any, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Maybe:
    """Combine Tensors and give each rank its rows (``mint.distributed``).

    Args:
        output: Tensor that takes this rank's rows.
        input: Tensor whose rows the group's size divides.
        op: ``sum``, ``prod``, ``min``, ``max`` or ``avg``.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        ValueError: the rows cannot be shared out.
        RuntimeError: `init_process_group` has not run.
    """
    base.check_tensor(input, "reduce_scatter_tensor")
    base.check_tensor(output, "reduce_scatter_tensor", "output")
    base.check_op(op, "reduce_scatter_tensor")
    members = call_group(group, async_op, "reduce_scatter_tensor")
    base.fill(output, ReduceScatter(op, members.name)(input), "reduce_scatter_tensor")
    return base.handle(async_op, output)


def reduce_scatter_tensor_uneven(
    output: Any,
    input: Any,
    input_split_sizes: Sequence[int] | None = None,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Maybe:
    """Combine Tensors and give each rank rows of its own number (``mint.distributed``).

    Args:
        output: Tensor that takes this rank's rows.
        input: Tensor with at least one axis.
        input_split_sizes: rows of each rank; None if they are equal.
        op: ``sum``, ``min``, ``max`` or ``avg``.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        ValueError: the sizes do not fit.
        RuntimeError: `init_process_group` has not run.
    """
    owner = "reduce_scatter_tensor_uneven"
    base.check_op(op, owner, ("sum", "min", "max", "avg"))
    base.check_tensor(input, owner)
    base.check_tensor(output, owner, "output")
    members = call_group(group, async_op, owner)
    rows = _rows(input, input_split_sizes, members, owner)
    rest = input.value_shape[1:]
    width = math.prod(rest)
    flat = ReduceScatterV(op, members.name)(reshape(input, (-1,)), tuple(r * width for r in rows))
    base.fill(output, reshape(flat, (rows[members.rank], *rest)), owner)
    return base.handle(async_op, output)


def reduce(
    tensor: Any, dst: int, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Maybe:
    """Combine a Tensor over the ranks into one rank's (``mint.distributed.reduce``).

    Args:
        tensor: Tensor of any shape, which is changed on rank ``dst``.
        dst: rank in the world.
        op: ``sum``, ``prod``, ``min``, ``max`` or ``avg``.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or ``op`` another name.
        RuntimeError: `init_process_group` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(tensor, "reduce")
    base.check_int(dst, "dst", "reduce")
    base.check_op(op, "reduce")
    members = call_group(group, async_op, "reduce")
    target = members.group_rank(dst)
    fresh = Reduce(target, op, members.name)(tensor)
    if members.rank == target:
        base.fill(tensor, fresh, "reduce")
    return base.handle(async_op, tensor)


def broadcast(tensor: Any, src: int, group: str | None = None, async_op: bool = False) -> Maybe:
    """Give every rank one rank's Tensor (MindSpore: ``mint.distributed.broadcast``).

    Args:
        tensor: Tensor of any shape, which is changed.
        src: rank in the world.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init_process_group` has not run, or ``src`` is not in the group.
    """
    base.check_tensor(tensor, "broadcast")
    base.check_int(src, "src", "broadcast")
    members = call_group(group, async_op, "broadcast")
    root = members.group_rank(src)
    base.fill(tensor, Broadcast(root, members.name)((tensor,))[0], "broadcast")
    return base.handle(async_op, tensor)


def barrier(group: str | None = None, async_op: bool = False, device_ids: Any = None) -> Maybe:
    """Wait for every rank of a group (MindSpore: ``mint.distributed.barrier``).

    Args:
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.
        device_ids: kept for the original's signature, which does not read it.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type.
        RuntimeError: `init_process_group` has not run.
    """
    Barrier(call_group(group, async_op, "barrier").name)()
    return base.handle(async_op)


def all_gather(
    tensor_list: Any, tensor: Any, group: str | None = None, async_op: bool = False
) -> Maybe:
    """Give every rank all ranks' Tensors (MindSpore: ``mint.distributed.all_gather``).

    Args:
        tensor_list: one Tensor for each rank, which take the results.
        tensor: Tensor of any shape.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or a Tensor of another shape or dtype.
        RuntimeError: `init_process_group` has not run.
    """
    base.check_list(tensor_list)
    base.check_alike(tensor_list, "all_gather")
    base.check_tensor(tensor, "all_gather")
    members = call_group(group, async_op, "all_gather")
    base.check_count(tensor_list, members)
    whole = AllGather(members.name)(reshape(tensor, (1, *tensor.value_shape)))
    for i, output in enumerate(tensor_list):
        base.fill(output, whole[i], "all_gather")
    return base.handle(async_op, *tensor_list)


def gather(
    tensor: Any, gather_list: Any, dst: int = 0, group: str | None = None, async_op: bool = False
) -> Maybe:
    """Give one rank all ranks' Tensors (MindSpore: ``mint.distributed.gather``).

    Args:
        tensor: Tensor of any shape.
        gather_list: one Tensor for each rank, which take the results on rank ``dst``.
        dst: rank in the world.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or a Tensor of another shape or dtype.
        RuntimeError: `init_process_group` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(tensor, "gather")
    base.check_list(gather_list)
    base.check_alike(gather_list, "gather", shapes=True)
    base.check_int(dst, "dst", "gather")
    members = call_group(group, async_op, "gather")
    target = members.group_rank(dst)
    whole = AllGather(members.name)(reshape(tensor, (1, *tensor.value_shape)))
    if members.rank == target:
        base.check_count(gather_list, members)
        for i, output in enumerate(gather_list):
            base.fill(output, whole[i], "gather")
    return base.handle(async_op, *gather_list)


def scatter(
    tensor: Any, scatter_list: Any, src: int = 0, group: str | None = None, async_op: bool = False
) -> Maybe:
    """Give each rank its Tensor of one rank's list (MindSpore: ``mint.distributed.scatter``).

    Args:
        tensor: Tensor that takes the result.
        scatter_list: one Tensor for each rank, on rank ``src``.
        src: rank in the world.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or a Tensor of another shape or dtype.
        RuntimeError: `init_process_group` has not run, or ``src`` is not in the group.
    """
    base.check_list(scatter_list)
    base.check_alike(scatter_list, "scatter", shapes=True)
    base.check_tensor(tensor, "scatter", "output")
    base.check_int(src, "src", "scatter")
    members = call_group(group, async_op, "scatter")
    source = members.group_rank(src)
    base.check_count(scatter_list, members)
    rows = concat([reshape(t, (1, *t.value_shape)) for t in scatter_list])
    base.fill(tensor, CollectiveScatter(source, members.name)(rows)[0], "scatter")
    return base.handle(async_op, tensor)


def scatter_tensor(
    output_tensor: Any,
    input_tensor: Any,
    src: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> Maybe:
    """Give each rank its rows of one rank's Tensor (MindSpore: ``ops.communication``).

    Args:
        output_tensor: Tensor that takes this rank's rows.
        input_tensor: Tensor whose rows the group's size divides.
        src: rank in the world.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        RuntimeError: `init_process_group` has not run, or ``src`` is not in the group.
    """
    base.check_tensor(input_tensor, "scatter_tensor")
    base.check_tensor(output_tensor, "scatter_tensor", "output")
    base.check_int(src, "src", "scatter_tensor")
    members = call_group(group, async_op, "scatter_tensor")
    source = members.group_rank(src)
    rows = CollectiveScatter(source, members.name)(input_tensor)
    base.fill(output_tensor, rows, "scatter_tensor")
    return base.handle(async_op, output_tensor)


def gather_into_tensor(
    output_tensor: Any,
    input_tensor: Any,
    dst: int = 0,
    group: str | None = None,
    async_op: bool = False,
) -> Maybe:
    """Join the ranks' Tensors along axis 0 on one rank (MindSpore: ``ops.communication``).

    Args:
        output_tensor: Tensor that takes the result on rank ``dst``.
        input_tensor: Tensor with at least one axis.
        dst: rank in the world.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        RuntimeError: `init_process_group` has not run, or ``dst`` is not in the group.
    """
    base.check_tensor(input_tensor, "gather_into_tensor")
    base.check_tensor(output_tensor, "gather_into_tensor", "output")
    base.check_int(dst, "dst", "gather_into_tensor")
    members = call_group(group, async_op, "gather_into_tensor")
    target = members.group_rank(dst)
    fresh = AllGather(members.name)(input_tensor)
    if members.rank == target:
        base.fill(output_tensor, fresh, "gather_into_tensor")
    return base.handle(async_op, output_tensor)


def reduce_scatter(
    output: Any,
    input_list: Any,
    op: str = "sum",
    group: str | None = None,
    async_op: bool = False,
) -> Maybe:
    """Combine the ranks' lists and give each rank its element (``mint.distributed``).

    Args:
        output: Tensor that takes the result.
        input_list: one Tensor for each rank.
        op: ``sum``, ``prod``, ``min``, ``max`` or ``avg``.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or a Tensor of another shape or dtype.
        RuntimeError: `init_process_group` has not run.
    """
    base.check_list(input_list)
    base.check_alike(input_list, "reduce_scatter")
    base.check_tensor(output, "reduce_scatter", "output")
    base.check_op(op, "reduce_scatter")
    members = call_group(group, async_op, "reduce_scatter")
    base.check_count(input_list, members)
    sizes = tuple(t.numel() for t in input_list)
    flat = concat([reshape(t, (-1,)) for t in input_list])
    shape = input_list[members.rank].value_shape
    fresh = reshape(ReduceScatterV(op, members.name)(flat, sizes), shape)
    base.fill(output, fresh, "reduce_scatter")
    return base.handle(async_op, output)


def exchange_flat(
    sent: Any, send: tuple[int, ...], receive: tuple[int, ...], group: world.Group
) -> Any:
    """Exchange pieces of a flat Tensor by their lengths."""
    return AlltoAllV(group.name)(sent, send, receive)


def all_to_all(
    output_tensor_list: Any,
    input_tensor_list: Any,
    group: str | None = None,
    async_op: bool = False,
) -> Maybe:
    """Send each rank its Tensor and receive one from each (``mint.distributed.all_to_all``).

    Args:
        output_tensor_list: one Tensor for each rank, which take the results.
        input_tensor_list: one Tensor for each rank.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the dtypes differ.
        ValueError: the sizes do not fit.
        RuntimeError: `init_process_group` has not run.
    """
    members = call_group(group, async_op, "all_to_all")
    for tensors in (input_tensor_list, output_tensor_list):
        base.check_list(tensors)
        base.check_alike(tensors, "all_to_all")
        base.check_count(tensors, members)
    shapes = [t.value_shape for t in output_tensor_list]
    for output, fresh in zip(
        output_tensor_list, received(input_tensor_list, shapes, members), strict=True
    ):
        base.fill(output, fresh, "all_to_all")
    return base.handle(async_op, *output_tensor_list)


def received(tensors: Any, shapes: Sequence[Sequence[int]], group: world.Group) -> tuple[Any, ...]:
    """Give what each rank sends here when every rank sends its Tensors.

    Args:
        tensors: one Tensor for each rank, of one dtype.
        shapes: of what is received from each rank.
        group: the group.
    """
    sizes = [math.prod(shape) for shape in shapes]
    send = tuple(t.numel() for t in tensors)
    flat = concat([reshape(t, (-1,)) for t in tensors])
    out = reshape(exchange_flat(flat, send, tuple(sizes), group), (-1,))
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return tuple(
        reshape(out[e - n : e], tuple(s)) for e, n, s in zip(ends, sizes, shapes, strict=True)
    )


def single(
    tensor: Any,
    rows: int,
    shape: tuple[int, ...],
    out_sizes: Any,
    in_sizes: Any,
    group: world.Group,
) -> Any:
    """Exchange rows of a Tensor.

    Args:
        tensor: what is sent.
        rows: number of rows received.
        shape: shape of a received row.
        out_sizes: rows received from each rank, None if equal.
        in_sizes: rows sent to each rank, None if equal.
        group: the group.

    Raises:
        ValueError: the sizes do not fit.
    """
    width = math.prod(tensor.value_shape[1:])
    owner = "all_to_all_single"
    send = _rows(tensor, in_sizes, group, owner)
    if out_sizes is None or not out_sizes:
        if rows % group.size:
            raise located(
                ValueError,
                f"output shape at dim 0 must be divided by world_size, but got {rows} and "
                f"{group.size}.",
            )
        out_sizes = (rows // group.size,) * group.size
    out_width = math.prod(shape)
    out = exchange_flat(
        reshape(tensor, (-1,)),
        tuple(s * width for s in send),
        tuple(s * out_width for s in out_sizes),
        group,
    )
    return reshape(out, (sum(out_sizes), *shape)) if sum(out_sizes) * out_width else out


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str | None = None,
    async_op: bool = False,
) -> Maybe:
    """Send each rank rows of a Tensor and receive rows from each (``mint.distributed``).

    Args:
        output: Tensor that takes the rows received.
        input: Tensor whose rows are sent.
        output_split_sizes: rows received from each rank; None if they are equal.
        input_split_sizes: rows sent to each rank; None if they are equal.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        ValueError: the sizes do not fit.
        RuntimeError: `init_process_group` has not run.
    """
    base.check_list([input, output])
    members = call_group(group, async_op, "all_to_all_single")
    shape = output.value_shape
    fresh = single(input, shape[0], shape[1:], output_split_sizes, input_split_sizes, members)
    if output.numel():
        base.fill(output, fresh, "all_to_all_single")
    return base.handle(async_op, output)


def all_to_all_v_c(
    output: Any,
    input: Any,
    send_count_matrix: list[int],
    group: str | None = None,
    async_op: bool = False,
) -> Maybe:
    """Exchange pieces of flat Tensors as a matrix says (``ops.communication.all_to_all_v_c``).

    Args:
        output: Tensor that takes what is received.
        input: Tensor that is sent.
        send_count_matrix: list of the numbers of rows that rank i sends to rank j, row by row.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None.

    Raises:
        TypeError: an argument is of another type, or the matrix has another size.
        ValueError: the numbers do not fit.
        RuntimeError: `init_process_group` has not run.
    """
    base.check_list([input])
    base.check_list([output])
    members = call_group(group, async_op, "all_to_all_v_c")
    if not isinstance(send_count_matrix, list) or not all(
        isinstance(n, int) for n in send_count_matrix
    ):
        raise located(
            TypeError, f"send_count_matrix must be list of int, but got {send_count_matrix!r}"
        )
    if len(send_count_matrix) != members.size**2:
        raise located(
            TypeError,
            f"send_count_matrix must be square matrix, but got {len(send_count_matrix)}.",
        )
    width = math.prod(input.value_shape[1:])
    if width != math.prod(output.value_shape[1:]):
        raise located(
            ValueError,
            "The input and output dimensions except 0 must be of equal size, but got "
            f"{input.value_shape} and {output.value_shape}.",
        )
    operator = AlltoAllVC(members.name, width) if width else AlltoAllVC(members.name)
    fresh = operator(reshape(input, (-1,)), tuple(send_count_matrix))
    if output.numel():
        base.fill(output, reshape(fresh, output.value_shape), "all_to_all_v_c")
    return base.handle(async_op, output)
