"""Python objects sent between ranks; they travel as pickles, so only between trusted processes."""

from __future__ import annotations

import pickle
from typing import Any

from mindjax.core import world
from mindjax.core.errors import located
from mindjax.ops.collective.peers import other

# Tag of messages that hold objects: no Tensor is sent with it.
_OBJECTS = -(1 << 62)


def _gathered(group: world.Group, obj: Any) -> list[Any]:
    """Give every rank's object, in the group's order; this rank's own is a copy."""
    return [pickle.loads(b) for b in world.transport.all_gather_bytes(group, pickle.dumps(obj))]


def _group(group: Any, owner: str) -> world.Group:
    return world.find(world.named(group, owner=owner), owner)


def _rank(rank: Any, name: str, owner: str) -> None:
    if not isinstance(rank, int):
        raise located(TypeError, f"For {owner}, the {name} must be int")


def _one_for_each(objects: Any, name: str, group: world.Group) -> None:
    if not isinstance(objects, list) or len(objects) != group.size:
        got = len(objects) if isinstance(objects, list) else type(objects)
        raise located(
            TypeError,
            f"The len of {name} must be equal to group rank size {group.size}, but got {got}.",
        )


def all_gather_object(object_list: list[Any], obj: Any, group: str | None = None) -> None:
    """Give every rank all ranks' objects (MindSpore: ``mint.distributed.all_gather_object``).

    Args:
        object_list: list with one place for each rank, which is filled.
        obj: object that pickle can write.
        group: name of the group; None is the world.

    Raises:
        TypeError: the list has another length.
        RuntimeError: `init_process_group` has not run.
    """
    members = _group(group, "all_gather_object")
    _one_for_each(object_list, "argument object_list", members)
    object_list[:] = _gathered(members, obj)


def broadcast_object_list(
    object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None
) -> None:
    """Give every rank one rank's objects (``mint.distributed.broadcast_object_list``).

    Args:
        object_list: list of objects that pickle can write; replaced on the ranks but ``src``.
        src: rank in the world.
        group: name of the group; None is the world.
        device: kept for the original's signature, which does not read it.

    Raises:
        TypeError: the list is empty, or ``src`` no int.
        RuntimeError: `init_process_group` has not run, or ``src`` is not in the group.
    """
    members = _group(group, "broadcast_object_list")
    _rank(src, "src", "broadcast_object_list")
    if not isinstance(object_list, list) or not object_list:
        raise located(TypeError, f"The object_list can not be empty, but got {object_list}.")
    source = members.group_rank(src)
    sent = _gathered(members, object_list)[source]
    if members.rank != source:
        object_list[:] = sent


def gather_object(
    obj: Any, object_gather_list: list[Any] | None = None, dst: int = 0, group: str | None = None
) -> None:
    """Give one rank all ranks' objects (MindSpore: ``mint.distributed.gather_object``).

    Args:
        obj: object that pickle can write.
        object_gather_list: list with one place for each rank, filled on rank ``dst``.
        dst: rank in the world.
        group: name of the group; None is the world.

    Raises:
        TypeError: the list has another length, or ``dst`` is no int.
        RuntimeError: `init_process_group` has not run, or ``dst`` is not in the group.
    """
    members = _group(group, "gather_object")
    _rank(dst, "dst", "gather_object")
    target = members.group_rank(dst)
    if members.rank == target:
        _one_for_each(object_gather_list, "object_gather_list", members)
    gathered = _gathered(members, obj)
    if members.rank == target and object_gather_list is not None:
        object_gather_list[:] = gathered


def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any],
    src: int = 0,
    group: str | None = None,
) -> None:
    """Give each rank its object of one rank's list (``mint.distributed.scatter_object_list``).

    Args:
        scatter_object_output_list: list whose first element is replaced.
        scatter_object_input_list: on rank ``src``, one object for each rank.
        src: rank in the world.
        group: name of the group; None is the world.

    Raises:
        TypeError: a list has another length, or ``src`` is no int.
        RuntimeError: `init_process_group` has not run, or ``src`` is not in the group.
    """
    members = _group(group, "scatter_object_list")
    if not isinstance(scatter_object_output_list, list) or not scatter_object_output_list:
        raise located(
            TypeError,
            "The scatter_object_output_list can not be empty, but got "
            f"{scatter_object_output_list}.",
        )
    _rank(src, "src", "scatter_object_list")
    source = members.group_rank(src)
    if members.rank == source:
        _one_for_each(scatter_object_input_list, "scatter_object_input_list", members)
    sent = _gathered(members, scatter_object_input_list)[source]
    scatter_object_output_list[0] = sent[members.rank]


def send_object_list(
    object_list: list[Any], dst: int, group: str | None = None, device: Any = None
) -> None:
    """Send objects to another rank (MindSpore: ``mint.distributed.send_object_list``).

    Args:
        object_list: list of objects that pickle can write.
        dst: rank in the world, not this process's.
        group: name of the group; None is the world.
        device: kept for the original's signature, which does not read it.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``dst`` is this process, as it is in a world of one.
        RuntimeError: `init_process_group` has not run.
    """
    if not isinstance(object_list, list):
        raise located(TypeError, "For send_object_list, the object_list must be a list")
    target, _ = other(dst, group, "dst", "send_object_list")
    world.transport.post(target, _OBJECTS, pickle.dumps(object_list))


def recv_object_list(
    object_list: list[Any], src: int = 0, group: str | None = None, device: Any = None
) -> int:
    """Receive objects from another rank (MindSpore: ``mint.distributed.recv_object_list``).

    Args:
        object_list: list of as many places as objects are sent, which is filled.
        src: rank in the world, not this process's.
        group: name of the group; None is the world.
        device: kept for the original's signature, which does not read it.

    Returns:
        0.

    Raises:
        TypeError: an argument is of another type.
        ValueError: ``src`` is this process, as it is in a world of one.
        RuntimeError: `init_process_group` has not run.
    """
    if not isinstance(object_list, list):
        raise located(TypeError, "For recv_object_list, the object_list must be a list")
    source, _ = other(src, group, "src", "recv_object_list")
    object_list[:] = pickle.loads(world.transport.take(source, _OBJECTS)())
    return 0
