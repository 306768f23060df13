"""The collectives of `ops.communication`: in place, unless `set_comm_ops_inplace` is off.

Five of them have a form that gives its result instead; the others refuse to run then.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from mindjax.core.errors import located
from mindjax.core.handle import Handle
from mindjax.ops.collective import base, inplace, objects, peers
from mindjax.ops.collective.base import CommHandle
from mindjax.ops.collective.operators import AllGather, AllReduce, ReduceScatter

Function = TypeVar("Function", bound=Callable[..., Any])

_NAMES = (
    *("all_reduce", "all_gather_into_tensor", "all_gather_into_tensor_uneven", "all_to_all"),
    *("all_to_all_single", "reduce_scatter_tensor", "reduce_scatter_tensor_uneven", "isend"),
    *("irecv", "send", "recv", "gather", "scatter", "all_gather", "reduce_scatter", "barrier"),
    *("broadcast", "reduce", "batch_isend_irecv", "all_gather_object", "broadcast_object_list"),
    *("gather_object", "scatter_object_list", "send_object_list", "recv_object_list"),
    *("gather_into_tensor", "scatter_tensor", "all_to_all_v_c"),
)
_in_place = dict.fromkeys(_NAMES, True)


def set_comm_ops_inplace(is_enable: bool, func_list: Sequence[str] | None = None) -> None:
    """Choose whether `ops.communication` writes into its arguments (``set_comm_ops_inplace``).

    Args:
        is_enable: True writes into the caller's Tensors, which is the default; False gives results.
        func_list: names of the functions concerned; None is all.

    Raises:
        TypeError: an argument is of another type.
        ValueError: there is no such function.
    """
    if not isinstance(is_enable, bool):
        raise located(
            TypeError,
            "For 'set_comm_ops_inplace', the argument 'is_enable' must be type of bool, but got "
            f"'is_enable' type : {type(is_enable)}.",
        )
    if func_list is not None and not isinstance(func_list, list | tuple):
        raise located(TypeError, f"Expected list or tuple, but got {type(func_list)}.")
    names = _NAMES if func_list is None else func_list
    for name in names:
        if name not in _in_place:
            raise located(
                ValueError, f"The function name in `func_list` must be correct, but got {name}."
            )
    _in_place.update(dict.fromkeys(names, is_enable))


def _only_in_place(function: Function) -> Function:
    """Make a function refuse to run when results are asked for."""
    name = function.__name__

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        if not _in_place[name]:
            raise located(ValueError, f"For '{name}', Non-inplace mode is currently not supported.")
        return function(*args, **kwargs)

    return call  # type: ignore[return-value]


all_gather_into_tensor_uneven = _only_in_place(inplace.all_gather_into_tensor_uneven)
reduce_scatter_tensor_uneven = _only_in_place(inplace.reduce_scatter_tensor_uneven)
reduce = _only_in_place(inplace.reduce)
broadcast = _only_in_place(inplace.broadcast)
all_gather = _only_in_place(inplace.all_gather)
gather = _only_in_place(inplace.gather)
scatter = _only_in_place(inplace.scatter)
scatter_tensor = _only_in_place(inplace.scatter_tensor)
gather_into_tensor = _only_in_place(inplace.gather_into_tensor)
reduce_scatter = _only_in_place(inplace.reduce_scatter)
all_to_all_v_c = _only_in_place(inplace.all_to_all_v_c)
batch_isend_irecv = _only_in_place(peers.batch_isend_irecv)
all_gather_object = _only_in_place(objects.all_gather_object)
broadcast_object_list = _only_in_place(objects.broadcast_object_list)
gather_object = _only_in_place(objects.gather_object)
scatter_object_list = _only_in_place(objects.scatter_object_list)
send_object_list = _only_in_place(objects.send_object_list)
recv_object_list = _only_in_place(objects.recv_object_list)


def _result(async_op: bool, fresh: Any) -> tuple[Any, CommHandle | None]:
    return fresh, base.handle(async_op, fresh)


def all_reduce(
    tensor: Any, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """Combine a Tensor over the ranks (MindSpore: ``ops.communication.all_reduce``).

    Args:
        tensor: Tensor of any shape, which is changed in place.
        op: ``sum``, ``prod``, ``min``, ``max`` or ``avg``.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None; with `set_comm_ops_inplace` off the result and that.

    Raises:
        TypeError: an argument is of another type, or ``op`` another name.
        RuntimeError: `init_process_group` has not run.
    """
    if _in_place["all_reduce"]:
        return inplace.all_reduce(tensor, op, group, async_op)
    base.check_tensor(tensor, "all_reduce")
    base.check_op(op, "all_reduce")
    members = inplace.call_group(group, async_op, "all_reduce")
    return _result(async_op, AllReduce(op, members.name)(tensor))


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: str | None = None, async_op: bool = False
) -> Any:
    """Join the ranks' Tensors along axis 0 (``ops.communication.all_gather_into_tensor``).

    Args:
        output_tensor: Tensor that takes the result; not read with `set_comm_ops_inplace` off.
        input_tensor: Tensor with at least one axis.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None; with `set_comm_ops_inplace` off the result and that.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        RuntimeError: `init_process_group` has not run.
    """
    if _in_place["all_gather_into_tensor"]:
        return inplace.all_gather_into_tensor(output_tensor, input_tensor, group, async_op)
    base.check_tensor(input_tensor, "all_gather_into_tensor")
    members = inplace.call_group(group, async_op, "all_gather_into_tensor")
    return _result(async_op, AllGather(members.name)(input_tensor))


def reduce_scatter_tensor(
    output: Any, input: Any, op: str = "sum", group: str | None = None, async_op: bool = False
) -> Any:
    """Combine Tensors and give each rank its rows (``ops.communication.reduce_scatter_tensor``).

    Args:
        output: Tensor that takes this rank's rows; not read with `set_comm_ops_inplace` off.
        input: Tensor whose rows the group's size divides.
        op: ``sum``, ``prod``, ``min``, ``max`` or ``avg``.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None; with `set_comm_ops_inplace` off the result and that.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        ValueError: the rows cannot be shared out.
        RuntimeError: `init_process_group` has not run.
    """
    if _in_place["reduce_scatter_tensor"]:
        return inplace.reduce_scatter_tensor(output, input, op, group, async_op)
    base.check_tensor(input, "reduce_scatter_tensor")
    base.check_op(op, "reduce_scatter_tensor")
    members = inplace.call_group(group, async_op, "reduce_scatter_tensor")
    return _result(async_op, ReduceScatter(op, members.name)(input))


def all_to_all(
    output_tensor_list: Any,
    input_tensor_list: Any,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Send each rank its Tensor and receive one from each (``ops.communication.all_to_all``).

    Args:
        output_tensor_list: one Tensor for each rank, which take the results; with
            `set_comm_ops_inplace` off, their shapes will do.
        input_tensor_list: one Tensor for each rank.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None; with `set_comm_ops_inplace` off a tuple of results and that.

    Raises:
        TypeError: an argument is of another type, or the dtypes differ.
        ValueError: the sizes do not fit.
        RuntimeError: `init_process_group` has not run.
    """
    if _in_place["all_to_all"]:
        return inplace.all_to_all(output_tensor_list, input_tensor_list, group, async_op)
    members = inplace.call_group(group, async_op, "all_to_all")
    return exchanged(output_tensor_list, input_tensor_list, members.name, async_op)


def exchanged(shapes: Any, tensors: Any, group: str, async_op: bool) -> Any:
    """Give what each rank sends here, and a handle or None.

    Args:
        shapes: for each rank, the shape of what comes from it, or a Tensor of that shape.
        tensors: one Tensor for each rank.
        group: name of the group.
        async_op: whether to give a handle.

    Raises:
        TypeError: an argument is of another type, or the dtypes differ.
        ValueError: the sizes do not fit.
    """
    members = inplace.call_group(group, async_op, "all_to_all")
    base.check_list(tensors)
    base.check_alike(tensors, "all_to_all")
    base.check_count(tensors, members)
    if not isinstance(shapes, list | tuple):
        raise located(TypeError, f"Expected list or tuple, but got {type(shapes)}.")
    for shape in shapes:
        if not isinstance(shape, Handle | tuple | list):
            raise located(TypeError, f"Expected tensor or tuple, but got {type(shape)}")
    base.check_count(shapes, members)
    sizes = [s.value_shape if isinstance(s, Handle) else tuple(s) for s in shapes]
    results = inplace.received(tensors, sizes, members)
    return results, base.handle(async_op, *results)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: str | None = None,
    async_op: bool = False,
) -> Any:
    """Send each rank rows and receive rows from each (``ops.communication.all_to_all_single``).

    Args:
        output: Tensor that takes the rows received; not read with `set_comm_ops_inplace` off.
        input: Tensor whose rows are sent.
        output_split_sizes: rows received from each rank; None if they are equal.
        input_split_sizes: rows sent to each rank; None if they are equal.
        group: name of the group; None is the world.
        async_op: whether to give a handle to wait on.

    Returns:
        `CommHandle`, or None; with `set_comm_ops_inplace` off the result and that.

    Raises:
        TypeError: an argument is of another type, or the output of another shape or dtype.
        ValueError: the sizes do not fit.
        RuntimeError: `init_process_group` has not run.
    """
    if _in_place["all_to_all_single"]:
        return inplace.all_to_all_single(
            output, input, output_split_sizes, input_split_sizes, group, async_op
        )
    base.check_list([input])
    members = inplace.call_group(group, async_op, "all_to_all_single")
    shape = input.value_shape
    rows = sum(output_split_sizes) if output_split_sizes else shape[0]
    fresh = inplace.single(input, rows, shape[1:], output_split_sizes, input_split_sizes, members)
    return _result(async_op, fresh)
